"""The card of a page that a tool of an MCP server returned: its question, an answer, and the page.

The page is shown in the sandbox, on request and only if the extra `webui` is installed, which the card offers.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtWidgets import QSizePolicy
from shiboken6 import isValid

from app.core.ids import new_id
from app.core.message import Consent, Message, Prompt, PromptType
from app.core.owned_tasks import start_owned
from app.core.texts import size_text, visible
from app.core.tool import VIEWER_BYTES
from app.gui.display.appearance import Language, Look
from app.gui.display.theme import DARK
from app.gui.web_view import available, mcp_page, prepare, sandbox_problem, unguarded
from app.gui.widgets.approval_card import ApprovalCard
from app.gui.widgets.boxes import drop, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.notices import OfferLine
from app.gui.widgets.question_card import QuestionCard
from app.gui.widgets.text import named, plain_label, show_or_hide

if TYPE_CHECKING:
    from app.gui.web_view.sandbox_view import SandboxView


@dataclass(frozen=True, slots=True)
class ViewerState:
    """`offered` if the viewer can be installed, `done` bytes while that goes on, `installed` if a restart shows pages.

    `problem` is a text that says why it could not be installed.
    """

    offered: bool = False
    done: int | None = None
    installed: bool = False
    problem: str = ""


class ViewerOffer(QObject):
    """The state of the installation; emits changed(), and install_requested() and cancel_requested() for the cards."""

    changed = Signal()
    install_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = ViewerState()

    def show(self, state: ViewerState) -> None:
        """Set the state."""
        self.state = state
        self.changed.emit()


LOWEST, HIGHEST, USUAL = 80, 560, 320


class PageCard(QuestionCard):
    """Asks what a server's page asks; emits link_requested(address) also for the links of the page."""

    def __init__(self, language: Language, look: Look, message: Message, viewer: ViewerOffer) -> None:
        super().__init__(language, look, message)
        self._viewer = viewer
        self._page = mcp_page.read_page(message.resources)
        self._view: SandboxView | None = None
        self._talk: mcp_page.PageTalk | None = None
        self._asked: ApprovalCard | None = None
        self._problem = ""
        self._opening: asyncio.Task[None] | None = None
        self._from, self._note, self._text = (
            named(f"page_{name}", plain_label("hint", wrap=True)) for name in ("from", "note", "text")
        )
        self._from.setText(
            self._words("page.from", server=self.prompt.server, tool=self.prompt.name or self.prompt.tool)
        )
        self._text.hide()
        self._install = OfferLine(look, "page_viewer", "download", "accent")
        self._install.hide()
        self._install.accepted.connect(self._on_install)
        self.show_page = button("", "page_show", self._on_show)
        shown = (self._from, self._note, self._text, self._install)
        self._parts = vbox(*shown, (self.show_page, 0, Qt.AlignmentFlag.AlignLeft), spacing=6)
        self._place = self._parts.count()
        self.column.insertLayout(self.column.indexOf(self._box), self._parts)
        # Any answer closes the page, after it has been written.
        self.answered.connect(self._on_answered)
        viewer.changed.connect(self._on_viewer_changed)
        self._offer()

    # Offers

    def _offer(self, note: str = "") -> None:
        """Offer to show the page, or say why it cannot be shown."""
        page, words = self._page, self._words
        shows = available() and not self._problem
        self.show_page.setVisible(page.kind == mcp_page.ADDRESS or (page.kind == mcp_page.HTML and shows))
        if page.kind == mcp_page.ADDRESS:
            host = QUrl(page.text).host(QUrl.ComponentFormattingOption.FullyEncoded)
            self.show_page.setText(words("page.open", host=host[:100]))
        elif page.kind == mcp_page.HTML:
            self.show_page.setText(words("page.show"))
            note = note or ("" if available() else self._show_viewer())
            show_or_hide(self._text, "" if shows else visible(mcp_page.text_of(page.text)))
        elif page.kind == mcp_page.UNKNOWN:
            note = words("page.cannot", kind=page.mime or "?")
        else:
            note = words("page.too_large" if page.kind == mcp_page.TOO_LARGE else "page.unreadable")
        self._say(note)

    def _show_viewer(self) -> str:
        """Offer to install what shows pages, or show how far that is; return what is said of it."""
        state, words = self._viewer.state, self._words
        size = size_text(self._language, VIEWER_BYTES)
        offered = state.offered or state.done is not None
        if state.done is not None:
            text = words("page.viewer.fetching", done=size_text(self._language, state.done), size=size)
            self._install.show_progress(text, state.done, VIEWER_BYTES, words("embedded.cancel"))
        elif state.offered:
            offer = words("page.viewer", size=size)
            self._install.show_offer(offer, words("page.viewer.install"))
        self._install.setVisible(offered)
        if state.installed:
            return words("page.viewer.restart")
        # A built program has no place for the viewer.
        return state.problem or words("page.no_view" if offered else "page.no_viewer")

    def _on_viewer_changed(self) -> None:
        if self._page.kind == mcp_page.HTML and not available():
            self._say(self._show_viewer())

    def _on_install(self) -> None:
        running = self._viewer.state.done is not None
        (self._viewer.cancel_requested if running else self._viewer.install_requested).emit()

    def _say(self, note: str) -> None:
        show_or_hide(self._note, note)
        self.updateGeometry()

    def _words(self, key: str, **values: str) -> str:
        return self._language(key, **{name: visible(value) for name, value in values.items()})

    # The page

    def _on_show(self) -> None:
        if self._page.kind == mcp_page.ADDRESS:
            self.link_requested.emit(self._page.text)
        elif self._view is not None:
            self._close()
            self._offer()
        elif self._opening is None or self._opening.done():
            self._opening = start_owned(self._open(), name="open a server's page")

    async def _open(self) -> None:
        self._problem = await asyncio.to_thread(sandbox_problem)
        if not isValid(self):
            return
        if self._problem:
            self._offer(self._words(f"page.no_{self._problem}"))
            return
        # QtWebEngine is large and loaded with the first page.
        prepare()
        from app.gui.web_view.sandbox_view import SandboxView

        facts = mcp_page.PageFacts(
            dark=self._look.tokens is DARK,
            language=self._language.name,
            arguments=self.prompt.arguments,
            content=self.message.content,
            data=self._page.data,
        )
        view = SandboxView(self._page.text, self._from.text(), self)
        view.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        view.said.connect(self._on_said)
        view.ended.connect(self._on_ended)
        self._view, self._talk = view, mcp_page.PageTalk(facts, view.say)
        self._parts.addWidget(view)
        self._set_height(self._page.height or USUAL)
        self.show_page.setText(self._words("page.close"))
        self._say(self._words("page.unguarded") if unguarded() else "")

    def _close(self) -> None:
        view, self._view, self._talk = self._view, None, None
        self._forget_tool()
        if view is not None:
            view.said.disconnect(self._on_said)
            view.ended.disconnect(self._on_ended)
            drop(view)
        self.updateGeometry()

    def _set_height(self, height: int) -> None:
        if self._view is not None:
            self._view.setFixedHeight(max(LOWEST, min(HIGHEST, height)))
            # Qt forgets the height of the card's own layout alone, not that of one within it.
            self._parts.invalidate()
            self.updateGeometry()

    def _on_answered(self) -> None:
        self._talk = None
        if self._opening is not None:
            self._opening.cancel()
        QTimer.singleShot(0, self, self._on_left)

    def _on_left(self) -> None:
        self._close()
        self._offer()

    def _on_ended(self) -> None:
        self._close()
        self._offer(self._words("page.ended"))

    # Requests of the page

    def _on_said(self, text: str, acted: bool) -> None:
        action = self._talk.take(text) if self._talk is not None else None
        if action is None:
            return
        if action.kind == mcp_page.SIZE:
            self._set_height(action.height)
        elif action.kind == mcp_page.NOTIFY:
            self._say(self._words("page.says", server=self.prompt.server, text=action.text))
        elif action.kind == mcp_page.TOOL:
            self._ask_for_tool(action)
        elif action.kind in (mcp_page.PROMPT, mcp_page.INTENT):
            answer = action.text if action.kind == mcp_page.PROMPT else f"{action.text} {action.arguments}"
            self._propose(answer, at_once=acted)
        elif action.kind == mcp_page.LINK and acted:
            self.link_requested.emit(action.text)
        else:
            self._say(self._words("page.by_itself", text=action.text[:200]))

    def _propose(self, answer: str, *, at_once: bool) -> None:
        """Answer with a text of the page; without a click of the user, only write it into the box."""
        self._box.setPlainText(answer)
        if at_once:
            self._on_answer()
        else:
            self._say(self._words("page.proposed", server=self.prompt.server))

    def _ask_for_tool(self, action: mcp_page.PageAction) -> None:
        """Ask whether a tool may run; the assistant runs it, like any other call."""
        if self._asked is not None:
            self._refuse(action)
            return
        question = Prompt(
            question=self._words("page.wants_tool", server=self.prompt.server),
            type=PromptType.APPROVAL,
            tool=action.text,
            arguments=action.arguments,
        )
        message = replace(self.message, id=new_id(), prompt=question, resources=())
        card = ApprovalCard(self._language, self._look, message)
        card.setObjectName("page_tool")
        # The answer is about one call of one page.
        card.always.hide()
        card.answered.connect(lambda answer: self._on_tool_answered(action, answer))
        self._asked = card
        self._parts.insertWidget(self._place, card)
        self.updateGeometry()

    def _on_tool_answered(self, action: mcp_page.PageAction, answer: str) -> None:
        self._forget_tool()
        if answer == Consent.ALLOW:
            call = self._words("page.run_tool", tool=action.text, arguments=action.arguments)
            self._propose(call, at_once=True)
        else:
            self._refuse(action)

    def _refuse(self, action: mcp_page.PageAction) -> None:
        if self._view is not None and action.refusal is not None:
            self._view.say(action.refusal)

    def _forget_tool(self) -> None:
        card, self._asked = self._asked, None
        if card is not None:
            drop(card)
            self.updateGeometry()
