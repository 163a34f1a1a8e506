"""The box in which a message is written, with lists of names after an @ and of prompts after a /,
and its files.

The files: those attached, those still being read, and a composer that takes them.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QImage, QKeyEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QListWidget, QMenu, QScrollArea, QWidget

from app.core.files import ENCODINGS, PDF
from app.core.message import Attachment, Attachments
from app.core.texts import clean_text, fits
from app.gui.display.appearance import Language, Look, tall
from app.gui.files.user_files import LONG_PASTE, is_image, is_seen
from app.gui.markdown.document import Utf16Places, units
from app.gui.tasks import Tasks
from app.gui.transcript.pictures import VIEW_PICTURE, pixels_of
from app.gui.widgets.boxes import STRETCH, Part, frame, hbox
from app.gui.widgets.composer import Composer
from app.gui.widgets.controls import ENTER, IconButton, TextBox, icon_button, ticked
from app.gui.widgets.picture_viewer import PictureButton
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_tip

ROW = 32
MOST_ROWS = 6
LIST_WIDTH = 240


class NameList(QListWidget):
    """A list of names over a box, without focus; emits name_chosen(name)."""

    name_chosen = Signal(str)

    def __init__(self, box: QWidget) -> None:
        super().__init__(box)
        self.setObjectName("name_list")
        self.setProperty("kind", "names")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._box = box
        self.itemClicked.connect(lambda item: self.name_chosen.emit(item.text()))
        self.hide()

    def offer(self, names: list[str]) -> None:
        """Show these names over the box and choose the first; hide the list if there are none."""
        if not names:
            self.hide()
            return
        if [self.item(row).text() for row in range(self.count())] != names or self.isHidden():
            self.clear()
            self.addItems(names)
            self.choose(0)
        # A child of the window, so that it lies over everything in it.
        self.setParent(self._box.window())
        height = min(MOST_ROWS, len(names)) * tall(ROW) + 10
        corner = self._box.mapTo(self._box.window(), QPoint(-4, -height - 14))
        self.setGeometry(corner.x(), corner.y(), LIST_WIDTH, height)
        self.show()
        self.raise_()

    def step(self, step: int) -> None:
        """Choose the next or previous name, wrapping around."""
        self.choose((self.currentRow() + step) % max(1, self.count()))

    def choose(self, row: int) -> None:
        """Choose a name, and let the screen reader at the box say it."""
        self.setCurrentRow(row)
        self._box.setAccessibleDescription(self.chosen)
        event = QAccessibleEvent(self._box, QAccessible.Event.DescriptionChanged)
        QAccessible.updateAccessibility(event)

    @property
    def chosen(self) -> str:
        """The chosen name."""
        return self.item(self.currentRow()).text() if self.count() else ""


class MessageBox(TextBox):
    """A text box that passes on pasted files and pictures as well, and recalls earlier messages with Up.

    Signals: files_given(paths), image_given(picture), image_beside(picture) of a text that was pasted,
    escaped() if Escape has no other use, prompt_chosen(name).
    """

    files_given = Signal(object)
    image_given = Signal(object)
    image_beside = Signal(object)
    escaped = Signal()
    prompt_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(longest_paste=LONG_PASTE)
        self._said: list[str] = []
        self._back = 0
        self._names: tuple[str, ...] = ()
        self._prompts: tuple[str, ...] = ()
        self._name_list = NameList(self)
        self._name_list.name_chosen.connect(self._complete)
        self.textChanged.connect(self._offer_names)
        self.cursorPositionChanged.connect(self._offer_names)

    def set_names(self, names: tuple[str, ...]) -> None:
        """Set the names an @ at the beginning can call."""
        self._names = names
        self._offer_names()

    def set_prompts(self, names: tuple[str, ...]) -> None:
        """Set the prompts that a / at the beginning can call."""
        self._prompts = names

    def begin_with(self, name: str) -> None:
        """Insert a call to a member at the beginning of the message."""
        self._complete(name)
        self.setFocus()

    def set_said(self, texts: list[str]) -> None:
        """Set the user's earlier messages, oldest first."""
        # Called often while a chat runs: keep the position in the history.
        if texts != self._said:
            self._said = list(texts)
            self._back = 0

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or source.hasImage() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
        if paths:
            self.files_given.emit(paths)
        elif source.hasImage() and isinstance(image := source.imageData(), QImage):
            if source.text():
                # Cells of a spreadsheet come with their picture.
                super().insertFromMimeData(source)
                self.image_beside.emit(image)
            else:
                self.image_given.emit(image)
        else:
            super().insertFromMimeData(source)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        plain = not event.modifiers()
        if self._take_name_key(event, step) or (step and plain and self._recall(step)):
            event.accept()
        elif event.key() == Qt.Key.Key_Escape and not self.composing:
            self.escaped.emit()
            event.accept()
        else:
            super().keyPressEvent(event)

    def _recall(self, step: int) -> bool:
        """Show an earlier or later message, if the box is empty or shows an unchanged earlier message."""
        shown = self.toPlainText()
        recalling = self._back > 0 and shown == self._said[-self._back]
        if self.composing or (shown and not recalling):
            return False
        back = (self._back if recalling else 0) + step
        if not 0 <= back <= len(self._said):
            return recalling
        self._back = back
        self.setPlainText(self._said[-back] if back else "")
        self.moveCursor(self.textCursor().MoveOperation.End)
        return True

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._name_list.hide()

    def _take_name_key(self, event: QKeyEvent, step: int) -> bool:
        """Handle a key for the list of names; return whether it was handled."""
        if not self._name_list.isVisible() or self.composing:
            return False
        if step:
            self._name_list.step(-step)
        elif event.key() == Qt.Key.Key_Escape:
            self._name_list.hide()
        elif event.key() in (*ENTER, Qt.Key.Key_Tab) and not event.modifiers():
            self._complete(self._name_list.chosen)
        else:
            return False
        return True

    def _offer_names(self) -> None:
        """Offer the names that begin with the text between @ and cursor, or the prompts
        that have the words after a /.
        """
        text = self.toPlainText()
        written = text[: self._cursor_in(text)]
        if written.startswith("/") and "\n" not in written and self.hasFocus():
            self._name_list.offer([name for name in self._prompts if fits(name, written[1:])])
            return
        begun, called = written[1:].casefold(), written.startswith("@") and self.hasFocus()
        names = (name for name in self._names if called and name.casefold().startswith(begun))
        self._name_list.offer([name for name in names if name.casefold() != begun.rstrip()])

    def _complete(self, name: str) -> None:
        """Insert or complete the name after the @ at the beginning; after a / call the prompt of that
        name.
        """
        text = self.toPlainText()
        if text.startswith("/"):
            self._name_list.hide()
            self.prompt_chosen.emit(name)
            return
        rest = text
        if text.startswith("@"):
            named = self._named(text)
            rest = text[1 + len(named) :] if named else text[self._cursor_in(text) :]
        self.setPlainText(f"@{name} {rest.lstrip()}")
        cursor = self.textCursor()
        cursor.setPosition(units(name) + 2)
        self.setTextCursor(cursor)
        self._name_list.hide()

    def _cursor_in(self, text: str) -> int:
        """Return the number of characters before the cursor."""
        return Utf16Places(text).from_qt(self.textCursor().position())

    def _named(self, text: str) -> str:
        """Return the name a message calls, "" for none."""
        found = [name for name in self._names if text[1:].casefold().startswith(name.casefold())]
        return max(found, key=len, default="")


CHIP_HEIGHT = 40
CHIP_PICTURE = 24
CHIP_WIDTH = 200
Remove = tuple[str, Callable[[], object]]


class ChipStrip(QScrollArea):
    """A row of files that scrolls sideways, each with a button to remove it."""

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self._language, self._look = language, look
        self.setObjectName(name)
        self.setWidgetResizable(True)
        self.setFixedHeight(CHIP_HEIGHT)
        self.hide()

    def _fill(self, chips: Iterable[QFrame]) -> None:
        body = QWidget()
        hbox(*chips, STRETCH, inside=body, margins=(0, 2, 0, 2), spacing=6)
        self.setWidget(body)

    def _chip(self, name: str, label: ElidedLabel, remove: Remove, icon: IconButton | None = None) -> QFrame:
        """Return the chip of a file; `remove` is the object name of its button and what that does."""
        removing = icon_button(self._look, "x", *remove)
        removing.setFixedSize(22, 22)
        name_button(removing, self._language("chat.attachment.remove", name=name))
        label.setMinimumWidth(min(label.sizeHint().width(), CHIP_WIDTH - (70 if icon else 40)))
        parts: list[Part] = [(label, 1), removing]
        if icon:
            icon.setFixedSize(CHIP_PICTURE, CHIP_PICTURE)
            parts.insert(0, icon)
        chip = frame("card", hbox(*parts, margins=(6 if icon else 8, 3, 4, 3), spacing=4))
        chip.setMaximumWidth(CHIP_WIDTH)
        return chip


class AttachmentStrip(ChipStrip):
    """Shows the attachments; hidden if there are none.

    Signals: changed(), removed(attachment, position) after the user removed one, look_chosen(attachment,
    seen) when the user chose how a PDF file is sent: as it looks, or as text; picture_requested(action,
    pictures, place) to show one large. `why_not_seen` returns why one cannot be sent as it looks.
    """

    changed = Signal()
    removed = Signal(object, int)
    look_chosen = Signal(object, bool)
    picture_requested = Signal(str, object, int)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, look, "attachments")
        self._attachments: Attachments = ()
        self.why_not_seen: Callable[[Attachment], str] = lambda _attachment: ""
        # Texts that are shown in another encoding, and as they were read first.
        self._first_read: dict[Attachment, Attachment] = {}
        self._tasks = Tasks(lambda _name, _error: None)

    def attachments(self) -> Attachments:
        """Return the attachments in order."""
        return self._attachments

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Replace the attachments."""
        if tuple(attachments) == self._attachments:
            return
        self._attachments = tuple(attachments)
        self._fill(self._chip_of(place, attachment) for place, attachment in enumerate(self._attachments))
        self.setVisible(bool(self._attachments))
        self.changed.emit()

    def add(self, attachments: Sequence[Attachment]) -> None:
        """Add attachments."""
        self.show_attachments((*self._attachments, *attachments))

    def _chip_of(self, place: int, one: Attachment) -> QFrame:
        label, icon = ElidedLabel("meta", text=one.name), self._icon_of(place, one)
        remove = (f"attachment_remove_{place + 1}", partial(self._on_remove, place))
        chip = self._chip(one.name, label, remove, icon)
        chip.setToolTip(plain_tip(self._tip(one)))
        if one.media_type == PDF or one.encoding in ENCODINGS:
            name, choose = f"attachment_look_{place + 1}", partial(self._choose_look, place)
            choosing = icon_button(self._look, "chevron-down", name, choose)
            choosing.setFixedSize(20, 22)
            key = "chat.attachment.look" if one.media_type == PDF else "chat.attachment.encoding"
            name_button(choosing, self._language(key, name=one.name))
            row = chip.layout()
            assert isinstance(row, QBoxLayout)
            row.insertWidget(row.count() - 1, choosing)
        return chip

    def _icon_of(self, place: int, one: Attachment) -> IconButton:
        """Return the icon of a file: of a picture a thumbnail, which shows it large when it is clicked."""
        size = pixels_of(one)
        if size is None:
            icon = icon_button(self._look, "image" if is_image(one) or is_seen(one) else "file-text")
            icon.setEnabled(False)
            return icon
        picture = PictureButton(self._look, (one, size), CHIP_PICTURE)
        thumbnail = named(f"attachment_open_{place + 1}", picture)
        name_button(thumbnail, self._language("picture.open", name=one.name))
        thumbnail.clicked.connect(partial(self._open, one))
        return thumbnail

    def _open(self, chosen: Attachment, _checked: bool = False) -> None:
        pictures = [(item, size) for item in self._attachments if (size := pixels_of(item)) is not None]
        place = next(number for number, (picture, _) in enumerate(pictures) if picture is chosen)
        self.picture_requested.emit(VIEW_PICTURE, pictures, place)

    def _tip(self, one: Attachment) -> str:
        if is_seen(one):
            return self._language("chat.tip.seen", name=one.name)
        if one.encoding:
            return self._language("chat.tip.encoding", name=one.name, encoding=one.encoding)
        return one.name

    def _choose_look(self, place: int, _checked: bool = False) -> None:
        """Open the menu with the two ways to send a PDF file, or with the encodings of a text."""
        one, words = self._attachments[place], self._language
        menu = named("attachment_look", QMenu(self, toolTipsVisible=True))
        menu.aboutToHide.connect(menu.deleteLater)
        why_not = self.why_not_seen(one) if not is_seen(one) else ""
        for name in ENCODINGS if one.encoding else ():
            ticked(menu, name, name == one.encoding, partial(self._on_encoding, one, name))
        ways = ((False, words("chat.look.text")), (True, words("chat.look.seen")))
        for seen, text in ways if not one.encoding else ():
            action = ticked(menu, text, is_seen(one) == seen, partial(self.look_chosen.emit, one, seen))
            if seen and why_not:
                action.setEnabled(False)
                menu.addAction(why_not).setEnabled(False)
        chip = self.sender()
        at = chip if isinstance(chip, QWidget) else self
        menu.popup(at.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))

    def _on_encoding(self, shown: Attachment, encoding: str, _checked: bool = False) -> None:
        self._tasks.replace(f"read {shown.name}", self._read_as(shown, encoding))

    async def _read_as(self, shown: Attachment, encoding: str) -> None:
        """Show a text as another encoding reads its bytes, beginning with the text as it was attached."""
        first = self._first_read.get(shown, shown)
        data = first.text.encode(first.encoding, "replace")
        text = await asyncio.to_thread(lambda: clean_text(data.decode(encoding, "replace")))
        changed = replace(first, text=text, encoding=encoding)
        # It may have been taken out meanwhile.
        if shown in (now := list(self._attachments)):
            now[now.index(shown)] = changed
            self._first_read.pop(shown, None)
            self._first_read[changed] = first
            self.show_attachments(now)

    def _on_remove(self, place: int, _checked: bool = False) -> None:
        gone = self._attachments[place]
        self.show_attachments(self._attachments[:place] + self._attachments[place + 1 :])
        self.removed.emit(gone, place)


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that is being read, and how many of its pages are read; `pages` is 0 until that is known."""

    name: str
    read: int = 0
    pages: int = 0


class ReadingStrip(ChipStrip):
    """Shows the files being read; hidden if there are none; emits `cancelled` with a file's number."""

    cancelled = Signal(int)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, look, "readings")
        self._readings: dict[int, Reading] = {}
        self._labels: dict[int, ElidedLabel] = {}
        language.changed.connect(self._refill)

    def __bool__(self) -> bool:
        return bool(self._readings)

    def show_readings(self, readings: Mapping[int, Reading]) -> None:
        """Show these files by their numbers."""
        same = readings.keys() == self._readings.keys()
        self._readings = dict(readings)
        if same:
            # The buttons stay, so that one can be clicked or focused while the pages are counted.
            for number, label in self._labels.items():
                label.setText(self._words(self._readings[number]))
            return
        self._refill()
        self.setVisible(bool(readings))

    def _words(self, one: Reading) -> str:
        key = "chat.reading.pages" if one.pages else "chat.reading"
        return self._language(key, name=one.name, read=one.read, pages=one.pages)

    def _refill(self) -> None:
        self._labels, chips = {}, []
        for number, reading in self._readings.items():
            label = self._labels[number] = ElidedLabel("hint", text=self._words(reading))
            cancel = (f"reading_cancel_{number}", partial(self.cancelled.emit, number))
            chips.append(self._chip(reading.name, label, cancel))
        self._fill(chips)


class AttachingComposer(Composer):
    """A composer with the attachments over its box; emits message_submitted(text, attachments)."""

    message_submitted = Signal(str, object)

    def __init__(
        self, language: Language, look: Look, *, box_name: str, button_name: str, box: TextBox
    ) -> None:
        self.strip = AttachmentStrip(language, look)
        super().__init__(look, box_name=box_name, button_name=button_name, box=box)
        self.files = hbox((self.strip, 1), spacing=6)
        self.column.insertLayout(0, self.files)
        self.strip.changed.connect(self._on_text_changed)

    def attachments(self) -> Attachments:
        """Return the attachments."""
        return self.strip.attachments()

    def _on_submitted(self) -> None:
        text, attachments = self.box.text(), self.attachments()
        if (text or attachments) and self.send.isEnabled():
            self.box.clear()
            self.strip.show_attachments(())
            self.message_submitted.emit(text, attachments)

    def _on_text_changed(self) -> None:
        self.send.setEnabled(bool(self.box.text() or self.attachments()))
        self.text_changed.emit()
