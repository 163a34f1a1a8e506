"""Pictures, which are decoded in threads, and the dialog that shows them large."""

import base64
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

from PySide6 import QtGui
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.core.files import MOST_PIXELS
from app.core.message import Attachment
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import Dialog, IconButton, button, icon_button
from app.gui.widgets.text import ElidedLabel, plain_label, say

PictureSize = tuple[Attachment, QSize]
STEP = 1.25
EDGE = 40
# Characters of base 64 that are decoded at a time: other threads wait so long.
_PIECE = 1_000_000


class PictureDecoder(QObject):
    """Decodes each picture in a thread of its own; emits decoded(key, image), a null image where that
    fails.
    """

    decoded = Signal(object, QtGui.QImage)

    def decode(self, key: object, data: str, size: QSize | None = None) -> None:
        """Decode a picture given in base 64, in a size in pixels or in its own."""
        Thread(target=self._decode, args=(key, data, size), name="picture", daemon=True).start()

    def _decode(self, key: object, data: str, size: QSize | None) -> None:
        pieces = [base64.b64decode(data[at : at + _PIECE]) for at in range(0, len(data), _PIECE)]
        buffer = QBuffer()
        buffer.setData(QByteArray(b"".join(pieces)))
        buffer.open(QIODevice.OpenModeFlag.ReadOnly)
        QtGui.QImageReader.setAllocationLimit(MOST_PIXELS * 4 // 1_000_000 + 1)
        reader = QtGui.QImageReader(buffer)
        if size is not None:
            reader.setScaledSize(size)
        image = reader.read()
        with suppress(RuntimeError):  # Who wanted it is gone.
            self.decoded.emit(key, image)


class PictureButton(IconButton):
    """A button with the thumbnail of a picture, an icon until it is decoded."""

    def __init__(self, look: Look, picture: PictureSize, side: int) -> None:
        super().__init__(look, "image")
        self.setIconSize(QSize(side, side))
        self._decoder = PictureDecoder(self)
        self._decoder.decoded.connect(self._on_decoded)
        most = QSize(side, side) * self.devicePixelRatioF()
        shown = picture[1].scaled(most, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))
        self._decoder.decode(None, picture[0].data, shown)

    def _on_decoded(self, _key: object, image: QtGui.QImage) -> None:
        if not image.isNull():
            self.setIcon(QtGui.QIcon(QtGui.QPixmap.fromImage(image)))


class PictureCanvas(QWidget):
    """Shows a picture, fitted or enlarged, and moves it under the mouse; emits `zoomed`."""

    zoomed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("picture_canvas")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._language, self._look = language, look
        self._picture: PictureSize | None = None
        self._image = QtGui.QImage()
        self._broken = False
        self._scale: float | None = None
        self._centre = QPointF()
        self._dragged = QPointF()
        # The picture and the size that a thread decodes, and those of the image.
        self._wanted: tuple[int, QSize] | None = None
        self._busy = False
        self._number = 0
        self._decoder = PictureDecoder(self)
        self._decoder.decoded.connect(self._on_decoded)

    def show_picture(self, picture: PictureSize) -> None:
        """Show another picture, fitted."""
        self._picture, self._image, self._broken = picture, QtGui.QImage(), False
        self._number += 1
        self.zoom_to(None)

    @property
    def shown(self) -> bool:
        """Whether the picture is decoded as it is to be seen."""
        return not self._image.isNull() and not self._busy

    @property
    def scale(self) -> float:
        """How many pixels of the screen a pixel of the picture takes."""
        return self._fitting if self._scale is None else self._scale

    @property
    def _size(self) -> QSize:
        return self._picture[1] if self._picture else QSize(1, 1)

    @property
    def _fitting(self) -> float:
        size = self._size
        return min(1.0, self.width() / size.width(), self.height() / size.height())

    @property
    def pans(self) -> bool:
        """Whether the picture is larger than its room."""
        return self.scale > self._fitting

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Enlarge by a factor; what is at a point of the widget stays there."""
        self.zoom_to(self.scale * factor, at)

    def zoom_to(self, scale: float | None, at: QPointF | None = None) -> None:
        """Show at a scale, None for as large as fits."""
        before, middle = self.scale, QRectF(self.rect()).center()
        away = (at or middle) - middle
        if scale is None or scale <= self._fitting:
            self._scale, self._centre = None, QRectF(QPointF(), QSizeF(self._size)).center()
        else:
            self._scale = min(scale, 16.0)
            self._centre += away / before - away / self._scale
        self.pan(QPointF())
        self.zoomed.emit()

    def pan(self, by: QPointF) -> None:
        """Move what is seen by pixels of the screen, up to the picture's edges."""
        centre, size = self._centre + by / self.scale, self._size
        half = QPointF(self.width(), self.height()) / self.scale / 2
        x = min(max(centre.x(), half.x()), size.width() - half.x())
        y = min(max(centre.y(), half.y()), size.height() - half.y())
        x = x if half.x() * 2 < size.width() else size.width() / 2
        y = y if half.y() * 2 < size.height() else size.height() / 2
        self._centre = QPointF(x, y)
        self._decode()
        self.update()

    def _decode(self) -> None:
        """Decode the picture as large as it is shown, at most in its own size; one at a time."""
        if self._picture is None:
            return
        data, size = self._picture[0].data, self._size
        shown = (QSizeF(size) * self.scale * self.devicePixelRatioF()).toSize().boundedTo(size)
        wanted = (self._number, shown.expandedTo(QSize(1, 1)))
        if not self._busy and not self._broken and wanted != self._wanted:
            self._wanted, self._busy = wanted, True
            self._decoder.decode(wanted, data, wanted[1])

    def _on_decoded(self, key: tuple[int, QSize], image: QtGui.QImage) -> None:
        self._busy = False
        if key[0] == self._number:
            self._image, self._broken = image, image.isNull()
        self._decode()
        self.update()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        painter = QtGui.QPainter(self)
        if self._broken:
            painter.setPen(QtGui.QColor(self._look.tokens.text_2))
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self._language("picture.broken"))
        if self._image.isNull():
            return
        corner = QRectF(self.rect()).center() - self._centre * self.scale
        ratio = self.devicePixelRatioF()
        # On whole pixels of the screen, where an image of the right size is copied as it is.
        corner = (corner * ratio).toPoint().toPointF() / ratio
        size = QSizeF(self._size) * self.scale
        if abs(size.width() * ratio - self._image.width()) < 1:
            size = QSizeF(self._image.size()) / ratio
        painter.drawImage(QRectF(corner, size), self._image)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self.zoom_to(self._scale)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        self.zoom(STEP ** (event.angleDelta().y() / 120), event.position())

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        self._dragged = event.position()

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        self.pan(self._dragged - event.position())
        self._dragged = event.position()

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        self.zoom_to(None if self.pans else max(1.0, self._fitting * 2), event.position())


class PictureViewer(Dialog):
    """Shows the pictures of a message one by one; emits save_requested(picture)."""

    save_requested = Signal(object)

    def __init__(
        self, words: Language, look: Look, pictures: Sequence[PictureSize], first: int, parent: QWidget
    ) -> None:
        super().__init__(parent, "picture_viewer", words("chat.picture"))
        self._words, self._pictures, self._at = words, pictures, first
        self._decoder = PictureDecoder(self)
        self._decoder.decoded.connect(self._on_copied)
        self.canvas = PictureCanvas(words, look)
        self._facts = ElidedLabel("hint")
        self._place = plain_label("hint")
        self._scale = button("link", "picture_scale", lambda: self.canvas.zoom_to(None))
        self._scale.setAutoDefault(False)
        say(self._scale, words, tip="picture.fit")
        several = len(pictures) > 1
        steps = (
            ("chevron-left", "previous", "picture.previous", lambda: self.step(-1)),
            ("chevron-right", "next", "picture.next", lambda: self.step(1)),
            ("zoom-out", "zoom_out", "picture.zoom_out", lambda: self.canvas.zoom(1 / STEP)),
            ("zoom-in", "zoom_in", "picture.zoom_in", lambda: self.canvas.zoom(STEP)),
            ("download", "save", "transcript.save_picture", self._save),
            ("copy", "copy", "transcript.copy_picture", self._copy),
            ("x", "close", "dialog.close", self.reject),
        )
        before, after, smaller, larger, save, copy, close = (
            say(icon_button(look, icon, f"picture_{name}", act), words, tip=key)
            for icon, name, key, act in steps
        )
        for item in (before, after, self._place):
            item.setVisible(several)
        steps_between, zooms = (before, self._place, after), (smaller, self._scale, larger)
        parts = (self._facts, 1), *steps_between, 8, *zooms, 8, save, copy, close
        foot = hbox(*parts, margins=(12, 0, 0, 0))
        vbox((self.canvas, 1), foot, inside=self, margins=(10, 10, 10, 8), spacing=8)
        for pressed, act in (
            ("PgUp", lambda: self.step(-1)),
            ("PgDown", lambda: self.step(1)),
            ("Left", lambda: self._arrow(-1, 0)),
            ("Right", lambda: self._arrow(1, 0)),
            ("Up", lambda: self._arrow(0, -1)),
            ("Down", lambda: self._arrow(0, 1)),
            ("+", lambda: self.canvas.zoom(STEP)),
            ("=", lambda: self.canvas.zoom(STEP)),
            ("-", lambda: self.canvas.zoom(1 / STEP)),
            ("0", lambda: self.canvas.zoom_to(None)),
            ("1", lambda: self.canvas.zoom_to(1.0)),
            (QtGui.QKeySequence.StandardKey.Copy, self._copy),
            (QtGui.QKeySequence.StandardKey.Save, self._save),
        ):
            QtGui.QShortcut(pressed, self, act)
        self.canvas.zoomed.connect(lambda: self._scale.setText(f"{self.canvas.scale:.0%}"))
        self.resize(parent.width() - EDGE, parent.height() - EDGE)
        self.step(0)
        self.canvas.setFocus()

    def step(self, by: int) -> None:
        """Show the picture that many places further; after the last comes the first."""
        self._at = (self._at + by) % len(self._pictures)
        one, size = self._pictures[self._at]
        said = self._words("transcript.picture", name=one.name, width=size.width(), height=size.height())
        self._facts.setText(said)
        self.canvas.setAccessibleName(said)
        self._place.setText(f"{self._at + 1} / {len(self._pictures)}")
        self.canvas.show_picture(self._pictures[self._at])

    def _arrow(self, right: int, down: int) -> None:
        if self.canvas.pans:
            self.canvas.pan(QPointF(right, down) * 80)
        elif right:
            self.step(right)

    def _save(self) -> None:
        self.save_requested.emit(self._pictures[self._at][0])

    def _copy(self) -> None:
        self._decoder.decode(None, self._pictures[self._at][0].data)

    def _on_copied(self, _key: object, image: QtGui.QImage) -> None:
        if not image.isNull():
            QtGui.QGuiApplication.clipboard().setImage(image)
            self._facts.setText(self._words("picture.copied"))
