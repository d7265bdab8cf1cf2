"""Operations that no dialect in use defines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Self

from commonir.ir.constant_text import Attribute
from commonir.ir.operation import Block, Region, Value
from commonir.ir.origins import Origin
from commonir.ir.printable import PrintableOperation
from commonir.ir.types import Type

_NO_ATTRIBUTES: Mapping[str, Attribute] = MappingProxyType({})


class UnregisteredOperation(PrintableOperation):
    """An operation that no dialect in use defines, stored as it was read: properties are separate from other
    attributes.

    `properties` is None when the text has none, which differs from an empty dictionary `<{}>`.
    """

    __slots__ = ("_properties", "name")

    name: str

    def __init__(
        self,
        name: str,
        operands: Iterable[Value] = (),
        attributes: Mapping[str, Attribute] = _NO_ATTRIBUTES,
        result_types: Iterable[Type] = (),
        regions: Iterable[Region] = (),
        location: Origin | None = None,
        properties: Mapping[str, Attribute] | None = None,
        successors: Iterable[Block] = (),
    ) -> None:
        super().__init__(operands, result_types, regions, location)
        # Per operation here, per class elsewhere.
        self.name = name  # pyright: ignore[reportIncompatibleVariableOverride]
        self._properties = properties
        self.successors = tuple(successors)
        if attributes:
            self._extra = dict(attributes)

    @property
    def properties(self) -> Mapping[str, Attribute]:
        return self._properties or _NO_ATTRIBUTES

    @property
    def has_properties(self) -> bool:
        return self._properties is not None

    @property
    def attribute_dictionary(self) -> Mapping[str, Attribute]:
        return {**self.properties, **self.extra}

    def clone_shallow(self, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Self:
        types = [r.type for r in self.results]
        result = type(self)(
            self.name, operands, self.extra, types, regions, self.location, self._properties, self.successors
        )
        for mine, its in zip(self.results, result.results, strict=True):
            its.name = mine.name
        return result
