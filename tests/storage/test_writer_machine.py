"""The writer's thread under any order of batches, jobs, failures, cancelled callers and stops."""

import asyncio
import threading
from concurrent.futures import CancelledError, Future
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from app.core.errors import StorageError
from app.core.events import Notice
from app.core.ids import new_id
from app.storage.paths import DataPaths
from app.storage.session_log import SessionLog
from app.storage.sessions import JsonLogStore, LogWriter
from app.storage.usage_ledger import UsageFile
from app.wiring import open_moot
from tests.engine.mutants import mutant
from tests.repeats import examples
from tests.storage.samples import ROOT, debate, finished, message, saved, started
from tests.storage.sim_fs import SimFS

PATIENCE_S = 10.0


class WriterMachine(RuleBasedStateMachine):
    """Every job runs once in order, or never where its caller was gone in time; the thread stays."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = SimFS()
        self.failures: list[StorageError] = []
        self.writer = LogWriter(self.make_log, lambda: None, self.failures.append)
        self.session = debate(new_id())
        self.writer.post(self.session.id, started(self.session), None)
        self.ran: list[int] = []
        self.jobs: list[tuple[int, Future[Any]]] = []
        self.gate: threading.Event | None = None
        self.posted = 0

    def make_log(self, session_id: str) -> SessionLog:
        """Return a log on the simulated disk."""
        return SessionLog(self.disk, DataPaths(ROOT), session_id)

    @rule()
    def post(self) -> None:
        self.posted += 1
        self.writer.post(self.session.id, (finished(self.session.id, message(f"n{self.posted}")),), None)

    @rule(fails=st.sampled_from([None, OSError, ValueError, SystemExit]))
    def call(self, fails: type[BaseException] | None) -> None:
        number = len(self.jobs)

        def work() -> int:
            self.ran.append(number)
            if fails is not None:
                raise fails("injected")
            return number

        self.jobs.append((number, self.writer.call(work)))

    @rule()
    def hold(self) -> None:
        """Keep the thread busy, so that what comes next waits in the queue."""
        if self.gate is None:
            gate = self.gate = threading.Event()
            begun = threading.Event()

            def wait() -> None:
                begun.set()
                gate.wait(PATIENCE_S)

            self.jobs.append((-1, self.writer.call(wait)))
            assert begun.wait(PATIENCE_S)

    @rule()
    def let_go(self) -> None:
        if self.gate is not None:
            self.gate.set()
            self.gate = None

    @rule(place=st.integers(0, 99))
    def cancel(self, place: int) -> None:
        if self.jobs:
            self.jobs[place % len(self.jobs)][1].cancel()

    @rule()
    def stop(self) -> None:
        self.jobs.append((-1, self.writer.stop()))

    @rule()
    def flush(self) -> None:
        self.let_go()
        self.writer.call(lambda: self.writer.log(self.session.id).write(sync=True)).result(PATIENCE_S)
        content = b"".join(bytes(one.seen) for one in self.disk.names.values())
        assert all(b'"n%d"' % number in content for number in range(1, self.posted + 1))

    def teardown(self) -> None:
        self.let_go()
        try:
            self.writer.call(lambda: None).result(PATIENCE_S)
            for number, future in self.jobs:
                if future.cancelled():
                    assert number not in self.ran
                else:
                    error = future.exception(PATIENCE_S)
                    assert error is not None or future.result() in {number, None}
            expected = [number for number, future in self.jobs if number >= 0 and not future.cancelled()]
            assert self.ran == expected
            assert not self.failures
        finally:
            self.writer.stop().result(PATIENCE_S)


SETTINGS = settings(
    max_examples=examples(60),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    database=None,
    verbosity=Verbosity.quiet,
    phases=(Phase.generate,),
)


def test_the_thread_survives_every_order() -> None:
    run_state_machine_as_test(WriterMachine, settings=SETTINGS)


@pytest.mark.allow_logs
def test_the_result_of_a_cancelled_job_that_ends_the_thread_is_found() -> None:
    with mutant("app.storage.sessions", "if not self.future.set_running_or_notify_cancel():", "if False:"):
        machine = type("Mutated", (WriterMachine,), {})
        expected = (AssertionError, StorageError, CancelledError)
        with pytest.raises((*expected, FlakyFailure)) as raised:
            run_state_machine_as_test(machine, settings=SETTINGS)
        # What depends on which thread is first does not always fail twice.
        failures = raised.value.exceptions if isinstance(raised.value, FlakyFailure) else (raised.value,)
        assert all(isinstance(one, expected) for one in failures)


async def test_cancelled_reads_of_the_ledger_do_not_stop_saving(tmp_path) -> None:
    paths = DataPaths(tmp_path)
    store = JsonLogStore(paths)
    ledger = UsageFile(paths, store.in_turn)
    session = await saved(store, "first")
    for number in range(300):
        read = asyncio.ensure_future(ledger.months())
        for _ in range(number % 4):
            await asyncio.sleep(0)
        read.cancel()
        await asyncio.gather(read, return_exceptions=True)
    store.append((finished(session.id, message("last")),))
    async with asyncio.timeout(PATIENCE_S):
        await store.flush(session.id)
        kept = (await store.load(session.id)).messages
        assert [one.content for one in kept] == ["first", "last"]
        await ledger.close()
        await store.close()


@pytest.mark.allow_logs
async def test_a_thread_that_ends_is_reported_and_nothing_is_acknowledged(tmp_path, monkeypatch) -> None:
    failures: list[StorageError] = []
    reported = asyncio.Event()
    loop = asyncio.get_running_loop()

    def report(error: StorageError) -> None:
        failures.append(error)
        loop.call_soon_threadsafe(reported.set)

    store = JsonLogStore(DataPaths(tmp_path), on_writer_failure=report)
    session = await saved(store, "first")
    monkeypatch.setattr(store._writer, "_write_due", _end_of_thread)
    store.append((finished(session.id, message("second")),))
    async with asyncio.timeout(PATIENCE_S):
        await reported.wait()
        assert failures[0].code == "writer_stopped"
        assert "SystemExit: injected" in str(failures[0].details["detail"])
        for _ in range(2):
            store.append((finished(session.id, message("third")),))
            with pytest.raises(StorageError):
                await store.flush(session.id)
        with pytest.raises(StorageError):
            await store.close()
    assert len(failures) == 1


def _end_of_thread() -> None:
    raise SystemExit("injected")


@pytest.mark.allow_logs
@pytest.mark.allow_blocking  # The whole program is opened; what opening costs is tested elsewhere.
async def test_the_program_tells_the_user_at_once_that_saving_has_stopped(tmp_path, monkeypatch) -> None:
    moot = await open_moot(tmp_path)
    told: asyncio.Queue[Notice] = asyncio.Queue()
    moot.engine.bus.subscribe(
        lambda events: [told.put_nowait(one) for one in events if isinstance(one, Notice)]
    )
    monkeypatch.setattr(moot.store._writer, "_write_due", _end_of_thread)
    moot.store.append(started(debate()))
    async with asyncio.timeout(PATIENCE_S):
        notice = await told.get()
        assert (notice.code, notice.sticky, notice.session_id) == ("writer_stopped", True, "")
        with pytest.raises(StorageError):
            await moot.close()
