"""Sizes of files as people read them; used by the page of the data and its dialogs."""

_UNITS = ("B", "kB", "MB", "GB")


def size_text(count: int) -> str:
    """Return a number of bytes in short: `950 B`, `12 kB`, `3.4 MB`."""
    size = float(count)
    unit = 0
    while size >= 1_000 and unit < len(_UNITS) - 1:
        size /= 1_000
        unit += 1
    return f"{size:.1f} {_UNITS[unit]}" if unit and size < 10 else f"{size:.0f} {_UNITS[unit]}"
