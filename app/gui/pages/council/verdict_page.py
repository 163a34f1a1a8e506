"""The verdict on a debate or a council: what leads and how it came to that, what the minority holds,
the claims, and who does not vote and why.

The claims on which the answer turns: who holds and who denies each, and where that was said.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QWidget

from app.core.catalog import EMBEDDED
from app.core.council import NoVoteReason, Point
from app.core.council_parts import Claim
from app.core.session import Debate, Status, has_ended, main_code
from app.core.texts import unmarked
from app.engine.council import outcome
from app.engine.debate.replies import LETTERS, NEITHER
from app.engine.scores import FEW, Score, score_texts
from app.engine.voting import name_of, no_vote_text, seat_of
from app.gui.display.appearance import Language, Look
from app.gui.markdown.blocks import parse
from app.gui.markdown.document import plain_of
from app.gui.pages.council.blind_pick import blind_card
from app.gui.pages.council.council_box import TONES, Judged, outside_card
from app.gui.pages.council.council_columns import Letter, mark_of
from app.gui.pages.council.decision_steps import MARGIN, VERDICT, VOTES
from app.gui.pages.council.vote_chart import VoteChart
from app.gui.panels.debate.cited_text import CitedText
from app.gui.widgets import boxes, controls
from app.gui.widgets.badge import Chip, HeadingIcon
from app.gui.widgets.boxes import STRETCH, Fitting, FlowBox, card, empty, hbox, vbox
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, plain_tip, restyle, say

WIDEST, VOTES_WIDEST = 980, 760


class CitingPage(QWidget):
    """Shows sentences with what they cite; emits cite_requested(message id)."""

    cite_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.language, self.look = language, look

    def cited(self, kind: str, points: Sequence[Point], judged: Judged, *, listed: bool = False) -> CitedText:
        """Return sentences with what they cite of a debate or a council."""
        text = CitedText(kind, self, listed=listed)
        text.show_points(points, lambda item: judged.cite(item, self.language))
        text.cite_requested.connect(self.cite_requested)
        return text


class ClaimRow(QFrame):
    """A claim with what it cites, and who is on which side.

    Up and Down go to the row before and after, Enter to the first statement that it cites.
    """

    def __init__(self, page: CitingPage, judged: Judged, claim: Claim, *, question: bool = False) -> None:
        super().__init__()
        self.setProperty("kind", "claim")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._claim, self._requested = claim, page.cite_requested
        words, look = page.language, page.look
        names = {who: shown.name for who, shown in judged.people.items()}
        points = [Point(text=claim.text, cites=claim.cites)]
        text = page.cited("crux" if question else "points", points, judged)
        for stop in text.stops:
            stop.setAccessibleDescription(claim.text)
        settled = words("council.settled_by", text=claim.settled_by) if claim.settled_by else ""
        told = outcome.sides_of(claim, names, words, question=question)
        self.setAccessibleName(". ".join(filter(None, (claim.text, settled, told))))
        sides = FlowBox(gap=8)
        rest = {*names} - {*claim.holds, *claim.denies} if question else set()
        keys = ("crux.yes", "crux.no", "crux.open") if question else ("claim.holds", "claim.denies", "")
        for key, who in zip(keys, (claim.holds, claim.denies, rest), strict=True):
            if who and key:
                sides.add(self._side(look, judged, words(f"council.{key}", names="").strip(), who))
        hints = [hbox((Paragraph("hint", text=settled), 1))] if settled else []
        vbox(text, *hints, sides, inside=self, margins=(1, 5, 1, 5), spacing=4)

    def _side(self, look: Look, judged: Judged, title: str, who: Collection[str]) -> QWidget:
        side, parts = QWidget(), []
        for person, shown in judged.people.items():
            if person in who:
                parts += [mark_of(look, shown), plain_label("hint", text=shown.name)]
        hbox(plain_label("hint", text=title), *parts, inside=side, spacing=5)
        return side

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in controls.ENTER and self._claim.cites:
            self._requested.emit(self._claim.cites[0])
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            rows = [row for row in self.window().findChildren(ClaimRow) if row.isVisible()]
            place = rows.index(self) + (1 if key == Qt.Key.Key_Down else -1)
            if 0 <= place < len(rows):
                rows[place].setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().keyPressEvent(event)


class ClaimsPage(CitingPage):
    """Lists the claims of a council."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, look)
        self.setObjectName("claims_page")
        self._shown: object = None
        body = QWidget()
        self._inside = QWidget()
        self._inside.setMaximumWidth(WIDEST)
        hbox((self._inside, 1000), (QWidget(), 1), inside=body, margins=(18, 4, 8, 12))
        self._cards = vbox(spacing=12)
        vbox(self._cards, STRETCH, inside=self._inside)
        vbox(controls.scrolling(body, keeps_bar=True), inside=self)

    def show_claims(self, judged: Judged) -> None:
        """Show the claims of a council; what is shown already stays."""
        words, result = self.language, judged.result
        # A price that comes in must not take the row away that has the focus.
        shown = (words.texts.language, result.claims, result.cruxes, result.unsupported, dict(judged.people))
        if shown == self._shown:
            return
        self._shown = shown
        empty(self._cards)
        row = partial(ClaimRow, self, judged)
        if result.cruxes:
            crux = partial(row, question=True)
            self._add("turns_on", _cruxes_text(result, words), *map(crux, result.cruxes))
        if result.claims:
            self._add("claims", str(len(result.claims)), *map(row, result.claims))
        if result.unsupported:
            text = self.cited("points", [Point(text="", cites=result.unsupported)], judged)
            self._add("unsupported", "", Paragraph("hint", text=words("council.unsupported.hint")), text)

    def _add(self, name: str, count: str, *parts: QWidget) -> None:
        title = plain_label("card_title", text=self.language(f"council.{name}"))
        head = hbox(title, STRETCH, plain_label("hint", text=count))
        self._cards.addWidget(card(f"claims_{name}", head, *parts, spacing=6))


SIDE_BY_SIDE = 820
BAND = {"ok": ("circle-check", "ok"), "warn": ("circle-alert", "warn"), "neutral": ("circle-alert", "text_2")}
"""The icon and its colour for each tone of how reliable a verdict is."""
MARKS = {"agreed": ("circle-check", "ok"), "open": ("circle-alert", "warn")}
RIGHT = 330
BAR = 6


class TallyBar(QWidget):
    """The shares of the options as one bar, the headline's dark; the numbers stand beside it."""

    def __init__(self, look: Look, shares: Sequence[tuple[float, bool]]) -> None:
        super().__init__()
        self._look, self._shares = look, shares
        self.setFixedHeight(BAR)
        self.setMinimumWidth(60)
        look.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        whole, tokens, left = sum(share for share, _ in self._shares) or 1.0, self._look.tokens, 0.0
        for share, leads in self._shares:
            width = self.width() * share / whole
            painter.setBrush(QColor(tokens.text if leads else tokens.line_strong))
            painter.drawRect(QRectF(left, 0, max(0.0, width - 2), BAR))
            left += width


class HolderBar(QWidget):
    """A bar in the colour of a participant, at the side of what it holds."""

    def __init__(self, look: Look, index: int) -> None:
        super().__init__()
        self._look, self._index = look, index
        self.setFixedWidth(3)
        look.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(self._look.tokens.speaker(self._index)[0]))


class VerdictPage(Fitting, CitingPage):
    """Shows a verdict, or of a debate that has none how to get it.

    Emits argue_requested(option id), check_requested(participant id), join_requested() for who answered from
    outside, blind_requested(), decision_requested(), judge_requested("provider/model"), connect_requested()
    to add a provider, and read() where the user sees a verdict that was not kept as read.
    """

    read = Signal()
    join_requested = Signal()
    blind_requested = Signal()
    argue_requested = Signal(str)
    check_requested = Signal(str)
    weigh_requested = Signal()
    decision_requested = Signal()
    judge_requested = Signal(str)
    connect_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, look)
        self.setObjectName("verdict_page")
        self._shown: Judged | None = None
        self._step, self._beside, self._is_old = VERDICT, False, False
        self._chosen = ""
        self.held_up: Callable[[str], tuple[int, int]] = lambda _state: (0, 0)
        """Returns how many results of a state turned out right, of how many that are known;
        set by who knows the journal.
        """
        self.scores: Callable[[], Mapping[str, Score]] = dict
        """Returns how right each model has been, by its "provider/model"; set by who knows the journal."""
        self.decision: Callable[[str], tuple[str, str] | None] = lambda _session_id: None
        """Returns what was decided in a session and how that stands; set by who knows the journal."""
        body = QWidget()
        self._columns = hbox(STRETCH, inside=body, margins=(MARGIN, 12, MARGIN - 10, 12), spacing=14)
        self.over_form = QWidget(self)
        """What stands over the form of the decision, where that stands beside the verdict."""
        self._over = vbox(inside=self.over_form)
        self.over_form.hide()
        self._page = controls.scrolling(body, keeps_bar=True)
        vbox(self._page, inside=self)
        language.changed.connect(self.refresh)

    def show_verdict(self, judged: Judged, step: str = VERDICT) -> None:
        """Show a debate or a council, in the step VOTES what all voted alone; what is shown already stays."""
        if (judged, step) == (self._shown, self._step) and not self._is_old:
            return
        if self._shown is None or (self._shown.session.id, self._step) != (judged.session.id, step):
            self._page.verticalScrollBar().setValue(0)
        self._shown, self._step, self._is_old = judged, step, False
        focus = boxes.focused_in(self) or boxes.focused_in(self.over_form)
        focused = focus.objectName() if focus is not None else ""
        empty(self._columns)
        empty(self._over)
        left, right = QWidget(), QWidget()
        found = votes = [self._before_after(judged)]
        beside: list[QFrame | None] = []
        if step == VOTES:
            left.setMaximumWidth(VOTES_WIDEST)
        else:
            found = [
                self._verdict_card(judged),
                *self._minority(judged),
                self._cruxes(judged),
                self._lists(judged),
                blind_card(self.language, self.look, judged, self.blind_requested.emit),
            ]
            beside = [*votes, outside_card(self.language, self.look, judged, self.join_requested.emit)]
            beside.append(self._journal(judged))
        for side, cards in ((left, found), (right, beside)):
            vbox(*filter(None, cards), STRETCH, inside=side, spacing=12)
        self._columns.insertWidget(0, left, 1000)
        if self._beside:
            self._over.addWidget(right)
            boxes.put_where(self.over_form, boxes.stops_in(right))
        else:
            self._columns.insertWidget(1, right)
        right.setVisible(any(beside))
        self._right = right
        self._fit()
        boxes.put_where(self, [*boxes.stops_in(left), *([] if self._beside else boxes.stops_in(right))])
        # What has the focus is made anew; without this the focus would leave the page.
        if focused:
            again = (side.findChild(QWidget, focused) for side in (left, right))
            (next(filter(None, again), None) or self).setFocus()
        if self.isVisible():
            self._tell_read()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_old:
            self._show_again()
        self._tell_read()

    def _tell_read(self) -> None:
        # While a page changes, a verdict may stand there for no time at all.
        QTimer.singleShot(0, self, self._tell_if_seen)

    def _tell_if_seen(self) -> None:
        if self.isVisible() and self._shown is not None and not self._shown.record.council.read_at:
            self.read.emit()

    def refresh(self) -> None:
        """Show the verdict again, after the journal or the language has changed: now, or with the page."""
        self._is_old = True
        if self.isVisible():
            self._show_again()

    def _show_again(self) -> None:
        if self._shown is not None:
            self.show_verdict(self._shown, self._step)

    def show_form(self, *, beside: bool) -> None:
        """Say whether the form of the decision stands beside the verdict, which then does not lead to it;
        the votes stand over it then.
        """
        if beside != self._beside:
            self._beside = beside
            self.refresh()

    def _fit(self) -> None:
        if self._shown is None:
            return
        wide = self.width() >= SIDE_BY_SIDE and not self._beside
        boxes.set_across(self._columns, wide)
        boxes.hold_width(self._right, RIGHT if wide else 0)

    # Parts

    def _verdict_card(self, judged: Judged) -> QFrame:
        words, result, record = self.language, judged.result, judged.record
        council, read = record.debate.is_council, record.readings()
        head: list[QWidget] = [plain_label("card_title", text=words("verdict.title"))]
        if council or record.voted_rounds:
            chip = Chip(self.look, self)
            chip.set_text(outcome.state_text(result, words), TONES.get(outcome.State(result.state), "warn"))
            head = [chip]
        # Where all answered anew and voted at once, nothing was argued.
        argued = bool(result.stop) and record.rounds > record.concludes
        how = words(f"council.stop.{result.stop}", count=record.rounds) if argued else ""
        copy = controls.icon_button(self.look, "copy", "copy_council", self._on_copy)
        say(copy, words, tip="verdict.copy")
        if not (council or record.voted_rounds or record.council.judges):
            copy.hide()
        band = self._band(judged)
        parts: list[QBoxLayout] = [hbox((band, 1))] if band is not None else []
        parts.append(hbox(*head, (ElidedLabel("hint", text=how), 1), copy, spacing=10))
        if judged.problem:
            parts.append(hbox((Paragraph("error", text=judged.problem), 1)))
        held, count = self.held_up(result.state)
        if count:
            parts.append(hbox((Paragraph("hint", text=words("journal.held_up", held=held, count=count)), 1)))
        answered = words("council.answered", count=result.answered, asked=result.asked)
        lacks = [answered] if council else []
        if "differences" in result.degraded:
            lacks.append(words("council.grouped"))
        if result.after.missing and record.rounds and record.voted_rounds:
            names = ", ".join(judged.people[item].name for item in result.after.missing)
            lacks.append(words("council.missing", names=names))
        lacks += outcome.unread_lines(result, {who: item.name for who, item in judged.people.items()}, words)
        if lacks:
            warned = len(lacks) > 2 or result.degraded
            parts.append(hbox((Paragraph("warn" if warned else "hint", text=" · ".join(lacks)), 1)))
        contested = result.against == "judge" and result.choice != NEITHER
        shown = [*result.leading, *([result.choice] if contested else [])]
        # Where nobody voted, what a judge chose only once is shown with that.
        shown = shown or [reading.choice for reading in read[:1]]
        row = hbox(spacing=12)
        for place, option in enumerate(shown):
            title = words("council.by_judge" if place else "council.by_ballots") if contested else ""
            row.addLayout(self._headline(judged, option, title), 1)
        if shown:
            parts.append(hbox((row, 1)))
        if result.against:
            why = words(f"council.state.contested.{result.against}")
            parts.append(hbox((Paragraph("hint", text=why), 1)))
        values = result.state == outcome.State.VALUES
        if (values or record.council.weighed) and judged.may_ask:
            said = words("council.values.weigh" if values else "council.values.apart")
            weigh = controls.button("link", "council_weigh", self.weigh_requested.emit, text=said)
            hint = [(Paragraph("hint", text=words("council.state.values.hint")), 1)] if values else []
            parts.append(hbox(*hint, weigh, STRETCH))
        if any(result.after.votes.values()):
            parts.append(self._tallies(judged))
        if not (result.judge or council or read):
            parts += self._ways_to_a_verdict(judged)
        if read and judged.may_ask and judged.judges:
            parts.append(hbox(STRETCH, self._ask_again(judged.judges)))
        return card("council_verdict", *parts, spacing=10)

    def _band(self, judged: Judged) -> QFrame | None:
        """Return how reliable the verdict is, in words and colour, and who judged; None where nobody was
        to judge.
        """
        words, result = self.language, judged.result
        said, tone = outcome.reliability(result, judged.record, words)
        if not said or not (result.judge or has_ended(judged.session)):
            return None
        band = named("verdict_band", QFrame())
        band.setProperty("kind", "banner")
        text = Paragraph(text=said)
        icon = HeadingIcon(self.look, *BAND[tone])
        part = "verdict.judge.inside" if result.inside else "verdict.judge.outside"
        who = plain_label(text=words(part, name=outcome.judge_name(result)) if result.judge else "")
        band.setAccessibleName(f"{said} {who.text()}".rstrip())
        hbox(icon, (text, 1), who, inside=band, margins=(12, 8, 12, 8), spacing=8)
        restyle(band, text, who, tone=tone)
        return band

    def _ways_to_a_verdict(self, judged: Judged) -> list[QBoxLayout]:
        """Return why there is no verdict on a debate yet, and what asks for it."""
        words, session, judges = self.language, judged.session, judged.judges
        small = not judges and all(item.provider == EMBEDDED for item in session.debate.participants)
        said = "failure.too_small" if small else "verdict.not_yet"
        if not has_ended(session):
            said = "verdict.judging" if session.status == Status.RUNNING else "verdict.at_the_end"
        # The votes at an end before the last say enough.
        known = has_ended(session) and not judged.may_ask and judged.record.voted_rounds
        told = bool(judged.result.failure or known)
        parts: list[QBoxLayout] = [] if told else [hbox((Paragraph("card_text", text=words(said)), 1))]
        if not judged.may_ask:
            return parts
        if not judges:
            connect = words("first.connect.button")
            made = controls.button("", "debate_add_provider", self.connect_requested, text=connect)
            return [*parts, hbox(made, STRETCH)]
        choice = say(named("debate_judge", controls.Choice(self.look)), words, name="verdict.judge")
        choice.offer([(judge, self.judge_words(judge, name)) for judge, name in judges.items()], self._chosen)
        choice.setToolTip(plain_tip(choice.currentText()))
        choice.currentIndexChanged.connect(lambda _place: self._on_judge(choice))
        ask = controls.button("primary", "debate_ask", text=words("verdict.ask"))
        ask.clicked.connect(lambda: self.judge_requested.emit(choice.value()))
        ways = FlowBox()
        for way in (choice, ask) if len(judges) > 1 else (ask,):
            ways.add(way)
        return [*parts, hbox((ways, 1))]

    def _on_judge(self, choice: controls.Choice) -> None:
        self._chosen = choice.value()
        choice.setToolTip(plain_tip(choice.currentText()))

    def _ask_again(self, judges: Mapping[str, str]) -> QWidget:
        """Return a button with a menu of all who can judge a debate once more."""
        again = controls.ShorteningButton("link", "debate_ask_again")
        again.show_words(self.language("verdict.ask_again"))

        def open_menu() -> None:
            menu = controls.passing_menu(self, "judges_menu")
            for judge, name in judges.items():
                text = unmarked(self.judge_words(judge, name))
                menu.addAction(text, partial(self.judge_requested.emit, judge))
            menu.popup(again.mapToGlobal(again.rect().bottomLeft()))

        again.clicked.connect(open_menu)
        return again

    def judge_words(self, judge: str, name: str) -> str:
        """Return a judge as it is offered: one that takes no part has no other name than its model's."""
        model = seat_of(judge)[1]
        return self.language("setup.judge.outside", name=model) if name == model else f"{name} · {model}"

    def _headline(self, judged: Judged, option: str, title: str) -> QBoxLayout:
        record = judged.record
        tile = Letter(self.look, record.letters.get(option, ""), leads=option == judged.result.headline)
        name = record.texts.get(option, "")
        case, cites = judged.result.text, judged.result.cites
        if option != judged.result.headline:
            case, cites = outcome.case_for(record, option)
        case = plain_of(parse(case), 0, len(case))
        text = self.cited("verdict", [Point(text=case, cites=cites)] if case else [], judged)
        head = Paragraph("card_title", text=name)
        above = [plain_label("hint", text=title)] if title else []
        return vbox(*above, hbox(tile, (head, 1), spacing=10), text, STRETCH, spacing=8)

    def _tallies(self, judged: Judged) -> QBoxLayout:
        words, after, letters = self.language, judged.result.after, judged.record.letters
        weighted = "council.weighted.calibrated" if judged.record.calibrated else "council.weighted"
        tallies: dict[str, Mapping[str, float]] = {"council.plain": after.votes, weighted: after.weighted}
        lines: list[QBoxLayout | QWidget] = []
        for key, votes in tallies.items():
            held = sorted(((count, vote) for vote, count in votes.items() if count), key=lambda one: -one[0])
            bar = TallyBar(self.look, [(count, item == judged.result.headline) for count, item in held])
            text = ElidedLabel("value", text=" · ".join(f"{letters[one]} {count:.3g}" for count, one in held))
            name = plain_label("hint", text=words(key))
            name.setToolTip(plain_tip(words(f"{key}.hint")))
            lines += [hbox(name, (text, 1), spacing=10), bar]
        return vbox(*lines, spacing=4)

    def _minority(self, judged: Judged) -> list[QFrame]:
        words, views = self.language, judged.result.minority
        if not views:
            return []
        head = self._head("flag", words("council.minority_report"))
        views_shown = (self._view(judged, view) for view in views)
        return [card("council_minority", head, *views_shown, spacing=10)]

    def _view(self, judged: Judged, view: outcome.View) -> QBoxLayout:
        words = self.language
        holders = [judged.people[who] for who in view.holders if who in judged.people]
        said = outcome.view_line(view, judged.record, words)
        line = Paragraph("card_title" if view.now else "hint", text=said)
        parts = [hbox(*(mark_of(self.look, shown) for shown in holders), (line, 1), spacing=6)]
        if view in outcome.in_full(judged.result):
            points = [Point(text=_on_one_line(view.text), cites=view.cites[-1:])]
            text = self.cited("points", points, judged)
            parts.append(hbox((text, 1)))
            right = words("council.right_if", text=view.right_if) if view.right_if else ""
            shown_if = [HeadingIcon(self.look, "target", "text_2")] if right else []
            ways = []
            if judged.session.debate.is_council:
                argue = partial(self.argue_requested.emit, view.option)
                again = controls.button("", f"council_argue_{view.option}", argue)
                again.setText(f"{words('council.argue')}  {judged.prices.get('argue', '')}".strip())
                again.setEnabled("argue" in judged.prices)
                again.setToolTip(plain_tip(words("council.argue.hint")))
                again.setAccessibleDescription(line.text())
                ways.append(again)
            if right or ways:
                parts.append(hbox(*shown_if, (Paragraph("hint", text=right), 1), *ways, spacing=8))
        bar = HolderBar(self.look, holders[0].colour if holders else 0)
        return hbox(bar, (vbox(*parts, spacing=6), 1), spacing=12)

    def _cruxes(self, judged: Judged) -> QFrame | None:
        words, cruxes = self.language, judged.result.cruxes
        if not cruxes:
            return None
        of = plain_label("hint", text=_cruxes_text(judged.result, words))
        rows = (hbox((ClaimRow(self, judged, crux, question=True), 1)) for crux in cruxes)
        return card("council_cruxes", self._head("spline", words("council.turns_on"), of), *rows, spacing=10)

    def _lists(self, judged: Judged) -> QFrame | None:
        words, record = self.language, judged.record
        read = next((reading for reading in record.readings() if reading.agreed or reading.open), None)
        last: list[Point] = []
        if judged.result.failure and not record.debate.is_council:
            said = (outcome.last_words(record, who) for who in record.openings)
            last = [Point(text=_on_one_line(text), cites=cites[-1:]) for text, cites in said]
        parts: list[QBoxLayout] = []
        agreed, open_ = (read.agreed, read.open) if read else ((), ())
        lists = (("verdict.agreed", "agreed", agreed), ("verdict.open", "open", open_))
        for key, kind, points in (*lists, ("verdict.last_statements", "open", last)):
            if points:
                text = self.cited("points", points, judged, listed=True)
                icon = HeadingIcon(self.look, *MARKS[kind])
                title = hbox(icon, plain_label(kind, text=words(key)), STRETCH, spacing=6)
                parts.append(vbox(title, text, spacing=4))
        return card("council_points", *parts, spacing=10) if parts else None

    def _before_after(self, judged: Judged) -> QFrame | None:
        """Return what all voted first, or before a council's what-if round, and last; None where nobody was
        to vote.
        """
        words, record = self.language, judged.record
        headline = record.letters.get(judged.result.headline)
        letters: dict[int | None, str] = dict(enumerate(LETTERS))
        # Until there are votes in a what-if round, those before say nothing of it.
        polls = record.polls if record.voted_rounds[int(record.concludes) :] else []
        debate, check = judged.session.debate, self.check_requested.emit
        no_votes = no_vote_rows(words, debate, check, may_check=judged.may_ask)
        if not polls and not no_votes:
            return None
        several = len(polls) > 1
        begun = record.before.polls[-1:] if record.before is not None else polls[:1]
        secret = plain_label("hint", text=words("council.secret"))
        parts = [self._head("chart-line", words("council.plain"), secret)]
        if several:
            parts.append(hbox((VoteChart(words, self.look, record, judged.people), 1)))
        moved, last_cites = 0, {move.participant: move.cites for move in judged.result.moves}
        for who, shown in judged.people.items() if polls else ():
            if who not in record.ballots:
                continue
            votes = [(stood, stood.vote(who, number)) for stood, number in (*begun, (record, record.rounds))]
            held = [letters.get(record.place_of(vote.choice, stood), "–") for stood, vote in votes]
            before, after = held
            flipped = before not in ("–", after)
            moved += flipped
            tiles: list[QWidget] = []
            for (_, vote), letter in [*zip(votes, held, strict=True)][not several :]:
                tile = Letter(self.look, letter, leads=letter == headline)
                sure = "" if vote.confidence is None else words("council.percent", percent=vote.confidence)
                arrow = [plain_label("agreed" if flipped else "hint", text="→")] if tiles else []
                tiles += [*arrow, tile, plain_label("hint", text=sure)]
            causes = last_cites.get(who, ())
            why = [self.cited("points", [Point(text="", cites=causes)], judged)] if causes else []
            row = QWidget()
            name = ElidedLabel("", text=shown.name)
            hbox(mark_of(self.look, shown), (name, 1), *tiles, inside=row, spacing=6)
            said = "council.row" if several else "verdict.vote"
            row.setAccessibleName(words(said, name=shown.name, before=before, after=after, option=after))
            parts.append(vbox(row, *why, spacing=2))
        if several:
            said = "council.moved" if moved else "council.nobody_moved"
            summary = words(said, count=moved, all=len(record.ballots))
            parts.append(hbox((Paragraph("hint", text=summary), 1)))
        if told := outcome.moves_line(judged.result, words):
            parts.append(hbox((Paragraph("hint", text=told), 1)))
        if adrift := outcome.drifted(record):
            names = ", ".join(judged.people[item].name for item in adrift if item in judged.people)
            parts.append(hbox((Paragraph("warn", text=words("council.drifted", names=names)), 1)))
        parts += [hbox((row, 1)) for row in no_votes]
        return card("council_before_after", *parts, spacing=10)

    def _journal(self, judged: Judged) -> QFrame | None:
        scored, voted = self._scored(judged), judged.record.readings() or judged.record.voted_rounds
        if self._beside or not (judged.may_ask and voted):
            return card("council_journal_card", *scored, spacing=10) if scored else None
        words, decision = self.language, self.decision(judged.session.id)
        decided, stands = decision or ("", "")
        asks = words("journal.enter" if decided else "journal.keep_decision")
        decide = controls.button("", "verdict_decision", self.decision_requested.emit, text=asks)
        was = [Paragraph("card_text", text=words("journal.was", option=decided))] if decided else []
        said = Paragraph("hint", text=stands if decided else words("journal.card"))
        head, ways = self._head("bookmark", words("journal.title")), hbox(STRETCH, decide)
        return card("council_journal_card", head, *was, said, ways, *scored, spacing=10)

    def _head(self, icon: str, title: str, *more: QWidget) -> QBoxLayout:
        """Return the first line of a card: its icon and title, and at the right what else is said."""
        label = plain_label("card_title", text=title)
        return hbox(HeadingIcon(self.look, icon, "text"), label, STRETCH, *more, spacing=8)

    def _scored(self, judged: Judged) -> list[QBoxLayout]:
        """Return how right each participant's model has been so far; nothing where too little is known."""
        words, known = self.language, self.scores()
        rows = []
        for participant in judged.session.debate.participants:
            score = known.get(name_of(participant.seat))
            if score is None or score.count < FEW or participant.id not in judged.people:
                continue
            shown, row = judged.people[participant.id], QWidget()
            said = ", ".join(score_texts(score, words))
            hbox(mark_of(self.look, shown), (ElidedLabel("hint", text=said), 1), inside=row, spacing=6)
            row.setAccessibleName(f"{shown.name}: {said}")
            rows.append(row)
        title = plain_label("hint", text=words("journal.standing"))
        return [vbox(title, *rows, spacing=4)] if rows else []

    def _on_copy(self) -> None:
        judged = self._shown
        if judged is None:
            return
        messages, words = judged.messages, self.language
        parts = outcome.council_parts(judged.record, judged.result, words)
        text_of = partial(outcome.point_text, messages=messages, words=words)
        texts = ([heading, *map(text_of, found)] for heading, found in parts)
        QGuiApplication.clipboard().setText("\n\n".join("\n".join(lines) for lines in texts))


def _cruxes_text(result: outcome.CouncilOutcome, words: Language) -> str:
    """Return how many claims an answer turns on, of how many; "" where no others are known."""
    count, every = len(result.cruxes), result.claim_count
    return words("council.cruxes", count=count, claims=every) if result.claims else ""


def _on_one_line(text: str) -> str:
    """Return a statement's Markdown as plain text on one line."""
    return " ".join(plain_of(parse(text), 0, len(text)).split())


Check = Callable[[str], object]
CHECKED = (NoVoteReason.FOLLOWS_ORDER, NoVoteReason.SKIPPED)
"""The reasons that another check may change."""


def no_vote_rows(words: Language, debate: Debate, check: Check, *, may_check: bool) -> list[QWidget]:
    """Return a row for each who does not vote; its button calls `check` with the participant's id."""
    rows = []
    for item in debate.participants:
        if not (text := no_vote_text(debate, item, words)):
            continue
        row = QWidget()
        again = controls.button("link", f"check_again_{item.id}", partial(check, item.id))
        again.setText(words("voting.again"))
        again.setAccessibleName(f"{again.text()}: {item.name}")
        if not may_check or main_code(debate.no_vote_of(item)) not in CHECKED:
            again.hide()
        said = named(f"no_vote_{item.id}", Paragraph("hint", text=text))
        hbox((said, 1, Qt.AlignmentFlag.AlignVCenter), again, inside=row, spacing=8)
        rows.append(row)
    return rows
