"""Rows of buttons of a debate: for a turn that holds it up, and for a debate that has ended."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from app.core.message import Message
from app.gui.display.appearance import Language, Look
from app.gui.markdown.message_blocks import blocks_of
from app.gui.navigation.session_list import EXPORTS
from app.gui.widgets.boxes import STRETCH, FlowBox, hbox
from app.gui.widgets.controls import Button, ShorteningButton, button, icon_button
from app.gui.widgets.text import plain_tip, say

LONGEST_NAME = 14
FIRST_WORDS = 48


class HeldTurnBar(FlowBox):
    """Buttons for a turn that holds a debate up: retry, skip, or continue without a participant (`left_out`)."""

    retried = Signal()
    skipped = Signal()
    left_out = Signal(str)

    def __init__(self, language: Language, *, prefix: str) -> None:
        super().__init__()
        self._language = language
        self._prefix = prefix
        self.retry = say(button("", f"{prefix}retry_now", self.retried), language, "discussion.retry_now")
        self.skip = say(button("", f"{prefix}skip_turn", self.skipped), language, "discussion.skip_turn")
        self.without: list[Button] = []
        self._offered: tuple[tuple[str, str], ...] = ()
        self.add(self.retry)
        self.add(self.skip)
        language.changed.connect(self._retranslate)
        self._retranslate()

    def offer(self, participants: Sequence[tuple[str, str]]) -> None:
        """Offer to continue without these participants, given as (id, name)."""
        if tuple(participants) == self._offered:
            return
        self._offered = tuple(participants)
        for old in self.without:
            self.remove(old)
            old.hide()
            old.deleteLater()
        self.without = []
        for number, (participant_id, _) in enumerate(self._offered, 1):
            made = button("", f"{self._prefix}without_{number}")
            made.clicked.connect(partial(self.left_out.emit, participant_id))
            self.without.append(made)
            self.add(made)
            made.show()
        self._retranslate()

    def _retranslate(self) -> None:
        words = self._language
        for made, (_, name) in zip(self.without, self._offered, strict=True):
            short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"
            made.setText(words("discussion.without", name=short).replace("&", "&&"))
            made.setAccessibleName(words("discussion.without", name=name))
            made.setToolTip(plain_tip(words("discussion.without", name=name)) if short != name else "")


class AfterBar(QWidget):
    """The buttons under a debate that has ended; what does not fit is in the menu at the end.

    Signals: turns_wanted() before a turn is chosen, fork_requested(message id), again_requested(),
    new_requested(), export_requested(format).
    """

    turns_wanted = Signal()
    fork_requested = Signal(str)
    again_requested = Signal()
    new_requested = Signal()
    export_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._fork = ShorteningButton("", "debate_fork")
        self._fork.dress(look, "git-branch", "text")
        self._again = ShorteningButton("", "debate_again")
        self._again.dress(look, "rotate-cw", "text")
        self._export = ShorteningButton("", "debate_export")
        self._export.dress(look, "share", "text")
        self._more = say(
            icon_button(look, "ellipsis", "debate_more", lambda: self._open(self._more_menu(), self._more)),
            language,
            tip="verdict.more",
        )
        hbox(self._fork, self._again, STRETCH, self._export, self._more, inside=self, spacing=8)
        self._fork.clicked.connect(self.turns_wanted)
        self._again.clicked.connect(self.again_requested)
        self._export.clicked.connect(
            lambda: self._open(self._export_menu(self._menu("export_menu")), self._export)
        )
        language.changed.connect(self._retranslate)
        self._retranslate()

    def offer_turns(self, turns: Sequence[Message]) -> None:
        """Open a menu of turns from which another debate can start."""
        menu = self._menu("fork_menu")
        for turn in turns:
            words = " ".join(" ".join(block.text for block in blocks_of(turn, turn.content)).split())
            words = words if len(words) <= FIRST_WORDS else words[:FIRST_WORDS].rstrip() + "…"
            line = self._language("verdict.turn", round=turn.round, name=turn.author.name, words=words)
            action = menu.addAction(line.replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, chosen=turn.id: self.fork_requested.emit(chosen))
        if menu.isEmpty():
            menu.addAction(self._language("verdict.fork.none")).setEnabled(False)
        self._open(menu, self._fork)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Move the export into the menu if its button does not fit."""
        buttons = (self._fork, self._again, self._export, self._more)
        needed = sum(one.sizeHint().width() for one in buttons) + 8 * len(buttons)
        self._export.setVisible(needed <= self.width())

    def _menu(self, name: str) -> QMenu:
        menu = QMenu(self)
        menu.setObjectName(name)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu

    def _more_menu(self) -> QMenu:
        menu = self._menu("more_menu")
        menu.addAction(self._language("verdict.new")).triggered.connect(lambda: self.new_requested.emit())
        if self._export.isHidden():
            menu.addSeparator()
            self._export_menu(menu)
        return menu

    def _export_menu(self, menu: QMenu) -> QMenu:
        for name in EXPORTS:
            action = menu.addAction(self._language(f"export.{name}"))
            action.triggered.connect(lambda _checked=False, chosen=name: self.export_requested.emit(chosen))
        return menu

    def _open(self, menu: QMenu, over: QPushButton | QToolButton) -> None:
        """Open a menu above a button, which is at the bottom of the window."""
        menu.popup(over.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))

    def _retranslate(self) -> None:
        words = self._language
        self._fork.show_words(
            words("verdict.fork"), words("verdict.fork.hint"), short=words("verdict.fork.short")
        )
        self._again.show_words(words("verdict.again"), words("verdict.again.hint"))
        self._export.show_words(words("verdict.export"))
        self._fit()
