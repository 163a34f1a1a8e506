"""A session as a PDF: all of its words are there, no page is overrun, and nothing is ever loaded."""

import asyncio
import re
import zlib
from pathlib import Path

import pypdfium2
import pytest
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.engine.export.document import (
    Chart,
    Citation,
    Curve,
    DocumentHead,
    DocumentPart,
    Entry,
    ListItem,
    Section,
)
from app.gui.display.theme import LIGHT
from app.gui.files import pdf_file
from app.gui.files.pdf_file import write_pdf
from app.gui.markdown.blocks import parse
from app.gui.markdown.document import BlockDocument

ONE = """**Ada**

Some *text*, `code` and 한국어. ![](file:///etc/passwd) ![](//host/share/x.png) ![a](http://127.0.0.1:9/x.png)

- one
  - [x] done

```python
def f():
    return 1
```

> a quote

| a | b |
|---|---|
| 1 | 2 |

---

"""


def document(text: str) -> list[DocumentPart]:
    return [Entry(heading="", body=text)]


def pages_of(data: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", data))


def streams_of(data: bytes) -> list[bytes]:
    found = []
    for match in re.finditer(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
        try:
            found.append(zlib.decompress(match[1]))
        except zlib.error:
            found.append(match[1])
    return found


@pytest.mark.threat("T6", "T7")
@pytest.mark.corpus(42, 43)
async def test_it_is_a_pdf_of_several_pages_made_between_frames(qapp, tmp_path: Path, monkeypatch):
    asked = []
    real = BlockDocument.loadResource
    monkeypatch.setattr(
        BlockDocument, "loadResource", lambda self, *args: asked.append(args) or real(self, *args)
    )
    path = tmp_path / "out.pdf"
    text = "# Title\n\n" + ONE * 20
    writing = asyncio.create_task(write_pdf(path, "Title", document(text), QApplication.font()))
    turns = 0
    while not writing.done():
        turns += 1
        await asyncio.sleep(0)
    await writing
    assert turns > 5
    data = path.read_bytes()
    assert data.startswith(b"%PDF-")
    assert pages_of(data) > 3
    assert asked == []
    assert not any(b"/Image" in piece or b"passwd" in piece for piece in streams_of(data))
    assert list(tmp_path.glob("out*")) == [path]


class Paper:
    """A paged device that keeps its pages as pictures."""

    def __init__(self) -> None:
        self.pages: list[QImage] = []
        self.painter = QPainter()
        self.newPage()

    def width(self) -> int:
        return 400

    def height(self) -> int:
        return 300

    def newPage(self) -> None:  # noqa: N802  # as Qt calls it
        if self.pages:
            self.painter.end()
        page = QImage(self.width(), self.height(), QImage.Format.Format_RGB32)
        page.fill(LIGHT.surface)
        self.pages.append(page)
        self.painter.begin(page)


def set_on(text: str) -> Paper:
    paper = Paper()
    pages = pdf_file._Pages(paper, paper.painter, QApplication.font())  # type: ignore[arg-type]
    for _ in pages.set_blocks(parse(text)):
        """One piece after the other."""
    paper.painter.end()
    return paper


def inked_rows(page: QImage) -> list[int]:
    paper = QImage(page.size(), page.format())
    paper.fill(LIGHT.surface)
    width = page.bytesPerLine()
    seen, blank = bytes(page.constBits()), bytes(paper.constBits())
    return [y for y in range(page.height()) if seen[y * width : (y + 1) * width] != blank[:width]]


def test_no_line_is_cut_by_the_end_of_a_page_and_none_is_lost(qapp):
    lines = [f"line {number}" for number in range(60)]
    for text in ("\n\n".join(lines), "```\n" + "\n".join(lines) + "\n```", "- " + "\n- ".join(lines)):
        paper = set_on(text)
        assert len(paper.pages) > 2
        for page in paper.pages[:-1]:
            rows = inked_rows(page)
            # Between the text and the number of the page nothing is painted.
            assert all(row < page.height() - pdf_file.FOOT or row > page.height() - 16 for row in rows)
    pages = set_on("\n\n".join(lines)).pages
    shown = [row + 1_000 * place for place, page in enumerate(pages) for row in inked_rows(page)]
    bands = sum(before + 1 != row for before, row in zip([-1, *shown], shown, strict=False))
    assert bands == len(lines) + len(pages)  # and the number of each page


@pytest.mark.slow
@pytest.mark.corpus(48)
@pytest.mark.parametrize(
    "text", ["x" * 200_000, "", "```\n" + "y\n" * 5_000, "| a |\n|---|\n" + "| b |\n" * 900]
)
async def test_what_is_endless_ends(qapp, tmp_path: Path, text: str):
    path = tmp_path / "out.pdf"
    await write_pdf(path, "t", document(text), QApplication.font())
    assert path.stat().st_size > 500


async def test_a_folder_that_is_not_there_is_said(qapp, tmp_path: Path):
    with pytest.raises(OSError, match=r"."):
        await write_pdf(tmp_path / "none" / "out.pdf", "t", document("x"), QApplication.font())


async def test_citations_lead_to_their_turns_and_votes_are_a_chart(qapp, tmp_path: Path):
    path = tmp_path / "out.pdf"
    curves = (Curve("#0C7A60", (2, None, -1)), Curve("#AB5030", (None, None, None)))
    chart = Chart(title="t", levels=("Pro", "Mid", "Con"), columns=("Start", "One", "Two"), curves=curves)
    cited = ListItem(text="Ban them.", cites=(Citation("[Ada r1]", "m7"), Citation("[Ben r1]", "m8")))
    parts: list[DocumentPart] = [
        DocumentHead(title="Cars", language="en", facts=(("Mode", "Round robin"),)),
        Section(heading="Verdict", lines=(cited, ListItem(text="Ada: +2", colour="#0C7A60")), chart=chart),
        Section(heading="Plan", text="Soon", lines=(ListItem(text="first", done=True),)),
        *(Entry(heading=f"Turn {number}", body="word " * 300) for number in range(6)),
        Entry(heading="Ada", body="Here it is.", anchor="m7", colour="#0C7A60"),
        Entry(heading="Ben", body="And [there](https://example.org/x).", anchor="m8", notes=("cut",)),
    ]
    await write_pdf(path, "Cars", parts, QApplication.font())
    file = pypdfium2.PdfDocument(path)
    texts = [" ".join(page.get_textpage().get_text_range().split()) for page in file]
    assert len(texts) > 1
    assert "Verdict" in texts[0] and "[Ada r1] [Ben r1]" in texts[0]
    assert all(word in texts[0] for word in ("Pro", "Mid", "Con", "Start", "Two", "☑ first"))
    assert "Here it is." in " ".join(texts[1:]) and "cut" in texts[-1]
    data = path.read_bytes()
    assert data.count(b"/Subtype /Link") >= 3
    assert re.findall(rb"/URI \((.*?)\)", data) == [b"https://example.org/x"]
    wanted = {name: "".join(chr(0) + letter for letter in name).encode() for name in ("m7", "m8")}
    names = data[data.index(b"/Names [") :]
    assert all(b"/Dest (\xfe\xff" + name in data and name in names for name in wanted.values())
    first = bytes(file[0].render().buffer)
    assert _dots_in("#0C7A60", first) and not _dots_in("#AB5030", first)


def _dots_in(colour: str, picture: bytes) -> bool:
    """Return whether a picture of blue, green and red bytes has a dot of a colour."""
    dot = bytes.fromhex(colour[1:])[::-1]
    return any(picture[place : place + 3] == dot for place in range(0, len(picture), 3))


def test_a_heading_stays_with_the_line_below_it(qapp):
    for lines in range(4, 12):
        paper = set_on("word\n\n" * lines + "## Heading\n\nbelow it")
        last = inked_rows(paper.pages[-1])
        if len(paper.pages) == 1:
            continue
        bands = sum(before + 1 != row for before, row in zip([-1, *last], last, strict=False))
        assert bands != 2, "the line below a heading stands alone on a page, with its number"
