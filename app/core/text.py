"""What every text from outside goes through before it is kept."""

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def clean_text(text: str) -> str:
    """Replace lone surrogates (no encoding can store them) and NULs by U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return text.translate(_SURROGATES).replace("\0", "\ufffd")
