"""The steps of a decision over its page, and what switches the marks in the answers."""

from collections.abc import Collection, Mapping
from functools import partial

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import QWidget

from app.gui.display.appearance import Language, Look, sized
from app.gui.transcript.search import AGREED, DIFFERS
from app.gui.widgets.boxes import STRETCH, Fitting, focused_in, hbox, thin_line, vbox
from app.gui.widgets.choices import Segmented
from app.gui.widgets.controls import Button, MenuButton, ShorteningButton, button, ticked
from app.gui.widgets.text import named, plain_tip, say

STEPS = ("answers", "differences", "debate", "votes", "verdict", "decision")
ANSWERS, DIFFERENCES, DEBATE, VOTES, VERDICT, DECISION = STEPS
USED_IN_FRONT = ("decision_", "segment_", "council_tabs")
"""How the names begin that the pages of debates and of councils both have: the one in front uses them."""
MARGIN = 18
"""Of what stands on the page of a debate or a council, at its sides."""
CIRCLE, GAP = 18, 2


class StepButton(ShorteningButton):
    """A step: its place in a circle, filled while it is open and a tick once it is done, and
    in grey how much it has.
    """

    def __init__(self, look: Look, _kind: str, name: str) -> None:
        super().__init__("step", name)
        self._look, self._place, self._much, self._done = look, "", "", False
        look.changed.connect(self.update)

    def show_step(self, place: str, text: str, much: str, *, done: str, hint: str) -> None:
        """Show a step; `done` says that it is done, and `hint` what it would do where it is not reached
        yet.
        """
        self._place, self._much, self._done = place, much, bool(done)
        # Bold words are wider by a little.
        width = (self.fontMetrics().horizontalAdvance(much) if much else GAP) + GAP
        self.show_words(text, plain_tip(hint or f"Alt+{place}"), taken=width)
        self.setAccessibleName(f"{place} {text} {much}".rstrip())
        self.setAccessibleDescription(hint or done)
        self.setEnabled(not hint)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        tokens, painter, on = self._look.tokens, QPainter(self), self.isChecked()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        grey = QColor(tokens.text_2 if self.isEnabled() else tokens.text_3)
        painter.setPen(grey)
        painter.setFont(sized(self.font(), 12))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(self.rect().adjusted(0, 0, 0, -2), right, self._much)
        circle = QRect(0, (self.height() - CIRCLE) // 2 - 1, CIRCLE, CIRCLE)
        ticked = self._done and not on
        fill = tokens.accent if on else tokens.ok_bg if ticked else tokens.surface
        painter.setPen(QColor(fill if on or ticked else tokens.line_strong))
        painter.setBrush(QColor(fill))
        painter.drawEllipse(QRectF(circle).adjusted(0.5, 0.5, -0.5, -0.5))
        if ticked:
            tick = self._look.picture("check", "ok", 12, self.devicePixelRatioF())
            painter.drawPixmap(circle.left() + 3, circle.top() + 3, tick)
            return
        painter.setFont(sized(self.font(), 11, 600))
        painter.setPen(QColor(tokens.on_accent) if on else grey)
        painter.drawText(circle, Qt.AlignmentFlag.AlignCenter, self._place)


class DecisionSteps(Fitting, QWidget):
    """The steps side by side, or a button with a menu of them where that is too wide; Alt
    and a number open one.

    Where answers are one of them, two words at the right switch what is marked in these. Emits chosen(step),
    marks_changed().
    """

    chosen = Signal(str)
    marks_changed = Signal()

    def __init__(self, language: Language, look: Look, steps: tuple[str, ...] = STEPS) -> None:
        """`steps` are those that a session of this kind has."""
        super().__init__()
        self.setObjectName("decision_steps")
        self._language, self._steps = language, steps
        self._row = Segmented(steps, tabs=True, make=partial(StepButton, look))
        say(named("council_tabs", self._row), language, name="council.tab")
        for place in range(len(steps) - 1, 0, -1):
            self._row.row.insertWidget(place, thin_line(width=20), 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.row.setSpacing(10)
        self._row.chosen.connect(self._on_chosen)
        self._buttons = dict(zip(steps, self._row.findChildren(StepButton), strict=True))
        self._menu = MenuButton(look, "list-checks", "decision_step", chevron=True)
        self._menu.choices.aboutToShow.connect(self._fill)
        self._marks: dict[str, Button] = {}
        for kind in (DIFFERS, AGREED) if ANSWERS in steps else ():
            mark = self._marks[kind] = button("mark", f"council_mark_{kind}", self.marks_changed)
            say(mark, language, f"council.mark.{kind}").setCheckable(True)
            mark.setChecked(True)
        row = hbox(self._row, self._menu, STRETCH, *self._marks.values(), margins=(MARGIN, 0, MARGIN, 0))
        vbox(row, thin_line(), inside=self, spacing=0)
        for number, step in enumerate(steps, 1):
            QShortcut(QKeySequence(f"Alt+{number}"), self, partial(self._open, step))

    def value(self) -> str:
        """Return the step that is open."""
        return self._row.value()

    def holds_focus(self) -> bool:
        """Say whether the user goes through the steps; otherwise a step was opened by its key
        or a button elsewhere.
        """
        return focused_in(self) is not None

    def set_value(self, step: str) -> None:
        """Open a step."""
        self._row.set_value(step)

    def marks(self) -> list[str]:
        """Return what is marked in the answers: DIFFERS, AGREED."""
        return [kind for kind, mark in self._marks.items() if mark.isChecked()]

    def show_steps(
        self,
        much: Mapping[str, str | None],
        prices: Mapping[str, str],
        marked: Collection[str],
        *,
        decided: bool,
    ) -> None:
        """Show how much each step has, None where it is not reached yet, and offer to switch the marks
        that there are.
        """
        words = self._language
        last = max(place for place, step in enumerate(self._steps[:-1]) if much[step] is not None)
        for place, step in enumerate(self._steps):
            price = prices.get("compare" if step == DIFFERENCES else "debate", "") if step != DECISION else ""
            hint = words(f"council.tab.{step}.none") if much[step] is None else ""
            hint += f" · {price}" if hint and price else ""
            text, number = words(f"council.tab.{step}"), much[step] or ""
            is_done = place < last or decided or (step == VERDICT and number)
            done = words("step.done") if not hint and is_done else ""
            self._buttons[step].show_step(str(place + 1), text, number, done=done, hint=hint)
        for kind, mark in self._marks.items():
            mark.setVisible(kind in marked and self.value() == ANSWERS)
        self._fit()

    def _fit(self) -> None:
        """Show the steps where there is room for all, else the button with the menu."""
        parts = (self._row, *self._marks.values())
        wide = self.width() >= sum(part.sizeHint().width() + 10 for part in parts) + 2 * MARGIN
        self._row.setVisible(wide)
        self._menu.setVisible(not wide)
        number, name = self._steps.index(self.value()) + 1, self._language(f"council.tab.{self.value()}")
        shown = self._language("council.tab.at", number=number, all=len(self._steps), name=name)
        self._menu.show_words(shown)

    def _open(self, step: str) -> None:
        if self._buttons[step].isEnabled():
            self.set_value(step)

    def _on_chosen(self, step: str) -> None:
        self._fit()
        self.chosen.emit(step)

    def _fill(self) -> None:
        self._menu.clear()
        for step, shown in self._buttons.items():
            name, act = shown.accessibleName(), partial(self._open, step)
            ticked(self._menu.choices, name, step == self.value(), act).setEnabled(shown.isEnabled())
