"""`moot sessions`: reads only the index of sessions, so that it starts quickly."""

from datetime import datetime

from app.cli.arguments import Arguments
from app.cli.exit_status import OK
from app.cli.printing.lines import columns, json_line, lines_text, load_texts, one_line, say_problems
from app.cli.terminal import Out
from app.core.errors import NotFound
from app.core.session import DebateMode, SessionSummary, Status
from app.core.texts import Texts
from app.storage.documents import JsonDocuments
from app.storage.index import read_list
from app.storage.paths import DataPaths

_FIELDS = ("id", "kind", "title", "status", "updated_at", "messages", "asked_by")


async def list_sessions(paths: DataPaths, arguments: Arguments, out: Out) -> int:
    """Print every session, or those of a folder, the newest first. Raises NotFound."""
    documents = JsonDocuments(paths)
    await documents.load()
    texts = load_texts(arguments.language or documents.settings().language)
    await say_problems(documents.problems(), out, texts)
    found = read_list(paths)
    if wanted := arguments.folder:
        ids = {one.id for one in documents.folders.all() if wanted in (one.id, one.name)}
        if not ids:
            raise NotFound("folder_not_found", folder=wanted)
        found = [one for one in found if one.folder in ids]
    if arguments.json:
        await out.write(json_line([{name: getattr(one, name) for name in _FIELDS} for one in found]))
        return OK
    lines = columns(
        (
            one.id,
            _local_time(one.updated_at),
            _kind(one, texts),
            _state(one, texts),
            texts("cli.messages", count=one.messages),
            one_line(one.title)[:80] + _asked_by(one, texts),
        )
        for one in found
    )
    await out.write(lines_text(lines or [texts("cli.no_sessions")]))
    return OK


def _local_time(iso: str) -> str:
    try:
        return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return "-"


def _kind(one: SessionSummary, texts: Texts) -> str:
    if one.mode == DebateMode.COUNCIL:
        return texts("mode.council")
    return texts.named("kind", one.kind)


def _asked_by(one: SessionSummary, texts: Texts) -> str:
    return f" · {texts('session.asked_by', name=one_line(one.asked_by))}" if one.asked_by else ""


def _state(one: SessionSummary, texts: Texts) -> str:
    if one.kind in ("chat", "group") and one.status == Status.IDLE:
        return texts("cli.your_turn")
    return texts.named("status", one.status)
