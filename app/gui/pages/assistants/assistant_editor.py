"""The editor of an assistant: its fields, which are saved automatically, and its earlier versions."""

from collections.abc import Sequence
from dataclasses import fields
from functools import partial

from PySide6.QtCore import QEvent, QPoint, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from app.core.agent import Agent
from app.gui.display.appearance import Language, Look
from app.gui.pages.assistants.assistant_form import AssistantForm, Choices
from app.gui.widgets.badge import Avatar, told_apart
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import button, icon_button, scrolling
from app.gui.widgets.definition_editor import DefinitionEditor
from app.gui.widgets.text import ElidedLabel, plain_label, say

MARGIN = 24
# The fields in which a version may differ, with the keys of their texts.
FIELD_OF = {"provider": "model", "mcp_servers": "servers", "max_depth": "limits", "max_steps": "limits"}
FIELD_OF |= dict.fromkeys(("effort", "creativity", "length"), "answers")


class AssistantEditor(DefinitionEditor[Agent]):
    """Shows an assistant; emits `save_requested` with it as edited, a moment after a change.

    If `embedded` in the page of a group, it has no buttons to share or chat: the group has them.
    """

    versions_requested = Signal(str)

    def __init__(self, language: Language, look: Look, *, embedded: bool = False) -> None:
        super().__init__(language, "assistant_state")
        self._embedded = embedded
        self._shown: Agent | None = None
        self._built_in = False
        self._colour = 0
        self._others: Sequence[str] = ()
        self._avatar = Avatar(look, 30)
        self._title = ElidedLabel("page_title")
        self._versions = say(
            icon_button(
                look,
                "history",
                "assistant_versions",
                lambda: self.versions_requested.emit(self.definition_id),
            ),
            language,
            tip="assistant.versions",
        )
        self._share = say(
            icon_button(
                look, "share", "assistant_share", lambda: self.share_requested.emit(self.definition_id)
            ),
            language,
            tip="assistant.share",
        )
        self._chat = say(
            button("primary", "assistant_chat", lambda: self.chat_requested.emit(self.definition_id)),
            language,
            "assistant.chat_with",
        )
        self._banner = QFrame()
        self._banner.setProperty("kind", "banner")
        self._banner.setProperty("tone", "accent")
        self._banner_text = plain_label(wrap=True)
        self._banner_act = button("", "assistant_banner_act", self._on_banner)
        self._banner_back = say(
            button("plain", "assistant_banner_back", self._show_again), language, "assistant.version.back"
        )
        self.form = AssistantForm(language, look)
        self.named = self.form.name
        self._lay_out()
        self.form.changed.connect(self._on_changed)
        language.changed.connect(self._show_banner)
        self._show_banner()

    def show_assistant(
        self, agent: Agent, colour: int, *, built_in: bool, others: Sequence[str] = ()
    ) -> None:
        """Show an assistant in a speaker's colour; the same one again keeps unsaved changes.

        `others` are the names that its letters are told apart from.
        """
        self._colour, self._others = colour, others
        if self.definition_id == agent.id and not self._built_in:
            if self._is_changed_elsewhere(agent):
                self.show_stored(agent)
            elif not self._differs(agent):
                self._definition = agent
            return
        self.save_now()
        self._definition, self._built_in = agent, built_in
        self.state.start_over()
        self._show_again()

    def set_choices(self, choices: Choices) -> None:
        """Set the choices of the form."""
        self.form.set_choices(choices)

    def written(self) -> Agent | None:
        # An earlier version is only looked at.
        return self.form.assistant() if self._shown is None else None

    def show_error(self, field: str, text: str) -> None:
        self.form.show_error(field, text)

    def show_stored(self, definition: Agent) -> None:
        self._definition = definition
        self._show_again()

    def show_versions(self, versions: Sequence[Agent]) -> None:
        """Open a menu of earlier versions, newest first."""
        menu = self.versions_menu(versions)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._versions.mapToGlobal(QPoint(0, self._versions.height() + 4)))

    def versions_menu(self, versions: Sequence[Agent]) -> QMenu:
        """Return the menu of versions, without the current one, with the fields in which each differs."""
        words, menu = self._language, QMenu(self)
        for version in versions:
            if self._definition is not None and version.version == self._definition.version:
                continue
            text = words("assistant.version", number=version.version, fields=self._difference(version))
            menu.addAction(text, partial(self.show_version, version))
        if menu.isEmpty():
            menu.addAction(words("assistant.versions.none")).setEnabled(False)
        return menu

    def show_version(self, version: Agent) -> None:
        """Show an earlier version read-only, with a button to restore it."""
        self.save_now()
        self._shown = version
        self.form.show_assistant(version, fixed=True)
        self._show_banner()
        self._banner_act.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.form.fit(self.width() - 2 * MARGIN)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.form.fit(self.width() - 2 * MARGIN)

    def _difference(self, version: Agent) -> str:
        """Return the names of the fields in which a version differs from the current one."""
        assert self._definition is not None
        names: list[str] = []
        for field in fields(Agent):
            if field.name == "version" or getattr(version, field.name) == getattr(
                self._definition, field.name
            ):
                continue
            name = FIELD_OF.get(field.name, field.name)
            key = f"assistant.field.{name}"
            text = self._language(key) if key in self._language.texts else name
            if text not in names:
                names.append(text)
        return ", ".join(names) or self._language("assistant.version.same")

    def _show_again(self) -> None:
        """Show the current version again."""
        if self._definition is not None:
            self._shown = None
            self.form.show_assistant(self._definition, fixed=self._built_in)
            self._show_head()
            self._show_banner()

    def _show_head(self) -> None:
        if self._definition is None:
            return
        name = self.form.name.text().strip() or self._definition.name
        self._title.setText(name)
        self._avatar.set_speaker(name, self._colour, letters=told_apart(name, self._others))
        self._chat.setEnabled(self._definition.enabled)

    def _show_banner(self) -> None:
        words, version = self._language, self._shown
        self._banner.setVisible(self._built_in or version is not None)
        self._banner_back.setVisible(version is not None)
        if version is not None:
            self._banner_text.setText(words("assistant.version.shown", number=version.version))
            self._banner_act.setText(words("assistant.version.bring_back"))
        else:
            self._banner_text.setText(words("assistant.built_in"))
            self._banner_act.setText(words("assistant.duplicate_to_change"))

    def _on_changed(self) -> None:
        self.state.touch()
        self._show_head()

    def _on_banner(self) -> None:
        version, agent = self._shown, self._definition
        if agent is None:
            return
        if version is None:
            self.duplicate_requested.emit(agent.id)
            return
        self._shown = None
        self.form.show_assistant(version, fixed=False)
        self._show_banner()
        self.state.touch()
        self.save_now()
        self.form.name.setFocus()

    def _lay_out(self) -> None:
        head = hbox(
            self._avatar, (self._title, 1), self.state, self._versions, self._share, self._chat, spacing=10
        )
        if self._embedded:
            self._share.hide()
            self._chat.hide()
        hbox(
            (self._banner_text, 1),
            self._banner_back,
            self._banner_act,
            inside=self._banner,
            margins=(14, 8, 10, 8),
        )
        body = QWidget()
        vbox(self.form, inside=body, margins=(MARGIN, 0, MARGIN, 18))
        column = vbox(inside=self, margins=(0, 16, 0, 0), spacing=12)
        for item in (head, self._banner):
            row = hbox(margins=(MARGIN, 0, MARGIN, 0))
            if isinstance(item, QWidget):
                row.addWidget(item)
            else:
                row.addLayout(item)
            column.addLayout(row)
        column.addWidget(scrolling(body, keeps_bar=True), 1)
