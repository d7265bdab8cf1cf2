"""Operations as MLIR defines them: result types are declared by the program or inferred from traits.

Their meaning, where they have one, is a composite over core that lowering calls; types never depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from commonir.ir.attributes import Attribute, BoolAttr, DataAttr, FloatAttr, IntegerAttr
from commonir.ir.data import Data, InlineData
from commonir.ir.types import ElementType, TensorType, Type, VectorType, boolean, index
from commonir.ods.attr_types import unit
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.fields import Field
from commonir.ods.inference import typing_of
from commonir.ods.operation import Op
from commonir.ods.patterns import TypeConstraint
from commonir.ods.traits import SameVariadicOperandSize
from commonir.ods.type_rules import deduce


class MlirOp(Op):
    """An operation of a dialect that MLIR, too, defines.

    Constructing infers the types of results from traits, from `infer_results`, and from results that admit one type
    only; a definition that does not infer them is built with `build`, which takes them as an argument.
    Raises: TypeError when the type of a result cannot be inferred.
    """

    infers_types = True
    ends_blocks: ClassVar[bool] = True
    """Whether each of its blocks must end with a terminator."""

    def infer_results(self) -> tuple[Type, ...] | None:
        """Returns the types of all results, for definitions whose traits do not infer them; None when they are not
        known.
        """
        return None

    def infer(self) -> tuple[Type, ...]:
        results = self.infer_results()
        if results is None:
            results = self._stated()
        if results is not None:
            return results
        typing = typing_of(self, None)
        deduce(self.type_rules, built(self.layout.results), typing)
        if any(f.name not in typing.types and not f.optional for f in self.layout.results):
            raise TypeError(
                f"the result types of {self.name} cannot be inferred: make it with {type(self).__name__}.build"
            )
        return tuple(typing.all(typing.results))

    def _stated(self) -> tuple[Type, ...] | None:
        results = self.built_results
        return None if results is None else tuple([r.type for r in results])

    def trace_key(self) -> object:
        return self._stated()

    @property
    def properties(self) -> Mapping[str, Attribute]:
        # As MLIR prints them: defaults too, by name; an unset flag is left out.
        unset = {f.spelling for f in self.layout.attributes if f.type is unit and not self.field_value(f)}
        out = {k: v for k, v in self.attribute_dictionary.items() if k not in self.extra and k not in unset}
        sizes = super().properties.get(GROUP_SIZES)
        if sizes is not None and not self.has_trait(SameVariadicOperandSize):
            out[GROUP_SIZES] = sizes
        return dict(sorted(out.items()))


class HoldsData:
    """A mixin for definitions of constants that folding can build from contents."""

    __slots__ = ()

    @classmethod
    def holding(cls, data: Data, type: Type) -> Self | None:
        """Returns a constant of a type from its contents in the core; None for a type that it cannot have."""
        raise NotImplementedError


def attribute_holding(data: Data, type: Type) -> Attribute | None:
    """Returns the attribute for a constant of a type from its contents in the core; None where there is none."""
    match type:
        case ElementType() if type is boolean:
            return BoolAttr(bool(data.values()[0]))
        case ElementType() if type.is_integer or type is index:
            return IntegerAttr(int(data.values()[0]), type)
        case ElementType() if type.is_float:
            return FloatAttr.of_bits(int.from_bytes(data.buffer(), "little"), type)
        case TensorType() | VectorType() if data.element.bits:
            return DataAttr(InlineData(TensorType(type.element, data.shape), data.buffer()), type)
        case _:
            return None


def built(fields: Sequence[Field]) -> dict[str, Type]:
    """Returns the types of the fields that admit only one."""
    return {
        f.name: f.pattern.builds
        for f in fields
        if isinstance(f.pattern, TypeConstraint) and f.pattern.builds is not None
    }
