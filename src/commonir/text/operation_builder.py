"""Builds operations from their parsed parts.

Operations are built without verification, which `ods.verify` does later. Flat operands, regions and successors are
divided among the fields of the definition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from commonir.base.codes import MALFORMED_REGION, WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.ir.attributes import Attribute, DenseArrayAttr, DictionaryAttr, StringAttr
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import FunctionType, Type
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import Dialects, Op
from commonir.ods.definition import ATTRIBUTE_REFERENCES, GROUP_SIZES
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.traits import SameVariadicOperandSize, SingleBlock, Terminator
from commonir.text.definitions import implicit_terminator
from commonir.text.lexer import SINCE, TokenStream
from commonir.text.name_scopes import NameScopes

if TYPE_CHECKING:
    from commonir.ods.declared import DeclaredOp


class OperationBuilder:
    """Finds definitions and builds operations; reports errors to the token stream."""

    def __init__(self, tokens: TokenStream, names: NameScopes, dialects: Dialects, versions: Mapping[str, str]) -> None:
        self._tokens = tokens
        self._names = names
        self.dialects = dialects
        self.versions = dict(versions)
        self._definitions: dict[str, type[Op] | None] = {}
        # By definition and number of operands, where the text has no group sizes.
        self._counts: dict[tuple[type[Op], int], tuple[int, ...]] = {}

    def set_version(self, dialect: str, version: str) -> None:
        """Sets the version of a dialect for the operations that follow."""
        self.versions[dialect] = version
        self._definitions.clear()

    def find(self, name: str, since: Attribute | None = None) -> type[Op] | None:
        """Returns the definition of an operation, in the version that the operation or the module requests."""
        if not isinstance(since, StringAttr) and name in self._definitions:
            return self._definitions[name]
        declared = since.value if isinstance(since, StringAttr) else self.versions.get(name.partition(".")[0], "")
        result = self.dialects.find(name, declared)
        if not isinstance(since, StringAttr):
            self._definitions[name] = result
        return result

    # -- building

    def create(
        self,
        name: str,
        operands: tuple[Value, ...],
        properties: dict[str, Attribute] | None,
        attributes: dict[str, Attribute],
        signature: FunctionType,
        regions: list[Region],
        start: int,
        successors: tuple[Block, ...] = (),
    ) -> Operation:
        """Builds an operation by name, without verification. `properties` is None where the text has none."""
        if name == Module.name:
            if len(regions) != 1:
                self._tokens.report(f"{name}: requires one region", start, MALFORMED_REGION)
            elif len(regions[0].blocks) != 1:
                message = f"{name}: its region must have one block, found {len(regions[0].blocks)}"
                self._tokens.report(message, start, MALFORMED_REGION)
            return Module.of_regions({**(properties or {}), **attributes}, regions)
        definition = self.find(name, attributes.pop(SINCE, None))
        if definition is None:
            declared = self._names.operators.get(name)
            if declared:
                return self._declared(declared, operands, properties or {}, attributes, signature, regions, start)
            return UnregisteredOperation(name, operands, attributes, signature.results, regions, properties=properties)
        fields = {f.spelling: f for f in definition.layout.attributes}
        if properties is not None and not fields and not properties:
            self._check_has_properties(definition, start)
        properties = {} if properties is None else properties
        sizes = properties.pop(GROUP_SIZES, attributes.pop(GROUP_SIZES, None))
        for key in properties:
            if key not in fields:
                help = did_you_mean(key, fields)
                self._tokens.report(f"{name}: '{key}' is not an attribute of it", start, WRONG_ATTRIBUTE, help)
        arguments: dict[str, object] = {}
        extra: dict[str, Attribute] = {}
        for key, value in {**properties, **attributes}.items():
            if key in fields:
                arguments[fields[key].name] = self.decoded(definition, fields[key], value, start)
            else:
                extra[key] = value
        arguments |= self.operand_arguments(definition, operands, sizes, start)
        arguments |= self.region_arguments(definition, regions, start)
        if successors or definition.layout.successors:
            arguments |= self.successor_arguments(definition, successors, start)
        return self.build(definition, arguments, signature.results, extra, start)

    def _check_has_properties(self, definition: type[Op], start: int) -> None:
        """Reports empty properties of a definition that has none: neither attributes nor sizes of groups."""
        if sum(f.variadic or f.optional for f in definition.layout.inputs) < 2:
            self._tokens.report(
                f"{definition.name}: this operation does not support properties", start, WRONG_ATTRIBUTE
            )

    def _declared(
        self,
        candidates: Sequence[type[DeclaredOp]],
        operands: tuple[Value, ...],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        signature: FunctionType,
        regions: list[Region],
        start: int,
    ) -> Operation:
        """Builds an operation of an operator that the text declares, with the overload that fits its operands."""
        from commonir.ods.declared import OperatorUse, choose  # noqa: PLC0415  few texts declare operators

        sizes = properties.pop(GROUP_SIZES, None)
        counts = tuple(map(int, sizes.values)) if isinstance(sizes, DenseArrayAttr) else None
        names = next((d.layout.regions for d in candidates if len(d.layout.regions) == len(regions)), ())
        bodies = {f.spelling: region for f, region in zip(names, regions, strict=False)}
        try:
            selected = choose(candidates, OperatorUse(operands, properties, counts, bodies, len(signature.results)))
        except DiagnosticError as error:
            self._tokens.diagnostics.extend([self._tokens.located(d, start) for d in error.diagnostics])
            merged = {**properties, **attributes}
            return UnregisteredOperation(candidates[0].name, operands, merged, signature.results, regions)
        return self.build(selected.definition, selected.arguments, signature.results, attributes, start)

    def build(
        self,
        definition: type[Op],
        arguments: Mapping[str, object],
        types: Sequence[Type],
        extra: Mapping[str, Attribute],
        at: int,
    ) -> Op:
        """Builds an operation at an offset; reports missing attributes only."""
        op = definition.build(arguments, types)
        for key, value in extra.items():
            op.set_extra(key, value)
        if any(v is MISSING for v in op.attribute_values):
            self.report_missing(op, at)
        return op

    def assemble(
        self,
        definition: type[Op],
        operands: tuple[Value, ...],
        counts: Sequence[int],
        arguments: Mapping[str, object],
        types: Sequence[Type],
        extra: Mapping[str, Attribute],
        at: int,
        regions: tuple[Region, ...] = (),
        successors: tuple[Block, ...] = (),
    ) -> Op:
        """Builds an operation without parameters from flat operands; `counts` has their number by field."""
        layout = definition.layout
        attributes = tuple([arguments.get(f.name, f.default) for f in layout.attributes]) if layout.attributes else ()
        op = definition.assembled(operands, offsets_of(definition, counts), attributes, regions, types)
        for key, value in extra.items():
            op.set_extra(key, value)
        for value in attributes:
            if value is MISSING:
                self.report_missing(op, at)
                break
        if successors:
            op.successors = successors
        return op

    def report_missing(self, op: Op, at: int) -> None:
        """Reports the missing attributes of an operation, except those of the function around that it refers to."""
        references = op.extra.get(ATTRIBUTE_REFERENCES)
        referred = {name for name, _ in references.entries} if isinstance(references, DictionaryAttr) else set[str]()
        for f, v in zip(op.layout.attributes, op.attribute_values, strict=True):
            if v is MISSING and f.spelling not in referred:
                self._tokens.report(f"{op.name}: requires attribute '{f.spelling}'", at, WRONG_ATTRIBUTE)

    def decoded(self, definition: type[Op], field: Field, value: Attribute, at: int) -> object:
        """Returns the Python value of a declared attribute; reports and returns an attribute of another type."""
        if field.type is None:
            return value
        try:
            return field.type.from_attribute(value)
        except ValueError as error:
            self._tokens.report(f"{definition.name}: attribute '{field.spelling}': {error}", at, WRONG_ATTRIBUTE)
            return value

    def end_region(self, definition: type[Op], region: Region) -> None:
        """Adds the implicit terminator of a region where the text omits it."""
        name = implicit_terminator(definition)
        if not region.blocks and (name or SingleBlock in definition.traits):
            region.add(Block())
        if not name:
            return
        last = region.blocks[-1].last
        if last is None or not _ends_block(last):
            built = self.create(name, (), None, {}, FunctionType((), ()), [], self._tokens.start)
            region.blocks[-1].append(built)

    # -- division among declared fields

    def operand_arguments(
        self, definition: type[Op], operands: tuple[Value, ...], sizes: Attribute | None, start: int
    ) -> dict[str, object]:
        """Divides flat operands among the declared fields."""
        inputs = definition.layout.inputs
        known = self._counts.get((definition, len(operands))) if sizes is None else None
        counts = self.group_counts(definition, len(operands), sizes, start) if known is None else known
        if sizes is None:
            self._counts[definition, len(operands)] = counts
        return self.by_field(inputs, counts, operands)

    @staticmethod
    def by_field(fields: Sequence[Field], counts: Sequence[int], operands: Sequence[Value]) -> dict[str, object]:
        """Returns the operands of each field by name; those of a variadic one as a tuple."""
        out: dict[str, object] = {}
        rest = iter(operands)
        for f, n in zip(fields, counts, strict=True):
            group = tuple(islice(rest, n))
            if f.variadic:
                out[f.name] = group
            elif group:
                out[f.name] = group[0]
        return out

    def group_counts(self, definition: type[Op], total: int, sizes: Attribute | None, start: int) -> tuple[int, ...]:
        """Returns the number of flat operands of each declared field."""
        inputs = definition.layout.inputs
        if isinstance(sizes, DenseArrayAttr):
            counts = [int(v) for v in sizes.values]
        else:
            flexible = [f for f in inputs if not f.is_required or f.kind is FieldKind.PARAMETER]
            alike = SameVariadicOperandSize in definition.traits
            if len(flexible) > 1 and total and not alike:
                message = f"{definition.name}: '{GROUP_SIZES}' must have the segment sizes of operands"
                self._tokens.fail(message, at=start, code=WRONG_ATTRIBUTE)
            spare = max(total - (len(inputs) - len(flexible)), 0)
            if alike and flexible:
                spare = spare // len(flexible)
            counts = [spare if f in flexible else 1 for f in inputs]
        fits = len(counts) == len(inputs) and sum(counts) == total and min(counts, default=0) >= 0
        if not fits or any(n > 1 and not f.variadic for f, n in zip(inputs, counts, strict=True)):
            message = f"{definition.name}: takes {plural(len(inputs), 'operand')}, found {total}"
            self._tokens.fail(message, at=start, code=WRONG_OPERAND_COUNT)
        return tuple(counts)

    def successor_arguments(self, definition: type[Op], blocks: Sequence[Block], start: int) -> dict[str, object]:
        """Divides successors among the declared fields."""
        return self._divided(definition, definition.layout.successors, blocks, "successors", start)

    def region_arguments(self, definition: type[Op], regions: Sequence[Region], start: int) -> dict[str, object]:
        """Divides regions among the declared fields."""
        return self._divided(definition, definition.layout.regions, regions, "regions", start)

    def _divided(
        self, definition: type[Op], fields: Sequence[Field], members: Sequence[object], what: str, start: int
    ) -> dict[str, object]:
        many = sum(f.variadic for f in fields)
        spare = len(members) - (len(fields) - many)
        if many > 1 or spare < 0 or (not many and spare):
            self._tokens.fail(f"{definition.name}: expected {len(fields)} {what}, found {len(members)}", at=start)
        rest = iter(members)
        return {f.name: tuple([next(rest) for _ in range(spare)]) if f.variadic else next(rest) for f in fields}


def offsets_of(definition: type[Op], counts: Sequence[int]) -> tuple[int, ...] | None:
    """Returns `Op.operand_offsets` for the number of operands of each field."""
    is_complete = definition.layout.is_plain and all(n == 1 for n in counts)
    return None if is_complete else (0, *accumulate(counts))


def _ends_block(op: Operation) -> bool:
    return isinstance(op, Op) and Terminator in op.traits
