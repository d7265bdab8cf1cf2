"""Types, shapes and constraints of an operation, derived from its definition.

A reference is traced at most once per (operand types, attributes) and class; everything derived from it is cached under
that key. Unknown dimensions become symbols for the trace, and are unknown again in the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING, Any

from commonir.base.codes import (
    MALFORMED_REGION,
    NOT_KNOWN_BEFORE_RUNNING,
    VIOLATED_CONSTRAINT,
    VIOLATED_TRAIT,
    WRONG_ATTRIBUTE,
    WRONG_OPERAND_COUNT,
    WRONG_RESULT_TYPE,
    WRONG_TYPE,
)
from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.core_types import core_type
from commonir.ir.data import Data
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ELEMENT_TYPES, TensorType, Type, are_numbers, symbols_of, unknown
from commonir.ods.definition import ATTRIBUTE_REFERENCES, Definition, FieldLayout
from commonir.ods.faults import Fault, of_reference
from commonir.ods.fields import MISSING, Field, FieldKind, keyword_of
from commonir.ods.forms import Form
from commonir.ods.known import Known, known_data, known_dims
from commonir.ods.patterns import Bindings, ElementClass, Mismatch, known_shape
from commonir.ods.requiring import Requiring
from commonir.ods.traits import ConstantLike
from commonir.ods.type_rules import Typing, type_of_attribute
from commonir.symbolic import Dim, DimExpr, maxima_in, size_of, symbol, symbols
from commonir.symbolic.constraints import Constraint, without_implied
from commonir.symbolic.errors import NotationError, NotKnownError

if TYPE_CHECKING:
    from commonir.notation import Kernel

_UNKNOWN = "?"
_MEMO_LIMIT = 4096
_MAXIMA_LIMIT = 8
_SIZE_LIMIT = 512
_COMPARED_ELEMENTS = 64
_MOST_KEY_NUMBERS = 8
_NUMBERS = frozenset({bool, int, float})


class Derived:
    """The results of one trace.

    `kernels` and `extents` are those of a kernel reference, one kernel per result; `inputs` (one entry per declared
    operand) and `outputs` are the placeholder values of a composite and what it returns for them. `is_data_dependent`:
    its meaning is data-dependent, so that only its types are inferred.
    """

    __slots__ = ("body", "constraints", "extents", "inputs", "is_data_dependent", "kernels", "outputs", "types")

    def __init__(
        self,
        types: tuple[Type, ...],
        constraints: tuple[Constraint, ...] = (),
        kernels: tuple[Kernel, ...] = (),
        extents: tuple[dict[str, Dim], ...] = (),
        inputs: tuple[Any, ...] = (),
        outputs: tuple[Value, ...] = (),
        is_data_dependent: bool = False,
        body: list[Operation] | None = None,
    ) -> None:
        self.types = types
        # The operations of a composite, in order.
        self.body = body or []
        self.is_data_dependent = is_data_dependent
        self.constraints = constraints
        self.kernels = kernels
        self.extents = extents
        self.inputs = inputs
        self.outputs = outputs


def infer(op: Definition) -> Derived:
    """Infers types and constraints for this operation's operands and attributes.

    Raises: DiagnosticError with every violation found (E0502 to E0505).
    """
    # Each property is read once, because this runs for every operation that is read, built or run.
    operands, offsets = op.operands, op.operand_offsets
    if offsets is None and op.follows_from_types:
        key: object = tuple([v.type for v in operands])
    else:
        layout = op.layout
        if layout.regions or op.declares_results or (offsets is not None and _lacks_operands(layout, offsets)):
            return _trace(op)
        if layout.attributes and ATTRIBUTE_REFERENCES in op.extra:
            return _trace(op)  # not that of an operation with the default in place of the reference
        is_constant = op.infers_types and not operands and layout.attributes
        key = _constant_key(op) if is_constant else _key(op, layout, operands, offsets)
        if key is None:
            return _trace(op)
    memo = op.memo
    result = memo.get(key)
    if result is None:
        result = _trace(op)
        if result.is_data_dependent:
            # Its types may be declared by the program for this operation only.
            return result
        if len(memo) >= _MEMO_LIMIT:
            memo.clear()
        memo[key] = result
    return result


def trace(op: Definition) -> Derived:
    """Like `infer`, but with the values of the reference also where the program declares types, as in MLIR.

    Constant operands are known to the reference. Without such values where operands or results are not tensors that
    the core computes with, or have dims that are not known.
    Raises: DiagnosticError with every violation found (E0502 to E0505, E0509).
    """
    if not op.infers_types or op.form is not Form.COMPOSITE or op.layout.regions or op.has_trait(ConstantLike):
        return infer(op)
    types = tuple([v.type for v in op.operands]), tuple([v.type for v in op.results])
    if not all(_is_of_core(t) for several in types for t in several):
        return infer(op)
    known = tuple([known_elements(v) if _is_small(v) else None for v in op.operands])
    attributes = op.decoded_attributes()
    floats = [str(a) for a in attributes if type(a) is float]
    key = _TRACED, types, op.operand_offsets, known, attributes, *floats
    try:
        result = op.memo.get(key)
    except TypeError:  # an attribute that is not hashable
        return _traced(op, types[1])
    if result is None:
        result = _traced(op, types[1])
        if len(op.memo) >= _MEMO_LIMIT:
            op.memo.clear()
        op.memo[key] = result
    return result


_TRACED = object()
_ELEMENTS = frozenset({"bool", "int", "uint", "float", "complex"})


def _is_of_core(type: Type) -> bool:
    """Returns whether values of a type are tensors that the core computes with as they are, of known dims."""
    if not isinstance(type, TensorType) or type.shape is None or None in type.shape:
        return False
    return core_type(type) is type and type.element.kind in _ELEMENTS


def _is_small(v: Value) -> bool:
    return isinstance(v.type, TensorType) and v.type.is_static and v.type.count <= _COMPARED_ELEMENTS


def _traced(op: Definition, results: tuple[Type, ...]) -> Derived:
    def placeholder(v: Value) -> Value:
        dims, data = (known_dims(v), known_data(v)) if _is_small(v) else (None, None)
        return Value(v.type) if dims is None and data is None else Known(v.type, dims, data).result

    check_use(op)
    # References rely on what else makes an operation legal.
    problems = list(op.verify())
    if problems:
        raise DiagnosticError(*problems)
    grouped = [
        v if v is None else placeholder(v) if isinstance(v, Value) else tuple(map(placeholder, v))
        for v in op.grouped_operands()
    ]
    try:
        result = _derived_from(op, grouped)
    except NotKnownError as reason:
        raise DiagnosticError(not_known(op, reason)) from None
    except NotationError as error:
        raise DiagnosticError(Fault(op, VIOLATED_CONSTRAINT, str(error))) from None
    is_own = not any(_is_in_program(v) for built in result.body for v in built.operands)
    if is_own and tuple([v.type for v in result.outputs]) == results:
        return Derived(results, inputs=result.inputs, outputs=result.outputs, body=result.body)
    for built in reversed(result.body):
        built.erase()
    return Derived(results)


def _is_in_program(value: Value) -> bool:
    """Returns whether a value is one of the program, which a reference has read instead of its operands."""
    owner = value.owner
    return owner is not None and owner.parent is not None


def check_use(op: Definition) -> None:
    """Checks operands, attributes and constraints of an operation, without tracing its reference.

    Raises: DiagnosticError with every violation found (E0502 to E0505).
    """
    _checked(_Trace(op))


def _key(op: Definition, layout: FieldLayout, operands: tuple[Value, ...], offsets: tuple[int, ...] | None) -> object:
    attributes: tuple[object, ...] = ()
    if layout.attributes:
        attributes = op.decoded_attributes()
        floats = [str(a) for a in attributes if type(a) is float]
        if floats:  # 0.0 and -0.0 are equal, but not the same constant
            attributes += tuple(floats)
    types = tuple([v.type for v in operands])
    try:
        own = op.trace_key()
    except NotationError:
        return None  # the trace reports it
    if not layout.read_operands:
        return types, attributes, offsets, own
    elements: list[object] = []
    for n in layout.read_operands:
        first, end = (n, n + 1) if offsets is None else offsets[n : n + 2]
        elements += [known_elements(v) for v in operands[first:end]]
    return types, attributes, offsets, tuple(elements), own


def _constant_key(op: Definition) -> object:
    """Returns the key by which a constant operation is inferred; None if its contents are too large for a key."""
    if not op.attr_types_suffice:
        return None
    parts: list[object] = []
    for stored in op.attribute_values:
        if stored is None:
            parts.append(None)
            continue
        part = stored.type if isinstance(stored, Data) else type_of_attribute(stored) or _few_numbers(stored)
        if part is None:
            return None
        parts.append(part)
    return tuple(parts), op.trace_key()


def _few_numbers(stored: object) -> object:
    """Returns a number, or a few, in a hashable form; None for other values."""
    numbers: tuple[object, ...] = stored if isinstance(stored, tuple) else (stored,)  # pyright: ignore[reportUnknownVariableType]  of anything
    types = tuple(map(type, numbers))
    if len(numbers) > _MOST_KEY_NUMBERS or not _NUMBERS.issuperset(types):
        return None
    return numbers is stored, numbers, types


def known_elements(value: Value) -> object:
    """Returns the known elements of a value in a comparable form."""
    dims = known_dims(value)
    data = None if dims is not None else known_data(value)
    if data is None:
        return dims
    return data.values() if data.count <= _COMPARED_ELEMENTS else data


def missing_operands(op: Definition) -> list[Field]:
    """Returns required operands that are absent; if there are any, no other checks are made."""
    offsets, inputs = op.operand_offsets, op.layout.inputs
    return [] if offsets is None else [inputs[n] for n in op.layout.required if offsets[n] == offsets[n + 1]]


def _lacks_operands(layout: FieldLayout, offsets: tuple[int, ...]) -> bool:
    for n in layout.required:  # noqa: SIM110  `any` takes three times as long for one or two items
        if offsets[n] == offsets[n + 1]:
            return True
    return False


def _is_large(d: Dim) -> bool:
    return size_of(d) > _SIZE_LIMIT or maxima_in(d) > _MAXIMA_LIMIT


class _Trace:
    """State of one trace: fresh symbols for unknown dimensions and the violations found."""

    def __init__(self, op: Definition) -> None:
        self.op = op
        self.bindings = Bindings()
        self.diagnostics: list[Diagnostic] = []
        self.own: set[str] = set()
        # Whether the meaning depends on an unknown type or attribute.
        self.is_data_dependent = False

    def dims_of(self, type: Type) -> tuple[Dim, ...] | None:
        if not isinstance(type, TensorType) or type.shape is None:
            return None
        if are_numbers(type.shape):
            return type.shape
        return tuple([self._fresh() if d is None else d for d in type.shape])

    @cached_property
    def _outer_symbols(self) -> set[str]:
        return unknown_symbols(v.type for v in self.op.operands)

    def _fresh(self) -> Dim:
        name = f"{_UNKNOWN}{len(self._outer_symbols) + len(self.own)}"
        while name in self._outer_symbols:
            name += "'"
        self.own.add(name)
        return symbol(name, 0)

    def mentions_unknown(self, *dims: Dim | None) -> bool:
        """Returns whether a dimension depends on one that is unknown in this trace."""
        return any(isinstance(d, DimExpr) and any(s in self.own for s in symbols(d)) for d in dims)

    def forget_unknown(self, type: Type) -> Type:
        """Returns the type with the symbols of this trace replaced by unknown dimensions.

        Large expressions become unknown too: where dynamic dims meet repeatedly, each layer of a network would double
        the expression of the previous layer.
        """
        if not isinstance(type, TensorType) or type.shape is None or are_numbers(type.shape):
            return type
        dims = [None if self.mentions_unknown(d) or _is_large(d or 0) else d for d in type.shape]
        return type.with_shape(tuple(dims)) if None in dims else type

    def violated(self, error: NotationError) -> Diagnostic:
        return Fault(self.op, VIOLATED_CONSTRAINT, str(error), label=error.label or "")


def _trace(op: Definition) -> Derived:
    trace = _Trace(op)
    shapes = _checked(trace)
    try:
        if trace.is_data_dependent:
            raise NotKnownError("the type of an operand or an attribute is not known before running")
        derived = _derive(trace, shapes)
        _match_results(trace, derived.types)
    except NotKnownError as reason:
        return _data_dependent(trace, not_known(op, reason))
    except DiagnosticError as error:
        if is_not_known(error):
            return _data_dependent(trace, *error.diagnostics)
        raise DiagnosticError(*[of_reference(op, d, ()) for d in error.diagnostics]) from None
    except NotationError as error:
        raise DiagnosticError(trace.violated(error)) from None
    if op.type_rules:
        _check_rules(trace, derived.types)
    if trace.diagnostics:
        raise DiagnosticError(*trace.diagnostics)
    types = tuple([trace.forget_unknown(t) for t in derived.types])
    known = [c for c in (*trace.bindings.constraints, *derived.constraints) if not trace.mentions_unknown(c.lhs, c.rhs)]
    return Derived(
        types, without_implied(known), derived.kernels, derived.extents, derived.inputs, derived.outputs,
        body=derived.body,
    )  # fmt: skip


def _checked(trace: _Trace) -> dict[Value, tuple[Dim, ...] | None]:
    """Returns the shapes of operands, after checking everything except the reference of the operation."""
    _check_regions(trace)
    shapes = _match_operands(trace)
    _check_attributes(trace)
    _check_ranks(trace)
    if trace.diagnostics:
        raise DiagnosticError(*trace.diagnostics)
    _check_constraints(trace)
    if trace.diagnostics:
        raise DiagnosticError(*trace.diagnostics)
    return shapes


def _check_regions(trace: _Trace) -> None:
    op, regions = trace.op, trace.op.layout.regions
    if len(op.regions) < len(regions) and not any(f.variadic for f in regions):
        message = f"{op.name}: expected {len(regions)} regions, found {len(op.regions)}"
        raise DiagnosticError(Diagnostic(MALFORMED_REGION, message))


def _match_operands(trace: _Trace) -> dict[Value, tuple[Dim, ...] | None]:
    op, shapes, bindings = trace.op, dict[Value, tuple[Dim, ...] | None](), trace.bindings
    operands, offsets, layout = op.operands, op.operand_offsets, op.layout
    for v in operands:
        if v not in shapes:
            shapes[v] = trace.dims_of(v.type)
    missing = missing_operands(op) if offsets is not None and _lacks_operands(layout, offsets) else ()
    for position, f in enumerate(layout.inputs):
        if missing and f in missing:
            trace.diagnostics.append(Fault(op, WRONG_OPERAND_COUNT, f"operand '{f.name}' is missing"))
        if f.pattern is None:
            continue
        first, end = (position, position + 1) if offsets is None else offsets[position : position + 2]
        for n, v in enumerate(operands[first:end]):
            if v.type is unknown:
                trace.is_data_dependent = True
                continue
            try:
                bindings.match(f.pattern, v.type, shapes[v], layout.variables)
            except (Mismatch, NotationError) as error:
                where = f"operand '{f.name}'" + (f"[{n}]" if f.variadic else "")
                trace.diagnostics.append(Fault(op, WRONG_TYPE, f"{where}: {error}"))
    return shapes


def _values(op: Definition, field: Field) -> tuple[Value, ...]:
    """Returns all values of an operand or parameter."""
    if field.variadic:
        return op.field_value(field)
    value = op.field_value(field) if field.kind is FieldKind.OPERAND else op.bound_value(field)
    return () if value is None else (value,)


def _check_attributes(trace: _Trace) -> None:
    op = trace.op
    if not op.layout.attributes:
        return
    stands_for = op.extra.get(ATTRIBUTE_REFERENCES)
    references = dict(stands_for.entries) if isinstance(stands_for, DictionaryAttr) else {}
    for f, stored in zip(op.layout.attributes, op.attribute_values, strict=True):
        if references and f.spelling in references:
            # The enclosing function receives the value when it is called.
            trace.is_data_dependent = True
            if any(isinstance(a, Function) and not a.is_template for a in op.ancestors()):
                message = f"attribute '{f.name}' is that of a function, but the operation is not in one"
                trace.diagnostics.append(Fault(op, WRONG_ATTRIBUTE, message))
            continue
        if f.type is None:
            continue
        if stored is f.default and not f.is_required and (stored is not None or f.optional):
            continue
        try:
            value = op.field_value(f)
        except DiagnosticError as error:
            trace.diagnostics.extend(error.diagnostics)
            continue
        if value is None or stored is f.default:
            if (value is None and not f.optional) or (value is f.default and f.is_required):
                trace.diagnostics.append(Fault(op, WRONG_ATTRIBUTE, f"attribute '{f.name}' is missing"))
            continue
        try:
            value = f.type.coerce(value)
        except ValueError as error:
            trace.diagnostics.append(Fault(op, WRONG_ATTRIBUTE, f"attribute '{f.name}': {error}"))
            continue
        if f.check is not None and not f.check.holds(value):
            found = str(value.type) if isinstance(value, Data) else repr(keyword_of(value))
            message = f"attribute '{f.name}' must be {f.check.text}, found {found}"
            trace.diagnostics.append(Fault(op, WRONG_ATTRIBUTE, message))


def _check_ranks(trace: _Trace) -> None:
    many = trace.bindings.many
    tied = [(n, len(many[n])) for n in trace.op.same_rank if n in many]
    for n, rank in tied[1:]:
        if rank != tied[0][1]:
            first, other = _having(trace.op, tied[0][0]), _having(trace.op, n)
            message = f"the ranks of {first.name} and {other.name} do not fit: {_type_text(trace.op, first)} and "
            trace.diagnostics.append(Fault(trace.op, WRONG_TYPE, message + _type_text(trace.op, other)))


def _having(op: Definition, name: str) -> Field:
    """Returns the first operand whose type pattern has dims of a name."""
    patterns = [(f, f.pattern) for f in op.layout.inputs if f.pattern is not None]
    return next(f for f, pattern in patterns if any(name == n for n, _ in pattern.dims or ()))


def _type_text(op: Definition, field: Field) -> str:
    """Returns the type of an operand as text."""
    return str(_values(op, field)[0].type)


def _check_constraints(trace: _Trace) -> None:
    for c in trace.op.layout.constraints.values():
        try:
            result = c.holds(trace.op)
        except NotKnownError:
            continue
        except NotationError as error:
            text = str(error) if error.label else f"{c.claim}: {error}"
            trace.diagnostics.append(Fault(trace.op, VIOLATED_CONSTRAINT, text, label=error.label or c.label))
            continue
        if result is False:
            trace.diagnostics.append(Fault(trace.op, VIOLATED_CONSTRAINT, c.claim, label=c.label))
        else:
            trace.bindings.constraints += tuple([a.labelled(c.label) for a in _undecided(result)])


def _undecided(result: Any) -> tuple[Constraint, ...]:
    """Returns the constraints to check when dims are known."""
    several: tuple[Constraint, ...] = result if isinstance(result, tuple) else ()  # pyright: ignore[reportUnknownVariableType]  # the result of `require`
    return several


def _derive(trace: _Trace, shapes: dict[Value, tuple[Dim, ...] | None]) -> Derived:
    op = trace.op
    if trace.bindings.unranked and op.form in (Form.KERNEL, Form.COMPOSITE):
        return Derived(_unranked_results(trace))
    match op.form:
        case Form.KERNEL:
            return _derive_kernel(trace, shapes)
        case Form.COMPOSITE if not op.infers_types:
            return _derive_composite(trace, shapes)
        case _:
            return Derived(_declared_results(trace))


def _declared_results(trace: _Trace) -> tuple[Type, ...]:
    op = trace.op
    if op.infers_types:
        return op.infer()
    out: list[Type] = []
    for f in op.layout.results:
        resolved = None if f.pattern is None else trace.bindings.resolve(f.pattern)
        if resolved is None:
            raise InternalError(
                f"{op.name}: the pattern of result '{f.name}' does not determine its type; define infer()"
            )
        out.append(resolved)
    return tuple(out)


def _unranked_results(trace: _Trace) -> tuple[Type, ...]:
    """Returns the types of results with the element types that can be inferred, and unknown rank.

    Raises: NotKnownError when the type of a result, or their number, cannot be inferred.
    """
    fields = trace.op.layout.results
    if any(f.variadic or f.optional for f in fields):
        raise NotKnownError("the results cannot be inferred from operands of unknown rank")
    result: list[Type] = []
    for f in fields:
        type = _unranked(trace, f)
        if type is None:
            raise NotKnownError(f"the type of '{f.name}' cannot be inferred from operands of unknown rank")
        result.append(type)
    return tuple(result)


def _unranked(trace: _Trace, field: Field) -> Type | None:
    """Returns the type of a result with an inferred element type and unknown rank; None if there is none."""
    if field.pattern is None:
        return None
    results = trace.bindings.resolve(field.pattern)
    if results is not None:
        return results
    name = field.pattern.element
    known = trace.bindings.elements.get(name) or ELEMENT_TYPES.get(name)
    variable = trace.op.layout.variables.get(name)
    if known is None and isinstance(variable, ElementClass) and len(variable.members) == 1:
        (known,) = variable.members
    return None if known is None or field.pattern.content is not None else TensorType(known, None)


def is_not_known(error: DiagnosticError) -> bool:
    """Returns whether inference failed only because the meaning is data-dependent."""
    return all(d.code is NOT_KNOWN_BEFORE_RUNNING for d in error.diagnostics)


def _data_dependent(trace: _Trace, *reasons: Diagnostic) -> Derived:
    """Returns the types of an operation with data-dependent meaning: those of the program, else those that the
    definition infers partially, else only element types.

    Raises: DiagnosticError (E0509) for an operation that is being built, if the types of its results are unknown.
    """
    op = trace.op
    declared = op.built_results
    inferred = _partial_types(op)
    if declared is None:
        try:
            types = _unranked_results(trace) if inferred is None else inferred
        except NotKnownError:
            raise DiagnosticError(*reasons) from None
    else:
        pairs = result_fields(op.layout.results, [r.type for r in declared])
        guesses = [_unranked(trace, f) for f, _ in pairs] if inferred is None else [*inferred, *[None] * len(pairs)]
        types = tuple([t if _has_rank(t) else guess or t for (_, t), guess in zip(pairs, guesses, strict=False)])
    return Derived(types, trace.bindings.constraints, is_data_dependent=True)


def _partial_types(op: Definition) -> tuple[Type, ...] | None:
    if ATTRIBUTE_REFERENCES in op.extra or any(v is MISSING for v in op.attribute_values):
        return None
    try:
        return op.infer_partially()
    except NotationError:
        return None


def _has_rank(type: Type) -> bool:
    return type is not unknown and not (isinstance(type, TensorType) and type.shape is None)


def not_known(op: Definition, reason: NotKnownError) -> Diagnostic:
    """Returns the error that the meaning of an operation depends on data-dependent values."""
    return Diagnostic(NOT_KNOWN_BEFORE_RUNNING, f"{op.name}: {reason}")


def _derive_composite(trace: _Trace, shapes: dict[Value, tuple[Dim, ...] | None]) -> Derived:
    op = trace.op

    def placeholder(v: Value, f: Field) -> Value:
        type, shape = v.type, shapes[v]
        if shape is not None and isinstance(type, TensorType) and type.shape is not shape:
            type = type.with_shape(shape)
        dims, data = (known_dims(v), known_data(v)) if f.by_value else (None, None)
        return Value(type) if dims is None and data is None else Known(type, dims, data).result

    inputs: list[Any] = []
    for f in op.layout.formals:
        value = op.field_value(f)
        inputs.append(
            value
            if value is None
            else tuple([placeholder(v, f) for v in value])
            if f.variadic
            else placeholder(value, f)
        )
    try:
        return _derived_from(op, inputs)
    except DiagnosticError as error:
        raise DiagnosticError(*[of_reference(op, d, inputs) for d in error.diagnostics]) from None


def _derived_from(op: Definition, inputs: Sequence[Any]) -> Derived:
    """Returns the types that follow from a reference that is called with some values."""
    returned = op.reference(*inputs)
    outputs = results_of(returned)
    constraints: list[Constraint] = []
    body = operations_behind(outputs)
    if isinstance(returned, Requiring):
        needed = [o for o in operations_behind(returned.required.operands) if o not in body]
        body = [*body, *needed, returned.required]
    for inner in body:
        if isinstance(inner, Definition):
            constraints.extend(infer(inner).constraints)
    types = tuple([o.type for o in outputs])
    return Derived(types, tuple(constraints), inputs=tuple(inputs), outputs=outputs, body=body)


def results_of(returned: Any) -> tuple[Value, ...]:
    """Returns the results of a composite reference as a tuple of values."""
    if isinstance(returned, Value):
        return (returned,)
    if isinstance(returned, Operation | Requiring):
        return returned.results
    return tuple(returned)


class PlacedOperations:
    """The operations in regions whose transitive uses are all in blocks already.

    They need not be searched at each level of nesting. A block with a replaced argument has no such operations,
    because the replacement may be used anywhere in it.
    """

    def __init__(self, regions: Iterable[Region]) -> None:
        blocks = [b for region in regions for b in region.blocks]
        self._arguments = {b: [a for a in b.arguments if a.is_used] for b in blocks}
        self._operations = {op for b in blocks for op in b.operations if op.regions}

    def of(self, block: Block) -> AbstractSet[Operation]:
        """Returns the placed operations of a block."""
        return self._operations if all(a.is_used for a in self._arguments.get(block, ())) else frozenset()


_NONE_PLACED = PlacedOperations(())


def operations_behind(
    outputs: Sequence[Value], stop: frozenset[Value] = frozenset(), placed: PlacedOperations = _NONE_PLACED
) -> list[Operation]:
    """Returns the detached operations that values depend on, in topological order, including uses in regions."""
    order: dict[Operation, None] = {}
    pending: list[tuple[Operation, bool]] = [(v.owner, False) for v in reversed(outputs) if _is_detached(v, stop)]  # pyright: ignore[reportAssignmentType]
    while pending:
        op, ready = pending.pop()
        if op in order:
            continue
        if ready:
            order[op] = None
            continue
        pending.append((op, True))
        used = op.operands if not op.regions else _used_by(op, placed)
        pending.extend((v.owner, False) for v in reversed(used) if _is_detached(v, stop) and v.owner not in order)  # pyright: ignore[reportArgumentType]
    return list(order)


def _used_by(op: Operation, placed: PlacedOperations) -> list[Value]:
    """Returns the values that an operation and its regions use, except inside placed operations."""
    out: list[Value] = []
    pending: list[tuple[Operation, bool]] = [(op, True)]
    while pending:
        inner, is_searched = pending.pop()
        out += inner.operands
        if is_searched and inner.regions:
            blocks = [(b, placed.of(b)) for region in inner.regions for b in region.blocks]
            pending.extend(reversed([(child, child not in known) for b, known in blocks for child in b.operations]))
    return out


def _is_detached(value: Value, stop: frozenset[Value]) -> bool:
    owner = value.owner
    return isinstance(owner, Operation) and owner.parent is None and not isinstance(owner, Known) and value not in stop


def _derive_kernel(trace: _Trace, shapes: dict[Value, tuple[Dim, ...] | None]) -> Derived:
    from commonir.ods.kernels import kernels_of  # noqa: PLC0415  loads the notation, which MLIR's operations do not need

    kernels = kernels_of(trace.op, trace.bindings, shapes)
    return Derived(kernels.types, kernels.constraints, kernels.kernels, kernels.extents)


def _match_results(trace: _Trace, types: Sequence[Type]) -> None:
    """Checks inferred types against the patterns of the results."""
    fields = trace.op.layout.results
    for f, t in result_fields(fields, types):
        if f.pattern is None:
            continue
        try:
            trace.bindings.match(f.pattern, t, known_shape(t), trace.op.layout.variables)
        except Mismatch as error:
            trace.diagnostics.append(Fault(trace.op, WRONG_RESULT_TYPE, f"result '{f.name}': {error}"))


def operand_names(op: Definition) -> list[str]:
    """Returns the names by which a kernel reads its operands, in order; those of a group are numbered."""
    out: list[str] = []
    for f, count in zip(op.layout.inputs, op.segment_sizes, strict=True):
        out += [f"{f.name}{n}" for n in range(count)] if f.variadic else [f.name] * count
    return out


def typing_of(op: Definition, results: Sequence[Type] | None) -> Typing:
    """Returns the types of an operation by field, with the types of its results; None if they are to be inferred."""
    layout = op.layout
    counts = dict(zip([f.name for f in layout.inputs], op.segment_sizes, strict=True))
    types = {f.name: tuple([v.type for v in _values(op, f)]) for f in layout.inputs}
    for f in layout.attributes:
        known = type_of_attribute(op.field_value(f)) if f.kind is FieldKind.ATTRIBUTE else None
        if known is not None:
            types[f.name] = (known,)
    if results is None:
        counts |= {f.name: 1 for f in layout.results if not f.variadic and not f.optional}
    else:
        for f in layout.results:
            types[f.name] = ()
        for f, t in result_fields(layout.results, results):
            types[f.name] += (t,)
    return Typing([f.name for f in layout.inputs], [f.name for f in layout.results], counts, types)


def _check_rules(trace: _Trace, results: Sequence[Type]) -> None:
    typing = typing_of(trace.op, results)
    for rule in trace.op.type_rules:
        for message in rule.problems(typing):
            trace.diagnostics.append(Fault(trace.op, VIOLATED_TRAIT, f"{rule.name}: {message}"))


def result_fields(fields: Sequence[Field], types: Sequence[Type]) -> list[tuple[Field, Type]]:
    """Returns each result with the field that declares it. Absent optional results are the last ones."""
    spare = len(types) - len(fields)
    if not spare and not any(f.optional or f.variadic for f in fields):
        return list(zip(fields, types, strict=True))
    optional = sum(f.optional for f in fields) + min(spare, 0)
    out: list[tuple[Field, Type]] = []
    at = 0
    for f in fields:
        count = max(1 + spare, 0) if f.variadic else 1
        if f.optional:
            count = int(optional > 0)
            optional -= 1
        out += [(f, t) for t in types[at : at + count]]
        at += count
    return out


def unknown_symbols(types: Iterable[Type]) -> set[str]:
    """Returns the symbols in types for unknown dimensions of a definition that is being traced."""
    return {name for name in symbols_of(types) if name.startswith(_UNKNOWN)}
