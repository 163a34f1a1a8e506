"""Questions of MCP servers: a form as fields, and answers converted
to the types the server wants (elicitation).
"""

import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from itertools import repeat
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
Choices = Mapping[str, tuple[Any, str]]

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
    choices = {str(name): _choices(rule) for name, rule in properties.items()}
    # What a form says as a whole is about its only field.
    about = message if len(properties) == 1 else ""
    fields = [
        _field(str(name), rule, choices[str(name)], about, needed=name in required)
        for name, rule in properties.items()
    ]
    words = await ask({"question": _short(message), "type": "form", "fields": list(map(asdict, fields))})
    if words is None:
        return CANCEL, None
    said = read_form(words, fields)
    if said is None or any(problem_of(field, said.get(field.key, ())) for field in fields):
        return DECLINE, None
    content: dict[str, Any] = {}
    for field in fields:
        value, known = value_of(field, said.get(field.key, ())), choices[field.key]
        if isinstance(value, list):
            content[field.key] = [known[each][0] for each in value]
        elif value is not None:
            content[field.key] = known[str(value)][0] if field.kind == FieldKind.ONE else value
    return ACCEPT, content


async def ask_link(message: str, url: str, ask: Ask) -> Answer:
    """Ask whether the user has visited, or will visit, an https address; opens nothing by itself."""
    if urlsplit(url).scheme != "https":
        return DECLINE, None
    words = await ask({"question": _short(f"{message}\n{visible(url)}"), "type": "yesno", "link": url})
    return (CANCEL, None) if words is None else (ACCEPT, None) if means_yes(words) else (DECLINE, None)


def _field(name: str, rule: Mapping[str, Any], choices: Choices, about: str, *, needed: bool) -> FormField:
    """Return a property of a JSON Schema as a field; `about` is said of it."""
    kind, bounds = rule.get("type"), ("minLength", "maxLength")
    if kind == "array":
        shown, bounds = FieldKind.MANY, ("minItems", "maxItems")
    elif choices or kind == "boolean":
        shown = FieldKind.ONE if choices else FieldKind.YESNO
    elif kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        shown, bounds = FieldKind(kind), ("minimum", "maximum")
    else:
        shown = FieldKind(str(rule["format"])) if rule.get("format") in _FORMATS else FieldKind.TEXT
    least, most = (_bound(rule.get(bound)) for bound in bounds)
    hidden = _is_hidden(name, rule, shown, about)
    return FormField(
        key=name,
        label=visible(str(rule.get("title") or name))[:200],
        detail=readable(str(rule.get("description") or ""))[:_QUESTION_CHARACTERS],
        kind=shown,
        required=needed,
        options=tuple(choices),
        labels=tuple(label for _, label in choices.values()),
        default=() if hidden else tuple(map(str if choices else readable, _default(rule))),
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


def _choices(rule: Mapping[str, Any]) -> Choices:
    """Return the values that can be chosen, and the words for them, by their texts."""
    source = rule.get("items", rule) if rule.get("type") == "array" else rule
    titled = source.get("oneOf") or source.get("anyOf") or ()
    values = [item.get("const") for item in titled] or source.get("enum") or ()
    names = [item.get("title") for item in titled] or source.get("enumNames") or ()
    named = zip((*names, *repeat(None, len(values))), values, strict=False)
    return {str(value): (value, visible(str(name or value))) for name, value in named}


def _bound(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _short(text: str) -> str:
    return readable(text)[:_QUESTION_CHARACTERS]
