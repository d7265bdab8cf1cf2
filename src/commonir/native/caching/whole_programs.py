"""Finds the part of a prepared function that can be stored as one compiled program (see `model_cache`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.data import FileData
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.native.caching.model_cache import InputSpec, KnownShapes, ModelCache, WholeProgram
from commonir.native.compiled_graph import CompiledGraph
from commonir.ods.weights import weights_of
from commonir.runtime.binding.ports import names_of, shape_mismatches
from commonir.runtime.drawing import NumberDraw
from commonir.runtime.engine import Executable
from commonir.runtime.flexible import FlexibleExecutable
from commonir.runtime.kernel_graph.execution import GraphExecutable
from commonir.runtime.values import declared_dtype, is_computed_as_declared

Array = NDArray[Any]


def store_run(
    cache: ModelCache,
    module: Module,
    executable: Executable,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    draws: Sequence[NumberDraw] | None = None,
) -> None:
    """Stores the program of a model after a run, unless other code took part, and `draws` of its inputs if given."""
    ran = _storable_run(executable, inputs)
    if ran is None:
        return
    declared = module.function(ran.function)
    has_ports = bool(declared.input_ports or declared.output_ports)
    is_plain = not has_ports and not any(shape_mismatches(declared, outputs))
    cache.write_shapes(
        ran.shapes, KnownShapes({s: ran.dims[s] for s in ran.whole.program.symbols if s in ran.dims}, is_plain)
    )
    if draws is not None:
        cache.write_draws(draws)
    if cache.read() is None:
        cache.write(ran.whole, _data_files(module))


class _StorableRun(NamedTuple):
    """A program that ran, the name of its function, the shapes of all inputs, and the values of symbols."""

    whole: WholeProgram
    function: str
    shapes: tuple[tuple[int, ...], ...]
    dims: Mapping[str, int]


def _storable_run(executable: Executable, inputs: Mapping[str, Array]) -> _StorableRun | None:
    """Returns the compiled program that ran for some inputs; None if other code took part."""
    general = executable.general if isinstance(executable, FlexibleExecutable) else None
    only = general.only_graph(inputs) if isinstance(general, GraphExecutable) else None
    if only is None or not isinstance(only.step.graph, CompiledGraph):
        return None
    function, step, program = only.function, only.step, only.step.graph.program
    if not all(is_computed_as_declared(v) for v in (*function.inputs, *step.outputs)):
        return None
    names = dict(zip(function.inputs, names_of(function), strict=True))
    # An output of the function may be one several times.
    if len({*function.outputs}) != len(function.outputs) or len(step.outputs) != len(function.outputs):
        return None
    outputs = dict(zip(function.outputs, function.output_names, strict=True))
    inputs_of = [InputSpec(names[v], declared_dtype(_type_of(v).element).name, _rank_of(v)) for v in function.inputs]
    whole = WholeProgram(
        program, tuple(inputs_of), tuple([names[v] for v in step.inputs]), tuple([outputs[v] for v in step.outputs])
    )
    return _StorableRun(whole, function.symbol_name, only.shapes, only.dims)


def _data_files(module: Module) -> list[str]:
    """Returns the files that a program reads constants from."""
    parts = [part for weight in weights_of(module) for part in weight.parts]
    return sorted({part.file.path for part in parts if isinstance(part, FileData)})


def _type_of(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _rank_of(value: Value) -> int:
    return len(_type_of(value).shape or ())
