"""The turn of a speaker in any kind of session: a free slot, the gate, the call, its answer, its failure.

Used by debates, chats, groups, sub-agents and steps. The answer grows over the attempts of one call. How
often and when a call is made again is decided here; how long it waits first is `seconds_to_wait` in
context.py. The calls that an external agent reports of itself are rows of the turn, of which Moot runs none.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from json import dumps

from app.core import message as core_message
from app.core import provider as core_provider
from app.core.definitions import Effort
from app.core.errors import Failure, FailureKind, ProviderError
from app.core.events import PromptAsked, RetryScheduled, ToolFinished
from app.core.frozen import Frozen
from app.core.ids import new_id, utc_now
from app.core.message import Consent, Message, MessageState, Prompt, PromptReason, PromptType, Role, ToolCall
from app.core.owned_tasks import start_owned
from app.core.provider import AgentAct, AgentAsk, CallPiece, Finished, FinishReason, ModelRequest, Text
from app.core.texts import closed, escape_markdown, join_command
from app.core.tool import Tool, ToolContext, ToolResult
from app.engine.availability import Waiting, Waits, Work
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn, Attempt
from app.engine.turns import context as turns_context
from app.engine.turns.context import Clock, MeteredCall, Outcome, Place, TreeContext, TurnState, with_time
from app.engine.turns.reply import PASSED, ReplyCleaner, is_pass, whole_sentences

Ask = Callable[[AgentTurn, ToolCall, Prompt], Awaitable[str | None]]


class ReportedCalls:
    """The calls that an external agent reports in one turn; `ask` puts a question to the user.

    Each is written as a call of the turn's last message and a result that streams until its end is reported.
    """

    def __init__(self, context: TreeContext, turn: AgentTurn, ask: Ask) -> None:
        self._live = context.live
        self._models = context.services.models
        self._turn = turn
        self._ask = ask
        self._message: Message | None = None
        self._calls: dict[str, ToolCall] = {}
        self._results: dict[str, Message] = {}
        self._asking: set[asyncio.Task[None]] = set()

    @property
    def any(self) -> bool:
        """Whether the agent has reported a call."""
        return bool(self._calls)

    def knows(self, act: AgentAct) -> bool:
        """Whether the agent has told of an act before."""
        return act.id in self._calls

    def begin(self, act: AgentAct, call_id: str, said: Message | None) -> None:
        """Write a new call: of the message that ends with it, or of the last one
        where the agent has said nothing since.
        """
        message = said or self._message
        assert message is not None
        provider = self._turn.agent_model.provider
        call = ToolCall(id=call_id, name=act.name, arguments=act.arguments, by=provider)
        self._calls[act.id] = call
        self._write_call(replace(message, tool_calls=(*message.tool_calls, call)))
        result = self._turn.message(Role.TOOL, tool_call_id=call.id)
        self._results[act.id] = result
        self._live.start_message(result, turns_context.started(self._live, self._turn, call))
        self.update(act)

    def update(self, act: AgentAct) -> None:
        """Write what is new about a call."""
        call = self._calls[act.id]
        if (call.name, call.arguments) != (act.name, act.arguments):
            self._calls[act.id] = changed = replace(call, name=act.name, arguments=act.arguments)
            for message in self._live.turns.said(self._turn.turn_id):
                if call in message.tool_calls:
                    calls = tuple(changed if item == call else item for item in message.tool_calls)
                    self._write_call(replace(message, tool_calls=calls))
        if act.state != MessageState.STREAMING:
            self._end(act.id, act.state, act.text)

    def ask(self, ask: AgentAsk) -> None:
        """Put what the agent asks to the user, while it goes on reporting."""

        def refuse(_: BaseException) -> None:
            # The agent would wait for ever for an answer that nobody gives.
            self._models.answer_agent(ask.id, Consent.DENY)

        start_owned(self._put(ask), refuse, name="question of an external agent", among=self._asking)

    def close(self, state: str, text: str = "") -> None:
        """End what has no result yet, because the answer has ended: nothing more will be reported."""
        for task in self._asking:
            task.cancel()
        for act_id, result in self._results.items():
            if result.state == MessageState.STREAMING:
                self._end(act_id, state, text)

    async def _put(self, ask: AgentAsk) -> None:
        call = self._calls.get(ask.act)
        answer = Consent.DENY.value
        if call is not None:
            server, reason = self._turn.agent_model.label, PromptReason.AGENT_ASKS
            names, kinds = (option.name for option in ask.options), (option.kind for option in ask.options)
            prompt = Prompt(question=call.name, type=PromptType.APPROVAL, reason=reason, tool=ask.title)
            prompt = replace(prompt, server=server, arguments=ask.arguments)
            prompt = replace(prompt, options=tuple(names), kinds=tuple(kinds))
            answer = await self._ask(self._turn, call, prompt) or answer
        self._models.answer_agent(ask.id, answer)

    def _write_call(self, message: Message) -> None:
        if self._message is None or self._message.id <= message.id:
            self._message = message
        self._live.finish_message(message)

    def _end(self, act_id: str, state: str, text: str) -> None:
        result = replace(self._results[act_id], content=text, state=state)
        self._results[act_id] = result
        about = turns_context.about_call(self._live, self._turn, self._calls[act_id])
        ended = ToolFinished(**about, ok=state == MessageState.DONE, content=text)
        self._live.finish_message(result, *([ended] if result.ended else []))


_LOST = "This was cut off, and may have been done or half done. Look at how things are before you go on."


async def _lost(_arguments: object, _run: ToolContext) -> ToolResult:
    return ToolResult(content=_LOST, ok=False)


def lost_call(call: ToolCall) -> Tool:
    """Return what stands for a call whose end was never reported: the agent is told so,
    after the user was asked.
    """
    return Tool(key=call.name, description="", parameters={}, run=_lost)


def asks_to_work(context: TreeContext, turn: AgentTurn) -> Outcome | None:
    """Return why an external agent may not work in its folder yet: the user has not answered,
    or has denied it.
    """
    directory, live = context.services.directory, context.live
    consent, line = directory.work_consent(turn.agent_model.provider, turn.folder)
    if consent in live.session.always or directory.may_work(consent):
        return None
    prompts = (item.prompt for item in reversed(live.turns.said(turn.turn_id)) if item.prompt is not None)
    about = (PromptReason.AGENT_WORKS, consent)
    prompt = next((item for item in prompts if (item.reason, item.consent) == about), None)
    if prompt is not None and prompt.open:
        return Outcome(TurnState.WAITING)
    if prompt is not None and prompt.answer in tuple(Consent) and prompt.answer != Consent.DENY:
        return None
    if prompt is not None:
        failure = Failure(kind=FailureKind.AGENT_REFUSED, detail=turn.folder)
        message = turn.message(state=MessageState.FAILED, error=failure)
        live.finish_message(message)
        return Outcome(TurnState.BROKEN, "", message)
    name, what = turn.agent_model.label, {"folder": turn.folder, "command": join_command(line)}
    arguments = dumps(what, ensure_ascii=False)
    new = Prompt(question=turn.folder, type=PromptType.APPROVAL, reason=PromptReason.AGENT_WORKS)
    new = replace(new, tool=name, server=name, consent=consent, arguments=arguments)
    question = turn.message(Role.SYSTEM, prompt=new)
    live.finish_message(question, PromptAsked(session_id=live.id, message_id=question.id, prompt=new))
    return Outcome(TurnState.WAITING)


_IN_A_LINK = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C"})


def sources_text(answer: str, sources: Sequence[tuple[str, str]]) -> str:
    """Return what follows an answer: a numbered list of its sources without those that it links to itself,
    "" for none.

    The numbers are those of all sources, which answers refer to.
    """
    lines = []
    for number, (address, title) in enumerate(sources, 1):
        if f"]({address})" not in answer:
            lines.append(f"{number}. [{escape_markdown(title or address)}]({address.translate(_IN_A_LINK)})")
    fence = closed(answer).removeprefix(answer.rstrip())
    return "\n".join([f"{fence}\n\n---\n", *lines]) if lines else ""


# How many messages a request has after one that was too long for the model.
SHORT_WINDOW = 7
SHOWN_ARGUMENTS = 300

# Why there is no answer where its end says more than that.
_NOTHING_SAID: dict[str, str] = {
    FinishReason.CONTEXT_FULL: FailureKind.CONTEXT_WINDOW,
    FinishReason.LENGTH: FailureKind.ALL_THOUGHT,
    FinishReason.TRUNCATED: FailureKind.INTERRUPTED,
}

_log = logging.getLogger(__name__)


class CallPlan(Frozen):
    """A call to be made: its message to be, its provider, and how to ask.

    `request` makes the request of an attempt; `may_ask`, called before each, says whether `provider` may
    still be asked. `taken` are the ids of tool calls that the turn has used already. `make_room` makes the
    next request shorter where one was too long for the model, and says whether it could; without it the next
    has fewer messages. `reports` takes what an external agent tells of its own calls. `sources` are the
    addresses of the pages that the turn has read; an answer without calls ends with them.
    """

    message: Message
    provider: str
    request: Callable[[Attempt], ModelRequest]
    cleaner: Callable[[], ReplyCleaner]
    may_ask: Callable[[], bool]
    may_pass: bool = False
    taken: frozenset[str] = frozenset()
    make_room: Callable[[], Awaitable[bool]] | None = None
    reports: ReportedCalls | None = None
    sources: tuple[str, ...] = ()


class Answer:
    """The answer as it grows over the attempts of one call."""

    def __init__(
        self, live: LiveSession, plan: CallPlan, models: turns_context.MeteredModels, clock: Clock
    ) -> None:
        self._live = live
        self._plan = plan
        self._models = models
        self._clock = clock
        # The message that grows: the session keeps its text and its thinking.
        self._message: Message | None = None
        self._calls: dict[int, _GrowingCall] = {}
        self._pictures: dict[int, list[core_provider.PicturePiece]] = {}
        self._opening = ""
        # What was said as long as it may be the request's opener again, None once words were shown.
        self._held_back: str | None = ""
        self._thinking_gap = ""
        self._request: ModelRequest | None = None
        self._asked: list[MeteredCall] = []
        self._finished = Finished()
        self._begun = clock()
        self._thought_at: float | None = None
        self._thought_for: float | None = None
        self._first_word: float | None = None

    @property
    def content(self) -> str:
        """The text so far, of an external agent that behind its last call."""
        return self._live.text_of(self._message.id).strip() if self._message else ""

    @property
    def _thinking(self) -> str:
        return self._live.thinking_of(self._message.id) if self._message else ""

    @property
    def begun(self) -> bool:
        """Whether there is anything that another try would repeat."""
        return bool(self.content) or (self._plan.reports is not None and self._plan.reports.any)

    @property
    def silent(self) -> bool:
        """Whether nothing of the answer was shown, not even what was thought."""
        return self._message is None and not self.begun

    async def ask(self, place: Place, request: ModelRequest) -> ProviderError | None:
        """Ask once; return why the answer is not complete, None when it is."""
        self._begun, self._request = self._clock(), request
        self._held_back, self._first_word = "", None
        # The thinking of the tries before ends here.
        self._thinking_gap = "\n\n" if self._thinking else ""
        self._opening = request.opener.partition(":")[2].strip()
        try:
            await self._listen(place(request))
        except ProviderError as error:
            return error
        except Exception as fault:
            _log.exception("A turn failed in a way nobody foresaw")
            return ProviderError(FailureKind.BAD_RESPONSE, type(fault).__name__)
        if self._calls and self._finished.reason == FinishReason.TRUNCATED:
            return ProviderError(FailureKind.INTERRUPTED)
        said, reason = self.begun or self._calls or self._pictures, self._finished.reason
        if said or reason in (FailureKind.CONTENT_FILTER, FinishReason.REFUSAL):
            return None
        return ProviderError(_NOTHING_SAID.get(reason, FailureKind.EMPTY))

    async def _listen(self, call: MeteredCall) -> None:
        cleaner = self._plan.cleaner()
        self._calls.clear()
        self._pictures.clear()
        self._finished = Finished(reason=FinishReason.TRUNCATED)
        self._asked.append(call)
        ended, reports = MessageState.STOPPED, self._plan.reports
        try:
            await self._take_all(call, cleaner)
            ended = MessageState.FAILED
        except ProviderError:
            ended = MessageState.FAILED
            raise
        finally:
            if reports is not None:
                reports.close(ended, "The external agent ended before it told what came of this.")

    async def _take_all(self, call: MeteredCall, cleaner: ReplyCleaner) -> None:
        reports = self._plan.reports
        async with aclosing(call.stream()) as stream:
            async for delta in stream:
                if isinstance(delta, Text):
                    cleaner.settled = cleaner.settled or bool(delta.thinking)
                    self._show_cleaned(cleaner, cleaner.feed(delta.text), delta.thinking)
                    if cleaner.cut:
                        self._finished = Finished()
                        break
                elif isinstance(delta, CallPiece):
                    self._take_call(delta)
                elif isinstance(delta, core_provider.PicturePiece):
                    self._pictures.setdefault(delta.index, []).append(delta)
                    self._started()
                elif isinstance(delta, AgentAct):
                    if reports is not None and reports.knows(delta):
                        reports.update(delta)
                    elif reports is not None:
                        self._show_cleaned(cleaner, cleaner.finish())
                        cleaner = self._plan.cleaner()
                        self._begin_act(delta, reports)
                elif isinstance(delta, AgentAsk):
                    if reports is not None:
                        reports.ask(delta)
                else:
                    self._finished = delta
        self._show_cleaned(cleaner, cleaner.finish())
        passes = self._plan.may_pass and is_pass(self.content)
        if self.content and not passes and self._request is not None and self._request.schema is None:
            named, read = dict(self._finished.sources), () if self._calls else self._plan.sources
            # The answer refers to those that its model names by their numbers.
            sources = named | dict.fromkeys(read, "") | named
            self._show(sources_text(self.content, [*sources.items()]), "")

    def _begin_act(self, act: AgentAct, reports: ReportedCalls) -> None:
        """Write a new call of an external agent; what it says behind it is another message."""
        said = None
        if self._message is not None or not reports.any:
            said = replace(self._ended(MessageState.DONE), usage=None)
        call_id = self._free_id(act.id)
        self._plan = replace(self._plan, taken=self._plan.taken | {call_id})
        reports.begin(act, call_id, said)
        if said is not None:
            self._message = None
            self._held_back = ""
            self._thought_at = self._thought_for = self._first_word = None
            following = replace(self._plan.message, id=new_id(), told="")
            self._plan = replace(self._plan, message=following)

    def _show_cleaned(self, cleaner: ReplyCleaner, shown: tuple[str, str], beside: str = "") -> None:
        text, thinking = shown
        if cleaner.taken_back and self._message is not None and self._held_back is None:
            self._live.take_back_text(self._message.id)
            self._held_back, self._first_word = "", None
            self._thought_at, self._thought_for = self._begun, None
        self._show(text, thinking + beside)

    def _show(self, text: str, thinking: str) -> None:
        if text and self._held_back is not None:
            self._held_back += text
            text = "" if self._opening.startswith(self._held_back.strip()) else self._held_back
        if not text and not thinking:
            return
        if thinking:
            thinking, self._thinking_gap = self._thinking_gap + thinking, ""
        self._time_thought(spoken=bool(text))
        if text:
            self._held_back = None
            self._time_first_word()
        self._live.append_text(self._started().id, text, thinking)

    def _time_thought(self, *, spoken: bool) -> None:
        """Record when thinking began, and how long it took once something else comes."""
        if self._thought_at is None:
            self._thought_at = None if spoken else self._clock()
        elif spoken and self._thought_for is None:
            self._thought_for = round(self._clock() - self._thought_at, 3)

    def _time_first_word(self) -> None:
        if self._first_word is None:
            self._first_word = round(self._clock() - self._begun, 3)

    def _take_call(self, piece: CallPiece) -> None:
        call = self._calls.get(piece.index)
        if call is None:
            call = self._calls[piece.index] = _GrowingCall(self._free_id(piece.id))
        news = call.add(piece)
        message = self._started()
        self._time_thought(spoken=True)
        self._time_first_word()
        if news:
            self._live.stream_calls(message.id, self._tool_calls())

    def _free_id(self, wanted: str) -> str:
        """Return a call's own id, with a changed start where the turn has used it: each call has one result.
        The end stays, because Gemini puts a signature there.
        """
        taken = self._plan.taken | {call.id for call in self._calls.values()}
        wanted = free = wanted or f"call_{new_id()}"
        number = 2
        while free in taken:
            free, number = f"{number}_{wanted}", number + 1
        return free

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(call.whole() for _, call in sorted(self._calls.items()))

    def _started(self) -> Message:
        if self._message is None:
            self._message = self._new_message()
            self._live.start_message(self._message)
        return self._message

    def answered(self) -> Message:
        """Return the whole answer, marked where it carries a warning."""
        content, note, reason = self.content, "", self._finished.reason
        cut = (FinishReason.LENGTH, FinishReason.TRUNCATED, FinishReason.CONTEXT_FULL)
        if self._opening and reason == FinishReason.LENGTH:
            content = whole_sentences(content)
        elif reason in (*cut, FinishReason.REFUSAL, FailureKind.CONTENT_FILTER):
            note = reason
        if self._plan.may_pass and is_pass(content):
            content, note = "", PASSED
        state = dict(self._finished.state) if self._finished.state else None
        ended = replace(self._ended(MessageState.DONE), content=content, note=note)
        return replace(ended, tool_calls=self._tool_calls(), provider_state=state)

    @property
    def lost_pictures(self) -> tuple[str, ...]:
        """Why pictures of the answer could not be kept, one PictureFault each."""
        return tuple(dict.fromkeys(self._finished.lost_pictures))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The tools that the model was not offered, because its provider accepts no form of them."""
        return self._finished.left_out

    def _attachments(self) -> tuple[core_message.Attachment, ...]:
        found = []
        for number, (_, pieces) in enumerate(sorted(self._pictures.items()), 1):
            kind, data = pieces[0].media_type, "".join(piece.data for piece in pieces)
            name = f"image-{number}.{kind.partition('/')[2]}"
            found.append(core_message.Attachment(name=name, media_type=kind, data=data))
        return tuple(found)

    def failed(self, error: ProviderError) -> Message:
        """Return the failure as a message; a blocked answer is shown as such and does not count as a
        failure.
        """
        if error.kind == FailureKind.CONTENT_FILTER:
            return replace(self._ended(MessageState.DONE), note=FailureKind.CONTENT_FILTER)
        failure = Failure(kind=error.kind, detail=error.detail)
        return replace(self._ended(MessageState.FAILED), error=failure)

    def stopped(self) -> None:
        """Keep the text so far, marked as cut, and its usage: providers charge for answers that were cut
        as well.
        """
        if self._message is not None:
            self._live.finish_answer(self._ended(MessageState.STOPPED))
        else:
            self._models.note_unsaid(self._live, self._plan.message.author, *self._asked)

    def _new_message(self) -> Message:
        asked = self._request
        model = f"{asked.provider}/{asked.model}" if asked else ""
        takes = asked is not None and self._models.known_facts(asked.provider, asked.model).efforts != ()
        effort = asked.effort if asked and takes and asked.effort != Effort.AUTO else ""
        return replace(self._plan.message, created_at=utc_now(), model=model, effort=effort)

    def _ended(self, state: str) -> Message:
        self._time_thought(spoken=True)
        # The tokens of several tries say nothing about the speed of the last.
        used_once = sum(call.usage is not None for call in self._asked) == 1
        first_word = self._first_word if used_once else None
        seconds, pictures = round(self._clock() - self._begun, 3), self._attachments()
        message = replace(self._message or self._new_message(), content=self.content, attachments=pictures)
        message = replace(message, thinking=self._thinking, thinking_seconds=self._thought_for)
        message = replace(message, state=state, usage=self._usage())
        return replace(message, seconds=seconds, first_word_seconds=first_word)

    def _usage(self) -> core_message.Usage | None:
        """Return what all attempts used; None where none of them used anything."""
        used = [usage for call in self._asked if (usage := call.usage) is not None]
        return sum(used[1:], start=used[0]) if used else None


class _GrowingCall:
    """A tool call whose arguments come in pieces."""

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self._name = ""
        self._arguments: list[str] = []
        self._length = 0

    def add(self, piece: CallPiece) -> bool:
        """Add a piece; return whether a line that shows the call looks different now."""
        self._name = self._name or piece.name
        self._arguments.append(piece.arguments)
        before, self._length = self._length, self._length + len(piece.arguments)
        return before < SHOWN_ARGUMENTS

    def whole(self) -> ToolCall:
        """Return the call as far as it came."""
        if len(self._arguments) > 1:
            self._arguments = ["".join(self._arguments)]
        return ToolCall(id=self.id, name=self._name, arguments="".join(self._arguments))


_TOO_LONG = (FailureKind.CONTEXT_WINDOW, FailureKind.TOO_LARGE, FailureKind.UNANSWERED)
# What providers also answer to a request that is too long, without saying that it is.
_PERHAPS_TOO_LONG = (FailureKind.BAD_REQUEST, FailureKind.SERVER, FailureKind.EMPTY, FailureKind.ALL_THOUGHT)
# A request of this share of the window is taken for one that is too long.
_NEAR = 0.9


@dataclass(eq=False, repr=False)
class SpeakerTurn:
    """One turn of a speaker; its errors never leave it, they become a failed message or a reason to pause."""

    _live: LiveSession
    _services: turns_context.Services
    _author: core_message.Author
    _: KW_ONLY
    # While the provider is waited for, the turn is inside.
    waits: Waiting
    # Called with true when the speaker is busy and the turn must wait, and with false once that is over.
    busy: Callable[[bool], None] = lambda _: None
    # What the turn is for, in words.
    about: str = ""
    # Whether another assistant may be given it while it waits.
    may_move: bool = False

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot of the speaker while the block runs.
        Raises NotFree, and SentTo where the work may move.
        """
        work = Work(session_id=self._live.id, about=self.about, may_move=self.may_move)
        waiting = False

        def wait(waits: Waits) -> None:
            nonlocal waiting
            waiting = True
            self.busy(True)
            if waits.held:
                # Only the user ends that.
                self._live.notice("held_back", name=self._author.name)

        try:
            async with self._services.slots.taken(self._author.id, work=work, waits=wait):
                if waiting:
                    waiting = False
                    self.busy(False)
                yield
        finally:
            if waiting:
                self.busy(False)

    async def call(self, plan: CallPlan) -> Message | str:
        """Let the model answer. Only cancellation leaves this, after the text so far was kept as stopped.

        Returns the answer, whole or failed and yet to be written; where the call has to be made again the
        reason to pause, "" where the provider may no longer be asked.
        """
        services = self._services
        answer = Answer(self._live, plan, services.models, services.clock)
        attempt, retried, repeat = Attempt(), False, 1
        try:
            while True:
                async with services.models.place(plan.provider, self._at_gate(plan)) as place:
                    if not plan.may_ask():
                        break
                    request = plan.request(attempt)
                    error = await answer.ask(place, request)
                if error is None:
                    for fault in answer.lost_pictures:
                        self._live.notice(f"picture_{fault}", name=self._author.name)
                    if left_out := self._live.first_told(answer.left_out):
                        self._live.notice("tools_left_out", name=self._author.name, tools=", ".join(left_out))
                    return answer.answered()
                if error.kind == FailureKind.BUDGET_MONTH:
                    return self._held(answer, error, plan.provider)
                seconds = turns_context.seconds_before(repeat, error) if answer.silent else None
                if seconds is not None:
                    await self._rest(plan, error, seconds, repeat)
                    repeat += 1
                    continue
                limited = error.kind in (FailureKind.RATE_LIMIT, FailureKind.QUOTA)
                if answer.begun or (retried and not limited):
                    return answer.failed(with_time(error))
                if limited:
                    if retried or turns_context.seconds_to_wait(error) is None:
                        return self._held(answer, error, plan.provider)
                elif self._is_too_long(error, request):
                    if plan.make_room is None:
                        attempt = replace(attempt, window=SHORT_WINDOW)
                    elif not await plan.make_room() and error.kind != FailureKind.UNANSWERED:
                        return answer.failed(with_time(error))
                elif error.kind in (FailureKind.EMPTY, FailureKind.MALFORMED_CALL):
                    attempt = replace(attempt, after_empty=True)
                else:
                    return answer.failed(with_time(error))
                retried = True
            answer.stopped()
        except asyncio.CancelledError:
            answer.stopped()
            raise
        return ""

    def _is_too_long(self, error: ProviderError, request: ModelRequest) -> bool:
        """Return whether a shorter request may be answered: its provider says so, or all that is known
        of the window does.
        """
        if error.kind in _TOO_LONG:
            return True
        if error.kind not in _PERHAPS_TOO_LONG:
            return False
        window = self._services.models.known_facts(request.provider, request.model).window
        return self._services.count.of(self._live.id, request) >= _NEAR * window

    def failed(self, message: Message, kind: str) -> Message:
        """Return the turn's message to be as one that failed before any model was asked."""
        failure = Failure(kind=kind, detail=self._author.name)
        return replace(message, state=MessageState.FAILED, error=failure, created_at=utc_now())

    def _held(self, answer: Answer, error: ProviderError, provider: str) -> str:
        """Keep what was said, and say that the session must pause before this call."""
        answer.stopped()
        name, kind = self._author.name, error.kind
        self._live.notice("turn_held", name=name, kind=kind, detail=error.detail, provider=provider)
        return kind

    def _at_gate(self, plan: CallPlan) -> Callable[[float], AbstractContextManager[None]]:
        """Return what the gate enters while the turn waits there, and for how many seconds as far as
        known.
        """

        @contextmanager
        def waiting(seconds: float) -> Iterator[None]:
            if seconds:
                self._announce(plan, FailureKind.RATE_LIMIT, seconds)
            with self.waits():
                yield

        return waiting

    async def _rest(self, plan: CallPlan, error: ProviderError, seconds: float, repeat: int) -> None:
        """Wait before the model is asked again, without a place at its provider."""
        self._announce(plan, error.kind, seconds, repeat)
        with self.waits():
            await self._services.slots.rest(seconds)

    def _announce(self, plan: CallPlan, reason: str, seconds: float, repeat: int = 0) -> None:
        message, repeats = plan.message, turns_context.MOST_REPEATS if repeat else 0
        told = partial(RetryScheduled, turn_id=message.turn_id, author=message.author, seconds=seconds)
        told = partial(told, session_id=self._live.id, reason=reason, provider=plan.provider)
        self._live.tell(told(repeat=repeat, repeats=repeats))
