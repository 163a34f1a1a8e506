"""Questions of MCP servers: a form as fields, and answers converted
to the types the server wants (elicitation).
"""

import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from app.core.message import FieldKind, FormField, means_yes, problem_of, read_form, value_of
from app.core.texts import readable, visible

_PROPERTIES = 20
_QUESTION_CHARACTERS = 2_000
_FORMATS = {"email", "uri", "date", "date-time"}
# What a field that asks for a secret is called, as whole words; Korean words may have a particle behind them.
_HIDDEN = (
    r"(?<![a-z])(?:pass ?(?:word|phrase|code)s?|passwd|pwd|secrets?|(?:api|"
    r"access|private|secret) ?keys?|credentials?)(?![a-z])"
    r"|비밀 ?번호|패스워드|비밀 ?키|암호(?!화)|API ?키"
    # A code that is good once.
    r"|(?<![a-z])(?:one[ -]?time|verification|authentication|security|2fa|mfa) (?:pass)?codes?(?![a-z])"
    r"|(?<![a-z])(?:otp|totp)(?![a-z])|인증 ?(?:번호|코드)|일회용 ?코드"
)
_HIDDEN_TEXT = r"(?<![a-z])token(?![a-z]| (?:count|limit|budget|usage))|토큰(?! ?(?:수|개수|한도|화))"
# "Pin to the top" asks for no PIN.
_HIDDEN_DIGITS = r"(?<![a-z])pin(?: (?:code|number))?(?=\W*$)|핀 ?번호"
_HIDES = re.compile(f"(?im){_HIDDEN}|{_HIDDEN_TEXT}|{_HIDDEN_DIGITS}|(?-i:(?<![A-Za-z])PIN(?![A-Za-z]))")
# A number is one where its name ends with the word: "Password length" is none, and tokens are counted.
_HIDES_NUMBER = re.compile(rf"(?im)(?:{_HIDDEN}|{_HIDDEN_DIGITS})\W*$")
_WORD_ENDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[_.-]+")

# The question as `put` of the host sends it -> answer, None if it was dismissed.
Ask = Callable[[dict[str, Any]], Awaitable[str | None]]
Answer = tuple[str, dict[str, Any] | None]

ACCEPT = "accept"
DECLINE = "decline"
CANCEL = "cancel"


async def ask_form(message: str, schema: Mapping[str, Any], ask: Ask) -> Answer:
    """Put a form to the user, all fields at once; return the action and the content."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        words = await ask({"question": _short(message), "type": "yesno"})
        return (CANCEL, None) if words is None else (ACCEPT, {}) if means_yes(words) else (DECLINE, None)
    if len(properties) > _PROPERTIES:
        return DECLINE, None
    required = schema.get("required") or ()
    values = {str(name): _options(rule) for name, rule in properties.items()}
    # What a form says as a whole is about its only field.
    about = message if len(properties) == 1 else ""
    fields = [
        _field(str(name), rule, list(values[str(name)]), about, needed=name in required)
        for name, rule in properties.items()
    ]
    words = await ask(
        {"question": _short(message), "type": "form", "fields": [asdict(field) for field in fields]}
    )
    if words is None:
        return CANCEL, None
    said = read_form(words, fields)
    if said is None or any(problem_of(field, said.get(field.key, ())) for field in fields):
        return DECLINE, None
    content = {}
    for field in fields:
        value = value_of(field, said.get(field.key, ()))
        if value is not None:
            known = values[field.key]
            content[field.key] = (
                [known[each] for each in value]
                if isinstance(value, list)
                else (known[value] if field.kind == FieldKind.ONE and isinstance(value, str) else value)
            )
    return ACCEPT, content


async def ask_link(message: str, url: str, ask: Ask) -> Answer:
    """Ask whether the user has visited, or will visit, an https address; opens nothing by itself."""
    if urlsplit(url).scheme != "https":
        return DECLINE, None
    words = await ask({"question": _short(f"{message}\n{visible(url)}"), "type": "yesno", "link": url})
    return (CANCEL, None) if words is None else (ACCEPT, None) if means_yes(words) else (DECLINE, None)


def _field(
    name: str, rule: Mapping[str, Any], options: Sequence[str], about: str, *, needed: bool
) -> FormField:
    """Return a property of a JSON Schema as a field; `options` are the texts of its values,
    `about` is said of it.
    """
    kind, many = rule.get("type"), rule.get("type") == "array"
    text = FieldKind(str(rule["format"])) if rule.get("format") in _FORMATS else FieldKind.TEXT
    shown = (
        FieldKind.MANY
        if many
        else FieldKind.ONE
        if options
        else FieldKind.YESNO
        if kind == "boolean"
        else text
    )
    if shown == text and kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        shown = FieldKind(kind)
    bounds = ("minItems", "maxItems") if many else ("minLength", "maxLength")
    if shown in (FieldKind.INTEGER, FieldKind.NUMBER):
        bounds = ("minimum", "maximum")
    least, most = (_bound(rule.get(bound)) for bound in bounds)
    hidden = _is_hidden(name, rule, shown, about)
    return FormField(
        key=name,
        label=visible(str(rule.get("title") or name))[:200],
        detail=readable(str(rule.get("description") or ""))[:_QUESTION_CHARACTERS],
        kind=shown,
        required=needed,
        options=tuple(options),
        labels=tuple(_labels(rule, options)),
        default=() if hidden else tuple(map(str if options else readable, _default(rule))),
        least=least,
        most=most,
        hidden=hidden,
    )


def _is_hidden(name: str, rule: Mapping[str, Any], kind: FieldKind, about: str) -> bool:
    """Say whether what is typed into a field is a secret, by its format or by what is said of it."""
    if kind in (FieldKind.YESNO, FieldKind.ONE, FieldKind.MANY):
        return False
    if rule.get("format") == "password":
        return True
    called = [name, str(rule.get("title") or ""), str(rule.get("description") or "")[:_QUESTION_CHARACTERS]]
    if kind == FieldKind.TEXT:
        called.append(about[:_QUESTION_CHARACTERS])
    words = unicodedata.normalize("NFKC", "\n".join(_WORD_ENDS.sub(" ", each) for each in called))
    number = kind in (FieldKind.INTEGER, FieldKind.NUMBER)
    return (_HIDES_NUMBER if number else _HIDES).search(words) is not None


def _default(rule: Mapping[str, Any]) -> tuple[str, ...]:
    value = rule.get("default")
    if value is None:
        return ()
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    return tuple(str(item) for item in (value if isinstance(value, list) else [value]))


def _options(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that can be chosen by their texts."""
    source = rule.get("items", rule) if rule.get("type") == "array" else rule
    titled = source.get("oneOf") or source.get("anyOf") or ()
    values = [item.get("const") for item in titled] or source.get("enum") or ()
    return {str(value): value for value in values}


def _labels(rule: Mapping[str, Any], options: Sequence[str]) -> list[str]:
    """Return the words for the options, in their order."""
    source = rule.get("items", rule) if rule.get("type") == "array" else rule
    titled = source.get("oneOf") or source.get("anyOf") or ()
    names = [item.get("title") for item in titled] or list(source.get("enumNames") or ())
    names += [None] * (len(options) - len(names))
    return [visible(str(name or value)) for name, value in zip(names, options, strict=False)]


def _bound(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _short(text: str) -> str:
    return readable(text)[:_QUESTION_CHARACTERS]
