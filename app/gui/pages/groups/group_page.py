"""The page of a group: its form at the left, and the editor of the chosen member."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QLineEdit, QMenu

from app.core.definitions import Agent, Group, Leader
from app.core.provider import ModelFacts
from app.gui.commands import written
from app.gui.display.appearance import Language, Look, tall
from app.gui.pages.assistants_page import CARDS, MODEL, STYLE, AssistantCards, AssistantEditor, Choices
from app.gui.widgets.boxes import ANY_SIZE, STRETCH, Fitting, frame, hbox, vbox
from app.gui.widgets.controls import NumberBox, TextBox, TickBox, button, scrolling
from app.gui.widgets.form import DefinitionEditor, Field, Form, Sentence, Steps
from app.gui.widgets.model_choice import AnswerStyleChoice, ModelChoice
from app.gui.widgets.text import Paragraph, name_button, named, plain_label, plain_tip, say, show_or_hide

MOST_NAME = 60
MOST_TURNS = 200
COLUMN_WIDTH = 330
NARROW_COLUMN = 284
WIDE = 860
NARROW = 600


class GroupForm(Form):
    """Shows a group for editing.

    `member_chosen` carries the id of the chosen member, `member_removed` the id and the position of
    a removed one.
    """

    member_removed = Signal(str, int)
    new_member_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        self._group, self._choices = Group(id="", name=""), Choices()
        self._built_in: frozenset[str] = frozenset()
        self.members: tuple[str, ...] = ()
        self.name = named("group_name", QLineEdit(maxLength=MOST_NAME))
        cards = AssistantCards(language, look, "member_cards", "group.remove")
        self.cards = say(cards, language, name="group.members")
        self.member_chosen = self.cards.chosen
        self.cards.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._add_member = say(button("", "group_add_member"), language, "group.add_member")
        self._add_member.dress(look, "plus", "text")
        self._offers = QMenu(self._add_member, toolTipsVisible=True)
        self._add_member.setMenu(self._offers)
        self.model = named("group_model", ModelChoice(language, look))
        self.answers = AnswerStyleChoice(language, look)
        self.answers.set_across(False)
        self.turns = NumberBox("group_turns", 1, MOST_TURNS)
        self.ask = named("group_ask", TickBox(look))
        self.instructions = named("group_instructions", TextBox(lines=4, most=10, submits=False))
        told = say(plain_label("field"), language, "assistant.field.instructions")
        told.setBuddy(self.instructions)
        lacks = "assistant.error.model"
        leads = Field("orchestrator", self.model, of=MODEL, says="group.orchestrator.model", error=lacks)
        answers = Field("answers", self.answers, of=STYLE)
        turns = Sentence(language, "group.turns", self.turns)
        parts = (leads, answers, turns, self.ask, told, self.instructions)
        self._leader = Form(language, *parts, spacing=9, gap=9).lay_out()
        self._leader.layout().setContentsMargins(12, 11, 12, 11)
        self._leader.setProperty("kind", "card")
        wrong = plain_label("error", wrap=True)
        title, add = say(plain_label("field"), language, "group.members"), hbox(self._add_member, STRETCH)
        name = Field("name", self.name, label="assistant.field.name", fits=bool, error="assistant.error.name")
        members = frame("", vbox(title, self.cards, wrong, add, spacing=7))
        led = say(plain_label("field"), language, "group.orchestrator")
        hint = "group.instructions.hint"
        inner = (
            Field("turns_limit", self.turns, says="group.turns.name"),
            Field("ask_before_hand_over", self.ask, text="group.ask"),
            Field("instructions", self.instructions, says="group.instructions", hint=hint),
        )
        shown = (name, 8, members, 10, led, self._leader, STRETCH)
        super().__init__(language, *shown, inner=inner, spacing=7, gap=7)
        self.lay_out()
        self.layout().setContentsMargins(16, 14, 16, 14)
        self.errors = {name: form.rows[name].error for form in (self, self._leader) for name in form.rows}
        self.errors["members"] = wrong
        self.cards.delete_requested.connect(self.remove)
        self.cards.order_chosen.connect(self._on_order)
        self._offers.aboutToShow.connect(self._offer)
        self.model.changed.connect(self._show_facts)
        self._leader.changed.connect(self.changed)
        look.changed.connect(self._fit_cards)

    def show_group(self, group: Group, chosen: str) -> None:
        """Show a group, with one of its members chosen."""
        self._group = group
        self.members = group.members
        self.fill(group)
        self._leader.fill(group.orchestrator)
        self._show_facts()
        self.show_error("members", "")
        self.show_members(chosen)

    def show_members(self, chosen: str) -> None:
        """Show the members' cards, one of them chosen; mark those whose assistant is gone."""
        known = {agent.id: agent for agent in self._choices.agents}
        gone = {member for member in self.members if member not in known}
        marks = dict.fromkeys(self._built_in, self._language("assistant.mark.built_in"))
        marks |= dict.fromkeys(gone, self._language("group.member.gone"))
        name = self._language("group.gone")
        agents = [known.get(member, Agent(id=member, name=name, enabled=False)) for member in self.members]
        self.cards.show_assistants(agents, self._choices.tools, marks, chosen)
        self._fit_cards()
        self.cards.setVisible(bool(agents))

    def _fit_cards(self) -> None:
        self.cards.setFixedHeight(self.cards.count() * (tall(CARDS.height) + CARDS.gap))

    def set_choices(self, choices: Choices, built_in: frozenset[str]) -> None:
        """Set the assistants that can be members, and the models."""
        self._choices, self._built_in = choices, built_in
        with QSignalBlocker(self):
            self.model.set_providers(choices.providers, choices.facts)
        self._show_facts()

    def group(self) -> Group | None:
        """Return the group as edited, or None if a field is invalid; the reason is shown beside the field."""
        self.show_error("members", "")
        if not all([self.check(), self._leader.check()]):
            return None
        leader = Leader(**self._leader.values())
        return replace(self._group, members=self.members, orchestrator=leader, **self.values())

    def add(self, agent_id: str) -> None:
        """Add an assistant as the last member and choose it."""
        if agent_id not in self.members:
            self.members = (*self.members, agent_id)
            self.show_members(agent_id)
            self.changed.emit("members")
            self.member_chosen.emit(agent_id)

    def remove(self, agent_id: str) -> None:
        """Remove a member and choose the next one."""
        place = self.members.index(agent_id)
        self.members = tuple(member for member in self.members if member != agent_id)
        near = self.members[min(place, len(self.members) - 1)] if self.members else ""
        self.show_members(near)
        self.changed.emit("members")
        self.member_removed.emit(agent_id, place)
        self.member_chosen.emit(near)
        if near:
            self.cards.setFocus()
        else:
            self._add_member.setFocus()

    def show_error(self, name: str, text: str) -> None:
        """Show beside a field, the members or the orchestrator what is wrong; "" for nothing."""
        show_or_hide(self.errors[name], text)

    def _offer(self) -> None:
        self._offers.clear()
        for agent in (agent for agent in self._choices.agents if agent.id not in self.members):
            action = self._offers.addAction(agent.name, partial(self.add, agent.id))
            action.setToolTip(plain_tip(agent.description or agent.role))
        self._offers.addSeparator()
        self._offers.addAction(self._language("assistant.new"), self.new_member_requested.emit)

    def _show_facts(self) -> None:
        """Offer for the answers what the orchestrator's model takes."""
        provider, model = self.model.chosen() or ("", "")
        self.answers.show_facts(self._choices.facts(provider, model) if provider else ModelFacts())

    def _on_order(self, members: tuple[str, ...]) -> None:
        self.members = members
        self.changed.emit("members")

    def _retranslate(self) -> None:
        super()._retranslate()
        words = self._language
        self.ask.setToolTip(words("group.ask.text"))
        self.show_members(self.cards.current_id())


class GroupPage(Fitting, DefinitionEditor[Group]):
    """Shows a group; emits `save_requested` with it as edited, a moment after a change.

    `tools` are the buttons for the bar over the page. The editor is made in the next turns of the event loop,
    which emit `editor_made`. If it does not fit, a member to edit is requested with `member_requested`.
    """

    editor_made = Signal()
    renamed = Signal()
    member_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, "group_state")
        self.setObjectName("group_page")
        self._choices = Choices()
        self._agents: dict[str, Agent] = {}
        self._built_in: frozenset[str] = frozenset()
        # Widgets at the top are created first: Tab follows that order.
        self._share = button("", "group_share", self.asking(self.share_requested))
        self._share.dress(look, "share", "text")
        self._chat = button("primary", "group_chat", self.asking(self.chat_requested))
        self.form = GroupForm(language, look)
        self.named = self.form.name
        self._editor: AssistantEditor | None = None
        self._empty_title = plain_label("page_title", wrap=True)
        self._empty_text = Paragraph("card_text")
        self._lay_out()
        self.form.changed.connect(self._on_changed)
        self.form.member_chosen.connect(lambda _member: self._show_member())
        self.form.cards.edit_requested.connect(self._on_edit)
        language.follow(self._retranslate)
        self._steps = Steps(self, self._make_editor(look))

    @property
    def editor(self) -> AssistantEditor:
        """The editor of the chosen member."""
        self._steps.finish()
        assert self._editor is not None
        return self._editor

    def _make_editor(self, look: Look) -> Iterator[None]:
        yield
        editor = AssistantEditor(self._language, look, embedded=True)
        yield
        self._editor = editor
        self._beside.insertWidget(1, editor, 1)
        editor.set_choices(self._choices)
        self.editor_made.emit()
        self._show_member()

    def title(self) -> str:
        """Return the group's name as edited."""
        return self.form.name.text().strip() or (self._definition.name if self._definition else "")

    def set_assistants(self, choices: Choices, built_in: frozenset[str]) -> None:
        """Set the assistants and the choices of the forms."""
        self._agents = {agent.id: agent for agent in choices.agents}
        self._built_in, self._choices = built_in, choices
        if self._editor is not None:
            self._editor.set_choices(choices)
        self.form.set_choices(choices, built_in)
        self.form.show_members(self.form.cards.current_id())
        self._show_member()

    def show_group(self, group: Group, member: str = "") -> None:
        """Show a group and one of its members; the same group again keeps unsaved changes."""
        if self.definition_id == group.id:
            if self._is_changed_elsewhere(group):
                self.show_stored(group)
            if member:
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

    def show_stored(self, definition: Group) -> None:
        self._definition = definition
        kept = self.form.cards.current_id()
        self.form.show_group(definition, kept if kept in definition.members else _first(definition))
        self._show_member()

    def forget(self) -> None:
        """Forget the group: it was deleted."""
        self._definition = None
        self.state.start_over()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.save_now()
        if self._editor is not None:
            self._editor.save_now()

    def _fit(self) -> None:
        """Show the editor beside the members if it fits."""
        wanted = COLUMN_WIDTH if self.width() >= tall(WIDE) else NARROW_COLUMN
        self._column.setMinimumWidth(wanted)
        self._column.setMaximumWidth(wanted if self.width() >= tall(NARROW) else ANY_SIZE)
        self._name_tools()
        self._show_member()

    def _name_tools(self) -> None:
        """Set the texts of what is in the bar; a narrow bar keeps its room for the title
        and the chat's button.

        The menu in the sidebar shares a group too, and what is not saved says why beside its field.
        """
        words, roomy = self._language, self.width() >= tall(NARROW)
        self.state.setVisible(roomy)
        self._share.setVisible(roomy)
        self._share.setText(words("group.share"))
        name_button(self._share, words("group.share"))
        self._chat.setText(words("group.chat" if roomy else "assistant.chat_with"))
        name_button(self._chat, words("group.chat"))

    def _show_member(self) -> None:
        """Show the chosen member in the editor, or why there is none."""
        member = self.form.cards.current_id()
        roomy = self.width() >= tall(NARROW)
        agent = self._agents.get(member)
        if self._editor is not None:
            self._editor.setVisible(roomy and agent is not None)
        self._empty.setVisible(roomy and agent is None)
        self._chat.setEnabled(any(item in self._agents for item in self.form.members))
        if agent is not None and self._editor is not None:
            shown = [self._agents[item].name for item in self.form.members if item in self._agents]
            others = [name for name in shown if name != agent.name]
            self._editor.show_assistant(agent, built_in=agent.id in self._built_in, others=others)
        elif agent is None:
            words, keys = self._language, written("Del")
            self._empty_title.setText(words("group.gone" if member else "group.nobody"))
            self._empty_text.setText(words("group.gone.text" if member else "group.nobody.text", keys=keys))

    def _lay_out(self) -> None:
        self.tools = frame("", hbox(self.state, self._share, self._chat, spacing=8))
        self._column = frame("cards", vbox(scrolling(self.form, keeps_bar=True)))
        nobody = vbox(self._empty_title, self._empty_text, STRETCH, margins=(24, 20, 24, 20), spacing=8)
        self._empty = frame("", nobody)
        self._beside = hbox(self._column, (self._empty, 1), inside=self, spacing=0)

    def _on_changed(self) -> None:
        self.state.touch()
        self._chat.setEnabled(any(member in self._agents for member in self.form.members))
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
