"""About Moot in the settings: its version, its licence, and what of others' it is made of."""

import platform

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from app import __version__
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.label import Paragraph, plain_label
from app.gui.widgets.wording import say

MARK = 56
LICENCE = "MIT"
PARTS = (
    ("Qt, PySide6", "LGPL-3.0"),
    ("LiteLLM, pydantic", "MIT"),
    ("keyring, platformdirs, pyromark", "MIT"),
    ("qasync", "BSD"),
    ("MCP SDK, ddgs", "MIT"),
    ("trafilatura", "Apache-2.0"),
    ("llama.cpp, xllamacpp", "MIT"),
    ("SmolLM2 135M (Hugging Face)", "Apache-2.0"),
    ("Pretendard", "SIL OFL 1.1"),
    ("Lucide", "ISC, MIT"),
)


class AboutPage(QWidget):
    """Shows what this Moot is."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        mark = QLabel()
        mark.setPixmap(look.picture("moot", "accent", MARK, self.devicePixelRatioF()))
        self._name = say(plain_label("page_title"), language, "app.name")
        self.version = plain_label("card_text", wrap=True)
        self.version.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text = Paragraph("card_text")
        card = QFrame()
        card.setProperty("kind", "card")
        lines = vbox(inside=card, margins=(14, 8, 14, 8), spacing=6)
        for name, licence in PARTS:
            left = plain_label("card_text", text=name)
            right = plain_label("hint", text=licence)
            line = hbox((left, 1), right)
            lines.addLayout(line)
        vbox(
            hbox(mark, (vbox(STRETCH, self._name, self.version, STRETCH), 1), spacing=16),
            self._text,
            say(plain_label("field"), language, "about.parts"),
            card,
            inside=self,
            spacing=12,
        )
        language.changed.connect(self.retranslate)
        self.retranslate()

    def retranslate(self) -> None:
        """Draw every word anew."""
        words = self._language
        self.version.setText(
            words(
                "about.version",
                version=__version__,
                qt=qVersion(),
                python=platform.python_version(),
                system=platform.platform(terse=True),
            )
        )
        self._text.setText(words("about.text", licence=LICENCE))
