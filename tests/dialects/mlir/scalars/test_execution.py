"""Results of arith, math and index, against LLVM's lowering; what MLIR leaves open is our choice."""

from __future__ import annotations

import numpy as np
import pytest

from commonir.dialects.mlir import arith, index, math

from tests.dialects.mlir.scalars.scalar_programs import COUNT, cases, looped
from tests.dialects.programs import assert_as_compiled, run

NOT_LOWERED = {
    "arith.constant", "arith.scaling_extf", "arith.scaling_truncf", "index.bool.constant", "index.casts", "index.castu",
    "index.ceildivs", "index.constant", "index.sizeof", "math.clampf", "math.fpowi", "math.ipowi", "math.isinf",
    "math.isnormal", "math.sincos",
}  # fmt: skip
"""Operations that other tests run, those of this file among them: LLVM has no lowering, or there is nothing to ask."""

LEAST = -(2**31)


@pytest.mark.slow
def test_operations_give_what_llvm_makes_of_them() -> None:
    assert_as_compiled(cases())


def test_every_operation_is_run_or_named() -> None:
    run_here = {case.operation for case in cases()}
    known = {name for d in (arith.DIALECT, math.DIALECT, index.DIALECT) for name in d.operations}
    assert known - run_here == NOT_LOWERED


def _pairwise(operation: str, left: list[float], right: list[float], element: str = "i32") -> list[float]:
    kind = f"tensor<{len(left)}x{element}>"
    text = f"""func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %r = {operation} %a, %b : {kind}
  return %r : {kind}
}}"""
    dtype = {"i32": "i4", "f32": "f4"}[element]
    (result,) = run(text, np.array(left, dtype), np.array(right, dtype))
    return result.tolist()


@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"])
def test_division_by_zero_gives_zero(name: str) -> None:
    assert _pairwise(f"arith.{name}", [5, -5, LEAST, 0], [0, 0, 0, 0]) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "expected"), [("divsi", LEAST), ("ceildivsi", LEAST), ("floordivsi", LEAST), ("remsi", 0)]
)
def test_the_least_integer_divided_by_minus_one_wraps(name: str, expected: int) -> None:
    assert _pairwise(f"arith.{name}", [LEAST], [-1]) == [expected]


@pytest.mark.parametrize(("name", "expected"), [("shli", [0, 0, 0]), ("shrui", [0, 0, 0]), ("shrsi", [0, -1, 0])])
def test_shifts_as_wide_as_the_type_leave_nothing_but_the_sign(name: str, expected: list[int]) -> None:
    assert _pairwise(f"arith.{name}", [5, LEAST, 5], [32, 40, -1]) == expected


def test_fast_math_changes_nothing() -> None:
    result = _pairwise("arith.addf", [np.inf, np.nan, -0.0], [-np.inf, 1, -0.0], "f32")
    kind = "tensor<3xf32>"
    text = f"""func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %r = arith.addf %a, %b fastmath<fast> : {kind}
  return %r : {kind}
}}"""
    (fast,) = run(text, np.array([np.inf, np.nan, -0.0], "f4"), np.array([-np.inf, 1, -0.0], "f4"))
    assert np.array_equal(fast, np.array(result, "f4"), equal_nan=True)
    assert np.signbit(fast[2])


def test_floats_are_distinguished() -> None:
    x = np.array([0.0, -0.0, 1e-40, 1.0, np.inf, -np.inf, np.nan], "f4")
    for name, expected in (("isinf", np.isinf(x)), ("isnormal", [False, False, False, True, False, False, False])):
        text = f"""func.func @main(%a: tensor<7xf32>) -> tensor<7xi1> {{
  %r = math.{name} %a : tensor<7xf32>
  return %r : tensor<7xi1>
}}"""
        assert run(text, x)[0].tolist() == list(expected), name


def test_positions_are_divided_upward_with_their_signs() -> None:
    a, b = np.zeros(COUNT, "i8"), np.ones(COUNT, "i8")
    a[:6], b[:6] = [7, -7, 7, -7, 6, 0], [2, 2, -2, -2, 3, 5]
    (result,) = run(looped("main", "index.ceildivs %a, %b", "index"), a, b)
    assert result[:6].tolist() == [4, -3, -3, 4, 2, 0]


def test_operations_that_llvm_does_not_lower() -> None:
    x, i, k, n = np.array([1.5, -2, 3], "f4"), np.array([2, -1, 0], "i4"), "tensor<3xf32>", "tensor<3xi32>"
    text = f"""func.func @main(%x: {k}, %i: {n}) -> ({k}, {k}, {k}, {k}, {n}) {{
  %sin, %cos = math.sincos %x : {k}
  %power = math.fpowi %x, %i : {k}, {n}
  %low = arith.constant dense<-1.0> : {k}
  %high = arith.constant dense<2.0> : {k}
  %clamped = math.clampf %x to [%low, %high] : {k}
  %base = arith.constant dense<[2, -1, 3]> : {n}
  %whole = math.ipowi %base, %i : {n}
  return %sin, %cos, %power, %clamped, %whole : {k}, {k}, {k}, {k}, {n}
}}"""
    sin, cos, power, clamped, whole = run(text, x, i)
    assert np.allclose(sin, np.sin(x), rtol=1e-6)
    assert np.allclose(cos, np.cos(x), rtol=1e-6)
    assert power.tolist() == [2.25, -0.5, 1]
    assert clamped.tolist() == [1.5, -1, 2]
    assert whole.tolist() == [4, -1, 1]


def test_positions_become_integers_and_back() -> None:
    text = """func.func @main(%i: index, %b: i8) -> (i8, i1, index, index, index) {
  %narrow = index.casts %i : index to i8
  %true = index.bool.constant true
  %size = index.sizeof
  %signed = index.casts %b : i8 to index
  %unsigned = index.castu %b : i8 to index
  return %narrow, %true, %size, %signed, %unsigned : i8, i1, index, index, index
}"""
    assert [x.tolist() for x in run(text, np.array(130), np.array(-2, "i1"))] == [-126, True, 64, -2, 254]
