"""Pictures in messages: where they are in a row, their thumbnails, and showing, copying and saving them.

These are attachments. A picture that Markdown names by its address stays a link (gui/markdown: `IMAGE` in
blocks.py, and `loadResource` in document.py, which loads nothing; app/markdown_page.py for HTML), since
nothing is fetched without the user's yes. A fetch goes from a controller, which asks, over a command of
`engine`, `Tools` (core/tool.py) and tools/toolbox.py to `SERVICES` (tools/tool_host/web.py).
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QPainterPath

from app.core.files import MOST_PIXELS, size_in
from app.core.message import Attachment, Message
from app.gui.transcript.painted_row import Link
from app.gui.transcript.row_text import RowStyle
from app.gui.widgets.badge import paint_box
from app.gui.widgets.picture_viewer import PictureDecoder

SAVE_PICTURE = "save_picture"
COPY_PICTURE = "copy_picture"
VIEW_PICTURE = "view_picture"
SAVE_FILE = "save_file"
LONGEST_SIDE = 320
TILE = 180
GAP = 8
_MOST_KEPT = 24
_RADIUS = 8

Shown = tuple[int, Attachment, QSize]
Key = tuple[str, int, int, int]


def shown_pictures(message: Message) -> list[Shown]:
    """Return the pictures of a message that can be shown, with the place and the size in pixels of each."""
    sized = [(place, item, pixels_of(item)) for place, item in enumerate(message.attachments)]
    return [(place, attachment, size) for place, attachment, size in sized if size is not None]


def pixels_of(attachment: Attachment) -> QSize | None:
    """Return the size of a picture in pixels, from its first bytes; None for what cannot be shown."""
    if not attachment.data or not attachment.media_type.startswith("image/"):
        return None
    size = size_in(attachment.data)
    return QSize(*size) if size is not None and size[0] * size[1] <= MOST_PIXELS else None


class PictureStrip:
    """The thumbnails of a message; one alone is larger. A click on one shows it large."""

    def __init__(self, style: RowStyle, row_id: str, pictures: Sequence[Shown]) -> None:
        self._style, self._row_id, self._pictures = style, row_id, pictures
        self._boxes: list[QRect] = []
        self.links: list[Link] = []

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out, as many side by side as fit; return the lower edge in pixels."""
        self._boxes = []
        most = min(LONGEST_SIDE if len(self._pictures) == 1 else TILE, width)
        x, y, bottom = left, top, top
        for _, _, size in self._pictures:
            shown = size
            if max(size.width(), size.height()) > most:
                shown = size.scaled(most, most, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))
            if x > left and x + shown.width() > left + width:
                x, y = left, bottom + GAP
            self._boxes.append(QRect(x, y, shown.width(), shown.height()))
            x += shown.width() + GAP
            bottom = max(bottom, y + shown.height())
        pairs = zip(self._pictures, self._boxes, strict=True)
        self.links = [Link(f"{VIEW_PICTURE}/{place}", "", box) for (place, *_), box in pairs]
        return bottom

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
            ground = tokens.surface if image is None else "transparent"
            paint_box(painter, frame, tokens.line_strong, ground, _RADIUS)

    @property
    def words(self) -> str:
        """The pictures for a screen reader."""
        texts = self._style.texts
        sizes = ((picture.name, size.width(), size.height()) for _, picture, size in self._pictures)
        said = (texts("transcript.picture", name=name, width=wide, height=high) for name, wide, high in sizes)
        return ", ".join(said)


class Pictures(QObject):
    """Keeps the thumbnails to be painted, and does what is asked of a picture.

    Signals: ready(row id) when a thumbnail can be painted, requested(action, pictures, place) to save a
    picture or another file, or to show a picture large.
    """

    ready = Signal(str)
    requested = Signal(str, object, int)

    def __init__(self, message_of: Callable[[str], Message], parent: QObject) -> None:
        super().__init__(parent)
        self._message_of = message_of
        self._kept: OrderedDict[Key, QImage | None] = OrderedDict()
        self._decoder = PictureDecoder(self)
        self._decoder.decoded.connect(self._on_decoded)

    def thumbnail(self, row_id: str, place: int, attachment: Attachment, size: QSize) -> QImage | None:
        """Return a picture in a size in device pixels, None until it is decoded."""
        key = (row_id, place, size.width(), size.height())
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        self._kept[key] = None
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        self._decoder.decode(key, attachment.data, size)
        return None

    def act(self, message_id: str, action: str) -> bool:
        """Show, save or copy the picture, or save the file, that an action names; return False
        for any other action.
        """
        name, _, place = action.partition("/")
        if name == SAVE_FILE:
            file = self._message_of(message_id).attachments[int(place)]
            self.requested.emit(SAVE_FILE, [(file, QSize())], 0)
            return True
        if name not in (VIEW_PICTURE, SAVE_PICTURE, COPY_PICTURE):
            return False
        shown = shown_pictures(self._message_of(message_id))
        chosen = next((number for number, item in enumerate(shown) if str(item[0]) == place), 0)
        if name == COPY_PICTURE:
            self._decoder.decode(None, shown[chosen][1].data)
        else:
            self.requested.emit(name, [(attachment, size) for _, attachment, size in shown], chosen)
        return True

    def _on_decoded(self, key: Key | None, image: QImage) -> None:
        if image.isNull():
            return
        if key is None:
            QGuiApplication.clipboard().setImage(image)
        elif key in self._kept:
            self._kept[key] = image
            self.ready.emit(key[0])
