"""A chat as a document for people: the chosen version, with sub-agents below the call they answer."""

from collections.abc import Callable, Iterator
from html import escape
from typing import NamedTuple

from app.core.message import (
    SWITCH_ASSISTANT,
    Attachment,
    Message,
    MessageState,
    Prompt,
    PromptType,
    Role,
    ToolCall,
)
from app.engine.chat.branches import shown
from app.engine.export.parts import (
    PAGE_END,
    QUIET,
    USER,
    article,
    as_markdown,
    closed,
    colour_of,
    escape_markdown,
    files_as_html,
    files_as_markdown,
    in_tree,
    marks,
    moment,
    named,
    page_head,
    said_by,
)
from app.engine.group.director import instruction_of
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts

# Only the JSON export holds the whole results of tools.
MOST_OF_TOOL = 2_000


class _Part(NamedTuple):
    """What one message or call shows in an export, the depth of the sub-agent that wrote it, its attachments and its colour."""

    depth: int
    heading: str
    body: str
    notes: list[str]
    files: tuple[Attachment, ...] = ()
    colour: str = QUIET


class ChatDocument:
    """A chat as a document, in the chat's language."""

    def __init__(self, live: LiveSession, prompts: Prompts) -> None:
        self._session = live.chat_session
        self._messages = shown(live)
        self._lines = prompts.lines(self._session.chat.language, "export")
        self._depths: dict[str, int] = {}
        for message in self._messages:
            self._depths.setdefault(message.turn_id, message.author.depth)
        self._approvals = {
            one.id
            for one in self._messages
            if one.prompt is not None and one.prompt.type == PromptType.APPROVAL
        }

    def markdown(self) -> Iterator[str]:
        """Yield it as Markdown, part by part; sub-agents are nested quotes."""
        lines = [f"# {escape_markdown(self._session.title)}", ""]
        lines += [f"- {label}: {escape_markdown(value)}" for label, value in self._facts()]
        if plan := self._session.plan:
            lines += ["", f"**{self._lines['plan']}**", ""]
            lines += [escape_markdown(plan.goal), ""] if plan.goal else []
            lines += [f"- [{'x' if item.done else ' '}] {escape_markdown(item.text)}" for item in plan.items]
        if steps := self._steps():
            lines += ["", f"**{self._lines['steps']}**", ""]
            lines += [f"- {escape_markdown(step)}" for step in steps]
        yield "\n".join(lines).rstrip()
        for depth, heading, body, notes, files, _ in self._parts():
            part = ["", f"**{escape_markdown(heading)}**", ""]
            part += closed(body).split("\n") if body else []
            # A message without text begins where its text would be.
            part += files_as_markdown(files)[0 if body else 1 :]
            part += [""] if files and notes else []
            part += [f"*{escape_markdown(note)}*" for note in notes]
            quote = "> " * depth
            yield "\n\n" + "\n".join([f"{quote}{line}".rstrip() for line in part[1:]]).rstrip()
        yield "\n"

    def html(self, as_html: Callable[[str], str]) -> Iterator[str]:
        """Yield it as one page that loads nothing, part by part; `as_html` renders Markdown."""
        yield page_head(self._session.title, self._session.chat.language, self._facts())
        if steps_of_work := self._steps():
            items = "".join(f"<li>{escape(step)}</li>" for step in steps_of_work)
            heading = escape(self._lines["steps"])
            yield f"<article><strong>{heading}</strong><ul>{items}</ul></article>"
        if plan := self._session.plan:
            steps = "".join(
                f"<li>{'☑' if item.done else '☐'} {escape(item.text)}</li>" for item in plan.items
            )
            heading, goal = escape(self._lines["plan"]), f"<p>{escape(plan.goal)}</p>" if plan.goal else ""
            yield f"<article><strong>{heading}</strong>{goal}<ul>{steps}</ul></article>"
        for depth, heading, body, notes, files, colour in self._parts():
            below = "".join(f'<div class="meta">{escape(note)}</div>' for note in notes)
            whole = f"{as_html(body)}{files_as_html(files)}{below}"
            yield article(heading, whole, colour=colour, depth=depth)
        yield PAGE_END

    def _facts(self) -> list[tuple[str, str]]:
        is_work = self._session.workflow is not None
        label = self._lines["workflow" if is_work else "assistant"]
        who = [(label, self._session.chat.assistant_name)]
        if self._session.group is not None:
            who = [
                (self._lines["group"], self._session.group.name),
                (self._lines["members"], ", ".join(self._members())),
            ]
        return [
            *who,
            (self._lines["date"], moment(self._session.created_at)),
            (self._lines["status"], named(self._lines, "chat_status", self._session.status)),
        ]

    def _steps(self) -> list[str]:
        """Return a line for each step of a workflow: its state, its assistant, the reason, and what it made."""
        if self._session.workflow is None:
            return []
        steps = {step.id: step for step in self._session.workflow.definition.steps}
        lines = []
        for state in self._session.workflow.steps:
            word = named(self._lines, "step", state.state)
            details = [word, state.assistant_id, state.reason, state.artifacts]
            step = steps.get(state.id)
            name = f"{step.name} ({step.role})" if step is not None else state.id
            lines.append(" ".join(" · ".join([name, *filter(None, details)]).split()))
        return lines

    def _members(self) -> list[str]:
        """Return the names of a group's members, those who never spoke by their ids."""
        assert self._session.group is not None
        names = {one.author.id: one.author.name for one in self._messages}
        return [names.get(member, member) for member in self._session.group.members]

    def _parts(self) -> Iterator[_Part]:
        """Yield the parts in the order of reading."""
        colours: dict[str, int] = {}
        for item in in_tree(self._messages):
            message, call = item if isinstance(item, tuple) else (item, None)
            depth = self._depths[message.turn_id]
            if call is not None:
                yield _Part(depth, *self._call(call))
            elif message.prompt is not None and message.role in (Role.TOOL, Role.SYSTEM):
                yield _Part(depth, *self._question(message, message.prompt))
            elif message.role == Role.TOOL:
                yield _Part(depth, *self._result(message), message.attachments)
            elif (message.answers or "") not in self._approvals and _says_something(message):
                heading = said_by(message, self._lines)
                below = marks(message, self._lines)
                spoke = message.author.id
                colour = USER if message.by_user else colour_of(colours.setdefault(spoke, len(colours)))
                yield _Part(depth, heading, as_markdown(message), below, message.attachments, colour)

    def _call(self, call: ToolCall) -> tuple[str, str, list[str]]:
        if call.name == SWITCH_ASSISTANT:
            member, instruction = instruction_of(call)
            return self._lines["hands_over"].format(name=member), _cut(instruction), []
        return self._lines["call"].format(name=call.name), "", [_cut(call.arguments)]

    def _result(self, message: Message) -> tuple[str, str, list[str]]:
        key = "result" if message.state == MessageState.DONE else "result_failed"
        return self._lines[key], "", [_cut(message.content)] if message.content else []

    def _question(self, message: Message, prompt: Prompt) -> tuple[str, str, list[str]]:
        heading = self._lines["asks"].format(name=message.author.name)
        skipped = [self._lines["answer.skipped"]] if prompt.dismissed else []
        if prompt.type != PromptType.APPROVAL:
            answers = [f"{number}. {option}" for number, option in enumerate(prompt.options, 1)]
            return heading, "", [prompt.question, *answers, *skipped]
        said = [named(self._lines, "answer", prompt.answer.partition("-")[0])] if prompt.answer else skipped
        return heading, "", [f"{prompt.tool} {prompt.arguments}".strip(), *said]


def _says_something(message: Message) -> bool:
    return bool(message.content or message.error or message.note or message.attachments)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_OF_TOOL else text[:MOST_OF_TOOL] + " …"
