"""A session as a document for people: Markdown or one HTML file, or JSON for programs; used by the engine."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from html import escape
from time import perf_counter
from typing import TypeVar

from app.core.council import Decision
from app.core.errors import BadInput
from app.core.reasons import code_of_session
from app.core.session import ExportFormat
from app.engine.export.document import MOOT_SESSION, DocumentPart
from app.engine.export.event_lines import message_object, plan_object
from app.engine.export.html import as_html
from app.engine.export.markdown import as_markdown
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.session_kinds import kind_of

TURN_S = 0.004
_T = TypeVar("_T")


def export(
    live: LiveSession,
    file_format: str,
    prompts: Prompts,
    render: Callable[[str], str] = escape,
    decision: Decision | None = None,
) -> str:
    """Return a session in an ExportFormat, with what the user decided after it; `render` turns Markdown into HTML.

    Raises BadInput for a format that it cannot have.
    """
    return "".join(_pieces(live, file_format, prompts, render, decision))


async def export_in_turns(
    live: LiveSession,
    file_format: str,
    prompts: Prompts,
    render: Callable[[str], str] = escape,
    decision: Decision | None = None,
) -> str:
    """Return what `export` does, yielding to the event loop every few milliseconds; it can be cancelled there."""
    return "".join(await _in_turns(_pieces(live, file_format, prompts, render, decision)))


async def parts_in_turns(
    live: LiveSession, prompts: Prompts, decision: Decision | None
) -> list[DocumentPart]:
    """Return a session as the parts of a document for people; it can be cancelled between them."""
    return await _in_turns(kind_of(live.session).document(live, prompts, decision).parts())


async def _in_turns(pieces: Iterator[_T]) -> list[_T]:
    found: list[_T] = []
    until = perf_counter() + TURN_S
    for piece in pieces:
        found.append(piece)
        if perf_counter() >= until:
            await asyncio.sleep(0)
            until = perf_counter() + TURN_S
    return found


def _pieces(
    live: LiveSession,
    file_format: str,
    prompts: Prompts,
    render: Callable[[str], str],
    decision: Decision | None,
) -> Iterator[str]:
    """Yield a document piece by piece, none much longer than a message."""
    if file_format not in tuple(ExportFormat):
        raise BadInput("unknown_format", format=file_format, formats=", ".join(ExportFormat))
    if file_format == ExportFormat.JSON:
        return _json(live)
    parts = kind_of(live.session).document(live, prompts, decision).parts()
    return as_markdown(parts) if file_format == ExportFormat.MARKDOWN else as_html(parts, render)


def _json(live: LiveSession) -> Iterator[str]:
    """Yield the output of `moot show --json`, and beside it the whole session, for a later import."""
    session = live.session
    # Approvals hold on this computer only.
    session = replace(session, **session.allowing(()))  # type: ignore[arg-type]
    # Copied now: other tasks run before the last of them is written.
    messages = list(live.whole_messages())
    frame = {"format": MOOT_SESSION, **session_object(live), "session": asdict(session)}
    text = json.dumps(frame, ensure_ascii=False, indent=2)
    # JSON escapes line ends, so no text of a session holds one.
    before, place, after = text.partition('\n  "messages": [')
    yield before + place
    for number, message in enumerate(messages):
        written = json.dumps(message_object(message), ensure_ascii=False, indent=2)
        yield ("," if number else "") + f"\n{written}".replace("\n", "\n    ")
    yield ("\n  " if messages else "") + after + "\n"


def session_document(live: LiveSession) -> dict[str, object]:
    """Return a session with its messages as `moot show --json` prints it."""
    messages = [message_object(message) for message in live.whole_messages()]
    return {**session_object(live), "messages": messages}


def session_object(live: LiveSession) -> dict[str, object]:
    """Return a session as `session_document` does, without its messages."""
    session = live.session
    return {
        "id": session.id,
        "kind": session.kind,
        "title": session.title,
        "status": session.status,
        "reason": session.reason,
        "reason_code": code_of_session(session),
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "version": session.version,
        "folder": session.folder,
        "asked_by": session.asked_by,
        "messages": [],
        "plan": plan_object(session.plan),
        **kind_of(session).details(live),
    }
