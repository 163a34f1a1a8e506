"""The composer of the welcome page: begins a chat with an assistant or a group, or a debate."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QImage

from app.core.catalog import EMBEDDED
from app.core.draft import NEW, Draft
from app.core.message import Attachment
from app.core.session import MIN_PARTICIPANTS
from app.engine.council.panels import most_calls
from app.gui.controllers.chats import ChatController
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.debates import COMPARE, DebateController
from app.gui.pages.chat.chat_composer import LONGEST_NAME, short_name, unmarked
from app.gui.pages.welcome_page import WITH_SEVERAL
from app.gui.panels.debate.setup_view import SetupView
from app.gui.widgets.choices import BEGINS, CHAT, COUNCIL
from app.gui.widgets.text import plain_tip
from app.gui.window_frame import WindowFrame

MODE = "begins"


class WelcomeController(Controller):
    """Begins a chat or a debate from the welcome page; emits new_requested(group id) to have the chat page shown.

    Both pages show the same draft, that of a new chat.
    """

    new_requested = Signal(str)

    def __init__(
        self, parts: Parts[WindowFrame], chats: ChatController, debates: DebateController, setup: SetupView
    ) -> None:
        super().__init__(parts)
        self._page, self._chats, self._debates, self._setup = parts.window.welcome, chats, debates, setup
        self._group_id = ""
        self._filling = False
        self._wire()
        # Text typed before the engine was ready replaces the draft of the last run.
        composer = self._page.composer
        text = composer.box.toPlainText()
        if text:
            drafts = parts.engine.drafts
            drafts.keep(NEW, replace(drafts.of(NEW), text=text))
        self.show_draft()
        composer.hold(False)
        self.refresh()

    def refresh(self) -> None:
        """Show what the composer begins: a debate, or a chat with an assistant or a group as it is now.

        A page that is not seen is refreshed when it comes.
        """
        if not self._page.isVisible():
            return
        composer = self._page.composer
        self._chats.dress_for_new(composer)
        several = self._mode in WITH_SEVERAL
        self._show_mode()
        composer.attach.setVisible(not several)
        groups = self._engine.groups.all()
        self._page.offer_group(groups[0].id if groups else "", groups[0].name if groups else "")
        chosen = next((group for group in groups if group.id == self._group_id), None)
        composer.assistant.setVisible(not several)
        composer.tools.setVisible(chosen is None and not several)
        if chosen is not None or several:
            composer.asking.hide()
        composer.assistant.dress(self._look, "users" if chosen else "message-circle")
        menu = composer.assistant.choices
        if chosen is not None:
            tip = plain_tip(chosen.name) if len(chosen.name) > LONGEST_NAME else ""
            composer.assistant.show_words(short_name(chosen.name), tip)
            composer.assistant.setAccessibleName(chosen.name)
            for action in menu.actions():
                action.setChecked(False)
        if groups:
            menu.addSeparator()
        for group in groups:
            action = menu.addAction(unmarked(group.name), partial(self._choose_group, group.id))
            action.setCheckable(True)
            action.setChecked(group is chosen)

    @property
    def _mode(self) -> str:
        mode = self._state.text(MODE, CHAT)
        return mode if mode in BEGINS else CHAT

    def _show_mode(self) -> None:
        self._page.show_mode(self._mode, self._debaters(), compares=self._compares)

    @property
    def _compares(self) -> bool:
        """Whether a council begins here, and one of its participants has a model that can compare answers."""
        # Who takes part is asked for last: the first question makes all cards of Setup.
        return self._mode == COUNCIL and any(
            one.provider != EMBEDDED for one in self._setup.setup().participants
        )

    def _debaters(self) -> str:
        """Return who takes part in what begins here, and for how many rounds or calls."""
        if self._mode not in WITH_SEVERAL:
            return ""
        setup, words = self._setup.setup(), self._language
        if len(setup.participants) < MIN_PARTICIPANTS:
            return words("setup.invalid.participants")
        names = ", ".join(one.name for one in setup.participants)
        if self._mode == COUNCIL:
            count = len(setup.participants) + (self._compares and self._page.compare.isChecked())
            panel = self._engine.councils.panels.of(setup.participants)
            calls = words("council.calls", count=count)
            if panel is not None and panel.debates:
                calls = words("council.calls_most", count=count + most_calls(panel))
            return words("welcome.debaters", names=panel.name if panel else names, rounds=calls)
        return words("welcome.debaters", names=names, rounds=words("verdict.rounds", count=setup.rounds))

    def _on_compare(self, on: bool) -> None:
        self._state.keep(COMPARE, on)
        self.refresh()

    def _on_mode_chosen(self, mode: str) -> None:
        self._state.keep(MODE, mode)
        self.refresh()
        self.show_draft()
        self._page.composer.box.setFocus()

    def go_on(self) -> None:
        """Clear the composer: the chat page shows the draft now."""
        self._fill(Draft())

    def begin(self, mode: str) -> None:
        """Show what was written on the page for a new chat here, as what a debate or a council begins with."""
        self._window.show_welcome()
        self._page.mode.set_value(mode)
        self._page.composer.box.setFocus()

    def show_draft(self) -> None:
        """Show the draft of a new chat, which may have been written on the chat page."""
        self._fill(self._engine.drafts.of(NEW))

    def _fill(self, draft: Draft) -> None:
        composer = self._page.composer
        self._filling = True
        several = self._mode in WITH_SEVERAL
        composer.strip.show_attachments(self._setup.pasted.attachments() if several else draft.attachments)
        if draft.text != composer.box.toPlainText():
            composer.box.setPlainText(draft.text)
            composer.box.moveCursor(composer.box.textCursor().MoveOperation.End)
        self._filling = False

    def _on_text_changed(self) -> None:
        composer = self._page.composer
        if not self._filling:
            kept = self._engine.drafts.of(NEW).attachments
            attachments = kept if self._mode in WITH_SEVERAL else composer.attachments()
            draft = Draft(text=composer.box.toPlainText(), attachments=attachments)
            self._engine.drafts.keep(NEW, draft)

    def _wire(self) -> None:
        composer, debates = self._page.composer, self._debates
        composer.text_changed.connect(self._on_text_changed)
        composer.strip.removed.connect(self._on_removed)
        self._chats.files.wire_looks(composer.strip)
        self._chats.files.brought_back.connect(self._on_brought_back)
        self._page.came.connect(self.show_draft)
        self._page.came.connect(self.refresh)
        composer.message_submitted.connect(self._on_submitted)
        self._page.mode.chosen.connect(self._on_mode_chosen)
        self._page.change_requested.connect(
            lambda text: debates.show_new(text, council=self._mode == COUNCIL)
        )
        self._setup.draft_changed.connect(lambda _draft: self._show_mode())
        self._setup.pasted.changed.connect(self._on_brought_back)
        composer.assistant_chosen.connect(self._on_assistant_chosen)
        composer.settings_mode_chosen.connect(self._chats.choose_settings_mode)
        composer.settings_requested.connect(lambda page: self._chats.settings_requested.emit(page, ""))
        composer.tool_switched.connect(self._chats.switch_last_tool)
        files = self._chats.files
        composer.sources = files.from_servers.names
        for signal, attach in (
            (composer.attach_requested, files.ask),
            (composer.attach_from_requested, files.from_servers.ask),
        ):
            signal.connect(partial(self._attach, attach))
        composer.files_given.connect(self._on_files)
        composer.image_given.connect(self._on_image)
        composer.long_text_given.connect(self._on_long_text)
        self._chats.refreshed.connect(self.refresh)
        self._chats.several_requested.connect(partial(self._debates.begin, council=True))
        composer.ask_several.setVisible(False)
        self._page.compare.setChecked(self._state.flag(COMPARE, True))
        self._page.compare.toggled.connect(self._on_compare)

    def _on_brought_back(self) -> None:
        if self._page.isVisible():
            self.show_draft()

    def _choose_group(self, group_id: str) -> None:
        self._group_id = group_id
        self.refresh()

    def _on_assistant_chosen(self, assistant_id: str) -> None:
        self._group_id = ""
        self._chats.choose_for_new(assistant_id)

    def _on_submitted(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        if self._mode in WITH_SEVERAL:
            # The files of a new chat wait for it; what is shown here are those of Setup.
            self._engine.drafts.keep(NEW, Draft(attachments=self._engine.drafts.of(NEW).attachments))
            self.show_draft()
            self._debates.begin(text, council=self._mode == COUNCIL)
            return
        self.new_requested.emit(self._group_id)
        self._chats.send_new(text, attachments)

    def _on_long_text(self, text: str) -> None:
        """Attach a long text that was pasted; a debate or a council gets it through Setup, and it is shown here too."""
        if self._mode in WITH_SEVERAL:
            self._setup.add_pasted(text)
        else:
            self._attach(self._chats.files.attach_text, text)

    def _on_files(self, paths: Sequence[Path]) -> None:
        """Attach files; a debate or a council gets them in Setup."""
        if self._mode in WITH_SEVERAL:
            self._debates.show_setup(self._page.composer.box.text())
            self._setup.add_files([str(path) for path in paths])
        else:
            self._attach(self._chats.files.attach_files, paths)

    def _on_image(self, image: QImage) -> None:
        """Attach a picture; a debate or a council cannot begin with one."""
        if self._mode in WITH_SEVERAL:
            self._toasts.show_toast(self._language("welcome.no_images"))
        else:
            self._attach(self._chats.files.attach_image, image)

    def _on_removed(self, attachment: Attachment, place: int) -> None:
        """Offer to bring back an attachment that was removed here, from the new chat or from Setup."""
        if self._mode in WITH_SEVERAL:
            self._setup.pasted.show_attachments(self._page.composer.attachments())
            self._setup.pasted_removed.emit(attachment, place)
        else:
            self._chats.files.offer_back("", attachment, place)

    def _attach(self, attach: Callable[..., None], *given: object) -> None:
        """Attach something on the page of the new chat."""
        self.new_requested.emit(self._group_id)
        attach(*given)
