"""What is found damaged or missing in a session's log, by file and line."""

import dataclasses

import pytest

from app.core.message import Message, MessageState
from app.storage.codec import plain
from app.storage.lines import encode_line
from app.storage.log import (
    EVERYTHING,
    LINES,
    MESSAGE,
    NOTHING,
    SESSION,
    SESSION_FIELD,
    TEXT,
    TORN_END,
    UNKNOWN,
    LogFault,
    faults,
)
from tests.storage.samples import debate, message


def log() -> list[bytes]:
    """Return a log: its head, a message, one that streams, its text in two pieces, its end, and a new title."""
    whole, streamed = message("whole"), message("one two")
    begun = dataclasses.replace(streamed, content="", state=MessageState.STREAMING)
    ops: list[dict[str, object]] = [
        {"op": "message", "message": plain(whole)},
        {"op": "message", "message": plain(begun)},
        {"op": "text", "id": streamed.id, "offset": 0, "text": "one "},
        {"op": "text", "id": streamed.id, "offset": 4, "text": "two"},
        {"op": "message", "message": plain(streamed)},
        {"op": "session", "patch": {"title": "new"}},
    ]
    session = {"op": "session", "patch": plain(debate())}
    return [encode_line(1, [session]), *(encode_line(place, [op]) for place, op in enumerate(ops, 2))]


def broken(lines: list[bytes], *places: int) -> list[bytes]:
    """Return the lines with another checksum in those places, which count from 1."""
    return [
        line[:6] + b"00000000" + line[14:] if place in places else line for place, line in enumerate(lines, 1)
    ]


def test_nothing_is_found_in_a_log_that_is_whole():
    lines = log()
    assert faults(lines) == []
    assert faults([]) == []
    assert faults([*lines[:3], lines[4], lines[3], lines[3], *lines[5:]]) == []
    assert faults([*lines, b'{"c":"1234']) == []
    assert faults([b"\xef\xbb\xbf" + lines[0], *(line[:-1] + b"\r\n" for line in lines[1:])]) == []
    assert faults([lines[0], lines[1][:-1] + lines[2], *lines[3:]]) == []


def test_what_another_program_added_to_the_end_is_found():
    lines = log()
    assert faults([*lines, b"garbage"]) == [LogFault(len(lines) + 1, TORN_END)]


@pytest.mark.parametrize(
    ("places", "lost"),
    [
        ((1,), [SESSION]),
        ((2,), [MESSAGE]),
        ((4,), [NOTHING]),
        ((7,), [SESSION]),
        ((2, 7), [MESSAGE, SESSION]),
    ],
)
def test_a_damaged_line_is_named_with_what_was_lost(places: tuple[int, ...], lost: list[str]):
    assert faults(broken(log(), *places)) == [
        LogFault(place, what) for place, what in zip(places, lost, strict=True)
    ]


def test_a_text_that_never_ended_is_lost_and_one_that_ended_is_not():
    lines = log()
    assert faults(broken(lines[:5], 4)) == [LogFault(4, TEXT)]
    assert faults([*lines[:3], b"\0" * 90 + b"\n", *lines[4:]]) == [LogFault(4, UNKNOWN)]


def test_lines_that_are_gone_are_counted_where_they_stood():
    lines = log()
    assert faults([*lines[:2], *lines[5:]]) == [LogFault(3, LINES, 3)]
    assert faults([*broken(lines, 3)[:3], *lines[4:]]) == [LogFault(3, MESSAGE), LogFault(4, LINES, 1)]


def test_a_message_that_is_none_and_a_file_that_is_no_log():
    bad = {**plain(message("x")), "id": 5}
    assert faults([*log(), encode_line(8, [{"op": "message", "message": bad}])]) == [LogFault(8, MESSAGE)]
    assert faults([b"not a log\n", b"at all\n"]) == [LogFault(1, EVERYTHING)]


def test_a_wrong_field_of_the_session_is_named_at_its_last_change():
    patch = {"op": "session", "patch": {"debate": {"rounds": "many", "participants": [{"name": "Ada"}]}}}
    lost = [
        LogFault(8, SESSION_FIELD, detail=f"$.debate.{field}") for field in ("rounds", "participants[0].id")
    ]
    assert faults([*log(), encode_line(8, [patch])]) == lost
    assert (
        faults(
            [*log(), encode_line(8, [patch]), encode_line(9, [{"op": "session", "patch": plain(debate())}])]
        )
        == []
    )


def test_an_unknown_state_is_no_damage():
    one: Message = message("x", state="of tomorrow")
    assert faults([*log(), encode_line(8, [{"op": "message", "message": plain(one)}])]) == []
