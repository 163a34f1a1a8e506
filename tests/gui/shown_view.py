"""A transcript in a window of its own."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from app.core.texts import Texts
from app.gui.display.theme import LIGHT
from app.gui.transcript.row_text import WIDE
from app.gui.transcript.transcript_view import TranscriptView

I18N = Path(__file__).parents[2] / "resources" / "i18n"


def texts(language: str = "en") -> Texts:
    """Return the texts of Moot."""
    return Texts.load(I18N, language)


def shown_view(qtbot: QtBot, width: int, height: int, layout: str = WIDE) -> TranscriptView:
    """Return a shown, empty view."""
    view = TranscriptView(LIGHT, texts(), layout=layout)
    qtbot.addWidget(view)
    view.resize(width, height)
    with qtbot.waitExposed(view):
        view.show()
    return view
