"""What every text from outside goes through before it is kept."""

from collections.abc import Mapping

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def clean_text(text: str) -> str:
    """Replace lone surrogates (no encoding can store them) and NULs by U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return text.translate(_SURROGATES).replace("\0", "\ufffd")


def clean_values(value: object) -> object:
    """Return a JSON value with every text in it cleaned, the names of its fields too."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(name)): clean_values(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_values(inner) for inner in value]
    return value
