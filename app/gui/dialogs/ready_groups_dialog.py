"""The groups that come with Moot, a line about each; one is chosen and brought in."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from app.core.agent import Group
from app.engine.library.definitions import Shared
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.pages.settings.two_line_item import TwoLineDelegate
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import Paragraph, plain_label, plain_tip
from app.gui.widgets.wording import named


class ReadyGroupsDialog(QDialog):
    """Lists the ready-made groups by the names of their files; emits `chosen` with one of these."""

    chosen = Signal(str)

    def __init__(
        self, words: Language, look: Look, groups: Mapping[str, Shared[Group]], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("ready_groups_dialog")
        self.setWindowTitle(words("ready_group.title"))
        self._words = words
        self._groups = groups
        lead = plain_label("hint", wrap=True, text=words("ready_group.lead"))
        self._list = named("ready_groups", QListWidget())
        self._list.setItemDelegate(TwoLineDelegate(look, self._list))
        self._list.setMouseTracking(True)
        self._list.setAccessibleName(words("ready_group.title"))
        for stem, shared in groups.items():
            about = words(f"ready_group.{stem}")
            item = QListWidgetItem(f"{shared.definition.name}\n{about}")
            item.setData(Qt.ItemDataRole.UserRole, stem)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{shared.definition.name}, {about}")
            item.setToolTip(plain_tip(about))
            self._list.addItem(item)
        self._members = Paragraph("card_text")
        cancel = button("", "ready_cancel", text=words("dialog.cancel"))
        self._take = button("primary", "ready_take", self._on_take, text=words("ready_group.take"))
        self._take.setDefault(True)
        vbox(
            lead,
            (self._list, 1),
            self._members,
            hbox(STRETCH, cancel, self._take),
            inside=self,
            margins=(18, 16, 18, 16),
            spacing=10,
        )
        self.resize(560, 420)
        self._list.currentItemChanged.connect(lambda _now, _before: self._on_current_changed())
        self._list.itemDoubleClicked.connect(lambda _item: self._on_take())
        cancel.clicked.connect(self.reject)
        self._list.setCurrentRow(0)
        self._list.setFocus()

    def _stem(self) -> str:
        item = self._list.currentItem()
        return str(item.data(Qt.ItemDataRole.UserRole))

    def _on_current_changed(self) -> None:
        shared = self._groups[self._stem()]
        names = ", ".join(one.definition.name for one in shared.members)
        self._members.setText(f"{self._words('group.members')}: {names}")

    def _on_take(self) -> None:
        stem = self._stem()
        self.accept()
        self.chosen.emit(stem)
