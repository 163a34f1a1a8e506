"""Reads the exports of other programs, and makes sessions of them and of Moot's own exports; pure.

ChatGPT, Claude, LobeChat and Open WebUI, in this order; each is a row of `APPS`. What is not as it should be
is BadInput that says where.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from app.core.criteria import Plan
from app.core.definitions import Agent
from app.core.errors import BadInput
from app.core.frozen import Frozen
from app.core.ids import derived_id, is_id, new_id, stamp
from app.core.json_values import as_list, as_object, read_object
from app.core.message import Author, Message, Role, limits_text, new_message
from app.core.session import AgentMode, Chat, ChatSession, Debate, DebateTools, Session, Status
from app.core.store import StoredSession
from app.core.texts import clean_text, fenced, size_text
from app.core.turns import without_approvals
from app.engine.chat.run import USER_AUTHOR
from app.engine.chat.titles import title_of
from app.engine.debate.modes import ROLES
from app.engine.export.document import MOOT_SESSION
from app.engine.prompts import Lines

Kind = TypeVar("Kind")
Found = Iterable["ForeignMessage | None"]

# Larger values are milliseconds since 1970, not seconds.
_MILLISECONDS = 100_000_000_000


class ForeignMessage(Frozen):
    """A message by the user, or by `name`. `at` is ISO 8601 in UTC, "" where it is unknown."""

    by_user: bool
    text: str
    name: str = ""
    at: str = ""


class ForeignChat(Frozen):
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


def _chat_of(
    app: str, source_id: str, title: str, found: Found, value: Mapping[str, Any], *dates: str
) -> ForeignChat:
    """Return a conversation of the messages found; `dates` name the fields of its beginning and last
    change.
    """
    begun, changed = (moment(value.get(name)) for name in dates)
    chat = ForeignChat(app=app, source_id=source_id, title=title, messages=tuple(filter(None, found)))
    return replace(chat, created_at=begun, updated_at=changed)


class ForeignApp(Frozen):
    """A program that exports: `is_of` knows its values by what is in them, `chats` reads one.

    `chats` is given the words for what cannot come over (picture, file, tool), and raises BadInput.
    """

    label: str
    is_of: Callable[[Any], bool]
    chats: Callable[[Any, Lines], Iterator[ForeignChat]]


def taken(value: Any, kind: type[Kind], where: str) -> Kind:
    """Return the value where it is of a kind. Raises BadInput that says where it is not."""
    if not isinstance(value, kind):
        detail = f"{type(value).__name__}, not {kind.__name__}"
        raise BadInput("import_wrong", where=where[:200], detail=detail)
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
        return stamp(when.astimezone(UTC))
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


def _rows(lists: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = taken(lists.get(name) or [], list, name)
    return [taken(row, dict, f"{name}[{place}]") for place, row in enumerate(rows)]


def joined(pieces: list[str]) -> str:
    """Return the pieces of a message as one text, an empty line between them."""
    return "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip())


def said(pieces: list[str], *, by_user: bool, name: str, at: Any) -> ForeignMessage | None:
    """Return a message of these pieces, None where there is nothing in them."""
    text = joined(pieces)
    return ForeignMessage(by_user=by_user, text=text, name=name, at=moment(at)) if text else None


def file_words(words: Lines, name: str, *, is_picture: bool) -> str:
    """Return what stands for a file that cannot come over."""
    return words["picture"] if is_picture else words["file"].format(name=name or "?")


_CHATGPT_NAME = "ChatGPT"
_HIDDEN = "is_visually_hidden_from_conversation"
# A mark within an answer: its kind, and what it marks.
_MARK = "\ue200"
_MARKED = re.compile("\ue200([^\ue200\ue201]*)\ue201")


def _is_chatgpt(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def _chats_of_chatgpt(value: Any, words: Lines) -> Iterator[ForeignChat]:
    nodes = {node_id: taken(item, dict, f"mapping.{node_id}") for node_id, item in value["mapping"].items()}
    parents = {node_id: text_in(node, "parent") for node_id, node in nodes.items()}
    leaf = text_in(value, "current_node")
    if leaf not in nodes:
        leaf = _newest_leaf(nodes)
    model = text_in(value, "default_model_slug") or _CHATGPT_NAME
    found = []
    for node_id in path_to(leaf, parents):
        if (raw := nodes[node_id].get("message")) is not None:
            where = f"mapping.{node_id}.message"
            found.append(_message_of_chatgpt(taken(raw, dict, where), model, words, where))
    source_id, title = text_in(value, "conversation_id", "id") or leaf, text_in(value, "title")
    yield _chat_of("chatgpt", source_id, title, found, value, "create_time", "update_time")


def _newest_leaf(nodes: Mapping[str, dict[str, Any]]) -> str:
    def made(node_id: str) -> str:
        message = nodes[node_id].get("message")
        return moment(message.get("create_time")) if isinstance(message, dict) else ""

    leaves = [node_id for node_id, node in nodes.items() if not node.get("children")]
    return max(leaves, key=made, default="")


def _message_of_chatgpt(raw: dict[str, Any], model: str, words: Lines, where: str) -> ForeignMessage | None:
    author = taken(raw.get("author"), dict, f"{where}.author")
    role = text_in(author, "role")
    details = as_object(raw.get("metadata"))
    if role not in ("user", "assistant", "tool") or details.get(_HIDDEN):
        return None
    content = taken(raw.get("content"), dict, f"{where}.content")
    recipient = text_in(raw, "recipient") if role == "assistant" else ""
    if recipient == "canmore.create_textdoc":
        pieces = [text_in(read_object(text_in(content, "text")), "content")]
    elif recipient in ("", "all", "python"):
        pieces = [_with_sources(piece, details) for piece in _pieces(content, role, words, where)]
    else:
        pieces = []  # A search, or the order for a picture.
    files = details.get("attachments") if role == "user" else None
    for item in taken(files or [], list, f"{where}.metadata.attachments"):
        if not text_in(item, "mime_type", "mimeType").startswith("image/"):
            pieces.append(file_words(words, text_in(item, "name"), is_picture=False))
    name = text_in(author, "name") if role == "tool" else text_in(details, "model_slug")
    return said(pieces, by_user=role == "user", name=name or model, at=raw.get("create_time"))


def _pieces(content: dict[str, Any], role: str, words: Lines, where: str) -> list[str]:
    kind = content.get("content_type")
    if kind in ("code", "execution_output"):
        text = text_in(content, "text")
        return [fenced(text, text_in(content, "language"))] if text else []
    if kind not in ("text", "multimodal_text"):
        return []  # What the model thought, remembered or looked up on its way.
    pieces = []
    for place, part in enumerate(taken(content.get("parts") or [], list, f"{where}.content.parts")):
        if isinstance(part, str):
            # What a tool gave back in words was for the model; its pictures were for the user.
            pieces += [] if role == "tool" else [text_in({"part": part}, "part")]
        else:
            pieces.append(_part(taken(part, dict, f"{where}.content.parts[{place}]"), words))
    return pieces


def _part(part: dict[str, Any], words: Lines) -> str:
    kind = text_in(part, "content_type")
    if kind == "audio_transcription":
        return text_in(part, "text")
    return file_words(words, kind, is_picture="image" in kind)


def _with_sources(text: str, details: dict[str, Any]) -> str:
    """Return a text with links in place of the marks of its sources, and names in place of those of
    things.
    """
    for item in as_list(details.get("content_references")):
        mark = text_in(item, "matched_text")
        if mark.startswith(_MARK):
            text = text.replace(mark, text_in(item, "alt") or _links(item.get("items")))
    return _MARKED.sub(lambda found: _name_in(found[1].rpartition("\ue202")[2]), text)


def _links(items: Any) -> str:
    found = [item for item in items or () if text_in(item, "url")]
    links = ", ".join(f"[{text_in(item, 'title', 'url')}]({text_in(item, 'url')})" for item in found)
    return f"({links})" if links else ""


def _name_in(marked: str) -> str:
    """Return what a mark names: the second of the texts in its list, "" where it has none."""
    named = as_list((read_object(f'{{"list": {marked}}}') or {}).get("list"))
    texts = [item for item in named if isinstance(item, str)]
    return texts[1] if len(texts) > 1 else ""


CHATGPT = ForeignApp(label="ChatGPT", is_of=_is_chatgpt, chats=_chats_of_chatgpt)


_CLAUDE_NAME = "Claude"


def _is_claude(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def _chats_of_claude(value: Any, words: Lines) -> Iterator[ForeignChat]:
    raws = _rows(value, "chat_messages")
    model = text_in(value, "model") or _CLAUDE_NAME
    shown = enumerate(_shown_in_claude(value, raws))
    found = (_message_of_claude(raw, model, words, f"chat_messages[{place}]") for place, raw in shown)
    source_id = text_in(value, "uuid") or text_in(raws[0] if raws else {}, "uuid")
    yield _chat_of("claude", source_id, text_in(value, "name"), found, value, "created_at", "updated_at")


def _shown_in_claude(value: dict[str, Any], raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages of the version that was shown, where the export says which; else all."""
    by_id = {text_in(raw, "uuid"): raw for raw in raws}
    parents = {message_id: text_in(raw, "parent_message_uuid") for message_id, raw in by_id.items()}
    leaf = text_in(value, "current_leaf_message_uuid")
    return [by_id[message_id] for message_id in path_to(leaf, parents)] or raws


def _message_of_claude(raw: dict[str, Any], model: str, words: Lines, where: str) -> ForeignMessage | None:
    sender = text_in(raw, "sender")
    if sender not in ("human", "user", "assistant"):
        return None
    blocks = taken(raw.get("content") or [], list, f"{where}.content")
    shown = [_block(block, words) for block in blocks]
    pieces = shown if joined(shown) else [text_in(raw, "text")]
    attachments = taken(raw.get("attachments") or [], list, f"{where}.attachments")
    files = taken(raw.get("files") or [], list, f"{where}.files")
    names = {text_in(attachment, "file_name") for attachment in attachments} - {""}
    for attachment in (*attachments, *(file for file in files if text_in(file, "file_name") not in names)):
        if pasted := text_in(attachment, "extracted_content"):
            pieces += [f"**{text_in(attachment, 'file_name')}**", fenced(pasted)]
            continue
        is_picture = text_in(attachment, "file_kind", "file_type").startswith("image")
        pieces.append(file_words(words, text_in(attachment, "file_name"), is_picture=is_picture))
    return said(pieces, by_user=sender != "assistant", name=model, at=raw.get("created_at"))


def _block(block: Any, words: Lines) -> str:
    kind = text_in(block, "type")
    if kind == "text":
        return text_in(block, "text")
    if kind == "tool_use":
        written = block.get("input")
        if text := text_in(written, "content"):
            plain = text_in(written, "type") == "text/markdown"
            return text if plain else fenced(text, text_in(written, "language"))
        return words["tool"].format(name=text_in(block, "name") or "?")
    return words["picture"] if kind == "image" else ""


CLAUDE = ForeignApp(label="Claude", is_of=_is_claude, chats=_chats_of_claude)


_LOBE_CHAT_NAME = "LobeChat"


def _lists(value: Any) -> dict[str, Any]:
    """Return what holds the lists: `state` of the browser's export, `data` of the database's."""
    if isinstance(value, dict):
        for name, beside in (("state", "version"), ("data", "schemaHash")):
            inside = value.get(name)
            if isinstance(inside, dict) and beside in value:
                return inside
    return {}


def _is_lobe_chat(value: Any) -> bool:
    return any(isinstance(_lists(value).get(name), list) for name in ("messages", "sessions", "topics"))


def _chats_of_lobe_chat(value: Any, words: Lines) -> Iterator[ForeignChat]:
    lists = _lists(value)
    sessions = {text_in(row, "id"): row for row in _rows(lists, "sessions")}
    topics = {text_in(row, "id"): row for row in _rows(lists, "topics")}
    talks: dict[tuple[str, str], list[tuple[str, ForeignMessage]]] = {}
    for place, raw in enumerate(_rows(lists, "messages")):
        topic_id = text_in(raw, "topicId")
        session_id = text_in(raw, "sessionId") or text_in(topics.get(topic_id), "sessionId")
        talk = talks.setdefault((session_id, topic_id), [])
        message = _message_of_lobe_chat(raw, sessions.get(session_id), words, f"messages[{place}]")
        if message is not None:
            talk.append((message.at, message))
    for (session_id, topic_id), talk in talks.items():
        topic, session = topics.get(topic_id, {}), sessions.get(session_id, {})
        # A sort that keeps the order of what has no date, or the same.
        found = [message for _, message in sorted(talk, key=lambda item: item[0])]
        title = text_in(topic, "title") or text_in(session.get("meta"), "title") or text_in(session, "title")
        source_id, dated = f"{session_id}/{topic_id}", topic or session
        yield _chat_of("lobe-chat", source_id, title, found, dated, "createdAt", "updatedAt")


def _message_of_lobe_chat(
    raw: dict[str, Any], session: dict[str, Any] | None, words: Lines, where: str
) -> ForeignMessage | None:
    role = text_in(raw, "role")
    if role not in ("user", "assistant"):
        return None
    pieces = [text_in({"text": taken(raw.get("content") or "", str, f"{where}.content")}, "text")]
    pictures = taken(raw.get("imageList") or [], list, f"{where}.imageList")
    files = taken(raw.get("fileList") or raw.get("files") or [], list, f"{where}.files")
    pieces += [words["picture"] for _ in pictures]
    if not pictures:
        pieces += [file_words(words, text_in(file, "name"), is_picture=False) for file in files]
    config = session.get("config") if session else None
    name = text_in(raw, "model", "fromModel") or text_in(raw.get("extra"), "fromModel")
    name = name or text_in(config, "model") or text_in(session, "model") or _LOBE_CHAT_NAME
    return said(pieces, by_user=role == "user", name=name, at=raw.get("createdAt"))


LOBE_CHAT = ForeignApp(label="LobeChat", is_of=_is_lobe_chat, chats=_chats_of_lobe_chat)


_OPEN_WEBUI_NAME = "Open WebUI"
# What the model thought is kept in the answer, folded.
_THOUGHTS = re.compile(r"<details type=\"(?:reasoning|tool_calls)\"[^>]*>.*?</details>", re.DOTALL)


def _inside(value: Any) -> dict[str, Any]:
    """Return the chat itself: exports of several wrap each one."""
    chat = value.get("chat") if isinstance(value, dict) else None
    return chat if isinstance(chat, dict) else value


def _is_open_webui(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    chat = _inside(value)
    has_tree = isinstance(as_object(chat.get("history")).get("messages"), dict)
    return has_tree or (chat is not value and isinstance(chat.get("messages"), list))


def _chats_of_open_webui(value: Any, words: Lines) -> Iterator[ForeignChat]:
    chat = _inside(value)
    models = as_list(chat.get("models"))
    named = models[0] if models and isinstance(models[0], str) else _OPEN_WEBUI_NAME
    found = (_message_of_open_webui(raw, named, words, where) for where, raw in _shown_in_open_webui(chat))
    source_id = text_in(value, "id") or text_in(chat, "id") or f"{chat.get('timestamp')}{named}"
    title = text_in(value, "title") or text_in(chat, "title")
    whole = _chat_of("open-webui", source_id, title, found, value, "created_at", "updated_at")
    yield replace(whole, created_at=whole.created_at or moment(chat.get("timestamp")))


def _shown_in_open_webui(chat: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    history = as_object(chat.get("history"))
    if tree := as_object(history.get("messages")):
        places = {name: f"history.messages.{name}" for name in tree}
        nodes = {name: taken(node, dict, places[name]) for name, node in tree.items()}
        parents = {name: text_in(node, "parentId") for name, node in nodes.items()}
        leaf = text_in(history, "currentId")
        if leaf not in nodes:
            leaf = max(nodes, key=lambda name: moment(nodes[name].get("timestamp")))
        return [(places[name], nodes[name]) for name in path_to(leaf, parents)]
    return [(f"messages[{place}]", row) for place, row in enumerate(_rows(chat, "messages"))]


def _message_of_open_webui(
    raw: dict[str, Any], named: str, words: Lines, where: str
) -> ForeignMessage | None:
    role = text_in(raw, "role")
    if role not in ("user", "assistant"):
        return None
    content = raw.get("content")
    if isinstance(content, list):
        pieces = [text_in(part, "text") or words["picture"] for part in content]
    else:
        pieces = [text_in({"text": taken(content or "", str, f"{where}.content")}, "text")]
    if role == "assistant":
        pieces = [_THOUGHTS.sub("", piece) for piece in pieces]
    for item in taken(raw.get("files") or [], list, f"{where}.files"):
        is_picture = text_in(item, "type") == "image"
        pieces.append(file_words(words, text_in(item, "name"), is_picture=is_picture))
    name = text_in(raw, "modelName", "model") or named
    return said(pieces, by_user=role == "user", name=name, at=raw.get("timestamp"))


OPEN_WEBUI = ForeignApp(label="Open WebUI", is_of=_is_open_webui, chats=_chats_of_open_webui)


APPS: tuple[ForeignApp, ...] = (CHATGPT, CLAUDE, OPEN_WEBUI, LOBE_CHAT)
MOOT = "Moot"


class Arrival(Frozen):
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

    def besides(self, words: Callable[..., str]) -> list[str]:
        """Return what it brings besides its messages that models would be sent, or
        that says what they may do.
        """
        session = self.make()[0] if self.app == MOOT else None
        if session is None or (state := session.debate or session.chat) is None:
            return []
        work = session.workflow
        steps = work.definition.steps if work is not None else ()
        voices = [(step.name, step.prompt) for step in steps]
        means = [text for step in steps for text in step.done_means]
        means += [criterion.text for criterion in session.all_criteria()]
        plan = session.plan or Plan()
        todo = [plan.goal, *(item.text for item in plan.items)]
        sizes = [(item.name, size_text(words, len(item.text or item.data))) for item in state.context]
        found = [("folder.instructions", state.instructions)]
        if isinstance(state, Debate):
            own = ((item, own_role(item.role)) for item in state.participants)
            voices = [(item.name, item.system_prompt or item.persona or role) for item, role in own]
            if state.tools in (DebateTools.READING, DebateTools.OWN):
                found.append(("setup.tools", words(f"setup.tools.{state.tools}")))
        else:
            found += [("import.waiting", queued.text) for queued in state.queue]
            found += [("import.mode", words("top.settings_mode"))] if state.mode != AgentMode.DEFAULT else []
            found.append(("limits.title.run", limits_text(words, state.limits) if state.limits else ""))
            models = state.model, state.choice.model if state.choice else ""
            found.append(("assistant.field.model", ", ".join(filter(None, models))))
        found += [("folder.instructions", f"{name}: {told}") for name, told in voices if told]
        found += [("folder.files", f"{name} ({size})") for name, size in sizes]
        found += [("criteria.title", "; ".join(means)), ("plan.title", "; ".join(filter(None, todo)))]
        return [f"{words(key)}: {text}" for key, text in found if text]


def own_role(role: str) -> str:
    """Return a role in a debate that is not one of Moot's own but somebody's words, "" for another."""
    return "" if role in ROLES else role


def messages_alone(session: Session) -> Session:
    """Return a session of an import without what `Arrival.besides` names."""
    session = replace(session.without_folder, plan=None, criteria=())
    if (work := session.workflow) is not None:
        steps = tuple(replace(step, prompt="", done_means=()) for step in work.definition.steps)
        work = replace(work, definition=replace(work.definition, steps=steps))
        session = replace(session, workflow=work)
    if session.debate is not None:
        voiceless = tuple(
            replace(item, persona="", system_prompt="", role="" if own_role(item.role) else item.role)
            for item in session.debate.participants
        )
        debate = replace(session.debate, participants=voiceless, context=(), tools=DebateTools.NONE)
        return replace(session, debate=debate)
    if session.chat is not None:
        chosen = replace(session.chat, provider="", model="", choice=None)
        return replace(session, chat=replace(chosen, queue=(), mode=AgentMode.DEFAULT, limits=None))
    return session


class Arrivals(Frozen):
    """The contents of an imported file; `faults` say what could not be read, and where."""

    name: str
    sessions: tuple[Arrival, ...]
    faults: tuple[BadInput, ...] = ()

    @property
    def fresh(self) -> tuple[Arrival, ...]:
        """Those that are not here yet."""
        return tuple(session for session in self.sessions if not session.known)


class Surroundings(Frozen):
    """What sessions are made with: the texts of the language, the assistant to use, and the ids
    that are taken.
    """

    words: Lines
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
            for arrival in some or ():
                found.setdefault(arrival.session_id, arrival)
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
    # Of what comes from a file nobody knows who answered.
    source = stored.session.source or f"{MOOT.lower()}/{stored.session.id}"[:200]
    session = replace(stored.session, source=source)
    if not is_id(session.id) or session.id in around.taken:
        session = replace(session, id=new_id())
    # Nobody sees these parts of a message, though models are sent them.
    seen = [replace(message, told="", provider_state=None) for message in stored.messages]
    cleared = without_approvals(session, seen)
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
    for item in chat.messages:
        author = USER_AUTHOR if item.by_user else Author(id=chat.app, name=item.name, path=(chat.app,))
        role, at = Role.USER if item.by_user else Role.ASSISTANT, item.at or chat.created_at
        message = new_message(role, author, content=item.text, follows=before, created_at=at)
        before = message.turn_id
        messages.append(message)
    who = agent or Agent(id="", name="")
    session = ChatSession(
        id=chat.session_id,
        title=_title(chat),
        status=Status.IDLE,
        created_at=chat.created_at or messages[0].created_at,
        updated_at=messages[-1].created_at or chat.updated_at,
        source=f"{chat.app}/{chat.source_id}"[:200],
        chat=Chat(assistant_id=who.id, assistant_name=who.name, head=before, language=language),
    )
    return session, messages
