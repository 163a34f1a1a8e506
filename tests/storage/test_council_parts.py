"""What the messages of a council hold, from the JSON of logs and back: each part, and what is wrong or unknown in it."""

import dataclasses
import json

import pytest

from app.core.council_parts import (
    PART_DATA,
    ArguedOption,
    BestCase,
    ChosenAnswer,
    Claim,
    ComparedPoint,
    Differences,
    Dissent,
    EditedOptions,
    FileQuote,
    JudgedMove,
    JudgedMoves,
    JudgedPoint,
    JudgeQuestion,
    JudgeReading,
    Option,
    Position,
    Question,
    Quote,
    Quoting,
    Rewritten,
)
from app.core.events import MessageFinished, SessionStarted
from app.core.message import CouncilPart, PartData
from app.engine.export.event_lines import message_object
from app.storage.codec import MessageReader, check, is_known, plain, with_unknown
from app.storage.file_system import FileSystem
from app.storage.foreign_file import read_exported
from app.storage.lines import decode_line, encode_line
from app.storage.log import FIELD, LogFault, faults, load_session
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from tests.storage.samples import debate, message

# As logs have them: these texts stay as they are.
STORED = [
    ("question", '{"follows": true, "to": ["p1"]}', Question(follows=True, to=("p1",))),
    ("question", '{"to": ["p1", "p2"]}', Question(to=("p1", "p2"))),
    (
        "answer",
        ('{"answer": "Postgres", "confidence": 70, "trailer": "{\\"answer\\": \\"Postgres\\"}",'
        ' "quotes": [{"text": "one row a day", "found": "missing", "file": "", "page": 0},'
        ' {"text": "in WAL mode", "found": "nearly", "file": "a.pdf", "page": 2}]}'),
        Position(
            answer="Postgres",
            confidence=70,
            trailer='{"answer": "Postgres"}',
            quotes=(
                FileQuote(text="one row a day", found="missing"),
                FileQuote(text="in WAL mode", found="nearly", file="a.pdf", page=2),
            ),
        ),
    ),
    ("answer", '{"trailer": ""}', Position(trailer="")),
    (
        "answer",
        '{"answer": "DuckDB", "choice": "x1", "new": "DuckDB", "trailer": "", "joined": true}',
        Position(answer="DuckDB", choice="x1", new="DuckDB", trailer="", joined=True),
    ),
    (
        "differences",
        ('{"order": ["a1", "a2"], "options": [{"id": "o1", "text": "Postgres", "backers": ["p1"]}],'
        ' "differ": [{"text": "Rows", "quotes": [{"message": "a1", "text": "one row"}], "only": "p1"},'
        ' {"text": "Cost", "quotes": [], "only": ""}], "agreed": []}'),
        Differences(
            order=("a1", "a2"),
            options=(Option(id="o1", text="Postgres", backers=("p1",)),),
            differ=(
                ComparedPoint(text="Rows", quotes=(Quote(message="a1", text="one row"),), only="p1"),
                ComparedPoint(text="Cost"),
            ),
        ),
    ),
    (
        "options",
        ('{"options": [{"id": "o1", "text": "Postgres 18", "origin": "differences"},'
        ' {"id": "u2", "text": "Files", "origin": "user"}], "became": {"o1": "o1", "o2": ""}}'),
        EditedOptions(
            options=(
                Option(id="o1", text="Postgres 18", origin="differences"),
                Option(id="u2", text="Files", origin="user"),
            ),
            became={"o1": "o1", "o2": ""},
        ),
    ),
    (
        "options",
        '{"options": [{"id": "u1", "text": "Files", "origin": "user"}], "became": {}}',
        EditedOptions(options=(Option(id="u1", text="Files", origin="user"),)),
    ),
    ("argue", '{"option": "o2"}', ArguedOption(option="o2")),
    ("choice", '{"message": "a1"}', ChosenAnswer(message="a1")),
    ("choice", '{"message": ""}', ChosenAnswer(message="")),
    (
        "merge",
        '{"quotes": [{"text": "in WAL mode", "found": "exact", "file": "a.md", "page": 0}]}',
        Quoting(quotes=(FileQuote(text="in WAL mode", found="exact", file="a.md"),)),
    ),
    (
        "turn",
        ('{"shown": ["o2", "o1"], "new": "Files", "choice": "xm3", "confidence": 0, "moved_by": ["a2"],'
        ' "trailer": "{}"}'),
        Position(
            shown=("o2", "o1"), new="Files", choice="xm3", confidence=0, moved_by=("a2",), trailer="{}"
        ),
    ),
    (
        "ballot",
        '{"shown": ["o1", "o2"], "choice": "o1", "confidence": 80, "moved_by": []}',
        Position(shown=("o1", "o2"), choice="o1", confidence=80),
    ),
    ("ballot", '{"shown": ["o1", "o2"], "moved_by": []}', Position(shown=("o1", "o2"))),
    (
        "reading",
        ('{"judge": "j/1", "order": 1, "shown": ["o1", "o2"], "choice": "o1", "confidence": 60,'
        ' "cases": [{"option": "o1", "text": "One row.", "cites": []}],'
        ' "agreed": [{"text": "Both work.", "cites": ["a1"]}], "open": [{"text": "Cost", "cites": []}],'
        ' "cruxes": [{"text": "Is it small?", "yes": ["p1"], "no": ["p2"], "cites": ["a1"],'
        ' "settled_by": "a count"}],'
        ' "claims": [{"text": "It is small.", "for": ["p1"], "against": [], "cites": ["a1", "t2"]}],'
        ' "unsupported": ["t2"]}'),
        JudgeReading(
            judge="j/1",
            order=1,
            shown=("o1", "o2"),
            choice="o1",
            confidence=60,
            cases=(BestCase(option="o1", text="One row."),),
            agreed=(JudgedPoint(text="Both work.", cites=("a1",)),),
            open=(JudgedPoint(text="Cost"),),
            questions=(
                JudgeQuestion(
                    text="Is it small?", holds=("p1",), denies=("p2",), cites=("a1",), settled_by="a count"
                ),
            ),
            claims=(Claim(text="It is small.", holds=("p1",), cites=("a1", "t2")),),
            unsupported=("t2",),
        ),
    ),
    (
        "reading",
        ('{"judge": "j/1", "order": 2, "shown": ["o1"], "choice": "none", "cases": [], "agreed": [],'
        ' "open": [], "cruxes": [], "claims": [], "unsupported": []}'),
        JudgeReading(judge="j/1", order=2, shown=("o1",), choice="none"),
    ),
    ("reading", '{"judge": "j/2", "order": 2}', JudgeReading(judge="j/2", order=2)),
    (
        "moves",
        '{"moves": [{"participant": "p1", "round": 2, "argues": true}, {"participant": "p2", "round": 2}]}',
        JudgedMoves(
            moves=(
                JudgedMove(participant="p1", round=2, argues=True),
                JudgedMove(participant="p2", round=2),
            )
        ),
    ),
    (
        "dissent",
        ('{"right_if": "the log shows it", "trailer": "{}",'
        ' "quotes": [{"text": "one row a day", "found": "missing", "file": "", "page": 0}]}'),
        Dissent(
            right_if="the log shows it",
            trailer="{}",
            quotes=(FileQuote(text="one row a day", found="missing"),),
        ),
    ),
    ("solo", '{"answer": "Postgres", "choice": "o1", "trailer": ""}',
     Position(answer="Postgres", choice="o1", trailer="")),
    ("check", '{"shown": ["o1"], "choice": "o1", "moved_by": ["t1"], "trailer": ""}',
     Position(shown=("o1",), choice="o1", moved_by=("t1",), trailer="")),
    ("rewrite", '{"of_panel": true}', Rewritten(of_panel=True)),
    ("rewrite", "{}", Rewritten()),
]  # fmt: skip


def test_every_part_of_a_council_is_here():
    assert {part for part, _, _ in STORED} == {*CouncilPart} == {*PART_DATA}


@pytest.mark.parametrize(("part", "text", "data"), STORED)
def test_the_data_of_each_part_is_read_and_written_as_it_was(part: str, text: str, data: PartData):
    stored = json.loads(text)
    record = {**plain(message("x")), "part": part, "data": stored}
    reader = MessageReader()
    found = reader.read(record)
    assert found is not None and found.data == data and type(found.data) is PART_DATA[part]
    assert reader.wrong == [] and reader.more == {}
    assert is_known(type(found), record)
    assert plain(found) == record
    check(type(found), record)


@pytest.mark.parametrize(("part", "text", "data"), STORED)
def test_an_export_has_it_as_logs_have_it_and_is_read_back(part: str, text: str, data: PartData):
    exported = message_object(message("x", part=part, data=data))
    assert json.loads(json.dumps(exported))["data"] == json.loads(text)
    session = json.loads(json.dumps(plain(debate())))
    (back,) = read_exported(session, [json.loads(json.dumps(exported))]).messages
    assert back.data == data


CLAIM = {"text": "It is.", "for": ["p1"], "against": [], "cites": ["a1"]}


@pytest.mark.parametrize(
    ("part", "stored", "path", "read_as"),
    [
        ("answer", {"answer": "Yes", "confidence": "70"}, "$.data.confidence", Position(answer="Yes")),
        ("answer", {"answer": 5, "confidence": 70}, "$.data.answer", Position(confidence=70)),
        ("ballot", {"choice": "o1", "shown": "o1"}, "$.data.shown", Position(choice="o1")),
        ("turn", ["o1"], "$.data", None),
        (
            "answer", {"quotes": [{"text": "a", "found": "exact", "file": "b", "page": "two"}]}, "$.data.quotes[0].page",
            Position(quotes=(FileQuote(text="a", found="exact", file="b"),)),
        ),
        (
            "reading", {"judge": "j/1", "order": 1, "claims": [{**CLAIM, "for": "p1"}]}, "$.data.claims[0].for",
            JudgeReading(judge="j/1", order=1, claims=(Claim(text="It is.", cites=("a1",)),)),
        ),
        (
            "reading", {"judge": "j/1", "cruxes": [{"text": "Is it?", "yes": ["p1"], "no": 1, "cites": []}]}, "$.data.cruxes[0].no",
            JudgeReading(judge="j/1", questions=(JudgeQuestion(text="Is it?", holds=("p1",)),)),
        ),
        ("options", {"options": [{"id": "o1"}], "became": 5}, "$.data.became", EditedOptions(options=(Option(id="o1"),))),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_and_gets_its_default_and_the_rest_is_kept(part, stored, path, read_as):
    sound = message("x", part=part)
    record = {**plain(sound), "data": stored}
    reader = MessageReader()
    found = reader.read(record)
    assert found == dataclasses.replace(sound, data=read_as)
    assert [one.path for one in reader.wrong] == [path]
    assert faults([encode_line(1, [{"op": "message", "message": record}])]) == [
        LogFault(1, FIELD, detail=path)
    ]
    # It stays in the log as long as nothing takes its place.
    written = with_unknown(type(found), record, plain(found))
    for name, value in stored.items() if isinstance(stored, dict) else ():
        assert written["data"][name] == value
    with pytest.raises(ValueError, match="Expected `"):
        check(type(found), record)


def with_more(value: object, depth: int = 0) -> object:
    """Return JSON with a field in every object, at every depth, that is not known here."""
    if isinstance(value, list):
        return [with_more(item, depth) for item in value]
    if not isinstance(value, dict):
        return value
    return {**{name: with_more(inner, depth + 1) for name, inner in value.items()}, "later": depth}


@pytest.mark.parametrize(("part", "text", "data"), STORED)
def test_unknown_fields_survive_at_every_depth(part: str, text: str, data: PartData):
    stored = json.loads(text)
    if part == "options":
        # What became of the options has their ids as its names, and none is unknown.
        del stored["became"]
        data = dataclasses.replace(data, became={})  # type: ignore[type-var]
    record = {**plain(message("x")), "part": part, "data": with_more(stored)}
    reader = MessageReader()
    found = reader.read(record)
    assert found is not None and found.data == data
    assert reader.wrong == [] and reader.more == {found.id: record}
    now = dataclasses.replace(found, note="length")
    written = with_unknown(type(found), record, plain(now))
    if part == "options":
        assert written["data"].pop("became") == {}
    assert written == {**record, "note": "length"}


@pytest.mark.parametrize("part", ["", "poll", 5])
@pytest.mark.parametrize("stored", [{"stance": {"p1": [1, None]}, "choice": 5}, [1], "x", 7])
@pytest.mark.allow_blocking
async def test_the_data_of_an_unknown_part_is_kept_as_it_is(tmp_path, part, stored):
    paths = DataPaths(tmp_path)
    paths.sessions.mkdir(parents=True)
    session, said = debate(), message("x")
    record = {**plain(said), "part": part, "data": stored}
    ops = [{"op": "session", "patch": plain(session)}, {"op": "message", "message": record}]
    paths.session(session.id).write_bytes(b"".join(encode_line(n, [op]) for n, op in enumerate(ops, 1)))
    store = JsonLogStore(paths)
    await store.open()
    opened = await store.load(session.id)
    (found,) = opened.messages
    assert (found.data, opened.damaged) == (None, int(part == 5))
    changed = dataclasses.replace(found, note="length")
    store.append((MessageFinished(session_id=session.id, message=changed),))
    await store.flush(session.id)
    await store.close()
    last = decode_line(paths.session(session.id).read_bytes().splitlines()[-1])
    written = {"part": "", **last.ops[0]["message"]} if last else {}
    assert written == {**record, "note": "length"}
    again, _ = load_session(FileSystem(), paths.session(session.id), mend=False)
    assert again.messages == [changed]


@pytest.mark.allow_blocking
async def test_what_a_council_writes_is_what_it_reads(tmp_path):
    paths = DataPaths(tmp_path)
    store = JsonLogStore(paths)
    await store.open()
    session = debate()
    said = [message(f"m{place}", part=part, data=data) for place, (part, _, data) in enumerate(STORED)]
    store.append((SessionStarted(session_id=session.id, session=session),))
    store.append(tuple(MessageFinished(session_id=session.id, message=one) for one in said))
    await store.flush(session.id)
    opened = await store.load(session.id)
    assert (opened.messages, opened.damaged) == (said, 0)
    await store.close()
    lines = paths.session(session.id).read_bytes().splitlines()
    written = [op["message"]["data"] for line in lines for op in decode_line(line).ops if "message" in op]
    assert written == [json.loads(text) for _, text, _ in STORED]
