"""Plain data cannot be changed, has no other fields, and names them; as any dataclass it can be copied."""

import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Generic, TypeVar

import pytest

from app.core.frozen import Frozen

Kind = TypeVar("Kind")


class Point(Frozen):
    x: int
    names: list[str] = field(default_factory=list)


class Named(Point):
    name: str

    @property
    def shown(self) -> str:
        return f"{self.name} {self.x}"


class Pair(Frozen, kw_only=False):
    left: int
    right: int = 2


class Holder(Frozen, Generic[Kind]):
    held: Kind


def test_it_is_a_frozen_dataclass_with_slots_of_which_a_part_may_need_what_the_whole_gives() -> None:
    named = Named(name="a", x=1)
    assert (named.shown, named.names, asdict(named)) == ("a 1", [], {"x": 1, "names": [], "name": "a"})
    assert [item.name for item in fields(Named)] == ["x", "names", "name"]
    assert replace(named, x=2) == Named(name="a", x=2) != named
    assert not hasattr(named, "__dict__") and Named.__slots__ == ("name",)
    with pytest.raises(FrozenInstanceError):
        named.x = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        Point(1)  # type: ignore[misc]


def test_a_class_may_take_its_fields_in_order() -> None:
    assert Pair(1) == Pair(left=1, right=2)
    assert Pair.__match_args__ == ("left", "right")


def test_it_is_kept_and_read_again() -> None:
    assert pickle.loads(pickle.dumps(Pair(1, 3))) == Pair(1, 3)
    assert Holder(held="a").held == "a" and hash(Pair(1)) == hash(Pair(1))


class Shown(Frozen):
    name: str
    hint: str = field(default="", compare=False)
    key: str = field(default="", repr=False)


class Empty(Frozen):
    pass


class OtherEmpty(Frozen):
    pass


def test_fields_say_whether_they_are_compared_and_shown() -> None:
    first = Shown(name="a", hint="x", key="k")
    same = replace(first, hint="y")
    assert first == same and hash(first) == hash(same) and first != replace(first, key="other")
    assert (
        repr(first) == "Shown(name='a', hint='x')" and repr(Holder(held=first)) == f"Holder(held={first!r})"
    )


def test_classes_with_equal_fields_differ() -> None:
    assert (
        Point(x=1) != Pair(1) and Named(x=1, name="a") != Point(x=1) and Point(x=1) != {"x": 1, "names": []}
    )
    assert Empty() == Empty() != OtherEmpty() and repr(Empty()) == "Empty()"
    with pytest.raises(TypeError):
        hash(Point(x=1))
