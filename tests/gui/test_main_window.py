"""The window as a whole: keys, sizes, languages, memory, notices, links, and that it ends cleanly."""

import gc
import weakref

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.core.errors import DataDirectoryBusy
from app.core.events import Notice
from app.gui.dialogs.ask_dialogs import may_open
from app.main import open_window
from tests.app_driver import Person, at_window, until


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        yield person


def cut_off(person: Person) -> list[str]:
    """Return the labels and buttons on screen that are too narrow for their text, or past the edge."""
    found = []
    for kind in (QLabel, QPushButton):
        for widget in person.window.findChildren(kind):
            if not widget.isVisible() or not widget.text():
                continue
            wraps = isinstance(widget, QLabel) and widget.wordWrap()
            needed = max(
                QFontMetrics(widget.font()).horizontalAdvance(word)
                for word in (widget.text().split() if wraps else widget.text().splitlines())
            )
            if widget.width() < needed:
                found.append(f"{widget.text()!r}: {widget.width()} < {needed}")
            holder = widget.parentWidget()
            if holder is not None and widget.geometry().right() > holder.width():
                found.append(f"{widget.text()!r} leaves {type(holder).__name__}")
    return found


class FirstPaints(QObject):
    """Notes where each button was in the window, and its text, when it was painted first."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, tuple[str, QRect]] = {}

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - the name is Qt's
        if event.type() == QEvent.Type.Paint and isinstance(watched, QPushButton):
            self.places.setdefault(watched.objectName(), (watched.text(), place_of(watched)))
        return False


def place_of(widget: QWidget) -> QRect:
    """Return where a widget is in its window."""
    return QRect(widget.mapTo(widget.window(), QPoint()), widget.size())


@pytest.mark.slow
@pytest.mark.parametrize("language", ["ko", "en"])
async def test_what_is_painted_first_is_where_it_stays(qapp, data_dir, language):
    first = FirstPaints()
    qapp.installEventFilter(first)
    try:
        async with at_window(data_dir, language=language) as person:
            await person.settle(0.3)
            # What a provider's answer brings may need another width.
            same = {
                name: place
                for name, (text, place) in first.places.items()
                if name and person.sees(name) and person.find(name, QPushButton).text() == text
            }
            assert len(same) > 5
            assert {name: place_of(person.find(name)) for name in same} == same
    finally:
        qapp.removeEventFilter(first)


@pytest.mark.parametrize("language", ["ko", pytest.param("en", marks=pytest.mark.slow)])
async def test_nothing_is_cut_off_in_the_smallest_window(qapp, data_dir, language):
    async with at_window(data_dir, language=language, size=(900, 600)) as person:
        window = person.window
        await person.settle()
        assert cut_off(person) == []
        window.controller.debates.show_setup("Should cities ban private cars from their centres?")
        await person.click("segment_roles")
        await person.settle()
        assert cut_off(person) == []
        for card in window.controller.panel.setup.seats.cards:
            assert (
                card.mapTo(window.controller.panel.setup, card.rect().topRight()).x()
                <= window.controller.panel.setup.width()
            )
        for tab in (1, 2):
            window.controller.panel.tabs.choose(tab)
            await person.settle()
            assert cut_off(person) == []


@pytest.mark.slow
async def test_keys_reach_everything(person):
    window = person.window
    window.activateWindow()

    def press(key: Qt.Key) -> None:
        QTest.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)

    assert not window.controller.panel.isVisible()
    press(Qt.Key.Key_D)
    assert window.controller.panel.isVisible()
    press(Qt.Key.Key_3)
    assert window.controller.panel.tabs.current() == 2
    press(Qt.Key.Key_1)
    assert window.controller.panel.tabs.current() == 0
    press(Qt.Key.Key_N)
    assert person.find("composer").hasFocus()
    press(Qt.Key.Key_B)
    assert not window.side_bar.isVisible()
    assert window.top_bar.side_button.isVisible()
    press(Qt.Key.Key_K)
    assert person.find("palette_box").hasFocus()
    press(Qt.Key.Key_K)
    assert not person.sees("palette")
    press(Qt.Key.Key_Comma)
    await until(lambda: person.sees("settings_page"))
    person.find("settings_close").click()
    press(Qt.Key.Key_D)
    assert not window.controller.panel.isVisible()


@pytest.mark.slow
async def test_language_and_theme_are_switched_live(person):
    window = person.window
    window.controller.debates.show_setup()
    window.controller.settings.open("appearance")
    await until(lambda: person.sees("settings_page"))
    await person.choose("setting_language", "한국어")
    assert window.controller.panel.setup.start.text() == "참가자 2명으로 시작"
    assert window.side_bar.new_button.text() == "새로 만들기"
    assert window.first_page.mode.accessibleName() == "시작할 것"
    await person.choose("setting_theme", "어둡게")
    assert window.look.tokens.dark
    person.find("settings_close").click()
    await until(lambda: not window.controller.tasks.running("save settings"))
    assert window.controller.engine.settings().language == "ko"


@pytest.mark.slow
async def test_the_window_remembers(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.debates.show_setup("An unfinished topic")
        person.window.controller.panel.tabs.choose(2)
        person.window.show_side(False)
    async with at_window(data_dir) as person:
        window = person.window
        assert window.controller.panel.isVisible()
        assert window.controller.panel.tabs.current() == 2
        assert not window.side_bar.isVisible()
        assert window.controller.panel.setup.topic.text() == "An unfinished topic"


@pytest.mark.slow
async def test_a_window_that_is_hidden_before_it_ends_remembers_what_was_open(qapp, data_dir):
    """As at the close button: what is on screen goes at once, saving may take a moment."""
    async with at_window(data_dir) as person:
        person.window.controller.debates.show_setup()
        person.window.hide()
    async with at_window(data_dir) as person:
        assert person.window.controller.panel.isVisible()
        assert person.window.side_bar.isVisible()


async def test_the_topic_can_be_typed_at_once_and_the_window_fits_the_screen(qapp, data_dir):
    window = await open_window(data_dir)
    try:
        window.activateWindow()
        await until(lambda: window.focusWidget() is window.chat_page.chat_composer.box)
        screen = window.screen().availableSize()  # in the tests narrower than the smallest window
        assert window.height() < screen.height()
    finally:
        await window.shutdown()


async def test_a_notice_about_lost_work_stays_and_others_leave(person):
    bus = person.window.controller.engine.bus
    bus.publish(Notice(session_id="", level="error", code="save_failed", sticky=True))
    assert person.window.banner.isVisible()
    bus.publish(Notice(session_id="", level="info", code="saved_again"))
    assert not person.window.banner.isVisible()
    bus.publish(Notice(session_id="", level="error", code="save_failed", sticky=True))
    await person.click("notice_close")
    assert not person.window.banner.isVisible()
    bus.publish(Notice(session_id="", level="info", code="unheard_of"))
    await until(lambda: person.sees("toast"))


@pytest.mark.slow
async def test_files_that_cannot_be_used_are_named_where_it_can_be_read(qapp, data_dir):
    data_dir.mkdir(exist_ok=True)
    (data_dir / "settings.json").touch()
    row = '{"version": 1, "providers": [{"id": "openai", "kind": "opanai"}]}'
    (data_dir / "providers.json").write_text(row)
    async with at_window(data_dir) as person:
        toasts = person.window.toasts
        [label] = toasts.findChildren(QLabel)
        assert label.text() == "2 problems in your files. The first: settings.json: the file is empty"
        await person.settle()
        assert label.height() >= label.fontMetrics().height()
        assert not toasts.undo(), "where it leads is nothing to undo"
        await person.click("toast_action")
        dialog = person.find("settings_page")
        await until(lambda: dialog.page("data").isVisible())
        seen = [label for label in dialog.findChildren(QLabel) if not label.visibleRegion().isEmpty()]
        [shown] = [label.text() for label in seen if "settings.json" in label.text()]
        assert "settings.json: the file is empty" in shown
        assert "providers.json:1 providers[0].kind" in shown and "opanai" in shown
        person.find("settings_close").click()
    assert (data_dir / "settings.json").read_bytes() == b""


@pytest.mark.threat("T8")
@pytest.mark.corpus(45, 46)
@pytest.mark.parametrize(
    ("url", "opens"),
    [
        ("https://example.org/a?b=c", True),
        ("mailto:a@example.org", True),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("https://", False),
        ("smb://host/share", False),
        ("https://example.org/" + "a" * 3_000, False),
    ],
)
def test_only_web_and_mail_links_open(url, opens):
    assert may_open(url) is opens


@pytest.mark.threat("T8")
@pytest.mark.corpus(45, 46)
async def test_a_link_asks_with_its_whole_host(person):
    person.window.controller.sessions.open_link("https://xn--pple-43d.com/login", "apple.com")
    await until(lambda: person.sees("link_dialog"))
    assert person.find("link_host", QLabel).text() == "xn--pple-43d.com"
    await person.click("link_cancel")
    person.window.controller.sessions.open_link("file:///etc/passwd", "notes")
    await person.settle()
    assert not person.sees("link_dialog")
    assert person.sees("toast")


@pytest.mark.slow
async def test_a_second_window_is_refused(person, data_dir):
    with pytest.raises(DataDirectoryBusy):
        await open_window(data_dir)


@pytest.mark.slow
async def test_closing_asks_for_an_orderly_end(person):
    asked = []
    person.window.close_requested.connect(lambda: asked.append(True))
    person.window.close()
    assert asked == [True]
    assert person.window.isVisible()


@pytest.mark.slow
async def test_a_closed_window_is_freed(qapp, data_dir):
    async with at_window(data_dir) as person:
        kept = weakref.ref(person.window)
    del person
    await until(lambda: gc.collect() >= 0 and kept() is None, 10, "the window to be freed")
