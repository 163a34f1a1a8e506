"""Plain data that never changes: a class of it is named with its fields, and nothing else.

`dataclasses.replace`, `fields` and `asdict` work as for any dataclass.
"""

from dataclasses import dataclass, field
from typing import Any, dataclass_transform


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class _FrozenType(type):
    """Makes each class a frozen dataclass with slots, whose fields are given by name, or else in order."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], inside: dict[str, Any], *, kw_only: bool = True
    ) -> Any:
        made = super().__new__(cls, name, bases, inside)
        # A dataclass with slots is made a second time, then with these.
        return made if "__slots__" in inside else dataclass(frozen=True, slots=True, kw_only=kw_only)(made)

    def __init__(cls, name: str, bases: tuple[type, ...], inside: dict[str, Any], **_options: bool) -> None:
        super().__init__(name, bases, inside)


class Frozen(metaclass=_FrozenType):
    """The base of plain data."""

    __slots__ = ()
