"""The system prompt a participant gets: to be read, and replaced (row D2)."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget

from app.gui.display.i18n import Language
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.composer import TextBox
from app.gui.widgets.controls import button
from app.gui.widgets.label import Paragraph, plain_label
from app.gui.widgets.wording import named


class PromptDialog(QDialog):
    """Shows a prompt for editing; emits `prompt_chosen`, empty when the generated one shall be used."""

    prompt_chosen = Signal(str)

    def __init__(self, words: Language, name: str, prompt: str, generated: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("prompt_dialog")
        self.setWindowTitle(words("setup.prompt.of", name=name))
        self._generated = generated
        self._box = named("prompt_text", TextBox(lines=14, most=14, submits=False))
        self._box.setPlainText(prompt)
        self._box.setAccessibleName(self.windowTitle())
        title = plain_label("page_title", text=self.windowTitle())
        lead = Paragraph("card_text", text=words("setup.prompt.text"))
        reset = button("link", "prompt_reset", text=words("setup.prompt.generated"))
        cancel = button("", "prompt_cancel", text=words("dialog.cancel"))
        save = button("primary", "prompt_save", text=words("dialog.save"))
        save.setDefault(True)
        vbox(
            title,
            lead,
            self._box,
            STRETCH,
            hbox(reset, STRETCH, cancel, save),
            inside=self,
            margins=(22, 20, 22, 18),
            spacing=10,
        )
        self.resize(620, 400)
        reset.clicked.connect(lambda: self._box.setPlainText(generated))
        cancel.clicked.connect(self.reject)
        save.clicked.connect(self._on_save)

    def _on_save(self) -> None:
        text = self._box.text()
        self.prompt_chosen.emit("" if text == self._generated.strip() else text)
        self.accept()
