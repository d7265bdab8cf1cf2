"""Sizes that are set, by `shapes`, by `edit` or by a run, on programs that broadcast dims of different names.

numpy's rule decides: dims are equal or 1, and a dim of 0 is one like others.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import onnx
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

from tests.oracles import oracle

SIZES = list(product(range(5), repeat=2))
FEW = [(3, 4), (3, 3), (3, 1), (0, 1), (1, 0), (0, 3), (2, 0)]

ADD_ONNX = """builtin.module attributes {onnx.ir_version = 8 : i64} {
  onnx.graph @g attributes {opset_import = {"" = 17 : i64}} {
  ^g(%a: tensor<"N"xf32>, %b: tensor<2x"M"xf32>):
    %c = onnx.Add %a, %b : (tensor<"N"xf32>, tensor<2x"M"xf32>) -> tensor<2x?xf32>
    onnx.return %c : (tensor<2x?xf32>) -> ()
  }
}"""
WHERE_ONNX = """builtin.module attributes {onnx.ir_version = 8 : i64} {
  onnx.graph @g attributes {opset_import = {"" = 17 : i64}} {
  ^g(%a: tensor<"N"xf32>, %b: tensor<2x"M"xf32>):
    %0 = onnx.IsNaN %b : (tensor<2x"M"xf32>) -> tensor<2x"M"xi1>
    %c = onnx.Where %0, %b, %a : (tensor<2x"M"xi1>, tensor<2x"M"xf32>, tensor<"N"xf32>) -> tensor<2x?xf32>
    onnx.return %c : (tensor<2x?xf32>) -> ()
  }
}"""
EXPAND_ONNX = """builtin.module attributes {onnx.ir_version = 8 : i64} {
  onnx.graph @g attributes {opset_import = {"" = 17 : i64}} {
  ^g(%a: tensor<"N"xf32>, %b: tensor<2x"M"xf32>):
    %0 = onnx.Shape %b : (tensor<2x"M"xf32>) -> tensor<2xi64>
    %c = onnx.Expand %a, %0 : (tensor<"N"xf32>, tensor<2xi64>) -> tensor<2x?xf32>
    onnx.return %c : (tensor<2x?xf32>) -> ()
  }
}"""
ADD_CORE = """ml_program.func @f(%a: tensor<"N"xf32>, %b: tensor<2x"M"xf32>) -> (tensor<2x"max(M, N)"xf32>) {
  %c = core.add %a, %b : (tensor<"N"xf32>, tensor<2x"M"xf32>) -> tensor<2x"max(M, N)"xf32>
  ml_program.return %c : tensor<2x"max(M, N)"xf32>
}"""
ADD_MIL = """program(1.3)
{
    func main<ios18>(tensor<fp32, [?]> a, tensor<fp32, [2, ?]> b) {
            tensor<fp32, [2, ?]> c = add(x = a, y = b)[name = string("c")];
        } -> (c);
}"""
PROGRAMS = {"onnx.Add": ADD_ONNX, "onnx.Where": WHERE_ONNX, "onnx.Expand": EXPAND_ONNX, "core.add": ADD_CORE}


def _expected(n: int, m: int) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes((n,), (2, m))
    except ValueError:
        return None


def _shape(module: cir.Module, n: int, m: int) -> tuple[int, ...] | None:
    try:
        entries = cir.shapes(module, {"N": n, "M": m})
    except DiagnosticError as error:
        assert {d.code.id for d in error.diagnostics} == {"E0504"}
        return None
    text = next(e.type for e in entries if e.name == "c")
    return tuple(map(int, text.removeprefix("tensor<").removesuffix("xf32>").split("x")))


@pytest.mark.parametrize("name", PROGRAMS)
def test_sizes_that_are_set_broadcast_as_in_numpy(name: str) -> None:
    module = cir.loads(PROGRAMS[name], format="mlir")
    assert [_shape(module, n, m) for n, m in SIZES] == [_expected(n, m) for n, m in SIZES]


def test_sizes_of_a_mil_program_broadcast_as_in_numpy(tmp_path: Path) -> None:
    (tmp_path / "m.mil").write_text(ADD_MIL)
    module = cir.load(tmp_path / "m.mil")
    cir.infer(module)
    named = {str(v.type).partition('"')[2].partition('"')[0]: v.name for v in module.inputs}
    renamed = {v: k for k, v in named.items()}
    for n, m in SIZES:
        try:
            entries = cir.shapes(module, {renamed["a"]: n, renamed["b"]: m})
        except DiagnosticError:
            assert _expected(n, m) is None
        else:
            assert next(e.type for e in entries if e.name == "c") == f"tensor<2x{(_expected(n, m) or (0, 0))[1]}xf32>"


def test_sizes_that_are_set_broadcast_as_onnx_infers() -> None:
    module = cir.loads(ADD_ONNX, format="mlir")
    for n, m in SIZES:
        add = onnx.helper.make_node("Add", ["a", "b"], ["c"])
        a, b = (onnx.helper.make_tensor_value_info(*v) for v in (("a", 1, [n]), ("b", 1, [2, m])))
        graph = onnx.helper.make_graph([add], "g", [a, b], [onnx.helper.make_tensor_value_info("c", 1, None)])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
        try:
            inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output[0].type.tensor_type
        except onnx.shape_inference.InferenceError:
            assert _shape(module, n, m) is None
        else:
            assert _shape(module, n, m) == tuple(d.dim_value for d in inferred.shape.dim)


def test_a_dim_that_is_set_alone_leaves_the_others() -> None:
    module = cir.loads(ADD_ONNX, format="mlir")
    for n, expected in ((0, "0"), (1, '"M"'), (3, "3")):
        entries = {e.name: e.type for e in cir.shapes(module, {"N": n})}
        assert entries["c"] == f"tensor<2x{expected}xf32>"


@pytest.mark.parametrize("name", PROGRAMS)
def test_dims_that_an_edit_sets_broadcast_as_in_numpy(name: str) -> None:
    module = cir.loads(PROGRAMS[name], format="mlir")
    for n, m in SIZES:
        try:
            edited = cir.edit(module, dims={"N": n, "M": m})
        except DiagnosticError as error:
            assert _expected(n, m) is None
            assert {d.code.id for d in error.diagnostics} == {"E0504"}
        else:
            assert str(edited.main.outputs[0].type) == f"tensor<2x{(_expected(n, m) or (0, 0))[1]}xf32>"


@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("n", "m"), [pytest.param(*s, marks=[] if s in FEW else [pytest.mark.slow]) for s in SIZES])
def test_runs_broadcast_as_numpy(name: str, engine: str, n: int, m: int) -> None:
    module = cir.loads(PROGRAMS[name], format="mlir")
    arrays = {"a": np.zeros(n, np.float32), "b": np.zeros((2, m), np.float32)}
    try:
        shape = cir.run(module, arrays, engine=engine)[module.main.output_names[0]].shape
    except DiagnosticError as error:
        # A symbol of the core is at least 1, unless it says otherwise.
        is_below = name == "core.add" and 0 in (n, m)
        assert is_below or _expected(n, m) is None, error
    else:
        assert shape == _expected(n, m)


def test_sizes_are_set_where_the_program_stays_in_its_dialect() -> None:
    module = cir.loads(ADD_ONNX, format="mlir")
    assert str(cir.convert(module, "mlir", dims={"N": 3, "M": 1}).main.outputs[0].type) == "tensor<2x3xf32>"
    with pytest.raises(DiagnosticError, match="do not broadcast"):
        cir.convert(module, "mlir", dims={"N": 3, "M": 4})


OTHERS = {
    "Max": ("float[N] a, float[M] b, float[2, N] d", "Max(a, b, d)"),
    "Pow": ("float[N] a, float[M, 1] b", "Pow(a, b)"),
    "Mod": ("float[N, M] a, float[M] b", "Mod<fmod = 1>(a, b)"),
    "PRelu": ("float[2, N] a, float[M] b", "PRelu(a, b)"),
    "Gemm": ("float[2, N] a, float[M, 3] b", "Gemm(a, b)"),
    "Mean": ("float[N] a, float[M] b", "Mean(a, b)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_sizes_fit_other_operators_as_in_onnxruntime(name: str) -> None:
    onnxruntime = oracle("onnxruntime")
    inputs, call = OTHERS[name]
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]> g ({inputs}) => (float y) {{ y = {call} }}'
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    module = cir.loads(model.SerializeToString(), format="onnx")
    for n, m in SIZES:
        sizes = {"N": n, "M": m}
        shapes = {i.name: [sizes[d] if d in sizes else int(d) for d in i.shape] for i in session.get_inputs()}
        arrays = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
        try:
            expected = session.run(None, arrays)[0].shape
        except Exception:  # noqa: BLE001  onnxruntime has several
            with pytest.raises(DiagnosticError):
                cir.run(module, arrays)
            with pytest.raises(DiagnosticError):
                cir.shapes(module, sizes)
            continue
        assert cir.run(module, arrays)["y"].shape == expected
        text = next(e.type for e in cir.shapes(module, sizes) if e.name == "y")
        assert text == f"tensor<{'x'.join(map(str, expected))}xf32>"
