"""What a shared assistant's file would bring in, before anything of it is kept."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.core.agent import Agent
from app.gui.i18n import Language
from app.gui.style import Look
from app.gui.widgets.badge import Avatar
from app.gui.widgets.controls import button
from app.gui.widgets.label import ElidedLabel, plain_label


class BringInDialog(QDialog):
    """Shows an assistant that came in a file and what was left out of it; emits `agreed`."""

    agreed = Signal()

    def __init__(
        self, words: Language, look: Look, agent: Agent, dropped: Sequence[str], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("bring_in_dialog")
        self.setWindowTitle(words("bring_in.title"))
        avatar = Avatar(look, 30)
        avatar.set_speaker(agent.name, 0)
        name = ElidedLabel("page_title")
        name.setText(agent.name)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(avatar)
        head.addWidget(name, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 18)
        column.setSpacing(8)
        column.addLayout(head)
        model = f"{agent.provider} / {agent.model}" if agent.provider else words("assistant.model.default")
        rows = [
            ("assistant.field.role", agent.role),
            ("assistant.field.model", model),
            ("assistant.field.tools", ", ".join(agent.tools) or words("assistant.none.tools")),
            ("assistant.field.sub_agents", ", ".join(agent.sub_agents)),
        ]
        for key, text in rows:
            if text:
                line = plain_label("card_text", wrap=True)
                line.setText(f"{words(key)}: {text}")
                column.addWidget(line)
        label = plain_label("field")
        label.setText(words("assistant.field.instructions"))
        instructions = QPlainTextEdit(agent.instructions)
        instructions.setObjectName("bring_in_instructions")
        instructions.setReadOnly(True)
        instructions.setTabChangesFocus(True)
        instructions.setAccessibleName(words("assistant.field.instructions"))
        column.addWidget(label)
        column.addWidget(instructions, 1)
        if dropped:
            left_out = plain_label("warn", wrap=True)
            left_out.setObjectName("bring_in_dropped")
            left_out.setText(words("bring_in.dropped", what=", ".join(dropped)))
            column.addWidget(left_out)
        cancel = button("", "bring_in_cancel")
        cancel.setText(words("dialog.cancel"))
        keep = button("primary", "bring_in_keep")
        keep.setText(words("bring_in.keep"))
        keep.setDefault(True)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(cancel)
        foot.addWidget(keep)
        column.addLayout(foot)
        self.resize(520, 440)
        cancel.clicked.connect(self.reject)
        keep.clicked.connect(self._on_keep)

    def _on_keep(self) -> None:
        self.accept()
        self.agreed.emit()
