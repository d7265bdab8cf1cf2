"""Where it is known before running which region of an operation runs, that one is lowered in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.mil.control import Cond
from commonir.dialects.mil.elementwise import Sub
from commonir.dialects.mil.program import Const, Func, Return
from commonir.ir.data import data_of
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region
from commonir.ir.types import boolean, f32, tensor
from commonir.ods import Dialects
from commonir.text.parser import parse_module

X = np.array([1, -2], np.float32)


def function(*lines: str) -> Module:
    """A function of a vector `%x` that returns `%y`."""
    head = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {"
    return parse_module("\n".join([head, *lines, "return %y : tensor<2xf32> }"]), Dialects())


def scf_if(holds: bool) -> Module:
    return function(
        f"%c = arith.constant {str(holds).lower()}",
        "%y = scf.if %c -> tensor<2xf32> { %t = stablehlo.negate %x : tensor<2xf32> scf.yield %t : tensor<2xf32> }",
        "else { scf.yield %x : tensor<2xf32> }",
    )


def scf_switch(holds: bool) -> Module:
    return function(
        f"%c = arith.constant {5 if holds else 4} : index",
        "%y = scf.index_switch %c -> tensor<2xf32>",
        "case 5 { %t = stablehlo.negate %x : tensor<2xf32> scf.yield %t : tensor<2xf32> }",
        "default { scf.yield %x : tensor<2xf32> }",
    )


def tosa_if(holds: bool) -> Module:
    return function(
        f'%c = "tosa.const"() <{{values = dense<{str(holds).lower()}> : tensor<i1>}}> : () -> tensor<i1>',
        "%y = tosa.cond_if %c (%a = %x) : tensor<i1> (tensor<2xf32>) -> tensor<2xf32> {",
        "^bb0(%a: tensor<2xf32>): %t = stablehlo.negate %a : tensor<2xf32> tosa.yield %t : tensor<2xf32> }",
        "else { ^bb0(%b: tensor<2xf32>): tosa.yield %b : tensor<2xf32> }",
    )


def stablehlo_if(holds: bool) -> Module:
    return function(
        f"%c = stablehlo.constant dense<{str(holds).lower()}> : tensor<i1>",
        '%y = "stablehlo.if"(%c) ({',
        "%t = stablehlo.negate %x : tensor<2xf32> stablehlo.return %t : tensor<2xf32> }, {",
        "stablehlo.return %x : tensor<2xf32> }) : (tensor<i1>) -> tensor<2xf32>",
    )


def stablehlo_case(holds: bool) -> Module:
    """A number without a region stands for the last one."""
    return function(
        f"%c = stablehlo.constant dense<{0 if holds else -1}> : tensor<i32>",
        '%y = "stablehlo.case"(%c) ({',
        "%t = stablehlo.negate %x : tensor<2xf32> stablehlo.return %t : tensor<2xf32> }, {",
        "%u = stablehlo.add %x, %x : tensor<2xf32> stablehlo.return %u : tensor<2xf32> }, {",
        "stablehlo.return %x : tensor<2xf32> }) : (tensor<i32>) -> tensor<2xf32>",
    )


def scf_while(holds: bool) -> Module:
    """Returns what is asked before the first round is computed though there is none."""
    assert holds
    return function(
        "%c = arith.constant false",
        "%y = scf.while (%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {",
        "%t = stablehlo.negate %a : tensor<2xf32> scf.condition(%c) %t : tensor<2xf32> }",
        "do { ^bb0(%b: tensor<2xf32>): scf.yield %b : tensor<2xf32> }",
    )


def mil_cond(holds: bool) -> Module:
    block = Block([tensor(f32, 2)], ["x"], "CoreML5")
    (x,) = block.arguments
    condition, zero = Const(data_of(boolean, (), (holds,))), Const(data_of(f32, (), (0.0,)))
    negated = Sub(zero.output, x)
    first, second = (Return.build({"values": (v,), "names": ("",)}, ()) for v in (negated.output, x))
    then, otherwise = Block(), Block()
    for op in (negated, first):
        then.append(op)
    otherwise.append(second)
    chosen = Cond(condition.output, Region([then]), Region([otherwise]))
    for op in (condition, zero, chosen, Return.build({"values": chosen.outputs, "names": ("y",)}, ())):
        block.append(op)
    module = Module()
    module.body.append(Func.build({"sym_name": "main", "opset": "CoreML5", "specializations": (Region([block]),)}, ()))
    return module


CASES: Mapping[str, tuple[Callable[[bool], Module], bool]] = {
    f"{make.__name__} {holds}": (make, holds)
    for make in (scf_if, scf_switch, tosa_if, stablehlo_if, stablehlo_case, scf_while, mil_cond)
    for holds in (True, False)
    if make is not scf_while or holds
}


@pytest.mark.parametrize("name", CASES)
def test_the_region_that_runs_is_lowered_alone(name: str) -> None:
    make, holds = CASES[name]
    lowered = cir.lower(make(holds))
    assert [op.name for op in lowered.nested() if op.regions] == ["ml_program.func"]
    (result,) = cir.run(lowered, {"x": X}).values()
    assert result.tolist() == ([-1.0, 2.0] if holds else [1.0, -2.0])


def test_a_region_of_effects_that_does_not_run_is_left_out() -> None:
    lowered = cir.lower(
        function(
            "%c = arith.constant false",
            'scf.if %c { cf.assert %c, "never" }',
            "%y = stablehlo.negate %x : tensor<2xf32>",
        )
    )
    assert [op.name for op in lowered.main.body.operations] == ["core.neg", "ml_program.return"]


def test_a_wrong_operation_is_refused_though_the_region_that_runs_is_right() -> None:
    module = function(
        "%c = stablehlo.constant dense<true> : tensor<i1>",
        '%y = "stablehlo.if"(%c) ({ stablehlo.return %x : tensor<2xf32> }, {',
        "stablehlo.return %x, %x : tensor<2xf32>, tensor<2xf32> }) : (tensor<i1>) -> tensor<2xf32>",
    )
    with pytest.raises(DiagnosticError, match="C2: false_branch returns other types: expected 1 value, found 2"):
        cir.lower(module)


def test_constants_are_propagated_through_the_region_that_runs() -> None:
    module = function(
        '%c = "tosa.const"() <{values = dense<true> : tensor<i1>}> : () -> tensor<i1>',
        '%one = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>',
        "%y = tosa.cond_if %c (%a = %one) : tensor<i1> (tensor<2xf32>) -> tensor<2xf32> {",
        "^bb0(%a: tensor<2xf32>): tosa.yield %a : tensor<2xf32> }",
        "else { ^bb0(%b: tensor<2xf32>): tosa.yield %x : tensor<2xf32> }",
    )
    optimized = cir.optimize(module, passes=["sccp"])
    (returned,) = optimized.main.outputs
    assert isinstance(returned.owner, Operation)
    assert returned.owner.name == "tosa.const"
