"""What a row says about its message besides the text: chips, seconds, why it was this speaker's turn, errors."""

from datetime import datetime

from app.core.message import Message, MessageState
from app.core.texts import Texts
from app.core.usage import Total, money_text, used_text
from app.gui.markdown.blocks import clean
from app.gui.transcript.row_header import Chip

CUT = ("truncated", "length")

QUIET = ("in_order", "only_one", "open_floor")
"""Reasons to speak that tell a reader nothing new; they stand in the tip only."""

ORCHESTRATOR = "orchestrator"

GUIDED = "guided"
"""Reason of a message whose calls Moot made with the model's words; it is a chip."""

SHORTEST_SHOWN_S = 0.05


def chips_of(
    message: Message, role: str, texts: Texts, *, model: bool, begun: bool, chat: bool = False
) -> list[Chip]:
    """Return a message's chips; `model` shows its model too, `begun` says whether it has text yet.

    In a `chat` the one who writes is told by the caret alone.
    """
    leads = message.author.kind == ORCHESTRATOR
    chips = [Chip(role, "accent" if leads else "plain")] if role else []
    name = model_of(message)
    if model and name and not leads:
        chips.append(Chip(name))
    if message.why == GUIDED:
        chips.append(Chip(texts("why.guided")))
    if message.state == MessageState.STREAMING and chat:
        return chips
    if message.state == MessageState.STREAMING:
        thinking = bool(message.thinking) and not begun
        chips.append(Chip(texts("transcript.thinking" if thinking else "transcript.speaking"), "accent"))
    elif message.state == MessageState.STOPPED:
        chips.append(Chip(texts("transcript.stopped"), "warn"))
    elif message.state == MessageState.FAILED:
        chips.append(Chip(texts("transcript.failed_chip"), "error"))
    elif message.state != MessageState.DONE:
        chips.append(Chip(texts("unknown"), "warn"))
    if message.note and (is_cut(message) or message.note not in CUT):
        text = texts.named("transcript.note", message.note)
        chips.append(Chip(text, "plain" if message.note == "passed" else "warn"))
    return chips


def is_cut(message: Message) -> bool:
    """Say whether an answer ends before its end; one that became calls has done what it was for."""
    return message.note in CUT and not message.tool_calls


def model_of(message: Message) -> str:
    """Return the name of the model that wrote a message, without its provider."""
    if message.usage and message.usage.model:
        return clean(message.usage.model)
    return clean(message.model.partition("/")[2])


def thought_of(texts: Texts, *, going: bool, seconds: float | None) -> str:
    """Return what stands over a thought; `seconds` are those until the first word, where they are known."""
    if going:
        return texts("transcript.thinking_now")
    if seconds is None:
        return texts("transcript.thought")
    return texts("transcript.thought_for", seconds=max(1, round(seconds)))


def sent_at(message: Message) -> str:
    """Return when a message was sent, as hours and minutes of this place; nothing where that is unknown."""
    try:
        return f"{datetime.fromisoformat(message.created_at).astimezone():%H:%M}"
    except (ValueError, OverflowError):
        return ""


def meta_of(message: Message, texts: Texts, *, time: bool = False) -> str:
    """Return how long the answer took, and why it was this speaker's turn where that says something.

    With `time` it begins with when the message was sent, and says what it used and cost.
    """
    parts = [sent] if time and (sent := sent_at(message)) else []
    if message.seconds is not None and message.seconds >= SHORTEST_SHOWN_S:
        parts.append(texts("transcript.seconds", seconds=f"{message.seconds:.1f}"))
    if time and message.usage is not None:
        total = Total.of(message.usage)
        parts.append(texts("transcript.group.tokens", tokens=used_text(total)))
        parts.append(money_text(texts, total))
    why = why_of(message, texts)
    if why and message.why not in (*QUIET, GUIDED):
        parts.append(why)
    return " · ".join(parts)


def tip_of(message: Message, texts: Texts) -> str:
    """Return what is said over how long the answer took: why it was this speaker's turn, and what it used."""
    parts = [why] if (why := why_of(message, texts)) else []
    if (usage := message.usage) is not None:
        total = Total.of(usage)
        read, written = used_text(total, usage.input_tokens), used_text(total, usage.output_tokens)
        money = money_text(texts, total)
        parts.append(texts("transcript.used", input=read, output=written, money=money))
    return " · ".join(parts)


def why_of(message: Message, texts: Texts) -> str:
    """Return in words why it was this speaker's turn."""
    key = f"why.{message.why}"
    return texts(key) if message.why and key in texts else ""


def error_of(message: Message, name: str, texts: Texts) -> str:
    """Return why the message of the speaker `name` failed."""
    error = message.error
    if error is None:
        return texts("transcript.failed")
    key = f"failure.{error.kind}"
    detail = clean(error.detail)
    provider = message.usage.provider if message.usage else ""
    words = (
        texts(key, detail=detail, name=name, provider=provider)
        if key in texts
        else texts("transcript.failed")
    )
    return words if not detail or detail in words else f"{words}\n{detail}"
