"""How the command line prints chats, groups and workflows: messages, tool calls, questions, plans and
steps; and a debate or council with its verdict.

Of a council: each answer when it is whole, then what they hold and differ on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from app.cli.printing.lines import lines_text, one_line
from app.cli.printing.sessions import marks, status_text
from app.core import events
from app.core.council_parts import Position
from app.core.criteria import Criterion, Plan, shown_by
from app.core.definitions import STEP, SWITCH_ASSISTANT, StepState, StepStatus, WorkflowStep
from app.core.events import CriterionChecked
from app.core.json_values import object_in
from app.core.message import (
    AGENT_OPTION,
    SPOKEN,
    Consent,
    CouncilPart,
    Message,
    MessageState,
    Prompt,
    PromptReason,
    PromptType,
    Role,
    ToolCall,
    user_name,
)
from app.core.session import OF_FOLDER, DebateSession, GroupState, Reason, Session, Status, reason_text
from app.core.texts import Texts, exact, visible, without_steering
from app.core.tool import argument_rows
from app.core.turns import ItemKind, Turns
from app.engine.chat.commands import answers_of, takes_reason
from app.engine.council.outcome import point_text
from app.engine.council.verdicts import verdict_parts
from app.engine.history import summary_line
from app.engine.library.agents import SUB_AGENT
from app.engine.live_session import LiveSession
from app.engine.request import REPORT_RESULT, TOLD_ELSEWHERE, instruction_of

MOST_OF_LINE = 300
MOST_OF_CALL = 200
MOST_OF_RESULT = 200
_INDENT = "    "


def step_line(step: WorkflowStep | None, state: StepState, texts: Texts, names: Mapping[str, str]) -> str:
    """Return a step as one line: its state and name, then assistant, reason and artifacts, if there are any.

    `names` are those of the assistants that have spoken, by id.
    """
    name = f"{step.name} ({state.id}, {step.role})" if step is not None else state.id
    details = [names.get(state.assistant_id, ""), reason_text(state.reason, texts), state.artifacts]
    line = one_line(" · ".join([name, *(detail for detail in details if detail.strip())]))
    return f"  {texts.named('cli.step', state.said)} {line[:MOST_OF_LINE]}\n"


def step_of(call: ToolCall) -> dict[str, str]:
    """Return name, role, assistant and number of the attempt that a tool call stands for."""
    values = object_in(call.arguments) or {}
    named = {"name": "step", "role": "role", "assistant": "assistant", "attempt": "attempt"}
    return {key: str(values.get(field, "")) for key, field in named.items()}


def workflow_end(session: Session, texts: Texts) -> str:
    """Return the state of a workflow and the commands that continue it."""
    steps = session.workflow.steps if session.workflow else ()
    if session.status == Status.COMPLETED:
        line = texts.named("cli.status", session.status)
        return f"{line} · {texts('cli.read_with', session_id=session.id)}\n"
    waits = session.status == Status.WAITING
    lines = [texts.named("cli.status", session.status) if waits else status_text(session, texts)]
    if any(step.said == StepStatus.WAITING and step.reason != Reason.NO_MARKER for step in steps):
        lines.append(texts("cli.chat_waiting", session_id=session.id))
    for step in steps:
        if step.state == StepStatus.FAILED:
            lines.append(texts("cli.step_retry_with", session_id=session.id, step=step.id))
        if step.reason in (Reason.NO_MARKER, Reason.CRITERIA_UNMET):
            lines.append(texts("cli.step_accept_with", session_id=session.id, step=step.id))
    if len(lines) == 1 or session.reason == Reason.FAULT:
        lines.append(texts("cli.resume_with", session_id=session.id))
    if session.reason == Reason.CRITERIA_UNMET:
        lines.append(texts("cli.accept_with", session_id=session.id))
    return lines_text(map(one_line, lines))


class ChatPrinter:
    """Prints the events of a chat as a growing transcript.

    A message that streams alone is printed as it comes. If several stream at once, the one that was being
    printed continues, and the others follow as a whole, one after the other.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._session_id = ""
        self._steps: dict[str, WorkflowStep] = {}
        self._group: GroupState | None = None
        self._turns = Turns()
        # The depths of turns that have said nothing yet.
        self._depths: dict[str, int] = {}
        self._streaming: dict[str, list[str]] = {}
        self._shown: str | None = None
        self._has_begun = False
        self._held: list[str] = []

    def know(self, session: Session, messages: Iterable[Message] = ()) -> None:
        """Take over a session and its messages without printing them."""
        self._session_id, self._group = session.id, session.group
        if session.workflow is not None:
            self._steps = {step.id: step for step in session.workflow.definition.steps}
        self._turns = Turns(messages)

    def __call__(self, event: events.Event) -> str:
        match event:
            case events.SessionStarted():
                self.know(event.session)
                return self.heading(event.session)
            case events.TurnStarted():
                self._depths[event.turn_id] = event.author.depth
                return ""
            case events.MessageStarted():
                return self._begun(event.message)
            case events.MessageDelta():
                return self._grown(event)
            case events.MessageFinished():
                return self._finished(event.message)
            case events.ToolStarted():
                call = ToolCall(id=event.tool_call_id, name=event.name, arguments=event.arguments)
                return self._say(self._call(call, self._depth(event.turn_id)))
            case events.ToolFinished():
                about = self._turns.about(event.turn_id, event.tool_call_id)
                if any(each.role == Role.TOOL and each.prompt is not None for each in about):
                    return ""  # Its result is the question, which is printed separately.
                depth = self._depth(event.turn_id)
                return self._say(self._result(event.name, event.content, depth, ok=event.ok))
            case events.PromptAsked():
                return self._say(self._asked(event.message_id, event.prompt))
            case events.PlanChanged():
                return self._say(self.plan(event.plan))
            case events.StepChanged():
                return self._say(self._step(event.step))
            case CriterionChecked(criterion=criterion):
                return self._say(self._criterion(criterion))
            case _:
                return ""

    def heading(self, session: Session) -> str:
        """Return the title, the assistant or group, and the session's id."""
        name = session.chat.assistant_name if session.chat is not None else ""
        if session.group is not None:
            name = session.group.name
        return f"{one_line(session.title)}\n  {one_line(name)} · {session.id}\n"

    def whole(self, live: LiveSession) -> Iterator[str]:
        """Yield a session that is not running: the branch that is shown, the plan and the steps."""
        session = live.session
        self.know(session)
        yield self.heading(session)
        yield from self.transcript(live.shown_with_summaries())
        if session.plan is not None:
            yield self.plan(session.plan)
        if session.workflow is not None:
            yield "\n" + "".join(map(self._step, session.workflow.steps))
        if criteria := session.all_criteria():
            yield f"\n  {self._texts('criteria.title')}\n"
            yield from map(self._criterion, criteria)

    def _step(self, state: StepState) -> str:
        return step_line(self._steps.get(state.id), state, self._texts, self._turns.names)

    def _criterion(self, criterion: Criterion) -> str:
        """Return a criterion as one line: its state, what shows that, and who says so."""
        by = f" ({criterion.checked_by.name})" if criterion.checked_by is not None else ""
        shown = shown_by(criterion, lambda doubt: self._texts.named("criterion", doubt))
        line = one_line(f"{criterion.text} · {shown}{by}" if shown else criterion.text)
        return f"  {self._texts.named('criterion', criterion.state)} {line}\n"

    def plan(self, plan: Plan | None) -> str:
        """Return a plan: its goal, and its items with a mark for those that are done."""
        if plan is None:
            return f"  {self._texts('cli.no_plan')}\n"
        count = len(plan.items)
        lines = [self._texts("cli.plan", done=count - len(plan.open), count=count)]
        lines += [one_line(plan.goal)] if plan.goal else []
        lines += [f"[{'x' if item.done else ' '}] {one_line(item.text)}" for item in plan.items]
        return "\n" + lines_text(f"  {line}" for line in lines)

    def transcript(self, messages: Iterable[Message]) -> Iterator[str]:
        """Yield the transcript of a chat, the messages of a sub-agent below the call that started it."""
        turns = self._turns = Turns(messages)
        for item in turns.read(turns.roots()):
            message, depth = item.message, item.message.author.depth
            if item.kind == ItemKind.CALL:
                yield self._call(item.call, depth)
            elif item.kind == ItemKind.TOGETHER:
                continue
            elif message.prompt is not None:
                yield self._asked(message.id, message.prompt)
            elif message.role == Role.TOOL:
                done = message.state == MessageState.DONE
                yield self._result(item.call.name, message.content, depth, ok=done)
            elif message.role == Role.SUMMARY:
                yield f"\n  {summary_line(message, self._texts)}\n"
            else:
                yield self._whole(message)

    # Streaming

    def _begun(self, message: Message) -> str:
        self._turns.put(message)
        if message.role != Role.ASSISTANT or message.part:
            return ""
        again = message.id == self._shown and self._has_begun
        self._streaming[message.id] = [message.content]
        return f"\n{self._texts('cli.was_thinking')}\n" if again else self._take_up()

    def _take_up(self) -> str:
        """Begin to print the message that streams alone."""
        if self._shown is not None or len(self._streaming) != 1:
            return ""
        [(message_id, pieces)] = self._streaming.items()
        self._shown, self._has_begun = message_id, False
        return self._more("".join(pieces))

    def _grown(self, event: events.MessageDelta) -> str:
        pieces = self._streaming.get(event.message_id)
        if pieces is None or not event.text:
            return ""
        text = event.text[max(0, sum(map(len, pieces)) - event.offset) :]
        pieces.append(text)
        return self._more(text) if event.message_id == self._shown else ""

    def _more(self, text: str) -> str:
        if not text or self._shown is None:
            return ""
        message = self._turns.messages[self._shown]
        label = "" if self._has_begun else self._label(message)
        indent = _indent(message.author.depth)
        self._has_begun = True
        return label + (indent if label else "") + without_steering(text).replace("\n", f"\n{indent}")

    def _finished(self, message: Message) -> str:
        before = self._turns.messages.get(message.id)
        self._turns.put(message)
        if before is not None and before.ended and message.role == Role.ASSISTANT:
            # Only its calls have changed, which have lines of their own.
            return ""
        pieces = self._streaming.pop(message.id, None)
        if message.role in (Role.TOOL, Role.SYSTEM) or message.part:
            return ""  # Events of tools, questions and criteria print these.
        if message.role == Role.SUMMARY:
            return self._say(f"  {summary_line(message, self._texts)}\n")
        if message.id != self._shown or pieces is None:
            return self._say(self._whole(message)) + self._take_up()
        text = self._more(message.content[sum(map(len, pieces)) :])
        marked = self._marks(message)
        # An empty message has a label where there are marks to print below it.
        text += "\n" if self._has_begun else self._label(message) if marked else ""
        text += marked
        held, self._held, self._shown = self._held, [], None
        return text + "".join(held) + self._take_up()

    def _say(self, text: str) -> str:
        """Return a text now, or keep it until the streaming message ends."""
        if text and self._shown is not None and self._has_begun:
            self._held.append(text)
            return ""
        return text

    # Messages

    def _label(self, message: Message) -> str:
        name = user_name(message.author, self._texts) if message.by_user else message.author.name
        return f"\n{_indent(self._depth(message.turn_id))}{one_line(name)}:\n"

    def _depth(self, turn_id: str) -> int:
        """Return the depth of a turn; the user's answer in it is as deep as the question."""
        first = self._turns.first(turn_id)
        return self._depths.get(turn_id, 0) if first is None else first.author.depth

    def _whole(self, message: Message) -> str:
        asked = self._turns.messages.get(message.answers or "")
        if asked is not None and asked.prompt is not None and asked.prompt.type == PromptType.APPROVAL:
            return ""
        indent = _indent(self._depth(message.turn_id))
        text = f"{_indented(message.content, indent)}\n" if message.content else ""
        text += lines_text(f"{indent}[{one_line(file.name)}]" for file in message.attachments)
        text += self._marks(message)
        return self._label(message) + text if text else ""

    def _marks(self, message: Message) -> str:
        return "".join(f"{_indent(message.author.depth)}{line}" for line in marks(message, self._texts))

    def _call(self, call: ToolCall, depth: int) -> str:
        if call.name == REPORT_RESULT:
            return ""
        if call.name == SWITCH_ASSISTANT:
            member, instruction = instruction_of(call)
            name = self._turns.names.get(member) or (self._group.name_of(member) if self._group else member)
            return f"  → {one_line(name)}: {_cut(one_line(instruction), MOST_OF_CALL)}\n"
        if call.name == STEP and self._steps:
            return f"\n  {one_line(self._texts('cli.step_call', **step_of(call)))}\n"
        arguments = one_line(call.arguments)
        return f"{_indent(depth)}> {one_line(call.name)} {_cut(arguments, MOST_OF_CALL)}".rstrip() + "\n"

    def _result(self, name: str, content: str, depth: int, *, ok: bool) -> str:
        if ok and name in TOLD_ELSEWHERE:
            return ""
        outcome = self._texts("cli.tool_ok" if ok else "cli.tool_failed")
        # The sub-agent's own messages stand right above.
        said = "" if ok and name in (SUB_AGENT, STEP) else _cut(one_line(content), MOST_OF_RESULT)
        return f"{_indent(depth)}  {outcome} {one_line(name)}: {said}".rstrip(": ") + "\n"

    # Questions

    def _asked(self, message_id: str, prompt: Prompt) -> str:
        message = self._turns.messages.get(message_id)
        depth = message.author.depth if message else 0
        name = exact(message.author.name) if message else ""
        lines = [f"? {self._question(name, prompt)}"]
        if prompt.type == PromptType.APPROVAL:
            lines += [f"  {exact(prompt.about, chr(10))}"] if prompt.about else []
            rows = argument_rows(prompt.arguments)
            lines += [f"  {name}: {value}" if name else f"  {value}".rstrip() for name, value in rows]
        elif prompt.type == PromptType.OPTIONS:
            lines += [f"  {number}. {visible(option)}" for number, option in enumerate(prompt.options, 1)]
        for field in prompt.fields:
            more = f"({self._texts('cli.form.hidden')})" if field.hidden else ", ".join(field.options)
            lines.append(f"  {visible(field.key)}= {visible(field.label)} {more}".rstrip())
        if any(field.hidden for field in prompt.fields):
            lines.append(f"  {self._texts('form.secret', server=exact(prompt.server))}")
        if prompt.open:
            lines += self._own_options(prompt)
            lines.append(f"  {self.how_to_answer(prompt, self._session_id)}")
        elif prompt.dismissed:
            lines.append(f"  {self._texts('cli.dismissed')}")
        elif prompt.type == PromptType.APPROVAL:
            said = self._texts.named("cli.answer", prompt.answer.partition("-")[0])
            because = exact(prompt.denied_because, "\n")
            lines.append(f"  {said}: {because}" if because else f"  {said}")
        return "\n" + lines_text(_indented(line, _indent(depth)) for line in lines)

    def _own_options(self, prompt: Prompt) -> list[str]:
        """Return the options that an external agent offers besides, with the answers that choose them."""
        lines = [
            f"  {AGENT_OPTION}{place}: {self._texts(f'approval.{kind}', option=exact(name))}"
            for place, (kind, name) in enumerate(zip(prompt.kinds, prompt.options, strict=False), 1)
        ]
        remembers = self._texts("approval.agent_remembers", server=exact(prompt.server))
        return [*lines, f"  {remembers}"] if lines else []

    def _question(self, name: str, prompt: Prompt) -> str:
        if prompt.type != PromptType.APPROVAL:
            return self._texts("cli.asks", name=name, question=visible(prompt.question))
        keys = {"may_have_run": "cli.asks_again", "agent_works": "cli.asks_to_work"}
        keys |= {reason: f"approval.{reason}" for reason in (*OF_FOLDER, PromptReason.ADDRESS)}
        return self._texts(keys.get(prompt.reason, "cli.asks_to_run"), name=name, tool=prompt.called)

    def how_to_answer(self, prompt: Prompt, session_id: str) -> str:
        """Return the command that answers a question."""
        allowing = [*answers_of(prompt), *([f"{Consent.DENY}: …"] if takes_reason(prompt) else [])]
        fields = "; ".join(f"{visible(each.key)}=…" for each in prompt.fields if not each.hidden) or '""'
        answers: dict[str, str] = {PromptType.APPROVAL: "|".join(allowing), PromptType.FORM: fields}
        answers |= {PromptType.YESNO: "yes|no", PromptType.OPTIONS: "1"}
        return self._texts("cli.answer_with", session_id=session_id, answer=answers.get(prompt.type, "…"))


def _indent(depth: int) -> str:
    return _INDENT * depth


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line for line in without_steering(text).split("\n"))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


class DebatePrinter:
    """Prints the events of a debate as a growing transcript."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._work = ChatPrinter(texts)
        self._roles: dict[str, str] = {}
        self._rounds = 0
        self._round = 0
        self._shown: dict[str, int] = {}
        self._speaking: Message | None = None

    def know(self, session: Session, _messages: Iterable[Message] = ()) -> None:
        """Take over the names and the number of rounds without printing them."""
        self._work.know(session)
        if session.debate is not None:
            self._rounds = session.debate.rounds
            self._roles = {seat.id: seat.role for seat in session.debate.participants}

    def __call__(self, event: events.Event) -> str:
        match event:
            case events.MessageStarted() if event.message.part:
                # What is written beside the turns is printed when it is whole.
                return ""
            case events.MessageFinished() if event.message.part:
                return self.message(event.message)
            case events.SessionStarted():
                self.know(event.session)
                return self.heading(event.session)
            case events.SessionChanged() if event.session.debate is not None:
                # A what-if round is one round more.
                self._rounds = event.session.debate.rounds
                return ""
            case events.TurnStarted():
                return self._round_line(event.round)
            case events.MessageStarted() if not event.message.is_interim:
                self._speaking = event.message
                return self._opening(event.message)
            case events.MessageDelta() if event.message_id in self._shown:
                return self._grown(event)
            case events.MessageFinished() if event.message.id in self._shown or not event.message.is_interim:
                return self._closing(event.message)
            case _:
                return self._work(event)

    def heading(self, session: Session) -> str:
        """Return the topic, of a council the title, the mode and the participants."""
        lines = [one_line(session.title)]
        if session.debate is not None:
            debate = session.debate
            topic, mode = debate.topic, self._texts.named("mode", debate.mode)
            topic = one_line(session.title if debate.is_council else topic)
            lines[0] = self._texts("cli.heading", topic=topic, mode=mode)
            for seat in debate.participants:
                model = f"{seat.provider}/{seat.model}"
                lines.append(f"  {self._speaker(seat.name, seat.id)} · {one_line(model)}")
        lines.append(f"  {session.id}")
        return lines_text(lines)

    def whole(self, live: LiveSession) -> Iterator[str]:
        """Yield a session that is not running: the statements, each below the calls that came before it."""
        self.know(live.session)
        yield self.heading(live.session)
        for interim, messages in groupby(live.whole_messages(), lambda message: message.is_interim):
            if interim:
                yield from self._work.transcript(messages)
            else:
                yield from map(self.message, messages)

    def message(self, message: Message) -> str:
        """Return a message of a session that is not running; "" for one that only Moot reads."""
        return self._round_line(message.round) + self._closing(message) if message.part in SPOKEN else ""

    def _round_line(self, number: int) -> str:
        if not number or number == self._round:
            return ""
        self._round = number
        return f"\n── {self._texts('cli.round', round=number, rounds=self._rounds)} ──\n"

    def _speaker(self, name: str, author_id: str) -> str:
        role = self._roles.get(author_id, "")
        return f"{one_line(name)} ({one_line(role_text(self._texts, role))})" if role else one_line(name)

    def _opening(self, message: Message) -> str:
        again = f"\n{self._texts('cli.was_thinking')}" if self._shown.get(message.id) else ""
        self._shown[message.id] = 0
        return again + self._label(message) + self._more(message)

    def _label(self, message: Message) -> str:
        author = message.author
        name = user_name(author, self._texts) if message.role == Role.USER else author.name
        name = self._texts("council.merged") if message.part == CouncilPart.MERGE else name
        dissent = f" ({self._texts('council.dissent')})" if message.part == CouncilPart.DISSENT else ""
        return f"\n{self._speaker(name, author.id)}{dissent}:\n"

    def _more(self, message: Message) -> str:
        """Return the part of the content that was not printed yet."""
        piece = message.content[self._shown[message.id] :]
        self._shown[message.id] += len(piece)
        return without_steering(piece)

    def _grown(self, event: events.MessageDelta) -> str:
        shown = self._shown.get(event.message_id, 0)
        if not event.text or event.offset + len(event.text) <= shown:
            return ""
        self._shown[event.message_id] = event.offset + len(event.text)
        return without_steering(event.text[max(0, shown - event.offset) :])

    def _closing(self, message: Message) -> str:
        if message.role == Role.SUMMARY:
            return f"\n  {summary_line(message, self._texts)}\n"
        opening = "" if message.id in self._shown else self._opening(message)
        end = opening + self._more(message) + ("\n" if message.content else "")
        cut_in = self._speaking
        if cut_in is not None and cut_in.id == message.id:
            self._speaking = None
        elif cut_in is not None:
            # The user stepped in: the message that was streaming continues below, with its label again.
            end = "\n" + end + self._label(cut_in)
        return end + "".join(marks(message, self._texts))


def role_text(texts: Texts, role: str) -> str:
    """Return a built-in role in the user's language, any other role unchanged."""
    key = f"role.{role}"
    return texts(key) if key in texts else role


class CouncilPrinter(DebatePrinter):
    """Prints the events of a council.
    Answers that are written side by side are printed one by one, when they are whole.
    """

    def __call__(self, event: events.Event) -> str:
        match event:
            case events.SessionStarted():
                return self.heading(event.session)
            case events.MessageFinished():
                return self.message(event.message)
            case _:
                return ""

    def whole(self, live: LiveSession) -> Iterator[str]:
        """Yield a session that is not running."""
        yield self.heading(live.session)
        yield from map(self.message, live.whole_messages())

    def message(self, message: Message) -> str:
        """Return a message of a council; "" for one that only Moot reads."""
        if message.part not in SPOKEN or message.is_interim:
            return ""
        sure = message.data_as(Position).confidence
        end = f"  {self._texts('council.sure', percent=sure)}\n" if sure is not None else ""
        body = f"{self._label(message)}{without_steering(message.content)}\n"
        return self._round_line(message.round) + body + end + "".join(marks(message, self._texts))

    def _round_line(self, number: int) -> str:
        """Return the line over a round of debate, where one begins."""
        if number <= self._round:
            return ""
        self._round = number
        return f"\n── {self._texts('verdict.round', round=number)} ──\n"


def decision_text(session: DebateSession, messages: Sequence[Message], texts: Texts) -> str:
    """Return what follows from a debate or a council as lines, "" where nothing does."""
    lines: list[str] = []
    said = {message.id: message for message in messages}
    for heading, found in verdict_parts(session, messages, texts):
        lines += ["", heading]
        written = (without_steering(point_text(point, said, texts)) for point in found)
        lines += [f"  {line}" for text in written for line in text.splitlines()]
    return lines_text(lines)
