"""`[STEP_COMPLETE]`: how an assistant says that its step is done, and what it made; pure.

The marker is read from a step's own final text only, on a line of its own outside code and quotations. Its body
goes up to the next line that opens with a marker in capitals, so it may hold links, lists and check boxes. The
tool `step_complete` says the same.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.core.message import Message, MessageState, Role
from app.core.tool import read_arguments

MARKER = "[STEP_COMPLETE]"
STEP_COMPLETE: Final = "step_complete"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_NEXT_MARKER = re.compile(r"^\[[A-Z][A-Z0-9_]*\]")
_FIELD = re.compile(r"^\s*(?:[-*]\s*)?(산출물|상태|artifacts?|status)\s*[:：]\s*(.*)$", re.IGNORECASE)
_ARTIFACTS = ("산출물", "artifacts", "artifact")


@dataclass(frozen=True, slots=True)
class StepComplete:
    """The fields after the marker; `before` is the text above it."""

    artifacts: str = ""
    status: str = ""
    before: str = ""


def step_complete(text: str) -> StepComplete | None:
    """Return the last completion a text states, None where it states none."""
    lines = _lines(text)
    found: int | None = None
    for number, (line, is_code) in enumerate(lines):
        if not is_code and line.strip() == MARKER and not line.startswith(("    ", "\t")):
            found = number
    if found is None:
        return None
    return _body(lines[found + 1 :], "\n".join(line for line, _ in lines[:found]).strip())


def read_by_people(text: str, *, ended: bool) -> tuple[str, str]:
    """Return a step's text without the lines that say it is done, and what it made.

    While the text streams, nothing from the possible start of these lines is shown.
    """
    if ended:
        complete = step_complete(text) if MARKER in text else None
        return (complete.before, complete.artifacts) if complete else (text, "")
    start = text.rfind("\n[") + 1
    line = text[start:].partition("\n")[0].rstrip()
    begins = line.startswith("[") and (line == MARKER or (MARKER.startswith(line) and text.endswith(line)))
    return (text[:start].rstrip() if begins else text), ""


def from_call(messages: Sequence[Message]) -> StepComplete | None:
    """Return the arguments of the tool in a step's turn, None where it was not called with success."""
    ended = {one.tool_call_id for one in messages if one.role == Role.TOOL and one.state == MessageState.DONE}
    for message in reversed(messages):
        for call in message.tool_calls:
            if call.name == STEP_COMPLETE and call.id in ended:
                told = {name: str(value).strip() for name, value in read_arguments(call.arguments).items()}
                before = told.get("result", "") or message.content
                return StepComplete(told.get("artifacts", ""), told.get("status", ""), before)
    return None


def _lines(text: str) -> list[tuple[str, bool]]:
    """Return each line, and whether it is part of fenced code."""
    lines: list[tuple[str, bool]] = []
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        lines.append((line, bool(fence or opened)))
        if opened and not fence:
            fence = opened[1]
        elif opened and opened[1][0] == fence[0] and len(opened[1]) >= len(fence):
            fence = ""
    return lines


def _body(lines: list[tuple[str, bool]], before: str) -> StepComplete:
    fields: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line, is_code in lines:
        if not is_code and _NEXT_MARKER.match(line):
            break
        field = None if is_code else _FIELD.match(line)
        if field:
            name = "artifacts" if field[1].casefold() in _ARTIFACTS else "status"
            current = fields.setdefault(name, [])
            current.append(field[2])
        elif current is not None:
            current.append(line)
    texts = {name: "\n".join(part).strip() for name, part in fields.items()}
    return StepComplete(texts.get("artifacts", ""), texts.get("status", ""), before)
