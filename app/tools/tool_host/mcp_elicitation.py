"""Questions of MCP servers (elicitation): one question for each property of a form, answers converted to its type."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from app.core.text import visible

_PROPERTIES = 20
_QUESTION_CHARACTERS = 2_000
_YES = {"yes", "y", "true", "ja", "예", "네", "1"}
_NO = {"no", "n", "false", "nein", "아니요", "아니오", "0"}

# (question, type, options) -> answer, None if it was dismissed.
Ask = Callable[[str, str, list[str]], Awaitable[str | None]]
Answer = tuple[str, dict[str, Any] | None]

ACCEPT = "accept"
DECLINE = "decline"
CANCEL = "cancel"


class _WrongWordsError(ValueError):
    """The answer does not fit the question; the text says what would."""


async def ask_form(message: str, schema: Mapping[str, Any], ask: Ask) -> Answer:
    """Put a form to the user, property by property; return the action and the content."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        words = await ask(_short(message), "yesno", [])
        return (CANCEL, None) if words is None else (ACCEPT, {}) if _yes(words) else (DECLINE, None)
    if len(properties) > _PROPERTIES:
        return DECLINE, None
    required = schema.get("required") or ()
    content: dict[str, Any] = {}
    for number, (name, rule) in enumerate(properties.items()):
        label = visible(str(rule.get("title") or name))
        if detail := rule.get("description"):
            label = f"{label}: {visible(str(detail))}"
        # The first question also shows the server's own words.
        question = f"{_short(message)}\n{label}" if number == 0 else label
        action, value = await _ask_property(_short(question), rule, ask, needed=name in required)
        if action != ACCEPT:
            return action, None
        if value is not None:
            content[name] = value
    return ACCEPT, content


async def ask_link(message: str, url: str, ask: Ask) -> Answer:
    """Ask whether the user has visited, or will visit, an https address; opens nothing."""
    if urlsplit(url).scheme != "https":
        return DECLINE, None
    words = await ask(_short(f"{message}\n{visible(url)}"), "yesno", [])
    return (CANCEL, None) if words is None else (ACCEPT, None) if _yes(words) else (DECLINE, None)


async def _ask_property(question: str, rule: Mapping[str, Any], ask: Ask, *, needed: bool) -> tuple[str, Any]:
    values = _options(rule)
    kind = "yesno" if rule.get("type") == "boolean" else "options" if values else "text"
    words = await ask(question, kind, list(values))
    for again in (True, False):
        if words is None:
            return CANCEL, None
        if not words.strip() and not needed:
            return ACCEPT, None
        try:
            return ACCEPT, _converted(words.strip(), rule, values)
        except _WrongWordsError as error:
            if not again:
                return DECLINE, None
            words = await ask(_short(f"{question}\n({error})"), kind, list(values))
    return DECLINE, None


def _options(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options by their labels."""
    source = rule.get("items", rule) if rule.get("type") == "array" else rule
    titled = source.get("oneOf") or source.get("anyOf")
    if titled:
        return {visible(str(one.get("title") or one.get("const"))): one.get("const") for one in titled}
    names = source.get("enumNames") or ()
    values = source.get("enum") or ()
    return {
        visible(str(names[number] if number < len(names) else value)): value
        for number, value in enumerate(values)
    }


def _converted(words: str, rule: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    kind = rule.get("type")
    if kind == "array":
        return [_chosen(part.strip(), values) for part in words.split(",") if part.strip()]
    if values:
        return _chosen(words, values)
    if kind == "boolean":
        if words.lower() in _YES | _NO:
            return _yes(words)
        raise _WrongWordsError("yes / no")
    if kind in ("integer", "number"):
        return _number(words, rule, whole=kind == "integer")
    least, most = rule.get("minLength", 0), rule.get("maxLength", len(words))
    if not least <= len(words) <= most:
        raise _WrongWordsError(f"{least}-{most} characters")
    return words


def _chosen(words: str, values: Mapping[str, Any]) -> Any:
    if words in values:
        return values[words]
    if words in values.values():
        return words
    raise _WrongWordsError(", ".join(values))


def _number(words: str, rule: Mapping[str, Any], *, whole: bool) -> int | float:
    try:
        number = int(words) if whole else float(words)
    except ValueError:
        raise _WrongWordsError("1, 2, 3 …" if whole else "1.5") from None
    least, most = rule.get("minimum", number), rule.get("maximum", number)
    # Also refuses NaN, which is neither less nor more than any number.
    if not least <= number <= most:
        raise _WrongWordsError(f"{least} … {most}")
    return number


def _yes(words: str) -> bool:
    return words.strip().lower() in _YES


def _short(text: str) -> str:
    return visible(text)[:_QUESTION_CHARACTERS]
