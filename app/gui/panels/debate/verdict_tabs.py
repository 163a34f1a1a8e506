"""A tab for each verdict of a debate or a council so far, and what changed between the last two."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.engine.council.outcome import reliability
from app.engine.council.verdicts import Given, changed
from app.gui.display.appearance import Language
from app.gui.pages.council.decision_steps import MARGIN
from app.gui.widgets.boxes import FlowBox, empty, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import Paragraph, named

READ = {"ok": "council.stable", "warn": "council.unstable", "neutral": "council.once"}
"""What a tab says of each tone of how reliable a verdict is that a judge has read."""


class VerdictTabs(QWidget):
    """Shows nothing until there are two verdicts; emits chosen() when another one is wanted."""

    chosen = Signal()

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.setObjectName("verdict_tabs")
        self._language = language
        self._given: Sequence[Given] = ()
        # The number of the verdict that is shown, 0 for the newest.
        self._number = 0
        self._shown: object = None
        self._tabs = vbox(spacing=0)
        self._changes = named("verdict_changes", Paragraph("hint"))
        vbox(self._tabs, self._changes, inside=self, margins=(MARGIN, 8, MARGIN, 0), spacing=6)
        self.hide()

    def show_given(self, given: Sequence[Given]) -> Given | None:
        """Show the verdicts so far, and return the one that is chosen: the newest until the user chooses;
        None for none.
        """
        if len(given) != len(self._given) or [item.debate.topic for item in given[:1]] != self._topics():
            self._number = 0
        self._given = given
        chosen = given[(self._number or len(given)) - 1] if given else None
        number = chosen.number if chosen else 0
        shown = (self._language.texts.language, number, [(item.debate, len(item.messages)) for item in given])
        if shown != self._shown:
            self._shown = shown
            self._draw([self._title(item) for item in given] if len(given) > 1 else [], number)
        return chosen

    def _title(self, given: Given) -> str:
        """Return what a verdict came after, and how reliable it is."""
        words, result = self._language, given.result
        _said, tone = reliability(result, given.record, words)
        return " · ".join((given.title(words), *([words(READ[tone])] if result.judge else [])))

    def _topics(self) -> list[str]:
        return [given.debate.topic for given in self._given[:1]]

    def _draw(self, titles: Sequence[str], number: int) -> None:
        words, given = self._language, self._given
        focused = next((item.objectName() for item in self.findChildren(QWidget) if item.hasFocus()), "")
        self.setVisible(len(given) > 1)
        empty(self._tabs)
        row = FlowBox(gap=8)
        for place, title in enumerate(titles, 1):
            kind = "primary" if place == number else ""
            tab = button(kind, f"verdict_tab_{place}", partial(self._choose, place), text=title)
            tab.setCheckable(True)
            tab.setChecked(place == number)
            row.add(tab)
            if tab.objectName() == focused:
                tab.setFocus()
        self._tabs.addWidget(row)
        lines = changed(given, words) if number == len(given) else []
        heading = words("verdict.changed", number=len(given) - 1)
        self._changes.setText("\n".join([f"{heading}:", *lines]) if lines else "")
        self._changes.setVisible(bool(lines))

    def _choose(self, number: int) -> None:
        self._number = number
        self.chosen.emit()
