"""Extracts the part of a function between named values, as a program of the same dialect.

Constants are shared with the source, which does not change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from commonir.base.codes import IMPOSSIBLE_EDIT
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.interface import NO_PORT, DimRange, Port
from commonir.ir.lookup import named_values
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.ports import NewInterface
from commonir.ir.types import Shape, StateType, TensorType, Type, symbols_of
from commonir.ods import Op
from commonir.ods.specialize import is_tuple
from commonir.passes.edits import Edits
from commonir.passes.lower import lower
from commonir.passes.named_values import require_one_body, required_value, returnable
from commonir.passes.select_function import select_function
from commonir.symbolic import Dim, DimExpr, evaluate, plain_symbol, symbols


def extract(module: Module, sources: Sequence[str], targets: Sequence[str], *, function: str | None = None) -> Module:
    """Returns the part of a function that computes some values from others. Without sources it begins at the inputs of
    the function, without targets it ends at its outputs.

    Other inputs of the function that the part needs stay inputs, in their order. Operations that read a state are
    extracted with those that write it. Without a function, the part of an ARK program is that of all its ranks.

    Raises: DiagnosticError (E0401 for unknown names, E0603 for parts that cannot be extracted, E0706).
    """
    if any(f.on_memory for f in module.functions.values()):
        return _extract_from_ranks(clone(module), sources, targets, function)
    built = select_function(module, module.function(function).symbol_name)
    chosen = built.main
    require_one_body(chosen)
    diagnostics = Diagnostics()
    source_values = _values_named(chosen, sources, diagnostics)
    target_values = _values_named(chosen, targets or chosen.output_names, diagnostics)
    diagnostics.raise_errors()
    part = _Part(chosen, tuple(source_values.values()), tuple(target_values.values()))
    for name, value in source_values.items():
        if value not in part.inputs:
            message = f"nothing that is asked for is computed from '{name}'"
            raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message))
    order = {v: n for n, v in enumerate(chosen.body.arguments)}
    others = [v for v in part.inputs if v not in source_values.values()]
    others.sort(key=lambda v: order.get(v, len(order)))
    inputs = (*source_values.values(), *others)
    names = {v: n for n, v in (*named_values(chosen).items(), *source_values.items())}
    interface = _interface(built, chosen, part, inputs, target_values, names)
    return _placed(built, chosen, interface)


def _extract_from_ranks(module: Module, sources: Sequence[str], targets: Sequence[str], function: str | None) -> Module:
    """Returns an ARK program, changed in place, whose ranks compute some values only.

    Raises: DiagnosticError (E0401, E0407, E0603) for a part that cannot be extracted.
    """
    from commonir.passes.ark.edit_ranks import edit_ranks  # noqa: PLC0415  loads a dialect that few need

    if sources:
        help = "leave out the first values, or convert it first, for example to ONNX"
        raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, "the part of an ARK program begins at its inputs", help=help))
    ranks = [rank for rank in module.functions.values() if function in (None, rank.symbol_name)]
    outputs = dict.fromkeys([name for rank in ranks for name in rank.output_names])
    added = [name for name in targets if name not in outputs]
    dropped = [name for name in outputs if name not in targets]
    edit_ranks(module, Edits(add_outputs=added, drop_outputs=dropped), function=function)
    return module


def _placed(module: Module, chosen: Function, interface: NewInterface) -> Module:
    chosen.replace_interface(interface)
    used = {op.global_name for op in module.nested() if isinstance(op, ml_program.GlobalUse)}
    for op in module.body.operations:
        if isinstance(op, ml_program.Global) and op.sym_name not in used:
            op.erase()
    return module


def _values_named(function: Function, names: Iterable[str], diagnostics: Diagnostics) -> dict[str, Value]:
    out: dict[str, Value] = {}
    for name in names:
        try:
            found, value = required_value(function, name)
        except DiagnosticError as error:
            diagnostics.extend(error.diagnostics)
        else:
            out[found] = value
    return out


class _Part:
    """The operations that compute some values from others, in program order, and all values that they need."""

    def __init__(self, function: Function, sources: Sequence[Value], targets: Sequence[Value]) -> None:
        self.function = function
        self.operations: tuple[Operation, ...] = ()
        self.inputs: dict[Value, None] = {}
        self._sources = set(sources)
        self._included: set[Operation] = set()
        self._need(targets)
        self.operations = tuple([op for op in function.body.operations if op in self._included])

    def _need(self, values: Iterable[Value]) -> None:
        pending = list(values)
        while pending:
            value = pending.pop()
            owner = value.owner
            if value in self._sources or not isinstance(owner, Operation):
                pending += self._keep_input(value)
            elif owner not in self._included:
                self._included.add(owner)
                pending += owner.values_used
                pending += self._writers(owner)

    def _keep_input(self, value: Value) -> Iterator[Value]:
        """Adds an input of the part; all operations that use a state stay together."""
        if value in self.inputs:
            return
        self.inputs[value] = None
        if isinstance(value.type, StateType):
            for user in value.users:
                yield from self._keep(user)

    def _writers(self, op: Operation) -> Iterator[Value]:
        """Yields the values stored to a global that an operation loads."""
        names = {nested.global_name for nested in op.walk() if isinstance(nested, ml_program.GlobalLoad)}
        for other in self.function.body.operations if names else ():
            stores = (nested for nested in other.walk() if isinstance(nested, ml_program.GlobalStore))
            if any(store.global_name in names for store in stores):
                yield from self._keep(other)

    def _keep(self, op: Operation) -> Iterator[Value]:
        outermost = next((o for o in (op, *op.ancestors()) if o.parent is self.function.body), op)
        if outermost not in self._included:
            self._included.add(outermost)
            yield from outermost.values_used


def _interface(
    module: Module,
    chosen: Function,
    part: _Part,
    inputs: Sequence[Value],
    expected: Mapping[str, Value],
    names: Mapping[Value, str],
) -> NewInterface:
    shapes = _Shapes(module, chosen)
    block = Block([v.type for v in inputs], [names.get(v, v.name) for v in inputs], chosen.body.label)
    mapping = dict(zip(inputs, block.arguments, strict=True))
    for op in part.operations:
        results = [mapping.get(r) for r in op.results]
        block.append(clone(op, mapping))
        # A source is what comes in, also where an operation that has other results computes it too.
        mapping.update({r: source for r, source in zip(op.results, results, strict=True) if source is not None})
    _require_dims(block, symbols_of([v.type for v in chosen.inputs]))
    outputs = returnable(chosen, block, [(name, mapping[v]) for name, v in expected.items()])
    input_values = {a.name: v for a, v in zip(block.arguments, inputs, strict=True)}
    return NewInterface(
        block,
        outputs,
        {name: shapes.port(name, v) for name, v in input_values.items()},
        {name: chosen.output_ports.get(name, NO_PORT) for name, _ in outputs if name in chosen.output_names},
        {name: name for name in (*(n for n, v in input_values.items() if v in chosen.inputs), *chosen.output_names)},
    )


def _require_dims(block: Block, before: Collection[str]) -> None:
    """Checks that all symbols are dims of inputs, but for names of dims of results that no input had `before`.

    Raises: DiagnosticError (E0603).
    """
    bound = {n for a in block.arguments for d in _dims(a.type) if (n := plain_symbol(d)) is not None}
    values = [(a.name, n) for a in block.arguments for d in _dims(a.type) for n in symbols(d)]
    for top in block.operations:
        for op in top.walk():
            name = op.first_name or op.name
            values += [(name, n) for v in op.results for d in _dims(v.type) for n in symbols(d) if n in before]
            if isinstance(op, Op):
                values += [(name, n) for v in op.stored_attributes.values() for n in _symbols_in(v)]
    for name, missing in values:
        if missing not in bound:
            message = f"'{name}' depends on the size '{missing}', which no input of the part has"
            help = f"give it a value first: `cir edit --set-dim {missing}=SIZE`"
            raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, help=help))


def _dims(type: Type) -> list[Dim]:
    return [d for d in (type.shape or () if isinstance(type, TensorType) else ()) if d is not None]


def _symbols_in(value: object) -> Iterator[str]:
    """Yields symbols of dimensions inside of an attribute."""
    if isinstance(value, DimExpr):
        yield from symbols(value)
    elif isinstance(value, TensorType):
        yield from (n for d in _dims(value) for n in symbols(d))
    elif is_tuple(value):
        for part in value:
            yield from _symbols_in(part)


class _Shapes:
    """The dims of values that become inputs, derived from the dims of the inputs."""

    def __init__(self, module: Module, function: Function) -> None:
        self._function = function
        self._ports = function.input_ports
        self._module = module

    def port(self, name: str, value: Value) -> Port:
        """Returns the port of an input that replaces a value."""
        port = self._ports.get(name, NO_PORT)
        if value in self._function.inputs or not isinstance(value.type, TensorType) or value.type.is_static:
            return port
        if not any(p.ranges or p.shapes for p in self._ports.values()):
            return NO_PORT
        lowered = lower(self._module).main
        lowered_value = named_values(lowered).get(name)
        dims = (
            lowered_value.type.shape
            if lowered_value is not None and isinstance(lowered_value.type, TensorType)
            else None
        )
        shapes = [self._shape(lowered, dims, shapes_of_inputs) for shapes_of_inputs in self._choices()]
        if any(s is None for s in shapes):
            message = f"the sizes that '{name}' may have do not follow from those of the inputs"
            help = "fix the sizes of the inputs first: `cir edit --set-dim`"
            raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, help=help))
        default, *others = [s for s in shapes if s is not None]
        if any(p.shapes for p in self._ports.values()):
            return Port(shape=default, shapes=tuple(dict.fromkeys([default, *others])))
        lower_end, upper_end = others
        ends = zip(lower_end, upper_end, strict=True)
        return Port(shape=default, ranges=tuple([DimRange(min(a, b), max(a, b)) for a, b in ends]))

    def _choices(self) -> list[dict[str, tuple[int, ...]]]:
        """Returns shapes of all inputs: the default ones, then each enumerated one, or the smallest and the largest."""
        out = [{n: p.shape for n, p in self._ports.items()}]
        count = max((len(p.shapes) for p in self._ports.values()), default=0)
        if count:
            listed = range(count)
            return out + [{n: p.shapes[k] if p.shapes else p.shape for n, p in self._ports.items()} for k in listed]
        ends = (False, True)
        return out + [
            {n: tuple([_end(r, e) for r in p.ranges]) or p.shape for n, p in self._ports.items()} for e in ends
        ]

    def _shape(
        self, lowered: Function, dims: Shape | None, arguments: Mapping[str, tuple[int, ...]]
    ) -> tuple[int, ...] | None:
        """Returns the shape of a value for some shapes of inputs; None if it does not follow from them."""
        dims_by_symbol: dict[str, int] = {}
        for v in lowered.inputs:
            for d, dim in zip(_dims(v.type), arguments.get(v.name, ()), strict=False):
                if len(names := symbols(d)) == 1:
                    dims_by_symbol.setdefault(names[0], dim)
        if dims is None or any(d is None or any(n not in dims_by_symbol for n in symbols(d)) for d in dims):
            return None
        return tuple([evaluate(d, dims_by_symbol) for d in dims if d is not None])


def _end(range: DimRange, is_upper: bool) -> int:
    return range.lower if range.upper is None or not is_upper else range.upper
