"""Dialogs with a heading and two buttons: their base, and those that confirm, rename or edit a prompt."""

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QDialog, QLineEdit, QVBoxLayout, QWidget

from app.core.provider import MOST_WINDOW
from app.core.text import exact, visible
from app.core.usage import amount_text
from app.engine.chat.summary_commands import ChatStart, ContextUse
from app.gui.display.appearance import Language
from app.gui.widgets.boxes import STRETCH, Margins, Part, hbox, vbox
from app.gui.widgets.controls import TextBox, button
from app.gui.widgets.text import Paragraph, named, plain_label


class AskDialog(QDialog):
    """A dialog that is accepted or rejected with a button, and deleted when it closes.

    A subclass calls `arrange`, and overrides `_on_go` unless the button simply accepts.
    """

    def __init__(
        self,
        words: Language,
        parent: QWidget,
        name: str,
        title: str,
        go: tuple[str, str],
        cancel: tuple[str, str] = ("cancel", "dialog.cancel"),
        *,
        safe: bool = False,
    ) -> None:
        """`name` begins all object names; `go` and `cancel` end those of the buttons.

        With each comes the text of `go` and the key of the text of `cancel`. If `safe`, both weigh the same and Enter
        cancels.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName(f"{name}_dialog")
        self.setWindowTitle(title)
        self._words = words
        self.heading = plain_label("page_title", wrap=True, text=title)
        self.cancel = button("", f"{name}_{cancel[0]}", self.reject, text=words(cancel[1]))
        self.go = button("" if safe else "primary", f"{name}_{go[0]}", self._on_go, text=go[1])
        (self.cancel if safe else self.go).setDefault(True)

    def arrange(
        self, *parts: Part, before: Part = 0, margins: Margins = (22, 20, 22, 18), spacing: int = 10
    ) -> QVBoxLayout:
        """Lay out parts in a column with the buttons under them, after `before` in their row."""
        foot = hbox(before, STRETCH, self.cancel, self.go) if before else hbox(STRETCH, self.cancel, self.go)
        return vbox(*parts, foot, inside=self, margins=margins, spacing=spacing)

    def _on_go(self) -> None:
        self.accept()


class ConfirmDialog(AskDialog):
    """Asks before something that cannot be undone; Enter cancels."""

    def __init__(self, words: Language, title: str, text: str, agree: str, parent: QWidget) -> None:
        super().__init__(words, parent, "confirm", visible(title), ("agree", agree), safe=True)
        self.arrange(self.heading, plain_label("card_text", wrap=True, text=visible(text)), 6)
        self.resize(420, self.sizeHint().height())


class RenameDialog(AskDialog):
    """Asks for another title of a session, or for what `key` names; emits `named` if it differs."""

    named = Signal(str)

    def __init__(self, words: Language, title: str, parent: QWidget, key: str = "rename.title") -> None:
        super().__init__(words, parent, "rename", words(key), ("save", words("dialog.save")))
        self._before = title
        self.field = named("rename_field", QLineEdit(title))
        self.field.setAccessibleName(words(key))
        self.field.selectAll()
        self.field.textChanged.connect(lambda text: self.go.setEnabled(bool(text.strip())))
        self.go.setEnabled(bool(title))
        self.arrange(self.heading, self.field, 6)
        self.resize(440, self.sizeHint().height())

    def _on_go(self) -> None:
        title = self.field.text().strip()
        self.accept()
        if title != self._before:
            self.named.emit(title)


class PasswordDialog(AskDialog):
    """Asks for the password of a file; emits `given` with it. With `wrong` it says that another one did not open it."""

    given = Signal(str)

    def __init__(self, words: Language, name: str, parent: QWidget, *, wrong: bool) -> None:
        title = words("password.title", name=visible(name))
        super().__init__(words, parent, "password", title, ("open", words("password.open")))
        self.field = named("password_field", QLineEdit())
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setAccessibleName(title)
        self.field.textChanged.connect(lambda text: self.go.setEnabled(bool(text)))
        self.go.setEnabled(False)
        said = Paragraph("warn" if wrong else "card_text")
        said.setText(words("password.wrong" if wrong else "password.text"))
        self.arrange(self.heading, said, self.field, 6)
        self.resize(440, self.sizeHint().height())

    def _on_go(self) -> None:
        self.accept()
        self.given.emit(self.field.text())


class WindowDialog(AskDialog):
    """Asks how many tokens a model can read; emits `chosen` with the number if it differs, 0 for what is known."""

    chosen = Signal(int)

    def __init__(self, words: Language, model: str, own: int, known: int, parent: QWidget) -> None:
        """`own` is what the user has said before, 0 if nothing; `known` is what counts now."""
        title = words("models.window", name=exact(model))
        super().__init__(words, parent, "window", title, ("save", words("dialog.save")))
        self._before = own
        self.field = named("window_field", QLineEdit(str(own) if own else ""))
        self.field.setAccessibleName(title)
        self.field.setPlaceholderText(f"{known:,}")
        digits = QRegularExpression(f"[0-9]{{0,{len(str(MOST_WINDOW))}}}")
        self.field.setValidator(QRegularExpressionValidator(digits, self))
        self.arrange(self.heading, Paragraph("card_text", text=words("gauge.window.text")), self.field, 6)
        self.resize(440, self.sizeHint().height())

    def _on_go(self) -> None:
        tokens = int(self.field.text() or 0)
        self.accept()
        if tokens != self._before:
            self.chosen.emit(tokens)


class SummaryDialog(AskDialog):
    """Shows the text of a summary for editing; emits `changed` if it differs."""

    changed = Signal(str)

    def __init__(
        self, words: Language, text: str, parent: QWidget, *, key: str = "summary.edit.text"
    ) -> None:
        """`key` is that of the sentence over the text."""
        title = words("summary.edit")
        super().__init__(words, parent, "summary", title, ("save", words("dialog.save")))
        self._before = text
        self.box = named("summary_text", TextBox(lines=14, most=14, submits=False))
        self.box.setPlainText(text)
        self.box.setAccessibleName(title)
        self.arrange(self.heading, Paragraph("card_text", text=words(key)), self.box, STRETCH)
        self.resize(620, 440)

    def _on_go(self) -> None:
        text = self.box.text()
        if text.strip() and text != self._before.strip():
            self.changed.emit(text)
        self.accept()


class LongChatDialog(AskDialog):
    """Asks what of a long imported chat is sent; emits `chosen` with a ChatStart."""

    chosen = Signal(str)

    def __init__(self, words: Language, use: ContextUse, parent: QWidget) -> None:
        title = words("long_chat.title")
        super().__init__(words, parent, "long_chat", title, ("summary", words("long_chat.summary")))
        money = words("cost.unknown") if use.usd is None else words("cost.money", amount=amount_text(use.usd))
        everything = button("", "long_chat_all", lambda: self._choose(ChatStart.ALL))
        everything.setText(words("long_chat.all", money=money))
        last = button("", "long_chat_last", lambda: self._choose(ChatStart.LAST_PART))
        last.setText(words("long_chat.last"))
        text = words("long_chat.text", tokens=f"{use.tokens:,}", limit=f"{use.limit:,}")
        lead = plain_label("card_text", wrap=True, text=text)
        self.arrange(self.heading, lead, hbox(everything, last, STRETCH), 6)
        self.resize(560, self.sizeHint().height())

    def _on_go(self) -> None:
        self._choose(ChatStart.SUMMARY)

    def _choose(self, choice: str) -> None:
        self.accept()
        self.chosen.emit(choice)


class PromptDialog(AskDialog):
    """Shows a participant's system prompt for editing; emits `prompt_chosen`, "" for the generated one."""

    prompt_chosen = Signal(str)

    def __init__(self, words: Language, name: str, prompt: str, generated: str, parent: QWidget) -> None:
        title = words("setup.prompt.of", name=name)
        super().__init__(words, parent, "prompt", title, ("save", words("dialog.save")))
        self._generated = generated
        self._box = named("prompt_text", TextBox(lines=14, most=14, submits=False))
        self._box.setPlainText(prompt)
        self._box.setAccessibleName(title)
        reset = button("link", "prompt_reset", lambda: self._box.setPlainText(generated))
        reset.setText(words("setup.prompt.generated"))
        lead = Paragraph("card_text", text=words("setup.prompt.text"))
        self.arrange(self.heading, lead, self._box, STRETCH, before=reset)
        self.resize(620, 400)

    def _on_go(self) -> None:
        text = self._box.text()
        self.prompt_chosen.emit("" if text == self._generated.strip() else text)
        self.accept()
