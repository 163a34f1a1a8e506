"""The store against a model of it: any order of saying, streaming, failing, crashing and binning."""

import asyncio
import contextlib
import dataclasses
import errno
import re

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from app.core.errors import NotFound, StorageError
from app.core.events import Event
from app.core.message import Message
from app.storage.index import MOST_IN_SESSION
from tests.repeats import examples
from tests.storage.samples import ROOT, changed, debate, finished, message, new_store, started, streaming
from tests.storage.sim_fs import SimFS

SESSION_ID = "01" + "m" * 24
TEXTS = st.text(st.characters(), max_size=40)


class StoreMachine(RuleBasedStateMachine):
    """One session; what was acknowledged must be there after whatever happens."""

    @initialize(title=TEXTS)
    def begin(self, title: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.disk = SimFS()
        self.store = new_store(self.disk)
        self.session = debate(SESSION_ID, title=title)
        self.said: list[Message] = []
        self.safe = 0
        self.safe_round = 0
        self.titles = [title]
        self.binned = False
        self.store.append(started(self.session))
        self._flush()

    def _wait(self, work):
        return self.loop.run_until_complete(work)

    async def _append(self, batches: list[tuple[Event, ...]]) -> None:
        """Append in the loop, as the program does: text is gathered there."""
        for batch in batches:
            self.store.append(batch)

    def _flush(self) -> None:
        self._wait(self.store.flush(SESSION_ID))
        self.safe = len(self.said)
        self.safe_round = self.session.debate.turn

    @rule(text=TEXTS, pieces=st.integers(1, 9), flush=st.booleans())
    def says(self, text: str, pieces: int, flush: bool) -> None:
        if self.binned:
            return
        one = message(text)
        self._wait(self._append(streaming(SESSION_ID, one, size=pieces)))
        turn = self.session.debate.turn + 1
        self.session, event = changed(
            self.session, debate=dataclasses.replace(self.session.debate, turn=turn)
        )
        self.store.append((finished(SESSION_ID, one), event))
        self.said.append(one)
        if flush:
            self.disk.fault = lambda *_: None
            self._flush()

    @rule(place=st.integers(0, 6), number=st.sampled_from([errno.ENOSPC, errno.EIO]), short=st.booleans())
    def disk_fails_once(self, place: int, number: int, short: bool) -> None:
        at = self.disk.calls + place
        self.disk.short_writes = short
        self.disk.fault = lambda call, name, path: OSError(number, "injected") if call == at else None
        with contextlib.suppress(StorageError):
            self._flush()

    @rule()
    def saves(self) -> None:
        self.disk.fault = lambda *_: None
        if not self.binned:
            self._flush()

    @rule(text=TEXTS)
    def says_the_last_again(self, text: str) -> None:
        if self.said and not self.binned:
            self.said[-1] = dataclasses.replace(self.said[-1], content=text)
            self.store.append((finished(SESSION_ID, self.said[-1]),))
            self.disk.fault = lambda *_: None
            self._flush()

    @rule(seed=st.integers(0, 999), power=st.booleans())
    def crashes(self, seed: int, power: bool) -> None:
        left = self.disk.after_power_cut(seed) if power else self.disk.after_kill()
        # The old process is gone; the simulated disk it held is not the one that is looked at.
        self.disk.fault = lambda *_: None
        with contextlib.suppress(StorageError):
            self._wait(self.store.close())
        self.disk = left
        self.store = new_store(left)
        if not self.binned:
            self._look(exact=False)

    @rule(place=st.integers(0, 99))
    def is_searched(self, place: int) -> None:
        self.disk.fault = lambda *_: None
        if self.binned or not self.said:
            return
        self._flush()
        wanted = self.said[place % len(self.said)]
        hits = self._wait(self.store.search(wanted.content, 50))
        found = {hit.message_id for hit in hits}
        assert found <= {"", *(one.id for one in self.said)}
        assert not wanted.content.strip() or wanted.id in found or len(hits) == MOST_IN_SESSION

    @rule()
    def is_binned(self) -> None:
        self.disk.fault = lambda *_: None
        if not self.binned:
            self._flush()
            self._wait(self.store.delete(SESSION_ID))
            self.binned = True
            assert self.store.summaries() == []

    @rule()
    def is_restored(self) -> None:
        if self.binned:
            self.disk.fault = lambda *_: None
            self._wait(self.store.restore(SESSION_ID))
            self.binned = False

    @rule()
    def starts_again(self) -> None:
        self.disk.fault = lambda *_: None
        self._wait(self.store.close())
        self.store = new_store(self.disk)
        if not self.binned:
            self.safe = len(self.said)
            self.safe_round = self.session.debate.turn
            self._look(exact=True)
            # The list is what the files say (S7), with its cache or without.
            cached = self.store.summaries()
            self.disk.names.pop(str(ROOT / "index.json"), None)
            again = new_store(self.disk)
            assert again.summaries() == cached
            self._wait(again.close())

    def _look(self, *, exact: bool) -> None:
        stored = self._wait(self.store.load(SESSION_ID))
        twice = self._wait(self.store.load(SESSION_ID))
        assert stored == twice  # S3, S5
        kept = [one.id for one in stored.messages]
        order = [one.id for one in self.said]
        safe = order[: self.safe]
        assert [one for one in kept if one in safe] == safe  # S1
        assert [one for one in order if one in kept] == kept  # S2
        for one in self.said[: self.safe]:
            found = next(other for other in stored.messages if other.id == one.id)
            # Half a surrogate pair is no character: UTF-8 has no form for it. Where there is one, a NUL goes too.
            halves = "[\ud800-\udfff]"
            unstorable = "[\x00\ud800-\udfff]" if re.search(halves, one.content) else halves
            assert found.content == re.sub(unstorable, "\ufffd", one.content)
        assert self.safe_round <= stored.session.debate.turn <= self.session.debate.turn
        # S6: a line is there whole, so the cursor never runs ahead of the messages.
        done = sum(one.state == "done" for one in stored.messages)
        assert stored.session.debate.turn <= done
        if exact:
            assert kept == order
        self.said = [one for one in self.said if one.id in kept]
        self.said = [next(other for other in stored.messages if other.id == one.id) for one in self.said]
        self.safe = len(self.said)
        self.session = stored.session
        self.safe_round = stored.session.debate.turn

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.disk.fault = lambda *_: None
            with contextlib.suppress(StorageError, NotFound):
                self._wait(self.store.close())
            self.loop.close()


StoreMachine.TestCase.settings = settings(
    max_examples=examples(30),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=(Phase.generate,),
)
TestStore = pytest.mark.repeats(StoreMachine.TestCase)
