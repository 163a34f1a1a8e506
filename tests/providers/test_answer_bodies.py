"""The lines of a stream of events, in any cut of it; LiteLLM is not imported."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.providers.model_host.http_limits import EventLines
from tests.repeats import examples

ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
LINES = st.sampled_from([b"data: one", b"data: two words", b": ping", b"event: ping", b"id: 7", b""])


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(LINES, ENDS), max_size=12), st.binary(max_size=0) | LINES, st.data())
def test_the_size_is_that_of_the_event_that_has_not_ended(
    parts: list[tuple[bytes, bytes]], rest: bytes, draw: st.DataObject
) -> None:
    body = b"".join(line + end for line, end in parts) + rest
    # A \r\n that is cut in two counts one byte less.
    whole = re.split(rb"(?:\A|(?<=\n)|(?<=\r)(?!\n))(?:\r\n|\n|\r)", body)[-1]
    lines, passed, at = EventLines(), b"", 0
    while at < len(body):
        size = draw.draw(st.integers(1, len(body) - at))
        passed += lines.feed(body[at : at + size])
        at += size
    assert abs(lines.size - len(whole)) <= body.count(b"\r\n")
    assert passed + lines.finish() == (once := EventLines()).feed(body) + once.finish()


@pytest.mark.parametrize("pieces", [1, 2, 1_000])
def test_a_line_that_comes_in_pieces_counts_once(pieces: int) -> None:
    lines = EventLines()
    for _ in range(pieces):
        assert lines.feed(b"data: x") == b""
    assert lines.size == 7 * pieces
    lines.feed(b"\n")
    assert lines.size == 7 * pieces + 1
    assert lines.feed(b"id: 1\n\ndata: x") == b"\n"
    assert lines.size == len(b"data: x")
