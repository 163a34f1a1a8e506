"""Makes one item of neighbours of one role, as all providers want them; pure."""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from app.core.message import Role

Item = dict[str, object]


def merged(items: Sequence[Item]) -> list[Item]:
    """Return the items with neighbours of one role as one; calls and their results stay alone."""
    found: list[Item] = []
    for item in items:
        last = found[-1] if found else None
        plain = item["role"] != Role.TOOL and "tool_calls" not in item
        if last is None or last["role"] != item["role"] or not plain or "tool_calls" in last:
            found.append(item)
        else:
            # Of two answers the first keeps its provider's state, which belongs in front.
            found[-1] = {**last, "content": _joined(last["content"], item["content"])}
    return found


def as_transcript(items: Sequence[Item]) -> str:
    """Return the items as one text, for a model that has not read them before."""
    said = []
    for item in items:
        texts = [str(part["text"]) for part in parts_of(item["content"]) if _is_text(part)]
        calls = item.get("tool_calls")
        texts += [str(call["function"]) for call in calls] if isinstance(calls, list) else []
        said.append(f"[{item['role']}]\n" + "\n".join(texts))
    return "\n\n".join(said)


def _is_text(part: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(part, Mapping) and bool(part.get("text"))


def _joined(first: object, second: object) -> object:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*parts_of(first), *parts_of(second)]


def parts_of(content: object) -> list[object]:
    """Return the content of an item as a list of its texts and pictures."""
    return list(content) if isinstance(content, list) else [{"type": "text", "text": content}]
