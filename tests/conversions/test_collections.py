"""Tuples, maps, handles and sparse tensors in other formats.

Those that a program makes and reads itself vanish. Operators of ai.onnx.ml read maps that are inputs. Everything else
is refused with a remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

import commonir as cir
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.dialects import core
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import (
    MapType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    boolean,
    f32,
    f64,
    handle,
    i64,
    string,
    tensor,
)
from commonir.passes.without_requirements import without_requirements
from commonir.symbolic import symbol

from tests.conversions.programs import core_module
from tests.conversions.running import run_onnx

Array = NDArray[Any]
N = symbol("N")
X = np.array([[0, 1.5, 0], [-2, 0, 3]], np.float32)


def _in_onnx(build: Any, types: Mapping[str, Type], inputs: Mapping[str, Any]) -> list[Any]:
    """Returns the outputs of onnxruntime, or of onnx's evaluator for maps that onnxruntime does not take from Python.

    The numpy engine gives the same.
    """
    module = core_module(build, dict(types))
    content = cir.dumps(cir.convert(module, "onnx"), format="onnx")
    assert isinstance(content, bytes)
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    if any(isinstance(t, MapType) and t.value is not tensor(f32) for t in types.values()):
        result = ReferenceEvaluator(onnx.load_from_string(content)).run(None, dict(inputs))
    else:
        result = run_onnx(content, inputs)
    for ours, theirs in zip(cir.run(module, inputs).values(), result, strict=True):
        assert np.asarray(ours).tolist() == np.asarray(theirs).tolist()
    return [np.asarray(v).tolist() for v in result]


def _tuple(a: Value, b: Value) -> tuple[Value, ...]:
    whole = core.tuple_of((core.tuple_of((a, b)), b))
    inner = core.tuple_get(whole, 0)
    return core.add(core.tuple_get(inner, 0), core.tuple_get(whole, 1)), core.tuple_length(inner)


def _table(k: Value) -> tuple[Value, ...]:
    made = core.map_of(core.vector((3, 1, 3)), core.vector((30, 10, 31)))
    return core.map_get(made, k, core.scalar(-1, i64)), core.map_has(made, k)


def _known_keys(v: Value, o: Value, k: Value) -> tuple[Value, ...]:
    made = core.map_of(core.vector((7, 5, 9)), v)
    return core.map_get(made, k, o), core.map_get(made, core.vector((9, 7)))


def _sparse(x: Value) -> tuple[Value, ...]:
    made = core.to_sparse(x)
    indices = core.sparse_indices(made), core.sparse_indices(made, True)
    return core.to_dense(made), core.sparse_values(made), *indices, core.sparse_length(made), core.sparse_shape(made)


def _coordinates(v: Value, i: Value) -> Value:
    return core.to_dense(core.sparse_of(v, i, core.vector((2, 3))))


def _handles(a: Value, b: Value) -> tuple[Value, ...]:
    made = core.handle_of(a)
    return core.handle_equal(made, core.handle_of(b)), core.handle_value(made)


A = np.array([1, 2], np.float32)
CASES: dict[str, tuple[Any, dict[str, Type], dict[str, Any], list[Any]]] = {
    "tuples": (_tuple, {"a": tensor(f32, N), "b": tensor(f32, N)}, {"a": A, "b": A}, [[2, 4], 2]),
    "maps": (_table, {"k": tensor(i64, N)}, {"k": np.array([1, 3, 7])}, [[10, 31, -1], [True, True, False]]),
    "maps of known keys": (
        _known_keys, {"v": tensor(f64, 3), "o": tensor(f64), "k": tensor(i64, N)},
        {"v": np.array([0.5, 1.5, 2.5]), "o": np.array(-4.0), "k": np.array([9, 2, 5])}, [[2.5, -4, 1.5], [2.5, 0.5]],
    ),
    "sparse tensors": (
        _sparse, {"x": tensor(f32, N, 3)}, {"x": X},
        [X.tolist(), [1.5, -2, 3], [[0, 1], [1, 0], [1, 2]], [1, 3, 5], 3, [2, 3]],
    ),
    "coordinates": (
        _coordinates, {"v": tensor(f32, N), "i": tensor(i64, N, 2)}, {"v": A, "i": np.array([[1, 2], [0, 0]])},
        [[[2, 0, 0], [0, 0, 1]]],
    ),
    "indices in row-major order": (
        _coordinates, {"v": tensor(f32, N), "i": tensor(i64, N)}, {"v": A, "i": np.array([5, 0])},
        [[[2, 0, 0], [0, 0, 1]]],
    ),
    "handles": (_handles, {"a": tensor(i64), "b": tensor(i64)}, {"a": np.array(7), "b": np.array(8)}, [False, 7]),
    "a map of strings to integers": (
        lambda m: core.map_get(m, core.constant(_words("b", "z")), core.scalar(0, i64)),
        {"m": MapType(string, tensor(i64))}, {"m": {"a": 1, "b": 2}}, [[2, 0]],
    ),
    "a map of integers to doubles": (
        lambda m: core.map_get(m, core.scalar(3, i64), core.scalar(0.0, f64)),
        {"m": MapType(i64, tensor(f64))}, {"m": {3: 0.25}}, [0.25],
    ),
    "a map of integers to floats": (
        lambda m: (core.map_values(m), core.map_length(m)),
        {"m": MapType(i64, tensor(f32))}, {"m": {3: 0.5, 1: 2.0}}, [[2, 0.5], 2],
    ),
}  # fmt: skip


def _words(*values: str) -> Any:
    return data_of(string, (len(values),), values)


@pytest.mark.parametrize("name", CASES)
def test_onnx_gives_what_is_written_out(name: str) -> None:
    build, types, inputs, expected = CASES[name]
    assert _in_onnx(build, types, inputs) == expected


@pytest.mark.parametrize("to", ["coreml", "stablehlo", "linalg", "tosa"])
def test_values_within_a_program_vanish_for_every_target(to: str) -> None:
    vector, number = tensor(f32, 2), tensor(i64)
    programs: list[tuple[Any, dict[str, Type]]] = [
        (lambda a, b: _tuple(a, b)[0], {"a": vector, "b": vector}),
        (_table, {"k": tensor(i64, 3)}),
        (_handles, {"a": number, "b": number}),
        (_coordinates, {"v": vector, "i": tensor(i64, 2, 2)}),
    ]
    for build, types in programs:
        converted = str(cir.convert(core_module(build, types), to))
        assert not re.search(r"core\.|tuple<|builtin\.(map|handle|sparse)", converted)


def test_what_only_conditions_use_vanishes_with_them() -> None:
    text = """func.func @main(%x: tensor<"N"x3xf32>) -> tensor<"N"x3xf32> {
      %0 = core.dims {scalar = true, values = ["N"]} : tensor<i64>
      %1 = core.constant {value = dense<2> : tensor<i64>} : tensor<i64>
      %2 = core.equal %0, %1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
      core.require %2 {message = "two rows"} : (tensor<i1>) -> ()
      %3 = core.neg %x : tensor<"N"x3xf32>
      return %3 : tensor<"N"x3xf32>
    }"""
    left = without_requirements(cir.loads(text, format="mlir"), None)
    assert [op.name for op in left.main.body.operations] == ["core.neg", "func.return"]


PAIR = TupleType((tensor(f32, 2), tensor(i64)))
MAP = MapType(string, tensor(f32))
SPARSE = SparseTensorType(f32, (2, 3))
REFUSED: list[tuple[Any, dict[str, Type]]] = [
    (lambda t: core.tuple_get(t, 0), {"t": PAIR}),
    (lambda a: core.tuple_of((a, a)), {"a": tensor(f32, 2)}),
    (lambda m: core.map_get(m, core.constant(_words("a"))), {"m": MAP}),
    (core.map_keys, {"m": MAP}),
    (core.map_of, {"k": tensor(string, N), "v": tensor(f32, N)}),
    (core.to_dense, {"s": SPARSE}),
    (core.to_sparse, {"x": tensor(f32, 2, 3)}),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
@pytest.mark.parametrize("to", ["onnx", "coreml", "stablehlo", "linalg", "tosa"])
def test_others_are_refused_with_a_remedy(to: str, number: int) -> None:
    with pytest.raises(DiagnosticError) as caught:
        cir.convert(core_module(*REFUSED[number]), to)
    diagnostics = caught.value.diagnostics
    assert {d.code.id for d in diagnostics} == {"E0601"}
    assert any("pass their elements instead" in (d.help or "") for d in diagnostics), str(caught.value)


@pytest.mark.parametrize("to", ["onnx", "stablehlo"])
def test_a_handle_becomes_its_number_with_a_note(to: str) -> None:
    findings = Diagnostics()

    def build(h: Value, n: Value) -> tuple[Value, ...]:
        return core.handle_of(n), core.handle_equal(h, core.handle_of(n))

    module = core_module(build, {"h": TensorType(handle, ()), "n": tensor(i64)})
    built = cir.convert(module, to, findings=findings)
    assert [v.type for v in built.main.inputs] == [tensor(i64)] * 2
    assert [v.type for v in built.main.outputs] == [tensor(i64), tensor(boolean)]
    assert [d.message for d in findings] == [
        "the input 'h' changes from tensor<!builtin.handle> to tensor<i64>: a handle becomes its number",
        "the output 'y0' changes from tensor<!builtin.handle> to tensor<i64>: a handle becomes its number",
    ]


def test_a_sparse_constant_stays_sparse_in_onnx() -> None:
    """Dense it has 40,000 bytes, and small ones are stored dense."""
    dims = (100, 100)
    dense = np.zeros(dims, np.float32)
    dense[3, 7], dense[99, 0] = 1.5, -2.0

    def build(x: Value) -> Value:
        values, places = data_of(f32, (2,), (1.5, -2.0)), data_of(i64, (2, 2), (3, 7, 99, 0))
        sparse = core.sparse_of(core.constant(values), core.constant(places), core.vector(dims))
        return core.add(core.to_dense(sparse), x)

    content = cir.dumps(cir.convert(core_module(build, {"x": tensor(f32)}), "onnx"), format="onnx")
    assert isinstance(content, bytes)
    model = onnx.load_from_string(content)
    onnx.checker.check_model(model, full_check=True)
    (stored,) = [a.sparse_tensor for n in model.graph.node for a in n.attribute if a.name == "sparse_value"]
    assert (onnx.numpy_helper.to_array(stored.values).tolist(), list(stored.dims)) == ([1.5, -2.0], [100, 100])
    zero = {"x": np.zeros((), np.float32)}
    assert np.array_equal(run_onnx(content, zero)[0], dense)
    assert np.array_equal(cir.run(cir.loads(content, format="onnx"), zero)["y0"], dense)


def test_an_index_out_of_range_stays_an_error_when_it_is_canonicalized() -> None:
    module = core_module(_coordinates, {"v": tensor(f32, 1), "i": tensor(i64, 1)})
    built = cir.optimize(module, passes=["canonicalize"])
    assert "sparse" not in str(built)
    with pytest.raises(DiagnosticError, match="E0708"):
        cir.run(built, {"v": A[:1], "i": np.array([6])})


def test_handles_within_other_values_become_numbers_too() -> None:
    opaque = TensorType(handle, ())

    def build(h: Value) -> tuple[Value, ...]:
        pair = core.tuple_of((h, core.handle_of(core.scalar(7, i64))))
        held = core.list_insert(core.list_empty(opaque), h)
        first = core.list_at(held, core.scalar(0, i64))
        return core.handle_equal(core.tuple_get(pair, 0), core.tuple_get(pair, 1)), first

    assert _in_onnx(build, {"h": opaque}, {"h": np.array(7)}) == [True, 7]
