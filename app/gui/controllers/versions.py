"""Versions of an answer: made again, with another model or effort where the user wants that, and chosen."""

from functools import partial

from PySide6.QtCore import QPoint

from app.core.message import Message, MessageState
from app.engine.library.agents import AgentModel
from app.gui.controllers.controller import PageController, Parts
from app.gui.dialogs.other_answer import OtherAnswerDialog
from app.gui.dialogs.versions_dialog import Version, VersionsDialog
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.transcript.message_actions import RETRY_WITH, WORDS, MenuItem, build_menu
from app.gui.transcript.message_row import COMPARE, RETRY
from app.gui.widgets.answer_style_choice import efforts_of
from app.gui.window_frame import AppWindow

INSIDE = QPoint(60, 26)
MOST_OTHERS = 3
"""How many other models the menu of a failed answer names; the dialog offers them all."""


class VersionController(PageController):
    """Answers what the user asks about the versions of an answer on the chat page."""

    def __init__(self, parts: Parts[AppWindow], page: ChatPage) -> None:
        super().__init__(parts)
        self._page = page
        page.message_action_requested.connect(self._on_action)
        page.version_requested.connect(self._on_version)

    def _on_action(self, session_id: str, message_id: str, action: str) -> None:
        if action == RETRY:
            self._retry(session_id, message_id)
        elif action == RETRY_WITH:
            self._offer(session_id, message_id)
        elif action == COMPARE:
            self._compare(session_id, message_id)

    def _retry(self, session_id: str, message_id: str, **choice: str) -> None:
        self._start(self._engine.chats.retry(session_id, message_id, **choice))

    def _offer(self, session_id: str, message_id: str) -> None:
        """Offer the ways to have a message answered again: as usual, with another model, with another effort."""
        live = self._engine.live(session_id)
        if live is None:
            return
        usual = self._engine.chats.usual_turn(live, message_id).agent_model
        facts = self._engine.connections.known_facts(usual.provider, usual.model)
        ways = [
            MenuItem(WORDS[RETRY], lambda: self._retry(session_id, message_id)),
            *(
                MenuItem(
                    "retry.use_instead",
                    partial(self._retry, session_id, message_id, provider=provider, model=model),
                    model=model,
                )
                for provider, model in self._instead_of(usual, live.turns.messages[message_id])
            ),
            MenuItem("retry.other_model", lambda: self._ask(session_id, message_id)),
        ]
        efforts = [
            MenuItem(
                f"transcript.effort.{effort}",
                partial(self._retry, session_id, message_id, effort=effort),
            )
            for effort in efforts_of(facts)
        ]
        menu = build_menu(self._page, self._language.texts, ways, efforts)
        menu.setObjectName("retry_menu")
        menu.popup(self._place_of(message_id))

    def _instead_of(self, usual: AgentModel, answer: Message) -> list[tuple[str, str]]:
        """Return the provider and default model of others that are ready, for an answer that failed."""
        if answer.state != MessageState.FAILED:
            return []
        others = [
            (status.config.id, status.default_model)
            for status in self._engine.providers()
            if status.ready and status.default_model and status.config.id != usual.provider
        ]
        return others[:MOST_OTHERS]

    def _place_of(self, message_id: str) -> QPoint:
        """Return where on the screen the menu of a message opens: under its buttons, else in its first line."""
        transcript = self._page.transcript
        bar = transcript.action_bar
        if bar.message_id == message_id:
            return bar.mapToGlobal(bar.rect().bottomLeft())
        rect = transcript.message_rect(message_id)
        corner = rect.topLeft() if rect is not None else QPoint()
        return transcript.viewport().mapToGlobal(QPoint(corner.x(), max(0, corner.y())) + INSIDE)

    def _ask(self, session_id: str, message_id: str) -> None:
        """Ask for the model and the effort of an answer."""
        live = self._engine.live(session_id)
        if live is None:
            return
        self._tasks.replace("model facts", self._engine.connections.learn_facts())
        usual = self._engine.chats.usual_turn(live, message_id)
        ready = [one for one in self._engine.providers() if one.ready]
        dialog = OtherAnswerDialog(
            self._language, self._look, ready, self._engine.connections.known_facts, self._window
        )
        dialog.show_usual(usual.agent_model.provider, usual.agent_model.model, usual.agent.effort)
        dialog.chosen.connect(
            lambda provider, model, effort: self._retry(
                session_id, message_id, provider=provider, model=model, effort=effort
            )
        )
        dialog.open()

    def _compare(self, session_id: str, message_id: str) -> None:
        """Show the versions of a message's turn side by side."""
        live, page = self._engine.live(session_id), self._page
        if live is None:
            return
        chosen = set(live.turns.back_from(live.chat_session.chat.head))
        dialog = VersionsDialog(
            self._language,
            self._look,
            live.session,
            [
                Version(one, live.said_in(live.turns.with_answers(one)), one in chosen)
                for one in live.turns.versions(live.turns.root(live.turns.messages[message_id].turn_id))
            ],
            page.transcript.model.colours,
            page.transcript.model.names,
            self._window,
        )
        dialog.chosen.connect(lambda one: self._start(self._engine.chats.choose_version(session_id, one)))
        dialog.link_requested.connect(page.link_requested)
        dialog.picture_requested.connect(page.picture_requested)
        dialog.open()

    def _on_version(self, session_id: str, turn_id: str, step: int) -> None:
        live = self._engine.live(session_id)
        ids = live.turns.versions(turn_id) if live else ()
        place = ids.index(turn_id) + step if turn_id in ids else -1
        if 0 <= place < len(ids):
            self._start(self._engine.chats.choose_version(session_id, ids[place]))
