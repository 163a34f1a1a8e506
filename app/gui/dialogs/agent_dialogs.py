"""Dialogs for external agents: add one, and consent before its program runs."""

import shlex
from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.external_agents import RECIPES, AgentRecipe, recipe_of
from app.core.provider import ProviderConfig
from app.core.text import exact
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.dialogs.server_dialogs import WIDTH, exact_field
from app.gui.display.appearance import Language
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import Paragraph, named, plain_label


class AgentDialog(AskDialog):
    """Asks which external agent to add; emits `given` with its name or its command line.

    `found` are the files of the programs that are installed, by recipe. Those that are not come with the command that installs them.
    """

    given = Signal(str)

    def __init__(self, words: Language, found: Mapping[str, str], parent: QWidget) -> None:
        super().__init__(words, parent, "agent", words("agent.add"), ("add", words("agent.next")))
        self._line = named("agent_line", QLineEdit())
        self._line.setAccessibleName(words("agent.line"))
        self._line.setPlaceholderText(words("agent.line.hint"))
        self._line.textChanged.connect(lambda text: self.go.setEnabled(bool(text.strip())))
        self.go.setEnabled(False)
        rows = [self._row(one, found.get(one.name, "")) for one in RECIPES]
        self.arrange(
            self.heading,
            Paragraph("card_text", text=words("agent.add.text")),
            *rows,
            plain_label("field", text=words("agent.line")),
            self._line,
            6,
        )
        self.resize(WIDTH, self.sizeHint().height())

    def _row(self, recipe: AgentRecipe, file: str) -> QWidget:
        """Return the row of a known program: a button that chooses it, or the command that installs it, to copy."""
        row, words = QWidget(), self._words
        if file:
            said = words("agent.installed", name=recipe.label, file=exact(file))
            act = button(
                "", f"agent_use_{recipe.name}", lambda: self._choose(recipe), text=words("agent.use")
            )
        else:
            said = words("agent.missing", name=recipe.label, command=recipe.install)
            act = button(
                "link",
                f"agent_copy_{recipe.name}",
                lambda: QGuiApplication.clipboard().setText(recipe.install),
                text=words("connect.copy"),
            )
        act.setAutoDefault(False)
        act.setAccessibleName(f"{act.text()}: {recipe.label}")
        hbox((Paragraph("hint", text=said), 1), act, inside=row)
        return row

    def _choose(self, recipe: AgentRecipe) -> None:
        self._line.setText(recipe.name)
        self.go.setFocus()

    def _on_go(self) -> None:
        self.accept()
        self.given.emit(self._line.text().strip())


class AgentConsentDialog(AskDialog):
    """Shows the exact command line of an external agent before it may run. Enter and Escape both refuse."""

    def __init__(self, words: Language, config: ProviderConfig, parent: QWidget) -> None:
        allow, refuse = ("allow", words("consent.allow")), ("refuse", "consent.refuse")
        title = words("agent.consent", name=exact(config.label or config.id))
        super().__init__(words, parent, "agent_consent", title, allow, refuse, safe=True)
        line = exact(shlex.join([config.command, *config.args]))
        said: list[QWidget] = [
            Paragraph("card_text", text=words("consent.command")),
            exact_field("agent_consent_line", words("server.command"), line),
        ]
        if config.env:
            names = ", ".join(map(exact, config.env))
            said.append(Paragraph("hint", text=f"{words('agent.variables')}: {names}"))
        said.append(Paragraph("warn", text=words("agent.truth")))
        if recipe_of(config.recipe) not in RECIPES:
            said.append(Paragraph("warn", text=words("agent.no_recipe")))
        column = self.arrange(self.heading, *said, 4)
        self.ensurePolished()
        self.resize(WIDTH, column.heightForWidth(WIDTH))
        self.cancel.setFocus()
