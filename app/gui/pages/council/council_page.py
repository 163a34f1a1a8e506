"""The page of a council in the main area: the question, what the answers hold, a column for each answer, what is next."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.core.events import MessageFinished
from app.core.message import CouncilPart, Message, MessageState, Role
from app.core.session import ANY_JUDGE, DEFAULT_COUNCIL_ROUNDS, DebateSession, Status
from app.engine.council.commands import MAX_TEXT, Councils
from app.engine.council.outcome import holders_of, outcome, votes_of
from app.engine.council.record import Record, to
from app.engine.council.replies import LETTERS
from app.engine.debate.names import find_names
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.pages.council.column_finder import ColumnFinder
from app.gui.pages.council.council_box import CouncilBox, announcement, prices_of
from app.gui.pages.council.council_column import CouncilColumn
from app.gui.pages.council.council_glance import Glance, Shown
from app.gui.pages.council.options_dialog import OptionsDialog
from app.gui.pages.council.verdict_page import VerdictPage
from app.gui.pages.council.worth_card import Judged
from app.gui.panels.conversation_view import ConversationView
from app.gui.widgets.badge import initials
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.composer import Composer, TextBox
from app.gui.widgets.controls import Segmented, TickBox, scrolling
from app.gui.widgets.label import Paragraph
from app.gui.widgets.toast import announce
from app.gui.widgets.wording import named, say

MARGIN = 18
LEAST_HEIGHT = 320
MERGED = ""
ANSWERS, VERDICT = TABS = ("answers", "verdict")
COLUMNS = (CouncilPart.ANSWER, CouncilPart.TURN, CouncilPart.MERGE)


class CouncilPage(ConversationView):
    """Shows a council; every request carries the session's id."""

    KIND = DebateSession

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    again_requested = Signal(str)
    compare_requested = Signal(str)
    merge_requested = Signal(str)
    debate_requested = Signal(str, int, str)
    more_requested = Signal(str, str)
    prices_wanted = Signal(object)
    retry_requested = Signal(str, str)
    use_requested = Signal(str, str)
    ask_requested = Signal(str, str, object)
    options_chosen = Signal(str, object)

    def __init__(self, language: Language, look: Look) -> None:
        names = ("council_transcript", "composer", "send_button")
        composer = Composer(look, box_name=names[1], button_name=names[2], box=TextBox(longest=MAX_TEXT))
        super().__init__(language, look, composer, layout="compact", names=names)
        self.setObjectName("council_view")
        # Each column has a transcript of its own.
        self.transcript.setParent(self)
        self.transcript.hide()
        self._session: DebateSession | None = None
        self._messages: dict[str, Message] = {}
        self._column_of: dict[str, str] = {}
        self._columns: dict[str, CouncilColumn] = {}
        self._said = ""
        self.councils: Councils | None = None
        """Who knows the prices and the judges; set before a council is shown."""
        self._judge = ""
        self._question = Paragraph("card_title")
        self._tabs = say(Segmented(TABS), language, name="council.tab")
        self._tabs.setObjectName("council_tabs")
        self.verdict = VerdictPage(language, look)
        self._hide = say(TickBox(look), language, "council.hide_names")
        self._hide.setObjectName("council_hide_names")
        self._hide.toggled.connect(lambda _on: self._name_columns())
        self._marks = say(TickBox(look), language, "council.mark")
        self._marks.setObjectName("council_mark")
        self._marks.setChecked(True)
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

    def show_session(
        self,
        session: DebateSession,
        messages: Sequence[Message],
        *,
        read_only: bool = False,
        damaged: int = 0,
    ) -> None:
        super().show_session(session, (), read_only=read_only, damaged=damaged)
        self.spending.add(messages)
        self._messages = {one.id: one for one in messages}
        self._said = ""
        self._judge = session.debate.judge
        self._build(session)
        self.refresh()

    def prepend(self, messages: Sequence[Message], *, read_only: bool, damaged: int) -> None:
        self.spending.add(messages)
        self._read_only = read_only
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
        for column in self._columns.values():
            column.transcript.feed.session_changed(session)
            if session.status != Status.RUNNING:
                column.transcript.feed.clear_speaking()
        self.refresh()
        if before is not None and before.status == Status.RUNNING and session.status == Status.COMPLETED:
            self._announce(session)
            self._open_tab(VERDICT if self._tabs.isVisibleTo(self) else ANSWERS)
        elif session.status == Status.RUNNING:
            self._open_tab(ANSWERS)

    def show_turn(self, event: object, *, starting: bool) -> None:
        author = event.author  # type: ignore[attr-defined]
        if column := self._columns.get(author.id):
            column.transcript.feed.set_speaking(author, "", "")

    def show_message(self, message: Message) -> None:
        self._messages[message.id] = message
        if column := self._column(message):
            column.transcript.feed.clear_speaking()
            column.transcript.feed.message_started(message)

    def show_text(self, message_id: str, text: str, thinking: str) -> None:
        if column := self._columns.get(self._column_of.get(message_id, "?")):
            column.transcript.feed.append_text(message_id, text, thinking)

    def show_finished(self, event: MessageFinished) -> None:
        message = event.message
        self._messages[message.id] = message
        self.spending.add((message,))
        for column in self._columns_for(message):
            column.transcript.feed.clear_speaking()
            column.transcript.feed.message_finished(message)
        self.refresh()

    def take_focus(self) -> None:
        self.composer.setFocus()

    # What is shown

    def _build(self, session: DebateSession) -> None:
        """Make a column for each participant, and show everybody's messages."""
        wanted = [*(one.id for one in session.debate.participants), MERGED]
        if list(self._columns) != wanted:
            for column in self._columns.values():
                column.hide()
                column.deleteLater()
            self._columns = {}
            for place, who in enumerate(wanted, 1):
                column = self._columns[who] = CouncilColumn(self._language, self._look, place)
                self._row.addWidget(column, 1)
                column.transcript.found.connect(partial(self.finder.on_found, who))
                column.use_requested.connect(lambda one: self.use_requested.emit(self.session_id, one))
                column.retry_requested.connect(lambda one: self.retry_requested.emit(self.session_id, one))
                column.transcript.link_requested.connect(self.link_requested)
                column.transcript.picture_requested.connect(self.picture_requested)
                column.settings_requested.connect(
                    lambda who=who: self.provider_requested.emit(self._provider_of(who))
                )
            self._name_columns()
        self._column_of = {}
        for column in self._columns.values():
            rows = [one for one in self._messages.values() if column in self._columns_for(one)]
            column.show_messages(session, rows)
            column.transcript.feed.set_retry_allowed(not self._read_only)

    def _people(self) -> dict[str, Shown]:
        """Return how each participant is shown; where names are hidden, they are in an order that tells nothing."""
        session = self._session
        participants = list(session.debate.participants) if session else []
        if not self._hide.isChecked():
            letters = initials([one.name for one in participants])
            return {
                one.id: Shown(one.name, one.model, place, letters[place])
                for place, one in enumerate(participants)
            }
        random.Random(f"{self.session_id}/names").shuffle(participants)
        return {
            one.id: Shown(self._language("council.number", number=place + 1), "", place, str(place + 1))
            for place, one in enumerate(participants)
        }

    def _name_columns(self) -> None:
        """Put the columns in their order, each with its name."""
        for place, (who, shown) in enumerate(self._people().items()):
            column = self._columns[who]
            column.show_speaker(shown.name, shown.model, shown.colour, shown.letters)
            self._row.removeWidget(column)
            self._row.insertWidget(place, column, 1)
        self.refresh()

    def _column(self, message: Message) -> CouncilColumn | None:
        """Return the column of an answer."""
        if message.role != Role.ASSISTANT or message.part not in COLUMNS:
            return None
        who = MERGED if message.part == CouncilPart.MERGE else message.author.id
        self._column_of[message.id] = who
        return self._columns.get(who)

    def _columns_for(self, message: Message) -> list[CouncilColumn]:
        """Return where a message is a row: an answer in its column, a further question in those whom it asks."""
        if message.part == CouncilPart.QUESTION:
            first = next((one.id for one in self._messages.values() if one.part == CouncilPart.QUESTION), "")
            asked = to(message) or tuple(one for one in self._columns if one != MERGED)
            return (
                [] if message.id == first else [self._columns[one] for one in asked if one in self._columns]
            )
        column = self._column(message)
        return [column] if column else []

    def refresh(self) -> None:
        """Show what the answers hold by now, and what can be done."""
        session = self._session
        if session is None or not self._columns:
            return
        debate, messages = session.debate, list(self._messages.values())
        record, result = Record(debate, messages), outcome(debate, messages)
        options, ballots = record.options(), {one.participant: one for one in votes_of(record)}
        people = self._people()
        letters = {one.id: (letter, one.text) for letter, one in zip(LETTERS, options, strict=False)}
        self._question.setText(" ".join(debate.topic.split()))
        compared = bool(options) and session.status != Status.RUNNING
        self.glance.setVisible(compared)
        self._marks.setVisible(bool(record.points("differ")))
        self.glance.show_outcome(
            result,
            options,
            holders_of(record),
            {kind: record.points(kind) for kind in ("differ", "agreed")},
            people,
        )
        self.glance.edit.setVisible(not self._read_only)
        self.glance.journal.setVisible(not self._read_only)
        firsts = {one.participant: one.choice for one in record.ballots()}
        used = record.last(CouncilPart.CHOICE)
        chosen = (used.data or {}).get("message") if used else ""
        answers = record.answers()
        for one in debate.participants:
            ballot, column = ballots.get(one.id), self._columns[one.id]
            letter, text = letters.get(ballot.choice, ("", "")) if ballot and compared else ("", "")
            column.show_held(
                letter,
                text,
                leads=bool(ballot) and ballot.choice == result.headline,
                index=people[one.id].colour,
                sure=ballot.confidence if ballot else None,
                first=letters.get(firsts.get(one.id, ""), ("", ""))[0] if ballot and compared else "",
            )
            answer = answers.get(one.id)
            column.show_answer(answer, used=answer is not None and answer.id == chosen)
        merged = record.last(CouncilPart.MERGE)
        column = self._columns[MERGED]
        column.setVisible(any(one.part == CouncilPart.MERGE for one in messages))
        column.show_speaker(self._language("council.merged"), merged.author.name if merged else "", None)
        column.show_held("", "", leads=False, index=None, sure=None)
        whole = merged if merged and merged.state == MessageState.DONE else None
        column.show_answer(whole, used=whole is not None and whole.id == chosen)
        ended = session.status not in (Status.RUNNING, Status.PAUSED)
        prices = self._prices(messages) if ended and not self._read_only else {}
        judges = self.councils.judges(session.id) if self.councils and prices else []
        self.box.show_state(session, messages, result, prices, judges, read_only=self._read_only)
        texts = tuple(self._language(f"council.tab.{one}") for one in TABS)
        self._tabs.set_texts(texts, texts)
        self._tabs.setVisible(record.rounds > 0 and ended)
        if self._tabs.isVisibleTo(self) and self._tabs.value() == VERDICT:
            outsider = self.councils.outsider(session) if self.councils else ""
            self.verdict.show_verdict(
                Judged(session, dict(self._messages), record, result, people, prices, outsider)
            )
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
        self._answers.setVisible(tab == ANSWERS)
        self.verdict.setVisible(tab == VERDICT)
        self.refresh()

    def _on_judge(self, judge: str) -> None:
        self._judge = judge
        self.refresh()

    def _on_cite(self, message_id: str) -> None:
        """Go to what a verdict cites."""
        self._open_tab(ANSWERS)
        if column := self._columns.get(self._column_of.get(message_id, "?")):
            self._across.ensureWidgetVisible(column)
            column.transcript.go_to(message_id, 0)

    def _show_marks(self) -> None:
        """Mark the words of the differences and of what all say, or none of them."""
        session = self._session
        if session is None:
            return
        record = Record(session.debate, list(self._messages.values()))
        quotes: dict[str, list[tuple[str, str]]] = {}
        for kind, token in (("agreed", "ok_bg"), ("differ", "warn_bg")):
            for quote in chain.from_iterable(one.quotes for one in record.points(kind)):
                quotes.setdefault(quote.message, []).append((quote.text, token))
        for column in self._columns.values():
            column.transcript.search.marks.show(quotes if self._marks.isChecked() else {})
            column.transcript.viewport().update()

    def _show_composer(self) -> None:
        words, session = self._language, self._session
        count = len(session.debate.participants) if session else 0
        running = session is not None and session.status == Status.RUNNING
        self.composer.setVisible(not self._read_only)
        self.composer.set_words(
            words("council.placeholder", count=count),
            words("council.wait" if running else "council.hint"),
            words("discussion.send"),
        )
        if running:
            self.composer.send.setEnabled(False)
        elif self.composer.box.text():
            self.composer.send.setEnabled(True)

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
        top = QWidget()
        vbox(
            hbox((self._question, 1), self._marks, self._hide, spacing=12),
            self.glance,
            inside=top,
            margins=(MARGIN, 12, MARGIN, 4),
            spacing=10,
        )
        columns = QWidget()
        self._row = hbox(inside=columns, margins=(MARGIN, 6, MARGIN, 6), spacing=12)
        self._across = named("council_columns", QScrollArea())
        self._across.setFrameShape(QScrollArea.Shape.NoFrame)
        self._across.setWidgetResizable(True)
        self._across.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._across.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._across.setWidget(columns)
        self._across.setMinimumHeight(LEAST_HEIGHT)
        foot = QWidget()
        vbox(self.box, self.composer, inside=foot, margins=(MARGIN, 4, MARGIN, 16), spacing=8)
        body = QWidget()
        vbox(top, (self._across, 1), inside=body, spacing=0)
        # A low page scrolls, so that the columns stay high enough to be read.
        self._answers = scrolling(body)
        self.verdict.hide()
        tabs = hbox(self._tabs, STRETCH, margins=(MARGIN, 10, MARGIN, 0))
        vbox(self.find_bar, tabs, (self._answers, 1), (self.verdict, 1), foot, inside=self, spacing=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.glance.fit(self.width() - 2 * MARGIN)
        self.box.fit(self.width() - 2 * MARGIN)

    def _connect(self) -> None:
        box, composer = self.box, self.composer
        box.debate_requested.connect(
            lambda: self.debate_requested.emit(
                self.session_id, DEFAULT_COUNCIL_ROUNDS, self._judge or ANY_JUDGE
            )
        )
        for name in ("pause", "resume", "again", "compare", "merge"):
            asked = getattr(self, f"{name}_requested")
            getattr(box, f"{name}_requested").connect(lambda asked=asked: asked.emit(self.session_id))
        box.judge_chosen.connect(self._on_judge)
        self._tabs.chosen.connect(self._on_tab)
        self.verdict.cite_requested.connect(self._on_cite)
        self.verdict.wanted.connect(lambda what: self.more_requested.emit(self.session_id, what))
        self.glance.edit_requested.connect(self._on_edit)
        self.finder = ColumnFinder(
            self.find_bar, lambda: self._columns, MERGED, self._across.ensureWidgetVisible
        )
        composer.text_changed.connect(self._show_composer)
        composer.submitted.connect(self._on_submitted)

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
