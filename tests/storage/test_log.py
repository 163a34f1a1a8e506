"""Lines of a log, whatever becomes of their bytes: rows 2 to 9 of the corpus of bad inputs."""

import io
import random

import pytest

from app.storage.codec import plain
from app.storage.lines import Line, decode_line, encode_line, read_lines
from app.storage.log import Replay, read_log
from tests.storage.samples import debate, message

RECORDS = 12


def _log() -> tuple[bytes, list[bytes]]:
    session = debate("01" + "b" * 24)
    head = {"op": "head", "version": 1, "min_reader": 1, "id": session.id}
    lines = [encode_line(1, [head, {"op": "session", "patch": plain(session)}])]
    for number in range(RECORDS):
        one = message(f"말 {number} \u2028 \u0085 end", turn_id=f"t{number}")
        lines.append(encode_line(number + 2, [{"op": "message", "message": plain(one)}]))
    return b"".join(lines), lines


def _read(data: bytes) -> tuple[list[Line], int]:
    found = list(read_lines(io.BytesIO(data)))
    return [line for line in found if line is not None], found.count(None)


@pytest.mark.corpus(25)
def test_a_line_is_read_as_it_was_written():
    ops = [{"op": "text", "id": "x", "text": 'a"b\\c\n\u2028\u0000'}]
    line = encode_line(7, ops)
    assert line.count(b"\n") == 1
    assert decode_line(line[:-1]) == Line(7, ops)


@pytest.mark.corpus(19, 23)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "\ud800", {1: object()}, "x" * 3_000_000])
def test_nothing_makes_a_line_unwritable(bad):
    line = decode_line(encode_line(1, [{"op": "x", "value": bad}])[:-1])
    assert line is not None


@pytest.mark.corpus(3)
def test_truncated_at_every_byte_keeps_every_whole_line():
    data, lines = _log()
    ends = [sum(map(len, lines[: count + 1])) for count in range(len(lines))]
    for cut in range(len(data) + 1):
        whole, damaged = _read(data[:cut])
        # The newline of the last line may be missing: its checksum says that it is whole.
        assert len(whole) == sum(end - 1 <= cut for end in ends)
        assert damaged == 0


@pytest.mark.corpus(4)
def test_a_flipped_bit_loses_at_most_two_records_and_changes_none():
    data, lines = _log()
    whole = {line.number: line for line in _read(data)[0]}
    chance = random.Random(1)
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << chance.randrange(8)
        left, damaged = _read(bytes(flipped))
        assert len(left) >= len(lines) - 2
        assert damaged or len(left) == len(lines) or place == len(data) - 1
        assert all(whole[line.number] == line for line in left)


@pytest.mark.corpus(5)
def test_a_block_of_nuls_loses_only_what_it_covers():
    data, lines = _log()
    start = len(lines[0]) + len(lines[1]) + 5
    holed = data[:start] + bytes(512) + data[start + 512 :]
    left, damaged = _read(holed)
    assert damaged >= 1
    assert len(left) >= len(lines) - 3
    assert _read(data + bytes(512)) == (_read(data)[0], 0)


@pytest.mark.corpus(6)
def test_two_records_on_one_line_are_both_read():
    _, lines = _log()
    glued = lines[0] + lines[1][:-1] + lines[2] + lines[3]
    assert [line.number for line in _read(glued)[0]] == [1, 2, 3, 4]
    torn = lines[0] + lines[1][:40] + lines[2]
    assert [line.number for line in _read(torn)[0]] == [1, 3]
    assert _read(torn)[1] == 1


@pytest.mark.corpus(8, 9)
def test_windows_newlines_and_a_byte_order_mark_are_read():
    data, lines = _log()
    assert _read(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")) == _read(data)
    assert len(lines) == RECORDS + 1


@pytest.mark.threat("T17")
@pytest.mark.corpus(17)
def test_a_list_nested_too_deep_is_damage():
    deep = b'"q":1,"ops":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    import zlib

    assert decode_line(b'{"c":"%08x",' % zlib.crc32(deep) + deep) is None


@pytest.mark.corpus(12)
@pytest.mark.parametrize("number", [4, 5])
def test_a_line_out_of_order_adds_but_takes_nothing_back(number):
    """A line of an older number, and one of the same number by a second writer."""
    first = encode_line(
        5, [{"op": "session", "patch": {"title": "new"}}, {"op": "message", "message": {"id": "a"}}]
    )
    late = encode_line(
        number,
        [
            {"op": "session", "patch": {"title": "old"}},
            {"op": "message", "message": {"id": "a", "state": "streaming"}},
            {"op": "message", "message": {"id": "b"}},
        ],
    )
    replay = read_log(
        lambda: io.BytesIO(first + late + first + late), lambda record: record.get("state", "done")
    )
    assert replay.session == {"title": "new"}
    assert replay.messages == {"a": "done", "b": "done"}


@pytest.mark.parametrize("odd", [["a"], {"a": 1}, None, 5])
def test_an_operation_on_what_is_no_id_changes_nothing(odd):
    said = {"op": "message", "message": {"id": "a", "state": "done"}}
    text = {"op": "text", "id": odd, "offset": 0, "text": "x"}
    lines = [[said, text, {"op": "remove", "id": odd}], [{"op": "message", "message": {"id": odd}}]]
    # The second line of a number may only add.
    data = b"".join(encode_line(number, ops) for number, ops in ((1, lines[0]), (2, lines[1]), (2, lines[1])))
    replay = read_log(lambda: io.BytesIO(data))
    assert (list(replay.messages), replay.damaged) == (["a"], 2)


def test_a_text_that_is_none_of_a_message_that_streams_stays_as_it_is():
    begun = {"op": "message", "message": {"id": "a", "state": "streaming", "content": 5, "thinking": "so"}}
    text = {"op": "text", "id": "a", "offset": 0, "text": "said"}
    for ops, content in (([begun], 5), ([begun, text], "said")):
        replay = Replay()
        replay.add(Line(1, ops))
        [(_, record)] = replay.open_records()
        assert (record["content"], record["thinking"]) == (content, "so")


def test_text_comes_once_however_often_it_is_read():
    begun = Line(1, [{"op": "message", "message": {"id": "a", "state": "streaming"}}])
    pieces = [
        Line(2, [{"op": "text", "id": "a", "offset": 0, "text": "안녕 "}]),
        Line(
            3,
            [
                {
                    "op": "text",
                    "id": "a",
                    "offset": 1,
                    "text": "녕 wor",
                    "thinking_offset": 0,
                    "thinking": "hm",
                }
            ],
        ),
        Line(4, [{"op": "text", "id": "a", "offset": 6, "text": "ld"}]),
        Line(5, [{"op": "text", "id": "a", "offset": 40, "text": "after a gap"}]),
        Line(6, [{"op": "unknown", "id": "a"}, {"op": "text", "id": "nobody", "offset": 0, "text": "x"}]),
    ]
    replay = Replay()
    assert replay.add_all([begun, *pieces])
    assert not replay.add_all(pieces)
    for line in pieces:
        replay.add(line)
    [(_, record)] = replay.open_records()
    assert (record["content"], record["thinking"]) == ("안녕 world", "hm")


@pytest.mark.parametrize("data", [bytes(range(1, 200)), b"hello", b"%PDF-1.7 \x00\x01", b"{}"])
def test_a_file_that_is_no_log_counts_as_damaged(data: bytes) -> None:
    assert list(read_lines([data])) == [None]


@pytest.mark.parametrize(
    "data", [b"", b'{"c', b'{"c":"1234abcd","q":1,"op', b"\0" * 300, b'{"c":"12' + b"\0" * 99]
)
def test_a_first_record_that_was_cut_off_counts_as_nothing(data: bytes) -> None:
    assert list(read_lines([data] if data else [])) == []
