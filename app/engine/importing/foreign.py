"""A conversation of another program as Moot takes it in, and how the pieces of its export are read.

Used by the readers of each program's export: what is not as it should be is BadInput that says where.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from app.core.errors import BadInput
from app.core.ids import derived_id
from app.core.text import clean_text

Kind = TypeVar("Kind")

# Larger values are milliseconds since 1970, not seconds.
_MILLISECONDS = 100_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMessage:
    """A message by the user, or by `name`. `at` is ISO 8601 in UTC, "" where it is unknown."""

    by_user: bool
    text: str
    name: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignChat:
    """A conversation: `app` is the program it comes from, `source_id` its id there."""

    app: str
    source_id: str
    title: str
    messages: tuple[ForeignMessage, ...]
    created_at: str = ""
    updated_at: str = ""

    @property
    def session_id(self) -> str:
        """The id its session has here, the same whenever it is brought in."""
        return derived_id(self.app, self.source_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignApp:
    """A program that exports: `is_of` knows its values by what is in them, `chats` reads one.

    `chats` is given the words for what cannot come over (picture, file, tool), and raises BadInput.
    """

    name: str
    label: str
    is_of: Callable[[Any], bool]
    chats: Callable[[Any, Mapping[str, str]], Iterator[ForeignChat]]


def taken(value: Any, kind: type[Kind], where: str) -> Kind:
    """Return the value where it is of a kind. Raises BadInput that says where it is not."""
    if not isinstance(value, kind):
        raise BadInput(
            "import_wrong", where=where[:200], detail=f"{type(value).__name__}, not {kind.__name__}"
        )
    return value


def text_in(value: Any, *names: str) -> str:
    """Return the first of these fields that is a text with something in it, "" where none is."""
    for name in names:
        found = value.get(name) if isinstance(value, dict) else None
        if isinstance(found, str) and found.strip():
            return clean_text(found)
    return ""


def moment(value: Any) -> str:
    """Return a date as it is kept, from seconds or milliseconds since 1970 or ISO 8601; "" for none."""
    try:
        if isinstance(value, str):
            when = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            when = datetime.fromtimestamp(value / 1_000 if value > _MILLISECONDS else value, UTC)
        else:
            return ""
        return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return ""


def path_to(leaf: str, parents: Mapping[str, str]) -> list[str]:
    """Return the ids from the first to a leaf of a tree, given each one's parent; a ring ends it."""
    found: list[str] = []
    seen: set[str] = set()
    while leaf in parents and leaf not in seen:
        seen.add(leaf)
        found.append(leaf)
        leaf = parents[leaf]
    return found[::-1]


def joined(pieces: list[str]) -> str:
    """Return the pieces of a message as one text, an empty line between them."""
    return "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip())
