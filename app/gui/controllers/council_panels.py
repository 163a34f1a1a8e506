"""Panels: connects the sidebar's list of panels, and the menu in Setup, to the engine."""

from dataclasses import replace
from functools import partial

from app.core.council import Panel
from app.core.draft import SetupDraft
from app.core.session import DEFAULT_COUNCIL_ROUNDS, MIN_PARTICIPANTS, Debate, DebateMode, Participant
from app.core.text import exact
from app.engine.debate.setup import set_up_again
from app.gui.controllers.controller import Parts
from app.gui.controllers.definitions import DefinitionCommands, DefinitionTexts, Edit, SharedKinds
from app.gui.dialogs.panel_dialog import PanelDialog
from app.gui.navigation.partner_list import panel_partners
from app.gui.pages.chat.chat_composer import unmarked
from app.gui.panels.debate.setup_view import SetupView
from app.gui.window_frame import WindowFrame

TEXTS = DefinitionTexts(new="panel.new", bring_in="panel.import")


class PanelCommands(DefinitionCommands[Panel]):
    """Makes, edits, copies, shares and deletes panels; `chat_requested` asks for a council with one, which is in Setup then."""

    def __init__(self, parts: Parts[WindowFrame], shared: SharedKinds, setup: SetupView) -> None:
        super().__init__(parts, parts.engine.councils.panels, TEXTS, shared)
        self._setup = setup
        shared.add("participants", self)
        side = parts.window.side_bar
        side.new_panel_requested.connect(self.make_new)
        side.assembled_panel_requested.connect(self.make_assembled)
        side.bring_in_panel_requested.connect(self.bring_in)
        side.panels.chat_requested.connect(self.chat)
        self._listen(side.panels)
        parts.bridge.panels_changed.connect(self.refresh)
        self._language.changed.connect(self.refresh)
        # The menu is made when it is wanted: before a click opens it.
        setup.panels.pressed.connect(self._fill_menu)
        self.refresh()

    def refresh(self) -> None:
        """Show the panels as they are now."""
        partners = panel_partners(self.definitions.all(), self._language)
        self._window.side_bar.panel_section.show_partners(partners)

    def show_page(self, definition_id: str) -> None:
        """Open the dialog of a panel."""
        self._edit(self.definitions.find(definition_id))

    def make_new(self) -> None:
        """Ask for the name of a panel of those that are chosen in Setup, and save it."""
        self._make(self._setup.setup().participants, compare=self._window.welcome.compare.isChecked())

    def make_assembled(self) -> None:
        """Ask for the name of a panel that assembles itself from what is ready, and save it."""
        self._make(self._engine.councils.assembled())

    def chat(self, definition_id: str) -> None:
        """Put a panel into Setup, and ask for a council with it."""
        panel = self.definitions.find(definition_id)
        self._take(panel.participants, panel.rounds)
        self._window.welcome.compare.setChecked(panel.compare)
        self.chat_requested.emit(definition_id)

    def _name_it(self) -> None:
        """The dialog comes with its name selected."""

    def _make(self, participants: tuple[Participant, ...], *, compare: bool = True) -> None:
        if len(participants) < MIN_PARTICIPANTS:
            self._toasts.show_toast(self._language("panel.too_few"))
            return
        name = self._free_name(self._language("panel.new"))
        self._edit(Panel(id="", name=name, participants=participants, compare=compare))

    def _on_unanswered(self, edit: Edit[Panel]) -> None:
        """Show what the user wrote again: the dialog has closed."""
        self._edit(edit.after, edit.before)

    def _edit(self, panel: Panel, before: Panel | None = None) -> None:
        """Open the dialog of a panel; `before` is what it was, if it has changes that are not saved."""
        engine = self._engine
        self._tasks.replace("model facts", engine.connections.learn_facts())
        dialog = PanelDialog(
            self._language,
            self._look,
            panel,
            self._setup.setup().participants,
            engine.providers,
            engine.connections.known_facts,
            self._window,
        )
        if panel.id:
            dialog.saved.connect(lambda one: self._saves.add(Edit(before or panel, one)))
        else:
            dialog.saved.connect(lambda one: self._tasks.start("save new", self.definitions.save(one)))
        dialog.open()

    def _fill_menu(self) -> None:
        """Show the panels as they are now in the menu of Setup."""
        words, menu = self._language, self._setup.panels.choices
        self._setup.panels.clear()
        panels = self.definitions.all()
        for one in panels:
            names = ", ".join(exact(each.name) for each in one.participants)
            text = f"{unmarked(exact(one.name))}  ({unmarked(names)})"
            menu.addAction(text, partial(self._take, one.participants, one.rounds))
        if panels:
            menu.addSeparator()
        menu.addAction(words("panel.assemble"), self._assemble)
        enough = len(self._setup.setup().participants) >= MIN_PARTICIPANTS
        menu.addAction(words("panel.save"), self.make_new).setEnabled(enough)
        menu.addAction(words("panel.import"), self.bring_in)

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
