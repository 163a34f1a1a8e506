"""What may be given along: text as text, pictures made small and clean, and a plain word for everything else."""

import base64
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage

from app.core.errors import BadInput
from app.core.files import LONGEST_SIDE, is_image_file
from app.files.reader import FileReaders
from app.gui.files.user_files import is_image, picture_attachment


def picture(width: int, height: int) -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("#3B5BDB"))
    return image


async def refused(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        await (FileReaders().picture(path) if is_image_file(path) else FileReaders().read(path))
    assert caught.value.details["name"] == path.name
    return caught.value.code


def decoded(data: str) -> QImage:
    return QImage.fromData(base64.b64decode(data))


async def test_a_text_file_is_read_whole(qapp, tmp_path):
    path = tmp_path / "메모.md"
    path.write_bytes("\ufeff# 제목\r\nText".encode())
    attachment = (await FileReaders().read(path)).attachment()
    assert (attachment.name, attachment.media_type) == ("메모.md", "text/plain")
    assert attachment.text.startswith("# 제목") and not attachment.data
    assert not is_image(attachment)


@pytest.mark.parametrize(("suffix", "format_name"), [("png", "PNG"), ("jpg", "JPEG")])
async def test_a_large_picture_is_made_small_and_loses_its_notes(qapp, tmp_path, suffix, format_name):
    path = tmp_path / f"photo.{suffix}"
    image = picture(4000, 1000)
    image.setText("Comment", "taken at home")
    assert image.save(str(path), format_name)
    attachment = await FileReaders().picture(path)
    assert is_image(attachment)
    small = decoded(attachment.data)
    assert (small.width(), small.height()) == (LONGEST_SIDE, LONGEST_SIDE // 4)
    assert b"taken at home" not in base64.b64decode(attachment.data)


async def test_a_small_picture_keeps_its_size_and_a_pasted_one_is_the_same(qapp, tmp_path):
    path = tmp_path / "icon.png"
    assert picture(40, 30).save(str(path))
    attachment = await FileReaders().picture(path)
    pasted = await picture_attachment(FileReaders(), picture(40, 30), "Image.png")
    assert decoded(attachment.data).size() == decoded(pasted.data).size() == picture(40, 30).size()
    assert attachment.media_type == "image/png"


@pytest.mark.parametrize(
    ("encoding", "named"), [("cp949", "CP949"), ("euc-kr", "CP949"), ("utf-16", "UTF-16")]
)
async def test_a_text_in_an_older_encoding_is_read_and_says_which(qapp, tmp_path, encoding, named):
    path = tmp_path / "메모.txt"
    path.write_bytes("회의록: 다음 주 금요일까지\r\nver 2.0 §3".encode(encoding))
    attachment = (await FileReaders().read(path)).attachment()
    assert (attachment.text, attachment.encoding) == ("회의록: 다음 주 금요일까지\r\nver 2.0 §3", named)
    path.write_bytes(bytes(range(1, 256)))
    assert await refused(path) == "attachment_not_text"


async def test_what_is_not_taken_is_named_with_its_reason(qapp, tmp_path):
    binary, large, false = (tmp_path / name for name in ("b.bin", "c.txt", "d.png"))
    binary.write_bytes(b"\x00\x01\xff")
    large.write_text("x" * 4_000_001)
    false.write_text("no picture")
    assert await refused(binary) == "attachment_not_text"
    assert await refused(large) == "attachment_too_large"
    assert await refused(false) == "attachment_bad_image"
    assert await refused(tmp_path / "gone.txt") == "attachment_unreadable"


@pytest.mark.threat("T17")
@pytest.mark.allow_logs
async def test_a_picture_that_unpacks_to_gigabytes_is_not_unpacked(qapp, tmp_path):
    path = tmp_path / "bomb.png"
    assert picture(8, 8).save(str(path))
    data = bytearray(path.read_bytes())
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    path.write_bytes(data)
    assert await refused(path) == "attachment_bad_image"
