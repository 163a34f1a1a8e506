"""A running chat: takes the assistant's turn, then sends queued messages, until it is the user's turn.

What comes next is decided without side effects.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from app.core.criteria import CRITERIA, CriterionState, Plan
from app.core.definitions import SWITCH_ASSISTANT, Agent
from app.core.errors import Failure
from app.core.ids import new_id
from app.core.message import MCP_CALLER, Attachments, Author, Message, MessageState, Role, new_message
from app.core.session import AnswerChoice, Chat, DebateTools, Reason, Status
from app.core.settings import Settings
from app.core.turns import failed_result, is_over, last_answer, unanswered
from app.engine.availability import NotFree, SentTo
from app.engine.criteria.checking import MOOT, MOST_ROUNDS, Check, check, is_checked, round_of, told_missing
from app.engine.director import Ask, Decision, Send, Speak
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn, root_turn
from app.engine.runner import Run
from app.engine.turns.context import Budget, Services, TreeContext, TurnState
from app.engine.turns.tool_calls import attach_servers
from app.engine.turns.turn_tree import TurnTree


def decide(chat: Chat, head: Sequence[Message]) -> Decision:
    """Return what comes next; `head` are the messages of the last turn of the shown version."""
    if head and head[0].role == Role.USER:
        return Speak(chat.assistant_id, follows=head[0].turn_id)
    if head and not is_over(list(head)):
        return Speak(head[0].author.id, follows=head[0].follows or "", turn_id=head[0].turn_id)
    return Send(chat.queue[0]) if chat.queue else Ask()


USER_AUTHOR = Author(id="user", name="User", kind="user")
STOPPED_RESULT = "The user stopped this."


class ChatRun(Run):
    """A running chat, in a task of its own."""

    def __init__(self, live: LiveSession, services: Services) -> None:
        super().__init__(live, services)
        # The limit that ended the last turn, "" where none did.
        self._limit = ""
        self._news = asyncio.Event()

    def answered(self) -> None:
        """Let waiting turns look for the user's answer."""
        self._news.set()
        super().answered()

    def _begin(self) -> None:
        if self._live.session.status != Status.RUNNING:
            self._live.change(status=Status.RUNNING, reason="")

    async def _step(self) -> None:
        chat = self._live.chat_session.chat
        if chat.summarise and not self._pausing:
            agent = self._services.directory.agent(chat.assistant_id)
            await self._summarise(root_turn(agent, self._live, self._services.directory) if agent else None)
            return
        match decide(chat, self._live.turns.said(chat.head)):
            case Speak() as spoken if not self._pausing:
                await self._answer(chat, spoken)
            case decision:
                await self._end_or_send(decision)

    async def _end_or_send(self, decision: Decision) -> None:
        """Act on a decision that is no assistant's turn: pause, send a queued message, or end."""
        chat = self._live.chat_session.chat
        answer = last_answer(self._live.turns.said(chat.head))
        done = answer is not None and answer.state == MessageState.DONE and not self._limit
        match decision:
            case Ask() if self._limit:
                self._live.change(status=Status.PAUSED, reason=self._limit)
            case Ask() if not (done and self._live.session.all_criteria()):
                self._live.change(status=Status.IDLE, reason=idle_reason(self._live, chat.head))
            case Ask() if not self._pausing:
                await self._check(chat.head)
            case Send(queued) if not self._pausing and self._services.drafts.holds(self._live.id, queued.id):
                self._live.change(status=Status.IDLE, reason="")
            case Send(queued) if not self._pausing:
                message = user_message(queued.text, queued.attachments, chat.head, by=queued.by)
                choice = model_for(message, queued.provider, queued.model)
                chat = replace(chat, queue=chat.queue[1:], choice=choice)
                chat = replace(chat, head=message.turn_id, budget_from=message.id)
                self._live.finish_message(message, chat=chat)
            case _:
                self._live.change(status=Status.PAUSED, reason=Reason.BY_USER)

    async def _check(self, turn_id: str, call_id: str = CRITERIA) -> None:
        """Have the criteria checked, as the turn that answers a call; once that is done, end
        or send back what is not met.
        """
        live, number = self._live, round_of(self._live)
        chat, criteria = live.chat_session.chat, live.session.all_criteria(due=True)
        waived = all(criterion.state == CriterionState.ACCEPTED for criterion in criteria)
        fresh = any(criterion.state == CriterionState.OPEN for criterion in criteria)
        missing = told_missing(criteria, self._services.prompts, chat.language)
        if fresh or (not waived and not is_checked(live, turn_id, call_id)):
            asked = [item.content for item in live.shown() if item.by_user and item.answers is None]
            turns = tuple(live.turns.back_from(chat.head))
            wanted = Check(criteria, "\n\n".join(asked), turns, turn_id, call_id, number)
            checked = await check(self._tree_context(()), wanted)
            live.finish_messages(checked.messages, *checked.events, **checked.fields(live.session))
        elif all(criterion.settled for criterion in criteria):
            live.change(status=Status.COMPLETED, reason="")
        elif number >= MOST_ROUNDS or not self._send_back(missing):
            live.change(status=Status.PAUSED, reason=Reason.CRITERIA_UNMET)

    def _send_back(self, missing: str) -> bool:
        """Tell the worker what is not met; return whether there is one."""
        head = self._live.chat_session.chat.head
        self._live.finish_message(user_message(missing, (), head, author=MOOT))
        return True

    async def _answer(self, chat: Chat, spoken: Speak) -> None:
        agent = self._services.directory.agent(spoken.speaker)
        if agent is None:
            author = Author(id=chat.assistant_id, name=chat.assistant_name, path=(chat.assistant_id,))
            self._fail(author, spoken)
            return
        await self._take(agent, spoken)

    async def _take(
        self, agent: Agent, spoken: Speak, *, members: tuple[Agent, ...] = (), **fields: Any
    ) -> None:
        """Take an assistant's root turn, to its end or until the user must act."""
        directory = self._services.directory
        await attach_servers(self._live, directory, agent)
        choice = _choice_for(self._live.chat_session.chat, spoken)
        turn_id = choice.turn_id if choice else spoken.turn_id or new_id()
        fields = {"turn_id": turn_id, "follows": spoken.follows, **fields}
        turn = root_turn(agent, self._live, directory, choice=choice, **fields)
        tree = TurnTree(self._tree_context(members))
        # Another assistant may answer while nothing has been said, unless a group chose this one.
        may_move = not spoken.turn_id and self._live.session.group is None
        speaker = self._speaker(turn.author, may_move=may_move)
        try:
            outcome = await self._taken(tree, turn, speaker)
        except NotFree as refused:
            self._fail(turn.author, spoken, refused.reason)
            return
        except SentTo as sent:
            self._answered_by(sent.agent_id)
            return
        self._limit = outcome.reason if outcome.state in (TurnState.FINISHED, TurnState.BROKEN) else ""
        if outcome.state == TurnState.WAITING:
            self._live.change(status=Status.WAITING, reason=Reason.QUESTION)
        elif outcome.state == TurnState.HELD:
            self._live.change(status=Status.PAUSED, reason=outcome.reason)

    async def _summarise(self, turn: AgentTurn | None) -> None:
        """Summarise what came before the turn that would be next, because the user has asked for it."""
        if turn is not None and not await TurnTree(self._tree_context(())).summarise(turn):
            self._live.notice("nothing_summarised", level="info")
        self._live.change(chat=replace(self._live.chat_session.chat, summarise=False))

    def _answered_by(self, agent_id: str) -> None:
        """Let another assistant answer from now on."""
        agent = self._services.directory.agent(agent_id)
        if agent is not None:
            chat = replace(self._live.chat_session.chat, assistant_id=agent.id, assistant_name=agent.name)
            self._live.change(chat=chat, reason="")

    def _tree_context(self, members: tuple[Agent, ...]) -> TreeContext:
        live, services = self._live, self._services
        budget, waits = Budget(self._limits, (*_spent_by(live),), services.clock, live.tell_near), self._waits
        asks = live.session.group is not None and live.session.group.ask_before_hand_over
        asks_too = frozenset((SWITCH_ASSISTANT,)) if asks else frozenset[str]()
        context = TreeContext(live=live, services=services, budget=budget, waits=waits)
        return replace(context, members=members, asks_too=asks_too)

    def _limits(self) -> Settings:
        return self._services.directory.settings().within(self._live.chat_session.chat.limits)

    def _fail(self, author: Author, spoken: Speak, kind: str = Reason.NO_ASSISTANT) -> None:
        """Write why an assistant does not answer; the user can choose another one, or retry."""
        self._live.finish_message(no_answer(spoken, author, Failure(kind=kind, detail=author.name)))

    def _settle(self, status: str) -> None:
        super()._settle(status)
        if status == Status.IDLE:
            close_turns(self._live, self._live.chat_session.chat.head)


def _choice_for(chat: Chat, spoken: Speak) -> AnswerChoice | None:
    """Return what the user chose for a turn alone, None for nothing."""
    choice = chat.choice
    chosen = choice and choice.follows == spoken.follows and spoken.turn_id in ("", choice.turn_id)
    return choice if chosen else None


def model_for(message: Message, provider: str, model: str) -> AnswerChoice | None:
    """Return that a model answers a message of the user's alone; None where it is "", for the chat's."""
    if not provider:
        return None
    return AnswerChoice(turn_id=new_id(), follows=message.turn_id, provider=provider, model=model)


def user_message(
    text: str, attachments: Attachments, follows: str | None, *, by: str = "", **fields: Any
) -> Message:
    """Return a message of the user's, or of the program `by` in the user's place, as a turn of its own."""
    author = Author(id=MCP_CALLER, name=by, kind="user") if by else USER_AUTHOR
    said = {"author": author, "content": text, "attachments": attachments, "follows": follows}
    return new_message(Role.USER, **{**said, **fields})


def no_answer(spoken: Speak, author: Author, why: Failure) -> Message:
    """Return what stands for the answer that a speaker does not give."""
    fields = {"follows": spoken.follows, "state": MessageState.FAILED, "error": why}
    return new_message(Role.ASSISTANT, author, spoken.turn_id, **fields)


def close_turns(live: LiveSession, top: str, only_call: str | None = None) -> None:
    """End a turn and those below it: dismiss open questions and give a result to each call that has none,
    so that nothing waits for ever. With `only_call`, that call alone.
    """
    written = []
    for turn_id in [top] if only_call else live.turns.below(top):
        messages = live.turns.said(turn_id)
        written += [msg.dismissed() for msg in messages if msg.asks and only_call in (None, msg.tool_call_id)]
        answer = last_answer(messages)
        for call in unanswered(answer, messages):
            if answer is not None and only_call in (None, call.id):
                written.append(failed_result(answer, call.id, STOPPED_RESULT))
    if written:
        live.finish_messages(written)


def show_head(live: LiveSession, head: str) -> None:
    """Make another turn the last one shown, with what its answer says of the session."""
    session = live.chat_session
    is_idle = session.status == Status.IDLE and session.reason in ("", Reason.NOT_ANSWERED)
    reason = idle_reason(live, head) if is_idle else session.reason
    live.change(chat=replace(session.chat, head=head), plan=plan_at(live, head), reason=reason)


def plan_at(live: LiveSession, head: str) -> Plan | None:
    """Return the plan with another turn as the last one shown: without what was done to it in turns that are
    shown no longer, with what was done in those that are shown again.

    A plan that was changed since stays as it is.
    """
    if head == live.chat_session.chat.head:
        return live.session.plan
    plan = live.session.plan or Plan()
    before, after = (list(live.turns.back_from(each)) for each in (live.chat_session.chat.head, head))
    for turns, others, now, then in ((before, after, 1, 0), (after, before, 0, 1)):
        own = set(turns).difference(others)
        said = (item for turn_id in own for item in live.turns.said_below(turn_id) if item.plans)
        changes = sorted(said, key=attrgetter("id"), reverse=then == 0)
        if changes and _stands(plan) == _stands(changes[0].plans[now]):
            plan = changes[-1].plans[then]
    return plan if plan != Plan() else None


def _stands(plan: Plan) -> tuple[object, ...]:
    """Return what of a plan tells whether it was changed: all but what checkers said of it."""
    return plan.goal, [(item.text, item.done) for item in plan.items]


def idle_reason(live: LiveSession, head: str) -> str:
    """Return the reason of a session in which it is the user's turn after `head`: that its answer failed."""
    answer = last_answer(live.turns.said(head))
    return Reason.NOT_ANSWERED if answer is not None and answer.state == MessageState.FAILED else ""


def open_questions(live: LiveSession) -> Iterator[Message]:
    """Yield the questions that wait for the user, oldest first; of a chat those of the chosen version.

    None waits in a session that the user has stopped: it is asked again when that goes on.
    """
    if live.session.status == Status.STOPPED:
        return
    if live.session.debate is not None:
        # Few debates have any: their messages are looked at only where tools may be used.
        uses = live.session.debate.tools != DebateTools.NONE
        yield from (message for message in live.messages if uses and message.asks)
        return
    said = live.turns.said_below(live.chat_session.chat.head)
    yield from (message for message in said if message.asks and message.role in (Role.TOOL, Role.SYSTEM))


def _spent_by(live: LiveSession) -> Iterator[Message]:
    """Yield the messages that count towards the budget of the user's last message."""
    chat = live.chat_session.chat
    yield from (item for item in live.messages if item.role == Role.SUMMARY and item.id > chat.budget_from)
    for root in live.turns.back_from(chat.head):
        messages = live.turns.said(root)
        if messages[0].role == Role.USER and messages[0].id <= chat.budget_from:
            return
        yield from (message for message in live.turns.said_below(root) if message.id > chat.budget_from)
