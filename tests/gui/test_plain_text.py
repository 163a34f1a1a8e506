"""Texts of models, files and servers are never markup: in no label, no tool tip, no box for typing."""

import ast
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from app.core.definitions import Agent
from app.gui.widgets.text import ElidedLabel, plain_tip
from tests.app_driver import at_window

GUI = Path(__file__).parents[2] / "app" / "gui"
EVIL = '<img src="file:///etc/passwd"><b>bold</b> &amp; <a href="file:///etc/passwd">x</a>'

# What needs no `plain_tip`: texts of the catalogue with at most a number put in, keys, nothing.
_FIXED = re.compile(
    r"""(words|style\.texts)\([^=]*\)|shortcut|''|f'\{name\}  \(Ctrl.*|f"\{name\} — \{words\('side.need_you', count=.*"""
)


@cache
def all_calls() -> list[tuple[str, str, ast.Call]]:
    """Return every call in the window: what is called, where, and the call."""
    return [
        (
            getattr(node.func, "attr", getattr(node.func, "id", "")),
            f"{path.relative_to(GUI)}:{node.lineno}",
            node,
        )
        for path in sorted(GUI.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


def calls(name: str) -> list[tuple[str, ast.Call]]:
    """Return every call of a function or a method of that name, with its place."""
    return [(at, call) for called, at, call in all_calls() if called == name]


@pytest.mark.slow
@pytest.mark.threat("T9")
@pytest.mark.parametrize("name", ["setToolTip", "showText"])
def test_every_tool_tip_is_plain(name: str) -> None:
    tips = [(at, ast.unparse(call.args[name == "showText"])) for at, call in calls(name)]
    assert tips
    assert [one for one in tips if "plain_tip(" not in one[1] and not _FIXED.fullmatch(one[1])] == []


@pytest.mark.threat("T9")
def test_no_label_is_made_with_a_text_and_nothing_shows_html() -> None:
    texts = [at for at, call in calls("QLabel") if call.args and ast.unparse(call.args[0]) != "parent"]
    assert texts == []
    for name in ("QTextBrowser", "QTextEdit", "setWhatsThis", "setMarkdown", "setHtml", "QMessageBox"):
        # The frame that pages of servers are shown in is a text of ours, and a memo holds escaped texts alone
        # (engine/test_memo.py).
        ours = ("web_view/", "dialogs/memo_dialog.py")
        assert [at for at, _ in calls(name) if not at.startswith(ours)] == [], name


@pytest.mark.threat("T9")
@pytest.mark.corpus(47)
def test_a_tool_tip_shows_markup_letter_by_letter(qtbot) -> None:
    assert plain_tip("a or b\nc") == "a or b\nc"
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.resize(40, 20)
    label.setText(EVIL)
    label.show()
    label.grab()
    shown = QTextEdit()
    qtbot.addWidget(shown)
    shown.setHtml(label.toolTip())
    assert shown.toPlainText() == EVIL
    assert "\ufffc" not in shown.toPlainText()  # where a picture would stand


@pytest.mark.slow
@pytest.mark.threat("T9", "T7")
@pytest.mark.corpus(36, 47)
async def test_hostile_names_are_letters_everywhere_in_the_window(qapp, data_dir: Path) -> None:
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        evil = Agent(
            id="evil", name="<b>Evil</b>", description=EVIL, role=EVIL, provider="embedded", model="x"
        )
        await engine.assistants.save(evil)
        await engine.assistants.save(replace(evil, id="evil2", name="Evil\u202e two", description="x\ny"))
        session_id = await engine.chats.start("evil", EVIL + "\n\u202egnp.exe")
        await engine.wait(session_id)
        person.window.controller.show_session(session_id)
        await person.settle(0.3)
        for widget in person.window.findChildren(QWidget):
            tip = widget.toolTip()
            assert "<" not in tip or tip.startswith('<span style="white-space'), (widget, tip)
            if isinstance(widget, QLabel) and "<" in widget.text():
                assert widget.textFormat() == Qt.TextFormat.PlainText, widget
        assert "\n" not in person.window.windowTitle()


@pytest.mark.threat("T23")
async def test_what_is_pasted_is_letters(qapp, data_dir: Path) -> None:
    async with at_window(data_dir) as person:
        data = QMimeData()
        data.setHtml('<b>bold</b><img src="file:///etc/passwd"><a href="javascript:alert(1)">link</a>')
        data.setText("bold link")
        QGuiApplication.clipboard().setMimeData(data)
        assert person.window.findChildren(QTextEdit) == []
        boxes = [*person.window.findChildren(QPlainTextEdit), *person.window.findChildren(QLineEdit)]
        boxes = [box for box in boxes if not box.isReadOnly() and box.isEnabled()]
        assert len(boxes) >= 3
        for box in boxes:
            box.clear()
            box.paste()
            text = box.toPlainText() if isinstance(box, QPlainTextEdit) else box.text()
            assert text == "bold link", box.objectName()
            box.clear()
        QGuiApplication.clipboard().clear()
