"""Splits a stream of any bytes into lines, in bounded memory."""


class Lines:
    """Assembles lines from the pieces that arrive; keeps only the first `most` bytes of each line."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._kept = 0
        self.cut = 0

    def take(self, data: bytes) -> list[bytes]:
        """Return the lines that these bytes end. `cut` counts the bytes that were left out."""
        *ends, rest = data.split(b"\n")
        lines = []
        for end in ends:
            self._add(end)
            lines.append(self.rest())
        self._add(rest)
        return lines

    def rest(self) -> bytes:
        """Return the line that is not ended yet, and begin a new one."""
        line = b"".join(self._parts)
        self._parts = []
        self._kept = 0
        return line

    def _add(self, piece: bytes) -> None:
        kept = piece[: self._most - self._kept]
        self.cut += len(piece) - len(kept)
        if kept:
            self._parts.append(kept)
            self._kept += len(kept)
