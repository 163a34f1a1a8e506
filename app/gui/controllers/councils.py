"""Councils: connects their page, the sidebar's list of panels and the menu in Setup, and the journal to the engine.

The journal lists the decisions, asks what was decided after a council, and when it is due what came of it.
"""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.core.council import DEFAULT_COUNCIL_ROUNDS, Panel, Participant
from app.core.draft import Draft, SetupDraft
from app.core.errors import MootError
from app.core.session import MIN_PARTICIPANTS, Debate
from app.core.summary import DebateMode
from app.core.texts import exact
from app.engine.council.journal import held_up, stands
from app.engine.council.outcome import outcome
from app.engine.council.record import Record
from app.engine.debate.setup import set_up_again
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.debates import COMPARE, ENDS
from app.gui.controllers.definitions import DefinitionCommands, DefinitionTexts, Edit, SharedKinds
from app.gui.controllers.sessions import SessionController
from app.gui.dialogs.council_dialogs import DecisionDialog, JournalDialog, PanelDialog, ResultDialog
from app.gui.navigation.partner_list import panel_partners
from app.gui.pages.chat.chat_composer import unmarked
from app.gui.pages.council.council_page import CouncilPage
from app.gui.panels.debate.setup_view import SetupView
from app.gui.window_frame import WindowFrame


class CouncilController(Controller):
    """Answers what the user asks on the page of a council.

    Emits settings_requested(page, provider id), session_requested(session id) to show another council.
    """

    settings_requested = Signal(str, str)
    session_requested = Signal(str)

    def __init__(self, parts: Parts[WindowFrame], page: CouncilPage, sessions: SessionController) -> None:
        super().__init__(parts)
        self._page = page
        councils = parts.engine.councils
        page.pause_requested.connect(sessions.pause)
        page.resume_requested.connect(sessions.resume)
        self._run(page.check_skip_requested, parts.engine.debates.skip_check)
        self._run(page.check_again_requested, parts.engine.debates.check_again)
        self._run(page.again_requested, councils.ask)
        self._run(page.compare_requested, councils.compare)
        self._run(page.merge_requested, councils.merge)
        page.councils = councils
        page.prices_wanted.connect(lambda pairs: self._tasks.start("council prices", self._ask_prices(pairs)))
        self._run(page.debate_requested, councils.debate)
        self._run(page.more_requested, self._more)
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

    async def _fork(self, session_id: str, after_round: int) -> None:
        self.session_requested.emit(await self._engine.councils.fork(session_id, after_round))

    async def _more(self, session_id: str, what: str) -> None:
        councils = self._engine.councils
        ways = {
            "solo": councils.solo,
            "check": councils.check_outside,
            "stress": councils.stress,
            "join": councils.join,
        }
        await ways[what](session_id)

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


TICK_MS = 60_000
"""How often it looks whether a new day has begun: no longer timer is sure to count the time that the computer slept."""


class JournalController(Controller):
    """Answers the journal's buttons in the sidebar and on the page of a council, and the decisions under *Needs you*.

    Emits session_requested(session id) to open a decision's council.
    """

    session_requested = Signal(str)

    def __init__(self, parts: Parts[WindowFrame], page: CouncilPage) -> None:
        super().__init__(parts)
        self._page, self._journal = page, parts.engine.councils.journal
        for asked in (page.glance.journal.clicked, page.verdict.decision_requested):
            asked.connect(lambda: self._start(self._open(page.session_id)))
        page.verdict.scores = self._journal.scores
        page.verdict.decision = self._decision
        page.verdict.held_up = lambda state: held_up(self._journal.all()).get(state, (0, 0))
        parts.window.top_bar.needs_you.question_requested.connect(self._on_question)
        parts.window.side_bar.decisions_button.clicked.connect(lambda: self.show())
        self._dialog: JournalDialog | None = None
        parts.bridge.journal_changed.connect(lambda _event: self._refresh())
        self.clock = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.VeryCoarseTimer)
        self.clock.timeout.connect(self._journal.look_at_day)
        self._journal.look_at_day()
        self.clock.start()
        self._refresh()

    def close(self) -> None:
        """Look for new days no longer."""
        self.clock.stop()

    def show(self) -> None:
        """Open the list of all decisions."""
        self._dialog = dialog = JournalDialog(self._language, self._look, self._window)
        dialog.finished.connect(self._on_closed)
        dialog.result_requested.connect(lambda decision_id: self._ask_result(decision_id, dialog))
        dialog.session_requested.connect(self.session_requested)
        dialog.delete_requested.connect(lambda decision_id: self._start(self._delete(decision_id)))
        self._refresh()
        dialog.open()

    def _on_closed(self) -> None:
        self._dialog = None

    def _refresh(self) -> None:
        """Show how many decisions are due, and the list if it is open."""
        self._window.side_bar.show_due(len(self._journal.due()))
        self._page.verdict.refresh()
        if self._dialog is not None:
            known = {one.id for one in self._engine.sessions()}
            self._dialog.show_decisions(self._journal.all(), known, self._journal.today())

    def _decision(self, session_id: str) -> tuple[str, str] | None:
        """Return what was decided after a council and how that stands, None where nothing was."""
        decision = self._journal.get(session_id)
        if decision is None:
            return None
        return exact(decision.decided), stands(decision, self._journal.today(), self._language)

    async def _delete(self, decision_id: str) -> None:
        """Move a decision to the trash, and offer to bring it back. Raises NotFound, StorageError."""
        decision = self._journal.find(decision_id)
        await self._journal.delete(decision_id)
        toasts = self._dialog.toasts if self._dialog is not None else self._toasts
        toasts.show_toast(
            self._language("assistant.deleted", name=exact(decision.decided)),
            self._language("toast.undo"),
            lambda: self._start(self._journal.restore(decision)),
        )

    def _on_question(self, session_id: str, message_id: str) -> None:
        if not message_id:
            self._ask_result(session_id, self._window)

    async def _open(self, session_id: str) -> None:
        """Ask what was decided, or what came of it where that is known. Raises NotFound, StorageError."""
        if self._journal.get(session_id) is not None:
            self._ask_result(session_id, self._window)
            return
        live = await self._engine.open(session_id)
        debate, messages = live.debate_session.debate, list(live.whole_messages())
        texts = {one.id: one.text for one in Record(debate, messages).options()}
        chosen = texts.get(outcome(debate, messages).headline, "")
        dialog = DecisionDialog(
            self._language, self._look, list(texts.values()), chosen, self._journal.today(), self._window
        )
        dialog.kept.connect(
            lambda decided, sign, due: self._start(self._journal.decide(live, decided, sign=sign, due=due))
        )
        dialog.open()

    def _ask_result(self, decision_id: str, over: QWidget) -> None:
        decision = self._journal.get(decision_id)
        if decision is None:
            return
        known = held_up(self._journal.all()).get(decision.state, (0, 0))
        dialog = ResultDialog(self._language, self._look, decision, self._journal.scores(), known, over)
        dialog.settled.connect(
            lambda result, right: self._start(self._journal.settle(decision_id, result, right))
        )
        dialog.open()
