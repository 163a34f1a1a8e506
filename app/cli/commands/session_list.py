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
    lines = columns(_row(session, texts) for session in found)
    return lines_text(lines or [texts("cli.no_sessions")]), complaints


def _row(session: SessionSummary, texts: Texts) -> tuple[str, ...]:
    """Return what is said of a session: id, time, kind, state, number of messages, title and who began it."""
    by = f" · {texts('session.asked_by', name=one_line(session.asked_by))}" if session.asked_by else ""
    is_council, is_idle = session.mode == DebateMode.COUNCIL, session.status == Status.IDLE
    kind = texts("mode.council") if is_council else texts.named("kind", session.kind)
    state = short_reason(session, texts) or texts.named("status", rests_as(session))
    if session.kind == "chat" and is_idle and session.reason != Reason.NOT_ANSWERED:
        state = texts("cli.your_turn")
    messages, title = texts("cli.messages", count=session.messages), one_line(session.title)[:80] + by
    return session.id, _local_time(session.updated_at), kind, state, messages, title


def _local_time(iso: str) -> str:
    try:
        return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return "-"
