"""What a document for people consists of, whatever it is written as: Markdown, a page of HTML, or a PDF."""

from collections.abc import Iterator

from app.core.frozen import Frozen
from app.core.message import Attachments

# As in the window's light theme.
_SPEAKERS = ("#0C7A60", "#AB5030", "#2466D1", "#7A4FC4", "#8A6100", "#B03A78", "#00728A", "#5B6B1F")
USER, QUIET = "#1f1e1b", "#66635b"

# What a file of the JSON export says it is.
MOOT_SESSION = "moot-session"


class Citation(Frozen, kw_only=False):
    """A message that a sentence cites: how it is named, and the `anchor` of its entry."""

    text: str
    anchor: str


class ListItem(Frozen):
    """An item of a list, with what it cites; `done` says whether its box is ticked, None
    for an item without a box. What has several lines is a `body` below it, as Markdown.
    """

    text: str = ""
    body: str = ""
    cites: tuple[Citation, ...] = ()
    colour: str = ""
    done: bool | None = None


class Curve(Frozen, kw_only=False):
    """A participant's votes in the order of a chart's columns: the place of a level, None
    where there is none.
    """

    colour: str
    votes: tuple[int | None, ...]


class Chart(Frozen):
    """Votes as a picture: `levels` names the options from its top to its bottom, `columns`
    when each vote was.
    """

    title: str
    levels: tuple[str, ...]
    columns: tuple[str, ...]
    curves: tuple[Curve, ...]


class DocumentHead(Frozen):
    """The title of a document, its language (a code such as "ko") and the facts about it with their
    labels.
    """

    title: str
    language: str
    facts: tuple[tuple[str, str], ...]


class Section(Frozen):
    """A heading with what stands below it: a sentence, a list, a chart, files."""

    heading: str
    text: str = ""
    lines: tuple[ListItem, ...] = ()
    chart: Chart | None = None
    files: Attachments = ()


class Entry(Frozen):
    """What one message or call shows: its text as Markdown, its attachments, and notes below it.

    The text opens no fence of code that it does not close. `depth` is that of the sub-agent that wrote it;
    `anchor` is what citations lead to, "" for nothing.
    """

    heading: str
    body: str = ""
    notes: tuple[str, ...] = ()
    files: Attachments = ()
    colour: str = QUIET
    depth: int = 0
    anchor: str = ""


DocumentPart = DocumentHead | Section | Entry
# In the order of reading, the head first.
DocumentParts = Iterator[DocumentPart]


def colour_of(place: int) -> str:
    """Return the colour of a speaker by the place in the order of speaking."""
    return _SPEAKERS[place % len(_SPEAKERS)]
