"""References of records: finds the text, parses it, and checks its names against the fields of the operation.

The loop nest of EDSC that the proposal shows is read as the same notation; other C++ is only stored.
Source: MLIR operation definitions, the proposal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from commonir.base.diagnostics import DiagnosticError
from commonir.base.file_codes import WRONG_DEFINITION_RECORD
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.ir.types import ELEMENT_TYPES
from commonir.notation.functions import FUNCTIONS
from commonir.ods.fields import Field, FieldKind
from commonir.ods.from_records.reference_calls import Callee, expanded
from commonir.ods.from_records.reference_text import (
    ALIASES,
    FOLD_NAMES,
    OPERATORS,
    Assignment,
    Call,
    Items,
    Name,
    Node,
    Read,
    Reference,
    ReferenceFault,
    parsed_reference,
    reads_of,
)
from commonir.ods.from_records.values import flat_traits, text_of, texts_of
from commonir.tablegen import Record
from commonir.tablegen.lexer import Location

_CPP = re.compile(r"\bauto\b|::|->|\breturn\b|[{}]")
_LOOP_NEST = re.compile(r"ForNest\s*\(\s*(\w+)\s*,\s*0\s*,\s*(\w+)Shape\s*,\s*1\s*,\s*\{(.*?)\}", re.DOTALL)
_MAX_CALLS = 50
_NOT_CALLED = " cannot be called: "
_BROADCASTING = frozenset(["BroadcastableOperandsAndResultType", "ResultsBroadcastableShape"])
_ARITY: Mapping[str, tuple[int, int]] = {
    "cast": (2, 2),
    "concat": (2, 1000),
    "dilate": (2, 2),
    "dim": (2, 2),
    "flat": (1, 1),
    "pad": (3, 4),
    "rank": (1, 1),
    "select": (3, 3),
    "size": (1, 1),
}
"""The least and most arguments of functions that are not those of index notation."""


class Others:
    """The references that other references may call, each expanded once.

    `find` returns the operation record of a name with its fields.
    """

    def __init__(self, find: Callable[[str], tuple[Record, Mapping[str, Field]] | None]) -> None:
        self.find = find
        self.callees: dict[str, Callee | ReferenceFault] = {}


def reference_of(
    record: Record, fields: Mapping[str, Field], others: Others, callers: tuple[Record, ...] = ()
) -> Reference | None:
    """Returns the reference of a record; None if it has none, or one in C++.

    `callers` are the records whose references call it.
    Raises: DiagnosticError (E0264) at the place of the fault.
    """
    text = text_of(record, "reference")
    source = _of_loop_nest(text) if is_cpp(text) else text
    if not source.strip():
        return None
    try:
        parsed = parsed_reference(source)
        if _is_broadcasting(record):
            parsed = parsed.replaced(broadcast=frozenset(parsed.wildcards))
        operands = frozenset([f.spelling for f in fields.values() if f.kind is FieldKind.OPERAND])
        parsed = expanded(parsed, lambda call: _callee(call, others, (*callers, record)), operands)
        for fault in _faults(parsed, fields):
            raise fault
        for name in sorted(parsed.broadcast - set(parsed.wildcards)):
            raise ReferenceFault(f"'broadcast {name}' needs a wildcard '{name}...', which nothing reads", 0)
    except ReferenceFault as fault:
        place = _place(record, source, fault.at) if source is text else record.locations[0]
        message = f"'{record.name_text}': reference: {fault}"
        raise DiagnosticError(place.diagnostic(WRONG_DEFINITION_RECORD, message)) from None
    return parsed


def _callee(call: Call, others: Others, callers: tuple[Record, ...]) -> Callee | None:
    """Returns the reference that a call names; None for a function of index notation."""
    name = call.name
    known = None if name in FUNCTIONS or name in ALIASES or name in FOLD_NAMES or name in _ARITY else others.find(name)
    if known is None:
        return None
    if known[0] in callers:
        raise ReferenceFault(f"the reference of '{name}' leads back to it", call.at)
    if len(callers) == _MAX_CALLS:
        raise ReferenceFault(f"references call each other more than {_MAX_CALLS} deep", call.at)
    if name not in others.callees:
        try:
            others.callees[name] = _as_callee(*known, others, callers)
        except ReferenceFault as fault:
            others.callees[name] = fault
        except DiagnosticError as error:
            reason = error.diagnostics[0].message.partition("reference: ")[2]
            others.callees[name] = ReferenceFault(reason.rpartition(_NOT_CALLED)[2], 0)
    result = others.callees[name]
    if isinstance(result, ReferenceFault):
        raise ReferenceFault(f"'{name}'{_NOT_CALLED}{result}", call.at)
    return result


def _as_callee(record: Record, fields: Mapping[str, Field], others: Others, callers: tuple[Record, ...]) -> Callee:
    reference = reference_of(record, fields, others, callers)
    results = [f.spelling for f in fields.values() if f.kind is FieldKind.RESULT]
    if reference is None or len(results) != 1:
        has = "no reference in index notation" if reference is None else plural(len(results), "result")
        raise ReferenceFault(f"it has {has}", 0)
    kinds = (FieldKind.OPERAND, FieldKind.ATTRIBUTE)
    arguments = {f.spelling: f.kind is FieldKind.OPERAND for f in fields.values() if f.kind in kinds}
    return Callee(arguments, results[0], reference)


def is_cpp(text: str) -> bool:
    """Returns whether a reference is C++."""
    return _CPP.search(text) is not None


def has_cpp_reference(record: Record) -> bool:
    """Returns whether the reference of a record is C++ that is not read."""
    text = text_of(record, "reference")
    return is_cpp(text) and not _of_loop_nest(text)


def _is_broadcasting(record: Record) -> bool:
    """Returns whether the operands of a record broadcast, and with them the wildcards of its reference."""
    names = {*texts_of(record, "traits"), *[each.name_text for each in flat_traits(record)]}
    return not names.isdisjoint(_BROADCASTING)


def _of_loop_nest(text: str) -> str:
    """Returns the statements of a loop nest over the shape of an operand, in index notation; "" for any other C++."""
    match = _LOOP_NEST.search(text)
    if match is None:
        return ""
    at = re.escape(match[1])
    return re.sub(rf"\[\s*{at}\s*\]", f"[{match[1]}...]", match[3]).strip()


def _place(record: Record, source: str, at: int) -> Location:
    """Returns the position of an offset in the reference; that of the record if the text is computed."""
    # The text is in the record, or in a class that it derives from.
    for place in (record.locations[0], record.fields["reference"].location):
        start = place.file.text.find(source, place.offset)
        if start >= 0:
            return Location(place.file, start + at)
    return record.locations[0]


def _faults(reference: Reference, fields: Mapping[str, Field]) -> Iterator[ReferenceFault]:
    by_spelling = {f.spelling: f for f in fields.values() if f.kind in (FieldKind.OPERAND, FieldKind.ATTRIBUTE)}
    results = [f.spelling for f in fields.values() if f.kind is FieldKind.RESULT]
    assigned: set[str] = set()
    for assignment in reference.assignments:
        if assignment.name in assigned or assignment.name in by_spelling:
            yield ReferenceFault(f"'{assignment.name}' is given twice", assignment.at)
        yield from _faults_of_axes(assignment)
        bound = {axis.name for axis in assignment.axes if isinstance(axis, Name)}
        bound |= {name for name, _ in assignment.extents}
        known = _Known(by_spelling.keys(), {a.name for a in reference.assignments} - set(results), assigned)
        for node in (assignment.body, *[extent for _, extent in assignment.extents]):
            yield from known.faults(node, bound)
        assigned.add(assignment.name)
    for requirement in reference.requirements:
        known = _Known(by_spelling.keys(), assigned - set(results), assigned)
        for node in (requirement.left, requirement.right):
            yield from known.faults(node, set())
    yield from _faults_of_broadcasting(reference)
    missing = [name for name in results if name not in assigned]
    if missing:
        yield ReferenceFault(f"result '{missing[0]}' is not given", 0)


def _faults_of_broadcasting(reference: Reference) -> Iterator[ReferenceFault]:
    """Yields reads of helpers at wildcards that broadcast, if the helper has other axes, which do not."""
    helpers = {a.name: {x.name for x in a.axes if isinstance(x, Name)} for a in reference.assignments}
    for read in reads_of(reference):
        axes = helpers.get(read.of.name) if isinstance(read.of, Name) else None
        wild = {p.name for p in read.positions if isinstance(p, Name) and p.is_wildcard}
        for name in sorted(wild & reference.broadcast - axes) if axes is not None else ():
            yield ReferenceFault(
                f"'{name}...' broadcasts: only operands, and helpers with this axis, are read at it", read.at
            )


def _faults_of_axes(assignment: Assignment) -> Iterator[ReferenceFault]:
    seen: set[str] = set()
    for axis in assignment.axes:
        if isinstance(axis, Name):
            if axis.name in seen:
                yield ReferenceFault(f"index '{axis.name}' stands for two axes", axis.at)
            seen.add(axis.name)
        elif getattr(axis, "value", None) != 1:
            yield ReferenceFault("an axis is an index, a wildcard 'i...', or 1", axis.at)


class _Known:
    """The names that expressions may use."""

    def __init__(self, fields: AbstractSet[str], helpers: AbstractSet[str], before: AbstractSet[str]) -> None:
        self.fields = fields
        self.helpers = helpers
        self.before = set(before)

    def faults(self, node: Node, bound: AbstractSet[str]) -> Iterator[ReferenceFault]:
        """Yields faults of an expression in which some indices are bound."""
        match node:
            case Name(name=name, at=at):
                if name not in bound and name not in self.fields and name not in self.before:
                    yield self._unknown(name, at, bound)
            case Items(items=items):
                for item in items:
                    yield from self.faults(item, bound)
            case Read(of=of, positions=positions):
                for each in (of, *positions):
                    yield from self.faults(each, bound)
            case Call():
                yield from self._faults_of_call(node, bound)
            case _:
                pass

    def _unknown(self, name: str, at: int, bound: AbstractSet[str]) -> ReferenceFault:
        if name in self.helpers:
            return ReferenceFault(f"'{name}' is used before it is given", at)
        help = did_you_mean(name, [*self.fields, *self.before, *bound])
        return ReferenceFault(
            f"'{name}' is neither an index, an operand nor an attribute{f': {help}' if help else ''}", at
        )

    def _faults_of_call(self, node: Call, bound: AbstractSet[str]) -> Iterator[ReferenceFault]:
        name, arguments = node.name, node.arguments
        count = len(arguments)
        first = arguments[0] if arguments else None
        is_free = isinstance(first, Name) and first.name not in bound | self.fields | self.before
        if name in FOLD_NAMES and (is_free or name not in ("max", "min")):
            over = arguments[:-1]
            if not over or not all(isinstance(each, Name) for each in over):
                yield ReferenceFault(f"{name}(..) takes indices and an expression", node.at)
                return
            for each in over:
                if isinstance(each, Name):
                    if each.name in bound:
                        yield ReferenceFault(f"'{each.name}' is an index already: {name}(..) takes new ones", each.at)
                    bound = bound | {each.name}
            yield from self.faults(arguments[-1], bound)
            return
        if name == "concat" and isinstance(first, Name):
            bound = bound | {first.name}
        function = FUNCTIONS.get(ALIASES.get(name, name))
        least, most = _ARITY.get(name, (0, 0) if function is None else (function.arity, function.arity))
        if name in OPERATORS:
            least, most = 2, 2
        if most == 0:
            help = did_you_mean(name, [*FUNCTIONS, *ALIASES, *FOLD_NAMES, *_ARITY])
            yield ReferenceFault(f"unknown function '{name}'{f': {help}' if help else ''}", node.at)
        elif not least <= count <= most:
            expected = str(least) if least == most else f"{least} to {most}"
            yield ReferenceFault(f"'{name}' takes {expected} arguments, found {count}", node.at)
        rest = arguments
        if name == "cast" and count == 2 and isinstance(arguments[1], Name) and arguments[1].name in ELEMENT_TYPES:
            rest = arguments[:1]
        for argument in rest:
            yield from self.faults(argument, bound)
