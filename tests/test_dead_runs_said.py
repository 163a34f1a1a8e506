"""What a run that a fault of the program ended says in the terminal, and what its log holds."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.cli.arguments import Arguments
from app.cli.commands.sessions import run_command
from app.cli.exit_status import FAULT
from app.cli.interrupt import Interrupt
from app.core.session import Reason, Status
from app.engine.runner import Run
from app.wiring import Moot, open_moot
from tests.asked import Answers
from tests.storage.samples import started
from tests.test_callers import a_session

KEY = "sk-ant-a-key-that-nobody-may-see-1234567890"


@pytest.fixture
async def moot(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Moot]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    made = await open_moot(data_dir, language="en")
    yield made
    await made.close()


async def run(moot: Moot, session_id: str, command: str, **more: bool) -> tuple[int, Answers]:
    out = Answers()
    arguments = Arguments(command=command, language="en", values={"session": session_id}, **more)
    return await run_command(moot, arguments, out, Interrupt()), out  # type: ignore[arg-type]


@pytest.mark.allow_logs
@pytest.mark.parametrize("kind", ["chat", "group", "workflow", "debate", "council"])
async def test_the_terminal_says_that_a_run_has_failed_and_the_log_has_the_fault(
    moot: Moot, data_dir: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    async def fails(_: Run) -> None:
        raise RuntimeError(f"what nobody foresaw, {KEY}")

    session = a_session(kind, status=Status.PAUSED, reason=Reason.BY_USER)
    moot.store.append(started(session))  # type: ignore[arg-type]
    await moot.store.flush(session.id)
    live = await moot.engine.open(session.id)
    run_type = type(moot.engine._run_of(live))
    monkeypatch.setattr(run_type, "_step", fails)
    status, out = await run(moot, session.id, "resume")
    assert status == FAULT
    assert "Failed · Stopped by an internal error; the log has the details." in out.out
    assert f"moot resume {session.id}" in out.out
    assert "Traceback" not in out.out and "foresaw" not in out.out and not out.err
    _, shown = await run(moot, session.id, "show", json=True)
    document = json.loads(shown.out)
    assert (document["status"], document["reason_code"]) == ("error", "fault")
    assert moot.log is not None
    moot.log._log.wait()
    logged = (data_dir / "logs" / "moot.log").read_text(encoding="utf-8")
    assert "Traceback" in logged and "RuntimeError: what nobody foresaw" in logged and session.id in logged
    assert KEY not in logged
