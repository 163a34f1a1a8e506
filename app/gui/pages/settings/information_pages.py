"""Pages of the settings that only inform: Privacy (what leaves this computer, and when) and About."""

import platform

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QWidget

from app import __version__
from app.core.catalog import provider_kind
from app.core.provider import ProviderStatus
from app.core.text import exact
from app.core.tool import ServerState, ServerStatus
from app.engine.engine import Engine
from app.engine.providers import on_this_computer
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import server_line
from app.gui.widgets.boxes import STRETCH, empty, frame, hbox, vbox
from app.gui.widgets.text import ElidedLabel, Paragraph, plain_label, say

ICON = 17
MARK = 56
LICENCE = "MIT"
PARTS = (
    ("Qt, PySide6", "LGPL-3.0"),
    ("LiteLLM, pydantic", "MIT"),
    ("msgspec", "BSD"),
    ("keyring, platformdirs, pyromark", "MIT"),
    ("mathra", "MIT, SIL OFL 1.1"),
    ("qasync", "BSD"),
    ("MCP SDK, ddgs", "MIT"),
    ("trafilatura", "Apache-2.0"),
    ("PDFium, pypdfium2", "BSD, Apache-2.0"),
    ("office-oxide", "MIT, Apache-2.0"),
    ("llama.cpp, xllamacpp", "MIT"),
    ("SmolLM2 135M (Hugging Face)", "Apache-2.0"),
    ("Pretendard", "SIL OFL 1.1"),
    ("Lucide", "ISC, MIT"),
)


class PrivacyPage(QWidget):
    """Says what is sent to each provider, to the web and to each MCP server, and when."""

    def __init__(self, language: Language, look: Look, engine: Engine) -> None:
        super().__init__()
        self._language, self._look, self._engine = language, look, engine
        self.lead = Paragraph("card_text")
        self._cards = vbox(spacing=8)
        vbox(self.lead, self._cards, inside=self, spacing=12)
        language.changed.connect(self.retranslate)
        look.changed.connect(self.retranslate)
        self.retranslate()

    def showEvent(self, event: QShowEvent) -> None:
        # Another page may have changed the data.
        self.retranslate()
        super().showEvent(event)

    def retranslate(self) -> None:
        """Show the current state."""
        words, engine = self._language, self._engine
        providers = [one for one in engine.providers() if one.ready]
        away = [one for one in providers if not self._stays(one)]
        self.lead.setText(words("privacy.some" if away else "privacy.nothing"))
        empty(self._cards)
        for provider in sorted(providers, key=self._stays):
            self._add_provider(provider)
        search = engine.settings().search_engine
        name = search if search.startswith("http") else words(f"limits.engine.{search}")
        self._add("globe", words("privacy.web"), name, words("privacy.web.text"))
        for server in engine.servers.all():
            self._add_server(server)
        self._add("eye-off", words("privacy.moot"), "", words("privacy.moot.text"))

    def _stays(self, status: ProviderStatus) -> bool:
        """Return whether requests to a provider stay on this computer, judged by its address."""
        kind = provider_kind(status.config.kind)
        return (kind is not None and kind.in_moot) or on_this_computer(status.base_url)

    def _add_provider(self, status: ProviderStatus) -> None:
        words, name = self._language, self._language.provider(status)
        if self._stays(status) and not status.base_url:
            self._add("lock", name, "", words("privacy.embedded"))
        elif self._stays(status):
            self._add("lock", name, status.base_url, words("privacy.local"))
        else:
            self._add("plug", name, status.base_url, words("privacy.provider", name=name))

    def _add_server(self, status: ServerStatus) -> None:
        server, words = status.server, self._language
        if server.disabled or status.state == ServerState.ASKING:
            return
        text = words("privacy.server.web" if server.url else "privacy.server")
        self._add("wrench", exact(server.name), server_line(server), text)

    def _add(self, icon: str, title: str, where: str, text: str) -> None:
        picture = QLabel()
        picture.setPixmap(self._look.picture(icon, "text_2", ICON, self.devicePixelRatioF()))
        picture.setFixedWidth(ICON + 4)
        place = [ElidedLabel("meta", text=where)] if where else []
        said = Paragraph("card_text", text=text)
        words = vbox(plain_label("card_title", text=title), *place, said, spacing=3)
        card = frame("card", hbox(vbox(picture, STRETCH), (words, 1), margins=(14, 10, 14, 10), spacing=10))
        self._cards.addWidget(card)


class AboutPage(QWidget):
    """Shows version, licence and third-party parts."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        mark = QLabel()
        mark.setPixmap(look.picture("moot", "accent", MARK, self.devicePixelRatioF()))
        self._name = say(plain_label("page_title"), language, "app.name")
        self.version = plain_label("card_text", wrap=True)
        self.version.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text = Paragraph("card_text")
        lines = [
            hbox((plain_label("card_text", text=name), 1), plain_label("hint", text=licence))
            for name, licence in PARTS
        ]
        card = frame("card", vbox(*lines, margins=(14, 8, 14, 8), spacing=6))
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
        """Show every text in the language in use."""
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
