"""Decisions: their page, what the user decides in sessions of every kind, and what came of it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from PySide6.QtCore import Qt, QTimer

from app.core.council import Decision
from app.core.texts import exact
from app.engine.decisions import entry_of, options_of, used_option
from app.engine.live_session import LiveSession
from app.engine.scores import held_up, scores
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.sessions import SessionController
from app.gui.dialogs.definition_dialogs import DateDialog, DecisionDialog
from app.gui.dialogs.memo_dialog import MemoDialog
from app.gui.pages.council.council_page import CouncilPage
from app.gui.pages.decisions import decisions_page
from app.gui.pages.decisions.your_decision import DecisionForm
from app.gui.panels.debate.discussion_view import DebatePage, DebateView
from app.gui.transcript.selection import DECIDE
from app.gui.widgets import choices
from app.gui.window_frame import WindowFrame

TICK_MS = 60_000
"""How often it looks for a new day: no longer timer is sure to count the time that the computer slept."""
DAYS = {decisions_page.WEEK: 7, decisions_page.MONTH: 30}


class DecisionController(Controller):
    """Answers the requests of the page of decisions, of verdicts, messages and the list of sessions."""

    def __init__(
        self,
        parts: Parts[WindowFrame],
        councils: CouncilPage,
        debates: Sequence[DebateView],
        sessions: SessionController,
    ) -> None:
        super().__init__(parts)
        self._sessions = sessions
        self._journal = parts.engine.journal
        self._page: decisions_page.DecisionsPage | None = None
        for asked in (councils.decision_requested, *(view.decision_requested for view in debates)):
            asked.connect(self.ask)
        pages: list[CouncilPage | DebatePage] = [councils]
        pages += [view for view in debates if isinstance(view, DebatePage)]
        for page in pages:
            self._run(page.decision.wanted, partial(self._begin, page))
            page.decision.kept.connect(lambda kept, at=page: self._start(self._keep_at(at.session_id, kept)))
            memo = self._starts(lambda at=page: self._show_memo(at.session_id))
            page.decision.memo_requested.connect(memo)
            parts.bridge.journal_changed.connect(lambda _event, page=page: page.refresh())
        parts.window.chat_page.message_action_requested.connect(self._on_action)
        parts.window.side_bar.sessions.decision_requested.connect(self.ask)
        self._verdicts = [councils.verdict, *(view.verdict for view in debates)]
        for verdict in self._verdicts:
            verdict.scores = lambda: scores(self._journal.all())
            verdict.decision = self._decision
            verdict.held_up = lambda state: held_up(self._journal.all()).get(state, (0, 0))
        parts.window.side_bar.decisions_button.clicked.connect(lambda: self.show())
        bridge = parts.bridge
        for changed in (bridge.journal_changed, bridge.session_deleted, bridge.session_restored):
            changed.connect(lambda _event: self._refresh())
        self._language.changed.connect(self._show_head)
        self.clock = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.VeryCoarseTimer)
        self.clock.timeout.connect(self._journal.look_at_day)
        self._journal.look_at_day()
        self.clock.start()
        self._refresh()

    def close(self) -> None:
        """Look for new days no longer."""
        self.clock.stop()

    def show(self, decision_id: str = "") -> None:
        """Show the page of all decisions, with one of them chosen."""
        if self._page is None:
            self._page = self._made_page()
            self._fill(self._page)
        self._page.choose(decision_id)
        self._window.show_page(self._page, self._show_head)
        self._page.take_focus()

    def ask(self, session_id: str, message_id: str = "") -> None:
        """Ask what was decided in a session, or what came of it where that is known."""
        decision = self._journal.get(session_id)
        if decision is not None and decision.decided and not message_id:
            self.show(session_id)
        else:
            self._start(self._ask(session_id, message_id))

    def _made_page(self) -> decisions_page.DecisionsPage:
        page = decisions_page.DecisionsPage(self._language, self._look)
        details = page.details
        page.begin_requested.connect(partial(self._window.begin_requested.emit, choices.DECIDE))
        self._run(page.delete_requested, self._delete)
        self._run(page.change_requested, self._ask)
        page.list.acted.connect(self._open)
        details.session_requested.connect(self._open)
        self._run(details.memo_requested, self._show_memo)
        self._run(details.settled, self._settle)
        self._run(details.right_chosen, self._choose_right)
        details.early.connect(self._on_early)
        details.asked.connect(self._on_asked)
        self._window.add_page(page)
        return page

    def _refresh(self) -> None:
        """Show how many decisions are due, and the page if it is there."""
        self._window.side_bar.show_counts(due=len(self._journal.due()))
        for verdict in self._verdicts:
            verdict.refresh()
        if self._page is not None:
            self._fill(self._page)
            self._show_head()

    def _fill(self, page: decisions_page.DecisionsPage) -> None:
        decisions, known = self._journal.all(), {summary.id for summary in self._engine.sessions()}
        page.show_decisions(decisions, scores(decisions), known, self._journal.today())

    def _show_head(self) -> None:
        """Show in the top bar that the page is in front."""
        page, top = self._page, self._window.top_bar
        if page is not None and self._window.main_area.currentWidget() is page:
            top.show_title(self._language("journal.title"))
            top.show_mode(page.summary())

    def _decision(self, session_id: str) -> tuple[str, str] | None:
        """Return what was decided in a session and how that stands, None where nothing was."""
        decision = self._journal.get(session_id)
        if decision is None or not decision.decided:
            return None
        today, told = self._journal.today(), (decisions_page.state_text, decisions_page.when_text)
        stands = filter(None, (text(decision, today, self._language) for text in told))
        return exact(decision.decided), " · ".join(stands)

    # Requests

    def _on_action(self, session_id: str, message_id: str, action: str) -> None:
        if action == DECIDE:
            self.ask(session_id, message_id)

    async def _ask(self, session_id: str, message_id: str = "") -> None:
        """Open the dialog of what was decided. Raises NotFound, StorageError."""
        live = await self._engine.open(session_id)
        before = self._journal.get(session_id)
        entry = before if before is not None and before.decided else entry_of(live)
        message = live.turns.messages.get(message_id) if live.session.chat is not None else None
        if message is not None and not entry.decided:
            entry = replace(entry, headline=first_line(message.content))
        options = [text for _option, _letter, text in options_of(live)]
        today = self._journal.today()
        form = DecisionForm(self._language, self._look, entry, options, today)
        dialog = DecisionDialog(self._language, form, self._window)
        dialog.open_for(lambda kept: self._start(self._keep(live, kept, message_id)))

    async def _keep(self, live: LiveSession, kept: Decision, message_id: str = "") -> None:
        """Keep what was decided in a session. Raises StorageError."""
        why, sign, due, sure = kept.why, kept.sign, kept.due, None if kept.sure < 0 else kept.sure
        decide, text = self._journal.decide, kept.decided
        await decide(live, text, why=why, sure=sure, sign=sign, due=due, message=message_id)

    async def _begin(self, page: CouncilPage | DebatePage) -> None:
        """Begin the form of a decision on the page of its session. Raises NotFound, StorageError."""
        live = await self._engine.open(page.session_id)
        if live.id == page.session_id:
            options = [text for _option, _letter, text in options_of(live)]
            entry = entry_of(live)
            entry = replace(entry, headline=used_option(live) or entry.headline)
            page.decision.begin(entry, options, self._journal.today())

    async def _keep_at(self, session_id: str, kept: Decision) -> None:
        """Keep what was decided on a session's page. Raises NotFound, StorageError."""
        await self._keep(await self._engine.open(session_id), kept)

    def _open(self, decision_id: str) -> None:
        """Open the session of a decision, for a chat at the message in which it was made."""
        decision = self._journal.get(decision_id)
        if decision is not None and decision.message:
            self._state.keep_place(decision_id, f"{decision.message}:0")
        if self._sessions.summary(decision_id) is not None:
            self._window.session_requested.emit(decision_id)

    def _on_asked(self, decision_id: str, action: str) -> None:
        if action == decisions_page.CHANGE:
            self._start(self._ask(decision_id))
        elif action == decisions_page.DELETE:
            self._start(self._delete(decision_id))

    async def _show_memo(self, decision_id: str) -> None:
        """Show the memo about a decision in a window of its own. Raises NotFound, StorageError."""
        memo = await self._engine.memo(decision_id)
        dialog = MemoDialog(self._language, self._look, memo, self._window)
        dialog.save_requested.connect(partial(self._sessions.export_memo, decision_id, memo.title))
        dialog.show()

    async def _choose_right(self, decision_id: str, right: str) -> None:
        await self._journal.change(decision_id, lambda found: replace(found, right=right))

    async def _settle(self, decision_id: str, result: str, note: str) -> None:
        """Keep what came of a decision, and offer to take that back."""
        before = self._journal.find(decision_id)
        await self._journal.settle(decision_id, result, note=note)
        self._offer(before, "journal.saved")

    def _on_early(self, decision_id: str, when: str) -> None:
        decision = self._journal.get(decision_id)
        if decision is None:
            return
        if when == decisions_page.DATE:
            dialog = DateDialog(self._language, decision.due, self._window)
            dialog.open_for(self._starts(partial(self._look_again, decision)))
            return
        later = self._journal.today() + timedelta(days=DAYS.get(when, 0))
        self._start(self._look_again(decision, "" if when == decisions_page.NEVER else later.isoformat()))

    async def _look_again(self, decision: Decision, due: str) -> None:
        await self._journal.look_again(decision.id, due)
        self._offer(decision, "journal.later")

    def _offer(self, before: Decision, key: str) -> None:
        """Say what was saved, and offer to bring the decision back as it was."""
        self._offer_undo(key, partial(self._journal.change, before.id, lambda _now: before))

    async def _delete(self, decision_id: str) -> None:
        """Move a decision to the trash, and offer to bring it back. Raises NotFound, StorageError."""
        decision = self._journal.find(decision_id)
        await self._journal.delete(decision_id)
        name, restore = exact(decision.decided or decision.headline), partial(self._journal.restore, decision)
        self._offer_undo("assistant.deleted", restore, lasts=True, name=name)


def first_line(text: str) -> str:
    """Return the first line of a message that says something, without the marks of headings and lists."""
    lines = (line.strip("#*>-_ \t") for line in text.splitlines())
    return next(filter(None, lines), "")
