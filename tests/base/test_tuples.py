"""Our `NamedTuple` is as that of `typing`."""

from __future__ import annotations

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
    for built in (Ours, Theirs):
        point = built(1, y=(2, 3))
        assert point == (1, (2, 3))
        assert (point.x, point.y, point.total) == (1, (2, 3), 6)
        assert built.origin() == (0, ())
        assert point._replace(x=4) == (4, (2, 3))
        assert repr(point) == f"{built.__name__}(x=1, y=(2, 3))"
        with pytest.raises(AttributeError):
            setattr(point, "x", 2)  # noqa: B010  pyright knows that it is refused
        with pytest.raises(TypeError):
            built()  # pyright: ignore[reportCallIssue]  what the test is about


@pytest.mark.parametrize("what", ["_fields", "_field_defaults", "__doc__", "__module__", "__match_args__", "__bases__"])
def test_classes_are_those_of_typing(what: str) -> None:
    assert getattr(Ours, what) == getattr(Theirs, what)


def test_annotations_are_known() -> None:
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs) == {"x": int, "y": tuple[int, ...]}
