"""What the window shows of a run that a fault of the program ended, and that a click resumes it."""

from functools import partial
from typing import Any

import pytest

from app.core.session import Reason, Status
from app.engine.chat import run as chat_run
from tests import app_driver
from tests.app_driver import at_window
from tests.gui.seen import texts_in
from tests.gui.test_chat_page import say
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)


@pytest.mark.allow_logs
async def test_a_chat_that_a_fault_ended_says_so_and_is_resumed_by_a_click(
    qapp: object,
    data_dir: Any,
    wire_home: Any,  # noqa: F811
    wire_servers: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, left = chat_run.decide, [1]

    def decide(*values: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise RecursionError("what nobody foresaw")
        return real(*values)

    monkeypatch.setattr(chat_run, "decide", decide)
    wire_servers["openai"].script("openai-wire", lambda _: Answer("Good morning."))
    async with at_window(data_dir) as person:
        await person.click("new_button")
        await say(person, "Hello.")
        page = person.window.controller.chat_page
        await until(lambda: page.session and page.session.status == Status.ERROR)
        assert page.session.reason == Reason.FAULT
        await until(lambda: person.sees("chat_resume"))
        [said] = texts_in(page.state_line)
        assert said.startswith("Stopped by an internal error") and "foresaw" not in said
        assert not person.sees("stop_button")
        await person.click("chat_resume")
        await until(lambda: page.session.status == Status.IDLE)
        assert "Good morning." in person.transcript("transcript")[-1]
