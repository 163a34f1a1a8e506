"""An MCP server: a new one's name and command line or address, or the JSON another client uses; or one to edit."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QStackedWidget, QWidget

from app.core.errors import BadInput
from app.core.server_secrets import has_reference
from app.core.text import exact
from app.core.tool import McpServer
from app.gui.dialogs.server_entry import edited, form_of, server_of, servers_of
from app.gui.display.i18n import Language
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.composer import TextBox
from app.gui.widgets.controls import Segmented, button
from app.gui.widgets.label import Paragraph, plain_label
from app.gui.widgets.wording import named

FORM, PASTE = "form", "json"
EXAMPLE = '{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "server-files", "~/notes"]}}}'


class ServerDialog(QDialog):
    """Asks for one server by a form, or several as JSON; emits `given` with them, all switched off.

    With a server to edit there is the form alone, filled in; secrets are not shown, and stay if nothing is
    written in their place. It emits `given` with that one.
    """

    given = Signal(object)

    def __init__(self, words: Language, parent: QWidget, server: McpServer | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("server_dialog")
        self._words = words
        self._server = server
        heading = words("server.add") if server is None else words("server.edit_one", name=exact(server.name))
        self.setWindowTitle(heading)
        title = plain_label("page_title", wrap=True, text=heading)
        self.way = Segmented((FORM, PASTE))
        self.way.set_texts((words("server.by_form"), words("server.by_json")), ("", ""))
        self.way.setAccessibleName(words("server.add"))
        self.name = named("server_name", QLineEdit())
        self.line = named("server_line", QLineEdit())
        self.line.setPlaceholderText(words("server.line.hint"))
        self.variables = named("server_variables", TextBox(lines=3, most=3, submits=False))
        self.variables.setPlaceholderText(words("server.variables.hint"))
        self.json = named("server_json", TextBox(lines=10, most=10, submits=False))
        self.json.setPlaceholderText(EXAMPLE)
        self.json.setAccessibleName(words("server.by_json"))
        self.problem = named("server_problem", plain_label("error", wrap=True))
        lead = Paragraph("hint", text=words("server.arrives_off" if server is None else "server.asks_again"))
        form = QWidget()
        fields = vbox(inside=form, spacing=5)
        for key, field in (("name", self.name), ("line", self.line), ("variables", self.variables)):
            label = plain_label("field", text=words(f"server.{key}"))
            field.setAccessibleName(words(f"server.{key}"))
            fields.addWidget(label)
            fields.addWidget(field)
        self.kept = named("server_kept", plain_label("hint", wrap=True))
        self.kept.hide()
        fields.addWidget(self.kept)
        fields.addStretch(1)
        self._pages = QStackedWidget()
        for page in (form, self.json):
            self._pages.addWidget(page)
        cancel = button("", "server_cancel", text=words("dialog.cancel"))
        add = button(
            "primary", "server_add", text=words("server.add.button" if server is None else "dialog.save")
        )
        add.setDefault(True)
        vbox(
            title,
            self.way,
            self._pages,
            lead,
            self.problem,
            hbox(STRETCH, cancel, add),
            inside=self,
            margins=(22, 20, 22, 18),
            spacing=10,
        )
        self.resize(540, 400)
        if server is not None:
            self.way.hide()
            self._fill(server)
        self._line_before = self.line.text()
        self.name.setFocus()
        self.way.chosen.connect(lambda way: self._pages.setCurrentIndex((FORM, PASTE).index(way)))
        cancel.clicked.connect(self.reject)
        add.clicked.connect(self._on_add)

    def _fill(self, server: McpServer) -> None:
        line, variables, secret = form_of(server)
        self.name.setText(server.name)
        self.line.setText(line)
        self.variables.setPlainText(variables)
        said = [self._words("server.kept", names=", ".join(secret))] if secret else []
        if has_reference(line):
            said.append(self._words("server.kept_line"))
        self.kept.setText(" ".join(said))
        self.kept.setVisible(bool(said))

    def _on_add(self) -> None:
        servers: tuple[McpServer, ...]
        try:
            if self._server is not None:
                line = self.line.text() if self.line.text() != self._line_before else None
                servers = (edited(self._server, self.name.text(), line, self.variables.text()),)
            elif self.way.value() == PASTE:
                servers = servers_of(self.json.text())
            else:
                servers = (server_of(self.name.text(), self.line.text(), self.variables.text()),)
        except BadInput as error:
            self.problem.setText(self._words.problem(error.code, **error.details))
            return
        self.accept()
        self.given.emit(servers)
