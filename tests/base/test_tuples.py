"""Our `NamedTuple` is as that of `typing`."""

from __future__ import annotations

import copy
import typing

import pytest

from commonir.base import tuples


class Ours(tuples.NamedTuple):
    """A point."""

    x: int
    y: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """All."""
        return self.x + sum(self.y)

    @classmethod
    def origin(cls) -> Ours:
        """The first."""
        return cls(0)


class Theirs(typing.NamedTuple):
    """A point."""

    x: int
    y: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """All."""
        return self.x + sum(self.y)

    @classmethod
    def origin(cls) -> Theirs:
        """The first."""
        return cls(0)


def test_values_are_those_of_typing() -> None:
    for made in (Ours, Theirs):
        point = made(1, y=(2, 3))
        assert point == (1, (2, 3))
        assert (point.x, point.y, point.total) == (1, (2, 3), 6)
        assert made.origin() == (0, ())
        assert point._replace(x=4) == (4, (2, 3))
        assert repr(point) == f"{made.__name__}(x=1, y=(2, 3))"
        assert made._make([1, (2,)])._asdict() == {"x": 1, "y": (2,)}
        assert copy.copy(point) == point
        with pytest.raises(AttributeError):
            setattr(point, "x", 2)  # noqa: B010  pyright knows that it is refused
        with pytest.raises(TypeError):
            made()  # pyright: ignore[reportCallIssue]  what the test is about
        with pytest.raises(TypeError):
            made(x=1, z=2)  # pyright: ignore[reportCallIssue]  as above
        with pytest.raises(ValueError, match="unexpected field names"):
            point._replace(z=1)
        with pytest.raises(TypeError, match="Expected 2"):
            made._make([1])


class Long(tuples.NamedTuple):
    """Of many fields."""

    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
    g: int
    h: int
    i: int
    j: int = 10


def test_many_fields_have_places_and_names() -> None:
    made = Long(1, 2, 3, 4, 5, 6, 7, i=9, h=8)
    assert made == (*range(1, 11),)
    assert (made.a, made.h, made.j) == (1, 8, 10)


def test_a_field_without_a_default_cannot_follow_one_with_a_default() -> None:
    with pytest.raises(TypeError, match="a field without a default follows"):
        type(tuples.NamedTuple)("Wrong", (), {"__module__": "m", "__annotations__": {"x": "int", "y": "int"}, "x": 1})


@pytest.mark.parametrize("what", ["_fields", "_field_defaults", "__doc__", "__module__", "__match_args__", "__bases__"])
def test_classes_are_those_of_typing(what: str) -> None:
    assert getattr(Ours, what) == getattr(Theirs, what)


def test_annotations_are_known() -> None:
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs) == {"x": int, "y": tuple[int, ...]}
