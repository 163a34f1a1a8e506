"""How each kind of session looks in the window: icon, mode, state, what it cost. `kind_of` finds the kind."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from app.core.events import RetryScheduled
from app.core.message import Message
from app.core.reasons import Reason, main_code
from app.core.session import (
    AgentMode,
    Chat,
    ChatSession,
    Debate,
    DebateMode,
    DebateSession,
    GroupSession,
    GroupState,
    Participant,
    Session,
    SessionSummary,
    Status,
)
from app.core.text import exact
from app.core.usage import UsageEntry
from app.gui.display.i18n import Language

TONES = {"running": "accent", "paused": "warn", "completed": "ok", "error": "error", "waiting": "warn"}


class KindDisplay:
    """What differs between kinds; as it is, for a kind of a newer version."""

    icon = "message-circle"
    tone = "neutral"
    """The tone of the chip that names the mode."""
    has_name = False
    """Whether there is a text `kind.<kind>`."""
    waits_for_user = False
    """Whether a session of this kind that is idle waits for the user's next message."""
    waits_as_whole = True
    """Whether one busy assistant holds up the whole session."""

    def mode(self, session: Session, words: Language) -> str:
        """Return what the chip of the mode says; "" for none."""
        return ""

    def round(self, session: Session | SessionSummary) -> int:
        """Return the round that runs, counted from 1; 0 where there are no rounds."""
        return 0

    def title_state(self, session: Session, words: Language) -> str:
        """Return the state beside the title of the session; "" where there is nothing to say."""
        return "" if session.status == Status.IDLE else state_of(session, words)[0]

    def usage(self, session: Session) -> Iterator[tuple[str, str, UsageEntry]]:
        """Yield (unique key, who, usage) of each model call that is part of no message."""
        for call in session.unsaid:
            yield call.message_id, call.author, call

    def provisional(self, summary: SessionSummary, tail: Sequence[Message]) -> Session:
        """Return a session as far as its summary and last messages tell, until its log is read."""
        return Session(**_common(summary), kind=summary.kind)


class DebateDisplay(KindDisplay):
    """Debates."""

    icon = "scale"
    has_name = True

    def mode(self, session: Session, words: Language) -> str:
        """Return the debate's mode in words, or the panel that was asked."""
        council = session.debate.council if session.debate else None
        if council is not None and council.panel:
            return exact(council.panel)
        return words.mode(session.debate.mode) if session.debate else ""

    def round(self, session: Session | SessionSummary) -> int:
        """Return the round that runs, counted from 1; 0 for a council, whose rounds are not those of its setup."""
        cursor = session if isinstance(session, SessionSummary) else session.debate
        if cursor is None or cursor.mode == DebateMode.COUNCIL:
            return 0
        return min(cursor.round, cursor.rounds)

    def title_state(self, session: Session, words: Language) -> str:
        """Return the round while the debate runs, else its state."""
        at = self.round(session)
        if session.status == Status.RUNNING and session.debate and at:
            return words("discussion.round", round=at, rounds=session.debate.rounds)
        return state_of(session, words)[0]

    def usage(self, session: Session) -> Iterator[tuple[str, str, UsageEntry]]:
        """Yield the calls without a message, the ballots and the verdict."""
        yield from super().usage(session)
        if session.debate is None:
            return
        names = {one.id: one.name for one in session.debate.participants}
        for ballot in session.debate.ballots:
            if ballot.usage is not None:
                key = ballot.usage.message_id or f"{ballot.participant} {ballot.round}"
                yield key, names.get(ballot.participant, ""), ballot.usage
        verdict = session.debate.verdict
        if verdict is not None and verdict.usage is not None:
            yield verdict.usage.message_id or "verdict", verdict.judge, verdict.usage

    def provisional(self, summary: SessionSummary, tail: Sequence[Message]) -> Session:
        """Return the debate with its participants' names."""
        ids = {message.author.name: message.author.id for message in tail}
        debate = Debate(
            topic=summary.title,
            rounds=summary.rounds,
            round=summary.round,
            participants=tuple(
                Participant(id=ids.get(name, name), name=name, provider="", model="")
                for name in summary.speakers
            ),
        )
        if summary.mode in tuple(DebateMode):
            debate = replace(debate, mode=DebateMode(summary.mode))
        return DebateSession(**_common(summary), debate=debate)


class ChatDisplay(KindDisplay):
    """Chats with one assistant."""

    tone = "accent"
    has_name = True
    waits_for_user = True

    def mode(self, session: Session, words: Language) -> str:
        """Return whether the chat is in group mode or settings mode, in words."""
        settings = session.chat is not None and session.chat.mode == AgentMode.SETTINGS
        return modes_of(words, group=session.group is not None, settings=settings)

    def provisional(self, summary: SessionSummary, tail: Sequence[Message]) -> Session:
        """Return the chat with its assistant's name."""
        return ChatSession(**_common(summary), chat=self._chat(summary))

    def _chat(self, summary: SessionSummary) -> Chat:
        return Chat(assistant_id="", assistant_name=next(iter(summary.speakers), ""))


class GroupDisplay(ChatDisplay):
    """Groups led by an orchestrator."""

    icon = "users"

    def provisional(self, summary: SessionSummary, tail: Sequence[Message]) -> Session:
        """Return the group with its name."""
        chat = self._chat(summary)
        group = GroupState(id="", name=chat.assistant_name, members=())
        return GroupSession(**_common(summary), chat=chat, group=group)


class WorkflowDisplay(ChatDisplay):
    """Workflows; each of their steps waits for its own assistant."""

    icon = "workflow"
    waits_for_user = False
    waits_as_whole = False

    def mode(self, session: Session, words: Language) -> str:
        """Return the word for a workflow, and its mode."""
        return " · ".join(filter(None, (words("kind.workflow"), super().mode(session, words))))


KINDS: dict[str, KindDisplay] = {
    "debate": DebateDisplay(),
    "chat": ChatDisplay(),
    "group": GroupDisplay(),
    "workflow": WorkflowDisplay(),
}
_UNKNOWN = KindDisplay()


def kind_of(session: Session | SessionSummary) -> KindDisplay:
    """Return what differs for a session's kind."""
    return KINDS.get(session.kind, _UNKNOWN)


def icon_of(kind: str) -> str:
    """Return the icon of a kind of session."""
    return KINDS.get(kind, _UNKNOWN).icon


def kind_text(kind: str, words: Language) -> str:
    """Return a kind in words; one of a newer version as it is."""
    return words(f"kind.{kind}") if KINDS.get(kind, _UNKNOWN).has_name else kind


def failed(status: str, reason: str) -> bool:
    """Say whether a session failed: also a debate that ended because too few participants could answer."""
    return status == "error" or (status == Status.COMPLETED and main_code(reason) == Reason.TOO_FEW)


def waits_its_turn(session: Session | SessionSummary) -> bool:
    """Say whether a session that runs waits for a busy assistant."""
    return (
        session.status == Status.RUNNING and session.reason == Reason.BUSY and kind_of(session).waits_as_whole
    )


def modes_of(language: Language, *, group: bool, settings: bool) -> str:
    """Return what the chip of a chat's mode says: group mode, settings mode, both or neither."""
    modes = (("top.group_mode", group), ("top.settings_mode", settings))
    return " · ".join(language(key) for key, on in modes if on)


def asked_by(session: Session | SessionSummary, language: Language) -> str:
    """Return which program began a session over MCP, "" where the user did."""
    return language("session.asked_by", name=session.asked_by) if session.asked_by else ""


def state_of(session: Session | SessionSummary, language: Language) -> tuple[str, str]:
    """Return a state in a few words and the tone of its chip."""
    status, reason = session.status, session.reason
    if failed(status, reason):
        key = f"status.failed.{main_code(reason)}"
        return language(key if key in language.texts else "status.error"), "error"
    kind = kind_of(session)
    if status == Status.IDLE and kind.waits_for_user:
        return language("status.your_turn"), "neutral"
    if waits_its_turn(session):
        return language("status.busy"), "warn"
    return language.status(status, kind.round(session)), TONES.get(status, "neutral")


def _common(summary: SessionSummary) -> dict[str, Any]:
    names = ("id", "title", "status", "reason", "created_at", "updated_at", "asked_by")
    return {name: getattr(summary, name) for name in names}


def retry_text(retry: RetryScheduled, left: float, words: Language) -> str:
    """Return how a turn waits before its provider is asked again in `left` seconds, or that it is being asked again."""
    seconds = max(0, math.ceil(left))
    name, reason = retry.author.name, words(f"failure.{retry.reason}")
    if not retry.repeat:
        return words("discussion.retry", count=seconds, name=name, reason=reason)
    key = "turn.asked_again_in" if seconds else "turn.asked_again"
    again = {"repeat": retry.repeat, "repeats": retry.repeats}
    return words(key, name=name, reason=reason, seconds=seconds, **again)
