"""A tool call as plain text: one line for its card, and everything with what hides made visible."""

import json

from app.core.message import ToolCall
from app.core.text import visible
from app.core.texts import Texts
from app.gui.markdown.blocks import clean

SHOWN = 20_000
TITLE = 240
SUB_AGENT = "subAgent"
SWITCH_ASSISTANT = "switchAssistant"
SET_PLAN = "setPlan"
CHECK_DONE = "checkDone"
STEP = "step"
MOST_STEPS = 1_000
LONGEST_READ = 20_000
"""Characters of arguments that are read for the line; of longer ones it shows the beginning."""

_ICONS = {
    SUB_AGENT: "workflow",
    SWITCH_ASSISTANT: "users",
    SET_PLAN: "list-checks",
    STEP: "spline",
    CHECK_DONE: "list-checks",
    "clearPlan": "list-checks",
    "reportResult": "file-text",
    "promptToUser": "message-circle",
    "promptUser": "message-circle",
    "web_fetch": "globe",
    "web_search": "search",
    "open_url": "external-link",
    "get_pages": "file-text",
    "get_current_page": "file-text",
}


def icon_of(name: str) -> str:
    """Return the name of a tool's icon."""
    return _ICONS.get(name, "wrench")


def title(call: ToolCall, texts: Texts) -> str:
    """Return a call in one line: the tool's name and its arguments' values, short where that says as much."""
    name = _one_line(visible(call.name[:TITLE]))
    values = _values(call.arguments.strip())
    if isinstance(values, dict):
        items = values.get("items")
        if call.name == SET_PLAN and isinstance(items, list):
            return f"{name}({texts('transcript.card.items', count=len(items))})"
        index = values.get("index")
        if call.name == CHECK_DONE and isinstance(index, int) and 0 <= index < MOST_STEPS:
            return texts("transcript.card.checked", number=index + 1)
        member, instruction = values.get("assistant"), values.get("instruction")
        if call.name == SWITCH_ASSISTANT and isinstance(member, str) and isinstance(instruction, str):
            shown, said = (_one_line(visible(text[:TITLE])) for text in (member, instruction))
            return f"{name} → {shown} · “{said}”"
        step, who = values.get("step"), values.get("assistant")
        if call.name == STEP and isinstance(step, str) and isinstance(who, str):
            # The workflow's own: it is no tool, and has no name of one.
            return " → ".join(_one_line(visible(text[:TITLE])) for text in (step, who))
    return f"{name}({_arguments(call, values)})"


def _values(text: str) -> object:
    """Return a call's arguments, None where they are too long to be read for one line, or no JSON."""
    if len(text) > LONGEST_READ:
        return None
    try:
        return json.loads(text, strict=False) if text else {}
    except (ValueError, RecursionError):
        return None


def _arguments(call: ToolCall, values: object) -> str:
    text = call.arguments.strip()
    if values is None and text != "null":
        return _one_line(visible(text[:TITLE])) + "…"
    if not isinstance(values, dict):
        return _value(values)
    shown = [_value(value) for value in values.values()]
    first = next(iter(values.values()), None)
    if call.name == SUB_AGENT and isinstance(first, str):
        shown[0] = _one_line(visible(first))
    return ", ".join(shown)[: 2 * TITLE]


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = _one_line(visible(text[:TITLE]))
    return f'"{text}"' if isinstance(value, str) else text


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
