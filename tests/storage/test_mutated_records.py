"""Spoilt records of every kind: never a crash, never a wrong value, and nothing of tomorrow is lost."""

import contextlib
import dataclasses
import io
import json
import random
import typing
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli.arguments import Arguments, parameters_of
from app.core.catalog import ModelList, ProviderConfig
from app.core.council import Decision, Panel
from app.core.definitions import Agent, Group, SavedPrompt, WorkflowDefinition
from app.core.draft import Draft
from app.core.errors import BadInput
from app.core.events import SessionChanged
from app.core.ids import new_id
from app.core.message import CouncilPart, Message, MessageState, PromptReason, Role, UsageEntry
from app.core.provider import KnownFacts, KnownQuirks, believed
from app.core.session import (
    ChatSession,
    DebateMode,
    DebateSession,
    Folder,
    GroupSession,
    Session,
    WorkflowSession,
)
from app.core.settings import Settings, rules
from app.core.texts import clean_values
from app.storage.codec import MOST_DEPTH
from app.storage.documents import MOST_VERSION, DraftFolder, JsonDocuments
from app.storage.file_system import FileSystem
from app.storage.index import load_index, save_index
from app.storage.lines import Op, decode_line, encode_line
from app.storage.log import FIELD, MESSAGE, SESSION_FIELD, faults, load_session
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import MANIFEST, OpenBackup
from app.storage.usage_ledger import UsageFile, read_ledger
from tests.repeats import tries
from tests.storage.mutated_records import (
    LOST,
    UNKNOWN,
    Place,
    Record,
    Spoilt,
    as_odd_text,
    expected,
    field_of,
    filled,
    path_of,
    spoilt,
    unknown_in,
)
from tests.storage.samples import debate, finished, message

pytestmark = pytest.mark.allow_blocking

BATCHES = tries(2, 100)
IN_BATCH = 50
SEEDS = [pytest.param(number, id=f"seed {number}") for number in range(BATCHES)]
AT = "2026-11-29T10:00:00.000Z"


class QuickDisk(FileSystem):
    """A disk that is not waited for: nothing here is about power cuts."""

    def sync(self, descriptor: int) -> None:
        pass

    def sync_folder(self, path: Path) -> None:
        pass


@pytest.fixture
def paths(data_dir: Path) -> DataPaths:
    paths = DataPaths(data_dir)
    paths.sessions.mkdir(parents=True)
    return paths


def checked_line(text: str) -> bytes:
    """Return a line of a log with the right checksum, whatever it says."""
    rest = text.removeprefix("{").encode()
    return b'{"c":"%08x",%b\n' % (zlib.crc32(rest), rest)


def count(paths: DataPaths) -> JsonLogStore:
    return JsonLogStore(paths, file_system=QuickDisk())


# Messages


def a_message(number: int, chance: random.Random) -> Record:
    """Return a message of any part and role in which every field is set."""
    record: Record = filled(Message, number=number)
    parts = {
        "id": f"m{number}",
        "part": chance.choice(["", *CouncilPart]),
        "role": chance.choice(tuple(Role)),
    }
    prompt = {"answered_by": None, "reason": chance.choice(["", *PromptReason])}
    record |= {**parts, "state": MessageState.DONE.value, "created_at": AT}
    record["prompt"] |= prompt
    return json.loads(json.dumps(record))


def read_as(record: Record, wrong: set[Place]) -> Any:
    """Return the message that a record is to be read as, None for none."""
    if not isinstance(record.get("author"), dict):
        return None
    found = expected(Message, record, wrong)
    if found is LOST:
        return None
    found = replace(found, author=replace(found.author, depth=max(0, min(found.author.depth, MOST_DEPTH))))
    known = found.prompt is None or found.prompt.reason in ("", *PromptReason)
    return found if known or not found.asks else found.dismissed()


@pytest.mark.parametrize("seed", SEEDS)
async def test_messages(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"messages {seed}")
    session = debate("01" + "b" * 24)
    cases = [spoilt(a_message(number, chance), chance) for number in range(IN_BATCH)]
    ops: list[list[Op]] = [[{"op": "session", "patch": json.loads(json.dumps(dataclasses.asdict(session)))}]]
    ops += [[{"op": "message", "message": case.record}] for case in cases]
    path = paths.session(session.id)
    path.write_bytes(b"".join(encode_line(number, case) for number, case in enumerate(ops, 1)))
    wanted: dict[str, Message] = {}
    records: dict[str, Record] = {}
    reported: set[tuple[int, str, str]] = set()
    for line, case in enumerate(cases, 2):
        wrong: set[Place] = set()
        found = read_as(case.record, wrong)
        if found is None:
            reported.add((line, MESSAGE, ""))
            continue
        reported |= {(line, FIELD, path_of(place)) for place in wrong}
        wanted[found.id], records[found.id] = found, case.record
        if not case.places:
            assert wrong == set()
    with path.open("rb") as file:
        assert {(case.line, case.lost, case.detail) for case in faults(file)} == reported
    store = count(paths)
    stored = await store.load(session.id)
    assert {case.id: case for case in stored.messages} == wanted
    for case in stored.messages:
        store.append((finished(session.id, replace(case, content=case.content + "!")),))
    await store.flush(session.id)
    await store.close()
    again: dict[str, Record] = {}
    for data in path.read_bytes().splitlines()[len(ops) :]:
        line_read = decode_line(data)
        assert line_read is not None
        again |= {op["message"]["id"]: op["message"] for op in line_read.ops if op["op"] == "message"}
    assert {case: unknown_in(record) for case, record in again.items()} == {
        case: unknown_in(record) for case, record in records.items()
    }
    later, _ = load_session(QuickDisk(), path, mend=False)
    assert {case.id: case for case in later.messages} == {
        case: replace(found, content=found.content + "!") for case, found in wanted.items()
    }


# Sessions

KINDS: dict[str, type[Session]] = {
    "chat": ChatSession,
    "group": GroupSession,
    "workflow": WorkflowSession,
    "debate": DebateSession,
    "council": DebateSession,
}
PARTS = {
    "debate": ("debate",),
    "chat": ("chat",),
    "group": ("chat", "group"),
    "workflow": ("chat", "workflow"),
}


def a_session(name: str, number: int) -> Record:
    """Return a session of a kind in which every field is set, also those of other kinds."""
    record: Record = filled(KINDS[name], number=number)
    record["debate"]["mode"] = DebateMode.COUNCIL.value if name == "council" else DebateMode.FREE.value
    return record


def session_read_as(session_id: str, record: Record, wrong: set[Place]) -> Session | None:
    """Return the session that a record is to be read as; None for one that is read-only."""
    kind = record.get("kind")
    if not isinstance(kind, str) or kind not in PARTS:
        return None
    others = [case for case in ("debate", "chat", "group", "workflow") if case not in PARTS[kind]]
    own = {key: case for key, case in record.items() if key not in others}
    found = expected(KINDS[kind], {**own, "id": session_id}, wrong)
    return None if found is LOST else found


async def check_session(paths: DataPaths, lines: list[list[Op]], record: Record) -> None:
    """Read a log whose session has come to this record, rename the session, and read it again."""
    session_id = new_id()
    path = paths.session(session_id)
    said = message("said")
    head: Op = {"op": "message", "message": json.loads(json.dumps(dataclasses.asdict(said)))}
    path.write_bytes(b"".join(encode_line(number, ops) for number, ops in enumerate([*lines, [head]], 1)))
    wrong: set[Place] = set()
    wanted = session_read_as(session_id, record, wrong)
    store = count(paths)
    stored = await store.load(session_id)
    assert [case.content for case in stored.messages] == ["said"]
    assert stored.read_only == (wanted is None)
    if wanted is None:
        await store.close()
        return
    assert stored.session == wanted
    assert stored.damaged == bool(wrong)
    with path.open("rb") as file:
        found = [(case.lost, case.detail) for case in faults(file)]
    assert sorted(found) == sorted((SESSION_FIELD, path_of(place)) for place in wrong)
    renamed = replace(stored.session, title="Renamed")
    store.append((SessionChanged(session_id=session_id, session=renamed),))
    await store.flush(session_id)
    await store.close()
    later, replay = load_session(QuickDisk(), path, mend=False)
    assert later.session == renamed
    assert unknown_in(replay.session) == unknown_in(record)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", KINDS)
async def test_sessions(paths: DataPaths, name: str, seed: int) -> None:
    chance = random.Random(f"sessions {name} {seed}")
    for number in range(IN_BATCH):
        case = spoilt(a_session(name, number + 1), chance)
        await check_session(paths, [[{"op": "session", "patch": case.record}]], patched({}, case.record))


def patched(target: Any, patch: Any) -> Any:
    """Return what RFC 7396 says comes of a patch."""
    if not isinstance(patch, dict):
        return patch
    found = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = patched(found.get(key), value)
    return found


@pytest.mark.parametrize("seed", SEEDS)
async def test_session_patches(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"patches {seed}")
    for number in range(IN_BATCH):
        name = chance.choice(sorted(KINDS))
        whole, record = a_session(name, number + 1), {}
        patches = [whole]
        for _ in range(chance.randrange(1, 4)):
            parts = {key: whole[key] for key in chance.sample(sorted(whole), 3)}
            patches.append(spoilt(parts, chance).record)
        for case in patches:
            record = patched(record, case)
        await check_session(paths, [[{"op": "session", "patch": case}] for case in patches], record)


# The other operations of a log


@pytest.mark.parametrize("seed", SEEDS)
def test_operations(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"operations {seed}")
    for number in range(IN_BATCH):
        begun = a_message(number, chance) | {"state": "streaming", "content": "", "thinking": "", "id": "m1"}
        ops: list[Op] = [
            {"op": "head", "version": 1, "min_reader": 1, "id": "s"},
            {"op": "session", "patch": dataclasses.asdict(debate())},
            {"op": "message", "message": dataclasses.asdict(message("before", id="m0"))},
            {"op": "message", "message": begun},
            {"op": "text", "id": "m1", "offset": 0, "text": "one "},
            {"op": "text", "id": "m1", "offset": 4, "text": "two", "thinking_offset": 0, "thinking": "hm"},
            {"op": "remove", "id": "m9"},
            {"op": "message", "message": dataclasses.asdict(message("after", id="m2"))},
        ]
        places = [0, 3, 4, 5, 6]
        place = chance.choice(places)
        ops[place] = spoilt(ops[place], chance, keep=lambda at: at == ("op",)).record
        repeated = chance.random() < 0.3
        numbers = [1, 2, 3, 4, 5, 6, 7, 7] if repeated else range(1, 9)
        data = [encode_line(at, [json.loads(json.dumps(op))]) for at, op in zip(numbers, ops, strict=True)]
        path = paths.session(new_id())
        path.write_bytes(b"".join(data))
        stored, _ = load_session(QuickDisk(), path, mend=True)
        said = {case.id: case.content for case in stored.messages}
        assert said["m0"] == "before" and said["m2"] == "after"
        if place not in (3, 4, 5):
            assert said["m1"] == "one two"


# The usage ledger


def an_entry(number: int) -> Record:
    return filled(UsageEntry, number=number) | {"message_id": f"c{number}", "at": AT}


@pytest.mark.parametrize("seed", SEEDS)
async def test_usage_entries(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"usage {seed}")
    cases = [spoilt(an_entry(number), chance) for number in range(IN_BATCH)]
    data = b"".join(encode_line(0, [{"op": "usage", "usage": case.record}]) for case in cases)
    wanted: dict[str, UsageEntry] = {}
    records: dict[str, Record] = {}
    for case in cases:
        found = expected(UsageEntry, case.record, set())
        if found is not LOST and found.message_id and found.at == AT and (found.cost_usd or 0) >= 0:
            wanted.setdefault(found.message_id, found)
            records.setdefault(found.message_id, case.record)
    assert {case.message_id: case for case in read_ledger(io.BytesIO(data))} == wanted
    # Another program puts the file there while Moot has it open: it is made again of all that is known.
    store = count(paths)
    ledger = UsageFile(paths, store.in_turn, file_system=QuickDisk())
    ledger.add(UsageEntry(message_id="own", at=AT))
    await ledger.entries("2026-11")
    paths.usage.write_bytes(data)
    ledger.add(UsageEntry(message_id="more", at=AT))
    found_all = await ledger.entries("2026-11")
    assert {case.message_id: case for case in found_all if case.message_id in wanted} == wanted
    assert {"own", "more"} <= {case.message_id for case in found_all}
    await ledger.close()
    await store.close()
    again: dict[str, Record] = {}
    for line in map(decode_line, paths.usage.read_bytes().splitlines()):
        assert line is not None
        again |= {op["usage"]["message_id"]: op["usage"] for op in line.ops}
    assert {case: unknown_in(again[case]) for case in records} == {
        case: unknown_in(record) for case, record in records.items()
    }


# Definitions


def spoilt_document(
    record: Record, chance: random.Random, keep: Callable[[Place], bool] = lambda _: False
) -> Spoilt:
    """Return a spoilt record with texts as they are in a document: without control characters."""
    case = spoilt(json.loads(json.dumps(record)), chance, keep)
    return replace(case, record=clean_values(case.record))


DEFINITIONS: dict[str, type[Any]] = {
    "assistants": Agent,
    "groups": Group,
    "workflows": WorkflowDefinition,
    "panels": Panel,
    "journal": Decision,
    "folders": Folder,
    "saved_prompts": SavedPrompt,
}


def a_definition(name: str, number: int) -> Record:
    record: Record = filled(DEFINITIONS[name], number=number + 1) | {"id": f"d{number}"}
    if name == "workflows":
        record["steps"][0]["depends_on"] = []
        record["steps"][1]["depends_on"] = [record["steps"][0]["id"]]
    return record


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", DEFINITIONS)
async def test_definitions(paths: DataPaths, name: str, seed: int) -> None:
    chance = random.Random(f"definitions {name} {seed}")
    folder = paths.root / name
    folder.mkdir()
    cases: dict[str, Spoilt] = {}
    for number in range(IN_BATCH):
        file = f"{number:02}.json"
        cases[file] = spoilt_document(a_definition(name, number), chance)
        (folder / file).write_text(json.dumps(cases[file].record), encoding="utf-8")
    documents = JsonDocuments(paths, file_system=QuickDisk())
    await documents.load()
    store = getattr(documents, name)
    refused: dict[str, set[str]] = {}
    for problem in documents.problems():
        assert problem.line == 1
        refused.setdefault(Path(problem.path).name, set()).add(problem.field)
    read = {case.id: case for case in store.all()}
    for file, case in cases.items():
        wrong: set[Place] = set()
        wanted = expected(DEFINITIONS[name], case.record, wrong)
        if wrong:
            assert refused[file] == {field_of(place) for place in wrong}
        elif file in refused:
            # The types are right, and the value is none that can be used.
            assert refused[file] and case.places, refused[file]
            touched = {place[0] for place in case.places} | (
                {"provider", "model"} if name == "assistants" else set()
            )
            assert {field.partition("[")[0] for field in refused[file]} <= touched
        else:
            assert read[wanted.id] == wanted
    for wanted in read.values():
        file = next(
            file for file, case in cases.items() if file not in refused and case.record["id"] == wanted.id
        )
        saved = await store.change(lambda wanted=wanted: replace(wanted, name=wanted.name + "!"))
        assert saved == replace(wanted, name=wanted.name + "!", version=saved.version)
        assert unknown_in(json.loads((folder / file).read_bytes())) == unknown_in(cases[file].record)
        assert saved.version == (wanted.version + 1 if 0 < wanted.version <= MOST_VERSION else 2)
    for file in refused:
        assert json.loads((folder / file).read_bytes()) == json.loads(json.dumps(cases[file].record))


# Settings, consents, providers, MCP servers, cached models


@pytest.mark.parametrize("seed", SEEDS)
async def test_settings(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"settings {seed}")
    usual = Settings()
    for number in range(IN_BATCH):
        record = filled(Settings, number=number + 1)
        record |= {case: rule.choices[-1] for case, rule in rules().items() if rule.choices}
        case = spoilt_document({**record, "version": 1}, chance, keep=lambda at: at == ("version",))
        paths.settings.write_text(json.dumps(case.record), encoding="utf-8")
        wrong: set[Place] = set()
        wanted = expected(Settings, case.record, wrong)
        fields = {field_of(place) for place in wrong}
        for key, rule in rules().items():
            value = getattr(wanted, key)
            odd = rule.choices and value not in rule.choices
            if odd or (type(value) in (int, float) and not rule.least <= value <= rule.most):
                fields.add(key)
                wanted = replace(wanted, **{key: getattr(usual, key)})
        documents = JsonDocuments(paths, file_system=QuickDisk())
        await documents.load()
        assert documents.settings() == wanted
        assert {problem.field for problem in documents.problems()} == fields
        await documents.change_settings(lambda settings: replace(settings, tray=not settings.tray))
        assert unknown_in(json.loads(paths.settings.read_bytes())) == unknown_in(
            {key: value for key, value in case.record.items() if key.startswith(UNKNOWN)}
        )
        again = JsonDocuments(paths, file_system=QuickDisk())
        again.load_settings()
        assert again.settings() == replace(wanted, tray=not wanted.tray) and again.problems() == ()


@pytest.mark.parametrize("seed", SEEDS)
async def test_consents(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"consents {seed}")
    for _ in range(IN_BATCH):
        record = {"version": 1, "consents": ["a" * 8, "b" * 8, "c" * 8]}
        case = spoilt_document(record, chance, keep=lambda at: at == ("version",))
        paths.consents.write_text(json.dumps(case.record), encoding="utf-8")
        documents = JsonDocuments(paths, file_system=QuickDisk())
        await documents.load()
        found = case.record.get("consents")
        texts = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
        assert documents.consents() == {*texts}
        whole = isinstance(found, list) and len(texts) == len(found)
        assert bool(documents.problems()) == (not whole and "consents" in case.record)
        await documents.change_consents(lambda consents: consents | {"d" * 8})
        assert unknown_in(json.loads(paths.consents.read_bytes())) == unknown_in(
            {key: value for key, value in case.record.items() if key.startswith(UNKNOWN)}
        )


def a_provider(number: int) -> Record:
    named = {
        "id": f"p{number}",
        "kind": "openai-compatible",
        "base_url": f"http://127.0.0.1:{9000 + number}/v1",
    }
    return filled(ProviderConfig, number=number + 1) | named


@pytest.mark.parametrize("seed", SEEDS)
async def test_providers(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"providers {seed}")
    for _ in range(IN_BATCH):
        entries: list[Any] = [a_provider(number) for number in range(3)]
        entries[1] = spoilt_document(entries[1], chance)
        spoilt_one = entries[1]
        entries[1] = spoilt_one.record
        paths.providers.write_text(json.dumps({"version": 1, "providers": entries, UNKNOWN: [1]}))
        documents = JsonDocuments(paths, file_system=QuickDisk())
        await documents.load()
        found = {case.id: case for case in documents.providers()}
        for number in (0, 2):
            assert found[f"p{number}"] == expected(ProviderConfig, entries[number], set())
        wrong: set[Place] = set()
        wanted = expected(ProviderConfig, entries[1], wrong)
        problems = {problem.field for problem in documents.problems()}
        if wrong:
            assert problems == {field_of(("providers", 1, *place)) for place in wrong}
        elif problems:
            assert {case.split(".")[1] for case in problems} <= {str(place[0]) for place in spoilt_one.places}
        else:
            assert found[wanted.id] == wanted
        await documents.change_providers(
            lambda providers: tuple(replace(case, label=case.label + "!") for case in providers)
        )
        after = json.loads(paths.providers.read_bytes())
        assert after[UNKNOWN] == [1] and len(after["providers"]) == 3
        if problems:
            assert json.loads(json.dumps(entries[1])) in after["providers"]
        else:
            [entry] = [case for case in after["providers"] if case["id"] == wanted.id]
            assert unknown_in(entry) == unknown_in(entries[1]) and entry["label"] == wanted.label + "!"


@pytest.mark.parametrize("seed", SEEDS)
async def test_servers(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"servers {seed}")
    for number in range(IN_BATCH):
        by_command = {
            "command": "srv",
            "args": ["a", "b"],
            "env": {"A": "${A}"},
            "disabled": True,
            "type": "stdio",
        }
        by_address = {"url": "http://127.0.0.1:9/mcp", "headers": {"X-A": "${A}"}, "type": "http"}
        record = by_command if number % 2 else by_address
        case = spoilt_document(record, chance)
        servers = {"first": by_command, "odd": case.record, "last": by_address}
        paths.mcp.write_text(json.dumps({"mcpServers": servers, UNKNOWN: {"a": 1}}))
        documents = JsonDocuments(paths, file_system=QuickDisk())
        await documents.load()
        found = {each.name: each for each in documents.mcp_servers()}
        assert (found["first"].command, found["first"].args) == ("srv", ("a", "b"))
        assert found["last"].url == "http://127.0.0.1:9/mcp"
        problems = {problem.field for problem in documents.problems()}
        assert bool(problems) == ("odd" not in found)
        assert all(field.startswith("mcpServers.odd") for field in problems)
        if "odd" in found:
            same = {key for key in record if not any(place[0] == key for place in case.places)}
            texts = {key: value for key, value in record.items() if isinstance(value, str)}
            assert all(getattr(found["odd"], key) == texts[key] for key in same & texts.keys() - {"type"})
        await documents.change_mcp_servers(
            lambda servers: tuple(replace(each, disabled=not each.disabled) for each in servers)
        )
        after = json.loads(paths.mcp.read_bytes())
        assert after[UNKNOWN] == {"a": 1}
        if problems:
            assert after["mcpServers"]["odd"] == json.loads(json.dumps(case.record))
        top = (
            {key for key in case.record if key.startswith(UNKNOWN)}
            if isinstance(case.record, dict)
            else set()
        )
        assert top <= after["mcpServers"]["odd"].keys()


@pytest.mark.parametrize("seed", SEEDS)
async def test_cached_models(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"models {seed}")
    kinds: dict[str, type[Any]] = {"lists": ModelList, "facts": KnownFacts, "quirks": KnownQuirks}
    for number in range(IN_BATCH):
        record = {name: [filled(kind, number=place) for place in (1, 2)] for name, kind in kinds.items()}
        case = spoilt_document({"version": 1, **record}, chance).record
        paths.models.write_text(json.dumps(case))
        documents = JsonDocuments(paths, file_system=QuickDisk())
        await documents.load()
        known = documents.known_models()
        read = {"lists": documents.model_lists(), "facts": known.facts, "quirks": known.quirks}
        for name, kind in kinds.items():
            entries = case.get(name) if isinstance(case.get(name), list) else []
            wanted = []
            for entry in entries:
                wrong: set[Place] = set()
                found = expected(kind, entry, wrong)
                wanted += [] if wrong else [found]
            assert read[name] == tuple(wanted)
        for facts in known.facts:
            believed([facts.facts], local=bool(number % 2))


# Drafts, the index, backups, commands


@pytest.mark.parametrize("seed", SEEDS)
async def test_drafts(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"drafts {seed}")
    cases = {
        f"d{number}": spoilt_document({"version": 1, **filled(Draft, number=number)}, chance)
        for number in range(IN_BATCH)
    }
    paths.drafts.mkdir()
    for name, case in cases.items():
        paths.draft(name).write_text(json.dumps(case.record), encoding="utf-8")
    folder = DraftFolder(paths, file_system=QuickDisk())
    found = await folder.load()
    problems = {Path(problem.path).stem: problem for problem in folder.problems()}
    changed: dict[str, Draft] = {}
    for name, case in cases.items():
        wrong: set[Place] = set()
        wanted = expected(Draft, case.record, wrong)
        version = case.record.get("version", 1)
        if wrong or type(version) is not int or version > 1:
            assert name in problems and name not in found
            kept = [path for path in paths.quarantine.iterdir() if path.name.startswith(f"{name}.json.")]
            assert [json.loads(path.read_bytes()) for path in kept] == [json.loads(json.dumps(case.record))]
            continue
        assert found[name] == wanted and name not in problems
        changed[name] = replace(wanted, text=wanted.text + "!")
        await folder.save(name, changed[name])
        assert unknown_in(json.loads(paths.draft(name).read_bytes())) == unknown_in(case.record)
    assert await folder.load() == changed


@pytest.mark.parametrize("seed", SEEDS)
async def test_index_entries(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"index {seed}")
    store = count(paths)
    for number in range(3):
        session = debate(title=f"T{number}")
        store.append(
            (SessionChanged(session_id=session.id, session=session), finished(session.id, message("x")))
        )
    await store.close()
    disk = QuickDisk()
    index, _ = load_index(disk, paths)
    save_index(disk, paths, index)
    line = decode_line(paths.index.read_bytes().rstrip(b"\n"))
    assert line is not None and len(index.summaries) == 3
    for _ in range(IN_BATCH):
        case = spoilt({"sessions": line.ops[0]["sessions"]}, chance).record
        paths.index.write_bytes(encode_line(1, [{**line.ops[0], **case}]))
        found, _ = load_index(disk, paths)
        assert found.summaries.keys() == index.summaries.keys()
        rows = case.get("sessions") if isinstance(case.get("sessions"), list) else []
        for session_id, summary in found.summaries.items():
            types = typing.get_type_hints(type(summary))
            assert all(_is_of(types[key], value) for key, value in summary._asdict().items())
            row = next((row for row in rows if isinstance(row, list) and row and row[0] == session_id), [])
            if summary != index.summaries[session_id]:
                # What is of the right type cannot be told from what was there.
                assert len(row) == len(summary) + 2
        again = count(paths)
        await again.open()
        assert {each.id for each in again.summaries()} == index.summaries.keys()
        await again.close()


def _is_of(hint: Any, value: object) -> bool:
    if typing.get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(isinstance(case, str) for case in value)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


@pytest.mark.parametrize("seed", SEEDS)
def test_manifests(paths: DataPaths, tmp_path: Path, seed: int) -> None:
    chance = random.Random(f"manifests {seed}")
    sound = {"version": 1, "made_at": AT, "why": "daily", "schema": 1, "state": "x", "files": 1}
    for _ in range(IN_BATCH):
        case = spoilt(sound, chance)
        packed = tmp_path / "b.zip"
        with zipfile.ZipFile(packed, "w") as file:
            file.writestr("settings.json", "{}")
            file.writestr(MANIFEST, json.dumps(case.record))
        touched = {place[0] for place in case.places}
        backup = None
        with contextlib.suppress(BadInput):
            backup = OpenBackup(paths, QuickDisk(), packed)
        if backup is None:
            assert touched & {"version", "made_at", "why", "files", "schema"}
            continue
        assert "made_at" in touched or backup.backup.made_at == AT
        assert "why" in touched or backup.backup.why == "daily"
        backup.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_commands(seed: int) -> None:
    chance = random.Random(f"commands {seed}")
    own = [(name, type(default)) for name, default in Arguments().to_json().items()]
    taken = [(name, kind) for name, kind, _ in parameters_of("debate", "")]
    debate_record = dataclasses.make_dataclass(
        "DebateRecord", [(name, kind, dataclasses.field(default=None)) for name, kind in (*own, *taken)]
    )
    chosen = {"command": "debate", "caller": ""}
    for number in range(IN_BATCH):
        sound = filled(debate_record, number=number + 1) | chosen
        assert Arguments.from_json(sound).to_json() == json.loads(json.dumps(sound)) | {
            key: tuple(value) for key, value in sound.items() if isinstance(value, list)
        }
        case = spoilt(sound, chance, keep=lambda place: place[0] in chosen)
        with pytest.raises(ValueError):  # noqa: PT011  # it has no other text than what is wrong
            Arguments.from_json(case.record)
        known = {key: value for key, value in case.record.items() if not key.startswith(UNKNOWN)}
        wrong: set[Place] = set()
        wanted = expected(debate_record, known, wrong)
        if wrong:
            with pytest.raises(
                ValueError, match=path_of(min(wrong, key=str)).replace("$", r"\$").partition("[")[0]
            ):
                Arguments.from_json(known)
        elif unknown_in(known) == []:
            assert (
                Arguments.from_json(known).to_json().items()
                >= {key: getattr(wanted, key) for key in known}.items()
            )


# Text that most readers stumble over


@pytest.mark.parametrize("seed", SEEDS)
def test_odd_text_in_logs(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"odd logs {seed}")
    path = paths.session(new_id())
    data = [encode_line(1, [{"op": "session", "patch": dataclasses.asdict(debate())}])]
    for number in range(1, IN_BATCH + 1):
        odd = as_odd_text(
            {"q": 2 * number, "ops": [{"op": "message", "message": a_message(number, chance)}]}, chance
        )
        sound: Op = {"op": "message", "message": dataclasses.asdict(message(f"good {number}"))}
        data += [checked_line(odd), encode_line(2 * number + 1, [sound])]
    path.write_bytes(b"".join(data))
    stored, _ = load_session(QuickDisk(), path, mend=True)
    said = [case.content for case in stored.messages if case.content.startswith("good")]
    assert said == [f"good {number}" for number in range(1, IN_BATCH + 1)]
    with path.open("rb") as file:
        assert sum(case.lost != FIELD for case in faults(file)) <= 2 * IN_BATCH


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "name", ["settings.json", "providers.json", "mcp.json", "consents.json", *DEFINITIONS]
)
async def test_odd_text_in_documents(paths: DataPaths, name: str, seed: int) -> None:
    chance = random.Random(f"odd documents {name} {seed}")
    records: dict[str, Callable[[], Record]] = {
        "settings.json": lambda: {"version": 1, **filled(Settings)},
        "providers.json": lambda: {"version": 1, "providers": [a_provider(1)]},
        "mcp.json": lambda: {"mcpServers": {"a": {"command": "srv"}}},
        "consents.json": lambda: {"version": 1, "consents": ["a"]},
    }
    folder = paths.root / "assistants"
    folder.mkdir(exist_ok=True)
    (folder / "good.json").write_text('{"id": "good", "name": "Good"}')
    for _ in range(max(1, IN_BATCH // 5)):
        path = paths.root / name if name in records else paths.root / name / "odd.json"
        path.parent.mkdir(exist_ok=True)
        record = records[name]() if name in records else a_definition(name, 1)
        text = as_odd_text(record, chance)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        documents = JsonDocuments(paths, file_system=QuickDisk())
        await documents.load()
        assert "good" in [case.id for case in documents.assistants.all()]
        for problem in documents.problems():
            assert problem.path == str(path) and len(problem.detail) < 500
        assert path.read_bytes().decode("utf-8", "surrogatepass") == text


@pytest.mark.parametrize("seed", SEEDS)
async def test_odd_text_in_drafts(paths: DataPaths, seed: int) -> None:
    chance = random.Random(f"odd drafts {seed}")
    paths.drafts.mkdir()
    texts = {f"d{number}": as_odd_text({"version": 1, **filled(Draft)}, chance) for number in range(IN_BATCH)}
    for name, text in texts.items():
        paths.draft(name).write_text(text, encoding="utf-8")
    folder = DraftFolder(paths, file_system=QuickDisk())
    found = await folder.load()
    assert {*found} | {Path(case.path).stem for case in folder.problems()} == {*texts}
    for name, draft in found.items():
        await folder.save(name, replace(draft, text="new"))
    again = await DraftFolder(paths, file_system=QuickDisk()).load()
    assert {name: draft.text for name, draft in again.items()} == dict.fromkeys(found, "new")
