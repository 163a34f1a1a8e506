"""What the user decides in a session: the form of it, for a dialog and for a page, and what was decided
then.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIntValidator, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QStackedLayout, QWidget

from app.core.council import Decision
from app.engine.decisions import MAX_TEXT, is_date
from app.gui.display.appearance import Language, Look
from app.gui.panels.conversation_view import empty_state
from app.gui.widgets.badge import HeadingIcon
from app.gui.widgets.boxes import STRETCH, card, centred, drop, focused_in, frame, hbox, vbox
from app.gui.widgets.controls import Choice, TextBox, button
from app.gui.widgets.form import Field, Form
from app.gui.widgets.text import Paragraph, named, plain_label, say

DAYS = 30
"""After how many days a new decision asks what came of it."""
WIDEST = 560


class DecisionForm(Form):
    """Asks what was decided, why, how sure the user is, how one will know and when.

    It begins with `entry`, the decision as it is so far; for a new one the option that leads is filled in.
    """

    def __init__(
        self, words: Language, look: Look, entry: Decision, options: Sequence[str], today: date
    ) -> None:
        self._entry = entry
        if not entry.decided:
            due = (today + timedelta(days=DAYS)).isoformat()
            entry = replace(entry, decided=entry.headline, due=entry.due or due)
        option = named("decision_option", Choice(look))
        option.setEditable(True)
        option.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        option.addItems(list(options))
        sure = named("decision_sure", QLineEdit())
        sure.setValidator(QIntValidator(0, 100, sure))
        super().__init__(
            words,
            Field("decided", option, fits=bool),
            Field("why", named("decision_why_box", TextBox(lines=2, submits=False, longest=MAX_TEXT))),
            Field(
                "sure",
                sure,
                get=lambda item: str(item.sure) if item.sure >= 0 else "",
                put=lambda text: {"sure": int(text) if text else -1},
                fits=lambda text: not text or int(text) <= 100,
            ),
            Field("sign", named("decision_sign", QLineEdit())),
            Field("due", named("decision_due", QLineEdit()), fits=lambda day: not day or is_date(day)),
            labels="journal",
        )
        self.lay_out()
        self._option = option
        self.show_entry(entry)
        self._began, self._first = (self._entry, [*options], today), self.values()

    def show_entry(self, entry: Decision) -> None:
        """Show a decision as it was entered."""
        self.fill(entry)
        self._option.setCurrentText(entry.decided)

    def is_untouched(self) -> bool:
        """Say whether the user has entered nothing."""
        return self.values() == self._first

    def began_with(self, entry: Decision, options: Sequence[str], today: date) -> bool:
        """Say whether it began with just this."""
        return self._began == (entry, [*options], today)

    def entry(self) -> Decision:
        """Return the decision as it is entered."""
        return replace(self._entry, **self.values())


class YourDecision(QWidget):
    """The form of a decision on a session's page, or what was decided and how that stands.

    Emits wanted() for what the form begins with, kept(decision), opened() for what was decided, and
    memo_requested(). What is entered for a session stays until another one is begun there, or the program
    ends.
    """

    wanted = Signal()
    kept = Signal(object)
    opened = Signal()
    memo_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language, self._look = language, look
        self._form: DecisionForm | None = None
        # What was entered for the sessions that are not shown.
        self._entered: dict[str, Decision] = {}
        self._session_id, self._is_open = "", False
        # Whether the form takes the focus as soon as it is there.
        self._takes_focus = False
        self._said = Paragraph("lead", centred=True)
        self._open = button("", "decision_open", self.opened)
        memo = button("primary", "decision_show_memo", self.memo_requested)
        self._memo = say(memo, language, "journal.memo")
        self._keep = say(button("primary", "decision_keep", self._on_keep), language, "journal.keep_it")
        self._place = vbox(spacing=0)
        heading = say(plain_label("card_title"), language, "journal.decide")
        # Under the fields it would be out of sight where the votes stand over the form.
        head = hbox(HeadingIcon(look, "gavel", "text"), heading, STRETCH, self._keep, spacing=8)
        form = card("decision_form", head, self._place, spacing=12)
        body = frame("", vbox(centred(form, WIDEST), STRETCH))
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            keep = QShortcut(QKeySequence(keys), body, self._on_keep)
            keep.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(body)
        self._stack.addWidget(empty_state(self._said, self._memo, self._open))

    def show_decision(self, session_id: str, decided: tuple[str, str] | None, *, read_only: bool) -> None:
        """Show what was decided in a session and how that stands, or the form of it."""
        words = self._language
        if session_id != self._session_id:
            self._keep_entered()
            self._session_id = session_id
        self._is_open = decided is None and not read_only
        kept = decided is not None and focused_in(self) is not None
        if decided is not None:
            self._entered.pop(session_id, None)
            self._remove_form()
        said = (words("journal.was", option=decided[0]), decided[1]) if decided else (words("journal.card"),)
        self._said.setText("\n".join(said))
        self._open.setText(words("journal.enter"))
        self._open.setVisible(decided is not None and not read_only)
        self._memo.setVisible(decided is not None)
        self._stack.setCurrentIndex(not self._is_open)
        if kept:
            self._memo.setFocus()
        if self.isVisible():
            self._want()

    def begin(self, entry: Decision, options: Sequence[str], today: date) -> None:
        """Begin the form of the session shown with this, unless the user has entered something."""
        before = self._form
        if not self._is_open or (
            before is not None and (not before.is_untouched() or before.began_with(entry, options, today))
        ):
            return
        self._takes_focus |= before is not None and focused_in(before) is not None
        self._remove_form()
        self._form = form = DecisionForm(self._language, self._look, entry, options, today)
        if (entered := self._entered.pop(self._session_id, None)) is not None:
            form.show_entry(entered)
        form.changed.connect(lambda _name: self._check())
        self._place.addWidget(form)
        self._check()
        if self._takes_focus:
            self.take_focus()

    def _keep_entered(self) -> None:
        """Keep what is entered for the session shown."""
        if self._form is not None and not self._form.is_untouched():
            self._entered[self._session_id] = self._form.entry()
        self._remove_form()

    def _remove_form(self) -> None:
        if self._form is not None:
            self._place.removeWidget(self._form)
            drop(self._form)
            self._form.setParent(None)
        self._form = None
        self._check()

    def take_focus(self) -> None:
        """Focus the first field, once it is there, or the first button of what was decided."""
        self._takes_focus = self._is_open and self._form is None
        if self._form is not None:
            self._form.fields["decided"].control.setFocus()
        elif not self._is_open:
            self._memo.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._want()

    def _want(self) -> None:
        if self._is_open and (self._form is None or self._form.is_untouched()):
            self.wanted.emit()

    def _check(self) -> None:
        self._keep.setEnabled(self._form is not None and self._form.complete)

    def _on_keep(self) -> None:
        if self._form is not None and self._form.complete:
            self.kept.emit(self._form.entry())
