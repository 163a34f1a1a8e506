"""Sets a page of HTML as a PDF, with Qt's own layout, which loads nothing, in the fonts that come with Moot."""

import os
from pathlib import Path

from PySide6 import QtGui
from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRectF

DOTS_PER_INCH = 109
MARGIN_MM = 22
"""So that 708 pixels are as wide as the text of a page on A4."""


def as_pdf(html: str, title: str, fonts: Path) -> bytes:
    """Return a page as a PDF on A4; what does not fit goes on the next page."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    app = QtGui.QGuiApplication([])
    for path in sorted(fonts.glob("*.[ot]tf")):
        QtGui.QFontDatabase.addApplicationFont(str(path))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QtGui.QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("Moot")
    writer.setResolution(DOTS_PER_INCH)
    writer.setPageSize(QtGui.QPageSize(QtGui.QPageSize.PageSizeId.A4))
    margins = QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM)
    writer.setPageMargins(margins, QtGui.QPageLayout.Unit.Millimeter)
    document = QtGui.QTextDocument()
    document.setDefaultFont(QtGui.QFont("Pretendard"))
    document.setDocumentMargin(0)
    document.setHtml(html)
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
