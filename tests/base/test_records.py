"""Immutable values with named fields."""

from __future__ import annotations

import pytest

from commonir.base.records import Record


class Port(Record):
    """A place."""

    name: str
    size: int = 0


class Named(Port):
    """A place with a note."""

    note: str = ""


def test_fields_are_given_by_position_or_by_name_and_have_defaults() -> None:
    result = Named("x", note="n")
    assert (result.name, result.size, result.note) == ("x", 0, "n")
    assert Named.fields() == ("name", "size", "note")
    assert Port.__match_args__ == ("name", "size")


def test_equal_records_have_one_kind_and_equal_values() -> None:
    assert Port("x", 1) == Port("x", size=1)
    assert hash(Port("x", 1)) == hash(Port("x", 1))
    assert Port("x", 1) != Port("x", 2)
    assert Port("x", 1) != Named("x", 1)
    assert repr(Port("x", 1)) == "Port(name='x', size=1)"


def test_a_record_does_not_change_and_can_be_replaced() -> None:
    result = Port("x", 1)
    with pytest.raises(AttributeError, match="'size' of Port cannot be changed"):
        result.size = 2  # pyright: ignore[reportAttributeAccessIssue]  what the test is about
    with pytest.raises(AttributeError, match="'size' of Port cannot be removed"):
        del result.size  # pyright: ignore[reportAttributeAccessIssue]  as above
    assert result.replaced(size=2) == Port("x", 2)
    assert result == Port("x", 1)


@pytest.mark.parametrize(
    ("positional", "named", "reason"),
    [
        ((), {}, "'name' is missing"),
        (("x", 1, 2), {}, "Port takes name, size; 3 given"),
        (("x",), {"name": "y"}, "Port takes name, size; name given"),
        (("x",), {"width": 1}, "Port takes name, size; width given"),
    ],
)
def test_wrong_arguments_are_refused(positional: tuple[object, ...], named: dict[str, object], reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        Record.__init__(object.__new__(Port), *positional, **named)
