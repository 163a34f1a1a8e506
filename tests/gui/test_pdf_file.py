"""A session as a PDF: all of its words are there, no page is overrun, and nothing is ever loaded."""

import asyncio
import re
import zlib
from pathlib import Path

import pytest
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.gui.display.theme import LIGHT
from app.gui.files import pdf_file
from app.gui.files.pdf_file import write_pdf
from app.gui.markdown.document import BlockDocument
from app.gui.markdown.parser import parse

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
    writing = asyncio.create_task(write_pdf(path, "Title", text, QApplication.font()))
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
    for _ in pages.set(parse(text)):
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


@pytest.mark.corpus(48)
@pytest.mark.parametrize(
    "text", ["x" * 200_000, "", "```\n" + "y\n" * 5_000, "| a |\n|---|\n" + "| b |\n" * 900]
)
async def test_what_is_endless_ends(qapp, tmp_path: Path, text: str):
    path = tmp_path / "out.pdf"
    await write_pdf(path, "t", text, QApplication.font())
    assert path.stat().st_size > 500


async def test_a_folder_that_is_not_there_is_said(qapp, tmp_path: Path):
    with pytest.raises(OSError, match=r"."):
        await write_pdf(tmp_path / "none" / "out.pdf", "t", "x", QApplication.font())
