"""Dialogs that show what a file holds and let the user choose what to import or restore."""

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.stored_data import BackupContents, Difference, PackedDocument
from app.core.text import exact, visible
from app.core.tool import ServerResource
from app.engine.importing.sessions import Arrival, Arrivals
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import kind_text
from app.gui.pages.settings.lists import TickList
from app.gui.widgets.boxes import Stretch
from app.gui.widgets.controls import TickBox
from app.gui.widgets.text import named, plain_label

FAULTS_SHOWN = 3


class ChoosingDialog(AskDialog):
    """Facts about a file, and a list of what to take from it."""

    def __init__(
        self, words: Language, look: Look, parent: QWidget, *, name: str, title: str, choice: str, go: str
    ) -> None:
        """`name` begins the object names; `choice` is the accessible name of the list, `go` the button's text."""
        super().__init__(words, parent, name, title, ("go", go))
        self.facts = named(f"{name}_facts", plain_label("card_text", wrap=True))
        self.list = TickList(words, look, f"{name}_sessions", choice)

    def _lay_out(self, *below: QWidget) -> None:
        """Lay out the dialog with these widgets under the list."""
        self.arrange(self.heading, self.facts, (self.list, 1), *below, Stretch(0))

    def _say(self, lines: Sequence[str]) -> None:
        self.facts.setText(visible("\n".join(lines)))


class ImportDialog(ChoosingDialog):
    """Lets the user choose which conversations to import; emits `agreed` with them."""

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
        self.go.setEnabled(bool(self.list.chosen()))

    def _on_go(self) -> None:
        chosen = self._chosen()
        self.accept()
        self.agreed.emit(chosen)


class RestoreDialog(ChoosingDialog):
    """Lets the user choose what to restore from a backup; what has not changed is only counted."""

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
        """Return the ids of the sessions to restore."""
        return self.list.chosen()

    def documents(self) -> bool:
        """Return whether to restore missing documents."""
        return self._missing.isChecked() or self.replace()

    def replace(self) -> bool:
        """Return whether to replace documents that differ."""
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
        """Return the documents in a state, without earlier versions."""
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
        self.go.setEnabled(bool(self.sessions()) or self.documents())


class ResourcesDialog(AskDialog):
    """Lets the user choose what to attach of an MCP server's resources; emits `chosen` with them."""

    chosen = Signal(object)

    def __init__(
        self, words: Language, look: Look, server: str, resources: Sequence[ServerResource], parent: QWidget
    ) -> None:
        title = words("resources.title", name=exact(server))
        super().__init__(words, parent, "resources", title, ("attach", words("resources.attach")))
        self._resources = {one.uri: one for one in resources}
        self.list = TickList(words, look, "resources_list", title)
        self.list.show_rows(
            [(one.uri, one.name, one.description or one.uri) for one in self._resources.values()],
            ticked=False,
        )
        self.list.changed.connect(self._show_go)
        none = plain_label("hint", wrap=True, text=words("resources.none"))
        none.setVisible(not resources)
        self.arrange(self.heading, none, (self.list, 1))
        self.resize(560, 420)
        self._show_go()

    def _show_go(self) -> None:
        self.go.setEnabled(bool(self.list.chosen()))

    def _on_go(self) -> None:
        chosen = [self._resources[uri] for uri in self.list.chosen()]
        self.accept()
        self.chosen.emit(chosen)
