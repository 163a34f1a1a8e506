"""Dialogs with a heading and two buttons: their base, and those that ask for one thing.

They confirm, rename, show the host of a link before it opens, edit a prompt or a folder, ask for the values
of a prompt's variables, and let the user choose what of a file is imported or restored, or which resources
are attached.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QRegularExpression, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeyEvent, QKeySequence, QRegularExpressionValidator, QShortcut
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QPlainTextEdit, QWidget

from app.core.catalog import MOST_WINDOW
from app.core.definitions import SavedPrompt
from app.core.session import Folder
from app.core.settings import WhenClosed
from app.core.store import BackupContents, Difference, PackedDocument
from app.core.texts import amount_text, exact, visible
from app.core.tool import ServerResource
from app.engine.chat.commands import ChatStart, ContextUse
from app.engine.importing import Arrival, Arrivals
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import kind_text
from app.gui.files.user_files import ContextList
from app.gui.pages.settings.settings_rows import TickList
from app.gui.widgets.boxes import STRETCH, Margins, Part, Stretch, hbox, vbox
from app.gui.widgets.choices import ChipList, ChipOption
from app.gui.widgets.controls import ENTER, Dialog, TextBox, TickBox, button
from app.gui.widgets.form import Field, Form, Line
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, plain_tip, say, show_if

MOST_TITLES = 5


class AskDialog(Dialog):
    """A dialog that is accepted or rejected with a button, and deleted when it closes.

    A subclass calls `arrange` or `ask`, and overrides `_on_go` unless the button simply accepts.
    """

    def __init__(
        self,
        words: Language,
        parent: QWidget,
        name: str,
        title: str,
        go: tuple[str, str] | None = None,
        cancel: tuple[str, str] = ("cancel", "dialog.cancel"),
        *,
        safe: bool = False,
    ) -> None:
        """`name` begins all object names; `go` and `cancel` end those of the buttons.

        With each comes the text of `go`, which saves if none is given, and the key of the text of `cancel`.
        If `safe`, both weigh the same and Enter cancels.
        """
        super().__init__(parent, f"{name}_dialog", title)
        self._words = words
        self.heading = plain_label("page_title", wrap=True, text=title)
        self.cancel = button("", f"{name}_{cancel[0]}", self.reject, text=words(cancel[1]))
        what, text = go or ("save", words("dialog.save"))
        self.go = button("" if safe else "primary", f"{name}_{what}", self._on_go, text=text)
        (self.cancel if safe else self.go).setDefault(True)
        if not safe:
            # In a box of several lines Enter begins a new one.
            QShortcut(QKeySequence("Ctrl+Return"), self, self.go.click)

    def arrange(
        self,
        *parts: Part,
        before: Part = 0,
        margins: Margins = (22, 20, 22, 18),
        spacing: int = 10,
        width: int = 0,
        height: int = 0,
    ) -> QBoxLayout:
        """Lay out parts in a column with the buttons under them, after `before` in their row.

        With a width the dialog gets that, and the height that its parts need if none is given.
        """
        foot = hbox(before, STRETCH, self.cancel, self.go) if before else hbox(STRETCH, self.cancel, self.go)
        column = vbox(*parts, foot, inside=self, margins=margins, spacing=spacing)
        if width:
            self.resize(width, height or self.sizeHint().height())
        return column

    def ask(self, *lines: Line, width: int, height: int = 0, before: Part = 0, **layout: Any) -> None:
        """Lay out a form under the heading; the button is enabled while all values can be accepted."""
        self.form = Form(self._words, *lines, **layout).lay_out()
        self.arrange(self.heading, self.form, 6, before=before, width=width, height=height)
        self.form.changed.connect(lambda _name: self._check())
        self._check()

    def _check(self) -> None:
        self.go.setEnabled(self.form.complete)

    def give(self, *values: object) -> None:
        """Close the dialog, and emit `given` with values."""
        self.accept()
        self.given.emit(*values)

    def _on_go(self) -> None:
        self.give()


class ConfirmDialog(AskDialog):
    """Asks before something that cannot be undone; Enter cancels."""

    def __init__(self, words: Language, title: str, text: str, agree: str, parent: QWidget) -> None:
        super().__init__(words, parent, "confirm", visible(title), ("agree", agree), safe=True)
        self.arrange(self.heading, plain_label("card_text", wrap=True, text=visible(text)), 6, width=420)


class FolderExportDialog(AskDialog):
    """Asks whether an export has what is from the session's folder as well; emits `given` with the
    answer.
    """

    given = Signal(bool)

    def __init__(self, words: Language, look: Look, parent: QWidget) -> None:
        go = ("go", words("dialog.save"))
        super().__init__(words, parent, "folder_export", words("export.folder"), go)
        self._include = say(named("folder_export_include", TickBox(look)), words, "export.folder.include")
        lead = plain_label("card_text", wrap=True, text=words("export.folder.text"))
        self.arrange(self.heading, lead, self._include, 6, width=460)

    def _on_go(self) -> None:
        self.give(self._include.isChecked())


class LeaveDialog(AskDialog):
    """Asks what becomes of the sessions that run, with these titles, when the window is closed.

    Emits given(a WhenClosed, whether it is to be remembered).
    """

    given = Signal(str, bool)

    def __init__(self, words: Language, look: Look, titles: Sequence[str], parent: QWidget) -> None:
        heading = words("leave.title", count=len(titles))
        super().__init__(words, parent, "leave", heading, ("keep", words("leave.keep")))
        self._remember = say(named("leave_remember", TickBox(look)), words, "leave.remember")
        pause = button("", "leave_pause", lambda: self._choose(WhenClosed.PAUSE), text=words("leave.pause"))
        text = "\n".join((*map(visible, titles[:MOST_TITLES]), *("…" for _ in titles[MOST_TITLES:][:1])))
        lead = plain_label("card_text", wrap=True, text=text)
        self.arrange(self.heading, lead, self._remember, 6, before=pause, width=440)

    def _choose(self, wish: str) -> None:
        self.give(wish, self._remember.isChecked())

    def _on_go(self) -> None:
        self._choose(WhenClosed.KEEP)


class ValueDialog(AskDialog):
    """Asks for one value; emits `given` with it if it is not the one before."""

    given = Signal(object)
    before: Any = None

    def value(self) -> object:
        """Return what is entered, None for nothing."""
        (value,) = self.form.values().values()
        return value

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # In a text of several lines Enter alone begins another line.
        if event.key() in ENTER and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.go.click()
        else:
            super().keyPressEvent(event)

    def _on_go(self) -> None:
        value = self.value()
        self.accept()
        if value not in (None, self.before):
            self.given.emit(value)


class RenameDialog(ValueDialog):
    """Asks for another title of a session, or for what `key` names; `empty` lets that be nothing."""

    def __init__(
        self, words: Language, title: str, parent: QWidget, key: str = "rename.title", *, empty: bool = False
    ) -> None:
        super().__init__(words, parent, "rename", words(key))
        self.before, field = title, named("rename_field", QLineEdit(title))
        field.selectAll()
        self.ask(Field("title", field, says=key, fits=lambda text: bool(text) or empty), width=440)


class PasswordDialog(ValueDialog):
    """Asks for the password of a file. With `wrong` it says that another one did not open it."""

    def __init__(self, words: Language, name: str, parent: QWidget, *, wrong: bool) -> None:
        title = words("password.title", name=visible(name))
        super().__init__(words, parent, "password", title, ("open", words("password.open")))
        line = named("password_field", QLineEdit(echoMode=QLineEdit.EchoMode.Password))
        line.setAccessibleName(title)
        kind, key = ("warn", "password.wrong") if wrong else ("card_text", "password.text")
        self.ask(Paragraph(kind, text=words(key)), Field("password", line, fits=bool), width=440)


class WindowDialog(ValueDialog):
    """Asks how many tokens a model can read, 0 for what is known."""

    def __init__(self, words: Language, model: str, own: int, known: int, parent: QWidget) -> None:
        """`own` is what the user has said before, 0 if nothing; `known` is what counts now."""
        super().__init__(words, parent, "window", words("models.window", name=exact(model)))
        self.before, line = own, tokens_line("window_field", str(own or ""))
        line.setAccessibleName(self.windowTitle())
        line.setPlaceholderText(f"{known:,}")
        lead = Paragraph("card_text", text=words("gauge.window.text"))
        self.ask(lead, Field("tokens", line, put=lambda text: {"tokens": int(text or 0)}), width=440)


def tokens_line(name: str, text: str = "") -> QLineEdit:
    """Return a line that takes a number of tokens, or nothing, unlike a validator of numbers."""
    line, most = named(name, QLineEdit(text)), len(str(MOST_WINDOW))
    line.setValidator(QRegularExpressionValidator(QRegularExpression(f"[0-9]{{0,{most}}}"), line))
    return line


class SummaryDialog(ValueDialog):
    """Shows the text of a summary for editing; an empty one is not given."""

    def __init__(self, words: Language, text: str, parent: QWidget, *, key: str) -> None:
        """`key` is that of the sentence over the text."""
        super().__init__(words, parent, "summary", words("summary.edit"))
        self.before, box = text.strip(), TextBox(lines=14, most=14, submits=False, text=text)
        field = Field("text", named("summary_text", box), says="summary.edit")
        self.ask(Paragraph("card_text", text=words(key)), field, STRETCH, width=620, height=440)

    def value(self) -> object:
        return super().value() or None


class DoneMeansDialog(ValueDialog):
    """Asks what must be true when work is done, one criterion a line; `propose` asks a model for some."""

    def __init__(self, words: Language, texts: Sequence[str], parent: QWidget) -> None:
        super().__init__(words, parent, "done_means", words("criteria.title"))
        box = TextBox(lines=6, most=10, submits=False, text="\n".join(texts))
        self.before, self._box = tuple(texts), named("done_means_text", box)
        lead = Paragraph("card_text", text=words("criteria.text"))
        self.propose = button("", "done_means_propose", text=words("criteria.propose"))
        self.propose.setToolTip(plain_tip(words("criteria.propose.tip")))
        field = Field("text", box, says="criteria.title")
        self.ask(lead, field, STRETCH, before=self.propose, width=520, height=340)

    def add(self, texts: Sequence[str]) -> None:
        """Write more criteria behind those that are there."""
        lines = dict.fromkeys((*self._box.toPlainText().splitlines(), *texts))
        self._box.setPlainText("\n".join(filter(str.strip, lines)))

    def value(self) -> object:
        lines = str(super().value() or "").splitlines()
        return tuple(line.strip() for line in lines if line.strip())


class LongChatDialog(AskDialog):
    """Asks what of a long imported chat is sent; emits `given` with a ChatStart."""

    given = Signal(str)

    def __init__(self, words: Language, use: ContextUse, parent: QWidget) -> None:
        title = words("long_chat.title")
        super().__init__(words, parent, "long_chat", title, ("summary", words("long_chat.summary")))
        money = words("cost.unknown") if use.usd is None else words("cost.money", amount=amount_text(use.usd))
        starts = (ChatStart.ALL, "long_chat_all"), (ChatStart.LAST_PART, "long_chat_last")
        everything, last = (button("", name, partial(self.give, start)) for start, name in starts)
        everything.setText(words("long_chat.all", money=money))
        last.setText(words("long_chat.last"))
        text = words("long_chat.text", tokens=f"{use.tokens:,}", limit=f"{use.limit:,}")
        lead = plain_label("card_text", wrap=True, text=text)
        self.arrange(self.heading, lead, hbox(everything, last, STRETCH), 6, width=560)

    def _on_go(self) -> None:
        self.give(ChatStart.SUMMARY)


class PromptDialog(ValueDialog):
    """Shows a participant's system prompt for editing; "" is given for the generated one."""

    def __init__(self, words: Language, name: str, prompt: str, generated: str, parent: QWidget) -> None:
        super().__init__(words, parent, "prompt", words("setup.prompt.of", name=name))
        self._generated, box = generated, TextBox(lines=14, most=14, submits=False, text=prompt)
        box.setAccessibleName(self.windowTitle())
        said = words("setup.prompt.generated")
        reset = button("link", "prompt_reset", lambda: box.setPlainText(generated), text=said)
        lead, field = Paragraph("card_text", text=words("setup.prompt.text")), named("prompt_text", box)
        self.ask(lead, Field("prompt", field), STRETCH, width=620, height=400, before=reset)

    def value(self) -> object:
        text = super().value()
        return "" if text == self._generated.strip() else text


SCHEMES = ("http", "https", "mailto")
MOST_CHARACTERS = 2_000


def may_open(url: str) -> bool:
    """Return whether a link may be opened: http, https or mailto, with a host, and not too long."""
    parsed = QUrl(url, QUrl.ParsingMode.StrictMode)
    if not parsed.isValid() or parsed.scheme().lower() not in SCHEMES or len(url) > MOST_CHARACTERS:
        return False
    return bool(parsed.host()) or parsed.scheme().lower() == "mailto"


async def open_link(url: str) -> bool:
    """Open an address the user has agreed to in the system's browser; return False if it may not open."""
    return _open(url)


def _open(url: str) -> bool:
    """Open an address in the system's browser; return False if it may not open. Nothing else does."""
    return may_open(url) and QDesktopServices.openUrl(QUrl(url, QUrl.ParsingMode.StrictMode))


class LinkDialog(AskDialog):
    """Shows where a link goes, and opens it in the system's browser if the user agrees; Enter cancels."""

    def __init__(self, words: Language, url: str, shown: str, parent: QWidget) -> None:
        open_, cancel = ("open", words("link.open")), ("cancel", "link.cancel")
        super().__init__(words, parent, "link", words("link.title"), open_, cancel, safe=True)
        self._address = url
        parsed = QUrl(url, QUrl.ParsingMode.StrictMode)
        # Punycode: a look-alike letter of another script shows itself.
        encoded = exact(parsed.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        host = parsed.host(QUrl.ComponentFormattingOption.FullyEncoded) or encoded
        lines: list[QWidget] = [ElidedLabel("meta", text=encoded)]
        if shown and shown != url:
            lines.append(ElidedLabel("meta", text=words("link.shown", text=exact(shown))))
        text = plain_label("card_text", wrap=True, text=words("link.text"))
        leads_to = named("link_host", plain_label("card_title", wrap=True, text=host))
        self.arrange(self.heading, text, leads_to, *lines, 6, width=460)

    def _on_go(self) -> None:
        _open(self._address)
        self.accept()


LONG_LINES = 5


class SavedPromptDialog(ValueDialog):
    """Shows a prompt for editing."""

    def __init__(self, words: Language, prompt: SavedPrompt, parent: QWidget) -> None:
        title = words("saved_prompt.edit" if prompt.id else "settings.saved_prompts.new")
        super().__init__(words, parent, "saved_prompt", title)
        self.before, box = prompt, TextBox(lines=10, most=10, submits=False, text=prompt.text)
        name = named("saved_prompt_name", QLineEdit(prompt.name))
        called = Field("name", name, says="saved_prompt.name", hint="saved_prompt.name", fits=bool)
        hint = Paragraph("hint", text=words("saved_prompt.hint", example=example(words)))
        text = Field("text", named("saved_prompt_text", box), says="saved_prompt.text", fits=bool)
        self.ask(called, hint, text, STRETCH, width=600, height=420)

    def value(self) -> object:
        return replace(self.before, **self.form.values())


def example(words: Language) -> str:
    """Return a variable as it is written in a prompt."""
    return "{" + words("saved_prompt.example") + "}"


class VariablesDialog(ValueDialog):
    """Asks for the values of the variables of a prompt. Enter inserts it, Shift+Enter breaks a line."""

    def __init__(self, words: Language, prompt: SavedPrompt, parent: QWidget) -> None:
        super().__init__(words, parent, "variables", prompt.name, ("insert", words("saved_prompt.insert")))
        self.fields: dict[str, TextBox] = {}
        column = vbox(spacing=6)
        for number, variable in enumerate(prompt.variables):
            lines = LONG_LINES if variable in prompt.long_variables else 1
            field = self.fields[variable] = named(f"variable_{number}", TextBox(lines=lines, most=LONG_LINES))
            field.submitted.connect(self._on_go)
            field.setAccessibleName(prompt.titled(variable))
            column.addWidget(plain_label("field", text=prompt.titled(variable)))
            column.addWidget(field)
        lead = words("saved_prompt.fill" if prompt.text else "server_prompt.fill")
        self.arrange(self.heading, Paragraph("card_text", text=lead), column, 6, width=460)

    def value(self) -> object:
        return {name: field.text() for name, field in self.fields.items()}


class FolderDialog(ValueDialog):
    """Shows a folder for editing."""

    def __init__(
        self, words: Language, look: Look, folder: Folder, parent: QWidget, skills: Sequence[ChipOption] = ()
    ) -> None:
        """`skills` are those that can be given to the folder."""
        super().__init__(words, parent, "folder", words("folder.title"))
        self.before = folder
        box = TextBox(lines=7, most=7, submits=False, text=folder.instructions)
        named("folder_instructions", box)
        self.files = ContextList(words, look)
        self.files.show_paths(folder.context)
        self.files.kept.connect(self.files.show_paths)
        self.files.files_given.connect(self._on_more)
        choose = button("link", "folder_choose", self.files.ask, text=words("setup.context.choose"))
        name = Field("name", named("folder_name", QLineEdit(folder.name)), says="folder.name", fits=bool)
        key = "folder.instructions"
        told = Field("instructions", box, label=key, help="folder.instructions.hint", leads=True)
        files = hbox(plain_label("field", text=words("folder.files")), STRETCH, choose)
        hint = Paragraph("hint", text=words("folder.files.hint"))
        chips = ChipList(words, look, "folder_skills")
        chips.set_offers(skills)
        chips.show_chosen(folder.skills)
        none, text = "assistant.none.skills", "folder.skills.hint"
        given = Field("skills", chips, label="assistant.field.skills", hint=none, help=text)
        self.ask(name, told, given, files, hint, self.files, STRETCH, width=560, height=560, gap=10)

    def value(self) -> object:
        return replace(self.before, **self.form.values(), context=self.files.paths)

    def _on_more(self, paths: tuple[str, ...]) -> None:
        self.files.show_paths(tuple(dict.fromkeys((*self.files.paths, *paths))))


FAULTS_SHOWN = 3


class ChoosingDialog(AskDialog):
    """Facts about a file, and a list of what to take from it."""

    def __init__(
        self, words: Language, look: Look, parent: QWidget, name: str, title: str, go: str, choice: str
    ) -> None:
        """`name` begins the object names; `go` is the button's text, `choice` the accessible name
        of the list.
        """
        super().__init__(words, parent, name, title, ("go", go))
        self.facts = named(f"{name}_facts", plain_label("card_text", wrap=True))
        self.list = TickList(words, look, f"{name}_sessions", choice)
        self.list.changed.connect(self._show_go)

    def _list_rows(self, rows: Sequence[tuple[str, str, str]]) -> None:
        self.list.show_rows(rows)
        self.list.setVisible(bool(rows))

    def _lay_out(self, lines: Sequence[str], *below: QWidget) -> None:
        """Lay out the dialog with lines about the file over the list, and these widgets under it."""
        self.facts.setText(visible("\n".join(lines)))
        self.arrange(self.heading, self.facts, (self.list, 1), *below, Stretch(0))
        self._show_go()

    def _show_go(self) -> None:
        self.go.setEnabled(bool(self.list.chosen()))


class ImportDialog(ChoosingDialog):
    """Lets the user choose which conversations to import; emits `given` with them, and whether
    with what they bring besides.
    """

    given = Signal(object, bool)

    def __init__(self, words: Language, look: Look, arrivals: Arrivals, parent: QWidget) -> None:
        title = words("import.title")
        super().__init__(words, look, parent, "import", title, words("import.go"), title)
        self._arrivals = arrivals
        rows = []
        for arrival in arrivals.fresh:
            note = f"{words('data.messages', count=arrival.messages)} · {words.day(arrival.last)}"
            rows.append((arrival.session_id, arrival.title, note))
        self._list_rows(rows)
        text = visible("\n".join(self._faults()))
        faults = named("import_faults", plain_label("warn", wrap=True, text=text))
        faults.setVisible(bool(arrivals.faults))
        self._with_context = say(named("import_context", TickBox(look)), words, "import.besides")
        besides = visible("\n\n".join(filter(None, map(self._besides, arrivals.fresh))))
        shown = named("import_besides", QPlainTextEdit(besides, readOnly=True, tabChangesFocus=True))
        shown.setAccessibleName(words("import.besides"))
        show_if(besides, self._with_context, shown)
        self._lay_out(self._facts(), self._with_context, shown, faults)
        self.resize(560, (460 if arrivals.fresh else 200) + (140 if besides else 0))

    def _besides(self, arrival: Arrival) -> str:
        """Return what a conversation brings besides its messages, below its title; "" for nothing."""
        lines = arrival.besides(self._words)
        return "\n".join((arrival.title, *lines)) if lines else ""

    def _facts(self) -> list[str]:
        words, sessions = self._words, self._arrivals.sessions
        apps = ", ".join(Counter(session.app for session in sessions))
        dates = sorted(filter(None, (date for session in sessions for date in (session.first, session.last))))
        lines = [words("import.holds", count=len(sessions), apps=apps)]
        if dates:
            lines.append(words.days(dates[0], dates[-1]))
        known = len(sessions) - len(self._arrivals.fresh)
        if known:
            lines.append(words("import.known", count=known))
        return lines

    def _faults(self) -> list[str]:
        faults = self._arrivals.faults
        lines = [self._words.problem(fault.code, **fault.details) for fault in faults[:FAULTS_SHOWN]]
        return [self._words("import.faults", count=len(faults)), *lines]

    def _on_go(self) -> None:
        wanted = set(self.list.chosen())
        chosen = [arrival for arrival in self._arrivals.fresh if arrival.session_id in wanted]
        self.give(chosen, self._with_context.isChecked())


class RestoreDialog(ChoosingDialog):
    """Lets the user choose what to restore from a backup; what has not changed is only counted."""

    def __init__(self, words: Language, look: Look, contents: BackupContents, parent: QWidget) -> None:
        title = words("restore.title", day=words.day_and_time(contents.backup.made_at))
        go, choice = words("data.restore_now"), words("restore.sessions")
        super().__init__(words, look, parent, "restore", title, go, choice)
        self._contents = contents
        names = ("restore_documents", "restore_replace")
        self._missing, self._changed = (named(name, TickBox(look)) for name in names)
        note = plain_label("hint", wrap=True, text=words("restore.note"))
        self._fill()
        self._lay_out(self._facts(), self._missing, self._changed, note)
        self.resize(560, 480 if self.list.chosen() else 260)
        for box in (self._missing, self._changed):
            box.toggled.connect(lambda _on: self._show_go())

    def sessions(self) -> list[str]:
        """Return the ids of the sessions to restore."""
        return self.list.chosen()

    def documents(self) -> bool:
        """Return whether to restore missing documents."""
        return self._missing.isChecked() or self.replace()

    def replace(self) -> bool:
        """Return whether to replace documents that differ."""
        return self._changed.isChecked()

    def _fill(self) -> None:
        words, rows = self._words, []
        for session in self._contents.sessions:
            if session.state in (Difference.MISSING, Difference.CHANGED):
                note = f"{words(f'restore.{session.state}')} · {words.day(session.updated_at)}"
                rows.append((session.id, session.title, note))
        self._list_rows(rows)
        for box, state in ((self._missing, Difference.MISSING), (self._changed, Difference.CHANGED)):
            some = self._of(state)
            box.setText(words(f"restore.documents.{state}", what=self._counted(some)))
            box.setVisible(bool(some))
        self._missing.setChecked(bool(self._of(Difference.MISSING)))

    def _of(self, state: str) -> list[PackedDocument]:
        """Return the documents in a state, without earlier versions."""
        known = [document for document in self._contents.documents if "/.versions/" not in document.name]
        return [document for document in known if document.state == state]

    def _counted(self, documents: list[PackedDocument]) -> str:
        counts = Counter(document.part for document in documents)
        return ", ".join(self._words(f"restore.part.{part}", count=count) for part, count in counts.items())

    def _facts(self) -> list[str]:
        words, sessions = self._words, self._contents.sessions
        kinds = Counter(session.kind for session in sessions)
        named = [f"{kind_text(kind, words)} {count}" for kind, count in kinds.items()]
        dates = sorted(session.updated_at for session in sessions if session.updated_at)
        lines = [words("restore.holds", count=len(sessions), kinds=", ".join(named))] if sessions else []
        if dates:
            lines.append(words.days(dates[0], dates[-1]))
        states = Counter(session.state for session in sessions)
        told = (Difference.MISSING, Difference.CHANGED, Difference.SAME, Difference.UNREADABLE)
        found = [state for state in told if states[state]]
        counted = [words(f"restore.count.{state}", count=states[state]) for state in found]
        lines += [" · ".join(counted)] if counted else []
        return lines or [words("restore.nothing")]

    def _show_go(self) -> None:
        self.go.setEnabled(bool(self.sessions()) or self.documents())


class ResourcesDialog(ValueDialog):
    """Lets the user choose what to attach of an MCP server's resources."""

    def __init__(
        self, words: Language, look: Look, server: str, resources: Sequence[ServerResource], parent: QWidget
    ) -> None:
        title = words("resources.title", name=exact(server))
        super().__init__(words, parent, "resources", title, ("attach", words("resources.attach")))
        known = self._resources = {resource.uri: resource for resource in resources}
        self.list = TickList(words, look, "resources_list", title)
        rows = [(uri, item.name, item.description or uri) for uri, item in known.items()]
        self.list.show_rows(rows, ticked=False)
        self.list.changed.connect(self._show_go)
        none = plain_label("hint", wrap=True, text=words("resources.none"))
        none.setVisible(not resources)
        self.arrange(self.heading, none, (self.list, 1), width=560, height=420)
        self._show_go()

    def _show_go(self) -> None:
        self.go.setEnabled(bool(self.list.chosen()))

    def value(self) -> object:
        return [self._resources[uri] for uri in self.list.chosen()]
