"""Pictures in answers: where they are in a row, thumbnails decoded in a thread, and copying and saving them."""

import base64
import binascii
import struct
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QImage, QImageReader, QPainter, QPainterPath

from app.core.message import Attachment, Message, Role
from app.core.pictures import MOST_PIXELS, size_of
from app.gui.transcript.painted_row import Link
from app.gui.transcript.row_style import RowStyle

SAVE_PICTURE = "save_picture"
COPY_PICTURE = "copy_picture"
LONGEST_SIDE = 320
GAP = 8
LINE = 24
# Enough of a picture without metadata to know its size.
_HEAD = 8_192
_MOST_KEPT = 24
_RADIUS = 8

Shown = tuple[int, Attachment, QSize]
Key = tuple[str, int, int, int]


def shown_pictures(message: Message) -> list[Shown]:
    """Return the pictures of an answer that can be shown, with the place and the size in pixels of each."""
    found = []
    for place, one in enumerate(message.attachments if message.role == Role.ASSISTANT else ()):
        if one.data and one.media_type.startswith("image/"):
            try:
                width, height = size_of(base64.b64decode(one.data[:_HEAD]))
            except (binascii.Error, ValueError, IndexError, struct.error):
                continue
            if width * height <= MOST_PIXELS:
                found.append((place, one, QSize(width, height)))
    return found


class PictureStrip:
    """The thumbnails of an answer, under each other, each with words that save and copy it."""

    def __init__(self, style: RowStyle, row_id: str, pictures: Sequence[Shown]) -> None:
        self._style = style
        self._row_id = row_id
        self._pictures = pictures
        self._boxes: list[QRect] = []
        self.links: list[Link] = []

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out; return the lower edge in pixels."""
        style, high = self._style, self._style.tall(LINE)
        self._boxes, self.links = [], []
        y = top
        for place, _, size in self._pictures:
            most = min(LONGEST_SIDE, width)
            shown = size
            if max(size.width(), size.height()) > most:
                shown = size.scaled(most, most, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))
            box = QRect(left, y, shown.width(), shown.height())
            self._boxes.append(box)
            x = left
            for action in (SAVE_PICTURE, COPY_PICTURE):
                words = style.texts(f"transcript.{action}")
                wide = style.chip_metrics.horizontalAdvance(words) + 2
                self.links.append(Link(f"{action}/{place}", words, QRect(x, box.bottom() + 1, wide, high)))
                x += wide + 16
            y = box.bottom() + 1 + high + GAP
        return y - GAP

    def paint(self, painter: QPainter, clip: QRect) -> None:
        """Paint what lies inside `clip`; a thumbnail that is not decoded yet is an empty frame."""
        tokens, find = self._style.tokens, self._style.thumbnail
        for (place, attachment, _), box in zip(self._pictures, self._boxes, strict=True):
            if not box.intersects(clip):
                continue
            ratio = painter.device().devicePixelRatioF()
            image = find(self._row_id, place, attachment, box.size() * ratio) if find else None
            frame = QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5)
            if image is not None:
                path = QPainterPath()
                path.addRoundedRect(frame, _RADIUS, _RADIUS)
                painter.save()
                painter.setClipPath(path, Qt.ClipOperation.IntersectClip)
                painter.drawImage(box, image)
                painter.restore()
            painter.setPen(QColor(tokens.line_strong))
            painter.setBrush(QColor(tokens.surface) if image is None else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(frame, _RADIUS, _RADIUS)

    @property
    def words(self) -> str:
        """The pictures for a screen reader."""
        texts = self._style.texts
        return ", ".join(
            texts("transcript.picture", name=one.name, width=size.width(), height=size.height())
            for _, one, size in self._pictures
        )


class Pictures(QObject):
    """Decodes pictures in a thread: thumbnails to be painted, and whole ones for the clipboard.

    Signals: ready(row id) when a thumbnail can be painted, copied() when a picture is on the clipboard,
    save_requested(attachment).
    """

    ready = Signal(str)
    copied = Signal()
    save_requested = Signal(object)
    _decoded = Signal(object, QImage)

    def __init__(self, message_of: Callable[[str], Message], parent: QObject) -> None:
        super().__init__(parent)
        self._message_of = message_of
        self._kept: OrderedDict[Key, QImage | None] = OrderedDict()
        self._decoded.connect(self._on_decoded)

    def thumbnail(self, row_id: str, place: int, attachment: Attachment, size: QSize) -> QImage | None:
        """Return a picture in a size in device pixels, None until it is decoded."""
        key = (row_id, place, size.width(), size.height())
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        self._kept[key] = None
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        self._start(key, attachment.data, size)
        return None

    def act(self, message_id: str, action: str) -> bool:
        """Save or copy the picture that an action names; return False for any other action."""
        name, _, place = action.partition("/")
        if name not in (SAVE_PICTURE, COPY_PICTURE):
            return False
        message = self._message_of(message_id)
        chosen = int(place) if place else shown_pictures(message)[0][0]
        attachment = message.attachments[chosen]
        if name == SAVE_PICTURE:
            self.save_requested.emit(attachment)
        else:
            self._start(None, attachment.data, None)
        return True

    def _start(self, key: Key | None, data: str, size: QSize | None) -> None:
        Thread(target=self._decode, args=(key, data, size), name="picture", daemon=True).start()

    def _decode(self, key: Key | None, data: str, size: QSize | None) -> None:
        """Decode a picture, in a thread of its own."""
        buffer = QBuffer()
        buffer.setData(QByteArray(base64.b64decode(data)))
        buffer.open(QIODevice.OpenModeFlag.ReadOnly)
        reader = QImageReader(buffer)
        if size is not None:
            reader.setScaledSize(size)
        image = reader.read()
        with suppress(RuntimeError):  # The transcript is closed.
            self._decoded.emit(key, image)

    def _on_decoded(self, key: Key | None, image: QImage) -> None:
        if image.isNull():
            return
        if key is None:
            QGuiApplication.clipboard().setImage(image)
            self.copied.emit()
        elif key in self._kept:
            self._kept[key] = image
            self.ready.emit(key[0])
