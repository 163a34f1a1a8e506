"""Shortens a long turn: a line in place of each early result of its tools, then notes in place of its beginning; pure."""

from collections.abc import Sequence

from app.core.message import Message, MessageState, Role, SummaryNote, ToolCall
from app.core.pictures import can_be_sent
from app.engine.history.token_count import PICTURE_TOKENS, tokens_of

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


def turn_notes(messages: Sequence[Message], summaries: Sequence[Message]) -> tuple[Message | None, int]:
    """Return the notes that stand for most of a turn's beginning, None for none, and the place of the first message behind
    them; of several of the same the newest.
    """
    places = {one.id: place for place, one in enumerate(messages, 1)}
    notes = [one for one in summaries if one.through_message in places and one.note != SummaryNote.PRUNED]
    if not notes:
        return None, 0
    last = max(notes, key=lambda one: (places[one.through_message], one.id))
    return last, places[last.through_message]


def part_to_note(messages: Sequence[Message]) -> Message | None:
    """Return the last message of a turn that notes are to stand for with its results, None for none: the newest calls stay,
    as when results are shortened.
    """
    groups = [one for one in messages if one.tool_calls and one.state == MessageState.DONE]
    place = len(groups) - min(KEPT_CALLS, len(groups) // 2)
    return groups[place - 1] if 0 < place < len(groups) else None


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
    seen = [one for result in results for one in result.attachments if can_be_sent(one.media_type, one.data)]
    tokens += PICTURE_TOKENS * len(seen)
    return (results, tokens) if tokens >= _LEAST_REPLACED * limit else ([], 0)


def short_result(text: str) -> str:
    """Return what is sent in place of a result: its first line and its length."""
    if len(text) <= _LEAST:
        return text
    return f"{text.strip().splitlines()[0][:_LINE]} \u2026 (left out; it had {len(text)} characters)"


def pruned_text(messages: Sequence[Message], results: Sequence[Message], *, brief: bool = False) -> str:
    """Return the text of the record, for people: each call and what is left of its result, with `brief` how it begins."""
    calls: dict[str, ToolCall] = {call.id: call for one in messages for call in one.tool_calls}
    lines = []
    for one in results:
        call = calls[one.tool_call_id or ""]
        left = one.content.strip()[:_ARGUMENTS] if brief else short_result(one.content)
        lines.append(f"- {call.name}({call.arguments[:_ARGUMENTS]}) \u2192 {left}")
    return "\n".join(lines)
