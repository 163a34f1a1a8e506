"""Cards that ask whether tools may run, or hand a task over to a member; and the card of a page
of an MCP server.

The page is shown in the sandbox, on request and only if the extra `webui` is installed, which the card
offers.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPaintEvent, QShowEvent, QTextCharFormat
from PySide6.QtWidgets import QFrame, QLineEdit, QMenu, QPlainTextEdit, QSizePolicy, QWidget
from shiboken6 import isValid

from app.core.ids import new_id
from app.core.message import AGENT_OPTION, DENY_BECAUSE, Consent, Message, Prompt, PromptReason, PromptType
from app.core.owned_tasks import start_owned
from app.core.session import OF_FOLDER
from app.core.texts import exact, size_text, unmarked, visible
from app.core.tool import VIEWER_BYTES, argument_rows, called
from app.engine.chat.commands import MAX_REASON, lasting_answers, takes_reason
from app.engine.work import arguments_of
from app.gui.display.appearance import Language, Look
from app.gui.display.theme import DARK
from app.gui.tasks import timer
from app.gui.web_view import available, mcp_page, prepare, sandbox_problem, unguarded
from app.gui.widgets.boxes import FlowBox, add_to, drop, hbox, vbox
from app.gui.widgets.controls import ENTER, Button, TextBox, button, scrolling
from app.gui.widgets.notices import OfferLine
from app.gui.widgets.question_card import PromptCard, QuestionCard
from app.gui.widgets.text import ElidedLabel, enable_if, named, plain_label, say, show_or_hide

if TYPE_CHECKING:
    from app.gui.web_view.sandbox_view import SandboxView


# Why is asked, where the question says so.
_OF_AGENT = PromptReason.AGENT_ASKS, PromptReason.AGENT_WORKS
_SAID = PromptReason.MAY_HAVE_RUN, *_OF_AGENT, *OF_FOLDER, PromptReason.ADDRESS
MOST_LINES = 12
MOST_LINES_OF_SEVERAL = 6
HIGHEST = 300
BETWEEN = 10
LINE = 70
"""How many letters of the arguments fit into a line of the card."""
MOST_COLUMNS = 24
"""In how many letters the names of arguments are set; a longer one moves its value to the right."""


class GuardedButton(Button):
    """A button that a held key does not press."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.isAutoRepeat():
            event.accept()
        elif event.key() in ENTER:
            self.click()
        else:
            super().keyPressEvent(event)


class GuardedCard(PromptCard):
    """A card whose answers run something; the first one denies, none has the focus.

    The others are disabled for half a second each time the card is shown, so that a click meant for something
    else does nothing.
    """

    def __init__(
        self, language: Language, look: Look, message: Message, icon: str, question: str = ""
    ) -> None:
        super().__init__(language, look, message, icon, question)
        self._wait = timer(self, 500, self._show_state, once=True)

    def _add_answers(self, *answers: tuple[GuardedButton, str]) -> None:
        """Add buttons, each with the answer it gives."""
        self._answers, row = tuple(item for item, _ in answers), FlowBox()
        add_to(self.column, 2, row)
        for item, answer in answers:
            row.add(item)
            if answer:
                item.clicked.connect(lambda _checked=False, chosen=answer: self._on_answer(chosen))
            item.setEnabled(item is self._answers[0])

    def _take_key(self, event: QKeyEvent) -> bool:
        # Only a button that was gone to decides.
        return event.key() in ENTER

    def showEvent(self, event: QShowEvent) -> None:
        self._wait.start()
        self._show_state()
        super().showEvent(event)

    def _show_state(self) -> None:
        enable_if(not self._wait.isActive(), *self._answers[1:])

    def _on_answer(self, answer: str) -> None:
        enable_if(False, *self._answers)
        self.answered.emit(answer)


class ApprovalCard(GuardedCard):
    """Asks whether calls may run: each with its arguments; several also with buttons for each of them.

    All of several can be allowed once the arguments of each have been in view. Emits answered(Consent) about
    one call, call_answered(message id, Consent) about one of several, and all_answered(message ids, Consent).
    """

    call_answered = Signal(str, str)
    all_answered = Signal(list, str)

    def __init__(self, language: Language, look: Look, message: Message) -> None:
        super().__init__(language, look, message, "shield-question-mark")
        self._again = self.prompt.reason == PromptReason.MAY_HAVE_RUN
        self._rows: tuple[_CallRow, ...] = ()
        self._why = plain_label("hint", wrap=True)
        self._body = QWidget()
        self._list = vbox(inside=self._body, spacing=BETWEEN)
        self._area = scrolling(self._body)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._hint = say(plain_label("hint", wrap=True), language, "approval.look")
        add_to(self.column, self._why, self._area, self._hint)
        self.deny = GuardedButton("", "approval_deny")
        self.allow = GuardedButton("", "approval_allow")
        self.always = AlwaysButton(look)
        self.always.chosen.connect(self._on_always)
        self.why_not = say(GuardedButton("plain", "approval_why_not"), language, "approval.why_not")
        self.why_not.clicked.connect(self._ask_reason)
        reason = "approval.reason"
        self.reason = say(named("approval_reason", QLineEdit()), language, name=reason, hint=reason)
        self.reason.setMaxLength(MAX_REASON)
        self.reason.returnPressed.connect(self._deny_because)
        more = (self.always, ""), (self.why_not, "")
        self._add_answers((self.deny, Consent.DENY), (self.allow, Consent.ALLOW), *more)
        self.column.addWidget(self.reason)
        self.why_not.setVisible(takes_reason(self.prompt))
        self.reason.hide()
        # After it may have run, "always" would answer another question.
        self.always.setVisible(bool(lasting_answers(self.prompt)) and not self._again)
        language.changed.connect(self._retranslate)
        self.show_calls((message,))

    def show_calls(self, messages: Sequence[Message]) -> None:
        """Ask about these calls; those that were shown before stay as they are."""
        known = {row.message.id: row for row in self._rows}
        if list(known) == [message.id for message in messages]:
            return
        self._rows = tuple(known.pop(msg.id) if msg.id in known else self._new_row(msg) for msg in messages)
        for gone in known.values():
            self._list.removeWidget(gone)
            drop(gone)
        high = -BETWEEN
        for place, row in enumerate(self._rows):
            self._list.insertWidget(place, row)
            row.fit(alone=not self._several)
            high += row.sizeHint().height() + BETWEEN
        self._area.setFixedHeight(min(HIGHEST, high) if self._several else high)
        self._retranslate()
        self._show_state()
        self.updateGeometry()

    @property
    def _several(self) -> bool:
        return len(self._rows) > 1

    def _new_row(self, message: Message) -> "_CallRow":
        row = _CallRow(message)
        row.answered.connect(self.call_answered)
        # Later: nothing is laid out anew while a box is painted.
        row.arguments.looked.connect(self._show_state, Qt.ConnectionType.QueuedConnection)
        return row

    def _show_state(self) -> None:
        super()._show_state()
        seen = not self._several or all(row.arguments.seen for row in self._rows)
        self.allow.setEnabled(seen and not self._wait.isActive())
        self._hint.setVisible(not seen)
        for row in self._rows:
            row.allow.setEnabled(not self._wait.isActive())

    def _on_answer(self, answer: str) -> None:
        if not self._several:
            super()._on_answer(answer)
            return
        enable_if(False, *self._answers, *(each for row in self._rows for each in (row.allow, row.deny)))
        self.all_answered.emit([row.message.id for row in self._rows], answer)

    def _ask_reason(self) -> None:
        """Show the box for the reason, or hide it again; Enter in it denies."""
        self.reason.setVisible(self.reason.isHidden())
        (self.why_not if self.reason.isHidden() else self.reason).setFocus()

    def _deny_because(self) -> None:
        if reason := self.reason.text().strip():
            self.reason.setEnabled(False)
            self._on_answer(f"{DENY_BECAUSE}{reason}")

    def _on_always(self, message_id: str, answer: str) -> None:
        if self._several:
            self.call_answered.emit(message_id, answer)
        else:
            self._on_answer(answer)

    def _retranslate(self) -> None:
        words, prompt, several = self._language, self.prompt, self._several
        if several:
            self.ask(words("approval.calls", count=len(self._rows)))
        else:
            key = prompt.reason if prompt.reason in _SAID else "question"
            tool = called(prompt, words.texts)
            self.ask(words(f"approval.{key}", tool=tool, server=exact(prompt.server)))
        show_or_hide(self._why, "" if several else _why(prompt, words))
        self.deny.setText(words("approval.deny_all" if several else "approval.deny"))
        once = "approval.allow_folder" if prompt.reason in OF_FOLDER else "approval.allow"
        allow = "approval.allow_all" if several else once
        self.allow.setText(words("approval.run_again" if self._again else allow))
        self.always.offer([row.message for row in self._rows], words)
        for row in self._rows:
            row.retranslate(words)


class _CallRow(QWidget):
    """One call: what its server says of the tool, its arguments, and of several also its name
    and buttons for it alone.
    """

    answered = Signal(str, str)

    def __init__(self, message: Message) -> None:
        super().__init__()
        assert message.prompt is not None
        self.message, self._prompt = message, message.prompt
        self._name = ElidedLabel("field")
        self._about = plain_label("hint", wrap=True)
        self.arguments = ArgumentsBox(message.prompt.arguments)
        self.deny = GuardedButton("plain", "call_deny")
        self.allow = GuardedButton("plain", "call_allow")
        for item, answer in ((self.deny, Consent.DENY), (self.allow, Consent.ALLOW)):
            item.clicked.connect(lambda _on=False, said=answer: self._on_answer(said))
        self._head = QWidget()
        hbox((self._name, 1), self.deny, self.allow, spacing=4, inside=self._head)
        vbox(self._head, self._about, self.arguments, inside=self, spacing=2)

    def fit(self, *, alone: bool) -> None:
        """Take the form of the only call, or of one of several."""
        self.arguments.fit(MOST_LINES if alone else MOST_LINES_OF_SEVERAL)
        self._head.setVisible(not alone)
        show_or_hide(self._about, "" if alone else exact(self._prompt.about, "\n"))

    def _on_answer(self, answer: str) -> None:
        enable_if(False, self.deny, self.allow)
        self.answered.emit(self.message.id, answer)

    def retranslate(self, words: Language) -> None:
        """Show the texts in the language chosen."""
        tool = called(self._prompt, words.texts)
        self._name.setText(tool)
        for item, key in ((self.deny, "approval.deny"), (self.allow, "approval.allow")):
            item.setText(words(key))
            item.setAccessibleName(f"{words(key)}: {tool}")
        self.arguments.setAccessibleName(f"{words('approval.arguments')}: {tool}")


class AlwaysButton(GuardedButton):
    """Opens a menu of what to allow without a question from now on, or of an external agent's own options.

    Emits chosen(message id, answer).
    """

    chosen = Signal(str, str)

    def __init__(self, look: Look) -> None:
        super().__init__("", "approval_always")
        self.dress(look, "chevron-down")
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.choices = QMenu(self)
        self.clicked.connect(lambda: self.choices.popup(self.mapToGlobal(self.rect().bottomLeft())))

    def offer(self, questions: Sequence[Message], words: Language) -> None:
        """List what can be allowed with these approvals: each tool, the tools of each server,
        and what an agent offers.
        """
        own = any(message.prompt and message.prompt.kinds for message in questions)
        self.setText(words("approval.more" if own else "approval.always"))
        self.choices.clear()
        listed: set[str] = set()
        for question in questions:
            prompt = question.prompt
            assert prompt is not None
            for answer in lasting_answers(prompt):
                text = _offered(prompt, answer, words)
                if text not in listed:
                    listed.add(text)
                    self.choices.addAction(unmarked(text), partial(self.chosen.emit, question.id, answer))


class ArgumentsBox(QPlainTextEdit):
    """The arguments of a call, a row for each with its name in bold;
    `seen` says whether the user has had all of them in view.

    Emits `looked` when more of them has come into view.
    """

    looked = Signal()

    def __init__(self, arguments: str) -> None:
        super().__init__(readOnly=True, tabChangesFocus=True)
        self.setObjectName("approval_arguments")
        self.setProperty("kind", "code")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._write(argument_rows(arguments, plainly=True))
        self._in_view = 0

    def _write(self, rows: Sequence[tuple[str, str]]) -> None:
        plain, bold = QTextCharFormat(), QTextCharFormat()
        bold.setFontWeight(QFont.Weight.Bold)
        wide = min(MOST_COLUMNS, max(len(name) for name, _ in rows))
        cursor = self.textCursor()
        for number, (name, value) in enumerate(rows):
            # Text of the model looks like the name of another argument nowhere: it is never bold.
            cursor.insertText(("\n" if number else "") + (f"{name:<{wide}}  " if name else ""), bold)
            cursor.insertText(value.replace("\n", "\n" + " " * (wide + 2 if name else 0)), plain)
        self.moveCursor(cursor.MoveOperation.Start)

    def fit(self, most_lines: int) -> None:
        """Take the height of the text, up to a number of lines."""
        self.ensurePolished()
        rows = self.toPlainText().split("\n")
        lines = min(most_lines, sum(len(row) // LINE + 1 for row in rows))
        self.setFixedHeight(lines * (self.fontMetrics().lineSpacing() + 1) + 22)

    @property
    def seen(self) -> bool:
        """Whether all lines have been in view."""
        bar = self.verticalScrollBar()
        return self._in_view >= (bar.maximum() + bar.pageStep() if bar.maximum() else 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Note the lines in view, if the box is in view as a whole; lines that were jumped over do not
        count.
        """
        super().paintEvent(event)
        bar = self.verticalScrollBar()
        whole = self.visibleRegion().boundingRect().height() >= self.height() - 2
        if whole and bar.value() <= self._in_view < bar.value() + max(1, bar.pageStep()):
            self._in_view = bar.value() + max(1, bar.pageStep())
            self.looked.emit()


def _offered(prompt: Prompt, answer: str, words: Language) -> str:
    """Return a lasting answer in words; of an agent's own option what it means comes before the agent's
    words.
    """
    if answer.startswith(AGENT_OPTION):
        place = int(answer.removeprefix(AGENT_OPTION)) - 1
        return words(f"approval.{prompt.kinds[place]}", option=exact(prompt.options[place])[:80])
    key = "approval.always-tool" if answer == Consent.ALWAYS else f"approval.{answer}"
    return words(key, tool=called(prompt, words.texts)[:80], server=exact(prompt.server)[:80])


def _why(prompt: Prompt, words: Language) -> str:
    """Return the line under the question: what is asked about, or what is true of a program that is to
    work.
    """
    if prompt.reason == PromptReason.AGENT_WORKS:
        return words("approval.agent_works.text")
    if prompt.reason == PromptReason.AGENT_ASKS:
        asked = exact(prompt.tool) or words("approval.agent_asks.unknown")
        remembers = words("approval.agent_remembers", server=exact(prompt.server)) if prompt.kinds else ""
        return f"{asked}\n{remembers}".rstrip()
    about = exact(prompt.about, "\n")
    if prompt.reason == PromptReason.MAY_HAVE_RUN:
        return f"{called(prompt, words.texts)}\n{about}".rstrip()
    return about or ("" if prompt.question == prompt.tool else exact(prompt.question))


class HandOverCard(GuardedCard):
    """Asks whether a member of a group may be given an instruction; answers allow or deny.

    Emits changed_and_allowed(arguments as JSON) if the user changed the instruction.
    """

    changed_and_allowed = Signal(str)

    def __init__(self, language: Language, look: Look, message: Message, names: Mapping[str, str]) -> None:
        """`names` are those of the assistants by id."""
        assert message.prompt is not None
        self._arguments = arguments_of(message.prompt.arguments)
        member = str(self._arguments.get("assistant", ""))
        member = exact(names.get(member, member))[:80]
        super().__init__(language, look, message, "users", language("hand_over.question", name=member))
        # As shown: if it is not changed, the call runs with its own arguments.
        self._instruction = visible(str(self._arguments.get("instruction", "")))
        box = TextBox(lines=2, most=8, submits=False, text=self._instruction)
        self.box = say(named("hand_over_instruction", box), language, name="hand_over.instruction")
        box.setFrameShape(TextBox.Shape.StyledPanel)
        self.deny = say(GuardedButton("", "hand_over_deny"), language, "hand_over.deny")
        self.allow = say(GuardedButton("", "hand_over_allow"), language, "hand_over.allow")
        add_to(
            self.column,
            plain_label("hint", wrap=True, text=language("hand_over.hint", name=member)),
            self.box,
        )
        self._add_answers((self.deny, Consent.DENY), (self.allow, Consent.ALLOW))
        self.box.textChanged.connect(self._show_state)

    def _show_state(self) -> None:
        self.allow.setEnabled(bool(self.box.text()) and not self._wait.isActive())
        self.updateGeometry()

    def _on_answer(self, answer: str) -> None:
        text = self.box.text()
        self.box.setEnabled(False)
        if answer == Consent.ALLOW and text != self._instruction.strip():
            enable_if(False, *self._answers)
            arguments = {**self._arguments, "instruction": text}
            self.changed_and_allowed.emit(json.dumps(arguments, ensure_ascii=False))
        else:
            super()._on_answer(answer)


@dataclass(frozen=True, slots=True)
class ViewerState:
    """`offered` if the viewer can be installed, `done` bytes while that goes on, `installed`
    if a restart shows pages.

    `problem` is a text that says why it could not be installed.
    """

    offered: bool = False
    done: int | None = None
    installed: bool = False
    problem: str = ""


class ViewerOffer(QObject):
    """The state of the installation; emits changed(), and install_requested() and cancel_requested()
    for the cards.
    """

    changed = Signal()
    install_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = ViewerState()

    def show(self, state: ViewerState) -> None:
        """Set the state."""
        self.state = state
        self.changed.emit()


LOWEST, HIGHEST_PAGE, USUAL = 80, 560, 320


class PageCard(QuestionCard):
    """Asks what a server's page asks; emits link_requested(address) also for the links of the page."""

    def __init__(self, language: Language, look: Look, message: Message, viewer: ViewerOffer) -> None:
        super().__init__(language, look, message)
        self._viewer = viewer
        self._page = mcp_page.read_page(message.resources)
        self._view: SandboxView | None = None
        self._talk: mcp_page.PageTalk | None = None
        self._asked: ApprovalCard | None = None
        self._problem = ""
        self._opening: asyncio.Task[None] | None = None
        labels = [named(f"page_{name}", plain_label("hint", wrap=True)) for name in ("from", "note", "text")]
        self._from, self._note, self._text = labels
        tool = self.prompt.name or self.prompt.tool
        self._from.setText(self._words("page.from", server=self.prompt.server, tool=tool))
        self._text.hide()
        self._install = OfferLine(look, "page_viewer", "download", "accent")
        self._install.hide()
        self._install.accepted.connect(self._on_install)
        self.show_page = button("", "page_show", self._on_show)
        shown = (self._from, self._note, self._text, self._install)
        self._parts = vbox(*shown, (self.show_page, 0, Qt.AlignmentFlag.AlignLeft), spacing=6)
        self._place = self._parts.count()
        self.column.insertLayout(self.column.indexOf(self._box), self._parts)
        # Any answer closes the page, after it has been written.
        self.answered.connect(self._on_answered)
        viewer.changed.connect(self._on_viewer_changed)
        self._offer()

    # Offers

    def _offer(self, note: str = "") -> None:
        """Offer to show the page, or say why it cannot be shown."""
        page, words = self._page, self._words
        shows = available() and not self._problem
        self.show_page.setVisible(page.kind == mcp_page.ADDRESS or (page.kind == mcp_page.HTML and shows))
        if page.kind == mcp_page.ADDRESS:
            host = QUrl(page.text).host(QUrl.ComponentFormattingOption.FullyEncoded)
            self.show_page.setText(words("page.open", host=host[:100]))
        elif page.kind == mcp_page.HTML:
            self.show_page.setText(words("page.show"))
            note = note or ("" if available() else self._show_viewer())
            show_or_hide(self._text, "" if shows else visible(mcp_page.text_of(page.text)))
        elif page.kind == mcp_page.UNKNOWN:
            note = words("page.cannot", kind=page.mime or "?")
        else:
            note = words("page.too_large" if page.kind == mcp_page.TOO_LARGE else "page.unreadable")
        self._say(note)

    def _show_viewer(self) -> str:
        """Offer to install what shows pages, or show how far that is; return what is said of it."""
        state, words = self._viewer.state, self._words
        size = size_text(self._language, VIEWER_BYTES)
        offered = state.offered or state.done is not None
        if state.done is not None:
            text = words("page.viewer.fetching", done=size_text(self._language, state.done), size=size)
            self._install.show_progress(text, state.done, VIEWER_BYTES, words("embedded.cancel"))
        elif state.offered:
            self._install.show_offer(words("page.viewer", size=size), words("page.viewer.install"))
        self._install.setVisible(offered)
        if state.installed:
            return words("page.viewer.restart")
        # A built program has no place for the viewer.
        return state.problem or words("page.no_view" if offered else "page.no_viewer")

    def _on_viewer_changed(self) -> None:
        if self._page.kind == mcp_page.HTML and not available():
            self._say(self._show_viewer())

    def _on_install(self) -> None:
        running = self._viewer.state.done is not None
        (self._viewer.cancel_requested if running else self._viewer.install_requested).emit()

    def _say(self, note: str) -> None:
        show_or_hide(self._note, note)
        self.updateGeometry()

    def _words(self, key: str, **values: str) -> str:
        return self._language(key, **{name: visible(value) for name, value in values.items()})

    # The page

    def _on_show(self) -> None:
        if self._page.kind == mcp_page.ADDRESS:
            self.link_requested.emit(self._page.text)
        elif self._view is not None:
            self._close()
        elif self._opening is None or self._opening.done():
            self._opening = start_owned(self._open(), name="open a server's page")

    async def _open(self) -> None:
        self._problem = await asyncio.to_thread(sandbox_problem)
        if not isValid(self):
            return
        if self._problem:
            self._offer(self._words(f"page.no_{self._problem}"))
            return
        # QtWebEngine is large and loaded with the first page.
        prepare()
        from app.gui.web_view.sandbox_view import SandboxView

        dark, said = self._look.tokens is DARK, (self.prompt.arguments, self.message.content)
        facts = mcp_page.PageFacts(dark, self._language.name, *said, self._page.data)
        view = SandboxView(self._page.text, self._from.text(), self)
        view.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        view.said.connect(self._on_said)
        view.ended.connect(self._on_ended)
        self._view, self._talk = view, mcp_page.PageTalk(facts, view.say)
        self._parts.addWidget(view)
        self._set_height(self._page.height or USUAL)
        self.show_page.setText(self._words("page.close"))
        self._say(self._words("page.unguarded") if unguarded() else "")

    def _close(self, note: str = "") -> None:
        """Close the page, and offer to show it again."""
        view, self._view, self._talk = self._view, None, None
        self._forget_tool()
        if view is not None:
            view.said.disconnect(self._on_said)
            view.ended.disconnect(self._on_ended)
            drop(view)
        self._offer(note)

    def _set_height(self, height: int) -> None:
        if self._view is not None:
            self._view.setFixedHeight(max(LOWEST, min(HIGHEST_PAGE, height)))
            # Qt forgets the height of the card's own layout alone, not that of one within it.
            self._parts.invalidate()
            self.updateGeometry()

    def _on_answered(self) -> None:
        self._talk = None
        if self._opening is not None:
            self._opening.cancel()
        QTimer.singleShot(0, self, self._close)

    def _on_ended(self) -> None:
        self._close(self._words("page.ended"))

    # Requests of the page

    def _on_said(self, text: str, acted: bool) -> None:
        action = self._talk.take(text) if self._talk is not None else None
        if action is None:
            return
        if action.kind == mcp_page.SIZE:
            self._set_height(action.height)
        elif action.kind == mcp_page.NOTIFY:
            self._say(self._words("page.says", server=self.prompt.server, text=action.text))
        elif action.kind == mcp_page.TOOL:
            self._ask_for_tool(action)
        elif action.kind in (mcp_page.PROMPT, mcp_page.INTENT):
            answer = action.text if action.kind == mcp_page.PROMPT else f"{action.text} {action.arguments}"
            self._propose(answer, at_once=acted)
        elif action.kind == mcp_page.LINK and acted:
            self.link_requested.emit(action.text)
        else:
            self._say(self._words("page.by_itself", text=action.text[:200]))

    def _propose(self, answer: str, *, at_once: bool) -> None:
        """Answer with a text of the page; without a click of the user, only write it into the box."""
        self._box.setPlainText(answer)
        if at_once:
            self._on_answer()
        else:
            self._say(self._words("page.proposed", server=self.prompt.server))

    def _ask_for_tool(self, action: mcp_page.PageAction) -> None:
        """Ask whether a tool may run; the assistant runs it, like any other call."""
        if self._asked is not None:
            self._refuse(action)
            return
        wants, asks = self._words("page.wants_tool", server=self.prompt.server), PromptType.APPROVAL
        question = Prompt(question=wants, type=asks, tool=action.text, arguments=action.arguments)
        message = replace(self.message, id=new_id(), prompt=question, resources=())
        card = ApprovalCard(self._language, self._look, message)
        card.setObjectName("page_tool")
        # The answer is about one call of one page.
        card.always.hide()
        card.answered.connect(lambda answer: self._on_tool_answered(action, answer))
        self._asked = card
        self._parts.insertWidget(self._place, card)
        self.updateGeometry()

    def _on_tool_answered(self, action: mcp_page.PageAction, answer: str) -> None:
        self._forget_tool()
        if answer == Consent.ALLOW:
            call = self._words("page.run_tool", tool=action.text, arguments=action.arguments)
            self._propose(call, at_once=True)
        else:
            self._refuse(action)

    def _refuse(self, action: mcp_page.PageAction) -> None:
        if self._view is not None and action.refusal is not None:
            self._view.say(action.refusal)

    def _forget_tool(self) -> None:
        card, self._asked = self._asked, None
        if card is not None:
            drop(card)
            self.updateGeometry()
