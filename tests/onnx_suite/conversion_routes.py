"""Ways of running a case that convert the model first: to ONNX again, to an older operator set, and to Core ML.

A model that is converted may have to know some inputs, such as axes or a shape, before it runs. What a case feeds is
made part of the model, as initializers, in steps, and the first step that converts counts:

1. nothing;
2. inputs of integers or booleans and of rank 0 or 1, except the first;
3. all inputs except the first.

The outcome of a case says which inputs were fixed, or why the last step was refused.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper

import commonir

from tests.conformance.round_trips import open_with_coremltools
from tests.onnx_suite.cases import Array, Value
from tests.onnx_suite.evaluators import Prepared, Run, Unsupported, onnxruntime_runner, refusing, runner, said
from tests.onnx_suite.values import RANDOM_OPERATORS, Disagreement, compare_all

# ArrayFeatureType.ArrayDataType of FeatureTypes.proto.
ARRAY_DTYPES: Mapping[int, type[np.generic]] = {
    65552: np.float16,
    65568: np.float32,
    65600: np.float64,
    131104: np.int32,
    131080: np.int8,
}

PEER_RTOL, PEER_ATOL = 1e-4, 1e-6
"""Of two engines on one model."""

CONVERTED_ERROR = 2e-6
"""Of the largest magnitude of an output: where a format lacks an operation, others add up in another order."""

_DRAWING = RANDOM_OPERATORS | {"Dropout"}


class Converted(NamedTuple):
    """A model, where what it was converted to is, and the inputs that were fixed for that."""

    proto: onnx.ModelProto
    path: Path
    fixed: tuple[str, ...]


class Converting:
    """Converts a model with as few inputs fixed as possible, to files of a suffix."""

    format = ""
    suffix = ""

    def __init__(self, engine: str = "numpy") -> None:
        self.name = f"commonir {engine} through {self.format}"
        self._engine = engine
        # Weights are read from the files while they run: the folder goes with this evaluator.
        self._scratch = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
        self._number = 0

    def _converted(self, model: Path, inputs: Mapping[str, Value]) -> Converted:
        """Writes the converted model.

        Raises: Unsupported with what the last try says.
        """
        self._number += 1
        result = self._scratch / f"model{self._number}{self.suffix}"
        source = result.with_name(f"source{self._number}.onnx")
        proto = onnx.load(model)
        refusal = Unsupported("nothing to try")
        for names in choices_of_fixed(proto, inputs):
            onnx.save(with_fixed(proto, {name: inputs[name] for name in names}), source)
            try:
                commonir.save(self._convert(commonir.load(source)), result)
            except commonir.DiagnosticError as error:
                refusal = Unsupported(said(error))
                continue
            return Converted(proto, result, names)
        raise refusal

    def _convert(self, module: commonir.Module) -> commonir.Module:
        return commonir.convert(commonir.lower(module), self.format)


class ConvertingToOnnx(Converting):
    """Common base of the routes that convert to ONNX."""

    format = "onnx"
    suffix = ".onnx"

    def _converted_and_run(self, model: Path, inputs: Mapping[str, Value]) -> tuple[Converted, Run]:
        """The converted model, which passes onnx's full check, and how we run it."""
        converted = self._converted(model, inputs)
        onnx.checker.check_model(str(converted.path), full_check=True)
        with refusing():
            return converted, runner(commonir.load(converted.path), self._engine)


class InOlderOpset(ConvertingToOnnx):
    """A model taken to an older operator set, run by onnxruntime or, what it does not take, by us.

    Element types that the operator set does not have are wider ones: inputs and expected outputs are taken to them.
    """

    opset = 13

    def _convert(self, module: commonir.Module) -> commonir.Module:
        return commonir.convert(module, "onnx", opset=self.opset)

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        (source, converted, fixed), ours = self._converted_and_run(model, inputs)
        try:
            run, note = _unless_refused(_in_onnxruntime(converted), ours), reported(fixed)
        except Unsupported as refusal:
            run, note = ours, f"not in onnxruntime: {refusal}"
        graph = onnx.load(converted).graph
        dtypes = {info.name: _dtype_of(info) for info in graph.input}
        declared = [_dtype_of(info) for info in source.graph.output]

        def run_in_wider_types(inputs: Mapping[str, Value]) -> Sequence[Value]:
            # What a case does not give has a default in the model.
            arguments = {name: inputs[name] for name in dtypes if name in inputs}
            result = run({name: _in_type(value, dtypes[name]) for name, value in arguments.items()})
            return [_narrowed(value, dtype) for value, dtype in zip(result, declared, strict=True)]

        return Prepared(run_in_wider_types, note, CONVERTED_ERROR)


def _dtype_of(info: onnx.ValueInfoProto) -> np.dtype[np.generic] | None:
    """The element type of a tensor of numbers; None of anything else."""
    if not info.type.HasField("tensor_type"):
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    return None if dtype.kind in "OSU" else dtype


def _in_type(value: Value, dtype: np.dtype[np.generic] | None) -> Value:
    return value if dtype is None or not isinstance(value, np.ndarray) else value.astype(dtype)


def _narrowed(value: Value, dtype: np.dtype[np.generic] | None) -> Value:
    """A value in the type that the source declares. Raises: Disagreement where that changes elements."""
    narrow = _in_type(value, dtype)
    if isinstance(value, np.ndarray) and isinstance(narrow, np.ndarray):
        again = narrow.astype(value.dtype)
        # Not all types know what no number is.
        wide = np.float64 if value.dtype.kind == "V" else value.dtype
        if not np.array_equal(again.astype(wide), value.astype(wide), equal_nan=np.dtype(wide).kind in "fc"):
            raise Disagreement(f"an output of {value.dtype} has elements that {dtype} has not")
    return narrow


class ThroughOnnx(ConvertingToOnnx):
    """A model lowered to the core and converted back, run by us and by onnxruntime, which must agree."""

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        (proto, again, fixed), ours = self._converted_and_run(model, inputs)
        try:
            theirs = _in_onnxruntime(again)
        except Unsupported as refusal:
            return Prepared(_without(ours, fixed), f"not in onnxruntime: {refusal}", CONVERTED_ERROR)
        is_random = any(node.op_type in _DRAWING for node in proto.graph.node)
        run = _agreeing(ours, theirs, is_random=is_random)
        return Prepared(_without(run, fixed), reported(fixed), CONVERTED_ERROR)


def reported(fixed: Sequence[str]) -> str:
    """Which inputs were made part of a model."""
    return f"fixed: {', '.join(fixed)}" if fixed else ""


def _without(run: Run, fixed: Sequence[str]) -> Run:
    return lambda inputs: run({name: value for name, value in inputs.items() if name not in fixed})


_NO_KERNEL = ("convert", "NOT_IMPLEMENTED", "No corresponding Numpy type")
"""Messages of onnxruntime when its kernels or its interface cannot take something: it has no error class for that."""


def _in_onnxruntime(model: Path) -> Run:
    """Runs a model with onnxruntime. Raises: Unsupported, also while it runs, for what onnxruntime cannot take."""
    theirs = onnxruntime_runner(model)

    def run(inputs: Mapping[str, Value]) -> Sequence[Value]:
        try:
            return theirs(inputs)
        except Exception as error:
            if any(reason in str(error) for reason in _NO_KERNEL):
                raise Unsupported(str(error)) from error
            raise

    return run


def _unless_refused(theirs: Run, ours: Run) -> Run:
    """Returns the outputs of onnxruntime; ours where it cannot take the values."""

    def run(inputs: Mapping[str, Value]) -> Sequence[Value]:
        try:
            return theirs(inputs)
        except Unsupported:
            return ours(inputs)

    return run


def _agreeing(ours: Run, theirs: Run, *, is_random: bool) -> Run:
    def run(inputs: Mapping[str, Value]) -> Sequence[Value]:
        result = ours(inputs)
        try:
            peers = theirs(inputs)
        except Unsupported:
            return result
        # It gives codes instead of floats of eight bits.
        arguments = [_decoded(peer, mine) for peer, mine in zip(peers, result, strict=True)]
        compare_all(result, arguments, PEER_RTOL, PEER_ATOL, CONVERTED_ERROR, is_random=is_random)
        return result

    return run


def _decoded(peer: Value, mine: Value) -> Value:
    if isinstance(peer, np.ndarray) and isinstance(mine, np.ndarray) and mine.dtype.name.startswith("float8"):
        return peer.view(mine.dtype)
    return peer


class ThroughCoreml(Converting):
    """A model converted to Core ML, written as a package, read back and run, and loaded by coremltools."""

    format = "coreml"
    suffix = ".mlpackage"

    def __init__(self, engine: str = "numpy") -> None:
        super().__init__(engine)
        # It prints on import which parts of the system it misses.
        logging.getLogger("coremltools").setLevel(logging.CRITICAL)

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        proto, package, fixed = self._converted(model, inputs)
        open_with_coremltools(package)
        features = features_of(package)
        run = runner(commonir.load(package), self._engine)
        fed = [info.name for info in proto.graph.input if info.name not in fixed and info.name in inputs]
        if len(fed) != len(features):
            raise Disagreement(f"{len(features)} inputs instead of {len(fed)}")
        types = [info.type.tensor_type for info in proto.graph.output]

        def run_as_declared(inputs: Mapping[str, Value]) -> Sequence[Value]:
            arguments: dict[str, Value] = {}
            for source, (name, dtype) in zip(fed, features.items(), strict=True):
                # Core ML has no scalars at its border.
                arguments[name] = np.atleast_1d(np.asarray(inputs[source])).astype(dtype)
            result = run(arguments)
            return [_as_declared(np.asarray(value), kind) for value, kind in zip(result, types, strict=True)]

        return Prepared(run_as_declared, reported(fixed), CONVERTED_ERROR)


def choices_of_fixed(proto: onnx.ModelProto, inputs: Mapping[str, Value]) -> Iterator[tuple[str, ...]]:
    """The inputs to fix, as the module's description says, without repetition."""
    later = [info.name for info in proto.graph.input if isinstance(inputs.get(info.name), np.ndarray)][1:]
    small = [name for name in later if _is_small_integer(inputs[name])]
    seen: set[tuple[str, ...]] = set()
    for names in ((), tuple(small), tuple(later)):
        if names not in seen:
            seen.add(names)
            yield names


def _is_small_integer(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.ndim <= 1 and value.dtype.kind in "biu"


def with_fixed(proto: onnx.ModelProto, fixed: Mapping[str, Value]) -> onnx.ModelProto:
    """The model with inputs replaced by initializers."""
    out = onnx.ModelProto()
    out.CopyFrom(proto)
    preserved = [info for info in out.graph.input if info.name not in fixed]
    del out.graph.input[:]
    out.graph.input.extend(preserved)
    out.graph.initializer.extend(numpy_helper.from_array(np.asarray(v), name) for name, v in fixed.items())
    return out


def features_of(package: Path) -> dict[str, type[np.generic]]:
    """The inputs that a package declares, by coremltools."""
    # Takes seconds to import.
    from coremltools.models.utils import load_spec  # noqa: PLC0415

    inputs = load_spec(str(package)).description.input  # pyright: ignore[reportAttributeAccessIssue]  annotated as the module of its class
    return {feature.name: ARRAY_DTYPES[feature.type.multiArrayType.dataType] for feature in inputs}


def _as_declared(array: Array, declared: onnx.TypeProto.Tensor) -> Array:
    """An output in the element type and rank that the ONNX model declares; single precision stands for bfloat16.

    Raises: Disagreement where that changes elements otherwise.
    """
    dtype = onnx.helper.tensor_dtype_to_np_dtype(declared.elem_type)
    out = array.astype(dtype)
    if declared.elem_type != onnx.TensorProto.BFLOAT16 and not np.array_equal(
        out.astype(array.dtype), array, equal_nan=array.dtype.kind in "fc"
    ):
        raise Disagreement(f"an output of {array.dtype} has elements that {dtype} has not")
    is_scalar = declared.HasField("shape") and not declared.shape.dim and out.shape == (1,)
    return out.reshape(()) if is_scalar else out
