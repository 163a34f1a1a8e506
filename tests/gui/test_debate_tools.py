"""A debate whose participants use tools, in the window: set up, asked, answered on the same cards as in chats, and gone on."""

from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.definitions import Agent
from app.core.session import DebateTools
from app.engine.engine import DebateSetup
from app.gui.widgets.approval_card import ApprovalCard
from tests import app_driver
from tests.app_driver import at_window
from tests.chat_scenes import call
from tests.gui.seen import saying, texts_in
from tests.gui.test_discussion_view import seats
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        person.window.activateWindow()
        yield person


async def test_an_approval_in_a_debate_is_given_on_its_card(person, wire_servers):  # noqa: F811
    controller = person.window.controller
    engine = controller.engine
    await engine.assistants.save(
        Agent(id="ann", name="Ann", provider="openai", model="openai-wire", tools=("open_url",))
    )

    def reply(request: object) -> object:
        if request.body["messages"][-1]["role"] == "tool":  # type: ignore[attr-defined]
            return "I looked it up: no."
        return Answer(calls=(call("open_url", "call_1", url="https://example.org/"),))

    wire_servers["openai"].script("openai-wire", reply)
    wire_servers["anthropic"].script("anthropic-wire", ["Then I agree."])
    first, second = seats("openai", "anthropic")
    setup = DebateSetup(
        topic="Should we?", participants=(replace(first, id="ann", name="Ann"), second), rounds=1
    )
    session_id = await engine.debates.start(replace(setup, tools=DebateTools.OWN))
    controller.show_session(session_id)
    view = controller.session_page
    await until(lambda: view.session is not None and view.session.status == "waiting", what="the question")
    await until(lambda: person.sees("prompt_card"))
    assert "Waiting for your answer." in texts_in(view.controls)
    await until(lambda: person.window.top_bar.status.text() == "Needs your approval")
    [row] = engine.work.rows(person.window.language.texts)
    assert (row.needs, row.says) == ("approval", "Ann asks: Allow “Open links”?")
    card = view.transcript.findChild(ApprovalCard)
    assert card.accessibleName() == "Allow “Open links”?"
    await person.settle(0.6)
    await person.click("approval_deny")
    await until(lambda: view.session.status == "completed", what="the end of the debate")
    await until(lambda: not person.sees("prompt_card"))
    said = [view.transcript.model.text(row) for row in range(len(view.transcript.model.entries))]
    assert said[-2:] == ["I looked it up: no.", "Then I agree."]
    # The call has a row of its own, and is no statement.
    assert "call_1" not in str(said) and len(said) == 4
    assert saying(view.controls, "2 turns")


async def test_what_participants_may_use_is_chosen_in_the_setup(person):
    setup = person.window.controller.panel.setup
    assert setup.setup().tools == DebateTools.NONE
    setup.tools.setFocus()
    QTest.keyClick(setup.tools, Qt.Key.Key_Down)
    assert setup.setup().tools == setup.draft.setup.tools == DebateTools.READING
    setup.show_draft(replace(setup.draft, setup=replace(setup.draft.setup, tools=DebateTools.OWN)))
    assert setup.setup().tools == DebateTools.OWN
