"""Exports and zips that somebody changed: what comes in can be shown and exported, the rest is a clear error."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.cli.arguments import Arguments
from app.cli.commands import session_list
from app.cli.commands.sessions import run_command
from app.cli.printing.lines import error_line, load_texts
from app.core.errors import MootError
from app.core.events import EventBus
from app.core.session import ExportFormat
from app.core.store import StoredSession
from app.engine.live_session import LiveSession
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive
from app.wiring import Moot, open_moot
from tests.builders import PROMPTS, export
from tests.engine import foreign_exports
from tests.many_kinds import sessions
from tests.mutations import mutated_export, mutated_zip
from tests.repeats import repeats


class Lines:
    """Output that is kept: what was written and what was complained about."""

    def __init__(self) -> None:
        self.out: list[str] = []

    async def write(self, text: str) -> None:
        text.encode()
        self.out.append(text)

    async def complain(self, line: str) -> None:
        await self.write(line)


class Tries:
    """Runs commands in a Moot and counts what came of them."""

    def __init__(self, moot: Moot) -> None:
        self.moot = moot
        self.texts = {language: load_texts(language) for language in ("en", "ko")}
        self.taken = 0
        self.refused = 0

    async def run(self, command: str, language: str, *, json: bool = False, **values: object) -> str | None:
        """Run a command and return its output, None where it was refused in words."""
        out = Lines()
        arguments = Arguments(command=command, language=language, json=json, values=values)
        refused: MootError | None = None
        try:
            await run_command(self.moot, arguments, out, asyncio.Event())
        except MootError as error:
            refused = error
        if refused is None:
            return "".join(out.out)
        # A text of the catalogue with all its blanks filled, and no bare code.
        assert error_line(refused, self.texts[language]) not in (refused.code, "")
        assert refused.code != "unexpected"
        return None

    async def bring_in(self, path: Path, language: str) -> None:
        """Import a file, then show and export in every way what it brought."""
        before = {one.id for one in self.moot.engine.sessions()}
        done = await self.run("import", language, files=(str(path),))
        await self._look_at_new(before, language, done is not None)

    async def restore(self, path: Path, language: str) -> None:
        """Look at a backup, restore it, then show and export in every way what came back."""
        before = {one.id for one in self.moot.engine.sessions()}
        await self.run("restore", language, files=(str(path),))
        done = await self.run("restore", language, files=(str(path),), yes=True)
        await self._look_at_new(before, language, done is not None)

    async def _look_at_new(self, before: set[str], language: str, done: bool) -> None:
        fresh = [one.id for one in self.moot.engine.sessions() if one.id not in before]
        self.taken += done
        self.refused += not done
        for session_id in fresh:
            for fields in ({}, {"json": True}):
                assert await self.run("show", language, session=session_id, **fields)
            for name in ExportFormat:
                await self.run("export", language, session=session_id, form=name)
        arguments = Arguments(command="sessions", language=language)
        assert (await asyncio.to_thread(session_list.sessions, self.moot.paths, arguments))[0]
        for session_id in fresh:
            await self.moot.engine.delete(session_id)


@pytest.fixture
async def tries(data_dir: Path) -> AsyncIterator[Tries]:
    moot = await open_moot(data_dir)
    yield Tries(moot)
    await moot.close()


def exports() -> list[object]:
    """Return an export of each of Moot's kinds and of each program that is known."""
    own = [
        json.loads(
            export(LiveSession(StoredSession(session=one, messages=said), EventBus()), "json", PROMPTS)
        )
        for one, said in sessions()
    ]
    foreign = [
        getattr(foreign_exports, name)()
        for name in ("chatgpt", "claude", "open_webui", "lobe_chat", "lobe_database")
    ]
    # Half of what is tried is Moot's own, of which most is read.
    return [*own, *own, *foreign]


async def backup(folder: Path) -> dict[str, bytes]:
    """Return the files of a backup of a session of each kind, an assistant and the settings."""
    import zipfile

    paths = DataPaths(folder)
    store = JsonLogStore(paths)
    for session, said in sessions():
        await store.bring_in(session, said)
    (paths.root / "assistants").mkdir()
    (paths.root / "assistants" / "ada.json").write_text('{"id": "ada", "name": "Ada"}', encoding="utf-8")
    paths.settings.write_text('{"version": 1, "theme": "dark"}', encoding="utf-8")
    made = await FileArchive(paths, store, JsonDocuments(paths)).back_up("by_hand", str(folder / "b.zip"))
    await store.close()
    with zipfile.ZipFile(made.path) as file:
        return {name: file.read(name) for name in file.namelist()}


async def fuzz_exports(tries: Tries, folder: Path, count: int, seed: int) -> None:
    chance, whole, path = random.Random(seed), exports(), folder / "export.json"
    for number in range(count):
        path.write_bytes(mutated_export(whole[number % len(whole)], chance))
        await tries.bring_in(path, ("en", "ko")[number % 2])


async def fuzz_zips(tries: Tries, folder: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    packed = await backup(folder / "other")
    exported = {f"{place}.json": json.dumps(one).encode() for place, one in enumerate(exports()[:4])}
    path = folder / "packed.zip"
    for number in range(count):
        path.write_bytes(mutated_zip(packed if number % 2 else exported, chance))
        work = tries.restore if number % 2 else tries.bring_in
        await work(path, ("en", "ko")[number // 2 % 2])


@pytest.mark.allow_blocking
async def test_changed_exports_are_shown_or_refused_in_words(tries: Tries, tmp_path: Path) -> None:
    await fuzz_exports(tries, tmp_path, 60, seed=7)
    assert min(tries.taken, tries.refused) >= 5


@pytest.mark.slow
@pytest.mark.allow_blocking
async def test_changed_zips_are_shown_or_refused_in_words(tries: Tries, tmp_path: Path) -> None:
    await fuzz_zips(tries, tmp_path, 60, seed=1)
    assert min(tries.taken, tries.refused) >= 5


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.allow_blocking
async def test_many_changed_exports(tries: Tries, tmp_path: Path) -> None:
    await fuzz_exports(tries, tmp_path, repeats(200), seed=2)
    print(f"{tries.taken} taken, {tries.refused} refused")


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.allow_blocking
async def test_many_changed_zips(tries: Tries, tmp_path: Path) -> None:
    await fuzz_zips(tries, tmp_path, repeats(200), seed=2)
    print(f"{tries.taken} taken, {tries.refused} refused")
