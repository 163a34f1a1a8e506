"""The page of a council in the main area: the question, its tabs, a column for each answer, what is next.

The tabs are answers, discussion, claims and verdict. Also finding words over several transcripts as if they
were one text, and the dialog in which the user writes what can be held.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLineEdit, QMenu, QWidget

from app.core.council import ANY_JUDGE
from app.core.council_parts import Question
from app.core.events import MessageFinished, TurnStarted
from app.core.message import SPOKEN, CouncilPart, Message, Role
from app.core.reasons import resumable
from app.core.session import DebateSession
from app.core.summary import Status
from app.engine.council.commands import MAX_TEXT, Councils
from app.engine.council.outcome import CouncilOutcome, holders_of, outcome
from app.engine.council.record import Record
from app.engine.council.verdicts import outcomes
from app.engine.debate.replies import MOST_OPTION, MOST_OPTIONS
from app.engine.names import find_names
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look
from app.gui.pages.council.council_box import CouncilBox, Judged, announcement, prices_of
from app.gui.pages.council.council_columns import (
    MERGED,
    CouncilColumn,
    CouncilColumns,
    Glance,
    Shown,
    shown_people,
)
from app.gui.pages.council.verdict_page import ClaimsPage, VerdictPage
from app.gui.panels.conversation_view import ConversationView
from app.gui.panels.debate.verdict_tabs import VerdictTabs
from app.gui.transcript.search import AGREED, DIFFERS
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.choices import Segmented
from app.gui.widgets.controls import Composer, ShorteningButton, TextBox, TickBox, scrolling
from app.gui.widgets.form import Field
from app.gui.widgets.notices import announce
from app.gui.widgets.search import FindBar
from app.gui.widgets.text import Paragraph, named, say

ANSWERS, DISCUSSION, CLAIMS, VERDICT = TABS = ("answers", "discussion", "claims", "verdict")


ICONS = ("columns", "message-circle", "spline", "gavel")


class CouncilTabs(Segmented):
    """Says how much is in each tab; one that has nothing yet is grey."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(TABS, tabs=True)
        for segment, icon in zip(self._segments, ICONS, strict=True):
            segment.dress(look, icon, "text_2")
        self.setObjectName("council_tabs")
        self._language = language
        say(self, language, name="council.tab")

    def show_counts(self, result: CouncilOutcome, messages: Iterable[Message], *, verdict: bool) -> None:
        """Show the tabs of a council; its claims and its verdict are there once there is a `verdict`."""
        turns = sum(map(discussed, messages))
        claims = verdict and bool(result.claims or result.unsupported)
        every = result.claim_count if claims else 0
        counts = {ANSWERS: result.answered, DISCUSSION: turns, CLAIMS: every}
        there = {ANSWERS: True, DISCUSSION: turns > 0, CLAIMS: claims, VERDICT: verdict}
        texts, hints = [], []
        for tab in TABS:
            text, count = self._language(f"council.tab.{tab}"), counts.get(tab)
            texts.append(f"{text}  {count}" if count else text)
            hints.append("" if there[tab] else self._language(f"council.tab.{tab}.none"))
        self.set_texts(tuple(texts), tuple(hints))
        self.set_usable([tab for tab in TABS if there[tab]])


class CouncilHead(QWidget):
    """The tabs, what marks the differences of the answers and hides the names, and a button with the rounds to fork after.

    The marks are under the tabs where it is narrow. Emits fork_requested(round), 0 for the answers.
    """

    fork_requested = Signal(int)

    def __init__(self, language: Language, look: Look, margin: int) -> None:
        super().__init__()
        self._language = language
        self.tabs = CouncilTabs(language, look)
        self.marks = say(named("council_mark", TickBox(look)), language, "council.mark")
        self.marks.setChecked(True)
        self.hide_names = say(named("council_hide_names", TickBox(look)), language, "council.hide_names")
        self._ticks = QWidget()
        hbox(STRETCH, self.marks, self.hide_names, inside=self._ticks, spacing=14)
        self._fork = ShorteningButton("plain", "council_fork")
        self._fork.dress(look, "git-branch")
        self._fork.clicked.connect(self._open_menu)
        self._fork.hide()
        self._rounds = 0
        self._grid = QGridLayout()
        self._grid.setContentsMargins(margin, 0, margin, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(self.tabs, 0, 0)
        self._grid.addWidget(self._ticks, 0, 1)
        self._grid.addWidget(self._fork, 0, 2)
        line = QFrame()
        line.setProperty("kind", "line")
        line.setFixedHeight(1)
        vbox(self._grid, line, inside=self, spacing=0)
        self.tabs.chosen.connect(lambda tab: self._ticks.setVisible(tab == ANSWERS))
        language.changed.connect(self._retranslate)
        self._retranslate()

    def offer_fork(self, rounds: int | None) -> None:
        """Offer to fork after the answers and after each of so many rounds, or not at all."""
        self._fork.setVisible(rounds is not None)
        self._rounds = rounds or 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        edges = self._grid.contentsMargins()
        parts = (self.tabs, self._ticks, self._fork)
        needed = sum(one.sizeHint().width() for one in parts) + 2 * self._grid.horizontalSpacing()
        wide = self.width() >= needed + edges.left() + edges.right()
        self._grid.removeWidget(self._ticks)
        if wide:
            self._grid.addWidget(self._ticks, 0, 1)
        else:
            self._grid.addWidget(self._ticks, 1, 0, 1, 3)

    def _retranslate(self) -> None:
        self._fork.show_words(self._language("council.fork"), self._language("council.fork.hint"))

    def _open_menu(self) -> None:
        menu = named("council_fork_menu", QMenu(self))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for number in range(self._rounds + 1):
            key = "council.fork.round" if number else "council.fork.answers"
            action = menu.addAction(self._language(key, round=number))
            action.triggered.connect(partial(self.fork_requested.emit, number))
        menu.popup(self._fork.mapToGlobal(QPoint(0, self._fork.height() + 4)))


def discussed(message: Message) -> bool:
    """Say whether a message is of a debate: what is said in a round, and what the minority writes after it."""
    return message.round > 0 and message.part in SPOKEN


def first_tab(session: DebateSession, messages: Iterable[Message]) -> str:
    """Return the tab that shows what is new: the verdict of a debate, a debate that goes on, else the answers."""
    council = session.debate.council
    if council is None or not council.rounds or not any(map(discussed, messages)):
        return ANSWERS
    if session.status == Status.RUNNING and Record(session.debate, [*messages]).concludes:
        # In a what-if round all answer, and vote.
        return ANSWERS
    return DISCUSSION if session.status == Status.RUNNING or resumable(session) else VERDICT


class ColumnFinder:
    """Counts what is found in the transcripts, in their order; `at` is the one in which the search is."""

    def __init__(
        self,
        bar: FindBar,
        transcripts: Callable[[], Mapping[str, TranscriptView]],
        show: Callable[[str], None],
    ) -> None:
        """`show` brings a transcript into sight."""
        self._bar, self._transcripts, self._into_sight = bar, transcripts, show
        self._found: dict[str, tuple[int, int]] = {}
        self.at = ""
        for signal in (bar.text_changed, bar.closed):
            signal.disconnect()
        bar.text_changed.connect(self.find)
        bar.closed.connect(self._on_closed)

    def _there(self) -> list[str]:
        return [one for one in self._transcripts() if self._found.get(one, (0, 0))[1]]

    def find(self, text: str) -> None:
        """Find words in all transcripts that are searched now; the others find nothing any more."""
        self._found = {}
        self._bar.show_count(0, 0)
        for transcript in self._transcripts().values():
            transcript.search.find(text)

    def _on_closed(self) -> None:
        transcripts = self._transcripts()
        if shown := transcripts.get(self.at) or next(iter(transcripts.values()), None):
            shown.setFocus()

    def on_found(self, who: str, number: int, count: int) -> None:
        """Count the places of all transcripts in their order; the first one that has any is where the search is."""
        self._found[who] = (number, count)
        there = self._there()
        if there and self.at not in there:
            self.at = there[0]
        before = sum(self._found[one][1] for one in there[: there.index(self.at)]) if there else 0
        at = self._found[self.at][0] if there else 0
        self._bar.show_count(before + at, sum(self._found[one][1] for one in there))

    def step(self, step: int) -> None:
        """Go to the next place, or the one before, over all transcripts."""
        there = self._there()
        if not there:
            return
        number, count = self._found[self.at]
        if not 1 <= number + step <= count:
            self.at = there[(there.index(self.at) + step) % len(there)]
            finder = self._transcripts()[self.at].search.finder
            # From its other end the next step leads to the end that is nearer.
            finder.current = len(finder.hits) - 1 if step > 0 else 0
        self._transcripts()[self.at].search.step(step)
        self._into_sight(self.at)


class OptionsDialog(AskDialog):
    """A line for each option, and empty ones for more; emits `chosen` with (id, text) of each, "" where it is new."""

    chosen = Signal(object)

    def __init__(self, words: Language, options: Sequence[tuple[str, str]], parent: QWidget) -> None:
        title = words("council.options")
        super().__init__(words, parent, "options", title, ("save", words("dialog.save")))
        self._fields = []
        for number in range(1, max(MOST_OPTIONS, len(options)) + 2):
            option, text = options[number - 1] if number <= len(options) else ("", "")
            line = named(f"option_{number}", QLineEdit(text, maxLength=MOST_OPTION))
            line.setAccessibleName(words("council.options.number", number=number))
            line.setPlaceholderText("" if option else words("council.options.add"))
            self._fields.append((option, line))
        said = Paragraph("card_text", text=words("council.options.hint"))
        fields = (Field(line.objectName(), line) for _option, line in self._fields)
        self.ask(said, 4, *fields, width=520, spacing=6)

    def _check(self) -> None:
        self.go.setEnabled(any(self.form.values().values()))

    def _on_go(self) -> None:
        self.accept()
        self.chosen.emit([(option, field.text()) for option, field in self._fields])


MARGIN = 18
COLUMNS = (CouncilPart.ANSWER, CouncilPart.MERGE)


class CouncilPage(ConversationView):
    """Shows a council; every request carries the session's id."""

    KIND = DebateSession

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    check_skip_requested = Signal(str)
    check_again_requested = Signal(str, str)
    again_requested = Signal(str)
    compare_requested = Signal(str)
    merge_requested = Signal(str)
    debate_requested = Signal(str, object, str)
    more_requested = Signal(str, str)
    argue_requested = Signal(str, str)
    prices_wanted = Signal(object)
    reading_requested = Signal()
    fork_requested = Signal(str, int)
    retry_requested = Signal(str, str)
    use_requested = Signal(str, str)
    ask_requested = Signal(str, str, object)
    options_chosen = Signal(str, object)
    people_changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        names = ("council_transcript", "composer", "send_button")
        composer = Composer(look, box_name=names[1], button_name=names[2], box=TextBox(longest=MAX_TEXT))
        super().__init__(language, look, composer, layout="compact", names=names)
        self.setObjectName("council_view")
        self._session: DebateSession | None = None
        self._messages: dict[str, Message] = {}
        self._column_of: dict[str, str] = {}
        self.columns = CouncilColumns(language, look, MARGIN)
        self._said = self._what_if = ""
        self.councils: Councils | None = None
        """Who knows the prices and the judges; set before a council is shown."""
        self._judge = ""
        self._question = Paragraph()
        self._head = CouncilHead(language, look, MARGIN)
        self._tabs, self._marks, self._hide = self._head.tabs, self._head.marks, self._head.hide_names
        self.claims, self.verdict = ClaimsPage(language, look), VerdictPage(language, look)
        self.verdicts = VerdictTabs(language, MARGIN)
        self._hide.toggled.connect(lambda _on: self._name_columns())
        self._marks.toggled.connect(lambda _on: self._show_marks())
        self.glance = Glance(language, look)
        self.box = CouncilBox(language, look)
        self._lay_out()
        self._connect()
        language.changed.connect(self.refresh)

    @property
    def session(self) -> DebateSession | None:
        """The council shown."""
        return self._session

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the council."""
        return list(self._messages.values())

    def show_session(
        self,
        session: DebateSession,
        messages: Sequence[Message],
        *,
        read_only: bool = False,
        damaged: int = 0,
    ) -> None:
        super().show_session(session, [*filter(discussed, messages)], read_only=read_only, damaged=damaged)
        self.spending.add([one for one in messages if not discussed(one)])
        self._messages = {one.id: one for one in messages}
        self._said = ""
        self._judge = session.debate.judge
        self._build(session)
        self._open_tab(first_tab(session, self._messages.values()))

    def prepend(self, messages: Sequence[Message], *, read_only: bool, damaged: int) -> None:
        super().prepend([*filter(discussed, messages)], read_only=read_only, damaged=damaged)
        self.spending.add([one for one in messages if not discussed(one)])
        self._messages = {one.id: one for one in messages} | self._messages
        if self._session is not None:
            self._build(self._session)
        self.refresh()

    def clear(self) -> None:
        super().clear()
        self._messages = {}

    def show_change(self, session: DebateSession) -> None:
        before = self._session
        super().show_change(session)
        for feed in self._feeds():
            feed.session_changed(session)
            if session.status != Status.RUNNING:
                feed.clear_speaking()
        if not self.columns.are_of([one.id for one in session.debate.participants]):
            # Who answered from outside takes part from now on.
            self._build(session)
        self.refresh()
        was_running = before is not None and before.status == Status.RUNNING
        if was_running and session.status == Status.COMPLETED:
            self._announce(session)
        if was_running != (session.status == Status.RUNNING):
            self._open_tab(first_tab(session, self._messages.values()))

    def show_turn(self, event: TurnStarted, *, starting: bool) -> None:
        super().show_turn(event, starting=starting)
        author = event.author
        if event.round:
            self.transcript.feed.set_speaking(author, "", "")
        elif column := self.columns.all.get(author.id):
            column.transcript.feed.set_speaking(author, "", "")

    def show_message(self, message: Message) -> None:
        first = not any(map(discussed, self._messages.values()))
        self._messages[message.id] = message
        self.writing[message.author.id] = message.part
        if discussed(message):
            super().show_message(message)
            if first:
                self.refresh()
                self._open_tab(DISCUSSION)
        elif column := self._column(message):
            column.transcript.feed.clear_speaking()
            column.transcript.feed.message_started(message)

    def show_text(self, message_id: str, text: str, thinking: str) -> None:
        if column := self.columns.all.get(self._column_of.get(message_id, "?")):
            column.transcript.feed.append_text(message_id, text, thinking)
        else:
            super().show_text(message_id, text, thinking)

    def show_finished(self, event: MessageFinished) -> None:
        message = event.message
        self._messages[message.id] = message
        if discussed(message):
            super().show_finished(event)
        else:
            self.spending.add((message,))
            self.writing.pop(message.author.id, None)
        for column in self._columns_for(message):
            column.transcript.feed.clear_speaking()
            column.transcript.feed.message_finished(message)
        self.refresh()

    def take_focus(self) -> None:
        self.composer.setFocus()

    # What is shown

    def _build(self, session: DebateSession) -> None:
        """Make a column for each participant, and show everybody's messages."""
        if self.columns.make([one.id for one in session.debate.participants]):
            self._name_columns()
        self._column_of = {}
        for column in self.columns.all.values():
            rows = [one for one in self._messages.values() if column in self._columns_for(one)]
            column.show_messages(session, rows)
            column.transcript.feed.set_retry_allowed(not self._read_only)

    def people(self) -> dict[str, Shown]:
        """Return how each participant is shown; where names are hidden, they are in an order that tells nothing."""
        participants = self._session.debate.participants if self._session else ()
        return shown_people(participants, self.session_id if self._hide.isChecked() else "", self._language)

    def _name_columns(self) -> None:
        """Put the columns in their order, each with its name."""
        self.columns.name(self.people())
        self.refresh()
        self.people_changed.emit()

    def _column(self, message: Message) -> CouncilColumn | None:
        """Return the column of an answer."""
        if message.role != Role.ASSISTANT or message.part not in COLUMNS:
            return None
        who = MERGED if message.part == CouncilPart.MERGE else message.author.id
        self._column_of[message.id] = who
        return self.columns.all.get(who)

    def _columns_for(self, message: Message) -> list[CouncilColumn]:
        """Return where a message is a row: an answer in its column, a further question in those whom it asks."""
        if message.part == CouncilPart.QUESTION:
            first = next((one.id for one in self._messages.values() if one.part == CouncilPart.QUESTION), "")
            asked = () if message.id == first else message.data_as(Question).to or self.columns.all
            return [self.columns.all[one] for one in asked if one in self.columns.all and one != MERGED]
        column = self._column(message)
        return [column] if column else []

    def refresh(self) -> None:
        """Show what the answers hold by now, and what can be done."""
        session = self._session
        if session is None or not self.columns.all:
            return
        debate, messages = session.debate, list(self._messages.values())
        record, result = Record(debate, messages), outcome(debate, messages)
        people = self.people()
        self._question.setText(" ".join(record.whole_question.split()))
        compared = bool(record.options()) and session.status != Status.RUNNING
        self.glance.setVisible(compared)
        self._marks.setVisible(bool(record.points("differ")))
        helper = self.councils.helper(session) if self.councils else ""
        could = self.councils.may_not_read(session) if self.councils and not helper else None
        self.glance.show_outcome(result, record, holders_of(record), people, helped=bool(helper))
        self.glance.edit.setVisible(not self._read_only)
        self.glance.journal.setVisible(not self._read_only)
        self.columns.show_held(record, result, people, compared=compared)
        ended = session.status != Status.RUNNING and not resumable(session)
        prices = self._prices(messages) if ended and not self._read_only else {}
        self._what_if = prices.get("what_if", "")
        judges = self.councils.judges(session.id) if self.councils and prices else []
        outsider = self.councils.outsider(session) if self.councils else ""
        judged = Judged(session, dict(self._messages), record, result, people, bool(prices), prices, outsider)
        self.box.show_state(judged, judges, helper=helper, could=could, read_only=self._read_only)
        given = self.verdicts.show_given(outcomes(debate, messages))
        if given is not None and given.messages is not messages:
            # A verdict before the last question, or before it is judged again: nothing can be asked of it any more.
            then, said = given.debate, given.messages
            judged = replace(
                judged,
                session=replace(session, debate=then),
                record=Record(then, said),
                result=outcome(then, said),
                may_ask=False,
                prices={},
            )
        self._tabs.show_counts(judged.result, messages, verdict=given is not None and ended)
        forks = session.status != Status.RUNNING and not self._read_only and result.answered
        self._head.offer_fork(record.rounds if forks else None)
        if self._tabs.value() == VERDICT:
            self.verdict.show_verdict(judged)
        elif self._tabs.value() == CLAIMS:
            self.claims.show_claims(judged)
        self._show_marks()
        self._show_composer()

    def _prices(self, messages: Sequence[Message]) -> dict[str, str]:
        """Return the prices of all steps with the judge chosen now; those that are not known yet are asked for."""
        session = self._session
        if session is None or self.councils is None:
            return {}
        session = replace(session, debate=replace(session.debate, judge=self._judge))
        prices, unasked = prices_of(self.councils, session, messages, self._language)
        if unasked:
            self.prices_wanted.emit(unasked)
        return prices

    def _open_tab(self, tab: str) -> None:
        self._tabs.set_value(tab)
        self._on_tab(tab)

    def _on_tab(self, tab: str) -> None:
        for name, page in self._pages.items():
            page.setVisible(name == tab)
        self.refresh()
        for transcript in (self.transcript, *self.columns.transcripts.values()):
            transcript.search.find("")
        self.find_bar.find_again()

    def _searched(self) -> Mapping[str, TranscriptView]:
        """Return the transcripts that are searched: those of the tab that is open."""
        return {"": self.transcript} if self._tabs.value() == DISCUSSION else self.columns.transcripts

    def _on_judge(self, judge: str) -> None:
        self._judge = judge
        self.refresh()

    def show_cited(self, message_id: str) -> None:
        """Go to what a verdict cites, or the summary beside it."""
        message = self._messages.get(message_id)
        if message is not None and discussed(message):
            self._open_tab(DISCUSSION)
            self.transcript.go_to(message_id, 0)
            self.transcript.setFocus()
            return
        self._open_tab(ANSWERS)
        who = self._column_of.get(message_id, "?")
        if column := self.columns.all.get(who):
            self.columns.into_sight(who)
            column.transcript.go_to(message_id, 0)
            column.transcript.setFocus()

    def _show_marks(self) -> None:
        """Mark the words of the differences and of what all say, or none of them."""
        session = self._session
        if session is None:
            return
        record = Record(session.debate, list(self._messages.values()))
        quotes: dict[str, list[tuple[str, str]]] = {}
        for kind in (AGREED, DIFFERS):
            for quote in chain.from_iterable(one.quotes for one in record.points(kind)):
                quotes.setdefault(quote.message, []).append((quote.text, kind))
        for column in self.columns.all.values():
            column.transcript.search.marks.show(quotes if self._marks.isChecked() else {})
            column.transcript.viewport().update()

    def _show_composer(self) -> None:
        words, session = self._language, self._session
        count = len(session.debate.participants) if session else 0
        running = session is not None and session.status == Status.RUNNING
        self.composer.setVisible(not self._read_only)
        priced = words("council.hint.price", price=self._what_if) if self._what_if else words("council.hint")
        self.composer.set_words(
            words("council.placeholder", count=count),
            words("council.wait") if running else priced,
            words("discussion.send"),
        )
        if running or self.composer.box.text():
            self.composer.send.setEnabled(not running)

    def _announce(self, session: DebateSession) -> None:
        """Tell a screen reader once how settled it is, what leads and how many hold something else."""
        text = announcement(session, list(self._messages.values()), self._language)
        if text != self._said:
            self._said = text
            announce(self, text)

    def _provider_of(self, who: str) -> str:
        participants = self._session.debate.participants if self._session else ()
        return next((one.provider for one in participants if one.id == who), "")

    # Layout and requests

    def _lay_out(self) -> None:
        top, bubble = QWidget(), QFrame()
        bubble.setProperty("kind", "bubble")
        hbox((self._question, 1), inside=bubble, margins=(14, 8, 14, 8))
        vbox(
            bubble,
            self.glance,
            inside=top,
            margins=(MARGIN, 12, MARGIN, 4),
            spacing=10,
        )
        foot = QWidget()
        vbox(self.box, self.composer, inside=foot, margins=(MARGIN, 4, MARGIN, 16), spacing=8)
        body = QWidget()
        vbox(top, (self.columns, 1), inside=body, spacing=0)
        judged = QWidget()
        vbox(self.verdicts, (self.verdict, 1), inside=judged, spacing=0)
        # A low page scrolls, so that the columns stay high enough to be read.
        self._pages: dict[str, QWidget] = {
            ANSWERS: scrolling(body),
            DISCUSSION: self.transcript,
            CLAIMS: self.claims,
            VERDICT: judged,
        }
        pages = [(page, 1) for page in self._pages.values()]
        vbox(self.find_bar, self._head, *pages, foot, inside=self, spacing=0)
        for tab, page in self._pages.items():
            page.setVisible(tab == ANSWERS)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.glance.fit(self.width() - 2 * MARGIN)
        self.box.fit(self.width() - 2 * MARGIN)

    def _connect(self) -> None:
        box, composer = self.box, self.composer
        box.debate_requested.connect(
            lambda: self.debate_requested.emit(self.session_id, None, self._judge or ANY_JUDGE)
        )
        for name in ("pause", "resume", "again", "compare", "merge"):
            asked = getattr(self, f"{name}_requested")
            getattr(box, f"{name}_requested").connect(lambda asked=asked: asked.emit(self.session_id))
        box.check_requested.connect(lambda: self.more_requested.emit(self.session_id, "check"))
        box.join_requested.connect(lambda: self.more_requested.emit(self.session_id, "join"))
        box.connect_requested.connect(self.connect_requested)
        box.allow_requested.connect(self.reading_requested)
        box.judge_chosen.connect(self._on_judge)
        self._tabs.chosen.connect(self._on_tab)
        self._head.fork_requested.connect(lambda number: self.fork_requested.emit(self.session_id, number))
        columns = self.columns
        columns.use_requested.connect(lambda one: self.use_requested.emit(self.session_id, one))
        columns.retry_requested.connect(lambda one: self.retry_requested.emit(self.session_id, one))
        columns.more_requested.connect(self._on_more)
        columns.link_requested.connect(self.link_requested)
        columns.picture_requested.connect(self.picture_requested)
        columns.settings_requested.connect(lambda who: self.provider_requested.emit(self._provider_of(who)))
        for page in (self.claims, self.verdict):
            page.cite_requested.connect(self.show_cited)
        self.verdict.wanted.connect(lambda what: self.more_requested.emit(self.session_id, what))
        self.box.skip_check_requested.connect(lambda: self.check_skip_requested.emit(self.session_id))
        self.verdict.check_requested.connect(
            lambda participant: self.check_again_requested.emit(self.session_id, participant)
        )
        self.verdict.argue_requested.connect(lambda one: self.argue_requested.emit(self.session_id, one))
        self.verdicts.chosen.connect(self.refresh)
        self.glance.edit_requested.connect(self._on_edit)
        self.finder = ColumnFinder(self.find_bar, self._searched, self._into_sight)
        columns.found.connect(self.finder.on_found)
        self.transcript.found.connect(partial(self.finder.on_found, ""))
        composer.text_changed.connect(self._show_composer)
        composer.submitted.connect(self._on_submitted)

    def _into_sight(self, who: str) -> None:
        if self._tabs.value() != DISCUSSION:
            self.columns.into_sight(who)

    def _on_more(self, who: str) -> None:
        """Address a participant in the composer, before what is written there."""
        participants = self._session.debate.participants if self._session else ()
        self.composer.box.lead_with(next((f"@{one.name} " for one in participants if one.id == who), ""))

    def _on_submitted(self, text: str) -> None:
        """Ask all, or only those who are named with @."""
        participants = self._session.debate.participants if self._session else ()
        named_ones = {
            one.participant_id for one in find_names(text, participants) if text[max(0, one.start - 1)] == "@"
        }
        self.ask_requested.emit(self.session_id, text, tuple(sorted(named_ones)))

    def _on_edit(self) -> None:
        if self._session is None:
            return
        options = Record(self._session.debate, list(self._messages.values())).options()
        dialog = OptionsDialog(self._language, [(one.id, one.text) for one in options], self)
        dialog.chosen.connect(lambda chosen: self.options_chosen.emit(self.session_id, chosen))
        dialog.open()

    def _on_find_step(self, step: int) -> None:
        self.finder.step(step)
