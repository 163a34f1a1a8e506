"""A composer that takes attachments: a text that is too long for the box becomes one when it is pasted."""

from PySide6.QtCore import Signal

from app.core.message import Attachment
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.pages.chat.attachment_strip import AttachmentStrip
from app.gui.widgets.boxes import hbox
from app.gui.widgets.composer import Composer, TextBox


class AttachingComposer(Composer):
    """A composer with the attachments over its box; emits message_submitted(text, attachments)."""

    message_submitted = Signal(str, object)

    def __init__(
        self, language: Language, look: Look, *, box_name: str, button_name: str, box: TextBox
    ) -> None:
        self.strip = AttachmentStrip(language, look)
        super().__init__(look, box_name=box_name, button_name=button_name, box=box)
        self.files = hbox((self.strip, 1), spacing=6)
        self.column.insertLayout(0, self.files)
        self.strip.changed.connect(self._on_text_changed)

    def attachments(self) -> tuple[Attachment, ...]:
        """Return the attachments."""
        return self.strip.attachments()

    def _on_submitted(self) -> None:
        text, attachments = self.box.text(), self.attachments()
        if (text or attachments) and self.send.isEnabled():
            self.box.clear()
            self.strip.show_attachments(())
            self.message_submitted.emit(text, attachments)

    def _on_text_changed(self) -> None:
        self.send.setEnabled(bool(self.box.text() or self.attachments()))
        self.text_changed.emit()
