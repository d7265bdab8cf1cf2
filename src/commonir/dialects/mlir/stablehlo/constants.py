"""Constants of the stablehlo dialect: tensors in attributes, and counted numbers.

Source: StableHLO specification, constant, iota, dynamic_iota.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Self

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import forms
from commonir.dialects.mlir.stablehlo.base import (
    AnyHlo,
    HloOp,
    Sizes,
    StaticIotaTensor,
    StaticTensor,
    axis,
    element,
    kind_of,
    like,
    non_negative,
    rank_of,
)
from commonir.dialects.mlir.stablehlo.number_types import number_as
from commonir.dialects.mlir.stablehlo.quantization import quantization_of
from commonir.ir.core_types import core_data
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, Type, i64
from commonir.ods import attr_types, attribute, known_dims, operand, result, traits
from commonir.ods.mlir_op import FromData
from commonir.ods.operand_shapes import static_dims
from commonir.ods.text_form import CustomForm
from commonir.symbolic import Dim


class Constant(HloOp, FromData, name="stablehlo.constant", traits=(traits.ConstantLike, traits.Pure)):
    """A compile-time constant tensor."""

    custom_form: ClassVar[CustomForm | None] = forms.ConstantForm()

    attr_types_suffice = True

    value: Data = attribute(attr_types.data)
    output: Value = result(StaticTensor)

    @classmethod
    def from_data(cls, data: Data, type: Type) -> Self | None:
        return cls.build({"value": data}, (type,)) if type is data.type else None

    def suggested_names(self) -> Iterable[tuple[Value, str]]:
        element_type = element(self.results[0])
        is_integer = isinstance(element_type, ElementType) and element_type.kind in ("bool", "int", "uint")
        return ((self.results[0], "c" if is_integer else "cst"),)

    def infer_results(self) -> tuple[Type, ...] | None:
        (output,) = self.built_results or (None,)
        quantization = None if output is None else quantization_of(output)
        if output is not None and quantization is not None and self.value.element.name == f"i{quantization.bits}":
            # Integers that stand for reals.
            return (like(output.type, self.value.shape),)
        return (self.value.type,)

    def constant_data(self) -> Data | None:
        return core_data(self.value)

    def reference(self) -> Value:
        return core.constant(core_data(self.value))


def _counted(shape: Sequence[Dim], axis: int, element_type: ElementType) -> Value:
    counts = core.iota(tuple(shape), axis, element_type if element_type.is_integer else i64)
    return counts if kind_of(counts) is element_type else number_as(counts, element_type)


class Iota(
    HloOp,
    name="stablehlo.iota",
    traits=(traits.Pure,),
    assembly="`dim` `=` $iota_dimension attr-dict `:` type($output)",
):
    """Fills a tensor with indices along an axis. C1: the axis is one of the result."""

    iota_dimension: int = attribute(axis, check=non_negative)
    output: Value = result(StaticIotaTensor)

    def verify(self) -> Iterator[Diagnostic]:
        if self.iota_dimension >= rank_of(self.output):
            yield self.violated("C1: iota dimension cannot go beyond the output rank")

    def reference(self) -> Value:
        element_type = element(self.output)
        assert isinstance(element_type, ElementType)
        return _counted(static_dims(self.output), self.iota_dimension, element_type)


class DynamicIota(
    HloOp,
    name="stablehlo.dynamic_iota",
    traits=(traits.Pure,),
    assembly="$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)",
):
    """Fills a tensor of a computed shape with indices along an axis. C1: the dimension is an axis of the result."""

    output_shape: Value = operand(Sizes, by_value=True)
    iota_dimension: int = attribute(axis, check=non_negative)
    result_: Value = result(AnyHlo)

    def verify(self) -> Iterator[Diagnostic]:
        if self.iota_dimension >= rank_of(self.result_):
            yield self.violated("C1: iota dimension cannot go beyond the output rank")
        yield from self.check_sizes_given(self.output_shape)

    def reference(self, output_shape: Value) -> Value:
        element_type = element(self.result_)
        assert isinstance(element_type, ElementType)
        known = known_dims(output_shape)
        if known is not None:
            return _counted(known, self.iota_dimension, element_type)
        return number_as(_counted_by(output_shape, self.iota_dimension), element_type)


def all_numbered(shape: Value) -> Value:
    """A tensor of a computed shape, whose elements are numbered in row-major order."""
    wide = number_as(shape, i64)
    count = core.reduce_prod(wide, (0,))
    return core.dynamic_reshape(core.range(core.scalar(0, i64), count, core.scalar(1, i64)), wide)


def _counted_by(shape: Value, axis: int) -> Value:
    """Numbers from 0 along an axis of a computed shape."""
    wide = number_as(shape, i64)
    rank = static_dims(wide)[0]
    size = core.reshape(core.slice(wide, (axis,), (axis + 1,), (1,)), ())
    later = core.reduce_prod(core.slice(wide, (axis + 1,), (rank,), (1,)), (0,))
    return core.mod(core.floor_div(all_numbered(shape), later), size)
