"""The page of a council in the main area: its steps, what the one that is open shows, and what is next.

Also finding words over several transcripts as if they were one text.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.council import ANY_JUDGE
from app.core.council_parts import Question
from app.core.events import MessageFinished, TurnStarted
from app.core.message import SPOKEN, CouncilPart, Message, Messages, Role
from app.core.provider import ProviderStatus
from app.core.session import DebateSession, Status, resumable
from app.engine.council.commands import Councils
from app.engine.council.director import blind_steps
from app.engine.council.record import Record
from app.gui.display.appearance import Language, Look
from app.gui.pages.council import decision_steps
from app.gui.pages.council.blind_pick import BlindStep, step_of
from app.gui.pages.council.council_box import PRICED, Judged, judges_of, prices_of
from app.gui.pages.council.council_columns import MERGED, CouncilColumn, CouncilColumns, Shown, shown_people
from app.gui.pages.council.decision_bar import DecisionBar, FollowUp
from app.gui.pages.council.differences_page import DifferencesPage, OptionsDialog
from app.gui.panels.debate.verdict_place import DecisionView
from app.gui.transcript.search import AGREED, DIFFERS
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.boxes import vbox
from app.gui.widgets.composer import FindBar
from app.gui.widgets.notices import announce
from app.gui.widgets.text import named


def discussed(message: Message) -> bool:
    """Say whether a message is of a debate: what is said in a round, and what the minority writes after
    it.
    """
    return message.round > 0 and message.part in SPOKEN


def first_step(session: DebateSession, messages: Iterable[Message]) -> str:
    """Return the step that shows what is new: the verdict of a debate, a debate that goes on,
    else the answers.
    """
    council = session.debate.council
    if council is None or not council.rounds or not any(map(discussed, messages)):
        return decision_steps.ANSWERS
    running, record = session.status == Status.RUNNING, Record(session.debate, [*messages])
    if not (running or resumable(session)) or blind_steps(record):
        return decision_steps.VERDICT
    # In a what-if round all answer, and vote.
    return decision_steps.ANSWERS if running and record.concludes else decision_steps.DEBATE


Transcripts = Callable[[], Mapping[str, TranscriptView]]
"""Returns transcripts in their order, each with whose it is."""


class ColumnFinder:
    """Counts what is found in the transcripts, in their order; `at` is the one in which the search is."""

    def __init__(self, bar: FindBar, transcripts: Transcripts, show: Callable[[str], None]) -> None:
        """`show` brings a transcript into sight."""
        self._bar, self._transcripts, self._into_sight = bar, transcripts, show
        self._found: dict[str, tuple[int, int]] = {}
        self.at = ""
        for signal in (bar.text_changed, bar.step_requested, bar.closed):
            signal.disconnect()
        bar.text_changed.connect(self.find)
        bar.step_requested.connect(self.step)
        bar.closed.connect(self._on_closed)

    def _there(self) -> list[str]:
        return [transcript for transcript in self._transcripts() if self._found.get(transcript, (0, 0))[1]]

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
        """Count the places of all transcripts in their order; the first one that has any is
        where the search is.
        """
        self._found[who] = (number, count)
        there = self._there()
        if there and self.at not in there:
            self.at = there[0]
        before = sum(self._found[item][1] for item in there[: there.index(self.at)]) if there else 0
        at = self._found[self.at][0] if there else 0
        self._bar.show_count(before + at, sum(self._found[item][1] for item in there))

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


COLUMNS = (CouncilPart.ANSWER, CouncilPart.MERGE)


class CouncilPage(DecisionView):
    """Shows a council; every request carries the session's id."""

    NAMED = decision_steps.USED_IN_FRONT
    PARTS = ("council_transcript", "composer", "send_button")
    STEPS = decision_steps.STEPS

    debate_requested = Signal(str, int, str)
    more_requested = Signal(str, str)
    prices_wanted = Signal(object)
    reading_requested = Signal()
    ask_requested = Signal(str, str, object)
    options_chosen = Signal(str, object)
    people_changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        self._follow_up = FollowUp(language, look, *self.PARTS[1:])
        self.target = self._follow_up.target
        super().__init__(language, look, self._follow_up)
        self._column_of: dict[str, str] = {}
        self.columns = CouncilColumns(language, look)
        self._said = self._what_if = ""
        self.councils: Councils | None = None
        """Who knows the prices and the judges; set before a council is shown."""
        self._judge = ""
        self.differences = DifferencesPage(language, look)
        self.glance = self.differences.glance
        self.box = DecisionBar(language, look, self._follow_up)
        self._hide = self.box.hide_names
        self._lay_out()
        self._connect()
        language.changed.connect(self.refresh)

    def show_session(
        self, session: DebateSession, messages: Messages, *, read_only: bool = False, damaged: int = 0
    ) -> None:
        super().show_session(session, messages, read_only=read_only, damaged=damaged)
        self._messages = {message.id: message for message in messages}
        self._said = ""
        self._judge = session.debate.judge
        self._build(session)

    def open_first_step(self) -> None:
        if self._session is not None:
            self._open_step(first_step(self._session, self._messages.values()))

    def prepend(self, messages: Messages, *, read_only: bool, damaged: int) -> None:
        super().prepend(messages, read_only=read_only, damaged=damaged)
        self._messages = {message.id: message for message in messages} | self._messages
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
        if not self.columns.are_of([participant.id for participant in session.debate.participants]):
            # Who answered from outside takes part from now on.
            self._build(session)
        self.refresh()
        self.box.show_doing(self.writing.values())
        was_running = before is not None and before.status == Status.RUNNING
        if was_running and session.status == Status.COMPLETED:
            self._announce()
        if was_running != (session.status == Status.RUNNING):
            self.open_first_step()

    def show_turn(self, event: TurnStarted, *, starting: str) -> None:
        super().show_turn(event, starting=starting)
        author = event.author
        self.box.show_doing(self.writing.values())
        if event.round:
            if event.part in SPOKEN:
                self.transcript.feed.set_speaking(author, "", self._starting_words(starting))
        elif column := self.columns.all.get(author.id):
            column.transcript.feed.set_speaking(author, "", self._starting_words(starting))

    def show_started(self, starting: str) -> None:
        super().show_started(starting)
        for column in self.columns.all.values():
            column.transcript.feed.say_what_is_waited_for(self._starting_words(starting))

    def show_message(self, message: Message) -> None:
        first = not any(map(discussed, self._messages.values()))
        self._messages[message.id] = message
        super().show_message(message)
        if first and discussed(message):
            self.refresh()
            self._open_step(decision_steps.DEBATE)
        elif column := self._column(message):
            if message.part == CouncilPart.MERGE:
                self.columns.read_merged()
            column.transcript.feed.clear_speaking()
            column.transcript.feed.message_started(message)
        self.box.show_doing(self.writing.values())

    def show_text(self, message_id: str, text: str, thinking: str) -> None:
        if column := self.columns.all.get(self._column_of.get(message_id, "?")):
            column.transcript.feed.append_text(message_id, text, thinking)
        else:
            super().show_text(message_id, text, thinking)

    def show_finished(self, event: MessageFinished) -> None:
        message = event.message
        self._messages[message.id] = message
        super().show_finished(event)
        for column in self._columns_for(message):
            column.show_finished(message)
        self.box.show_doing(self.writing.values())
        self.refresh()

    def _is_row(self, message: Message) -> bool:
        return discussed(message) or message.data_as(Question).follows

    def take_focus(self) -> None:
        self.composer.setFocus()

    # What is shown

    def _build(self, session: DebateSession) -> None:
        """Make a column for each participant, and show everybody's messages."""
        if self.columns.make([participant.id for participant in session.debate.participants]):
            self.columns.name(self.people())
        self._column_of = {}
        for column in self.columns.all.values():
            rows = [message for message in self._messages.values() if column in self._columns_for(message)]
            column.show_messages(session, rows)
            column.transcript.feed.set_retry_allowed(not self._read_only)

    def people(self) -> dict[str, Shown]:
        """Return how each participant is shown; where names are hidden, they are in an order
        that tells nothing.
        """
        participants = self._session.debate.participants if self._session else ()
        return shown_people(participants, self.session_id if self._hide.isChecked() else "", self._language)

    def _on_hide(self) -> None:
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
        """Return where a message is a row: an answer in its column, a further question in those whom it
        asks.
        """
        if message.part == CouncilPart.QUESTION:
            first = next((msg.id for msg in self._messages.values() if msg.part == CouncilPart.QUESTION), "")
            asked = () if message.id == first else message.data_as(Question).to or self.columns.all
            return [self.columns.all[item] for item in asked if item in self.columns.all and item != MERGED]
        column = self._column(message)
        return [column] if column else []

    def refresh(self) -> None:
        """Show what the answers hold by now, and what can be done."""
        session, step = self._session, self._step
        self.steps.set_value(step)
        if session is None or not self.columns.all:
            return
        now = self.now
        messages, record, result = now.messages, now.record, now.result
        people, every = self.people(), self._given
        running = session.status == Status.RUNNING
        self.differences.question.setText(" ".join(record.whole_question.split()))
        # What is grouped by short answers while they come in would tell the others too early.
        compared = bool(record.options()) and not (running and record.grouped)
        providers = self.councils.providers if self.councils else None
        helper = providers.helper(session) if providers else ""
        could = providers.may_not_read(session) if providers and not helper else None
        self.glance.edit.setVisible(not self._read_only)
        self.columns.show_held(record, result, people, compared=compared)
        ended = not running and not resumable(session)
        prices = self._prices(messages) if ended and not self._read_only else {}
        if not (every and helper) or record.council.shown_pick:
            prices.pop("blind", None)
        self._what_if = prices.get("what_if", "")
        judges = judges_of(self.councils, session, self._judge, self._language) if self.councils else {}
        outsider = providers.outsider(session) if providers else ""
        judged = Judged(session, dict(self._messages), record, result, people, bool(prices), prices, outsider)
        self.glance.show_outcome(judged, helped=bool(helper))
        self.box.show_state(
            judged,
            judges,
            self._judge or ANY_JUDGE,
            helper=helper,
            could=could,
            lacks=self._lacks(session, could),
            verdicts=[item.number for item in every if item is not now],
            read_only=self._read_only,
            plain=step in (decision_steps.VOTES, decision_steps.VERDICT, decision_steps.DECISION),
        )
        given = self.verdicts.show_given(every)
        earlier = given is not None and given is not now
        if given is not None and earlier:
            # A verdict before the last question, or before it is judged again: nothing can be asked of it any
            # more.
            then = replace(session, debate=given.debate)
            judged = replace(judged, session=then, record=given.record, result=given.result)
            judged = replace(judged, may_ask=False, prices={})
        # Of the one that is being made only the votes are there.
        written = step_of(judged) in (BlindStep.WRITING, BlindStep.FAILED)
        there = given is not None and (ended or written or earlier)
        self._judged_side.choose(judged, may_pick=there and not self._read_only)
        spoken = (message for message in messages if message.part != CouncilPart.DISSENT)
        turns, votes = sum(map(discussed, spoken)), len(judged.record.ballots)
        much = {
            decision_steps.ANSWERS: str(result.answered or ""),
            decision_steps.DIFFERENCES: str(len(record.points("differ")) or "") if compared else None,
            decision_steps.DEBATE: self._language("verdict.turns", count=turns) if turns else None,
            decision_steps.VOTES: str(votes) if there and judged.record.voted_rounds else None,
            decision_steps.VERDICT: str(len(every)) if there else None,
            decision_steps.DECISION: "" if result.answered else None,
        }
        self._show_steps(much, prices, [*filter(record.points, (DIFFERS, AGREED))])
        if step in (decision_steps.VOTES, decision_steps.VERDICT):
            self._judged_side.show_judged(judged, step)
        elif step == decision_steps.DIFFERENCES:
            self.differences.show_claims(judged)
        self._show_marks()
        self._show_composer()

    def _lacks(self, session: DebateSession, could: ProviderStatus | None) -> str:
        """Return why nobody compares the answers, where nobody does."""
        words = self._language
        if could is not None:
            return words("council.locked", name=words.provider(could))
        return words(self.councils.providers.without_help(session, "council.small")) if self.councils else ""

    def _prices(self, messages: Messages) -> dict[str, str]:
        """Return the prices of all steps with the judge chosen now; those
        that are not known yet are asked for.
        """
        session = self._session
        if session is None or self.councils is None:
            return {}
        session = replace(session, debate=replace(session.debate, judge=self._judge))
        estimates = self.councils.estimates(session, messages, PRICED, self._asked_alone(""))
        prices, unasked = prices_of(estimates, self._language)
        if unasked:
            self.prices_wanted.emit(unasked)
        return prices

    def _show_parts(self) -> None:
        # Not before: what was shown last may be the verdict of another session.
        for page, steps in self._pages.items():
            page.setVisible(self._step in steps)
        for transcript in (self.transcript, *self.columns.transcripts.values()):
            transcript.search.find("")
        self.find_bar.find_again()

    def _searched(self) -> Mapping[str, TranscriptView]:
        """Return the transcripts that are searched: those of the step that is open."""
        return {"": self.transcript} if self._step == decision_steps.DEBATE else self.columns.transcripts

    def _on_judge(self, judge: str) -> None:
        self._judge = judge
        self.refresh()

    def show_cited(self, message_id: str) -> None:
        """Go to what a verdict cites, or the summary beside it."""
        message = self._messages.get(message_id)
        if message is not None and discussed(message):
            self._open_step(decision_steps.DEBATE)
            self.transcript.go_to(message_id, 0)
            self.transcript.setFocus()
            return
        self._open_step(decision_steps.ANSWERS)
        who = self._column_of.get(message_id, "?")
        if column := self.columns.all.get(who):
            self.columns.into_sight(who)
            column.transcript.go_to(message_id, 0)
            column.transcript.setFocus()

    def _show_marks(self) -> None:
        """Mark the words of the differences and of what all say, or none of them."""
        if self._session is None:
            return
        quotes: dict[str, list[tuple[str, str]]] = {}
        for kind in reversed(self.steps.marks()):
            for quote in chain.from_iterable(point.quotes for point in self.now.record.points(kind)):
                quotes.setdefault(quote.message, []).append((quote.text, kind))
        for column in self.columns.all.values():
            column.transcript.search.marks.show(quotes)
            column.transcript.viewport().update()

    def _show_composer(self) -> None:
        self.composer.setVisible(not self._read_only)
        running = self._session is not None and self._session.status == Status.RUNNING
        self._follow_up.show_for(self.people(), price=self._what_if, running=running)

    def _announce(self) -> None:
        """Tell a screen reader once how settled it is, what leads and how many hold something else."""
        text = self._verdict_words()
        if text != self._said:
            self._said = text
            announce(self, text)

    # Layout and requests

    def _lay_out(self) -> None:
        foot, view = QWidget(), named("council_view", QWidget())
        self._pages: dict[QWidget, tuple[str, ...]] = {
            self.columns: (decision_steps.ANSWERS,),
            self.differences: (decision_steps.DIFFERENCES,),
            self.transcript: (decision_steps.DEBATE,),
            self._ending: (decision_steps.VOTES, decision_steps.VERDICT, decision_steps.DECISION),
        }
        vbox(*((page, 1) for page in self._pages), inside=view)
        vbox(self.box, inside=foot, margins=(decision_steps.MARGIN, 6, decision_steps.MARGIN, 12))
        vbox(self.find_bar, self.steps, (view, 1), foot, inside=self, spacing=0)
        for page, steps in self._pages.items():
            page.setVisible(decision_steps.ANSWERS in steps)

    def _connect(self) -> None:
        box, composer = self.box, self._follow_up
        box.asked.connect(self._on_asked)
        box.judge_chosen.connect(self._on_judge)
        self._hide.toggled.connect(self._on_hide)
        self.steps.marks_changed.connect(self._show_marks)
        columns = self.columns
        columns.more_requested.connect(self.target.ask_only)
        columns.link_requested.connect(self.link_requested)
        columns.picture_requested.connect(self.picture_requested)
        columns.settings_requested.connect(lambda who: self.provider_requested.emit(self._provider_of(who)))
        self.differences.cite_requested.connect(self.show_cited)
        self.verdict.join_requested.connect(lambda: self.more_requested.emit(self.session_id, "join"))
        self.verdicts.chosen.connect(self.refresh)
        self.glance.edit_requested.connect(self._on_edit)
        self.finder = ColumnFinder(self.find_bar, self._searched, self._into_sight)
        columns.found.connect(self.finder.on_found)
        self.transcript.found.connect(partial(self.finder.on_found, ""))
        composer.text_changed.connect(self._show_composer)
        self.target.changed.connect(self.refresh)
        composer.submitted.connect(self._on_submitted)

    def _into_sight(self, who: str) -> None:
        if self._step != decision_steps.DEBATE:
            self.columns.into_sight(who)

    def _on_asked(self, what: str) -> None:
        """Pass on what the bar asks for."""
        session_id = self.session_id
        ways: dict[str, Callable[[], None]] = {
            "debate": lambda: self.debate_requested.emit(session_id, 0, self._judge or ANY_JUDGE),
            "connect": self.connect_requested.emit,
            "allow": self.reading_requested.emit,
            "blind": self._on_blind,
            "pause": lambda: self.pause_requested.emit(session_id),
            "resume": lambda: self.resume_requested.emit(session_id),
            "skip_check": lambda: self.check_skip_requested.emit(session_id),
        }
        ways.get(what, lambda: self.more_requested.emit(session_id, what))()

    def _on_blind_closed(self) -> None:
        self.refresh()
        self.verdict.setFocus()
        self._announce()

    def _on_submitted(self, text: str) -> None:
        self.ask_requested.emit(self.session_id, text, self._asked_alone(text))

    def _on_edit(self) -> None:
        if self._session is None:
            return
        options = self.now.record.options()
        dialog = OptionsDialog(self._language, [(option.id, option.text) for option in options], self)
        dialog.open_for(self.asking(self.options_chosen.emit))
