"""Pictures as files, made without a library of pictures, with metadata that must not be kept."""

import base64
import struct
import zlib

from tests.wire import Raw
from tests.wire.protocols import sse

SECRET = b"taken at home by Ada"


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(
    width: int = 60, height: int = 40, colour: bytes = b"\xd0\x30\x30", *, told: tuple[int, int] | None = None
) -> bytes:
    """Return a PNG of one colour with a comment; `told` is the size that its header claims."""
    header = struct.pack(">IIBBBBB", *(told or (width, height)), 8, 2, 0, 0, 0)
    pixels = zlib.compress((b"\0" + colour * width) * height)
    body = chunk(b"IHDR", header) + chunk(b"tEXt", b"Comment\0" + SECRET) + chunk(b"IDAT", pixels)
    return (
        b"\x89PNG\r\n\x1a\n"
        + body
        + chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + SECRET)
        + chunk(b"IEND", b"")
    )


def segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def jpeg(whole: bytes) -> bytes:
    """Return a JPEG with EXIF data and a comment, and another picture after its end."""
    extras = segment(0xE1, b"Exif\0\0" + SECRET) + segment(0xFE, SECRET)
    return whole[:2] + extras + whole[2:] + b"\xff\xd8" + SECRET


def gif(*colours: tuple[int, int, int], width: int = 60, height: int = 40) -> bytes:
    """Return a GIF with a frame of each colour, a comment and metadata of a program."""
    palette = b"".join(bytes(one) for one in colours).ljust(3 * 128, b"\0")
    extras = b"\x21\xfe" + _blocks(SECRET) + b"\x21\xff\x0bXMP DataXMP" + _blocks(SECRET)
    whole = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80 | 6, 0, 0) + palette + extras
    whole += b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"
    for place in range(len(colours)):
        # Codes of eight bits; the table is emptied before they would need nine.
        pixels = bytes([place]) * (width * height)
        codes = b"".join(b"\x80" + pixels[at : at + 100] for at in range(0, len(pixels), 100)) + b"\x81"
        frame = struct.pack("<BHHHHBB", 0x2C, 0, 0, width, height, 0, 7)
        whole += b"\x21\xf9\x04\x04\x0a\0\0\0" + frame + _blocks(codes)
    return whole + b"\x3b" + SECRET


def _blocks(data: bytes) -> bytes:
    pieces = [data[at : at + 255] for at in range(0, len(data), 255)]
    return b"".join(bytes([len(one)]) + one for one in pieces) + b"\0"


def data_url(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def images_reply(*urls: str, text: str = "") -> Raw:
    """Return an answer with pictures, as OpenRouter and its imitators stream it."""
    images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    delta = {"role": "assistant", "content": text, "images": images}
    common = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = ({"index": 0, "delta": delta}, {"index": 0, "delta": {"content": ""}, "finish_reason": "stop"})
    return Raw(b"".join(sse({**common, "choices": [one]}) for one in chunks) + b"data: [DONE]\n\n")
