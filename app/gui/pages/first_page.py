"""What stands around the input of a new session: the switch of what it begins, what each of these needs,
and cards.

The input itself is that of the chat page, which shows these parts while it has no session.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from app.core.catalog import EMBEDDED, EMBEDDED_BYTES
from app.core.provider import ProviderStatus
from app.core.texts import size_text, unmarked
from app.gui.display.appearance import Language, Look, tall
from app.gui.transcript.row_text import MAX_COLUMN
from app.gui.widgets.badge import HeadingIcon, initials, paint_avatar
from app.gui.widgets.boxes import STRETCH, FlowBox, centred, frame, hbox, put_in_tab_order, set_across, vbox
from app.gui.widgets.choices import DECIDE, WORK, BeginSwitch
from app.gui.widgets.controls import Button, MenuButton, ShorteningButton
from app.gui.widgets.notices import MOST_SHOWN, OfferLine, ServerOffers
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, plain_tip, say, show_if

# Between the cards, and beside what stands in the column, in pixels.
SPACE, SIDE = 12, 28
# Of a link the border and the blank before its words, as in the style sheet, in pixels.
LINK_FRAME = 5
# The least width of a card beside the others, in pixels; the least height of the page for more than one
# offer.
LEAST_CARD, SHORT = 235, 600
OVER = 0.3
"""Which part of the page's height lies over the input: the same for all that can begin, so
that the switch stays.
"""

TICK, TILE, GAP = 12, 18, 6


class ModelChip(Button):
    """A model that takes part: a tick, its initial in its colour, and its name."""

    def __init__(self, look: Look, name: str, place: int, letters: str) -> None:
        super().__init__("pick", f"model_chip_{place + 1}")
        self._look, self._name, self._place, self._letters = look, name, place, letters
        self.setText(unmarked(name))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setIconSize(QSize(TICK + TILE + 2 * GAP, TILE))
        look.changed.connect(self._draw)
        self._draw()

    def _draw(self) -> None:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.iconSize() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setFont(self.font())
        tick = self._look.picture("check", "accent", TICK, ratio)
        painter.drawPixmap(0, (TILE - TICK) // 2, tick)
        tile, colours = QRect(TICK + GAP, 0, TILE, TILE), self._look.tokens.speaker(self._place)
        paint_avatar(painter, tile, self._name, colours, self._letters)
        painter.end()
        self.setIcon(QIcon(picture))


class ModelChips(FlowBox):
    """Who takes part in a decision; emits `dropped` with the id of the one that was clicked.
    `more` opens the list of all.
    """

    dropped = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language, self._look = language, look
        self._shown: tuple[object, ...] = ()
        self.before: QWidget | None = None
        """What the focus comes from."""
        self._chips: list[ModelChip] = []
        self.more = ShorteningButton("plain", "more_models").dress(look, "plus", side=13)
        self.more.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.add(self.more)

    def show_models(self, models: Sequence[tuple[str, str]], others: int) -> None:
        """Show models by id and name, and how many others are ready."""
        words = self._language
        self.more.show_words(words("first.more", count=others) if models and others else words("first.add"))
        if (words.name, *models) == self._shown:
            return
        self._shown = (words.name, *models)
        focused = any(chip.hasFocus() for chip in self._chips)
        for chip in self._chips:
            self.remove(chip)
            chip.hide()
            # The next one has its name before it is gone.
            chip.setObjectName("")
            chip.deleteLater()
        letters = initials([name for _id, name in models])
        names = [name for _id, name in models]
        self._chips = [ModelChip(self._look, name, at, letters[at]) for at, name in enumerate(names)]
        for place, (chip, (person, name)) in enumerate(zip(self._chips, models, strict=True)):
            chip.setAccessibleName(words("first.takes_part", name=name))
            chip.setToolTip(plain_tip(words("first.drop", name=name)))
            chip.clicked.connect(lambda _checked=False, one=person: self.dropped.emit(one))
            self.insert(place, chip)
            chip.show()
        put_in_tab_order(tuple(filter(None, (self.before, *self._chips, self.more))))
        if focused:
            # The chip that had it is gone.
            self.more.setFocus()


class FirstCard(QFrame):
    """A card with an icon, a title, a sentence and links; without the sentence, and one row high,
    in a narrow window.
    """

    def __init__(self, look: Look, icon: str, name: str, *more: QWidget) -> None:
        super().__init__()
        self.setProperty("kind", "big_card")
        self.title, self.text = ElidedLabel("card_title"), Paragraph("card_text")
        self.button = ShorteningButton("link", name).dress(look, "chevron-right", "accent", side=13)
        self.button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        # The arrow stands behind the words by the direction of the button, which would turn its side as well.
        start = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute
        self._links = vbox(*((link, 0, start) for link in (self.button, *more)), spacing=0)
        # The words of a link stand under these, its frame outside.
        left = (LINK_FRAME, 0, 0, 0)
        head = hbox(HeadingIcon(look, icon, "text_2"), (self.title, 1), margins=left, spacing=9)
        self._row = vbox(head, (hbox((self.text, 1), margins=left), 1), self._links, inside=self)
        self.lie(False)

    def lie(self, flat: bool) -> None:
        """Show all of the card, or one row."""
        for layout in (self._row, self._links):
            set_across(layout, flat)
        self._row.setStretch(0, 1 if flat else 0)
        self._row.setContentsMargins(18 - LINK_FRAME, 5 if flat else 16, 14, 5 if flat else 12)
        self.text.setVisible(not flat)


class FirstCards(QWidget):
    """The cards: side by side, or one below the other where they have too little room."""

    def __init__(self, cards: Sequence[FirstCard]) -> None:
        super().__init__()
        self._cards = tuple(cards)
        self._row = hbox(*((card, 1) for card in cards), inside=self, spacing=SPACE)

    def fit(self, width: int) -> None:
        """Lay the cards out for a width in pixels; told before they have it, they are painted only
        where they stay.
        """
        flat = width < len(self._cards) * tall(LEAST_CARD)
        set_across(self._row, not flat)
        self._row.setSpacing(SPACE // 2 if flat else SPACE)
        for card in self._cards:
            card.lie(flat)


class FirstPage(QObject):
    """The parts `over` and `under` the input, those in it (`chips`, `how`, `ends`, `work`),
    and the user's requests.

    `example_requested` carries a question to try, `group_wanted` asks for the menu of groups,
    `model_requested` is to download the built-in model, `models_requested` to show others.
    """

    example_requested = Signal(str)
    providers_requested = Signal()
    model_requested = Signal()
    models_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self.mode = BeginSwitch(language, look, "composer_mode")
        self._about = ElidedLabel("hint")
        self.chips = ModelChips(language, look)
        self.how = MenuButton(look, "scale", "decide_how", chevron=True)
        self.ends = MenuButton(look, "flag", "decide_ends", chevron=True)
        self.work = MenuButton(look, "users", "work_with", chevron=True)
        for menu in (self.how, self.ends, self.work):
            menu.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            menu.choices.setToolTipsVisible(True)
        self.who = named("work_who", Paragraph("hint"))
        self.offers = ServerOffers(language, look, "first_offer")
        self._model = OfferLine(look, "first_model", "download", "accent")
        self._other = ShorteningButton("link", "first_better_model", self._on_other)
        self._other.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        # Where nothing is connected this comes first, also for Tab; else it is not seen.
        self._connect = FirstCard(look, "cpu", "first_connect", self._other)
        self._decide = FirstCard(look, "scale", "first_example")
        self._hand_over = FirstCard(look, "list-checks", "first_group")
        self._cards = FirstCards((self._connect, self._decide, self._hand_over))
        self.version = OfferLine(look, "first_version", "info", "accent", in_words=True)
        self._missing = False
        # Whether the first card connects providers; else it starts without a key.
        self._connects = True
        # The bytes of the smallest model that can be downloaded, 0 for none, None before that is known.
        self._smallest: int | None = None
        self._is_looked = False
        self._progress: tuple[int, int] | None = None
        self.over, self.under = QWidget(), QWidget()
        self._lay_out()
        ask, words = self.example_requested.emit, self._language
        self._decide.button.clicked.connect(lambda: ask(words("first.example")))
        self.group_wanted = self._hand_over.button.clicked
        self._connect.button.clicked.connect(self._on_connect)
        self.model_cancelled = self._model.accepted
        self.mode.chosen.connect(lambda _mode: self._retranslate())
        language.follow(self._retranslate)

    def show_mode(self, mode: str) -> None:
        """Show what the input begins."""
        with QSignalBlocker(self.mode):
            self.mode.set_value(mode)
        self._retranslate()

    def show_done(self, *, decided: bool, handed_over: bool) -> None:
        """Leave out the cards of what the user has done before."""
        self._decide.setVisible(not decided)
        self._hand_over.setVisible(not handed_over)

    def show_state(self, ready: Sequence[ProviderStatus]) -> None:
        """Show which providers are ready: the first card stays until there is more than the built-in
        model.
        """
        built_in = all(status.config.kind == EMBEDDED for status in ready)
        self._connects = bool(ready)
        self._connect.setVisible(built_in)
        self._retranslate()

    def show_smallest(self, size: int) -> None:
        """Say how many bytes the smallest model that can be downloaded has, 0 where none is known."""
        self._smallest = size
        self._retranslate()
        self._show_cards()

    def offer_model(self, missing: bool) -> None:
        """Say whether the built-in model could be downloaded; ends the display of its progress."""
        self._missing, self._progress = missing, None
        self._model.hide()
        self._retranslate()
        self._is_looked = True
        self._show_cards()

    def _show_cards(self) -> None:
        # Before that nobody knows which of the cards are to be seen, and how high they are.
        self._cards.setVisible(self._is_looked and self._smallest is not None)

    def show_model_progress(self, done: int, total: int) -> None:
        """Show the download progress of the built-in model, in bytes; `total` is 0 if unknown."""
        self._progress = (done, total)
        self._model.show()
        self._retranslate_model()

    def fit(self, size: QSize) -> None:
        """Lay out for the size of the page in pixels: the input is always seen."""
        layout = self.over.layout()
        least = layout.totalHeightForWidth(size.width()) if layout is not None else 0
        self.over.setFixedHeight(max(least, round(size.height() * OVER)))
        self.offers.show_most(1 if size.height() < SHORT else MOST_SHOWN)
        self._cards.fit(min(size.width(), MAX_COLUMN + 2 * SIDE) - 2 * SIDE)

    def _lay_out(self) -> None:
        heading = say(plain_label("heading", wrap=True), self._language, "first.heading")
        heading.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._about.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        row = frame("", hbox(self.mode, (self._about, 1), margins=(SIDE, 0, SIDE, 0), spacing=14))
        vbox(STRETCH, heading, tall(22), centred(row, MAX_COLUMN + 2 * SIDE), inside=self.over)
        parts = (self.who, self.offers, self._model, self._cards, self.version)
        below = vbox(*parts, margins=(SIDE, 8, SIDE, 14), spacing=8)
        vbox(centred(frame("", below), MAX_COLUMN + 2 * SIDE), STRETCH, inside=self.under)
        show_if(False, self._model, self._cards, self.version)

    @property
    def _fetches(self) -> bool:
        """Whether the first card offers to download the built-in model."""
        return not self._connects and self._missing

    def _on_connect(self) -> None:
        (self.model_requested if self._fetches else self.providers_requested).emit()

    def _on_other(self) -> None:
        (self.providers_requested if self._fetches else self.models_requested).emit()

    def _retranslate_model(self) -> None:
        if self._progress is not None:
            words, (done, total) = self._language, self._progress
            size = size_text(words, total or EMBEDDED_BYTES)
            text = words("embedded.fetching", done=size_text(words, done), size=size)
            self._model.show_progress(text, done, total, words("embedded.cancel"))

    def _retranslate(self) -> None:
        words, connects = self._language, self._connects
        self._about.setText(words(f"first.mode.{self.mode.value()}.hint"))
        self._retranslate_model()
        first = "connect" if connects else "keyless"
        for card, key in ((self._connect, first), (self._decide, DECIDE), (self._hand_over, WORK)):
            card.title.setText(words(f"first.{key}.title"))
            card.button.show_words(words(f"first.{key}.button"))
            # How to connect is said with a size, as soon as one is known.
            card.text.setText(words("first.keyless.text" if key == "connect" else f"first.{key}.text"))
        if self._fetches:
            size = size_text(words, EMBEDDED_BYTES)
            self._connect.button.show_words(words("embedded.fetch", size=size))
        if connects and self._smallest:
            self._connect.text.setText(words("first.connect.text", size=size_text(words, self._smallest)))
        self._other.show_words(words("first.connect.button" if self._fetches else "first.better"))
        self._other.setVisible(connects or self._fetches)
