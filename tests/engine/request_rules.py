"""What every request of a debate must be like (invariant D8); used by the debate machine."""

import json
from itertools import pairwise

from app.core.council import Participant
from app.core.message import Message, MessageState
from app.core.provider import ModelRequest
from app.core.session import Debate


def check_request(
    request: ModelRequest, speaker: Participant, messages: list[Message], debate: Debate, *, window: int
) -> None:
    """Check one request of a debate on cars against what was said so far."""
    roles = [str(one["role"]) for one in request.messages]
    texts = texts_of(request)
    assert roles[0] == "system" and roles[1] == roles[-1] == "user", "D8: user first and last"
    assert all(one != two for one, two in pairwise(roles[1:])), "D8: alternation"
    assert "Cars?" in texts[1], "D8: the topic is missing"
    usable = [one for one in messages if one.state == MessageState.DONE and one.content]
    shown = [one for one in usable if any(one.content in text for text in texts[1:])]
    assert len(shown) <= window, "D8: more messages than the window holds"
    last = [one for one in usable if one.author.kind == "user"][-1:]
    assert all(one in shown for one in last), "D8: the user was not heard"
    own = [one for one in usable if one.author.id == speaker.id][-1:]
    assert all(
        any(one.content in text for text, role in zip(texts, roles, strict=True) if role == "assistant")
        for one in own
    ), "D8: own words are not the assistant's"
    dead = [
        one for one in messages if one.state in (MessageState.FAILED, MessageState.STOPPED) and one.content
    ]
    assert not any(one.content in text for one in dead for text in texts), "D10: an unusable text was sent"
    if debate.independent_opening and "Round 1 of" in texts[-1]:
        others = [one for one in usable if one.author.id not in (speaker.id, "user")]
        assert not any(one in shown for one in others), "D8: the opening is not blind"
    elif len(usable) <= window:
        assert shown == usable, "D8: a message was lost"


def blocks_of(content: object) -> list[dict[str, str]]:
    """Return the blocks of a message's content, which may be one text."""
    return content if isinstance(content, list) else [{"type": "text", "text": str(content)}]


def texts_of(request: ModelRequest) -> list[str]:
    """Return the text of each message, the blocks of one with a blank line between them."""
    texts = []
    for message in request.messages:
        parts = blocks_of(message["content"])
        texts.append(
            "\n\n".join(part["text"] if part["type"] == "text" else json.dumps(part) for part in parts)
        )
    return texts


def as_sent(request: ModelRequest) -> str:
    """Return a request as one text in the order in which providers read it: tools, system text, messages."""
    lines = [json.dumps(request.tools, ensure_ascii=False)]
    for message, said in zip(request.messages, texts_of(request), strict=True):
        rest = {name: value for name, value in message.items() if name not in ("role", "content")}
        lines.append(f"{message['role']} {json.dumps(rest) if rest else ''}{said}")
    return "\n".join(lines)


def shared_bytes(before: ModelRequest, after: ModelRequest) -> tuple[int, int]:
    """Return how many bytes of a request are the beginning of the one before it, and how many it has."""
    one, other = as_sent(before).encode(), as_sent(after).encode()
    same = (place for place, (old, new) in enumerate(zip(one, other, strict=False)) if old != new)
    return next(same, min(len(one), len(other))), len(other)


def check_legal(request: ModelRequest) -> None:
    """Check what every provider demands: the user first, no two neighbours of one role, a result right after each call."""
    messages = request.messages
    roles = [str(one["role"]) for one in messages]
    assert roles[0] == "system" and roles[1] == "user" and roles[-1] in ("user", "tool")
    for before, after in pairwise(messages[1:]):
        plain = after["role"] != "tool" and "tool_calls" not in before
        assert not plain or before["role"] != after["role"] or "tool_calls" in after
    waiting: list[str] = []
    for message in messages[1:]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "a result without its call"
            waiting.remove(str(message["tool_call_id"]))
            continue
        assert not waiting, "a call without its result"
        assert message["content"] or message.get("tool_calls")
        calls = message.get("tool_calls", ())
        waiting = [str(call["id"]) for call in calls]  # type: ignore[attr-defined]
    assert not waiting
