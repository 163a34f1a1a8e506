"""Plain data that never changes: a class of it is named with its fields, and nothing else.

`dataclasses.replace`, `fields` and `asdict` work as for any dataclass.
"""

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class _FrozenType(type):
    """Makes each class a frozen dataclass with slots, whose fields are given by name, or else in order."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], inside: dict[str, Any], *, kw_only: bool = True
    ) -> Any:
        made = super().__new__(cls, name, bases, inside)
        if "__slots__" in inside:
            # A dataclass with slots is made a second time, then with these.
            return made
        # Methods of its own for comparing and for `repr` would make each class twice as slow to define.
        data: Any = dataclass(frozen=True, slots=True, kw_only=kw_only, eq=False, repr=False)(made)
        names = (part.name for part in fields(data) if part.compare)
        data._compared = attrgetter("__class__", *names)  # noqa: SLF001 - a class made here
        return data

    def __init__(cls, name: str, bases: tuple[type, ...], inside: dict[str, Any], **_options: bool) -> None:
        super().__init__(name, bases, inside)


class Frozen(metaclass=_FrozenType):
    """The base of plain data."""

    __slots__ = ()

    # Reads the class and the fields that count when two are compared.
    _compared: ClassVar[Any]

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(self._compared(self) == self._compared(other))

    def __hash__(self) -> int:
        return hash(self._compared(self))

    def __repr__(self) -> str:
        shown = (f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"
