"""The files of a message that is being written: those attached, those still being read, and a composer that takes them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QScrollArea, QWidget

from app.core.files import PDF
from app.core.message import Attachment
from app.gui.display.appearance import Language, Look
from app.gui.files.attachments import is_image, is_seen
from app.gui.transcript.pictures import VIEW_PICTURE, pixels_of
from app.gui.widgets.boxes import STRETCH, Part, frame, hbox
from app.gui.widgets.controls import Composer, IconButton, TextBox, icon_button
from app.gui.widgets.picture_viewer import PictureButton
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_tip

HEIGHT = 40
SIDE = 24
CHIP_WIDTH = 200


class ChipStrip(QScrollArea):
    """A row of files that scrolls sideways, each with a button to remove it."""

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self._language, self._look = language, look
        self.setObjectName(name)
        self.setWidgetResizable(True)
        self.setFixedHeight(HEIGHT)
        self.hide()

    def _fill(self, chips: Iterable[QFrame]) -> None:
        body = QWidget()
        hbox(*chips, STRETCH, inside=body, margins=(0, 2, 0, 2), spacing=6)
        self.setWidget(body)

    def _chip(
        self,
        name: str,
        label: ElidedLabel,
        remove: tuple[str, Callable[[], object]],
        icon: IconButton | None = None,
    ) -> QFrame:
        """Return the chip of a file; `remove` is the object name of its button and what that does."""
        removing = icon_button(self._look, "x", *remove)
        removing.setFixedSize(22, 22)
        name_button(removing, self._language("chat.attachment.remove", name=name))
        label.setMinimumWidth(min(label.sizeHint().width(), CHIP_WIDTH - (70 if icon else 40)))
        parts: list[Part] = [(label, 1), removing]
        if icon:
            icon.setFixedSize(SIDE, SIDE)
            parts.insert(0, icon)
        chip = frame("card", hbox(*parts, margins=(6 if icon else 8, 3, 4, 3), spacing=4))
        chip.setMaximumWidth(CHIP_WIDTH)
        return chip


class AttachmentStrip(ChipStrip):
    """Shows the attachments; hidden if there are none.

    Signals: changed(), removed(attachment, position) after the user removed one, look_chosen(attachment, seen) when the
    user chose how a PDF file is sent: as it looks, or as text; picture_requested(action, pictures, place) to show one
    large. `why_not_seen` returns why one cannot be sent as it looks.
    """

    changed = Signal()
    removed = Signal(object, int)
    look_chosen = Signal(object, bool)
    picture_requested = Signal(str, object, int)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, look, "attachments")
        self._attachments: tuple[Attachment, ...] = ()
        self.why_not_seen: Callable[[Attachment], str] = lambda _attachment: ""

    def attachments(self) -> tuple[Attachment, ...]:
        """Return the attachments in order."""
        return self._attachments

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Replace the attachments."""
        if tuple(attachments) == self._attachments:
            return
        self._attachments = tuple(attachments)
        self._fill(self._chip_of(place, one) for place, one in enumerate(self._attachments))
        self.setVisible(bool(self._attachments))
        self.changed.emit()

    def add(self, attachments: Sequence[Attachment]) -> None:
        """Add attachments."""
        self.show_attachments((*self._attachments, *attachments))

    def _chip_of(self, place: int, one: Attachment) -> QFrame:
        label = ElidedLabel("meta", text=one.name)
        chip = self._chip(
            one.name,
            label,
            (f"attachment_remove_{place + 1}", partial(self._on_remove, place)),
            self._icon_of(place, one),
        )
        chip.setToolTip(plain_tip(self._tip(one)))
        if one.media_type == PDF:
            choosing = icon_button(
                self._look, "chevron-down", f"attachment_look_{place + 1}", partial(self._choose_look, place)
            )
            choosing.setFixedSize(20, 22)
            name_button(choosing, self._language("chat.attachment.look", name=one.name))
            row = chip.layout()
            assert isinstance(row, QHBoxLayout)
            row.insertWidget(row.count() - 1, choosing)
        return chip

    def _icon_of(self, place: int, one: Attachment) -> IconButton:
        """Return the icon of a file: of a picture a thumbnail, which shows it large when it is clicked."""
        size = pixels_of(one)
        if size is None:
            icon = icon_button(self._look, "image" if is_image(one) or is_seen(one) else "file-text")
            icon.setEnabled(False)
            return icon
        thumbnail = named(f"attachment_open_{place + 1}", PictureButton(self._look, (one, size), SIDE))
        name_button(thumbnail, self._language("picture.open", name=one.name))
        thumbnail.clicked.connect(partial(self._open, one))
        return thumbnail

    def _open(self, chosen: Attachment, _checked: bool = False) -> None:
        pictures = [(one, size) for one in self._attachments if (size := pixels_of(one)) is not None]
        place = next(number for number, (one, _) in enumerate(pictures) if one is chosen)
        self.picture_requested.emit(VIEW_PICTURE, pictures, place)

    def _tip(self, one: Attachment) -> str:
        if is_seen(one):
            return self._language("chat.tip.seen", name=one.name)
        if one.encoding:
            return self._language("chat.tip.encoding", name=one.name, encoding=one.encoding)
        return one.name

    def _choose_look(self, place: int, _checked: bool = False) -> None:
        """Open the menu with the two ways to send a PDF file."""
        one, words = self._attachments[place], self._language
        menu = QMenu(self)
        menu.setObjectName("attachment_look")
        menu.setToolTipsVisible(True)
        menu.aboutToHide.connect(menu.deleteLater)
        why_not = self.why_not_seen(one) if not is_seen(one) else ""
        for seen, text in ((False, words("chat.look.text")), (True, words("chat.look.seen"))):
            action = menu.addAction(text, partial(self.look_chosen.emit, one, seen))
            action.setCheckable(True)
            action.setChecked(is_seen(one) == seen)
            if seen and why_not:
                action.setEnabled(False)
                menu.addAction(why_not).setEnabled(False)
        chip = self.sender()
        at = chip if isinstance(chip, QWidget) else self
        menu.popup(at.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))

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
        if not one.pages:
            return self._language("chat.reading", name=one.name)
        return self._language("chat.reading.pages", name=one.name, read=one.read, pages=one.pages)

    def _refill(self) -> None:
        self._labels = {
            number: ElidedLabel("hint", text=self._words(one)) for number, one in self._readings.items()
        }
        self._fill(
            self._chip(
                one.name,
                self._labels[number],
                (f"reading_cancel_{number}", partial(self._on_cancel, number)),
            )
            for number, one in self._readings.items()
        )

    def _on_cancel(self, number: int, _checked: bool = False) -> None:
        self.cancelled.emit(number)


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

    def attachments(self) -> tuple[Attachment, ...]:
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
