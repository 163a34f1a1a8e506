"""Sets a page of HTML as a PDF, with Qt's own layout, which loads nothing, in the fonts that come with
Moot.
"""

import base64
import os
import re
from pathlib import Path

from PySide6 import QtGui
from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRectF

DOTS_PER_INCH = 109
MARGIN_MM = 22
"""So that 708 pixels are as wide as the text of a page on A4."""

_DRAWING = re.compile("<svg.*?</svg>", re.DOTALL)
_BOX = re.compile(r'viewBox="\S+ \S+ ([\d.]+) ([\d.]+)"')
_WIDTH = re.compile(r"[;\"]width:([\d.]+)em")
_INK = "#1f1e1b"
# Pixels.
_EM = 16
_LINED = '<table border="1" cellspacing="0" cellpadding="4"><tr><th'


def set_up_fonts(fonts: Path) -> QtGui.QGuiApplication:
    """Return what Qt needs to set text in the fonts of a folder; it is kept as long as that goes on."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    app = QtGui.QGuiApplication([])
    for path in sorted(fonts.glob("*.[ot]tf")):
        QtGui.QFontDatabase.addApplicationFont(str(path))
    return app


def page_from(html: str) -> QtGui.QTextDocument:
    """Return a page as Qt reads it, with drawings as pictures and tables of Markdown with lines."""
    html = _DRAWING.sub(lambda found: _picture(found[0]), html)
    # Qt knows no article.
    html = re.sub("(</?)article", r"\1div", html).replace("<table><tr><th", _LINED)
    document = QtGui.QTextDocument()
    document.setHtml(html.strip())
    return document


def _picture(svg: str) -> str:
    """Return a chart or a formula as a picture, which Qt draws where it is an address."""
    [(wide, high)], em = _BOX.findall(svg), _WIDTH.search(svg)
    width = float(em[1]) * _EM if em else float(wide)
    height = width * float(high) / float(wide)
    data = base64.b64encode(svg.replace("currentColor", _INK).encode()).decode()
    picture = f'<img width="{width:.0f}" height="{height:.0f}" src="data:image/svg+xml;base64,{data}">'
    return picture if em else f"<p>{picture}</p>"


def as_pdf(html: str, title: str, fonts: Path) -> bytes:
    """Return a page as a PDF on A4; what does not fit goes on the next page."""
    app = set_up_fonts(fonts)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QtGui.QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("Moot")
    writer.setResolution(DOTS_PER_INCH)
    writer.setPageSize(QtGui.QPageSize(QtGui.QPageSize.PageSizeId.A4))
    margins = QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM)
    writer.setPageMargins(margins, QtGui.QPageLayout.Unit.Millimeter)
    document = page_from(html)
    document.setDefaultFont(QtGui.QFont("Pretendard"))
    document.setDocumentMargin(0)
    document.setPageSize(QRectF(0, 0, writer.width(), writer.height()).size())
    painter, room = QtGui.QPainter(writer), QRectF(0, 0, writer.width(), writer.height())
    for page in range(document.pageCount()):
        if page:
            writer.newPage()
        painter.save()
        painter.translate(0, -page * room.height())
        document.drawContents(painter, room.translated(0, page * room.height()))
        painter.restore()
    painter.end()
    del app
    return bytes(buffer.data().data())
