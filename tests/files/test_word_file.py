"""Word documents of pages: what python-docx reads in them, and what their XML has and has not; also how texts are compared."""

import base64
import io
import re
import zipfile
from random import Random
from time import perf_counter, process_time

import docx
import pypdfium2
import pytest
from docx.document import Document
from PySide6.QtGui import QColor, QImage

from app.core.errors import BadInput
from app.core.message import Attachment
from app.core.session import DOCX, PDF
from app.core.texts import Texts
from app.engine.export.document import Chart, Citation, Curve, DocumentHead, Entry, ListItem, Section
from app.engine.export.formats import as_html, page_of
from app.files import reader
from app.files.file_reader.difference import difference
from app.files.file_reader.picture import saved
from app.files.reader import FileReaders
from app.markdown_page import as_html as render
from app.storage.paths import resources_dir

FILES = FileReaders(resources_dir() / "fonts")

REPORT = """# 분기 보고

Sales rose by **12 percent**, *not* ~~15~~, see `sum()` and [the site](https://example.com/a?b=1&c=2).

## Lists

- one
  - two
    - three
      - four
- [x] done

3. third
4. fourth

Between them.

1. again

> A quotation

```python
def f(x):
    return x

```

| Region | Sum |
| --- | ---: |
| 서울 | `40` |

So $\\frac{a}{b}$ it is.
"""


async def written(html: str, title: str = "분기 보고") -> tuple[Document, zipfile.ZipFile]:
    """Return a page as a Word document, as python-docx and as a zip reads it."""
    data = await FILES.printed(html, title, DOCX)
    return docx.Document(io.BytesIO(data)), zipfile.ZipFile(io.BytesIO(data))


def lines_of(document: Document) -> list[tuple[str, str]]:
    return [(one.style.name, one.text) for one in document.paragraphs if one.text or one.style.name == "Code"]


async def test_a_markdown_file_has_the_styles_of_word() -> None:
    document, _ = await written(page_of(REPORT, "report", render))
    assert lines_of(document) == [
        ("Title", "분기 보고"),
        ("Normal", "Sales rose by 12 percent, not 15, see sum() and the site (example.com)."),
        ("Heading 1", "Lists"),
        ("List Bullet", "one"),
        ("List Bullet 2", "two"),
        ("List Bullet 3", "three"),
        ("List Bullet 3", "four"),
        ("List Bullet", "☑ done"),
        ("List Number", "third"),
        ("List Number", "fourth"),
        ("Normal", "Between them."),
        ("List Number", "again"),
        ("Quote", "A quotation"),
        ("Code", "def f(x):"),
        ("Code", "    return x"),
        ("Code", ""),
        ("Normal", "So  it is."),
    ]
    runs = {run.text: run for run in document.paragraphs[1].runs}
    assert runs["12 percent"].bold and runs["not"].italic and runs["15"].font.strike
    assert runs["sum()"].font.name == "Consolas" and not runs["12 percent"].italic
    [link] = document.paragraphs[1].hyperlinks
    assert (link.text, link.address) == ("the site", "https://example.com/a?b=1&c=2")
    [table] = document.tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [["Region", "Sum"], ["서울", "40"]]
    assert table.style.name == "Table Grid" and table.cell(0, 0).paragraphs[0].runs[0].bold
    # The formula is a picture.
    assert len(document.inline_shapes) == 1


async def test_every_numbered_list_begins_where_it_does() -> None:
    document, _ = await written(page_of(REPORT, "report", render))
    numbered = [one for one in document.paragraphs if one.style.name == "List Number"]
    ids = [one.paragraph_format.element.pPr.numPr.numId.val for one in numbered]
    assert ids[0] == ids[1] != ids[2]
    numbering = document.part.numbering_part.element
    starts = [
        numbering.num_having_numId(one).lvlOverride_lst[0].startOverride.val for one in (ids[0], ids[2])
    ]
    assert starts == [3, 1]


async def test_word_shows_korean_in_a_font_that_has_it() -> None:
    document, archive = await written(page_of("한국어 `코드`", "x", render))
    styles = archive.read("word/styles.xml").decode()
    assert set(re.findall(r'w:eastAsia="([^"]*)"', re.sub("<w:lang[^>]*>", "", styles))) == {"Malgun Gothic"}
    assert "eastAsiaTheme" not in styles
    assert document.core_properties.title == "분기 보고" and document.core_properties.author == "Moot"
    assert "python-docx" not in archive.read("docProps/core.xml").decode()


async def test_a_session_has_its_facts_its_votes_and_its_pictures() -> None:
    red = QImage(300, 100, QImage.Format.Format_RGB32)
    red.fill(QColor("red"))
    picture = Attachment(
        name="p.png", media_type="image/png", data=base64.b64encode(saved(red, "PNG")).decode()
    )
    votes = Chart(title="Votes", levels=("Yes", "No"), columns=("1",), curves=(Curve("#0C7A60", (0,)),))
    parts = [
        DocumentHead(title="제목", language="ko", facts=(("Group", "Crew"),)),
        Section(
            heading="Result",
            text="Build it",
            lines=(ListItem(text="It holds", done=True, cites=(Citation("turn 1", "m1"),)),),
            chart=votes,
        ),
        Entry(
            heading="Ann", body="Done.", files=(picture,), notes=("a note",), colour="#0C7A60", anchor="m1"
        ),
        Entry(heading="Bo", body="Deep.", depth=2),
    ]
    document, _ = await written("".join(as_html(parts, render)))
    assert [text for _, text in lines_of(document)] == [
        *("제목", "Group: Crew", "Result", "Build it", "☑ It holds turn 1"),
        *("Ann", "Done.", "[p.png]", "a note", "Bo", "Deep."),
    ]
    assert len(document.inline_shapes) == 2
    assert document.inline_shapes[1].width == 300 * 9_525
    [ann] = [one for one in document.paragraphs if one.text == "Ann"]
    assert ann.runs[0].bold and str(ann.runs[0].font.color.rgb) == "0C7A60"
    deep = next(one for one in document.paragraphs if one.text == "Deep.")
    assert deep.paragraph_format.left_indent == 2 * 26 * 9_525
    assert all(shape.width <= 166 * 36_000 for shape in document.inline_shapes)


HOSTILE = """[a](javascript:alert(1)) [b](file:///etc/passwd) [c](\\\\\\\\evil\\\\share) [d](http://a b"><w:r>) [e](#x)
![remote](http://evil.example/p.png) <img src="http://evil.example/q.png"> <script>alert(1)</script>
{ HYPERLINK "http://evil.example" } { INCLUDETEXT "c:\\\\x" } \u202eabc\x07\ufffe &#1; ]]> <!--

[long](http://long.example/{long}) [odd](http://[::1) [user](https://you@evil.example/)
""".replace("{long}", "x" * 3_000)


@pytest.mark.threat("T16")
async def test_nothing_in_it_runs_loads_or_leads_anywhere_but_to_the_web() -> None:
    document, archive = await written(page_of(HOSTILE, "x\x00\ud800", render), "x\x07\u202e")
    names = archive.namelist()
    assert not [one for one in names if re.search("vba|embed|activeX|ole|media", one, re.IGNORECASE)]
    external = [
        (one.reltype.rpartition("/")[2], one.target_ref)
        for part in document.part.package.iter_parts()
        for one in part.rels.values()
        if one.is_external
    ]
    assert {kind for kind, _ in external} <= {"hyperlink"}
    assert all(re.fullmatch(r"https?://[!-~]+", target) and len(target) < 2_050 for _, target in external)
    xml = archive.read("word/document.xml").decode()
    assert not re.search("fldChar|fldSimple|instrText|altChunk|w:object|w:control|\u202e|\x07", xml)
    assert "<script>alert(1)</script>" in "".join(one.text for one in document.paragraphs)


async def test_a_picture_that_is_none_leaves_the_rest() -> None:
    page = (
        '<p>before</p><img src="data:image/png;base64,AAAA"><img src="data:image/webp;base64,%"><p>after</p>'
    )
    document, _ = await written(page)
    assert [text for _, text in lines_of(document)] == ["before", "after"]


@pytest.mark.slow
async def test_ten_megabytes_are_written_and_what_is_endless_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests use every core meanwhile; alone it takes ten seconds.
    monkeypatch.setattr(reader, "SECONDS", 180.0)
    whole = "".join(f"<p>{number} {'문장 words ' * 40}</p>" for number in range(18_000))
    document, _ = await written(whole)
    assert len(whole.encode()) > 9_500_000
    assert len(document.paragraphs) >= 18_000 and document.paragraphs[17_999].text.startswith("17999 문장")
    monkeypatch.setattr(reader, "SECONDS", 1.0)
    with pytest.raises(BadInput) as caught:
        await FILES.printed("<p>a</p>" * 1_000_000, "x", DOCX)
    assert "HTML" in Texts.load(resources_dir() / "i18n", "en")(f"error.{caught.value.code}")


async def test_a_formula_and_a_table_are_in_the_pdf_too() -> None:
    data = await FILES.printed(page_of(REPORT, "report", render), "report", PDF)
    page = pypdfium2.PdfDocument(data)[0]
    text = page.get_textpage().get_text_bounded()
    assert "분기 보고" in text and "서울" in text and "frac" not in text
    images = page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE])
    assert len(list(images)) == 1


async def test_two_texts_are_compared_line_by_line() -> None:
    old, new = "\ufeffone\ntwo\r\nthree\n", "one\n둘\nthree\nfour\u202e\n"
    found = await FILES.difference(old.encode(), new.encode())
    assert found.split("\n") == ["@@ -1,3 +1,4 @@", " one", "-two", "+둘", " three", "+four⟨U+202E⟩"]
    assert await FILES.difference(b"same\n", b"same\n") == ""


def applied(old: list[str], found: list[str]) -> list[str]:
    """Return the text that a difference makes of another one."""
    made: list[str] = []
    place = 0
    for line in found:
        if line.startswith("@@"):
            start = int(line.split()[1][1:].split(",")[0]) - 1
            made, place = made + old[place:start], start
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert old[place] == line[1:]
            made += [line[1:]] if line[0] == " " else []
            place += 1
    return made + old[place:]


def test_a_difference_makes_the_newer_text_of_the_older_one() -> None:
    drawn = Random(7)
    for _ in range(1_000):
        old = [drawn.choice("abcdefghijkl") for _ in range(drawn.randrange(30))]
        new = list(old)
        for _ in range(drawn.randrange(8)):
            place = drawn.randrange(len(new) + 1)
            new[place : place + drawn.randrange(3)] = drawn.choices("abxyz", k=drawn.randrange(3))
        found = list(difference(old, new))
        assert applied(old, found) == new
        assert bool(found) == (old != new)


@pytest.mark.parametrize("nth", [2, 5, 20])
def test_much_that_changed_takes_no_longer(nth: int) -> None:
    old = [f"{number:06d} {'x' * 41}" for number in range(20_000)]
    new = [line + "!" if place % nth == 0 else line for place, line in enumerate(old)]
    began = process_time()
    found = list(difference(old, new))
    assert process_time() - began < 0.8
    assert sum(line[0] == "+" for line in found) == 20_000 // nth
    assert applied(old, found) == new


async def test_two_megabytes_are_compared_at_once_or_not_at_all() -> None:
    old = [f"{number:06d} {'x' * 41}" for number in range(20_000)]
    new = [line + "!" if place % 20 == 0 else line for place, line in enumerate(old)]
    both = ["\n".join(lines).encode() for lines in (old, new)]
    assert all(950_000 < len(one) <= 1_000_000 for one in both)
    found = await FILES.difference(*both)
    assert found.count("\n+") == found.count("\n-") == 1_000
    # Lines of which each occurs often, but not often enough to be passed over.
    alike = [
        "\n".join(str(number * step % modulus) for number in range(250_000)).encode()
        for step, modulus in ((1, 150), (7, 151))
    ]
    began = perf_counter()
    with pytest.raises(BadInput, match="files_not_compared"):
        await FILES.difference(*alike)
    assert perf_counter() - began < 10.0
    for other in (b"\xff\xfe\x00", b"x" * 1_000_001):
        with pytest.raises(BadInput, match="files_not_compared"):
            await FILES.difference(b"x", other)
