"""The page of assistants: all of them as cards, and the editor of the chosen one.

Its fields are saved automatically; the editor also shows earlier versions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QSignalBlocker, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from app.core.definitions import Agent
from app.core.tool import ToolChoice
from app.gui.display.appearance import Language, Look, tall
from app.gui.display.descriptions import colours_of, model_line
from app.gui.pages.assistants.assistant_form import AssistantForm, Choices, known_text
from app.gui.widgets.badge import Avatar, initials, told_apart
from app.gui.widgets.boxes import STRETCH, frame, hbox, vbox
from app.gui.widgets.controls import ENTER, button, icon_button, scrolling
from app.gui.widgets.form import DefinitionEditor
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
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
        self._others: Sequence[str] = ()
        self._avatar = Avatar(look, 30)
        self._title = ElidedLabel("page_title")
        versions, share = self.asking(self.versions_requested), self.asking(self.share_requested)
        chat = button("primary", "assistant_chat", self.asking(self.chat_requested))
        self._versions = icon_button(look, "history", "assistant_versions", versions)
        self._share = icon_button(look, "share", "assistant_share", share)
        say(self._versions, language, tip="assistant.versions")
        say(self._share, language, tip="assistant.share")
        self._chat = say(chat, language, "assistant.chat_with")
        self._banner_text = plain_label(wrap=True)
        self._banner_act = button("", "assistant_banner_act", self._on_banner)
        self._banner_back = say(
            button("plain", "assistant_banner_back", self._show_again), language, "assistant.version.back"
        )
        self.form = AssistantForm(language, look)
        self.named = self.form.name
        self._lay_out()
        self.form.changed.connect(self._on_changed)
        language.follow(self._show_banner)

    def show_assistant(self, agent: Agent, *, built_in: bool, others: Sequence[str] = ()) -> None:
        """Show an assistant; the same one again keeps unsaved changes.

        `others` are the names that its letters are told apart from.
        """
        self._others = others
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
        words, now = self._language, self._definition
        differing = [
            field.name for field in fields(Agent) if getattr(version, field.name) != getattr(now, field.name)
        ]
        names = dict.fromkeys(FIELD_OF.get(name, name) for name in differing if name != "version")
        shown = [known_text(f"assistant.field.{name}", words) or name for name in names]
        return ", ".join(shown) or words("assistant.version.same")

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
        self._avatar.set_speaker(name, self.form.colour.value(), letters=told_apart(name, self._others))
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
        edges = (MARGIN, 0, MARGIN, 0)
        head = self._avatar, (self._title, 1), self.state, self._versions, self._share, self._chat
        if self._embedded:
            self._share.hide()
            self._chat.hide()
        said = hbox((self._banner_text, 1), self._banner_back, self._banner_act, margins=(14, 8, 10, 8))
        self._banner = frame("banner", said)
        self._banner.setProperty("tone", "accent")
        body = frame("", vbox(self.form, margins=(MARGIN, 0, MARGIN, 18)))
        rows = hbox(*head, margins=edges, spacing=10), hbox(self._banner, margins=edges)
        vbox(*rows, (scrolling(body, keeps_bar=True), 1), inside=self, margins=(0, 16, 0, 0), spacing=12)


CARD_HEIGHT = 56
GAP = 6
CARDS = ListStyle(
    height=CARD_HEIGHT,
    gap=GAP,
    left=12,
    right=10,
    mark=30,
    space=11,
    edge=8,
    note=11,
    weight=600,
    selected_weight=600,
    fill="surface",
    card=True,
    chip=19,
)
CARDS_WIDTH = 300
NARROW = 760


class AssistantCards(ItemList):
    """A card for each assistant: name over model and tools, and a mark; emits `chosen`
    with an assistant's id.

    `removal` is the key of the text for Del.
    """

    chosen = Signal(str)
    EDITS = (*ItemList.EDITS, *ENTER)

    def __init__(
        self, language: Language, look: Look, name: str = "assistant_cards", removal: str = "assistant.delete"
    ) -> None:
        super().__init__(look, name, CARDS, ordered=True)
        self._language, self._removal = language, removal
        self.currentItemChanged.connect(self._on_current_changed)
        self.doubleClicked.connect(lambda _index: self.edit_requested.emit(self.current_id()))

    def show_assistants(
        self,
        agents: Sequence[Agent],
        tools: Sequence[ToolChoice],
        marks: Mapping[str, str],
        chosen: str,
        *,
        colours: Mapping[str, int],
    ) -> None:
        """Show these assistants in their colours and mark the chosen one; `marks` are texts by id."""
        words = self._language
        with QSignalBlocker(self):
            self.show_rows(
                [
                    RowItem(
                        id=agent.id,
                        title=agent.name,
                        second=model_line(agent, tools, words),
                        note=marks.get(agent.id, "")
                        or ("" if agent.enabled else words("assistant.mark.off")),
                        colour=colours.get(agent.id, 0),
                        letters=letters,
                        faint=not agent.enabled,
                    )
                    for agent, letters in zip(agents, initials([item.name for item in agents]), strict=True)
                ]
            )
            self.setCurrentRow(self.rows.row_of(chosen))

    def menu_of(self, row_id: str) -> QMenu:
        menu, words, fixed = self.new_menu(), self._language, row_id in self.fixed
        edit = f"{words('assistant.look' if fixed else 'assistant.edit')}\tF2"
        menu.addAction(edit, lambda: self.edit_requested.emit(row_id))
        self.add_moves(menu, words, row_id)
        if not fixed:
            menu.addSeparator()
            menu.addAction(f"{words(self._removal)}\tDel", lambda: self.delete_requested.emit(row_id))
        return menu

    def _on_current_changed(self, item: RowItem | None) -> None:
        if item is not None:
            self.chosen.emit(item.id)


class AssistantsPage(QWidget):
    """Cards at the left, if they fit, and the editor; emits the user's requests."""

    new_requested = Signal()
    bring_in_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
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
        self._show_cards(self.editor.definition_id)

    def set_assistants(self, agents: Sequence[Agent], built_in: frozenset[str], choices: Choices) -> None:
        """Show these assistants; the one in the editor stays if it still exists."""
        self._agents = {agent.id: agent for agent in agents}
        self._built_in, self._tools = built_in, choices.tools
        self.editor.set_choices(choices)
        shown = self.editor.definition_id
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

    def take_focus(self) -> None:
        """Focus the cards, or the name where only the editor fits."""
        (self.cards if self._side.isVisible() else self.editor.form.name).setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The sidebar has the same list: if only one fits, show the editor.
        focused = self.cards.hasFocus()
        self._side.setVisible(self.width() >= tall(NARROW))
        if focused:
            self.take_focus()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.editor.save_now()

    def _on_edit(self, agent_id: str) -> None:
        self.show_assistant(agent_id)
        self.editor.form.name.setFocus()

    def _show_in_editor(self, agent_id: str) -> None:
        agents = tuple(self._agents.values())
        self.editor.show_assistant(
            self._agents[agent_id],
            built_in=agent_id in self._built_in,
            others=[agent.name for agent in agents if agent.id != agent_id],
        )

    def _show_cards(self, chosen: str) -> None:
        agents = tuple(self._agents.values())
        built_in = self._language("assistant.mark.built_in")
        marks = dict.fromkeys(self._built_in, built_in)
        self.cards.fixed = self._built_in
        self.cards.show_assistants(agents, self._tools, marks, chosen, colours=colours_of(agents))

    def _lay_out(self) -> None:
        bring_in = button("plain", "assistants_bring_in", self.bring_in_requested)
        say(bring_in, self._language, "assistant.bring_in")
        foot = hbox(self._new, bring_in, STRETCH)
        vbox(self._title, (self.cards, 1), foot, inside=self._side, margins=(16, 14, 12, 14), spacing=9)
        hbox(self._side, (self.editor, 1), inside=self, spacing=0)
