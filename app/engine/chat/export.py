"""A chat as a document for people: the chosen version, with sub-agents below the call they answer."""

import json
from collections.abc import Iterator

from app.core.criteria import CriterionState, shown_by
from app.core.definitions import ORCHESTRATOR, STEP, SWITCH_ASSISTANT, StepStatus
from app.core.json_values import object_in
from app.core.message import Message, MessageState, Prompt, PromptType, Role, ToolCall
from app.core.session import reason_text, rests_as
from app.core.texts import closed
from app.core.tool import called, tool_name
from app.core.turns import Item, ItemKind, Turns, asked_at
from app.engine.export.document import USER, DocumentHead, DocumentPart, Entry, ListItem, Section, colour_of
from app.engine.export.formats import message_entry, moment, named, said_by
from app.engine.library.agents import SUB_AGENT
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.request import SET_PLAN, TOLD_ELSEWHERE

# Only the JSON export holds the whole results of tools.
MOST_OF_TOOL = 2_000
DEEPEST_ARGUMENT = 6
# Which arguments of a call say who does what.
_TO_MEMBER = ("assistant", "instruction")
_GIVES = {SWITCH_ASSISTANT: _TO_MEMBER, SUB_AGENT: ("name", "task"), STEP: ("assistant", "step")}


class ChatDocument:
    """A chat as a document, in the chat's language."""

    def __init__(self, live: LiveSession, prompts: Prompts) -> None:
        self._session = live.chat_session
        self._messages = live.shown()
        self._turns = Turns(self._messages)
        self._colours: dict[str, int] = {}
        self._lines = prompts.lines(self._session.chat.language, "export")
        self._texts = prompts.shown(self._session.chat.language)
        self._doubts = prompts.lines(self._session.chat.language, "criteria")
        asked = ((item.id, item.prompt) for item in self._messages if item.prompt is not None)
        self._approvals = {item for item, prompt in asked if prompt.type == PromptType.APPROVAL}

    def parts(self) -> Iterator[DocumentPart]:
        """Yield it part by part: of a group first the report, and the way to it last."""
        title, language = self._session.title, self._session.chat.language
        yield DocumentHead(title=title, language=language, facts=self._facts())
        report = self._report()
        if report is not None:
            yield Section(heading=self._lines["report"])
            yield self._said(report, 0)
        yield from self._outcome()
        if plan := self._session.plan:
            items = tuple(ListItem(text=item.text, done=item.done) for item in plan.items)
            yield Section(heading=self._lines["plan"], text=plan.goal, lines=items)
        if steps := self._steps():
            yield Section(heading=self._lines["steps"], lines=steps)
        if report is not None:
            yield Section(heading=self._lines["way"])
        yield from self._entries(report)

    def _report(self) -> Message | None:
        """Return what the orchestrator of a group reported last."""
        if self._session.group is None:
            return None
        said = (item for item in reversed(self._messages) if item.author.id == ORCHESTRATOR and item.content)
        whole = (item for item in said if (item.role, item.state) == (Role.ASSISTANT, MessageState.DONE))
        return next((message for message in whole if not message.tool_calls), None)

    def _outcome(self) -> Iterator[Section]:
        """Yield what was asked for and how its criteria stand, where it has some."""
        if not (criteria := self._session.all_criteria()):
            return
        place = asked_at(self._messages, group=self._session.group is not None)
        asked = self._messages[place].content if place >= 0 else ""
        lines = []
        for criterion in criteria:
            by = f" ({criterion.checked_by.name})" if criterion.checked_by is not None else ""
            shown = shown_by(criterion, lambda doubt: self._doubts.get(doubt, doubt))
            state = named(self._lines, "criterion", criterion.state)
            text = " · ".join(filter(None, (criterion.text, state, f"{shown}{by}" if shown else "")))
            lines.append(ListItem(text=text, done=criterion.state == CriterionState.MET))
        yield Section(heading=self._lines["done_means"], text=" ".join(asked.split()), lines=tuple(lines))

    def _facts(self) -> tuple[tuple[str, str], ...]:
        label = self._lines["assistant" if self._session.workflow is None else "workflow"]
        who = [(label, self._session.chat.assistant_name)]
        if (group := self._session.group) is not None:
            members = ", ".join(map(self._name, group.members))
            who = [(self._lines["group"], group.name), (self._lines["members"], members)]
        status = named(self._lines, "chat_status", rests_as(self._session))
        date = (self._lines["date"], moment(self._session.created_at))
        return (*who, date, (self._lines["status"], status))

    def _steps(self) -> tuple[ListItem, ...]:
        """Return a line for each step of a workflow: its state, its assistant, the reason, and what it
        made.
        """
        if self._session.workflow is None:
            return ()
        steps = {step.id: step for step in self._session.workflow.definition.steps}
        lines = []
        for state in self._session.workflow.steps:
            word = named(self._lines, "step", state.said)
            why = reason_text(state.reason, self._texts) if state.state != StepStatus.DONE else ""
            made = state.artifacts.strip()
            body = closed(made) if "\n" in made else ""
            details = [word, self._turns.names.get(state.assistant_id, ""), why, "" if body else made]
            step = steps.get(state.id)
            name = f"{step.name} ({step.role})" if step is not None else state.id
            text = " ".join(" · ".join([name, *filter(None, details)]).split())
            lines.append(ListItem(text=text, body=body))
        return tuple(lines)

    def _name(self, called: str) -> str:
        """Return the name of an assistant that a call names by its id; any other name as it is."""
        group = self._session.group
        return self._turns.names.get(called) or (group.name_of(called) if group is not None else called)

    def _entries(self, report: Message | None) -> Iterator[Entry]:
        """Yield what each message and call shows, in the order of reading, but for the report."""
        for item in self._turns.read(self._turns.roots()):
            message, depth = item.message, len(item.called)
            if item.kind == ItemKind.TOGETHER or (item.kind == ItemKind.SAID and message is report):
                continue
            if item.kind == ItemKind.CALL:
                yield from self._call(item, depth)
            elif message.prompt is not None and message.role in (Role.TOOL, Role.SYSTEM):
                yield self._question(message, message.prompt, depth)
            elif message.role == Role.TOOL:
                yield from self._result(message, item.call, depth)
            elif (message.answers or "") not in self._approvals and _says_something(message):
                yield self._said(message, depth)

    def _said(self, message: Message, depth: int) -> Entry:
        spoke, colours = message.author.id, self._colours
        colour = USER if message.by_user else colour_of(colours.setdefault(spoke, len(colours)))
        heading = said_by(message, self._lines)
        return message_entry(message, self._lines, self._texts, heading=heading, colour=colour, depth=depth)

    def _call(self, item: Item, depth: int) -> Iterator[Entry]:
        call = item.call
        if call.name in _GIVES and (given := object_in(call.arguments)) is not None:
            who, what = (str(given.get(argument, "")) for argument in _GIVES[call.name])
            child = self._turns.first(self._turns.child_turn(item.message.turn_id, call.id) or "")
            name = child.author.name if child is not None else self._name(who) or self._lines["unknown"]
            heading = self._lines["hands_over"].format(name=name)
            yield Entry(heading=heading, body=closed(_cut(what)), depth=depth)
        elif call.name == SET_PLAN or call.name not in TOLD_ELSEWHERE:
            name = tool_name(call.name, self._texts)
            heading = self._lines["plan" if call.name == SET_PLAN else "call"].format(name=name)
            yield Entry(heading=heading, notes=(_told(call.arguments),), depth=depth)

    def _result(self, message: Message, call: ToolCall, depth: int) -> Iterator[Entry]:
        done, content = message.state == MessageState.DONE, message.content
        if done and (call.name in TOLD_ELSEWHERE or call.name in _GIVES):
            # What it made stands in the plan, or above.
            return
        if call.name == SUB_AGENT:
            content = str((object_in(content) or {}).get("error", content))
        heading = self._lines["result" if done else "result_failed"]
        notes = (_cut(content),) if content else ()
        yield Entry(heading=heading, notes=notes, files=message.attachments, depth=depth)

    def _question(self, message: Message, prompt: Prompt, depth: int) -> Entry:
        heading = self._lines["asks"].format(name=message.author.name)
        said = (self._lines["answer.skipped"],) if prompt.dismissed else ()
        if prompt.type != PromptType.APPROVAL:
            options = (f"{number}. {option}" for number, option in enumerate(prompt.options, 1))
            return Entry(heading=heading, notes=(prompt.question, *options, *said), depth=depth)
        if prompt.answer:
            because = (prompt.denied_because,) if prompt.denied_because else ()
            said = (named(self._lines, "answer", prompt.answer.partition("-")[0]), *because)
        about = f"{called(prompt, self._texts)} {_told(prompt.arguments)}".strip()
        return Entry(heading=heading, notes=(about, *said), depth=depth)


def _says_something(message: Message) -> bool:
    return bool(message.content or message.error or message.note or message.attachments)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_OF_TOOL else text[:MOST_OF_TOOL] + " …"


def _told(arguments: str) -> str:
    """Return a call's arguments as people write them: `items: Design, Build`."""
    values = object_in(arguments)
    return _cut(arguments if values is None else _plain(values))


def _plain(value: object, depth: int = 0) -> str:
    if depth > DEEPEST_ARGUMENT:
        return "…"
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_plain(item, depth + 1)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(_plain(item, depth + 1) for item in value)
    return value if isinstance(value, str) else json.dumps(value)
