"""The ub dialect of MLIR: values that are nothing in particular, and places that are never reached.

Source: MLIR ub dialect.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.ir.attributes import Attribute, DialectAttr
from commonir.ir.core_types import core_type
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean
from commonir.ods import Dialect, MlirOp, attr_types, attribute, definitions_in, result, traits
from commonir.ods.own_forms import own_forms
from commonir.ods.type_constraints import AnyType
from commonir.symbolic.errors import NotationError

POISON = DialectAttr("ub", "poison")
OWN = own_forms(POISON)


class Poison(
    MlirOp,
    name="ub.poison",
    traits=(traits.Pure, traits.ConstantLike),
    assembly="attr-dict (`<` $value^ `>`)? `:` type($result)",
):
    """A poison value, on which nothing may depend; here it is zero, of size 0 along dynamic axes. C1: the value is
    `#ub.poison`.
    """

    value: Attribute = attribute(attr_types.any_attribute, default=POISON)
    result_: Value = result(AnyType)

    def verify(self) -> Iterator[Diagnostic]:
        if self.value != POISON:
            message = f"{self.name}: C1: value must be #ub.poison, found {self.value}"
            yield Diagnostic(WRONG_ATTRIBUTE, message)

    def reference(self) -> Value:
        type = core_type(self.result_.type)
        if not isinstance(type, TensorType) or type.shape is None:
            raise NotationError(f"the core has no value of type {self.result_.type} to be nothing in particular")
        zero = core.scalar(False if type.element is boolean else 0, type.element)
        return core.broadcast_to(zero, tuple([d if isinstance(d, int) else 0 for d in type.shape]))


class Unreachable(MlirOp, name="ub.unreachable", traits=(traits.Terminator,), assembly="attr-dict"):
    """Terminates a block that is never executed."""


DIALECT = Dialect(
    "ub",
    definitions_in(globals(), "ub"),
    summary="Values that are nothing in particular, and places that are never reached; as in MLIR.",
    own="commonir.dialects.mlir.ub:OWN",
)
