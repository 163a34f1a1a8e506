"""Lines that offer one thing, and the list of model servers found on this computer."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QWidget

from app.core.provider import FoundServer
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import button, icon_button
from app.gui.widgets.text import ElidedLabel, name_button, plain_tip


class OfferLine(QFrame):
    """A line with an offer and a button; shows the progress of the work. Emits `accepted` and `dismissed`."""

    accepted = Signal()
    dismissed = Signal()

    def __init__(self, look: Look, name: str, icon: str, colour: str) -> None:
        super().__init__()
        self._look, self._icon, self._colour = look, icon, colour
        self.setObjectName(name)
        self.setProperty("kind", "card")
        self._picture = QLabel()
        self._text = ElidedLabel("meta")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedSize(110, 6)
        self._bar.hide()
        self._button = button("link", f"{name}_accept")
        self._dismiss = icon_button(look, "x", f"{name}_dismiss")
        hbox(
            self._picture,
            (self._text, 1),
            (self._bar, 0, Qt.AlignmentFlag.AlignVCenter),
            self._button,
            self._dismiss,
            inside=self,
            margins=(14, 4, 6, 4),
            spacing=9,
        )
        self._button.clicked.connect(self.accepted)
        self._dismiss.clicked.connect(self.dismissed)
        look.changed.connect(self._draw)
        self._draw()

    def show_offer(self, text: str, action: str, dismiss: str = "") -> None:
        """Show an offer; without a text for `dismiss` it cannot be dismissed."""
        self._text.setText(text)
        self._button.setText(action)
        self._button.setAccessibleName(f"{action}: {text}")
        self._dismiss.setVisible(bool(dismiss))
        name_button(self._dismiss, dismiss)
        self._bar.hide()

    def show_progress(self, text: str, done: int, total: int, action: str) -> None:
        """Show progress; the button then cancels."""
        self._text.setText(text)
        self._button.setText(action)
        self._button.setAccessibleName(action)
        self._dismiss.hide()
        self._bar.setRange(0, 1_000)
        self._bar.setValue(1_000 * done // max(1, total))
        self._bar.setAccessibleName(text)
        self._bar.show()

    def text(self) -> str:
        """Return the text."""
        return self._text.text()

    def _draw(self) -> None:
        ratio = self.devicePixelRatioF()
        self._picture.setPixmap(self._look.picture(self._icon, self._colour, 16, ratio))


MOST_SHOWN = 3


class ServerOffers(QWidget):
    """Shows the servers found, the most useful first; emits use_requested(server) and dismissed(server)."""

    use_requested = Signal(FoundServer)
    dismissed = Signal(FoundServer)

    def __init__(self, language: Language, look: Look, prefix: str, *, dismissable: bool = True) -> None:
        super().__init__()
        self._language = language
        self._dismissable = dismissable
        self._servers: tuple[FoundServer, ...] = ()
        self._most = MOST_SHOWN
        self._column = vbox(inside=self, spacing=6)
        self._lines = [OfferLine(look, f"{prefix}_{number}", "plug", "ok") for number in range(MOST_SHOWN)]
        for number, line in enumerate(self._lines):
            self._column.addWidget(line)
            line.accepted.connect(lambda at=number: self.use_requested.emit(self._servers[at]))
            line.dismissed.connect(lambda at=number: self.dismissed.emit(self._servers[at]))
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_servers(self, servers: Sequence[FoundServer]) -> None:
        """Offer these servers only."""
        self._servers = tuple(servers)[:MOST_SHOWN]
        self._retranslate()

    @property
    def any_shown(self) -> bool:
        """Whether any server is offered."""
        return bool(self._servers)

    def show_most(self, count: int) -> None:
        """Show at most `count` lines."""
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
