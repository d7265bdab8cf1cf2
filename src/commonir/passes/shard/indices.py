"""Finds the indices along which an operation can be sharded, from its kernels.

An index can be divided when every axis that is read or written at it is divided alike: then each rank computes, with
the same operation on its parts, its part of the results, or of a sum over the index its summand. This holds when the
index is nothing but a place: it is not a number in the computation, no fold other than an outermost sum runs over
it, and the operation says the same of the parts as of the whole.
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
from commonir.passes.shard.layout import Split, part_type
from commonir.passes.transcribe import copied
from commonir.symbolic import Dim, index, names, plain


class IndexPlace(NamedTuple):
    """An axis of an operand or a result that an index runs over, from a position on."""

    is_result: bool
    number: int
    axis: int
    size: int
    offset: int = 0


class Run(NamedTuple):
    """The places that an index runs over; `is_summed` when the results are sums over it."""

    name: str
    places: tuple[IndexPlace, ...]
    is_summed: bool

    def at(self, is_result: bool, number: int) -> tuple[int, ...]:
        """The axes of an operand or a result that it runs over."""
        return tuple(dict.fromkeys(p.axis for p in self.places if (p.is_result, p.number) == (is_result, number)))

    def may_be_divided(self, period: int, ranks: int) -> bool:
        """Whether blocks of a period fit everywhere, and ranks into blocks."""
        return period > 0 and period % ranks == 0 and not any(p.size % period or p.offset % period for p in self.places)


class Indices:
    """The indices of operations, computed once per structure."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._runs: dict[object, tuple[Run, ...]] = {}
        self._agrees: dict[object, bool] = {}

    def runs(self, op: Op) -> tuple[Run, ...]:
        """The indices that are nothing but places."""
        key = _key(op)
        result = self._runs.get(key)
        if result is None:
            result = self._runs[key] = tuple(_runs(op))
        return result

    def run_at(self, op: Op, is_result: bool, number: int, axis: int) -> Run | None:
        """The only index that runs over an axis of an operand or a result."""
        results = [r for r in self.runs(op) if axis in r.at(is_result, number)]
        return results[0] if len(results) == 1 else None

    def may_divide(self, op: Op, run: Run, period: int) -> bool:
        """Whether an operation can be divided along an index in blocks of a period."""
        if not run.may_be_divided(period, self._ranks):
            return False
        key = (_key(op), run)
        result = self._agrees.get(key)
        if result is None:
            result = self._agrees[key] = self._says_the_same(op, run)
        return result

    def _says_the_same(self, op: Op, run: Run) -> bool:
        kinds = list(zip(_parts(op.operands, run, False, self._ranks), op.operands, strict=True))
        expected = _parts(op.results, run, True, self._ranks)
        if None in expected or any(kind is None for kind, _ in kinds):
            return False
        splits = [Split(a[0], 0) if (a := run.at(True, n)) else None for n in range(len(op.results))]
        operands = tuple([Value(kind) for kind, _ in kinds if kind is not None])
        try:
            part = on_parts(op, operands, splits, self._ranks)
            whole, local = infer(op), infer(part)
        except (DiagnosticError, NotationError):
            return False
        return list(local.types) == expected and _alike(whole, local, run, self._ranks)


def on_parts(op: Op, operands: Sequence[Value], splits: Sequence[Split | None], ranks: int) -> Op:
    """Returns an operation on shards of its operands with sharded results: attributes with dims are those of
    parts.

    Raises: DiagnosticError when it cannot be.
    """
    split = splits[0] if splits else None
    changes: Mapping[str, object] = {} if split is None else _sizes_of_parts(op, split, ranks)
    result = copied(op, tuple(operands), (), **changes)
    assert isinstance(result, Op)
    return result


def _sizes_of_parts(op: Op, split: Split, ranks: int) -> Mapping[str, object]:
    match op:
        case core.Reshape() | core.BroadcastTo() | core.Iota():
            type = part_type(op.results[0].type, split, ranks)
            return {"shape": type.shape if isinstance(type, TensorType) else None}
        case core.Split(axis=axis, sizes=sizes) if axis % len(_shape(op.x)) == split.axis:
            return {"sizes": tuple([n // ranks if isinstance(n, int) else n for n in sizes])}
        case core.Slice():
            return _bounds_of_part(op, split.axis, ranks)
        case _:
            return {}


def _bounds_of_part(op: core.Slice, axis: int, ranks: int) -> Mapping[str, object]:
    size, length = _shape(op.x)[axis], _shape(op.y)[axis]
    start = op.starts[axis]
    if not (isinstance(size, int) and isinstance(length, int) and isinstance(start, int)):
        return {}
    first = max(start + size, 0) if start < 0 else min(start, size)
    bounds = {"starts": first // ranks, "stops": (first + length) // ranks}
    return {
        name: tuple([bounds[name] if n == axis else v for n, v in enumerate(given)])
        for name, given in (("starts", op.starts), ("stops", op.stops))
    }


def _shape(value: Value) -> tuple[Dim | None, ...]:
    return (value.type.shape or ()) if isinstance(value.type, TensorType) else ()


def _key(op: Op) -> object:
    """Returns a key that operations of one meaning share; one that looks at elements has its own."""
    if op.layout.read_operands:
        return op
    return type(op), op.decoded_attributes(), op.operand_offsets, tuple([v.type for v in op.operands])


def _parts(values: Sequence[Value], run: Run, is_result: bool, ranks: int) -> list[Type | None]:
    """The types of the parts of values; None for one that would be divided along two axes."""
    out: list[Type | None] = []
    for n, v in enumerate(values):
        axes = run.at(is_result, n)
        out.append(v.type if not axes else part_type(v.type, Split(axes[0], 0), ranks) if len(axes) == 1 else None)
    return out


# -- the places of indices


def _runs(op: Op) -> Iterable[Run]:
    try:
        derived = infer(op)
    except DiagnosticError:
        return
    if derived.is_data_dependent or not derived.kernels:
        return
    finder = _Places(op, derived)
    for name, places in finder.places.items():
        if name not in finder.refused and (name in finder.summed) != (name in finder.kept):
            yield Run(name, tuple(dict.fromkeys(places)), name in finder.summed)


class _Places:
    """Where the indices of an operation occur. `kept` are axes of results; `refused` occur otherwise than as places."""

    def __init__(self, op: Op, derived: Derived) -> None:
        self.places: dict[str, list[IndexPlace]] = {}
        self.refused: set[str] = set()
        self.kept: set[str] = set()
        self.summed: set[str] = set()
        self._names = operand_names(op)
        for number, (kernel, extents) in enumerate(zip(derived.kernels, derived.extents, strict=True)):
            self._of_result(number, kernel, extents)
            self._of_body(kernel)

    def _of_result(self, number: int, kernel: Kernel, extents: Mapping[str, Dim]) -> None:
        for axis, at in enumerate(kernel.axes):
            name = plain(at)
            if name is not None:
                self.kept.add(name)
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
    """Whether views leave an axis of an operand as it is."""
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


def _alike(whole: Derived, part: Derived, run: Run, ranks: int) -> bool:
    """Whether an operation says the same of parts as of the whole, apart from sizes."""
    if len(whole.kernels) != len(part.kernels):
        return False
    pairs = [(a.body, b.body) for a, b in zip(whole.kernels, part.kernels, strict=True)]
    for one, other in zip(whole.kernels, part.kernels, strict=True):
        if not all(a == b or (b == 1 and plain(a) == run.name) for a, b in zip(one.axes, other.axes, strict=True)):
            return False
    seen: set[tuple[Expr, Expr]] = set()
    while pairs:
        pair = pairs.pop()
        if pair in seen:
            continue
        seen.add(pair)
        one, other = pair
        if not _same_form(one, other, run, ranks) or len(children(one)) != len(children(other)):
            return False
        pairs += zip(children(one), children(other), strict=True)
    return True


def _same_form(one: Expr, other: Expr, run: Run, ranks: int) -> bool:
    match one, other:
        case Access(), Access():
            same = one.tensor.name == other.tensor.name and len(one.at) == len(other.at)
            views = [[v for v, _ in a.tensor.steps] for a in (one, other)]
            places = zip(one.at, other.at, strict=True) if same else ()
            return same and views[0] == views[1] and all(_same_place(p, q, run, ranks) for p, q in places)
        case Const(), Const():
            return one is other
        case Position(), Position():
            return one is other
        case Fold(), Fold():
            return (one.fn, one.over) == (other.fn, other.over)
        case Join(), Join():
            return one.along == other.along
        case Apply(), Apply():
            return one.fn == other.fn
        case Cast(), Cast():
            return one.dtype is other.dtype
        case _:
            return False


def _same_place(one: Dim | Expr, other: Dim | Expr, run: Run, ranks: int) -> bool:
    if isinstance(one, Expr) or isinstance(other, Expr):
        return isinstance(one, Expr) and isinstance(other, Expr)
    if run.name not in names(one):
        return one == other
    # An axis of which each rank has one position is read at that position.
    is_single = run.name not in names(other) and all(p.size == ranks for p in run.places)
    whole, part = one - index(run.name), other if is_single else other - index(run.name)
    return isinstance(whole, int) and isinstance(part, int) and whole == part * ranks
