"""Constants of the arith dialect.

Source: MLIR arith dialect.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.ir.attributes import Attribute, BoolAttr, DataAttr, IntegerAttr, StringAttr
from commonir.ir.core_types import core_contents
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, Type, VectorType, index, is_signless
from commonir.ods import MlirOp, attr_types, attribute, result, traits
from commonir.ods.mlir_op import FromData, attribute_from_data
from commonir.ods.type_constraints import AnyType
from commonir.ods.type_rules import all_types_match, type_of_attribute
from commonir.symbolic.errors import NotationError


class Constant(
    MlirOp,
    FromData,
    name="arith.constant",
    traits=(traits.Pure, traits.ConstantLike, all_types_match("value", "result_")),
    assembly="attr-dict $value",
):
    """A compile-time constant: an integer, a float, or the elements of a tensor or vector.

    C1: the value has the type of the result. C2: a scalar integer is signless. C3: all elements of a scalable vector
    are equal.
    """

    attr_types_suffice = True

    value: Attribute = attribute(attr_types.any_attribute)
    result_: Value = result(AnyType)

    @classmethod
    def from_data(cls, data: Data, type: Type) -> Self | None:
        value = attribute_from_data(data, type)
        return None if value is None else cls.build({"value": value}, (type,))

    def suggested_names(self) -> Iterable[tuple[Value, str]]:
        value = self.value
        match value:
            case BoolAttr():
                name = "true" if value.value else "false"
            case IntegerAttr(type=kind) if kind is index:
                name = f"c{value.value}"
            case IntegerAttr():
                name = f"c{value.value}_{value.type}"
            case _:
                name = "cst"
        return ((self.result_, name),)

    def verify(self) -> Iterable[Diagnostic]:
        type = type_of_attribute(self.value)
        if type is None or isinstance(self.value, StringAttr):
            message = f"{self.name}: C1: value must be an integer, float, or elements attribute, found {self.value}"
            yield Diagnostic(WRONG_ATTRIBUTE, message)
            return
        if isinstance(type, ElementType) and type.is_integer and not is_signless(type):
            yield Diagnostic(WRONG_TYPE, f"{self.name}: C2: integer return type must be signless, found {type}")
        if isinstance(type, VectorType) and any(type.scalable) and not _is_splat(self.value):
            message = f"{self.name}: C3: a scalable vector can only be a splat"
            yield Diagnostic(WRONG_ATTRIBUTE, message)

    def constant_data(self) -> Data | None:
        return core_contents(self.value)

    def reference(self) -> Value:
        data = core_contents(self.value)
        if data is None:
            raise NotationError(f"the core has no constant {self.value}")
        return core.constant(data)


def _is_splat(value: Attribute) -> bool:
    return isinstance(value, DataAttr) and len(set(value.data.values())) <= 1
