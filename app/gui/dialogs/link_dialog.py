"""A link of a transcript asks before it opens, with the whole host in sight."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QWidget

from app.core.text import exact
from app.gui.display.i18n import Language
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import ElidedLabel, plain_label
from app.gui.widgets.wording import named

SCHEMES = ("http", "https", "mailto")
MOST_CHARACTERS = 2_000


def may_open(url: str) -> bool:
    """Say whether a link is of a kind that Moot opens at all."""
    parsed = QUrl(url, QUrl.ParsingMode.StrictMode)
    if not parsed.isValid() or parsed.scheme().lower() not in SCHEMES or len(url) > MOST_CHARACTERS:
        return False
    return bool(parsed.host()) or parsed.scheme().lower() == "mailto"


async def open_link(url: str) -> bool:
    """Open an address the user has agreed to in the system's browser; false where that is refused."""
    return _open(url)


def _open(url: str) -> bool:
    """Open an address, the only place that does; false where that is refused."""
    return may_open(url) and QDesktopServices.openUrl(QUrl(url, QUrl.ParsingMode.StrictMode))


class LinkDialog(QDialog):
    """Shows where a link goes; opens it in the system's browser when the user agrees."""

    def __init__(self, words: Language, url: str, shown: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("link_dialog")
        self._address = url
        parsed = QUrl(url, QUrl.ParsingMode.StrictMode)
        self.setWindowTitle(words("link.title"))
        title = plain_label("page_title", text=words("link.title"))
        lead = plain_label("card_text", wrap=True, text=words("link.text"))
        host = named("link_host", plain_label("card_title", wrap=True))
        # Punycode: a look-alike letter of another script shows itself.
        encoded = parsed.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        host.setText(parsed.host(QUrl.ComponentFormattingOption.FullyEncoded) or exact(encoded))
        address = ElidedLabel("meta", text=exact(encoded))
        column = vbox(title, lead, host, address, inside=self, margins=(22, 20, 22, 18), spacing=10)
        if shown and shown != url:
            text = ElidedLabel("meta", text=words("link.shown", text=exact(shown)))
            column.addWidget(text)
        cancel = button("", "link_cancel", text=words("link.cancel"))
        go = button("primary", "link_open", text=words("link.open"))
        foot = hbox(STRETCH, cancel, go)
        column.addSpacing(6)
        column.addLayout(foot)
        self.resize(460, self.sizeHint().height())
        cancel.setDefault(True)
        cancel.clicked.connect(self.reject)
        go.clicked.connect(self._on_open)

    def _on_open(self) -> None:
        _open(self._address)
        self.accept()
