"""Reads a conversation of ChatGPT's export: a tree of messages, of which the shown path comes over."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.core.text import fenced
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

_NAME = "ChatGPT"
_HIDDEN = "is_visually_hidden_from_conversation"


def _is_of(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def _chats(value: Any, words: Mapping[str, str]) -> Iterator[ForeignChat]:
    nodes: dict[str, dict[str, Any]] = {}
    for node_id, one in value["mapping"].items():
        nodes[node_id] = taken(one, dict, f"mapping.{node_id}")
    parents = {node_id: text_in(node, "parent") for node_id, node in nodes.items()}
    leaf = text_in(value, "current_node")
    if leaf not in nodes:
        leaf = _newest_leaf(nodes)
    model = text_in(value, "default_model_slug") or _NAME
    messages = []
    for node_id in path_to(leaf, parents):
        raw = nodes[node_id].get("message")
        if raw is not None:
            where = f"mapping.{node_id}.message"
            message = _message(taken(raw, dict, where), model, words, where)
            if message is not None:
                messages.append(message)
    yield ForeignChat(
        app="chatgpt",
        source_id=text_in(value, "conversation_id", "id") or leaf,
        title=text_in(value, "title"),
        messages=tuple(messages),
        created_at=moment(value.get("create_time")),
        updated_at=moment(value.get("update_time")),
    )


def _newest_leaf(nodes: Mapping[str, dict[str, Any]]) -> str:
    def made(node_id: str) -> str:
        message = nodes[node_id].get("message")
        return moment(message.get("create_time")) if isinstance(message, dict) else ""

    leaves = [node_id for node_id, node in nodes.items() if not node.get("children")]
    return max(leaves, key=made, default="")


def _message(raw: dict[str, Any], model: str, words: Mapping[str, str], where: str) -> ForeignMessage | None:
    author = taken(raw.get("author"), dict, f"{where}.author")
    role = text_in(author, "role")
    details = raw.get("metadata")
    details = details if isinstance(details, dict) else {}
    if role not in ("user", "assistant", "tool") or details.get(_HIDDEN):
        return None
    pieces = _pieces(taken(raw.get("content"), dict, f"{where}.content"), role, words, where)
    files = details.get("attachments") if role == "user" else None
    for one in taken(files or [], list, f"{where}.metadata.attachments"):
        if not text_in(one, "mime_type", "mimeType").startswith("image/"):
            pieces.append(words["file"].format(name=text_in(one, "name") or "?"))
    text = joined(pieces)
    if not text:
        return None
    name = text_in(author, "name") if role == "tool" else text_in(details, "model_slug")
    return ForeignMessage(
        by_user=role == "user", text=text, name=name or model, at=moment(raw.get("create_time"))
    )


def _pieces(content: dict[str, Any], role: str, words: Mapping[str, str], where: str) -> list[str]:
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


def _part(part: dict[str, Any], words: Mapping[str, str]) -> str:
    kind = text_in(part, "content_type")
    if kind == "audio_transcription":
        return text_in(part, "text")
    return words["picture"] if "image" in kind else words["file"].format(name=kind or "?")


CHATGPT = ForeignApp(name="chatgpt", label="ChatGPT", is_of=_is_of, chats=_chats)
