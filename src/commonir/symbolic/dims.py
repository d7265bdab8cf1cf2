"""Integer expressions in normal form: symbolic dimensions and index expressions are one algebra.

A `DimExpr` is a polynomial with integer coefficients over atoms: symbols, `floor(p / q)`, `p mod q` and `max(p, ...)`.
Ceiling and minimum are negations of these. Expressions are in normal form, so equal normal forms are equal
expressions; a constant is always an `int`, so static shapes do not pay for symbols.
Two symbols are never merged and no symbol is ever assumed to have a value. Divisors are assumed to be positive.
Arithmetic raises NotKnownError for a result of more than `MAX_SIZE` symbols, which is an unknown dimension in types.
Knows nothing of tensors. Source: `docs/architecture.md`, "Types that cross borders".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import gcd, inf

from commonir.base.lazy import lazy_pattern
from commonir.symbolic.errors import NotKnownError

MAX_SIZE = 512
"""The most symbols of an expression, each occurrence counted: products of sums and nested divisions multiply them.

Dimensions of a chain of N concatenations have N symbols: comparing one takes time for each, 10 ms at this size.
"""

_FEW_TERMS = 64
"""Sums of up to this many terms are not measured, because indices of kernels are added all the time."""


class Symbol:
    """A named dimension (at least `least`), or an index (at least 0, below its range)."""

    __slots__ = ("is_index", "key", "least", "name")

    size = 1

    def __init__(self, name: str, is_index: bool, least: int) -> None:
        self.name = name
        self.is_index = is_index
        self.least = least
        self.key = f"{name}?" if is_index else name if least == 1 else f"{name}>{least}"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Symbol) and other.key == self.key)

    def __hash__(self) -> int:
        return hash(self.key)


class Floor:
    """`floor(num / den)`."""

    __slots__ = ("den", "key", "num", "size")

    def __init__(self, num: Dim, den: Dim) -> None:
        self.size = _checked_size(num, den)
        self.num = num
        self.den = den
        self.key = f"floor({key_of(num)},{key_of(den)})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Floor) and other.key == self.key)

    def __hash__(self) -> int:
        return hash(self.key)


class Mod:
    """`num mod den`, with the sign of `den`."""

    __slots__ = ("den", "key", "num", "size")

    def __init__(self, num: Dim, den: Dim) -> None:
        self.size = _checked_size(num, den)
        self.num = num
        self.den = den
        self.key = f"mod({key_of(num)},{key_of(den)})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Mod) and other.key == self.key)

    def __hash__(self) -> int:
        return hash(self.key)


class Max:
    """The largest of at least two values, none of which is known to be at least another."""

    __slots__ = ("args", "key", "size")

    def __init__(self, args: tuple[Dim, ...]) -> None:
        self.size = _checked_size(*args)
        self.args = tuple(sorted(args, key=key_of))
        self.key = f"max({','.join(map(key_of, self.args))})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Max) and other.key == self.key)

    def __hash__(self) -> int:
        return hash(self.key)


Atom = Symbol | Floor | Mod | Max
Monomial = tuple[Atom, ...]
"""A product of atoms, sorted by `key`; the empty product is 1."""
Terms = dict[Monomial, int]


class DimExpr:
    """A polynomial in normal form that is not a constant; operators return an `int` when the result is one."""

    __slots__ = ("_bounds", "_hash", "_key", "_names", "_size", "_text", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._key: str | None = None
        self._bounds: tuple[float, float] | None = None
        self._names: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        self._size = 0
        self._text: str | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DimExpr) and other.terms == self.terms)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    @property
    def key(self) -> str:
        """A string that equal expressions share and others do not: orders expressions the same way in every run."""
        if self._key is None:
            parts = [f"{c}*{'*'.join([a.key for a in m])}" for m, c in self.terms.items()]
            self._key = "+".join(sorted(parts))
        return self._key

    @property
    def size(self) -> int:
        """The number of symbols in it, each occurrence counted."""
        if not self._size:
            self._size = sum([a.size for m in self.terms for a in m])
        return self._size

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds over all values of the symbols; see `bounds`."""
        if self._bounds is None:
            self._bounds = _bounds_of(self.terms)
        return self._bounds

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the indices, and names of the symbols, each in order of occurrence."""
        if self._names is None:
            seen: dict[Symbol, None] = {}
            for m in self.terms:
                for a in m:
                    if isinstance(a, Symbol):
                        seen[a] = None
                    else:
                        seen.update(dict.fromkeys(_symbols_in(a)))
            self._names = (
                tuple(dict.fromkeys(s.name for s in seen if s.is_index)),
                tuple(dict.fromkeys(s.name for s in seen if not s.is_index)),
            )
        return self._names

    def __add__(self, other: Dim) -> Dim:
        if not _is_dim(other):
            return NotImplemented
        out = dict(self.terms)
        for m, c in terms_of(other).items():
            out[m] = out.get(m, 0) + c
        if len(out) > _FEW_TERMS:
            _checked_size(self, other)
        return normal(out)

    __radd__ = __add__

    def __neg__(self) -> DimExpr:
        return DimExpr({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Dim) -> Dim:
        if not _is_dim(other):
            return NotImplemented
        return self + -other

    def __rsub__(self, other: Dim) -> Dim:
        if not _is_dim(other):
            return NotImplemented
        return -self + other

    def __mul__(self, other: Dim) -> Dim:
        if not _is_dim(other):
            return NotImplemented
        if isinstance(other, int):
            return self if other == 1 else normal({m: c * other for m, c in self.terms.items()})
        if self.size * len(other.terms) + other.size * len(self.terms) > MAX_SIZE:
            raise _too_large()
        out: Terms = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                product = _sorted(m + n) if m and n else m or n
                out[product] = out.get(product, 0) + c * d
        return normal(out)

    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        if not _is_dim(other):
            return NotImplemented
        return floor_div(self, other)

    def __rfloordiv__(self, other: int) -> Dim:
        return floor_div(other, self)

    def __mod__(self, other: Dim) -> Dim:
        if not _is_dim(other):
            return NotImplemented
        return modulo(self, other)

    def __rmod__(self, other: int) -> Dim:
        return modulo(other, self)

    def __str__(self) -> str:
        # Printing asks for the text of an operand several times, at each level of nesting.
        if self._text is None:
            self._text = _print(self)
        return self._text

    def __repr__(self) -> str:
        return str(self)


Dim = int | DimExpr
"""An integer, or an expression that is not a constant."""


def _is_dim(x: object) -> bool:
    """Returns whether an operand is a dim; other expression types implement the operation themselves."""
    return isinstance(x, (int, DimExpr))


def total(parts: Iterable[Dim]) -> Dim:
    """Returns the sum of expressions, in time linear in their terms: each of many additions would copy those before."""
    out: Terms = {}
    for x in parts:
        for m, c in terms_of(x).items():
            out[m] = out.get(m, 0) + c
    if len(out) > _FEW_TERMS and sum([a.size for m in out for a in m]) > MAX_SIZE:
        raise _too_large()
    return normal(out)


def size_of(x: Dim) -> int:
    """Returns the number of symbols in an expression, each occurrence counted."""
    return 0 if isinstance(x, int) else x.size


def _checked_size(*parts: Dim) -> int:
    """Returns the size of what is made of some expressions. Raises: NotKnownError when it is too large."""
    result = sum(map(size_of, parts))
    if result > MAX_SIZE:
        raise _too_large()
    return max(result, 1)


def _too_large() -> NotKnownError:
    return NotKnownError(f"a dimension is an expression of more than {MAX_SIZE:,} symbols")


def parts_of(atom: Atom) -> tuple[Dim, ...]:
    """Returns the expressions that an atom is made of."""
    match atom:
        case Symbol():
            return ()
        case Floor() | Mod():
            return atom.num, atom.den
        case Max():
            return atom.args


def _symbols_in(atom: Atom) -> list[Symbol]:
    """Returns the symbols inside an atom, in order of occurrence, perhaps repeated."""
    if isinstance(atom, Symbol):
        return [atom]
    return [s for p in parts_of(atom) for m in terms_of(p) for a in m for s in _symbols_in(a)]


def symbols_in(x: Dim) -> tuple[Symbol, ...]:
    """Returns the symbols and indices of an expression, in order of occurrence."""
    return tuple(dict.fromkeys(s for m in terms_of(x) for a in m for s in _symbols_in(a)))


# Kernels use the same few names repeatedly.
@lru_cache(maxsize=1024)
def symbol(name: str, least: int = 1) -> DimExpr:
    """Returns a dimension known by name only, at least `least`. One name should have one `least` within a program."""
    return DimExpr({(Symbol(name, False, least),): 1})


@lru_cache(maxsize=1024)
def index(name: str) -> DimExpr:
    """Returns an index of a kernel: at least 0 and below its extent."""
    return DimExpr({(Symbol(name, True, 0),): 1})


def key_of(x: Dim) -> str:
    """Returns a string that orders expressions the same way in every run."""
    return str(x) if isinstance(x, int) else x.key


def terms_of(x: Dim) -> Terms:
    """Returns the coefficients of the monomials of an expression."""
    if isinstance(x, DimExpr):
        return x.terms
    return {(): x} if x else {}


def atom_dim(atom: Atom) -> DimExpr:
    """Returns an atom as an expression."""
    return DimExpr({(atom,): 1})


def product_of(m: Monomial, coefficient: int) -> Dim:
    """Returns a coefficient times a product of atoms."""
    return normal({m: coefficient})


def _sorted(m: Monomial) -> Monomial:
    return tuple(sorted(m, key=_atom_key))


def _atom_key(atom: Atom) -> str:
    return atom.key


def without(m: Monomial, part: Monomial) -> Monomial | None:
    """Returns the monomial divided by another, or None when that does not divide it."""
    rest = list(m)
    for a in part:
        if a not in rest:
            return None
        rest.remove(a)
    return tuple(rest)


def normal(terms: Terms) -> Dim:
    """Returns the expression with these terms in normal form.

    Zeros are dropped and `q * floor(p / q)` becomes `p - p mod q`: the only direction in which the two may meet.
    """
    nonzero = {m: c for m, c in terms.items() if c}
    for m, c in nonzero.items():
        for a in m:
            if type(a) is Floor and (expanded := _expand_floor(m, c, a)) is not None:
                rest = dict(nonzero)
                del rest[m]
                return normal(rest) + expanded
    if not nonzero:
        return 0
    if len(nonzero) == 1 and () in nonzero:
        return nonzero[()]
    return DimExpr(nonzero)


def _expand_floor(m: Monomial, c: int, floor: Floor) -> Dim | None:
    """Returns `c * m` without the floor, when the other factors contain its divisor."""
    rest = without(m, (floor,)) or ()
    factor = 1
    if isinstance(floor.den, int):
        factor = floor.den
    elif len(floor.den.terms) == 1:
        ((divisor, factor),) = floor.den.terms.items()
        left = without(rest, divisor)
        if left is None:
            return None
        rest = left
    else:
        return None
    if c % factor:
        return None
    return product_of(rest, c // factor) * (floor.num - modulo(floor.num, floor.den))


def _split(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """Returns `q` and `r` of `a = q * b + r`: `q` has the terms that `b` divides (exactly, if it has several terms)."""
    if isinstance(b, int):
        terms = terms_of(a)
        if any(c % b for m, c in terms.items() if m):
            terms = _rounded(terms)
        q = {m: c // b for m, c in terms.items() if c % b == 0 or not m}
        r = {m: c % b if not m else c for m, c in terms.items() if c % b}
        return normal(q), normal(r)
    if a == b:
        return 1, 0
    if len(b.terms) > 1:
        exact = _divide_exactly(a, b)
        return (0, a) if exact is None else (exact, 0)
    ((mono, coefficient),) = b.terms.items()
    taken: Terms = {}
    left: Terms = {}
    may_be_rounded = coefficient > 1 or any(isinstance(f, Floor) for f in mono)
    for m, c in (_rounded(terms_of(a)) if may_be_rounded else terms_of(a)).items():
        rest = without(m, mono)
        if rest is None or c % coefficient:
            left[m] = c
        else:
            taken[rest] = c // coefficient
    return normal(taken), normal(left)


def _rounded(terms: Terms) -> Terms:
    """Returns the terms with products of multiples of floors, which are written as differences to remainders."""
    while (again := regrouped(terms)) is not terms:
        terms = again
    return terms


def _leading(x: DimExpr) -> Monomial:
    """Returns the leading monomial in graded order."""
    top = max(len(m) for m in x.terms)
    return min((m for m in x.terms if len(m) == top), key=lambda m: [a.key for a in m])


def _divide_exactly(a: Dim, b: DimExpr) -> Dim | None:
    """Returns the quotient of polynomials, when nothing remains."""
    lead = _leading(b)
    quotient: Dim = 0
    rest = a
    for _ in range(len(terms_of(a)) * len(b.terms)):
        if isinstance(rest, int):
            break
        m = _leading(rest)
        left = without(m, lead)
        if left is None or rest.terms[m] % b.terms[lead]:
            return None
        step = product_of(left, rest.terms[m] // b.terms[lead])
        quotient = quotient + step
        rest = rest - step * b
    return quotient if rest == 0 and quotient * b == a else None


def floor_div(a: Dim, b: Dim) -> Dim:
    """Returns `floor(a / b)`. Raises: ZeroDivisionError when `b` is the number 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if b == 0:
        raise ZeroDivisionError(f"division of {a} by zero")
    if b == 1 or a == 0:
        return a
    if bounds(b)[1] < 0:
        return floor_div(-a, -b)
    q, r = _split(a, b)
    if r == 0:
        return q
    if isinstance(b, int) and isinstance(r, DimExpr):
        quotient, rest = _without_remainders(r, b)
        more, rest = _split(rest, b)
        if isinstance(rest, int):
            return q + quotient + more + rest // b
        r, b = _reduce_floor(r, b)
        if b == 1:
            return q + r
    lo, hi = bounds(r)
    if isinstance(b, int) and lo > -inf and hi < inf and lo // b == hi // b:
        return q + int(lo // b)
    if lo >= 0 and bounds(b - r)[0] >= 1:
        return q
    return q + atom_dim(Floor(r, b))


def _without_remainders(r: DimExpr, b: int) -> tuple[Dim, Dim]:
    """Returns `q` and `rest` of `r = q * b + rest`, with each remainder x mod b written as x - b floor(x / b)."""
    q: Dim = 0
    rest: Dim = r
    for m, c in r.terms.items():
        match m:
            case (Mod(num=num, den=den),) if den == b:
                # A remainder that is added is usually that of -x, as in b ceil(x / b).
                same = num - normal(dict.fromkeys(terms_of(num), b)) if c > 0 else num
                q, rest = q - floor_div(same, b) * c, rest + (same - atom_dim(m[0])) * c
            case _:
                pass
    return q, rest


def _reduce_floor(r: DimExpr, b: int) -> tuple[Dim, int]:
    """Returns the quotient with common factors cancelled and a nested floor merged: floor((floor(p/q) + c) / b)."""
    g = gcd(b, *(c for m, c in r.terms.items() if m))
    out: Dim = r
    if g > 1:
        out = normal({m: c // g for m, c in r.terms.items()})
        b //= g
    if isinstance(out, int) or b == 1:
        return out, b
    varying = [m for m in out.terms if m]
    if len(varying) == 1 and len(varying[0]) == 1 and out.terms[varying[0]] == 1:
        inner = varying[0][0]
        if isinstance(inner, Floor) and isinstance(inner.den, int):
            merged = inner.num + out.terms.get((), 0) * inner.den
            if isinstance(merged, DimExpr):
                return _reduce_floor(merged, inner.den * b)
    return out, b


def modulo(a: Dim, b: Dim) -> Dim:
    """Returns `a - b * floor(a / b)`. Raises: ZeroDivisionError when `b` is the number 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if b == 0:
        raise ZeroDivisionError(f"division of {a} by zero")
    if bounds(b)[1] < 0:
        return -modulo(-a, -b)
    _, r = _split(a, b)
    factor = 1
    if isinstance(b, int):
        r = _reduce_terms(r, b)
        factor = gcd(b, *terms_of(r).values())
        r = normal({m: c // factor for m, c in terms_of(r).items()})
        b //= factor
    if r == 0 or b == 1:
        return 0
    lo, hi = bounds(r)
    if lo >= 0 and bounds(b - r)[0] >= 1:
        return r * factor
    if isinstance(b, int) and lo > -inf and hi < inf and lo // b == hi // b:
        return (r - int(lo // b) * b) * factor
    return atom_dim(Mod(r, b)) * factor


def _reduce_terms(r: Dim, b: int) -> Dim:
    """Returns the same remainder by `b` with smaller coefficients and without inner remainders by a multiple of `b`."""
    out: Dim = 0
    for m, c in terms_of(r).items():
        inner = m[0] if len(m) == 1 else None
        if isinstance(inner, Mod) and isinstance(inner.den, int) and (c * inner.den) % b == 0:
            out = out + inner.num * c
        else:
            out = out + normal({m: c})
    reduced = normal({m: c % b for m, c in terms_of(out).items()})
    return reduced if reduced == r else _reduce_terms(reduced, b)


def ceil_div(a: Dim, b: Dim) -> Dim:
    """Returns `a / b`, rounded up."""
    return -floor_div(-a, b)


def regrouped(terms: Terms) -> Terms:
    """Returns the terms with `c*p - c*(p mod q)` written as `c*q*floor(p / q)`, which is bounded more tightly and reads
    better.

    The result is not in normal form and must not be used in arithmetic.
    """
    out = terms
    for m, c in terms.items():
        for a in m:
            if type(a) is Mod:
                out = _pair(out, m, c, a)
    return out


def _pair(terms: Terms, m: Monomial, c: int, mod: Mod) -> Terms:
    """Joins one `mod` with the terms of its numerator, if all of them are present."""
    if terms.get(m) != c or len(terms_of(mod.den)) != 1:
        return terms
    rest = without(m, (mod,)) or ()
    num: Terms = {}
    out = dict(terms)
    del out[m]
    for n, k in terms_of(mod.num).items():
        product = _sorted(n + rest)
        have = out.get(product, 0)
        taken = k
        if isinstance(mod.den, int) and n and have % c == 0 and (-have // c - k) % mod.den == 0:
            taken = -have // c
        if n and (have == 0 or (-c * taken > 0) != (have > 0) or abs(have) < abs(c * taken)):
            return terms
        num[n] = taken
        out[product] = have + c * taken
    numerator = normal(num)
    if isinstance(numerator, int):
        return terms
    floor = Floor(numerator, mod.den)
    for n, k in terms_of(mod.den).items():
        product = _sorted((*rest, floor, *n))
        if product in out:  # the sum would not be expanded again, and would read as another normal form
            return terms
        out[product] = -c * k
    return {n: k for n, k in out.items() if k}


def bounds(x: Dim) -> tuple[float, float]:
    """Returns bounds over all values of the symbols: dimensions at least their `least`, indices at least 0.

    The bounds are integers, or infinite.
    """
    return (x, x) if isinstance(x, int) else x.bounds


def _bounds_of(terms: Terms) -> tuple[float, float]:
    lo, hi = _interval(terms)
    again = regrouped(terms)
    if again is not terms:
        other = _interval(again)
        lo, hi = max(lo, other[0]), min(hi, other[1])
    return lo, hi


def _interval(terms: Terms) -> tuple[float, float]:
    """Returns bounds by interval arithmetic over the terms."""
    lo: float = 0
    hi: float = 0
    for m, c in terms.items():
        if len(m) == 1 and isinstance(m[0], Symbol):
            lo += c * m[0].least if c > 0 else -inf
            hi += inf if c > 0 else c * m[0].least
            continue
        least: float = 1
        most: float = 1
        for a in m:
            low, high = atom_bounds(a)
            corners = [p * q if p and q else 0 for p in (least, most) for q in (low, high)]
            least, most = min(corners), max(corners)
        lo += c * (least if c > 0 else most)
        hi += c * (most if c > 0 else least)
    return lo, hi


def atom_bounds(atom: Atom) -> tuple[float, float]:
    """Returns the bounds of an atom over all values of the symbols."""
    match atom:
        case Symbol():
            return atom.least, inf
        case Mod():
            return 0, min(bounds(atom.den)[1] - 1, bounds(atom.num)[1] if bounds(atom.num)[0] >= 0 else inf)
        case Max():
            each = [bounds(y) for y in atom.args]
            return max(b[0] for b in each), max(b[1] for b in each)
        case Floor():
            low, high = bounds(atom.num)
            least, most = max(bounds(atom.den)[0], 1), bounds(atom.den)[1]
            lo = low if low == -inf else _quotient(low, most if low >= 0 else least)
            hi = high if high == inf else _quotient(high, least if high >= 0 else most)
            return lo, hi


def _quotient(a: float, b: float) -> float:
    """Returns `floor(a / b)` of a finite `a` and a positive, perhaps infinite `b`."""
    if b == inf:
        return 0 if a >= 0 else -1
    return int(a) // int(b)


def _print(x: DimExpr) -> str:
    """Returns the expression on one line, the same in every run."""
    terms: list[tuple[tuple[bool, bool, int, list[str]], str]] = []
    for m, c in regrouped(x.terms).items():
        factors: list[str] = []
        for a in m:
            factor, is_negated = _print_factor(a, c < 0)
            factors.append(factor)
            c = -c if is_negated else c
        magnitude = abs(c)
        body = "*".join(factors if factors and magnitude == 1 else [str(magnitude), *factors])
        # Constants last, positive terms before negative ones, larger products first, then by name.
        terms.append(((not m, c < 0, -len(m), [a.key for a in m]), body))
    out = ""
    for (_, is_negative, _, _), body in sorted(terms):
        if out:
            out += f" - {body}" if is_negative else f" + {body}"
        else:
            out = f"-{body}" if is_negative else body
    return out


def _print_factor(atom: Atom, is_subtracted: bool) -> tuple[str, bool]:
    """Returns an atom, or its negation where that reads better (`min` and `ceil`), and whether it is negated."""
    match atom:
        case Symbol():
            return quoted_name(atom.name), False
        case Floor():
            if is_subtracted or str(atom.num).startswith("-"):
                negated = -atom.num
                if not str(negated).startswith("-"):
                    return f"ceil({_print_part(negated)} / {_print_part(atom.den)})", True
            return f"floor({_print_part(atom.num)} / {_print_part(atom.den)})", False
        case Mod():
            return f"({_print_part(atom.num)} mod {_print_part(atom.den)})", False
        case Max():
            if sum(1 if sum(terms_of(y).values()) < 0 else -1 for y in atom.args) > 0:
                return f"min({', '.join(sorted(str(-y) for y in atom.args))})", True
            return f"max({', '.join(sorted(map(str, atom.args)))})", False


def _print_part(x: Dim) -> str:
    """Returns an operand of a division, in parentheses unless it is a natural number, a name or a call."""
    out = str(x)
    if isinstance(x, int):
        return out if x >= 0 else f"({out})"
    terms = regrouped(x.terms)
    ((m, c),) = terms.items() if len(terms) == 1 else [((), 1)]
    single = len(m) == 1 and c == 1 and not out.startswith("-")
    return out if single else f"({out})"


RESERVED = frozenset({"floor", "ceil", "mod", "max", "min", "where"})
_PLAIN_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*")


def quoted_name(name: str) -> str:
    r"""Returns a name as text: an identifier, or several with dots between, as it is; others quoted, with `\xx` for
    bytes that cannot be in quotes.
    """
    if _PLAIN_NAME.fullmatch(name) and name not in RESERVED:
        return name
    return "'" + "".join(c if c.isprintable() and c not in "'\"\\" else _escape(c) for c in name) + "'"


def _escape(char: str) -> str:
    return "".join(f"\\{b:02x}" for b in char.encode("utf-8", "surrogatepass"))
