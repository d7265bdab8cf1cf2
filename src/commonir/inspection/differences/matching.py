"""Matches the operations of two programs.

Names and order of values change from one export to the next, data flow does not. So operations are matched block by
block:

1. operations that compute the same from corresponding operands, from the arguments on; those whose results are used in
the same way come first 2. operations whose results are used in the same way, from the end on, which finds what follows
a difference 3. operations of the same name and type 4. operations of the same type with matched operands or users:
these are the changed ones 5. operations of the same name

Among several candidates those of the same name come first, then those in order. Each step is linear in the size of the
programs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from commonir.ir.attributes import Attribute, DataAttr
from commonir.ir.data import Data
from commonir.ir.module import Function, Module, Symbol
from commonir.ir.operation import Block, Operation, Value

_SMALL_BYTES = 256
"""Constants of up to this many bytes are distinguished by their contents (sizes, axes); larger ones are weights."""

_Keys = dict[Operation, int]
"""Operations with numbers that are equal for those that stand for each other."""


class Matching:
    """The pairs of corresponding operations and values of two programs."""

    def __init__(self, a: Module, b: Module) -> None:
        self.operations: dict[Operation, Operation] = {}
        self.values: dict[Value, Value] = {}
        self.blocks: dict[Block, Block] = {}
        self._matched: set[Operation] = set()
        self._pending: list[tuple[Block, Block]] = []
        self._shapes = _nested_kinds(a) | _nested_kinds(b)
        self._ids: dict[object, int] = {}
        self._value_ids: dict[Value, int] = {}
        self.pair(a, b)
        while self._pending:
            self._match_blocks(*self._pending.pop())

    def is_matched(self, op: Operation) -> bool:
        """Returns whether an operation of either program is matched."""
        return op in self.operations or op in self._matched

    def pair(self, a: Operation, b: Operation) -> None:
        """Pairs two operations; their regions are matched later."""
        self.operations[a] = b
        self._matched.add(b)
        for x, y in zip(a.results, b.results, strict=False):
            self._pair_values(x, y)
        is_function = isinstance(a, Function) and isinstance(b, Function)
        for r, s in zip(a.regions, b.regions, strict=False):
            for n, (x, y) in enumerate(zip(r.blocks, s.blocks, strict=False)):
                self.blocks[x] = y
                for v, w in _paired_by_name(x.arguments, y.arguments, by_name=is_function and not n):
                    self._pair_values(v, w)
                self._pending.append((x, y))

    def _pair_values(self, a: Value, b: Value) -> None:
        self.values[a] = b
        self._value_ids[a] = self._value_ids[b] = self._id(("pair", len(self.values)))

    def _id(self, key: object) -> int:
        return self._ids.setdefault(key, len(self._ids))

    def _match_blocks(self, a: Block, b: Block) -> None:
        first, second = list(a.operations), list(b.operations)
        self._match_symbols(first, second)
        self._match_computed(first, second)
        self._match_names(first, second, of_kind=True)
        self._match_neighbours(first)
        self._match_names(first, second, of_kind=False)

    def _match_symbols(self, first: Sequence[Operation], second: Sequence[Operation]) -> None:
        """Matches functions, globals and other symbols: by name, then by contents, then the only one of its type.

        Declarations correspond by name only, not by position: those with other names are different.
        """
        self._match_by(first, second, lambda op: op.symbol_name)
        self._match_by(first, second, self._shapes.get)
        for kind in {op.name for op in self._symbols(first)}:
            left, right = ([op for op in self._symbols(ops) if op.name == kind] for ops in (first, second))
            if len(left) == len(right) == 1:
                self.pair(left[0], right[0])
        # The only function of one program is compared with the entry function of the other.
        left, right = ([op for op in self._symbols(ops) if isinstance(op, Function)] for ops in (first, second))
        if left and right and 1 in (len(left), len(right)):
            entry, other = (next((f for f in ops if len(ops) == 1 or _is_entry(f)), None) for ops in (left, right))
            if entry is not None and other is not None:
                self.pair(entry, other)

    def _symbols(self, ops: Iterable[Operation]) -> Iterator[Symbol]:
        return (op for op in ops if isinstance(op, Symbol) and not self.is_matched(op))

    def _match_by(
        self, first: Sequence[Operation], second: Sequence[Operation], key: Callable[[Symbol], object]
    ) -> None:
        """Matches symbols of the same type and key, in order; those without a key are left."""
        keyed: defaultdict[tuple[str, object], list[Symbol]] = defaultdict(list)
        for op in reversed([*self._symbols(second)]):
            keyed[op.name, key(op)].append(op)
        for op in self._symbols(first):
            others = keyed.get((op.name, key(op)))
            if key(op) is not None and others:
                self.pair(op, others.pop())

    def _open(self, ops: Iterable[Operation]) -> Iterator[Operation]:
        return (op for op in ops if not isinstance(op, Symbol) and not self.is_matched(op))

    # -- by what is computed

    def _match_computed(self, first: Sequence[Operation], second: Sequence[Operation]) -> None:
        """Matches operations by operands and users: first by both, which distinguishes most."""
        sides = first, second
        forward = [self._forward_keys(ops) for ops in sides]
        self._pair_equal(sides, [self._backward_keys(ops, keys) for ops, keys in zip(sides, forward, strict=True)])
        self._pair_equal(sides, forward)
        marks = [{op: self._mark(op) for op in ops} for ops in sides]
        self._pair_equal(sides, [self._backward_keys(ops, own) for ops, own in zip(sides, marks, strict=True)])

    def _pair_equal(self, sides: tuple[Sequence[Operation], Sequence[Operation]], keys: Sequence[_Keys]) -> None:
        """Pairs operations with the same key."""
        groups: list[defaultdict[int, list[Operation]]] = []
        for ops, own in zip(sides, keys, strict=True):
            groups.append(defaultdict(list))
            for op in self._open(ops):
                groups[-1][own[op]].append(op)
        for key, group in groups[0].items():
            # A weight is known by who uses it: there may be many of one type.
            if key in groups[1] and not _is_weight(group[0]):
                self._pair_groups(group, groups[1][key])

    def _pair_groups(self, group: Sequence[Operation], others: Sequence[Operation]) -> None:
        named = {_name_of(op): op for op in reversed(others) if _name_of(op)}
        left: list[Operation] = []
        for op in group:
            candidates = named.pop(_name_of(op), None)
            if candidates is None:
                left.append(op)
            else:
                self.pair(op, candidates)
        for op, other in zip(left, [o for o in others if not self.is_matched(o)], strict=False):
            self.pair(op, other)

    def _forward_keys(self, ops: Iterable[Operation]) -> _Keys:
        """Returns structural keys of operations from their operands."""
        out: _Keys = {}
        for op in ops:
            key = self._id((self._own_key(op), tuple([self._value_ids.get(v, -1) for v in op.operands])))
            out[op] = key
            for n, result in enumerate(op.results):
                self._value_ids.setdefault(result, self._id((key, n)))
        return out

    def _backward_keys(self, ops: Sequence[Operation], marks: _Keys) -> _Keys:
        """Returns structural keys of operations from their marks and the uses of their results."""
        uses: defaultdict[Value, list[int]] = defaultdict(list)
        out: _Keys = {}
        for op in reversed(ops):
            key = self._id((marks[op], tuple([tuple(sorted(uses[r])) if r in uses else () for r in op.results])))
            out[op] = key
            for n, v in enumerate(op.operands):
                uses[v].append(self._id((key, n)))
        return out

    def _mark(self, op: Operation) -> int:
        """Returns the mark of an operation by itself; a matched one is marked as such."""
        is_known = bool(op.results) and self.is_matched(op)
        return self._value_ids[op.results[0]] if is_known else self._own_key(op)

    def _own_key(self, op: Operation) -> int:
        """Returns the structural key of an operation without its operands."""
        data = op.constant_data()
        if data is not None:
            return self._id((op.name, data.type, _content(data)))
        attributes = tuple([(name, _key_of(value)) for name, value in op.attribute_dictionary.items()])
        return self._id((op.name, attributes, self._shapes.get(op, 0), len(op.results)))

    # -- by names and neighbours

    def _match_names(self, first: Sequence[Operation], second: Sequence[Operation], *, of_kind: bool) -> None:
        named: dict[tuple[str, str], Operation] = {}
        for op in self._open(second):
            named.setdefault((_name_of(op), op.name if of_kind else ""), op)
        for op in self._open(first):
            name = _name_of(op)
            candidates = named.get((name, op.name if of_kind else "")) if name else None
            if candidates is not None and not self.is_matched(candidates):
                self.pair(op, candidates)

    def _match_neighbours(self, first: Sequence[Operation]) -> None:
        """Matches operations by users of the same values, in order, and then by operands, in reverse order."""
        for op in self._open(first):
            self._pair_first(op, self._behind(op))
        for op in self._open(first[::-1]):
            self._pair_first(op, self._before(op))

    def _pair_first(self, op: Operation, candidates: Iterator[Operation]) -> None:
        same_name = [c for c in candidates if c.name == op.name and not self.is_matched(c)]
        if same_name:
            self.pair(op, next((c for c in same_name if _name_of(c) == _name_of(op)), same_name[0]))

    def _behind(self, op: Operation) -> Iterator[Operation]:
        """Yields operations that use the counterparts of an operation's operands in the same positions."""
        for n, value in enumerate(op.operands):
            other = self.values.get(value)
            if other is not None:
                yield from [user for user, at in other.uses if at == n]

    def _before(self, op: Operation) -> Iterator[Operation]:
        """Yields producers of the operands of the counterparts of an operation's users."""
        for result in op.results:
            for user, at in result.uses:
                other = self.operations.get(user)
                if other is not None and at < len(other.operands):
                    maker = other.operands[at].defining_op
                    if maker is not None:
                        yield maker


def _paired_by_name(a: Sequence[Value], b: Sequence[Value], *, by_name: bool) -> Iterator[tuple[Value, Value]]:
    """Yields pairs of arguments, by name where names are an interface, the others by position."""
    if not by_name:
        yield from zip(a, b, strict=False)
        return
    named = {w.name: w for w in b}
    pairs = {v: named[v.name] for v in a if v.name in named}
    yield from pairs.items()
    taken = set(pairs.values())
    yield from zip([v for v in a if v not in pairs], [w for w in b if w not in taken], strict=False)


def _name_of(op: Operation) -> str:
    return op.results[0].name if op.results else ""


def _is_entry(function: Function) -> bool:
    """Returns whether a function is the one that runs when none is named."""
    module = next(iter(function.ancestors()), None)
    return isinstance(module, Module) and function.symbol_name == (module.entry or "main")


def _is_weight(op: Operation) -> bool:
    data = op.constant_data()
    return data is not None and data.size_bytes > _SMALL_BYTES


def _content(data: Data) -> object:
    """Returns the elements of a small constant."""
    if data.size_bytes > _SMALL_BYTES:
        return None
    return data.values() if data.element.kind == "string" else bytes(data.buffer())


def _key_of(attribute: Attribute) -> object:
    """Returns the key of an attribute: its type alone if it has many numbers."""
    large = isinstance(attribute, DataAttr) and attribute.data.size_bytes > _SMALL_BYTES
    return attribute.type if isinstance(attribute, DataAttr) and large else attribute


def _nested_kinds(root: Operation) -> dict[Operation, int]:
    """Returns for each operation with regions a number for the sequence of operations in it."""
    out: dict[Operation, int] = {}
    for op in reversed([op for op in root.walk() if op.regions]):
        blocks = [block for region in op.regions for block in region.blocks]
        out[op] = hash(tuple([(inner.name, out.get(inner, 0)) for block in blocks for inner in block.operations]))
    return out
