"""Versions of a definition: one class states them all."""

from __future__ import annotations

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ListType, OptionalType, Type, f16, f32, i64, tensor
from commonir.ods import (
    Dialect,
    Op,
    attr_types,
    attribute,
    by_version,
    constraint,
    element_type,
    known_data,
    known_dims,
    lists,
    operand,
    optionals,
    parameter,
    positive,
    result,
    same_as,
    types,
)
from commonir.ods.version_changes import changes_between
from commonir.rewrite.expand import expand


class Shifted(Op, name="v.Shifted"):
    """The negative, perhaps with something added.

    Source: this test.
    """

    x: Value = operand("T")
    bias: Value | None = operand("T", default=None, since="set5")
    scaled: bool = attribute(attr_types.flag, default=False, since="set9")
    y: Value = result("T")
    T = by_version(set1=element_type(f32), set5=element_type(f32, f16))

    def reference(self, x: Value, bias: Value | None) -> Value:
        y = core.neg(x)
        if self.scaled:
            y = core.add(y, y)
        return y if bias is None else core.add(y, bias)


class Stated(Op, name="v.Stated", since="set1 set5"):
    """Takes anything of a set, in versions that are stated."""

    x: Value = operand("V")
    some: Value = operand("list<T>")
    y: Value = result("V")
    T = element_type(f32)
    V = types(element_type(i64), lists(element_type(i64)), optionals(lists(element_type(i64))))

    def infer(self) -> tuple[Type, ...]:
        return (self.x.type,)


class Clamped(Op, name="v.Clamped"):
    """The larger of an element and a bound, which was an attribute with another spelling."""

    x: Value = operand("T")
    low: Value | None = operand(
        "T[]",
        default=None,
        by_value=True,
        since="set5",
        before=attribute(attr_types.number, default=0.5, spelling="min"),
    )
    axes: Value | None = operand(
        "i64", default=None, since="set9", before=operand("i64", since="set5", before=attribute(attr_types.integers))
    )
    mode: str = attribute(
        attr_types.string, default="linear", since="set9", before=attribute(attr_types.string, default="bilinear")
    )
    y: Value = result("T")
    T = by_version(set1=element_type(f32), set5=element_type(f32, f16))

    def materialize_constant(self, data: Data) -> Value:
        return core.constant(data)

    def reference(self, x: Value, low: Value | None, axes: Value | None) -> Value:
        y = x if low is None else core.maximum(x, low)
        at = None if axes is None else known_dims(axes)
        return y if at is None else core.reduce_sum(y, tuple([a for a in at if isinstance(a, int)]))


class Negated(Op, name="v.Negated", since="set1"):
    """The negative; before set5, the element itself on request."""

    x: Value = operand("T")
    keep: bool = attribute(attr_types.flag, default=False, until="set5")
    y: Value = result("T")
    T = element_type(f32)

    def reference(self, x: Value) -> Value:
        return x if self.keep else core.neg(x)


class Twice(Negated, name="v.Twice"):
    """A definition that derives from one with a removed attribute."""

    def reference(self, x: Value) -> Value:
        return core.add(x, super().reference(x))


class Other(Op, name="v.ml.Other", since="ml2"):
    """An operation of another set of operations of the dialect."""

    def infer(self) -> tuple[Type, ...]:
        return ()


class Scaled(Op, name="v.Scaled", since="set1"):
    """The product with a factor, which older versions restrict."""

    x: Value = operand("T")
    factor: Value = operand("U[]", constant=True, relaxed_in="set5")
    steps: int = parameter(attr_types.integer, default=1, check=positive, relaxed_in="set9")
    y: Value = result("T")
    T = element_type(f32, f16)
    U = by_version(set1=same_as("T"), set5=element_type(f32, i64))

    @constraint("C1", since="set9")
    def _is_small(self) -> bool:
        """steps is less than 9."""
        return self.steps < 9

    def infer(self) -> tuple[Type, ...]:
        return (self.x.type,)


DIALECT = Dialect(
    "v",
    (Shifted, Stated, Scaled, Clamped, Negated, Twice, Other),
    versions=("set1", "set2", "set5", "set9", "ml1", "ml2"),
)


def _diagnostics(name: str, version: str) -> type[Op]:
    actual = DIALECT.find(name, version)
    assert actual is not None
    return actual


@pytest.mark.parametrize("newest", [Negated, Twice])
def test_an_attribute_until_a_version_is_in_older_ones_only(newest: type[Negated]) -> None:
    older = _diagnostics(newest.name, "set2")
    assert newest.versions == ("set1", "set5")
    assert [f.name for f in older.layout.attributes] == ["keep"]
    assert newest.layout.attributes == ()
    x = Value(tensor(f32, 3))
    op = older(x, keep=True)
    assert isinstance(op, Negated)
    assert op.keep is True
    assert newest(x).keep is False
    assert changes_between(older, newest) == "Removes `keep`."
    with pytest.raises(TypeError, match="keep"):
        newest(x, keep=True)


def test_versions_follow_from_types_and_fields() -> None:
    assert Shifted.versions == ("set1", "set5", "set9")
    assert Shifted.since == "set9"
    assert [d.since for d in DIALECT.operations["v.Shifted"]] == ["set1", "set5", "set9"]
    assert [_diagnostics("v.Shifted", v).since for v in ("set1", "set2", "set5", "set9", "")] == [
        "set1", "set1", "set5", "set9", "set9"
    ]  # fmt: skip
    assert Stated.versions == ("set1", "set5")


def test_an_older_version_is_a_subclass_without_what_came_later() -> None:
    oldest = _diagnostics("v.Shifted", "set2")
    assert issubclass(oldest, Shifted)
    assert oldest.__name__ == "Shifted1"
    assert [f.name for f in oldest.layout.arguments] == ["x"]
    assert [f.name for f in _diagnostics("v.Shifted", "set5").layout.arguments] == ["x", "bias"]
    op = oldest(Value(tensor(f32, 2)))
    assert isinstance(op, Shifted)
    assert (op.bias, op.scaled) == (None, False)
    assert op.y.type is tensor(f32, 2)
    with pytest.raises(DiagnosticError, match="expected element type f32, found f16"):
        oldest(Value(tensor(f16, 2)))
    with pytest.raises(TypeError, match="'scaled' is not an argument"):
        oldest(Value(tensor(f32, 2)), scaled=True)


def test_versions_of_one_set_of_operations_do_not_limit_another() -> None:
    assert DIALECT.find("v.ml.Other", "set1") is Other
    assert DIALECT.find("v.ml.Other", "ml1") is None
    assert DIALECT.find("v.Shifted", "ml1") is Shifted


def test_a_variable_ranges_over_lists_and_optional_values() -> None:
    some = Value(ListType(tensor(f32, None)))
    for kind in (tensor(i64, 3), ListType(tensor(i64, None)), OptionalType(ListType(tensor(i64, 2)))):
        assert Stated(Value(kind), some).y.type is kind
    with pytest.raises(DiagnosticError, match="expected one of i64, list<i64>, optional<list<i64>>"):
        Stated(Value(OptionalType(tensor(i64, 2))), some)
    with pytest.raises(DiagnosticError, match="expected element type f32, found i64"):
        Stated(Value(tensor(i64, 2)), Value(ListType(tensor(i64, None))))
    with pytest.raises(DiagnosticError, match="expected list<T>, found"):
        Stated(Value(tensor(i64, 2)), Value(tensor(f32, 2)))


def test_older_versions_restrict_fields_and_lack_constraints() -> None:
    assert Scaled.versions == ("set1", "set5", "set9")
    x, factor, number = Value(tensor(f16, 2)), Value(tensor(f32)), Value(tensor(i64))
    assert Scaled(x, number, -1).y.type is x.type
    oldest = _diagnostics("v.Scaled", "set1")
    assert [f.constant for f in oldest.layout.inputs] == [False, True, False]
    assert not Scaled.layout.by_name["factor"].constant
    with pytest.raises(DiagnosticError, match="expected element type f16 as of the other operands, found f32"):
        oldest(x, factor)
    with pytest.raises(DiagnosticError, match="'steps' must be positive, found -1"):
        oldest(x, Value(tensor(f16)), -1)
    assert oldest(x, Value(tensor(f16)), 10).results[0].type is x.type
    with pytest.raises(DiagnosticError, match="C1: steps is less than 9"):
        Scaled(x, factor, 10)


def test_what_a_version_changed_follows_from_its_fields() -> None:
    first, second, third = DIALECT.operations["v.Scaled"]
    assert changes_between(first, second) == (
        "`factor` need not be constant; `factor` has an element type of its own, `U`."
    )
    assert changes_between(second, third) == "`steps` need not be positive; adds the constraint C1."
    first, second, third = DIALECT.operations["v.Shifted"]
    assert changes_between(first, second) == "Adds `bias`; `T` may also be f16."
    assert changes_between(second, third) == "Adds `scaled`."
    assert not changes_between(*DIALECT.operations["v.Stated"])


def test_a_field_may_be_an_attribute_in_an_older_version() -> None:
    x = Value(tensor(f32, 2, 3))
    oldest, middle, newest = DIALECT.operations["v.Clamped"]
    assert [[f.name for f in d.layout.inputs] for d in (oldest, middle)] == [["x"], ["x", "low", "axes"]]
    assert list(oldest.layout.spelled) == ["min", "axes", "mode"]
    op = oldest(x, low=1.5, axes=(0,))
    assert [getattr(op, name) for name in ("low", "axes", "mode")] == [1.5, (0,), "bilinear"]
    assert op.results[0].type is tensor(f32, 3)
    low = op.as_operand("low")
    data = known_data(low)
    assert data is not None
    assert (low.type, list(data.values())) == (tensor(f32), [1.5])
    expansion = expand(op, (x,))
    assert [built.name for built in expansion.operations] == ["core.constant", "core.maximum", "core.reduce_sum"]
    assert newest(x).results[0].type is x.type
    with pytest.raises(TypeError, match="missing argument 'axes'"):
        oldest(x)


def test_what_a_version_changed_names_the_fields_that_became_operands() -> None:
    oldest, middle, newest = DIALECT.operations["v.Clamped"]
    assert (
        changes_between(oldest, middle) == "`low` becomes an operand; `axes` becomes an operand; `T` may also be f16."
    )
    assert changes_between(middle, newest) == "`axes` is optional."


def test_rules_apply_to_versions_with_the_same_kinds_of_fields() -> None:
    oldest, middle, newest = DIALECT.operations["v.Clamped"]
    assert (oldest.has_form_of(newest), middle.has_form_of(newest), newest.has_form_of(newest)) == (False, True, True)
