"""A new MCP server: its name and command line or address, or the JSON another client uses."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from app.core.errors import BadInput
from app.gui.dialogs.server_entry import server_of, servers_of
from app.gui.i18n import Language
from app.gui.widgets.composer import TextBox
from app.gui.widgets.controls import Segmented, button
from app.gui.widgets.label import Paragraph, plain_label

FORM, PASTE = "form", "json"
EXAMPLE = '{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "server-files", "~/notes"]}}}'


class ServerDialog(QDialog):
    """Asks for one server by a form, or several as JSON; emits `given` with them, all switched off."""

    given = Signal(object)

    def __init__(self, words: Language, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("server_dialog")
        self._words = words
        self.setWindowTitle(words("server.add"))
        title = plain_label("page_title")
        title.setText(words("server.add"))
        self.way = Segmented((FORM, PASTE))
        self.way.set_texts((words("server.by_form"), words("server.by_json")), ("", ""))
        self.way.setAccessibleName(words("server.add"))
        self.name = QLineEdit()
        self.name.setObjectName("server_name")
        self.line = QLineEdit()
        self.line.setObjectName("server_line")
        self.line.setPlaceholderText(words("server.line.hint"))
        self.variables = TextBox(lines=3, most=3, submits=False)
        self.variables.setObjectName("server_variables")
        self.variables.setPlaceholderText(words("server.variables.hint"))
        self.json = TextBox(lines=10, most=10, submits=False)
        self.json.setObjectName("server_json")
        self.json.setPlaceholderText(EXAMPLE)
        self.json.setAccessibleName(words("server.by_json"))
        self.problem = plain_label("error", wrap=True)
        self.problem.setObjectName("server_problem")
        lead = Paragraph("hint")
        lead.setText(words("server.arrives_off"))
        form = QWidget()
        fields = QVBoxLayout(form)
        fields.setContentsMargins(0, 0, 0, 0)
        fields.setSpacing(5)
        for key, field in (("name", self.name), ("line", self.line), ("variables", self.variables)):
            label = plain_label("field")
            label.setText(words(f"server.{key}"))
            field.setAccessibleName(words(f"server.{key}"))
            fields.addWidget(label)
            fields.addWidget(field)
        fields.addStretch(1)
        self._pages = QStackedWidget()
        for page in (form, self.json):
            self._pages.addWidget(page)
        cancel = button("", "server_cancel")
        cancel.setText(words("dialog.cancel"))
        add = button("primary", "server_add")
        add.setText(words("server.add.button"))
        add.setDefault(True)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(cancel)
        foot.addWidget(add)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 18)
        column.setSpacing(10)
        for widget in (title, self.way, self._pages, lead, self.problem):
            column.addWidget(widget)
        column.addLayout(foot)
        self.resize(540, 400)
        self.name.setFocus()
        self.way.chosen.connect(lambda way: self._pages.setCurrentIndex((FORM, PASTE).index(way)))
        cancel.clicked.connect(self.reject)
        add.clicked.connect(self._on_add)

    def _on_add(self) -> None:
        try:
            if self.way.value() == PASTE:
                servers = servers_of(self.json.text())
            else:
                servers = (server_of(self.name.text(), self.line.text(), self.variables.text()),)
        except BadInput as error:
            self.problem.setText(self._words.problem(error.code, **error.details))
            return
        self.accept()
        self.given.emit(servers)
