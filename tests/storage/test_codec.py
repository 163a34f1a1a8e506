"""The codec: a wrong field is named and gets its default, and what is unknown survives a save at every depth."""

import dataclasses
import json

import pytest

from app.core.council_parts import Position
from app.core.criteria import Plan, PlanItem
from app.core.draft import Draft
from app.core.errors import Failure
from app.core.events import SessionChanged
from app.core.message import Author, MessageState, Prompt, ToolCall, Usage
from app.core.session import Chat, DebateSession
from app.storage.codec import (
    MessageReader,
    Wrong,
    check,
    is_known,
    plain,
    read,
    read_session,
    whole_session,
    with_unknown,
)
from app.storage.documents import DraftFolder
from app.storage.file_system import FileSystem
from app.storage.lines import decode_line, encode_line
from app.storage.log import FIELD, LogFault, faults, load_session
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from tests.storage.samples import debate, finished, message

ADA = Author(id="p1", name="Ada", kind="participant")


@pytest.mark.parametrize(
    ("field", "value", "path", "read_as"),
    [
        ("content", {"a": 1}, "$.content", ""),
        ("state", ["done"], "$.state", MessageState.DONE),
        ("round", "one", "$.round", 0),
        ("round", True, "$.round", 0),
        ("author", {"id": "a", "name": 5, "kind": "sub"}, "$.author.name", Author(id="a", name="", kind="sub")),
        ("author", {"id": "a", "name": "Ada", "path": ["x", 5]}, "$.author.path[1]", Author(id="a", name="Ada", path=("x",))),
        ("prompt", {"question": "Why?", "options": [1]}, "$.prompt.options[0]", Prompt(question="Why?")),
        ("prompt", "Why?", "$.prompt", None),
        ("error", {"kind": "network", "detail": 5}, "$.error.detail", Failure(kind="network")),
        ("tool_calls", [{"id": "a", "name": None}], "$.tool_calls[0].name", (ToolCall(id="a", name=""),)),
        ("tool_calls", [{"name": "x"}, {"id": "b", "name": "y"}], "$.tool_calls[0].id", (ToolCall(id="b", name="y"),)),
        ("resources", ["x", {"uri": "y"}], "$.resources[0]", ({"uri": "y"},)),
        ("usage", {"input_tokens": "many", "output_tokens": 7}, "$.usage.input_tokens", Usage(output_tokens=7)),
        ("data", [1], "$.data", None),
    ],
)  # fmt: skip
def test_a_wrong_field_of_a_message_is_named_and_the_rest_is_kept(field, value, path, read_as):
    reader = MessageReader()
    sound = message("What was said", part="answer", round=0 if field == "round" else 3)
    found = reader.read({**plain(sound), field: value})
    assert found == dataclasses.replace(sound, **{field: read_as})
    assert [one.path for one in reader.wrong] == [path]
    line = encode_line(1, [{"op": "message", "message": {**plain(sound), field: value}}])
    assert faults([line]) == [LogFault(1, FIELD, detail=path)]


@pytest.mark.parametrize("field", ["id", "turn_id", "role", "author"])
def test_a_message_without_what_places_it_is_none(field):
    for record in (
        {**plain(message("x")), field: 5},
        {name: value for name, value in plain(message("x")).items() if name != field},
    ):
        found = MessageReader().read(record)
        # A role is only shown, and an unknown one is shown as it is.
        assert found is None if field != "role" else found is not None and found.role == ""


def test_a_whole_number_is_a_time_and_a_text_is_none():
    one = message("x")
    found = MessageReader().read({**plain(one), "seconds": 3})
    assert found == dataclasses.replace(one, seconds=3.0) and type(found.seconds) is float
    wrong: list[Wrong] = []
    assert read(Usage, {"cost_usd": "0.5", "model": "a"}, wrong) == Usage(model="a")
    assert wrong == [Wrong(("cost_usd",), "wrong_type", "Expected `float | null`, got `str`")]


def test_a_session_keeps_what_can_be_read_of_it():
    session = debate("01J")
    record = copied(plain(session))
    record["title"] = 5
    record["debate"]["rounds"] = "many"
    record["debate"]["participants"][0]["role"] = {"a": 1}
    wrong: list[Wrong] = []
    found, read_only = read_session("01J", record, wrong)
    assert isinstance(found, DebateSession) and not read_only
    assert found.title == "" and found.debate.rounds == session.debate.rounds
    assert found.debate.participants == session.debate.participants
    assert [one.path for one in wrong] == ["$.title", "$.debate.rounds", "$.debate.participants[0].role"]


def copied(record):
    return json.loads(json.dumps(record))


def with_more(record, depth=0):
    """Return a record with a field at every depth that is not known here."""
    found = {
        name: with_more(value, depth + 1)
        if isinstance(value, dict)
        else [with_more(one, depth + 1) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list)
        else value
        for name, value in record.items()
    }
    return {**found, "later": {"depth": depth}}


def call(call_id):
    return ToolCall(id=call_id, name="read")


def test_what_is_unknown_is_kept_with_the_thing_it_belongs_to():
    one = message("x", tool_calls=(call("a"), call("b")), error=Failure(kind="network"))
    before = with_more(copied(plain(one)))
    before["tool_calls"][1]["mark"] = "of b"
    # The first call is gone, and there is a new one.
    now = dataclasses.replace(one, content="y", tool_calls=(call("b"), call("c")), error=None)
    assert not is_known(type(one), before)
    written = with_unknown(type(one), before, plain(now))
    assert written["content"] == "y" and "error" not in written
    assert written["later"] == {"depth": 0} and written["author"]["later"] == {"depth": 1}
    assert [each.get("mark") for each in written["tool_calls"]] == ["of b", None]
    assert [each.get("later") for each in written["tool_calls"]] == [{"depth": 1}, None]
    assert MessageReader().read(written) == now


def test_what_could_not_be_read_stays_where_it_was():
    one = message("x", tool_calls=(call("a"), call("b")))
    before = {**copied(plain(one)), "round": "first"}
    before["tool_calls"].insert(1, {"name": "lost"})
    reader = MessageReader()
    assert reader.read(before) == one
    assert [each.path for each in reader.wrong] == ["$.tool_calls[1].id", "$.round"]
    written = with_unknown(type(one), before, plain(one))
    assert written["round"] == "first"
    assert [each.get("id") for each in written["tool_calls"]] == ["a", None, "b"]
    # A value of its own takes its place.
    assert with_unknown(type(one), before, plain(dataclasses.replace(one, round=2)))["round"] == 2


def plan(*texts):
    return Plan(goal="g", items=tuple(PlanItem(text=text) for text in texts))


@pytest.mark.parametrize(
    ("now", "marks"),
    [
        (("b", "c"), [2, "odd", 3]),
        (("new", "a", "b", "c"), [None, "odd", 1, 2, 3]),
        (("c", "a", "b"), [3, "odd", 1, 2]),
        (("a", "changed", "c"), [1, "odd", 2, 3]),
        (("a", "a", "b", "c"), [1, "odd", None, 2, 3]),
        ((), ["odd"]),
    ],
)
def test_items_without_an_id_are_known_by_what_they_hold_and_then_by_their_place(now, marks):
    before = {"goal": "g", "items": [{"text": text, "mark": n} for n, text in enumerate("abc", 1)]}
    before["items"].insert(1, "odd")
    written = with_unknown(Plan, before, plain(plan(*now)))
    assert [item if item == "odd" else item.get("mark") for item in written["items"]] == marks
    wrong = []
    assert read(Plan, written, wrong) == plan(*now)
    assert [field.path for field in wrong] == [f"$.items[{marks.index('odd')}]"]


def test_a_text_that_cannot_be_read_stays_in_a_list_of_texts():
    before = {"assistant_id": "a", "always": ["x", 5, "y"]}
    now = plain(Chat(assistant_id="a", always=("x", "z")))
    assert with_unknown(Chat, before, now)["always"] == ["x", 5, "z"]


def test_an_object_in_place_of_a_list_is_none():
    wrong = []
    found = read(Plan, {"goal": "g", "items": {"text": "a"}}, wrong)
    assert (found, [field.path for field in wrong]) == (Plan(goal="g"), ["$.items"])


def test_a_session_keeps_the_parts_of_other_kinds():
    before = {**plain(debate()), "chat": {"assistant_id": "a"}, "later": 1}
    now = plain(debate(title="New"))
    whole = whole_session(before, now)
    assert (whole["chat"], whole["later"], whole["title"]) == ({"assistant_id": "a"}, 1, "New")


def test_two_authors_are_the_same_if_their_records_are():
    reader, record = MessageReader(), plain(message("x"))
    first = reader.read({**record, "author": {"id": "a", "name": "A", "path": ["p", "q"], "depth": 1}})
    again = reader.read({**record, "author": {"id": "a", "name": "A", "path": ["p", "q"], "depth": 1}})
    assert first.author is again.author
    odd = reader.read({**record, "author": {"id": "a", "name": "A", "path": "pq", "depth": True}})
    assert (odd.author.path, odd.author.depth) == ((), 0)
    assert [field.path for field in reader.wrong] == ["$.author.path", "$.author.depth"]


def test_what_is_known_has_nothing_else():
    one = message(
        "x", tool_calls=(call("a"),), usage=Usage(model="m"), prompt=Prompt(question="?"),
        part="answer", data=Position(answer="Yes"),
    )  # fmt: skip
    assert is_known(type(one), plain(one))
    check(type(one), plain(one))
    with pytest.raises(ValueError, match=r"Expected `int`, got `str` - at `\$\.round`"):
        check(type(one), {**plain(one), "round": "x"})


@pytest.mark.allow_blocking
async def test_a_session_written_by_a_later_version_keeps_its_fields(tmp_path):
    paths = DataPaths(tmp_path)
    paths.sessions.mkdir(parents=True)
    session = debate()
    first, second = message("first"), message("second", prompt=Prompt(question="Really?"))
    ops = [{"op": "session", "patch": with_more(copied(plain(session)))}]
    ops += [{"op": "message", "message": with_more(copied(plain(one)))} for one in (first, second)]
    paths.session(session.id).write_bytes(b"".join(encode_line(n, [op]) for n, op in enumerate(ops, 1)))
    store = JsonLogStore(paths)
    await store.open()
    opened = await store.load(session.id)
    assert (opened.session, opened.messages, opened.damaged, opened.read_only) == (
        dataclasses.replace(opened.session, title=session.title), [first, second], 0, False,
    )  # fmt: skip
    renamed = dataclasses.replace(opened.session, title="Renamed")
    store.append((SessionChanged(session_id=session.id, session=renamed),))
    store.append((finished(session.id, second.dismissed()),))
    await store.flush(session.id)
    await store.close()
    _, replay = load_session(FileSystem(), paths.session(session.id), mend=False)
    assert replay.session["title"] == "Renamed" and replay.session["later"] == {"depth": 0}
    assert replay.session["debate"]["later"] == {"depth": 1}
    assert [one["later"] for one in replay.session["debate"]["participants"]] == [{"depth": 2}] * 2
    last = decode_line(paths.session(session.id).read_bytes().splitlines()[-1]).ops[0]["message"]
    assert (last["prompt"]["dismissed"], last["prompt"]["later"]) == (True, {"depth": 1})


@pytest.mark.allow_blocking
async def test_a_log_that_is_written_again_keeps_them_too(tmp_path):
    paths = DataPaths(tmp_path)
    paths.sessions.mkdir(parents=True)
    session, one = debate(), message("first")
    ops = [{"op": "session", "patch": with_more(copied(plain(session)))}]
    ops += [{"op": "message", "message": with_more(copied(plain(one)))}]
    paths.session(session.id).write_bytes(b"".join(encode_line(n, [op]) for n, op in enumerate(ops, 1)))
    held = []
    store = JsonLogStore(paths, recall=lambda _: held[0])
    await store.open()
    held.append(await store.load(session.id))
    paths.session(session.id).unlink()
    store.append((finished(session.id, message("second")),))
    await store.flush(session.id)
    await store.close()
    stored, replay = load_session(FileSystem(), paths.session(session.id), mend=False)
    assert [each.content for each in stored.messages] == ["first", "second"]
    assert replay.session["later"] == {"depth": 0} and replay.more[one.id]["author"]["later"] == {"depth": 1}


@pytest.mark.allow_blocking
async def test_a_draft_of_a_later_version_keeps_its_fields_until_it_is_gone(tmp_path):
    paths = DataPaths(tmp_path)
    paths.drafts.mkdir(parents=True)
    path = paths.draft("s1")
    picture = {"name": "a.png", "media_type": "image/png", "data": "AA==", "later": 1}
    path.write_text(json.dumps({"version": 1, "text": "한", "attachments": [picture], "later": 2}))
    folder = DraftFolder(paths)
    draft = (await folder.load())["s1"]
    await folder.save("s1", dataclasses.replace(draft, text="글"))
    found = json.loads(path.read_bytes())
    assert (found["text"], found["later"], found["attachments"][0]["later"]) == ("글", 2, 1)
    await folder.save("s1", Draft())
    await folder.save("s1", Draft(text="new"))
    assert "later" not in json.loads(path.read_bytes())


@pytest.mark.allow_blocking
async def test_a_message_with_a_wrong_field_counts_once_however_often_it_is_written(tmp_path):
    paths = DataPaths(tmp_path)
    paths.sessions.mkdir(parents=True)
    session, bad, mended = debate(), message("bad"), message("mended")
    record = {"op": "session", "patch": plain(session)}
    wrong = [{"op": "message", "message": {**plain(one), "round": "x"}} for one in (bad, mended)]
    sound = {"op": "message", "message": plain(mended)}
    lines = [encode_line(n, ops) for n, ops in enumerate([[record], wrong, wrong, [sound]], 1)]
    # Lines out of order are read twice.
    paths.session(session.id).write_bytes(b"".join([lines[0], lines[2], lines[1], lines[3]]))
    stored, replay = load_session(FileSystem(), paths.session(session.id), mend=False)
    assert (stored.damaged, set(replay.more)) == (1, {bad.id})
