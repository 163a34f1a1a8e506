"""What stands over the input of a chat: the sub-agents that work, what came of the work,
and the files made in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import takewhile

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QStyleOptionViewItem, QWidget

from app.core.criteria import CRITERIA, Criterion, CriterionState, PlanItem, count_met, met_text, shown_by
from app.core.message import MessageState, Role, Total, money_text
from app.core.session import Status
from app.core.session_files import FileVersion
from app.core.texts import clock_text, exact, size_text, unmarked
from app.core.turns import asked_at
from app.engine.live_session import LiveSession
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.display.descriptions import time_text
from app.gui.tasks import timer
from app.gui.transcript.transcript_model import TurnBook, shown_name
from app.gui.widgets.badge import HeadingIcon
from app.gui.widgets.boxes import STRETCH, Fitting, Frame, Part, drop, empty, frame, hbox, set_across, vbox
from app.gui.widgets.controls import ENTER, ShorteningButton, button, icon_button, keep_place, scrolling
from app.gui.widgets.item_list import Index, ItemDelegate, ItemList, ListStyle, RowItem
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, plain_label, plain_tip, say, show_as

ROW, MOST_ROWS = 30, 4
ALONE = 2
"""How many turns there are where nobody else was called: the user's and the answer."""


class WorkingStrip(Frame):
    """Shows who works below the last turn; emits stop_requested(turn id), and left() when it goes
    with the focus.
    """

    stop_requested = Signal(str)
    left = Signal()

    def __init__(self, language: Language, look: Look, book: Callable[[], TurnBook]) -> None:
        super().__init__("composer", "working_strip")
        self._language, self._look, self._book = language, look, book
        self._root = ""
        self._rows: dict[str, AgentRow] = {}
        self._column = vbox(spacing=0)
        vbox(scrolling(frame("", self._column)), inside=self, margins=(12, 2, 4, 2))
        self._clock = timer(self, 1_000, self._refresh)
        language.changed.connect(self._refresh)
        self.hide()

    def show_turn(self, root: str) -> None:
        """Show who works below a turn, "" for nobody."""
        self._root = root
        self._refresh()

    def _refresh(self) -> None:
        book, root = self._book(), self._root
        turns = book.below(root)[1:] if root else []
        if root and root == book.work_turn:
            # A step has its Stop in the list of steps.
            turns = [turn for turn in turns if book.whole(turn)[0].parent_turn_id != root]
        works = [turn for turn in turns if book.goes_on(turn)]
        if not self._rows.keys() <= set(turns):
            # Another session is shown.
            self._clear()
        for turn in works:
            if turn not in self._rows:
                self._add(turn)
        for turn, row in self._rows.items():
            row.show_turn(self._language, book, turn, works=turn in works)
        if not works:
            self._clear()
        elif not self._clock.isActive():
            self._clock.start()
        self.setFixedHeight(min(MOST_ROWS, len(self._rows)) * ROW + 6)
        self.setVisible(bool(works))

    def _add(self, turn: str) -> None:
        row = self._rows[turn] = AgentRow(self._look, len(self._rows))
        row.stop.clicked.connect(lambda: self.stop_requested.emit(turn))
        self._column.addWidget(row)

    def _clear(self) -> None:
        self._clock.stop()
        if any(row.stop.hasFocus() for row in self._rows.values()):
            self.left.emit()
        while self._rows:
            drop(self._rows.popitem()[1])


class AgentRow(QWidget):
    """A sub-agent's name, time, cost and Stop."""

    def __init__(self, look: Look, place: int) -> None:
        super().__init__()
        self.setFixedHeight(ROW)
        self._name, self._done = ElidedLabel("value"), plain_label("meta")
        self.stop = icon_button(look, "square", f"agent_stop_{place}")
        keep_place(self.stop)
        hbox((self._name, 1), self._done, self.stop, inside=self, spacing=10)

    def show_turn(self, words: Language, book: TurnBook, turn: str, *, works: bool) -> None:
        """Show how far a turn is; one that no longer works keeps its place, without Stop."""
        said = [message for each in book.below(turn) for message in book.whole(each)]
        name = shown_name(said[0].author, words.texts)
        used = [message.usage for message in said if message.usage is not None]
        cost = money_text(words, Total.of(*used)) if used else ""
        time = time_text(book.elapsed(turn), words) if works else words("strip.over")
        self._name.setText(name)
        self._done.setText(" · ".join(filter(None, (time, cost))))
        name_button(self.stop, words("strip.stop", name=name))
        self.stop.setVisible(works)


# How high what scrolls in the card is at least; and all of it, or the card comes folded.
LEAST_ROOM, ROOM = 30, 200
# From this width of the card the criteria stand beside the file that is shown.
WIDE = 700
# What stands beside the rows: the margins and the scroll bar; and what over and under the parts of the card.
SIDES, AROUND = 44, 38
_MARKS: dict[str, tuple[str, str]] = {
    CriterionState.MET: ("circle-check", "ok"),
    CriterionState.UNMET: ("circle-x", "warn"),
    CriterionState.UNKNOWN: ("circle-question-mark", "warn"),
    CriterionState.ACCEPTED: ("check", "text_2"),
    CriterionState.OPEN: ("circle-dashed", "text_2"),
}


class CriteriaList(QWidget):
    """Shows how each criterion stands, what shows that, and who checked it; hidden while there is none.

    Signals: message_wanted(message id) and file_wanted(path) for what shows a criterion.
    """

    message_wanted = Signal(str)
    file_wanted = Signal(str)

    def __init__(self, language: Language, look: Look, *, wide: bool) -> None:
        """Where it is `wide`, who checked a criterion stands beside it, else under it."""
        super().__init__()
        self._language, self._look, self._wide = language, look, wide
        self._criteria: Sequence[Criterion] = ()
        self.column = vbox(inside=self, spacing=8)
        language.changed.connect(self._rebuild)
        self.hide()

    def show_criteria(self, criteria: Sequence[Criterion]) -> None:
        """Show these criteria; their rows stay where nothing changed."""
        if criteria != self._criteria:
            self._criteria = criteria
            self._rebuild()

    def be_wide(self, wide: bool) -> None:
        """Let who checked a criterion stand beside it, or under it."""
        if wide != self._wide:
            self._wide = wide
            self._rebuild()

    def _rebuild(self) -> None:
        empty(self.column)
        self.setVisible(bool(self._criteria))
        for criterion in self._criteria:
            row = self._row(criterion)
            self.column.addWidget(row)
            # Qt would do so later, and count its height as 0 until then.
            row.show()

    def _row(self, criterion: Criterion) -> QFrame:
        words, by = self._language, criterion.checked_by
        text = shown_by(criterion, lambda doubt: words.texts.named("criterion", doubt))
        parts: list[Part] = [Paragraph("value", text=criterion.text)]
        if (shown := criterion.evidence) is not None:
            quote = ShorteningButton("link", "result_evidence")
            quote.show_words(unmarked(text), plain_tip(text))
            quote.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            wanted = self.file_wanted if shown.file else self.message_wanted
            quote.clicked.connect(partial(wanted.emit, shown.file or shown.message_id))
            parts.append(hbox(quote, STRETCH))
        elif text:
            parts.append(Paragraph("hint", text=text))
        mark = HeadingIcon(self._look, *_MARKS.get(criterion.state, _MARKS[CriterionState.OPEN]))
        mark.setAccessibleName(words.texts.named("criterion", criterion.state))
        beside: list[Part] = []
        if by is not None:
            family = words("result.other_family" if by.other_family else "result.same_family")
            who = plain_label("hint" if by.other_family else "warn", text=f"{by.name} · {family}")
            (beside if self._wide else parts).append(who)
        top = (mark, 0, Qt.AlignmentFlag.AlignTop)
        return frame("", hbox(top, (vbox(*parts, spacing=2), 1), *beside, spacing=10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of work: what was asked, what it cost and took, its criteria, and the to-dos that are open;
    `price` is about what the rest costs.
    """

    asked: str
    spent: str
    criteria: tuple[Criterion, ...] = ()
    left: tuple[PlanItem, ...] = ()
    price: str = ""


def result_of(live: LiveSession, files: Sequence[FileVersion], words: Language) -> Result | None:
    """Return what came of a session since the user asked last; None while it runs, and for a question
    that was answered.
    """
    session = live.session
    if session.chat is None or session.status in (Status.RUNNING, Status.WAITING):
        return None
    said = live.messages[max(0, asked_at(live.messages, group=session.group is not None)) :][::-1]
    # What a checker says has a part, and is no answer.
    answers = [message for message in said if not message.part]
    answer = next((message.state for message in answers if message.role == Role.ASSISTANT), "")
    ended = session.status in (Status.IDLE, Status.COMPLETED) and answer == MessageState.DONE
    # Where it hands nothing over, a group's orchestrator has answered by itself.
    led = session.group is not None and len({message.turn_id for message in answers}) > ALONE
    made = any(file.created_at >= said[-1].created_at for file in files)
    criteria, left = session.all_criteria(), session.plan.open if session.plan is not None else ()
    comes = ended and (criteria or session.workflow is not None or led or made)
    if not comes and not any(criterion.round for criterion in criteria):
        return None
    times = [datetime.fromisoformat(message.created_at) for message in said if message.created_at]
    taken = clock_text(int((times[0] - times[-1]).total_seconds())) if times else ""
    # A round begins with what a checker sent back.
    last = takewhile(lambda message: message.author.id != CRITERIA, said)
    cost, again = (Total.of(*(message.usage for message in some if message.usage)) for some in (said, last))
    return Result(
        asked=said[-1].content if said[-1].by_user else "",
        spent=" · ".join(filter(None, (money_text(words, cost), taken))),
        criteria=criteria,
        left=left,
        price=money_text(words, again) if again.known_usd > 0 and not again.unpriced else "",
    )


class ResultCard(Frame):
    """Shows the files of a session as tabs, and what came of work that was checked, or came to its end;
    hidden without both.

    Its buttons are for others to act on: `save` all files, `means` to say what done means, do the `rest`,
    `check` criteria that nobody looked at yet, `accept` what there is, ask for `changes`. Signals: left()
    when the button goes that had the focus, previewed(whether a file is shown).
    """

    left = Signal()
    previewed = Signal(bool)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__("card")
        self._language = language
        self._shown: Result | None = None
        self._room = ROOM
        self.preview: QWidget | None = None
        self.files = FilesList(language, look, tabs=True)
        self._title = say(plain_label("card_title"), language, "result.title")
        self.state = plain_label("ok")
        self._cost = plain_label("hint")
        self._question = ElidedLabel("meta")
        self.criteria = CriteriaList(language, look, wide=True)
        self.means = say(button("", "result_means"), language, "result.means")
        self.rest, self.save = button("primary", "result_rest"), button("", "result_save")
        self.check = say(button("primary", "result_check"), language, "result.check")
        self.accept = say(button("", "result_accept"), language, "result.accept")
        self.changes = say(button("", "result_changes"), language, "result.changes")
        self.way = say(button("link", "result_way", self._close), language, "result.way")
        self.still_open = Paragraph("warn")
        self.fold = icon_button(look, "chevron-down", "result_fold", self._refresh, checkable=True)
        say(self.fold, language, tip="result.fold")
        self._head = frame("", hbox(self._title, self.state, STRETCH, self._cost, self.fold, spacing=10))
        self._made = vbox(self.files, spacing=8)
        self._body = hbox((self._made, 3), (self.criteria, 2, Qt.AlignmentFlag.AlignTop), spacing=14)
        offered = self.save, self.means, self.rest, self.check, self.accept, self.changes, STRETCH, self.way
        self._foot = frame("", hbox(*offered, spacing=8))
        self._scrolled = frame("", vbox(self._question, self.still_open, (self._body, 1), spacing=8))
        self._area = scrolling(self._scrolled)
        self._below = frame("", vbox((self._area, 1), self._foot, spacing=8))
        vbox(self._head, (self._below, 1), inside=self, margins=(14, 10, 14, 10), spacing=8)
        language.changed.connect(self._refresh)
        self.files.changed.connect(self._on_files)
        # A file is shown in the words and colours with which it was opened.
        for changed in (language.changed, look.changed, self.fold.clicked):
            changed.connect(self._close)
        self.hide()

    def show_result(self, result: Result | None, *, opens: bool = False) -> None:
        """Show what came of work, None for nothing; with `opens` also the first file, once that is known."""
        comes = result is not None and self._shown is None
        if result != self._shown:
            self._shown = result
            self.fold.setChecked(self._room < ROOM if comes else self.fold.isChecked())
            self._refresh()
        if comes and opens and not self.fold.isChecked():
            self.files.setCurrentRow(0)

    def show_preview(self, preview: QWidget | None) -> None:
        """Show a file in place of the one before, or none."""
        before, self.preview = self.preview, preview
        if preview is not None:
            self._made.addWidget(preview, 1)
            preview.show()
        if before is not None:
            before.close()
        if before is not preview:
            self._refresh()
            self.previewed.emit(preview is not None)
            if preview is None:
                self.files.setCurrentRow(-1)

    def _close(self) -> None:
        self.show_preview(None)

    def _on_files(self) -> None:
        if not self.files.current_id():
            self._close()
        self._refresh()

    def set_room(self, height: int) -> None:
        """Set how high the card may be in pixels, as long as no file stands in it."""
        self._room = height
        beside = self.preview is not None and self.width() >= WIDE
        set_across(self._body, beside)
        self.criteria.be_wide(not beside)
        self._question.setVisible(self._shown is not None and (self.preview is not None or height >= ROOM))
        # The head and the buttons stay where they are, and what is between them scrolls.
        left = height - self._head.sizeHint().height() - self._foot.sizeHint().height() - AROUND
        inside = self._scrolled.layout()
        whole = max(inside.totalHeightForWidth(self.width() - SIDES), inside.totalMinimumSize().height())
        most = max(LEAST_ROOM, min(left, whole))
        self._area.setMinimumHeight(0 if self.preview else most)
        self._area.setMaximumHeight(self.maximumHeight() if self.preview else most)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.set_room(self._room)

    def _refresh(self) -> None:
        words, result = self._language, self._shown
        criteria = result.criteria if result is not None else ()
        states = {criterion.state for criterion in criteria}
        missing = bool(states & {CriterionState.UNMET, CriterionState.UNKNOWN})
        offered = {
            self.save: result is not None and bool(self.files.files),
            self.way: self.preview is not None,
            self.means: result is not None and not criteria,
            self.still_open: result is not None and bool(result.left),
            self.rest: missing or (result is not None and bool(result.left)),
            self.check: not missing and CriterionState.OPEN in states,
            self.accept: missing,
            self.changes: result is not None,
        }
        if any(item.hasFocus() for item, shown in offered.items() if not shown):
            self.left.emit()
        self.setObjectName("result_card" if result is not None else "files_card")
        self.setVisible(result is not None or bool(self.files.files))
        self._head.setVisible(result is not None)
        self._below.setVisible(result is None or not self.fold.isChecked())
        for item, shown in offered.items():
            item.setVisible(shown)
        if result is None:
            return
        show_as(self.save, "" if missing or offered[self.check] else "primary", words("result.save"))
        left = words("plan.left", count=len(result.left)) if result.left else ""
        self.still_open.setText(": ".join((left, " · ".join(exact(item.text) for item in result.left))))
        said = " · ".join(filter(None, (met_text(criteria, words) or words("result.unchecked"), left)))
        met = count_met(criteria) == len(criteria) and not left
        show_as(self.state, "warn" if not met else "ok" if criteria else "hint", said)
        self._cost.setText(result.spent)
        self._question.setText(words("result.asked", text=" ".join(result.asked.split())))
        price = words("result.about", cost=result.price) if result.price else ""
        self.rest.setText(" · ".join(filter(None, (words("result.rest"), price))))
        self.criteria.show_criteria(criteria)
        self.setAccessibleName(", ".join(filter(None, (words("result.title"), said, result.spent))))
        self.set_room(self._room)


STYLE = ListStyle(height=30, left=10, space=8, width=220)
MOST_FILES = 3
OPEN, SAVE, COPY, FOLDER, DELETE = "open", "save", "copy", "folder", "delete"
PREVIEW = "preview"


def author_text(version: FileVersion, words: Language) -> str:
    """Return who wrote a version."""
    return exact(version.author) or words("transcript.you")


class TabDelegate(ItemDelegate):
    """Paints files side by side, each as wide as its texts, up to the width of the style."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        item, style, most = self.item_of(index), self._style, super().sizeHint(option, index)
        texts = (item.title, style.size), (item.note, style.note)
        wide = sum(QFontMetrics(sized(option.font, high)).horizontalAdvance(text) for text, high in texts)
        return most.boundedTo(QSize(wide + style.left + style.mark + 2 * style.space + 24, most.height()))


class FilesList(Fitting, ItemList):
    """Shows each file with its version, who wrote it, and its size; hidden while there is none.

    Signals: asked(path, OPEN, SAVE, COPY, FOLDER, DELETE or PREVIEW), changed(), left() when it goes and had
    the focus.
    """

    asked = Signal(str, str)
    changed = Signal()
    left = Signal()
    EDITS = ENTER

    def __init__(
        self, language: Language, look: Look, name: str = "files_list", *, tabs: bool = False
    ) -> None:
        """`tabs` stand side by side, and the current one is to be shown."""
        super().__init__(look, name, STYLE)
        self._tabs = tabs
        if tabs:
            self.setUniformItemSizes(False)
            self.setItemDelegate(TabDelegate(look, replace(STYLE, share=1), self))
            self.setFlow(self.Flow.LeftToRight)
            self.setWrapping(True)
            self.setResizeMode(self.ResizeMode.Adjust)
        self._language = language
        say(self, language, name="files.title")
        self.files: Sequence[FileVersion] = ()
        for opened in (self.edit_requested, self.doubleClicked if tabs else self.clicked):
            opened.connect(lambda _row: self.asked.emit(self.current_id(), OPEN))
        if tabs:
            self.currentItemChanged.connect(lambda *_items: self.asked.emit(self.current_id(), PREVIEW))
        self.delete_requested.connect(lambda path: self.asked.emit(path, DELETE))
        language.changed.connect(self._show_again)
        self.hide()

    def _show_again(self) -> None:
        self.show_files(self.files)

    def show_files(self, files: Sequence[FileVersion]) -> None:
        """Show the newest version of each file."""
        before, self.files, rows = self.files, files, [self._row(file) for file in files]
        if not rows and self.hasFocus():
            self.left.emit()
        if rows != self.rows.rows:
            self.show_rows(rows)
            self._fit()
        self.setVisible(bool(rows))
        if files != before:
            self.changed.emit()

    def _fit(self) -> None:
        """Set the height to that of the rows, up to a limit."""
        self.doItemsLayout()
        self.setFixedHeight(max(0, min(MOST_FILES * tall(STYLE.height), self.contentsSize().height())))

    def menu_of(self, row_id: str) -> QMenu:
        menu, words = self.new_menu(), self._language
        for action, keys in ((OPEN, "\tEnter"), (SAVE, ""), (COPY, ""), (FOLDER, "")):
            menu.addAction(f"{words(f'files.{action}')}{keys}", partial(self.asked.emit, row_id, action))
        self.add_delete(menu, words("files.delete"), row_id)
        return menu

    def _row(self, one: FileVersion) -> RowItem:
        words, name, size = self._language, exact(one.path), size_text(self._language, one.bytes)
        facts = (words("files.version", version=one.version), author_text(one, words), size)
        short = (words("files.short_version", version=one.version), size)
        said, note = f"{name}, {' · '.join(facts)}", " · ".join(short if self._tabs else facts)
        return RowItem(id=one.path, title=name, note=note, icon="file-text", tip=said, spoken=said)
