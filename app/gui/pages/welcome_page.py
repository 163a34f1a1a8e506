"""The welcome page: cards for the main features, and a composer."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QSizePolicy, QSpacerItem, QVBoxLayout, QWidget

from app.core.catalog import EMBEDDED, EMBEDDED_BYTES
from app.core.provider import ProviderStatus
from app.core.texts import has_hangul
from app.core.usage import size_text
from app.gui.display.appearance import Language, Look
from app.gui.pages.chat.chat_composer import ChatComposer, short_name
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.choices import COUNCIL, DEBATE, BeginSwitch
from app.gui.widgets.controls import ShorteningButton, TickBox, button, scrolling
from app.gui.widgets.notices import MOST_SHOWN, OfferLine, ServerOffers
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, plain_tip, say

CARD_WIDTH = 292
ANY_WIDTH = (1 << 24) - 1
NARROW = 600
MARGIN = 28
SPACE = 14
SHORT = 600
GAPS = ((22, 10), (14, 8), (14, 8))  # space above the cards, under them, and above the composer, in pixels
EXAMPLES = ("1", "2", "3")
WITH_SEVERAL = (DEBATE, COUNCIL)
PARTS = {
    "composer": "welcome_composer",
    "send_button": "welcome_send",
    "attach_button": "welcome_attach",
    "assistant_button": "welcome_assistant",
    "group_button": "welcome_group",
    "tools_button": "welcome_tools",
    "stop_button": "welcome_stop",
    "edit_cancel": "welcome_edit_cancel",
    "attachments": "welcome_attachments",
    "readings": "welcome_readings",
}


class WelcomeCard(QFrame):
    """A card with an icon, a title, a sentence and one button."""

    def __init__(self, look: Look, icon: str, colour: str, kind: str, name: str) -> None:
        super().__init__()
        self.setProperty("kind", "big_card")
        self._picture = QLabel()
        self._look, self._icon, self._colour = look, icon, colour
        self.title = plain_label("card_title")
        self.text = Paragraph("card_text")
        self.button = ShorteningButton(kind, name)
        self.button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._head = vbox(self._picture, (self.title, 1), spacing=11)
        column = vbox(
            self._head,
            (self.text, 1),
            5,
            (self.button, 0, Qt.AlignmentFlag.AlignLeft),
            inside=self,
            margins=(18, 18, 18, 17),
            spacing=8,
        )
        self._column = column
        look.changed.connect(self._draw)
        self._draw()

    def least_width(self) -> int:
        """Return the width in pixels at which title and button are not shortened."""
        edges = self._column.contentsMargins()
        border = self.width() - self.contentsRect().width()
        words = max(self.title.sizeHint().width(), self.button.sizeHint().width())
        return border + edges.left() + words + edges.right()

    def tighten(self, tight: bool) -> None:
        """Reduce the vertical margins and put the icon before the title, for a low page."""
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._head.setDirection(across if tight else down)
        self._column.setContentsMargins(18, 9 if tight else 18, 18, 10 if tight else 17)

    def _draw(self) -> None:
        ratio = self.devicePixelRatioF()
        self._picture.setPixmap(self._look.picture(self._icon, self._colour, 24, ratio))


class WelcomePage(QWidget):
    """Headline, cards, composer and examples; emits the user's requests.

    The switch in the composer says what its text begins: a chat, or a debate with the participants named under it.
    `came` is emitted when the page is shown.
    """

    debate_requested = Signal(str)
    change_requested = Signal(str)
    group_requested = Signal(str)
    ready_groups_requested = Signal()
    providers_requested = Signal()
    model_requested = Signal()
    model_cancelled = Signal()
    models_requested = Signal()
    came = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._local_only = True
        self._heading = say(plain_label("heading", wrap=True), language, "welcome.heading")
        self._lead = plain_label("lead", wrap=True)
        for label in (self._heading, self._lead):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._debate = WelcomeCard(look, "scale", "accent", "primary", "welcome_debate")
        self._group = WelcomeCard(look, "users", "warn", "", "welcome_group_open")
        self._connect = WelcomeCard(look, "plug", "ok", "", "welcome_connect")
        self._all_cards = (self._debate, self._group, self._connect)
        self.composer = ChatComposer(language, look)
        self.composer.hold(True)
        self.composer.assistant.hide()
        self.composer.tools.hide()
        self.mode = BeginSwitch(language, "composer_mode")
        self.compare = say(
            named("council_compare_tick", TickBox(look)),
            language,
            "council.compare.tick",
            tip="council.compare.hint",
        )
        self.compare.hide()
        self._debaters = ElidedLabel("hint")
        self._debaters.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._change = button(
            "link", "welcome_set_up", lambda: self.change_requested.emit(self.composer.box.text())
        )
        self._debaters.hide()
        self._change.hide()
        # The page of chats has one too: an object name exists once.
        for part in self.composer.findChildren(QWidget):
            if part.objectName() in PARTS:
                part.setObjectName(PARTS[part.objectName()])
        self._examples = [ShorteningButton("pill", f"welcome_example_{number}") for number in EXAMPLES]
        self._cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._example_row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._look = look
        self.offers = ServerOffers(language, look, "welcome_offer")
        self._model = OfferLine(look, "welcome_model", "download", "accent")
        self._missing = False
        self._progress: tuple[int, int] | None = None
        self._embedded_icon = QLabel()
        self._embedded = ElidedLabel("meta")
        self._better = ShorteningButton("link", "welcome_better_model")
        self._better.clicked.connect(self.models_requested)
        self._better.hide()
        self._saved = plain_label("hint")
        self._lay_out()
        self._debate.button.clicked.connect(lambda: self.debate_requested.emit(self.composer.box.text()))
        self._group.button.clicked.connect(self._on_group)
        self._connect.button.clicked.connect(lambda: self.providers_requested.emit())
        self._model.accepted.connect(self._on_model)
        for number, example in zip(EXAMPLES, self._examples, strict=True):
            example.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            example.clicked.connect(lambda _checked=False, chosen=number: self._on_example(chosen))
        self._ready = False
        self._is_saved = self._keeps_keys = True
        self._known = False
        self._group_id = self._group_name = ""
        language.changed.connect(self._retranslate)
        look.changed.connect(self._retranslate)
        self._retranslate()

    def show_state(self, ready: Sequence[ProviderStatus], *, saved: bool, keeps_keys: bool) -> None:
        """Show which providers are ready, whether everything is saved, and whether a keyring keeps keys.

        Where the built-in model is the only one, a better one is offered.
        """
        built_in = [status for status in ready if status.config.kind == EMBEDDED]
        self._better.setVisible(bool(built_in) and len(built_in) == len(ready))
        self._local_only = not any(status.key_source for status in ready)
        self._ready, self._is_saved, self._keeps_keys = bool(built_in), saved, keeps_keys
        self._known = True
        self._retranslate()

    def show_mode(self, mode: str, debaters: str, *, compares: bool) -> None:
        """Show what the composer begins; `debaters` names who would take part, `compares` that answers can be compared."""
        several = mode in WITH_SEVERAL
        with QSignalBlocker(self.mode):
            self.mode.set_value(mode)
        self._debaters.setText(debaters)
        for widget in (self._debaters, self._change):
            widget.setVisible(several)
        self.compare.setVisible(mode == COUNCIL and compares)
        self._retranslate_composer()

    def offer_group(self, group_id: str, name: str) -> None:
        """Offer to open a group; with "" offer the groups that come with the program."""
        self._group_id, self._group_name = group_id, name
        self._retranslate()

    def offer_model(self, missing: bool) -> None:
        """Offer to download the built-in model if it is missing; ends the display of its progress."""
        self._progress = None
        self._missing = missing
        self._tighten(self.height() < SHORT)
        self._retranslate()

    def show_model_progress(self, done: int, total: int) -> None:
        """Show the download progress of the built-in model, in bytes; `total` is 0 if unknown."""
        self._progress = (done, total)
        self._model.show()
        self._retranslate_model()

    def _lay_out(self) -> None:
        cards = self._cards
        cards.setSpacing(SPACE)
        cards.addStretch(1)
        for card in self._all_cards:
            cards.addWidget(card, 10)
        cards.addStretch(1)
        switch = hbox(
            self.mode,
            self._debaters,
            self.compare,
            self._change,
            STRETCH,
            margins=(2, 0, 2, 0),
            spacing=10,
        )
        begin = QWidget()
        begin.setMaximumWidth(708)
        vbox(switch, self.composer, inside=begin, spacing=8)
        middle = hbox(STRETCH, (begin, 1000), STRETCH)
        examples = self._example_row
        examples.setSpacing(8)
        examples.addStretch(1)
        for example in self._examples:
            examples.addWidget(example)
        examples.addStretch(1)
        body = QWidget()
        self._body = column = QVBoxLayout(body)
        column.setContentsMargins(MARGIN, 14, MARGIN, 14)
        column.addStretch(10)
        column.addWidget(self._heading)
        column.addSpacing(6)
        column.addWidget(self._lead)
        self._gaps = [QSpacerItem(0, 0) for _ in GAPS]
        column.addItem(self._gaps[0])
        column.addLayout(cards)
        column.addItem(self._gaps[1])
        lines = vbox(spacing=6)
        for line in (self.offers, self._model):
            line.setMaximumWidth(708)
            lines.addWidget(line)
        offered = hbox(STRETCH, (lines, 1000), STRETCH)
        column.addLayout(offered)
        column.addItem(self._gaps[2])
        column.addLayout(middle)
        column.addSpacing(20)
        column.addLayout(examples)
        column.addStretch(12)
        scroll = scrolling(body)
        foot = QFrame()
        foot.setProperty("kind", "status")
        foot.setFixedHeight(30)
        hbox(
            self._embedded_icon,
            (self._embedded, 1),
            self._better,
            self._saved,
            inside=foot,
            margins=(18, 0, 18, 0),
            spacing=6,
        )
        vbox((scroll, 1), foot, inside=self, spacing=0)

    def focusInEvent(self, event: QFocusEvent) -> None:
        # No focus proxy: with one, Tab would skip the cards before the box.
        self.composer.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.came.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            # The parts get the font after this event.
            QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        """Lay out side by side what fits, at any text size."""
        least = [card.least_width() for card in self._all_cards]
        narrow = not self._has_room(least)
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._cards.setDirection(down if narrow else across)
        for card, width in zip(self._all_cards, least, strict=True):
            card.setMinimumWidth(0 if narrow else width)
            # Stacked cards are as wide as the page, since a layout asks for the height at its own width.
            card.setMaximumWidth(ANY_WIDTH if narrow else max(CARD_WIDTH, width))
        examples = [example.sizeHint().width() for example in self._examples]
        self._example_row.setDirection(across if self._has_room(examples) else down)
        self._tighten(self.height() < SHORT)

    def _has_room(self, widths: Sequence[int]) -> bool:
        needed = sum(width + SPACE for width in widths) + 2 * MARGIN
        return self.width() >= max(NARROW, needed)

    def _tighten(self, short: bool) -> None:
        """Keep the composer visible on a low page: smaller margins, and one offer at a time."""
        self.offers.show_most(1 if short else MOST_SHOWN)
        busy = self._progress is not None
        self._model.setVisible(busy or (self._missing and not (short and self.offers.any_shown)))
        for card in self._all_cards:
            card.tighten(short)
        for gap, (wide, tight) in zip(self._gaps, GAPS, strict=True):
            gap.changeSize(0, tight if short else wide)
        self._body.invalidate()

    def _on_group(self) -> None:
        if self._group_id:
            self.group_requested.emit(self._group_id)
        else:
            self.ready_groups_requested.emit()

    def _on_example(self, number: str) -> None:
        self.debate_requested.emit(self._language(f"welcome.example.{number}"))

    def _on_model(self) -> None:
        if self._progress is None:
            self.model_requested.emit()
        else:
            self.model_cancelled.emit()

    def _retranslate_model(self) -> None:
        words = self._language
        if self._progress is None:
            size = size_text(words, EMBEDDED_BYTES)
            self._model.show_offer(words("embedded.missing"), words("embedded.fetch", size=size))
            return
        done, total = self._progress
        size = size_text(words, total or EMBEDDED_BYTES)
        text = words("embedded.fetching", done=size_text(words, done), size=size)
        self._model.show_progress(text, done, total, words("embedded.cancel"))

    def _retranslate_composer(self) -> None:
        words, mode = self._language, self.mode.value()
        send = words("setup.start" if mode == DEBATE else "discussion.send")
        self.composer.retranslate(words(f"welcome.placeholder.{mode}"), send)

    def _retranslate(self) -> None:
        self._retranslate_model()
        words = self._language
        lead = words("welcome.lead" if self._local_only else "welcome.lead.connected")
        # A space keeps the height of the line.
        self._lead.setText(lead if self._known else " ")
        self._debate.title.setText(words("welcome.debate.title"))
        self._debate.text.setText(words("welcome.debate.text"))
        local = self._local_only and self._ready
        self._debate.button.show_words(words("welcome.debate.local" if local else "welcome.debate.start"))
        self._group.title.setText(words("welcome.group.title"))
        self._group.text.setText(words("welcome.group.text"))
        name = short_name(self._group_name)
        opens = words("welcome.group.open", name=name) if name else words("group.ready")
        self._group.button.show_words(opens, plain_tip(self._group_name) if name.endswith("…") else "")
        self._connect.title.setText(words("welcome.connect.title"))
        self._connect.text.setText(words.with_keys("welcome.connect.text", kept=self._keeps_keys))
        self._connect.button.show_words(words("welcome.connect.button"))
        self._change.setText(words("welcome.set_up"))
        self._better.show_words(words("welcome.better"))
        self._retranslate_composer()
        for number, example in zip(EXAMPLES, self._examples, strict=True):
            topic = words(f"welcome.example.{number}")
            example.show_words(topic)
            # The built-in model knows no Korean. Shown before it has a parent, an example would be a window.
            if example.parentWidget() is not None:
                example.setVisible(not (self._local_only and has_hangul(topic)))
        key = "status_line.embedded_ready" if self._ready else "status_line.embedded_missing"
        self._embedded.setText(words(key) if self._known else "")
        self._embedded_icon.setVisible(self._known)
        icon = "circle-check" if self._ready else "circle-alert"
        self._embedded_icon.setPixmap(self._look.picture(icon, "text_2", 14, self.devicePixelRatioF()))
        saved = words("status_line.saved" if self._is_saved else "status_line.not_saved")
        self._saved.setText(saved if self._known else "")
        self._fit()
