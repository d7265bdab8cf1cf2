"""Programs of StableHLO and other dialects of MLIR that `optimize` makes smaller: what remains is written out, and IREE
computes the same before and after.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pytest

import commonir as cir
from commonir.ods import Dialects, verify
from commonir.text.printer import Naming, print_module

from tests.iree import Compiled

_X = "tensor<2x3x4x5xf32>"
_LAST = "tensor<2x4x5x3xf32>"


class Case(NamedTuple):
    """A function of `%x`, what it returns, and the operations that remain, without their dialect."""

    takes: str
    body: str
    returns: str
    left: Mapping[str, int]
    level: str = "exact"


def _last(name: str, to: str) -> str:
    return f"%{to} = stablehlo.transpose %{name}, dims = [0, 2, 3, 1] : ({_X}) -> {_LAST}\n"


def _first(name: str, to: str) -> str:
    return f"%{to} = stablehlo.transpose %{name}, dims = [0, 3, 1, 2] : ({_LAST}) -> {_X}\n"


_WEIGHT = "%w = stablehlo.constant dense<{w}> : tensor<2x3x3x3xf32>\n"
_CONVOLVED = (
    "%c = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} "
    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
    "(tensor<1x3x6x6xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x4x4xf32>\n"
)
_WEIGHTS = np.random.default_rng(1).standard_normal((2, 3, 3, 3)).astype(np.float32)
_CONVOLUTION = _WEIGHT.format(w=_WEIGHTS.tolist()) + _CONVOLVED
_TWO = (
    "%s = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>\n"
    "%t = stablehlo.constant dense<[0.5, -1.0]> : tensor<2xf32>\n"
)
_BIASED = (
    f"{_CONVOLUTION}{_TWO}%d = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<2xf32>) -> tensor<1x2x4x4xf32>\n"
    "%e = stablehlo.add %c, %d : tensor<1x2x4x4xf32>\n"
)
_SCALED = (
    "%f = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<1x2x4x4xf32>\n"
    "%y = stablehlo.multiply %e, %f : tensor<1x2x4x4xf32>"
)
_NORMALIZED = (
    '%y = "stablehlo.batch_norm_inference"(%c, %s, %t, %t, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : '
    "(tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>"
)

CASES: dict[str, Case] = {
    "two transpositions": Case(
        _X, _last("x", "a") + _first("a", "b") + f"%y = stablehlo.negate %b : {_X}", _X, {"negate": 1}
    ),
    "two reshapes": Case(
        _X,
        f"%a = stablehlo.reshape %x : ({_X}) -> tensor<6x20xf32>\n"
        "%y = stablehlo.reshape %a : (tensor<6x20xf32>) -> tensor<120xf32>",
        "tensor<120xf32>", {"reshape": 1},
    ),
    "elementwise operations between transpositions": Case(
        _X,
        _last("x", "a") + f"%b = stablehlo.tanh %a : {_LAST}\n"
        "%c = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n"
        f"%d = stablehlo.broadcast_in_dim %c, dims = [3] : (tensor<3xf32>) -> {_LAST}\n"
        f"%e = stablehlo.multiply %b, %d : {_LAST}\n" + _first("e", "y"),
        _X, {"tanh": 1, "multiply": 1, "broadcast_in_dim": 1},
    ),
    "constants are transposed": Case(
        _X,
        _last("x", "a") + f"%c = stablehlo.constant dense<{np.arange(120.0).reshape(2, 4, 5, 3).tolist()}> : {_LAST}\n"
        f"%d = stablehlo.add %c, %a : {_LAST}\n" + _first("d", "y"),
        _X, {"add": 1},
    ),
    "a cast to a larger type before another": Case(
        "tensor<4xi8>",
        "%a = stablehlo.convert %x : (tensor<4xi8>) -> tensor<4xi32>\n"
        "%y = stablehlo.convert %a : (tensor<4xi32>) -> tensor<4xi64>",
        "tensor<4xi64>", {"convert": 1},
    ),
    "a cast to a smaller type and back stays": Case(
        "tensor<4xf32>",
        "%a = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf16>\n"
        "%y = stablehlo.convert %a : (tensor<4xf16>) -> tensor<4xf32>",
        "tensor<4xf32>", {"convert": 2},
    ),
    "a cast to the same type": Case(
        "tensor<4xf32>",
        "%a = stablehlo.convert %x : tensor<4xf32>\n%y = stablehlo.abs %a : tensor<4xf32>",
        "tensor<4xf32>", {"abs": 1},
    ),
    "two slices": Case(
        _X,
        f"%a = stablehlo.slice %x [0:2, 1:3, 0:4:2, 0:5] : ({_X}) -> tensor<2x2x2x5xf32>\n"
        "%y = stablehlo.slice %a [0:2, 1:2, 0:2, 1:5] : (tensor<2x2x2x5xf32>) -> tensor<2x1x2x4xf32>",
        "tensor<2x1x2x4xf32>", {"slice": 1},
    ),
    "a slice of a concatenation": Case(
        "tensor<4x2xf32>",
        "%n = stablehlo.negate %x : tensor<4x2xf32>\n"
        "%a = stablehlo.concatenate %x, %n, dim = 0 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>\n"
        "%y = stablehlo.slice %a [4:7, 0:2] : (tensor<8x2xf32>) -> tensor<3x2xf32>",
        "tensor<3x2xf32>", {"negate": 1, "slice": 1},
    ),
    "parts that are put together again": Case(
        "tensor<4x2xf32>",
        "%a = stablehlo.slice %x [0:1, 0:2] : (tensor<4x2xf32>) -> tensor<1x2xf32>\n"
        "%b = stablehlo.slice %x [1:4, 0:2] : (tensor<4x2xf32>) -> tensor<3x2xf32>\n"
        "%c = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>\n"
        "%y = stablehlo.sine %c : tensor<4x2xf32>",
        "tensor<4x2xf32>", {"sine": 1},
    ),
    "equal constants and operations on constants": Case(
        "tensor<2xf32>",
        "%a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
        "%b = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
        "%c = stablehlo.multiply %a, %b : tensor<2xf32>\n"
        "%d = stablehlo.add %x, %c : tensor<2xf32>\n%e = stablehlo.add %x, %a : tensor<2xf32>\n"
        "%f = stablehlo.add %x, %b : tensor<2xf32>\n%g = stablehlo.add %e, %f : tensor<2xf32>\n"
        "%y = stablehlo.subtract %d, %g : tensor<2xf32>",
        "tensor<2xf32>", {"add": 3, "subtract": 1},
    ),
    "a constant that would enlarge the program": Case(
        "tensor<64x64xf32>",
        "%a = stablehlo.constant dense<[0.1, 0.2]> : tensor<2xf32>\n"
        "%b = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xf32>) -> tensor<32x2xf32>\n"
        "%c = stablehlo.reshape %b : (tensor<32x2xf32>) -> tensor<64xf32>\n"
        "%d = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>\n"
        "%y = stablehlo.add %x, %d : tensor<64x64xf32>",
        "tensor<64x64xf32>", {"add": 1, "broadcast_in_dim": 2, "reshape": 1},
    ),
    "repetitions of what is reshaped": Case(
        "tensor<2x3xf32>",
        "%a = stablehlo.exponential %x : tensor<2x3xf32>\n"
        "%b = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<2x3x1xf32>\n"
        "%y = stablehlo.broadcast_in_dim %b, dims = [0, 1, 2] : (tensor<2x3x1xf32>) -> tensor<2x3x4xf32>",
        "tensor<2x3x4xf32>", {"exponential": 1, "broadcast_in_dim": 1},
    ),
    "neutral constants": Case(
        "tensor<4xf32>",
        "%a = stablehlo.constant dense<1.0> : tensor<4xf32>\n%b = stablehlo.multiply %x, %a : tensor<4xf32>\n"
        "%y = stablehlo.tanh %b : tensor<4xf32>",
        "tensor<4xf32>", {"tanh": 1},
    ),
    "a sum with zero stays": Case(
        "tensor<4xf32>",
        "%a = stablehlo.constant dense<0.0> : tensor<4xf32>\n%y = stablehlo.add %x, %a : tensor<4xf32>",
        "tensor<4xf32>", {"add": 1},
    ),
    "factors of a biased convolution": Case(
        "tensor<1x3x6x6xf32>", _BIASED + _SCALED, "tensor<1x2x4x4xf32>",
        {"convolution": 1, "broadcast_in_dim": 1, "add": 1}, "fast",
    ),
    "factors of a convolution are exact by default": Case(
        "tensor<1x3x6x6xf32>", _BIASED + _SCALED, "tensor<1x2x4x4xf32>",
        {"convolution": 1, "broadcast_in_dim": 2, "add": 1, "multiply": 1},
    ),
    "a convolution that is normalized": Case(
        "tensor<1x3x6x6xf32>", _CONVOLUTION + _TWO + _NORMALIZED, "tensor<1x2x4x4xf32>",
        {"convolution": 1, "broadcast_in_dim": 1, "add": 1}, "fast",
    ),
    "results that nothing uses": Case(
        "tensor<4xf32>",
        "%a = stablehlo.tanh %x : tensor<4xf32>\n%b = stablehlo.add %a, %a : tensor<4xf32>\n"
        "%y = stablehlo.abs %x : tensor<4xf32>",
        "tensor<4xf32>", {"abs": 1},
    ),
    "a barrier stays": Case(
        _X, _last("x", "a") + f"%b = stablehlo.optimization_barrier %a : {_LAST}\n" + _first("b", "y"), _X,
        {"transpose": 2, "optimization_barrier": 1},
    ),
    "in the body of a loop": Case(
        "tensor<2x3xf32>",
        "%zero = stablehlo.constant dense<0> : tensor<i32>\n%three = stablehlo.constant dense<3> : tensor<i32>\n"
        "%one = stablehlo.constant dense<1> : tensor<i32>\n"
        "%r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<2x3xf32>\n"
        "cond {\n%p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "stablehlo.return %p : tensor<i1>\n} do {\n"
        "%a = stablehlo.transpose %s, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
        "%b = stablehlo.tanh %a : tensor<3x2xf32>\n"
        "%c = stablehlo.transpose %b, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>\n"
        "%n = stablehlo.add %i, %one : tensor<i32>\nstablehlo.return %n, %c : tensor<i32>, tensor<2x3xf32>\n}\n"
        "%y = stablehlo.abs %r#1 : tensor<2x3xf32>",
        "tensor<2x3xf32>", {"while": 1, "compare": 1, "tanh": 1, "add": 1, "abs": 1},
    ),
}  # fmt: skip


def _function(name: str, case: Case) -> str:
    head = f"func.func public @{name}(%x: {case.takes}) -> {case.returns}"
    return f"{head} {{\n{case.body}\nreturn %y : {case.returns}\n}}\n"


def _optimized(text: str, level: str) -> str:
    program = cir.optimize(cir.loads(f"module {{\n{text}}}", format="mlir"), level=level)
    return print_module(program, elide=None, naming=Naming.MLIR)


_IGNORED = {"constant", "return"}


@pytest.mark.parametrize("name", CASES)
def test_remaining_operations(name: str) -> None:
    case = CASES[name]
    text = _optimized(_function("main", case), case.level)
    found = Counter(re.findall(r"stablehlo\.(\w+)", text))
    assert {k: n for k, n in found.items() if k not in _IGNORED} == case.left
    # What is read again is legal.
    assert not list(verify(cir.loads(text, format="mlir"), Dialects()))


@pytest.mark.slow
def test_iree_computes_the_same_before_and_after() -> None:
    before = "".join([_function(f"before{n}", case) for n, case in enumerate(CASES.values())])
    after = {level: _after(level) for level in ("exact", "fast")}
    program = Compiled(f"module {{\n{before}{after['exact']}{after['fast']}}}")
    rng = np.random.default_rng(0)
    for n, case in enumerate(CASES.values()):
        *shape, element = case.takes.removeprefix("tensor<").removesuffix(">").split("x")
        x = (3 * rng.standard_normal([int(d) for d in shape])).astype({"f32": "f4", "i8": "i1"}[element])
        (expected,), (result,) = program.run(f"before{n}", [x]), program.run(f"after{n}", [x])
        if case.level == "exact":
            assert expected.tobytes() == result.tobytes()
        else:
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def _after(level: str) -> str:
    cases = enumerate(CASES.values())
    text = _optimized("".join([_function(f"after{n}", case) for n, case in cases if case.level == level]), level)
    return text.strip().removeprefix("module {\n").removesuffix("}")


_ANNOTATED = """
module @jit_f attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<2x3xf32> {mhlo.sharding = "{devices=[2,1]}"}) ->
      (tensor<6xf32> {jax.result_info = "out"}, tensor<2xf32>) {
    %0 = stablehlo.transpose %x, dims = [1, 0] {mhlo.sharding = "{replicated}"} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("first")
    %3 = stablehlo.reshape %2 : (tensor<3x2xf32>) -> tensor<6xf32> loc("second")
    %4 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %5 = stablehlo.add %4, %4 {mhlo.sharding = "{maximal device=0}"} : tensor<2xf32>
    return %3, %5 : tensor<6xf32>, tensor<2xf32>
  }
}
"""


def test_attributes_of_others_and_locations_survive() -> None:
    program = cir.optimize(cir.loads(_ANNOTATED, format="mlir"))
    text = print_module(program, elide=None, locations=True, naming=Naming.MLIR)
    for attribute in ("replicated", "maximal device=0", "devices=[2,1]", "jax.result_info", "mhlo.num_partitions"):
        assert attribute in text
    assert text.count("stablehlo.transpose") == 2
    assert text.count("stablehlo.reshape") == 1
    assert 'loc("second")' in text


_OF_OTHERS = {
    "tosa": """
func.func @main(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = tosa.tanh %0 : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %2 : tensor<2x3x4x5xf32>
}
""",
}


@pytest.mark.parametrize("dialect", _OF_OTHERS)
def test_rules_apply_to_other_dialects(dialect: str) -> None:
    program = cir.optimize(cir.loads(_OF_OTHERS[dialect], format="mlir"))
    text = print_module(program, naming=Naming.MLIR)
    assert re.findall(rf"{dialect}\.(\w+)", text) == ["tanh"]
