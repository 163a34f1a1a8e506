"""Pictures of models: what is kept, what is removed, and what is refused before anything is decoded."""

import base64
import struct

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage, QImageReader, QImageWriter

from app.core.files import MOST_PICTURE_BYTES, BadPicture, can_be_sent, cleaned, picture_of, size_of
from tests.pictures import SECRET, data_url, gif, jpeg, png


def encoded(kind: str) -> bytes:
    image = QImage(60, 40, QImage.Format.Format_RGB32)
    image.fill(0x3060D0)
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(kind.encode())).write(image)
    return bytes(held.data())


def with_metadata(webp: bytes) -> bytes:
    extra = b"EXIF" + struct.pack("<I", len(SECRET)) + SECRET
    body = webp[8:] + extra
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.threat("T4")
@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png(), "image/png"),
        (jpeg(encoded("JPEG")), "image/jpeg"),
        (with_metadata(encoded("WEBP")), "image/webp"),
    ],
)
def test_a_picture_is_kept_without_its_metadata(data: bytes, media_type: str) -> None:
    assert SECRET in data
    kind, clean = picture_of(data_url(data, "image/anything"))
    assert (kind, size_of(clean)) == (media_type, (60, 40))
    assert SECRET not in clean
    before, after = QImage.fromData(data), QImage.fromData(clean)
    assert not after.isNull() and (before.size(), before.pixel(9, 9)) == (after.size(), after.pixel(9, 9))
    assert cleaned(clean) == (kind, clean)


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("https://example.org/cat.png", "address"),
        ("file:///etc/passwd", "address"),
        ("", "address"),
        ("data:image/png,plain", "address"),
        ("data:image/png;base64,", "broken"),
        (data_url(b"not a picture"), "broken"),
        (data_url(b"<svg onload='x'/>", "image/svg+xml"), "broken"),
        (data_url(png())[:-60], "broken"),
        (data_url(png()[:-20]), "broken"),
        (data_url(png().replace(b"IDAT", b"IDAX")), "broken"),
        (data_url(encoded("JPEG")[:-2]), "broken"),
        (data_url(encoded("WEBP")[:-9]), "broken"),
        ("data:image/png;base64,@@@@", "broken"),
        (data_url(png(told=(30_000, 30_000))), "too_large"),
        (data_url(png(told=(0, 40))), "broken"),
        ("data:image/png;base64," + "A" * (MOST_PICTURE_BYTES * 4 // 3 + 8), "too_large"),
    ],
)
def test_what_is_no_picture_is_refused(address: str, fault: str) -> None:
    with pytest.raises(BadPicture) as refused:
        picture_of(address)
    assert refused.value.fault == fault


@pytest.mark.threat("T4")
def test_an_animation_keeps_its_frames_without_metadata_and_is_no_picture_of_a_model() -> None:
    data = gif((208, 48, 48), (48, 208, 48))
    assert SECRET in data
    media_type, clean = cleaned(data)
    assert (media_type, size_of(clean)) == ("image/gif", (60, 40))
    assert SECRET not in clean and cleaned(clean) == (media_type, clean)
    held = QBuffer()
    held.setData(QByteArray(clean))
    reader = QImageReader(held)
    first, second = reader.read(), reader.read()
    assert (first.pixelColor(9, 9).red(), second.pixelColor(9, 9).green()) == (208, 208)
    assert not can_be_sent(media_type, base64.b64encode(clean).decode())
    with pytest.raises(BadPicture, match="broken"):
        picture_of(data_url(data, "image/gif"))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_no_cut_or_changed_picture_fails_in_another_way(kind: str) -> None:
    data = gif((208, 48, 48)) if kind == "GIF" else encoded(kind)
    for at in range(0, len(data), 3):
        for changed in (data[:at], data[:at] + b"\xff" + data[at + 1 :], data[:at] + data[at + 7 :]):
            try:
                cleaned(changed)
            except BadPicture:
                continue


def test_padding_may_be_missing() -> None:
    for width in (1, 2, 3):
        assert picture_of(data_url(png(width)).rstrip("="))[0] == "image/png"
    assert QImageReader.supportedImageFormats()
    assert base64.b64decode(data_url(png()).partition(",")[2]) == png()
