"""Messages in the order in which a reader follows them: all about a call below the call; pure.

Used by the export and the terminal.
"""

from collections.abc import Iterable, Iterator

from app.core.message import Message, ToolCall

Item = Message | tuple[Message, ToolCall]


def in_tree(messages: Iterable[Message]) -> Iterator[Item]:
    """Yield messages so that all about a call follows its (message, call): the sub-agent's turn, the result."""
    found = list(messages)
    about: dict[tuple[str | None, str | None], list[Message]] = {}
    for message in found:
        if message.parent_call_id and message.parent_turn_id:
            about.setdefault((message.parent_turn_id, message.parent_call_id), []).append(message)
    results: dict[tuple[str, str], list[Message]] = {}
    for message in found:
        if message.tool_call_id:
            results.setdefault((message.turn_id, message.tool_call_id), []).append(message)
    told: set[str] = set()

    def tell(some: Iterable[Message]) -> Iterator[Item]:
        for message in some:
            if message.id in told:
                continue
            told.add(message.id)
            yield message
            for call in message.tool_calls:
                yield message, call
                yield from tell(about.get((message.turn_id, call.id), ()))
                yield from tell(results.get((message.turn_id, call.id), ()))

    below = {one.id for some in about.values() for one in some}
    yield from tell(one for one in found if one.id not in below)
    yield from tell(found)
