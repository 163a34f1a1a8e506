"""Documents as text: every format is read, and what cannot be read is refused in words that name the file."""

import asyncio
import base64
import contextlib
import os
import random
import re
import zipfile
from pathlib import Path

import office_oxide
import pytest
from PySide6.QtGui import QImage

from app.core.errors import BadInput
from app.core.files import (
    DOCUMENT_TYPES,
    LONGEST_SIDE,
    MOST_CHARACTERS,
    MOST_PICTURES,
    NEW_PAGE,
    FileText,
    SeenAs,
    page_count,
    with_page_numbers,
)
from app.core.texts import Texts
from app.files import reader
from app.files.reader import FileReaders
from app.storage.paths import resources_dir
from tests.files.documents import EPUB, LATIN, ODT, SAYS, a_locked_pdf, a_pdf, a_sealed_pdf, a_zip, write_all

FOLDER = resources_dir() / "i18n"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


async def read(path: Path) -> FileText:
    return await FileReaders().read(path)


async def refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(BadInput) as caught:
        await read(path)
    assert caught.value.details["name"] == path.name
    return caught.value.code


async def test_every_format_is_read(tmp_path):
    paths = write_all(tmp_path)
    files = await asyncio.gather(*map(read, paths))
    for path, file in zip(paths, files, strict=True):
        for words in LATIN if path.suffix == ".pdf" else SAYS:
            assert words in file.text.replace("\xa0", " "), (path.suffix, words, file.text)
        assert (file.name, file.media_type) == (path.name, DOCUMENT_TYPES[path.suffix])
        assert not file.cut and "hidden" not in file.text and "not shown" not in file.text
    assert {path.suffix for path in paths} >= {
        ".pdf",
        ".docx",
        ".pptx",
        ".xlsx",
        ".odt",
        ".hwpx",
        ".epub",
        ".html",
    }


async def test_a_pdf_keeps_its_pages(tmp_path):
    path = tmp_path / "두 쪽.PDF"
    path.write_bytes(a_pdf(["The first page of the report", "The second page of the report"]))
    file = await read(path)
    assert (file.pages, file.pages_read) == (2, 2)
    assert file.text == f"The first page of the report{NEW_PAGE}The second page of the report"
    assert with_page_numbers(file.text, "[page {page}]").startswith(
        "[page 1]\nThe first page of the report\n\n[page 2]\n"
    )


async def test_chapters_and_sections_are_in_order(tmp_path):
    for path in write_all(tmp_path):
        if path.suffix in {".epub", ".hwpx"}:
            text = (await read(path)).text
            assert text.index("12 percent") < text.index("서울"), path.suffix


@pytest.mark.slow
async def test_a_long_document_ends_at_a_page_and_says_so(tmp_path):
    path, told = tmp_path / "long.pdf", []
    page = "\n".join("A line of many words that fill the page from one side to the other" for _ in range(60))
    path.write_bytes(a_pdf([page] * 300))
    file = await FileReaders().read(path, lambda read, pages: told.append((read, pages)))
    assert file.cut and 0 < file.pages_read < file.pages == 300
    assert len(file.text) < MOST_CHARACTERS + 200
    assert file.text.endswith(f"only the first {file.pages_read} of 300 pages are given here.]")
    assert file.text.count(NEW_PAGE) == file.pages_read - 1
    assert told == sorted(told) and all(pages == 300 for _, pages in told)


@pytest.mark.slow
async def test_ten_thousand_pages_are_read(tmp_path):
    path = tmp_path / "long.pdf"
    path.write_bytes(
        a_pdf([f"Page number {number} has a few words and no more." for number in range(10_000)])
    )
    file = await FileReaders().read(path)
    assert (file.pages, file.pages_read, file.cut) == (10_000, 10_000, False)
    assert file.text.endswith("Page number 9999 has a few words and no more.")


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("locked.pdf", a_locked_pdf(), "file_locked"),
        ("locked.docx", OLE + bytes(2_000) + "EncryptedPackage".encode("utf-16-le"), "file_encrypted"),
        (
            "locked.odt",
            a_zip({**ODT, "META-INF/manifest.xml": "<m><encryption-data/></m>"}),
            "file_encrypted",
        ),
        (
            "locked.epub",
            a_zip({**EPUB, "META-INF/encryption.xml": '<e><EncryptedData URI="OEBPS/two.xhtml"/></e>'}),
            "file_encrypted",
        ),
        ("scan.pdf", a_pdf(["", "4", ""]), "file_scanned"),
        ("blank.pdf", a_pdf([""]), "file_scanned"),
        ("blank.hwpx", a_zip({"Contents/section0.xml": "<sec/>"}), "file_empty"),
        ("blank.html", b"<html><body></body></html>", "file_empty"),
        ("nothing.pdf", b"", "file_damaged"),
        ("no.docx", b"PK\3\4 and so on", "file_damaged"),
        ("old.docx", OLE + bytes(2_000), "file_damaged"),
        ("new.doc", a_zip(ODT), "file_damaged"),
        ("other.epub", a_zip(ODT), "file_damaged"),
        ("other.hwpx", a_zip(ODT), "file_damaged"),
        ("old.hwp", OLE + bytes(2_000), "file_hwp"),
        ("entity.odt", a_zip({"content.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}), "file_damaged"),
        (
            "lol.hwpx",
            a_zip(
                {"Contents/section0.xml": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><t>&b;</t>'}
            ),
            "file_damaged",
        ),
        ("bomb.docx", a_zip({"word/document.xml": bytes(60_000_000)}), "file_too_packed"),
        ("many.epub", a_zip({f"a{number}": "" for number in range(2_001)}), "file_too_packed"),
    ],
)
async def test_what_cannot_be_read_is_refused_in_words(tmp_path, name, data, code):
    assert await refused(tmp_path / name, data) == code
    for language in ("en", "ko"):
        text = Texts.load(FOLDER, language)(f"error.{code}", name=name, pages=3, seconds=30)
        assert name in text and "{" not in text


async def test_an_archive_that_lies_about_its_size_is_not_unpacked(tmp_path):
    data = bytearray(a_zip({"Contents/section0.xml": b"<sec>" + b" " * 30_000_000 + b"</sec>"}))
    for signature, place in ((b"PK\1\2", 24), (b"PK\3\4", 22)):
        start = data.index(signature) + place
        data[start : start + 4] = (1_000).to_bytes(4, "little")
    assert await refused(tmp_path / "lies.hwpx", bytes(data)) == "file_damaged"


async def test_the_names_in_an_archive_are_no_paths(tmp_path):
    (tmp_path / "secret.xhtml").write_text("<p>the secret</p>")
    book = {**EPUB, "OEBPS/book.opf": EPUB["OEBPS/book.opf"].replace("two.xhtml", "../../secret.xhtml")}
    path = tmp_path / "book.epub"
    path.write_bytes(a_zip(book))
    assert "secret" not in (await read(path)).text


async def test_a_folder_a_missing_and_a_large_file_are_refused(tmp_path):
    (tmp_path / "folder.pdf").mkdir()
    with (tmp_path / "large.pdf").open("wb") as file:
        file.truncate(50_000_001)
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "zeros.txt").symlink_to("/dev/zero")
    no_files = [(name, "unreadable") for name in ("folder.pdf", "gone.pdf", "pipe.txt", "zeros.txt")]
    for name, code in (*no_files, ("large.pdf", "too_large")):
        with pytest.raises(BadInput) as caught:
            await read(tmp_path / name)
        assert caught.value.code == f"attachment_{code}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [
        ("Name;Ort;Betrag\r\nMüller;Köln;1.200,50 €\r\nFrançois;Orléans;310 €\r\n", "cp1252", "CP1252"),
        ("Zażółć gęślą jaźń; Łódź; 15 zł\r\n", "cp1250", "CP1250"),
        ("Привет, это небольшой текст о погоде и ценах.\r\n", "cp1251", "CP1251"),
        ("氏名,住所,備考\r\n山田太郎,東京都新宿区,会議に参加します\r\n", "cp932", "CP932"),
        ("会议记录：今天讨论预算和时间表。我们决定下个月开始新的项目。\r\n", "gbk", "GB18030"),
        ("會議記錄：今天討論預算和時間表。我們決定下個月開始新的項目。\r\n", "big5", "BIG5"),
        ("이름,부서\r\n김철수,영업부\r\n", "cp949", "CP949"),
        ("이름,부서\r\n김철수,영업부\r\n", "utf-16", "UTF-16"),
        ("\ufeff이름", "utf-8", ""),
    ],
)
async def test_texts_are_read_in_the_encoding_they_have(tmp_path, text, encoding, named):
    path = tmp_path / "list.csv"
    path.write_bytes(text.encode(encoding))
    found = await read(path)
    assert (found.text, found.encoding) == (text.removeprefix("\ufeff"), named)


async def test_utf_8_with_damaged_bytes_stays_utf_8(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(b"start\ncaf\xe9\n" + "멈춤 한글\n".encode() * 5)
    found = await read(path)
    assert (found.text, found.encoding) == ("start\ncaf\ufffd\n" + "멈춤 한글\n" * 5, "")
    assert await refused(path, "멈춤 한글\n".encode() * 5 + b"\x01\xff") == "attachment_not_text"


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("page.xls", "<table><tr><td>Müller</td><td>12</td></tr></table>".encode(), "Müller 12"),
        ("lines.xls", "Name\tZahl\r\nMüller\t12\r\n".encode("cp1252"), "Name\tZahl\nMüller\t12"),
        (
            "letter.doc",
            rb"{\rtf1\ansi\ansicpg1252 Dear Ms M\'fcller,\par we agree \u8364? 5.}",
            "Dear Ms Müller,\nwe agree € 5.",
        ),
        ("letter.rtf", rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\f0 Hello {\b you}}", "Hello you"),
    ],
)
async def test_old_office_names_are_read_by_content(tmp_path, name, data, expected):
    path = tmp_path / name
    path.write_bytes(data)
    assert (await read(path)).text.replace("\r", "") == expected
    path.write_bytes(b"\0\1\2" * 50)
    with pytest.raises(BadInput) as caught:
        await read(path)
    assert caught.value.code == "file_damaged"


async def test_a_new_document_with_an_old_name_is_read(tmp_path):
    (path,) = (one for one in write_all(tmp_path) if one.suffix == ".docx")
    path.rename(tmp_path / "report.doc")
    text = (await read(tmp_path / "report.doc")).text
    assert all(words in text for words in SAYS)


SHEET = '<worksheet><row><c r="A1"><v>2</v></c><c r="B1"><f>A1*2</f><v>4</v></c>{cells}</row></worksheet>'


async def test_formulas_whose_result_is_not_stored_are_named(tmp_path):
    path = tmp_path / "book.xlsx"
    office_oxide.create_from_markdown("| a |\n| - |\n| b |\n", "xlsx", str(path))
    with zipfile.ZipFile(path) as made:
        parts = {one: made.read(one) for one in made.namelist()}
    (sheet,) = (one for one in parts if one.startswith("xl/worksheets/"))
    cells = '<c r="C1" s="1"><f>A1&amp;"x"</f><v></v></c><c r="D1"><f>B1+1</f></c>'
    for extra, expected in (("", []), (cells, ['C1: =A1&"x"', "D1: =B1+1"])):
        path.write_bytes(a_zip({**parts, sheet: SHEET.format(cells=extra)}))
        text = (await read(path)).text
        named = re.search(rb'<sheet [^>]*name="([^"]+)"', parts["xl/workbook.xml"])
        assert named is not None
        lines = [line for line in text.splitlines() if line.startswith("- ")]
        assert lines == [f"- {named[1].decode()}!{one}" for one in expected]
        assert ("result is not stored" in text) == bool(expected)


async def test_a_page_in_no_known_encoding_is_still_read(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(b"<html><body><p>caf\xe9 \x01 and more words</p></body></html>")
    assert "and more words" in (await read(path)).text


@pytest.mark.parametrize("kind", ["bmp", "tiff"])
async def test_pictures_of_older_formats_are_sent_as_png(tmp_path, kind):
    path = tmp_path / f"picture.{kind}"
    image = QImage(3, 2, QImage.Format.Format_RGB32)
    image.fill(0xFF112233)
    assert image.save(str(path))
    found = await FileReaders().picture(path)
    shown = QImage.fromData(base64.b64decode(found.data))
    assert (found.media_type, shown.width(), shown.pixel(1, 1)) == ("image/png", 3, 0xFF112233)


@pytest.mark.parametrize(("brand", "named"), [(b"avif", "AVIF"), (b"heic", "HEIC"), (b"mif1", "HEIC")])
async def test_a_picture_that_cannot_be_read_is_named_by_its_format(tmp_path, brand, named):
    path = tmp_path / "photo.avif"
    path.write_bytes(b"\0\0\0\x1cftyp" + brand + bytes(40))
    with pytest.raises(BadInput) as caught:
        await FileReaders().picture(path)
    assert (caught.value.code, caught.value.details) == (
        "picture_format",
        {"format": named, "name": path.name},
    )


async def test_pages_become_small_pictures(tmp_path):
    path, told = tmp_path / "scan.pdf", []
    path.write_bytes(a_pdf(["", "A page with words", *[""] * 20]))
    look = SeenAs(pictures=True)
    found = await FileReaders().as_it_looks(path, look, lambda made, pages: told.append((made, pages)))
    assert (found.pages, found.shown) == (22, MOST_PICTURES) == (22, len(found.attachment.pages))
    assert told == [(number, 20) for number in range(1, 21)]
    first, second = (QImage.fromData(base64.b64decode(one)) for one in found.attachment.pages[:2])
    assert not found.attachment.data and "A page with words" in found.attachment.text
    assert page_count(found.attachment) == 22
    assert max(second.width(), second.height()) == LONGEST_SIDE and second.width() < second.height()
    assert first.pixelColor(0, 0).lightness() > 250 and second != first


@pytest.mark.slow
async def test_a_pdf_is_sent_itself_as_far_as_providers_take_it(tmp_path):
    path, look = tmp_path / "report.pdf", SeenAs(pdf=True)
    path.write_bytes(a_pdf(["Sales rose", "and fell"]))
    found = await FileReaders().as_it_looks(path, look)
    assert base64.b64decode(found.attachment.data) == path.read_bytes()
    assert found.attachment.pages == () and found.attachment.text == f"Sales rose{NEW_PAGE}and fell"
    path.write_bytes(a_pdf(["x"] * 101))
    found = await FileReaders().as_it_looks(path, look)
    assert not found.attachment.data and found.shown == len(found.attachment.pages) == MOST_PICTURES


@pytest.mark.slow
async def test_a_password_opens_a_pdf_and_is_not_sent_with_it(tmp_path):
    path, files = tmp_path / "sealed.pdf", FileReaders()
    path.write_bytes(a_sealed_pdf(["The secret of the house", "is under the stairs"], "open"))
    for password, code in (("", "file_locked"), ("wrong", "file_wrong_password")):
        for reads in (
            files.read(path, password=password),
            files.as_it_looks(path, SeenAs(pdf=True), password=password),
        ):
            with pytest.raises(BadInput) as caught:
                await reads
            assert caught.value.code == code
    assert "under the stairs" in (await files.read(path, password="open")).text
    found = await files.as_it_looks(path, SeenAs(pdf=True), password="open")
    itself = base64.b64decode(found.attachment.data)
    assert itself.startswith(b"%PDF-") and b"/Encrypt" not in itself
    path.write_bytes(itself)
    assert "under the stairs" in (await files.read(path)).text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a slow file is a pipe here")
async def test_cancelling_and_the_time_limit_end_the_process(tmp_path, monkeypatch):
    path = tmp_path / "slow.docx"
    os.mkfifo(path)
    started = []
    real = asyncio.create_subprocess_exec

    async def start(*command, **options):
        started.append(await real(*command, **options))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    reading = asyncio.create_task(read(path))
    while not started:
        await asyncio.sleep(0.01)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert started[0].returncode is not None
    monkeypatch.setattr(reader, "SECONDS", 0.2)
    with pytest.raises(BadInput) as caught:
        await read(path)
    assert caught.value.code == "file_too_slow"
    assert started[1].returncode is not None


def damaged(data: bytes, source: random.Random) -> bytes:
    """Return a file with a few bytes changed, cut, or filled with zeros."""
    changed = bytearray(data)
    for _ in range(source.randint(1, 30)):
        changed[source.randrange(len(changed))] = source.randrange(256)
    if source.random() < 0.4:
        start = source.randrange(len(changed))
        changed[start : start + source.randrange(1, 200)] = bytes(source.randrange(1, 200))
    return bytes(changed[: source.randrange(1, len(changed))] if source.random() < 0.3 else changed)


def repacked(path: Path, source: random.Random) -> bytes:
    """Return an archive whose entries are damaged, while the archive itself is sound."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = source.choice([name for name, data in entries.items() if data])
    return a_zip({**entries, name: damaged(entries[name], source)})


async def harmless(path: Path) -> None:
    """Read a damaged file: it gives text, or an error in words."""
    with contextlib.suppress(BadInput):
        assert (await read(path)).text
        return


@pytest.mark.parametrize("times", [3, pytest.param(60, marks=pytest.mark.slow)])
async def test_damaged_files_of_every_format_give_text_or_an_error_in_words(tmp_path, times):
    source = random.Random(7)
    for path in write_all(tmp_path):
        made = []
        for number in range(times):
            made.append(tmp_path / f"damaged{number}{path.suffix}")
            inner = number % 2 and zipfile.is_zipfile(path)
            made[-1].write_bytes(repacked(path, source) if inner else damaged(path.read_bytes(), source))
        for start in range(0, times, 4):
            await asyncio.gather(*map(harmless, made[start : start + 4]))
