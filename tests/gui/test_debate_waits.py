"""A debate whose speaker is busy in a chat, in the window: who is waited for is said, and Pause comes at once."""

import pytest

from app.core.council import Participant
from app.core.definitions import Agent, Busy
from app.engine.engine import DebateSetup
from tests.app_driver import at_window, until
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

PATIENCE_S = 60.0
LONG = Answer(" ".join(f"word{number}" for number in range(4_000)), pace=0.1)


@pytest.mark.timeout(180)
async def test_who_is_waited_for_is_said_and_pause_comes_at_once(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
):
    wire_servers["openai"].script("openai-wire", [LONG])
    async with at_window(data_dir) as person:
        desk = person.window.controller
        busy = Busy(strategy="queue", depth=3)
        agent = Agent(id="", name="Auditor", provider="openai", model="openai-wire", busy=busy)
        await desk.engine.assistants.save(agent)
        chat = await desk.engine.chats.start("auditor", "Tell me everything.")
        await until(lambda: wire_servers["openai"].requests, PATIENCE_S)
        people = (
            Participant(id="auditor", name="Auditor", provider="openai", model="openai-wire"),
            Participant(id="claude", name="Claude", provider="anthropic", model="anthropic-wire"),
        )
        setup = DebateSetup(topic="Tabs or spaces?", participants=people, rounds=1)
        desk.debates.show_setup()
        await desk.debates.show_discussion(await desk.engine.debates.start(setup))
        view = desk.panel.discussion
        typing = view.transcript.typing
        await until(lambda: view.session and view.session.reason == "busy", PATIENCE_S)
        await until(lambda: typing.active)
        assert typing.waiting_text().startswith("waiting for Auditor, who is busy…")
        # Whoever opens it only now is told as well.
        desk.show_session(view.session_id)
        wide = desk.session_page.transcript.typing
        await until(lambda: wide.active and wide.waiting_text().startswith("waiting for Auditor"), PATIENCE_S)
        await person.click("debate_pause")
        await until(lambda: view.session.status == "paused", PATIENCE_S)
        assert not typing.active and not wide.active
        assert person.transcript() == []
        assert len(wire_servers["openai"].requests) == 1
        await person.click("debate_resume")
        await until(lambda: view.session.reason == "busy" and typing.active, PATIENCE_S)
        await desk.engine.stop(chat)
        await until(lambda: view.session.status == "completed", PATIENCE_S)
        assert len(person.transcript()) == 2
        assert not typing.active
