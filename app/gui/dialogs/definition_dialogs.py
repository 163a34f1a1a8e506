"""Dialogs that preview panels, assistants and groups from a file, list the groups that come with the program, and ask
which of two changes is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.core.council import ANY_JUDGE, NO_JUDGE, Panel
from app.core.definitions import Agent, Group, WorkflowDefinition
from app.core.texts import visible
from app.engine.library.definitions import Shared
from app.gui.dialogs.ask_dialogs import AskDialog, ValueDialog
from app.gui.display.appearance import Language, Look
from app.gui.pages.settings.lists import TwoLineList
from app.gui.widgets.badge import Avatar
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import button
from app.gui.widgets.item_list import RowItem
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label


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
        kind, lines, told = "", *_of_assistant(definition, words)
    left_out = (f"{one.definition.name}: {what}" for one in shared.members for what in one.dropped)
    return Preview(
        title=words(f"bring_in.{kind}title"),
        name=definition.name,
        lines=lines,
        instructions="\n\n".join(f"{name}\n{text}" if name else text for name, text in told),
        dropped=(*shared.dropped, *left_out),
    )


def _of_panel(panel: Panel, words: Language) -> tuple[Parts, Parts]:
    judge = {ANY_JUDGE: words("panel.judge.automatic"), NO_JUDGE: words("council.judge.off")}
    lines = (
        (words("setup.participants"), ", ".join(one.name for one in panel.participants)),
        (words("setup.rounds"), str(panel.rounds)),
        (words("council.judge.choose"), judge.get(panel.judge, panel.judge)),
        (words("panel.debates"), words("panel.yes") if panel.debates else ""),
    )
    told = []
    for one in panel.participants:
        model = _model(one.provider, one.model, words)
        told.append((one.name, "\n".join(filter(None, (model, one.persona, one.system_prompt)))))
    return lines, told


def _of_assistant(agent: Agent, words: Language) -> tuple[Parts, Parts]:
    lines = (
        (words("assistant.field.role"), agent.role),
        (words("assistant.field.model"), _model(agent.provider, agent.model, words)),
        (words("assistant.field.tools"), _tools(agent, words)),
        (words("assistant.field.sub_agents"), ", ".join(agent.sub_agents)),
    )
    return lines, (("", agent.instructions),)


def _of_group(group: Group, members: Sequence[Shared[Agent]], words: Language) -> tuple[Parts, Parts]:
    agents, leader = [one.definition for one in members], group.orchestrator
    lines = (
        (words("group.members"), ", ".join(agent.name for agent in agents)),
        (words("group.orchestrator"), _model(leader.provider, leader.model, words)),
    )
    told = [(words("group.orchestrator"), group.instructions)] if group.instructions else []
    for agent in agents:
        tools = f"{words('assistant.field.tools')}: {_tools(agent, words)}"
        model = f"{words('assistant.field.model')}: {_model(agent.provider, agent.model, words)}"
        told.append((agent.name, "\n".join(filter(None, (model, tools, agent.instructions)))))
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
        lines = [
            plain_label("card_text", wrap=True, text=visible(f"{what}: {which}"))
            for what, which in preview.lines
            if which
        ]
        instructions = named("bring_in_instructions", QPlainTextEdit(visible(preview.instructions)))
        instructions.setReadOnly(True)
        instructions.setTabChangesFocus(True)
        instructions.setAccessibleName(words("assistant.field.instructions"))
        dropped = words("bring_in.dropped", what=visible(", ".join(preview.dropped)))
        left_out = [named("bring_in_dropped", plain_label("warn", wrap=True, text=dropped))]
        self.arrange(
            hbox(avatar, (ElidedLabel("page_title", text=visible(preview.name)), 1), spacing=10),
            *lines,
            plain_label("field", text=words("assistant.field.instructions")),
            (instructions, 1),
            *(left_out if preview.dropped else ()),
            spacing=8,
        )
        self.resize(520, 440)


def _model(provider: str, model: str, words: Language) -> str:
    return f"{provider} / {model}" if provider else words("assistant.model.default")


def _tools(agent: Agent, words: Language) -> str:
    return ", ".join(agent.tools) or words("assistant.none.tools")


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
        texts = {stem: words(f"ready_group.{stem}") for stem in groups}
        self._list.show_rows(
            [
                RowItem(id=stem, title=shared.definition.name, second=texts[stem], tip=texts[stem])
                for stem, shared in groups.items()
            ]
        )
        self._members = Paragraph("card_text")
        lead = plain_label("hint", wrap=True, text=words("ready_group.lead"))
        self.arrange(lead, (self._list, 1), self._members, margins=(18, 16, 18, 16))
        self.resize(560, 420)
        self._list.currentItemChanged.connect(lambda _now, _before: self._on_current_changed())
        self._list.doubleClicked.connect(lambda _index: self._on_go())
        self._on_current_changed()
        self._list.setFocus()

    def _on_current_changed(self) -> None:
        shared = self._groups[self._list.current_id()]
        names = ", ".join(one.definition.name for one in shared.members)
        self._members.setText(f"{self._words('group.members')}: {names}")

    def value(self) -> object:
        return self._list.current_id()


class TwoChangesDialog(AskDialog):
    """Asks which of two changes of one field is kept: accepted for the user's own, `OTHER` is the result for the other."""

    OTHER = 2

    def __init__(self, words: Language, text: str, parent: QWidget) -> None:
        mine = ("mine", words("two_changes.mine"))
        super().__init__(words, parent, "two_changes", words("two_changes.title"), mine, safe=True)
        self.other = button(
            "", "two_changes_other", lambda: self.done(self.OTHER), text=words("two_changes.other")
        )
        self.arrange(
            self.heading, plain_label("card_text", wrap=True, text=visible(text)), 6, before=self.other
        )
        self.resize(460, self.sizeHint().height())
