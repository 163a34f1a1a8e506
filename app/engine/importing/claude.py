"""Reads a conversation of Claude's export: messages in order, each a list of blocks."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.engine.importing.foreign import (
    ForeignApp,
    ForeignChat,
    ForeignMessage,
    joined,
    moment,
    path_to,
    taken,
    text_in,
)

_NAME = "Claude"


def _is_of(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def _chats(value: Any, words: Mapping[str, str]) -> Iterator[ForeignChat]:
    raws = [taken(one, dict, f"chat_messages[{place}]") for place, one in enumerate(value["chat_messages"])]
    model = text_in(value, "model") or _NAME
    found = (
        _message(raw, model, words, f"chat_messages[{place}]")
        for place, raw in enumerate(_shown(value, raws))
    )
    yield ForeignChat(
        app="claude",
        source_id=text_in(value, "uuid") or text_in(raws[0] if raws else {}, "uuid"),
        title=text_in(value, "name"),
        messages=tuple(message for message in found if message is not None),
        created_at=moment(value.get("created_at")),
        updated_at=moment(value.get("updated_at")),
    )


def _shown(value: dict[str, Any], raws: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages of the version that was shown, where the export says which; else all."""
    by_id = {text_in(raw, "uuid"): raw for raw in raws}
    parents = {message_id: text_in(raw, "parent_message_uuid") for message_id, raw in by_id.items()}
    leaf = text_in(value, "current_leaf_message_uuid")
    return [by_id[message_id] for message_id in path_to(leaf, parents)] or raws


def _message(raw: dict[str, Any], model: str, words: Mapping[str, str], where: str) -> ForeignMessage | None:
    sender = text_in(raw, "sender")
    if sender not in ("human", "user", "assistant"):
        return None
    blocks = taken(raw.get("content") or [], list, f"{where}.content")
    pieces = [_block(block, words) for block in blocks]
    if not joined(pieces):
        pieces = [text_in(raw, "text")]
    attachments = taken(raw.get("attachments") or [], list, f"{where}.attachments")
    for one in (*attachments, *taken(raw.get("files") or [], list, f"{where}.files")):
        name = text_in(one, "file_name")
        is_picture = text_in(one, "file_kind", "file_type").startswith("image")
        pieces.append(words["picture"] if is_picture else words["file"].format(name=name or "?"))
    text = joined(pieces)
    if not text:
        return None
    by_user = sender != "assistant"
    return ForeignMessage(by_user=by_user, text=text, name=model, at=moment(raw.get("created_at")))


def _block(block: Any, words: Mapping[str, str]) -> str:
    kind = text_in(block, "type")
    if kind == "text":
        return text_in(block, "text")
    if kind == "tool_use":
        return words["tool"].format(name=text_in(block, "name") or "?")
    return words["picture"] if kind == "image" else ""


CLAUDE = ForeignApp(name="claude", label="Claude", is_of=_is_of, chats=_chats)
