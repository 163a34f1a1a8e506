"""Writes a page of Moot's own HTML as a Word document: text, links to the web, pictures, and nothing
that runs or loads.

Qt reads the page, as it does for a PDF, and python-docx writes what it has found, block by block.
"""

import base64
import re
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from urllib.parse import quote, urlsplit

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Length, Mm, Pt, RGBColor
from docx.table import _Cell
from docx.text.paragraph import Paragraph
from docx.text.run import Run
from PySide6 import QtGui

from app.files.file_reader.picture import saved
from app.files.file_reader.printed_page import page_from, set_up_fonts

# What XML cannot hold, and what turns the writing round.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffc\ufffe\uffff]")
_LOOK = re.compile("<style>.*?</style>", re.DOTALL)
_TEXT_FONT, _KOREAN_FONT, _CODE_FONT = "Calibri", "Malgun Gothic", "Consolas"
_STEP = Pt(18)
_DEEPEST_STYLE, _HIGHEST_NUMBER, _LONGEST_ADDRESS = 3, 32_767, 2_000
# As wide and high as the text of a page; Word counts in parts of which a pixel has 9,525.
_ROOM, _PIXEL = (Mm(166), Mm(250)), 9_525


def as_docx(html: str, title: str, fonts: Path) -> bytes:
    """Return a page as a Word document on A4."""
    app, made = set_up_fonts(fonts), _WordFile()
    # The page's own look is that of a screen.
    page = page_from(_LOOK.sub("", html))
    block = page.begin()
    while block.isValid():
        made.add(block)
        block = block.next()
    del app
    return made.saved(title)


class _WordFile:
    """A document that grows by one block of a page after the other."""

    def __init__(self) -> None:
        self._document = docx.Document()
        # The numbers of numbered lists, and the cells of tables.
        self._numbers: dict[int, int] = {}
        self._tables: dict[int, list[tuple[_Cell, ...]]] = {}
        [section], styles = self._document.sections, self._document.styles
        section.page_width, section.page_height = Mm(210), Mm(297)
        section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = Mm(22)
        code = styles.add_style("Code", WD_STYLE_TYPE.PARAGRAPH)
        code.font.name, code.font.size, code.paragraph_format.space_after = _CODE_FONT, Pt(9.5), Pt(0)
        for fonts in styles.element.iter(qn("w:rFonts")):
            latin = fonts.get(qn("w:ascii"), _TEXT_FONT)
            fonts.attrib.clear()
            for script, font in (("ascii", latin), ("hAnsi", latin), ("eastAsia", _KOREAN_FONT)):
                fonts.set(qn(f"w:{script}"), font)

    def saved(self, title: str) -> bytes:
        """Return the document as a file."""
        about, file = self._document.core_properties, BytesIO()
        about.title, about.author, about.comments = _UNSAFE.sub("", title)[:255], "Moot", ""
        about.created = about.modified = datetime.now(UTC)
        self._document.save(file)
        return file.getvalue()

    def add(self, block: QtGui.QTextBlock) -> None:
        """Add a paragraph, or what a cell of a table holds."""
        if (table := QtGui.QTextCursor(block).currentTable()) is not None:
            place = table.cellAt(block.position())
            paragraph = self._cells(table)[place.row()][place.column()].paragraphs[0]
        else:
            paragraph = self._document.add_paragraph()
            # By its id: python-docx looks a name up among all styles every time.
            paragraph.paragraph_format.element.get_or_add_pPr().style = self._style(block).replace(" ", "")
            self._place(paragraph, block)
        pieces = block.begin()
        while not pieces.atEnd():
            self._add_piece(paragraph, pieces.fragment())
            pieces += 1

    def _style(self, block: QtGui.QTextBlock) -> str:
        form = block.blockFormat()
        if level := form.headingLevel():
            return f"Heading {level - 1}" if level > 1 else "Title"
        if depth := _depth(block):
            kind = "List Number" if _counts(block.textList()) else "List Bullet"
            return f"{kind} {min(depth, _DEEPEST_STYLE)}" if depth > 1 else kind
        if form.nonBreakableLines():
            return "Code"
        # Only quotations leave room at their right.
        return "Quote" if form.rightMargin() else "List Continue" if form.indent() else "Normal"

    def _place(self, paragraph: Paragraph, block: QtGui.QTextBlock) -> None:
        """Indent a paragraph, and number it."""
        form, depth = block.blockFormat(), _depth(block)
        if left := round(form.leftMargin() * _PIXEL) + (depth or form.indent()) * _STEP:
            paragraph.paragraph_format.left_indent = Length(left)
        if depth:
            paragraph.paragraph_format.first_line_indent = Length(-_STEP)
        if depth and _counts(block.textList()):
            numbers = paragraph.paragraph_format.element.get_or_add_pPr().get_or_add_numPr()
            numbers.get_or_add_numId().val = self._number(block.textList())

    def _number(self, items: QtGui.QTextList) -> int:
        """Return the number of a numbered list, which begins where it does."""
        if items.objectIndex() not in self._numbers:
            numbering = self._document.part.numbering_part.element
            usual = self._document.styles["List Number"].element.pPr.numPr.numId.val
            made = numbering.add_num(numbering.num_having_numId(usual).abstractNumId.val)
            made.add_lvlOverride(ilvl=0).add_startOverride(min(items.format().start(), _HIGHEST_NUMBER))
            self._numbers[items.objectIndex()] = made.numId
        return self._numbers[items.objectIndex()]

    def _cells(self, table: QtGui.QTextTable) -> list[tuple[_Cell, ...]]:
        if table.objectIndex() not in self._tables:
            made = self._document.add_table(table.rows(), table.columns(), "Table Grid")
            self._tables[table.objectIndex()] = [row.cells for row in made.rows]
        return self._tables[table.objectIndex()]

    def _add_piece(self, paragraph: Paragraph, piece: QtGui.QTextFragment) -> None:
        form = piece.charFormat()
        run = paragraph.add_run("" if form.isImageFormat() else _UNSAFE.sub("", piece.text()))
        if form.isImageFormat():
            _add_picture(run, form.toImageFormat())
        run.bold = form.fontWeight() > QtGui.QFont.Weight.Medium or None
        run.italic, run.font.strike = form.fontItalic() or None, form.fontStrikeOut() or None
        if "monospace" in (form.fontFamilies() or ()):
            run.font.name = _CODE_FONT
        if form.hasProperty(QtGui.QTextFormat.Property.ForegroundBrush):
            run.font.color.rgb = RGBColor.from_string(form.foreground().color().name()[1:])
        if target := self._target(form.anchorHref()):
            run.font.underline = True
            link = OxmlElement("w:hyperlink", attrs={qn("r:id"): target})
            run.element.addprevious(link)
            link.append(run.element)

    def _target(self, address: str) -> str:
        """Return the name of the relationship with an address of the web, "" for any other address."""
        address = quote(address, safe="%/:=&?~#+!$,;'@()*")
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") and parts.hostname and len(address) <= _LONGEST_ADDRESS:
            return self._document.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
        return ""


def _depth(block: QtGui.QTextBlock) -> int:
    """Return in how many lists a block is, 0 if it is no item of one."""
    return block.textList().format().indent() if block.blockFormat().objectIndex() >= 0 else 0


def _counts(items: QtGui.QTextList) -> bool:
    return items.format().style() == QtGui.QTextListFormat.Style.ListDecimal


def _add_picture(run: Run, form: QtGui.QTextImageFormat) -> None:
    """Add a picture that the page holds itself, encoded again."""
    head, _, data = form.name().partition(",")
    held = base64.b64decode(data) if head.startswith("data:image/") else b""
    image = QtGui.QImage.fromData(held)
    if not image.isNull():
        wide = (form.width() or image.width()) * _PIXEL
        scale = min(1.0, _ROOM[0] / wide, _ROOM[1] / (wide * image.height() / image.width()))
        file = BytesIO(saved(image, *(("JPEG", 88) if "jpeg" in head else ("PNG", -1))))
        run.add_picture(file, Length(max(1, round(wide * scale))))
