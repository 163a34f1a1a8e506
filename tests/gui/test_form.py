"""A form of fields that are data: named, filled, read back, checked, and in the order of Tab."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QWidget

from app.core.provider import ProviderStatus
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import vbox
from app.gui.widgets.choices import ChipList, ChipOption
from app.gui.widgets.controls import Choice, NumberBox, TextBox, TickBox
from app.gui.widgets.form import Field, Form, Sentence, Steps
from app.gui.widgets.model_choice import ModelChoice
from app.gui.widgets.text import named
from tests.app_driver import until
from tests.builders import on_offer

RESOURCES = Path(__file__).parents[2] / "resources"


@dataclass(frozen=True)
class Record:
    """What the form of these tests shows."""

    name: str = ""
    line: str = ""
    tags: tuple[str, ...] = ()
    on: bool = False
    way: str = "wait"
    count: int = 1
    provider: str = ""
    model: str = ""


ROUTER: ProviderStatus = on_offer("Router", "small", "large")
WAYS = (("wait", "busy.do.wait"), ("queue", "busy.do.queue"))


class Made:
    """A form with a field of each kind, in a window with a button behind it."""

    def __init__(self, qapp) -> None:
        self.language, look = Language(RESOURCES / "i18n", "en"), Look(qapp, RESOURCES, "light")
        self.window = QWidget()
        self.name, self.lines = QLineEdit(), TextBox(submits=False)
        self.chips = ChipList(self.language, look, "tags")
        self.chips.set_offers([ChipOption("a", "A"), ChipOption("b", "B")])
        self.on, self.way = TickBox(look), Choice(look)
        self.count = NumberBox("count", 1, 9)
        self.model = ModelChoice(self.language, look)
        self.model.set_providers([ROUTER])
        self.form = Form(
            self.language,
            (
                Field("name", self.name, fits=bool, error="assistant.error.name"),
                Field("model", self.model, of=("provider", "model"), label="assistant.field.model"),
            ),
            Field("line", self.lines, hint="server.line.hint", help="saved_prompt.name"),
            Field("tags", self.chips, label="assistant.field.tools", hint="assistant.none.tools", card=True),
            Sentence(self.language, "group.turns", self.count),
            Field("on", self.on, text="group.ask"),
            Field("way", self.way, says="busy.by_role", options=WAYS, shown_when=self.on.isChecked),
            inner=(Field("count", self.count, says="group.turns.name"),),
            labels="server",
        )
        vbox(self.form, QPushButton("Behind"), inside=self.window)
        self.changes: list[str] = []
        self.form.changed.connect(self.changes.append)


@pytest.fixture
async def made(qapp):
    made = Made(qapp)
    made.form.lay_out()
    made.window.show()
    made.window.activateWindow()
    await until(made.window.isActiveWindow)
    yield made
    made.window.close()
    made.window.deleteLater()


def labels(row: QWidget) -> list[str]:
    return [label.text() for label in row.findChildren(QLabel) if label.isVisible()]


async def test_a_row_names_its_control_in_the_language_in_use(made):
    (label,) = filter(QLabel.isVisible, made.form.rows["name"].findChildren(QLabel))
    assert (label.text(), label.buddy()) == ("Name", made.name)
    assert made.name.accessibleName() == "Name"
    assert made.lines.accessibleName() == "Command line or address"
    assert made.lines.accessibleDescription() == "Name"
    assert made.count.accessibleName() == "Maximum number of orchestrator turns per message"
    assert made.chips.accessibleName() == "", "its buttons have names of their own"
    assert "npx" in made.lines.placeholderText()
    assert made.on.text() == made.language("group.ask") and labels(made.form.rows["on"]) == []
    made.language.choose("ko")
    assert (label.text(), made.name.accessibleName()) == ("이름", "이름")
    assert made.lines.placeholderText().startswith("예: npx")
    assert made.on.text() == made.language("group.ask")
    assert made.way.itemText(1) == made.language("busy.do.queue")


async def test_what_is_shown_is_read_back_and_only_the_users_changes_are_told(made):
    record = Record("Ada", "a b", ("b",), True, "queue", 4, "router", "large")
    made.form.fill(record)
    assert replace(Record(), **made.form.values()) == record
    assert (made.name.text(), made.way.currentData(), made.count.value()) == ("Ada", "queue", 4)
    assert made.chips.chosen() == ("b",) and made.model.currentText() == "Router / large"
    made.language.choose("ko")
    assert made.changes == [] and made.form.values()["way"] == "queue"
    QTest.keyClicks(made.name, " x")
    made.chips.choose("a")
    made.on.click()
    made.way.setCurrentIndex(0)
    made.count.setValue(5)
    made.model.setEditText("Router / small")
    assert made.changes == ["name", "tags", "on", "way", "count", "model"], "a blank is no other value"
    assert made.form.values() == {
        "name": "xAda", "provider": "router", "model": "small", "line": "a b", "tags": ("b", "a"),
        "on": False, "way": "wait", "count": 5,
    }  # fmt: skip


async def test_what_cannot_be_accepted_is_said_beside_its_field(made):
    made.form.fill(Record())
    wrong = made.form.rows["name"].error
    assert not made.form.complete and not wrong.isVisible()
    assert not made.form.check()
    assert (wrong.text(), wrong.isVisible()) == ("Enter a name.", True)
    made.name.setText("Ada")
    assert made.form.check() and made.form.complete
    assert not wrong.isVisible()
    made.model.setEditText("nobody / model")
    assert not made.form.complete, "no provider has that name"
    made.form.show_error("line", "Refused")
    assert labels(made.form.rows["line"])[-1] == "Refused"
    made.form.fill(Record())
    assert not made.form.rows["line"].error.isVisible()


async def test_a_row_is_shown_when_its_field_says_so(made):
    made.form.fill(Record())
    assert not made.way.isVisible()
    made.on.click()
    assert made.way.isVisible()
    made.form.fill(Record())
    assert not made.way.isVisible()


async def test_what_is_fixed_is_only_looked_at(made):
    made.form.fill(Record("Ada", tags=("a",), on=True), fixed=True)
    assert made.name.isReadOnly() and made.lines.isReadOnly() and made.count.isReadOnly()
    assert not made.on.isEnabled() and not made.way.isEnabled() and not made.chips.add.isVisible()
    made.language.choose("ko")
    assert made.lines.placeholderText() == ""
    made.form.fill(Record("Ada"))
    assert not made.name.isReadOnly() and made.on.isEnabled() and made.chips.add.isVisible()
    assert made.lines.placeholderText().startswith("예: npx")


async def test_side_by_side_stands_what_fits(made):
    for width, across in ((2_000, True), (200, False)):
        made.form.fit(width)
        await until(
            lambda across=across: (made.name.mapTo(made.form, made.name.rect().topLeft()).y()
                == made.model.mapTo(made.form, made.model.rect().topLeft()).y()) is across
        )  # fmt: skip


async def test_tab_follows_the_fields_whose_rows_come_in_steps(qapp):
    made = Made(qapp)
    made.form.fill(Record("Ada", tags=("a",), on=True))
    made.window.show()
    made.form.lay_out_in_steps()
    steps = made.form.findChild(Steps)
    assert not steps.is_done and not made.lines.isVisible()
    made.window.activateWindow()
    await until(made.window.isActiveWindow)
    await until(lambda: steps.is_done and made.way.isVisible())
    made.chips.choose("b")
    made.name.setFocus()
    stops = []
    for _ in range(9):
        stops.append(made.window.focusWidget())
        QTest.keyClick(made.window.focusWidget(), Qt.Key.Key_Tab)
    names = [stop.objectName() or stop.text() for stop in stops if isinstance(stop, QPushButton)]
    assert stops[:3] == [made.name, made.model, made.lines]
    assert names == ["tags_a", "tags_b", "Behind"]
    assert stops[5:8] == [made.count, made.on, made.way]
    made.window.close()
    made.window.deleteLater()


async def test_a_password_keeps_its_blanks(qapp):
    line = named("secret", QLineEdit())
    line.setEchoMode(QLineEdit.EchoMode.Password)
    form = Form(Language(RESOURCES / "i18n", "en"), Field("secret", line, says="panel.name")).lay_out()
    line.setText(" between us ")
    assert form.values() == {"secret": " between us "}
    line.setEchoMode(QLineEdit.EchoMode.Normal)
    assert form.values() == {"secret": "between us"}
    form.deleteLater()
