"""A person at the window: opens it, clicks by object name, types, and reads what is on the screen.

Used by the window's tests, the stories and the screenshots. Never waits inside a Qt loop.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QToolButton,
    QWidget,
)

from app.gui.main_window import MainWindow
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.controls import MenuButton
from app.gui.widgets.form import Steps
from app.main import open_window

Kind = TypeVar("Kind", bound=QWidget)


async def until(condition: Callable[[], object], seconds: float = 60.0, what: str = "") -> None:
    """Return once the condition holds; fail when it does not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {what or condition}"
        await asyncio.sleep(0.01)


class Person:
    """Acts on one window as its user does."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window

    def find(self, name: str, kind: type[Kind] = QWidget) -> Kind:  # type: ignore[assignment]
        """Return the widget of that object name, in the window or a dialog over it."""
        roots = (self.window, *QApplication.topLevelWidgets())
        found = _found(roots, name, kind)
        if found is None:
            # It may be in a part of a page that is not built yet.
            for steps in [one for root in roots for one in root.findChildren(Steps)]:
                steps.finish()
            found = _found(roots, name, kind)
        assert found is not None, f"nothing is called {name}"
        return found

    def sees(self, name: str) -> bool:
        """Say whether a widget of that name is on the screen."""
        try:
            return self.find(name).isVisible()
        except AssertionError:
            return False

    async def click(self, name: str) -> None:
        """Click the middle of a widget that can be seen and used; open the sidebar for what is in it."""
        widget = self.find(name)
        if self.window.side_bar.isAncestorOf(widget) and self.window.side_bar.isHidden():
            await self.click("side_button")
        if widget in self.window.top_bar.panel_buttons and widget.isHidden():
            # It is there once the panel has something to show; its key always is.
            QTest.keySequence(self.window, self.window.language.keys(name.removesuffix("_button")))
        else:
            await until(lambda: widget.isVisible() and widget.isEnabled(), what=f"{name} to be there")
            QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
        await asyncio.sleep(0)

    async def write(self, name: str, text: str) -> None:
        """Put text into a box, in place of what is there."""
        box = self.find(name)
        box.setFocus()
        if isinstance(box, QPlainTextEdit):
            box.selectAll()
            box.insertPlainText(text)
        else:
            assert isinstance(box, QLineEdit)
            box.setText(text)
        await asyncio.sleep(0)

    async def press(self, name: str, key: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
        """Press a key in a widget."""
        QTest.keyClick(self.find(name), key, modifier or Qt.KeyboardModifier.NoModifier)
        await asyncio.sleep(0)

    def use_keyboard(self) -> None:
        """Press a key in the window itself; rings are drawn around the focus from then on."""
        QTest.keyClick(self.window.windowHandle(), Qt.Key.Key_Tab)

    async def choose(self, name: str, text: str) -> None:
        """Choose a line of a drop-down list."""
        box = self.find(name, QComboBox)
        index = box.findText(text)
        assert index >= 0, f"{name} has no {text}"
        box.setCurrentIndex(index)
        box.activated.emit(index)
        await asyncio.sleep(0)

    def choose_from(self, name: str, text: str) -> None:
        """Choose an entry of the menu that a button opens, also one in a menu inside."""
        button = self.find(name, MenuButton)
        button.choices.aboutToShow.emit()
        menus = (button.choices, *button.choices.findChildren(QMenu))
        entries = {one.text(): one for menu in menus for one in menu.actions() if one.menu() is None}
        assert text in entries, f"{name} has {', '.join(entries)}"
        entries[text].trigger()

    def choose_new(self, what: str, key: str) -> None:
        """Choose an entry of the menu beside a title of the team in the sidebar by the key of its text."""
        text = self.window.language(key)
        [entry] = [
            one for one in self.find(f"{what}_add", QToolButton).menu().actions() if one.text() == text
        ]
        entry.trigger()

    def choose_file(self, path: Path) -> None:
        """Choose a file in the dialog that asks for one, which then goes."""
        [dialog] = self.window.findChildren(QFileDialog)
        dialog.fileSelected.emit(str(path))
        dialog.reject()

    def transcript(self, name: str = "debate_transcript") -> list[str]:
        """Return what a screen reader reads of each message."""
        view = self.find(name, TranscriptView)
        return [view.describe(message_id) for message_id in list(view.message_ids)]

    def hint(self) -> str:
        """Return what stands beside Send."""
        return self.window.chat_page.composer._hint.text()

    def unfold_team(self) -> None:
        """Show the lists of assistants, groups and panels in the sidebar, which a narrow window folds away."""
        self.window.show_side(True)
        self.window.side_bar.team.title.setChecked(False)

    async def settle(self, seconds: float = 0.05) -> None:
        """Let the window draw what is pending."""
        await asyncio.sleep(seconds)

    def click_row(self, name: str, row: int) -> None:
        """Click a row of a list."""
        view = self.find(name)
        point: QPoint = view.visualRect(view.model().index(row, 0)).center()  # type: ignore[attr-defined]
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)  # type: ignore[attr-defined]


def _found(roots: Sequence[QWidget], name: str, kind: type[Kind]) -> Kind | None:
    for root in roots:
        if root.objectName() == name and isinstance(root, kind):
            return root
        found = root.findChild(kind, name)
        if found is not None:
            return found
    return None


@asynccontextmanager
async def at_window(
    data_dir: Path,
    *,
    language: str = "en",
    theme: str = "light",
    size: tuple[int, int] = (1440, 900),
    catalogue: Path | None = None,
) -> AsyncIterator[Person]:
    """Open the window on a data directory; close it whatever happens."""
    window = await open_window(data_dir, language=language, theme=theme, catalogue=catalogue)
    window.resize(*size)
    try:
        # A person does not act before the window has settled.
        for begun in ("look up keys", "look for servers"):
            await until(lambda begun=begun: not window.controller.tasks.running(begun))
        yield Person(window)
    finally:
        await window.shutdown()
