"""Functions that call functions: chains deeper than Python's stack, and calls that share what they became."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import commonir as cir
from commonir.base.codes import NOT_INLINED
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.base.limits import DEFAULT_LIMITS
from commonir.passes.lower import lower

from tests.work_counts import calls_of

_TYPE = "tensor<2xf32>"


def _mlir(bodies: dict[str, str], visibility: str = "") -> cir.Module:
    """Returns a program of functions of one vector: each body defines %y."""
    lines = [
        f"func.func {'' if name == 'main' else visibility} @{name}(%x: {_TYPE}) -> {_TYPE} "
        f"{{\n{body}\nreturn %y : {_TYPE}\n}}"
        for name, body in bodies.items()
    ]
    return cir.loads("\n".join(lines), format="mlir")


def _call(name: str, operand: str = "%x", result: str = "%y") -> str:
    return f"{result} = func.call @{name}({operand}) : ({_TYPE}) -> {_TYPE}"


def _negation(operand: str = "%x", result: str = "%y") -> str:
    return f"{result} = stablehlo.negate {operand} : {_TYPE}"


def _mlir_chain(depth: int, visibility: str = "") -> cir.Module:
    """Returns a program whose main function negates a vector `depth` times, once in each function."""
    names = ["main", *[f"f{n}" for n in range(1, depth)]]
    bodies = {
        name: f"{_call(following, '%x', '%z')}\n{_negation('%z')}" for name, following in itertools.pairwise(names)
    }
    return _mlir({**bodies, names[-1]: _negation()}, visibility)


def _private_chain(depth: int) -> cir.Module:
    return _mlir_chain(depth, "private")


def _onnx_chain(depth: int) -> cir.Module:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    value = helper.make_tensor_value_info
    functions: list[onnx.FunctionProto] = []
    for n in range(depth):
        called = helper.make_node(f"F{n + 1}", ["a"], ["t"], domain="f") if n < depth - 1 else None
        first = [called or helper.make_node("Identity", ["a"], ["t"])]
        functions.append(
            helper.make_function("f", f"F{n}", ["a"], ["b"], [*first, helper.make_node("Neg", ["t"], ["b"])], opsets)
        )
    graph = helper.make_graph(
        [helper.make_node("F0", ["x"], ["y"], domain="f")],
        "g",
        [value("x", TensorProto.FLOAT, [2])],
        [value("y", TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, functions=functions, opset_imports=opsets, ir_version=8)
    return cir.loads(model.SerializeToString(), format="onnx")


def _common_ir_chain(depth: int) -> cir.Module:
    return cir.convert(_onnx_chain(depth), "common_ir")


_CHAINS = {_mlir_chain: "onnx", _private_chain: "coreml", _onnx_chain: "common_ir", _common_ir_chain: "onnx"}


def _check_chain(module: cir.Module, depth: int, target: str) -> None:
    """Checks every use of a chain of functions."""
    x = np.array([1, -2], np.float32)
    expected = x if depth % 2 == 0 else -x
    assert [d for d in cir.verify(module) if d.is_error] == []
    assert list(cir.shapes(module))
    converted = cir.convert(module, target)
    for program in (module, converted, cir.optimize(module), cir.optimize(module, passes=["inline"])):
        (y,) = cir.run(program, {program.inputs[0].name: x}).values()
        np.testing.assert_array_equal(y, expected)


@pytest.mark.slow
@pytest.mark.parametrize(("chain", "target"), _CHAINS.items())
def test_chains_of_functions_are_checked_run_optimized_and_converted(
    chain: Callable[[int], cir.Module], target: str
) -> None:
    _check_chain(chain(3000), 3000, target)


@pytest.fixture
def few_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets only 50 operations be inlined, so that programs are short."""
    limits = DEFAULT_LIMITS._replace(max_inlined_operations=50)
    for module in ("commonir.ir.call_graph", "commonir.ir.module", "commonir.passes.inline"):
        monkeypatch.setattr(f"{module}.DEFAULT_LIMITS", limits)


@pytest.mark.usefixtures("few_copies")
def test_a_chain_of_public_functions_is_lowered_from_its_main_function() -> None:
    lowered = lower(_mlir_chain(12))
    assert list(lowered.functions) == ["main"]
    assert sum(op.name == "core.neg" for op in lowered.nested()) == 12


def test_public_functions_stay_in_a_lowered_program_while_their_calls_are_few() -> None:
    assert list(lower(_mlir_chain(3)).functions) == ["main", "f1", "f2"]


def test_the_work_for_a_chain_of_public_functions_is_linear() -> None:
    lower(_mlir_chain(2))  # loading does not count
    short, long = [calls_of(partial(lower, _mlir_chain(depth))) for depth in (50, 100)]
    assert long < 2.2 * short


def test_rules_are_compiled_once_for_all_functions() -> None:
    """Compiling those of arith takes 50,000 calls."""

    def calls(count: int) -> int:
        module = _mlir({f"f{n}": f"%y = arith.negf %x : {_TYPE}" for n in range(count)})
        return calls_of(lambda: cir.optimize(module))

    calls(2)  # loading does not count
    assert calls(10) - calls(5) < 20_000


def test_a_public_function_that_is_inlined_only_is_converted_when_it_is_chosen() -> None:
    converted = cir.convert(_mlir_chain(60), "onnx", function="f58")
    assert [op.name for op in converted.nested()].count("onnx.Neg") == 2


@pytest.mark.usefixtures("few_copies")
def test_conversions_say_which_public_functions_are_left_out() -> None:
    findings = Diagnostics()
    cir.convert(_mlir_chain(12), "onnx", findings=findings)
    assert [d.message for d in findings] == [
        "f1 and 10 more: only in the place of their calls, which stand for too many operations together"
    ]


@pytest.mark.usefixtures("few_copies")
def test_inlining_moves_private_functions_that_are_called_once() -> None:
    result = cir.optimize(_private_chain(30), passes=["inline"])
    assert list(result.functions) == ["main"]
    assert [op.name for op in result.nested()].count("stablehlo.negate") == 30


@pytest.mark.usefixtures("few_copies")
def test_inlining_leaves_calls_once_it_has_copied_too_many_operations() -> None:
    bodies = {f"f{n}": f"{_call(f'f{n + 1}', '%x', '%z')}\n{_call(f'f{n + 1}', '%z')}" for n in range(12)}
    findings = Diagnostics()
    module = _mlir({"main": _call("f0"), **bodies, "f12": _negation()}, "private")
    result = cir.optimize(module, passes=["inline"], findings=findings)
    assert [d.code for d in findings] == [NOT_INLINED]
    assert len(list(result.nested())) < 200
    assert [d for d in cir.verify(result) if d.is_error] == []


def test_a_further_call_of_a_function_is_copied() -> None:
    """Lowering a function again takes thousands of calls for each operation."""

    def work(count: int) -> int:
        body = [_negation("%x", "%0"), *[_negation(f"%{n}", f"%{n + 1}") for n in range(20)], _negation("%20")]
        chain = [_call("f", "%x" if n == 0 else f"%{n - 1}", f"%{n}") for n in range(count)]
        module = _mlir({"main": "\n".join([*chain, _call("f", f"%{count - 1}")]), "f": "\n".join(body)}, "private")
        return calls_of(lambda: lower(module))

    work(1)  # loading does not count
    first, second, third = work(1), work(2), work(3)
    assert third - second < 0.25 * first
    assert second - first < 0.25 * first


@pytest.mark.parametrize("arguments", [("%x", "%x"), ("%x", "%a"), ("%a", "%x")])
def test_calls_that_repeat_an_argument_are_not_taken_for_others(arguments: tuple[str, str]) -> None:
    text = f"""
    func.func private @f(%p: {_TYPE}, %q: {_TYPE}) -> {_TYPE} {{
      %r = stablehlo.subtract %p, %q : {_TYPE}
      return %r : {_TYPE}
    }}
    func.func @main(%x: {_TYPE}, %a: {_TYPE}) -> ({_TYPE}, {_TYPE}) {{
      %0 = func.call @f({", ".join(arguments)}) : ({_TYPE}, {_TYPE}) -> {_TYPE}
      %1 = func.call @f(%a, %x) : ({_TYPE}, {_TYPE}) -> {_TYPE}
      return %0, %1 : {_TYPE}, {_TYPE}
    }}
    """
    values = {"x": np.array([1, 2], np.float32), "a": np.array([5, 9], np.float32)}
    p, q = [values[name.removeprefix("%")] for name in arguments]
    first, second = cir.run(cir.loads(text, format="mlir"), values).values()
    np.testing.assert_array_equal(first, p - q)
    np.testing.assert_array_equal(second, values["a"] - values["x"])


def test_what_depends_on_contents_of_an_argument_is_lowered_for_each_call() -> None:
    value = helper.make_tensor_value_info
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    reshape = helper.make_function(
        "f", "R", ["a", "s"], ["b"], [helper.make_node("Reshape", ["a", "s"], ["b"])], opsets
    )
    shapes = {"s": [2, 3], "t": [3, 2]}
    graph = helper.make_graph(
        [helper.make_node("R", ["x", s], [f"y{s}"], domain="f") for s in shapes],
        "g",
        [value("x", TensorProto.FLOAT, [6])],
        [value(f"y{s}", TensorProto.FLOAT, None) for s in shapes],
        [helper.make_tensor(s, TensorProto.INT64, [2], dims) for s, dims in shapes.items()],
    )
    model = helper.make_model(graph, functions=[reshape], opset_imports=opsets, ir_version=8)
    outputs = cir.run(cir.loads(model.SerializeToString(), format="onnx"))
    assert {name: list(y.shape) for name, y in outputs.items()} == {"ys": [2, 3], "yt": [3, 2]}


def test_dims_that_depend_on_data_are_those_of_their_call() -> None:
    value = helper.make_tensor_value_info
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    find = helper.make_function("f", "N", ["a"], ["b"], [helper.make_node("NonZero", ["a"], ["b"])], opsets)
    graph = helper.make_graph(
        [helper.make_node("N", [n], [f"y{n}"], domain="f") for n in ("p", "q")],
        "g",
        [value(n, TensorProto.FLOAT, [4]) for n in ("p", "q")],
        [value(f"y{n}", TensorProto.INT64, None) for n in ("p", "q")],
    )
    model = helper.make_model(graph, functions=[find], opset_imports=opsets, ir_version=8)
    module = cir.loads(model.SerializeToString(), format="onnx")
    outputs = cir.run(module, {"p": np.array([0, 1, 1, 0], np.float32), "q": np.array([0, 0, 0, 1], np.float32)})
    assert [y.tolist() for y in outputs.values()] == [[[1, 2]], [[3]]]


def test_a_cycle_of_functions_is_an_error_when_it_is_lowered() -> None:
    module = _mlir({"main": _call("f"), "f": _call("g"), "g": _call("f")}, "private")
    with pytest.raises(DiagnosticError, match="functions call each other in a cycle: f -> g -> f"):
        lower(module)
