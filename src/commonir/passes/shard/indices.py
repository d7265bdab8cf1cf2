"""Finds the indices along which an operation can be sharded, from its kernels.

An operation can be sharded along an index if all axes that it reads or writes at the index are sharded in the same way.
Then the same operation on the shards of a rank computes its shard of the results, or for a summed index, its summand.
This holds if the index is only used as a position: it is not a value in the computation, no fold other than an
outermost sum runs over it, and the kernels of the operation on shards have the same form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Expr,
    Fold,
    Join,
    Kernel,
    NotationError,
    Padded,
    Position,
    Tensor,
    walk,
)
from commonir.notation.expressions import Dilated
from commonir.notation.traversal import children
from commonir.ods import Derived, Op, infer
from commonir.ods.inference import operand_names
from commonir.passes.shard.layout import Split, shard_type
from commonir.passes.transcribe import copied
from commonir.symbolic import Dim, index, names, plain


class IndexPlace(NamedTuple):
    """An axis of an operand or a result that an index runs over, from an offset on."""

    is_result: bool
    number: int
    axis: int
    size: int
    offset: int = 0


class Run(NamedTuple):
    """The axes that an index runs over; `is_summed` if the results are sums over it."""

    name: str
    places: tuple[IndexPlace, ...]
    is_summed: bool

    def at(self, is_result: bool, number: int) -> tuple[int, ...]:
        """Returns the axes of an operand or a result that the index runs over."""
        return tuple(dict.fromkeys(p.axis for p in self.places if (p.is_result, p.number) == (is_result, number)))

    def fits_blocks(self, period: int, ranks: int) -> bool:
        """Returns whether all axes consist of blocks of a period, and ranks divide a block."""
        return period > 0 and period % ranks == 0 and not any(p.size % period or p.offset % period for p in self.places)


class Indices:
    """The indices of operations, computed once per structure."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._runs: dict[object, tuple[Run, ...]] = {}
        self._may_shard: dict[object, bool] = {}

    def runs(self, op: Op) -> tuple[Run, ...]:
        """Returns the indices of an operation that are only used as positions."""
        key = _key(op)
        result = self._runs.get(key)
        if result is None:
            result = self._runs[key] = tuple(_runs(op))
        return result

    def run_at(self, op: Op, is_result: bool, number: int, axis: int) -> Run | None:
        """Returns the only index that runs over an axis of an operand or a result; None otherwise."""
        results = [r for r in self.runs(op) if axis in r.at(is_result, number)]
        return results[0] if len(results) == 1 else None

    def may_shard(self, op: Op, run: Run, period: int) -> bool:
        """Returns whether an operation can be sharded along an index in blocks of a period."""
        if not run.fits_blocks(period, self._ranks):
            return False
        key = (_key(op), run)
        result = self._may_shard.get(key)
        if result is None:
            result = self._may_shard[key] = self._keeps_meaning(op, run)
        return result

    def _keeps_meaning(self, op: Op, run: Run) -> bool:
        operand_types = list(zip(_shard_types(op.operands, run, False, self._ranks), op.operands, strict=True))
        expected = _shard_types(op.results, run, True, self._ranks)
        if None in expected or any(type is None for type, _ in operand_types):
            return False
        splits = [Split(a[0], 0) if (a := run.at(True, n)) else None for n in range(len(op.results))]
        operands = tuple([Value(type) for type, _ in operand_types if type is not None])
        try:
            shard = on_shards(op, operands, splits, self._ranks)
            whole, of_shard = infer(op), infer(shard)
        except (DiagnosticError, NotationError):
            return False
        return list(of_shard.types) == expected and _have_same_kernels(whole, of_shard, run, self._ranks)


def on_shards(op: Op, operands: Sequence[Value], splits: Sequence[Split | None], ranks: int) -> Op:
    """Returns an operation on shards of its operands, whose attributes have the dims of sharded results.

    Raises: DiagnosticError when that is not possible.
    """
    split = splits[0] if splits else None
    changes: Mapping[str, object] = {} if split is None else _attributes_of_shard(op, split, ranks)
    result = copied(op, tuple(operands), (), **changes)
    assert isinstance(result, Op)
    return result


def _attributes_of_shard(op: Op, split: Split, ranks: int) -> Mapping[str, object]:
    match op:
        case core.Reshape() | core.BroadcastTo() | core.Iota():
            type = shard_type(op.results[0].type, split, ranks)
            return {"shape": type.shape if isinstance(type, TensorType) else None}
        case core.Split(axis=axis, sizes=sizes) if axis % len(_shape(op.x)) == split.axis:
            return {"sizes": tuple([n // ranks if isinstance(n, int) else n for n in sizes])}
        case core.Slice():
            return _slice_of_shard(op, split.axis, ranks)
        case _:
            return {}


def _slice_of_shard(op: core.Slice, axis: int, ranks: int) -> Mapping[str, object]:
    dim, length = _shape(op.x)[axis], _shape(op.y)[axis]
    start = op.starts[axis]
    if not (isinstance(dim, int) and isinstance(length, int) and isinstance(start, int)):
        return {}
    first = max(start + dim, 0) if start < 0 else min(start, dim)
    bounds = {"starts": first // ranks, "stops": (first + length) // ranks}
    return {
        name: tuple([bounds[name] if n == axis else v for n, v in enumerate(values)])
        for name, values in (("starts", op.starts), ("stops", op.stops))
    }


def _shape(value: Value) -> tuple[Dim | None, ...]:
    return (value.type.shape or ()) if isinstance(value.type, TensorType) else ()


def _key(op: Op) -> object:
    """Returns a key that operations of one meaning share; one that looks at elements has its own."""
    if op.layout.read_operands:
        return op
    return type(op), op.decoded_attributes(), op.operand_offsets, tuple([v.type for v in op.operands])


def _shard_types(values: Sequence[Value], run: Run, is_result: bool, ranks: int) -> list[Type | None]:
    """Returns the types of the shards of values; None for one that would be sharded along two axes."""
    out: list[Type | None] = []
    for n, v in enumerate(values):
        axes = run.at(is_result, n)
        out.append(v.type if not axes else shard_type(v.type, Split(axes[0], 0), ranks) if len(axes) == 1 else None)
    return out


# -- the places of indices


def _runs(op: Op) -> Iterable[Run]:
    try:
        derived = infer(op)
    except DiagnosticError:
        return
    if derived.is_data_dependent or not derived.kernels:
        return
    finder = _IndexFinder(op, derived)
    for name, places in finder.places.items():
        if name not in finder.refused and (name in finder.summed) != (name in finder.in_results):
            yield Run(name, tuple(dict.fromkeys(places)), name in finder.summed)


class _IndexFinder:
    """Finds the axes that indices of an operation run over.

    `in_results` are indices of axes of results; `refused` are those that are used other than as positions.
    """

    def __init__(self, op: Op, derived: Derived) -> None:
        self.places: dict[str, list[IndexPlace]] = {}
        self.refused: set[str] = set()
        self.in_results: set[str] = set()
        self.summed: set[str] = set()
        self._names = operand_names(op)
        for number, (kernel, extents) in enumerate(zip(derived.kernels, derived.extents, strict=True)):
            self._of_result(number, kernel, extents)
            self._of_body(kernel)

    def _of_result(self, number: int, kernel: Kernel, extents: Mapping[str, Dim]) -> None:
        for axis, at in enumerate(kernel.axes):
            name = plain(at)
            if name is not None:
                self.in_results.add(name)
                self._add(name, True, number, axis, extents[name])

    def _of_body(self, kernel: Kernel) -> None:
        root = kernel.body
        while isinstance(root, Cast):
            root = root.body
        for e in walk(kernel.body):
            match e:
                case Access(tensor=tensor, at=at):
                    for axis, p in enumerate(at):
                        if not isinstance(p, Expr):
                            self._read(tensor, axis, p)
                case Position(at=at):
                    self.refused.update(names(at))
                case Fold(fn=fn, over=over) if e is root and fn == "add":
                    self.summed.update(over)
                case Fold(over=over):
                    self.refused.update(over)
                case _:
                    pass

    def _read(self, tensor: Tensor, axis: int, at: Dim) -> None:
        used = names(at)
        if len(used) == 0:
            return
        offset = at - index(used[0])
        if len(used) > 1 or not isinstance(offset, int) or not _is_untouched(tensor, axis):
            self.refused.update(used)
        else:
            self._add(used[0], False, self._names.index(tensor.name), axis, tensor.source.shape[axis], offset)

    def _add(self, name: str, is_result: bool, number: int, axis: int, size: Dim, offset: int = 0) -> None:
        if isinstance(size, int):
            self.places.setdefault(name, []).append(IndexPlace(is_result, number, axis, size, offset))
        else:
            self.refused.add(name)


def _is_untouched(tensor: Tensor, axis: int) -> bool:
    """Returns whether views leave an axis of an operand unchanged."""
    for view, _ in tensor.steps:
        match view:
            case Padded(before=before, after=after) if before[axis] == 0 and after[axis] == 0:
                continue
            case Dilated(factors=factors) if factors[axis] == 1:
                continue
            case _:
                return False
    return True


# -- whether two kernels say the same


def _have_same_kernels(whole: Derived, shard: Derived, run: Run, ranks: int) -> bool:
    """Returns whether the kernels of an operation on shards have the form of those on the whole, except for dims."""
    if len(whole.kernels) != len(shard.kernels):
        return False
    pairs = [(a.body, b.body) for a, b in zip(whole.kernels, shard.kernels, strict=True)]
    for first, second in zip(whole.kernels, shard.kernels, strict=True):
        if not all(a == b or (b == 1 and plain(a) == run.name) for a, b in zip(first.axes, second.axes, strict=True)):
            return False
    seen: set[tuple[Expr, Expr]] = set()
    while pairs:
        pair = pairs.pop()
        if pair in seen:
            continue
        seen.add(pair)
        first, second = pair
        if not _same_form(first, second, run, ranks) or len(children(first)) != len(children(second)):
            return False
        pairs += zip(children(first), children(second), strict=True)
    return True


def _same_form(first: Expr, second: Expr, run: Run, ranks: int) -> bool:
    match first, second:
        case Access(), Access():
            same = first.tensor.name == second.tensor.name and len(first.at) == len(second.at)
            views = [[v for v, _ in a.tensor.steps] for a in (first, second)]
            places = zip(first.at, second.at, strict=True) if same else ()
            return same and views[0] == views[1] and all(_same_place(p, q, run, ranks) for p, q in places)
        case Const(), Const():
            return first is second
        case Position(), Position():
            return first is second
        case Fold(), Fold():
            return (first.fn, first.over) == (second.fn, second.over)
        case Join(), Join():
            return first.along == second.along
        case Apply(), Apply():
            return first.fn == second.fn
        case Cast(), Cast():
            return first.dtype is second.dtype
        case _:
            return False


def _same_place(first: Dim | Expr, second: Dim | Expr, run: Run, ranks: int) -> bool:
    if isinstance(first, Expr) or isinstance(second, Expr):
        return isinstance(first, Expr) and isinstance(second, Expr)
    if run.name not in names(first):
        return first == second
    # An axis of which each rank has one position is read at that position.
    is_single = run.name not in names(second) and all(p.size == ranks for p in run.places)
    whole, shard = first - index(run.name), second if is_single else second - index(run.name)
    return isinstance(whole, int) and isinstance(shard, int) and whole == shard * ranks
