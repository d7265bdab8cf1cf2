"""Changes what a function receives and returns: names, sizes of dimensions, outputs, and what its author says of it.

Works on every dialect whose functions take another interface (`ir.module.Function.replace_interface`). Constants are
shared with the source, which is not touched. Whether the result is valid is for `ods.verify` and the format to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import DUPLICATE_NAME, IMPOSSIBLE_EDIT, UNDEFINED_VALUE, UNKNOWN_DIMENSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.cloning import clone
from commonir.ir.data import Data
from commonir.ir.interface import NO_PORT, DimRange, Metadata, Port, default_data, metadata_of, set_metadata
from commonir.ir.module import Function, Module, unchangeable
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.ports import NewInterface
from commonir.ir.types import TensorType, Type
from commonir.ods import Op, infer
from commonir.ods.specialize import specialize
from commonir.ods.verify import are_compatible
from commonir.passes.data_dependent_dims import DimNames
from commonir.passes.fix_inputs import fix_inputs
from commonir.passes.named_values import find_value, require_one_body, returnable, taken_body
from commonir.passes.remove_unused import remove_unused
from commonir.passes.simplify import Evaluate, settle
from commonir.rewrite.legalize import with_known_dims
from commonir.symbolic import Dim, DimExpr, plain_symbol

_NOTHING: Mapping[str, str] = MappingProxyType({})
_NO_SIZES: Mapping[str, int] = MappingProxyType({})
_NO_CONTENTS: Mapping[str, Data | None] = MappingProxyType({})


class Edits(NamedTuple):
    """The changes to make. All names are those of the program before the changes.

    `renames` gives new names by old ones, of inputs, outputs and any other value. `sizes` gives sizes to dimensions,
    each by the name of a symbolic dimension or as `INPUT.AXIS`. `metadata` sets texts; an empty one removes it.
    `contents` makes inputs constants: of what is given by name, or of their default values where that is None.
    """

    renames: Mapping[str, str] = _NOTHING
    sizes: Mapping[str, int] = _NO_SIZES
    add_outputs: Sequence[str] = ()
    drop_outputs: Sequence[str] = ()
    metadata: Mapping[str, str] = _NOTHING
    contents: Mapping[str, Data | None] = _NO_CONTENTS

    @property
    def changes_function(self) -> bool:
        """Whether anything but metadata changes."""
        return bool(self.renames or self.sizes or self.add_outputs or self.drop_outputs)


def edit(
    module: Module, edits: Edits, *, function: str | None = None, evaluate: Evaluate = lambda _op, _operands: None
) -> Module:
    """A program with changes; `evaluate` computes what inputs decide that become constants.

    Raises: DiagnosticError (E0401, E0402, E0603, E0706, E0712) with every change that cannot be made.
    """
    result = clone(module)
    contents = _contents(result.function(function), edits)
    known: Mapping[str, int] = _NO_SIZES
    if contents:
        # Before sizes are given: those that the branch which runs has may contradict the others.
        known = _sizes_of(result.function(function), contents)
        fixed = fix_inputs(result.function(function), contents)
        values = [v for op in fixed.body.operations for v in op.results if v.name in contents]
        settle(fixed, values, evaluate)
        edits = edits._replace(renames={old: new for old, new in edits.renames.items() if old not in contents})
    if edits.changes_function or known:
        _FunctionEdit(result, result.function(function), edits, known).apply()
    if edits.metadata:
        set_metadata(result, _edited_metadata(metadata_of(result), edits.metadata))
    return result


def _contents(function: Function, edits: Edits) -> Mapping[str, Data]:
    """Returns the contents of inputs that become constants.

    Raises: DiagnosticError (E0401, E0603) for every one that cannot become one.
    """
    diagnostics = Diagnostics()
    inputs = {v.name: v for v in function.inputs}
    out: dict[str, Data] = {}
    for name, given in edits.contents.items():
        if name not in inputs:
            message = f"'{function.symbol_name}' has no input '{name}'"
            diagnostics.add(UNDEFINED_VALUE, message, help=did_you_mean(name, inputs))
            continue
        type = function.core_type(inputs[name].type)
        data = given or default_data(type, function.input_ports.get(name, NO_PORT))
        if data is None:
            diagnostics.add(
                IMPOSSIBLE_EDIT, f"the input '{name}' has no default value", help=f"give one, as in `{name}=...`"
            )
        elif not are_compatible(type, data.type):
            diagnostics.add(IMPOSSIBLE_EDIT, f"the input '{name}' is {type}, and cannot become a constant {data.type}")
        else:
            out[name] = data
    diagnostics.raise_errors()
    return out


def _sizes_of(function: Function, contents: Mapping[str, Data]) -> Mapping[str, int]:
    """The sizes of symbolic dimensions that axes of inputs have for certain contents."""
    return {
        symbol: contents[name].shape[axis]
        for symbol, axes in _named_dimensions(function).items()
        for name, axis in axes
        if name in contents and axis < len(contents[name].shape)
    }


def _edited_metadata(before: Metadata, changes: Mapping[str, str]) -> Metadata:
    named = {name: text for name, text in changes.items() if name in Metadata._fields[:-1]}
    user = dict(before.user_defined) | {n: t for n, t in changes.items() if n not in named}
    kept = tuple([(name, text) for name, text in user.items() if text])
    return before._replace(user_defined=kept, **named)


class _FunctionEdit:
    """The changes of one function, whose module is a copy already; `known` are sizes of symbols."""

    def __init__(self, module: Module, function: Function, edits: Edits, known: Mapping[str, int]) -> None:
        self.module = module
        self.function = function
        self.edits = edits
        self.known = known
        self.found = Diagnostics()
        self.input_ports = {v.name: function.input_ports.get(v.name, NO_PORT) for v in function.inputs}
        self.output_ports = {name: function.output_ports.get(name, NO_PORT) for name in function.output_names}

    def apply(self) -> None:
        """Makes all changes, or raises what stands against them."""
        require_one_body(self.function)
        outputs = self._outputs()
        axes = self._axes()
        self._check_names()
        self.found.raise_errors()
        before = {name: v.type for name, v in outputs}
        inputs = self.function.inputs
        if len(inputs) != len(self.function.body.arguments):
            raise unchangeable(self.function)
        block = taken_body(self.function, self.function.body.arguments)
        moved = dict(zip(inputs, block.arguments, strict=True))
        outputs = [(name, moved.get(v, v)) for name, v in outputs]
        if axes or self.known:
            self._give_sizes(block, axes)
        for name, value in outputs:
            if before[name] is not value.type:
                self.output_ports[name] = _with_shape(self.output_ports.get(name, NO_PORT), value.type)
        self._rename(block)
        renamed = self.edits.renames
        names = [(renamed.get(name, name), value) for name, value in outputs]
        interface = NewInterface(
            block,
            returnable(self.function, block, names),
            {renamed.get(name, name): port for name, port in self.input_ports.items()},
            {renamed.get(name, name): port for name, port in self.output_ports.items()},
            {renamed.get(name, name): name for name in (*self.input_ports, *self.output_ports)},
        )
        built = self.function.replace_interface(interface)
        if self.edits.drop_outputs:
            remove_unused(built.body)

    # -- outputs

    def _outputs(self) -> list[tuple[str, Value]]:
        outputs = list(zip(self.function.output_names, self.function.outputs, strict=True))
        names = [name for name, _ in outputs]
        for name in self.edits.drop_outputs:
            if name not in names:
                message = f"'{self.function.symbol_name}' has no output '{name}'"
                self.found.add(UNDEFINED_VALUE, message, help=did_you_mean(name, names))
        kept = [(n, v) for n, v in outputs if n not in self.edits.drop_outputs]
        for name in self.edits.add_outputs:
            if name in [n for n, _ in kept]:
                self.found.add(IMPOSSIBLE_EDIT, f"'{name}' is an output already")
                continue
            try:
                kept.append((name, find_value(self.function, name)))
            except DiagnosticError as error:
                self.found.extend(error.diagnostics)
        if not kept and len(self.found) == 0:
            self.found.add(IMPOSSIBLE_EDIT, f"'{self.function.symbol_name}' would have no output")
        for name in self.edits.drop_outputs:
            self.output_ports.pop(name, None)
        return kept

    # -- names

    def _values(self) -> list[Value]:
        """Everything that has a name in the function, also inside of loops and branches."""
        values = [*self.function.inputs]
        for op in self.function.walk():
            values += op.results
            if op is not self.function:
                values += [a for region in op.regions for block in region.blocks for a in block.arguments]
        return values

    def _check_names(self) -> None:
        renames = self.edits.renames
        known = {*(v.name for v in self._values()), *self.function.output_names} - {""}
        for old, new in renames.items():
            if old not in known:
                message = f"'{self.function.symbol_name}' has no value '{old}'"
                self.found.add(UNDEFINED_VALUE, message, help=did_you_mean(old, known))
            if not new:
                self.found.add(IMPOSSIBLE_EDIT, f"'{old}' needs a name")
        taken = Counter([*renames.values(), *(n for n in known if n not in renames)])
        for new in dict.fromkeys(renames.values()):
            if taken[new] > 1:
                self.found.add(DUPLICATE_NAME, f"the name '{new}' is taken", help="rename the other value too")

    def _rename(self, block: Block) -> None:
        renames = self.edits.renames
        if not renames:
            return
        values = [*block.arguments]
        for outer in block.operations:
            for op in outer.walk():
                values += op.results
                values += [a for region in op.regions for b in region.blocks for a in b.arguments]
        for value in values:
            value.name = renames.get(value.name, value.name)

    # -- sizes

    def _axes(self) -> dict[tuple[str, int], int]:
        """Sizes by input and axis."""
        out: dict[tuple[str, int], int] = {}
        if not self.edits.sizes and not self.known:
            return out
        symbols_known = _named_dimensions(self.function)
        for symbol, size in self.known.items():
            out.update(dict.fromkeys(symbols_known.get(symbol, []), size))
        for text, size in self.edits.sizes.items():
            axes = symbols_known.get(text) or self._axis(text)
            if not axes:
                known = [*symbols_known, *(f"{v.name}.0" for v in self.function.inputs)]
                notes = [f"dynamic dimensions: {', '.join(symbols_known) or 'none'}"]
                help = did_you_mean(text, known) or "name a dynamic dimension, or an input and an axis as in `x.0`"
                self.found.add(UNKNOWN_DIMENSION, f"no input has a dimension '{text}'", notes=notes, help=help)
            for name, axis in axes:
                if size < 1:
                    self.found.add(IMPOSSIBLE_EDIT, f"axis {axis} of '{name}' cannot have size {size}")
                    continue
                if out.setdefault((name, axis), size) != size:
                    self.found.add(IMPOSSIBLE_EDIT, f"axis {axis} of '{name}' is given two sizes")
                self._check_range(name, axis, size)
        return out

    def _axis(self, text: str) -> list[tuple[str, int]]:
        name, _, number = text.rpartition(".")
        value = next((v for v in self.function.inputs if v.name == name), None)
        rank = len(_dims(value.type)) if value is not None else 0
        return [(name, int(number))] if number.isdecimal() and int(number) < rank else []

    def _check_range(self, name: str, axis: int, size: int) -> None:
        port = self.input_ports.get(name, NO_PORT)
        allowed = sorted({s[axis] for s in port.shapes if axis < len(s)})
        if axis < len(port.ranges) and size not in port.ranges[axis]:
            message = f"axis {axis} of '{name}': size {size} is outside of {port.ranges[axis]}"
            self.found.add(IMPOSSIBLE_EDIT, message)
        elif allowed and size not in allowed:
            listed = ", ".join(map(str, allowed))
            self.found.add(IMPOSSIBLE_EDIT, f"axis {axis} of '{name}': size {size} is none of {listed}")

    def _give_sizes(self, block: Block, axes: Mapping[tuple[str, int], int]) -> None:
        known: dict[str, Dim] = {**self.known}
        is_refined = True
        arguments = {a.name: a for a in block.arguments}
        for (name, axis), size in axes.items():
            type = arguments[name].type
            if not isinstance(type, TensorType) or type.shape is None:
                continue
            dim = type.shape[axis]
            if isinstance(dim, DimExpr):
                plain = plain_symbol(dim)
                if plain is None or known.setdefault(plain, size) != size:
                    message = f"axis {axis} of '{name}' is {dim}, which cannot be {size}"
                    raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message))
            else:
                is_refined = is_refined and dim in (None, size)
                dims = [size if n == axis else d for n, d in enumerate(type.shape)]
                arguments[name].retype(type.with_shape(tuple(dims)))
        self._fix_ports(arguments, axes)
        specialize(block, known)
        _infer_again(block, keeps_stated=is_refined)

    def _fix_ports(self, arguments: Mapping[str, Value], axes: Mapping[tuple[str, int], int]) -> None:
        """Leaves of the sizes that inputs may have those that agree with what is fixed."""
        kept = self._choices(axes)
        for name, port in self.input_ports.items():
            fixed = {axis: size for (n, axis), size in axes.items() if n == name}
            shapes = tuple([s for k, s in enumerate(port.shapes) if kept is None or k in kept])
            shapes = shapes if len(set(shapes)) > 1 else ()
            shape = tuple([fixed.get(n, d) for n, d in enumerate(port.shape)])
            if port.shapes and kept is not None and shape not in [port.shapes[k] for k in kept]:
                shape = port.shapes[kept[0]]
            ranges = tuple([DimRange(fixed[n], fixed[n]) if n in fixed else r for n, r in enumerate(port.ranges)])
            if all(r.lower == r.upper for r in ranges):
                ranges = ()
            self.input_ports[name] = port._replace(shape=shape, shapes=shapes, ranges=ranges)
            type = arguments[name].type
            if port.shapes and not shapes and isinstance(type, TensorType):
                # One choice is left: the other axes have the sizes of it.
                arguments[name].retype(type.with_shape(shape))

    def _choices(self, axes: Mapping[tuple[str, int], int]) -> list[int] | None:
        """Which of the listed shapes agree with the sizes; shapes of several inputs go together by position."""
        counts = {len(p.shapes) for p in self.input_ports.values() if p.shapes}
        if len(counts) != 1:
            return None
        (count,) = counts
        kept = [
            k
            for k in range(count)
            if all(
                not port.shapes or axis >= len(port.shapes[k]) or port.shapes[k][axis] == size
                for (name, axis), size in axes.items()
                for port in (self.input_ports[name],)
            )
        ]
        if not kept:
            raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, "no listed shape of the inputs has all of these sizes"))
        return kept


def _named_dimensions(function: Function) -> dict[str, list[tuple[str, int]]]:
    """The axes of inputs that have a symbolic dimension, by its name, as lowering names those that have none."""
    out: dict[str, list[tuple[str, int]]] = {}
    sizes = DimNames(function.inputs)
    for value in function.inputs:
        for axis, d in enumerate(_dims(sizes.of_argument(value, function.core_type(value.type)))):
            if isinstance(d, DimExpr) and (name := plain_symbol(d)) is not None:
                out.setdefault(name, []).append((value.name, axis))
    return out


def _dims(type: Type) -> Sequence[Dim | None]:
    return type.shape or () if isinstance(type, TensorType) else ()


def _with_shape(port: Port, type: Type) -> Port:
    shape = type.static_shape if isinstance(type, TensorType) and type.is_static else ()
    return port._replace(shape=shape, shapes=(), ranges=())


def _infer_again(block: Block, *, keeps_stated: bool) -> None:
    """Derives the types of all results from those of the operands.

    What does not follow is unknown, or with `keeps_stated` stays as it is stated: that is right as long as sizes were
    unknown before.
    Raises: DiagnosticError with every operation that the new sizes contradict.
    """
    diagnostics = Diagnostics()
    for outer in block.operations:
        for op in outer.walk():
            if not isinstance(op, Op) or op.declares_results:
                continue
            try:
                types = infer(op).types
            except DiagnosticError as error:
                diagnostics.extend(d.located(where=_place(op)) for d in error.diagnostics)
                continue
            for result, type in zip(op.results, types, strict=True):
                result.retype(with_known_dims(type, result.type) if keeps_stated else type)
    diagnostics.raise_errors()


def _place(op: Operation) -> str:
    return next((f"'{r.name}'" for r in op.results if r.name), op.name)
