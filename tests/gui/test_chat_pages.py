"""Pages of a real MCP server in the window: the card, the answer, a restart; and the page where it can be shown."""

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.core.servers import McpServer
from app.gui.web_view import available
from app.gui.widgets.approval_card import ApprovalCard, PageCard
from app.gui.widgets.question_card import QuestionCard
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import architect, call
from tests.gui.seen import inside
from tests.gui.test_chat_questions import done
from tests.gui.web_engine import web_engine  # noqa: F401
from tests.tools.serving import SERVERS, allow
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401
from tests.wire.replies import WireCall

until = partial(app_driver.until, seconds=60.0)
MODEL = "openai-wire"
ENTRY = McpServer(name="pages", command=sys.executable, args=(str(SERVERS / "pages.py"),))

# The engine that shows pages says how it draws; that is no fault of ours.
pytestmark = pytest.mark.no_qt_log


def asking(server: WireServer, *calls: WireCall) -> list[list[object]]:
    """Let the model make these calls, then say done; return the list that gets what it was told then."""
    told: list[list[object]] = []

    def reply(request: object) -> object:
        messages = request.body["messages"]  # type: ignore[attr-defined]
        if any(one["role"] == "tool" for one in messages):
            told.append(messages)
            return "Done."
        return Answer(calls=calls) if request.body.get("tools") else "Fine."  # type: ignore[attr-defined]

    server.script(MODEL, reply)
    return told


async def meet(person: Person) -> None:
    """Have an assistant with the server's tools."""
    engine = person.window.controller.engine
    await engine.servers.save((ENTRY,))
    await allow(engine, "pages")
    await engine.assistants.save(architect(model=MODEL, mcp_servers=("pages",)))


async def ask(person: Person) -> None:
    """Start a chat, and allow the server's tool once it asks."""
    person.window.controller.show_new("architect")
    await person.write("composer", "Find a day.")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: any(isinstance(one, ApprovalCard) for one in cards(person)), what="the approval")
    approval = next(one for one in cards(person) if isinstance(one, ApprovalCard))
    await until(approval.allow.isEnabled)
    QTest.mouseClick(approval.allow, Qt.MouseButton.LeftButton)
    await until(lambda: any(isinstance(one, PageCard) for one in cards(person)), what="the page")
    await person.settle(0.6)


def cards(person: Person) -> list[QuestionCard]:
    found = person.window.controller.chat_page.transcript.findChildren(QuestionCard)
    asks = person.window.controller.chat_page.transcript.findChildren(ApprovalCard)
    return [one for one in (*found, *asks) if one.isVisible()]


def page_card(person: Person) -> PageCard:
    return next(one for one in cards(person) if isinstance(one, PageCard))


@pytest.mark.slow
async def test_moots_own_question_is_native_and_a_servers_is_a_card_of_its_page(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    monkeypatch,
):
    # As where the viewer is not installed.
    monkeypatch.setattr("app.gui.widgets.approval_card.available", lambda: False)
    told = asking(
        wire_servers["openai"],
        call("pages__day", "call_1", which="the fair"),
        call("promptUser", "call_2", question="Which format?", type="options", options=["CSV", "JSON"]),
    )
    async with at_window(data_dir) as person:
        await meet(person)
        await ask(person)
        kinds = {type(one) for one in cards(person)}
        assert kinds == {QuestionCard, PageCard}
        card = page_card(person)
        assert card.accessibleName() == "Which day for the fair?"
        assert card.findChild(QLabel, "page_from").text() == "Page from pages · day"
        # There is no viewer here: what the page says is shown as plain text, and asks nothing.
        [said] = [one for one in card.findChildren(QLabel) if "Pick a day" in one.text()]
        assert said.textFormat() == Qt.TextFormat.PlainText
        inside(card, "prompt_text").setPlainText("Monday")
        QTest.mouseClick(inside(card, "prompt_answer"), Qt.MouseButton.LeftButton)
        await until(lambda: not any(isinstance(one, PageCard) for one in cards(person)))
        await person.settle(0.3)
        assert person.window.controller.chat_page.session.status == "waiting" and told == []
    async with at_window(data_dir) as person:
        await until(lambda: cards(person), what="the other question again")
        (card,) = cards(person)
        assert type(card) is QuestionCard
        await person.settle(0.6)
        QTest.keyClick(card, Qt.Key.Key_2)
        QTest.keyClick(card, Qt.Key.Key_Return)
        await done(person)
    (messages,) = told
    assert [one["role"] for one in messages[-4:]] == ["assistant", "tool", "tool", "user"]
    assert messages[-1]["content"] == "Monday\n\nJSON"
    assert "Which day for the fair?" in messages[-3]["content"]


@pytest.mark.skipif(not available(), reason="needs the extra `webui`")
async def test_a_page_is_shown_and_its_answer_goes_on(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    told = asking(wire_servers["openai"], call("pages__form", "call_1"))
    async with at_window(data_dir) as person:
        await meet(person)
        await ask(person)
        card = page_card(person)
        before = card.height()
        await person.click("page_show")
        await until(lambda: person.sees("page_view"))
        await until(lambda: "ready" in card.findChild(QLabel, "page_note").text())
        await until(lambda: card.height() > before, what="the row to make room")
        await person.settle(0.5)
        click_page(card)
        await done(person)
        await asyncio.sleep(0.2)
    assert told[0][-1]["content"] == "Tuesday"


def click_page(card: PageCard) -> None:
    """Click the middle of the page that a card shows."""
    view = inside(card, "page_view")
    where = QPoint(view.width() // 2, view.height() // 2)
    QTest.mouseClick(view.focusProxy(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)


def on_disk(data_dir: Path, words: str) -> int:
    """Return how often the session's log has these words as an answer."""
    return sum(path.read_text(encoding="utf-8").count(words) for path in data_dir.glob("sessions/*.jsonl"))


@pytest.mark.skipif(not available(), reason="needs the extra `webui`")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["never ends", "is quiet"])
async def test_a_page_that_misbehaves_costs_no_answer(qapp, data_dir, wire_home, wire_servers, kind):  # noqa: F811
    told = asking(wire_servers["openai"], call("pages__wild", "call_1", kind=kind))
    async with at_window(data_dir) as person:
        await meet(person)
        await ask(person)
        await person.click("page_show")
        await until(lambda: person.sees("page_view"))
        await person.settle(2.0)
        card = page_card(person)
        if kind == "is quiet":
            os.kill(inside(card, "page_view").page().renderProcessPid(), 9)
            await until(lambda: not person.sees("page_view"), what="the end of the page")
            assert card.show_page.isVisible()
            await person.click("page_show")
            await until(lambda: "ready" in card.findChild(QLabel, "page_note").text())
        inside(card, "prompt_text").setPlainText("Tuesday")
        QTest.mouseClick(inside(card, "prompt_answer"), Qt.MouseButton.LeftButton)
        await done(person)
        await until(lambda: on_disk(data_dir, '"answer":"Tuesday"') == 1, what="the answer on the disk")
        await person.settle(0.3)
    assert told[0][-1]["content"] == "Tuesday"


@pytest.mark.skipif(not available(), reason="needs the extra `webui`")
@pytest.mark.slow
async def test_a_page_that_floods_suppresses_no_answer(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    told = asking(wire_servers["openai"], call("pages__wild", "call_1", kind="floods"))
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1

    timer = QTimer(interval=10)
    timer.timeout.connect(turn)
    async with at_window(data_dir) as person:
        await meet(person)
        await ask(person)
        await person.click("page_show")
        card = page_card(person)
        await until(lambda: "flood" in card.findChild(QLabel, "page_note").text())
        # The loop turns while most of the messages still wait.
        timer.start()
        await until(lambda: turns >= 10, what="the window's loop")
        click_page(card)
        await done(person)
        await until(lambda: on_disk(data_dir, '"answer":"Tuesday"') == 1, what="the answer on the disk")
        await person.settle(0.3)
    timer.stop()
    assert told[0][-1]["content"] == "Tuesday"


@pytest.mark.skipif(not available(), reason="needs the extra `webui`")
@pytest.mark.slow
async def test_a_hundred_answers_in_pages_are_all_kept(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    def reply(request: object) -> object:
        messages = request.body["messages"]  # type: ignore[attr-defined]
        if messages[-1]["content"] == "Tuesday" or not request.body.get("tools"):  # type: ignore[attr-defined]
            return "Done."
        return Answer(calls=(call("pages__form", f"call_{len(messages)}"),))

    wire_servers["openai"].script(MODEL, reply)
    async with at_window(data_dir) as person:
        await meet(person)
        engine = person.window.controller.engine
        tools = engine.servers._tools
        await tools.permit([one.consent for one in tools.server_tools(["pages"])])
        person.window.controller.show_new("architect")
        for number in range(1, 101):
            await person.write("composer", "Find a day.")
            await person.press("composer", Qt.Key.Key_Return)
            await until(lambda: any(isinstance(one, PageCard) for one in cards(person)), what="the page")
            card = page_card(person)
            await until(card.show_page.isVisible)
            await person.settle(0.1)
            QTest.mouseClick(card.show_page, Qt.MouseButton.LeftButton)
            await until(lambda shown=card: "ready" in shown.findChild(QLabel, "page_note").text())
            await person.settle(0.3)
            click_page(card)
            await done(person)
            kept = partial(on_disk, data_dir, '"answer":"Tuesday"')
            await until(lambda count=number, kept=kept: kept() == count, what="the answer on the disk")
