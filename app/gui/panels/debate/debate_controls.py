"""A debate's controls: title, round, status, cost and facts, Pause, Resume and Stop, and a banner
with problems.

Also the buttons for a turn that holds it up and for a debate that has ended, and what stands beside its
transcript in the main area: its state, and each participant with its last vote and turn.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from app.core.catalog import EMBEDDED
from app.core.council import MIN_PARTICIPANTS, Participant
from app.core.events import RetryScheduled
from app.core.message import SPOKEN, Message, Messages
from app.core.session import HELD_UP, DebateSession, Reason, Status, has_ended, no_vote_reason, resumable
from app.core.texts import has_hangul, unmarked
from app.engine.council.record import Record
from app.engine.debate.director import PARTICIPANT
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import Spending, checking, failed, kind_of, retry_text, state_of, time_text
from app.gui.markdown.blocks import blocks_of
from app.gui.navigation.session_list import EXPORTS
from app.gui.pages.council.council_box import DOING
from app.gui.pages.council.council_columns import People, Shown
from app.gui.pages.council.decision_steps import MARGIN
from app.gui.tasks import timer
from app.gui.widgets import boxes
from app.gui.widgets.badge import Avatar, Chip
from app.gui.widgets.choices import Segmented
from app.gui.widgets.controls import Button, ShorteningButton, button, icon_button, passing_menu, scrolling
from app.gui.widgets.text import ElidedLabel, Paragraph, plain_label, plain_tip, restyle, say, show_if

SPACE = 6
DISCUSSION, VERDICT = "discussion", "verdict"


class DebateControls(boxes.LayoutFitting, boxes.Frame):
    """Shows the state of a debate; emits the user's requests, and `retry_due` when a countdown has ended."""

    pause_requested = Signal()
    resume_requested = Signal()
    stop_requested = Signal()
    side_chosen = Signal(str)
    retry_due = Signal()
    check_skip_requested = Signal()

    def __init__(self, language: Language, look: Look, *, prefix: str, headed: bool) -> None:
        """`headed` also shows title, status, cost and the buttons, which a page has in the top bar
        and at its bottom.
        """
        super().__init__("")
        self._headed, self._language = headed, language
        self._session: DebateSession | None = None
        self._spending = Spending()
        self._retry: RetryScheduled | None = None
        self._held_text = ""
        self._retry_at = 0.0
        self._holds_up: tuple[tuple[str, str], ...] = ()
        self._read_only = False
        self._damaged = 0
        self._pausing = False
        self._at: tuple[int, int] | None = None
        self._parts: frozenset[str] = frozenset()
        self._title = ElidedLabel("title", self)
        self._round = Chip(look, self)
        self._status = Chip(look, self)
        self._facts = plain_label("hint", wrap=True)
        self._sides = (f"{prefix}discussion", f"{prefix}verdict")
        self._side = say(Segmented(self._sides), language, name="verdict.side")
        self._doing = Chip(look, self)
        self._cost = Chip(look, self, icon="coins")
        self.pause = ShorteningButton("", f"{prefix}pause", self._on_pause).dress(look, "pause", "text")
        self.resume = ShorteningButton("primary", f"{prefix}resume", self.resume_requested)
        self.resume.dress(look, "play", "on_accent")
        self.stop = ShorteningButton("", f"{prefix}stop", self.stop_requested).dress(look, "square", "text")
        self._banner = boxes.Frame("banner")
        self._banner_text = plain_label(wrap=True)
        self.held = held = HeldTurnBar(language, prefix=prefix)
        self.retry_requested, self.skip_requested = held.retried, held.skipped
        self.without_requested = held.left_out
        skip = button("", f"{prefix}skip_check", self.check_skip_requested)
        self.skip_check = say(skip, language, "council.skip_check")
        self._honesty = say(Paragraph("hint"), language, "discussion.embedded")
        self._countdown = timer(self, 500, self._on_countdown)
        self._lay_out()
        self._side.chosen.connect(lambda side: self.side_chosen.emit(side.removeprefix(prefix)))
        language.changed.connect(self.refresh)

    def show_session(
        self, session: DebateSession, spending: Spending, *, read_only: bool, damaged: int
    ) -> None:
        """Show another debate, or the same one reloaded."""
        self._spending, self._read_only, self._damaged = spending, read_only, damaged
        self._retry, self._held_text = None, ""
        self.show_change(session)

    def show_change(self, session: DebateSession) -> None:
        """Show a debate after a change."""
        self._session = session
        if session.status == Status.RUNNING:
            self._held_text = ""
        else:
            self._retry = None
            self._pausing = False
        self.refresh()

    def show_round(self, at: int, of: int) -> None:
        """Show the round of a council, whose session does not say it; none where `of` is 0."""
        self._at = (at, of)
        self.refresh()

    def show_doing(self, parts: Iterable[str]) -> None:
        """Show that all vote, or that a model judges, where these parts are being written."""
        if (now := frozenset(parts)) != self._parts:
            self._parts = now
            self.refresh()

    def show_facts(self, text: str) -> None:
        """Show the facts of a debate that has ended: participants, length and cost."""
        self._facts.setText(text)
        self._show_facts()

    def _show_facts(self) -> None:
        ended = self._session is not None and has_ended(self._session)
        self._facts.setVisible(ended and bool(self._facts.text()))

    def show_side(self, side: str, *, offered: bool) -> None:
        """Mark the side shown, `discussion` or `verdict`; `offered` says whether the user can choose."""
        with QSignalBlocker(self._side):
            self._side.set_value(self._sides[side == VERDICT])
        self._side.setVisible(offered)

    def take_focus(self) -> None:
        """Focus the button of the side shown."""
        next(item for item in self._side.findChildren(Button) if item.isChecked()).setFocus()

    def show_retry(self, event: RetryScheduled) -> None:
        """Count down to the next try of a failed turn."""
        self._retry, self._retry_at = event, time.monotonic() + event.seconds
        self.refresh()

    def show_held_up(self, participants: Sequence[Participant]) -> None:
        """Set the participants that hold a paused debate up and that it could continue without."""
        self._holds_up = tuple((participant.id, participant.name) for participant in participants)
        self._show_ways()

    def show_held(self, text: str) -> None:
        """Say whose turn holds the debate up, and why."""
        self._held_text = text
        self.refresh()

    def end_retry(self, turn_id: str = "") -> None:
        """Stop the countdown, or only that of one turn: it continues."""
        if self._retry is not None and turn_id in ("", self._retry.turn_id):
            self._retry = None
            self.refresh()

    def _on_countdown(self) -> None:
        if self._retry is not None and time.monotonic() >= self._retry_at:
            self.end_retry()
            self.retry_due.emit()
        else:
            self.refresh()

    def refresh(self) -> None:
        """Show every text and state again."""
        session, words = self._session, self._language
        if session is None:
            return
        debate = session.debate
        own = (min(debate.round, debate.rounds), debate.rounds)
        at, of = self._at or (0, 0) if debate.is_council else own
        ended = has_ended(session)
        status, tone = kind_of(session).title_state(session, words), state_of(session, words)[1]
        if self._read_only:
            status, tone = words("status.read_only"), "neutral"
        if self._headed:
            self._title.setText(session.title)
            text = words("discussion.round", round=at, rounds=of) if of and not ended else ""
            self._round.set_text(text, "accent")
            # The round, or the line below, already says that the debate is running or paused.
            self._status.set_text("" if session.status in (Status.RUNNING, Status.PAUSED) else status, tone)
            self._cost.set_text(self._spending.text(words), short=self._spending.short_text(words))
        # While pausing, the line below says so, and the button's longer text needs the room.
        self._doing.set_text("" if self._pausing else self._doing_of(session))
        self._show_facts()
        for cost in (self._cost, self._facts):
            cost.setToolTip(plain_tip(self._spending.lines(words)))
        self.pause.show_words(words("discussion.pause_now" if self._pausing else "discussion.pause"))
        self.resume.show_words(words("discussion.resume"))
        self.stop.show_words(words("discussion.stop"))
        self._side.set_texts((words("tab.discussion"), words("verdict.title")), ("", ""))
        stands = resumable(session) and not self._read_only
        self._show_pause(running=session.status == Status.RUNNING, resumable=stands)
        self.stop.setVisible(not ended and not self._read_only)
        embedded = any(participant.provider == EMBEDDED for participant in debate.participants)
        knows = not has_hangul(debate.topic)
        honest = words("discussion.embedded" if knows else "discussion.embedded.not_english")
        if honest != self._honesty.text():
            self._honesty.setText(honest)
        self._honesty.setVisible(embedded)
        self._fit()
        tone, text = self._banner_of(session)
        self._banner.setVisible(bool(text))
        self._banner_text.setText(text)
        restyle(self._banner, self._banner_text, tone=tone)
        self.skip_check.setToolTip(plain_tip(words("voting.skip.hint")))
        self.skip_check.setVisible(checking(session) and not self._read_only)
        self._show_ways()
        if self._retry is None:
            self._countdown.stop()
        elif not self._countdown.isActive():
            self._countdown.start()

    def _show_ways(self) -> None:
        """Show the buttons of a held turn if a turn waits for its provider or has paused the debate."""
        session = self._session
        if session is None:
            return
        if session.debate.is_council:
            # Its turns run side by side: none holds it up.
            self.held.setVisible(False)
            return
        held = session.status == Status.PAUSED and session.reason in HELD_UP
        waits = self._retry if time.monotonic() < self._retry_at else None
        # A fault that passes leaves nothing to choose: the model is asked again in a moment.
        waits = None if waits is None or waits.repeat else waits
        due = not self._read_only and (held or waits is not None)
        names = self._holds_up if held else ()
        left = len(session.debate.participants) - len(session.debate.left)
        if waits is not None and left > MIN_PARTICIPANTS:
            names = ((waits.author.id, waits.author.name),)
        focused = any(item.hasFocus() for item in self.held.findChildren(Button))
        self.held.offer(names if due else ())
        self.held.setVisible(due)
        if focused and not due:
            # Otherwise the focus would jump to the next button, and a key press would trigger it.
            (self.pause if self.resume.isHidden() else self.resume).setFocus()

    def _fit(self) -> None:
        """Shorten or hide the cost if it does not fit beside the buttons."""
        if self._session is None or not self._headed:
            return
        buttons = (self.pause, self.resume, self.stop)
        taken = [item.sizeHint().width() for item in buttons if not item.isHidden()]
        taken += [self._doing.minimumSizeHint().width()] if self._doing.text() else []
        edges = self.contentsMargins() + self.layout().contentsMargins()
        room = self.width() - edges.left() - edges.right() - sum(taken) - SPACE * (len(taken) + 1)
        whole, short = self._cost.sizeHint().width(), self._cost.minimumSizeHint().width()
        self._cost.setMaximumWidth(whole if whole <= room else short)
        self._cost.setVisible(bool(self._cost.text()) and not has_ended(self._session) and short <= room)

    def _show_pause(self, *, running: bool, resumable: bool) -> None:
        """Show Pause, and Resume where no button is while the debate runs:
        a second click must not undo the first.

        The focus moves with them: on Stop a key press would end the debate.
        """
        focused = self.pause.hasFocus() or self.resume.hasFocus()
        self.pause.setVisible(running or resumable)
        if resumable:
            self.resume.show()
            if focused:
                self.resume.setFocus()
        self.pause.setEnabled(running)
        if running and focused:
            self.pause.setFocus()
        self.resume.setVisible(resumable)

    def _doing_of(self, session: DebateSession) -> str:
        """Return the text for a debate in which ballots are cast or the verdict is made, else ""."""
        due = session.status == Status.RUNNING and not session.debate.is_council
        return next((self._language(key) for part, key in DOING.items() if due and part in self._parts), "")

    def _banner_of(self, session: DebateSession) -> tuple[str, str]:
        words = self._language
        if self._read_only:
            return "warn", words("discussion.read_only")
        if self._damaged:
            return "warn", words("discussion.damaged", count=self._damaged)
        if self._retry is not None:
            return "warn", retry_text(self._retry, self._retry_at - time.monotonic(), words)
        if self._pausing:
            return "accent", words("discussion.pausing")
        reason = words.reason(session.reason)
        if checking(session):
            return "accent", reason
        if failed(session.status, session.reason):
            return "error", reason
        if session.status == Status.WAITING:
            return "warn", reason
        if session.status == Status.PAUSED and reason:
            return "warn", self._held_text or words.paused(session)
        if session.status == Status.COMPLETED and Reason.FAILED_TURNS in session.reason:
            return "warn", reason
        if session.status == Status.COMPLETED and session.reason == Reason.EXHAUSTED:
            return "accent", reason
        return "warn", words("discussion.paused_plain") if session.status == Status.PAUSED else ""

    def _lay_out(self) -> None:
        if self._headed:
            title = boxes.hbox((self._title, 1), self._round, self._status, spacing=8)
            ways = (self.pause, self.stop, self.resume, self._doing, boxes.STRETCH, self._cost)
            head = [title, boxes.hbox(*ways, spacing=SPACE), boxes.vbox(self._facts)]
        else:
            head = [boxes.hbox(self._doing, (self._facts, 1), spacing=10)]
            show_if(False, self._title, self._round, self._status, self._cost)
        said = boxes.hbox((self._banner_text, 1), self.skip_check, spacing=8)
        boxes.vbox(said, self.held, inside=self._banner, margins=(12, 8, 12, 8), spacing=8)
        show_if(False, self.held, self._banner, self._side)
        parts = (self._side, 0, Qt.AlignmentFlag.AlignLeft), self._honesty, self._banner
        margins = (18, 14, 18, 8) if self._headed else 0
        boxes.vbox(*head, *parts, inside=self, margins=margins, spacing=10 if self._headed else 6)
        if self._headed:
            boxes.put_in_tab_order((self.pause, self.stop, self.resume))

    def _on_pause(self) -> None:
        self._pausing = True
        self.refresh()
        self.pause_requested.emit()


def turns_of(messages: Iterable[Message]) -> list[Message]:
    """Return what the participants of a debate said in turn."""
    return [msg for msg in messages if msg.author.kind == PARTICIPANT and not (msg.part or msg.is_interim)]


def facts_of(session: DebateSession, messages: Iterable[Message], spending: Spending, words: Language) -> str:
    """Return who took part in a debate, how long it was and what it cost, in one line."""
    turns = turns_of(messages)
    people, left = session.debate.participants, session.debate.left
    facts = [
        words("verdict.participants", count=len(people)),
        *(words("verdict.left_out", name=person.name) for person in people if person.id in left),
        words("verdict.rounds", count=max((turn.round for turn in turns), default=0)),
        words("verdict.turns", count=len(turns)),
    ]
    if seconds := round(sum(turn.seconds or 0.0 for turn in turns)):
        facts.append(time_text(seconds, words))
    # Where no price is known, the sum says so once.
    return " · ".join((*facts, *filter(None, (spending.known_text(words),))))


LONGEST_NAME = 14
FIRST_WORDS = 48


class HeldTurnBar(boxes.FlowBox):
    """Buttons for a turn that holds a debate up: retry, skip, or continue without a participant
    (`left_out`).
    """

    retried = Signal()
    skipped = Signal()
    left_out = Signal(str)

    def __init__(self, language: Language, *, prefix: str) -> None:
        super().__init__()
        self._language, self._prefix = language, prefix
        self.retry = say(button("", f"{prefix}retry_now", self.retried), language, "discussion.retry_now")
        self.skip = say(button("", f"{prefix}skip_turn", self.skipped), language, "discussion.skip_turn")
        self.without: list[Button] = []
        self._offered: tuple[tuple[str, str], ...] = ()
        self.add(self.retry)
        self.add(self.skip)
        language.changed.connect(self._retranslate)
        self._retranslate()

    def offer(self, participants: Sequence[tuple[str, str]]) -> None:
        """Offer to continue without these participants, given as (id, name)."""
        if tuple(participants) == self._offered:
            return
        self._offered = tuple(participants)
        for old in self.without:
            self.remove(old)
            boxes.drop(old)
        self.without = []
        for number, (participant_id, _) in enumerate(self._offered, 1):
            made = button("", f"{self._prefix}without_{number}")
            made.clicked.connect(partial(self.left_out.emit, participant_id))
            self.without.append(made)
            self.add(made)
            made.show()
        self._retranslate()

    def _retranslate(self) -> None:
        words = self._language
        for made, (_, name) in zip(self.without, self._offered, strict=True):
            short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"
            made.setText(unmarked(words("discussion.without", name=short)))
            made.setAccessibleName(words("discussion.without", name=name))
            made.setToolTip(plain_tip(words("discussion.without", name=name)) if short != name else "")


def open_above(menu: QMenu, over: QPushButton | QToolButton) -> None:
    """Open a menu above a button, which is at the bottom of the window."""
    menu.popup(over.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))


def turns_menu(parent: QWidget, turns: Messages, chosen: Callable[[str], None], language: Language) -> QMenu:
    """Return a menu of turns from which another debate can start; `chosen` is called with the message's
    id.
    """
    menu = passing_menu(parent, "fork_menu")
    for turn in turns:
        words = " ".join(" ".join(block.text for block in blocks_of(turn, turn.content)).split())
        words = words if len(words) <= FIRST_WORDS else words[:FIRST_WORDS].rstrip() + "…"
        line = language("verdict.turn", round=turn.round, name=turn.author.name, words=words)
        menu.addAction(unmarked(line), partial(chosen, turn.id))
    if menu.isEmpty():
        menu.addAction(language("verdict.fork.none")).setEnabled(False)
    return menu


def add_exports(menu: QMenu, chosen: Callable[[str], None], language: Language) -> None:
    """Add an entry for each form in which a session can be saved."""
    # A debate has no files.
    for name in EXPORTS[:-1]:
        menu.addAction(language(f"export.{name}"), partial(chosen, name))


class AfterBar(boxes.Fitting, QWidget):
    """The buttons under a debate that has ended; what does not fit is in the menu at the end.

    Signals: turns_wanted() before a turn is chosen, fork_requested(message id), again_requested(),
    new_requested(), export_requested(format).
    """

    turns_wanted = Signal()
    fork_requested = Signal(str)
    again_requested = Signal()
    new_requested = Signal()
    export_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._fork = ShorteningButton("", "debate_fork", self.turns_wanted)
        self._again = ShorteningButton("", "debate_again", self.again_requested)
        self._export = ShorteningButton("", "debate_export", self._on_export)
        for made, icon in ((self._fork, "git-branch"), (self._again, "rotate-cw"), (self._export, "share")):
            made.dress(look, icon, "text")
        more = icon_button(look, "ellipsis", "debate_more")
        self._more = say(more, language, tip="verdict.more")
        more.clicked.connect(lambda: open_above(self._more_menu(), more))
        boxes.hbox(self._fork, self._again, boxes.STRETCH, self._export, self._more, inside=self, spacing=8)
        language.changed.connect(self._retranslate)
        self._retranslate()

    def offer_turns(self, turns: Messages) -> None:
        """Open a menu of turns from which another debate can start."""
        open_above(turns_menu(self, turns, self.fork_requested.emit, self._language), self._fork)

    def _fit(self) -> None:
        """Move the export into the menu if its button does not fit."""
        buttons = (self._fork, self._again, self._export, self._more)
        needed = sum(item.sizeHint().width() for item in buttons) + 8 * len(buttons)
        self._export.setVisible(needed <= self.width())

    def _more_menu(self) -> QMenu:
        menu = passing_menu(self, "more_menu")
        menu.addAction(self._language("verdict.new"), self.new_requested.emit)
        if self._export.isHidden():
            menu.addSeparator()
            add_exports(menu, self.export_requested.emit, self._language)
        return menu

    def _on_export(self) -> None:
        menu = passing_menu(self, "export_menu")
        add_exports(menu, self.export_requested.emit, self._language)
        open_above(menu, self._export)

    def _retranslate(self) -> None:
        words = self._language
        short = words("verdict.fork.short")
        self._fork.show_words(words("verdict.fork"), words("verdict.fork.hint"), short=short)
        self._again.show_words(words("verdict.again"), words("verdict.again.hint"))
        self._export.show_words(words("verdict.export"))
        self._fit()


Writing = Mapping[str, str]
"""What those write whose turn it is, by their ids."""


class Standing(NamedTuple):
    """How a participant stands: how it is shown, its role, its last vote in words, and its last turn's id.

    `now` is the key of a text that says that it writes or was left out, "" for neither.
    """

    shown: Shown
    role: str
    vote: str
    now: str
    turn: str


class DebateSummary(QWidget):
    """What the panel shows of the session in the main area, in place of a second transcript;
    emits turn_requested(message id).
    """

    turn_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language, self._look = language, look
        self._session: DebateSession | None = None
        self._standings: tuple[Standing, ...] = ()
        self.controls = DebateControls(language, look, prefix="beside_", headed=True)
        self._title = say(plain_label("field"), language, "setup.participants")
        self._rows = boxes.vbox(spacing=10)
        margins = (MARGIN, 10, MARGIN, 12)
        body = boxes.vbox(self._title, self._rows, boxes.STRETCH, margins=margins, spacing=10)
        boxes.vbox(self.controls, (scrolling(boxes.frame("", body)), 1), inside=self, spacing=0)
        language.changed.connect(self._draw)

    @property
    def session_id(self) -> str:
        """The id of the session shown, empty when there is none."""
        return self._session.id if self._session else ""

    def show_debate(
        self, session: DebateSession, spending: Spending, record: Record, people: People, writing: Writing
    ) -> None:
        """Show a debate or council as it is now; `people` says how the participants are shown, and in
        which order.

        `writing` has the parts that are being written, by who writes them.
        """
        words, said = self._language, [message for message in record.all if not session.debate.is_council]
        before, self._session = self._session, session
        # The page of a council counts its calls itself.
        facts = facts_of(session, said, spending, words) if said else spending.known_text(words)
        self.controls.show_facts(facts)
        if before is None or before.id != session.id:
            self.controls.show_session(session, spending, read_only=False, damaged=0)
            self.controls.show_side(DISCUSSION, offered=False)
        else:
            self.controls.show_change(session)
        self.controls.show_doing(writing.values())
        if session.debate.is_council and session.debate.council is not None:
            of = session.debate.council.rounds
            self.controls.show_round(min(of, max((item.round for item in record.since), default=0) or 1), of)
        standings = self._standings_of(session, record, people, writing)
        if standings != self._standings:
            self._standings = standings
            self._draw()

    def _standings_of(
        self, session: DebateSession, record: Record, people: People, writing: Writing
    ) -> tuple[Standing, ...]:
        """Return how all participants stand, in the order of `people`."""
        debate, words = session.debate, self._language
        votes: dict[str, str] = {}
        # Until all have answered nobody reads what the others hold.
        known = not debate.is_council or session.status != Status.RUNNING or not record.grouped
        letters = record.letters if known else {}
        for item in debate.participants if record.voted_rounds else ():
            choice = record.vote(item.id, record.rounds).choice
            if choice in letters:
                votes[item.id] = words("council.holds", letter=letters[choice], option=record.texts[choice])
            elif why := debate.no_vote_of(item):
                votes[item.id] = words("voting.no_vote", reason=no_vote_reason(why, words))
        turns = {msg.author.id: msg.id for msg in record.all if msg.part in SPOKEN and not msg.is_interim}
        roles = {item.id: words.role(item.role) if item.role else "" for item in debate.participants}
        busy = [who for who, part in writing.items() if part in SPOKEN and session.status == Status.RUNNING]
        now = dict.fromkeys(busy, "beside.writing")
        now |= dict.fromkeys(debate.left, "beside.left_out")
        facts = roles, votes, now, turns
        return tuple(Standing(shown, *(of.get(who, "") for of in facts)) for who, shown in people.items())

    def _draw(self) -> None:
        """Show the participants again; the focus stays on the button where it is."""
        focused = next((item.objectName() for item in self.findChildren(Button) if item.hasFocus()), "")
        for old in self.findChildren(Button):
            if old.objectName().startswith("beside_turn_"):
                old.setObjectName("")
        boxes.empty(self._rows)
        words = self._language
        for place, standing in enumerate(self._standings):
            row = QWidget(self)
            # With a parent from the start: a chip that is given a text is shown, and would be a window.
            avatar, role, state = Avatar(self._look), Chip(self._look, row), Chip(self._look, row)
            now = words(standing.now) if standing.now else ""
            avatar.set_speaker(standing.shown.name, standing.shown.colour, letters=standing.shown.letters)
            role.set_text(standing.role)
            state.set_text(now, "accent" if standing.now == "beside.writing" else "neutral")
            go_there = partial(self.turn_requested.emit, standing.turn)
            go = button("link", f"beside_turn_{place + 1}", go_there, text=words("beside.go"))
            go.setAccessibleName(words("beside.go.to", name=standing.shown.name))
            if not standing.turn:
                go.hide()
            who = ElidedLabel("value", text=standing.shown.name), 1
            head = boxes.hbox(who, role, state, go, spacing=8)
            lines = [ElidedLabel("hint", text=text) for text in (standing.shown.model, standing.vote) if text]
            boxes.hbox(avatar, (boxes.vbox(head, *lines, spacing=0), 1), inside=row, spacing=10)
            said = (standing.shown.name, standing.role, now, standing.vote)
            row.setAccessibleName(", ".join(filter(None, said)))
            self._rows.addWidget(row)
            if focused and go.objectName() == focused:
                go.setFocus()
