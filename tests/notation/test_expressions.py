"""Element types of expressions, constants, interning, and rebuilding."""

from __future__ import annotations

import gc
import math
import weakref

import pytest

from commonir.ir.types import (
    ElementType,
    bf16,
    boolean,
    complex64,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    string,
    u8,
    u16,
)
from commonir.notation import (
    FOLDS,
    FUNCTIONS,
    Access,
    Cast,
    Const,
    Expr,
    Fold,
    NotationError,
    Number,
    Position,
    Scalar,
    Tensor,
    broadcast,
    call,
    cast,
    children,
    fold,
    formula,
    free,
    identity,
    index,
    join,
    lift,
    linear,
    put,
    replace_accesses,
    rewrite,
    select,
    total,
    updated,
    walk,
)
from commonir.notation import (
    math as math_text,
)
from commonir.symbolic import substitute_indices, symbol

N, M = symbol("N"), symbol("M")
i, j, k = index("i"), index("j"), index("k")


def read(name: str, dtype: ElementType) -> Access:
    return Tensor(name, (N,), dtype)[i]


x, h, q, flag = read("x", f32), read("h", f16), read("q", i32), read("flag", boolean)

to, new = Tensor("to", (M,), i64), Tensor("new", (M,), f32)


# ---- element types


@pytest.mark.parametrize(
    ("built", "dtype"),
    [
        (x + x, f32),
        (x + 1, f32),
        (1 - h, f16),
        (q * 2, i32),
        (q // 2 % 3, i32),
        (x * i, f32),
        (q + (N - 1), i32),
        (x**2, f32),
        (-h, f16),
        (abs(q), i32),
        (x < 0, boolean),
        (q >= i, boolean),
        (flag & flag, boolean),
        (q & 3, i32),
        (~flag, boolean),
        (call("is_nan", h), boolean),
        (select(flag, x, 0), f32),
        (select(x < 0, 1, h), f16),
        (lift(i), i64),
        (lift(i, i32) + 1, i32),
        (lift(2), i64),
        (lift(2.0), f32),
        (lift(True), boolean),
        (call("add", 1, 2.5), f32),
        (call("less", i, j), boolean),
        (cast(x, f16) + h, f16),
        (total(i, x), f32),
        (total(i, h, f32), f16),
        (fold("logical_or", i, flag), boolean),
        (join(i, [x, 0.0]), f32),
    ],
)
def test_the_element_type_follows_from_the_operands(built: Expr, dtype: ElementType) -> None:
    assert built.dtype is dtype


@pytest.mark.parametrize(
    ("fn", "args", "message"),
    [
        ("add", (x, h), "add of f32 and f16: operands need one element type, cast one of them"),
        ("multiply", (q, x), "multiply of i32 and f32: operands need one element type, cast one of them"),
        ("select", (flag, x, h), "select of f32 and f16: operands need one element type, cast one of them"),
        ("select", (x, x, x), "the condition of select has element type f32, expected i1"),
        ("divide", (q, q), "divide is not defined on i32"),
        ("exp", (q,), "exp is not defined on i32"),
        ("logical_and", (q, q), "logical_and is not defined on i32"),
        ("add", (flag, flag), "add is not defined on i1"),
        ("less", (read("z", complex64), read("z", complex64)), "less is not defined on complex<f32>"),
        ("add", (q, 0.5), "0.5 is not a value of i32"),
        ("add", (read("b", i8), 128), "128 is not a value of i8"),
        ("subtract", (read("b", u8), -1), "-1 is not a value of ui8"),
        ("multiply", (q, math.inf), "inf is not a value of i32"),
        ("add", (x, True), "True is not a value of f32"),
        ("logical_and", (flag, i), "the position i is a number, not a value of i1"),
        ("add", (x,), "add takes 2 operands, found 1"),
        ("softplus", (x,), "no scalar function 'softplus'"),
    ],
)
def test_operands_that_do_not_agree_are_refused(fn: str, args: tuple[Scalar, ...], message: str) -> None:
    with pytest.raises(NotationError) as caught:
        call(fn, *args)
    assert str(caught.value) == message


def test_a_fold_states_its_accumulation_type_by_casts() -> None:
    built = total(i, h * h, f32)
    assert built is Cast(Fold("add", ("i",), Cast(h * h, f32)), f16)
    assert total(i, x, f32) is Fold("add", ("i",), x)


def test_a_fold_over_no_index_is_its_body() -> None:
    assert total((), x) is x


@pytest.mark.parametrize(
    ("fn", "dtype", "expected"),
    [
        ("add", f16, 0.0),
        ("add", i32, 0),
        ("add", complex64, 0j),
        ("multiply", bf16, 1.0),
        ("maximum", f32, -math.inf),
        ("minimum", f8e5m2, math.inf),
        ("maximum", f8e4m3fn, -448.0),
        ("maximum", i8, -128),
        ("minimum", u16, 65535),
        ("maximum", u8, 0),
        ("minimum", i64, 2**63 - 1),
        ("logical_and", boolean, True),
        ("logical_or", boolean, False),
    ],
)
def test_the_value_of_an_empty_fold(fn: str, dtype: ElementType, expected: Number) -> None:
    actual = identity(fn, dtype)
    assert actual == expected
    assert type(actual) is type(expected)


def test_a_fold_has_an_element_type_it_is_defined_on() -> None:
    with pytest.raises(NotationError, match="a fold by maximum is not defined on complex<f32>"):
        fold("maximum", i, read("z", complex64))
    with pytest.raises(NotationError, match="no fold 'mean'"):
        fold("mean", i, x)
    with pytest.raises(NotationError, match="needs different indices"):
        fold("add", (i, i), x)


def test_conversions() -> None:
    assert cast(x, f32) is x
    assert cast(i, f32) is Position(i, f32)
    assert cast(2, f32).dtype is f32
    assert cast(x, boolean).dtype is boolean
    with pytest.raises(NotationError, match=r"no conversion from complex<f32> to f32"):
        cast(read("z", complex64), f32)
    with pytest.raises(NotationError, match=r"no conversion from !builtin.string to i64"):
        cast(read("s", string), i64)


def test_every_row_of_the_table_is_applicable() -> None:
    samples = {"bool": flag, "int": q, "uint": read("u", u8), "float": x, "complex": read("z", complex64)}
    for row in FUNCTIONS.values():
        for kind in row.kinds:
            if kind in samples:
                args = [samples[kind]] * row.arity
                built = call(row.name, *([flag, *args[1:]] if row.name == "select" else args))
                assert built.dtype is (boolean if row.result == "boolean" else samples[kind].dtype)
                assert math_text(built)
    assert set(FOLDS) <= set(FUNCTIONS)


# ---- constants and interning


def test_constants_that_differ_are_different_objects() -> None:
    values: list[tuple[Number, ElementType]] = [
        (0.0, f32),
        (-0.0, f32),
        (0, i32),
        (False, boolean),
        (math.nan, f32),
        (math.inf, f32),
        (-math.inf, f32),
        (0.0, f64),
        (complex(0.0, -0.0), complex64),
        (0j, complex64),
    ]
    built = [Const(v, t) for v, t in values]
    assert len(set(built)) == len(values)
    assert Const(float("nan"), f32) is Const(-math.nan, f32)
    assert Const(1, f32) is Const(1.0, f32)


def test_expressions_built_equally_are_one_object() -> None:
    again = Tensor("x", (symbol("N"),), f32)[index("i")]
    assert again is x
    assert call("exp", again - 1) is call("exp", x - 1.0)
    assert Tensor("x", (N,), f32).padded((1,), (0,), fill=-0.0) is not Tensor("x", (N,), f32).padded((1,), (0,))


def test_expressions_are_immutable_and_have_no_truth() -> None:
    with pytest.raises(AttributeError, match="Apply is immutable"):
        setattr(x + 1, "fn", "multiply")  # noqa: B010  an assignment would not pass the type checker
    with pytest.raises(TypeError, match="use select"):
        bool(x < 0)
    with pytest.raises(TypeError, match="not iterable"):
        iter(x.tensor)


# ---- positions and views


def test_a_position_is_an_integer() -> None:
    with pytest.raises(NotationError, match=r"a position is an integer, but x\[i\] has element type f32"):
        Tensor("t", (N,), f32)[x]
    assert Tensor("t", (N,), f32)[lift(i + 1)].at == (i + 1,)
    assert Tensor("t", (N,), f32)[lift(3)].at == (3,)
    with pytest.raises(NotationError, match="t has rank 1, but is read with 2 indices"):
        Tensor("t", (N,), f32)[i, j]


def test_views_have_their_own_shape() -> None:
    t = Tensor("t", (N, 4), f32)
    assert t.padded((0, 1), (0, 2)).shape == (N, 7)
    assert t.dilated((1, 3)).shape == (N, 10)
    assert t.flat.shape == (4 * N,)
    assert t.padded((0, 0), (0, 0)) is t
    assert t.dilated((1, 1)) is t
    assert Tensor("t", (0,), f32).dilated((3,)).shape == (0,)
    assert t.padded((0, 1), (0, 2)).flat.source is t


@pytest.mark.parametrize(
    ("before", "after", "fill", "message"),
    [
        ((1,), (1, 1), 0, "t has rank 2, but is padded by 1 and 2 amounts"),
        ((0, -3), (0, -2), 0, "t would have a dimension of size -1"),
        ((1, 0), (0, 0), 0.5, "t is padded with 0.5, which is not a value of i8"),
    ],
)
def test_padding_that_does_not_fit_is_refused(
    before: tuple[int, ...], after: tuple[int, ...], fill: float, message: str
) -> None:
    with pytest.raises(NotationError) as caught:
        Tensor("t", (3, 4), i8).padded(before, after, "constant", fill)
    assert str(caught.value) == message


def test_dilation_that_does_not_fit_is_refused() -> None:
    t = Tensor("t", (3, 4), f32)
    with pytest.raises(NotationError, match="dilated by 1 factors"):
        t.dilated((2,))
    with pytest.raises(NotationError, match="expected factors of at least 1"):
        t.dilated((0, 1))


def test_broadcasting_reads_axes_of_size_one_at_zero() -> None:
    assert broadcast(Tensor("b", (1, M), f32), (i, j, k)).at == (0, k)
    assert linear((i, j), (N, M)) == i * M + j


# ---- walking and rebuilding


def test_walking_meets_a_shared_node_once() -> None:
    e = call("exp", x)
    built = (e + e) * e
    assert [type(n).__name__ for n in walk(built)] == ["Apply", "Apply", "Apply", "Access"]
    assert children(built) == (e + e, e)


def test_free_indices_in_order_of_occurrence() -> None:
    t = Tensor("t", (N, M), f32)
    assert free(total(j, t[i, j]) + t[k, 0]) == ("i", "k")
    assert free(join(j, [t[i, j]])) == ("i", "j")
    assert free(Tensor("d", (N,), f32)[Tensor("at", (N,), i64)[k] + 1]) == ("k",)


def test_an_update_has_the_indices_of_its_start_and_changes_no_element_type() -> None:
    built = updated(x, [k], [to[k]], new[k] * 2, "add")
    assert free(built) == ("i",)
    assert children(built) == (x, to[k], new[k] * 2)
    assert rewrite(built, lambda p: substitute_indices(p, {"k": j}), lambda _: ("j",)) is updated(
        x, [j], [to[j]], new[j] * 2, "add"
    )
    with pytest.raises(NotationError, match="elements of f16 are updated with f32: cast one of them"):
        updated(h, [k], [to[k]], new[k])
    with pytest.raises(NotationError, match="an update by less changes the element type f32"):
        updated(x, [k], [to[k]], new[k], "less")
    with pytest.raises(NotationError, match="a position is an integer"):
        updated(x, [k], [new[k]], new[k])


def test_putting_replaces_free_indices_only() -> None:
    t = Tensor("t", (N, M), f32)
    built = total(j, t[i, j])
    assert put(built, {"i": k + 1, "j": k}) is total(j, t[k + 1, j])
    assert put(t[i, j] + built, {"j": k}) is t[i, k] + built
    assert put(lift(i), {"i": 3}) is Const(3, i64)
    with pytest.raises(NotationError, match="index j is bound by a fold inside: rename it first"):
        put(built, {"i": j})


def test_the_index_of_a_join_can_be_renamed_only() -> None:
    t = Tensor("t", (N,), f32)
    assert put(join(i, [t[i], t[i]]), {"i": k}) is join(k, [t[k], t[k]])
    with pytest.raises(NotationError, match="the index i of a join can be renamed"):
        put(join(i, [t[i], t[i]]), {"i": k + 1})


def test_rewriting_passes_every_index_expression() -> None:
    t = Tensor("t", (N, M), f32)
    moved = {"i": k, "j": index("j2")}
    built = rewrite(
        total(j, t[i, j] * j),
        lambda p: substitute_indices(p, moved),
        lambda over: tuple("j2" if n == "j" else n for n in over),
    )
    assert built is total(index("j2"), t[k, index("j2")] * index("j2"))


def test_replacing_accesses() -> None:
    t, s = Tensor("t", (N,), f32), Tensor("s", (N,), f32)
    assert replace_accesses(call("exp", t[i]) + t[j], lambda a: s[a.at] * 2) is call("exp", s[i] * 2) + s[j] * 2


# ---- text


@pytest.mark.parametrize(
    ("built", "expected"),
    [
        ((x + 1) * x - (x - x), "(x[i] + 1)·x[i] - (x[i] - x[i])"),
        (x / (x * x), "x[i] / (x[i]·x[i])"),
        (-(x + x), "-(x[i] + x[i])"),
        ((x * x) ** 2, "(x[i]·x[i])^2"),
        (total(i, x) / N, "(Σ_{i} x[i]) / N"),
        (total(i, x * x + 1), "Σ_{i} (x[i]·x[i] + 1)"),
        (fold("maximum", i, x, f64), "f32(max_{i} f64(x[i]))"),
        (select(x < -math.inf, x, math.nan), "(x[i] if x[i] < -∞ else nan)"),
        (x * (i + 1), "x[i]·(i + 1)"),
        (call("floor", x) + abs(x), "⌊x[i]⌋ + |x[i]|"),
        (Tensor("x", (N,), f32).padded((1,), (0,)).flat[i], "x⁺♭[i]"),
        (join(i, [x, x]), "join_{i}(x[i], x[i])"),
        (updated(x, [k], [to[k]], new[k], "add"), "x[i], then for k: [to[k]] := [to[k]] + new[k]"),
        (updated(x, [k], [k + 1], new[k]), "x[i], then for k: [k + 1] := new[k]"),
    ],
)
def test_text_of_expressions(built: Expr, expected: str) -> None:
    assert math_text(built) == expected


def test_text_of_a_kernel() -> None:
    a, b = Tensor("a", (N, 4), f32), Tensor("b", (4, M), f32)
    assert formula(total(k, a[i, k] * b[k, j]).by(i, j)) == "y[i, j] = Σ_{k} a[i, k]·b[k, j]"


@pytest.mark.slow
def test_expressions_that_nobody_uses_are_forgotten() -> None:
    built = Const(12345.5, f32) + Const(54321.5, f32)
    assert built is Const(12345.5, f32) + Const(54321.5, f32)
    gone = weakref.ref(built)
    del built
    gc.collect()
    assert gone() is None
