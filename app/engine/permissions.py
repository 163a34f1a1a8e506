"""The tools that the user has allowed to run without a question, for good or in a session; `engine.permissions`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.core.catalog import PROGRAM
from app.core.session import SessionSummary
from app.core.store import Documents, SessionStore
from app.core.tool import Tools
from app.engine.servers import Servers
from app.engine.sessions import Sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """Says that tools of one server ("" for Moot's own) run without a question in a session, in all where `session_id` is "".

    `tools` are the keys of those that are known now, `count` counts all. `gone` means that there is no longer a server
    which is run in that way, so that the permission has no effect now. With `folders` it is an external agent `server` that may work in
    `count` folders.
    """

    server: str
    tools: tuple[str, ...]
    count: int
    session_id: str = ""
    title: str = ""
    keys: tuple[str, ...] = ()
    gone: bool = False
    folders: bool = False


@dataclass(eq=False, repr=False)
class Permissions:
    """Lists and revokes permissions."""

    _store: SessionStore
    _documents: Documents
    _sessions: Sessions
    _tools: Tools
    _servers: Servers

    def all(self) -> tuple[Permission, ...]:
        """Return every permission, those for good first, then those of sessions, the newest session first."""
        statuses = self._servers.all()
        lasting = tuple(
            Permission(server=one.server.name, tools=one.unasked, count=one.lasting)
            for one in statuses
            if one.lasting
        )
        agents = {
            one.fingerprint: one.label or one.id for one in self._documents.providers() if one.kind == PROGRAM
        }
        for fingerprint, name in agents.items():
            keys = tuple(
                sorted(one for one in self._documents.consents() if one.startswith(f"{fingerprint}/"))
            )
            if keys:
                lasting += (Permission(server=name, tools=(), count=len(keys), keys=keys, folders=True),)
        summaries = [one for one in self._store.summaries() if one.always and not one.read_only]
        if not summaries:
            return lasting
        known = {
            tool.consent: tool.key for tool in self._tools.server_tools([one.server.name for one in statuses])
        }
        of_server = {one.server.fingerprint: one.server.name for one in statuses}
        return (
            *lasting,
            *(one for summary in summaries for one in _of_session(summary, known, of_server, agents)),
        )

    async def revoke(self, permission: Permission) -> None:
        """Have the user asked again before each of these calls; returns once that is saved.

        Raises NotFound, BadInput, StorageError.
        """
        if not permission.session_id and permission.folders:
            await self._documents.change_consents(lambda known: known - set(permission.keys))
            return
        if not permission.session_id:
            await self._servers.ask_again(permission.server)
            return
        live = await self._sessions.open_to_change(permission.session_id)
        left = (one for one in live.session.always if one not in permission.keys)
        # Its place in the list of sessions stays the same.
        live.change(**live.session.allowing(left), updated_at=live.session.updated_at)
        await self._store.flush(live.id)


def _of_session(
    summary: SessionSummary,
    known: Mapping[str, str],
    of_server: Mapping[str, str],
    agents: Mapping[str, str],
) -> Iterable[Permission]:
    """Group a session's permissions by server. A consent of a server's tool begins with the server's fingerprint, and that of an
    external agent's folder with the agent's.
    """
    groups: dict[str, list[str]] = {}
    for key in summary.always:
        groups.setdefault(key.partition("/")[0] if "/" in key else "", []).append(key)
    for fingerprint, keys in groups.items():
        folders = fingerprint in agents
        server = agents[fingerprint] if folders else of_server.get(fingerprint) if fingerprint else ""
        yield Permission(
            server=server or "",
            tools=tuple(known[key] for key in keys if key in known) if fingerprint else tuple(keys),
            count=len(keys),
            session_id=summary.id,
            title=summary.title,
            keys=tuple(keys),
            gone=server is None,
            folders=folders,
        )
