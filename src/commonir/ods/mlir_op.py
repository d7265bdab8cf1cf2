"""Operations of MLIR: result types are declared by the program or inferred from traits.

A reference, if any, is a composite of core operations, for lowering; types never depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self

from commonir.base.codes import MALFORMED_REGION, VIOLATED_CONSTRAINT
from commonir.base.diagnostics import Diagnostic
from commonir.ir.attributes import Attribute, BoolAttr, DataAttr, FloatAttr, IntegerAttr
from commonir.ir.data import Data, InlineData
from commonir.ir.types import ElementType, TensorType, Type, VectorType, boolean, index
from commonir.ods.attr_types import unit
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.fields import Field
from commonir.ods.inference import typing_of
from commonir.ods.operation import Op, ResultTypesNotInferredError
from commonir.ods.patterns import TypeConstraint
from commonir.ods.traits import SameVariadicOperandSize
from commonir.ods.type_rules import deduce


class MlirOp(Op):
    """An operation of a dialect of MLIR.

    Constructing infers the types of results from traits, from `infer_results`, and from results that admit a single
    type; otherwise they are an argument of `build`.
    Raises: TypeError when the type of a result cannot be inferred.
    """

    infers_types = True
    ends_blocks: ClassVar[bool] = True
    """Whether each of its blocks must end with a terminator."""
    infers_in_cpp: ClassVar[bool] = False
    """Whether C++ infers the types of results, so that its custom form may omit them."""
    omits_operand_types: ClassVar[bool] = False
    """Whether its custom form may omit types of operands that follow from nothing in it but their definitions."""
    untyped_attributes: ClassVar[frozenset[str]] = frozenset()
    """Attributes whose text may end with `: type`, whatever they are."""

    @property
    def is_annotated(self) -> bool:
        # They mean something to the tool that wrote them: a sharding, a scheduling hint.
        return bool(self.discardable)

    def violated(self, message: str) -> Diagnostic:
        """Returns an error: the operation contradicts its definition."""
        return Diagnostic(VIOLATED_CONSTRAINT, f"{self.name}: {message}")

    def malformed(self, message: str) -> Diagnostic:
        """Returns an error about a region."""
        return Diagnostic(MALFORMED_REGION, f"{self.name}: {message}")

    def infer_results(self) -> tuple[Type, ...] | None:
        """Returns the types of all results, if traits do not determine them; None when they are unknown."""
        return None

    @classmethod
    def examples(cls) -> Iterable[str]:
        """Yields functions that may fit the definition, for documentation, where its fields do not suffice to guess."""
        return ()

    def infer(self) -> tuple[Type, ...]:
        results = self.infer_results()
        if results is None:
            results = self._declared_types()
        if results is not None:
            return results
        typing = typing_of(self, None)
        deduce(self.type_rules, single_types(self.layout.results), typing)
        if any(f.name not in typing.types and not f.optional for f in self.layout.results):
            raise ResultTypesNotInferredError(self)
        return tuple(typing.all(typing.results))

    def _declared_types(self) -> tuple[Type, ...] | None:
        results = self.built_results
        return None if results is None else tuple([r.type for r in results])

    def trace_key(self) -> object:
        return self._declared_types()

    @property
    def properties(self) -> Mapping[str, Attribute]:
        # As MLIR prints them: sorted, with defaults, and without unset flags.
        unset = {f.spelling for f in self.layout.attributes if f.type is unit and not self.field_value(f)}
        out = {k: v for k, v in self.attribute_dictionary.items() if k not in self.extra and k not in unset}
        segments = super().properties.get(GROUP_SIZES)
        if segments is not None and not self.has_trait(SameVariadicOperandSize):
            out[GROUP_SIZES] = segments
        return dict(sorted(out.items()))


class FromData:
    """A mixin for definitions of constants that folding can build from data."""

    __slots__ = ()

    @classmethod
    def from_data(cls, data: Data, type: Type) -> Self | None:
        """Returns a constant of a type from its contents in the core; None for an unsupported type."""
        raise NotImplementedError


def attribute_from_data(data: Data, type: Type) -> Attribute | None:
    """Returns the attribute of a constant of a type from its contents in the core; None for an unsupported type."""
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


def single_types(fields: Sequence[Field]) -> dict[str, Type]:
    """Returns the types of fields that admit a single type."""
    return {
        f.name: f.pattern.builds
        for f in fields
        if isinstance(f.pattern, TypeConstraint) and f.pattern.builds is not None
    }
