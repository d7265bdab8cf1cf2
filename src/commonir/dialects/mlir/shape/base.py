"""Base classes of the operations of the shape dialect: its types, how they mix, and dims as tensors of the core.

A shape is carried by a vector of 64-bit integers, a size by one integer, a witness by a bool. Shapes that are
errors have no core_type: where upstream gives such a shape, nothing is specified here. Source: MLIR shape dialect.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.ir.operation import Value
from commonir.ir.types import DialectType, TensorType, Type, boolean, i64, index
from commonir.ods import MlirOp, TypeConstraint
from commonir.ods.own_forms import own_forms
from commonir.ods.type_constraints import AnyInteger, AnyShaped, Index, any_type_of, tensor_rank_of
from commonir.ods.type_rules import are_compatible_shapes
from commonir.symbolic.errors import NotKnownError

shape = DialectType("shape", "shape")
size = DialectType("shape", "size")
witness = DialectType("shape", "witness")
value_shape = DialectType("shape", "value_shape")
OWN = own_forms(shape, size, witness, value_shape)


def _only(name: str, type: Type) -> TypeConstraint:
    return TypeConstraint(
        name, type.mnemonic if isinstance(type, DialectType) else str(type), lambda t: t is type, type
    )


ShapeType = _only("Shape_ShapeType", shape)
SizeType = _only("Shape_SizeType", size)
WitnessType = _only("Shape_WitnessType", witness)
ValueShapeType = _only("Shape_ValueShapeType", value_shape)
ExtentTensor = tensor_rank_of([Index], [1])
ShapeOrSize = any_type_of(SizeType, ShapeType, summary="shape or size")
ShapeOrExtents = any_type_of(ShapeType, ExtentTensor, summary="shape or extent tensor")
SizeOrIndex = any_type_of(SizeType, Index, summary="size or index")
AnyShapeOrSize = any_type_of(SizeOrIndex, ShapeOrExtents, summary="any shape or size")
ShapedOrValueShape = any_type_of(AnyShaped, ValueShapeType)
NumbersOrValueShape = any_type_of(tensor_rank_of([any_type_of(AnyInteger, Index)], [1]), ValueShapeType)


class ShapeOp(MlirOp):
    """Base of the operations of the shape dialect."""

    def lets_errors_vanish(self) -> bool:
        """Returns whether an operand may be an error and the result cannot."""
        errors = {shape, size, value_shape}
        given, found = {v.type for v in self.operands}, {r.type for r in self.results}
        return bool(given & errors) and not found & errors

    def vanishing(self, expected: Type) -> Diagnostic:
        """A finding that the result cannot say that an operand is an error."""
        return self.violated(
            "if at least one of the operands can hold error values then the result must be of type "
            f"{expected} to propagate them"
        )


def is_size(type: Type) -> bool:
    """Returns whether values of a type are single numbers."""
    return type is size or type is index


def extents(rank: int | None) -> TensorType:
    """The type of a vector of sizes."""
    return TensorType(index, (rank,))


def rank_of_extents(type: Type) -> int | None:
    """Returns the number of dims that a vector of extents holds; None where its type does not determine it."""
    dims = type.shape if isinstance(type, TensorType) else None
    return dims[0] if dims and isinstance(dims[0], int) else None


def meet_of(first: Type, second: Type) -> Type | None:
    """The type of what two shapes or two sizes have in common; None for a shape and a size."""
    if is_size(first) and is_size(second):
        return size if size in (first, second) else index
    if is_size(first) or is_size(second):
        return None
    if shape in (first, second):
        return shape
    known = [n for n in map(rank_of_extents, (first, second)) if n is not None]
    return None if len(set(known)) > 1 else extents(known[0] if known else None)


def may_state(type: Type, declared: Type) -> bool:
    """Returns whether a declared result type is compatible with the one inferred from the operands."""
    if is_size(type) or is_size(declared):
        return is_size(type) and is_size(declared)
    return shape in (type, declared) or are_compatible_shapes(type, declared)


# -- shapes in the core


def known_rank(sizes: Value) -> int:
    """The number of sizes in a vector. Raises: NotKnownError when it is not known."""
    dims = core.tensor_type(sizes).shape
    if not dims or not isinstance(dims[0], int):
        raise NotKnownError("the rank of a shape is not known before running")
    return dims[0]


def one() -> Value:
    """The number 1."""
    return core.scalar(1, i64)


def aligned(shapes: Sequence[Value]) -> tuple[Value, ...]:
    """Vectors of sizes with ones before those that are shorter. Raises: NotKnownError."""
    rank = max(map(known_rank, shapes), default=0)
    out: list[Value] = []
    for v in shapes:
        missing = rank - known_rank(v)
        out.append(core.concat((core.vector((1,) * missing), v), 0) if missing else v)
    return tuple(out)


def all_hold(truths: Value) -> Value:
    """Returns whether all elements of a vector of bools are true."""
    return core.equal(core.reduce_prod(core.cast(truths, i64), (0,)), one())


def all_equal(shapes: Sequence[Value]) -> Value:
    """Returns whether shapes are the same. Raises: NotKnownError."""
    if len({known_rank(v) for v in shapes}) > 1:
        return core.scalar(False, boolean)
    holds = core.scalar(True, boolean)
    for v in shapes[1:]:
        holds = core.logical_and(holds, all_hold(core.equal(shapes[0], v)))
    return holds


def broadcast_shape(shapes: Sequence[Value]) -> Value:
    """The shape that tensors of some shapes are broadcast to. Raises: NotKnownError."""
    if not shapes:
        return core.vector(())
    first, *rest = aligned(shapes)
    for v in rest:
        first = core.select(core.equal(first, one()), v, first)
    return first


def broadcasts(shapes: Sequence[Value]) -> Value:
    """Returns whether tensors of some shapes can be broadcast against each other. Raises: NotKnownError."""
    whole = broadcast_shape(shapes)
    holds = core.scalar(True, boolean)
    for v in aligned(shapes):
        holds = core.logical_and(holds, all_hold(core.logical_or(core.equal(v, whole), core.equal(v, one()))))
    return holds
