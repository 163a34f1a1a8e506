"""A section of the side bar: its title, the button that adds something, the list, and a hint while it is empty."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from app.gui.display.style import Look
from app.gui.navigation.partner_list import Partner, PartnerList
from app.gui.widgets.controls import ShorteningButton, icon_button, name_button
from app.gui.widgets.label import plain_label

Action = tuple[str, Callable[[], object]]


class SideSection(QWidget):
    """A list of partners under its title; where it is empty, one sentence and one button."""

    def __init__(self, look: Look, partners: PartnerList, name: str) -> None:
        super().__init__()
        self.partners = partners
        self._title = plain_label("section")
        self._add = icon_button(look, "plus", f"{name}_add")
        self._add.setFixedSize(26, 24)
        self._menu = QMenu(self._add)
        self._add.setMenu(self._menu)
        self._add.setPopupMode(self._add.ToolButtonPopupMode.InstantPopup)
        self._hint = plain_label("hint", wrap=True)
        self._hint.setContentsMargins(8, 2, 4, 0)
        self.first = ShorteningButton("link", f"{name}_first")
        self.first.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._empty = QWidget()
        first = QHBoxLayout()
        first.setContentsMargins(4, 0, 0, 0)
        first.addWidget(self.first)
        first.addStretch(1)
        empty = QVBoxLayout(self._empty)
        empty.setContentsMargins(0, 0, 0, 0)
        empty.setSpacing(2)
        empty.addWidget(self._hint)
        empty.addLayout(first)
        head = QHBoxLayout()
        head.setContentsMargins(8, 2, 3, 0)
        head.addWidget(self._title, 1)
        head.addWidget(self._add)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(partners)
        column.addWidget(self._empty)
        self._has_hint = False
        self.show_partners(())

    def show_partners(self, partners: Sequence[Partner]) -> None:
        """Show these rows in this order."""
        self.partners.show_partners(partners)
        self._empty.setVisible(self._has_hint and not partners)

    def set_words(
        self, title: str, add: str, actions: Sequence[Action], hint: str = "", first: str = ""
    ) -> None:
        """Name everything; `actions` are the lines of the menu, `hint` and `first` for the empty list."""
        self._title.setText(title.upper())
        name_button(self._add, add)
        self._menu.clear()
        for text, act in actions:
            self._menu.addAction(text, act)
        self.partners.setAccessibleName(title)
        self._hint.setText(hint)
        self.first.show_words(first)
        self._has_hint = bool(hint)
        self._empty.setVisible(self._has_hint and not self.partners.count())
