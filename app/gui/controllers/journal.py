"""The journal: lists the decisions, asks what was decided after a council, and when it is due what came of it."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.core.text import exact
from app.engine.council.journal import held_up, stands
from app.engine.council.outcome import outcome
from app.engine.council.record import Record
from app.gui.controllers.controller import Controller, Parts
from app.gui.dialogs.journal_dialogs import DecisionDialog, JournalDialog, ResultDialog
from app.gui.pages.council.council_page import CouncilPage
from app.gui.window_frame import WindowFrame

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
        parts.window.side_bar.journal_button.clicked.connect(lambda: self.show())
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
