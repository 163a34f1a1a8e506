"""Forms that MCP servers put to the user: their fields, and which values fit them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from app.core.json_values import object_in

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_YES = {"yes", "y", "true", "ja", "예", "네", "1"}
_NO = {"no", "n", "false", "nein", "아니요", "아니오", "0"}

HIDDEN: Final = "(hidden)"
"""Stands for the value of a hidden field wherever an answer is kept."""


class FieldKind(StrEnum):
    """What a field takes."""

    TEXT = "text"
    EMAIL = "email"
    URI = "uri"
    DATE = "date"
    DATE_TIME = "date-time"
    INTEGER = "integer"
    NUMBER = "number"
    YESNO = "yesno"
    ONE = "one"
    MANY = "many"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A field: `key` is the server's name for it, `label` and `detail` what the user reads.

    `options` are what can be chosen and `labels` their words. `default` are the values at first, as texts.
    `least` and `most` bound a number, the characters of a text, or how many are chosen. A `hidden` field asks
    for a secret: its value is not shown while it is typed, and is kept nowhere.
    """

    key: str
    label: str
    detail: str = ""
    kind: str = FieldKind.TEXT
    required: bool = False
    options: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    hidden: bool = False


def means_yes(answer: str) -> bool | None:
    """Return whether an answer means yes, None where it means neither yes nor no."""
    word = answer.strip().casefold()
    return True if word in _YES else False if word in _NO else None


def problem_of(field: FormField, values: Sequence[str]) -> str:
    """Return a code for what is wrong with the values of a field, "" if they fit;
    each has a text `form.wrong.<code>`.
    """
    values = [value.strip() for value in values if value.strip()]
    if not values:
        return "empty" if field.required else ""
    if field.kind == FieldKind.MANY:
        if _range(field, len(values)):
            return "count"
        return "" if set(values) <= set(field.options) else "option"
    value = values[0]
    if field.kind == FieldKind.ONE:
        return "" if value in field.options else "option"
    if field.kind == FieldKind.YESNO:
        return "" if means_yes(value) is not None else "yesno"
    if field.kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        number = _number(value, field.kind)
        if number is None:
            return field.kind
        return "range" if _range(field, number) else ""
    if _range(field, len(value)):
        return "length"
    return "" if _fits(field.kind, value) else field.kind


def value_of(field: FormField, values: Sequence[str]) -> object:
    """Return the value of a field that fits, in the type the server expects; None where it was left empty."""
    values = [value.strip() for value in values if value.strip()]
    if field.kind == FieldKind.MANY:
        return list(values) if values or field.required else None
    if not values:
        return None
    if field.kind == FieldKind.YESNO:
        return means_yes(values[0])
    if field.kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        return _number(values[0], field.kind)
    return values[0]


def read_form(text: str, fields: Sequence[FormField]) -> dict[str, tuple[str, ...]] | None:
    """Return the values by field of an answer: a JSON object, `name=value` lines, or the value
    of the only field.
    """
    found = object_in(text)
    if found is None and len(fields) == 1 and "=" not in text:
        found = {fields[0].key: text}
    if found is None:
        pairs = [line.partition("=") for line in re.split(r"[\n;]", text) if line.strip()]
        found = {key.strip(): value.strip() for key, _, value in pairs}
    known = {name: field for field in fields for name in (field.label, field.key)}
    if not set(found) <= set(known):
        return None
    return {known[name].key: _texts(known[name], value) for name, value in found.items()}


def form_text(values: Mapping[str, Sequence[str]]) -> str:
    """Return the values by field as the text of an answer."""
    return json.dumps({key: list(each) for key, each in values.items()}, ensure_ascii=False)


def without_hidden(text: str, fields: Sequence[FormField]) -> str:
    """Return an answer that fits as it is kept: with `HIDDEN` in place of what was entered in hidden
    fields.
    """
    hidden = {field.key for field in fields if field.hidden}
    values = read_form(text, fields) if hidden else None
    if not values:
        return text
    return form_text({key: (HIDDEN,) if key in hidden and each else each for key, each in values.items()})


def _texts(field: FormField, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        parts: list[object] = [*value.split(",")] if field.kind == FieldKind.MANY else [value]
    else:
        parts = list(value) if isinstance(value, list) else [value]
    words = [part if isinstance(part, str) else json.dumps(part) for part in parts if part is not None]
    by_label = dict(zip(field.labels, field.options, strict=False))
    return tuple(by_label.get(word.strip(), word.strip()) for word in words if word.strip())


def _number(text: str, kind: str) -> int | float | None:
    try:
        return int(text) if kind == FieldKind.INTEGER else float(text)
    except ValueError:
        return None


def _range(field: FormField, number: float) -> bool:
    """Say whether a number is outside the bounds; NaN is."""
    least = field.least if field.least is not None else float("-inf")
    most = field.most if field.most is not None else float("inf")
    return not least <= number <= most


def _fits(kind: str, value: str) -> bool:
    try:
        if kind == FieldKind.DATE:
            date.fromisoformat(value)
        elif kind == FieldKind.DATE_TIME:
            datetime.fromisoformat(value)
        elif kind == FieldKind.URI:
            return bool(urlsplit(value).scheme)
    except ValueError:
        return False
    return kind != FieldKind.EMAIL or _EMAIL.fullmatch(value) is not None
