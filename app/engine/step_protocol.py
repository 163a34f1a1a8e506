"""`[STEP_COMPLETE]`: how an assistant says that its step is done, and what it made (row W5); pure.

Read from a step's own final text only: a line of its own, outside code and quotations. Its body goes up
to the next line that opens with a marker in capitals, so links, lists and check boxes are part of it.
"""

import re
from dataclasses import dataclass

MARKER = "[STEP_COMPLETE]"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_NEXT_MARKER = re.compile(r"^\[[A-Z][A-Z0-9_]*\]")
_FIELD = re.compile(r"^\s*(?:[-*]\s*)?(산출물|상태|artifacts?|status)\s*[:：]\s*(.*)$", re.IGNORECASE)
_ARTIFACTS = ("산출물", "artifacts", "artifact")


@dataclass(frozen=True, slots=True)
class StepComplete:
    """What stood behind the marker; `before` is the text above it."""

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
