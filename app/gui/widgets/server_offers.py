"""The servers of models that were found on this computer, each a line with a button; on the welcome page and
in the settings.
"""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.provider import FoundServer
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.label import plain_tip
from app.gui.widgets.offer_line import OfferLine

MOST_SHOWN = 3


class ServerOffers(QWidget):
    """Shows what is offered, the most useful first; emits the server that is to be used, or no more offered."""

    use_requested = Signal(FoundServer)
    dismissed = Signal(FoundServer)

    def __init__(self, language: Language, look: Look, prefix: str, *, dismissable: bool = True) -> None:
        super().__init__()
        self._language = language
        self._dismissable = dismissable
        self._servers: tuple[FoundServer, ...] = ()
        self._most = MOST_SHOWN
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._lines = [OfferLine(look, f"{prefix}_{number}", "plug", "ok") for number in range(MOST_SHOWN)]
        for number, line in enumerate(self._lines):
            self._column.addWidget(line)
            line.accepted.connect(lambda at=number: self.use_requested.emit(self._servers[at]))
            line.dismissed.connect(lambda at=number: self.dismissed.emit(self._servers[at]))
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_servers(self, servers: Sequence[FoundServer]) -> None:
        """Offer these servers, and no others."""
        self._servers = tuple(servers)[:MOST_SHOWN]
        self._retranslate()

    @property
    def any_shown(self) -> bool:
        """Whether there is anything to offer."""
        return bool(self._servers)

    def show_most(self, count: int) -> None:
        """Show no more lines than so many, at least one."""
        if count != self._most:
            self._most = count
            self._retranslate()

    def _retranslate(self) -> None:
        words = self._language
        shown = self._servers[: self._most]
        for line in self._lines[len(shown) :]:
            line.hide()
        for line, server in zip(self._lines, shown, strict=False):
            name = words.server(server)
            key = "needs_key" if server.needs_key else "one" if len(server.models) == 1 else "many"
            text = words(f"offer.{key}", name=name, count=len(server.models), address=server.address)
            action = words("offer.key" if server.needs_key else "offer.use")
            line.show_offer(text, action, words("offer.dismiss") if self._dismissable else "")
            line.setToolTip(plain_tip(", ".join(server.models[:12])))
            line.show()
        self.setVisible(bool(self._servers))
