"""How the flat operands, regions and successors of a text divide among those that a definition declares, and what the
forms of operations are made of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.limits import Limits
from commonir.ir.attributes import Attribute, DenseArrayAttr, FloatAttr, IntegerAttr
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ElementType, Type
from commonir.ods import Op
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.fields import FieldKind
from commonir.ods.text_form import Use
from commonir.ods.traits import SameVariadicOperandSize
from commonir.text.constants import ConstantReader

_INTEGERS = re.compile(r"\[(-?\d{1,18}(?:, ?-?\d{1,18})*+)\]")


class GroupReader(ConstantReader):
    """The part of the parser that knows of definitions, and of no program."""

    def __init__(self, source: str, file: str, limits: Limits, lines_before: int = 0) -> None:
        # By definition and number of operands, where nothing else says how they divide.
        self._counts: dict[tuple[type[Op], int], tuple[int, ...]] = {}
        super().__init__(source, file, limits, lines_before)

    def grouped(
        self, definition: type[Op], operands: tuple[Value, ...], sizes: Attribute | None, start: int
    ) -> dict[str, object]:
        """Divides flat operands among the declared ones."""
        inputs = definition.layout.inputs
        known = self._counts.get((definition, len(operands))) if sizes is None else None
        counts = self.group_counts(definition, len(operands), sizes, start) if known is None else known
        if sizes is None:
            self._counts[definition, len(operands)] = counts
        out: dict[str, object] = {}
        rest = iter(operands)
        for f, n in zip(inputs, counts, strict=True):
            group = tuple([next(rest) for _ in range(n)])
            if f.variadic:
                out[f.name] = group
            elif group:
                out[f.name] = group[0]
        return out

    def group_counts(self, definition: type[Op], total: int, sizes: Attribute | None, start: int) -> tuple[int, ...]:
        """How many of a number of operands belong to each declared one."""
        inputs = definition.layout.inputs
        if isinstance(sizes, DenseArrayAttr):
            counts = [int(v) for v in sizes.values]
        else:
            flexible = [f for f in inputs if not f.is_required or f.kind is FieldKind.PARAMETER]
            alike = SameVariadicOperandSize in definition.traits
            if len(flexible) > 1 and total and not alike:
                message = f"{definition.name}: '{GROUP_SIZES}' must say how operands divide"
                self.fail(message, at=start, code=WRONG_ATTRIBUTE)
            spare = max(total - (len(inputs) - len(flexible)), 0)
            if alike and flexible:
                spare = spare // len(flexible)
            counts = [spare if f in flexible else 1 for f in inputs]
        fits = len(counts) == len(inputs) and sum(counts) == total and min(counts, default=0) >= 0
        if not fits or any(n > 1 and not f.variadic for f, n in zip(inputs, counts, strict=True)):
            message = f"{definition.name}: takes {len(inputs)} operands, found {total}"
            self.fail(message, at=start, code=WRONG_OPERAND_COUNT)
        return tuple(counts)

    def destinations(self, definition: type[Op], blocks: Sequence[Block], start: int) -> dict[str, object]:
        """Divides successors among the declared ones."""
        fields = definition.layout.successors
        many = sum(f.variadic for f in fields)
        spare = len(blocks) - (len(fields) - many)
        if many > 1 or spare < 0 or (not many and spare):
            self.fail(f"{definition.name}: expected {len(fields)} successors, found {len(blocks)}", at=start)
        rest = iter(blocks)
        return {f.name: tuple([next(rest) for _ in range(spare)]) if f.variadic else next(rest) for f in fields}

    def divided_regions(self, definition: type[Op], regions: list[Region], start: int) -> dict[str, object]:
        fields = definition.layout.regions
        many = sum(f.variadic for f in fields)
        spare = len(regions) - (len(fields) - many)
        if many > 1 or spare < 0 or (not many and spare):
            message = f"{definition.name}: expected {len(fields)} regions, found {len(regions)}"
            self.fail(message, at=start)
        rest = iter(regions)
        return {f.name: tuple([next(rest) for _ in range(spare)]) if f.variadic else next(rest) for f in fields}

    # -- what forms are made of

    def use(self) -> Use:
        """Reads `%name` or `%name#n`."""
        at = self.start
        name = self.expect_kind("value", "a value '%name'")
        if self.kind == "attribute" and self.text[1:].isdigit():
            name += self.advance()
        return Use(name, at)

    def uses(self) -> list[Use]:
        """Reads values separated by commas, perhaps none."""
        if self.kind != "value":
            return []
        out = [self.use()]
        while self.take(","):
            out.append(self.use())
        return out

    def typed_attribute(self, type: Type | None) -> Attribute:
        """Reads an attribute whose type is known, so that its text leaves it out."""
        result = self.attribute()
        if isinstance(result, IntegerAttr) and isinstance(type, ElementType):
            return IntegerAttr(result.value, type)
        if isinstance(result, FloatAttr) and isinstance(type, ElementType):
            return FloatAttr(result.value, type)
        return result

    def plain_integers(self) -> list[int] | None:
        """Reads `[1, -2]` in one step; None, and nothing is moved, where something else stands."""
        found = _INTEGERS.match(self.source, self.start)
        if found is None:
            return None
        self.move_to(found.end())
        return [*map(int, found[1].split(","))]

    def bracketed(self) -> str:
        """Reads what stands in angle brackets, and returns it with them."""
        if not self.at("<"):
            self.unexpected("'<'")
        self.end = self.start
        return f"<{self.body()}>"
