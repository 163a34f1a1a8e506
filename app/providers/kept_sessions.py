"""The sessions of external agents that can be gone on with: which one knows a conversation, and up to where.

The messages of Moot are the truth. A session is a cache of them: it is used only where it was told exactly what came before.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from app.core.json_values import object_in
from app.core.provider import ModelRequest

# Where an answer's state names its session.
_SESSION = "agent_session"
_MOST = 300

Item = Mapping[str, object]


class KeptSessions:
    """Knows what each session was told last; `path` is the file that keeps it over a restart.

    A session that is not in it has been asked since and was cut off, or is one of another conversation by now.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: dict[str, str] | None = None
        # Turns of several agents come from threads of their own.
        self._lock = threading.Lock()

    def take(self, request: ModelRequest, key: str) -> tuple[str, Sequence[Item]]:
        """Return the session that knows a request up to its last answer, and what is new to it; ("", ()) where none does.

        `key` names the program and the folder. The session is not offered again until its turn has ended well.
        """
        messages = request.messages
        place = next((at for at in reversed(range(len(messages))) if _SESSION in messages[at]), None)
        kept = messages[place][_SESSION] if place is not None else None
        if place is None or not isinstance(kept, dict) or kept.get("key") != key or not request.folder:
            return "", ()
        seen, session, unread = kept.get("seen"), str(kept.get("id")), messages[place + 1 :]
        if not isinstance(seen, int) or not 0 < seen <= place or not unread:
            return "", ()
        others_spoke = any(one.get("role") == "user" for one in messages[seen:place])
        if others_spoke or any(one.get("role") != "user" for one in unread):
            return "", ()
        digest = _digest(messages[:seen])
        with self._lock:
            if kept.get("digest") != digest or self._known().get(session) != digest:
                return "", ()
            del self._known()[session]
            self._save()
        return session, unread

    def keep(self, session: str, key: str, request: ModelRequest) -> Mapping[str, object] | None:
        """Note that a turn has ended well; return what its answer keeps, None without a session."""
        if not session:
            return None
        digest = _digest(request.messages)
        with self._lock:
            known = self._known()
            known.pop(session, None)
            known[session] = digest
            for old in list(known)[:-_MOST]:
                del known[old]
            self._save()
        return {_SESSION: {"id": session, "key": key, "seen": len(request.messages), "digest": digest}}

    def _known(self) -> dict[str, str]:
        if self._last is None:
            try:
                found = object_in(self._path.read_bytes()) or {}
                self._last = {str(name): str(value) for name, value in found.items()}
            except OSError:
                self._last = {}
        return self._last

    def _save(self) -> None:
        """Write what is known; where that fails, sessions are told everything again after a restart."""
        try:
            scratch = self._path.with_suffix(".new")
            scratch.write_text(json.dumps(self._known()), encoding="ascii")
            scratch.replace(self._path)
        except OSError:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def _digest(messages: Sequence[Item]) -> str:
    plain = [{name: value for name, value in one.items() if name != _SESSION} for one in messages]
    return sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()
