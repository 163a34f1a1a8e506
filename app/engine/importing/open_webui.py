"""Reads a chat of Open WebUI's export: a tree of messages, of which the shown path comes over."""

import re
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

_NAME = "Open WebUI"
# What the model thought is kept in the answer, folded.
_THOUGHTS = re.compile(r"<details type=\"reasoning\"[^>]*>.*?</details>", re.DOTALL)


def _inside(value: Any) -> dict[str, Any]:
    """Return the chat itself: exports of several wrap each one."""
    chat = value.get("chat") if isinstance(value, dict) else None
    return chat if isinstance(chat, dict) else value


def _is_of(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    chat = _inside(value)
    history = chat.get("history")
    has_tree = isinstance(history, dict) and isinstance(history.get("messages"), dict)
    return has_tree or (chat is not value and isinstance(chat.get("messages"), list))


def _chats(value: Any, words: Mapping[str, str]) -> Iterator[ForeignChat]:
    chat = _inside(value)
    models = chat.get("models")
    named = models[0] if isinstance(models, list) and models and isinstance(models[0], str) else _NAME
    found = (_message(raw, named, words, where) for where, raw in _shown(chat))
    messages = tuple(message for message in found if message is not None)
    yield ForeignChat(
        app="open-webui",
        source_id=text_in(value, "id") or text_in(chat, "id") or f"{chat.get('timestamp')}{named}",
        title=text_in(value, "title") or text_in(chat, "title"),
        messages=messages,
        created_at=moment(value.get("created_at")) or moment(chat.get("timestamp")),
        updated_at=moment(value.get("updated_at")),
    )


def _shown(chat: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    history = chat.get("history")
    tree = history.get("messages") if isinstance(history, dict) else None
    if isinstance(tree, dict) and tree:
        places = {name: f"history.messages.{name}" for name in tree}
        nodes = {name: taken(node, dict, places[name]) for name, node in tree.items()}
        parents = {name: text_in(node, "parentId") for name, node in nodes.items()}
        leaf = text_in(history, "currentId")
        if leaf not in nodes:
            leaf = max(nodes, key=lambda name: moment(nodes[name].get("timestamp")))
        return [(places[name], nodes[name]) for name in path_to(leaf, parents)]
    listed = taken(chat.get("messages") or [], list, "messages")
    return [
        (f"messages[{place}]", taken(one, dict, f"messages[{place}]")) for place, one in enumerate(listed)
    ]


def _message(raw: dict[str, Any], named: str, words: Mapping[str, str], where: str) -> ForeignMessage | None:
    role = text_in(raw, "role")
    if role not in ("user", "assistant"):
        return None
    content = raw.get("content")
    pieces = []
    if isinstance(content, list):
        for part in content:
            pieces.append(text_in(part, "text") or words["picture"])
    else:
        pieces.append(text_in({"text": taken(content or "", str, f"{where}.content")}, "text"))
    if role == "assistant":
        pieces = [_THOUGHTS.sub("", piece) for piece in pieces]
    for one in taken(raw.get("files") or [], list, f"{where}.files"):
        is_picture = text_in(one, "type") == "image"
        pieces.append(
            words["picture"] if is_picture else words["file"].format(name=text_in(one, "name") or "?")
        )
    text = joined(pieces)
    if not text:
        return None
    name = text_in(raw, "modelName", "model") or named
    return ForeignMessage(by_user=role == "user", text=text, name=name, at=moment(raw.get("timestamp")))


OPEN_WEBUI = ForeignApp(name="open-webui", label="Open WebUI", is_of=_is_of, chats=_chats)
