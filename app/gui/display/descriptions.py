"""How data is described: each kind of session (`kind_of`), assistants, MCP servers and tools, and amounts.

Icons, modes, states, colours and names; tokens, money and durations as texts, and what a session has cost so
far.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from app.core import message as messages
from app.core import session as sessions
from app.core.catalog import provider_kind
from app.core.council import Participant
from app.core.criteria import CriterionState
from app.core.definitions import Agent
from app.core.events import RetryScheduled
from app.core.message import Message, Total, UsageEntry, money_text, totals, used_text
from app.core.provider import ProviderStatus
from app.core.servers import McpServer, shown_line
from app.core.session import Reason, Session, SessionSummary, Status, main_code, reason_code, short_reason
from app.core.texts import amount_text, exact
from app.core.tool import ServerState, ServerStatus, ToolChoice
from app.engine.debate.estimates import Estimate, beside_text, price_range, price_text
from app.gui.display.appearance import Language

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
        """Return the round that runs, counted from 1; 0 for a council, whose rounds are not those
        of its setup.
        """
        cursor = session if isinstance(session, SessionSummary) else session.debate
        if cursor is None or cursor.mode == sessions.DebateMode.COUNCIL:
            return 0
        return min(cursor.round, cursor.rounds)

    def title_state(self, session: Session, words: Language) -> str:
        """Return the round while the debate runs, else its state; nothing at its end,
        where its steps say how far the decision is.
        """
        at = self.round(session)
        if session.status == Status.RUNNING and session.debate and at:
            return words("discussion.round", round=at, rounds=session.debate.rounds)
        over = session.status == Status.COMPLETED and not short_reason(session, words.texts)
        return "" if over else state_of(session, words)[0]

    def usage(self, session: Session) -> Iterator[tuple[str, str, UsageEntry]]:
        """Yield the calls without a message; of earlier versions also the ballots and the verdict."""
        yield from super().usage(session)
        if session.debate is None:
            return
        names = {participant.id: participant.name for participant in session.debate.participants}
        for ballot in session.debate.ballots:
            if ballot.usage is not None:
                key = ballot.usage.message_id or f"{ballot.participant} {ballot.round}"
                yield key, names.get(ballot.participant, ""), ballot.usage
        if (verdict := session.debate.verdict) is not None and verdict.usage is not None:
            yield verdict.usage.message_id or "verdict", verdict.judge, verdict.usage

    def provisional(self, summary: SessionSummary, tail: Sequence[Message]) -> Session:
        """Return the debate with its participants' names."""
        ids = {message.author.name: message.author.id for message in tail}
        names = [(ids.get(name, name), name) for name in summary.speakers]
        people = tuple(Participant(id=key, name=name, provider="", model="") for key, name in names)
        topic, rounds = summary.title, summary.rounds
        debate = sessions.Debate(topic=topic, rounds=rounds, round=summary.round, participants=people)
        if summary.mode in tuple(sessions.DebateMode):
            debate = replace(debate, mode=sessions.DebateMode(summary.mode))
        return sessions.DebateSession(**_common(summary), debate=debate)


class ChatDisplay(KindDisplay):
    """Chats with one assistant."""

    tone = "accent"
    has_name = True
    waits_for_user = True

    def mode(self, session: Session, words: Language) -> str:
        """Return whether the chat is in group mode or settings mode, in words."""
        settings = session.chat is not None and session.chat.mode == sessions.AgentMode.SETTINGS
        return modes_of(words, group=session.group is not None, settings=settings)

    def provisional(self, summary: SessionSummary, tail: Sequence[Message]) -> Session:
        """Return the chat with its assistant's name."""
        return sessions.ChatSession(**_common(summary), chat=self._chat(summary))

    def _chat(self, summary: SessionSummary) -> sessions.Chat:
        return sessions.Chat(assistant_id="", assistant_name=next(iter(summary.speakers), ""))


class GroupDisplay(ChatDisplay):
    """Groups led by an orchestrator."""

    icon = "users"

    def provisional(self, summary: SessionSummary, tail: Sequence[Message]) -> Session:
        """Return the group with its name."""
        chat = self._chat(summary)
        group = sessions.GroupState(id="", name=chat.assistant_name, members=())
        return sessions.GroupSession(**_common(summary), chat=chat, group=group)


class WorkflowDisplay(ChatDisplay):
    """Workflows; each of their steps waits for its own assistant."""

    icon = "workflow"
    waits_for_user = False
    waits_as_whole = False

    def mode(self, session: Session, words: Language) -> str:
        """Return the word for a workflow, and its mode."""
        return " · ".join(filter(None, (words("kind.workflow"), super().mode(session, words))))


class ScheduleDisplay(KindDisplay):
    """Schedules, which are no sessions, but stand among the work."""

    icon = "calendar"
    has_name = True


KINDS: dict[str, KindDisplay] = {
    "debate": DebateDisplay(),
    "chat": ChatDisplay(),
    "group": GroupDisplay(),
    "workflow": WorkflowDisplay(),
    "schedule": ScheduleDisplay(),
}
_UNKNOWN = KindDisplay()


def kind_of(session: Session | SessionSummary) -> KindDisplay:
    """Return what differs for a session's kind."""
    return KINDS.get(session.kind, _UNKNOWN)


def icon_of(kind: str) -> str:
    """Return the icon of a kind of session."""
    return KINDS.get(kind, _UNKNOWN).icon


def summary_icon(summary: SessionSummary) -> str:
    """Return the icon of a session in a list: that of a fork differs from its origin's."""
    return "git-branch" if summary.is_fork else icon_of(summary.kind)


def kind_text(kind: str, words: Language) -> str:
    """Return a kind in words; one of a newer version as it is."""
    return words(f"kind.{kind}") if KINDS.get(kind, _UNKNOWN).has_name else kind


def failed(status: str, reason: str) -> bool:
    """Say whether a session failed: also a debate with too few answers, a workflow
    that a failed step holds up, and a chat whose last answer failed.
    """
    held_up = (Status.COMPLETED, Reason.TOO_FEW), (Status.PAUSED, Reason.STEP_FAILED)
    held = (status, main_code(reason)) in held_up
    return status == Status.ERROR or held or sessions.not_answered(status, reason)


def checking(session: Session | SessionSummary) -> bool:
    """Say whether a session checks who may vote in it."""
    return session.status == Status.RUNNING and main_code(session.reason) == Reason.CHECKING_VOTES


def waits_its_turn(session: Session | SessionSummary) -> bool:
    """Say whether a session that runs waits for a busy assistant."""
    busy = session.status == Status.RUNNING and session.reason == Reason.BUSY
    return busy and kind_of(session).waits_as_whole


def works(session: Session) -> bool:
    """Say whether somebody works in a session."""
    return session.status == Status.RUNNING and not waits_its_turn(session)


def modes_of(language: Language, *, group: bool, settings: bool) -> str:
    """Return what the chip of a chat's mode says: group mode, settings mode, both or neither."""
    modes = (("top.group_mode", group), ("top.settings_mode", settings))
    return " · ".join(language(key) for key, on in modes if on)


def asked_by(session: Session | SessionSummary, language: Language) -> str:
    """Return which program began a session over MCP, "" where the user did."""
    return language("session.asked_by", name=session.asked_by) if session.asked_by else ""


def state_of(session: Session | SessionSummary, language: Language) -> tuple[str, str]:
    """Return a state in a few words and the tone of its chip."""
    status, kind = session.status, kind_of(session)
    said = short_reason(session, language.texts)
    if status == Status.IDLE and kind.waits_for_user and not sessions.not_answered(status, session.reason):
        rest = sessions.rests_as(session)
        said = language("status.your_turn") if rest == Status.IDLE else said or language.status(rest, 0)
        return said, "neutral"
    if waits_its_turn(session):
        return language("status.busy"), "warn"
    return said or language.status(status, kind.round(session)), tone_of(session)


def tone_of(session: Session | SessionSummary) -> str:
    """Return the tone of a session's state: red for a failure alone, none for what the user has stopped
    or paused.
    """
    if failed(session.status, session.reason):
        return "error"
    criteria = session.all_criteria() if isinstance(session, Session) else ()
    if any(item.state == CriterionState.ACCEPTED for item in criteria):
        # What was accepted as it is, is not what was met.
        return TONES["paused"]
    if session.status == Status.COMPLETED and session.kind != "debate" and not criteria:
        # Nobody has checked it.
        return "neutral"
    tones = {sessions.RESTART: "accent", "user": "neutral"} if session.status == Status.PAUSED else {}
    return tones.get(reason_code(session.reason), TONES.get(session.status, "neutral"))


def _common(summary: SessionSummary) -> dict[str, Any]:
    names = ("id", "title", "status", "reason", "created_at", "updated_at", "asked_by")
    return {name: getattr(summary, name) for name in names}


def retry_text(retry: RetryScheduled, left: float, words: Language) -> str:
    """Return how a turn waits before its provider is asked again in `left` seconds, or
    that it is being asked again.
    """
    seconds = max(0, math.ceil(left))
    name, reason = retry.author.name, words(f"failure.{retry.reason}")
    if not retry.repeat:
        return words("discussion.retry", count=seconds, name=name, reason=reason)
    key = "turn.asked_again_in" if seconds else "turn.asked_again"
    again = {"repeat": retry.repeat, "repeats": retry.repeats}
    return words(key, name=name, reason=reason, seconds=seconds, **again)


class Spending:
    """The usage of each speaker in a session, by message, so that no call counts twice."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[str, messages.Usage]] = {}

    def add(self, messages: Iterable[Message]) -> None:
        """Add the usage of messages, once each."""
        for message in messages:
            if message.usage is not None:
                self._used[message.id] = (message.author.name, message.usage)

    def add_session(self, session: Session) -> None:
        """Add calls that made no message, once each: votes, the verdict, and calls
        that were cut before a word.
        """
        for key, author, usage in kind_of(session).usage(session):
            self._used[key] = (author, usage)

    def text(self, language: Language) -> str:
        """Return the total tokens and money, "" while nothing is known."""
        return messages.spent_text(language, self._total()) if self._used else ""

    def short_text(self, language: Language) -> str:
        """Return the total money, for narrow places."""
        return money_text(language, self._total()) if self._used else ""

    def known_text(self, language: Language) -> str:
        """Return the total money, "" where no price is known, which another place says."""
        text = self.short_text(language)
        return "" if text == language("cost.unknown") else text

    def lines(self, language: Language) -> str:
        """Return one line for each speaker; where no price at all is known, the sum says so, not each
        line.
        """
        unknown = self._total().cost_usd is None
        speakers = totals((name or language("usage.moot"), usage) for name, usage in self._used.values())
        parts = []
        for name, total in speakers.items():
            cost, tokens = money_text(language, total), used_text(total)
            key = "cost.line_unpriced" if unknown else "cost.line"
            line = language(key, name=name, cost=cost, tokens=tokens)
            parts.append(" · ".join(filter(None, (line, messages.saved_text(language, total)))))
        return "\n".join(parts)

    def _total(self) -> Total:
        return Total.of(*(usage for _, usage in self._used.values()))


def estimate_text(language: Language, estimate: Estimate, of: str = "turns") -> str:
    """Return an estimate in one line: the number of turns (or `of` steps), and the range of tokens and
    money.
    """
    return " · ".join(filter(None, (_turns_text(language, estimate, of), beside_text(language, estimate))))


def _turns_text(language: Language, estimate: Estimate, of: str) -> str:
    if estimate.free:
        return language("estimate.free" if of == "turns" else "estimate.free_steps", count=estimate.turns)
    least, most = (rough_tokens(tokens) for tokens in estimate.tokens)
    tokens = most if least == most else language("estimate.range", least=least, most=most)
    money = price_range(language, estimate)
    return language(f"estimate.{of}", count=estimate.turns, tokens=tokens, money=money)


def council_estimate_text(language: Language, estimate: Estimate) -> str:
    """Return what a council uses at most: its calls and what they cost, and the calls beside them."""
    calls = language("estimate.call_most", count=estimate.turns, money=price_text(language, estimate))
    return " · ".join(filter(None, (calls, beside_text(language, estimate))))


def most_text(language: Language, estimate: Estimate) -> str:
    """Return what one message to a group costs at most."""
    if estimate.unasked:
        money = language("estimate.asking")
    elif estimate.free:
        money = language("cost.free")
    elif estimate.usd is None:
        money = language("cost.unknown")
    else:
        amount = amount_text(estimate.usd[1])
        money = language("cost.least" if estimate.partly else "cost.money", amount=amount)
    return language("estimate.most", tokens=rough_tokens(estimate.tokens[1]), money=money)


def rough_tokens(tokens: int) -> str:
    """Return an estimated number of tokens: `400`, `9k`, `1.3M`."""
    if tokens < 1_000:
        return str(round(tokens, -2))
    return f"{tokens / 1_000:.0f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first of these names in one line, with an ellipsis for the others."""
    return ", ".join([*names[:most], *("…" for _ in names[most : most + 1])])


def time_text(seconds: int, words: Callable[..., str]) -> str:
    """Return a duration as text: `42 s`, `2 min 5 s`."""
    minutes, seconds = divmod(seconds, 60)
    key = "transcript.group.minutes" if minutes else "transcript.group.elapsed"
    return words(key, minutes=minutes, seconds=seconds)


def colours_of(agents: Sequence[Agent]) -> dict[str, int]:
    """Return the number of each assistant's colour, by its id."""
    return {agent.id: agent.colour for agent in agents}


def names_of(agents: Sequence[Agent]) -> dict[str, str]:
    """Return the name of each assistant by its id."""
    return {agent.id: agent.name for agent in agents}


def short_model(agent: Agent, providers: Sequence[ProviderStatus], words: Language) -> str:
    """Return a short name of an assistant's model: its family, else the provider's name."""
    if not agent.provider:
        return words("assistant.model.default.short")
    status = next((provider for provider in providers if provider.config.id == agent.provider), None)
    if status is None:
        return agent.provider
    kind = provider_kind(status.config.kind)
    return kind.voice if kind is not None and kind.models else status.label


def model_line(agent: Agent, tools: Sequence[ToolChoice], words: Language) -> str:
    """Return a line with an assistant's model and the number of tools it may use."""
    count = sum(tool.key in agent.tools or tool.group in agent.tools for tool in tools)
    model = agent.model or words("assistant.model.default.short")
    return words("assistant.line", model=model, tools=words("assistant.tools_count", count=count))


SERVER_TONES: dict[str, str] = {
    ServerState.CONNECTED: "ok",
    ServerState.CONNECTING: "neutral",
    ServerState.DOWN: "error",
    ServerState.ASKING: "warn",
    ServerState.OFF: "neutral",
}


def server_state(status: ServerStatus, words: Language) -> tuple[str, str]:
    """Return a server's state in a word or two, and the tone of its chip."""
    if status.state == ServerState.OFF and not status.server.disabled:
        return words("server.state.ready"), "neutral"
    if status.state not in SERVER_TONES:
        return status.state, "neutral"
    return words(f"server.state.{status.state}"), SERVER_TONES[status.state]


def server_trouble(status: ServerStatus, words: Language) -> str:
    """Return what is wrong with a server that is down; its last output if the reason is unknown."""
    problem = words.problem(status.problem) if status.problem else ""
    restarts = words("server.restarts") if status.restarts else ""
    return " ".join(filter(None, (problem, status.detail, restarts)))


def server_line(server: McpServer) -> str:
    """Return exactly what would run: the command with its arguments, or the address.

    A mark replaces each secret. Invisible characters, and those that change the text direction, are shown as
    codes.
    """
    return exact(shown_line(server))
