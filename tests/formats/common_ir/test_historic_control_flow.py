"""While and Cond of files of the drafts, in both encodings, run; expected values are written out by hand.

Operators that such files do not declare are those of ONNX.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir

from tests.formats.common_ir.historic_files import FLOAT, INT64, a, b
from tests.oracles import require_package

BOOL = 9
Named = tuple[Any, ...]
"""A name, a number of an element type, and a dimension if there is one."""
Message = Any


def _dims(make: Any, dims: tuple[str | int, ...]) -> Message:
    return make("Shape", dim=[make("Dim", **{"dim_value" if isinstance(d, int) else "dim_param": d}) for d in dims])


def _node(make: Any, text: str) -> Message:
    """`y = While[1, 1](a, b) cond=Below body=Doubled`: a node whose attributes are names or integers."""
    head, _, texts = text.partition(") ")
    outputs, _, call = head.removesuffix(")").partition(" = ")
    op_type, _, inputs = call.partition("(")
    op_type, _, counts = op_type.removesuffix("]").partition("[")
    attributes: list[Message] = []
    for name, _, value in (part.partition("=") for part in texts.split()):
        held = {"i": int(value)} if value.isdigit() else {"s": value.encode()}
        attributes.append(make("Attribute", name=name, **held))
    return make(
        "Node",
        op_type=op_type,
        input=[n for n in inputs.split(", ") if n],
        output=outputs.split(", "),
        input_arg_count=[int(n) for n in counts.split(", ") if n],
        attribute=attributes,
    )


def _file(make: Any, inputs: list[Named], outputs: list[Named], nodes: list[str], functions: list[Message]) -> bytes:
    built = [_node(make, n) for n in nodes]
    if make is b:
        parts = {"input": [_value_info(*v) for v in inputs], "output": [_value_info(*v) for v in outputs]}
        graph = b("Graph", name="g", doc_string="A graph.", node=built, function=functions, **parts)
        about = {"producer_name": "p", "producer_version": "1", "domain": "com.example", "model_version": 1}
        return b("Model", ir_version=1, graph=graph, **about).SerializeToString()
    names = {"input": [n for n, *_ in inputs], "output": [n for n, *_ in outputs]}
    infos = {
        f"{kind}_arg_info": [_info(*v) for v in values] for kind, values in (("input", inputs), ("output", outputs))
    }
    about = {"name": "g", "domain": "com.example", "doc_string": "A graph.", "ir_version": 1}
    return a("Graph", node=built, function=functions, **about, **names, **infos).SerializeToString()


def _value_info(name: str, element: int, *dims: str | int) -> Message:
    type = b("Type", tensor=b("TensorType", elem_type=element, shape=_dims(b, dims)))
    return b("ValueInfo", name=name, type=type)


def _info(name: str, element: int, *dims: str | int) -> Message:
    del name
    return a("ArgInfo", type=a("Type", tensor=a("TensorType", elem_type=element)), shape=_dims(a, dims))


def _parameter(make: Any, name: str, element: int, *dims: str | int) -> Message:
    type = make("Type", tensor=make("TensorType", elem_type=element))
    return make("Parameter", name=name, type=type, shape=_dims(make, dims))


def _function(make: Any, name: str, inputs: list[Named], outputs: list[Named], *nodes: str) -> Message:
    names = ("input_arg", "output_arg") if make is a else ("input_params", "output_params")
    parts = {n: [_parameter(make, *v) for v in values] for n, values in zip(names, (inputs, outputs), strict=True)}
    return make("Function", name=name, node=[_node(make, n) for n in nodes], **parts)


V: list[Named] = [("v", FLOAT), ("limit", FLOAT)]
GO: list[Named] = [("go", BOOL)]
W: list[Named] = [("w", FLOAT)]
X: list[Named] = [("x", FLOAT), ("most", FLOAT)]
Y: list[Named] = [("y", FLOAT)]
VU: list[Named] = [("v", FLOAT), ("u", FLOAT)]
N: list[Named] = [("v", FLOAT, "n"), ("u", FLOAT, "n")]
ACC: list[Named] = [("i", FLOAT), ("acc", FLOAT, "n"), ("stop", FLOAT), ("inc", FLOAT, "n")]
COUNTED: list[Named] = [("i", INT64), ("s", FLOAT), ("n", INT64), ("one", INT64)]
GROWN: list[Named] = [("v", FLOAT, "n"), ("k", FLOAT, "k")]

Program = tuple[list[Named], list[Named], list[str], list[tuple[Any, ...]]]
BELOW = ("Below", V, GO, "go = Less(v, limit)")
DOUBLED = ("Doubled", V, W, "w = Add(v, v)")
PROGRAMS: dict[str, Program] = {
    "one variable and one constant": (X, Y, ["y = While[1, 1](x, most) c=Below b=Doubled"], [BELOW, DOUBLED]),
    "no argument counts": (X, Y, ["y = While(x, most) condition=Below body=Doubled"], [BELOW, DOUBLED]),
    # (i, acc) becomes (i + 1, acc + i inc) while i < stop; the nodes of the body are in no order.
    "two variables and two constants": (
        ACC,
        [("io", FLOAT), ("ao", FLOAT, "n")],
        ["io, ao = While[2, 2](i, acc, stop, inc) c=C b=B"],
        [
            ("C", ACC, GO, "go = Less(i, stop)"),
            ("B", ACC, [("j", FLOAT), ("sum", FLOAT, "n")], "sum = Add(acc, t)", "t = Mul(inc, i)", "j = Add(i, one)",
             "one = Div(stop, stop)"),
        ],
    ),
    "variables without constants": (
        [("x", FLOAT), ("z", FLOAT)],
        [("y", FLOAT), ("w", FLOAT)],
        ["y, w = While[2, 0](x, z) c=C b=B"],
        [
            ("C", [("p", FLOAT), ("q", FLOAT)], GO, "go = Less(q, p)"),
            ("B", [("p", FLOAT), ("q", FLOAT)], [("r", FLOAT), ("s", FLOAT)], "r = Identity(q)", "s = Add(p, q)"),
        ],
    ),
    "integers": (
        COUNTED,
        [("io", INT64), ("so", FLOAT)],
        ["io, so = While[2, 2](i, s, n, one) c=C b=B"],
        [
            ("C", COUNTED, GO, "go = Less(i, n)"),
            ("B", COUNTED, [("j", INT64), ("t", FLOAT)], "j = Add(i, one)", "t = Add(s, s)"),
        ],
    ),
    # The variable doubles its length until it is as long as k.
    "a variable whose shape changes": (
        GROWN,
        [("y", FLOAT, "m")],
        ["y = While[1, 1](v, k) c=Short b=Grow"],
        [
            ("Short", GROWN, GO, "sv = Shape(v)", "sk = Shape(k)", "g = Less(sv, sk)", "go = Squeeze(g)"),
            ("Grow", GROWN, [("w", FLOAT, "m")], "w = Concat(v, v) axis=0"),
        ],
    ),
    "functions that call functions": (
        X,
        Y,
        ["y = While[1, 1](x, most) c=Below b=Quad"],
        [
            ("Quad", V, W, "a = Twice[1](v)", "w = Twice[1](a)"),
            BELOW,
            ("Twice", [("v", FLOAT)], W, "w = Add(v, v)"),
        ],
    ),
    # The steps that 3n + 1 takes to 1.
    "a branch in a loop in a function": (
        [("x", FLOAT), ("one", FLOAT)],
        Y,
        ["y = Steps[1, 1](x, one)"],
        [
            ("Steps", [("v", FLOAT), ("one", FLOAT)], [("n", FLOAT)], "zero = Sub(v, v)",
             "u, n = While[2, 1](v, zero, one) c=More b=Step"),
            ("More", [("v", FLOAT), ("n", FLOAT), ("one", FLOAT)], GO, "go = Less(one, v)"),
            ("Step", [("v", FLOAT), ("n", FLOAT), ("one", FLOAT)], [("w", FLOAT), ("m", FLOAT)], "two = Add(one, one)",
             "h = Div(v, two)", "f = Floor(h)", "odd = Less(f, h)", "m = Add(n, one)",
             "w = Cond[1, 2, 2](odd, v, one, v, one) then=Triple else=Half"),
            ("Triple", [("v", FLOAT), ("one", FLOAT)], W, "d = Add(v, v)", "t = Add(d, v)", "w = Add(t, one)"),
            ("Half", [("v", FLOAT), ("one", FLOAT)], W, "two = Add(one, one)", "w = Div(v, two)"),
        ],
    ),
    "branches of other numbers of inputs": (
        [("p", BOOL), *N, ("c", FLOAT, "n")],
        [("y", FLOAT, "n")],
        ["y = Cond[1, 2, 1](p, v, u, c) then=Minus else=Negated"],
        [("Minus", N, [("w", FLOAT, "n")], "w = Sub(v, u)"), ("Negated", N[:1], [("w", FLOAT, "n")], "w = Neg(v)")],
    ),
    "branches of two outputs": (
        [("p", BOOL), *VU],
        [("y", FLOAT), ("z", FLOAT)],
        ["y, z = Cond[1, 2, 2](p, v, u, v, u) then=Swapped else=Kept"],
        [
            ("Swapped", VU, [("r", FLOAT), ("s", FLOAT)], "r = Identity(u)", "s = Identity(v)"),
            ("Kept", VU, [("r", FLOAT), ("s", FLOAT)], "r = Identity(v)", "s = Identity(u)"),
        ],
    ),
}  # fmt: skip
RUNS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("one variable and one constant", {"x": 1.0, "most": 7.0}, {"y": 8.0}),
    ("one variable and one constant", {"x": 9.0, "most": 7.0}, {"y": 9.0}),
    ("no argument counts", {"x": 1.0, "most": 7.0}, {"y": 8.0}),
    (
        "two variables and two constants",
        {"i": 0.0, "acc": [1.0, 2.0], "stop": 3.0, "inc": [10.0, 20.0]},
        {"io": 3.0, "ao": [31.0, 62.0]},
    ),
    ("variables without constants", {"x": 2.0, "z": 1.0}, {"y": 1.0, "w": 3.0}),
    ("integers", {"i": 0, "s": 1.5, "n": 4, "one": 1}, {"io": 4, "so": 24.0}),
    ("a variable whose shape changes", {"v": [1.0], "k": [0.0, 0.0, 0.0]}, {"y": [1.0, 1.0, 1.0, 1.0]}),
    ("a variable whose shape changes", {"v": [1.0, 2.0], "k": [0.0]}, {"y": [1.0, 2.0]}),
    ("functions that call functions", {"x": 1.0, "most": 7.0}, {"y": 16.0}),
    ("a branch in a loop in a function", {"x": 6.0, "one": 1.0}, {"y": 8.0}),
    (
        "branches of other numbers of inputs",
        {"p": True, "v": [3.0, 4.0], "u": [1.0, 2.0], "c": [5.0, 6.0]},
        {"y": [2.0, 2.0]},
    ),
    (
        "branches of other numbers of inputs",
        {"p": False, "v": [3.0, 4.0], "u": [1.0, 2.0], "c": [5.0, 6.0]},
        {"y": [-5.0, -6.0]},
    ),
    ("branches of two outputs", {"p": True, "v": 1.0, "u": 2.0}, {"y": 2.0, "z": 1.0}),
    ("branches of two outputs", {"p": False, "v": 1.0, "u": 2.0}, {"y": 1.0, "z": 2.0}),
]


def _written(folder: Path, make: Any, program: Program) -> Path:
    inputs, outputs, nodes, functions = program
    path = folder / "old.cir"
    path.write_bytes(_file(make, inputs, outputs, nodes, [_function(make, *f) for f in functions]))
    return path


def _arrays(values: dict[str, Any]) -> dict[str, Any]:
    arrays = {name: np.array(v) for name, v in values.items()}
    return {name: v.astype(np.float32) if v.dtype == np.float64 else v for name, v in arrays.items()}


def _lists(values: Any) -> dict[str, Any]:
    return {name: np.asarray(v).tolist() for name, v in values.items()}


@pytest.mark.slow_cases("*stage A")
@pytest.mark.parametrize("make", [a, b], ids=["stage A", "stage B"])
@pytest.mark.parametrize(("name", "inputs", "expected"), RUNS)
def test_historic_control_flow_runs(
    name: str, inputs: dict[str, Any], expected: dict[str, Any], make: Any, tmp_path: Path
) -> None:
    path = _written(tmp_path, make, PROGRAMS[name])
    module, diagnostics = cir.check(path)
    assert module is not None
    # A graph of stage A has no field for its version.
    assert [d.message for d in diagnostics if d.is_error and "model_version" not in d.message] == []
    assert _lists(cir.run(module, _arrays(inputs))) == expected
    cir.save(module, tmp_path / "new.cir")
    assert _lists(cir.run(cir.load(tmp_path / "new.cir"), _arrays(inputs))) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("name", "inputs", "expected"), RUNS)
def test_onnxruntime_runs_historic_control_flow(
    name: str, inputs: dict[str, Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    require_package("onnxruntime")
    model = cir.convert(cir.load(_written(tmp_path, b, PROGRAMS[name])), "onnx")
    assert _lists(cir.run(model, _arrays(inputs), engine="onnxruntime")) == expected


LOOP = "y = While[1, 1](x, most) c=Below b=Doubled"
WRONG: dict[str, tuple[list[str], list[tuple[Any, ...]], str]] = {
    "a body of two outputs": (
        [LOOP.replace("Doubled", "Two")],
        [BELOW, ("Two", V, [("r", FLOAT), ("s", FLOAT)], "r = Add(v, limit)", "s = Sub(v, limit)")],
        "the body 'Two' of 'While' has 2 outputs for 1 variable",
    ),
    "a body of another type": (
        [LOOP.replace("Doubled", "AsInt")],
        [BELOW, ("AsInt", V, [("r", INT64)], "r = Cast(v) to=7")],
        "results of the body: value 0 has type tensor<i64>, expected tensor<f32>",
    ),
    "a condition that is a number": (
        [LOOP.replace("Below", "Doubled")],
        [DOUBLED],
        "the condition: value 0 has type tensor<f32>, expected tensor<i1>",
    ),
    "a function that is not there": ([LOOP], [BELOW], "'While' must name two functions by string attributes"),
    "counts that do not divide the inputs": (
        [LOOP.replace("[1, 1]", "[2, 1]")],
        [BELOW, DOUBLED],
        "'While' has 2 parameters, which the argument counts must divide 2 inputs among",
    ),
    "more outputs than variables": (
        [LOOP.replace("y =", "y, z =")],
        [BELOW, DOUBLED],
        "'While' has 1 output here, the node names 2",
    ),
    "a body that runs itself": (
        [LOOP.replace("Doubled", "Again")],
        [BELOW, ("Again", V, W, "w = While[1, 1](v, limit) c=Below b=Again")],
        "CIR39: function 'Again' calls itself",
    ),
}


@pytest.mark.parametrize("make", [a, b], ids=["stage A", "stage B"])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_control_flow_is_reported_once(name: str, make: Any, tmp_path: Path) -> None:
    nodes, functions, message = WRONG[name]
    diagnostics = cir.check(_written(tmp_path, make, (X, Y, nodes, functions)))[1]
    (error,) = [d.message for d in diagnostics if d.is_error and "model_version" not in d.message]
    assert error.startswith(message)
