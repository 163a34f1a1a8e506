"""The outcome of a debate: the verdict, agreed and open points, and the chart of ballots.

It is the other side of the discussion; the controller requests verdicts.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QMenu, QSizePolicy, QWidget

from app.core.catalog import EMBEDDED
from app.core.message import Message, Role, user_name
from app.core.reasons import has_ended
from app.core.session import Debate, DebateSession
from app.core.verdict import Point
from app.engine.debate.verdict import Judge, minority_points, readings_points
from app.gui.display.appearance import Language, Look, tall
from app.gui.pages.council.no_votes import NoVotes
from app.gui.panels.debate.cited_text import Cite, CitedText
from app.gui.panels.debate.stance_chart import PADDING, StanceChart
from app.gui.transcript.row_text import MAX_COLUMN
from app.gui.widgets.badge import Chip, HeadingIcon
from app.gui.widgets.boxes import STRETCH, centred, hbox, vbox
from app.gui.widgets.controls import (
    Choice,
    ShorteningButton,
    button,
    icon_button,
    put_in_tab_order,
    scrolling,
)
from app.gui.widgets.text import ElidedLabel, Paragraph, plain_label, plain_tip, say, show_or_hide

NARROW = 520
# The width of the scroll bar in pixels, which the right margin lacks.
BAR = 10
NARROW_HEAD = 420
TOO_SMALL = "too_small"
INSIDE = 15


class VerdictView(QWidget):
    """Shows a debate's verdict and ballots, or how to get them.

    Signals: cite_requested(message id), verdict_requested(Judge, or None for the first that can), stop_requested(),
    connect_requested() to add a provider, decision_requested() to keep what was decided.
    """

    cite_requested = Signal(str)
    verdict_requested = Signal(object)
    stop_requested = Signal()
    connect_requested = Signal()
    decision_requested = Signal()

    def __init__(self, language: Language, look: Look, *, margin: int) -> None:
        """`margin` is the space at the left."""
        super().__init__()
        self._language, self._look = language, look
        self._session: DebateSession | None = None
        self._messages: Mapping[str, Message] = {}
        self._read_only = False
        self._judges: tuple[Judge, ...] = ()
        self._asked: tuple[str, float] | None = None
        self._checking: Callable[[], str] = str
        self._problem_text = ""
        self._title = plain_label("card_title")
        self._judge_chip = Chip(look)
        self._copy = say(icon_button(look, "copy", "debate_copy_verdict"), language, tip="verdict.copy")
        self._decide = say(
            button("link", "debate_decide", self.decision_requested), language, "journal.keep_decision"
        )
        self._again = ShorteningButton("link", "debate_ask_again")
        self._again.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._answer = CitedText("verdict")
        self._sentence = Paragraph("card_text")
        self._last_words = CitedText("points", listed=True)
        self._problem = plain_label("error", wrap=True)
        self._judge = say(Choice(look), language, name="verdict.judge")
        self._judge.setObjectName("debate_judge")
        self.ask = say(
            button("primary", "debate_ask", lambda: self.verdict_requested.emit(self._judge.currentData())),
            language,
            "verdict.ask",
        )
        self._provider = say(
            button("", "debate_add_provider", self.connect_requested), language, "first.connect.button"
        )
        self._busy = plain_label("hint", wrap=True)
        self._stop = say(button("", "debate_ask_stop", self.stop_requested), language, "discussion.stop")
        self._stop.dress(look, "square", "text")
        self._agreed = CitedText("points", listed=True)
        self._open = CitedText("points", listed=True)
        self._minority = CitedText("points", listed=True)
        self._minority_title = say(plain_label("card_title"), language, "council.minority_report")
        self._agreed_title = say(plain_label("agreed"), language, "verdict.agreed")
        self._open_title = say(plain_label("open"), language, "verdict.open")
        self.chart = StanceChart(language, look, "debate_stances")
        self.no_votes = NoVotes(language)
        self._chart_title = say(plain_label("card_title"), language, "verdict.chart")
        self._chart_hint = ElidedLabel("meta")
        self._tick = QTimer(self)
        self._tick.setInterval(1_000)
        self._tick.timeout.connect(self._show_busy)
        self._lay_out(margin)
        self._connect()

    def show_session(
        self, session: DebateSession, messages: Mapping[str, Message], *, read_only: bool
    ) -> None:
        """Show a debate; `messages` are those that can be cited, by id."""
        if self._session is None or self._session.id != session.id:
            self._judges, self._asked, self._problem_text = (), None, ""
        elif session.debate.verdict != self._session.debate.verdict:
            self._problem_text = ""
        before, said = self._session, len(self._messages)
        if before is None or before.id != session.id:
            self._page.verticalScrollBar().setValue(0)
        self._session, self._messages, self._read_only = session, messages, read_only
        if before is None or before.debate.ballots != session.debate.ballots or before.id != session.id:
            self.chart.show_debate(session.debate)
        if before is None or _said_of(before) != _said_of(session) or said != len(messages):
            self._retranslate()
        self._refresh()
        new = (
            before is not None and before.id == session.id and before.debate.verdict != session.debate.verdict
        )
        if new and self.isVisible() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.text()))

    def show_judges(self, judges: Sequence[Judge]) -> None:
        """Set the participants that can judge; the first is the default."""
        if tuple(judges) == self._judges:
            return
        self._judges = tuple(judges)
        self._judge.clear()
        for judge in judges:
            self._judge.addItem(self._judge_words(judge), judge)
        self._refresh()

    def show_asking(self, name: str | None, since: float = 0.0, checking: Callable[[], str] = str) -> None:
        """Show that a verdict is being made since a time (`time.monotonic`); None ends that.

        `checking` says how far the judge's voting check is, "" while there is none.
        """
        self._checking = checking
        self._asked = (name, since) if name is not None else None
        if name is not None:
            self._problem_text = ""
        self._refresh()

    def show_problem(self, text: str) -> None:
        """Show why there is no verdict."""
        self._problem_text = text
        self._refresh()

    def text(self) -> str:
        """Return the verdict as Markdown, with citations."""
        verdict = self._session.debate.verdict if self._session is not None else None
        if verdict is None:
            return ""
        words = self._language
        by = self._by() if verdict.judge else self._sentence.text()
        parts = [f"{words('verdict.title')} · {by}" if verdict.judge else by]
        parts += [" ".join(map(self._cited, verdict.answer))] if verdict.answer else []
        parts += [one.text for one in readings_points(verdict, words)]
        heard = words("verdict.open") if verdict.judge else ""
        report = self._report()
        for title, points in (
            (words("council.minority_report"), report),
            (words("verdict.agreed"), verdict.agreed),
            (heard, verdict.open),
        ):
            lines = [f"- {self._cited(point)}" for point in points]
            parts += ["\n".join(filter(None, (title, *lines)))] if lines else []
        return "\n\n".join(parts)

    def _judge_words(self, judge: Judge) -> str:
        """Return a judge as it is offered: one that takes no part has no other name than its model's."""
        if judge.name == judge.model:
            return self._language("setup.judge.outside", name=judge.model)
        return f"{judge.name} · {judge.model}"

    def _by(self) -> str:
        """Return who judged, and whether that one takes part."""
        debate = self._session.debate if self._session is not None else None
        if debate is None or debate.verdict is None or not debate.verdict.judge:
            return ""
        key = "verdict.by_participant" if debate.judged_inside else "verdict.by"
        return self._language(key, name=debate.verdict.judge)

    def _report(self) -> tuple[Point, ...]:
        """Return what the minority holds, once the debate has ended."""
        session = self._session
        if session is None or not has_ended(session):
            return ()
        return minority_points(session.debate, list(self._messages.values()), self._language)

    def _cited(self, point: Point) -> str:
        cites = [cite[0] for one in point.cites if (cite := self._cite(one))]
        return " ".join((point.text, *cites))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Stack the parts that do not fit side by side."""
        width = min(self.width(), MAX_COLUMN)
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._pair.setDirection(down if width < tall(NARROW) else across)
        for head in (self._names, self._chart_names):
            head.setDirection(down if width < tall(NARROW_HEAD) else across)
        ways = [
            one.sizeHint().width() for one in (self._judge, self.ask, self._provider) if not one.isHidden()
        ]
        room = self._card.contentsRect().width() - 2 * INSIDE - self._asks.spacing() * len(ways)
        self._asks.setDirection(down if sum(ways) > room else across)

    # Display

    def _refresh(self) -> None:
        session = self._session
        if session is None:
            return
        words, verdict = self._language, session.debate.verdict
        judged = verdict is not None and not verdict.failure
        ended, asking = has_ended(session), self._asked is not None
        self._title.setText(words("verdict.title" if verdict is None or judged else "verdict.none"))
        self._judge_chip.set_text(self._by())
        self._title.setToolTip(plain_tip(verdict.model) if verdict is not None else "")
        sentence = self._sentence_of(session.debate, ended=ended)
        self._sentence.setVisible(bool(sentence) and (judged or not asking))
        self._sentence.setText(sentence)
        focused = self.ask.hasFocus() or self._again.hasFocus()
        self._stop.setVisible(asking)
        self._busy.setVisible(asking)
        if asking and focused:
            self._stop.setFocus()
        may_ask = ended and not self._read_only and not asking
        self._copy.setVisible(verdict is not None)
        self._decide.setVisible(may_ask and judged)
        self._again.setVisible(may_ask and judged and bool(self._judges))
        self.ask.setVisible(may_ask and not judged and bool(self._judges))
        self._judge.setVisible(self.ask.isVisibleTo(self) and len(self._judges) > 1)
        self._provider.setVisible(may_ask and not judged and not self._judges)
        show_or_hide(self._problem, self._problem_text)
        self._chart_card.setVisible(bool(session.debate.ballots))
        every = len({one.round for one in session.debate.ballots}) != 1
        self._chart_hint.setText(words("verdict.chart.hint" if every else "verdict.chart.once"))
        self._fit()
        self._show_busy()

    def _sentence_of(self, debate: Debate, *, ended: bool) -> str:
        """Return the text for a debate without a verdict, with the reason."""
        words, verdict = self._language, debate.verdict
        if verdict is None:
            small = all(one.provider == EMBEDDED for one in debate.participants)
            if ended and small and not self._judges:
                return words("failure.too_small")
            return words("verdict.not_yet" if ended else "verdict.at_the_end")
        if not verdict.failure:
            return "".join(one.text for one in readings_points(verdict, words))
        why = words.problem(verdict.failure)
        return words("verdict.last_words", why=why) if verdict.open else why

    def _show_busy(self) -> None:
        if self._asked is None:
            self._tick.stop()
            return
        name, since = self._asked
        seconds = max(0, int(time.monotonic() - since))
        asking = self._language("verdict.asking", name=name, seconds=seconds)
        self._busy.setText(self._checking() or asking)
        if not self._tick.isActive():
            self._tick.start()

    def _cite(self, message_id: str) -> Cite | None:
        """Return the label of a cited message, None if it is missing."""
        message = self._messages.get(message_id)
        if message is None:
            return None
        words = self._language
        author = message.author
        name = user_name(author, words.texts) if message.role == Role.USER else " ".join(author.name.split())
        short = words("verdict.cite", name=name, round=message.round)
        return short, words("verdict.cite.go", name=name, round=message.round)

    def _retranslate(self) -> None:
        words = self._language
        verdict = self._session.debate.verdict if self._session is not None else None
        judged = verdict is not None and not verdict.failure
        self._answer.show_points(verdict.answer if verdict else (), self._cite)
        self._last_words.show_points(verdict.open if verdict and not judged else (), self._cite)
        self._agreed.show_points(verdict.agreed if verdict else (), self._cite)
        self._open.show_points(verdict.open if verdict and judged else (), self._cite)
        if self._session is not None:
            self.no_votes.show_debate(self._session.debate, may_check=not self._read_only)
        report = self._report()
        self._minority.show_points(report, self._cite)
        self._minority_card.setVisible(bool(report))
        self._agreed_card.setVisible(bool(verdict and verdict.agreed))
        self._open_card.setVisible(bool(verdict and judged and verdict.open))
        self._again.show_words(words("verdict.ask_again"))
        cites = [cite for text in (self._minority, self._agreed, self._open) for cite in text.stops]
        asks = (self._stop, self._judge, self.ask, self._provider, self._decide)
        above = (self._again, self._copy, *self._answer.stops, *self._last_words.stops)
        put_in_tab_order((*above, *asks, *cites, self.chart))
        self._refresh()

    # Parts

    def _lay_out(self, margin: int) -> None:
        body = QWidget()
        self._card = self._verdict_card()
        self._pair = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._pair.setSpacing(12)
        self._minority_card = self._list_card("users", "text", self._minority_title, self._minority)
        self._agreed_card = self._list_card("circle-check", "ok", self._agreed_title, self._agreed)
        self._open_card = self._list_card("circle-alert", "warn", self._open_title, self._open)
        for card in (self._agreed_card, self._open_card):
            self._pair.addWidget(card, 1)
        self._chart_card = card = _card()
        self._chart_names = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._chart_names.addWidget(self._chart_title)
        self._chart_names.addStretch(1)
        self._chart_hint.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._chart_names.addWidget(self._chart_hint)
        vbox(
            hbox(
                HeadingIcon(self._look, "chart-line", "text"),
                (self._chart_names, 1),
                margins=(PADDING, 0, PADDING, 0),
                spacing=8,
            ),
            self.chart,
            hbox((self.no_votes, 1), margins=(PADDING, 0, PADDING, PADDING)),
            inside=card,
            margins=(15 - PADDING, 12, 15 - PADDING, 12 - PADDING),
            spacing=8 - PADDING,
        )
        vbox(
            self._card,
            self._minority_card,
            self._pair,
            card,
            STRETCH,
            inside=body,
            margins=(margin, 4, margin - BAR, 12),
            spacing=14,
        )
        around = QWidget()
        around.setLayout(centred(body, MAX_COLUMN + 2 * margin - BAR))
        self._page = scrolling(around, keeps_bar=True)
        vbox(self._page, inside=self)

    def _verdict_card(self) -> QFrame:
        card = _card()
        self._names = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._names.setSpacing(8)
        self._names.addWidget(self._title)
        self._names.addWidget(self._judge_chip)
        self._asks = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._asks.setSpacing(8)
        for way in (self._judge, self.ask, self._provider):
            self._asks.addWidget(way, 0, Qt.AlignmentFlag.AlignLeft)
        self._asks.addStretch(1)
        vbox(
            hbox(
                HeadingIcon(self._look, "gavel", "text"),
                self._names,
                STRETCH,
                self._again,
                self._copy,
                spacing=8,
            ),
            self._answer,
            self._sentence,
            self._last_words,
            self._problem,
            hbox((self._busy, 1), self._stop, spacing=8),
            self._asks,
            hbox(self._decide, STRETCH),
            inside=card,
            margins=(INSIDE, 12, INSIDE, 12),
            spacing=9,
        )
        return card

    def _list_card(self, icon: str, colour: str, title: QLabel, text: CitedText) -> QFrame:
        card = _card()
        vbox(
            hbox(HeadingIcon(self._look, icon, colour), title, STRETCH, spacing=8),
            text,
            STRETCH,
            inside=card,
            margins=(15, 12, 15, 12),
            spacing=8,
        )
        return card

    def _connect(self) -> None:
        for text in (self._answer, self._last_words, self._minority, self._agreed, self._open):
            text.cite_requested.connect(self.cite_requested)
        self._judge.currentTextChanged.connect(lambda text: self._judge.setToolTip(plain_tip(text)))
        self._again.clicked.connect(self._on_again)
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text()))
        self._language.changed.connect(self._retranslate)
        self._look.changed.connect(self._fit)

    def _on_again(self) -> None:
        """Open a menu of everybody who can judge."""
        menu = QMenu(self)
        menu.setObjectName("judges_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for judge in self._judges:
            name = self._judge_words(judge).replace("&", "&&")
            menu.addAction(name, lambda chosen=judge: self.verdict_requested.emit(chosen))  # type: ignore[misc]
        menu.popup(self._again.mapToGlobal(self._again.rect().bottomLeft()))


def _said_of(session: DebateSession) -> tuple[object, ...]:
    """Return what the texts of a verdict depend on, beside the messages."""
    return session.debate.verdict, session.debate.ballots, session.debate.no_votes, session.status


def _card() -> QFrame:
    card = QFrame()
    card.setProperty("kind", "big_card")
    return card
