"""Moves transpositions through operations where fewer of them remain.

Operations that compute the same on transposed operands (`permuted_operations`) form zones between transpositions. In
each zone the operations that change to the other order of axes are chosen so that the number of transpositions falls
most: a minimum cut, where an operation on either side costs the transpositions at its border. Nothing changes where
their number would stay the same. Constants are transposed in the file. Sums of floats stay where they are unless
results may be rounded differently: runtimes form them in an order that depends on the places in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import Data, computed_data
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ElementType, TensorType
from commonir.notation import Permutation, is_identity
from commonir.ods import Dialects, Op, known_data, traits
from commonir.passes.core_forms import CoreWriter, FromCore, Written, core_form, repeated_value
from commonir.passes.fold_to_constants import constant_of
from commonir.passes.min_cut import UNLIMITED, MinCut
from commonir.passes.permuted_operations import Permuted, permuted, permuted_type
from commonir.rewrite.replacing import replace_results

MOVED_TRANSPOSITIONS = "transpositions moved"
"""The name of the rule in reports."""
_SHARED_BYTES = 64
"""Constants with other users are copied up to this size: an operation that goes takes no less in a file."""
_MOST_OPERANDS = 64
_MOST_USERS = 256


def move_transpositions(function: Function, from_core: FromCore, dialects: Dialects, *, rounds: bool = False) -> int:
    """Moves transpositions of a function, in place, and returns how many fewer remain."""
    if function.referred_names:
        return 0
    moves = _Moves(function, from_core, dialects, rounds)
    transpositions = [op for op in function.walk_list() if moves.perm_of(op) is not None]
    return sum([moves.around(op) for op in transpositions])


def _inverse(perm: Permutation) -> Permutation:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def _then(first: Permutation, second: Permutation) -> Permutation:
    """Returns the permutation of two that follow each other."""
    return tuple([first[p] for p in second])


class _Zone:
    """Operations that may change together, and the permutations of their values."""

    def __init__(self) -> None:
        self.operations: dict[Op, Permuted] = {}
        self.perms: dict[Value, Permutation] = {}


class _New(NamedTuple):
    """A changed operation before it has its operands: placeholders by the values that they stand for."""

    operations: tuple[Operation, ...]
    results: tuple[Value, ...]
    operands: dict[Value, Value]


class _Moves:
    """Moves in one function."""

    def __init__(self, function: Function, from_core: FromCore, dialects: Dialects, rounds: bool) -> None:
        self._function = function
        self._dialects = dialects
        self._writer = CoreWriter(function, from_core)
        self._rounds = rounds
        self._perms: dict[Operation, Permutation | None] = {}
        self._writable: dict[tuple[type[Op], ElementType], bool] = {}
        self._visited: set[tuple[Value, Permutation]] = set()

    def perm_of(self, op: Operation | Block | None) -> Permutation | None:
        """Returns the permutation of an operation that transposes; None for another one."""
        if not isinstance(op, Op) or len(op.results) != 1:
            return None
        if op not in self._perms:
            form = core_form(op)
            is_transposition = form is not None and isinstance(form.op, core.Transpose)
            perm = tuple(form.op.perm) if form is not None and isinstance(form.op, core.Transpose) else ()
            self._perms[op] = tuple([p % len(perm) for p in perm]) if is_transposition else None
        return self._perms[op]

    def around(self, op: Operation) -> int:
        """Changes the zones before and after a transposition, and returns how many fewer remain."""
        saved = 0
        for is_after in (True, False):
            perm = self.perm_of(op) if op.parent is not None else None
            if perm is None or not isinstance(op, Op):
                return saved
            value = op.results[0] if is_after else core_form_operand(op)
            if value is not None:
                saved += self._change(op.parent, value, _inverse(perm) if is_after else perm, op)
        return saved

    def _change(self, block: Block | None, value: Value, perm: Permutation, like: Op) -> int:
        if block is None or (value, perm) in self._visited:
            return 0
        zone = self._zone(block, value, perm)
        self._visited.update(zone.perms.items())
        chosen, saved = self._cut(zone).first_side() if zone.operations else (set[object](), 0)
        operations = [op for op in zone.operations if op in chosen] if saved > 0 else []
        is_done = (
            bool(operations)
            and all(self._can_be_transposed(v, like) for v in zone.perms)
            and _Change(self, self._writer, zone, operations, like).apply(block)
        )
        for found in zone.operations.values():
            if found.op.parent is None:
                found.op.erase()
        return saved if is_done else 0

    def _can_be_transposed(self, value: Value, like: Op) -> bool:
        """Returns whether the dialect can transpose tensors of the element type of a value."""
        tensor = value.type
        assert isinstance(tensor, TensorType)
        key = type(like), tensor.element
        if key not in self._writable:
            (argument,) = Block([tensor.with_shape((2, 3))]).arguments
            self._writable[key] = self.transposition(argument, (1, 0), like) is not None
        return self._writable[key]

    # -- zones

    def _zone(self, block: Block, value: Value, perm: Permutation) -> _Zone:
        zone = _Zone()
        zone.perms[value] = perm
        # The nearest first: an operation that a transposition separates from the zone does not join it.
        pending = deque([value])
        tried: set[Operation] = set()
        while pending:
            v = pending.popleft()
            for op in self._neighbours(v, block):
                if op not in tried and isinstance(op, Op):
                    tried.add(op)
                    pending += self._joined(zone, op, zone.perms[v])
        return zone

    def _neighbours(self, value: Value, block: Block) -> Iterator[Operation]:
        users = value.users
        owner = value.owner
        around = [*(users if len(users) <= _MOST_USERS else ()), *([owner] if isinstance(owner, Operation) else [])]
        for op in dict.fromkeys(around):
            if op.parent is block and op is not block.last and self.perm_of(op) is None:
                yield op

    def _joined(self, zone: _Zone, op: Op, perm: Permutation) -> list[Value]:
        """Adds an operation to a zone if it can change, and returns the values that are new to the zone."""
        if len(op.operands) > _MOST_OPERANDS:
            return []
        found = permuted(op, perm)
        if found is None:
            return []
        new = self._new_values(zone, op, found) if found.is_exact or self._rounds else None
        if new is None:
            found.op.erase()
            return []
        zone.operations[op] = found
        return new

    def _new_values(self, zone: _Zone, op: Op, permuted_op: Permuted) -> list[Value] | None:
        """Returns the values of an operation that are new to a zone, and adds them; None if it cannot be part of it."""
        movable = dict(zip(permuted_op.operands, permuted_op.perms, strict=True))
        constants = {v for v in movable if known_data(v) is not None}
        if not all(self._may_change(v, op) for v in constants) or self._is_beyond(zone, op):
            return None
        values = {v: p for v, p in movable.items() if v not in constants}
        values |= dict(zip(op.results, permuted_op.results, strict=False))
        if any(zone.perms.get(v, p) != p for v, p in values.items()):
            return None
        new = [v for v in values if v not in zone.perms]
        zone.perms |= values
        return new

    def _is_beyond(self, zone: _Zone, op: Op) -> bool:
        """Returns whether a transposition lies between an operation and the zone, which changes on one side of it."""
        before = [v.owner for v in op.operands if self.perm_of(v.owner) is not None]
        sources = [o.operands[0].owner for o in before if isinstance(o, Operation)]
        after = [u for r in op.results for u in r.users if self.perm_of(u) is not None]
        users = [user for u in after for user in u.results[0].users]
        return any(o in zone.operations for o in (*sources, *users))

    def _may_change(self, constant: Value, user: Op) -> bool:
        data = known_data(constant)
        owner = constant.owner
        is_own = isinstance(owner, Op) and owner.has_trait(traits.ConstantLike) and len(constant.users) == 1
        is_small = data is not None and data.size_bytes <= _SHARED_BYTES
        return data is not None and (is_own or is_small) and self.constant(data, user) is not None

    # -- costs

    def _cut(self, zone: _Zone) -> MinCut:
        cut = MinCut()
        inside_of: dict[Value, dict[Operation, None]] = {}
        for op in zone.operations:
            for v in op.operands:
                inside_of.setdefault(v, {})[op] = None
        for value, perm in zone.perms.items():
            inside = list[Operation](inside_of.get(value, ()))
            owner = value.owner
            if isinstance(owner, Op) and owner in zone.operations:
                self._add_result(cut, zone, owner, value, perm, inside)
            elif inside:
                self._add_operand(cut, value, perm, inside)
        return cut

    def _add_operand(self, cut: MinCut, value: Value, perm: Permutation, inside: list[Operation]) -> None:
        """Adds the costs of a value that is computed outside: in its own order and in the other one."""
        before = self.perm_of(value.owner)
        own, other = 0, int(not _is_trivial(value, perm) and not self._is_repeated(value, perm))
        if before is not None:
            own = int(all(u in inside for u in value.users))
            other = int(not is_identity(_then(before, perm)))
        if own:
            cut.add_first(("own", value), own)
            for op in inside:
                cut.add(("own", value), op, UNLIMITED)
        if other:
            cost = other if not _is_quantized(value) or before is not None else UNLIMITED
            cut.add_second(("other", value), cost)
            for op in inside:
                cut.add(op, ("other", value), UNLIMITED)

    def _add_result(
        self, cut: MinCut, zone: _Zone, op: Op, value: Value, perm: Permutation, inside: list[Operation]
    ) -> None:
        """Adds the costs of a value that an operation of the zone computes."""
        cost = 0 if _is_trivial(value, perm) else UNLIMITED if _is_quantized(value) else 1
        outside = [u for u in dict.fromkeys(value.users) if u not in zone.operations]
        perms = [self.perm_of(u) for u in outside]
        removed = sum([p == perm for p in perms])
        if removed:
            cut.add_first(op, removed)
        if not cost:
            return
        if None in perms:
            cut.add_second(op, cost)
        elif inside:
            cut.add(op, ("own", value), cost)
            for user in inside:
                cut.add(("own", value), user, UNLIMITED)
        if inside and not removed:
            cut.add(("other", value), op, cost)
            for user in inside:
                cut.add(user, ("other", value), UNLIMITED)

    def _is_repeated(self, value: Value, perm: Permutation) -> bool:
        """Returns whether the operation that computes a value repeats elements, and can do so in another order."""
        inner = repeated_value(value)
        if inner is None or not isinstance(value.owner, Op):
            return False
        written = self.transposition(inner, perm, value.owner)
        for op in reversed(written.operations if written is not None else ()):
            op.erase()
        return written is not None

    # -- new operations

    def transposition(self, value: Value, perm: Permutation, like: Op) -> Written | None:
        """Returns a detached transposition of a value, in the dialect of an operation."""
        return self._writer.written(core.transpose(value, perm), 1, like)

    def constant(self, data: Data, like: Op) -> Value | None:
        """Returns a detached constant, in the dialect of an operation; None if it has none of these contents."""
        return constant_of(self._function, like, data, data.type, self._dialects)

    def forget(self, ops: Iterable[Operation]) -> None:
        """Forgets what is known of operations that are erased."""
        for op in ops:
            self._perms.pop(op, None)


def core_form_operand(op: Operation) -> Value | None:
    """Returns the first operand of the core form of an operation."""
    form = core_form(op)
    return None if form is None else form.x


def _is_trivial(value: Value, perm: Permutation) -> bool:
    """Returns whether permuting axes changes nothing, because those that move have size 1."""
    assert isinstance(value.type, TensorType)
    shape = value.type.shape or ()
    moved = [p for p in perm if shape[p] != 1]
    return moved == sorted(moved) and permuted_type(value.type, perm) is value.type


def _is_quantized(value: Value) -> bool:
    """Returns whether runtimes may read a value together with the operations before and after it."""
    assert isinstance(value.type, TensorType)
    return value.type.element.is_integer and value.type.element.bits <= 8


class _Change:
    """Changes the chosen operations of a zone."""

    def __init__(self, moves: _Moves, writer: CoreWriter, zone: _Zone, chosen: list[Op], like: Op) -> None:
        self._moves = moves
        self._writer = writer
        self._zone = zone
        self._chosen = dict.fromkeys(chosen)
        self._like = like
        self._changed: dict[Value, Value] = {}
        self._constants: dict[tuple[Value, Permutation], Value] = {}

    def apply(self, block: Block) -> bool:
        """Changes the operations; returns False, with nothing changed, if one cannot be written."""
        new: dict[Op, _New] = {}
        for op in self._chosen:
            built = self._built(op, self._zone.operations[op])
            if built is None:
                return False
            new[op] = built
        order = self._in_order()
        for op in order:
            self._place(op, new[op], block)
        for op in order:
            self._restore(op, block)
        before = [v.owner for op in order for v in op.operands]
        for op in reversed(order):
            self._moves.forget((op,))
            op.erase()
        for owner in dict.fromkeys(before):
            if isinstance(owner, Operation) and self._is_unused_transposition(owner):
                self._moves.forget((owner,))
                owner.erase()
        return True

    def _is_unused_transposition(self, op: Operation) -> bool:
        return op.parent is not None and self._moves.perm_of(op) is not None and not op.results[0].is_used

    def _built(self, op: Op, permuted_op: Permuted) -> _New | None:
        placeholders = dict(zip(permuted_op.operands, permuted_op.arguments, strict=True))
        if not permuted_op.is_core:
            return _New((permuted_op.op,), permuted_op.op.results, placeholders)
        types = [r.type for r in permuted_op.op.results]
        written = self._writer.all_written(permuted_op.op.results, 1, op)
        if written is None or any(v.owner not in written.operations for v in written.values):
            return None
        for v, type in zip(written.values, types, strict=True):
            v.retype(type)
        return _New(written.operations, written.values, placeholders)

    def _in_order(self) -> list[Op]:
        """Returns the operations, each after those that compute its operands."""
        out: dict[Op, None] = {}
        for start in self._chosen:
            pending: list[tuple[Op, bool]] = [(start, False)]
            while pending:
                op, is_ready = pending.pop()
                if op in out:
                    continue
                if is_ready:
                    out[op] = None
                    continue
                pending.append((op, True))
                owners = [v.owner for v in op.operands]
                pending += [(o, False) for o in owners if isinstance(o, Op) and o in self._chosen and o not in out]
        return list(out)

    def _place(self, op: Op, new: _New, block: Block) -> None:
        found = self._zone.operations[op]
        actual: dict[Value, Value] = {}
        for value, perm in zip(found.operands, found.perms, strict=True):
            actual[new.operands[value]] = self._operand(value, perm, op, block)
        for built in new.operations:
            built.operands = tuple([actual.get(v, v) for v in built.operands])
            built.location = built.location or op.location
            block.insert_before(op, built)
        for old, result in zip(op.results, new.results, strict=False):
            result.name = self._writer.unique_name(old.name) if old.name else ""
            self._changed[old] = result

    def _operand(self, value: Value, perm: Permutation, op: Op, block: Block) -> Value:
        """Returns an operand in the other order."""
        data = known_data(value)
        if data is not None:
            return self._transposed_constant(value, data, perm, op)
        if value in self._changed:
            return self._changed[value]
        if _is_trivial(value, perm):
            return value
        owner = value.owner
        before = self._moves.perm_of(owner)
        source, whole = value, perm
        if before is not None and isinstance(owner, Operation):
            operand = core_form_operand(owner)
            assert operand is not None
            source, whole = operand, _then(before, perm)
        result = source if is_identity(whole) else self._transposed(source, whole, value, block)
        self._changed[value] = result
        return result

    def _transposed(self, source: Value, perm: Permutation, value: Value, block: Block) -> Value:
        """Inserts a transposition where a value is computed."""
        owner = value.owner
        is_here = isinstance(owner, Operation) and owner.parent is block
        at = owner.next if is_here and isinstance(owner, Operation) else block.first
        written = self._moves.transposition(source, perm, self._like)
        assert written is not None
        assert at is not None
        for built in written.operations:
            block.insert_before(at, built)
        written.value.name = self._writer.unique_name(value.name) if value.name else ""
        return written.value

    def _transposed_constant(self, value: Value, data: Data, perm: Permutation, op: Op) -> Value:
        key = value, perm
        if key not in self._constants:
            made = self._moves.constant(_transposed_data(data, perm), op)
            assert made is not None
            assert isinstance(made.owner, Op)
            assert op.parent is not None
            made.name = self._writer.unique_name(value.name) if value.name else ""
            op.parent.insert_before(op, made.owner)
            self._constants[key] = made
        return self._constants[key]

    def _restore(self, op: Op, block: Block) -> None:
        """Makes the users that do not change use a changed operation."""
        for old, perm in zip(op.results, self._zone.operations[op].results, strict=False):
            result = self._changed[old]
            others: list[Operation] = []
            for user in list(dict.fromkeys(old.users)):
                if user in self._chosen:
                    continue
                before = self._moves.perm_of(user)
                if before is None or not isinstance(user, Op):
                    others.append(user)
                    continue
                whole = _then(_inverse(perm), before)
                if is_identity(whole):
                    if block.last is not None and block.last in user.results[0].users:
                        if result in block.last.operands:
                            others.append(user)
                            continue
                        result.name = user.results[0].name
                    replace_results(user, (result,))
                else:
                    written = self._moves.transposition(result, whole, self._like)
                    assert written is not None
                    written.value.retype(user.results[0].type)
                    replace_results(user, (written.value,), written.operations)
                self._moves.forget((user,))
                user.erase()
            if others:
                self._restore_for(op, old, result, perm)

    def _restore_for(self, op: Op, old: Value, result: Value, perm: Permutation) -> None:
        restored = result
        if not _is_trivial(old, perm):
            written = self._moves.transposition(result, _inverse(perm), self._like)
            assert written is not None
            assert op.parent is not None
            for built in written.operations:
                op.parent.insert_before(op, built)
            restored = written.value
            restored.retype(old.type)
        name, old.name = old.name, ""
        old.replace_all_uses_with(restored)
        restored.name = name


def _transposed_data(data: Data, perm: Permutation) -> Data:
    shape = data.shape
    type = data.type.with_shape(tuple([1 if p < 0 else shape[p] for p in perm]))
    kept = tuple([p for p in perm if p >= 0])
    return computed_data(type, lambda: data.array().transpose(kept).reshape(type.static_shape).copy(order="C"))
