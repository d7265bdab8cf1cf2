"""Positions in code: the loops around it, and sums of their indices, each computed in the outermost loop that can.

Each loop is a scope that binds an index. Values are kept in the scope that they belong to, and are computed there once.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager

from commonir.llvm.llvm_ir import I32, Function, LlvmType, LlvmValue, Region
from commonir.notation import Expr
from commonir.symbolic import Atom, Dim, DimExpr, Floor, Max, Mod, Symbol, at_least, extreme, names, terms_of, total


class LoopScope:
    """A loop, or a part of one, that binds an index. Lane `n` of a vector has the value plus `n`.

    The value of a vector that `is_aligned` is a multiple of the lanes.
    """

    __slots__ = ("index", "is_aligned", "lanes", "mask", "parent", "region", "sums", "value", "values")

    def __init__(
        self,
        parent: LoopScope | None,
        region: Region,
        name: str = "",
        value: LlvmValue | None = None,
        lanes: int = 1,
        mask: LlvmValue | None = None,
        *,
        is_aligned: bool = False,
    ) -> None:
        self.parent = parent
        self.region = region
        self.index = name
        self.value = value
        self.lanes = lanes
        self.mask = mask
        self.is_aligned = is_aligned
        self.values: dict[Expr, LlvmValue] = {}
        self.sums: dict[Dim, LlvmValue] = {}


class PositionCode:
    """Adds code that computes positions to a function; `sizes` are symbols. Positions in vectors have 32 bits."""

    def __init__(self, function: Function, sizes: Mapping[str, LlvmValue]) -> None:
        self._f = function
        self._sizes = sizes
        self._scope = LoopScope(None, function.region)
        # Positions read from data, and the indices that they depend on.
        self._data: dict[str, LlvmValue] = {}
        self._indices_of_data: dict[str, tuple[str, ...]] = {}
        self._extents: Mapping[str, Dim] = {}

    # -- scopes

    @contextmanager
    def bound(
        self, name: str, value: LlvmValue | None, lanes: int = 1, mask: LlvmValue | None = None
    ) -> Generator[None]:
        """Opens a scope that binds an index in the region that instructions are added to."""
        with self._entered(LoopScope(self._scope, self._f.region, name, value, lanes, mask)):
            yield

    @contextmanager
    def _entered(self, scope: LoopScope) -> Generator[None]:
        """Adds instructions within a scope, to the region that they are added to already."""
        before = self._scope
        self._scope = scope
        try:
            yield
        finally:
            self._scope = before

    @contextmanager
    def bound_all(self, values: Mapping[str, LlvmValue]) -> Generator[None]:
        """Opens scopes that bind several indices."""
        if not values:
            yield
            return
        (name, value), *others = values.items()
        with self.bound(name, value), self.bound_all(dict(others)):
            yield

    @contextmanager
    def _within(self, scope: LoopScope) -> Generator[None]:
        """Adds instructions to an outer scope."""
        before = self._scope
        self._scope = scope
        try:
            with self._f.inserting(scope.region):
                yield
        finally:
            self._scope = before

    def _owner(self, needed: Iterable[str]) -> LoopScope:
        """Returns the innermost scope that binds one of some indices."""
        wanted = self._indices(needed)
        scope = self._scope
        while scope.parent is not None and scope.index not in wanted:
            scope = scope.parent
        return scope

    def _indices(self, needed: Iterable[str]) -> set[str]:
        """Returns indices, with those that data positions among them depend on."""
        return {i for name in needed for i in (name, *self._indices_of_data.get(name, ()))}

    def _scope_of(self, name: str) -> LoopScope | None:
        """Returns the scope that binds an index."""
        scope: LoopScope | None = self._scope
        while scope is not None and scope.index != name:
            scope = scope.parent
        return scope

    @property
    def _vector(self) -> LoopScope | None:
        """The scope whose index has a value for each lane, if instructions here are inside of one."""
        scope: LoopScope | None = self._scope
        while scope is not None and scope.lanes == 1:
            scope = scope.parent
        return scope

    # -- positions

    def size(self, dim: Dim) -> LlvmValue:
        """Returns an expression of sizes, indices without lanes, and scalar data, in 64 bits.

        Each part is computed in the innermost scope that it needs, so that outer loops compute outer parts.
        """
        if isinstance(dim, int):
            return self._f.integer(dim)
        scope = self._owner(names(dim))
        result = scope.sums.get(dim)
        if result is None:
            inner = [DimExpr({m: c}) if m else c for m, c in terms_of(dim).items() if self._needs(m, scope)]
            rest = dim - total(inner)
            with self._within(scope):
                result = self._sum(inner)
                if rest != 0:
                    result = self.size(rest) + result if inner else result
            scope.sums[dim] = result
        return result

    def _needs(self, monomial: Sequence[Atom], scope: LoopScope) -> bool:
        if scope.parent is None:
            return True
        return bool(monomial) and scope.index in self._indices(names(DimExpr({tuple(monomial): 1})))

    def _sum(self, parts: Iterable[Dim]) -> LlvmValue:
        out = self._f.integer(0)
        for part in parts:
            for m, c in terms_of(part).items():
                term = self._f.integer(c)
                for a in m:
                    term = self._atom(a) * term
                out = term if out.number == 0 else out + term
        return out

    def _atom(self, a: Atom) -> LlvmValue:
        f = self._f
        match a:
            case Symbol():
                return self._index(a.name) if a.is_index else self._sizes[a.name]
            case Floor() | Mod():
                x, y = self.size(a.num), self.size(a.den)
                return self._divided(a, x, y)
            case Max():
                first, *others = [self.size(y) for y in a.args]
                for y in others:
                    first = f.intrinsic("smax", first, y)
                return first

    def _index(self, name: str) -> LlvmValue:
        scope = self._scope_of(name)
        return self._data[name] if scope is None or scope.value is None else scope.value

    def _divided(self, a: Floor | Mod, x: LlvmValue, y: LlvmValue) -> LlvmValue:
        """Returns a floor or remainder; of numbers that cannot be negative by plain division."""
        f, is_floor = self._f, isinstance(a, Floor)
        if y.number is None:
            # Where a size is zero nothing is read at the position, but the processor would fault.
            y = f.select(y.compare("eq", 0), f.constant(y.type, 1), y)
        if self._is_nonnegative(a.num) and self._is_nonnegative(a.den):
            op = "udiv" if is_floor else "urem"
            return f.binary(op, op, x, y)
        r = f.binary("srem", "srem", x, y)
        differs = (r ^ y).compare("slt", 0) & r.compare("ne", 0)
        if not is_floor:
            return f.select(differs, r + y, r)
        return f.binary("sdiv", "sdiv", x, y) - f.cast("zext", differs, r.type.scalar)

    def _is_nonnegative(self, dim: Dim) -> bool:
        if any(n in self._data for n in names(dim)):
            return False
        return at_least(extreme(dim, self._extents, upper=False), 0)

    def _varies(self, dim: Dim) -> bool:
        """Returns whether a position differs between lanes."""
        vector = self._vector
        return any((vector is not None and n == vector.index) or self._has_lanes(n) for n in names(dim))

    def _has_lanes(self, name: str) -> bool:
        return name in self._data and self._data[name].type.lanes > 1

    def _position(self, dim: Dim) -> LlvmValue:
        """Returns a position: in 64 bits, or in 32 bits for each lane where lanes differ."""
        return self._lane_position(dim) if self._varies(dim) else self.size(dim)

    def _lane_position(self, dim: Dim) -> LlvmValue:
        """Returns the positions of all lanes, in 32 bits."""
        out: LlvmValue | None = None
        fixed: list[Dim] = []
        for m, c in terms_of(dim).items():
            part: Dim = DimExpr({m: c}) if m else c
            if not self._varies(part):
                fixed.append(part)
                continue
            term = self._f.constant(I32, c)
            for a in m:
                term = self._lane_atom(a) * term
            out = term if out is None else out + term
        rest = total(fixed)
        start = self._narrow(self.size(rest))
        if out is None:
            return start
        return out if rest == 0 else out + self._f.splat(start, out.type.lanes)

    def _narrow(self, x: LlvmValue) -> LlvmValue:
        return self._f.constant(I32, x.number) if x.number is not None else self._f.cast("trunc", x, "i32")

    def _lane_atom(self, a: Atom) -> LlvmValue:
        f = self._f
        if not self._varies(DimExpr({(a,): 1})):
            return self._narrow(self.size(DimExpr({(a,): 1})))
        match a:
            case Symbol():
                if self._has_lanes(a.name):
                    return self._data[a.name]
                scope = self._scope_of(a.name)
                assert scope is not None
                assert scope.value is not None
                numbers = f.lane_numbers(LlvmType("i32", scope.lanes))
                return f.splat(self._narrow(scope.value), scope.lanes) + numbers
            case Floor() | Mod():
                x, y = f.paired(self._lane_position(a.num), self._lane_position(a.den))
                return self._divided(a, x, y)
            case Max():
                first, *others = [self._lane_position(y) for y in a.args]
                for y in others:
                    x, y = f.paired(first, y)
                    first = f.intrinsic("smax", x, y)
                return first
