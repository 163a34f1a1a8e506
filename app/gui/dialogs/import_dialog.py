"""What a file from another program would bring, before anything of it is kept."""

from collections import Counter

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.text import visible
from app.engine.importing.sessions import Arrival, Arrivals
from app.gui.dialogs.selection_dialog import ChoosingDialog
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.label import plain_label
from app.gui.widgets.wording import named

FAULTS_SHOWN = 3


class ImportDialog(ChoosingDialog):
    """Lets the user choose which conversations come in; emits `agreed` with them."""

    agreed = Signal(object)

    def __init__(self, words: Language, look: Look, arrivals: Arrivals, parent: QWidget) -> None:
        super().__init__(
            words,
            look,
            parent,
            name="import",
            title=words("import.title"),
            choice=words("import.title"),
            go=words("import.go"),
        )
        self._arrivals = arrivals
        self._say(self._facts())
        self.list.show_rows(
            [
                (
                    one.session_id,
                    one.title,
                    f"{words('data.messages', count=one.messages)} · {words.day(one.last)}",
                )
                for one in arrivals.fresh
            ]
        )
        self.list.setVisible(bool(arrivals.fresh))
        faults = named(
            "import_faults", plain_label("warn", wrap=True, text=visible("\n".join(self._faults())))
        )
        faults.setVisible(bool(arrivals.faults))
        self._lay_out(faults)
        self.resize(560, 460 if arrivals.fresh else 200)
        self.list.changed.connect(self._show_go)
        self._show_go()

    def _facts(self) -> list[str]:
        words, sessions = self._words, self._arrivals.sessions
        apps = ", ".join(Counter(one.app for one in sessions))
        dates = sorted(filter(None, (date for one in sessions for date in (one.first, one.last))))
        lines = [words("import.holds", count=len(sessions), apps=apps)]
        if dates:
            lines.append(words.days(dates[0], dates[-1]))
        known = len(sessions) - len(self._arrivals.fresh)
        if known:
            lines.append(words("import.known", count=known))
        return lines

    def _faults(self) -> list[str]:
        faults = self._arrivals.faults
        lines = [self._words.problem(one.code, **one.details) for one in faults[:FAULTS_SHOWN]]
        return [self._words("import.faults", count=len(faults)), *lines]

    def _chosen(self) -> list[Arrival]:
        wanted = set(self.list.chosen())
        return [one for one in self._arrivals.fresh if one.session_id in wanted]

    def _show_go(self) -> None:
        self._go.setEnabled(bool(self.list.chosen()))

    def _on_go(self) -> None:
        chosen = self._chosen()
        self.accept()
        self.agreed.emit(chosen)
