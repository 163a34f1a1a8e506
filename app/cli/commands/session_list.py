"""`moot sessions`: reads only the index of sessions, so that it starts quickly."""

from datetime import datetime
from typing import Annotated

from app.cli.arguments import Arguments, Typed
from app.cli.printing.lines import columns, json_line, lines_text, load_texts, one_line, problem_line
from app.core.errors import NotFound
from app.core.session import DebateMode, Reason, SessionSummary, Status, rests_as, short_reason
from app.core.texts import Texts
from app.storage.documents import JsonDocuments
from app.storage.index import read_list
from app.storage.paths import DataPaths

_FIELDS = ("id", "kind", "title", "status", "updated_at", "messages", "asked_by")


def sessions(
    paths: DataPaths,
    arguments: Arguments,
    folder: Annotated[str, Typed("--folder", text="folder_listed", metavar="NAME")] = "",
) -> tuple[str, list[str]]:
    """Return the list of every session, or of those of a folder, the newest first, and a line
    for each file that cannot be used. Raises NotFound, StorageError.
    """
    documents = JsonDocuments(paths)
    documents.read()
    texts = load_texts(arguments.language or documents.settings().language)
    complaints = [problem_line(problem, texts) for problem in documents.problems()]
    found = read_list(paths)
    if folder:
        ids = {known.id for known in documents.folders.all() if folder in (known.id, known.name)}
        if not ids:
            raise NotFound("folder_not_found", folder=folder)
        found = [session for session in found if session.folder in ids]
    if arguments.json:
        rows = [{name: getattr(session, name) for name in _FIELDS} for session in found]
        return json_line(rows), complaints
    lines = columns(
        (
            session.id,
            _local_time(session.updated_at),
            _kind(session, texts),
            _state(session, texts),
            texts("cli.messages", count=session.messages),
            one_line(session.title)[:80] + _asked_by(session, texts),
        )
        for session in found
    )
    return lines_text(lines or [texts("cli.no_sessions")]), complaints


def _local_time(iso: str) -> str:
    try:
        return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return "-"


def _kind(session: SessionSummary, texts: Texts) -> str:
    if session.mode == DebateMode.COUNCIL:
        return texts("mode.council")
    return texts.named("kind", session.kind)


def _asked_by(session: SessionSummary, texts: Texts) -> str:
    return f" · {texts('session.asked_by', name=one_line(session.asked_by))}" if session.asked_by else ""


def _state(session: SessionSummary, texts: Texts) -> str:
    if session.kind == "chat" and session.status == Status.IDLE and session.reason != Reason.NOT_ANSWERED:
        return texts("cli.your_turn")
    return short_reason(session, texts) or texts.named("status", rests_as(session))
