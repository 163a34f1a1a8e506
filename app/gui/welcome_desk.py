"""What the window does with the welcome page's composer: whom it writes to, and how a chat begins from it.

Made by the desk, which shows the page for a new chat; there all goes on.
"""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from app.core.message import Attachment
from app.engine.engine import Engine
from app.gui.chat_desk import NEW, ChatDesk
from app.gui.panels.chat.chat_composer import LONGEST_NAME, unmarked
from app.gui.style import Look
from app.gui.welcome_page import WelcomePage
from app.gui.window_state import WindowState


class WelcomeDesk(QObject):
    """Turns what is written on the welcome page into a new chat; new_requested(group id) has its page shown.

    What is not sent yet is the draft of a new chat, wherever that is written.
    """

    new_requested = Signal(str)

    def __init__(
        self, page: WelcomePage, look: Look, engine: Engine, chats: ChatDesk, state: WindowState
    ) -> None:
        super().__init__(page)
        self._page, self._look, self._engine = page, look, engine
        self._chats, self._state = chats, state
        self._group_id = ""
        self._wire()
        # What was written before anything could be sent counts, not what was left the last time.
        if not page.composer.box.toPlainText():
            page.composer.box.setPlainText(state.draft(NEW))
        page.composer.hold(False)
        self.refresh()

    def refresh(self) -> None:
        """Show whom a new chat is with, as it is now: an assistant or a group."""
        composer = self._page.composer
        self._chats.dress_for_new(composer)
        groups = self._engine.groups.all()
        self._page.offer_group(groups[0].id if groups else "", groups[0].name if groups else "")
        chosen = next((group for group in groups if group.id == self._group_id), None)
        composer.assistant.show()
        composer.tools.setVisible(chosen is None)
        composer.assistant.dress(self._look, "users" if chosen else "message-circle")
        menu = composer.assistant.choices
        if chosen is not None:
            composer.assistant.setText(unmarked(chosen.name[:LONGEST_NAME]))
            composer.assistant.setAccessibleName(chosen.name)
            for action in menu.actions():
                action.setChecked(False)
        if groups:
            menu.addSeparator()
        for group in groups:
            action = menu.addAction(unmarked(group.name), partial(self._choose_group, group.id))
            action.setCheckable(True)
            action.setChecked(group is chosen)

    def go_on(self) -> None:
        """Let the page for a new chat have what was written here."""
        text = self._page.composer.box.toPlainText()
        if text:
            self._page.composer.box.clear()
            self._state.keep_draft(NEW, text)

    def _wire(self) -> None:
        composer = self._page.composer
        composer.text_changed.connect(lambda: self._state.keep_draft(NEW, composer.box.toPlainText()))
        composer.message_submitted.connect(self._on_submitted)
        composer.assistant_chosen.connect(self._on_assistant_chosen)
        composer.servers_requested.connect(lambda: self._chats.settings_requested.emit("servers", ""))
        composer.attach_requested.connect(self._on_attach)
        composer.files_given.connect(self._on_files)
        composer.image_given.connect(self._on_image)
        composer.long_text_given.connect(self._on_long_text)
        self._chats.refreshed.connect(self.refresh)

    def _choose_group(self, group_id: str) -> None:
        self._group_id = group_id
        self.refresh()

    def _on_assistant_chosen(self, assistant_id: str) -> None:
        self._group_id = ""
        self._chats.choose_for_new(assistant_id)

    def _on_submitted(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        self.new_requested.emit(self._group_id)
        self._chats.send_new(text, attachments)

    # Files and pictures are put to a message on the page for a new chat.

    def _on_attach(self) -> None:
        self.new_requested.emit(self._group_id)
        self._chats.attach()

    def _on_files(self, paths: list[Path]) -> None:
        self.new_requested.emit(self._group_id)
        self._chats.attach_files(paths)

    def _on_image(self, image: QImage) -> None:
        self.new_requested.emit(self._group_id)
        self._chats.attach_image(image)

    def _on_long_text(self, text: str) -> None:
        self.new_requested.emit(self._group_id)
        self._chats.attach_text(text)
