"""Reads LobeChat's export: lists of sessions, topics and messages; each topic is a conversation."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.engine.importing.foreign import (
    ForeignApp,
    ForeignChat,
    ForeignMessage,
    joined,
    moment,
    taken,
    text_in,
)

_NAME = "LobeChat"


def _lists(value: Any) -> dict[str, Any]:
    """Return what holds the lists: `state` of the browser's export, `data` of the database's."""
    if isinstance(value, dict):
        for name, beside in (("state", "version"), ("data", "schemaHash")):
            inside = value.get(name)
            if isinstance(inside, dict) and beside in value:
                return inside
    return {}


def _is_of(value: Any) -> bool:
    return any(isinstance(_lists(value).get(name), list) for name in ("messages", "sessions", "topics"))


def _chats(value: Any, words: Mapping[str, str]) -> Iterator[ForeignChat]:
    lists = _lists(value)
    sessions = {text_in(one, "id"): one for one in _rows(lists, "sessions")}
    topics = {text_in(one, "id"): one for one in _rows(lists, "topics")}
    talks: dict[tuple[str, str], list[tuple[str, ForeignMessage]]] = {}
    for place, raw in enumerate(_rows(lists, "messages")):
        topic_id = text_in(raw, "topicId")
        session_id = text_in(raw, "sessionId") or text_in(topics.get(topic_id), "sessionId")
        talk = talks.setdefault((session_id, topic_id), [])
        message = _message(raw, sessions.get(session_id), words, f"messages[{place}]")
        if message is not None:
            talk.append((message.at, message))
    for (session_id, topic_id), talk in talks.items():
        topic, session = topics.get(topic_id, {}), sessions.get(session_id, {})
        # A sort that keeps the order of what has no date, or the same.
        messages = tuple(message for _, message in sorted(talk, key=lambda one: one[0]))
        yield ForeignChat(
            app="lobe-chat",
            source_id=f"{session_id}/{topic_id}",
            title=text_in(topic, "title")
            or text_in(session.get("meta"), "title")
            or text_in(session, "title"),
            messages=messages,
            created_at=moment((topic or session).get("createdAt")),
            updated_at=moment((topic or session).get("updatedAt")),
        )


def _rows(lists: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = taken(lists.get(name) or [], list, name)
    return [taken(one, dict, f"{name}[{place}]") for place, one in enumerate(rows)]


def _message(
    raw: dict[str, Any], session: dict[str, Any] | None, words: Mapping[str, str], where: str
) -> ForeignMessage | None:
    role = text_in(raw, "role")
    if role not in ("user", "assistant"):
        return None
    pieces = [text_in({"text": taken(raw.get("content") or "", str, f"{where}.content")}, "text")]
    pictures = taken(raw.get("imageList") or [], list, f"{where}.imageList")
    files = taken(raw.get("fileList") or raw.get("files") or [], list, f"{where}.files")
    pieces += [words["picture"] for _ in pictures]
    if not pictures:
        pieces += [words["file"].format(name=text_in(one, "name") or "?") for one in files]
    text = joined(pieces)
    if not text:
        return None
    config = session.get("config") if session else None
    name = text_in(raw, "model", "fromModel") or text_in(raw.get("extra"), "fromModel")
    name = name or text_in(config, "model") or text_in(session, "model") or _NAME
    return ForeignMessage(by_user=role == "user", text=text, name=name, at=moment(raw.get("createdAt")))


LOBE_CHAT = ForeignApp(name="lobe-chat", label="LobeChat", is_of=_is_of, chats=_chats)
