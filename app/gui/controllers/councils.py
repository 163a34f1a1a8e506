"""Councils: connects the page of a council to the engine."""

from PySide6.QtCore import Signal

from app.core.draft import Draft
from app.core.errors import MootError
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.sessions import SessionController
from app.gui.pages.council.council_page import CouncilPage
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
