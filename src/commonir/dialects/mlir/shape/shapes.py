"""Operations of the shape dialect that make shapes, put them together and compare them.

Source: MLIR shape dialect; messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.shape.base import (
    ExtentTensor,
    NumbersOrValueShape,
    ShapedOrValueShape,
    ShapeOp,
    ShapeOrExtents,
    ShapeOrSize,
    ShapeType,
    SizeOrIndex,
    ValueShapeType,
    all_equal,
    broadcast_shape,
    broadcasts,
    extents,
    known_rank,
    shape,
    size,
    value_shape,
)
from commonir.ir.attributes import ArrayAttr, IntegerAttr
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import TensorType, Type, i64, index
from commonir.ods import Op, attr_types, attribute, known_dims, operand, region, result, traits
from commonir.ods.mlir_op import FromData
from commonir.ods.text_form import FormReader, FormTask, FormWriter
from commonir.ods.traits import ImplicitTerminator, has_parent
from commonir.ods.type_constraints import I1, AnyShaped, AnyType, IndexTensor
from commonir.ods.type_rules import NO_SHAPE, are_compatible_shapes, shape_of
from commonir.symbolic import Dim
from commonir.symbolic.errors import NotKnownError


class _ConstShapeForm:
    """`{attributes} [sizes] : type`; the dictionary touches the bracket."""

    def read(self, reader: FormReader) -> FormTask:
        attributes = reader.dictionary()
        at = reader.position
        content = reader.attribute()
        if not isinstance(content, ArrayAttr) or not all(isinstance(v, IntegerAttr) for v in content.values):
            reader.fail("expected sizes in brackets", at=at)
        sizes = [v.value for v in content.values if isinstance(v, IntegerAttr)]
        reader.expect(":")
        return reader.make({"shape": data_of(index, (len(sizes),), sizes)}, (reader.type(),), attributes)
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, ConstShape) or len(op.shape.shape) != 1:
            writer.refuse()
        extra = writer.dictionary(("shape",))
        sizes = ", ".join(map(str, op.shape.values()))
        writer.write(f" {extra}[{sizes}] : {writer.type(op.result_.type)}")


class ConstShape(ShapeOp, FromData, name="shape.const_shape", traits=(traits.Pure, traits.ConstantLike)):
    """A compile-time shape. C1: the dims are of type index. C2: a tensor as result has an element for each dim."""

    custom_form = _ConstShapeForm()

    shape: Data = attribute(attr_types.data)
    result_: Value = result(ShapeOrExtents)

    def infer_results(self) -> tuple[Type, ...] | None:
        return self._declared_types() or (extents(self.shape.count),)

    def verify(self) -> Iterator[Diagnostic]:
        if self.shape.element is not index:
            yield self.violated(
                f"C1: attribute 'shape' must be an index elements attribute, found {self.shape.element}"
            )
        elif self.result_.type is not shape and self.result_.type is not extents(self.shape.count):
            message = f"C2: inferred type '{extents(self.shape.count)}' is incompatible with the return type"
            yield self.violated(f"{message} '{self.result_.type}'")

    @classmethod
    def from_data(cls, data: Data, type: Type) -> Self | None:
        if type not in (shape, extents(data.count)):
            return None
        return cls.build({"shape": data_of(index, (data.count,), data.values())}, (type,))

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return tuple([v for v in self.shape.values() if isinstance(v, int)])

    def constant_data(self) -> Data | None:
        return data_of(i64, (self.shape.count,), self.shape.values())

    def reference(self) -> Value:
        return core.vector(tuple([v for v in self.shape.values() if isinstance(v, int)]))


class FromExtents(
    ShapeOp, name="shape.from_extents", traits=(traits.Pure,), assembly="$extents attr-dict `:` type($extents)"
):
    """Creates a shape from its dims."""

    extents: tuple[Value, ...] = operand(SizeOrIndex, variadic=True)
    shape: Value = result(ShapeType)

    def reference(self, extents: tuple[Value, ...]) -> Value:
        return core.concat(tuple([core.unsqueeze(v, (0,)) for v in extents]), 0) if extents else core.vector(())


class _Same(ShapeOp, traits=(traits.Pure,)):
    """The same sizes under another type."""

    def reference(self, input: Value) -> Value:
        return input


class FromExtentTensor(_Same, name="shape.from_extent_tensor", assembly="$input attr-dict `:` type($input)"):
    """Creates a shape from a tensor of dims."""

    input: Value = operand(ExtentTensor)
    result_: Value = result(ShapeType)


class ToExtentTensor(
    _Same, name="shape.to_extent_tensor", assembly="$input attr-dict `:` type($input) `->` type($result)"
):
    """Converts a shape to a tensor of dims."""

    input: Value = operand(ShapeOrExtents)
    result_: Value = result(IndexTensor)


class ShapeOf(
    ShapeOp, name="shape.shape_of", traits=(traits.Pure,), assembly="$arg attr-dict `:` type($arg) `->` type($result)"
):
    """The shape of a tensor. C1: a result that is a tensor has one element for each axis."""

    arg: Value = operand(ShapedOrValueShape)
    result_: Value = result(ShapeOrExtents)

    def _found(self) -> Type:
        dims = shape_of(self.arg.type)
        return shape if dims is NO_SHAPE else extents(len(dims) if isinstance(dims, tuple) else None)

    def infer_results(self) -> tuple[Type, ...] | None:
        return self._declared_types() or (self._found(),)

    def verify(self) -> Iterator[Diagnostic]:
        found, declared = self._found(), self.result_.type
        if self.arg.type is value_shape and declared is not shape:
            yield self.vanishing(shape)
        elif declared is not shape and not are_compatible_shapes(found, declared):
            yield self.violated(f"C1: inferred type '{found}' is incompatible with the return type '{declared}'")

    def reference(self, arg: Value) -> Value:
        return core.shape_of(arg)


class ValueOf(ShapeOp, name="shape.value_of", traits=(traits.Pure,), assembly="$arg attr-dict `:` type($result)"):
    """The tensor of a pair of a tensor and its shape."""

    arg: Value = operand(ValueShapeType)
    result_: Value = result(AnyShaped)


class ValueAsShape(
    ShapeOp,
    name="shape.value_as_shape",
    traits=(traits.Pure,),
    assembly="$arg attr-dict `:` type($arg) `->` type($result)",
):
    """Interprets the elements of a vector as a shape."""

    arg: Value = operand(NumbersOrValueShape)
    result_: Value = result(ShapeOrExtents)

    def reference(self, arg: Value) -> Value:
        return arg if core.tensor_type(arg).element is i64 else core.cast(arg, i64)


class WithShape(
    ShapeOp,
    name="shape.with_shape",
    traits=(traits.Pure,),
    assembly="operands attr-dict `:` type($operand) `,` type($shape)",
):
    """A pair of a tensor and the shape that it is declared to have."""

    operand_: Value = operand(ShapedOrValueShape)
    shape: Value = operand(ShapeOrExtents)
    result_: Value = result(ValueShapeType)


class Broadcast(
    ShapeOp,
    name="shape.broadcast",
    traits=(traits.Pure, traits.Commutative),
    assembly="$shapes attr-dict `:` type($shapes) `->` type($result)",
):
    """The shape to which tensors of some shapes are broadcast."""

    shapes: tuple[Value, ...] = operand(ShapeOrExtents, variadic=True)
    error: str | None = attribute(attr_types.string, default=None)
    result_: Value = result(ShapeOrExtents)

    def infer_results(self) -> tuple[Type, ...] | None:
        return self._declared_types() or (shape if any(v.type is shape for v in self.shapes) else extents(None),)

    def verify(self) -> Iterator[Diagnostic]:
        if self.lets_errors_vanish():
            yield self.vanishing(shape)

    def reference(self, shapes: tuple[Value, ...]) -> Value:
        return broadcast_shape(shapes)


class IsBroadcastable(
    ShapeOp, name="shape.is_broadcastable", traits=(traits.Commutative,), assembly="$shapes attr-dict `:` type($shapes)"
):
    """Tests whether shapes can be broadcast together."""

    shapes: tuple[Value, ...] = operand(ShapeOrExtents, variadic=True)
    result_: Value = result(I1)

    def folds(self, operands: Sequence[Data]) -> bool:  # noqa: ARG002  none, as in MLIR
        return False

    def reference(self, shapes: tuple[Value, ...]) -> Value:
        return broadcasts(shapes)


class ShapeEq(
    ShapeOp,
    name="shape.shape_eq",
    traits=(traits.Pure, traits.Commutative),
    assembly="$shapes attr-dict `:` type($shapes)",
):
    """Tests whether shapes are equal."""

    shapes: tuple[Value, ...] = operand(ShapeOrExtents, variadic=True)
    result_: Value = result(I1)

    def reference(self, shapes: tuple[Value, ...]) -> Value:
        return all_equal(shapes)


class Any_(  # noqa: N801  `Any` is a type of Python
    ShapeOp,
    name="shape.any",
    traits=(traits.Pure, traits.Commutative),
    assembly="$inputs attr-dict `:` type($inputs) `->` type($result)",
):
    """Returns any one of several shapes that are known to agree."""

    inputs: tuple[Value, ...] = operand(ShapeOrExtents, variadic=True)
    result_: Value = result(ShapeOrExtents)

    def reference(self, inputs: tuple[Value, ...]) -> Value:
        if not inputs:
            raise NotKnownError("any of no shapes is nothing in particular")
        return inputs[0]


class Concat(
    ShapeOp,
    name="shape.concat",
    traits=(traits.Pure,),
    assembly="$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)",
):
    """Concatenates two shapes."""

    lhs: Value = operand(ShapeOrExtents)
    rhs: Value = operand(ShapeOrExtents)
    result_: Value = result(ShapeOrExtents)

    def infer_results(self) -> tuple[Type, ...] | None:
        types = (self.lhs.type, self.rhs.type)
        return self._declared_types() or (shape if shape in types else extents(None),)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return core.concat((lhs, rhs), 0)


class SplitAt(ShapeOp, name="shape.split_at", traits=(traits.Pure,)):
    """Splits a shape at an index, which may count from the end."""

    operand_: Value = operand(ShapeOrExtents)
    index: Value = operand(SizeOrIndex)
    head: Value = result(ShapeOrExtents)
    tail: Value = result(ShapeOrExtents)

    def reference(self, operand_: Value, index: Value) -> tuple[Value, Value]:
        at, rank = known_dims(index), known_rank(operand_)
        if at is None or not isinstance(at[0], int):
            raise NotKnownError("where a shape is split is not known before running")
        place = at[0] + rank if at[0] < 0 else at[0]
        return core.slice(operand_, (0,), (place,), (1,)), core.slice(operand_, (place,), (rank,), (1,))


class DebugPrint(ShapeOp, name="shape.debug_print"):
    """Prints a shape or dim for debugging, and returns it."""

    input: Value = operand(ShapeOrSize)
    output: Value = result(ShapeOrSize)

    def reference(self, input: Value) -> Value:
        return input


# -- reduction


class Yield(
    ShapeOp,
    name="shape.yield",
    traits=(traits.Pure, traits.Terminator, has_parent("shape.reduce", "shape.function_library")),
    assembly="attr-dict ($operands^ `:` type($operands))?",
):
    """Yields values from the region of a reduction. C1: the operands have the types of the results of the enclosing
    operation.
    """

    operands_: tuple[Value, ...] = operand(AnyType, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        holder = self.parent_op
        if not isinstance(holder, Reduce):
            return
        given, expected = [v.type for v in self.operands], [r.type for r in holder.results]
        if len(given) != len(expected):
            message = f"C1: number of operands does not match number of results of its parent, {len(expected)}"
            yield self.violated(f"{message}, found {len(given)}")
        elif given != expected:
            yield self.violated("C1: types mismatch between yield op and its parent")

    def reference(self, operands_: tuple[Value, ...]) -> core.Yield:
        return core.Yield(operands_)


class _ReduceForm:
    """`(%shape, %initial) : type -> types { }`."""

    def read(self, reader: FormReader) -> FormTask:
        reader.expect("(")
        uses = reader.separated(reader.use, ")")
        if not uses:
            reader.fail("expected a shape")
        reader.expect(":")
        type = reader.type()
        types = reader.results() if reader.take("->") else ()
        sizes = reader.resolve(uses[0], type)
        initial = reader.resolve_all(uses[1:], types)
        body = yield reader.region()
        attributes = reader.dictionary()
        if not body.blocks:
            body.add(Block())
        last = body.blocks[-1].last
        if last is None or not (isinstance(last, Op) and last.has_trait(traits.Terminator)):
            body.blocks[-1].append(Yield(()))
        return reader.make({"shape": sizes, "initVals": initial, "region": body}, types, attributes)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, Reduce):
            writer.refuse()
        writer.write(f"({writer.values(op.operands)}) : {writer.type(op.shape.type)}")
        if op.results:
            writer.write(f" -> {writer.result_types([r.type for r in op.results])}")
        writer.write(" ")
        writer.region(op.region)
        writer.write(writer.dictionary())


class Reduce(ShapeOp, name="shape.reduce", traits=(ImplicitTerminator("shape.yield"),)):
    """Reduces the dims of a shape with a region, in order.

    The region takes the index of a dim, the dim and the current values, and yields the next values.

    C1: the region takes an index, a dim of the shape, and one argument of the type of each initial value.
    """

    custom_form = _ReduceForm()

    shape: Value = operand(ShapeOrExtents)
    initVals: tuple[Value, ...] = operand(AnyType, variadic=True)
    region: Region = region(doc="from an index, a dim and the values so far, the next values")
    result_: tuple[Value, ...] = result(AnyType, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        return self._declared_types() or tuple([v.type for v in self.initVals])

    def verify(self) -> Iterator[Diagnostic]:
        if not self.region.blocks:
            yield self.malformed("region #0 ('region') failed to verify constraint: region with 1 blocks")
            return
        given = [a.type for a in self.region.blocks[0].arguments]
        expected = len(self.initVals) + 2
        if len(given) != expected:
            yield self.malformed(f"C1: ReduceOp body is expected to have {expected} arguments, found {len(given)}")
            return
        element = size if self.shape.type is shape else index
        if given[0] is not index:
            yield self.malformed("C1: argument 0 of ReduceOp body is expected to be of IndexType")
        if given[1] is not element:
            what = "SizeType" if element is size else "IndexType"
            yield self.malformed(f"C1: argument 1 of ReduceOp body is expected to be of {what}")
        for n, (t, v) in enumerate(zip(given[2:], self.initVals, strict=True)):
            if t is not v.type:
                yield self.malformed(
                    f"C1: type mismatch between argument {n + 2} of ReduceOp body and initial value {n}"
                )

    def reference(self, shape: Value, initVals: tuple[Value, ...], *, region: Region) -> tuple[Value, ...]:
        count = len(initVals)
        positions = core.range(core.scalar(0, i64), core.dim(shape, 0), core.scalar(1, i64))
        types = [*[v.type for v in initVals], TensorType(i64, ()), TensorType(i64, ())]
        body = core.nested(types, lambda *v: core.inlined(region, (v[count], v[count + 1], *v[:count])))
        return core.Scan(initVals, (positions, shape), body).results
