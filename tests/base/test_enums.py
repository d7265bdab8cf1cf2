"""Our `Enum` is as that of `enum`."""

from __future__ import annotations

import copy
import enum

import pytest

from commonir.base import enums


class Ours(enums.Enum):
    """Colours."""

    RED = "r"
    GREEN = 5
    BLUE = 6
    ALSO_RED = "r"

    @property
    def is_red(self) -> bool:
        """Whether it is."""
        return self is type(self).RED

    def text(self) -> str:
        """What it is called."""
        return f"{self.name}:{self}"


class Theirs(enum.Enum):
    """Colours."""

    RED = "r"
    GREEN = 5
    BLUE = 6
    ALSO_RED = "r"  # noqa: PIE796  another name for a member

    @property
    def is_red(self) -> bool:
        """Whether it is."""
        return self is type(self).RED

    def text(self) -> str:
        """What it is called."""
        return f"{self.name}:{self}"


def test_members_are_those_of_enum() -> None:
    for made in (Ours, Theirs):
        name = made.__name__
        assert [(m.name, m.value) for m in made] == [("RED", "r"), ("GREEN", 5), ("BLUE", 6)]
        assert [m.name for m in reversed(made)] == ["BLUE", "GREEN", "RED"]
        assert len(made) == 3
        assert list(made.__members__) == ["RED", "GREEN", "BLUE", "ALSO_RED"]
        assert made("r") is made.RED is made["RED"] is made.ALSO_RED is made(made.RED)
        assert made.RED in made
        assert (made.RED.is_red, made.BLUE.is_red) == (True, False)
        assert made.RED.text() == f"RED:{name}.RED"
        assert (str(made.BLUE), repr(made.BLUE), f"{made.BLUE:>12}") == (
            f"{name}.BLUE",
            f"<{name}.BLUE: 6>",
            f"{name}.BLUE".rjust(12),
        )
        assert repr(made) == f"<enum '{name}'>"
        assert made.__doc__ == "Colours."
        assert copy.deepcopy(made.RED) is copy.copy(made.RED) is made.RED


@pytest.mark.parametrize("made", [Ours, Theirs])
def test_members_cannot_change(made: type[Ours | Theirs]) -> None:
    with pytest.raises(AttributeError):
        setattr(made, "RED", 2)  # noqa: B010  pyright knows that it is refused
    with pytest.raises(AttributeError):
        setattr(made.RED, "value", 2)  # noqa: B010  as above
    with pytest.raises(ValueError, match="is not a valid"):
        made("x")
    with pytest.raises(KeyError):
        made["x"]


class _OurNumbers(enums.Enum):
    FIRST = enums.auto()
    SECOND = enums.auto()
    TENTH = 10
    LAST = enums.auto()


class _TheirNumbers(enum.Enum):
    FIRST = enum.auto()
    SECOND = enum.auto()
    TENTH = 10
    LAST = enum.auto()


def test_numbers_that_are_not_stated_follow_each_other() -> None:
    assert [m.value for m in _OurNumbers] == [m.value for m in _TheirNumbers] == [1, 2, 10, 11]
