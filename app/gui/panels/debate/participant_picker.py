"""The list in which participants are chosen: every assistant and every provider's models,
with tick boxes and a search.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.core.council import Panel
from app.core.provider import ProviderStatus
from app.core.texts import exact, fits, unmarked
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import STRETCH, drop, frame, hbox, put_in_tab_order, vbox, widgets_in
from app.gui.widgets.composer import SearchBox, SearchPopUp
from app.gui.widgets.controls import ShorteningButton, TickBox, button, icon_button, scrolling
from app.gui.widgets.model_choice import Facts, facts_text
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_label, plain_tip, say, show_or_hide

SIZE = QSize(420, 400)
# A server may list hundreds of models: the others are found by the search.
MOST_SHOWN = 60


class PickRow(QWidget):
    """One line of the list: a tick box with a name, a note, and a button to add it again or
    to set its provider up.
    """

    again_requested = Signal()
    set_up_requested = Signal(str)

    def __init__(self, look: Look, tick: TickBox, status: ProviderStatus, group: str) -> None:
        super().__init__()
        self.tick, self.group, self.words = tick, group, ""
        self._status = status
        self._note = ElidedLabel("hint")
        self._again = icon_button(look, "plus", "", self.again_requested)
        self._again.setFixedSize(24, 24)
        self._set_up = button("link", "", lambda: self.set_up_requested.emit(self._status.config.id))
        hbox(tick, (self._note, 1), self._again, self._set_up, inside=self, spacing=8)
        self.setFixedHeight(30)
        tick.toggled.connect(lambda _on: self._show_parts())

    def show_offer(self, language: Language, name: str, note: str, status: ProviderStatus) -> None:
        """Show who is offered, with what, and whether it can take part."""
        self._status = status
        self.tick.setText(name)
        self._note.setText(note if note != name else "")
        self.words = f"{name} {note} {self.group}"
        self._set_up.setObjectName(f"set_up_{status.config.id}")
        self._set_up.setText(language("setup.set_up"))
        name_button(self._again, language("setup.add_again", name=name))
        self._show_parts()

    def _show_parts(self) -> None:
        self._again.setVisible(self.tick.isChecked() and self._status.ready)
        self._set_up.setVisible(not self._status.ready)


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A model that can be added as a participant, and whether it was."""

    status: ProviderStatus
    model: str
    added: bool


class ParticipantPicker(SearchPopUp):
    """A pop-up with the rows on offer in groups; `model_chosen` has the status, a model and its tick.

    Saved panels may stand at the top; `panel_chosen` has the id of the one to ask. Then come the user's
    `favourites`, as provider/model.
    """

    opened = Signal()
    model_chosen = Signal(object, str, bool)
    panel_chosen = Signal(str)

    def __init__(self, language: Language, look: Look, facts: Facts, parent: QWidget) -> None:
        """`facts` returns what is known about a provider's model."""
        search = SearchBox(look, "participant_search")
        say(search, language, hint="setup.search", name="setup.search")
        super().__init__(search, "participant_picker", SIZE, parent)
        self._language, self._look, self._facts = language, look, facts
        self._rows: list[PickRow] = []
        self._model_rows: dict[PickRow, ModelOffer] = {}
        self._offers: Sequence[ModelOffer] = ()
        self._headings: list[QWidget] = []
        self._panels: Sequence[Panel] = ()
        self.favourites: Callable[[], Sequence[str]] = tuple
        self._more = plain_label("hint", wrap=True)
        self._column = vbox(self._more, spacing=1)
        area = scrolling(frame("", vbox(self._column, STRETCH, margins=(2, 0, 6, 0))))
        vbox(self.search, (area, 1), inside=self, margins=(10, 10, 6, 10), spacing=6)
        self.search.textChanged.connect(lambda _text: self._fill())

    def open(self, under: QWidget, panels: Sequence[Panel] = ()) -> None:
        """Open below a button, with what is offered now."""
        self._panels = panels
        self.search.clear()
        self.opened.emit()
        self._fill()
        self.open_below(under, right=True)

    def show_rows(self, rows: Sequence[PickRow]) -> None:
        """Offer the assistants and participants of these rows, in this order."""
        for row in self._rows:
            if row not in rows:
                row.hide()
        self._rows = list(rows)
        for row in self._rows:
            # Without a parent they would be windows of their own.
            row.setParent(self._column.parentWidget())
        if self.isVisible():
            self._fill()

    def show_models(self, offers: Sequence[ModelOffer]) -> None:
        """Offer further models of the providers when the list is filled next."""
        self._offers = offers

    def show_facts(self) -> None:
        """Show again what the models can do and cost, after more was learnt; the focus stays where it is."""
        for row, offer in self._model_rows.items():
            self._show_offer(row, offer)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.focusNextPrevChild(key == Qt.Key.Key_Down)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._toggle()
        elif key == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _toggle(self) -> None:
        """Tick what has the focus; from the search, what was found first."""
        focused = QApplication.focusWidget()
        if isinstance(focused, QPushButton):
            focused.click()
            return
        shown = [row for row in (*self._rows, *self._model_rows) if row.isVisible() and row.tick.isEnabled()]
        first = min(shown, key=lambda row: row.y(), default=None)
        found = first.tick if first and self.search.text() else None
        if (tick := focused if isinstance(focused, TickBox) else found) is not None:
            tick.click()

    def _fill(self) -> None:
        """Show what the search finds, each group under its heading."""
        wanted = self.search.text()
        for part in widgets_in(self._column):
            self._column.removeWidget(part)
        for part in (*self._model_rows, *self._headings):
            drop(part)
        found = [row for row in self._rows if fits(row.words, wanted)]
        offers = (offer for offer in self._offers if fits(self._words_of(offer), wanted))
        models = sorted(offers, key=self._place_of)
        panels = [panel for panel in self._panels if fits(panel.name, wanted)]
        self._model_rows = {self._model_row(model): model for model in models[:MOST_SHOWN]}
        for row in self._rows:
            row.setVisible(row in found)
        groups: dict[str, list[PickRow]] = {}
        rows = [*found, *self._model_rows]
        for row in sorted(rows, key=lambda row: row.group != self._language("model.favourites")):
            groups.setdefault(row.group, []).append(row)
        self._headings = []
        self._add_panels(panels)
        for group, rows in groups.items():
            heading = plain_label("section", text=group)
            self._headings.append(heading)
            self._column.addWidget(heading)
            for row in rows:
                self._column.addWidget(row)
                row.show()
        rest = len(models) - MOST_SHOWN
        none = "" if groups or panels else self._language("setup.search.none")
        show_or_hide(self._more, self._language("setup.search.more", count=rest) if rest > 0 else none)
        self._column.addWidget(self._more)

    def _add_panels(self, panels: Sequence[Panel]) -> None:
        """Add saved panels; a click asks for a decision by one."""
        if panels:
            self._headings.append(plain_label("section", text=self._language("side.panels")))
        for number, panel in enumerate(panels, 1):
            pick = ShorteningButton("foot", f"pick_panel_{number}").dress(self._look, "scale")
            names = ", ".join(seat.name for seat in panel.participants)
            pick.show_words(unmarked(exact(panel.name)), plain_tip(names))
            pick.setAccessibleName(exact(panel.name))
            pick.clicked.connect(self.close)
            pick.clicked.connect(lambda _checked=False, chosen=panel.id: self.panel_chosen.emit(chosen))
            self._headings.append(pick)
        for part in self._headings:
            self._column.addWidget(part)
        put_in_tab_order((self.search, *self._headings[1:]))

    def _place_of(self, offer: ModelOffer) -> int:
        """Return the place of a model among the favourites, or behind them all."""
        favourites, key = self.favourites(), f"{offer.status.config.id}/{offer.model}"
        return favourites.index(key) if key in favourites else len(favourites)

    def _words_of(self, offer: ModelOffer) -> str:
        return f"{offer.model} {self._language.provider(offer.status)}"

    def _model_row(self, offer: ModelOffer) -> PickRow:
        tick = named(f"seat_{offer.status.config.id}/{offer.model}", TickBox(self._look))
        tick.setChecked(offer.added)
        tick.setAccessibleName(offer.model)
        words = self._language
        favourite = self._place_of(offer) < len(self.favourites())
        group = words("model.favourites") if favourite else words.provider(offer.status)
        row = PickRow(self._look, tick, offer.status, group)
        self._show_offer(row, offer)
        tick.toggled.connect(lambda on: self.model_chosen.emit(offer.status, offer.model, on))
        row.again_requested.connect(lambda: self.model_chosen.emit(offer.status, offer.model, True))
        return row

    def _show_offer(self, row: PickRow, offer: ModelOffer) -> None:
        facts = facts_text(self._facts(offer.status.config.id, offer.model), self._language)
        row.show_offer(self._language, offer.model, facts, offer.status)
