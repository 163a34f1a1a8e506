"""The blind pick: what all came to and the answer of one model alone, side by side and without names.

`BlindPickView` stands in the place of a verdict that was not read yet, or where the user wants it;
`blind_card` offers it below a verdict, and says there what came of it.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QBoxLayout, QFrame, QWidget

from app.core.council import PANEL, PICKS, BlindPick
from app.core.message import CouncilPart, Message
from app.core.session import Status
from app.engine.council.director import blind_steps
from app.engine.council.record import Record
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import Spending, time_text
from app.gui.markdown.blocks import parse
from app.gui.markdown.document import plain_of
from app.gui.pages.council.council_box import Judged
from app.gui.pages.council.council_columns import Letter
from app.gui.pages.council.decision_steps import MARGIN
from app.gui.widgets import boxes
from app.gui.widgets.badge import Chip, HeadingIcon
from app.gui.widgets.boxes import Fitting
from app.gui.widgets.controls import Button, TickBox, button, scrolling
from app.gui.widgets.notices import announce
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, plain_tip

SIDE_BY_SIDE, WIDEST_ANSWER, WIDEST_OFFER = 640, 620, 720
# Letters alone go to the input of the page, and a pick is made once.
KEYS = dict(zip(PICKS, ("Alt+A", "Alt+B", "Alt+N"), strict=True))


class BlindStep(StrEnum):
    """How far a blind pick is."""

    OFFERED = "offered"
    WRITING = "writing"
    FAILED = "failed"
    SHOWN = "shown"
    PICKED = "picked"


def step_of(judged: Judged) -> BlindStep:
    """Return how far the blind pick of a debate or a council is."""
    record = judged.record
    blind = record.council.blind
    if blind is None:
        return BlindStep.OFFERED
    if blind.order:
        return BlindStep.PICKED if blind.picked else BlindStep.SHOWN
    writing = judged.session.status == Status.RUNNING or _is_written(record)
    return BlindStep.WRITING if writing else BlindStep.FAILED


def is_later(judged: Judged) -> bool:
    """Say whether the two answers were written later than what this verdict came after."""
    blind = judged.record.council.blind
    return blind is not None and bool(blind.order) and len(judged.record.blind_texts()) < len(PICKS[:2])


class BlindPickView(Fitting, QWidget):
    """Offers a blind pick, shows the two answers, and says after the pick which was which and what each cost.

    Emits asked() where the answers are to be written, or shown once they are; picked(one of PICKS), closed()
    where the verdict is wanted, and offers_chosen(bool) for the tick that says whether it is offered from now
    on.
    """

    asked = Signal()
    picked = Signal(str)
    closed = Signal()
    offers_chosen = Signal(bool)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("blind_pick")
        self._language, self._look = language, look
        self.offers: Callable[[], bool] = lambda: True
        """Returns whether it is offered before a verdict is read; set by who knows what the user chose."""
        # Whether the user wants it (True) or the verdict, None where nothing was chosen in this session yet.
        self._wanted: bool | None = None
        self._session_id, self._step = "", BlindStep.OFFERED
        self._shown: object = None
        self._answers: QBoxLayout | None = None
        self._page = boxes.vbox(inside=self, margins=(MARGIN, 12, MARGIN, 0))
        self.hide()

    def open(self) -> None:
        """Show it in place of the verdict from now on, also where that was read."""
        self._wanted = True

    def stands(self, judged: Judged, *, stood: bool) -> bool:
        """Say whether it is shown in place of a verdict: where the user wants it, else where
        that was not read yet.

        Where it `stood` there it stays while something else is asked of the session, and the verdict unread.
        """
        session, step = judged.session, step_of(judged)
        asked_else = session.status == Status.RUNNING and step != BlindStep.WRITING
        stays = asked_else and stood and session.id == self._session_id
        if session.id != self._session_id or asked_else:
            self._session_id, self._wanted = session.id, None
        if is_later(judged):
            return False
        if self._wanted is not None:
            return self._wanted
        if judged.record.council.read_at or step == BlindStep.PICKED:
            return False
        return stays or step != BlindStep.OFFERED or (self.offers() and "blind" in judged.prices)

    def show_pick(self, judged: Judged) -> None:
        """Show how far the pick of a debate or a council is; what is shown already stays."""
        record, step, price = judged.record, step_of(judged), judged.prices.get("blind", "")
        blind, written = record.council.blind or BlindPick(), len(record.blind_texts())
        counts = blind.was_blind and not (record.council.read_at and not blind.picked)
        running = judged.session.status == Status.RUNNING
        ready = step == BlindStep.WRITING and not running
        shown = (judged.session.id, self._language.name, step, price, counts, written, running, blind)
        if shown == self._shown:
            return
        moved, self._shown, self._step = step != self._step, shown, step
        focus: QWidget | None = self.window().focusWidget()
        focused = focus.objectName() if focus is not None and self.isAncestorOf(focus) else ""
        boxes.empty(self._page)
        if step == BlindStep.PICKED:
            said = picked_text(blind, self._language)
        else:
            said = self._language(f"blind.step.{step}", done=written)
        if step in (BlindStep.SHOWN, BlindStep.PICKED):
            page = self._answers_page(judged, said, counts=counts)
        else:
            page = self._offer(step, said, price, counts=counts, running=running)
        self._page.addWidget(page)
        self._fit()
        boxes.put_where(self, boxes.stops_in(page))
        self.setAccessibleName(said)
        if focused or focus is self:
            # What had the focus is made anew, or gone.
            again = (page.findChild(QWidget, name) for name in (focused, "blind_answer_A") if name)
            (next(filter(None, again), None) or self).setFocus()
        if moved:
            # Before it runs, a pick that was asked for has failed for no time at all.
            QTimer.singleShot(0, self, partial(self._tell, step))
        if ready:
            self.asked.emit()

    def _tell(self, step: BlindStep) -> None:
        if self.isVisible() and step == self._step:
            announce(self, self.accessibleName())

    def _fit(self) -> None:
        if self._answers is not None:
            boxes.set_across(self._answers, self.width() >= SIDE_BY_SIDE)

    def _offer(self, step: BlindStep, said: str, price: str, *, counts: bool, running: bool) -> QWidget:
        """Return a card that offers the pick, or says that the answers are being written or could not be."""
        words, ways, page = self._language, boxes.FlowBox(gap=8), QWidget()
        hint = "blind.meanwhile" if step == BlindStep.WRITING else "blind.what"
        icon = HeadingIcon(self._look, "eye-off", "text_2")
        title = Paragraph("card_title", text=words("blind.title"))
        parts: list[boxes.Part] = [
            boxes.hbox(icon, (title, 1), spacing=8),
            Paragraph("warn" if step == BlindStep.FAILED else "card_text", text=said),
            Paragraph("hint", text=words(hint if counts else "blind.not_blind")),
            ways,
        ]
        if not running and step != BlindStep.WRITING:
            asks = " · ".join(filter(None, (words("council.blind"), price)))
            ways.add(button("", "blind_start", self._on_start, text=asks))
        ways.add(self._to_verdict())
        if step == BlindStep.OFFERED:
            tick = named("blind_offers", TickBox(self._look))
            tick.setText(words("blind.offers"))
            tick.setChecked(self.offers())
            tick.toggled.connect(self._on_offers)
            parts.append(boxes.hbox(tick, boxes.STRETCH))
        offer = boxes.card("blind_offer", *parts, spacing=10)
        offer.setMaximumWidth(WIDEST_OFFER)
        self._answers = None
        boxes.vbox(boxes.hbox((offer, 1000), boxes.STRETCH), boxes.STRETCH, inside=page)
        return scrolling(page)

    def _answers_page(self, judged: Judged, said: str, *, counts: bool) -> QWidget:
        """Return the two answers: with what picks one of them, or with whose they are and what they cost."""
        words, record = self._language, judged.record
        blind, texts = record.council.blind or BlindPick(), record.blind_texts()
        picked, body = bool(blind.picked), QWidget()
        self._answers = boxes.hbox(spacing=12)
        for letter, side in zip(PICKS, blind.order, strict=False):
            text, mine = texts.get(side == PANEL, ""), Chip(self._look, self)
            tile = Letter(self._look, letter, leads=blind.picked == letter)
            mine.set_text(words("blind.mine") if blind.picked == letter else "", "ok")
            whose = whose_text(judged, side, words) if picked else ""
            cost = spent_text(record, side, words) if picked else ""
            who, spent = ElidedLabel("card_title", text=whose), plain_label("hint", text=cost)
            plain = plain_of(parse(text), 0, len(text)).replace("\n", "\n\n")
            parts = boxes.hbox(tile, (who, 1), mine, spent, spacing=8), Paragraph(text=plain)
            answer = boxes.card(f"blind_answer_{letter}", *parts, boxes.STRETCH, spacing=10)
            answer.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            answer.setMaximumWidth(WIDEST_ANSWER)
            name = ", ".join(filter(None, (words("blind.answer", letter=letter), whose, cost, mine.text())))
            answer.setAccessibleName(f"{name}. {plain}")
            self._answers.addWidget(answer, 1000)
        self._answers.addStretch(1)
        choices = boxes.hbox(*([] if picked else map(self._choice, PICKS)), boxes.STRETCH, spacing=8)
        boxes.vbox(self._answers, choices, boxes.STRETCH, inside=body, spacing=12)
        title = Paragraph("card_title", text=said), 1, Qt.AlignmentFlag.AlignVCenter
        head = boxes.hbox(title, self._to_verdict(primary=picked), spacing=8)
        late = words("blind.read_before" if picked else "blind.not_blind")
        notes = [] if counts else [Paragraph("warn", text=late)]
        return boxes.frame("", boxes.vbox(head, *notes, (scrolling(body, keeps_bar=True), 1), spacing=8))

    def _choice(self, pick: str) -> Button:
        words, equal = self._language, pick not in PICKS[:2]
        text = words("blind.equal") if equal else pick
        made = button("", f"blind_pick_{pick}", partial(self.picked.emit, pick), text=text)
        made.setAccessibleName(words("blind.equal") if equal else words("blind.prefer", letter=pick))
        made.setToolTip(plain_tip(KEYS[pick]))
        made.setShortcut(QKeySequence(KEYS[pick]))
        made.setMinimumWidth(90)
        return made

    def _to_verdict(self, *, primary: bool = True) -> Button:
        kind = "primary" if primary else ""
        return button(kind, "blind_close", self._on_close, text=self._language("blind.close"))

    def _on_start(self) -> None:
        self._wanted = True
        self.asked.emit()

    def _on_offers(self, on: bool) -> None:
        # What is shown stays until the user goes on.
        self._wanted = True
        self.offers_chosen.emit(on)

    def _on_close(self) -> None:
        self._wanted = False
        self.closed.emit()


def blind_card(words: Language, look: Look, judged: Judged, opened: Callable[[], object]) -> QFrame | None:
    """Return what offers the pick below a verdict, or says what came of it; None where it cannot be made."""
    blind, price = judged.record.council.blind, judged.prices.get("blind", "")
    if (blind is None and not price) or is_later(judged):
        return None
    price = price if step_of(judged) in (BlindStep.OFFERED, BlindStep.FAILED) else ""
    title, asks = words("blind.title"), " · ".join(filter(None, (words("council.blind"), price)))
    lines = [words("blind.step.offered"), words("blind.not_blind")]
    if blind is not None and blind.picked:
        title, asks = picked_text(blind, words), words("blind.show")
        whose, spent = partial(whose_text, judged), partial(spent_text, judged.record)
        lines = [f"{whose(side, words)} {spent(side, words)}" for side in blind.order]
        lines += [] if blind.was_blind else [words("blind.read_before")]
    hint = Paragraph("hint", text="\n".join(lines))
    said = boxes.vbox(Paragraph("card_title", text=title), hint, spacing=2)
    row = boxes.hbox(HeadingIcon(look, "eye-off", "text_2"), (said, 1), spacing=10)
    # Beside the texts it is too wide for a narrow window with large letters.
    open_it = boxes.hbox(button("", "blind_open", opened, text=asks), boxes.STRETCH)
    return boxes.card("blind_card", row, open_it, spacing=8)


def picked_text(blind: BlindPick, words: Language) -> str:
    """Return what the user preferred: the answer of all, that of one model alone, or neither."""
    places = dict(zip(PICKS, blind.order, strict=False))
    return words(f"blind.preferred.{places.get(blind.picked, blind.picked)}")


def whose_text(judged: Judged, side: str, words: Language) -> str:
    """Return whose answer it is: of all, or of which model alone."""
    alone = _before(judged.record).alone
    if side == PANEL or alone is None:
        return words("blind.side.panel")
    shown = judged.people.get(alone.author.id)
    return words("blind.side.alone", name=shown.name if shown else alone.author.name)


def spent_text(record: Record, side: str, words: Language) -> str:
    """Return what an answer cost and how long it took, without what writing both anew did."""
    before, spent = _before(record), Spending()
    # What a model from outside answered changed nothing; what it objected in a round did.
    taken = [message for message in before.since if message.part != CouncilPart.SOLO]
    taken = [message for message in taken if message.part != CouncilPart.CHECK or message.round]
    if side != PANEL:
        taken = [before.alone] if before.alone else []
    spent.add(taken)
    return f"{spent.short_text(words)} · {time_text(round(_seconds(taken)), words)}"


def _is_written(record: Record) -> bool:
    """Say whether both answers are there and can be shown."""
    return len(record.blind_texts()) == len(PICKS[:2]) and not blind_steps(record)


def _before(record: Record) -> Record:
    """Return the messages before the answers were written anew."""
    messages = record.messages
    place = next((at for at, item in enumerate(messages) if item.part == CouncilPart.REWRITE), len(messages))
    return Record(record.debate, messages[:place])


def _seconds(messages: Sequence[Message]) -> float:
    """Return how long calls took: those of one part and round ran side by side,
    a debate's turns one after the other.
    """
    longest: dict[tuple[str, int, str], float] = {}
    for message in messages:
        key = (message.part, message.round, "" if message.part else message.id)
        longest[key] = max(longest.get(key, 0.0), message.seconds or 0.0)
    return sum(longest.values())
