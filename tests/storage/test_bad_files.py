"""Files in the data directory that are damaged, foreign or newer: rows 1 to 16, 27 to 36 and 64."""

import asyncio
from pathlib import Path

import pytest

from app.core.errors import NotFound, StorageError
from app.core.ids import new_id
from app.storage.codec import plain
from app.storage.lines import READER, encode_line
from app.storage.sessions import JsonLogStore
from tests.storage.samples import (
    changed,
    finished,
    loaded,
    log_bytes,
    log_file,
    message,
    new_store,
    reopened,
    saved,
)


@pytest.mark.threat("T16")
@pytest.mark.corpus(27, 28, 29, 30, 31, 32, 33)
@pytest.mark.parametrize(
    "session_id",
    [
        "../../x",
        "/etc/passwd",
        "C:\\x",
        "\\\\host\\share",
        "CON",
        "nul.json",
        "x.",
        "a:b",
        "가" * 100,
        "",
        "x\ny",
    ],
)
async def test_a_name_that_is_no_id_never_becomes_a_path(store, session_id):
    with pytest.raises(NotFound):
        await store.load(session_id)
    with pytest.raises(NotFound):
        store.tail(session_id, 3)
    with pytest.raises(NotFound):
        await store.delete(session_id)
    with pytest.raises(NotFound):
        await store.restore(session_id)


@pytest.mark.corpus(2, 10)
@pytest.mark.parametrize(
    "data", [bytes(4_096), log_bytes().decode().encode("utf-16"), b"\xff\xfe\0", b"{}\n", b"not a log\n" * 3]
)
async def test_a_file_that_is_no_log_is_listed_as_damaged_and_left_alone(paths, data):
    session_id = log_file(paths, data)
    good = log_file(paths, log_bytes())
    store = JsonLogStore(paths)
    await store.open()
    listed = {one.id: one for one in store.summaries()}
    assert listed[good].status == "paused"
    if session_id in listed:
        assert (listed[session_id].status, listed[session_id].read_only) == ("error", True)
    stored = await store.load(session_id)
    assert stored.read_only
    await store.close()
    assert paths.session(session_id).read_bytes() == data


@pytest.mark.corpus(1)
async def test_an_empty_file_is_no_session(paths):
    session_id = log_file(paths, b"")
    store = JsonLogStore(paths)
    await store.open()
    assert store.summaries() == []
    assert (await store.load(session_id)).read_only
    await store.close()


@pytest.mark.corpus(13)
async def test_a_file_of_a_newer_version_is_read_and_never_changed(paths):
    data = log_bytes(min_reader=READER + 1) + b'{"torn'
    session_id = log_file(paths, data)
    store = JsonLogStore(paths)
    stored = await store.load(session_id)
    assert stored.read_only
    assert [one.content for one in stored.messages] == ["said"]
    store.append((finished(session_id, message("no")),))
    with pytest.raises(StorageError, match="newer_version"):
        await store.flush(session_id)
    await asyncio.gather(store.close(), return_exceptions=True)
    assert paths.session(session_id).read_bytes() == data


@pytest.mark.corpus(13)
async def test_a_newer_file_that_was_never_loaded_is_not_changed_either(paths):
    data = log_bytes(min_reader=READER + 1)
    session_id = log_file(paths, data)
    store = JsonLogStore(paths)
    store.append((finished(session_id, message("no")),))
    with pytest.raises(StorageError, match="newer_version"):
        await store.flush(session_id)
    await asyncio.gather(store.close(), return_exceptions=True)
    assert paths.session(session_id).read_bytes() == data


@pytest.mark.corpus(14)
async def test_unknown_kinds_are_read_only_and_unknown_fields_survive(paths):
    strange = log_file(paths, log_bytes(kind="kind of tomorrow"))
    known = log_file(paths, log_bytes())
    store = JsonLogStore(paths)
    assert (await store.load(strange)).read_only
    stored = await store.load(known)
    assert not stored.read_only
    assert stored.session.id == known
    assert stored.messages[0].role == "role of tomorrow"
    _, event = changed(stored.session, title="changed")
    store.append((event,))
    await store.close()
    replayed = (await reopened(paths, known)).session
    assert replayed.title == "changed"
    assert b"field_of_tomorrow" in paths.session(known).read_bytes()


async def test_damage_is_counted_and_the_original_kept(paths):
    data = log_bytes()
    lines = data.splitlines(keepends=True)
    broken = (
        lines[0]
        + lines[1].replace(b"said", b"lied")
        + encode_line(3, [{"op": "message", "message": plain(message("after"))}])
    )
    session_id = log_file(paths, broken + b'{"c":"torn')
    store = JsonLogStore(paths)
    stored = await store.load(session_id)
    assert (stored.damaged, [one.content for one in stored.messages]) == (1, ["after"])
    store.append((finished(session_id, message("new")),))
    await store.close()
    assert paths.session(session_id).read_bytes().startswith(broken)
    assert next(paths.quarantine.glob(f"{session_id}.torn-*")).read_bytes() == b'{"c":"torn'
    assert [one.content for one in (await reopened(paths, session_id)).messages] == ["after", "new"]


async def test_a_damaged_log_and_an_end_that_was_cut_off_are_named(paths):
    lines = log_bytes().splitlines(keepends=True)
    session_id = log_file(paths, lines[0] + b"garbage\n" + b"".join(lines[1:]) + b'{"c":"torn')
    log_file(paths, log_bytes())
    title = "Should cities ban cars?"

    def said(store):
        return [(one.path, one.code, one.detail) for one in store.problems()]

    damaged = [(str(paths.session(session_id)), "damaged_log", title)]
    told = []
    store = JsonLogStore(paths, on_replaced=told.append)
    await store.open()
    assert said(store) == damaged
    assert (await loaded(paths)).problems() == ()
    stored = await store.load(session_id)
    store.append((changed(stored.session)[1], finished(session_id, message("new"))))
    await store.close()
    assert said(store) == damaged
    [torn] = (await loaded(paths)).problems()
    assert (Path(torn.path).parent, torn.code) == (paths.quarantine, "torn_end")
    assert Path(torn.path).read_bytes() == b'{"c":"torn'
    [one] = told
    assert (one.code, one.name, one.session_id, one.kept) == ("log_torn", title, session_id, torn.path)
    # From index.json, without reading the logs.
    again = JsonLogStore(paths)
    await again.open()
    assert said(again) == damaged
    await again.close()


@pytest.mark.corpus(7)
async def test_a_missing_last_newline_is_given_back(paths):
    session_id = log_file(paths, log_bytes()[:-1])
    store = JsonLogStore(paths)
    await store.load(session_id)
    store.append((finished(session_id, message("new")),))
    await store.close()
    assert [one.content for one in (await reopened(paths, session_id)).messages] == ["said", "new"]
    assert not paths.quarantine.exists()


@pytest.mark.threat("T16")
@pytest.mark.corpus(15)
async def test_folders_and_links_are_no_sessions(paths, tmp_path):
    target = tmp_path / "elsewhere.jsonl"
    target.write_bytes(log_bytes())
    paths.sessions.mkdir(parents=True)
    folder, link = new_id(), new_id()
    paths.session(folder).mkdir()
    paths.session(link).symlink_to(target)
    (paths.sessions / "not an id.jsonl").write_bytes(log_bytes())
    store = JsonLogStore(paths)
    await store.open()
    assert store.summaries() == []
    with pytest.raises(StorageError):
        await store.load(folder)
    store.append((finished(link, message("through the link")),))
    with pytest.raises(StorageError):
        await store.flush(link)
    await asyncio.gather(store.close(), return_exceptions=True)
    assert b"through" not in target.read_bytes()
    with pytest.raises(StorageError):
        await JsonLogStore(paths, read_only=True).load(link)


@pytest.mark.corpus(16)
@pytest.mark.allow_blocking
async def test_the_index_is_mended_wherever_it_is_wrong(paths):
    store = JsonLogStore(paths)
    kept, gone, grown = [await saved(store, "x") for _ in range(3)]
    await store.close()
    good = JsonLogStore(paths, read_only=True).summaries()
    index = paths.index.read_bytes()
    for bad in (b"", b"{", bytes(100), index[:-20], index.replace(b'"debate"', b'"editor"'), b"[]"):
        paths.index.write_bytes(bad)
        assert JsonLogStore(paths, read_only=True).summaries() == good
    paths.index.write_bytes(index)
    paths.session(gone.id).unlink()
    extra = log_file(paths, log_bytes())
    with paths.session(grown.id).open("ab") as file:
        file.write(encode_line(9, [{"op": "message", "message": plain(message("more"))}]))
    found = {one.id: one.messages for one in JsonLogStore(paths, read_only=True).summaries()}
    assert found == {kept.id: 1, grown.id: 2, extra: 1}
    paths.index.unlink()
    paths.index.mkdir()
    assert len(JsonLogStore(paths, read_only=True).summaries()) == 3


@pytest.mark.corpus(64)
async def test_a_full_disk_is_said_and_nothing_is_lost(paths):
    import resource

    store = JsonLogStore(paths)
    session = await saved(store, "before")
    size = paths.session(session.id).stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 3_000, limits[1]))
        store.append((finished(session.id, message("big " + "x" * 4_000)),))
        store.append((finished(session.id, message("small")),))
        with pytest.raises(StorageError, match="disk_full") as caught:
            await store.flush(session.id)
        assert caught.value.details["path"] == str(paths.session(session.id))
        assert [one.content for one in (await reopened(paths, session.id)).messages] == ["before"]
        assert paths.session(session.id).stat().st_size == size
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    await store.flush(session.id)
    stored = await reopened(paths, session.id)
    assert [one.content[:5] for one in stored.messages] == ["befor", "big x", "small"]
    await store.close()


async def test_a_store_that_only_reads_leaves_no_trace(paths):
    store = JsonLogStore(paths)
    session = await saved(store, "x")
    await store.close()
    before = sorted(path.name for path in paths.root.rglob("*"))
    reader = JsonLogStore(paths, read_only=True)
    await reader.open()
    assert reader.summaries()[0].status == "paused"
    assert [one.content for one in (await reader.load(session.id)).messages] == ["x"]
    with pytest.raises(StorageError, match="read_only"):
        reader.append((finished(session.id, message("no")),))
    await reader.close()
    assert sorted(path.name for path in paths.root.rglob("*")) == before


@pytest.mark.corpus(64)
async def test_a_directory_that_cannot_be_written_is_said_and_still_read(paths):
    class ReadOnly(type(new_store()._disk)):
        def _refuse(self, *_):
            raise PermissionError(13, "Permission denied")

        create = open = replace = make_folder = remove = _refuse

    store = JsonLogStore(paths)
    session = await saved(store, "x")
    await store.close()
    refused = JsonLogStore(paths, file_system=ReadOnly())
    assert [one.content for one in (await refused.load(session.id)).messages] == ["x"]
    refused.append((finished(session.id, message("no")),))
    with pytest.raises(StorageError, match="read_only"):
        await refused.flush(session.id)
    with pytest.raises(StorageError, match="read_only"):
        await refused.delete(session.id)
    with pytest.raises(StorageError, match="read_only"):
        await refused.close()
