"""The page of a group: its form at the left, and the editor of the chosen member."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from app.core.agent import Agent, Group
from app.gui.display.assistant_display import colours_of
from app.gui.display.i18n import Language
from app.gui.display.style import Look, tall
from app.gui.pages.assistants.assistant_editor import AssistantEditor
from app.gui.pages.assistants.assistant_form import Choices
from app.gui.pages.groups.group_form import GroupForm
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button, name_button, scrolling
from app.gui.widgets.definition_editor import DefinitionEditor
from app.gui.widgets.label import Paragraph, plain_label

COLUMN_WIDTH = 330
NARROW_COLUMN = 284
WIDE = 860
NARROW = 600
ANY_WIDTH = 16_777_215  # QWIDGETSIZE_MAX: no limit


class GroupPage(DefinitionEditor[Group]):
    """Shows a group; emits `save_requested` with it as edited, a moment after a change.

    `tools` are the buttons for the bar over the page. If the editor does not fit, a member to edit is
    requested with `member_requested`.
    """

    renamed = Signal()
    member_requested = Signal(str)

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(language, "group_state", parent)
        self.setObjectName("group_page")
        self._agents: dict[str, Agent] = {}
        self._built_in: frozenset[str] = frozenset()
        # Widgets at the top are created first: Tab follows that order.
        self._share = button("", "group_share", lambda: self.share_requested.emit(self.definition_id))
        self._share.dress(look, "share", "text")
        self._chat = button("primary", "group_chat", lambda: self.chat_requested.emit(self.definition_id))
        self.form = GroupForm(language, look)
        self.named = self.form.name
        self.editor = AssistantEditor(language, look, embedded=True)
        self.tools = QWidget()
        self._column = QFrame()
        self._column.setProperty("kind", "cards")
        self._empty = QWidget()
        self._empty_title = plain_label("page_title", wrap=True)
        self._empty_text = Paragraph("card_text")
        self._lay_out()
        self.form.changed.connect(self._on_changed)
        self.form.member_chosen.connect(lambda _member: self._show_member())
        self.form.cards.edit_requested.connect(self._on_edit)
        language.changed.connect(self._retranslate)
        self._retranslate()

    def title(self) -> str:
        """Return the group's name as edited."""
        return self.form.name.text().strip() or (self._definition.name if self._definition else "")

    def set_assistants(self, choices: Choices, built_in: frozenset[str]) -> None:
        """Set the assistants and the choices of the forms."""
        self._agents = {agent.id: agent for agent in choices.agents}
        self._built_in = built_in
        self.editor.set_choices(choices)
        self.form.set_choices(choices, built_in)
        self.form.show_members(self.form.cards.current_id())
        self._show_member()

    def show_group(self, group: Group, member: str = "") -> None:
        """Show a group and one of its members; the same group again keeps unsaved changes."""
        if self.definition_id == group.id:
            if self._is_changed_elsewhere(group):
                self._definition = group
                kept = member or self.form.cards.current_id()
                self.form.show_group(group, kept if kept in group.members else _first(group))
            elif member:
                self.form.show_members(member)
        else:
            self.save_now()
            self._definition = group
            self.state.start_over()
            self.form.show_group(group, member or _first(group))
        self._show_member()

    def written(self) -> Group | None:
        return self.form.group()

    def show_error(self, field: str, text: str) -> None:
        self.form.show_error(field, text)

    def forget(self) -> None:
        """Forget the group: it was deleted."""
        self._definition = None
        self.state.start_over()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.save_now()
        self.editor.save_now()

    def _fit(self) -> None:
        """Show the editor beside the members if it fits."""
        wanted = COLUMN_WIDTH if self.width() >= tall(WIDE) else NARROW_COLUMN
        self._column.setMinimumWidth(wanted)
        self._column.setMaximumWidth(wanted if self.width() >= tall(NARROW) else ANY_WIDTH)
        self._name_tools()
        self._show_member()

    def _name_tools(self) -> None:
        """Set the texts of the buttons in the bar, shorter if the bar is narrow."""
        words, roomy = self._language, self.width() >= tall(NARROW)
        self._share.setText(words("group.share") if roomy else "")
        name_button(self._share, words("group.share"))
        self._chat.setText(words("group.chat" if roomy else "assistant.chat_with"))
        name_button(self._chat, words("group.chat"))

    def _show_member(self) -> None:
        """Show the chosen member in the editor, or why there is none."""
        member = self.form.cards.current_id()
        roomy = self.width() >= tall(NARROW)
        agent = self._agents.get(member)
        self.editor.setVisible(roomy and agent is not None)
        self._empty.setVisible(roomy and agent is None)
        self._chat.setEnabled(any(one in self._agents for one in self.form.members))
        if agent is not None:
            colour = colours_of(tuple(self._agents.values()))[agent.id]
            self.editor.show_assistant(agent, colour, built_in=agent.id in self._built_in)
        else:
            words = self._language
            self._empty_title.setText(words("group.gone" if member else "group.nobody"))
            self._empty_text.setText(words("group.gone.text" if member else "group.nobody.text"))

    def _lay_out(self) -> None:
        hbox(self.state, self._share, self._chat, inside=self.tools, spacing=8)
        vbox(scrolling(self.form, keeps_bar=True), inside=self._column)
        vbox(
            self._empty_title,
            self._empty_text,
            STRETCH,
            inside=self._empty,
            margins=(24, 20, 24, 20),
            spacing=8,
        )
        hbox(self._column, (self.editor, 1), (self._empty, 1), inside=self, spacing=0)

    def _on_changed(self) -> None:
        self.state.touch()
        self._chat.setEnabled(any(one in self._agents for one in self.form.members))
        self.renamed.emit()

    def _on_edit(self, member: str) -> None:
        if member not in self._agents:
            return
        if self.width() < tall(NARROW):
            self.member_requested.emit(member)
        else:
            self.form.show_members(member)
            self._show_member()
            self.editor.form.name.setFocus()

    def _retranslate(self) -> None:
        self._name_tools()
        self._show_member()


def _first(group: Group) -> str:
    return group.members[0] if group.members else ""
