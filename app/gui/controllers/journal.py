"""The journal: asks what was decided after a council, and when it is due what came of it."""

from app.engine.council.journal import held_up
from app.engine.council.outcome import outcome
from app.engine.council.record import Record
from app.engine.engine import Engine
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Controller
from app.gui.dialogs.journal_dialogs import DecisionDialog, ResultDialog
from app.gui.pages.council.council_page import CouncilPage
from app.gui.tasks import Tasks
from app.gui.window_frame import WindowFrame


class JournalController(Controller):
    """Answers the journal's button on the page of a council, and the decisions that are due under *Needs you*."""

    def __init__(
        self, window: WindowFrame, engine: Engine, bridge: Bridge, tasks: Tasks, page: CouncilPage
    ) -> None:
        super().__init__(window, engine, bridge, tasks)
        self._page, self._journal = page, engine.councils.journal
        page.glance.journal.clicked.connect(lambda: self._start(self._open(page.session_id)))
        window.top_bar.needs_you.question_requested.connect(self._on_question)

    def _on_question(self, session_id: str, message_id: str) -> None:
        if not message_id:
            self._ask_result(session_id)

    async def _open(self, session_id: str) -> None:
        """Ask what was decided, or what came of it where that is known. Raises NotFound, StorageError."""
        if self._journal.get(session_id) is not None:
            self._ask_result(session_id)
            return
        live = await self._engine.open(session_id)
        debate, messages = live.debate_session.debate, list(live.whole_messages())
        texts = {one.id: one.text for one in Record(debate, messages).options()}
        chosen = texts.get(outcome(debate, messages).headline, "")
        dialog = DecisionDialog(self._language, self._look, list(texts.values()), chosen, self._window)
        dialog.kept.connect(
            lambda decided, sign, due: self._start(self._journal.decide(live, decided, sign=sign, due=due))
        )
        dialog.open()

    def _ask_result(self, decision_id: str) -> None:
        decision = self._journal.get(decision_id)
        if decision is None:
            return
        known = held_up(self._journal.all()).get(decision.state, (0, 0))
        dialog = ResultDialog(
            self._language, self._look, decision, self._journal.scores(), known, self._window
        )
        dialog.settled.connect(
            lambda result, right: self._start(self._journal.settle(decision_id, result, right))
        )
        dialog.open()
