"""Dialogs of definitions and decisions.

They preview panels, assistants and groups from a file, list the groups that come with the program, ask which
of two changes is kept, edit a panel (its name, who is asked, how long they debate what is open, and who
judges that), show a group that a model proposes, and ask what was decided in a session and on which date to
look at it again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from app.core.council import ANY_JUDGE, MAX_COUNCIL_ROUNDS, MIN_PARTICIPANTS, NO_JUDGE, Panel, Participant
from app.core.definitions import Agent, Group, WorkflowDefinition
from app.core.ids import new_id
from app.core.provider import ProviderStatus
from app.core.session import MIN_ROUNDS
from app.core.texts import exact, visible
from app.core.tool import FILES, assistants_called, told_of
from app.engine.council.panels import named_apart
from app.engine.debate.setup import MAX_PARTICIPANTS, voice_of
from app.engine.decisions import is_date
from app.engine.library.definitions import Shared
from app.gui.dialogs.ask_dialogs import AskDialog, ValueDialog
from app.gui.display.appearance import Language, Look
from app.gui.pages.assistants_page import AssistantForm, Choices
from app.gui.pages.decisions.your_decision import DecisionForm
from app.gui.pages.groups.group_page import COLUMN_WIDTH, GroupForm
from app.gui.pages.settings.settings_rows import TwoLineList
from app.gui.widgets.badge import Avatar
from app.gui.widgets.boxes import STRETCH, empty, frame, hbox, vbox
from app.gui.widgets.controls import RoundsSlider, TickBox, button, icon_button, scrolling
from app.gui.widgets.form import Field, Line
from app.gui.widgets.item_list import RowItem
from app.gui.widgets.model_choice import Facts, ModelButton, ModelMenu, model_text
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, named, plain_label, show_as


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The content of a file in words: lines of (label, value), and the instructions."""

    title: str
    name: str
    lines: Sequence[tuple[str, str]]
    instructions: str
    dropped: Sequence[str]


Parts = Sequence[tuple[str, str]]
"""Pairs of texts: a label and its value, or a name and what is told to who has it."""


def preview_of(shared: Shared[Any], words: Language) -> Preview:
    """Return what a shared file would bring in, with what each assistant or step in it is told."""
    definition = shared.definition
    if isinstance(definition, Group):
        kind, lines, told = "group.", *_of_group(definition, shared.members, words)
    elif isinstance(definition, WorkflowDefinition):
        kind, lines, told = "workflow.", *_of_workflow(definition, words)
    elif isinstance(definition, Panel):
        kind, lines, told = "panel.", *_of_panel(definition, words)
    else:
        kind, lines, told = "", _of_assistant(definition, words), (("", definition.instructions),)
    left_out = (f"{member.definition.name}: {what}" for member in shared.members for what in member.dropped)
    instructions = "\n\n".join(f"{name}\n{text}" if name else text for name, text in told)
    title, dropped = words(f"bring_in.{kind}title"), (*shared.dropped, *left_out)
    name = definition.name
    return Preview(title=title, name=name, lines=lines, instructions=instructions, dropped=dropped)


def _of_panel(panel: Panel, words: Language) -> tuple[Parts, Parts]:
    judge = {ANY_JUDGE: words("panel.judge.automatic"), NO_JUDGE: words("council.judge.off")}
    lines = (
        (words("setup.participants"), ", ".join(participant.name for participant in panel.participants)),
        (words("setup.rounds"), str(panel.rounds)),
        (words("council.judge.choose"), judge.get(panel.judge, panel.judge)),
        (words("panel.debates"), words("panel.yes") if panel.debates else ""),
    )
    told = []
    for item in panel.participants:
        model = _model(item.provider, item.model, words)
        told.append((item.name, "\n".join(filter(None, (model, item.persona, item.system_prompt)))))
    return lines, told


def _of_assistant(agent: Agent, words: Language) -> Parts:
    """Return what an assistant is told of, may use and may call."""
    found = {
        "role": agent.role,
        "description": agent.description,
        "model": _model(agent.provider, agent.model, words),
        "tools": ", ".join(agent.tools) or words("assistant.none.tools"),
        "sub_agents": ", ".join(agent.sub_agents),
        "skills": ", ".join(agent.skills),
        "pages": ", ".join(agent.pages),
    }
    return tuple((words(f"assistant.field.{name}"), text) for name, text in found.items())


def _of_group(group: Group, members: Sequence[Shared[Agent]], words: Language) -> tuple[Parts, Parts]:
    agents, leader = [member.definition for member in members], group.orchestrator
    lines = (
        (words("group.members"), ", ".join(agent.name for agent in agents)),
        (words("group.orchestrator"), _model(leader.provider, leader.model, words)),
    )
    told = [(words("group.orchestrator"), group.instructions)] if group.instructions else []
    for agent in agents:
        said = [f"{what}: {which}" for what, which in _of_assistant(agent, words) if which]
        told.append((agent.name, "\n".join(filter(None, (*said, agent.instructions)))))
    return lines, told


def _of_workflow(workflow: WorkflowDefinition, words: Language) -> tuple[Parts, Parts]:
    lines = (
        (words("workflow.field.keywords"), ", ".join(workflow.keywords)),
        (words("workflow.field.steps"), ", ".join(step.name for step in workflow.steps)),
    )
    return lines, [(f"{step.name} ({step.role})", step.prompt) for step in workflow.steps]


class BringInDialog(AskDialog):
    """Shows what a file holds and what was left out of it, before it is accepted."""

    def __init__(self, words: Language, look: Look, preview: Preview, parent: QWidget) -> None:
        super().__init__(words, parent, "bring_in", preview.title, ("keep", words("bring_in.keep")))
        avatar = Avatar(look, 30)
        avatar.set_speaker(preview.name, 0)
        said = [visible(f"{what}: {which}") for what, which in preview.lines if which]
        lines = [plain_label("card_text", wrap=True, text=text) for text in said]
        told = visible(preview.instructions)
        instructions = QPlainTextEdit(told, readOnly=True, tabChangesFocus=True)
        named("bring_in_instructions", instructions).setAccessibleName(words("assistant.field.instructions"))
        dropped = words("bring_in.dropped", what=visible(", ".join(preview.dropped)))
        left_out = [named("bring_in_dropped", plain_label("warn", wrap=True, text=dropped))]
        head = hbox(avatar, (ElidedLabel("page_title", text=visible(preview.name)), 1), spacing=10)
        title = plain_label("field", text=words("assistant.field.instructions"))
        parts = (head, *lines, title, (instructions, 1), *(left_out if preview.dropped else ()))
        self.arrange(*parts, spacing=8, width=520, height=440)


def _model(provider: str, model: str, words: Language) -> str:
    return f"{provider} / {model}" if provider else words("assistant.model.default")


class ReadyGroupsDialog(ValueDialog):
    """Lists the groups that come with the program; the value is the name of a group's file."""

    def __init__(
        self, words: Language, look: Look, groups: Mapping[str, Shared[Group]], parent: QWidget
    ) -> None:
        take = ("take", words("ready_group.take"))
        super().__init__(words, parent, "ready", words("ready_group.title"), take)
        self.setObjectName("ready_groups_dialog")
        self._groups = groups
        self._list = TwoLineList(look, "ready_groups")
        self._list.setAccessibleName(words("ready_group.title"))
        rows = []
        for stem, shared in groups.items():
            text = words(f"ready_group.{stem}")
            rows.append(RowItem(id=stem, title=shared.definition.name, second=text, tip=text))
        self._list.show_rows(rows)
        self._members = Paragraph("card_text")
        lead = plain_label("hint", wrap=True, text=words("ready_group.lead"))
        edges = (18, 16, 18, 16)
        self.arrange(lead, (self._list, 1), self._members, margins=edges, width=560, height=420)
        self._list.currentItemChanged.connect(lambda _now, _before: self._on_current_changed())
        self._list.doubleClicked.connect(lambda _index: self._on_go())
        self._on_current_changed()
        self._list.setFocus()

    def _on_current_changed(self) -> None:
        shared = self._groups[self._list.current_id()]
        names = ", ".join(member.definition.name for member in shared.members)
        self._members.setText(f"{self._words('group.members')}: {names}")

    def value(self) -> object:
        return self._list.current_id()


class TwoChangesDialog(AskDialog):
    """Asks which of two changes of one field is kept: accepted for the user's own, `OTHER` is the result
    for the other.
    """

    OTHER = 2

    def __init__(self, words: Language, text: str, parent: QWidget) -> None:
        mine = ("mine", words("two_changes.mine"))
        super().__init__(words, parent, "two_changes", words("two_changes.title"), mine, safe=True)
        other = words("two_changes.other")
        self.other = button("", "two_changes_other", lambda: self.done(self.OTHER), text=other)
        lead = plain_label("card_text", wrap=True, text=visible(text))
        self.arrange(self.heading, lead, 6, before=self.other, width=460)


INDENT = 28
# The largest size in pixels of the dialog with a proposed group.
WIDE, HIGH = 1040, 720


class PanelDialog(AskDialog):
    """Edits a panel; emits `given` with it. Its name is selected, to be typed over.

    `set_up` are the participants that are chosen in Setup now, who can take the place of the panel's.
    """

    given = Signal(object)

    def __init__(
        self,
        words: Language,
        look: Look,
        panel: Panel,
        set_up: Sequence[Participant],
        providers: Callable[[], Sequence[ProviderStatus]],
        facts: Facts,
        parent: QWidget,
    ) -> None:
        super().__init__(words, parent, "panel", words("panel.edit" if panel.id else "panel.new"))
        self._panel, self._participants, self._set_up = panel, panel.participants, tuple(set_up)
        name, rounds = named("panel_name", QLineEdit()), plain_label("value", text=str(panel.rounds))
        self._look, self._providers, self._facts = look, providers, facts
        self._who = named("panel_participants", QWidget())
        self._rows = vbox(inside=self._who, spacing=2)
        self.add = button("link", "panel_add_participant", self._on_add, text=words("panel.add_participant"))
        self.take = button("link", "panel_take", self._on_take, text=words("panel.take"))
        ticks = ("compare", "judged", "debates")
        compare, judged, debates = (named(f"panel_{name}", TickBox(look)) for name in ticks)
        slider = named("panel_rounds", RoundsSlider(Qt.Orientation.Horizontal))
        slider.setRange(MIN_ROUNDS, MAX_COUNCIL_ROUNDS)
        slider.setPageStep(1)
        slider.valueChanged.connect(lambda value: rounds.setText(str(value)))
        automatic = "panel.judge.automatic"
        self.judge = ModelButton(words, look, "panel_judge", providers, facts, automatic=automatic)
        self.judge.chosen.connect(self._on_judge)
        provider, _slash, model = panel.judge.partition("/")
        self._on_judge(provider if model else "", model)
        judged.toggled.connect(self.judge.setEnabled)
        open_ = plain_label("hint", wrap=True, text=words("panel.debates.hint"))
        open_.setIndent(INDENT)
        participants = hbox(plain_label("field", text=words("setup.participants")), STRETCH, self.take)
        title = plain_label("field", text=words("setup.rounds"))
        rows: tuple[Line, ...] = (
            Field("name", name, label="panel.name", fits=bool),
            frame("", vbox(participants, self._who, hbox(self.add, STRETCH), spacing=5)),
            frame("", hbox(title, (slider, 1), rounds, spacing=10)),
            Field("compare", compare, text="council.compare.tick"),
            frame("", hbox(judged, self.judge, STRETCH, spacing=4)),
            frame("", vbox(debates, open_, spacing=2)),
        )
        inner = (
            Field("rounds", slider, says="setup.rounds"),
            Field(
                "judge",
                judged,
                text="panel.judged",
                get=lambda panel: panel.judge != NO_JUDGE,
                put=lambda on: {"judge": self._judge if on else NO_JUDGE},
            ),
            Field("debates", debates, text="panel.debates"),
        )
        self.ask(*rows, inner=inner, width=480)
        self.form.fill(panel)
        self.judge.setEnabled(judged.isChecked())
        self._show_participants()
        self.resize(480, self.sizeHint().height())
        name.selectAll()
        name.setFocus()

    def _check(self) -> None:
        self.go.setEnabled(len(self._participants) >= MIN_PARTICIPANTS and self.form.complete)
        self.add.setEnabled(len(self._participants) < MAX_PARTICIPANTS)

    def _show_participants(self) -> None:
        empty(self._rows)
        for place, participant in enumerate(self._participants):
            model = model_text(self._words, self._providers(), participant.provider, participant.model)
            text = f"{exact(participant.name)} · {exact(model)}"
            gone = icon_button(self._look, "x", f"panel_remove_{place + 1}", partial(self._on_remove, place))
            name_button(gone, self._words("chat.attachment.remove", name=exact(participant.name)))
            row = hbox((ElidedLabel("card_text", text=text), 1), gone, spacing=6)
            self._rows.addWidget(frame("", row))
        self._check()
        others = len(self._set_up) >= MIN_PARTICIPANTS and self._set_up != self._participants
        self.take.setVisible(others)

    def _on_add(self) -> None:
        """Open the list of all models to choose one more."""
        menu = ModelMenu(self._words, self._look, self._providers(), self._facts, ("", ""), self.add)
        menu.chosen.connect(self._on_model_chosen)
        menu.open(self.add)

    def _on_model_chosen(self, provider: str, model: str) -> None:
        status = next((item for item in self._providers() if item.config.id == provider), None)
        if status is None:
            return
        seat = Participant(id=new_id(), name=voice_of(status, model), provider=provider, model=model)
        self._participants = (*self._participants, named_apart(seat, self._participants))
        self._show_participants()

    def _on_remove(self, place: int) -> None:
        self._participants = (*self._participants[:place], *self._participants[place + 1 :])
        self._show_participants()
        self.add.setFocus()

    def _on_take(self) -> None:
        self._participants = self._set_up
        self._show_participants()
        self.form.fields["name"].control.setFocus()

    def _on_judge(self, provider: str, model: str) -> None:
        self._judge = f"{provider}/{model}" if provider else ANY_JUDGE
        self.judge.show_model(provider, model)

    def _on_go(self) -> None:
        self.accept()
        self.given.emit(replace(self._panel, participants=self._participants, **self.form.values()))


class ProposalDialog(AskDialog):
    """Asks whether a model shall propose a group, and shows that for editing; nothing is saved here.

    Emits `asked`, and then `made` with the group. Assistants that are there already are only looked at.
    """

    asked = Signal()
    made = Signal(object)

    def __init__(self, words: Language, look: Look, model: str, choices: Choices, parent: QWidget) -> None:
        go = ("make", words("criteria.propose"))
        super().__init__(words, parent, "propose", words("propose.title"), go)
        self._choices, self._model = choices, exact(model)
        self._members: dict[str, Shared[Agent]] = {one.id: Shared(definition=one) for one in choices.agents}
        self._said = named("propose_said", Paragraph("card_text"))
        self._why = named("propose_why", Paragraph("card_text"))
        self.price = named("propose_price", plain_label("hint"))
        self._group, self._member = GroupForm(words, look), AssistantForm(words, look)
        member = frame("", vbox(self._why, self._member, margins=16, spacing=12))
        left, right = (scrolling(part, keeps_bar=True) for part in (self._group, member))
        left.setFixedWidth(COLUMN_WIDTH)
        self._both = frame("", hbox(left, (right, 1)))
        self._both.hide()
        self.arrange(self.heading, self._said, (self._both, 1), before=self.price, width=480, height=190)
        self._group.changed.connect(lambda _name: self.go.setEnabled(bool(self._group.members)))
        self._group.member_chosen.connect(self._show_member)
        self._group.new_member_requested.connect(self._on_new)
        self._group.cards.edit_requested.connect(lambda _agent_id: self._member.name.setFocus())
        self._member.changed.connect(lambda _name: self._on_member())
        self.say(words("propose.asked", model=self._model))

    def say(self, text: str, kind: str = "card_text", *, busy: bool = False) -> None:
        """Say what the model does, or what went wrong."""
        show_as(self._said, kind, text)
        self.go.setDisabled(busy)

    def show_proposal(self, shared: Shared[Group]) -> None:
        """Show what was proposed."""
        members = {member.definition.id or new_id(): member for member in shared.members}
        for agent_id, member in members.items():
            self._members[agent_id] = replace(member, definition=replace(member.definition, id=agent_id))
        dropped = self._words("propose.dropped", what=visible(", ".join(shared.dropped)))
        lines = [self._words("propose.text"), *([dropped] if shared.dropped else [])]
        for agent in (member.definition for member in shared.members):
            if agent.id and len(assistants_called(agent.name, self._choices.agents)) > 1:
                lines.append(self._words("propose.alike", which=visible(told_of(agent))))
        self.say("\n".join(lines))
        self._offer()
        first = next(iter(members))
        self._group.show_group(replace(shared.definition, members=tuple(members)), first)
        self._show_member(first)
        self._both.show()
        self.go.setText(self._words("propose.make"))
        room, around = self.geometry(), self.parentWidget().rect()
        self.resize(min(WIDE, around.width() - 20), min(HIGH, around.height() - 40))
        self._member.fit(self.width() - COLUMN_WIDTH - 80)
        self.move(room.center() - self.rect().center())

    def _offer(self) -> None:
        """Offer the assistants, also the new ones."""
        agents = tuple(member.definition for member in self._members.values())
        self._group.set_choices(replace(self._choices, agents=agents), frozenset())
        self._member.set_choices(self._choices)

    def _show_member(self, agent_id: str) -> None:
        self._member.setVisible(bool(agent_id))
        if agent_id:
            one, there = self._members[agent_id], self._members[agent_id].definition in self._choices.agents
            said = (visible(one.why), self._words("propose.there") if there else "")
            self._why.setText("\n".join(filter(None, said)))
            self._member.show_assistant(one.definition, fixed=there)

    def _on_new(self) -> None:
        agent = Agent(id=new_id(), name=self._words("assistant.new"), tools=(FILES,))
        self._members[agent.id] = Shared(definition=agent)
        self._offer()
        self._group.add(agent.id)

    def _on_member(self) -> None:
        """Keep a new member as edited."""
        if (agent := self._member.assistant()) is not None:
            self._members[agent.id] = replace(self._members[agent.id], definition=agent)
            self._offer()
            self._group.show_members(agent.id)

    def _on_go(self) -> None:
        if self._both.isHidden():
            self.say(self._words("propose.asks", model=self._model), busy=True)
            self.asked.emit()
        elif (group := self._group.group()) is not None and self._member.assistant() is not None:
            members = tuple(self._members[member] for member in group.members)
            self.made.emit(Shared(definition=group, members=members))


class DecisionDialog(AskDialog):
    """Asks what was decided; emits `given` with it."""

    given = Signal(object)

    def __init__(self, words: Language, form: DecisionForm, parent: QWidget) -> None:
        super().__init__(words, parent, "decision", words("journal.decide"), ("keep", words("journal.keep")))
        self._form = form
        self.arrange(self.heading, form, 6, width=480)
        form.changed.connect(lambda _name: self.go.setEnabled(form.complete))
        self.go.setEnabled(form.complete)

    def _on_go(self) -> None:
        self.accept()
        self.given.emit(self._form.entry())


class DateDialog(ValueDialog):
    """Asks on which date to look at a decision again; emits `given` with it."""

    def __init__(self, words: Language, due: str, parent: QWidget) -> None:
        super().__init__(words, parent, "date", words("journal.early.title"))
        self.before, line = due, named("date_field", QLineEdit(due))
        key = "journal.early.title"
        self.ask(Field("due", line, says=key, help="journal.date_form", fits=is_date), width=380)
