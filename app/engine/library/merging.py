"""Put together what two sides have changed in the same definition."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

# A model is one of its provider: who changes one of these fields means both.
_PAIR = ("provider", "model")
# Counted by every save.
_VERSION = "version"


def merged(before: Any, mine: Any, theirs: Any) -> tuple[Any, bool]:
    """Return `theirs` with what differs between `before` and `mine`, and whether both sides changed the same field.

    All three are of one dataclass. Where both changed a field in different ways, the result has that of `mine`; of a list of
    names it has what either side added, and not what either removed.
    """
    names = [one.name for one in fields(mine) if one.name != _VERSION]
    paired = set(_PAIR) <= set(names)
    values: dict[str, Any] = {}
    clash = False
    for name in names:
        group = _PAIR if paired and name in _PAIR else (name,)
        old, own, other = ([getattr(one, each) for each in group] for one in (before, mine, theirs))
        if own == old:
            continue
        values[name] = getattr(mine, name)
        if other in (old, own):
            continue
        if is_dataclass(own[0]) and type(old[0]) is type(own[0]) is type(other[0]):
            values[name], inside = merged(old[0], own[0], other[0])
            clash = clash or inside
        elif _is_names(own[0]):
            values[name] = _joined(old[0], own[0], other[0])
        else:
            clash = True
    return replace(theirs, **values), clash


def _is_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


def _joined(before: tuple[str, ...], mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    kept = (one for one in mine if one in theirs or one not in before)
    return (*kept, *(one for one in theirs if one not in before and one not in mine))
