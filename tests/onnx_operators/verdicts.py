"""Results of three evaluators for a model of one operator, and who agrees with whom."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import commonir
from commonir.base.diagnostics import Severity

from tests.onnx_operators import elementwise, moves, sums
from tests.onnx_operators.drawing import Array, Case, Draw, Recipe
from tests.onnx_suite.values import Disagreement, compare
from tests.oracles import oracle

RECIPES: tuple[Recipe, ...] = (*elementwise.RECIPES, *moves.RECIPES, *sums.RECIPES)
Outputs = list[Any]


class Form(Enum):
    """How much a model declares of the shapes of its inputs."""

    NUMBERS = "numbers"
    SYMBOLS = "symbols"
    NOTHING = "nothing"


class Drawn(NamedTuple):
    """A model of one operator, with the inputs it is run with."""

    case: Case
    model: ModelProto
    inputs: Mapping[str, Array]
    form: Form

    def __str__(self) -> str:
        shown = [None if x is None else f"{x.dtype.name}{list(x.shape)}" for x in self.case.inputs]
        small = {i: x.tolist() for i, x in enumerate(self.case.inputs) if x is not None and x.size < 9}
        keys = {k: v for k, v in self.case.attributes.items() if not hasattr(v, "SerializeToString")}
        constant = [t.name for t in self.model.graph.initializer]
        return f"{self.case.operator}-{self.case.opset} {keys} {shown} {self.form.value} constant={constant} {small}"


class Verdict(NamedTuple):
    """Who gives what: outputs, or why there are none."""

    ours: Outputs | str
    reference: Outputs | str
    runtime: Outputs | str
    findings: list[str]
    """Errors that checking the model finds."""
    differing: list[str]
    """The evaluators whose outputs are not ours, with the differences."""


def drawn(seed: int, unknown_rank: float = 0.05, symbols: float = 0.35) -> Drawn:
    """The model of a seed; `modelled` says what the shares are."""
    d = Draw(seed)
    return modelled(d, RECIPES[seed % len(RECIPES)](d), unknown_rank, symbols)


def modelled(d: Draw, case: Case, unknown_rank: float = 0.05, symbols: float = 0.35) -> Drawn:
    """A model of one operator. Which inputs are constants is drawn, and what is said about shapes: of which share of
    models nothing, and of which others only names of sizes.
    """
    form = Form.NOTHING if d.chance(unknown_rank) else Form.SYMBOLS if d.chance(symbols) else Form.NUMBERS
    names = ["" if x is None else f"i{n}" for n, x in enumerate(case.inputs)]
    constant = {n for n in case.constants if d.chance(0.7)} | ({0} if d.chance(0.03) else set())
    inputs = {
        name: x
        for n, (name, x) in enumerate(zip(names, case.inputs, strict=True))
        if x is not None and n not in constant
    }
    stored = [
        numpy_helper.from_array(x, names[n]) for n, x in enumerate(case.inputs) if x is not None and n in constant
    ]
    results = [f"o{n}" for n in range(case.outputs)]
    node = helper.make_node(case.operator, names, results, **{k: v for k, v in case.attributes.items() if v != []})
    infos = [helper.make_tensor_value_info(name, _element(x), _sizes(name, x, form)) for name, x in inputs.items()]
    graph = helper.make_graph([node], "g", infos, [ValueInfoProto(name=r) for r in results], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=10)
    return Drawn(case, model, inputs, form)


def _element(x: Array) -> int:
    return TensorProto.STRING if x.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(x.dtype)


def _sizes(name: str, x: Array, form: Form) -> list[int | str] | None:
    match form:
        case Form.NUMBERS:
            return list(x.shape)
        case Form.SYMBOLS:
            return [f"{name}_{axis}" for axis in range(x.ndim)]
        case Form.NOTHING:
            return None


def judge(it: Drawn) -> Verdict:
    """Runs a model with all three."""
    findings: list[str] = []

    def here() -> Outputs:
        module = commonir.loads(it.model.SerializeToString(), format="onnx")
        findings.extend(str(f) for f in commonir.verify(module) if f.severity is Severity.ERROR)
        return list(commonir.run(module, dict(it.inputs)).values())

    def with_evaluator() -> Outputs:
        return [*ReferenceEvaluator(it.model).run(None, dict(it.inputs))]

    ours, reference = _outcome(here), _outcome(with_evaluator)
    runtime = _outcome(lambda: run_with_onnxruntime(it.model, it.inputs))
    differing: list[str] = []
    for name, theirs in (("reference", reference), ("onnxruntime", runtime)):
        if isinstance(ours, list) and isinstance(theirs, list) and (why := difference(ours, theirs, it.case.rtol)):
            differing.append(f"{name}: {why}")
    return Verdict(ours, reference, runtime, findings, differing)


def _outcome(run: Callable[[], Outputs]) -> Outputs | str:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run()
        except commonir.DiagnosticError as error:
            return f"refused: {error.diagnostics[0]}"
        except Exception as error:  # noqa: BLE001  evaluators of others raise whatever they like
            return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def run_with_onnxruntime(model: ModelProto, inputs: Mapping[str, Array]) -> Outputs:
    """The outputs of onnxruntime without its rewriting of graphs."""
    ort = oracle("onnxruntime")
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(inputs))


def difference(ours: Outputs, theirs: Outputs, rtol: float) -> str | None:
    """Returns the first difference."""
    for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        magnitude = np.abs(np.asarray(b, "f8")) if np.asarray(b).dtype.kind in "fiu" else np.zeros(1)
        scale = float(np.max(magnitude, where=np.isfinite(magnitude), initial=0.0))
        try:
            compare(a, b, rtol, rtol * min(max(scale, 1.0), 1e6) / 10, f"output {number}")
        except Disagreement as error:
            return str(error)
    return None
