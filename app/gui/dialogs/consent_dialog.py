"""Before an MCP server may run: what exactly would be run or asked, and what it has changed since."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from app.core.server_secrets import shown_values
from app.core.text import exact
from app.core.tool import ServerStatus
from app.gui.display.i18n import Language
from app.gui.display.server_display import server_line
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import Paragraph, plain_label
from app.gui.widgets.wording import named

WIDTH = 560


class ConsentDialog(QDialog):
    """Shows a server's exact command line or address; emits `allowed` when the user agrees.

    The default is no: Enter and Escape both refuse.
    """

    allowed = Signal()

    def __init__(self, words: Language, status: ServerStatus, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("consent_dialog")
        server = status.server
        self.setWindowTitle(words("consent.title"))
        title = plain_label("page_title", wrap=True, text=words("consent.of", name=exact(server.name)))
        lead = Paragraph("card_text", text=words("consent.url" if server.url else "consent.command"))
        line = _field("consent_line", server_line(server))
        line.setAccessibleName(words("server.address" if server.url else "server.command"))
        column = vbox(title, lead, line, inside=self, margins=(22, 20, 22, 18), spacing=10)
        more = [f"{words('server.folder')}: {exact(server.cwd)}"] if server.cwd else []
        shown, hidden = shown_values(server)
        if hidden:
            more.append(f"{words('consent.variables')}: {', '.join(map(exact, hidden))}")
        if more:
            surroundings = Paragraph("hint", text="\n".join(more))
            column.addWidget(surroundings)
        if shown:
            label = Paragraph("warn", text=words("consent.values"))
            column.addWidget(label)
            lines = (exact(f"{name}={value}") for name, value in shown.items())
            values = _field("consent_values", "\n".join(lines))
            values.setAccessibleName(words("consent.values"))
            column.addWidget(values)
        if status.changed:
            warning = Paragraph("warn", text=words("consent.changed"))
            column.addWidget(warning)
            changed = _field("consent_changed", "\n".join(map(exact, status.changed)))
            changed.setAccessibleName(words("consent.changed"))
            column.addWidget(changed)
        refuse = button("", "consent_refuse", text=words("consent.refuse"))
        allow = button("primary", "consent_allow", text=words("consent.allow"))
        foot = hbox(STRETCH, refuse, allow)
        column.addSpacing(4)
        column.addLayout(foot)
        self.ensurePolished()
        self.resize(WIDTH, column.heightForWidth(WIDTH))
        refuse.setDefault(True)
        refuse.setFocus()
        refuse.clicked.connect(self.reject)
        allow.clicked.connect(self._on_allowed)

    def _on_allowed(self) -> None:
        self.accept()
        self.allowed.emit()


def _field(name: str, text: str) -> QPlainTextEdit:
    """Return a field that shows a text to the letter, and lets it be copied."""
    field = named(name, QPlainTextEdit(text))
    field.setReadOnly(True)
    field.setTabChangesFocus(True)
    field.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
    lines = max(2, min(6, len(text) // 60 + text.count("\n") + 1))
    field.setFixedHeight(lines * field.fontMetrics().lineSpacing() + 24)
    return field
