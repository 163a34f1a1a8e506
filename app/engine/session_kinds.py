"""What differs between kinds of session: how one runs, which providers it asks, how it becomes a document
or JSON.

A new kind of session starts here: a subclass of `Session` in `core/session.py`, a row in `KINDS`. How it
looks is in `gui/display/descriptions.py`, how it is resumed and printed in `cli/commands/sessions.py`.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from time import perf_counter
from typing import TypeVar

from app.core.council import Decision
from app.core.errors import BadInput
from app.core.json_values import as_object
from app.core.session import ExportFormat, Session, code_of_session
from app.core.session_files import FileVersion
from app.core.turns import without_approvals
from app.engine.chat.export import ChatDocument
from app.engine.chat.run import ChatRun
from app.engine.council.commands import council_object
from app.engine.council.debate_run import DebateRun
from app.engine.council.export import DebateDocument
from app.engine.council.run import CouncilRun
from app.engine.debate.providers import DebateProviders
from app.engine.decisions import decided_object
from app.engine.export.document import MOOT_SESSION, DocumentParts
from app.engine.export.event_lines import fields_of, message_object, plain, workflow_object
from app.engine.export.formats import as_html, as_markdown
from app.engine.group.commands import GroupRun
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.request import turns_used
from app.engine.runner import Run
from app.engine.turns.context import Services
from app.engine.workflow.run import WorkflowRun

# What of a debate `moot show --json` says.
_OF_DEBATE = (
    *("topic", "mode", "rounds", "round", "turn", "seed", "independent_opening", "language", "context"),
    *("participants", "left", "polls", "final_ballots", "judge", "ballots", "no_votes", "verdict"),
    *("earlier_verdicts", "what_ifs"),
)


class SessionKind:
    """What differs between kinds: this class is a debate, and what a file of a newer version is taken for."""

    def run(self, live: LiveSession, services: Services, debates: DebateProviders) -> Run:
        """Return the run of a session."""
        debate = live.session.debate
        if debate is not None and debate.is_council:
            return CouncilRun(live, services, debates)
        return DebateRun(live, services, debates)

    def providers(self, session: Session, directory: AgentDirectory) -> set[str]:
        """Return the ids of the providers that a session asks if it runs now."""
        return {item.provider for item in session.debate.participants} if session.debate else set()

    def document(self, live: LiveSession, prompts: Prompts, decision: Decision | None) -> DocumentParts:
        """Return a session as a document for people, with what was decided after it.
        Raises BadInput for an unknown kind.
        """
        return DebateDocument(live, prompts, decision).parts()

    def details(self, live: LiveSession) -> dict[str, object]:
        """Return what `moot show --json` says of this kind alone."""
        debate = live.session.debate
        if debate is None:
            return {}
        described = fields_of(debate, *_OF_DEBATE)
        described["round"] = min(debate.round, debate.rounds)
        described["context"] = [file.name for file in debate.context]
        seats = {participant.seat for participant in debate.participants}
        decision: dict[str, object] = {
            "how": debate.mode if not debate.is_council else "answers" if len(seats) > 1 else "alone",
            "ends": debate.council.ends if debate.is_council and debate.council else debate.ends,
            **plain(council_object(live.debate_session, list(live.whole_messages()))),
        }
        described["council"] = plain(debate.council)
        # Scripts know a council's by this name.
        named = {"council": decision} if debate.is_council else {}
        return {"debate": described, "decision": decision, **named}


class ChatKind(SessionKind):
    """Chats with one assistant."""

    def run(self, live: LiveSession, services: Services, debates: DebateProviders) -> Run:
        """Return the run of a chat."""
        return ChatRun(live, services)

    def providers(self, session: Session, directory: AgentDirectory) -> set[str]:
        """Return the provider of the chat's assistant."""
        agent = directory.agent(session.chat.assistant_id) if session.chat else None
        return {directory.model_of(agent).provider} if agent else set()

    def document(self, live: LiveSession, prompts: Prompts, decision: Decision | None) -> DocumentParts:
        """Return the chosen version of the chat as a document."""
        return ChatDocument(live, prompts).parts()

    def details(self, live: LiveSession) -> dict[str, object]:
        """Return the assistant, the mode and the queue."""
        chat = live.chat_session.chat
        return {"chat": fields_of(chat, "assistant_id", "assistant_name", "mode", "head", "queue", "limits")}


class GroupKind(ChatKind):
    """Groups led by an orchestrator."""

    def run(self, live: LiveSession, services: Services, debates: DebateProviders) -> Run:
        """Return the run of a group."""
        return GroupRun(live, services)

    def providers(self, session: Session, directory: AgentDirectory) -> set[str]:
        """Return the providers of the members and the orchestrator."""
        members = directory.members(session.group) if session.group else ()
        return {directory.model_of(agent).provider for agent in members} | {directory.first_model().provider}

    def details(self, live: LiveSession) -> dict[str, object]:
        """Return what a chat's are, and the group."""
        described = fields_of(live.group_session.group, "id", "name", "members", "turns_limit")
        return {**super().details(live), "group": {**described, "turns_used": turns_used(live)}}


class WorkflowKind(ChatKind):
    """Workflows, whose steps are turns of the assistants of their roles."""

    def run(self, live: LiveSession, services: Services, debates: DebateProviders) -> Run:
        """Return the run of a workflow."""
        return WorkflowRun(live, services)

    def providers(self, session: Session, directory: AgentDirectory) -> set[str]:
        """Return the providers of everybody in a step's role, and of the first model."""
        work = session.workflow
        steps = zip(work.definition.steps, work.steps, strict=False) if work else ()
        agents = [agent for step, state in steps for agent in directory.workers(step, state.given_to)]
        return {directory.model_of(item).provider for item in agents} | {directory.first_model().provider}

    def details(self, live: LiveSession) -> dict[str, object]:
        """Return what a chat's are, and the workflow."""
        return {**super().details(live), "workflow": workflow_object(live.workflow_session.workflow)}


KINDS = {"debate": SessionKind(), "chat": ChatKind(), "group": GroupKind(), "workflow": WorkflowKind()}
_UNKNOWN = SessionKind()


def kind_of(session: Session) -> SessionKind:
    """Return what differs for a session's kind."""
    # A plain Session is of an unknown kind, or parts of it are missing.
    return KINDS.get(session.kind, _UNKNOWN) if type(session) is not Session else _UNKNOWN


TURN_S = 0.004
_T = TypeVar("_T")


async def in_turns(pieces: Iterator[_T]) -> list[_T]:
    """Return the pieces, yielding to the event loop every few milliseconds; it can be cancelled there."""
    found: list[_T] = []
    until = perf_counter() + TURN_S
    for piece in pieces:
        found.append(piece)
        if perf_counter() >= until:
            await asyncio.sleep(0)
            until = perf_counter() + TURN_S
    return found


def export(
    live: LiveSession,
    file_format: str,
    prompts: Prompts,
    render: Callable[[str], str] = escape,
    decision: Decision | None = None,
    tame: Callable[[str], str] = str,
    *,
    with_folder: bool = False,
) -> Iterator[str]:
    """Return a session in an ExportFormat piece by piece, none much longer than a message.

    It has what the user decided after it; `render` turns Markdown into HTML, `tame` into Markdown that loads
    nothing. JSON has the instructions and files of its folder only `with_folder`. Raises BadInput for a
    format that it cannot have.
    """
    if file_format not in tuple(ExportFormat):
        raise BadInput("unknown_format", format=file_format, formats=", ".join(ExportFormat))
    if file_format == ExportFormat.JSON:
        return _json(live, decision, live.session if with_folder else live.session.without_folder)
    parts = kind_of(live.session).document(live, prompts, decision)
    return as_markdown(parts, tame) if file_format == ExportFormat.MARKDOWN else as_html(parts, render)


def _json(live: LiveSession, decision: Decision | None, session: Session) -> Iterator[str]:
    """Yield the output of `moot show --json`, and beside it the session, for a later import."""
    # Approvals hold on this computer only, and so does the path of a chosen folder.
    session = without_approvals(session, ()).session
    # Copied now: other tasks run before the last of them is written.
    messages = list(live.whole_messages())
    frame = {"format": MOOT_SESSION, **session_object(live, decision), "session": asdict(session)}
    # JSON escapes line ends, so no text of a session holds one.
    before, place, after = json.dumps(frame, ensure_ascii=False, indent=2).partition('\n  "messages": [')
    yield before + place
    for number, message in enumerate(messages):
        written = json.dumps(message_object(message), ensure_ascii=False, indent=2)
        yield ("," if number else "") + f"\n{written}".replace("\n", "\n    ")
    yield ("\n  " if messages else "") + after + "\n"


def session_document(
    live: LiveSession, decision: Decision | None = None, files: Sequence[FileVersion] = ()
) -> dict[str, object]:
    """Return a session with its messages and files, and what was decided in it,
    as `moot show --json` prints it.
    """
    messages = [message_object(message) for message in live.whole_messages()]
    return {**session_object(live, decision), "messages": messages, "files": plain(tuple(files))}


def session_object(live: LiveSession, decision: Decision | None) -> dict[str, object]:
    """Return a session as `session_document` does, without its messages."""
    session = live.session
    details = kind_of(session).details(live)
    return {
        **fields_of(session, "id", "kind", "title", "status", "reason"),
        "reason_code": code_of_session(session),
        **fields_of(session, "created_at", "updated_at", "version", "folder", "asked_by"),
        "messages": [],
        **fields_of(session, "plan", "criteria"),
        **details,
        "decision": {**as_object(details.get("decision")), "decided": decided_object(decision)},
    }
