"""Specializes operations at run time, for the shapes and some elements of their operands.

The semantics of an operation may depend on data-dependent values: the rank of an operand, the axes of a reduction. Its
reference is then called with the actual types, and with constants for operands whose elements it reads. The operations
that it returns become a block that engines run like any other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Op, check_use, is_not_known, operations_behind
from commonir.ods.fields import FieldKind
from commonir.rewrite.expand import append, expand
from commonir.runtime.instances import is_fixed, static_attributes
from commonir.runtime.interpreter.operations import data_of_array
from commonir.runtime.values import is_array, value_type

Array = NDArray[Any]

KNOWN_ELEMENTS = 1 << 12
"""Operands of up to this many elements may become constants of a specialization."""

MAX_SPECIALIZATIONS = 16
"""The number of specializations cached for each operation."""


class Specialization(NamedTuple):
    """A block that implements an operation, with a value for each operand that is not a constant in it."""

    block: Block
    inputs: dict[int, Value]
    outputs: tuple[Value, ...]


class Specializations:
    """The cached specializations of the operations of a program, by types and constant elements of operands."""

    def __init__(self) -> None:
        self._by_op: dict[Op, _OpSpecializations] = {}

    def get(self, op: Op, operands: Sequence[Any], dims: Mapping[str, int]) -> Specialization:
        """Returns the specialization of an operation for values of its operands.

        Raises: DiagnosticError when they contradict its definition.
        """
        cached = self._by_op.get(op)
        if cached is None:
            cached = self._by_op[op] = _OpSpecializations(op)
        read = [n for n in cached.may_read if _is_small(operands[n])]
        shapes = tuple([(v.type, x.shape if is_array(x) else None) for v, x in zip(op.operands, operands, strict=True)])
        attributes = static_attributes(op, dims) if cached.mentions_dims else {}
        key = (shapes, tuple([(n, _content_of(operands[n])) for n in read]), tuple(attributes.items()))
        result = cached.by_key.get(key)
        if result is None:
            types = tuple([value_type(v, x) for v, x in zip(op.operands, operands, strict=True)])
            result = cached.by_key[key] = _specialize(op, operands, types, read, attributes)
            if len(cached.by_key) > MAX_SPECIALIZATIONS:
                cached.by_key.popitem(last=False)
        cached.by_key.move_to_end(key)
        return result


class _OpSpecializations:
    """The cached specializations of one operation."""

    def __init__(self, op: Op) -> None:
        self.may_read = operands_read(op)
        self.mentions_dims = not all(map(is_fixed, op.stored_attributes.values()))
        self.by_key: OrderedDict[object, Specialization] = OrderedDict()


def _specialize(
    op: Op, operands: Sequence[Any], types: Sequence[Type], read: Sequence[int], attributes: Mapping[str, object]
) -> Specialization:
    """Returns a specialization for operands of some types, with constants for those whose elements it reads.

    Raises: DiagnosticError when they contradict its definition.
    """
    try:
        return specialize_for(op, operands, types, read, attributes)
    except DiagnosticError as error:
        small = [n for n, x in enumerate(operands) if is_array(x) and x.size <= KNOWN_ELEMENTS]
        if len(small) == len(read) or not is_not_known(error):
            raise
    # An operation may depend on elements of operands that its definition does not declare as `by_value`.
    return specialize_for(op, operands, types, small, attributes)


def specialize_for(
    op: Op, operands: Sequence[Any], types: Sequence[Type], read: Sequence[int], attributes: Mapping[str, object]
) -> Specialization:
    """Returns a specialization in which only the operands `read` are constants.

    Raises: DiagnosticError when it depends on other elements, or operands contradict its definition.
    """
    values = [_constant(t, operands[n]) if n in read else Value(t) for n, t in enumerate(types)]
    built = op.clone_shallow(tuple(values), ())
    if attributes:
        built = built.with_attributes(**attributes)
    regions = _copied_regions(op)
    built.regions = tuple(regions.values())
    # It stands beside the operation without being part of the block, so that it finds the functions that it names.
    built.parent = op.parent
    if not op.infers_types:
        # Declared types were checked before they were lowered.
        check_use(built)
    block = Block()
    constants = operations_behind([values[n] for n in read])
    for constant in constants:
        block.append(constant)
    outputs = append(block, expand(built, values, regions))
    block.append(core.Yield(outputs))
    for constant in constants:
        if not any(r.is_used for r in constant.results):
            constant.erase()
    inputs = {n: v for n, v in enumerate(values) if n not in read}
    return Specialization(block, inputs, outputs)


def _copied_regions(op: Op) -> dict[str, Region]:
    """Returns copies of the regions of an operation by name; they capture the same values."""
    if not op.regions:
        return {}
    copied = clone(op)
    names = [f.name for f in op.layout.regions]
    return {name: region.take() for name, region in zip(names, copied.regions, strict=False)}


def operands_read(op: Op) -> list[int]:
    """Returns the positions of operands on whose elements the semantics of an operation may depend."""
    fields = enumerate(op.operand_fields())
    return [n for n, f in fields if f.by_value or f.constant or f.kind is FieldKind.PARAMETER]


def _is_small(x: object) -> bool:
    return is_array(x) and x.size <= KNOWN_ELEMENTS


def _constant(type: Type, array: Array) -> Value:
    assert isinstance(type, TensorType)
    return core.constant(data_of_array(type, array))


def _content_of(array: Array) -> object:
    """Returns the elements of an array as a hashable key."""
    return tuple(array.reshape(-1).tolist()) if array.dtype.kind == "O" else array.tobytes()
