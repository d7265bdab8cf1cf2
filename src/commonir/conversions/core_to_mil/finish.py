"""Completes a legal program: parameters as constants, outputs of their own, names, dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum

from commonir.base.codes import CHANGED_IN_CONVERSION, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostics, InternalError
from commonir.conversions.core_to_mil.building import SMALLEST_HALF, representable
from commonir.dialects.mil.base import CORE_ML_5, CORE_ML_6, OPERATION_NAME, as_identifier
from commonir.dialects.mil.compression import Constexpr
from commonir.dialects.mil.program import Const, Constant, Func, Literal, Return
from commonir.dialects.mil.shape import Identity
from commonir.ir.attributes import StringAttr
from commonir.ir.data import Scalar, data_of
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ELEMENT_TYPES, ElementType, TensorType, boolean, f32, i32, string
from commonir.notation import OutOfRangeError
from commonir.ods import Op, path_of
from commonir.ods.faults import Fault
from commonir.ods.fields import Field, FieldKind
from commonir.passes.remove_unused import remove_unused
from commonir.symbolic import DimExpr


def finish(function: Func, lost: Diagnostics) -> Mapping[str, str]:
    """Makes a function of legal operations one that a file may hold; gives new names of features by old ones."""
    for block in _blocks(function):
        _compute_outputs(block)
    remove_unused(function.body)
    refused = Diagnostics()
    for block in _blocks(function):
        for op in block.operations:
            if isinstance(op, Op) and op.layout.parameters:
                _bind_parameters(op, refused)
    refused.raise_errors()
    _forget_symbols(function)
    return _Names(function, lost).give()


def _blocks(function: Func) -> Iterator[Block]:
    """The blocks of a function, outer ones first."""
    for op in (function, *(o for o in function.walk() if o is not function)):
        for region in op.regions:
            yield from region.blocks


def _compute_outputs(block: Block) -> None:
    """Makes each output the result of an operation of the block, and no other output."""
    last = block.last
    if not isinstance(last, Return):
        return
    outputs: list[Value] = []
    for v in last.values:
        owner = v.owner
        is_own = isinstance(owner, Operation) and owner.parent is block and not isinstance(owner, Constant)
        outputs.append(v if is_own and v not in outputs else block.insert_before(last, Identity(v)).output)
    last.operands = tuple(outputs)


# -- parameters


def _bind_parameters(op: Op, refused: Diagnostics) -> None:
    """Replaces the literal parameters of an operation by constants, as files have them, if these can be stored."""
    arguments: dict[str, object] = {}
    changed = False
    for f in op.layout.arguments:
        if f.kind is not FieldKind.PARAMETER:
            arguments[f.name] = op.field_value(f)
            continue
        bound = op.bound_value(f)
        literal = None if bound is not None else op.field_value(f)
        if bound is not None:
            arguments[f.name] = bound
        elif literal is not None and literal != ():
            try:
                arguments[f.name] = _bound(op, f, literal)
            except OutOfRangeError as error:
                refused.extend([Fault(op, UNSUPPORTED_CONVERSION, f"{f.spelling}: {error}").located(where=path_of(op))])
                return
            changed = True
    if not changed:
        return
    block = op.parent
    if block is None:
        raise InternalError(f"{op.name} is in no block")
    types = [r.type for r in op.results]
    op.regions = ()
    built = type(op).build(arguments, types, op.location)
    built.update_extra(op.extra)
    block.insert_before(op, built)
    for old, new in zip(op.results, built.results, strict=True):
        new.name = old.name
        old.replace_all_uses_with(new)
    op.erase()


def _bound(op: Op, field: Field, literal: object) -> Value:
    """A constant before an operation for one of its parameters."""
    shape, values = _elements(literal)
    element = _element_of(op, field, values)
    numbers = [representable(float(v) if element.is_float and not isinstance(v, str) else v, element) for v in values]
    definition = Literal if isinstance(op, Constexpr) else Const
    built = definition(data_of(element, shape, numbers))
    built.location = op.location
    built.output.name = f"{_name_of(op)}_{field.spelling}_0"
    block = op.parent
    if block is None:
        raise InternalError(f"{op.name} is in no block")
    return block.insert_before(op, built).output


def _elements(literal: object) -> tuple[tuple[int, ...], list[Scalar]]:
    """Shape and elements of the literal of a parameter."""
    match literal:
        case Enum():
            return (), [str(literal.value)]
        case bool() | int() | float() | str():
            return (), [literal]
        case tuple():
            rows = [_elements(v) for v in _items(literal)]  # pyright: ignore[reportUnknownArgumentType]  of some kind
            inner = rows[0][0] if rows else ()
            return (len(rows), *inner), [v for _, values in rows for v in values]
        case _:
            raise InternalError(f"{literal!r} is not a literal of a parameter")


def _items(literal: Iterable[object]) -> Sequence[object]:
    return tuple(literal)


def _element_of(op: Op, field: Field, values: Sequence[Scalar]) -> ElementType:
    """The element type of a parameter: that of its pattern, or of the operands that share its variable.

    A number that nothing decides has the type of the other parameters of the operation, as coremltools wants it, or
    of its first operand; from iOS 17 on it is single precision where half precision would lose it.
    """
    name = "any" if field.pattern is None else field.pattern.element
    if name in ELEMENT_TYPES:
        return ELEMENT_TYPES[name]
    inputs = [(f, v) for f in op.layout.inputs if f is not field for v in _values(op, f)]
    for f, v in inputs:
        if f.pattern is not None and f.pattern.element == name and isinstance(v.type, TensorType):
            return v.type.element
    plain = _plain_element(values)
    allowed = op.layout.variables.get(name)
    known = [v.type.element for _, v in inputs if isinstance(v.type, TensorType)]
    floats = [e for e in known if e.is_float and (allowed is None or e in allowed.elements)]
    if plain is not f32 or not floats:
        return plain
    is_lost = any(isinstance(v, float) and 0 < abs(v) < SMALLEST_HALF for v in values)
    return f32 if len(floats) == 1 and is_lost and op.since not in (CORE_ML_5, CORE_ML_6) else floats[-1]


def _values(op: Op, field: Field) -> Sequence[Value]:
    """The values of an operand or parameter."""
    if field.variadic:
        return op.field_value(field)
    result = op.field_value(field) if field.kind is FieldKind.OPERAND else op.bound_value(field)
    return () if result is None else (result,)


def _plain_element(values: Sequence[Scalar]) -> ElementType:
    """The element type of literals that nothing else decides."""
    first = values[0] if values else 0
    if isinstance(first, bool):
        return boolean
    return string if isinstance(first, str) else f32 if isinstance(first, float) else i32


def _name_of(op: Operation) -> str:
    """Returns the name for things that belong to an operation."""
    result = op.first_name
    return result or op.source_name or op.name.partition(".")[2]


# -- dimensions


def _forget_symbols(function: Func) -> None:
    """Sizes that are expressions are unknown in a file."""
    for block in _blocks(function):
        for v in (*block.arguments, *(r for op in block.operations for r in op.results)):
            type = v.type
            if isinstance(type, TensorType) and type.shape is not None:
                v.retype(type.with_shape(tuple([None if isinstance(d, DimExpr) else d for d in type.shape])))


# -- names


class _Names:
    """Names for the values and operations of one function: identifiers, each once.

    An operation is called like its first result, which files need not state, or like the node of the source that it
    comes from. Of several operations for one node, the last one has its name.
    """

    def __init__(self, function: Func, lost: Diagnostics) -> None:
        self.function = function
        self.lost = lost
        self.taken: set[str] = set()
        self.numbers: dict[str, int] = {}
        self.renamed: dict[str, str] = {}

    def give(self) -> Mapping[str, str]:
        """Names every value, those that users see first."""
        fixed: dict[Value, str] = {}
        for v in self.function.inputs:
            fixed[v] = self._feature(v.name or f"input{v.index}", "input")
        last = self.function.body.last
        names = last.names if isinstance(last, Return) else ()
        for n, (v, name) in enumerate(zip(self.function.outputs, names, strict=True)):
            fixed[v] = self._feature(name or v.name or f"output{n}", "output")
        for v, name in fixed.items():
            v.name = name
        blocks = list(_blocks(self.function))
        operations = [op for block in blocks for op in block.operations]
        self.taken.update(op.source_name for op in operations if OPERATION_NAME in op.extra)
        inner: list[tuple[Value, str]] = [(v, "arg") for block in blocks for v in block.arguments]
        inner += [(v, _name_of(op)) for op in operations for v in op.results]
        for v, _ in inner:
            if v.name and v not in fixed:
                v.name = self._fresh(v.name)
        # What the conversion added is called after its operation, and may not take the name of a value or of a node.
        self._name_operations(operations)
        for v, stand_in in sorted(inner, key=lambda pair: isinstance(pair[0].owner, Constant)):
            v.name = v.name or self._fresh(stand_in)
        for block in blocks:
            self._name_outputs(block)
        return self.renamed

    def _name_operations(self, operations: Sequence[Operation]) -> None:
        """Gives operations the names of the nodes that they come from, and results without a name that of theirs."""
        nodes: set[str] = set()
        for op in reversed(operations):
            node = op.source_name
            if OPERATION_NAME in op.extra or not node:
                continue
            # Only one operation is the node, also for those who look for it in the converted module.
            op.location = None
            if isinstance(op, Constant | Return) or node in nodes:
                continue
            nodes.add(node)
            if as_identifier(node) == op.first_name:
                continue
            name = self._fresh(node)
            if op.results and not op.first_name:
                op.results[0].name = name
            else:
                op.set_extra(OPERATION_NAME, StringAttr(name))

    def _feature(self, expected: str, what: str) -> str:
        """A name that users see, kept where the format allows it."""
        name = self._fresh(expected)
        if name != expected:
            self.renamed[expected] = name
            message = f"the {what} '{expected}' of '{self.function.sym_name}' is called '{name}'"
            note = "a name is letters, digits and '_', begins with no digit, and is not used twice"
            self.lost.add(CHANGED_IN_CONVERSION, message, notes=(note,))
        return name

    def _fresh(self, expected: str) -> str:
        name = as_identifier(expected) or "value"
        stem, number = name, self.numbers.get(name, 0)
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self.numbers[stem] = number
        self.taken.add(name)
        return name

    def _name_outputs(self, block: Block) -> None:
        """The end of a block names what it returns."""
        last = block.last
        if isinstance(last, Return):
            built = Return.build({"values": last.values, "names": tuple([v.name for v in last.values])}, ())
            last.erase()
            block.append(built)
