"""What a shared file would bring in, an assistant or a group of them, before anything of it is kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from app.core.agent import Agent, Group
from app.core.text import visible
from app.engine.library.definitions import Shared
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.badge import Avatar
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import ElidedLabel, plain_label
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
