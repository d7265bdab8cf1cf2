"""References of records in index notation: shapes, execution and conversion against numpy and onnxruntime."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, f32, i64
from commonir.ods import Dialect, Dialects, Op, verify
from commonir.ods.documentation import operation_page
from commonir.ods.from_records import load
from commonir.ods.from_records.reference_text import ReferenceFault, parsed_reference
from commonir.text.loaded_definitions import load_dialects, not_evaluable
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

from tests.tablegen.oracle import mlir_include

_HERE = Path(__file__).parent
_RANDOM = np.random.default_rng(7)


def _f(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape).astype(np.float32)


def _erf(x: Any) -> Any:
    from math import erf  # noqa: PLC0415

    return np.vectorize(erf)(x).astype(np.float32)


def _conv(x: Any, w: Any) -> Any:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], axis=(2, 3))[:, :, ::2, ::2]
    return np.einsum("nchwpq,fcpq->nfhw", windows, w)


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _pool(x: Any) -> Any:
    n, c, h, w = x.shape
    return x[:, :, : h // 2 * 2, : w // 2 * 2].reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))


_X, _V, _P = _f(2, 3), _f(2, 3, 4), _f(1, 2, 5, 6)
_A, _B = _f(5, 1, 2, 3), _f(4, 3, 7)
_AT = np.array([4, 0, 4], np.int64)

CASES: dict[str, tuple[str, list[Any], list[Any]]] = {
    "gelu": ("", [_V], [0.5 * _V * (1 + _erf(_V / np.sqrt(2.0)))]),
    "scale": ("{factor = 2.0 : f32, offset = 1.0 : f32}", [_X], [_X * 2 + 1]),
    "add": ("", [_f(2, 1, 3), _f(4, 1)], []),
    "matmul": ("", [_A, _B], [_A @ _B]),
    "conv": ("{strides = array<i64: 2, 2>, pads = array<i64: 1, 1>}", [_P, _f(3, 2, 3, 3)], []),
    "max_pool": ("{size = 2}", [_P], [_pool(_P)]),
    "transpose": ("", [_V], [np.swapaxes(_V, -1, -2)]),
    "mean": ("", [_V], [_V.mean(-1, keepdims=True)]),
    "softmax": ("", [_V], [_softmax(_V)]),
    "gather": ("", [_f(5, 4), _AT], []),
    "concat": ("", [_f(2, 3), _f(4, 3)], []),
    "mask": ("{fill = -1.0 : f32}", [_f(4, 3)], []),
    "flatten": ("", [_V], [_V.reshape(-1)]),
    "tile": ("{count = 3}", [_X], [np.repeat(_X[:, None], 3, axis=1)]),
    "to_int": ("", [_X * 10], [np.floor(_X * 10).astype(np.int64)]),
    "total": ("", [_V], [_V.sum()]),
    "stats": ("", [_X], [_X.min(1), _X.max(1)]),
}
"""Attributes, inputs and outputs, as numpy computes them."""
CASES["add"][2].append(CASES["add"][1][0] + CASES["add"][1][1])
CASES["conv"][2].append(_conv(*CASES["conv"][1]))
CASES["gather"][2].append(CASES["gather"][1][0][_AT])
CASES["concat"][2].append(np.concatenate(CASES["concat"][1]))
CASES["mask"][2].append(np.where(np.tri(4, 3, dtype=bool), CASES["mask"][1][0], np.float32(-1)))


@cache
def _dialects() -> tuple[Dialect, ...]:
    return load_dialects([_HERE / "references.td"], [str(mlir_include())])


def _op(name: str) -> type[Op]:
    dialect = next(d for d in _dialects() if d.name == "r")
    return dialect.operations[f"r.{name}"][-1]


def _tensor(*shape: int | None, element: ElementType = f32) -> Value:
    return Value(TensorType(element, shape))


def _type(array: Any) -> str:
    return f"tensor<{''.join(f'{n}x' for n in array.shape)}{'i64' if array.dtype == np.int64 else 'f32'}>"


def _program(name: str, tmp_path: Path) -> tuple[cir.Module, dict[str, Any], list[Any]]:
    attributes, inputs, outputs = CASES[name]
    types = [_type(np.asarray(a)) for a in outputs]
    arguments = ", ".join([f"%a{n}: {_type(a)}" for n, a in enumerate(inputs)])
    uses = ", ".join([f"%a{n}" for n in range(len(inputs))])
    returned = ", ".join([f"%r#{n}" for n in range(len(outputs))] if len(outputs) > 1 else ["%r"])
    joined = ", ".join(types)
    shown = f"({', '.join([_type(a) for a in inputs])}) -> {joined if len(types) == 1 else f'({joined})'}"
    path = tmp_path / "program.mlir"
    path.write_text(
        f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n"
        f"  %r{f':{len(outputs)}' if len(outputs) > 1 else ''} = r.{name} {uses} {attributes} : {shown}\n"
        f"  return {returned} : {', '.join(types)}\n}}\n"
    )
    module = cir.load(path, dialects=_dialects())
    assert cir.verify(module, dialects=_dialects()) == []
    return module, {f"a{n}": a for n, a in enumerate(inputs)}, outputs


@pytest.mark.parametrize("name", CASES)
def test_reference_runs_as_numpy_computes(name: str, tmp_path: Path) -> None:
    module, inputs, outputs = _program(name, tmp_path)
    actual: Any
    for actual, expected in zip(cir.run(module, inputs).values(), outputs, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.slow_cases("conv", "max_pool", "gelu", "softmax", "gather", "stats", "mask", "concat", "to_int", "tile")
@pytest.mark.parametrize("name", CASES)
def test_converted_to_onnx_it_runs_as_numpy_computes(name: str, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    module, inputs, outputs = _program(name, tmp_path)
    path = tmp_path / "model.onnx"
    cir.save(cir.convert(module, "onnx"), path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for actual, expected in zip(session.run(None, inputs), outputs, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [([(3, 4), (4,)], (3, 4)), ([(3, 4), (1,)], (3, 4)), ([(3, 1), (4,)], (3, 4)), ([(2, 3), (4,)], None)],
)
def test_unknown_dims_broadcast_when_the_converted_program_runs(shapes: list[Any], expected: Any) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(_broadcasting_model(), providers=["CPUExecutionProvider"])
    a, b = [_f(*shape) for shape in shapes]
    if expected is None:
        with pytest.raises(Exception, match="invalid index"):
            session.run(None, {"a": a, "b": b})
    else:
        (actual,) = session.run(None, {"a": a, "b": b})
        assert actual.shape == expected
        np.testing.assert_array_equal(actual, a + b)


@cache
def _broadcasting_model() -> bytes:
    text = (
        "func.func @main(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {\n"
        "  %r = r.add %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>\n"
        "  return %r : tensor<?x?xf32>\n}\n"
    )
    module = cir.loads(text, format="mlir", dialects=_dialects())
    return cir.dumps(cir.convert(module, "onnx"), format="onnx")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["linalg", "stablehlo", "tosa", "coreml", "ark", "common_ir"])
@pytest.mark.parametrize("name", ["transpose", "softmax", "stats"])
def test_it_converts_to_every_target(name: str, target: str, tmp_path: Path) -> None:
    module, _, _ = _program(name, tmp_path)
    names = {op.name for op in cir.convert(module, target).nested()}
    assert not any(each.startswith("r.") for each in names)


@pytest.mark.parametrize("name", ["matmul", "conv"])
def test_contraction_needs_no_tensor_of_all_products(name: str, tmp_path: Path) -> None:
    module, _, _ = _program(name, tmp_path)
    names = {op.name for op in cir.convert(module, "onnx").nested()}
    assert "onnx.Einsum" in names
    assert "onnx.ReduceSum" not in names


def test_it_is_legalized_to_the_core(tmp_path: Path) -> None:
    module, _, _ = _program("gelu", tmp_path)
    names = {op.name.partition(".")[0] for op in cir.legalize(module, "core", dialects=_dialects()).nested()}
    assert names <= {"core", "ml_program", "func"}


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("matmul", [(None, 2, 3), (4, 3, 7)], (4, 2, 7)),
        ("transpose", [(None, 3, None)], (None, None, 3)),
        ("concat", [(2, 3), (None, 3)], (None, 3)),
        ("flatten", [(2, None)], (None,)),
        ("inferred", [(2, 3)], (3, 2)),
        ("total", [(2, 3)], ()),
    ],
)
def test_shapes_follow_from_the_reference(name: str, operands: list[Any], expected: Any) -> None:
    op = _op(name)(*[_tensor(*shape) for shape in operands])
    assert op.results[0].type is TensorType(f32, expected)


@pytest.mark.parametrize(
    ("name", "operands", "message"),
    [
        ("sub", [(2, 3), (3, 2)], "index i0 over axis 0 of rhs: expected 3, found 2"),
        ("sub", [(2, 3), (3,)], "'i...' stands for different numbers of axes: 2 of 'lhs', 1 of 'rhs'"),
        ("add", [(2, 3), (2,)], "broadcast"),
        ("matmul", [(2, 3), (4, 2)], "index k over axis 0 of rhs: expected 4, found 3"),
        ("stats", [(2, 1)], "required by the reference: expected at least 2, found 1"),
        ("transpose", [(2,)], "'x' has rank 1, expected at least 2"),
        ("conv", [(1, 2, 5, 6), (3, 4, 3, 3)], "index c over axis 1 of rhs: expected 4, found 2"),
    ],
)
def test_operands_that_do_not_fit_are_refused(name: str, operands: list[Any], message: str) -> None:
    more = ((1, 1), (0, 0)) if name == "conv" else ()
    with pytest.raises(DiagnosticError) as raised:
        _op(name)(*[_tensor(*shape) for shape in operands], *more)
    assert message in raised.value.diagnostics[0].message


def test_declared_result_types_are_compared_with_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "wrong.mlir"
    path.write_text(
        "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "  %r = r.transpose %x : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  return %r : tensor<2x3xf32>\n}\n"
    )
    found = cir.check(path, dialects=_dialects())[1]
    message = "r.transpose: result 'r' is declared tensor<2x3xf32>, but the definition gives tensor<3x2xf32>"
    assert message in [d.message for d in found if d.is_error]


def test_types_that_a_form_omits_follow_from_the_reference() -> None:
    source = '%x = "x.y"() : () -> tensor<2x3xf32>\n%y = r.inferred %x : tensor<2x3xf32>'
    dialects = Dialects(dialects=_dialects())
    module = parse_module(source, dialects)
    assert "%y = r.inferred %x : tensor<2x3xf32>" in print_module(module, dialects=dialects)
    assert "(tensor<2x3xf32>) -> tensor<3x2xf32>" in print_module(module, generic=True, dialects=dialects)
    assert list(not_evaluable(module)) == []


@given(st.text(alphabet="result[]xijk.+-*/%^()<>=!&|,;0123456789 \n#sumcat", max_size=60))
def test_any_text_is_a_reference_or_a_fault_at_a_place(text: str) -> None:
    try:
        parsed_reference(text)
    except ReferenceFault as fault:
        assert 0 <= fault.at <= len(text)


def test_the_page_shows_the_reference() -> None:
    dialect = next(d for d in _dialects() if d.name == "r")
    assert "Σ" in operation_page(dialect, "r.matmul")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("result[i] = z[i]", 1, "'z' is neither an index, an operand nor an attribute"),
        ("result[i] = sum(i, x[i])", 1, "'i' is an index already: sum(..) takes new ones"),
        ("result[i] = sum(j, j, x[j])", 1, "'j' is an index already"),
        ("result[i] = x[i] +", 1, "expected a value, found the end"),
        ("\n  result[i] = x[j]", 2, "'j' is neither an index"),
        ("result[i] = sum(x[i])", 1, "sum(..) takes indices and an expression"),
        ("result[i] = foo(x[i])", 1, "unknown function 'foo'"),
        ("broadcast z\nresult[i] = x[i]", 1, "'broadcast z' needs a wildcard 'z...', which nothing reads"),
        ("result[i] = exp(x[i], x[i])", 1, "'exp' takes 1 arguments, found 2"),
        ("t[i] = x[i]", 1, "result 'result' is not given"),
        ("result[i] = x[i]\nresult[i] = x[i]", 2, "'result' is given twice"),
        ("result[i, i] = x[i]", 1, "index 'i' stands for two axes"),
        ("result[2] = x[0]", 1, "an axis is an index, a wildcard"),
        ("result[i] = x[i] $ 2", 1, "'$' is not part of index notation"),
        ("result[i] = (x[i]", 1, "expected ')', found the end"),
        ("result[i] = t[i]\nt[i] = x[i]", 1, "'t' is used before it is given"),
        ("require x\nresult[i] = x[i]", 1, "require takes a comparison"),
        ("result[i] = x[i] x[i]", 1, "expected the end of the statement, found 'x'"),
        (f"result[i] = {'(' * 80}x[i]{')' * 80}", 1, "more than 60 deep"),
        (f"result[i] = x[i]{' + 1' * 3000}", 1, "'result' is more than 100 expressions deep"),
    ],
)
def test_wrong_references_are_refused_at_their_place(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "wrong.td"
    head = 'def D_AOp : Op<"d.A">, Arguments<(ins TF_Tensor:$x)>, Results<[TF_Tensor]> {\n  let reference = '
    path.write_text(f"{head}[{{{text}}}];\n}}\n")
    with pytest.raises(DiagnosticError) as raised:
        load(path)
    (fault,) = raised.value.diagnostics
    assert (fault.code.id, fault.line) == ("E0264", 2 + line - 1)
    assert message in fault.message
    assert "None" not in fault.message


@pytest.mark.slow_cases("*more than 20000 expressions")
@pytest.mark.parametrize(
    ("number", "body", "message"),
    [
        (60, "D_A{0}Op(x, 1)[i]", "'result' is more than 100 expressions deep"),
        (
            20,
            "D_A{0}Op(x, 1)[i] + D_A{0}Op(x, 1)[i]",
            "the reference has more than 1000 statements with those it calls",
        ),
        (20, "D_A{0}Op(x, n + n)[i]", "the reference has more than 20000 expressions"),
    ],
)
def test_references_that_call_each_other_too_often_are_refused(
    number: int, body: str, message: str, tmp_path: Path
) -> None:
    head = 'def D_A{0}Op : Op<"d.A{0}">, Arguments<(ins TF_Tensor:$x, I64Attr:$n)>, Results<[TF_Tensor]>'
    lines = [f'{head.format(0)} {{ let reference = "result[i] = x[i + n]"; }}']
    lines += [f'{head.format(n)} {{ let reference = "result[i] = {body.format(n - 1)}"; }}' for n in range(1, number)]
    path = tmp_path / "deep.td"
    path.write_text("\n".join(lines))
    with pytest.raises(DiagnosticError) as raised:
        load(path)
    first, *others = raised.value.diagnostics
    assert first.message.endswith(f"reference: {message}")
    assert all("cannot be called" in d.message for d in others)


@pytest.mark.parametrize(("positions", "count"), [("", 0), ("0, 1", 2)])
def test_a_list_is_read_at_one_position(positions: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "list.td"
    head = 'def D_AOp : Op<"d.A">, Arguments<(ins TF_Tensor:$x, ArrayAttr:$k)>, Results<[TF_Tensor]>'
    path.write_text(f"{head} {{ let reference = [{{result[i] = x[i] * k[{positions}]}}]; }}\n")
    dialects = Dialects(dialects=load(path).dialects)
    source = '%x = "x.y"() : () -> tensor<2xf32>\n%y = "d.A"(%x) {k = [2, 3]} : (tensor<2xf32>) -> tensor<2xf32>'
    messages = [d.message for d in verify(parse_module(source, dialects), dialects)]
    assert f"d.A: a list is read at one position, found {count}" in messages


def test_the_loop_nest_of_the_proposal_is_a_reference(tmp_path: Path) -> None:
    path = tmp_path / "add.td"
    path.write_text("""\
def TF_AddOp : Op<"tf.Add", [NoSideEffect]>, Arguments<(ins TF_Tensor:$lhs, TF_Tensor:$rhs)>, Results<[TF_Tensor]>,
               Traits<["BroadcastableOperandsAndResultType"]> {
  let reference = [{
    auto ivs = makeBindables(lhsShape.size());
    block = edsc::Block({
      ForNest(ivs, 0, lhsShape, 1, {
        result[ivs] = lhs[ivs] + rhs[ivs]
      })});
    }
  }];
}
def TF_DotOp : Op<"tf.Dot">, Arguments<(ins TF_Tensor:$a, TF_Tensor:$b)>, Results<[TF_Tensor]> {
  let reference = "result[i, j] = sum(k, a[i, k] * b[k, j])";
}
""")
    loaded = load(path)
    add, dot = loaded.definitions["TF_AddOp"], loaded.definitions["TF_DotOp"]
    assert getattr(add, "unknown", None) == ()
    assert add(_tensor(2, 1, 3), _tensor(4, 1)).results[0].type is TensorType(f32, (2, 4, 3))
    assert dot(_tensor(2, 3), _tensor(3, 5)).results[0].type is TensorType(f32, (2, 5))
    program = tmp_path / "program.mlir"
    program.write_text(
        "func.func @main(%a: tensor<2x1xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {\n"
        '  %r = "tf.Add"(%a, %b) : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>\n'
        "  return %r : tensor<2x3xf32>\n}\n"
    )
    a, b = _f(2, 1), _f(3)
    (result,) = cir.run(cir.load(program, dialects=loaded.dialects), {"a": a, "b": b}).values()
    np.testing.assert_array_equal(result, a + b)


def test_gather_at_positions_of_another_type_is_refused() -> None:
    assert _op("gather")(_tensor(9, 4), _tensor(3, element=i64)).results[0].type is TensorType(f32, (3, 4))
    with pytest.raises(DiagnosticError):
        _op("gather")(_tensor(9, 4), _tensor(3))
