"""Names of values and blocks as mlir-opt prints them: numbers, `%arg0`, and the names that definitions suggest.

Names are assigned before printing, region by region: the values of a region first, then the regions nested in it, the
last first. Each of these continues the counters of the enclosing region. In the generic form, which has no suggested
names, counters are never reset, so a number occurs once in a text.
Source: behaviour of mlir-opt 22, checked in `tests/text/test_mlir_opt.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ods import Op
from commonir.ods.fields import Field
from commonir.ods.text_form import TextForm

Suggest = Callable[[Operation], Iterable[tuple[Value, str]]]

_PUNCTUATION = frozenset("$._-")


class _Pending(NamedTuple):
    """A region whose values have no names yet: its first counters, and the number of visible names."""

    region: Region
    values: int
    arguments: int
    conflicts: int
    visible: int


class UpstreamNames:
    """Names of one program. `generic`: for the generic form."""

    def __init__(self, *, generic: bool) -> None:
        self.generic = generic
        self._names: dict[Value, str] = {}
        self._groups: dict[Operation, list[int]] = {}
        self._labels: dict[Block, str] = {}
        self._suggest: dict[type[Operation], Suggest | None] = {}
        # Definitions whose results are numbered.
        self._numbered: set[type[Operation]] = set()
        self._taken: set[str] = set()
        # Names in the order of assignment; those of a closed region are free again.
        self._assigned: list[str] = []
        self._count: int = 0
        self._arguments: int = 0
        self._conflicts: int = 0

    # -- the naming of a printer

    def start(self, root: Operation) -> None:
        for v in root.operands:
            if v not in self._names:
                self._names[v] = f"%{self._number()}"
        self._name_operation(root)
        pending = [_Pending(r, self._count, self._arguments, self._conflicts, 0) for r in root.regions]
        while pending:
            region, values, arguments, conflicts, visible = pending.pop()
            if not self.generic:
                self._count, self._arguments, self._conflicts = values, arguments, conflicts
            for name in self._assigned[visible:]:
                self._taken.discard(name)
            del self._assigned[visible:]
            nested = self._name_region(region)
            at = self._count, self._arguments, self._conflicts, len(self._assigned)
            pending += [_Pending(r, *at) for r in nested]

    def value(self, value: Value) -> str:
        return self._names.get(value, "<<UNKNOWN SSA VALUE>>")

    def values(self, values: Sequence[Value]) -> tuple[str, ...]:
        names = self._names
        try:
            if len(values) == 1:
                return (names[values[0]],)
            if len(values) == 2:
                return names[values[0]], names[values[1]]
            return tuple([names[v] for v in values])
        except KeyError:
            return tuple(map(self.value, values))

    def named(self, name: str) -> list[Value]:
        """Returns the values of this name, with its percent sign; several for one that occurs in several scopes."""
        return [v for v, n in self._names.items() if n == name]

    def share(self, value: Value, other: Value) -> None:
        self._names[value] = self._names[other]

    def bound(self, op: Operation) -> str:
        results = op.results
        if len(results) == 1:
            return f"{self._names.get(results[0]) or self.value(results[0])} = "
        groups = self._groups.get(op, [0])
        shown: list[str] = []
        for first, end in zip(groups, [*groups[1:], len(results)], strict=True):
            name = self._names[results[first]].partition("#")[0]
            shown.append(name if end - first == 1 else f"{name}:{end - first}")
        return f"{', '.join(shown)} = "

    def label(self, block: Block) -> str:
        return self._labels.get(block, "INVALIDBLOCK")

    def open(self, region: Region) -> object:
        del region  # all names are assigned at the start
        return None

    def close(self, scope: object) -> None:
        del scope

    # -- naming

    def _number(self) -> int:
        self._count += 1
        return self._count - 1

    def _name_region(self, region: Region) -> list[Region]:
        """Assigns the names of a region, and returns the regions nested in it."""
        holder = region.parent
        names, numbered = self._names, self._numbered
        if not self.generic and isinstance(holder, TextForm):
            for value, name in holder.argument_names(region):
                names[value] = self._unique(name)
        nested: list[Region] = []
        for n, block in enumerate(region.blocks):
            self._labels[block] = f"^bb{n}"
            for argument in block.arguments:
                if argument in names:
                    continue
                if n:
                    names[argument] = f"%{self._number()}"
                else:
                    names[argument] = self._unique(f"arg{self._arguments}")
                    self._arguments += 1
            for op in block.operations:
                results = op.results
                if len(results) == 1 and type(op) in numbered:
                    names[results[0]] = f"%{self._count}"
                    self._count += 1
                elif results:
                    self._name_operation(op)
                if op.regions:
                    nested += op.regions
        return nested

    def _name_operation(self, op: Operation) -> None:
        results = op.results
        if not results:
            return
        definition = type(op)
        suggest = self._suggest.get(definition)
        if suggest is None and definition not in self._suggest:
            suggest = self._suggest[definition] = None if self.generic else _suggestions_of(definition)
        if suggest is None:
            self._numbered.add(definition)
        if suggest is None and len(results) == 1:
            self._names[results[0]] = f"%{self._count}"
            self._count += 1
            return
        self._name_results(op, {} if suggest is None else dict(suggest(op)))

    def _name_results(self, op: Operation, suggested: dict[Value, str]) -> None:
        results = op.results
        if len(results) == 1:
            name = suggested.get(results[0])
            self._names[results[0]] = self._unique(name) if name else f"%{self._number()}"
            return
        groups = {0}
        firsts: dict[int, str] = {}
        for value, name in suggested.items():
            if value in results:
                number = value.index
                groups.add(number)
                firsts[number] = self._unique(name) if name else f"%{self._number()}"
        if 0 not in firsts:
            firsts[0] = f"%{self._number()}"
        order = sorted(groups)
        if len(order) > 1:
            self._groups[op] = order
        for n, v in enumerate(results):
            at = bisect_right(order, n) - 1
            first, end = order[at], order[at + 1] if at + 1 < len(order) else len(results)
            self._names[v] = firsts[first] if end - first == 1 else f"{firsts[first]}#{n - first}"

    def _unique(self, name: str) -> str:
        return self._free(sanitized(name))

    def _free(self, name: str) -> str:
        """Returns a free name from a valid one, and assigns it."""
        if name in self._taken:
            stem = name
            while name in self._taken:
                name = f"{stem}_{self._conflicts}"
                self._conflicts += 1
        self._taken.add(name)
        self._assigned.append(name)
        return f"%{name}"


def sanitized(name: str, punctuation: frozenset[str] = _PUNCTUATION, *, ends_in_digit: bool = True) -> str:
    """Returns a name as mlir-opt writes it: other characters in hexadecimal, no digit first, nor last if unwanted."""
    is_plain = name.isascii() and name.isidentifier()
    first = name[:1]
    if not is_plain and not (name.isascii() and all(c.isalnum() or c in punctuation for c in name)):
        name = "".join(
            [c if c.isascii() and (c.isalnum() or c in punctuation) else "_" if c == " " else _hex(c) for c in name]
        )
    # A digit is prefixed, and a character in hexadecimal, which begins with a letter or a digit.
    if name[:1].isdigit() or not first.isascii():
        return f"_{name}"
    return f"{name}_" if not ends_in_digit and name[-1:].isdigit() else name


def _hex(char: str) -> str:
    return "".join([f"{byte:X}" for byte in char.encode("utf-8", "surrogatepass")])


def _suggestions_of(definition: type[Operation]) -> Suggest | None:
    """Returns the function that suggests names for the results of a class; None if they are numbered."""
    if not issubclass(definition, TextForm):
        return None
    if definition.result_name or definition.suggested_names is not TextForm.suggested_names:
        return definition.suggested_names  # pyright: ignore[reportReturnType]  it is called with operations of this class
    if issubclass(definition, Op) and len(definition.layout.results) > 1:
        return _field_names
    return None


def _field_names(op: Operation) -> Iterable[tuple[Value, str]]:
    """Yields the first value of each result field, and the name of the field."""
    assert isinstance(op, Op)
    for field in op.layout.results:
        first = _first(op, field)
        if first is not None:
            yield first, field.spelling


def _first(op: Op, field: Field) -> Value | None:
    result: object = op.field_value(field)
    if isinstance(result, tuple):
        result = result[0] if result else None  # pyright: ignore[reportUnknownVariableType]
    return result if isinstance(result, Value) else None
