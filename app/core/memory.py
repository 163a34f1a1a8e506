"""What assistants remember: notes that the user has agreed to, and proposals that wait for the user."""

from enum import StrEnum
from typing import Final

from app.core.frozen import Frozen
from app.core.texts import Texts

# The tool that proposes a note, and its set, which only the user's own chats and groups are given.
REMEMBER: Final = "remember"
MOST_NOTES: Final = 1_000
# How many characters a note may have.
MAX_NOTE: Final = 500
# How many tokens of notes a model is told, the newest notes first.
MOST_TOLD: Final = 4_000
# How many notes may be proposed in one answer.
MOST_PROPOSALS: Final = 3


class Origin(StrEnum):
    """Where a note is from; each has a text `memory.from.<origin>`."""

    TYPED = "typed"
    CHAT = "chat"
    FILE = "file"
    PAGE = "page"
    TOOL = "tool"


class SaidToProposal(StrEnum):
    """What the user said to a proposal; an open one has none."""

    KEPT = "kept"
    REFUSED = "refused"


class Note(Frozen):
    """Something to remember, for the assistant of the id `agent`, or for all in the folder of the id
    `folder`.

    Only models of this computer are told one that is `local`. `origin` says where it is from and `source`
    what that is called: a file, an address, a tool; `title` is that of the session in which it was proposed.
    `at` is when it was kept (ISO 8601). The result of a call holds one that is only proposed, without an id
    and a title, with the user's `answer`, a SaidToProposal, "" while it waits; `local` then says whether the
    model that proposed it is on this computer. Once it is kept it has the id of that message.
    """

    id: str
    text: str
    agent: str = ""
    folder: str = ""
    local: bool = False
    origin: str = Origin.TYPED
    source: str = ""
    title: str = ""
    at: str = ""
    answer: str = ""


def origin_text(texts: Texts, note: Note) -> str:
    """Return where a note is from, for people; of a page the address without its scheme."""
    key, name = f"memory.from.{note.origin}", note.title if note.origin == Origin.CHAT else note.source
    name = texts(f"tool.{name}.name") if f"tool.{name}.name" in texts else name
    return texts(key if key in texts else "unknown", name=name.partition("://")[2] or name)
