"""Operations of the shape dialect that state what may be assumed, and regions that rely on it.

Here a witness is whether what it stands for holds; a region that relies on one runs in any case.
Source: MLIR shape dialect; messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.shape.base import ShapeOp, ShapeOrExtents, WitnessType, all_equal, broadcasts, witness
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import Type, boolean
from commonir.ods import Op, attr_types, attribute, operand, region, result, traits
from commonir.ods.mlir_op import FromData
from commonir.ods.text_form import FormReader, FormTask, FormWriter
from commonir.ods.traits import ImplicitTerminator, has_parent
from commonir.ods.type_constraints import I1, AnyType


class ConstWitness(
    ShapeOp,
    FromData,
    name="shape.const_witness",
    traits=(traits.Pure, traits.ConstantLike),
    assembly="$passing attr-dict",
):
    """A compile-time witness."""

    passing: bool = attribute(attr_types.flag)
    result_: Value = result(WitnessType)

    @classmethod
    def from_data(cls, data: Data, type: Type) -> Self | None:
        return cls(bool(data.values()[0])) if type is witness else None

    def constant_data(self) -> Data | None:
        return data_of(boolean, (), (self.passing,))

    def reference(self) -> Value:
        return core.scalar(self.passing, boolean)


class CstrRequire(ShapeOp, name="shape.cstr_require", assembly="$pred `,` $msg attr-dict"):
    """Witness that a condition is true."""

    pred: Value = operand(I1)
    msg: str = attribute(attr_types.string)
    result_: Value = result(WitnessType)

    def reference(self, pred: Value) -> Value:
        return pred


class CstrEq(
    ShapeOp, name="shape.cstr_eq", traits=(traits.Commutative,), assembly="$shapes attr-dict `:` type($shapes)"
):
    """Witness that shapes are equal."""

    shapes: tuple[Value, ...] = operand(ShapeOrExtents, variadic=True)
    result_: Value = result(WitnessType)

    def reference(self, shapes: tuple[Value, ...]) -> Value:
        return all_equal(shapes)


class CstrBroadcastable(
    ShapeOp,
    name="shape.cstr_broadcastable",
    traits=(traits.Commutative,),
    assembly="$shapes attr-dict `:` type($shapes)",
):
    """Witness that shapes can be broadcast together. C1: there are at least two shapes."""

    shapes: tuple[Value, ...] = operand(ShapeOrExtents, variadic=True)
    result_: Value = result(WitnessType)

    def verify(self) -> Iterator[Diagnostic]:
        if len(self.shapes) < 2:
            yield self.violated("C1: required at least 2 input shapes")

    def reference(self, shapes: tuple[Value, ...]) -> Value:
        return broadcasts(shapes)


class AssumingAll(
    ShapeOp, name="shape.assuming_all", traits=(traits.Pure, traits.Commutative), assembly="$inputs attr-dict"
):
    """Combines witnesses: passes if all of them do. C1: there is at least one witness."""

    inputs: tuple[Value, ...] = operand(WitnessType, variadic=True)
    result_: Value = result(WitnessType)

    def verify(self) -> Iterator[Diagnostic]:
        if not self.inputs:
            yield self.violated("C1: no operands specified")

    def reference(self, inputs: tuple[Value, ...]) -> Value:
        holds = inputs[0]
        for v in inputs[1:]:
            holds = core.logical_and(holds, v)
        return holds


class AssumingYield(
    ShapeOp,
    name="shape.assuming_yield",
    traits=(traits.Pure, traits.Terminator, has_parent("shape.assuming")),
    assembly="attr-dict ($operands^ `:` type($operands))?",
):
    """Yields values from the region of `shape.assuming`."""

    operands_: tuple[Value, ...] = operand(AnyType, variadic=True)

    def reference(self, operands_: tuple[Value, ...]) -> core.Yield:
        return core.Yield(operands_)


class _AssumingForm:
    """`%witness -> (types) { }`."""

    def read(self, reader: FormReader) -> FormTask:
        use = reader.use()
        types = reader.results() if reader.take("->") else ()
        body = yield reader.region()
        if not body.blocks:
            body.add(Block())
        last = body.blocks[-1].last
        if last is None or not (isinstance(last, Op) and last.has_trait(traits.Terminator)):
            body.blocks[-1].append(AssumingYield(()))
        return reader.make({"witness": reader.resolve(use, witness), "doRegion": body}, types, reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, Assuming):
            writer.refuse()
        writer.write(f" {writer.value(op.witness)}")
        if op.results:
            writer.write(f" -> ({writer.types([r.type for r in op.results])})")
        writer.write(" ")
        writer.region(op.doRegion, arguments=False, terminator=bool(op.results))
        writer.write(writer.dictionary())


class Assuming(
    ShapeOp, name="shape.assuming", traits=(traits.RecursiveEffects, ImplicitTerminator("shape.assuming_yield"))
):
    """Executes a region that relies on a witness. C1: the region is not empty. C2: it yields values of the result
    types.
    """

    custom_form = _AssumingForm()

    witness: Value = operand(WitnessType)
    doRegion: Region = region(doc="runs relying on the witness")
    results_: tuple[Value, ...] = result(AnyType, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        return self._declared_types() or tuple([v.type for v in self._yielded()])

    def _yielded(self) -> tuple[Value, ...]:
        last = self.doRegion.blocks[0].last if self.doRegion.blocks else None
        return last.operands if isinstance(last, AssumingYield) else ()

    def verify(self) -> Iterator[Diagnostic]:
        if not self.doRegion.blocks:
            yield self.malformed("C1: region #0 ('doRegion') failed to verify constraint: region with 1 blocks")
            return
        given, expected = [v.type for v in self._yielded()], [r.type for r in self.results]
        if len(given) != len(expected):
            message = f"C2: region branch point has {len(given)} operands, but region successor needs {len(expected)}"
            yield self.malformed(f"{message} inputs")
        for n, (t, e) in enumerate(zip(given, expected, strict=False)):
            if t is not e:
                message = f"C2: successor operand type #{n} '{t}' should match successor input type #{n} '{e}'"
                yield self.malformed(message)

    def reference(self, witness: Value, *, doRegion: Region) -> tuple[Value, ...]:
        del witness
        return core.inlined(doRegion, ())
