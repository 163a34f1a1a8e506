"""Assistants, groups or workflows in the settings: a list with buttons to edit one or create another."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.engine.engine import Engine
from app.gui.display.appearance import Language, Look
from app.gui.pages.settings.lists import TwoLineList
from app.gui.widgets.boxes import STRETCH, Stretch, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import Paragraph, say

ASSISTANTS, GROUPS, WORKFLOWS = "assistants", "groups", "workflows"


class PartnersPage(QWidget):
    """Lists the definitions of a kind; emits opened(id) to edit one, opened("") to create one."""

    opened = Signal(str)

    def __init__(self, language: Language, look: Look, engine: Engine, kind: str) -> None:
        super().__init__()
        self._language, self._engine, self._kind = language, engine, kind
        self._lead, self._none = Paragraph("card_text"), Paragraph("hint")
        self.list = TwoLineList(look, f"settings_{kind}_list")
        self._edit = say(button("", f"settings_{kind}_edit", self._open), language, "settings.edit")
        self._new = button("link", f"settings_{kind}_new", lambda: self.opened.emit(""))
        self._new.dress(look, "plus", "accent")
        vbox(
            self._lead,
            self._none,
            (self.list, 1),
            Stretch(0),
            hbox(self._new, STRETCH, self._edit),
            inside=self,
            margins=(22, 14, 22, 14),
            spacing=10,
        )
        self.list.itemActivated.connect(lambda _item: self._open())
        self.list.itemSelectionChanged.connect(
            lambda: self._edit.setEnabled(self.list.currentItem() is not None)
        )
        language.changed.connect(self.retranslate)
        self.retranslate()

    def refresh(self) -> None:
        """Read the list again."""
        row = max(0, self.list.currentRow())
        self.list.clear()
        for name, about, one in self._found():
            self.list.add_row(one, name, " ".join(about.split()))
        self.list.setCurrentRow(min(row, self.list.count() - 1))
        self.list.setVisible(self.list.count() > 0)
        self._none.setVisible(self.list.count() == 0)
        self._edit.setEnabled(self.list.count() > 0)

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        words, kind = self._language, self._kind
        self._lead.setText(words(f"settings.{kind}.text"))
        self._none.setText(words(f"settings.{kind}.none"))
        self.list.setAccessibleName(words(f"settings.{kind}"))
        self._new.setText(words(f"settings.{kind}.new"))
        self.refresh()

    def _found(self) -> list[tuple[str, str, str]]:
        """Return name, description and id of each definition."""
        engine, words = self._engine, self._language
        if self._kind == GROUPS:
            return [
                (one.name, words("settings.groups.count", count=len(one.members)), one.id)
                for one in engine.groups.all()
            ]
        if self._kind == WORKFLOWS:
            return [
                (one.name, words("settings.workflows.count", count=len(one.steps)), one.id)
                for one in engine.workflows.all()
            ]
        return [(one.name, one.description or one.model, one.id) for one in engine.assistants.all()]

    def _open(self) -> None:
        if chosen := self.list.chosen():
            self.opened.emit(chosen)
