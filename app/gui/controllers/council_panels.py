"""Panels: connects the menu of saved panels in Setup to the engine."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from app.core.council import Panel
from app.core.draft import SetupDraft
from app.core.session import DEFAULT_COUNCIL_ROUNDS, MIN_PARTICIPANTS, Debate, DebateMode, Participant
from app.core.text import exact
from app.engine.debate.setup import set_up_again
from app.engine.engine import Engine
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Controller
from app.gui.dialogs.ask_dialogs import ConfirmDialog, RenameDialog
from app.gui.files.shared_files import ask_for_file, ask_where, read_shared_file, write_shared_file
from app.gui.pages.chat.chat_composer import unmarked
from app.gui.panels.debate.setup_view import SetupView
from app.gui.tasks import Tasks
from app.gui.window_frame import WindowFrame


class PanelController(Controller):
    """Puts the participants of a panel into Setup, saves those set up as one, and shares panels as files."""

    def __init__(
        self, window: WindowFrame, engine: Engine, bridge: Bridge, tasks: Tasks, setup: SetupView
    ) -> None:
        super().__init__(window, engine, bridge, tasks)
        self._setup, self._panels = setup, engine.councils.panels
        # The menu is made when it is wanted: before a click opens it.
        setup.panels.pressed.connect(self.refresh)

    def refresh(self) -> None:
        """Show the panels as they are now in the menu."""
        words, menu = self._language, self._setup.panels.choices
        self._setup.panels.clear()
        panels = self._panels.all()
        for one in panels:
            names = ", ".join(exact(each.name) for each in one.participants)
            menu.addAction(f"{unmarked(exact(one.name))}  ({unmarked(names)})", partial(self._use, one))
        if panels:
            menu.addSeparator()
        menu.addAction(words("panel.assemble"), self._assemble)
        enough = len(self._setup.setup().participants) >= MIN_PARTICIPANTS
        menu.addAction(words("panel.save"), self._on_save).setEnabled(enough)
        menu.addAction(words("panel.import"), self._on_import)
        for key, act in (("panel.share", self._on_share), ("panel.delete", self._on_delete)):
            if panels:
                inside = menu.addMenu(words(key))
                for one in panels:
                    inside.addAction(unmarked(exact(one.name)), partial(act, one))

    def _use(self, panel: Panel) -> None:
        self._take(panel.participants, panel.rounds)

    def _assemble(self) -> None:
        participants = self._engine.councils.assembled()
        if len(participants) < MIN_PARTICIPANTS:
            self._toasts.show_toast(self._language("panel.too_few"))
        else:
            self._take(participants, DEFAULT_COUNCIL_ROUNDS)

    def _take(self, participants: tuple[Participant, ...], rounds: int) -> None:
        """Put participants into Setup in place of those that take part; the rest of it stays."""
        setup = self._setup
        offered = [one.participant for one in self._engine.debates.candidates()]
        shown = {one.id: one for one in (*offered, *setup.setup().participants)}
        again = set_up_again(
            Debate(topic="", mode=DebateMode.ROLES, participants=participants), tuple(shown.values())
        )
        draft = setup.draft
        seats = again.setup.seats if again.setup else ()
        setup.show_draft(
            replace(draft, setup=replace(draft.setup or SetupDraft(), seats=seats, rounds=rounds))
        )

    def _on_save(self) -> None:
        dialog = RenameDialog(self._language, "", self._window, "panel.name")
        setup = self._setup.setup()
        compare = self._window.welcome.compare.isChecked()

        def save(name: str) -> None:
            panel = Panel(id="", name=name, participants=setup.participants, compare=compare)
            self._start(self._panels.save(panel))

        dialog.named.connect(save)
        dialog.open()

    def _on_share(self, panel: Panel) -> None:
        text = self._panels.share(panel.id)
        ask_where(
            self._window,
            self._language("panel.share"),
            panel.name,
            lambda path: self._start(write_shared_file(self._toasts, self._language, path, text)),
        )

    def _on_delete(self, panel: Panel) -> None:
        self._start(self._panels.delete(panel.id))
        self._offer_undo(
            self._language("assistant.deleted", name=panel.name),
            lambda: self._start(self._panels.restore(panel)),
        )

    def _on_import(self) -> None:
        ask_for_file(
            self._window, self._language("panel.import"), lambda path: self._start(self._import(path))
        )

    async def _import(self, path: Path) -> None:
        """Show who is in a shared panel, with their instructions, and keep it if the user agrees. Raises BadInput."""
        shared = self._panels.read_shared(await read_shared_file(path))
        lines = []
        for one in shared.definition.participants:
            told = " ".join(exact(one.system_prompt or one.persona).split())
            lines.append(
                f"{exact(one.name)} · {exact(f'{one.provider}/{one.model}')}" + (f"\n{told}" if told else "")
            )
        dialog = ConfirmDialog(
            self._language,
            shared.definition.name,
            "\n".join(lines),
            self._language("panel.keep"),
            self._window,
        )
        dialog.accepted.connect(lambda: self._start(self._panels.bring_in(shared)))
        dialog.open()
