"""The card of a server's page: words and an answer always, the page where it can be shown, and never its HTML."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from app.core.message import Author, Message, Prompt
from app.gui.display.appearance import Language, Look
from app.gui.panels.conversation_view import QuestionCards
from app.gui.web_view import available
from app.gui.widgets.approval_card import HIGHEST_PAGE, LOWEST, PageCard, ViewerOffer
from app.gui.widgets.controls import TextBox
from app.gui.widgets.question_card import QuestionCard
from app.storage.paths import resources_dir
from tests.app_driver import until
from tests.gui.seen import inside, shown_card
from tests.gui.web_engine import web_engine  # noqa: F401

PROMPT = Prompt(
    question="Which day?\u202e",
    tool="pages__day",
    server="pa<b>ges",
    arguments='{"which": "x"}',
    reason="page",
)
HTML = "<h1>Pick</h1>"

# The engine says how it draws; that is no fault of ours.
pytestmark = pytest.mark.no_qt_log
needs_view = pytest.mark.skipif(not available(), reason="needs the extra `webui`")


class Made:
    """A card that is shown, with what it emitted."""

    def __init__(self, card: PageCard) -> None:
        self.card = card
        self.answers: list[str] = []
        self.links: list[str] = []
        card.answered.connect(self.answers.append)
        card.dismissed.connect(lambda: self.answers.append("(skipped)"))
        card.link_requested.connect(self.links.append)

    @property
    def box(self) -> TextBox:
        """The box for an answer of one's own words."""
        return inside(self.card, "prompt_text", TextBox)

    @property
    def view(self) -> QWidget | None:
        """The page itself while it is shown."""
        return self._there("page_view")

    @property
    def asked(self) -> QWidget | None:
        """The card that asks whether a tool of the page may run."""
        return self._there("page_tool")

    def _there(self, name: str) -> QWidget | None:
        found = self.card.findChildren(QWidget, name)
        return next((one for one in found if not one.isHidden()), None)

    def text(self, name: str) -> str:
        label = self.card.findChild(QLabel, name)
        return "" if label is None or label.isHidden() else label.text()


def asked(text: str = HTML, mime: str = "text/html", **fields: object) -> Message:
    """Return a message that asks with a page."""
    resource = {"uri": "ui://day/1", "mimeType": mime, "text": text, **fields}
    return Message(
        id="m",
        turn_id="t",
        role="tool",
        author=Author(id="a", name="Main"),
        content="Which day?",
        prompt=PROMPT,
        resources=({"type": "resource", "resource": resource},),
    )


@pytest.fixture
def made(qtbot, qapp) -> Callable[..., Made]:
    words = Language(resources_dir() / "i18n", "en")
    look = Look(qapp, resources_dir(), "light")

    def make(text: str = HTML, mime: str = "text/html", **fields: object) -> Made:
        message = asked(text, mime, **fields)
        card = PageCard(words, look, message, ViewerOffer())
        return Made(shown_card(qtbot, card))

    return make


def test_it_says_whose_page_it_is_and_shows_none_of_it(made, monkeypatch):
    monkeypatch.setattr("app.gui.widgets.approval_card.available", lambda: False)
    one = made("<script>x()</script>")
    assert isinstance(one.card, QuestionCard)
    assert one.text("page_from") == "Page from pa<b>ges · pages__day"
    assert one.card.accessibleName() == "Which day?⟨U+202E⟩"
    # Where the viewer cannot be installed either, as in a double-click build, nothing offers it.
    assert "This copy of Moot can’t show pages" in one.text("page_note")
    assert not inside(one.card, "page_viewer").isVisible()
    assert not one.card.show_page.isVisible()
    assert not any("script" in label.text() for label in one.card.findChildren(QLabel))


def test_without_the_view_the_words_of_the_page_are_shown(made, monkeypatch):
    monkeypatch.setattr("app.gui.widgets.approval_card.available", lambda: False)
    page = (
        "<!doctype html><head><title>T</title><style>p{}</style></head><body><h1>Pick <b>one</b> day</h1>"
        '<p>A &amp;&lt;i> B<br>C\u202e</p><script>alert("<p>x</p>")</script><button>Mon</button> 3 < 4'
    )
    assert made(page).text("page_text") == "Pick one day\nA &<i> B\nC⟨U+202E⟩\nMon\n3 < 4"
    assert made("<script>x()</script>").text("page_text") == ""
    assert len(made("<p>word</p>" * 50_000).text("page_text")) <= 2_000


def test_without_the_view_it_is_answered_or_skipped(made, monkeypatch):
    monkeypatch.setattr("app.gui.widgets.approval_card.available", lambda: False)
    one = made()
    QTest.keyClicks(one.box, "Monday")
    QTest.keyClick(one.box, Qt.Key.Key_Return)
    assert one.answers == ["Monday"]
    other = made()
    QTest.mouseClick(inside(other.card, "prompt_skip"), Qt.MouseButton.LeftButton)
    assert other.answers == ["(skipped)"]


def test_an_address_asks_for_the_link_and_answers_nothing(made):
    one = made("https://exämple.org/day?x=1", "text/uri-list")
    assert one.card.show_page.text() == "Open xn--exmple-cua.org in browser…"
    QTest.mouseClick(one.card.show_page, Qt.MouseButton.LeftButton)
    assert (one.links, one.answers) == (["https://exämple.org/day?x=1"], [])


def test_in_a_chat_an_address_is_asked_for_once(qtbot, qapp, view):
    words, look = Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light")
    cards = QuestionCards(words, look, view, {}, names=dict, together=lambda one: (one,))
    links: list[str] = []
    cards.link_requested.connect(links.append)
    card = cards.make(asked("https://exämple.org/day", "text/uri-list"))
    qtbot.addWidget(card)
    card.show_page.click()
    assert links == ["https://exämple.org/day"]


@pytest.mark.parametrize(
    ("text", "mime", "named"),
    [
        ("root()", "application/vnd.mcp-ui.remote-dom+javascript; framework=react", "remote-dom"),
        ("{}", "application/json", "application/json"),
        ("javascript:x", "text/uri-list", "can’t be read"),
        ("x" * 2_000_001, "text/html", "too large"),
    ],
)
def test_what_cannot_be_shown_says_so_and_can_be_answered(made, text, mime, named):
    one = made(text, mime)
    assert named in one.text("page_note")
    assert not one.card.show_page.isVisible()
    assert one.box.isVisible() and inside(one.card, "prompt_skip").isVisible()


@pytest.mark.parametrize(
    ("user", "python", "said"), [(0, sys.executable, "as root"), (1000, "/bin/false", "allow")]
)
async def test_where_the_sandbox_cannot_start_the_page_is_refused_in_words(
    made, monkeypatch, user, python, said
):
    monkeypatch.setattr("app.gui.widgets.approval_card.available", lambda: True)
    monkeypatch.delenv("QTWEBENGINE_DISABLE_SANDBOX", raising=False)
    monkeypatch.delenv("QTWEBENGINE_CHROMIUM_FLAGS", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(sys, "executable", python)
    one = made("<p>Monday?</p>")
    assert one.text("page_text") == ""
    QTest.mouseClick(one.card.show_page, Qt.MouseButton.LeftButton)
    await until(lambda: said in one.text("page_note"))
    assert one.view is None and one.text("page_text") == "Monday?"
    assert not one.card.show_page.isVisible()
    QTest.keyClicks(one.box, "Monday")
    QTest.keyClick(one.box, Qt.Key.Key_Return)
    assert one.answers == ["Monday"]


async def test_the_window_does_not_wait_for_the_check_of_the_sandbox(made, monkeypatch):
    asked: list[int] = []
    ends = threading.Event()

    def check() -> str:
        asked.append(threading.get_ident())
        ends.wait(20.0)
        return "sandbox"

    monkeypatch.setattr("app.gui.widgets.approval_card.available", lambda: True)
    monkeypatch.setattr("app.gui.widgets.approval_card.sandbox_problem", check)
    one, answered = made("<p>Monday?</p>"), made("<p>Monday?</p>")
    for each in (one, one, answered):
        QTest.mouseClick(each.card.show_page, Qt.MouseButton.LeftButton)
    await until(lambda: len(asked) == 2)
    assert threading.get_ident() not in asked
    QTest.keyClicks(answered.box, "Monday")
    QTest.keyClick(answered.box, Qt.Key.Key_Return)
    assert (answered.answers, one.text("page_note")) == (["Monday"], "")
    ends.set()
    await until(lambda: "allow" in one.text("page_note"))
    assert answered.text("page_note") == "" and len(asked) == 2


async def opened(made, script: str) -> Made:
    """Show a page whose whole face is one button that runs `script` when it is clicked."""
    one = made(
        f"""<button id="go" style="position:fixed;inset:0">Go</button><script>
        const say = what => parent.postMessage(what, '*');
        document.getElementById('go').onclick = () => {{ {script} }};
        say({{ type: 'notify', payload: {{ message: 'ready' }} }});</script>"""
    )
    QTest.mouseClick(one.card.show_page, Qt.MouseButton.LeftButton)
    await until(lambda: "ready" in one.text("page_note"))
    await asyncio.sleep(0.3)
    return one


async def click(one: Made) -> None:
    view = one.view
    where = QPoint(view.width() // 2, view.height() // 2)
    QTest.mouseClick(view.focusProxy(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, where)
    await asyncio.sleep(0)


@needs_view
async def test_a_click_in_the_page_answers_the_question_once(made):
    one = await opened(
        made, "for (let n = 0; n < 3; n++) say({ type: 'prompt', payload: { prompt: 'Day ' + n } })"
    )
    assert one.text("page_note") == "pa<b>ges: ready"
    await click(one)
    await until(lambda: one.answers)
    await asyncio.sleep(0.3)
    assert one.answers == ["Day 0"]


@needs_view
async def test_what_a_page_answers_by_itself_is_only_suggested(made):
    one = await opened(made, "")
    one.view.said.emit('{"type": "prompt", "payload": {"prompt": "Sunday"}}', False)
    assert (one.answers, one.box.text()) == ([], "Sunday")
    one.view.said.emit('{"type": "link", "payload": {"url": "https://a.b/"}}', False)
    assert one.links == []
    assert "https://a.b/" in one.text("page_note")


@needs_view
async def test_a_link_asks_and_an_intent_is_an_answer(made):
    one = await opened(made, "say({ type: 'link', payload: { url: 'https://a.b/' } })")
    await click(one)
    await until(lambda: one.links)
    assert (one.links, one.answers) == (["https://a.b/"], [])
    one.view.said.emit('{"type": "intent", "payload": {"intent": "book", "params": {"n": 2}}}', True)
    assert one.answers == ['book {"n": 2}']


@needs_view
async def test_a_tool_asks_first_and_a_no_is_told_to_the_page(made):
    call = (
        "say({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'day', arguments: { n: 1 } } })"
    )
    one = await opened(
        made,
        call + "; addEventListener('message', event => say({ type: 'notify', payload: { message: 'told: ' "
        "+ event.data.error.message } }))",
    )
    await click(one)
    await until(lambda: one.asked is not None)
    asked = one.asked
    assert not asked.allow.isEnabled() and not asked.always.isVisible()
    QTest.mouseClick(asked.deny, Qt.MouseButton.LeftButton)
    await until(lambda: "told: The user did not allow it." in one.text("page_note"))
    assert one.answers == []
    await click(one)
    await until(lambda: one.asked is not None and one.asked.allow.isEnabled())
    QTest.mouseClick(one.asked.allow, Qt.MouseButton.LeftButton)
    assert one.answers == ['Please call the tool day with {"n": 1}']


@needs_view
async def test_a_page_has_the_height_it_wants_within_limits(made):
    one = await opened(made, "")
    for wanted, given in ((10, LOWEST), (200, 200), (90_000, HIGHEST_PAGE)):
        one.view.said.emit(f'{{"type": "ui-size-change", "payload": {{"height": {wanted}}}}}', False)
        assert one.view.height() == given
        assert one.card.heightForWidth(620) > given


@needs_view
async def test_a_page_that_dies_leaves_the_card_and_can_be_shown_again(made):
    one = await opened(made, "")
    os.kill(one.view.page().renderProcessPid(), 9)
    await until(lambda: one.view is None)
    assert "stopped working" in one.text("page_note")
    assert one.card.show_page.text() == "Show page"
    QTest.mouseClick(one.card.show_page, Qt.MouseButton.LeftButton)
    await until(lambda: "ready" in one.text("page_note"))
    QTest.mouseClick(one.card.show_page, Qt.MouseButton.LeftButton)
    assert one.view is None and one.text("page_note") == ""
    await asyncio.sleep(0.2)
