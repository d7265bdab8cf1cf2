"""Summarizes a program for `cir info`, without reading weights or loading numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path

from commonir.base.codes import UNKNOWN_DIMENSION
from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.formats.format import MLIR, Format, Outline
from commonir.ir.data import FileData
from commonir.ir.interface import Port as Declared
from commonir.ir.module import Function, Module, distinct_names
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import StateType, TensorType, Type, symbols_of
from commonir.ods import Op, traits
from commonir.ods.weights import Weight, bits_each, weights_of
from commonir.passes.data_dependent_dims import DimNames, dims_by_name, named_inputs
from commonir.passes.output_dims import named_by_port
from commonir.reports import (
    FileEntry,
    FunctionSummary,
    Port,
    RanksSummary,
    ShapeEntry,
    StorageEntry,
    Summary,
    WeightEntry,
)
from commonir.text.printer import Naming, naming_of

CORE_FORMAT = "core"


@no_collection()
def summarize(
    module: Module,
    format: Format | None,
    costs: tuple[str, str] | None = None,
    *,
    with_weights: bool = False,
    ranks: RanksSummary | None = None,
) -> Summary:
    """Returns the summary of a program. `costs` (operations and memory) and `ranks` are computed by the caller where
    requested.
    """
    outline = Outline() if format is None else format.outline(module)
    weights = list(weights_of(module))
    parts = [part for weight in weights for part in weight.parts]
    by_type: Counter[str] = Counter()
    for data in parts:
        by_type[data.element.name] += data.size_bytes
    files = {data.file.path: data.file.size_bytes for data in parts if isinstance(data, FileData)}
    functions = tuple(_summarize_functions(module, format))
    name, title = _without_format(module) if format is None else (format.name, outline.title)
    return Summary(
        format=name,
        title=title or "core program",
        producer=outline.producer,
        entry=_entry_of(module),
        functions=functions,
        parameter_count=sum(weight.parameter_count for weight in weights),
        weight_bytes=dict(by_type.most_common()),
        element_types=tuple(_element_types(module)),
        metadata=outline.metadata,
        files=tuple([FileEntry(_shown(path), size) for path, size in sorted(files.items())]),
        flops=costs and costs[0],
        peak_memory=costs and costs[1],
        weights=tuple(_entries(weights)) if with_weights else None,
        ranks=ranks,
        declarations=outline.declarations,
        storages=tuple(_storages(weights)),
    )


def _storages(weights: Sequence[Weight]) -> Iterator[StorageEntry]:
    """Yields how weights are stored, what takes most bytes first."""
    groups: dict[str, list[Weight]] = {}
    for weight in weights:
        groups.setdefault(weight.storage, []).append(weight)
    entries = [
        (storage, sum(weight.parameter_count for weight in group), sum(weight.size_bytes for weight in group))
        for storage, group in groups.items()
    ]
    for storage, count, size_bytes in sorted(entries, key=lambda entry: -entry[2]):
        yield StorageEntry(storage, count, size_bytes, bits_each(size_bytes, count))


def _entries(weights: Sequence[Weight]) -> Iterator[WeightEntry]:
    for weight in sorted(weights, key=lambda weight: -weight.size_bytes):
        data = weight.parts[0]
        file, offset = (_shown(data.file.path), data.offset) if isinstance(data, FileData) else ("", None)
        bits = bits_each(weight.size_bytes, weight.parameter_count)
        yield WeightEntry(
            weight.name, weight.type, weight.size_bytes, file, offset, weight.storage, weight.parameter_count, bits
        )


def _without_format(module: Module) -> tuple[str, str]:
    """Returns the names of the dialects of a program that is not a file of another format."""
    return (MLIR, "MLIR program") if naming_of(module) is Naming.MLIR else (CORE_FORMAT, "")


def _entry_of(module: Module) -> str:
    """Returns the name of the function that runs by default, "" when there is none."""
    try:
        return module.main.symbol_name
    except DiagnosticError:
        return ""


def _shown(path: str) -> str:
    """Returns a path as the user would write it: relative to the current folder if it is in it."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _summarize_functions(program: Module, format: Format | None) -> Iterator[FunctionSummary]:
    """Yields summaries of the functions of a module; those of nested modules have a path."""
    pending = [(program, "")]
    while pending:
        module, place = pending.pop()
        outline = Outline() if format is None else format.outline(module)
        for function in module.functions.values():
            yield _summarize_function(f"{place}{function.symbol_name}", function, outline)
        pending += [(inner, f"{place}modules[{n}].") for n, inner in enumerate(module.modules)][::-1]


def _summarize_function(name: str, function: Function, outline: Outline) -> FunctionSummary:
    # Dimensions are shown by the names that lowering gives them, which are those that a user sets.
    inputs = function.inputs
    sizes = DimNames(inputs)
    # As lowering names them, where two have one name or one has none.
    names = dict(zip(inputs, distinct_names([v.name for v in inputs], "arg"), strict=True))

    received, given_out = function.input_ports, function.output_ports
    states = [v for v in inputs if isinstance(v.type, StateType)]

    def port(name: str, type: Type, text: str) -> Port:
        return Port(name, text or str(type), outline.ports.get((function.symbol_name, name), ""))

    def returned(name: str, type: Type) -> Port:
        declared = given_out.get(name)
        shown = type if declared is None else named_by_port(type, declared)
        return port(name, shown, _declared_type(type, declared))

    def given(value: Value) -> Port:
        type = value.type
        shown = sizes.of_input(value, type, 1) if isinstance(type, TensorType) else type
        return port(names[value], shown, _declared_type(type, received.get(value.name)))

    return FunctionSummary(
        name=name,
        opset=str(getattr(function, "opset", "") or outline.opsets.get(function.symbol_name, "")),
        inputs=tuple([given(v) for v in inputs if v not in states]),
        outputs=tuple([returned(n, t) for n, t in function.named_output_types]),
        states=tuple([given(v) for v in states]),
        operations=dict(_counts(function).most_common()),
        systems=str(getattr(function, "systems", "")),
    )


def _declared_type(type: Type, port: Declared | None) -> str:
    """Returns the declared type with wildcards of an input or output of otherwise unknown rank."""
    return "" if port is None or (isinstance(type, TensorType) and type.shape is not None) else port.declared


def _declared_types(function: Function) -> Mapping[Value, str]:
    """Returns the declared types with wildcards of inputs and outputs of otherwise unknown rank."""
    declared = [
        *zip(function.inputs, (v.name for v in function.inputs), repeat(function.input_ports), strict=False),
        *zip(function.outputs, function.output_names, repeat(function.output_ports), strict=False),
    ]
    return {v: text for v, name, ports in declared if (text := _declared_type(v.type, ports.get(name)))}


def _counts(function: Function) -> Counter[str]:
    """Returns the number of operations that run, by name, without constants, declarations and terminators."""
    operations_by_name: Counter[tuple[type[Operation], str]] = Counter()
    for block in _blocks(function):
        for top in block.operations:
            for op in top.walk():
                operations_by_name[type(op), op.name] += 1
    counts: Counter[str] = Counter()
    for (kind, name), number in operations_by_name.items():
        if not kind.runs_nothing():
            counts[name] += number
    return counts


def _blocks(function: Function) -> tuple[Block, ...]:
    """Returns the blocks of the body of a function; none for a declaration."""
    region = None if function.is_declaration else function.body.parent
    return () if region is None else tuple(region.blocks)


def _element_types(module: Module) -> Mapping[str, None]:
    """Returns the element types of the values that operations compute, in order of occurrence."""
    out: dict[str, None] = {}
    for op in module.walk():
        if isinstance(op, Op) and op.has_trait(traits.ConstantLike):
            continue
        for value in op.results:
            if isinstance(value.type, TensorType):
                out[value.type.element.name] = None
    return out


def with_sizes(module: Module, sizes: Mapping[str, int]) -> Module:
    """Returns a program whose dynamic dims have sizes by name.

    Raises: DiagnosticError (E0712) for a dim that no value has, and with every operation that the sizes contradict.
    """
    all_values = [v for f in module.functions.values() for v, _ in _values(f, with_constants=True)]
    inputs = [each for f in module.functions.values() for each in named_inputs(f.inputs)]
    sizes = dims_by_name([v for v, _ in inputs], sizes)
    plain = symbols_of([type for _, type in inputs])
    known = {**plain, **symbols_of([v.type for v in all_values])}
    for text in sizes:
        if text not in known:
            # The sizes of other values follow from those of inputs.
            notes = [f"dynamic dimensions: {', '.join(plain or known) or 'none'}"]
            message = f"no value has a dimension '{text}'"
            raise DiagnosticError(Diagnostic(UNKNOWN_DIMENSION, message, notes=notes, help=did_you_mean(text, known)))
    if not sizes:
        return module
    from commonir.passes.edit import with_dims  # noqa: PLC0415  summaries do not need it

    return with_dims(module, sizes)


def shape_entries(module: Module, sizes: Mapping[str, int], *, with_constants: bool) -> tuple[ShapeEntry, ...]:
    """Returns the values of all functions with their types, in order; `sizes` sets dimensions by name.

    Raises: DiagnosticError (E0712) for a dimension that no value has, and with every operation that the sizes
    contradict.
    """
    module = with_sizes(module, sizes)
    out: list[ShapeEntry] = []
    for name, function in module.functions.items():
        declared = _declared_types(function)
        for value, operation in _values(function, with_constants=with_constants):
            owner = value.defining_op
            node = owner.source_name if owner is not None and owner.source_name != value.name else ""
            out.append(ShapeEntry(name, value.name, operation, declared.get(value) or str(value.type), node))
    return tuple(out)


def _values(function: Function, *, with_constants: bool) -> Iterator[tuple[Value, str]]:
    """Yields the values of a function, each with the name of the operation that defines it."""
    inputs = set(function.inputs)
    for v in function.inputs:
        yield v, "input"
    for n, block in enumerate(_blocks(function)):
        yield from ((a, "") for a in (block.arguments if n else ()))
        for op in block.operations:
            for inner in op.walk():
                if with_constants or not (isinstance(inner, Op) and inner.has_trait(traits.ConstantLike)):
                    yield from ((r, inner.name) for r in inner.results if r not in inputs)
                yield from ((a, "") for region in inner.regions for b in region.blocks for a in b.arguments)
