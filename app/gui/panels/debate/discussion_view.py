"""The view of a debate: its topic, controls, transcript with a composer to step in, and the verdict.

The right panel shows it narrow, the main area wide.
"""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QStackedLayout, QStackedWidget, QWidget

from app.core.catalog import EMBEDDED
from app.core.council import Judge
from app.core.draft import Draft
from app.core.events import MessageFinished, RetryScheduled, TurnStarted
from app.core.message import SPOKEN, Attachment, CouncilPart, Message, MessageState
from app.core.reasons import Reason, has_ended, resumable
from app.core.session import Debate, DebateSession
from app.core.summary import Status
from app.core.usage import tokens_text
from app.engine.council.outcome import judge_line, outcome
from app.engine.council.record import Record
from app.engine.council.verdicts import Given, outcomes
from app.gui.display.appearance import Language, Look
from app.gui.files.user_files import CHARACTERS_PER_TOKEN, LONG_PASTE, is_seen, pasted_text
from app.gui.pages.chat.message_box import AttachingComposer
from app.gui.pages.council.council_box import Judged, announcement
from app.gui.pages.council.council_columns import Shown, shown_people
from app.gui.pages.council.verdict_page import VerdictPage
from app.gui.panels.conversation_view import ConversationView, empty_state
from app.gui.panels.debate.debate_controls import DISCUSSION, VERDICT, AfterBar, DebateControls, facts_of
from app.gui.panels.debate.verdict_tabs import VerdictTabs
from app.gui.transcript.message_actions import FORK, SUMMARY_ACTIONS
from app.gui.transcript.message_rows import RETRY, SETTINGS
from app.gui.transcript.row_text import COMPACT, DEBATE, MAX_COLUMN
from app.gui.widgets.boxes import STRETCH, centred, hbox, vbox
from app.gui.widgets.controls import TextBox, button, icon_button, scrolling
from app.gui.widgets.notices import announce
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, plain_label, say

# The object names of transcript, box and send button.
NAMES = ("debate_transcript", "debate_interject", "debate_send")
# What the object names begin with while another view of debates has them.
AWAY = "away_"
CONCLUDING = (CouncilPart.BALLOT, CouncilPart.READING, CouncilPart.MOVES)
"""The parts that a verdict follows from."""


class DiscussionView(ConversationView):
    """Shows a debate, or how to start one; every request carries the session's id."""

    KIND = DebateSession

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    stop_requested = Signal(str)
    turn_retry_requested = Signal(str)
    turn_skip_requested = Signal(str)
    check_skip_requested = Signal(str)
    check_again_requested = Signal(str, str)
    weigh_requested = Signal(str)
    verdict_read = Signal(str)
    without_requested = Signal(str, str)
    retake_requested = Signal(str, str)
    say_requested = Signal(str, str, object)
    attachment_removed = Signal(str, object, int)
    setup_requested = Signal(str)
    verdict_requested = Signal(str, str)
    turns_wanted = Signal(str)
    fork_requested = Signal(str, str)
    again_requested = Signal(str)
    rename_requested = Signal(str)
    export_requested = Signal(str, str)

    def __init__(self, language: Language, look: Look, *, compact: bool) -> None:
        box = TextBox(longest_paste=LONG_PASTE)
        composer = AttachingComposer(language, look, box_name=NAMES[1], button_name=NAMES[2], box=box)
        super().__init__(language, look, composer, layout=COMPACT if compact else DEBATE, names=NAMES)
        composer.strip.setObjectName("debate_attachments")
        self._composer = composer
        self._session: DebateSession | None = None
        self.controls = DebateControls(language, look, prefix="debate_", headed=compact)
        self._empty_text = say(Paragraph("card_text", centred=True), language, "discussion.empty")
        self._empty_button = say(
            button("primary", "debate_empty", lambda: self.setup_requested.emit("")),
            language,
            "discussion.empty.button",
        )
        margin = 18 if compact else 28
        self.verdict = VerdictPage(language, look, margin=margin)
        self.verdicts = VerdictTabs(language, margin)
        self._judges: tuple[Judge, ...] = ()
        # The verdicts so far, the newest last, and whether one came while the debate ran.
        self._given: Sequence[Given] = ()
        self._concluded = False
        self._price = ""
        self.topic = TopicCard(language, look, "debate_topic_card")
        self._compact = compact
        self.after = AfterBar(language, look)
        self._said: dict[str, Message] = {}
        self._side = DISCUSSION
        # The turn that has begun but has no text yet, and what it waits for besides the model.
        self._turn: TurnStarted | None = None
        self._waits = ""
        self._lay_out(compact)
        self._connect()
        self._retranslate()

    @property
    def session(self) -> DebateSession | None:
        """The debate shown."""
        return self._session

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the debate, without the one that is being written."""
        return list(self._said.values())

    def people(self) -> dict[str, Shown]:
        """Return how each participant is shown."""
        return shown_people(self._session.debate.participants if self._session else (), "", self._language)

    def bear_names(self, borne: bool) -> None:
        super().bear_names(borne)
        for part in self.findChildren(QWidget):
            name = part.objectName()
            if borne and name.startswith(AWAY):
                part.setObjectName(name.removeprefix(AWAY))
            elif not borne and "debate_" in name and not name.startswith(AWAY):
                part.setObjectName(AWAY + name)

    def show_session(
        self,
        session: DebateSession,
        messages: Sequence[Message],
        *,
        read_only: bool = False,
        damaged: int = 0,
    ) -> None:
        super().show_session(session, messages, read_only=read_only, damaged=damaged)
        self._said = {message.id: message for message in messages}
        self._turn = None
        self._given, self._judges, self._concluded = (), (), False
        self.controls.show_doing(self.writing.values())
        self.controls.show_session(session, self.spending, read_only=read_only, damaged=damaged)
        self.topic.show_debate(session.debate)
        # In the panel a short topic is the title.
        short = session.debate.topic == session.title and not session.debate.context
        self._about.setHidden(self._compact and short)
        self._side = DISCUSSION
        self._show_outcome(session)
        self._open_verdict()
        self._stack.setCurrentIndex(1)

    def prepend(self, messages: Sequence[Message], *, read_only: bool, damaged: int) -> None:
        if self._session is not None:
            super().prepend(messages, read_only=read_only, damaged=damaged)
            self._said = {message.id: message for message in messages} | self._said
            self.controls.show_session(self._session, self.spending, read_only=read_only, damaged=damaged)
            self._show_outcome(self._session)
            self._open_verdict()

    def clear(self) -> None:
        super().clear()
        self._stack.setCurrentIndex(0)

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
                announce(self, announcement(session, self.messages, self._language))
            self._open_verdict()

    def show_turn(self, event: TurnStarted, *, starting: bool) -> None:
        super().show_turn(event, starting=starting)
        self.controls.show_doing(self.writing.values())
        if event.part not in SPOKEN:
            return
        self.controls.end_retry()
        local = self._provider_of(event.author.id) == EMBEDDED
        self._turn = event
        self._waits = self._language("transcript.starting_model") if starting and local else ""
        self._show_speaking(event)

    def show_judges(self, judges: Sequence[Judge]) -> None:
        """Set who could judge the debate; the first is the default."""
        if tuple(judges) != self._judges:
            self._judges = tuple(judges)
            if self._session is not None:
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
        self._said[message.id] = message
        self._concluded |= message.part in CONCLUDING and message.state == MessageState.DONE
        self.controls.show_doing(self.writing.values())
        self.controls.refresh()

    def show_retry(self, event: RetryScheduled) -> None:
        self.controls.show_retry(event)
        self._say_what_is_waited_for("transcript.waits_retry")

    def _say_what_is_waited_for(self, key: str) -> None:
        """Say beside who speaks next what is waited for, nothing for ""; the seconds are counted anew."""
        self._waits = self._language(key) if key else ""
        if self._turn is not None:
            self.transcript.feed.clear_speaking()
            self._show_speaking(self._turn)

    def open_find(self) -> None:
        self._show_side(DISCUSSION)
        super().open_find()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F2 and self._session is not None and not self._read_only:
            self.rename_requested.emit(self.session_id)
        else:
            super().keyPressEvent(event)

    def take_focus(self) -> None:
        if self._side == VERDICT:
            self.controls.take_focus()
        else:
            super().take_focus()

    @property
    def draft(self) -> Draft:
        return replace(super().draft, attachments=self._composer.attachments())

    def _show_draft(self, draft: Draft) -> None:
        self._composer.strip.show_attachments(draft.attachments)
        super()._show_draft(draft)

    def _show_speaking(self, event: TurnStarted) -> None:
        """Show who speaks next, and whether the turn waits for a busy assistant."""
        busy = self._session is not None and self._session.reason == Reason.BUSY
        words = self._language("transcript.waits_for", name=event.author.name) if busy else self._waits
        self.transcript.feed.set_speaking(event.author, self._role_of(event.author.id), words)

    def _show_side(self, side: str) -> None:
        self._side = side
        if self._session is not None:
            self._show_outcome(self._session)

    def _show_outcome(self, session: DebateSession) -> None:
        """Show the verdict side if the debate has ended or somebody has voted, and the controls that belong to it."""
        debate, messages = session.debate, self.messages
        ended, running = has_ended(session), session.status == Status.RUNNING
        voted = not running and bool(Record(debate, messages).voted_rounds)
        offered = ended or self._judged(session) or voted
        self._side = self._side if offered else DISCUSSION
        self.transcript.feed.set_retry_allowed(not ended and not self._read_only)
        self.controls.show_facts(self._facts(session))
        self.controls.show_side(self._side, offered=offered)
        if offered:
            self._given = outcomes(debate, messages)
            self._show_verdict(session, messages, self.verdicts.show_given(self._given))
        self._sides.setCurrentIndex(self._side == VERDICT)
        self._show_composer()

    def _judged(self, session: DebateSession) -> bool:
        """Return whether a model judges the debate as it is now, or has."""
        return session.debate.council is not None and bool(session.debate.council.judges)

    def _open_verdict(self) -> None:
        """Show the verdict, if there is one, to somebody who follows the end; who reads keeps the scroll position."""
        session = self._session
        over = session is not None and (has_ended(session) or self._judged(session))
        if over and self._given and self.transcript.following:
            self._show_side(VERDICT)

    def _show_verdict(
        self, session: DebateSession, messages: Sequence[Message], chosen: Given | None
    ) -> None:
        """Show a verdict that was given, or all that was said and voted where there is none."""
        debate, said = (chosen.debate, chosen.messages) if chosen else (session.debate, messages)
        newest = chosen is None or chosen is self._given[-1]
        problem = ""
        if newest and said is not messages:
            # Another verdict was asked for since.
            result = outcome(session.debate, messages)
            problem = judge_line(result, {}, self._language) if result.failure else ""
        self.verdict.show_verdict(
            Judged(
                session=replace(session, debate=debate),
                messages=dict(self._said),
                record=Record(debate, said),
                result=outcome(debate, said),
                people=self.people(),
                may_ask=newest and has_ended(session) and not self._read_only,
                judges=self._judges,
                problem=problem,
            )
        )

    def _facts(self, session: DebateSession) -> str:
        return facts_of(session, self._said.values(), self.spending, self._language)

    def _provider_of(self, author_id: str) -> str:
        participants = self._session.debate.participants if self._session else ()
        return next((one.provider for one in participants if one.id == author_id), "")

    def _role_of(self, author_id: str) -> str:
        participants = self._session.debate.participants if self._session else ()
        role = next((one.role for one in participants if one.id == author_id), "")
        return self._language.role(role) if role else ""

    def _show_composer(self) -> None:
        session, words = self._session, self._language
        ended = session is not None and has_ended(session)
        # A message after the end begins a what-if round.
        begins = ended and session is not None and not resumable(session)
        self.composer.setVisible((ended or self._side == DISCUSSION) and not self._read_only)
        self.after.setVisible((ended or self._side == VERDICT) and not self._read_only)
        self.composer.set_words(
            words("discussion.what_if" if begins else "discussion.placeholder"),
            words("discussion.what_if.hint", price=self._price)
            if begins and self._price
            else words("discussion.hint"),
            words("discussion.send"),
        )

    def show_price(self, price: str) -> None:
        """Show what a what-if round costs, beside the button that begins it."""
        if price != self._price:
            self._price = price
            self._show_composer()

    def _lay_out(self, compact: bool) -> None:
        page = QWidget()
        said = QWidget()
        vbox(self.find_bar, (self.transcript, 1), inside=said, spacing=0)
        self._sides = QStackedWidget()
        self._sides.addWidget(said)
        margins = (16, 8, 16, 16) if compact else (28, 10, 28, 20)
        column = MAX_COLUMN + margins[0] + margins[2]
        judged = QWidget()
        verdict = QWidget()
        verdict.setLayout(centred(self.verdict, column))
        vbox(centred(self.verdicts, column), (verdict, 1), inside=judged, spacing=0)
        self._sides.addWidget(judged)
        foot = QWidget()
        vbox(self.composer, self.after, inside=foot, margins=margins)
        self._about = QWidget()
        vbox(self.topic, inside=self._about, margins=(margins[0], 0, margins[2], 6))
        vbox(
            centred(self.controls, column),
            centred(self._about, column),
            (self._sides, 1),
            centred(foot, column),
            inside=page,
            spacing=0,
        )
        self._stack = QStackedLayout(self)
        self._stack.addWidget(empty_state(self._empty_text, self._empty_button))
        self._stack.addWidget(page)

    def _connect(self) -> None:
        self.controls.pause_requested.connect(lambda: self.pause_requested.emit(self.session_id))
        self.controls.resume_requested.connect(lambda: self.resume_requested.emit(self.session_id))
        self.controls.stop_requested.connect(lambda: self.stop_requested.emit(self.session_id))
        self.controls.retry_due.connect(lambda: self._say_what_is_waited_for(""))
        self.controls.retry_requested.connect(lambda: self.turn_retry_requested.emit(self.session_id))
        self.controls.skip_requested.connect(lambda: self.turn_skip_requested.emit(self.session_id))
        self.controls.check_skip_requested.connect(lambda: self.check_skip_requested.emit(self.session_id))
        self.verdict.weigh_requested.connect(lambda: self.weigh_requested.emit(self.session_id))
        self.verdict.read.connect(lambda: self.verdict_read.emit(self.session_id))
        self.verdict.check_requested.connect(
            lambda participant: self.check_again_requested.emit(self.session_id, participant)
        )
        self.controls.without_requested.connect(
            lambda participant: self.without_requested.emit(self.session_id, participant)
        )
        composer = self._composer
        composer.box.long_text_given.connect(
            lambda text: composer.strip.add((pasted_text(text, self._language),))
        )
        composer.strip.removed.connect(
            lambda gone, place: self.attachment_removed.emit(self.session_id, gone, place)
        )
        composer.message_submitted.connect(self._on_submitted)
        self.transcript.action_requested.connect(self._on_action)
        self.controls.side_chosen.connect(self._show_side)
        self.verdicts.chosen.connect(lambda: self._show_side(VERDICT))
        self.verdict.cite_requested.connect(self.show_cited)
        self.verdict.connect_requested.connect(self.connect_requested)
        self.verdict.judge_requested.connect(
            lambda judge: self.verdict_requested.emit(self.session_id, judge)
        )
        after = self.after
        after.turns_wanted.connect(lambda: self.turns_wanted.emit(self.session_id))
        after.fork_requested.connect(lambda turn: self.fork_requested.emit(self.session_id, turn))
        after.again_requested.connect(lambda: self.again_requested.emit(self.session_id))
        after.export_requested.connect(lambda name: self.export_requested.emit(self.session_id, name))
        after.new_requested.connect(self._on_new)
        self._language.changed.connect(self._retranslate)

    def _on_submitted(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        self.transcript.jump_to_latest()
        self.say_requested.emit(self.session_id, text, attachments)

    def show_cited(self, message_id: str) -> None:
        """Show the message that a sentence of the verdict cites, or the summary beside it."""
        self._show_side(DISCUSSION)
        self.transcript.point_out(message_id)
        self.transcript.setFocus()

    def _on_new(self) -> None:
        if self._session is not None:
            self.setup_requested.emit(self._session.debate.topic)

    def _on_action(self, message_id: str, action: str) -> None:
        if action == RETRY:
            self.retake_requested.emit(self.session_id, message_id)
        elif action == FORK:
            self.fork_requested.emit(self.session_id, message_id)
        elif action in SUMMARY_ACTIONS:
            self.summary_action_requested.emit(self.session_id, self._said[message_id], action)
        elif action == SETTINGS:
            self.provider_requested.emit(self._provider_of(self.transcript.author_of(message_id)))

    def _retranslate(self) -> None:
        if self._session is not None:
            self._show_outcome(self._session)
        else:
            self._show_composer()


MOST_HEIGHT = 240
MARGIN = 14


class TopicCard(QFrame):
    """Shows a debate's topic and the names and sizes of its files; a button unfolds what does not fit into one line."""

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.setObjectName(name)
        self._language = language
        self._debate: Debate | None = None
        self._line = ElidedLabel("value")
        self._count = plain_label("hint")
        self._toggle = icon_button(look, "chevron-down", f"{name}_toggle", self._refresh, checkable=True)
        self._toggle.setFixedSize(26, 24)
        self._text = Paragraph()
        self._files = plain_label("hint", wrap=True)
        body = QWidget()
        vbox(self._text, self._files, STRETCH, inside=body, margins=(0, 0, 8, 0), spacing=8)
        self._whole = scrolling(body)
        head = hbox((self._line, 1), self._count, self._toggle, spacing=8)
        vbox(head, self._whole, inside=self, margins=(MARGIN, 7, 8, 7), spacing=6)
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
            width = max(1, self.width() - 2 * MARGIN - 12)
            lines = self._files.heightForWidth(width) + 8 if self._files.text() else 0
            self._whole.setFixedHeight(min(MOST_HEIGHT, self._text.heightForWidth(width) + lines + 4))
