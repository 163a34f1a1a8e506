"""Shortens what tools returned early in a long turn: a line in place of each result; pure."""

from collections.abc import Sequence

from app.core.message import Message, Role, ToolCall
from app.engine.history.token_count import tokens_of

# The newest calls whose results stay whole, and what is left of the others, in characters.
KEPT_CALLS = 10
_LINE = 200
_ARGUMENTS = 100
_LEAST = 400
_LEAST_REPLACED = 0.2


def pruned_calls(messages: Sequence[Message], summaries: Sequence[Message]) -> frozenset[str]:
    """Return the ids of a turn's calls whose results are sent as one line."""
    ends = {one.through_message for one in summaries if one.through_message}
    last = max((place for place, one in enumerate(messages) if one.id in ends), default=-1)
    return frozenset(one.tool_call_id for one in messages[: last + 1] if one.tool_call_id)


def results_to_prune(
    messages: Sequence[Message], summaries: Sequence[Message], limit: int, model: str
) -> tuple[list[Message], int]:
    """Return the results of a turn that are to be shortened, and their tokens; none where that saves too little.

    The calls of one answer stay together. The newest ten calls stay whole, or the newer half where there are fewer.
    """
    groups = [[call.id for call in one.tool_calls] for one in messages if one.tool_calls]
    kept = min(KEPT_CALLS, len(groups) // 2)
    old = {call_id for group in groups[: len(groups) - kept] for call_id in group}
    old -= pruned_calls(messages, summaries)
    results = [one for one in messages if one.role == Role.TOOL and one.ended and one.tool_call_id in old]
    tokens = sum(tokens_of(one.content, model) for one in results if len(one.content) > _LEAST)
    return (results, tokens) if tokens >= _LEAST_REPLACED * limit else ([], 0)


def short_result(text: str) -> str:
    """Return what is sent in place of a result: its first line and its length."""
    if len(text) <= _LEAST:
        return text
    return f"{text.strip().splitlines()[0][:_LINE]} \u2026 (left out; it had {len(text)} characters)"


def pruned_text(messages: Sequence[Message], results: Sequence[Message]) -> str:
    """Return the text of the record, for people: each call and what is left of its result."""
    calls: dict[str, ToolCall] = {call.id: call for one in messages for call in one.tool_calls}
    lines = []
    for one in results:
        call = calls[one.tool_call_id or ""]
        lines.append(f"- {call.name}({call.arguments[:_ARGUMENTS]}) \u2192 {short_result(one.content)}")
    return "\n".join(lines)
