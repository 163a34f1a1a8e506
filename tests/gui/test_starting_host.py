"""What is said while the process that asks the models still starts: nothing was sent, so nobody thinks."""

import asyncio

import pytest

from app.core.council import Participant
from app.core.definitions import Agent
from app.engine.engine import DebateSetup
from tests.app_driver import at_window, until
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

PATIENCE_S = 60.0


@pytest.mark.timeout(180)
async def test_who_speaks_next_does_not_think_before_the_request_is_sent(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    monkeypatch,
):
    slow = Answer("Yes.", delay=30)
    for provider in ("openai", "anthropic"):
        wire_servers[provider].script(f"{provider}-wire", [slow])
    async with at_window(data_dir) as person:
        desk = person.window.controller
        up = asyncio.Event()
        monkeypatch.setattr(desk.engine.connections, "is_warm", up.is_set)
        monkeypatch.setattr(desk.engine.connections, "warm", up.wait)
        agent = Agent(id="", name="Auditor", provider="openai", model="openai-wire")
        await desk.engine.assistants.save(agent)
        chat = await desk.engine.chats.start("auditor", "Why?")
        people = (
            Participant(id="gpt", name="GPT", provider="openai", model="openai-wire"),
            Participant(id="claude", name="Claude", provider="anthropic", model="anthropic-wire"),
        )
        desk.debates.show_setup()
        setup = DebateSetup(topic="Tabs or spaces?", participants=people, rounds=1)
        await desk.debates.show_discussion(await desk.engine.debates.start(setup))
        debate = desk.panel.discussion.transcript.typing
        await until(lambda: debate.active, PATIENCE_S)
        assert debate.waiting_text() == "starting the model process…"
        desk.show_session(chat)
        said = desk.chat_page.transcript.typing
        await until(lambda: said.active, PATIENCE_S)
        assert said.waiting_text() == "starting the model process…"
        up.set()
        await until(lambda: "starting" not in said.waiting_text() + debate.waiting_text(), PATIENCE_S)
        assert said.active and debate.active
        await desk.engine.stop(chat)
        await desk.engine.stop(desk.panel.discussion.session_id)
