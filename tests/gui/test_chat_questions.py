"""Questions and approvals of chats that really run: answered by keyboard, denied by default, allowed on purpose."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit

from app.gui.widgets.approval_card import ApprovalCard
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import APPROVAL, QUESTION, architect, call, said_last
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)
MODEL = "openai-wire"


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        person.window.activateWindow()
        await person.window.controller.engine.assistants.save(architect(model=MODEL))
        yield person


def asking(server: WireServer, tool: str, **arguments: object) -> list[str]:
    """Let the model call a tool, then say done; return the list that gets what it was told then."""
    told: list[str] = []

    def reply(request: object) -> object:
        if request.body["messages"][-1]["role"] != "user":  # type: ignore[attr-defined]
            told.append(str(request.body["messages"][-1]["content"]))  # type: ignore[attr-defined]
            return "Done."
        if told or said_last(request) not in (QUESTION, APPROVAL):  # type: ignore[arg-type]
            told.append(said_last(request))  # type: ignore[arg-type]
            return "Done."
        return Answer(calls=(call(tool, "call_1", **arguments),))

    server.script(MODEL, reply)
    return told


async def ask(person: Person, text: str) -> object:
    """Start a chat with the architect; return the card once it is there and takes keys."""
    person.window.controller.show_new("architect")
    await person.write("composer", text)
    await person.press("composer", Qt.Key.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: page.session and page.session.status == "waiting", what="the question")
    await until(lambda: person.sees("prompt_card"))
    card = person.find("prompt_card")
    await person.settle(0.6)
    return card


async def done(person: Person) -> None:
    page = person.window.controller.chat_page
    await until(lambda: page.session.status == "idle", what="the chat to go on")
    await until(lambda: "Done." in person.transcript("transcript")[-1])
    assert not person.sees("prompt_card")


@pytest.mark.slow
async def test_the_box_says_whose_question_its_words_would_answer(person, wire_servers):  # noqa: F811
    def reply(request: object) -> object:
        asked = call("promptUser", "call_2", question="Which?", type="text")
        words = said_last(request)  # type: ignore[arg-type]
        if words == "tool" or "blue" in words:
            return "Done."
        if words == QUESTION:
            return Answer(calls=(call("subAgent", "call_1", name="helper", task="Ask the user."),))
        return Answer(calls=(asked,))

    wire_servers["openai"].script(MODEL, reply)
    assistants = person.window.controller.engine.assistants
    await assistants.save(architect(id="helper", name="Helper", model=MODEL, tools=("ask",), sub_agents=()))
    await assistants.save(architect(model=MODEL, sub_agents=("helper",)))
    await ask(person, QUESTION)
    box = person.find("composer", QPlainTextEdit)
    await until(lambda: box.placeholderText() == "Answer Helper…")
    await person.write("composer", "The blue one.")
    await person.press("composer", Qt.Key.Key_Return)
    await done(person)
    await until(lambda: box.placeholderText() == "Message Architect…")


@pytest.mark.slow
async def test_a_question_is_answered_from_the_keyboard_alone(person, wire_servers):  # noqa: F811
    told = asking(
        wire_servers["openai"], "promptUser", question="Which?", type="options", options=["CSV", "JSON"]
    )
    card = await ask(person, QUESTION)
    assert person.window.focusWidget() is card
    rows = person.window.side_bar.sessions
    assert "Needs you" in rows.model().index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    QTest.keyClick(card, Qt.Key.Key_2)
    QTest.keyClick(card, Qt.Key.Key_Return)
    await done(person)
    assert any("JSON" in one for one in told)
    box = person.find("composer", QPlainTextEdit)
    await until(lambda: box.placeholderText().startswith("Message "), seconds=5)
    assert person.window.focusWidget() is box, "who has answered writes on"


@pytest.mark.slow
async def test_a_question_does_not_interrupt_who_writes_and_can_be_answered_there(person, wire_servers):  # noqa: F811
    told = asking(wire_servers["openai"], "promptUser", question="Which?", type="text")
    person.window.controller.show_new("architect")
    await person.write("composer", QUESTION)
    await person.press("composer", Qt.Key.Key_Return)
    await person.write("composer", "My own ")
    await until(lambda: person.sees("prompt_card"))
    await person.settle(0.1)
    assert person.window.focusWidget() is person.find("composer")
    await person.write("composer", "My own words")
    await person.press("composer", Qt.Key.Key_Return)
    await done(person)
    assert any("My own words" in one for one in told)


async def test_skip_lets_it_go_on_without_an_answer(person, wire_servers):  # noqa: F811
    asking(wire_servers["openai"], "promptUser", question="Sure?", type="yesno")
    await ask(person, QUESTION)
    await person.click("prompt_skip")
    await done(person)


@pytest.mark.slow
@pytest.mark.threat("T14")
async def test_enter_decides_nothing_and_the_button_denies(person, wire_servers, monkeypatch):  # noqa: F811
    opened = []
    told = asking(wire_servers["openai"], "open_url", url="https://example.org/")
    monkeypatch.setattr(
        "app.gui.dialogs.ask_dialogs.QDesktopServices.openUrl", lambda url: opened.append(url) or True
    )
    card = await ask(person, APPROVAL)
    assert isinstance(card, ApprovalCard)
    assert person.window.focusWidget() is card
    QTest.keyClick(card, Qt.Key.Key_Return)
    assert card.deny.isEnabled() and opened == []
    QTest.keyClick(card.deny, Qt.Key.Key_Return)
    await done(person)
    assert opened == []
    assert told


@pytest.mark.slow
async def test_several_calls_make_one_card_and_one_click(person, wire_servers, monkeypatch):  # noqa: F811
    opened = []
    monkeypatch.setattr(
        "app.gui.dialogs.ask_dialogs.QDesktopServices.openUrl", lambda url: opened.append(url.path()) or True
    )
    pages = [call("open_url", f"call_{name}", url=f"https://example.org/{name}") for name in "abc"]
    wire_servers["openai"].script(MODEL, [Answer(calls=tuple(pages)), "Done."])
    card = await ask(person, APPROVAL)
    assert card.accessibleName() == "Allow these 3 calls?"
    await person.click("call_deny")
    await until(lambda: person.find("prompt_card").accessibleName() == "Allow these 2 calls?")
    await until(lambda: person.find("approval_allow").isEnabled())
    await person.click("approval_allow")
    await done(person)
    assert sorted(opened) == ["/b", "/c"]
    cards = [line for line in person.transcript("transcript") if "https://example.org/" in line]
    assert len(cards) == 3, "the answers are told by the rows of the calls"


@pytest.mark.slow
async def test_what_is_allowed_opens_after_the_whole_address_was_seen(person, wire_servers, monkeypatch):  # noqa: F811
    opened = []
    asking(wire_servers["openai"], "open_url", url="https://example.org/a?b=c")
    monkeypatch.setattr(
        "app.gui.dialogs.ask_dialogs.QDesktopServices.openUrl", lambda url: opened.append(url) or True
    )
    card = await ask(person, APPROVAL)
    assert "https://example.org/a?b=c" in card.findChild(QPlainTextEdit, "approval_arguments").toPlainText()
    await person.click("approval_allow")
    await done(person)
    assert [url.toString() for url in opened] == ["https://example.org/a?b=c"]
    assert not person.sees("link_dialog")


@pytest.mark.slow
async def test_a_question_waits_through_a_restart(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    told = asking(
        wire_servers["openai"], "promptUser", question="Which?", type="options", options=["CSV", "JSON"]
    )
    async with at_window(data_dir) as person:
        await person.window.controller.engine.assistants.save(architect(model=MODEL))
        await ask(person, QUESTION)
    async with at_window(data_dir) as person:
        await until(lambda: person.sees("prompt_card"), what="the card again")
        await person.click("prompt_option_2")
        await person.click("prompt_answer")
        await done(person)
    assert any("JSON" in one for one in told)
