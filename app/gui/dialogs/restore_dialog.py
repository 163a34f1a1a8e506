"""What is in a backup, compared with now, before anything of it comes back."""

from collections import Counter

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.stored_data import BackupContents, Difference, PackedDocument
from app.gui.dialogs.selection_dialog import ChoosingDialog
from app.gui.display.i18n import Language
from app.gui.display.session_kinds import kind_text
from app.gui.display.style import Look
from app.gui.widgets.controls import TickBox
from app.gui.widgets.label import plain_label
from app.gui.widgets.wording import named


class RestoreDialog(ChoosingDialog):
    """Lets the user choose what comes back; emits `agreed`. What is here already is only counted."""

    agreed = Signal()

    def __init__(self, words: Language, look: Look, contents: BackupContents, parent: QWidget) -> None:
        super().__init__(
            words,
            look,
            parent,
            name="restore",
            title=words("restore.title", day=words.day_and_time(contents.backup.made_at)),
            choice=words("restore.sessions"),
            go=words("data.restore_now"),
        )
        self._contents = contents
        self._say(self._facts())
        self._missing = named("restore_documents", TickBox(look))
        self._changed = named("restore_replace", TickBox(look))
        note = plain_label("hint", wrap=True, text=words("restore.note"))
        self._fill()
        self._lay_out(self._missing, self._changed, note)
        self.resize(560, 480 if self.list.chosen() else 260)
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
        wanted = [
            one for one in self._contents.sessions if one.state in (Difference.MISSING, Difference.CHANGED)
        ]
        self.list.show_rows(
            [
                (one.id, one.title, f"{words(f'restore.{one.state}')} · {words.day(one.updated_at)}")
                for one in wanted
            ]
        )
        self.list.setVisible(bool(wanted))
        for box, state in ((self._missing, Difference.MISSING), (self._changed, Difference.CHANGED)):
            some = self._of(state)
            box.setText(words(f"restore.documents.{state}", what=self._counted(some)))
            box.setVisible(bool(some))
        self._missing.setChecked(bool(self._of(Difference.MISSING)))

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
        named = [f"{kind_text(kind, words)} {count}" for kind, count in kinds.items()]
        dates = sorted(one.updated_at for one in sessions if one.updated_at)
        lines = [words("restore.holds", count=len(sessions), kinds=", ".join(named))] if sessions else []
        if dates:
            lines.append(words.days(dates[0], dates[-1]))
        states = Counter(one.state for one in sessions)
        counted = [
            words(f"restore.count.{state}", count=states[state])
            for state in (Difference.MISSING, Difference.CHANGED, Difference.SAME, Difference.UNREADABLE)
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
