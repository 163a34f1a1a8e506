"""What rows say: chips, durations, reasons and errors of a message, and a tool call in one line."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from string import Formatter

from app.core import message as messages
from app.core.definitions import ORCHESTRATOR, SWITCH_ASSISTANT
from app.core.memory import REMEMBER, Note
from app.core.message import Message, MessageState, ToolCall, Total, money_text, used_text
from app.core.session import failure_text
from app.core.texts import Texts, clock_text, visible
from app.core.tool import READ_FILE_PART, READ_SKILL
from app.gui.markdown.blocks import clean
from app.gui.transcript.painted_row import HeaderChip

CUT = ("truncated", "length", "context_full")

QUIET = ("in_order", "only_one", "open_floor")
"""Reasons to speak that tell a reader nothing new; they stand in the tip only."""

GUIDED = "guided"
"""Reason of a message whose calls Moot made with the model's words; it is a chip."""

ENDED_CHIPS: dict[str, tuple[str, str]] = {
    MessageState.STOPPED: ("transcript.stopped", "warn"),
    MessageState.FAILED: ("transcript.failed_chip", "error"),
}
"""The key and the tone of the chip of what did not end well."""


def chips_of(
    message: Message,
    role: str,
    texts: Texts,
    *,
    model: bool,
    begun: bool,
    chat: bool = False,
    pinned: bool = False,
) -> list[HeaderChip]:
    """Return the chips of a message; `model` adds its model, `begun` means that it has text.

    In a `chat` only the text cursor shows that a message streams.
    """
    leads = message.author.kind == ORCHESTRATOR
    chips = [HeaderChip(role, "accent" if leads else "neutral")] if role else []
    name = model_of(message)
    if model and name and not leads:
        chips.append(HeaderChip(name))
    if message.part == messages.CouncilPart.DISSENT:
        chips.append(HeaderChip(texts("council.dissent")))
    if message.effort:
        chips.append(HeaderChip(texts.named("transcript.effort", message.effort)))
    if pinned:
        chips.append(HeaderChip(texts("transcript.pinned"), "accent"))
    if message.why == GUIDED:
        chips.append(HeaderChip(texts("why.guided")))
    if message.state == MessageState.STREAMING:
        if chat:
            return chips
        thinking = message.thinking and not begun
        key = "transcript.thinking" if thinking else "transcript.speaking"
        chips.append(HeaderChip(texts(key), "accent"))
    elif message.state != MessageState.DONE:
        key, tone = ENDED_CHIPS.get(message.state, ("unknown", "warn"))
        chips.append(HeaderChip(texts(key), tone))
    if message.note and (is_cut(message) or message.note not in CUT):
        text = texts.named("transcript.note", message.note)
        chips.append(HeaderChip(text, "neutral" if message.note == "passed" else "warn"))
    return chips


def is_cut(message: Message) -> bool:
    """Return whether an answer was cut off; an answer that ends in calls was not."""
    return message.note in CUT and not message.tool_calls


def model_of(message: Message) -> str:
    """Return the name of the model that wrote a message, without its provider."""
    if message.usage and message.usage.model:
        return clean(message.usage.model)
    return clean(message.model.partition("/")[2])


def thought_of(texts: Texts, *, going: bool, seconds: float | None) -> str:
    """Return the words of the line over the thinking; `seconds` are those until the first word, None
    if unknown.
    """
    if going and seconds is not None and seconds >= 10:
        return texts("transcript.thinking_now_for", time=clock_text(int(seconds)))
    if going:
        return texts("transcript.thinking_now")
    if seconds is None:
        return texts("transcript.thought")
    return texts("transcript.thought_for", seconds=max(1, round(seconds)))


def sent_at(message: Message) -> str:
    """Return the local time of a message as hours and minutes, or nothing if it is unknown."""
    try:
        return f"{datetime.fromisoformat(message.created_at).astimezone():%H:%M}"
    except (ValueError, OverflowError):
        return ""


def meta_of(message: Message, texts: Texts, *, time: bool = False) -> str:
    """Return the duration of an answer, and the reason for its turn unless it is obvious.

    With `time` the sending time stands before it, and tokens and cost after it.
    """
    parts = [sent] if time and (sent := sent_at(message)) else []
    if message.seconds is not None and message.seconds >= 0.05:
        parts.append(texts("transcript.seconds", seconds=f"{message.seconds:.1f}"))
    if time and message.usage is not None:
        total = Total.of(message.usage)
        parts.append(texts("transcript.group.tokens", tokens=used_text(total)))
        if total.cost_usd is not None or total.subscribed:
            parts.append(money_text(texts, total))
    if (why := why_of(message, texts)) and message.why not in (*QUIET, GUIDED):
        parts.append(why)
    return " · ".join(parts)


def tip_of(message: Message, texts: Texts) -> str:
    """Return the tool tip of the meta text: the reason for the turn, tokens, cost and speed."""
    parts = [why] if (why := why_of(message, texts)) else []
    if (usage := message.usage) is not None:
        total = Total.of(usage)
        read, written = used_text(total, usage.input_tokens), used_text(total, usage.output_tokens)
        parts.append(texts("transcript.used", input=read, output=written, money=money_text(texts, total)))
    if message.content and message.first_word_seconds is not None:
        parts.append(texts("transcript.first_word", seconds=f"{message.first_word_seconds:.1f}"))
        if (speed := message.tokens_per_second) is not None:
            shown = f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}"
            guessed = message.usage is not None and message.usage.estimated
            parts.append(texts("transcript.speed", tokens=f"≈ {shown}" if guessed else shown))
    return " · ".join(parts)


def permission_of(answer: str, texts: Texts) -> str:
    """Return what the user answered to an approval in words, with the reason for a refusal."""
    said = texts.named("transcript.permission", answer.partition("-")[0])
    return " · ".join(filter(None, (said, visible(messages.denied_because(answer)))))


def why_of(message: Message, texts: Texts) -> str:
    """Return the reason for a speaker's turn in words."""
    key = f"why.{message.why}"
    return texts(key) if message.why and key in texts else ""


def error_of(message: Message, texts: Texts) -> str:
    """Return why a message failed, and what its provider said."""
    error = message.error
    if error is None or f"failure.{error.kind}" not in texts:
        return texts("transcript.failed")
    provider = message.model.partition("/")[0]
    return failure_text(error.kind, clean(error.detail), provider, texts)


SHOWN = 20_000
TITLE = 240
MOST_STEPS = 1_000
SUB_AGENT = "subAgent"
SET_PLAN = "setPlan"
AGENT_PLAN = "agent_plan"
"""The plan that an external agent tells of."""
CHECK_DONE = "checkDone"
TOGGLE_TODO = "toggle_todo"
STEP = "step"
LONGEST_READ = 20_000
"""Characters of arguments that are read for the line; of longer ones it shows the beginning."""

_FILES = "write_file", "read_file", "move_file"
_PAGES = ("get_pages", "get_current_page")
_TOOLS = {
    "workflow": (SUB_AGENT,),
    "users": (SWITCH_ASSISTANT,),
    "pin": (REMEMBER,),
    "list-checks": (SET_PLAN, CHECK_DONE, "clearPlan", AGENT_PLAN),
    "spline": (STEP,),
    "file-text": ("reportResult", *_PAGES, *_FILES, READ_FILE_PART, READ_SKILL, "agent_read"),
    "message-circle": ("promptToUser", "promptUser"),
    "globe": ("web_fetch", "agent_fetch"),
    "search": ("web_search", "agent_search"),
    "external-link": ("open_url",),
    "pencil": ("edit_file", "agent_edit"),
    "folder-open": ("list_files",),
    "trash-2": ("delete_file",),
}
_ICONS = {name: icon for icon, names in _TOOLS.items() for name in names}


def icon_of(name: str) -> str:
    """Return the name of a tool's icon."""
    return _ICONS.get(name, "wrench")


_WHO = {SWITCH_ASSISTANT: "assistant", SUB_AGENT: "name", STEP: "assistant"}
_WRITTEN = re.compile(r"\w+ (.+) \(version (\d+)\), ")
_PUNCTUATION = re.compile(r'[{}\[\]"\\]+')
_JOINT = re.compile(r"[_\-\s]+|(?<=[a-z0-9])(?=[A-Z])")


def title(
    call: ToolCall,
    texts: Texts,
    names: Mapping[str, str],
    *,
    done: bool = True,
    result: str = "",
    proposal: Note | None = None,
) -> str:
    """Return in one line what a call did, or does; `names` are those of the assistants by id,
    `result` is what came of it, and `proposal` what it proposed to remember.
    """
    if proposal is not None and proposal.answer:
        return texts(f"did.remember.{proposal.answer}", text=one_line(visible(proposal.text)))
    if call.name in ("write_file", "edit_file") and not call.by:
        if written := _WRITTEN.match(result):
            path, version = one_line(visible(written[1])), written[2]
            return texts(f"did.{call.name}", path=path, version=version)
        done = False
    text = call.arguments.strip()
    values = _values(text)
    if isinstance(values, dict):
        said = {key: one_line(visible(item[:TITLE])) for key, item in values.items() if isinstance(item, str)}
        if (who := _WHO.get(call.name, "")) in said:
            said[who] = names.get(said[who], said[who])
        if call.by and said.get("title"):
            # An external agent says what it does in words of its own.
            return said["title"]
        if call.name == STEP and {"step", "assistant"} <= said.keys():
            # A workflow's step is no tool and has no name of one.
            return f"{said['step']} → {said['assistant']}"
        key = f"did.{call.name}" if done else f"doing.{call.name}"
        blanks = [blank for _, blank, *_ in Formatter().parse(texts(key)) if blank] if key in texts else ()
        if key in texts and all(said.get(item) for item in blanks):
            return texts(key, **{item: said[item] for item in blanks})
        items, index = values.get("items"), values.get("index")
        if call.name in (SET_PLAN, AGENT_PLAN) and isinstance(items, list):
            return texts("did.setPlan" if done else "doing.setPlan", count=len(items))
        if call.name in (CHECK_DONE, TOGGLE_TODO) and isinstance(index, int) and 0 <= index < MOST_STEPS:
            return texts(key, number=index + 1)
        shown = ", ".join(said.get(key) or _value(value) for key, value in values.items())
    elif values is not None or text == "null":
        shown = _value(values) if values is not None else ""
    else:
        # They still stream, are too long, or are no JSON.
        shown = one_line(visible(_PUNCTUATION.sub(" ", text[:TITLE]))) + "…"
    own = f"tool.{call.name}.name"
    if own in texts:
        return f"{texts(own)}: {shown}" if shown else texts(own)
    server, _, tool = call.name[:TITLE].rpartition("__")
    name = one_line(visible(" ".join(_JOINT.split(tool)).strip().capitalize() or call.name[:TITLE]))
    words = f"{name}: {shown}" if shown else name
    return f"{words} · {one_line(visible(server))}" if server else words


def _values(text: str) -> object:
    """Return a call's arguments; None if they are too long for one line or no JSON."""
    if len(text) > LONGEST_READ:
        return None
    try:
        return json.loads(text, strict=False) if text else {}
    except (ValueError, RecursionError):
        return None


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(visible(text[:TITLE]))


def one_line(text: str) -> str:
    """Return a text on one line, without deceptive characters."""
    return " ".join(clean(text).split())
