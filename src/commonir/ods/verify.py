"""Verifies a program against the definitions of its operations and the rules for all programs, without changing it.

All violations are reported, in program order. A message has the label of the violated constraint, and the path of the
operation in the structure of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import inf
from typing import TYPE_CHECKING

from commonir.base.codes import (
    DUPLICATE_NAME,
    MALFORMED_REGION,
    NOT_CONSTANT,
    UNDEFINED_VALUE,
    UNKNOWN_OPERATION,
    UNTRUSTED_SHAPE,
    VIOLATED_TRAIT,
    WRONG_ATTRIBUTE,
    WRONG_OPERAND_COUNT,
    WRONG_RESULT_TYPE,
    WRONG_TYPE,
)
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Fix
from commonir.base.lazy import LazyModule
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.shared import Shared
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.ir.attributes import StringAttr
from commonir.ir.dominance import Dominance
from commonir.ir.module import Function, Module, Symbol
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import located_at
from commonir.ir.types import (
    ListType,
    MapType,
    SparseTensorType,
    TensorType,
    Type,
    have_like_parts,
    unknown,
)
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods.branching import Branch
from commonir.ods.dialect import Dialects
from commonir.ods.faults import with_operands
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.inference import Derived, check_use, infer, result_fields
from commonir.ods.known import known_data
from commonir.ods.mlir_op import MlirOp
from commonir.ods.operation import Op
from commonir.ods.ordering import SORTED, put_in_order, sorted_operations
from commonir.ods.patterns import as_value
from commonir.ods.traits import ConstantLike, GraphRegion, Inline, SymbolTable, Terminator
from commonir.ods.unknown_dialects import ACCEPTING, unknown_operation
from commonir.symbolic import compare

if TYPE_CHECKING:
    from commonir.ods import layouts
else:
    # Few programs have a data layout.
    layouts = LazyModule("commonir.ods.layouts")

_SEVERAL = 2
_LAYOUT = "dlti."
MAX_SUGGESTIONS = 20
"""How many findings about undefined names receive a suggestion, which compares a name with all that there are."""

Locate = Callable[[Operation, Diagnostic], Diagnostic]


def _at_path(op: Operation, diagnostic: Diagnostic) -> Diagnostic:
    return diagnostic.located(where=path_of(op))


def verify(root: Operation, dialects: Dialects, locate: Locate | None = None) -> list[Diagnostic]:
    """Returns all errors of a program, in order, up to `Limits.max_diagnostics`.

    `locate` adds the location of an operation to a diagnostic; by default, `path_of`.
    """
    locate = _at_path if locate is None else locate
    diagnostics = Diagnostics()
    visible: set[Value] = set()
    untrusted, orders, shared = UntrustedValues(), _Orders(), Shared()
    pending = [_BlockVisit(iter((root,)))]
    while pending:
        visit = pending[-1]
        for op in visit.rest(visible):
            is_untrusted = untrusted.propagate(op)
            if not (is_untrusted and visible.issuperset(op.operands)):
                candidates = visible if len(diagnostics) < MAX_SUGGESTIONS else ()
                is_defined = visible.issuperset(op.operands)
                own = [] if is_defined else list(_undefined(op, visible, candidates, orders))
                own += () if is_untrusted else _check(op, dialects, shared)
                wrong = [(op, d) for d in own]
                if op.regions:
                    wrong += _check_symbols(op)
                if wrong:
                    untrusted.record(op, [d for _, d in wrong])
                    if len(diagnostics) >= DEFAULT_LIMITS.max_diagnostics:
                        return list(diagnostics)
                    if len(diagnostics) >= MAX_SUGGESTIONS:
                        wrong = [(at, d.without_search()) for at, d in wrong]
                    room = DEFAULT_LIMITS.max_diagnostics - len(diagnostics)
                    diagnostics.extend([locate(at, d) for at, d in wrong[:room]])
            visible.update(op.results)
            if op.regions:
                pending += reversed([v for r in op.regions for v in _visits(r, is_graph=_may_be_graph(op, r))])
                break
        else:
            after = visit.dominated()
            pending += reversed(after)
            if not after:
                visit.leave(visible)
                pending.pop()
    return list(diagnostics)


class UntrustedValues:
    """Values with untrusted types, and values that depend on them: errors in these types are not reported again."""

    def __init__(self) -> None:
        self._values: set[Value] = set()

    def __len__(self) -> int:
        return len(self._values)

    def propagate(self, op: Operation) -> bool:
        """Returns whether an operation uses untrusted values; its results are untrusted then."""
        is_reached = bool(self._values) and not self._values.isdisjoint(op.operands)
        if is_reached:
            self._values.update(op.results)
        return is_reached

    def record(self, op: Operation, diagnostics: Iterable[Diagnostic]) -> None:
        """Records the results of an operation as untrusted if its diagnostics include an untrusted shape."""
        if any(d.code is UNTRUSTED_SHAPE for d in diagnostics):
            self._values.update(op.results)


class _BlockVisit:
    """A block that is being checked, and after it the blocks that it dominates.

    `known` are values that are visible in the whole block, besides its arguments.
    """

    __slots__ = ("_below", "_block", "_known", "_operations", "_rest")

    def __init__(
        self,
        operations: Iterator[Operation],
        block: Block | None = None,
        known: Iterable[Value] = (),
        below: Mapping[Block, Sequence[Block]] | None = None,
    ) -> None:
        self._operations = operations
        self._rest: Iterator[Operation] | None = None
        self._block = block
        self._known = [*known, *(() if block is None else block.arguments)]
        self._below = below

    def rest(self, visible: set[Value]) -> Iterator[Operation]:
        """Yields the operations that are not checked yet. Values visible from the beginning become visible."""
        if self._rest is None:
            self._rest = self._operations
            visible.update(self._known)
        return self._rest

    def dominated(self) -> list[_BlockVisit]:
        """Returns the dominated blocks to be checked next; none when called again."""
        below, self._below = self._below, None
        if below is None or self._block is None:
            return []
        return [_BlockVisit(block.operations, block, (), below) for block in below.get(self._block, ())]

    def leave(self, visible: set[Value]) -> None:
        """Removes the values that became visible in the block."""
        visible.difference_update(self._known)
        if self._block is not None:
            visible.difference_update([r for op in self._block.operations for r in op.results])


def _may_be_graph(op: Operation, region: Region) -> bool:
    """Returns whether a region of an operation may be a graph: that of an unknown operation, if it has one block."""
    if isinstance(op, Op):
        return op.has_trait(GraphRegion)
    return isinstance(op, Module) or len(region.blocks) < _SEVERAL


def _visits(region: Region, *, is_graph: bool) -> list[_BlockVisit]:
    """Returns the blocks of a region where checking begins."""
    if is_graph or len(region.blocks) < _SEVERAL:
        known = [r for b in region.blocks for op in b.operations for r in op.results] if is_graph else ()
        return [_BlockVisit(block.operations, block, known) for block in region.blocks]
    dominance = Dominance(region)
    entry = region.blocks[0]
    reachable = [_BlockVisit(entry.operations, entry, (), dominance.children())]
    # An unreachable block may use any value.
    unreachable = [b for b in region.blocks if not dominance.is_reachable(b)]
    values = [v for b in region.blocks for v in (*b.arguments, *(r for op in b.operations for r in op.results))]
    return [*reachable, *[_BlockVisit(b.operations, b, values) for b in unreachable]]


def path_of(op: Operation) -> str:
    """Returns the path of an operation: `main.block[CoreML7].operations[12] 'conv_3'`."""
    at: Operation | None = op
    while at is not None:
        path = at.path_to(op) if isinstance(at, Op) else None
        if path is not None:
            return path
        at = at.parent_op
    parts: list[str] = []
    at = op
    while at is not None:
        block = at.parent
        if isinstance(at, Symbol):
            # A reader leaves the name empty if the text has none.
            parts.append(str(at.symbol_name))
        elif isinstance(at, Module) and isinstance(at.parent_op, Module):
            parts.append(f"modules[{at.parent_op.modules.index(at)}]")
        elif block is not None:
            name = at.first_name or at.source_name
            parts.append(f"operations[{block.positions(_is_listed)[at]}]" + (f" '{name}'" if name else f" {at.name}"))
        if block is not None and block.parent is not None and block.parent.parent is not None:
            parent = block.parent.parent
            if block.label or len(parent.regions) > 1:
                parts.append(f"block[{block.label or parent.regions.index(block.parent)}]")
        at = at.parent_op
    return ".".join(reversed(parts))


def source_path(op: Operation) -> str:
    """Returns the function and the name of the source operation that a lowered operation comes from: `rank0 'conv'`.

    An operation that is not lowered, or comes from one without a name, has its path, as by `path_of`.
    """
    origin = op.location
    if origin is None or origin.file or not origin.name:
        return path_of(op)
    function = next((at for at in op.ancestors() if isinstance(at, Symbol)), None)
    return f"'{origin.name}'" if function is None else f"{function.symbol_name} '{origin.name}'"


def _is_listed(op: Operation) -> bool:
    """Returns whether an operation is one of those that a program lists, and that have a number."""
    return not (isinstance(op, Op) and Inline in op.traits)


def _undefined(
    op: Operation, visible: set[Value], candidates: Iterable[Value], orders: _Orders
) -> Iterator[Diagnostic]:
    for n, v in enumerate(op.operands):
        if v not in visible:
            yield undefined_operand(op, n, v, candidates, orders.fix(op, v))


def undefined_operand(
    op: Operation, n: int, value: Value, candidates: Iterable[Value] = (), fix: Fix | None = None
) -> Diagnostic:
    """Returns the error for an operand that no operation before it defines; `candidates` are values it may refer to."""
    help = "`cir opt` puts the operations in order" if _may_move(op, value) else None
    reason = "is used before it is defined"
    if value.owner is None:
        reason, help = "is not defined", did_you_mean(value.name, sorted({v.name for v in candidates}))
    name = f" '{value.name}'" if value.name else ""
    return Diagnostic(UNDEFINED_VALUE, f"{op.name}: operand {n}{name} {reason}", help=help, fix=fix)


class _Orders:
    """The fixes that sort the operations of a block, each computed once for all operations that need it."""

    def __init__(self) -> None:
        self._fixes: dict[tuple[Block, bool], Fix | None] = {}

    def fix(self, op: Operation, value: Value) -> Fix | None:
        """Returns the fix for an operation that uses a value too early; None if no order is right."""
        block = None if value.defining_op is None else value.defining_op.parent
        if block is None or block not in [outer.parent for outer in (op, *op.ancestors())]:
            return None
        key = block, _may_move(op, value)
        if key not in self._fixes:
            self._fixes[key] = _ordering(*key)
        return self._fixes[key]


def _ordering(block: Block, ordered_by_data: bool) -> Fix | None:
    """Returns the fix that sorts a block, which operations with effects leave in their order; None if none does."""
    if block.parent is None or len(block.parent.blocks) > 1:
        return None
    order = sorted_operations(block, ordered_by_data=ordered_by_data)
    return Fix(SORTED, partial(put_in_order, block, order), block) if order else None


def _may_move(op: Operation, value: Value) -> bool:
    """Returns whether an operation may be moved after the definition of a value that it uses too early."""
    parent = op.parent_op
    while parent is not None and not isinstance(parent, Function):
        parent = parent.parent_op
    return isinstance(parent, Function) and parent.ordered_by_data and value.defining_op is not None


def _check(op: Operation, dialects: Dialects, shared: Shared) -> list[Diagnostic]:
    result: list[Diagnostic] = []
    not_ended = list(_not_ended(op)) if op.regions and isinstance(op, MlirOp) else []
    if not_ended:
        # Other errors in its blocks may be consequences.
        result += not_ended
    elif isinstance(op, Op):
        result += check_operation(op, shared=shared)
    else:
        result += _check_undefined(op, dialects)
    if op.regions or op.successors:
        result += _check_blocks(op)
    return result


def _check_undefined(op: Operation, dialects: Dialects) -> Iterator[Diagnostic]:
    """Yields errors of an operation that has no definition."""
    if isinstance(op, Module):
        name = op.properties.get("sym_name")
        if name is not None and not isinstance(name, StringAttr):
            yield Diagnostic(WRONG_ATTRIBUTE, f"{op.name}: attribute 'sym_name' must be a string, found {name}")
        blocks = [len(region.blocks) for region in op.regions]
        if any(count > 1 for count in blocks):
            yield Diagnostic(MALFORMED_REGION, f"{op.name}: expects a region of at most one block, found {max(blocks)}")
        for name in op.discardable:
            if "." not in name:
                message = f"{op.name}: can only contain attributes with dialect-prefixed names, found '{name}'"
                yield Diagnostic(WRONG_ATTRIBUTE, message)
    if isinstance(op, UnregisteredOperation):
        is_known = dialects.get(op.name.partition(".")[0]) is not None
        if is_known or not dialects.allows_unregistered:
            help = unknown_operation(op.name, dialects, ACCEPTING)
            yield Diagnostic(UNKNOWN_OPERATION, f"unknown operation '{op.name}'", help=help)
    yield from _check_layouts(op)


def _check_layouts(op: Operation) -> Iterator[Diagnostic]:
    """Yields errors of undeclared layout attributes."""
    for name, value in op.extra.items():
        if name.startswith(_LAYOUT):
            yield from layouts.check_layout(op, name, value)


def _not_ended(op: MlirOp) -> Iterator[Diagnostic]:
    """Yields errors of blocks that need a terminator and whose last operation is known not to be one."""
    for block in [block for region in op.regions for block in region.blocks] if op.ends_blocks else ():
        if block.last is None or (isinstance(block.last, Op) and not block.last.has_trait(Terminator)):
            yield not_ended(op, block)


def not_ended(op: Operation, block: Block) -> Diagnostic:
    """Returns the error that a block of an operation does not end with a terminator, at its last operation."""
    last = block.last
    if last is None:
        return Diagnostic(MALFORMED_REGION, f"{op.name}: empty block, which needs a terminator")
    diagnostics = Diagnostic(MALFORMED_REGION, f"{op.name}: block with no terminator, has {last.name}")
    return located_at(diagnostics, last.location)


def _check_blocks(op: Operation) -> Iterator[Diagnostic]:
    """Yields errors in the order of blocks."""
    for n, region in enumerate(op.regions):
        if any(region.blocks[0] in block.successors for block in region.blocks):
            message = f"{op.name}: entry block of region {n} may not have predecessors"
            yield Diagnostic(MALFORMED_REGION, message)
        if len(region.blocks) < _SEVERAL:
            continue
        for block in region.blocks:
            last = block.last
            if last is None or (isinstance(last, Op) and not last.has_trait(Terminator)):
                ends = "is empty" if last is None else f"ends with {last.name}"
                yield Diagnostic(
                    MALFORMED_REGION, f"{op.name}: a block of region {n} {ends}, which is not a terminator"
                )
    for n, block in enumerate(op.successors):
        if op.parent is None or block.parent is not op.parent.parent:
            yield Diagnostic(MALFORMED_REGION, f"{op.name}: successor {n} is a block of another region")
        elif isinstance(op, Branch):
            types, expected = [v.type for v in op.successor_operands(n)], [a.type for a in block.arguments]
            if types != expected:
                shown = ", ".join(map(str, types)), ", ".join(map(str, expected))
                message = f"{op.name}: successor {n} receives ({shown[0]}), but its block has arguments ({shown[1]})"
                yield Diagnostic(WRONG_TYPE, message)


def _check_symbols(op: Operation) -> Iterator[tuple[Operation, Diagnostic]]:
    """Yields errors for operations that define a name again; an unknown operation may not be a symbol table."""
    is_table = isinstance(op, Module) or (isinstance(op, Op) and op.has_trait(SymbolTable))
    for region in () if isinstance(op, UnregisteredOperation) else op.regions:
        for block in region.blocks:
            seen: set[tuple[str, str]] = set()
            for child in block.operations:
                if isinstance(child, Symbol | Module):
                    name = child.symbol_name
                else:
                    # In MLIR, the attribute makes any operation in a symbol table a symbol.
                    attr = child.attribute_dictionary.get("sym_name") if is_table else None
                    name = attr.value if isinstance(attr, StringAttr) else None
                if name:
                    key = child.namespace if isinstance(child, Symbol) else "", name
                    if key in seen:
                        yield child, Diagnostic(DUPLICATE_NAME, f"'{name}' is defined twice")
                    seen.add(key)


class _Needs:
    """The requirements of a definition, computed once.

    `constants`: whether operands must be constant. `regions`: their number; None for any. `checks`: names of traits
    with their checks. `least_results` and `most_results` bound the number of declared results. `verifies`: whether it
    has checks of its own.
    """

    __slots__ = ("checks", "constants", "least_results", "most_results", "regions", "verifies")

    def __init__(self, definition: type[Op]) -> None:
        layout = definition.layout
        self.constants = any(f.kind is FieldKind.PARAMETER or f.constant for f in layout.inputs)
        self.regions = None if any(f.variadic for f in layout.regions) else len(layout.regions)
        self.checks = [(t.name, t.check) for t in definition.traits if t.check is not None]
        self.least_results = sum(not (f.optional or f.variadic) for f in layout.results)
        self.verifies = definition.verify is not Op.verify
        self.most_results = inf if any(f.variadic for f in layout.results) else len(layout.results)


@lru_cache(1 << 12)
def _needs_of(definition: type[Op]) -> _Needs:
    return _Needs(definition)


def check_operation(
    op: Op, *, inferring: bool = True, derived: Derived | None = None, shared: Shared | None = None
) -> list[Diagnostic]:
    """Returns all errors of one operation by its definition, without its location.

    Without `inferring`, neither the types of its results are checked, nor constraints that only its meaning implies.
    `derived` is the result of an earlier inference, if any; `shared` has what the checks of a program share.
    """
    result: list[Diagnostic] = []
    needs = _needs_of(type(op))
    for f in not_constant(op) if needs.constants else ():
        message = f"{op.name}: '{f.spelling}' must be constant"
        result.append(Diagnostic(NOT_CONSTANT, message, help="compute it before building the program"))
    if needs.regions is not None and len(op.regions) != needs.regions:
        message = f"{op.name}: expected {needs.regions} regions, found {len(op.regions)}"
        result.append(Diagnostic(MALFORMED_REGION, message))
    if op.infers_types and not needs.least_results <= len(op.results) <= needs.most_results:
        message = f"{op.name}: requires {len(op.layout.results)} results, found {len(op.results)}"
        return [Diagnostic(WRONG_RESULT_TYPE, message)]
    if not result or not any(d.is_error for d in result):
        try:
            if inferring:
                result += check_results(op, (derived or infer(op)).types)
            else:
                check_use(op)
        except DiagnosticError as error:
            result += [with_operands(op, d) for d in error.diagnostics]
    for name, check in needs.checks:
        result += [Diagnostic(VIOLATED_TRAIT, f"{op.name}: {name}: {message}") for message in check(op)]
    # `Op.verify` relies on operands, attributes and regions and on the types of operands, which are not checked if one
    # is not constant.
    if op.extra:
        result += _check_layouts(op)
        result += op.verify_extra()
    if not needs.verifies:
        return result
    for v in op.attribute_values:
        if v is MISSING:
            return result
    if not result or not any(d.code in _PRECONDITIONS for d in result):
        result += op.verify_sharing(Shared() if shared is None else shared)
    return result


_PRECONDITIONS = (
    MALFORMED_REGION,
    NOT_CONSTANT,
    WRONG_ATTRIBUTE,
    WRONG_OPERAND_COUNT,
    WRONG_RESULT_TYPE,
    WRONG_TYPE,
)


def _is_constant(value: Value) -> bool:
    """Returns whether a constant operation defines a value, even if its contents cannot be read."""
    owner = value.owner
    return isinstance(owner, Op) and owner.has_trait(ConstantLike)


def not_constant(op: Op) -> Iterator[Field]:
    """Yields the fields of operands that must be constant and are not."""
    for f, v in _must_be_constant(op):
        if known_data(v) is None and not _is_constant(v):
            yield f


def _must_be_constant(op: Op) -> Iterator[tuple[Field, Value]]:
    for f in op.layout.inputs:
        values = op.bound_value(f) if f.kind is FieldKind.PARAMETER else op.field_value(f) if f.constant else None
        for v in (values,) if isinstance(values, Value) else values or ():
            yield f, v


def check_results(op: Op, inferred: tuple[Type, ...]) -> list[Diagnostic]:
    """Compares the declared types of results with the inferred ones. Optional results at the end may be missing."""
    results = op.results
    if len(results) == len(inferred) == 1 and results[0].type is inferred[0]:
        return []
    missing = len(inferred) - len(results)
    if missing and (missing < 0 or not _are_optional(op, inferred)):
        message = f"{op.name}: expected {plural(len(inferred), 'result')}, found {len(results)}"
        return [Diagnostic(WRONG_RESULT_TYPE, message, notes=_returned(op))]
    wrong: list[Diagnostic] = []
    for n, (r, t) in enumerate(zip(results, inferred, strict=False)):
        if r.type is not t and not are_compatible(r.type, t) and not op.may_declare(n, r.type):
            name = f" '{r.name}'" if r.name else ""
            is_shape = not op.keeps_declared_shapes and differ_in_shape(r.type, t)
            message = f"{op.name}: result{name} is declared {r.type}, but the definition gives {t}"
            fix = Fix(f"declared{name} as {t}, which follows from {op.name}", partial(r.retype, t))
            wrong.append(Diagnostic(UNTRUSTED_SHAPE if is_shape else WRONG_RESULT_TYPE, message, fix=fix))
    return wrong


def _returned(op: Op) -> list[str]:
    """Returns the values that each block of an operation returns, where that decides its results."""
    out: list[str] = []
    for f, region in zip(op.layout.regions, op.regions, strict=False):
        last = region.blocks[-1].last if region.blocks else None
        if isinstance(last, Op) and last.has_trait(Terminator):
            values = [f"'{v.name}'" if v.name else str(v.type) for v in last.operands]
            out.append(f"block '{f.spelling}' returns {', '.join(values) or 'nothing'}")
    return out


def differ_in_shape(declared: Type, inferred: Type) -> bool:
    """Returns whether two incompatible types would be compatible with other shapes of tensors in them."""
    return are_compatible(_without_shapes(declared), inferred)


def _without_shapes(type: Type) -> Type:
    if isinstance(type, TensorType):
        return type.with_shape(None)
    if isinstance(type, ListType):
        return ListType(_without_shapes(type.element))
    return type.with_parts(tuple(map(_without_shapes, type.parts))) if type.parts else type


def _are_optional(op: Op, inferred: tuple[Type, ...]) -> bool:
    """Returns whether all missing results of an operation are optional."""
    return all(f.optional for f, _ in result_fields(op.layout.results, inferred)[len(op.results) :])


def are_compatible(declared: Type, inferred: Type) -> bool:
    """Returns whether two types may be those of one value: unknown is compatible with all, and dims are if they may be
    equal.
    """
    if declared is inferred or unknown in (declared, inferred):
        return True
    if isinstance(declared, ListType) and isinstance(inferred, ListType):
        lengths = (declared.length, inferred.length)
        return (None in lengths or lengths[0] == lengths[1]) and are_compatible(declared.element, inferred.element)
    if isinstance(declared, MapType) and isinstance(inferred, MapType):
        return all(map(are_compatible, map(as_value, declared.parts), map(as_value, inferred.parts)))
    if have_like_parts(declared, inferred):
        return all(map(are_compatible, declared.parts, inferred.parts))
    if isinstance(declared, SparseTensorType) and isinstance(inferred, SparseTensorType):
        return are_compatible(declared.dense, inferred.dense)
    if not isinstance(declared, TensorType) or not isinstance(inferred, TensorType):
        return False
    if declared.element is not inferred.element:
        return False
    if declared.shape is None or inferred.shape is None:
        return True
    if len(declared.shape) != len(inferred.shape):
        return False
    return all(
        a is None or b is None or compare(a, b) is not False
        for a, b in zip(declared.shape, inferred.shape, strict=True)
    )
