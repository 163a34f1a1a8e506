"""The page of assistants: all of them as cards, and the editor of the chosen one."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from app.core.agent import Agent
from app.core.tool import ToolChoice
from app.gui.display.assistant_display import colours_of
from app.gui.display.i18n import Language
from app.gui.display.style import Look, tall
from app.gui.pages.assistants.assistant_cards import AssistantCards
from app.gui.pages.assistants.assistant_editor import AssistantEditor
from app.gui.pages.assistants.assistant_form import Choices
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import plain_label
from app.gui.widgets.wording import say

CARDS_WIDTH = 300
NARROW = 760


class AssistantsPage(QWidget):
    """Cards at the left, if they fit, and the editor; emits the user's requests."""

    new_requested = Signal()
    bring_in_requested = Signal()

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("assistants_page")
        self._language = language
        self._agents: dict[str, Agent] = {}
        self._tools: Sequence[ToolChoice] = ()
        self._built_in: frozenset[str] = frozenset()
        self._title = say(plain_label("field"), language, "side.assistants")
        self.cards = say(AssistantCards(language, look), language, name="side.assistants")
        self._new = say(button("", "assistants_new", self.new_requested), language, "assistant.new")
        self._new.dress(look, "plus", "text")
        self.editor = AssistantEditor(language, look)
        self._side = QFrame()
        self._side.setProperty("kind", "cards")
        self._side.setFixedWidth(CARDS_WIDTH)
        self._lay_out()
        self.cards.chosen.connect(self.show_assistant)
        self.cards.edit_requested.connect(self._on_edit)
        language.changed.connect(lambda: self._show_cards(self.editor.agent_id))
        self._show_cards(self.editor.agent_id)

    def set_assistants(self, agents: Sequence[Agent], built_in: frozenset[str], choices: Choices) -> None:
        """Show these assistants; the one in the editor stays if it still exists."""
        self._agents = {agent.id: agent for agent in agents}
        self._built_in, self._tools = built_in, choices.tools
        self.editor.set_choices(choices)
        shown = self.editor.agent_id
        if shown not in self._agents:
            shown = next(iter(self._agents), "")
        self._show_cards(shown)
        if shown:
            self._show_in_editor(shown)

    def show_assistant(self, agent_id: str) -> None:
        """Show an assistant in the editor, as soon as it is known."""
        if agent_id in self._agents:
            self._show_in_editor(agent_id)
            self._show_cards(agent_id)

    def name_it(self) -> None:
        """Focus the name and select it."""
        self.editor.form.name.setFocus(Qt.FocusReason.OtherFocusReason)
        self.editor.form.name.selectAll()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The side bar has the same list: if only one fits, show the editor.
        self._side.setVisible(self.width() >= tall(NARROW))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.editor.save_now()

    def _on_edit(self, agent_id: str) -> None:
        self.show_assistant(agent_id)
        self.editor.form.name.setFocus()

    def _show_in_editor(self, agent_id: str) -> None:
        colour = colours_of(tuple(self._agents.values()))[agent_id]
        self.editor.show_assistant(self._agents[agent_id], colour, built_in=agent_id in self._built_in)

    def _show_cards(self, chosen: str) -> None:
        agents = tuple(self._agents.values())
        built_in = self._language("assistant.mark.built_in")
        marks = dict.fromkeys(self._built_in, built_in)
        self.cards.fixed = self._built_in
        self.cards.show_assistants(agents, self._tools, marks, chosen, colours=colours_of(agents))

    def _lay_out(self) -> None:
        vbox(
            self._title,
            (self.cards, 1),
            hbox(
                self._new,
                say(
                    button("plain", "assistants_bring_in", self.bring_in_requested),
                    self._language,
                    "assistant.bring_in",
                ),
                STRETCH,
            ),
            inside=self._side,
            margins=(16, 14, 12, 14),
            spacing=9,
        )
        hbox(self._side, (self.editor, 1), inside=self, spacing=0)
