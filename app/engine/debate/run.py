"""A running debate: the director says whose turn it is, and the turn is written together with the cursor.

The turn of a participant of a debate or a council is asked in the way of its session, with tools as any
assistant's turn; the statement is the answer that calls no more tools, and what comes before it is part of
the turn. Also the commands for a turn that waits, cannot be taken or has failed; `engine.debates.held`.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from app.core.council import MIN_PARTICIPANTS, Participant
from app.core.definitions import Agent
from app.core.errors import BadInput, Failure, NotFound
from app.core.ids import new_id, utc_now
from app.core.json_values import object_in
from app.core.message import Author, Message, MessageState, Role, finished_calls
from app.core.provider import ModelRequest
from app.core.servers import is_web_address
from app.core.session import HELD_UP, Debate, DebateSession, DebateTools, Status
from app.core.turns import is_over
from app.engine.availability import NotFree
from app.engine.chat.run import close_turns, open_questions
from app.engine.debate import director
from app.engine.debate.estimates import MOST_READINGS
from app.engine.debate.providers import DebateProviders
from app.engine.director import Speak
from app.engine.history import merged
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn, Attempt, name_of, turn_items
from app.engine.runner import Run, Sessions, check_open
from app.engine.turns.context import Budget, MeteredModels, Outcome, Services, TreeContext, TurnState
from app.engine.turns.speaker_turn import CallPlan
from app.engine.turns.tool_calls import attach_servers
from app.engine.turns.turn_tree import TurnTree
from app.engine.voting import SessionChecks

WEB_FETCH = "web_fetch"
READING = ("web_search", WEB_FETCH)

Written = Callable[[Message], tuple[Message, Mapping[str, object]]]
LookedUp = Callable[[Message], Awaitable[None]] | None


class StatementTree(TurnTree):
    """The turns that a statement takes: the speaker's, asked as `plan` says, and its sub-agents' below it.

    `written` returns the statement as it is kept, and the fields of the session that change with it, after
    `looked_up`.
    """

    def __init__(self, context: TreeContext, plan: CallPlan, written: Written, looked_up: LookedUp) -> None:
        super().__init__(context)
        self._plan = plan
        self._statement, self._looked_up = written, looked_up

    def _announce(self, turn: AgentTurn) -> None:
        # The run announces a participant's turn before it waits for a slot.
        if turn.parent_turn_id:
            super()._announce(turn)

    def _adapted(self, turn: AgentTurn, plan: CallPlan) -> CallPlan:
        if turn.parent_turn_id:
            return plan
        own, may_ask = self._plan, plan.may_ask
        asked = replace(plan, cleaner=own.cleaner, may_pass=own.may_pass, make_room=None)
        asked = replace(asked, sources=pages_read(self._live.turns.said(turn.turn_id)))
        return replace(asked, may_ask=lambda: own.may_ask() and may_ask())

    async def _look_up(self, turn: AgentTurn, message: Message) -> None:
        if self._looked_up is not None and not turn.parent_turn_id and not message.tool_calls:
            await self._looked_up(message)

    def _written(self, turn: AgentTurn, message: Message) -> tuple[Message, Mapping[str, object]]:
        if turn.parent_turn_id or message.tool_calls:
            return super()._written(turn, message)
        return self._statement(message)

    def _request(self, turn: AgentTurn, attempt: Attempt, *, wrap_up: bool = False) -> ModelRequest:
        if turn.parent_turn_id:
            return super()._request(turn, attempt, wrap_up=wrap_up)
        request = self._plan.request(attempt)
        directory, language = self._services.directory, self._context.language
        words = self._services.prompts.lines(language, "assistant")
        functions = directory.functions(turn.agent, turn.stack, turn.mode)
        items = turn_items(turn.turn_id, turn, self._live, words)
        told = words["wrap_up"] if wrap_up else words["statement_tools"] if functions and not items else ""
        if told:
            items.append({"role": Role.USER, "content": told})
        if not items:
            return request
        messages = merged([dict(message) for message in (*request.messages, *items)])
        return replace(request, messages=(*messages,), tools=tuple(sorted(functions, key=name_of)))


class StatementRun(Run):
    """A running session whose participants make statements; `checks` are the voting checks that it needs."""

    def __init__(self, live: LiveSession, services: Services, providers: DebateProviders) -> None:
        super().__init__(live, services)
        self._providers = providers
        may_ask, changed = lambda: not self._spent_all(), self._look_again
        self.checks = SessionChecks(providers.checks, live, may_ask=may_ask, changed=changed)

    async def _loop(self) -> None:
        try:
            await super()._loop()
        finally:
            await self.checks.close()

    def _spent_all(self) -> bool:
        """Whether the session may not spend any more."""
        council = self._live.debate_session.debate.council
        if council is None or not council.max_usd:
            return False
        said = (message.usage for message in self._live.messages if message.usage is not None)
        used = (*said, *self._live.session.unsaid)
        return sum(usage.cost_usd or 0.0 for usage in used) >= council.max_usd

    def _look_again(self) -> None:
        """Look again at what is due: a check has ended."""

    def _turn(self, plan: CallPlan, model: str, tools: str) -> AgentTurn:
        """Return the turn of a plan, as far as it was taken before;
        the speaker may use some `tools` (DebateTools).

        A participant that is an assistant has that assistant's own, if the debate allows them.
        """
        message, author = plan.message, plan.message.author
        directory = self._services.directory
        agent = Agent(id=author.id, name=author.name)
        if tools == DebateTools.READING:
            agent = replace(agent, tools=READING, max_steps=MOST_READINGS)
        elif tools == DebateTools.OWN:
            agent = directory.agent(author.id) or agent
        agent = replace(agent, name=author.name, provider=plan.provider, model=model, skills=())
        # It is asked as the session says, also where its model cannot choose tools.
        used = replace(directory.model_of(agent), row=None)
        turn_id, mode = begun_turn(self._live, message) or message.turn_id, self._live.session.mode
        marks = {name: getattr(message, name) for name in ("round", "why", "retakes", "part", "data")}
        turn = AgentTurn(turn_id=turn_id, agent=agent, agent_model=used, stack=(author.id,), mode=mode)
        return replace(turn, kind=author.kind, marks=marks)

    @contextmanager
    def _telling(self, reason: str) -> Iterator[None]:
        """Say what the session does until the block ends."""
        self._live.change(reason=reason)
        try:
            yield
        finally:
            if self._live.session.status == Status.RUNNING:
                self._live.change(reason="")

    async def _stated(
        self, plan: CallPlan, turn: AgentTurn, written: Written, looked_up: LookedUp = None
    ) -> Outcome:
        """Take the turn that leads to a statement; one whose speaker is not free has failed."""
        live, services = self._live, self._services
        live.start_turn(turn.message())
        spent = [item for item in live.turns.said_below(turn.turn_id) if item.id > self._since]
        budget = Budget(services.directory.settings, spent, services.clock)
        context = TreeContext(live=live, services=services, budget=budget, waits=self._waits)
        await attach_servers(live, services.directory, turn.agent)
        speaker = self._speaker(turn.author)
        try:
            return await self._taken(StatementTree(context, plan, written, looked_up), turn, speaker)
        except NotFree as refused:
            message, fields = written(speaker.failed(turn.message(), refused.reason))
            live.finish_message(message, **fields)
            return Outcome(TurnState.BROKEN, message=message)


def begun_turn(live: LiveSession, message: Message) -> str:
    """Return the id of the turn that leads to a statement to be, if it was begun with tools and not ended,
    else "".
    """
    wanted = (message.author.id, message.part, message.round, message.retakes)
    for turn_id in reversed(live.turns.ids):
        first = live.turns.first(turn_id)
        if first is None or (first.author.id, first.part, first.round, first.retakes) != wanted:
            continue
        messages = live.turns.said(turn_id)
        called = any(item.tool_calls and item.state == MessageState.DONE for item in messages)
        return turn_id if called and not is_over(messages) else ""
    return ""


def pages_read(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the addresses of the web pages that were read in a turn, each once."""
    fetched = (call for call, _ in finished_calls(messages) if call.name == WEB_FETCH)
    given = ((object_in(call.arguments) or {}).get("url") for call in fetched)
    pages = (page.strip() for page in given if isinstance(page, str) and page.strip().isprintable())
    return tuple(page for page in dict.fromkeys(pages) if is_web_address(page))


def close_others(live: LiveSession, *kept: str) -> None:
    """End the turns with open questions, but for those that go on: nobody needs to answer them any more."""
    for turn_id in {live.turns.root(question.turn_id) for question in open_questions(live)} - {*kept}:
        close_turns(live, turn_id)


def author_of(participant: Participant) -> Author:
    """Return a participant as the author of a message."""
    return Author(id=participant.id, name=participant.name, kind=director.PARTICIPANT)


def statement_of(debate: Debate, spoken: Speak, **fields: Any) -> Message:
    """Return the message of a turn that comes next."""
    author = author_of(director.participant_of(debate, spoken.speaker))
    return statement_by(author, round=spoken.round, why=spoken.why, retakes=spoken.retakes, **fields)


def statement_by(author: Author, **fields: Any) -> Message:
    """Return the message of a statement that comes next, in a turn of its own."""
    return Message(id=new_id(), turn_id=new_id(), role=Role.ASSISTANT, author=author, **fields)


SKIPPED = "skipped"


@dataclass(eq=False, repr=False)
class HeldTurns:
    """Retries such a turn, skips it, or goes on without its participant; all raise BadInput, NotFound,
    StorageError.

    Each of them resumes the debate.
    """

    _sessions: Sessions
    _models: MeteredModels
    _absent: Callable[[DebateSession], frozenset[str]]

    async def retry(self, session_id: str) -> None:
        """Take the turn now, however long its provider asked to wait; or retry the failed turns that led
        to a pause.
        """
        live = await self._at_rest(session_id)
        if (spoken := self._next(live)) is not None:
            participant = director.participant_of(live.debate_session.debate, spoken.speaker)
            self._models.end_pause(participant.provider)
        self._sessions.run(live)

    async def skip(self, session_id: str) -> None:
        """Skip the turn; failed turns that led to a pause stay as they are."""
        live = await self._at_rest(session_id)
        debate = live.debate_session.debate
        spoken = self._next(live)
        if debate.failures >= director.MAX_FAILURES:
            live.change(debate=replace(debate, failures=0))
        elif spoken is not None and spoken.retakes:
            live.change(debate=director.after_turn(debate, spoken, (), failed=False))
        elif spoken is not None:
            after = director.after_turn(debate, spoken, self._absent(live.debate_session), failed=False)
            failure, now = Failure(kind=SKIPPED), utc_now()
            skipped = statement_of(debate, spoken, state=MessageState.FAILED, error=failure, created_at=now)
            begun = begun_turn(live, skipped)
            live.finish_message(replace(skipped, turn_id=begun or skipped.turn_id), debate=after)
        self._sessions.run(live)

    async def go_on_without(self, session_id: str, participant_id: str) -> None:
        """Leave a participant out of the rest of the debate."""
        live = await self._open(session_id)
        session = live.debate_session
        left = [participant for participant in self._present(session) if participant.id != participant_id]
        gone = next((item for item in session.debate.participants if item.id == participant_id), None)
        if gone is None:
            raise NotFound("participant_not_found", participants=_names(session.debate.participants))
        if len(left) < MIN_PARTICIPANTS:
            raise BadInput("too_few_without", name=gone.name, least=MIN_PARTICIPANTS)
        await self._go_on(live, lambda debate: replace(debate, left=(*debate.left, participant_id)))

    async def retake(self, session_id: str, message_id: str) -> None:
        """Take a failed turn again before the debate goes on."""
        live = await self._open(session_id)
        failed = next((message for message in live.said if message.id == message_id), None)
        if failed is None:
            raise NotFound("message_not_found", message=message_id)
        if failed.state != MessageState.FAILED or any(message.retakes == message_id for message in live.said):
            raise BadInput("turn_not_failed")
        await self._go_on(live, lambda debate: with_due(debate, message_id))

    def of(self, session_id: str) -> tuple[Participant, ...]:
        """Return whose turns hold an open debate up, where it could go on without them."""
        live = self._sessions.live(session_id)
        if live is None or live.session.status != Status.PAUSED or live.session.reason not in HELD_UP:
            return ()
        debate, present = live.debate_session.debate, self._present(live.debate_session)
        if debate.failures >= director.MAX_FAILURES:
            ids = {turn.author.id for turn in director.turns_of(live.said)[-debate.failures :]}
        else:
            spoken = self._next(live)
            ids = {spoken.speaker} if spoken is not None else set()
        return tuple(item for item in present if item.id in ids and len(present) > MIN_PARTICIPANTS)

    async def participant(self, session_id: str, name: str) -> Participant:
        """Return who is called so in a debate. Raises NotFound that names everybody."""
        participants = (await self._sessions.open(session_id)).debate_session.debate.participants
        for item in participants:
            if item.name.casefold() == name.strip().casefold():
                return item
        raise NotFound("participant_not_found", participants=_names(participants))

    async def _open(self, session_id: str) -> LiveSession:
        live = await self._sessions.open(session_id)
        check_open(live)
        _ = live.debate_session
        return live

    async def _go_on(self, live: LiveSession, change: Callable[[Debate], Debate]) -> None:
        """Change a debate and resume it; a turn in flight is finished first."""
        run = self._sessions.running(live.id)
        at_work = run is not None and live.session.status == Status.RUNNING and not run.only_waits
        if not at_work:
            await self._at_rest(live.id)
        live.change(debate=change(live.debate_session.debate))
        if not at_work:
            self._sessions.run(live)

    async def _at_rest(self, session_id: str) -> LiveSession:
        """Open a debate that is paused, or pause one whose turn only waits."""
        live = await self._open(session_id)
        run = self._sessions.running(session_id)
        if run is not None and live.session.status == Status.RUNNING:
            if not run.only_waits:
                raise BadInput("turn_not_waiting")
            await run.pause()
        elif run is not None:
            await run.wait()
        return live

    def _next(self, live: LiveSession) -> Speak | None:
        """Return the turn that comes next once the debate goes on."""
        session = live.debate_session
        session = replace(session, debate=director.resumed(session.debate, live.said))
        decision = director.decide(session.debate, live.said, self._absent(session))
        return decision if isinstance(decision, Speak) else None

    def _present(self, session: DebateSession) -> list[Participant]:
        absent = self._absent(session)
        return [participant for participant in session.debate.participants if participant.id not in absent]


def with_due(debate: Debate, message_id: str) -> Debate:
    """Return a debate in which what failed is asked for again."""
    return replace(debate, due=tuple(dict.fromkeys((*debate.due, message_id))))


def _names(participants: tuple[Participant, ...]) -> str:
    return ", ".join(participant.name for participant in participants)
