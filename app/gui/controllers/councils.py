"""Councils: connects their page, the sidebar's list of panels and the menu in Setup to the engine."""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal

from app.core.council import DEFAULT_COUNCIL_ROUNDS, MIN_PARTICIPANTS, Panel, Participant
from app.core.draft import Draft, SetupDraft
from app.core.errors import MootError
from app.core.session import Debate, DebateMode
from app.core.texts import exact
from app.gui.controllers.controller import Parts
from app.gui.controllers.debates import COMPARE, ENDS, VerdictController
from app.gui.controllers.definitions import DefinitionCommands, DefinitionTexts, Edit, SharedKinds
from app.gui.controllers.sessions import SessionController
from app.gui.dialogs.panel_dialog import PanelDialog
from app.gui.navigation.partner_list import panel_partners
from app.gui.pages.chat.chat_composer import unmarked
from app.gui.pages.council.council_page import CouncilPage
from app.gui.panels.debate.setup_view import SetupView
from app.gui.window_frame import WindowFrame


class CouncilController(VerdictController):
    """Answers what the user asks on the page of a council.

    Emits settings_requested(page, provider id), session_requested(session id) to show another council.
    """

    settings_requested = Signal(str, str)
    session_requested = Signal(str)

    def __init__(self, parts: Parts[WindowFrame], page: CouncilPage, sessions: SessionController) -> None:
        super().__init__(parts)
        self._page = page
        page.councils = councils = parts.engine.councils
        self._wire_decision(page, sessions)
        page.prices_wanted.connect(lambda pairs: self._tasks.start("council prices", self._ask_prices(pairs)))
        self._run(page.debate_requested, councils.debate)
        self._run(page.more_requested, councils.further)
        self._run(page.argue_requested, councils.argue)
        self._run(page.fork_requested, self._fork)
        self._run(page.retry_requested, councils.retry)
        self._run(page.use_requested, councils.choose)
        self._run(page.options_chosen, councils.edit_options)
        self._run(page.ask_requested, self._ask)
        page.provider_requested.connect(lambda provider: self.settings_requested.emit("providers", provider))
        page.reading_requested.connect(lambda: self.settings_requested.emit("chats", ""))
        page.draft_changed.connect(self._on_draft_changed)

    def _on_draft_changed(self, session_id: str, draft: Draft) -> None:
        if session_id:
            self._engine.drafts.keep(session_id, draft)

    async def _fork(self, session_id: str, after_round: int, verdict: int) -> None:
        self.session_requested.emit(await self._engine.councils.fork(session_id, after_round, verdict))

    async def _ask_prices(self, pairs: tuple[tuple[str, str], ...]) -> None:
        await self._engine.estimates.ask(pairs)
        self._page.refresh()

    async def _ask(self, session_id: str, text: str, to: tuple[str, ...]) -> None:
        """Ask something more; if that fails, put the text back before what was written since."""
        try:
            await self._engine.councils.ask(session_id, text, to)
        except MootError:
            draft = self._engine.drafts.of(session_id).led_by(text)
            self._engine.drafts.keep(session_id, draft)
            if self._page.session_id == session_id:
                self._page.set_draft(draft)
            raise


TEXTS = DefinitionTexts(new="panel.new", bring_in="panel.import")


class PanelCommands(DefinitionCommands[Panel]):
    """Makes, edits, copies, shares and deletes panels; `chat_requested` asks for a council with one, which is in Setup then."""

    def __init__(self, parts: Parts[WindowFrame], shared: SharedKinds, setup: SetupView) -> None:
        super().__init__(parts, parts.engine.councils.panels, TEXTS, shared)
        self._setup = setup
        shared.add("participants", self)
        side = parts.window.side_bar
        side.panel_section.offer(
            ("panel.save", self.make_new),
            ("panel.assemble", self.make_assembled),
            ("panel.import", self.bring_in),
        )
        side.panels.chat_requested.connect(self.chat)
        self._listen(side.panels)
        parts.bridge.panels_changed.connect(self.refresh)
        self._language.changed.connect(self.refresh)
        setup.panels.choices.aboutToShow.connect(self._fill_menu)
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
        self._make(self._setup.setup().participants, compare=self._state.flag(COMPARE, True))

    def make_assembled(self) -> None:
        """Ask for the name of a panel that assembles itself from what is ready, and save it."""
        self._make(self._engine.councils.assembled())

    def chat(self, definition_id: str) -> None:
        """Put a panel into Setup, and ask for a council with it."""
        panel = self.definitions.find(definition_id)
        self._take(panel.participants, panel.rounds)
        self._state.keep(COMPARE, panel.compare)
        if panel.debates:
            self._state.keep(ENDS, panel.ends)
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
            dialog.saved.connect(lambda one: self._save(Edit(before or panel, one)))
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
        setup, draft = self._setup, self._setup.draft
        again = setup.draft_again(Debate(topic="", mode=DebateMode.ROLES, participants=participants))
        seats = again.setup.seats if again.setup else ()
        setup.show_draft(
            replace(draft, setup=replace(draft.setup or SetupDraft(), seats=seats, rounds=rounds))
        )
