"""What is in a backup, compared with now, before anything of it comes back."""

from collections import Counter

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.core.archive import CHANGED, MISSING, SAME, UNREADABLE, BackupContents, PackedDocument
from app.gui.dialogs.tick_list import TickList
from app.gui.i18n import Language
from app.gui.session_list import KIND_ICONS
from app.gui.style import Look
from app.gui.widgets.controls import TickBox, button
from app.gui.widgets.label import plain_label


class RestoreDialog(QDialog):
    """Lets the user choose what comes back; emits `agreed`. What is here already is only counted."""

    agreed = Signal()

    def __init__(self, words: Language, look: Look, contents: BackupContents, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("restore_dialog")
        self._words = words
        self._contents = contents
        title = words("restore.title", day=words.day_and_time(contents.backup.made_at))
        self.setWindowTitle(title)
        heading = plain_label("page_title", wrap=True)
        heading.setText(title)
        self.facts = plain_label("card_text", wrap=True)
        self.facts.setObjectName("restore_facts")
        self.facts.setText("\n".join(self._facts()))
        self.list = TickList(words, look, "restore_sessions", words("restore.sessions"))
        self._missing = TickBox(look)
        self._missing.setObjectName("restore_documents")
        self._changed = TickBox(look)
        self._changed.setObjectName("restore_replace")
        self._go = button("primary", "restore_go")
        self._go.setText(words("data.restore_now"))
        cancel = button("", "restore_cancel")
        cancel.setText(words("dialog.cancel"))
        note = plain_label("hint", wrap=True)
        note.setText(words("restore.note"))
        self._fill()
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(cancel)
        foot.addWidget(self._go)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 18)
        column.setSpacing(10)
        for widget in (heading, self.facts):
            column.addWidget(widget)
        column.addWidget(self.list, 1)
        for box in (self._missing, self._changed, note):
            column.addWidget(box)
        column.addStretch(0)
        column.addLayout(foot)
        self.resize(560, 480 if self.list.chosen() else 260)
        self._go.setDefault(True)
        cancel.clicked.connect(self.reject)
        self._go.clicked.connect(self._on_go)
        self.list.changed.connect(self._show_go)
        for box in (self._missing, self._changed):
            box.toggled.connect(lambda _on: self._show_go())
        self._show_go()

    def sessions(self) -> list[str]:
        """Return the ids of the sessions that shall come back."""
        return self.list.chosen()

    def documents(self) -> bool:
        """Say whether what else is missing shall come back."""
        return self._missing.isChecked() or self.replace()

    def replace(self) -> bool:
        """Say whether documents that differ shall be replaced."""
        return self._changed.isChecked()

    def _fill(self) -> None:
        words = self._words
        wanted = [one for one in self._contents.sessions if one.state in (MISSING, CHANGED)]
        self.list.show_rows(
            [
                (one.id, one.title, f"{words(f'restore.{one.state}')} · {words.day(one.updated_at)}")
                for one in wanted
            ]
        )
        self.list.setVisible(bool(wanted))
        for box, state in ((self._missing, MISSING), (self._changed, CHANGED)):
            some = self._of(state)
            box.setText(words(f"restore.documents.{state}", what=self._counted(some)))
            box.setVisible(bool(some))
        self._missing.setChecked(bool(self._of(MISSING)))

    def _of(self, state: str) -> list[PackedDocument]:
        """Return the documents of a state that a person knows of."""
        known = [one for one in self._contents.documents if "/.versions/" not in one.name]
        return [one for one in known if one.state == state]

    def _counted(self, documents: list[PackedDocument]) -> str:
        counts = Counter(one.part for one in documents)
        return ", ".join(self._words(f"restore.part.{part}", count=count) for part, count in counts.items())

    def _facts(self) -> list[str]:
        words, sessions = self._words, self._contents.sessions
        kinds = Counter(one.kind for one in sessions)
        named = [
            f"{words(f'kind.{kind}') if kind in KIND_ICONS else kind} {count}"
            for kind, count in kinds.items()
        ]
        dates = sorted(one.updated_at for one in sessions if one.updated_at)
        lines = [words("restore.holds", count=len(sessions), kinds=", ".join(named))] if sessions else []
        if dates:
            first, last = words.day(dates[0]), words.day(dates[-1])
            lines.append(first if first == last else f"{first} – {last}")
        states = Counter(one.state for one in sessions)
        counted = [
            words(f"restore.count.{state}", count=states[state])
            for state in (MISSING, CHANGED, SAME, UNREADABLE)
            if states[state]
        ]
        if counted:
            lines.append(" · ".join(counted))
        return lines or [words("restore.nothing")]

    def _show_go(self) -> None:
        self._go.setEnabled(bool(self.sessions()) or self.documents())

    def _on_go(self) -> None:
        self.accept()
        self.agreed.emit()
