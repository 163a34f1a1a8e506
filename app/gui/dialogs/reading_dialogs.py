"""Dialogs to read in: versions of an answer side by side, one made again with another model or effort, the
versions of a session's file, and the guide.
"""

import csv
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QScrollArea, QWidget

from app.core.definitions import Effort
from app.core.files import kind_of
from app.core.message import Attachment, Author, Message, Role, Total, money_text, used_text
from app.core.provider import ModelFacts, ProviderStatus
from app.core.session import Chat, ChatSession, Session, Status
from app.core.session_files import FileVersion
from app.core.texts import Texts, escape_markdown, exact, fits, size_text, visible
from app.engine.export.formats import FILE_FORMATS, is_markdown
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look, tall
from app.gui.markdown.blocks import MAX_CELLS
from app.gui.pages.chat.over_input import COPY, FOLDER, SAVE, author_text
from app.gui.tasks import timer
from app.gui.transcript.row_text import COLUMN
from app.gui.transcript.row_words import model_of
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.boxes import STRETCH, Frame, frame, hbox, vbox
from app.gui.widgets.composer import SearchBox
from app.gui.widgets.controls import Choice, Dialog, MenuButton, button
from app.gui.widgets.form import Field
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.model_choice import ModelChoice, efforts_of
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, say, show_or_hide

LEAST, USUAL, EDGE = 300, 420, 40


class Version(NamedTuple):
    """A version of an answer: the turn it begins with, its messages, and whether the chat shows it."""

    turn_id: str
    messages: Sequence[Message]
    shown: bool


class VersionsDialog(Dialog):
    """Shows each version in a column; emits `given(turn id)` of the one to be used,
    and what its transcripts ask for.
    """

    given = Signal(str)
    link_requested = Signal(str, str)
    picture_requested = Signal(str, object, int)

    def __init__(
        self,
        words: Language,
        look: Look,
        session: Session,
        versions: Sequence[Version],
        colours: Mapping[str, int],
        names: Mapping[str, str],
        parent: QWidget,
    ) -> None:
        title = words("transcript.compare_versions")
        super().__init__(parent, "versions_dialog", title)
        self._words, self._look, self._versions = words, look, versions
        self._colours, self._names = colours, names
        # Nothing ticks in what is only compared.
        self._session = replace(session, status=Status.IDLE)
        self._row = hbox(spacing=12)
        self._area = QScrollArea(widgetResizable=True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(frame("", vbox(self._row)))
        close = button("", "versions_close", self.reject, text=words("dialog.close"))
        close.setAutoDefault(False)
        head, foot = plain_label("page_title", text=title), hbox(STRETCH, close)
        vbox(head, (self._area, 1), foot, inside=self, margins=(22, 20, 22, 18), spacing=12)
        room = parent.size()
        wide = len(versions) * (USUAL + 12) + EDGE
        self.resize(min(room.width() - EDGE, wide), room.height() - EDGE)
        self._add(0)

    def _add(self, place: int) -> None:
        """Add the column of a version; the next one follows between frames."""
        version = self._versions[place]
        column = VersionColumn(self._words, self._look, version, place + 1, len(self._versions))
        view = column.transcript
        view.feed.set_assistants(self._colours, self._names)
        view.feed.show_session(self._session, version.messages)
        view.read_from(version.messages[0].id)
        view.link_requested.connect(self.link_requested)
        view.picture_requested.connect(self.picture_requested)
        column.use.clicked.connect(lambda: self._use(version.turn_id))
        self._row.addWidget(column, 1)
        if version.shown:
            view.setFocus()
            # Known only once the columns have their widths.
            ranged = self._area.horizontalScrollBar().rangeChanged
            ranged.connect(lambda *_: self._area.ensureWidgetVisible(column))
        if place + 1 < len(self._versions):
            QTimer.singleShot(0, self, lambda: self._add(place + 1))

    def _use(self, turn_id: str) -> None:
        self.accept()
        self.given.emit(turn_id)


class VersionColumn(Frame):
    """A version: which it is, what it was made with, took and cost, its transcript, and the button to use
    it.
    """

    def __init__(self, words: Language, look: Look, version: Version, number: int, count: int) -> None:
        super().__init__("column", f"version_column_{number}")
        self.setMinimumWidth(LEAST)
        title, facts = words("versions.number", number=number, count=count), facts_of(version, words.texts)
        self.setAccessibleName(f"{title}: {facts}")
        self.transcript = TranscriptView(look.tokens, words.texts, picture=look.picture)
        self.transcript.setAccessibleName(f"{title}: {facts}")
        self.transcript.follow(look, words)
        key = "versions.used" if version.shown else "versions.use"
        self.use = named(f"version_use_{number}", button("", text=words(key)))
        self.use.setAutoDefault(False)
        self.use.setEnabled(not version.shown)
        self.use.setAccessibleName(f"{title}: {words(key)}")
        said = plain_label("field", text=title), Paragraph("hint", text=facts)
        head = vbox(*said, margins=(14, 12, 14, 0), spacing=3)
        foot = hbox(self.use, STRETCH, margins=(14, 0, 14, 12))
        vbox(head, (self.transcript, 1), foot, inside=self, spacing=8)


def facts_of(version: Version, texts: Texts) -> str:
    """Return what a version was made with, how long it took and what it cost, in words."""
    answers = [message for message in version.messages if message.role == Role.ASSISTANT]
    parts = [model for model in dict.fromkeys(map(model_of, answers)) if model]
    efforts = dict.fromkeys(item.effort for item in answers if item.effort)
    parts += [texts.named("transcript.effort", effort) for effort in efforts]
    if seconds := sum(answer.seconds or 0 for answer in answers if answer.parent_turn_id is None):
        parts.append(texts("transcript.seconds", seconds=f"{seconds:.1f}"))
    total = Total.of(*(answer.usage for answer in answers if answer.usage is not None))
    if total.used.tokens:
        parts.append(texts("transcript.group.tokens", tokens=used_text(total)))
        parts += [money_text(texts, total)] if total.cost_usd is not None else []
    return " · ".join(parts)


class OtherAnswerDialog(AskDialog):
    """Offers the models of ready providers, each with the efforts it takes; emits `given(provider, model,
    effort)`.
    """

    given = Signal(str, str, str)

    def __init__(
        self,
        words: Language,
        look: Look,
        ready: Sequence[ProviderStatus],
        facts: Callable[[str, str], ModelFacts],
        parent: QWidget,
    ) -> None:
        super().__init__(words, parent, "retry", words("retry.title"), ("go", words("transcript.retry")))
        self._facts = facts
        self._effort = str(Effort.AUTO)
        self.model = named("retry_model", ModelChoice(words, look, default=False))
        self.model.set_providers(ready, facts)
        self.effort = named("retry_effort", Choice(look))
        self.effort.setAccessibleName(words("answers.effort"))
        title = plain_label("hint", text=words("answers.effort"))
        self._efforts = frame("", hbox(title, self.effort, STRETCH, spacing=8))
        self.model.changed.connect(self._show_efforts)
        self.effort.activated.connect(self._on_effort)
        lead, key = Paragraph("card_text", text=words("retry.text")), "assistant.field.model"
        model = Field("model", self.model, label=key, fits=lambda pair: pair and pair[1])
        self.ask(lead, model, self._efforts, width=460)
        self.model.setFocus()

    def show_usual(self, provider: str, model: str, effort: str) -> None:
        """Show what the answer would be made with otherwise."""
        self._effort = effort
        self.model.show_model(provider, model)
        self.model.lineEdit().selectAll()
        self._show_efforts()

    def _show_efforts(self) -> None:
        """Offer the efforts of the model, and keep the one that was chosen where it is among them."""
        chosen = self.model.chosen()
        efforts = efforts_of(self._facts(*chosen)) if chosen else ()
        known = map(str, (Effort.AUTO, *efforts))
        offered = ((effort, self._words(f"answers.effort.{effort}")) for effort in known)
        self.effort.offer(offered, self._effort)
        self._efforts.setVisible(bool(efforts))

    def _on_effort(self) -> None:
        self._effort = str(self.effort.currentData())

    def _on_go(self) -> None:
        self.accept()
        self.given.emit(*(self.model.chosen() or ("", "")), str(self.effort.currentData()))


MOST_SHOWN = 1_000_000
# Of characters: longer Markdown is shown as it was written, since reading it would hold the window up.
MOST_RENDERED = 100_000
PIECE = 20_000
SIZE = QSize(820, 640)
RESTORE = "restore"
NOT_COMPARED = -1
DELIMITERS = {"csv": ",", "tsv": "\t"}
# What a file is shown in as the only message.
ALONE = ChatSession(id="", title="", chat=Chat(assistant_id="", assistant_name=""))


def shown_text(data: bytes) -> str | None:
    """Return what a file holds as it is shown, None for what is too large or no text."""
    try:
        return visible(data.decode("utf-8-sig")) if len(data) <= MOST_SHOWN else None
    except UnicodeDecodeError:
        return None


def preview_of(version: FileVersion, data: bytes) -> Message | str | None:
    """Return Markdown, a table or a picture as a message, another text itself, None for what cannot be
    shown.
    """
    author = Author(id=version.author, name=version.author, kind="main" if version.author else "user")
    file = Message(id="file", turn_id="file", role=Role.ASSISTANT, author=author)
    if (media_type := kind_of(data)) and len(data) <= MOST_SHOWN:
        held = b64encode(data).decode()
        picture = Attachment(name=exact(version.path), media_type=media_type, data=held)
        return replace(file, attachments=(picture,))
    text = shown_text(data)
    content = text if is_markdown(version.path) else ""
    if text and (delimiter := DELIMITERS.get(version.path.casefold().rpartition(".")[2])):
        content = table_of(text, delimiter)
    return replace(file, content=content) if content and len(content) <= MOST_RENDERED else text


def table_of(text: str, delimiter: str) -> str:
    """Return the rows of a table as Markdown, as many as are shown."""
    # No field is longer than a file.
    csv.field_size_limit(MOST_SHOWN)
    rows = [row for row in csv.reader(StringIO(text, ""), delimiter=delimiter) if row] or [[""]]
    columns = max(map(len, rows))
    rows[0] += [""] * (columns - len(rows[0]))
    shown = [f"| {' | '.join(map(escape_markdown, row))} |" for row in rows[: MAX_CELLS // columns]]
    left = [f"\n… {len(rows) - len(shown)}"] if len(rows) > len(shown) else []
    return "\n".join([*shown[:1], "|" + " - |" * columns, *shown[1:], *left])


class FileDialog(Dialog):
    """Shows a version of a file, or how two differ; nothing in it is opened, loaded or run.

    Signals: version_chosen(version), compared(older version, newer version), asked(SAVE, COPY, FOLDER,
    RESTORE or one of FILE_FORMATS).
    """

    version_chosen = Signal(int)
    compared = Signal(int, int)
    asked = Signal(str)

    def __init__(self, words: Language, look: Look, versions: Sequence[FileVersion], parent: QWidget) -> None:
        title = exact(versions[-1].path)
        super().__init__(parent, "file_dialog", title)
        self.resize(SIZE.boundedTo(parent.size()))
        self._words, self._versions = words, versions
        self._left = ""
        self.versions, self.other = (named(name, Choice(look)) for name in ("file_versions", "file_compare"))
        self.versions.setAccessibleName(words("files.versions"))
        self.other.setAccessibleName(words("files.compare"))
        self._facts = plain_label("hint")
        self.text = named("file_text", QPlainTextEdit(readOnly=True, undoRedoEnabled=False))
        shown = TranscriptView(look.tokens, words.texts, layout=COLUMN, picture=look.picture)
        self.view = named("file_view", shown)
        self.view.follow(look, words)
        for widget in (self.text, self.view):
            widget.setAccessibleName(title)
        self._no_text = plain_label("hint", wrap=True)
        asks = {action: partial(self.asked.emit, action) for action in (RESTORE, COPY, FOLDER, SAVE)}
        self.buttons = {action: button("", f"file_{action}", ask) for action, ask in asks.items()}
        for action, made in self.buttons.items():
            made.setText(words(f"files.{action}"))
        self.more = MenuButton(look, "", "file_save_as", chevron=True)
        self.more.show_words(words("files.save_as"))
        self.more.setVisible(is_markdown(versions[-1].path))
        for name in FILE_FORMATS:
            self.more.choices.addAction(words(f"export.{name}"), partial(self.asked.emit, name))
        close = button("primary", "file_close", self.reject, text=words("dialog.close"))
        close.setDefault(True)
        for choice in (self.versions, self.other):
            choice.activated.connect(lambda _place: self._choose())
        head = frame("", hbox((ElidedLabel("page_title", text=title), 1), self._facts, spacing=10))
        chosen = hbox(self.versions, self.other, STRETCH, spacing=8)
        foot = frame("", hbox(*self.buttons.values(), self.more, STRETCH, close, spacing=8))
        self._around = head, foot
        parts = head, chosen, self._no_text, (self.text, 1), (self.view, 1), foot
        vbox(*parts, inside=self, margins=(22, 18, 22, 16), spacing=12)
        self._more = timer(self, 0, self._fill)

    def be_part(self) -> None:
        """Stand in a page with what the file holds and the choice of versions alone."""
        self.setWindowFlags(Qt.WindowType.Widget)
        self.layout().setContentsMargins(0, 0, 0, 0)
        for part in self._around:
            part.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # In a page Escape and Enter are the page's.
        if self.isWindow():
            super().keyPressEvent(event)
        else:
            event.ignore()

    def _choose(self) -> None:
        """Ask for the version that is chosen, or for how it differs from the other one."""
        version, other = self.versions.value(), self.other.value()
        if other in (NOT_COMPARED, version):
            self.version_chosen.emit(version)
        else:
            self.compared.emit(min(version, other), max(version, other))

    def show_version(self, shown: FileVersion, preview: Message | str | None) -> None:
        """Show what a version holds; None for what cannot be shown."""
        words, newest = self._words, self._versions[-1]
        numbers = [item.version for item in reversed(self._versions)]
        offered = [(number, words("files.version", version=number)) for number in numbers]
        self.versions.offer(offered, shown.version)
        rest = [(number, text) for number, text in offered if number != shown.version]
        others = [(number, words("files.compare.with", version=text)) for number, text in rest]
        self.other.offer([(NOT_COMPARED, words("files.compare.none")), *others], NOT_COMPARED)
        message = preview if isinstance(preview, Message) else None
        has_text = bool(message.content if message else preview)
        self.other.setVisible(len(offered) > 1 and has_text)
        self._facts.setText(f"{author_text(shown, words)} · {size_text(words, shown.bytes)}")
        self.buttons[RESTORE].setVisible(shown.version != newest.version)
        self.buttons[COPY].setEnabled(has_text)
        text = preview if isinstance(preview, str) else ""
        self.show_text(text, words("files.not_shown") if preview is None else "")
        self.view.setVisible(message is not None)
        self.text.setVisible(isinstance(preview, str))
        if message:
            self.view.feed.show_session(ALONE, [message])
            self.view.read_from(message.id)

    def show_text(self, text: str, said: str = "") -> None:
        """Show a text, and a sentence over it."""
        show_or_hide(self._no_text, said)
        self.view.hide()
        self.text.show()
        self.text.clear()
        self._left = text
        self._fill()

    def _fill(self) -> None:
        """Add a piece of the text: a long one in a single step would hold the window up."""
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(self._left[:PIECE])
        self._left = self._left[PIECE:]
        if self._left:
            self._more.start()
        else:
            self._more.stop()


# The pages in the order of the list.
TOPICS = (
    "start", "deciding", "debates", "groups-and-work", "schedules", "workflows", "files",
    "assistants-and-tools", "skills", "memory", "external-agents", "models-on-this-computer", "mcp",
    "terminal", "costs-and-privacy", "keys",
)  # fmt: skip
GUIDE_SIZE, SIDE_WIDTH = QSize(980, 680), 230
STYLE = ListStyle(height=32, left=9, space=6)
# In messages only addresses of the web are links, so a link in the guide is written as one.
ADDRESS, SETTINGS = "https://guide/", "settings:"
_LINK = re.compile(rf"\]\(((?:{SETTINGS})?[\w-]+)(?:\.md)?\)")


class GuidePage(NamedTuple):
    """A page of the guide: Markdown, and a picture of what it tells of where it has one."""

    text: str
    pictures: tuple[Attachment, ...]


def read_guide(resources: Path, language: str) -> dict[str, GuidePage]:
    """Return the pages of the guide in a language, by topic."""
    folder, pages = resources / "guide" / language, {}
    for topic in TOPICS:
        text = _LINK.sub(rf"]({ADDRESS}\1)", (folder / f"{topic}.md").read_text("utf-8"))
        file, name = folder / f"{topic}.png", text.partition("\n")[0].removeprefix("# ")
        data = b64encode(file.read_bytes()).decode() if file.is_file() else ""
        picture = Attachment(name=name, media_type="image/png", data=data)
        pages[topic] = GuidePage(text, (picture,) if data else ())
    return pages


class GuideDialog(Dialog):
    """Shows the guide beside the window; emits settings_requested(page) for a link to the settings."""

    settings_requested = Signal(str)

    def __init__(self, words: Language, look: Look, pages: Mapping[str, GuidePage], parent: QWidget) -> None:
        super().__init__(parent, "guide_dialog", words("palette.guide"))
        self._pages = pages
        # The topic whose page is shown.
        self._shown = ""
        self._author = Author(id="", name=words("palette.guide"), kind="main")
        self.search = say(SearchBox(look, "guide_search"), words, name="guide.search", hint="guide.search")
        self.topics = say(ItemList(look, "guide_topics", STYLE), words, name="guide.topics")
        shown = TranscriptView(look.tokens, words.texts, layout=COLUMN, picture=look.picture)
        self.view = named("guide_page", shown)
        side = frame("side", vbox(self.search, self.topics, margins=(10, 14, 10, 8), spacing=8))
        side.setFixedWidth(tall(SIDE_WIDTH))
        hbox(side, (self.view, 1), inside=self, spacing=0)
        self.resize(GUIDE_SIZE.boundedTo(parent.size()))
        self.search.textChanged.connect(self._find)
        self.search.returnPressed.connect(lambda: self.view.search.step(1))
        self.topics.currentItemChanged.connect(lambda row, _before: self._show(row))
        self.view.link_requested.connect(lambda address, _shown: self._follow(address))
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.search.setFocus)
        self.view.follow(look, words)
        # The other language has other pages.
        words.changed.connect(self.reject)
        self._find("")

    def _find(self, typed: str) -> None:
        """List the topics whose pages have what is typed, and mark it in the page that is shown."""
        found = {topic: page.text for topic, page in self._pages.items() if fits(page.text, typed)}
        titles = {topic: text.partition("\n")[0].removeprefix("# ") for topic, text in found.items()}
        rows = [RowItem(id=topic, title=title) for topic, title in titles.items()]
        self.topics.show_rows(rows)
        if rows and not self.topics.current_id():
            self.topics.setCurrentRow(0)
        self.view.search.find(typed)
        self.view.search.step(1)

    def _show(self, row: RowItem | None) -> None:
        if row is None or row.id == self._shown:
            return
        self._shown = row.id
        text, pictures = self._pages[row.id]
        page = Message(id=row.id, turn_id=row.id, role=Role.ASSISTANT, author=self._author, content=text)
        page = replace(page, attachments=pictures)
        self.view.feed.show_session(ALONE, [page])
        self.view.read_from(page.id)
        self.view.setAccessibleName(row.title)

    def _follow(self, address: str) -> None:
        """Show the page of the guide or of the settings that a link leads to."""
        target = address.removeprefix(ADDRESS)
        if target.startswith(SETTINGS):
            self.settings_requested.emit(target.removeprefix(SETTINGS))
        elif target in self._pages:
            self.search.clear()
            self.topics.choose(target)
