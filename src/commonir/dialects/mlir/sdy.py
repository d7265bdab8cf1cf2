"""The sdy dialect, Shardy: how values are divided among devices. A run has one device, on which nothing is divided.

Meshes and shardings are kept as they are written and mean nothing here. Source: Shardy, dialect reference.
"""

from __future__ import annotations

from enum import Enum

from commonir.ir.attributes import Attribute, DialectAttr, StringAttr
from commonir.ir.operation import Value
from commonir.ir.types import i32, i64
from commonir.ods import Dialect, MlirOp, attr_types, attribute, definitions_in, operand, result, traits
from commonir.ods.attr_types import AttrType
from commonir.ods.mlir_attr_types import numbered, typed_integer
from commonir.ods.own_forms import own_forms
from commonir.ods.traits import SymbolTrait
from commonir.ods.type_constraints import AnyTensor
from commonir.ods.type_rules import SameOperandsAndResultType

_NAME = "sdy"
OWN = own_forms(attributes="mesh sharding sharding_per_value op_sharding_rule manual_axes list_of_axis_ref_lists")


def _written(mnemonic: str) -> AttrType[Attribute]:
    """An attribute whose text is kept: `<body>` where a form has it, `#sdy.mnemonic<body>` elsewhere."""

    def kept(value: object) -> Attribute:
        if isinstance(value, StringAttr) and value.value.startswith("<") and value.value.endswith(">"):
            return DialectAttr(_NAME, mnemonic, value.value[1:-1])
        if isinstance(value, DialectAttr) and (value.dialect, value.mnemonic) == (_NAME, mnemonic):
            return value
        raise ValueError(f"expected #sdy.{mnemonic}<...>, found {value!r}")

    return AttrType(f"{mnemonic} of devices", kept, kept, kept, prefix=f"{_NAME}.{mnemonic}")


_MESH, _SHARDING = _written("mesh"), _written("sharding")


class PropagationDirection(Enum):
    """Directions in which shardings are propagated."""

    NONE = "NONE"
    FORWARD = "FORWARD"
    BACKWARD = "BACKWARD"
    BOTH = "BOTH"


class Mesh(MlirOp, name="sdy.mesh", traits=(SymbolTrait,), assembly="$sym_name `=` $mesh attr-dict"):
    """Names a mesh of devices: its axes, and how many devices there are along each."""

    sym_name: str = attribute(attr_types.symbol_name)
    mesh: Attribute = attribute(_MESH)


class _Annotation(MlirOp, traits=(traits.Pure, traits.Annotates, SameOperandsAndResultType)):
    """A note on a tensor, which is returned as it is."""

    def reference(self, input: Value) -> Value:
        return input


class ShardingConstraint(
    _Annotation, name="sdy.sharding_constraint", assembly="$input $sharding attr-dict `:` type($result)"
):
    """Says how a tensor is to be divided among devices."""

    input: Value = operand(AnyTensor)
    sharding: Attribute = attribute(_SHARDING)
    result_: Value = result(AnyTensor)


class Reshard(_Annotation, name="sdy.reshard", assembly="$input $sharding attr-dict `:` type($result)"):
    """Divides a tensor among devices in another way."""

    input: Value = operand(AnyTensor)
    sharding: Attribute = attribute(_SHARDING)
    result_: Value = result(AnyTensor)


class PropagationBarrier(
    _Annotation,
    name="sdy.propagation_barrier",
    assembly="$input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($result)",
):
    """Stops the propagation of shardings in all directions but some."""

    input: Value = operand(AnyTensor)
    allowed_direction: PropagationDirection = attribute(numbered(PropagationDirection, i32))
    result_: Value = result(AnyTensor)


class ShardingGroup(
    MlirOp, name="sdy.sharding_group", assembly="$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)"
):
    """Says that the tensors of a group are divided in one way."""

    input: Value = operand(AnyTensor)
    group_id: int = attribute(typed_integer(i64))

    def reference(self, input: Value) -> tuple[Value, ...]:
        del input
        return ()


DIALECT = Dialect(
    _NAME,
    definitions_in(globals(), _NAME),
    summary="How values are divided among devices, as jax says it (Shardy).",
    own="commonir.dialects.mlir.sdy:OWN",
)
