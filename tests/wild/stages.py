"""The stages: each gets a file and says how it went, or raises.

A refusal is a `DiagnosticError`, another result a `Disagreement`, and `OracleRefuses` says that there is nothing to
compare with. Any other exception is a crash.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import onnx

import commonir

from tests.onnx_suite.cases import Value, quiet
from tests.onnx_suite.evaluators import OnnxReference, Unsupported, first_line, onnxruntime_runner
from tests.onnx_suite.messages import require_equal
from tests.onnx_suite.values import RANDOM_OPERATORS, Disagreement, compare_all
from tests.wild import texts
from tests.wild.files import Case
from tests.wild.outcomes import Outcome, Verdict

RTOL, ERROR = 1e-4, 1e-4
"""Of two engines on one model: relative to each element, and to the largest magnitude of an output."""
HALF_ERROR = 1e-2
"""The same where outputs are of half precision."""
_HALVES = ("float16", "bfloat16")
MEMORY_BYTES = 6 << 30
_UNDECLARED_SHAPES = ((), (4,), (4, 4), (1, 4, 4), (1, 4, 4, 4))
"""Shapes that are tried for inputs without a rank."""
_NO_KERNEL = "NOT_IMPLEMENTED"
"""The word in onnxruntime's error for an operator that it has no implementation of."""
OLDER_OPSETS = (9, 11, 13, 15, 17)
OLDEST_OPSET = 9
NEWEST_OPSET = 22

Measures = dict[str, float]


class OracleRefuses(Exception):
    """The oracle does not take the file, or not these inputs."""


class Judge:
    """Judges cases, in a process that may use so much memory."""

    def __init__(self, memory_bytes: int = MEMORY_BYTES) -> None:
        if memory_bytes:
            import resource  # noqa: PLC0415  not on Windows

            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))

    def __call__(self, case: Case) -> Outcome:
        start = time.process_time()
        measures: Measures = {}
        verdict, reason = Verdict.RIGHT, ""
        try:
            with quiet():
                measures = stage_of(case)(case.file.path) or {}
        except commonir.InternalError as error:
            verdict, reason = Verdict.CRASH, first_line(error)
        except commonir.DiagnosticError as error:
            first = error.diagnostics[0]
            is_internal = first.code.id == "E9999"
            verdict = Verdict.CRASH if is_internal else Verdict.REFUSED
            reason = f"{first.code.id} {first.message}"
        except Disagreement as error:
            verdict, reason = Verdict.WRONG, str(error)
        except (OracleRefuses, texts.OthersRefuse) as error:
            verdict, reason = Verdict.OTHERS, str(error)
        except MemoryError as error:
            verdict, reason = Verdict.OTHERS, f"beyond the memory of the driver: {first_line(error)}"
        except Exception as error:  # noqa: BLE001  one case must not end the others
            verdict, reason = Verdict.CRASH, first_line(error)
        return Outcome(case, verdict, reason, time.process_time() - start, measures)


def _load(path: Path) -> None:
    commonir.summarize(commonir.load(path))


def _check(path: Path) -> None:
    """Our findings against whether onnx's checker and onnxruntime accept an ONNX model, and the latter runs it: some
    faults of a model it finds then. Of what both refuse, we warn at least. Neither looks at values of text attributes,
    so that there the descriptions of attributes in onnx decide.
    """
    try:
        _, findings = commonir.check(path)
    except commonir.DiagnosticError as error:
        findings = list(error.diagnostics)
    errors = [f for f in findings if f.is_error]
    if path.suffix != ".onnx":
        if errors:
            raise commonir.DiagnosticError(*errors)
        return
    theirs = _refusals(path)
    if errors and len(theirs) == 0 and _is_run(path):
        if all(any(name in e.message and text in e.message for name, text in _undescribed(path)) for e in errors):
            raise OracleRefuses(f"onnx describes no such value, and does not check it: {errors[0].message}")
        raise Disagreement(f"onnx and onnxruntime accept it: {errors[0].code.id} {errors[0].message}")
    if not findings and len(theirs) == len(_ACCEPTING):
        raise Disagreement(f"accepted here, refused by both: {theirs[0]}")


def _checked_by_onnx(path: Path) -> None:
    onnx.checker.check_model(str(path), full_check=True)


_ACCEPTING: tuple[Callable[[Path], object], ...] = (_checked_by_onnx, onnxruntime_runner)


def _refusals(path: Path) -> list[str]:
    """Returns the objections of onnx's checker and onnxruntime to a model, without operators that onnxruntime lacks."""
    result: list[str] = []
    for accepts in _ACCEPTING:
        try:
            accepts(path)
        except Exception as error:  # noqa: BLE001  their exceptions have no common class
            if _NO_KERNEL not in str(error):
                result.append(first_line(error))
    return result


def _undescribed(path: Path) -> list[tuple[str, str]]:
    """Returns text attributes with a value that onnx's description of the attribute does not mention."""
    result: list[tuple[str, str]] = []
    model = onnx.load(path, load_external_data=False)
    versions = {entry.domain: entry.version for entry in model.opset_import}
    for node in model.graph.node:
        try:
            described = onnx.defs.get_schema(node.op_type, versions.get(node.domain, 1), node.domain).attributes
        except onnx.defs.SchemaError:
            continue
        for a in node.attribute:
            text = a.s.decode(errors="replace")
            if (
                a.type == onnx.AttributeProto.STRING
                and a.name in described
                and text not in described[a.name].description
            ):
                result.append((repr(a.name), repr(text)))
    return result


def _is_run(path: Path) -> bool:
    """Returns whether onnxruntime runs a model as it is, also when it is not clear with what inputs: its optimization
    may remove a fault.
    """
    try:
        inputs = _plain_inputs(path)
    except OracleRefuses:
        return True
    try:
        onnxruntime_runner(path, optimizes=False)(inputs)
    except Exception as error:  # noqa: BLE001  its exceptions have no common class of its own
        return _NO_KERNEL in str(error)
    return True


class _Reference:
    """An ONNX model, inputs for it, and what onnxruntime computes. Raises: OracleRefuses."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._run = onnxruntime_runner(path)
        except Unsupported as error:
            raise OracleRefuses(str(error)) from error
        self._rounds_to_half = _rounds_to_half(path)
        self.inputs: Mapping[str, Value] = {}
        try:
            self.module = commonir.load(path)
            is_ranked = all(_is_ranked(v.type) for v in self.module.inputs)
            self.inputs = commonir.random_inputs(self.module) if is_ranked else self._inputs_of_some_rank()
        except commonir.DiagnosticError:
            # What onnxruntime only loads is not refused wrongly.
            self._outputs_of(_plain_inputs(path))
            raise
        self.outputs = self._outputs_of(self.inputs)

    def _inputs_of_some_rank(self) -> Mapping[str, Value]:
        """Returns inputs for a model that declares no rank, the least that onnxruntime takes. Raises: OracleRefuses."""
        for shape in _UNDECLARED_SHAPES:
            inputs = _plain_inputs(self.path, shape)
            with suppress(OracleRefuses):
                self._outputs_of(inputs)
                return inputs
        raise OracleRefuses("onnxruntime takes no inputs that were tried for those without a rank")

    def _outputs_of(self, inputs: Mapping[str, Value]) -> Sequence[Value]:
        """Returns the outputs of onnxruntime. Raises: OracleRefuses."""
        try:
            return self._run(inputs)
        except Exception as error:  # its exceptions have no common class of its own
            raise OracleRefuses(first_line(error)) from error

    def seconds(self) -> float:
        """Returns the time of a run of onnxruntime."""
        return _seconds(lambda: self._run(self.inputs))

    def inputs_of(self, program: commonir.Module) -> dict[str, Value]:
        """The inputs of a converted program, by its names: those with default values may have become constants, and
        scalars vectors.
        """
        inputs = self.inputs
        if len(program.inputs) < len(inputs):
            ports = self.module.main.input_ports
            inputs = {n: v for n, v in inputs.items() if n not in ports or not ports[n].is_optional}
        names = [v.name for v in program.inputs]
        by_name = inputs if set(names) == set(inputs) else dict(zip(names, inputs.values(), strict=True))
        return {v.name: _in_rank_of(v.type, by_name[v.name]) for v in program.inputs}

    def in_order(self, outputs: Mapping[str, Value]) -> Sequence[Value]:
        """Outputs by name in the order of the file, which may list one twice."""
        names = [v.name for v in onnx.load(self.path, load_external_data=False).graph.output]
        return [outputs[n] for n in names] if set(names) == set(outputs) else list(outputs.values())

    def _of_nudged(self) -> Sequence[Value]:
        """Returns the outputs of onnxruntime on weights and inputs of other last bits."""
        model = onnx.load(self.path)
        constants = [a.t for n in model.graph.node if n.op_type == "Constant" for a in n.attribute if a.HasField("t")]
        for tensor in (*model.graph.initializer, *constants):
            if tensor.data_type == onnx.TensorProto.FLOAT:
                nudged = np.asarray(_nudged(onnx.numpy_helper.to_array(tensor)))
                tensor.CopyFrom(onnx.numpy_helper.from_array(nudged, tensor.name))
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "nudged.onnx"
            onnx.save(model, path)
            return onnxruntime_runner(path)({n: _nudged(v) for n, v in self.inputs.items()})

    def fix_dims(self) -> None:
        """Fixes the sizes of all inputs as those that were drawn."""
        dims: dict[str, int | str | tuple[int, int]] = {
            f"{value.name}.{axis}": size
            for value in self.module.inputs
            for axis, _, size in self._dynamic_dims(value, value.name)
        }
        if dims:
            self.module = commonir.edit(self.module, dims=dims)

    def ranges(self) -> dict[str, tuple[int, int]]:
        """Returns a range for each dynamic dim of the inputs, as Core ML needs: up to twice what was drawn. Names that
        are missing come with lowering.
        """
        pairs = zip(self.module.inputs, commonir.lower(self.module).inputs, strict=True)
        sizes = {str(dim): size for v, lowered in pairs for _, dim, size in self._dynamic_dims(lowered, v.name)}
        return {name: (1, 2 * max(size, 1)) for name, size in sizes.items()}

    def _dynamic_dims(self, value: commonir.Value, name: str | None) -> Iterator[tuple[int, object, int]]:
        """Yields the dims of an input that are not numbers: the axis, the dim and the size drawn for the name."""
        shape = value.type.shape if isinstance(value.type, commonir.TensorType) else None
        for axis, dim in enumerate(shape or ()):
            if not isinstance(dim, int):
                yield axis, dim, np.asarray(self.inputs[name or ""]).shape[axis]

    def require(self, outputs: Sequence[Value]) -> None:
        """Raises: Disagreement; OracleRefuses, where onnxruntime stands against itself or against onnx."""
        try:
            self._compare(outputs, self.outputs)
        except Disagreement:
            self._hear_others(outputs)
            raise

    def _compare(self, outputs: Sequence[Value], expected: Sequence[Value]) -> None:
        halves = self._rounds_to_half or any(isinstance(v, np.ndarray) and v.dtype.name in _HALVES for v in expected)
        rtol, error = (HALF_ERROR, HALF_ERROR) if halves else (RTOL, ERROR)
        compare_all(outputs, expected, rtol, 1e-6, error, is_random=_is_random(self.path))

    def _hear_others(self, outputs: Sequence[Value]) -> None:
        """Asks whether what differs is decided by the model. Raises: OracleRefuses, if not."""
        for change, run in (
            ("without optimization", lambda: onnxruntime_runner(self.path, optimizes=False)(self.inputs)),
            ("with weights of other last bits", self._of_nudged),
        ):
            try:
                self._compare(run(), self.outputs)
            except Disagreement as error:
                raise OracleRefuses(f"onnxruntime {change} differs as much from itself: {error}") from error
        try:
            run = OnnxReference().prepare(self.path, self.inputs).run
            expected = None if run is None else run(self.inputs)
        except Exception:  # noqa: BLE001  an evaluator that cannot run it says nothing
            return
        if expected is not None:
            with suppress(Disagreement):
                self._compare(outputs, expected)
                raise OracleRefuses("onnx's evaluator computes the same, onnxruntime does not")

    def require_of_target(self, outputs: Sequence[Value]) -> None:
        """The same for outputs in the types of a target."""
        is_complete = len(outputs) == len(self.outputs)
        self.require([_as(v, e) for v, e in zip(outputs, self.outputs, strict=True)] if is_complete else outputs)

    def require_of_ours(self, module: commonir.Module, inputs: Mapping[str, Value] | None = None) -> None:
        """Runs a program with our engine and compares."""
        self.require(list(commonir.run(module, inputs or self.inputs).values()))

    def require_of_file(self, path: Path) -> None:
        """Runs a model that we wrote with onnxruntime and compares. Raises: Disagreement, also for its refusal;
        OracleRefuses, where the optimization of onnxruntime alone makes it differ.
        """
        try:
            self._require_of_file(path)
        except Disagreement as error:
            with suppress(Disagreement):
                self._require_of_file(path, optimizes=False)
                raise OracleRefuses(f"onnxruntime agrees without its optimization; with it: {error}") from error
            raise

    def _require_of_file(self, path: Path, *, optimizes: bool = True) -> None:
        try:
            # Inputs that may have become constants are not given.
            names = {i.name for i in onnx.load(path, load_external_data=False).graph.input}
            inputs = {n: v for n, v in self.inputs.items() if n in names}
            outputs = onnxruntime_runner(path, optimizes=optimizes)(inputs)
        except Exception as error:
            if _NO_KERNEL in str(error) and not _refusals(path):
                raise OracleRefuses(first_line(error)) from error
            raise Disagreement(f"onnxruntime refuses the result: {first_line(error)}") from error
        self.require(outputs)


def _is_ranked(type: commonir.Type) -> bool:
    return not isinstance(type, commonir.TensorType) or type.shape is not None


def _rounds_to_half(path: Path) -> bool:
    """Returns whether a model takes values of half precision, or converts some to it."""
    graph = onnx.load(path, load_external_data=False).graph
    halves = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
    casts = [a.i for n in graph.node if n.op_type == "Cast" for a in n.attribute if a.name == "to"]
    elements = [*casts, *[v.type.tensor_type.elem_type for v in graph.input], *[t.data_type for t in graph.initializer]]
    return any(e in halves for e in elements)


def _nudged(value: Value) -> Value:
    """A value whose elements, if floats, are larger or smaller by units in the last place, in turn at random.

    Single precision changes by two units, half precision by one.
    """
    if not isinstance(value, np.ndarray) or value.dtype.name not in ("float32", "float16"):
        return value
    unit = 2.0**-22 if value.dtype.name == "float32" else 2.0**-10
    signs = np.random.default_rng(0).choice((-1.0, 1.0), value.shape)
    return np.multiply(value, 1 + unit * signs).astype(value.dtype)


def _is_random(path: Path) -> bool:
    """Returns whether runtimes may give different numbers: random ones, Dropout in training mode, TopK in any order."""
    nodes = onnx.load(path, load_external_data=False).graph.node
    return any(
        n.op_type in RANDOM_OPERATORS
        or (n.op_type == "Dropout" and len(n.input) > 2)
        or (n.op_type == "TopK" and any(a.name == "sorted" and not a.i for a in n.attribute))
        for n in nodes
    )


def _run(path: Path) -> Measures:
    reference = _Reference(path)
    executable = commonir.prepare(reference.module)

    def run() -> Sequence[Value]:
        return reference.in_order(executable.run(reference.inputs))  # pyright: ignore[reportArgumentType]

    start = time.perf_counter()
    outputs = run()
    first = time.perf_counter() - start
    reference.require(outputs)
    return {"first seconds": first, "seconds": _seconds(run, first), "onnxruntime seconds": reference.seconds()}


def _seconds(run: Callable[[], object], first: float = 0.0) -> float:
    """The time of a run of what has run before: the least of three, or `first` where that is over ten seconds."""
    if first > 10:
        return first
    least = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - start)
        if least > 1:
            break
    return least


def _plain_inputs(path: Path, undeclared: Sequence[int] = ()) -> dict[str, Value]:
    """Inputs of a model by what onnx says of them, for what commonir refuses, or draws none for because a shape is not
    declared: those get the shape `undeclared`. Raises: OracleRefuses.
    """
    graph = onnx.load(path, load_external_data=False).graph
    given = {t.name for t in graph.initializer}
    random = np.random.default_rng(0)
    result: dict[str, Value] = {}
    for value in graph.input:
        if value.name in given:
            continue
        if not value.type.HasField("tensor_type"):
            raise OracleRefuses(f"no inputs to try: '{value.name}' is not a tensor")
        type = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(type.elem_type)
        shape = [d.dim_value or 4 for d in type.shape.dim] if type.HasField("shape") else undeclared
        numbers = random.standard_normal(shape) if dtype.kind not in "iub" else random.integers(0, 2, shape)
        result[value.name] = np.asarray(numbers).astype(dtype)
    return result


def _save(path: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        again = Path(scratch) / f"again{path.suffix}"
        commonir.save(commonir.load(path), again)
        if path.suffix == ".onnx":
            require_equal(_with_constants_once(onnx.load(path)), onnx.load(again))
        else:
            commonir.load(again)


def _with_constants_once(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model whose constants of one name are the last of them, at the place of the first, as a warning says."""
    nodes = model.graph.node
    constants = [(n.output[0], place) for place, n in enumerate(nodes) if n.op_type == "Constant" and n.output]
    first, last = dict(reversed(constants)), dict(constants)
    for name, place in first.items():
        nodes[place].CopyFrom(nodes[last[name]])
    for _, place in reversed([c for c in constants if first[c[0]] != c[1]]):
        del nodes[place]
    return model


def _opt(path: Path, level: str = "exact", fuse: str | None = None) -> Measures:
    reference = _Reference(path)
    with tempfile.TemporaryDirectory() as scratch:
        result = Path(scratch) / "result.onnx"
        commonir.save(commonir.optimize(reference.module, level=level, fuse=fuse), result)
        reference.require_of_file(result)
        before, after = _count_nodes(path), _count_nodes(result)
        measures = {
            "nodes": before,
            "nodes after": after,
            "bytes/source": result.stat().st_size / path.stat().st_size,
        }
        theirs = _slimmed_nodes(path, Path(scratch) / "slim.onnx")
        if theirs:
            measures |= {"nodes/onnxslim": max(after, 1) / theirs}
        return measures


def _slimmed_nodes(path: Path, result: Path) -> int:
    try:
        import onnxslim  # noqa: PLC0415  an oracle that may be missing

        onnxslim.slim(str(path), str(result))
        return max(_count_nodes(result), 1)
    except BaseException:  # noqa: BLE001  it may also exit
        return 0


def _count_nodes(path: Path) -> int:
    def count(graph: onnx.GraphProto) -> int:
        inner = [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
        inner += [g for n in graph.node for a in n.attribute for g in a.graphs]
        return len([n for n in graph.node if n.op_type != "Constant"]) + sum([count(g) for g in inner])

    return count(onnx.load(path, load_external_data=False).graph)


def _in_opset(choose: Callable[[int], int | None], fuse: str | None = None) -> Callable[[Path], None]:
    def stage(path: Path) -> None:
        reference = _Reference(path)
        opset = choose(_opset_of(path))
        if opset is None:
            return
        with tempfile.TemporaryDirectory() as scratch:
            result = Path(scratch) / "result.onnx"
            commonir.save(commonir.convert(reference.module, "onnx", opset=opset, fuse=fuse), result)
            reference.require_of_file(result)

    return stage


def _opset_of(path: Path) -> int:
    imports = onnx.load(path, load_external_data=False).opset_import
    return max([i.version for i in imports if i.domain in ("", "ai.onnx")], default=1)


def _older(opset: int) -> int | None:
    return max([n for n in OLDER_OPSETS if n < opset], default=None)


def _oldest(opset: int) -> int | None:
    return OLDEST_OPSET if opset > OLDEST_OPSET else None


def _newest(opset: int) -> int | None:
    return NEWEST_OPSET if opset < NEWEST_OPSET else None


def _core_ml(path: Path) -> None:
    reference = _Reference(path)
    _in_package(reference, reference.ranges())


def _fixed_core_ml(path: Path) -> None:
    reference = _Reference(path)
    reference.fix_dims()
    _in_package(reference)


def _in_package(reference: _Reference, ranges: Mapping[str, tuple[int, int]] | None = None) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        result = Path(scratch) / "result.mlpackage"
        commonir.save(commonir.convert(reference.module, "mil", ranges=ranges), result)
        package = commonir.load(result)
        errors = [f for f in commonir.verify(package) if f.is_error]
        if errors:
            raise Disagreement(f"check refuses the package: {errors[0].code.id} {errors[0].message}")
        outputs = commonir.run(package, reference.inputs_of(package))
        reference.require_of_target(list(outputs.values()))


def _in_rank_of(type: commonir.Type, value: Value) -> Value:
    """A scalar as a vector where a target has no scalar inputs."""
    is_vector = isinstance(type, commonir.TensorType) and type.shape == (1,)
    return value.reshape(1) if is_vector and isinstance(value, np.ndarray) and not value.ndim else value


def _as(value: Value, expected: Value) -> Value:
    """A value in the element type and rank of what is expected: a target may have fewer."""
    if isinstance(value, np.ndarray) and isinstance(expected, np.ndarray):
        value = value.reshape(()) if value.shape == (1,) and not expected.ndim else value
        is_narrower = value.dtype.kind in "iu" and expected.dtype.kind in "iu" and value.shape == expected.shape
        # What the target cannot hold is anything there.
        held = expected == expected.astype(value.dtype) if is_narrower else np.True_
        return np.where(held, value.astype(expected.dtype), expected)
    return value


def _in_dialect(to: str) -> Callable[[Path], None]:
    def stage(path: Path) -> None:
        reference = _Reference(path)
        text = commonir.dumps(commonir.convert(reference.module, to))
        program = commonir.loads(text, format="mlir")
        outputs = list(commonir.run(program, reference.inputs_of(program)).values())
        reference.require_of_target(outputs)

    return stage


def _ark(path: Path) -> None:
    reference = _Reference(path)
    reference.fix_dims()
    with tempfile.TemporaryDirectory() as scratch:
        # Weights are in a file beside the model.
        result = Path(scratch) / "result.ark.json"
        commonir.save(commonir.convert(reference.module, "ark"), result)
        program = commonir.load(result)
        outputs = list(commonir.run(program, reference.inputs_of(program)).values())
        reference.require_of_target(outputs)


def _to_onnx(path: Path) -> None:
    """A Core ML program as ONNX: onnxruntime computes what our engine computes from the package."""
    module = commonir.load(path)
    inputs = commonir.random_inputs(module)
    expected = list(commonir.run(module, inputs).values())
    with tempfile.TemporaryDirectory() as scratch:
        result = Path(scratch) / "result.onnx"
        commonir.save(commonir.convert(module, "onnx"), result)
        outputs = onnxruntime_runner(result)(inputs)
        compare_all(outputs, expected, RTOL, 1e-6, ERROR)


STAGES: dict[str, Callable[[Path], Measures | None]] = {
    "load": _load,
    "check": _check,
    "run": _run,
    "save": _save,
    "opt": _opt,
    "opt-fast": partial(_opt, level="fast"),
    "opt-fuse": partial(_opt, fuse="all"),
    "older": _in_opset(_older),
    "oldest": _in_opset(_oldest),
    "newest": _in_opset(_newest),
    "newest-fuse": _in_opset(_newest, "all"),
    "coreml": _core_ml,
    "coreml-fixed": _fixed_core_ml,
    "stablehlo": _in_dialect("stablehlo"),
    "linalg": _in_dialect("linalg"),
    "ark": _ark,
    "convert-onnx": _to_onnx,
    "records": texts.records,
}
"""The function of each stage."""

_OF_MLIR: Mapping[str, Callable[[Path], None]] = {
    "load": texts.load,
    "check": texts.check,
    "save": texts.save,
    "run": texts.run,
}
"""The functions of stages of MLIR text, which may hold several programs."""


def stage_of(case: Case) -> Callable[[Path], Measures | None]:
    """Returns the function of a stage for a file."""
    return (_OF_MLIR if case.file.path.suffix == ".mlir" else STAGES)[case.stage]
