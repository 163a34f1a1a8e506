"""The items of a request: a message's files as a model is sent them, and neighbours of one role joined; pure.

A file is sent as text, as pictures, or a PDF file itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeGuard

from app.core.files import LONG_TEXT, PDF, first_pages, numbered, page_count, pages_of, with_page_numbers
from app.core.message import Attachment, Message, Role
from app.core.model_facts import ModelFacts
from app.core.pictures import can_be_sent
from app.core.texts import amount_text
from app.core.tool import READ_FILE_PART
from app.engine.history import content_tokens, tokens_of
from app.engine.library.agents import AgentModel

Item = dict[str, object]

# How much of a model's window a file may take.
_SHARE = 0.25


def user_content(
    message: Message, words: Mapping[str, str], model: AgentModel, *, partly: bool
) -> str | list[Item]:
    """Return what the user said with its files as a model takes them: itself, as pictures, or as text.

    With `partly` the model can read on where it is given only the beginning of a long text.
    """
    texts = [message.content] if message.content.strip() else []
    files: list[Item] = []
    pictures: list[Item] = []
    for attachment in (as_taken(one, model) for one in message.attachments):
        title = words["attachment"].format(name=" ".join(attachment.name.split()))
        parts = _seen_parts(attachment)
        if attachment.data and attachment.media_type == PDF:
            files += parts
        elif parts:
            texts += [title] if attachment.pages else []
            pictures += parts
        else:
            text = _file_text(attachment, words, model, partly=partly)
            unseen = (
                words["image_unseen"] if attachment.media_type.startswith("image/") else attachment.media_type
            )
            texts.append(f"{title}\n{(text.strip() and text) or unseen}")
    text = "\n\n".join(texts) or "…"
    if not (files or pictures):
        return text
    return [*files, {"type": "text", "text": text}, *pictures]


def returned_pictures(results: Sequence[Message], words: Mapping[str, str], model: AgentModel) -> list[Item]:
    """Return what a model is sent of the pictures that its tools returned: nothing, or one item as the user's.

    Most providers take only text as a tool's result, and all take pictures from the user.
    """
    taken = [one for result in results for one in result.attachments if can_be_sent(one.media_type, one.data)]
    if not taken or not model.images:
        return []
    names = ", ".join(" ".join(one.name.split()) for one in taken)
    said = {"type": "text", "text": words["returned_pictures"].format(names=names)}
    return [
        {"role": Role.USER, "content": [said, *(_picture_part(one.media_type, one.data) for one in taken)]}
    ]


def as_taken(file: Attachment, model: AgentModel) -> Attachment:
    """Return a file with what a model takes of it: a PDF file or a picture itself, pictures of its pages, or its text alone."""
    if file.data and (model.pdf if file.media_type == PDF else model.images):
        return replace(file, pages=())
    return replace(file, data="", pages=file.pages if model.images else ())


def with_seen(files: Sequence[Attachment], content: object) -> object:
    """Return the content that names context files `as_taken`, after those of them that the model sees."""
    seen = [part for file in files for part in _seen_parts(file)]
    return [*seen, *parts_of(content)] if seen else content


def context_text(file: Attachment, words: Mapping[str, str]) -> str:
    """Return the text of a context file `as_taken`; for one that the model sees, that it does."""
    if file.pages:
        return words["file_pages"].format(count=len(file.pages))
    return words["file_itself"] if file.data else with_page_numbers(file.text.strip(), words["page"])


class LookCost(NamedTuple):
    """What a file that is sent as it looks takes of a model's window with each request: tokens, percent, and dollars, None
    where the price is not known.
    """

    tokens: int
    percent: int
    usd: float | None


def seen_tokens(attachment: Attachment, model: AgentModel) -> int:
    """Return the tokens of what a model sees of a file, 0 where it reads the text."""
    return content_tokens(_seen_parts(as_taken(attachment, model)), model.model)


def look_cost(
    attachment: Attachment, models: Sequence[AgentModel], facts: Callable[[str, str], ModelFacts]
) -> LookCost | None:
    """Return what a file as it looks takes of the window of which it takes most, None where that is a quarter at most."""
    taken = [(seen_tokens(attachment, one), one) for one in models if one.window]
    large = [(tokens, one) for tokens, one in taken if tokens > _SHARE * one.window]
    if not large:
        return None
    tokens, model = max(large, key=lambda found: found[0] / found[1].window)
    prices = facts(model.provider, model.model).prices
    return LookCost(tokens, round(100 * tokens / model.window), prices.read * tokens if prices else None)


def look_words(cost: LookCost, name: str, words: Callable[..., str]) -> str:
    """Return the warning that a file as it looks takes much of a model's window."""
    said = words("chat.look.large", name=name, tokens=f"{cost.tokens:,}", percent=cost.percent)
    price = words("chat.look.price", amount=amount_text(cost.usd)) if cost.usd else ""
    return " ".join(filter(None, (said, price)))


def files_text(files: Sequence[Attachment], words: Mapping[str, str], model: AgentModel) -> str:
    """Return files that a whole conversation is given, as text; all of them take no more than a part of the window."""
    most = int(model.window * _SHARE / len(files)) if model.window else LONG_TEXT
    texts = []
    for file in files:
        cut = len(file.text) > most and tokens_of(file.text, model.model) > most
        text = file.text[:most] + "\n…" if cut else file.text
        texts.append(
            f"{words['attachment'].format(name=file.name)}\n{with_page_numbers(text, words['page'])}"
        )
    return "\n\n".join(texts)


def is_long(text: str, model: AgentModel) -> bool:
    """Say whether a model that can read parts of a file gets only the beginning of this one."""
    if not model.window:
        return len(text) > LONG_TEXT
    room = model.window * _SHARE
    # No character has more than two tokens: most texts need not be counted.
    return len(text) * 2 > room and tokens_of(text, model.model) > room


def _picture_part(media_type: str, data: str) -> Item:
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}


def _seen_parts(file: Attachment) -> list[Item]:
    """Return what a model sees of a file `as_taken`: nothing where it reads the text."""
    if file.data:
        return [_pdf_part(file) if file.media_type == PDF else _picture_part(file.media_type, file.data)]
    return [_picture_part("image/jpeg", page) for page in file.pages]


def _pdf_part(attachment: Attachment) -> Item:
    """Return a PDF file as providers take it; the number of its pages is for the estimate of its tokens."""
    url = f"data:{PDF};base64,{attachment.data}"
    return {
        "type": "file",
        "file": {"filename": " ".join(attachment.name.split()), "file_data": url},
        "pages": page_count(attachment),
    }


def _file_text(attachment: Attachment, words: Mapping[str, str], model: AgentModel, *, partly: bool) -> str:
    """Return the text of a file; with `partly`, of a long one only the beginning and how to read on."""
    if not partly or not is_long(attachment.text, model):
        return with_page_numbers(attachment.text, words["page"])
    shown = first_pages(attachment.text)
    more = words["file_long"].format(
        shown=len(shown), pages=len(pages_of(attachment.text)), tool=READ_FILE_PART
    )
    return f"{numbered(shown, words['page'])}\n\n{more}"


def merged(items: Sequence[Item]) -> list[Item]:
    """Return the items with neighbours of one role as one; calls and their results stay alone."""
    found: list[Item] = []
    for item in items:
        last = found[-1] if found else None
        plain = item["role"] != Role.TOOL and "tool_calls" not in item
        if last is None or last["role"] != item["role"] or not plain or "tool_calls" in last:
            found.append(item)
        else:
            # Of two answers the first keeps its provider's state, which belongs in front.
            found[-1] = {**last, "content": _joined(last["content"], item["content"])}
    return found


def as_transcript(items: Sequence[Item]) -> str:
    """Return the items as one text, for a model that has not read them before."""
    said = []
    for item in items:
        texts = [str(part["text"]) for part in parts_of(item["content"]) if _is_text(part)]
        calls = item.get("tool_calls")
        texts += [str(call["function"]) for call in calls] if isinstance(calls, list) else []
        said.append(f"[{item['role']}]\n" + "\n".join(texts))
    return "\n\n".join(said)


def _is_text(part: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(part, Mapping) and bool(part.get("text"))


def _joined(first: object, second: object) -> object:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*parts_of(first), *parts_of(second)]


def parts_of(content: object) -> list[object]:
    """Return the content of an item as a list of its texts and pictures."""
    return list(content) if isinstance(content, list) else [{"type": "text", "text": content}]
