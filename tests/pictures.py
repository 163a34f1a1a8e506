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


def data_url(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def images_reply(*urls: str, text: str = "") -> Raw:
    """Return an answer with pictures, as OpenRouter and its imitators stream it."""
    images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    delta = {"role": "assistant", "content": text, "images": images}
    common = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = ({"index": 0, "delta": delta}, {"index": 0, "delta": {"content": ""}, "finish_reason": "stop"})
    return Raw(b"".join(sse({**common, "choices": [one]}) for one in chunks) + b"data: [DONE]\n\n")
