"""The models that can sit down once more in a debate, to choose one of. Used by Setup."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.engine.engine import Seat
from app.gui.display.i18n import Language


class VoiceMenu(QMenu):
    """Offers each model of some seats once; emits `chosen` with its seat."""

    chosen = Signal(object)

    def __init__(self, language: Language, seats: Sequence[Seat], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        models: dict[tuple[str, str], Seat] = {}
        # A model speaks as itself rather than as an assistant that has it.
        for seat in sorted(seats, key=lambda one: not one.plain):
            models.setdefault((seat.participant.provider, seat.participant.model), seat)
        for seat in models.values():
            text = f"{language.provider(seat.status)} · {seat.participant.model}"
            self.addAction(text).triggered.connect(
                lambda _checked=False, chosen=seat: self.chosen.emit(chosen)
            )
        if self.isEmpty():
            self.addAction(language("setup.add_voice.none")).setEnabled(False)
