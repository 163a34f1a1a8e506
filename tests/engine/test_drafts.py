"""What was not sent yet, between the window and the disk: written once its writer pauses, and at the end."""

import asyncio

import pytest

from app.core.draft import NEW, Draft
from app.core.errors import Problem, StorageError
from app.core.events import Event, EventBus, Notice
from app.core.store import DraftFiles
from app.engine import drafts as module
from app.engine.drafts import Drafts
from app.storage.documents import DraftFolder
from app.storage.paths import DataPaths
from tests.app_driver import until


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_S", 0.02)
    monkeypatch.setattr(module, "LONGEST_S", 0.1)


class Watched(DraftFiles):
    """The real files, with what was written in order; `refusing` is what a full disk does."""

    def __init__(self, paths: DataPaths) -> None:
        self._files = DraftFolder(paths)
        self.written: list[tuple[str, str]] = []
        self.refusing = False

    async def load(self) -> dict[str, Draft]:
        return await self._files.load()

    async def save(self, name: str, draft: Draft) -> None:
        if self.refusing:
            raise StorageError("disk_full", path="drafts", detail="")
        await self._files.save(name, draft)
        self.written.append((name, draft.text))

    def problems(self) -> tuple[Problem, ...]:
        return self._files.problems()


async def test_it_is_written_once_nothing_was_written_for_a_moment(data_dir) -> None:
    files = Watched(DataPaths(data_dir))
    drafts = Drafts(files, EventBus())
    for text in ("h", "ha", "half"):
        drafts.keep(NEW, Draft(text=text))
    assert drafts.of(NEW).text == "half"
    await until(lambda: files.written, 60)
    drafts.keep(NEW, Draft(text="half"))
    drafts.keep(NEW, Draft())
    await until(lambda: files.written[-1] == (NEW, ""), 60)
    assert files.written == [(NEW, "half"), (NEW, "")]
    assert not list(DataPaths(data_dir).drafts.iterdir())
    await drafts.close()


async def test_who_writes_on_and_on_is_saved_all_the_same(data_dir) -> None:
    files = Watched(DataPaths(data_dir))
    drafts = Drafts(files, EventBus())
    for number in range(1, 3_000):
        drafts.keep(NEW, Draft(text="x" * number))
        await asyncio.sleep(0.005)
        if files.written:
            break
    assert files.written
    await drafts.close()
    assert files.written[-1] == (NEW, "x" * number)


async def test_at_the_end_all_is_written_and_what_comes_later_starts_nothing(data_dir, monkeypatch) -> None:
    monkeypatch.setattr(module, "QUIET_S", 100.0)
    monkeypatch.setattr(module, "LONGEST_S", 100.0)
    files = Watched(DataPaths(data_dir))
    drafts = Drafts(files, EventBus())
    drafts.keep("a", Draft(text="one"))
    drafts.keep("b", Draft(text="two"))
    await drafts.close()
    assert files.written == [("a", "one"), ("b", "two")]
    drafts.keep("a", Draft(text="later"))
    again = Drafts(Watched(DataPaths(data_dir)), EventBus())
    again.keep("b", Draft(text="written before it was read"))
    await again.load()
    assert (again.of("a").text, again.of("b").text) == ("one", "written before it was read")
    await again.close()


async def test_a_disk_that_refuses_is_told_once_and_tried_again(data_dir) -> None:
    files, bus, events = Watched(DataPaths(data_dir)), EventBus(), list[Event]()
    bus.subscribe(events.extend)
    drafts = Drafts(files, bus)
    files.refusing = True
    drafts.keep(NEW, Draft(text="half"))
    await until(lambda: events, 60)
    await asyncio.sleep(0.3)
    assert [one.code for one in events if isinstance(one, Notice)] == ["disk_full"]
    files.refusing = False
    await until(lambda: files.written == [(NEW, "half")], 60)
    await drafts.close()


@pytest.mark.allow_logs
async def test_closing_goes_on_where_the_disk_refuses(data_dir) -> None:
    files = Watched(DataPaths(data_dir))
    files.refusing = True
    drafts = Drafts(files, EventBus())
    drafts.keep(NEW, Draft(text="half"))
    await drafts.close()
    assert files.written == []
