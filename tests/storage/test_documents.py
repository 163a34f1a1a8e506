"""Settings, providers and assistants on a real disk: rows 15 and 17 to 35 of the corpus of bad inputs."""

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.catalog import ModelList, ProviderConfig
from app.core.errors import StorageError
from app.core.servers import McpServer, is_web_address
from app.core.session import Folder
from app.core.settings import Settings
from app.storage.documents import JsonDocuments
from tests.storage.samples import loaded

pytestmark = pytest.mark.usefixtures("folder")

GOOD = {"id": "openai", "kind": "openai", "models": ["gpt-5.2"], "enabled": True}


def _write(path: Path, value: object) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value, indent=1).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return data


async def test_without_files_there_are_defaults_and_nothing_is_written(paths):
    documents = await loaded(paths)
    assert documents.settings() == Settings()
    assert [one.id for one in documents.providers()] == [
        "openai",
        "anthropic",
        "gemini",
        "ollama",
        "embedded",
    ]
    assert (documents.assistants.all(), documents.problems()) == ((), ())
    assert list(paths.root.iterdir()) == []


async def test_settings_are_kept_with_a_previous_copy_and_unknown_fields(paths):
    _write(paths.settings, {"version": 1, "language": "ko", "of_tomorrow": {"a": [1]}})
    documents = await loaded(paths)
    assert documents.settings().language == "ko"
    await documents.change_settings(lambda _: Settings(theme="dark", project_context=("a.md",)))
    again = await loaded(paths)
    assert again.settings() == Settings(theme="dark", project_context=("a.md",))
    assert json.loads(paths.settings.read_bytes())["of_tomorrow"] == {"a": [1]}
    assert json.loads((paths.root / "settings.json.bak").read_bytes())["language"] == "ko"
    assert paths.settings.stat().st_mode & 0o777 == 0o600


async def test_settings_that_cannot_be_read_are_set_aside_and_the_previous_copy_is_used(paths):
    documents = await loaded(paths)
    await documents.change_settings(lambda _: Settings(theme="dark"))
    await documents.change_settings(lambda _: Settings(theme="light"))
    _write(paths.settings, b'{"version": 1, "theme": "li')
    again = await loaded(paths)
    assert again.settings() == Settings(theme="dark")
    assert [one.code for one in again.problems()] == ["not_json", "previous_used"]
    assert not paths.quarantine.exists()
    await again.change_settings(lambda _: Settings(language="en"))
    [kept] = paths.quarantine.iterdir()
    assert kept.read_bytes() == b'{"version": 1, "theme": "li'
    assert (await loaded(paths)).settings() == Settings(language="en")


async def test_a_setting_of_the_wrong_kind_is_reported_and_the_others_hold(paths):
    _write(paths.settings, b'{"version": 1,\n "language": 7,\n "theme": "dark",\n "project_context": [1]}')
    documents = await loaded(paths)
    assert documents.settings() == Settings(theme="dark")
    assert [(one.code, one.line, one.field) for one in documents.problems()] == [
        ("wrong_type", 2, "language"),
        ("wrong_type", 4, "project_context[0]"),
    ]


async def test_limits_are_numbers_that_make_sense(paths):
    fine = {
        "max_cost_usd": 3,
        "max_model_calls": 0,
        "max_minutes": 7,
        "search_engine": "http://127.0.0.1:8888",
    }
    _write(paths.settings, {**fine, "assistant_order": ["b", "a"]})
    documents = await loaded(paths)
    found = documents.settings()
    assert documents.problems() == ()
    assert (found.max_cost_usd, type(found.max_cost_usd)) == (3.0, float)
    assert (found.max_model_calls, found.max_minutes) == (0, 7)
    assert found.assistant_order == ("b", "a")
    await documents.change_settings(lambda _: found)
    assert (await loaded(paths)).settings() == found


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("max_model_calls", -1, "bad_number"),
        ("max_model_calls", 10**200, "bad_number"),
        ("max_cost_usd", -0.01, "bad_number"),
        ("max_model_calls", 1.5, "wrong_type"),
        ("max_model_calls", True, "wrong_type"),
        ("max_cost_usd", "2", "wrong_type"),
        ("max_cost_usd", None, "wrong_type"),
        ("assistant_order", "a", "wrong_type"),
        ("search_engine", 1, "wrong_type"),
    ],
)
async def test_a_limit_that_makes_no_sense_is_named_and_the_default_holds(paths, name, value, code):
    _write(paths.settings, {"version": 1, "theme": "dark", name: value})
    documents = await loaded(paths)
    assert [(one.code, one.field, one.line) for one in documents.problems()] == [(code, name, 4)]
    assert documents.settings() == Settings(theme="dark")


@pytest.mark.corpus(13)
async def test_settings_of_a_newer_version_are_not_overwritten(paths):
    data = _write(paths.settings, {"version": 2, "theme": "dark"})
    documents = await loaded(paths)
    assert documents.settings().theme == "dark"
    with pytest.raises(StorageError, match="newer_version"):
        await documents.change_settings(lambda _: Settings())
    assert paths.settings.read_bytes() == data


UNREADABLE = {
    "empty": (b"", "empty", None),
    "blank": (b" \n\n", "empty", None),
    "nuls": (bytes(64), "empty", None),
    "nul inside": (b'{"version": 1,\n"providers": \0[]}', "encoding", 2),
    "utf-16": ('{"version": 1}'.encode("utf-16"), "encoding", None),
    "latin-1": (b'{"version": 1,\n\n"x": "\xe9"}', "encoding", 3),
    "truncated": (b'{"version": 1,\n"providers": [{"id"', "not_json", 2),
    "trailing": (b'{"providers": []}\n{"a": 1}', "not_json", 2),
    "null": (b"null", "not_an_object", 1),
    "list": (b"[]", "not_an_object", 1),
    "text": (b'"x"', "not_an_object", 1),
    "deep": (b'{"x":\n' + b"[" * 100_000, "too_deep", 2),
    "deep and whole": (b'{"x":' + b"[" * 500 + b"]" * 500 + b"}", "too_deep", 1),
    "5,000 digits": (b'{"version":\n' + b"9" * 5_000 + b"}", "bad_number", 2),
    "1M digits": (b'{"version": ' + b"9" * 1_000_000 + b"}", "bad_number", 1),
    "NaN": (b'{"version": 1,\n"x": [NaN]}', "bad_number", 2),
    "Infinity": (b'{"x": -Infinity}', "bad_number", 1),
    "1e999": (b'{"x": 1e999}', "bad_number", 1),
    "twins": (b'{"version": 1,\n"providers": [],\n"providers": []}', "duplicate_key", 3),
    "twins inside": (b'{"providers": [{"id": "a",\n"id": "b"}]}', "duplicate_key", 2),
    "6 MB": (b'{"x": "' + b"a" * 6_000_000 + b'"}', "too_large", None),
}


@pytest.mark.parametrize(("data", "code", "line"), UNREADABLE.values(), ids=list(UNREADABLE))
@pytest.mark.parametrize("name", ["providers.json", "assistants/ada.json"])
async def test_a_hand_written_file_that_cannot_be_read_is_reported_and_never_touched(
    paths, name, data, code, line
):
    path = paths.root / name
    _write(path, data)
    _write(
        paths.root / "assistants" / "ben.json",
        {"id": "ben", "name": "Ben", "provider": "ollama", "model": "llama3.2"},
    )
    documents = await loaded(paths)
    [problem] = documents.problems()
    assert (problem.path, problem.code) == (str(path), code)
    assert line is None or problem.line == line
    assert [agent.id for agent in documents.assistants.all()] == ["ben"]
    if name == "providers.json":
        with pytest.raises(StorageError, match="unreadable_file"):
            await documents.change_providers(lambda _: (ProviderConfig(id="x", kind="openai"),))
    await documents.change_settings(lambda _: Settings(theme="dark"))
    assert path.read_bytes() == data


ODD_BUT_FINE = {
    "BOM": b"\xef\xbb\xbf" + json.dumps({"providers": [GOOD]}).encode(),
    "CRLF": json.dumps({"providers": [GOOD]}, indent=1).replace("\n", "\r\n").encode(),
    "no version": json.dumps({"providers": [GOOD]}).encode(),
    "surrogate": b'{"x": "\\ud800", "providers": [' + json.dumps(GOOD).encode() + b"]}",
    "NUL in a key": b'{"\\u0000": 1, "providers": [' + json.dumps(GOOD).encode() + b"]}",
    "separators": '{"\u2028": "\u2029\u0085", "providers": ['.encode() + json.dumps(GOOD).encode() + b"]}",
    "unknown fields": json.dumps({"providers": [{**GOOD, "of_tomorrow": {"a": 1}}], "b": 2}).encode(),
}


@pytest.mark.parametrize("data", ODD_BUT_FINE.values(), ids=list(ODD_BUT_FINE))
async def test_what_is_odd_but_clear_is_taken_and_survives_a_save(paths, data):
    _write(paths.providers, data)
    documents = await loaded(paths)
    assert documents.problems() == ()
    [config] = documents.providers()
    assert config == ProviderConfig(id="openai", kind="openai", models=("gpt-5.2",))
    before = json.loads(data.decode("utf-8-sig"))
    await documents.change_providers(lambda _: (ProviderConfig(id="openai", kind="openai", enabled=False),))
    after = json.loads(paths.providers.read_bytes())
    assert after["providers"][0]["enabled"] is False
    assert after["providers"][0]["models"] == []
    assert len(after) >= len(before)
    assert after["providers"][0].keys() >= before["providers"][0].keys()
    assert (paths.root / "providers.json.bak").read_bytes() == data


FAULTS = [
    ({"kind": "openai"}, "missing", "id"),
    ({"id": 7, "kind": "openai"}, "wrong_type", "id"),
    ({"id": "a", "kind": "skynet"}, "unknown_kind", "kind"),
    ({"id": "../../x", "kind": "openai"}, "bad_id", "id"),
    ({"id": "a:b", "kind": "openai"}, "bad_id", "id"),
    ({"id": "a\n", "kind": "openai"}, "bad_id", "id"),
    ({"id": "trailing.", "kind": "openai"}, "bad_id", "id"),
    ({"id": "가" * 300, "kind": "openai"}, "bad_id", "id"),
    ({"id": "a", "kind": "openai", "base_url": "ftp://x"}, "bad_url", "base_url"),
    ({"id": "a", "kind": "openai", "base_url": "not a url"}, "bad_url", "base_url"),
    ({"id": "a", "kind": "openai", "base_url": "https://u:canary@h/v1"}, "key_in_url", "base_url"),
    ({"id": "a", "kind": "openai", "base_url": "https://h/v1?api_key=canary"}, "key_in_url", "base_url"),
    ({"id": "a", "kind": "openai", "models": "gpt"}, "wrong_type", "models"),
    ({"id": "a", "kind": "openai", "models": [1]}, "wrong_type", "models[0]"),
    ({"id": "a", "kind": "openai", "enabled": "yes"}, "wrong_type", "enabled"),
    ({"id": "openai", "kind": "openai"}, "duplicate_id", "id"),
    ("a string", "wrong_type", ""),
    (None, "wrong_type", ""),
]


@pytest.mark.parametrize(("entry", "code", "field"), FAULTS)
async def test_a_bad_entry_is_named_by_field_and_kept_through_a_save(paths, entry, code, field):
    _write(paths.providers, {"version": 1, "providers": [GOOD, entry]})
    documents = await loaded(paths)
    usable = ["openai"] if code != "duplicate_id" else []
    assert _usable(documents) == usable
    [problem] = documents.problems()
    assert problem in map(documents.provider_problem, [one.id for one in documents.providers()])
    assert problem.code == code
    assert problem.field == ("providers[1]" + (f".{field}" if field else ""))
    assert problem.line is not None
    assert problem.line >= 10
    await documents.change_providers(lambda known: (*known, ProviderConfig(id="new", kind="ollama")))
    assert entry in json.loads(paths.providers.read_bytes())["providers"]
    assert _usable(await loaded(paths)) == [*usable, "new"]


def _usable(documents):
    return [one.id for one in documents.providers() if documents.provider_problem(one.id) is None]


async def test_a_provider_is_added_changed_and_removed(paths):
    documents = await loaded(paths)
    two = (ProviderConfig(id="a", kind="openai"), ProviderConfig(id="b", kind="ollama", label="B"))
    await documents.change_providers(lambda _: two)
    assert documents.providers() == two
    await documents.change_providers(lambda _: two[1:])
    assert (await loaded(paths)).providers() == two[1:]


async def test_an_edit_made_since_is_not_lost(paths):
    _write(paths.providers, {"providers": [GOOD]})
    documents = await loaded(paths)
    _write(paths.providers, {"providers": [{**GOOD, "note": "mine"}], "extra": 1})
    await documents.change_providers(lambda _: documents.providers())
    after = json.loads(paths.providers.read_bytes())
    assert (after["providers"][0]["note"], after["extra"]) == ("mine", 1)


@pytest.mark.corpus(15)
async def test_a_folder_in_the_place_of_a_file_is_reported(paths):
    paths.providers.mkdir()
    paths.settings.mkdir()
    (paths.root / "assistants" / "x.json").mkdir(parents=True)
    documents = await loaded(paths)
    assert {one.code for one in documents.problems()} >= {"not_a_file"}
    assert documents.settings() == Settings()


@pytest.mark.corpus(15)
async def test_a_link_to_a_file_of_the_users_is_followed_and_kept(paths, tmp_path):
    target = tmp_path / "dotfiles.json"
    _write(target, {"providers": [GOOD]})
    paths.providers.symlink_to(target)
    documents = await loaded(paths)
    await documents.change_providers(lambda _: (ProviderConfig(id="openai", kind="openai", label="mine"),))
    assert paths.providers.is_symlink()
    assert json.loads(target.read_bytes())["providers"][0]["label"] == "mine"


async def test_assistants_are_read_and_twins_reported(paths):
    whole = {
        "version": 1,
        "id": "architect",
        "name": "Architect",
        "provider": "anthropic",
        "model": "claude-opus-4-5",
        "tools": ["planning"],
        "busy": {"strategy": "wait", "timeout_s": 60},
        "of_tomorrow": 1,
    }
    _write(paths.root / "assistants" / "architect.json", whole)
    _write(paths.root / "assistants" / "b.json", {**whole, "id": "ARCHITECT"})
    _write(paths.root / "assistants" / "c.json", {**whole, "id": "caf\u00e9"})
    _write(paths.root / "assistants" / "d.json", {**whole, "id": "cafe\u0301"})
    _write(paths.root / "assistants" / "e.json", {**whole, "id": "e", "model": " "})
    _write(paths.root / "assistants" / "f.json", {**whole, "id": "f", "busy": {"strategy": 1}})
    _write(paths.root / "assistants" / "g.json", {**whole, "id": "g", "version": 0})
    documents = await loaded(paths)
    assert [one.id for one in documents.assistants.all()] == ["architect", "caf\u00e9"]
    assert documents.assistants.all()[0].busy is not None
    assert [(Path(one.path).name, one.code, one.field) for one in documents.problems()] == [
        ("b.json", "duplicate_id", "id"),
        ("d.json", "bad_id", "id"),
        ("e.json", "missing", "model"),
        ("f.json", "wrong_type", "busy.strategy"),
        ("g.json", "bad_number", "version"),
    ]


async def test_a_full_disk_leaves_the_old_settings(paths):
    from tests.storage.sim_fs import SimFS

    documents = await loaded(paths)
    await documents.change_settings(lambda _: Settings(theme="dark"))
    full = JsonDocuments(paths, file_system=_full(SimFS()))
    with pytest.raises(StorageError, match="disk_full"):
        await full.change_settings(lambda _: Settings(theme="light"))
    assert full.settings() == Settings()
    assert (await loaded(paths)).settings().theme == "dark"


def _full(disk):
    disk.fault = lambda call, name, path: OSError(28, "No space left on device") if name == "write" else None
    return disk


@pytest.mark.parametrize("text", ["http://127.0.0.1:8080/v1", "https://api.example.com", "http://[::1]:1/v1"])
def test_web_addresses(text):
    assert is_web_address(text)


@pytest.mark.parametrize(
    "text",
    ["", "x", "//x", "file:///etc", "http://", "http://a b", "http://u:p@x", "http://x:99999", "http://[x"],
)
def test_what_is_no_web_address(text):
    assert not is_web_address(text)


def _server(name: str) -> McpServer:
    return McpServer(name=name, command="x")


@pytest.mark.parametrize("kind", ["settings", "providers", "model_lists", "mcp_servers", "consents"])
async def test_changes_at_once_are_all_kept(paths, kind):
    changes: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "settings": (lambda now: replace(now, theme="dark"), lambda now: replace(now, language="ko")),
        "providers": tuple(lambda now, x=x: (*now, ProviderConfig(id=x, kind="ollama")) for x in "ab"),
        "model_lists": tuple(
            lambda now, x=x: (*now, ModelList(provider=x, fetched_at="2026-01-01T00:00:00Z", models=("m",)))
            for x in "ab"
        ),
        "mcp_servers": tuple(lambda now, x=x: (*now, _server(x)) for x in "ab"),
        "consents": tuple(lambda now, x=x: now | {x} for x in "ab"),
    }
    first, second = changes[kind]
    documents = await loaded(paths)
    wanted = second(first(getattr(documents, kind)()))
    began, goes_on = threading.Event(), threading.Event()

    def slow(now):
        # Settings are changed once more, at once, where they are used.
        if threading.current_thread() is not threading.main_thread():
            began.set()
            assert goes_on.wait(60)
        return first(now)

    change = getattr(documents, f"change_{kind}")
    running = [asyncio.create_task(change(slow))]
    await asyncio.to_thread(began.wait)
    running.append(asyncio.create_task(change(second)))
    await asyncio.sleep(0)
    goes_on.set()
    await asyncio.gather(*running)
    assert getattr(documents, kind)() == wanted
    assert getattr(await loaded(paths), kind)() == wanted


async def test_changes_are_made_in_the_order_in_which_they_came(paths):
    documents = await loaded(paths)
    names = [str(number) for number in range(30)]
    await asyncio.gather(
        *(
            documents.change_settings(lambda now, name=name: replace(now, tools_off=(*now.tools_off, name)))
            for name in names
        )
    )
    assert (await loaded(paths)).settings().tools_off == tuple(names)


async def test_definitions_changed_at_once_keep_both_changes(paths):
    documents = await loaded(paths)
    folders = documents.folders
    await folders.change(lambda: Folder(id="a", name="A"))
    await asyncio.gather(
        folders.change(lambda: replace(folders.all()[0], name="B")),
        folders.change(lambda: replace(folders.all()[0], instructions="short")),
    )
    assert [(one.name, one.instructions) for one in (await loaded(paths)).folders.all()] == [("B", "short")]
