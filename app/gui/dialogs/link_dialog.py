"""The dialog that shows the host of a link before it opens, and the rules for links that may open."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.core.text import exact
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language
from app.gui.widgets.text import ElidedLabel, named, plain_label

SCHEMES = ("http", "https", "mailto")
MOST_CHARACTERS = 2_000


def may_open(url: str) -> bool:
    """Return whether a link may be opened: http, https or mailto, with a host, and not too long."""
    parsed = QUrl(url, QUrl.ParsingMode.StrictMode)
    if not parsed.isValid() or parsed.scheme().lower() not in SCHEMES or len(url) > MOST_CHARACTERS:
        return False
    return bool(parsed.host()) or parsed.scheme().lower() == "mailto"


async def open_link(url: str) -> bool:
    """Open an address the user has agreed to in the system's browser; return False if it may not open."""
    return _open(url)


def _open(url: str) -> bool:
    """Open an address in the system's browser; return False if it may not open. Nothing else does."""
    return may_open(url) and QDesktopServices.openUrl(QUrl(url, QUrl.ParsingMode.StrictMode))


class LinkDialog(AskDialog):
    """Shows where a link goes, and opens it in the system's browser if the user agrees; Enter cancels."""

    def __init__(self, words: Language, url: str, shown: str, parent: QWidget) -> None:
        open_, cancel = ("open", words("link.open")), ("cancel", "link.cancel")
        super().__init__(words, parent, "link", words("link.title"), open_, cancel, safe=True)
        self._address = url
        parsed = QUrl(url, QUrl.ParsingMode.StrictMode)
        # Punycode: a look-alike letter of another script shows itself.
        encoded = exact(parsed.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        host = parsed.host(QUrl.ComponentFormattingOption.FullyEncoded) or encoded
        lines: list[QWidget] = [ElidedLabel("meta", text=encoded)]
        if shown and shown != url:
            lines.append(ElidedLabel("meta", text=words("link.shown", text=exact(shown))))
        self.arrange(
            self.heading,
            plain_label("card_text", wrap=True, text=words("link.text")),
            named("link_host", plain_label("card_title", wrap=True, text=host)),
            *lines,
            6,
        )
        self.resize(460, self.sizeHint().height())

    def _on_go(self) -> None:
        _open(self._address)
        self.accept()
