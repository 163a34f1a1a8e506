"""The views of a debate: topic, state, transcript with a composer to step in, and the verdict.

`DiscussionView` is the one of the right panel; `DebatePage` is the one of the main area, with steps and one
row of what is next. Both have the debate's topic and its files over the debate, in one line that unfolds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.core.catalog import EMBEDDED
from app.core.draft import Draft
from app.core.events import MessageFinished, RetryScheduled, TurnStarted
from app.core.message import SPOKEN, Attachment, CouncilPart, Message, Messages, MessageState, tokens_text
from app.core.session import Debate, DebateSession, Reason, Status, has_ended
from app.core.texts import unmarked
from app.engine.council.director import blind_steps
from app.engine.council.outcome import judge_line
from app.engine.council.verdicts import Given
from app.gui.display.appearance import Language, Look
from app.gui.files.user_files import CHARACTERS_PER_TOKEN, LONG_PASTE, is_seen, pasted_text
from app.gui.pages.chat.message_box import AttachingComposer
from app.gui.pages.council.council_box import Judged
from app.gui.pages.council.council_columns import Shown, shown_people
from app.gui.pages.council.decision_bar import WORDY, Target, fit_bar, put_first, put_into_bar
from app.gui.pages.council.decision_steps import DEBATE, DECISION, MARGIN, USED_IN_FRONT, VERDICT, VOTES
from app.gui.panels.conversation_view import empty_state
from app.gui.panels.debate import debate_controls
from app.gui.panels.debate.debate_controls import DISCUSSION, AfterBar, DebateControls
from app.gui.panels.debate.verdict_place import DecisionView
from app.gui.transcript import row_text
from app.gui.transcript.message_rows import RETRY, SETTINGS
from app.gui.transcript.selection import FORK, SUMMARY_ACTIONS
from app.gui.widgets.boxes import ANY_SIZE, STRETCH, Frame, frame, hbox, stack, vbox
from app.gui.widgets.controls import MenuButton, ShorteningButton, TextBox, button, icon_button, scrolling
from app.gui.widgets.notices import announce
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, named, plain_label, say

MOST_HEIGHT, EDGE = 240, 14


class TopicCard(Frame):
    """Shows a debate's topic and the names and sizes of its files;
    a button unfolds what does not fit into one line.
    """

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__("card", name)
        self._language = language
        self._debate: Debate | None = None
        self._line = ElidedLabel("value")
        self._count = plain_label("hint")
        self._toggle = icon_button(look, "chevron-down", f"{name}_toggle", self._refresh, checkable=True)
        self._toggle.setFixedSize(26, 24)
        self._text = Paragraph()
        self._files = plain_label("hint", wrap=True)
        body = vbox(self._text, self._files, STRETCH, margins=(0, 0, 8, 0), spacing=8)
        self._whole = scrolling(frame("", body))
        head = hbox((self._line, 1), self._count, self._toggle, spacing=8)
        vbox(head, self._whole, inside=self, margins=(EDGE, 7, 8, 7), spacing=6)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        language.changed.connect(self._refresh)

    def show_debate(self, debate: Debate) -> None:
        """Show the topic of a debate, folded if it is another one."""
        if self._debate is None or self._debate.topic != debate.topic:
            self._toggle.setChecked(False)
        self._debate = debate
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _refresh(self) -> None:
        debate, words = self._debate, self._language
        if debate is None:
            return
        unfolded = self._toggle.isChecked()
        self._line.setText(words("setup.topic") if unfolded else debate.topic)
        self._count.setText(words("topic.files", count=len(debate.context)) if debate.context else "")
        self._toggle.set_icon("chevron-up" if unfolded else "chevron-down")
        name_button(self._toggle, words("topic.fold" if unfolded else "topic.unfold"))
        self._whole.setVisible(unfolded)
        self._text.setText(debate.topic)
        sizes = [
            words("chat.tip.seen", name=one.name)
            if is_seen(one)
            else words("topic.file", name=one.name, tokens=tokens_text(len(one.text) // CHARACTERS_PER_TOKEN))
            for one in debate.context
        ]
        self._files.setText("\n".join(sizes))
        self._files.setVisible(bool(sizes))
        self._fit()

    def _fit(self) -> None:
        """Set the height of the unfolded topic to that of its text and files at the card's width."""
        if self._toggle.isChecked():
            width = max(1, self.width() - 2 * EDGE - 12)
            lines = self._files.heightForWidth(width) + 8 if self._files.text() else 0
            self._whole.setFixedHeight(min(MOST_HEIGHT, self._text.heightForWidth(width) + lines + 4))


CONCLUDING = (CouncilPart.BALLOT, CouncilPart.READING, CouncilPart.MOVES)
"""The parts that a verdict follows from."""


class DebateView(DecisionView):
    """Shows a debate; every request carries the session's id.

    What is open is a step: DEBATE, VOTES, VERDICT or DECISION. A view says with `_show_step` how it shows
    that.
    """

    NAMED: ClassVar[tuple[str, ...]] = ("debate_", "segment_debate_")
    PARTS = ("debate_transcript", "debate_interject", "debate_send")
    # Whether the controls have a head.
    HEADED = True

    composer: AttachingComposer
    retake_requested = Signal(str)
    say_requested = Signal(str, str, object, object)
    setup_requested = Signal(str)
    turns_wanted = Signal(str)
    fork_requested = Signal(str, str)
    again_requested = Signal(str)
    rename_requested = Signal(str)
    export_requested = Signal(str, str)

    def __init__(self, language: Language, look: Look) -> None:
        box, (_, box_name, send) = TextBox(longest_paste=LONG_PASTE), self.PARTS
        composer = AttachingComposer(language, look, box_name=box_name, button_name=send, box=box)
        self.target = Target(language, look, "debate_target", box)
        super().__init__(language, look, composer)
        composer.strip.setObjectName("debate_attachments")
        self.controls = DebateControls(language, look, prefix="debate_", headed=self.HEADED)
        self._blind_price = ""
        self.blind_price: Callable[[DebateSession, Messages], str] = lambda *_said: ""
        """Returns what a blind pick costs, "" where none can be made; set by who knows the prices."""
        self.judges: Callable[[str], Mapping[str, str]] = lambda _session_id: {}
        """Returns who could judge a session, each "provider/model" with its name, the default first;
        set by who knows the providers.
        """
        # Who could judge the debate, which has ended.
        self._judges: Mapping[str, str] = {}
        # Whether a verdict came while the debate ran.
        self._concluded = False
        # Whether a message begins a what-if round, and what that costs.
        self._begins, self._price = False, ""
        self.topic = TopicCard(language, look, "debate_topic_card")
        # The turn that has begun but has no text yet, and what it waits for besides the model.
        self._turn: TurnStarted | None = None
        self._waits = ""
        self._about, self._discussion = QWidget(), QWidget()
        vbox(self.find_bar, (self.transcript, 1), inside=self._discussion, spacing=0)
        self._lay_out()
        self._connect()
        self.refresh()

    def _lay_out(self) -> None:
        """Put the parts into their places."""
        raise NotImplementedError

    def _show_step(self, reached: Mapping[str, str | None]) -> None:
        """Show the step that is open; `reached` has how much each step has, None where it is not reached
        yet.
        """
        raise NotImplementedError

    def offer_turns(self, turns: Messages) -> None:
        """Open a menu of turns from which another debate can start."""
        raise NotImplementedError

    def people(self) -> dict[str, Shown]:
        """Return how each participant is shown."""
        return shown_people(self._session.debate.participants if self._session else (), "", self._language)

    def show_session(
        self, session: DebateSession, messages: Messages, *, read_only: bool = False, damaged: int = 0
    ) -> None:
        super().show_session(session, messages, read_only=read_only, damaged=damaged)
        self._messages = {message.id: message for message in messages}
        self._turn = None
        self.target.to = ""
        self._concluded = False
        self._judges = self.judges(session.id) if has_ended(session) else {}
        self.controls.show_doing(self.writing.values())
        self.controls.show_session(session, self.spending, read_only=read_only, damaged=damaged)
        self.topic.show_debate(session.debate)
        # A short topic is the title.
        self._about.setHidden(session.debate.topic == session.title and not session.debate.context)
        self._step = DEBATE
        self._show_outcome(session)

    def prepend(self, messages: Messages, *, read_only: bool, damaged: int) -> None:
        if self._session is not None:
            super().prepend(messages, read_only=read_only, damaged=damaged)
            self._messages = {message.id: message for message in messages} | self._messages
            self.controls.show_session(self._session, self.spending, read_only=read_only, damaged=damaged)
            self._show_outcome(self._session)
            self.open_first_step()

    def show_change(self, session: DebateSession) -> None:
        before = self._session
        super().show_change(session)
        self.transcript.feed.session_changed(session)
        self.controls.show_change(session)
        if session.status != Status.RUNNING:
            self._turn = None
            self.transcript.feed.clear_speaking()
        elif self._turn is not None and (before is None or before.reason != session.reason):
            self._show_speaking(self._turn)
        self._show_outcome(session)
        if session.status != Status.RUNNING and self._concluded:
            self._concluded = False
            if self._judged(session) or has_ended(session):
                announce(self, self._verdict_words())
            self.open_first_step()

    def show_turn(self, event: TurnStarted, *, starting: str) -> None:
        super().show_turn(event, starting=starting)
        self.controls.show_doing(self.writing.values())
        if event.part not in SPOKEN:
            return
        self.controls.end_retry()
        self._turn = event
        self._waits = self._starting_words(starting)
        self._show_speaking(event)

    def show_started(self, starting: str) -> None:
        if self._turn is not None:
            self._say(self._starting_words(starting))

    def _starting_words(self, starting: str, *, local: bool = False) -> str:
        here = self._turn is not None and self._provider_of(self._turn.author.id) == EMBEDDED
        return super()._starting_words(starting, local=here)

    def show_judges(self) -> None:
        """Show who can judge the debate now, once it has ended."""
        if self._session is not None and has_ended(self._session):
            judges = self.judges(self._session.id)
            if judges != self._judges:
                self._judges = judges
                self._show_outcome(self._session)

    def show_message(self, message: Message) -> None:
        # What is asked beside the turns says nothing of them.
        spoken = message.part in SPOKEN
        self.controls.end_retry("" if spoken else message.turn_id)
        if spoken:
            self._turn = None
            self.transcript.feed.clear_speaking()
        super().show_message(message)
        self.controls.show_doing(self.writing.values())

    def show_finished(self, event: MessageFinished) -> None:
        super().show_finished(event)
        message = event.message
        self._messages[message.id] = message
        self._concluded |= message.part in CONCLUDING and message.state == MessageState.DONE
        self.controls.show_doing(self.writing.values())
        self.controls.refresh()

    def show_retry(self, event: RetryScheduled) -> None:
        self.controls.show_retry(event)
        self._say(self._language("transcript.waits_retry"))

    def _say(self, waits: str) -> None:
        """Say beside who speaks next what is waited for, nothing for ""; the seconds are counted anew."""
        self._waits = waits
        if self._turn is not None:
            self.transcript.feed.clear_speaking()
            self._show_speaking(self._turn)

    def open_find(self) -> None:
        self._open_step(DEBATE)
        super().open_find()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F2 and self._session is not None and not self._read_only:
            self.rename_requested.emit(self.session_id)
        else:
            super().keyPressEvent(event)

    @property
    def draft(self) -> Draft:
        return replace(super().draft, attachments=self.composer.attachments())

    def _show_draft(self, draft: Draft) -> None:
        self.composer.strip.show_attachments(draft.attachments)
        super()._show_draft(draft)

    def _show_speaking(self, event: TurnStarted) -> None:
        """Show who speaks next, and whether the turn waits for a busy assistant."""
        busy = self._session is not None and self._session.reason == Reason.BUSY
        words = self._language("transcript.waits_for", name=event.author.name) if busy else self._waits
        self.transcript.feed.set_speaking(event.author, self._role_of(event.author.id), words)

    def _show_outcome(self, session: DebateSession) -> None:
        """Offer the verdict if the debate has ended or somebody has voted, and show the step that is open."""
        messages, record = self.now.messages, self.now.record
        ended, running = has_ended(session), session.status == Status.RUNNING
        voted = not running and bool(record.voted_rounds)
        offered = ended or self._judged(session) or voted or bool(blind_steps(record))
        self.transcript.feed.set_retry_allowed(not ended and not self._read_only)
        self.controls.show_facts(debate_controls.facts_of(session, messages, self.spending, self._language))
        judged = self._choose_verdict(session, self.verdicts.show_given(self._given)) if offered else None
        turns = len(debate_controls.turns_of(messages))
        reached = {
            DEBATE: self._language("verdict.turns", count=turns) if turns else "",
            VOTES: str(len(record.ballots)) if voted else None,
            VERDICT: str(len(self._given) or "") if offered else None,
            DECISION: "" if turns else None,
        }
        self._step = DEBATE if reached[self._step] is None else self._step
        self._show_step(reached)
        if judged is not None and self._step in (VOTES, VERDICT):
            self._judged_side.show_judged(judged, self._step)
        self._show_composer()

    def _judged(self, session: DebateSession) -> bool:
        """Return whether a model judges the debate as it is now, or has."""
        return session.debate.council is not None and bool(session.debate.council.judges)

    def open_first_step(self) -> None:
        """Show the verdict, if there is one, to somebody who follows the end;
        who reads keeps the scroll position.
        """
        session = self._session
        over = session is not None and (has_ended(session) or self._judged(session))
        if over and self._given and self.transcript.following:
            self._open_step(VERDICT)

    def _choose_verdict(self, session: DebateSession, chosen: Given | None) -> Judged:
        """Return what is shown of a verdict that was given, or of all that was said and voted where there
        is none; choose whether the blind pick stands in its place.
        """
        shown, now = chosen or self.now, self.now
        newest = chosen is None or chosen is self._given[-1]
        problem = ""
        if newest and shown is not now and now.result.failure:
            # Another verdict was asked for since.
            problem = judge_line(now.result, {}, self._language)
        may_ask = newest and has_ended(session) and not self._read_only
        offers = may_ask and chosen is not None and shown.record.council.shown_pick is None
        self._blind_price = self.blind_price(session, now.messages) if offers else ""
        judged = Judged(
            session=replace(session, debate=shown.debate),
            messages=dict(self._messages),
            record=shown.record,
            result=shown.result,
            people=self.people(),
            may_ask=may_ask,
            prices={"blind": self._blind_price} if self._blind_price else {},
            judges=self._judges,
            problem=problem,
        )
        self._judged_side.choose(judged, may_pick=chosen is not None and newest and not self._read_only)
        return judged

    def _role_of(self, author_id: str) -> str:
        participants = self._session.debate.participants if self._session else ()
        role = next((participant.role for participant in participants if participant.id == author_id), "")
        return self._language.role(role) if role else ""

    def _show_composer(self) -> None:
        begins, words = self._begins, self._language
        hint = "discussion.what_if.hint" if begins and self._price else "discussion.hint"
        name = self.target.show_people(self.people())
        self.target.setVisible(begins)
        asks = words("discussion.what_if" if begins else "discussion.placeholder")
        asks = words("discussion.what_if.only", name=name) if begins and self.target.to else asks
        self.composer.set_words(asks, words(hint, price=self._price), words("discussion.send"))

    def show_what_if(self, price: str, *, begins: bool) -> None:
        """Show whether a message begins a what-if round, and what that costs."""
        if (begins, price) != (self._begins, self._price):
            self._begins, self._price = begins, price
            self._show_composer()

    def _connect(self) -> None:
        controls, composer = self.controls, self.composer
        controls.retry_due.connect(lambda: self._say(""))
        controls.pause_requested.connect(self.asking(self.pause_requested.emit))
        controls.resume_requested.connect(self.asking(self.resume_requested.emit))
        controls.check_skip_requested.connect(self.asking(self.check_skip_requested.emit))
        add = composer.strip.add
        composer.box.long_text_given.connect(lambda text: add((pasted_text(text, self._language),)))
        composer.message_submitted.connect(self._on_submitted)
        self.target.changed.connect(self._show_composer)
        self.transcript.action_requested.connect(self._on_action)
        self.verdicts.chosen.connect(lambda: self._open_step(VERDICT))
        self.verdict.connect_requested.connect(self.connect_requested)
        self._language.changed.connect(self.refresh)

    def _on_submitted(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        self.transcript.jump_to_latest()
        to = self._asked_alone(text) if self._begins else ()
        self.say_requested.emit(self.session_id, text, attachments, to)

    def show_cited(self, message_id: str) -> None:
        self._open_step(DEBATE)
        self.transcript.point_out(message_id)
        self.transcript.setFocus()

    def _on_new(self) -> None:
        if self._session is not None:
            self.setup_requested.emit(self._session.debate.topic)

    def _on_action(self, message_id: str, action: str) -> None:
        if action == RETRY:
            self.retake_requested.emit(message_id)
        elif action == FORK:
            self.fork_requested.emit(self.session_id, message_id)
        elif action in SUMMARY_ACTIONS:
            self.summary_action_requested.emit(self.session_id, self._messages[message_id], action)
        elif action == SETTINGS:
            author = self.transcript.model.book.messages[message_id].author
            self.provider_requested.emit(self._provider_of(author.id))

    def refresh(self) -> None:
        if self._session is not None:
            self._show_outcome(self._session)
        else:
            self._show_composer()


class DiscussionView(DebateView):
    """Shows a debate in the right panel, or how to start one."""

    def __init__(self, language: Language, look: Look) -> None:
        self.after = AfterBar(language, look)
        super().__init__(language, look)

    def clear(self) -> None:
        super().clear()
        self._stack.setCurrentIndex(0)

    def take_focus(self) -> None:
        if self._step == VERDICT:
            self.controls.take_focus()
        else:
            super().take_focus()

    def offer_turns(self, turns: Messages) -> None:
        self.after.offer_turns(turns)

    def _on_decide(self) -> None:
        self.decision_requested.emit(self.session_id)

    def _show_step(self, reached: Mapping[str, str | None]) -> None:
        judged = self._step == VERDICT
        self._stack.setCurrentIndex(1)
        self.controls.show_side(VERDICT if judged else DISCUSSION, offered=reached[VERDICT] is not None)
        self._sides.setCurrentIndex(judged)
        ended = self._session is not None and has_ended(self._session)
        self.composer.setVisible((ended or not judged) and not self._read_only)
        self.after.setVisible((ended or judged) and not self._read_only)

    def _lay_out(self) -> None:
        self._sides = stack(self._discussion, self._judged_side)
        self.composer.foot.insertWidget(0, self.target)
        foot = frame("", vbox(self.composer, self.after, margins=(16, 8, 16, 16)))
        vbox(self.topic, inside=self._about, margins=(16, 0, 16, 6))
        page = frame("", vbox(self.controls, self._about, (self._sides, 1), foot, spacing=0))
        words = self._language
        said = say(Paragraph("card_text", centred=True), words, "discussion.empty")
        begin = button("primary", "debate_empty", lambda: self.setup_requested.emit(""))
        self._stack = stack(empty_state(said, say(begin, words, "discussion.empty.button")), page)
        vbox(self._stack, inside=self)

    def _connect(self) -> None:
        super()._connect()
        sides, after = {VERDICT: VERDICT, DISCUSSION: DEBATE}, self.after
        self.controls.side_chosen.connect(lambda side: self._open_step(sides[side]))
        after.turns_wanted.connect(self.asking(self.turns_wanted.emit))
        after.fork_requested.connect(self.asking(self.fork_requested.emit))
        after.again_requested.connect(self.asking(self.again_requested.emit))
        after.export_requested.connect(self.asking(self.export_requested.emit))
        after.new_requested.connect(self._on_new)


BARE = 46


class DebatePage(DebateView):
    """Shows a debate as steps."""

    NAMED = (*DebateView.NAMED, *USED_IN_FRONT)
    LAYOUT = row_text.DEBATE
    STEPS = (DEBATE, VOTES, VERDICT, DECISION)
    HEADED = False

    def __init__(self, language: Language, look: Look) -> None:
        self.next = ShorteningButton("primary", "decision_next").dress(look, "scale", "on_accent")
        self.more = MenuButton(look, "ellipsis", "decision_more", chevron=True)
        super().__init__(language, look)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        fit_bar(self._ways, self.width())
        for way in self._ways[:3]:
            # Their icons say enough where the input needs the room.
            way.setMaximumWidth(BARE if self.width() < WORDY else ANY_SIZE)

    def offer_turns(self, turns: Sequence[Message]) -> None:
        fork = self.asking(self.fork_requested.emit)
        debate_controls.open_above(debate_controls.turns_menu(self, turns, fork, self._language), self.more)

    def _show_step(self, reached: Mapping[str, str | None]) -> None:
        session = self._session
        if session is None:
            return
        self.steps.set_value(self._step)
        self._show_steps(reached, {}, ())
        self._places.setCurrentWidget(self._discussion if self._step == DEBATE else self._ending)
        ended = has_ended(session) and not self._read_only
        self.composer.setVisible(not self._read_only)
        self.next.setVisible(ended and bool(self._judges) and not self._judged(session))
        self.next.show_words(self._language("verdict.ask"))
        self.more.setVisible(ended or (self._step == VERDICT and not self._read_only))
        self.more.show_words(self._language("verdict.more"))

    def _lay_out(self) -> None:
        self._places = stack(self._discussion, self._ending)
        vbox(self.topic, inside=self._about, margins=(MARGIN, 10, MARGIN, 0))
        controls, low = self.controls, Qt.AlignmentFlag.AlignBottom
        self._ways = ways = (controls.pause, controls.resume, controls.stop, self.next, self.more)
        put_into_bar(*ways)
        row = hbox(*((way, 0, low) for way in ways), (self.composer, 1), spacing=8)
        foot = vbox(controls, row, margins=(MARGIN, 6, MARGIN, 12), spacing=6)
        vbox(self.steps, self._about, (self._places, 1), foot, inside=self, spacing=0)
        put_first(self.target, self.composer, ways)

    def _connect(self) -> None:
        super()._connect()
        self.next.clicked.connect(lambda: self._ask(next(iter(self._judges))))
        self.more.choices.aboutToShow.connect(self._fill)

    def _ask(self, judge: str) -> None:
        self._open_step(VERDICT)
        self.verdict.judge_requested.emit(judge)

    def _fill(self) -> None:
        """Fill the menu with what else can be done."""
        words, menu = self._language, self.more.choices
        self.more.clear()
        if self._judges and self._session is not None and has_ended(self._session):
            judges = named("judges_menu", QMenu(words("council.judge.choose"), menu))
            for judge, name in self._judges.items():
                judges.addAction(unmarked(self.verdict.judge_words(judge, name)), partial(self._ask, judge))
            menu.addMenu(judges)
        if self._blind_price:
            text = " · ".join((words("council.blind"), self._blind_price))
            menu.addAction(text, self._on_blind).setObjectName("council_blind")
        for key, asked in (("fork", self.turns_wanted), ("again", self.again_requested)):
            menu.addAction(words(f"verdict.{key}"), self.asking(asked.emit)).setObjectName(f"debate_{key}")
        exports = named("export_menu", QMenu(words("verdict.export"), menu))
        debate_controls.add_exports(exports, self.asking(self.export_requested.emit), words)
        menu.addMenu(exports)
        menu.addAction(words("verdict.new"), self._on_new).setObjectName("debate_new")
