"""A chat as a document for people: the chosen version, with sub-agents below the call they answer."""

from collections.abc import Iterator

from app.core.criteria import CriterionState, shown_by
from app.core.definitions import SWITCH_ASSISTANT
from app.core.message import Message, MessageState, Prompt, PromptType, Role, ToolCall
from app.core.texts import closed
from app.core.turns import ItemKind, Turns
from app.engine.export.document import USER, DocumentHead, DocumentPart, Entry, ListItem, Section, colour_of
from app.engine.export.formats import marks, message_as_markdown, moment, named, said_by
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.request import instruction_of

# Only the JSON export holds the whole results of tools.
MOST_OF_TOOL = 2_000


class ChatDocument:
    """A chat as a document, in the chat's language."""

    def __init__(self, live: LiveSession, prompts: Prompts) -> None:
        self._session = live.chat_session
        self._messages = live.shown()
        self._lines = prompts.lines(self._session.chat.language, "export")
        self._doubts = prompts.lines(self._session.chat.language, "criteria")
        self._names = {one.author.id: one.author.name for one in self._messages}
        self._approvals = {
            one.id
            for one in self._messages
            if one.prompt is not None and one.prompt.type == PromptType.APPROVAL
        }

    def parts(self) -> Iterator[DocumentPart]:
        """Yield it part by part."""
        yield DocumentHead(
            title=self._session.title, language=self._session.chat.language, facts=self._facts()
        )
        yield from self._outcome()
        if plan := self._session.plan:
            items = tuple(ListItem(text=item.text, done=item.done) for item in plan.items)
            yield Section(heading=self._lines["plan"], text=plan.goal, lines=items)
        if steps := self._steps():
            yield Section(heading=self._lines["steps"], lines=steps)
        yield from self._entries()

    def _outcome(self) -> Iterator[Section]:
        """Yield what was asked for and how its criteria stand, where it has some."""
        if not (criteria := self._session.criteria):
            return
        asked = next(
            (one.content for one in reversed(self._messages) if one.by_user and one.answers is None), ""
        )
        lines = []
        for one in criteria:
            by = f" ({one.checked_by.name})" if one.checked_by is not None else ""
            shown = shown_by(one, lambda doubt: self._doubts.get(doubt, doubt))
            state = named(self._lines, "criterion", one.state)
            text = " · ".join(filter(None, (one.text, state, f"{shown}{by}" if shown else "")))
            lines.append(ListItem(text=text, done=one.state == CriterionState.MET))
        yield Section(heading=self._lines["done_means"], text=" ".join(asked.split()), lines=tuple(lines))

    def _facts(self) -> tuple[tuple[str, str], ...]:
        is_work = self._session.workflow is not None
        label = self._lines["workflow" if is_work else "assistant"]
        who = [(label, self._session.chat.assistant_name)]
        if self._session.group is not None:
            who = [
                (self._lines["group"], self._session.group.name),
                (self._lines["members"], ", ".join(self._members())),
            ]
        return (
            *who,
            (self._lines["date"], moment(self._session.created_at)),
            (self._lines["status"], named(self._lines, "chat_status", self._session.status)),
        )

    def _steps(self) -> tuple[ListItem, ...]:
        """Return a line for each step of a workflow: its state, its assistant, the reason, and what it made."""
        if self._session.workflow is None:
            return ()
        steps = {step.id: step for step in self._session.workflow.definition.steps}
        lines = []
        for state in self._session.workflow.steps:
            word = named(self._lines, "step", state.state)
            who = self._names.get(state.assistant_id, state.assistant_id)
            details = [word, who, state.reason, state.artifacts]
            step = steps.get(state.id)
            name = f"{step.name} ({step.role})" if step is not None else state.id
            lines.append(ListItem(text=" ".join(" · ".join([name, *filter(None, details)]).split())))
        return tuple(lines)

    def _members(self) -> list[str]:
        """Return the names of a group's members, those who never spoke by their ids."""
        assert self._session.group is not None
        return [self._names.get(member, member) for member in self._session.group.members]

    def _entries(self) -> Iterator[Entry]:
        """Yield what each message and call shows, in the order of reading."""
        colours: dict[str, int] = {}
        turns = Turns(self._messages)
        for item in turns.read(turns.roots()):
            message, depth = item.message, len(item.called)
            if item.kind == ItemKind.TOGETHER:
                continue
            if item.kind == ItemKind.CALL:
                yield self._call(item.call, depth)
            elif message.prompt is not None and message.role in (Role.TOOL, Role.SYSTEM):
                yield self._question(message, message.prompt, depth)
            elif message.role == Role.TOOL:
                yield self._result(message, depth)
            elif (message.answers or "") not in self._approvals and _says_something(message):
                spoke = message.author.id
                yield Entry(
                    heading=said_by(message, self._lines),
                    body=message_as_markdown(message),
                    notes=tuple(marks(message, self._lines)),
                    files=message.attachments,
                    colour=USER if message.by_user else colour_of(colours.setdefault(spoke, len(colours))),
                    depth=depth,
                )

    def _call(self, call: ToolCall, depth: int) -> Entry:
        if call.name == SWITCH_ASSISTANT:
            member, instruction = instruction_of(call)
            heading = self._lines["hands_over"].format(name=self._names.get(member, member))
            return Entry(heading=heading, body=closed(_cut(instruction)), depth=depth)
        heading = self._lines["call"].format(name=call.name)
        return Entry(heading=heading, notes=(_cut(call.arguments),), depth=depth)

    def _result(self, message: Message, depth: int) -> Entry:
        heading = self._lines["result" if message.state == MessageState.DONE else "result_failed"]
        notes = (_cut(message.content),) if message.content else ()
        return Entry(heading=heading, notes=notes, files=message.attachments, depth=depth)

    def _question(self, message: Message, prompt: Prompt, depth: int) -> Entry:
        heading = self._lines["asks"].format(name=message.author.name)
        said = (self._lines["answer.skipped"],) if prompt.dismissed else ()
        if prompt.type != PromptType.APPROVAL:
            options = (f"{number}. {option}" for number, option in enumerate(prompt.options, 1))
            return Entry(heading=heading, notes=(prompt.question, *options, *said), depth=depth)
        if prompt.answer:
            because = (prompt.denied_because,) if prompt.denied_because else ()
            said = (named(self._lines, "answer", prompt.answer.partition("-")[0]), *because)
        return Entry(
            heading=heading, notes=(f"{prompt.called} {prompt.arguments}".strip(), *said), depth=depth
        )


def _says_something(message: Message) -> bool:
    return bool(message.content or message.error or message.note or message.attachments)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_OF_TOOL else text[:MOST_OF_TOOL] + " …"
