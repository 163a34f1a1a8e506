"""Dialogs that preview assistants and groups from a file, and list the groups that come with the program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QPlainTextEdit, QWidget

from app.core.agent import Agent, Group
from app.core.text import visible
from app.engine.library.definitions import Shared
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.pages.settings.lists import TwoLineDelegate
from app.gui.widgets.badge import Avatar
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import ElidedLabel, Paragraph, plain_label, plain_tip
from app.gui.widgets.wording import named


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a file holds, in words: lines of (what, which), and the instructions to be read."""

    title: str
    name: str
    lines: Sequence[tuple[str, str]]
    instructions: str
    dropped: Sequence[str]


def assistant_preview(shared: Shared[Agent], words: Language) -> Preview:
    """Return what a shared assistant's file would bring in."""
    agent = shared.definition
    return Preview(
        title=words("bring_in.title"),
        name=agent.name,
        lines=(
            (words("assistant.field.role"), agent.role),
            (words("assistant.field.model"), _model(agent.provider, agent.model, words)),
            (words("assistant.field.tools"), _tools(agent, words)),
            (words("assistant.field.sub_agents"), ", ".join(agent.sub_agents)),
        ),
        instructions=agent.instructions,
        dropped=shared.dropped,
    )


def group_preview(shared: Shared[Group], words: Language) -> Preview:
    """Return what a shared group's file would bring in, with what each member is told and may use."""
    group, agents = shared.definition, [one.definition for one in shared.members]
    parts = [(words("group.orchestrator"), group.instructions)] if group.instructions else []
    for agent in agents:
        tools = f"{words('assistant.field.tools')}: {_tools(agent, words)}"
        model = f"{words('assistant.field.model')}: {_model(agent.provider, agent.model, words)}"
        parts.append((agent.name, "\n".join(part for part in (model, tools, agent.instructions) if part)))
    leader = group.orchestrator
    return Preview(
        title=words("bring_in.group.title"),
        name=group.name,
        lines=(
            (words("group.members"), ", ".join(agent.name for agent in agents)),
            (words("group.orchestrator"), _model(leader.provider, leader.model, words)),
        ),
        instructions="\n\n".join(f"{name}\n{text}" for name, text in parts),
        dropped=(
            *shared.dropped,
            *(f"{one.definition.name}: {what}" for one in shared.members for what in one.dropped),
        ),
    )


class BringInDialog(QDialog):
    """Shows what came in a file and what was left out of it; emits `agreed`."""

    agreed = Signal()

    def __init__(self, words: Language, look: Look, preview: Preview, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("bring_in_dialog")
        self.setWindowTitle(preview.title)
        avatar = Avatar(look, 30)
        avatar.set_speaker(preview.name, 0)
        name = ElidedLabel("page_title", text=visible(preview.name))
        column = vbox(hbox(avatar, (name, 1), spacing=10), inside=self, margins=(22, 20, 22, 18), spacing=8)
        for what, which in preview.lines:
            if which:
                line = plain_label("card_text", wrap=True, text=visible(f"{what}: {which}"))
                column.addWidget(line)
        label = plain_label("field", text=words("assistant.field.instructions"))
        instructions = named("bring_in_instructions", QPlainTextEdit(visible(preview.instructions)))
        instructions.setReadOnly(True)
        instructions.setTabChangesFocus(True)
        instructions.setAccessibleName(words("assistant.field.instructions"))
        column.addWidget(label)
        column.addWidget(instructions, 1)
        if preview.dropped:
            left_out = named(
                "bring_in_dropped",
                plain_label(
                    "warn",
                    wrap=True,
                    text=words("bring_in.dropped", what=visible(", ".join(preview.dropped))),
                ),
            )
            column.addWidget(left_out)
        cancel = button("", "bring_in_cancel", text=words("dialog.cancel"))
        keep = button("primary", "bring_in_keep", text=words("bring_in.keep"))
        keep.setDefault(True)
        foot = hbox(STRETCH, cancel, keep)
        column.addLayout(foot)
        self.resize(520, 440)
        cancel.clicked.connect(self.reject)
        keep.clicked.connect(self._on_keep)

    def _on_keep(self) -> None:
        self.accept()
        self.agreed.emit()


def _model(provider: str, model: str, words: Language) -> str:
    return f"{provider} / {model}" if provider else words("assistant.model.default")


def _tools(agent: Agent, words: Language) -> str:
    return ", ".join(agent.tools) or words("assistant.none.tools")


class ReadyGroupsDialog(QDialog):
    """Lists the ready-made groups by the names of their files; emits `chosen` with one of these."""

    chosen = Signal(str)

    def __init__(
        self, words: Language, look: Look, groups: Mapping[str, Shared[Group]], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("ready_groups_dialog")
        self.setWindowTitle(words("ready_group.title"))
        self._words = words
        self._groups = groups
        lead = plain_label("hint", wrap=True, text=words("ready_group.lead"))
        self._list = named("ready_groups", QListWidget())
        self._list.setItemDelegate(TwoLineDelegate(look, self._list))
        self._list.setMouseTracking(True)
        self._list.setAccessibleName(words("ready_group.title"))
        for stem, shared in groups.items():
            about = words(f"ready_group.{stem}")
            item = QListWidgetItem(f"{shared.definition.name}\n{about}")
            item.setData(Qt.ItemDataRole.UserRole, stem)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{shared.definition.name}, {about}")
            item.setToolTip(plain_tip(about))
            self._list.addItem(item)
        self._members = Paragraph("card_text")
        cancel = button("", "ready_cancel", text=words("dialog.cancel"))
        self._take = button("primary", "ready_take", self._on_take, text=words("ready_group.take"))
        self._take.setDefault(True)
        vbox(
            lead,
            (self._list, 1),
            self._members,
            hbox(STRETCH, cancel, self._take),
            inside=self,
            margins=(18, 16, 18, 16),
            spacing=10,
        )
        self.resize(560, 420)
        self._list.currentItemChanged.connect(lambda _now, _before: self._on_current_changed())
        self._list.itemDoubleClicked.connect(lambda _item: self._on_take())
        cancel.clicked.connect(self.reject)
        self._list.setCurrentRow(0)
        self._list.setFocus()

    def _stem(self) -> str:
        item = self._list.currentItem()
        return str(item.data(Qt.ItemDataRole.UserRole))

    def _on_current_changed(self) -> None:
        shared = self._groups[self._stem()]
        names = ", ".join(one.definition.name for one in shared.members)
        self._members.setText(f"{self._words('group.members')}: {names}")

    def _on_take(self) -> None:
        stem = self._stem()
        self.accept()
        self.chosen.emit(stem)
