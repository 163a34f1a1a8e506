"""What providers keep of requests and count of the next ones that begin the same, as they document it.

A token is four bytes here. `PromptCache.now` is the time in seconds; a test moves it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import Any

MOST_MARKS = 4
LOOK_BACK = 20
LIVES = {"5m": 300, "1h": 3_600}
STEP = 128
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Counted:
    """The tokens of a request: read from the cache, written to it for five minutes or an hour, and the rest."""

    cached: int = 0
    written: int = 0
    written_for_hour: int = 0
    rest: int = 0

    @property
    def all(self) -> int:
        """The tokens of the whole request."""
        return self.cached + self.written + self.written_for_hour + self.rest


@dataclass(slots=True)
class PromptCache:
    """Remembers the beginnings of requests; shorter ones than `least` tokens are not kept."""

    least: int = 1_024
    now: float = 0.0
    _ends: dict[str, float] = field(default_factory=dict)
    _texts: list[bytes] = field(default_factory=list)

    def count_marked(self, model: str, body: dict[str, Any]) -> Counted:
        """Count a request of Anthropic's: only what ends at a mark is kept, and found from 20 blocks behind it."""
        digest, size = sha256(model.encode()), 0
        beginnings: list[tuple[str, int]] = []
        marks: list[tuple[int, str]] = []
        for place, (text, mark) in enumerate(blocks(body)):
            digest.update(text)
            size += len(text)
            beginnings.append((digest.hexdigest(), size // BYTES_PER_TOKEN))
            if mark is not None:
                marks.append((place, mark.get("ttl", "5m")))
        marks = [(place, ttl) for place, ttl in marks if beginnings[place][1] >= self.least]
        found = [
            at
            for place, _ in marks
            for at in range(max(0, place - LOOK_BACK), place + 1)
            if self._ends.get(beginnings[at][0], -1.0) >= self.now
        ]
        cached = beginnings[max(found)][1] if found else 0
        written = {"5m": 0, "1h": 0}
        upto = cached
        for place, ttl in marks:
            name, tokens = beginnings[place]
            written[ttl] += max(0, tokens - upto)
            upto = max(upto, tokens)
            self._ends[name] = max(self._ends.get(name, 0.0), self.now + LIVES[ttl])
        rest = beginnings[-1][1] - upto
        return Counted(cached, written["5m"], written["1h"], rest)

    def count_beginning(self, model: str, body: dict[str, Any]) -> Counted:
        """Count a request of OpenAI's: the longest beginning of any before it, in steps of 128 tokens from 1,024 on."""
        text = model.encode() + b"".join(text for text, _ in blocks(body))
        longest = max((_shared(text, one) for one in self._texts), default=0) // BYTES_PER_TOKEN
        self._texts.append(text)
        cached = longest // STEP * STEP if longest >= self.least else 0
        return Counted(cached=cached, rest=len(text) // BYTES_PER_TOKEN - cached)


def blocks(body: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
    """Yield the blocks of a request in a provider's order, tools first, each with its mark."""
    for tool in body.get("tools", ()):
        yield _block("tool", tool)
    system = body.get("system", [])
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield _block("system", block)
    for message in body["messages"]:
        content = message.get("content")
        rest = {name: value for name, value in message.items() if name != "content"}
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for part in parts:
            yield _block(json.dumps(rest), part)


def _block(before: str, block: dict[str, Any]) -> tuple[bytes, dict[str, Any] | None]:
    plain = {name: value for name, value in block.items() if name != "cache_control"}
    return f"{before}{json.dumps(plain, ensure_ascii=False)}".encode(errors="replace"), block.get(
        "cache_control"
    )


def marks_problem(body: dict[str, Any]) -> str:
    """Return why Anthropic refuses the marks of a request, "" where it does not."""
    marked = [(text, mark) for text, mark in blocks(body) if mark is not None]
    if len(marked) > MOST_MARKS:
        return f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {len(marked)}."
    for text, mark in marked:
        if (
            mark.get("type") != "ephemeral"
            or mark.get("ttl", "5m") not in LIVES
            or mark.keys() - {"type", "ttl"}
        ):
            return "cache_control: Input should be {'type': 'ephemeral'}"
        if b'"type": "thinking"' in text:
            return "thinking.cache_control: Extra inputs are not permitted"
    for (_, one), (_, other) in pairwise(marked):
        if one.get("ttl", "5m") == "5m" and other.get("ttl") == "1h":
            return "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    return ""


def _shared(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
