"""Makes sessions of imported files: other programs' conversations and Moot's own exports."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core.agent import Agent
from app.core.approvals import without_approvals
from app.core.errors import BadInput
from app.core.ids import is_id, new_id
from app.core.message import Author, Message, Role
from app.core.session import Chat, ChatSession, Session, Status
from app.core.store import StoredSession
from app.engine.chat.input import title_of
from app.engine.chat.run import USER_AUTHOR
from app.engine.export.document import MOOT_SESSION
from app.engine.importing.chatgpt import CHATGPT
from app.engine.importing.claude import CLAUDE
from app.engine.importing.foreign import ForeignApp, ForeignChat
from app.engine.importing.lobe_chat import LOBE_CHAT
from app.engine.importing.open_webui import OPEN_WEBUI

APPS: tuple[ForeignApp, ...] = (CHATGPT, CLAUDE, OPEN_WEBUI, LOBE_CHAT)
MOOT = "Moot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One session a file would bring: what a list says of it, and how it is made.

    `app` is the program's name. `known` says that it is here already and is left alone; `unapproved` that
    permissions or open tool calls of it are not taken over.
    """

    app: str
    session_id: str
    title: str
    messages: int
    first: str
    last: str
    known: bool
    make: Callable[[], tuple[Session, Sequence[Message]]]
    unapproved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """The contents of an imported file; `faults` say what could not be read, and where."""

    name: str
    sessions: tuple[Arrival, ...]
    faults: tuple[BadInput, ...] = ()

    @property
    def fresh(self) -> tuple[Arrival, ...]:
        """Those that are not here yet."""
        return tuple(one for one in self.sessions if not one.known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What sessions are made with: the texts of the language, the assistant to use, and the ids that are taken."""

    words: Mapping[str, str]
    language: str
    agent: Agent | None
    taken: Collection[str]
    read_exported: Callable[[object, Sequence[object]], StoredSession]


def arrivals(name: str, values: Iterable[Any], around: Surroundings) -> Arrivals:
    """Return the sessions of a file's values, each once. Raises BadInput where there is none.

    Each value is released before the next one is read, so that a large file is not in memory twice.
    """
    found: dict[str, Arrival] = {}
    faults: list[BadInput] = []
    recognised = False
    for place, value in enumerate(values):
        try:
            some = _of_value(value, around)
            recognised = recognised or some is not None
            for one in some or ():
                found.setdefault(one.session_id, one)
        except BadInput as error:
            recognised = True
            details = {**error.details, "where": f"[{place}] {error.details.get('where', '')}"}
            faults.append(BadInput(error.code, **details))
    if not found and faults:
        raise faults[0]
    if not found:
        raise BadInput("import_nothing" if recognised else "import_unknown", name=name)
    return Arrivals(name=name, sessions=tuple(found.values()), faults=tuple(faults))


def _of_value(value: Any, around: Surroundings) -> list[Arrival] | None:
    """Return the sessions in a value; None for an unknown format."""
    if isinstance(value, dict) and value.get("format") == MOOT_SESSION:
        return [_of_moot(value, around)]
    for app in APPS:
        if app.is_of(value):
            chats = app.chats(value, around.words)
            return [_of_chat(app, chat, around) for chat in chats if chat.messages]
    return None


def _of_moot(value: dict[str, Any], around: Surroundings) -> Arrival:
    """Return a session of Moot's own, without approvals; under another id where its own is taken."""
    messages = value.get("messages")
    stored = around.read_exported(value.get("session"), messages if isinstance(messages, list) else [])
    session = stored.session
    if not is_id(session.id) or session.id in around.taken:
        session = replace(session, id=new_id())
    cleared = without_approvals(session, stored.messages)
    return Arrival(
        app=MOOT,
        session_id=session.id,
        title=session.title,
        messages=len(stored.messages),
        first=session.created_at,
        last=session.updated_at,
        known=False,
        make=lambda: (cleared.session, cleared.messages),
        unapproved=cleared.session != session or bool(cleared.written),
    )


def _of_chat(app: ForeignApp, chat: ForeignChat, around: Surroundings) -> Arrival:
    dates = sorted(filter(None, (message.at for message in chat.messages)))
    return Arrival(
        app=app.label,
        session_id=chat.session_id,
        title=_title(chat),
        messages=len(chat.messages),
        first=chat.created_at or (dates[0] if dates else ""),
        last=(dates[-1] if dates else "") or chat.updated_at,
        known=chat.session_id in around.taken,
        make=lambda: session_of(chat, around.agent, around.language),
    )


def _title(chat: ForeignChat) -> str:
    return title_of(chat.title, ()) or title_of(chat.messages[0].text, ())


def session_of(chat: ForeignChat, agent: Agent | None, language: str) -> tuple[ChatSession, list[Message]]:
    """Return a conversation as a chat with an assistant that goes on where it ended."""
    messages: list[Message] = []
    before = ""
    for one in chat.messages:
        author = USER_AUTHOR if one.by_user else Author(id=chat.app, name=one.name, path=(chat.app,))
        message = Message(
            id=new_id(),
            turn_id=new_id(),
            role=Role.USER if one.by_user else Role.ASSISTANT,
            author=author,
            content=one.text,
            follows=before,
            created_at=one.at or chat.created_at,
        )
        before = message.turn_id
        messages.append(message)
    session = ChatSession(
        id=chat.session_id,
        title=_title(chat),
        status=Status.IDLE,
        created_at=chat.created_at or messages[0].created_at,
        updated_at=messages[-1].created_at or chat.updated_at,
        source=f"{chat.app}/{chat.source_id}"[:200],
        chat=Chat(
            assistant_id=agent.id if agent else "",
            assistant_name=agent.name if agent else "",
            head=before,
            language=language,
        ),
    )
    return session, messages
