"""Changes the interface of a function: names, dims, outputs, metadata, and inputs that become constants.

It works on every dialect whose functions can replace their interface (`ir.module.Function.replace_interface`).
Constants are shared with the source, which does not change. The result is not verified here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import DUPLICATE_NAME, IMPOSSIBLE_EDIT, UNDEFINED_VALUE, UNKNOWN_DIMENSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.ir.cloning import clone
from commonir.ir.data import Data
from commonir.ir.interface import NO_PORT, DimRange, Metadata, Port, default_data, metadata_of, set_metadata
from commonir.ir.lookup import find_value
from commonir.ir.module import Function, Module, unchangeable
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.ports import NewInterface
from commonir.ir.types import TensorType, Type, with_known_dims
from commonir.notation import NotationError
from commonir.ods import Op, infer
from commonir.ods.specialize import specialize
from commonir.ods.verify import are_compatible
from commonir.passes.data_dependent_dims import DimNames, named_inputs
from commonir.passes.edits import Edits
from commonir.passes.fix_inputs import fix_inputs
from commonir.passes.named_values import require_one_body, required_value, returnable, taken_body
from commonir.passes.output_dims import own_dims_of_outputs, restore_output_names
from commonir.passes.remove_unused import remove_unused
from commonir.passes.simplify import Evaluate, settle
from commonir.symbolic import Dim, DimExpr, plain_symbol, symbol

_NO_DIMS: Mapping[str, int] = MappingProxyType({})


def edit(
    module: Module, edits: Edits, *, function: str | None = None, evaluate: Evaluate = lambda _op, _operands: None
) -> Module:
    """Returns a program with one changed function, or with all ranks changed; `evaluate` computes operations on inputs
    that become constants.

    Raises: DiagnosticError (E0401, E0402, E0603, E0706, E0712) with every change that cannot be made.
    """
    result = clone(module)
    if any(f.on_memory for f in result.functions.values()):
        from commonir.passes.ark.edit_ranks import edit_ranks  # noqa: PLC0415  loads a dialect that few need

        edit_ranks(result, edits, function=function)
    else:
        for name in _chosen(result, function):
            _edit_function(result, edits, name, evaluate)
    if edits.metadata:
        set_metadata(result, _edited_metadata(metadata_of(result), edits.metadata))
    return result


def _chosen(module: Module, function: str | None) -> Sequence[str | None]:
    """Returns the names of the functions to change: the ranks of a program where none is named, else one function."""
    if function is not None or len(module.defined_functions) == 1 or "main" in module.defined_functions or module.entry:
        return (function,)
    from commonir.dialects import core  # noqa: PLC0415  programs of few formats need it

    return [rank.symbol_name for rank in core.ranks_of(module)] or (function,)


def _edit_function(result: Module, edits: Edits, function: str | None, evaluate: Evaluate) -> None:
    """Makes the changes of a function of a program in place, all but metadata."""
    contents: Mapping[str, Data] = _contents(result.function(function), edits) if edits.contents else {}
    bound: Mapping[str, int] = _NO_DIMS
    if contents:
        # Before sizes are given: those that the branch which runs has may contradict the others.
        bound = _bound_symbols(result.function(function), contents)
        fixed = fix_inputs(result.function(function), contents)
        values = [v for op in fixed.body.operations for v in op.results if v.name in contents]
        settle(fixed, values, evaluate)
        edits = edits._replace(renames={old: new for old, new in edits.renames.items() if old not in contents})
    if edits.changes_function or bound:
        chosen = result.function(function)
        declared = {chosen.symbol_name: own_dims_of_outputs(chosen, edits.renames)}
        _FunctionEdit(result, chosen, edits, bound).apply()
        restore_output_names(result, declared)


def _contents(function: Function, edits: Edits) -> Mapping[str, Data]:
    """Returns the contents of inputs that become constants.

    Raises: DiagnosticError (E0401, E0603) for every one that cannot become one.
    """
    diagnostics = Diagnostics()
    inputs = {v.name: v for v in function.inputs}
    ports = function.input_ports
    out: dict[str, Data] = {}
    for name, requested in edits.contents.items():
        if name not in inputs:
            message = f"'{function.symbol_name}' has no input '{name}'"
            diagnostics.add(UNDEFINED_VALUE, message, help=did_you_mean(name, inputs))
            continue
        type = function.core_type(inputs[name].type)
        data = requested or default_data(type, ports.get(name, NO_PORT))
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


def _bound_symbols(function: Function, contents: Mapping[str, Data]) -> Mapping[str, int]:
    """Returns the values of symbolic dimensions of inputs for some contents of these inputs."""
    return {
        symbol: contents[name].shape[axis]
        for symbol, axes in _named_dimensions(function).items()
        for name, axis in axes
        if name in contents and axis < len(contents[name].shape)
    }


def _edited_metadata(before: Metadata, changes: Mapping[str, str]) -> Metadata:
    named = {name: text for name, text in changes.items() if name in Metadata._fields[:-1]}
    user = dict(before.user_defined) | {n: t for n, t in changes.items() if n not in named}
    user_defined = tuple([(name, text) for name, text in user.items() if text])
    return before._replace(user_defined=user_defined, **named)


class _FunctionEdit:
    """The changes of one function, whose module is a copy already; `bound` are values of symbols."""

    def __init__(self, module: Module, function: Function, edits: Edits, bound: Mapping[str, int]) -> None:
        self.module = module
        self.function = function
        self.edits = edits
        self.bound = bound
        self.diagnostics = Diagnostics()
        inputs, outputs = function.input_ports, function.output_ports  # which are computed each time
        self.input_ports = {v.name: inputs.get(v.name, NO_PORT) for v in function.inputs}
        self.output_ports = {name: outputs.get(name, NO_PORT) for name in function.output_names}

    def apply(self) -> None:
        """Makes all changes. Raises: DiagnosticError with the reasons why it cannot."""
        require_one_body(self.function)
        outputs = self._outputs()
        axes = self._axes()
        self._check_names()
        self.diagnostics.raise_errors()
        before = {name: v.type for name, v in outputs}
        inputs = self.function.inputs
        if len(inputs) != len(self.function.body.arguments):
            raise unchangeable(self.function)
        block = taken_body(self.function, self.function.body.arguments)
        moved = dict(zip(inputs, block.arguments, strict=True))
        outputs = [(name, moved.get(v, v)) for name, v in outputs]
        if axes or self.bound:
            self._set_dims(block, axes)
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
        names, dropped = {name for name, _ in outputs}, set(self.edits.drop_outputs)
        for name in self.edits.drop_outputs:
            if name not in names:
                message = f"'{self.function.symbol_name}' has no output '{name}'"
                self.diagnostics.add(UNDEFINED_VALUE, message, help=did_you_mean(name, [name for name, _ in outputs]))
        remaining = [(n, v) for n, v in outputs if n not in dropped]
        for name in self.edits.add_outputs:
            if name in [n for n, _ in remaining]:
                self.diagnostics.add(IMPOSSIBLE_EDIT, f"'{name}' is an output already")
                continue
            try:
                remaining.append(required_value(self.function, name))
            except DiagnosticError as error:
                self.diagnostics.extend(error.diagnostics)
        if not remaining and len(self.diagnostics) == 0:
            self.diagnostics.add(IMPOSSIBLE_EDIT, f"'{self.function.symbol_name}' would have no output")
        for name in self.edits.drop_outputs:
            self.output_ports.pop(name, None)
        return remaining

    # -- names

    def _values(self) -> list[Value]:
        """Returns all values of the function that may have names, also those in nested regions."""
        values = [*self.function.inputs]
        for op in self.function.walk():
            values += op.results
            if op is not self.function:
                values += [a for region in op.regions for block in region.blocks for a in block.arguments]
        return values

    def _check_names(self) -> None:
        renames = self.edits.renames
        names = {*(v.name for v in self._values()), *self.function.output_names} - {""}
        for old, new in renames.items():
            if old not in names:
                message = f"'{self.function.symbol_name}' has no value '{old}'"
                value = find_value(self.function, old)
                help = did_you_mean(old, names) if value is None else f"it is a node: its value is '{value.name}'"
                self.diagnostics.add(UNDEFINED_VALUE, message, help=help)
            if not new:
                self.diagnostics.add(IMPOSSIBLE_EDIT, f"'{old}' needs a name")
        name_counts = Counter([*renames.values(), *(n for n in names if n not in renames)])
        for new in dict.fromkeys(renames.values()):
            if name_counts[new] > 1:
                self.diagnostics.add(DUPLICATE_NAME, f"the name '{new}' is taken", help="rename the other value too")

    def _rename(self, block: Block) -> None:
        renames = self.edits.renames
        if not renames:
            return
        values = [*block.arguments]
        for top in block.operations:
            for op in top.walk():
                values += op.results
                values += [a for region in op.regions for b in region.blocks for a in b.arguments]
        for value in values:
            value.name = renames.get(value.name, value.name)

    # -- sizes

    def _axes(self) -> dict[tuple[str, int], Dim]:
        """Returns the new dims by input and axis."""
        out: dict[tuple[str, int], Dim] = {}
        if not self.edits.dims and not self.bound:
            return out
        named = _named_dimensions(self.function)
        for name, size in self.bound.items():
            out.update(dict.fromkeys(named.get(name, []), size))
        for text, new in self.edits.dims.items():
            bounds = DimRange(*new) if isinstance(new, tuple) else None
            label = text.replace(".", "_") if isinstance(new, tuple) else new
            dim = symbol(label) if isinstance(label, str) else label
            axes = named.get(text) or self._axis(text)
            if not axes:
                candidates = [*named, *(f"{v.name}.0" for v in self.function.inputs)]
                notes = [f"dynamic dimensions: {', '.join(named) or 'none'}"]
                example = candidates[-1] if candidates else "x.0"
                help = did_you_mean(text, candidates)
                help = help or f"name a dynamic dimension, or an input and an axis as in `{example}`"
                self.diagnostics.add(UNKNOWN_DIMENSION, f"no input has a dimension '{text}'", notes=notes, help=help)
            for name, axis in axes:
                if isinstance(dim, int) and dim < 0:
                    self.diagnostics.add(IMPOSSIBLE_EDIT, f"axis {axis} of '{name}' cannot have size {dim}")
                    continue
                if out.setdefault((name, axis), dim) != dim:
                    self.diagnostics.add(IMPOSSIBLE_EDIT, f"axis {axis} of '{name}' is given two sizes")
                if bounds is not None:
                    self._bound(name, axis, bounds)
                else:
                    self._check_range(name, axis, dim)
        return out

    def _bound(self, name: str, axis: int, bounds: DimRange) -> None:
        """Gives an axis of an input a range in its port, if the program states which sizes inputs may have."""
        port = self.input_ports.get(name, NO_PORT)
        reason = ""
        if bounds.upper is not None and not 0 < bounds.lower <= bounds.upper:
            reason = f"{bounds} is not a range of sizes"
        elif not port.shape or port.image is not None:
            reason = "the program has no place for a range of it"
        elif port.shapes:
            reason = "the program lists the shapes that it may have"
        elif port.shape[axis] not in bounds:
            reason = f"its size by default, {port.shape[axis]}, is outside of {bounds}"
        if reason:
            message = f"axis {axis} of '{name}' cannot become dynamic: {reason}"
            help = None if port.shape else f"a name makes it dynamic: `{name}.{axis}=batch`"
            self.diagnostics.add(IMPOSSIBLE_EDIT, message, help=help)
            return
        ranges = list(port.ranges or [DimRange(d, d) for d in port.shape])
        ranges[axis] = bounds
        self.input_ports[name] = port._replace(ranges=tuple(ranges))

    def _axis(self, text: str) -> list[tuple[str, int]]:
        name, _, number = text.rpartition(".")
        value = next((v for v in self.function.inputs if v.name == name), None)
        rank = len(_dims(value.type)) if value is not None else 0
        return [(name, axis) for axis in range(rank) if str(axis) == number]

    def _check_range(self, name: str, axis: int, dim: Dim) -> None:
        port = self.input_ports.get(name, NO_PORT)
        if isinstance(dim, DimExpr):
            if port.ranges or port.shapes or port.shape:
                message = f"axis {axis} of '{name}' cannot become dynamic: the program states which sizes it may have"
                help = None if port.shapes else f"give a range of sizes: `{name}.{axis}=1..16`"
                self.diagnostics.add(IMPOSSIBLE_EDIT, message, help=help)
            return
        allowed = sorted({s[axis] for s in port.shapes if axis < len(s)})
        if axis < len(port.ranges) and dim not in port.ranges[axis]:
            message = f"axis {axis} of '{name}': size {dim} is outside of {port.ranges[axis]}"
            self.diagnostics.add(IMPOSSIBLE_EDIT, message)
        elif allowed and dim not in allowed:
            listed = ", ".join(map(str, allowed))
            self.diagnostics.add(IMPOSSIBLE_EDIT, f"axis {axis} of '{name}': size {dim} is none of {listed}")

    def _set_dims(self, block: Block, axes: Mapping[tuple[str, int], Dim]) -> None:
        symbols: dict[str, Dim] = {**self.bound}
        freed: dict[str, int] = {}
        is_refined = True
        arguments = {a.name: a for a in block.arguments}
        for (name, axis), new_dim in axes.items():
            type = arguments[name].type
            if not isinstance(type, TensorType) or type.shape is None:
                continue
            dim = type.shape[axis]
            if isinstance(dim, DimExpr):
                plain = plain_symbol(dim)
                if plain is None or symbols.setdefault(plain, new_dim) != new_dim:
                    message = f"axis {axis} of '{name}' is {dim}, which cannot be {new_dim}"
                    raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message))
            else:
                is_refined = is_refined and dim in (None, new_dim)
                if isinstance(dim, int) and (name_of_new := plain_symbol(new_dim)) is not None:
                    freed[name_of_new] = dim
                dims = [new_dim if n == axis else d for n, d in enumerate(type.shape)]
                arguments[name].retype(type.with_shape(tuple(dims)))
        self._fix_ports(arguments, {place: dim for place, dim in axes.items() if isinstance(dim, int)})
        specialize(block, symbols)
        _infer_again(block, keep_declared=is_refined)
        if freed:
            _require_other_sizes(block, freed)

    def _fix_ports(self, arguments: Mapping[str, Value], axes: Mapping[tuple[str, int], int]) -> None:
        """Restricts the ports of inputs to shapes that agree with the new dims."""
        choices = self._choices(axes)
        fixed_of: dict[str, dict[int, int]] = {}
        for (name, axis), dim in axes.items():
            fixed_of.setdefault(name, {})[axis] = dim
        for name, port in self.input_ports.items():
            fixed = fixed_of.get(name, {})
            shapes = tuple([s for k, s in enumerate(port.shapes) if choices is None or k in choices])
            shapes = shapes if len(set(shapes)) > 1 else ()
            shape = tuple([fixed.get(n, d) for n, d in enumerate(port.shape)])
            if port.shapes and choices is not None and shape not in [port.shapes[k] for k in choices]:
                shape = port.shapes[choices[0]]
            ranges = tuple([DimRange(fixed[n], fixed[n]) if n in fixed else r for n, r in enumerate(port.ranges)])
            if all(r.lower == r.upper for r in ranges):
                ranges = ()
            self.input_ports[name] = port._replace(shape=shape, shapes=shapes, ranges=ranges)
            type = arguments[name].type
            if port.shapes and not shapes and isinstance(type, TensorType):
                # One choice is left: the other axes have the sizes of it.
                arguments[name].retype(type.with_shape(shape))

    def _choices(self, axes: Mapping[tuple[str, int], int]) -> list[int] | None:
        """Returns the positions of enumerated shapes that agree with the new dims; None if the inputs have no common
        number.
        """
        counts = {len(p.shapes) for p in self.input_ports.values() if p.shapes}
        if len(counts) != 1:
            return None
        (count,) = counts
        choices = [
            k
            for k in range(count)
            if all(
                not port.shapes or axis >= len(port.shapes[k]) or port.shapes[k][axis] == dim
                for (name, axis), dim in axes.items()
                for port in (self.input_ports[name],)
            )
        ]
        if not choices:
            raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, "no listed shape of the inputs has all of these sizes"))
        return choices


def _named_dimensions(function: Function) -> dict[str, list[tuple[str, int]]]:
    """Returns the axes of inputs by symbol; unknown dims have the names that lowering gives them."""
    out: dict[str, list[tuple[str, int]]] = {}
    dim_names = DimNames(function.inputs)
    for value in function.inputs:
        for axis, d in enumerate(_dims(dim_names.of_argument(value, function.core_type(value.type)))):
            if isinstance(d, DimExpr) and (name := plain_symbol(d)) is not None:
                out.setdefault(name, []).append((value.name, axis))
    return out


def _dims(type: Type) -> Sequence[Dim | None]:
    return type.shape or () if isinstance(type, TensorType) else ()


def _with_shape(port: Port, type: Type) -> Port:
    shape = type.static_shape if isinstance(type, TensorType) and type.is_static else ()
    return port._replace(shape=shape, shapes=(), ranges=())


def with_dims(module: Module, dims: Mapping[str, int]) -> Module:
    """Returns a copy of a program whose types are inferred, with numbers in the place of symbols.

    Raises: DiagnosticError with every operation that the numbers contradict.
    """
    result = clone(module)
    for function in result.defined_functions.values():
        # Errors that other numbers would not mend are reported by the verifier.
        wrong = {op for op in function.walk() if op is not function and isinstance(op, Op) and not _is_inferred(op)}
        for argument, named in named_inputs(function.body.arguments):
            if isinstance(argument.type, TensorType) and argument.type.shape is not None:
                pairs = zip(_dims(argument.type), _dims(named), strict=True)
                argument.retype(
                    argument.type.with_shape(tuple([n if plain_symbol(n) in dims else d for d, n in pairs]))
                )
        specialize(function.body, dims)
        _infer_again(function.body, keep_declared=True, wrong=wrong)
    return result


def _is_inferred(op: Op) -> bool:
    try:
        infer(op)
    except (DiagnosticError, NotationError):
        return False
    return True


def _infer_again(block: Block, *, keep_declared: bool, wrong: Collection[Operation] = ()) -> None:
    """Infers the types of all results again.

    A dim that cannot be inferred is unknown, or with `keep_declared` as declared, which is right if only unknown dims
    were set. Raises: DiagnosticError with every operation that the new dims contradict.
    """
    diagnostics = Diagnostics()
    for outer in block.operations:
        for op in outer.walk():
            if not isinstance(op, Op) or op.declares_results or op in wrong:
                continue
            try:
                types = infer(op).types
            except DiagnosticError as error:
                diagnostics.extend(d.located(where=_op_label(op)) for d in error.diagnostics)
                continue
            # A program that was not verified may have more results than its definitions.
            for result, type in zip(op.results, types, strict=False):
                result.retype(with_known_dims(type, result.type) if keep_declared else type)
    diagnostics.raise_errors()


def _require_other_sizes(block: Block, before: Mapping[str, int]) -> None:
    """Requires that the operations of a block work for other sizes of symbols than those before.

    Raises: DiagnosticError (E0603) with every operation that works for one size only, such as a reshape to a constant.
    """
    diagnostics = Diagnostics()
    # Twice the size, since some programs work for multiples only.
    others = {name: 2 * size or 1 for name, size in before.items()}
    for op in [op for outer in block.operations for op in outer.walk()]:
        if not isinstance(op, Op) or op.declares_results or not op.operands:
            continue
        for c in infer(op).constraints:
            if all(name in before for name in c.symbols) and c.holds(before) and not c.holds(others):
                name = c.symbols[0]
                message = f"'{name}' cannot become dynamic: {op.name} works for {before[name]} only"
                notes = [f"for {others[name]}: {c.violation(others)}"]
                diagnostics.add(IMPOSSIBLE_EDIT, message, where=_op_label(op), notes=notes)
    diagnostics.raise_errors()


def _op_label(op: Operation) -> str:
    return next((f"'{r.name}'" for r in op.results if r.name), op.name)
