"""Texts in any usual encoding."""

import codecs
import re
from contextlib import suppress

from app.core.files import ENCODINGS

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def decoded(data: bytes, *named: str) -> tuple[str, str]:
    """Return a text and its encoding where that is not UTF-8; "" for the text of what is none.

    `named` are encodings that are said to be the text's; one is taken where the bytes fit it and are not
    UTF-8.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16"), "UTF-16"
        return "", ""
    for charset in ("utf-8-sig", *named):
        with suppress(UnicodeError, LookupError):
            return data.decode(charset), "" if charset == "utf-8-sig" else charset.upper()
    text = data.decode("utf-8-sig", "replace")
    broken = text.count("\N{REPLACEMENT CHARACTER}")
    # UTF-8 with some damaged bytes: other encodings have no letter that is right in UTF-8.
    if sum(not letter.isascii() for letter in text) > 10 * broken and not _CONTROLS.search(text):
        return text, ""
    from charset_normalizer import from_bytes

    best = from_bytes(data, cp_isolation=[name.lower() for name in ENCODINGS]).best()
    text = str(best) if best is not None else ""
    if not text or _CONTROLS.search(text):
        return "", ""
    return text, next(name for name in ENCODINGS if data.decode(name, "replace") == text)
