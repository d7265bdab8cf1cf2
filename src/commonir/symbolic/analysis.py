"""Analysis of integer expressions: order, substitution, extremes over index ranges.

Results hold for every value of the symbols. Predicates are false when nothing is proven.
Source: `docs/architecture.md`, "Types that cross borders".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from math import gcd, inf, lcm

from commonir.symbolic.dims import (
    Atom,
    Dim,
    DimExpr,
    Floor,
    Max,
    Mod,
    Monomial,
    Symbol,
    Terms,
    atom_dim,
    bounds,
    ceil_div,
    floor_div,
    modulo,
    normal,
    parts_of,
    product_of,
    regrouped,
    terms_of,
    total,
    without,
)
from commonir.symbolic.errors import NotKnownError

PROOF_STEPS = 32
"""The most case distinctions of one comparison."""
_PLAIN_DEPTH = 4


def element_count(shape: Iterable[Dim]) -> Dim:
    """Returns the product of the dimensions."""
    out: Dim = 1
    for n in shape:
        out = out * n
    return out


def largest(*values: Dim) -> Dim:
    """Returns the maximum; values that are provably smaller than another are dropped."""
    return _largest(values, at_least)


def _largest(values: Iterable[Dim], covers: Callable[[Dim, Dim], bool]) -> Dim:
    """Returns the maximum without arguments that another one covers."""
    keep: list[Dim] = []
    for x in dict.fromkeys(values):
        if any(covers(k, x) for k in keep):
            continue
        keep = [*(k for k in keep if not covers(x, k)), x]
    if not keep:
        raise ValueError("the maximum of no values")
    if len(keep) == 1:
        return keep[0]
    flat = [y for x in keep for y in _max_args(x)]
    return atom_dim(Max(tuple(flat))) if len(flat) == len(keep) else _largest(flat, covers)


def _max_args(x: Dim) -> tuple[Dim, ...]:
    """Returns the arguments of a maximum, or the value itself."""
    if isinstance(x, DimExpr) and len(x.terms) == 1:
        ((m, c),) = x.terms.items()
        if c == 1 and len(m) == 1 and isinstance(m[0], Max):
            return m[0].args
    return (x,)


def maxima_in(x: Dim) -> int:
    """Returns the number of maxima of two in an expression, at any depth; comparing it enumerates cases of each."""
    atoms = [a for m in terms_of(x) for a in m if not isinstance(a, Symbol)]
    return sum([(isinstance(a, Max) and len(a.args) - 1) + sum(map(maxima_in, parts_of(a))) for a in atoms])


def smallest(*values: Dim) -> Dim:
    """Returns the minimum; values that are provably larger than another are dropped."""
    return -largest(*(-x for x in values))


def at_least(a: Dim, b: Dim) -> bool:
    """Returns whether `a >= b` is proven for every value of the symbols."""
    if isinstance(a, int) and isinstance(b, int):
        return a >= b
    try:
        x = a - b
        return _is_nonnegative_alone(x) or (isinstance(x, DimExpr) and _is_proven_nonnegative(x))
    except NotKnownError:  # the difference is too large
        return False


@lru_cache(maxsize=1024)
def _is_proven_nonnegative(x: DimExpr) -> bool:
    """Cached, because the operands and results of a definition need the same proofs."""
    return _is_nonnegative(x, PROOF_STEPS)


def _is_nonnegative(x: Dim, steps: int, facts: tuple[Dim, ...] = ()) -> bool:
    """Returns whether `x >= 0` is proven where all `facts` are at least 0."""
    if any(_is_nonnegative_alone(y) for y in (x, *(x - f for f in facts))):
        return True
    if isinstance(x, int) or steps <= 0:
        return False
    return _holds_by_argument(x, steps, facts) or _holds_by_cases(x, steps, facts)


def _is_nonnegative_alone(x: Dim) -> bool:
    if isinstance(x, int):
        return x >= 0
    return x.bounds[0] >= 0 or _floors_are_nonnegative(regrouped(x.terms))


def is_plainly_at_least(a: Dim, b: Dim, fact: Dim = 0) -> bool:
    """Returns whether `a >= b` follows directly from the maxima and minima in it, as for a position clamped to a range.

    `fact` is an expression that is at least 0. This proves less than `at_least`, and is fast for many indices and
    symbols.
    """
    return _is_plainly_nonnegative(a - b, _PLAIN_DEPTH, fact)


def _is_plainly_nonnegative(x: Dim, depth: int, fact: Dim) -> bool:
    """Uses that a maximum that is added is at least any of its arguments, and one that is subtracted is one of them."""
    if _is_nonnegative_alone(x) or _is_nonnegative_alone(x - fact):
        return True
    if isinstance(x, int) or depth == 0:
        return False
    for m, c in x.terms.items():
        if len(m) == 1 and isinstance(m[0], Max):
            others = x - product_of(m, c)
            decide = any if c > 0 else all
            if decide(_is_plainly_nonnegative(others + y * c, depth - 1, fact) for y in m[0].args):
                return True
    return False


def _holds_by_argument(x: DimExpr, steps: int, facts: tuple[Dim, ...]) -> bool:
    """Uses that a maximum that is added is at least each of its arguments: a proof for one argument is enough."""
    for m, c in x.terms.items():
        for a in m:
            rest = without(m, (a,)) or ()
            if isinstance(a, Max) and c > 0 and bounds(product_of(rest, 1))[0] >= 0:
                others = x - product_of(m, c)
                left = steps // len(a.args)
                return any(_is_nonnegative(others + product_of(rest, c) * y, left, facts) for y in a.args)
    return False


def _holds_by_cases(x: DimExpr, steps: int, facts: tuple[Dim, ...]) -> bool:
    """Uses that a maximum is one of its arguments, which is then at least the others: proves each case."""
    a = _first_max(x)
    if a is None:
        return False
    left = steps // len(a.args)
    for y in a.args:
        here = (*facts, *(y - z for z in a.args if z != y))
        try:
            # Enclosing maxima are not simplified again: nested proofs would take exponential time.
            case = _rebuilt(x, lambda b, y=y: y if b == a else None, _covers_alone)
        except ZeroDivisionError:  # a size that may be zero divides
            return False
        if not _is_nonnegative(case, left, here):
            return False
    return True


def _covers_alone(a: Dim, b: Dim) -> bool:
    return _is_nonnegative_alone(a - b)


def _first_max(x: Dim) -> Max | None:
    """Returns the first maximum, anywhere in the expression, that contains no other."""
    for m in terms_of(x):
        for a in m:
            inside = (b for b in map(_first_max, parts_of(a)) if b is not None)
            result = next(inside, a if isinstance(a, Max) else None)
            if result is not None:
                return result
    return None


_ConstantFloor = tuple[Floor, int, int]
"""A floor by a constant, that constant, and the coefficient of the floor."""


def _floors_are_nonnegative(terms: Terms) -> bool:
    """Relaxes each floor by a constant divisor: `p - (q - 1) <= q * floor(p / q) <= p`."""
    floors: list[_ConstantFloor] = []
    for m, c in terms.items():
        f = m[0] if len(m) == 1 else None
        if isinstance(f, Floor) and isinstance(f.den, int):
            floors.append((f, f.den, c))
    if not floors:
        return False
    return _relaxed(terms, floors, lcm(*(q for _, q, _ in floors))) or _same_divisor(terms, floors)


def _relaxed(terms: Terms, floors: list[_ConstantFloor], scale: int) -> bool:
    opened = {(f,) for f, _, _ in floors}
    low = _sum({m: c for m, c in terms.items() if m not in opened}) * scale
    for f, q, c in floors:
        slack = q - 1 if c > 0 else 0
        low = low + (f.num - slack) * (c * (scale // q))
    return bounds(low)[0] > -scale


def _same_divisor(terms: Terms, floors: list[_ConstantFloor]) -> bool:
    """`floor(p / d) - floor(r / d) >= floor((p - r) / d)`."""
    x = _sum(terms)
    for p, q, c in floors:
        for r, s, d in floors:
            least = bounds(p.num - r.num)[0] if c == -d and c > 0 and q == s else -inf
            if least > -inf:
                rest = x - atom_dim(p) * c + atom_dim(r) * c + c * (int(least) // q)
                if bounds(rest)[0] >= 0:
                    return True
    return False


def _sum(terms: Terms) -> Dim:
    return normal(dict(terms))


def compare(a: Dim, b: Dim) -> bool | None:
    """Returns whether `a` equals `b`: True (for every value of the symbols), False (for none) or None (it depends)."""
    if a == b:
        return True
    if isinstance(a, int) and isinstance(b, int):
        return False
    try:
        difference = a - b
    except NotKnownError:  # too large to be compared
        return None
    if isinstance(difference, int):
        return difference == 0
    step = gcd(*(c for m, c in difference.terms.items() if m))
    if difference.terms.get((), 0) % step:
        return False
    above, below = at_least(difference, 0), at_least(-difference, 0)
    if above and below:
        return True
    if (above and at_least(difference, 1)) or (below and at_least(-difference, 1)):
        return False
    return None


def substitute(x: Dim, values: Mapping[str, Dim]) -> Dim:
    """Returns the expression with symbols replaced by name, in normal form again. Indices stay as they are."""
    return _substituted(x, values, is_index=False)


def substitute_indices(x: Dim, values: Mapping[str, Dim]) -> Dim:
    """Returns the expression with indices replaced by name, in normal form again. Symbols stay as they are."""
    return _substituted(x, values, is_index=True)


def _substituted(x: Dim, values: Mapping[str, Dim], *, is_index: bool) -> Dim:
    if isinstance(x, int) or not any(n in values for n in (names(x) if is_index else symbols(x))):
        return x
    return _rebuilt(x, lambda a: values.get(a.name) if isinstance(a, Symbol) and a.is_index == is_index else None)


def _rebuilt(x: Dim, replace: Callable[[Atom], Dim | None], covers: Callable[[Dim, Dim], bool] = at_least) -> Dim:
    """Returns the expression with atoms replaced, outermost first, in normal form again; None leaves an atom.

    `covers` returns whether an argument of a maximum makes another one redundant.
    """
    parts: list[Dim] = []
    for m, c in terms_of(x).items():
        term: Dim = c
        for a in m:
            new = replace(a)
            term = term * (_rebuilt_atom(a, replace, covers) if new is None else new)
        parts.append(term)
    return total(parts)


def _rebuilt_atom(atom: Atom, replace: Callable[[Atom], Dim | None], covers: Callable[[Dim, Dim], bool]) -> Dim:
    match atom:
        case Symbol():
            return atom_dim(atom)
        case Floor():
            return floor_div(_rebuilt(atom.num, replace, covers), _rebuilt(atom.den, replace, covers))
        case Mod():
            return modulo(_rebuilt(atom.num, replace, covers), _rebuilt(atom.den, replace, covers))
        case Max():
            return _largest([_rebuilt(y, replace, covers) for y in atom.args], covers)


def evaluate(x: Dim, values: Mapping[str, int]) -> int:
    """Returns the value of the expression. Raises: ValueError when a symbol has no value."""
    if isinstance(x, int):
        return x
    out = 0
    for m, c in x.terms.items():
        term = c
        for a in m:
            term *= _evaluate_atom(a, values)
        out += term
    return out


def _evaluate_atom(atom: Atom, values: Mapping[str, int]) -> int:
    match atom:
        case Symbol():
            if atom.name not in values:
                raise ValueError(f"symbol '{atom.name}' has no value")
            return values[atom.name]
        case Floor():
            return evaluate(atom.num, values) // evaluate(atom.den, values)
        case Mod():
            return evaluate(atom.num, values) % evaluate(atom.den, values)
        case Max():
            return max(evaluate(y, values) for y in atom.args)


def range_within(x: Dim, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """Returns bounds of an expression whose symbols are in ranges of numbers, by interval arithmetic."""
    if isinstance(x, int):
        return x, x
    low = high = 0
    for m, c in x.terms.items():
        least = most = c
        for a in m:
            corners = [p * q for p in (least, most) for q in _atom_within_ranges(a, ranges)]
            least, most = min(corners), max(corners)
        low, high = low + least, high + most
    return low, high


def _atom_within_ranges(atom: Atom, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    match atom:
        case Symbol():
            return ranges[atom.name]
        case Max():
            each = [range_within(y, ranges) for y in atom.args]
            return max([low for low, _ in each]), max([high for _, high in each])
        case Floor() | Mod():
            low, high = range_within(atom.num, ranges)
            least, most = [max(n, 1) for n in range_within(atom.den, ranges)]
            if isinstance(atom, Mod):
                return (low, high) if low >= 0 and high < least else (0, most - 1)
            corners = [n // d for n in (low, high) for d in (least, most)]
            return min(corners), max(corners)


def extreme(x: Dim, extent: Mapping[str, Dim], upper: bool) -> Dim:
    """Returns the largest (or smallest) value of an index expression over the ranges of its indices.

    The result has no indices left. It is a bound, which is reached when `is_tight`.
    Indices range over `0 <= i < extent[i]`; every extent is assumed to be at least 1.
    """
    if isinstance(x, int) or not x.names[0]:
        return x
    number = _extreme_of_sum(x, extent, upper)
    if number is not None:
        return number
    for m, c in x.terms.items():
        if len(m) == 1 and isinstance(m[0], Max) and atom_dim(m[0]).names[0]:
            return _extreme_by_cases(x - atom_dim(m[0]) * c, m[0], c, extent, upper)
    out: Dim = 0
    terms = regrouped(x.terms)
    for index, together in _by_index(terms).items():
        factor = _sum({without(m, (index,)) or (): c for m, c in together.items()})
        if at_least(factor, 0) or at_least(-factor, 0):
            out = out + (factor * (extent[index.name] - 1) if upper == at_least(factor, 0) else 0)
            terms = {m: c for m, c in terms.items() if m not in together}
    for m, c in terms.items():
        lo, hi = _monomial_range(m, extent)
        out = out + c * (hi if upper == (c > 0) else lo)
    return out


def _extreme_of_sum(x: DimExpr, extent: Mapping[str, Dim], upper: bool) -> int | None:
    """Returns the extreme of a sum of multiples of indices whose ranges are numbers, as most are; None for others."""
    out = 0
    for m, c in x.terms.items():
        if not m:
            out += c
            continue
        index = m[0]
        if len(m) > 1 or type(index) is not Symbol or not index.is_index:
            return None
        size = extent[index.name]
        if not isinstance(size, int):
            return None
        if upper == (c > 0):
            out += c * (size - 1)
    return out


def _has_index(a: Atom) -> bool:
    return a.is_index if isinstance(a, Symbol) else bool(atom_dim(a).names[0])


def _by_index(terms: Terms) -> dict[Symbol, Terms]:
    """Returns by index the terms in which it is multiplied by fixed factors only, where there are several."""
    by_index: dict[Symbol, Terms] = {}
    for m, c in terms.items():
        holders = [a for a in m if _has_index(a)]
        if len(holders) == 1 and isinstance(holders[0], Symbol):
            by_index.setdefault(holders[0], {})[m] = c
    return {index: together for index, together in by_index.items() if len(together) > 1}


def _extreme_by_cases(rest: Dim, a: Max, c: int, extent: Mapping[str, Dim], upper: bool) -> Dim:
    """Returns the extreme of `rest + c * a`, with each argument in the place of the maximum.

    Where the maximum moves away from the requested bound, the mean of two arguments bounds it too:
    `max(p, q) >= (p + q) / 2`.
    """
    cases = [rest + c * y for y in a.args]
    towards = upper == (c > 0)
    if not towards and len(a.args) == 2:
        cases.append(rest + c * ceil_div(a.args[0] + a.args[1], 2))
    ends = [extreme(y, extent, upper) for y in cases]
    return largest(*ends) if towards == upper else smallest(*ends)


def is_tight(x: Dim) -> bool:
    """Returns whether `extreme` is reached: each index occurs once, and only in sums, products and floors."""
    occurrences = list(_occurrences(x))
    return None not in occurrences and len(set(occurrences)) == len(occurrences)


def _occurrences(x: Dim) -> Iterator[str | None]:
    """Yields each occurrence of an index; None for an expression that is not monotonic in it."""
    for m in regrouped(terms_of(x)):
        for a in m:
            match a:
                case Symbol():
                    if a.is_index:
                        yield a.name
                case Floor():
                    yield from _occurrences(a.num)
                    yield from _occurrences(a.den)
                case Mod() | Max():
                    if atom_dim(a).names[0]:
                        yield None


def _monomial_range(m: Monomial, extent: Mapping[str, Dim]) -> tuple[Dim, Dim]:
    """Returns the smallest and largest value of a product of atoms."""
    fixed = tuple([a for a in m if not _has_index(a)])
    lo = hi = product_of(fixed, 1)
    for a in m:
        if a not in fixed:
            low, high = _atom_range(a, extent)
            if at_least(lo, 0) and at_least(low, 0):
                lo, hi = lo * low, hi * high
            else:
                corners = (lo * low, lo * high, hi * low, hi * high)
                lo, hi = smallest(*corners), largest(*corners)
    return lo, hi


def _atom_range(atom: Atom, extent: Mapping[str, Dim]) -> tuple[Dim, Dim]:
    match atom:
        case Symbol():
            return (0, extent[atom.name] - 1) if atom.is_index else (atom_dim(atom), atom_dim(atom))
        case Max():
            return (
                largest(*(extreme(y, extent, False) for y in atom.args)),
                largest(*(extreme(y, extent, True) for y in atom.args)),
            )
        case Mod():
            lo, hi = extreme(atom.num, extent, False), extreme(atom.num, extent, True)
            top = extreme(atom.den, extent, True) - 1
            return 0, hi if at_least(lo, 0) and at_least(top, hi) else top
        case Floor():
            lo, hi = extreme(atom.num, extent, False), extreme(atom.num, extent, True)
            least, most = extreme(atom.den, extent, False), extreme(atom.den, extent, True)
            if least == most:
                return floor_div(lo, least), floor_div(hi, least)
            corners = [floor_div(n, d) for n in (lo, hi) for d in (least, most)]
            return smallest(*corners), largest(*corners)


def within(x: Dim, extent: Mapping[str, Dim]) -> Dim:
    """Returns the same expression without each floor and mod that is constant over the ranges of the indices."""
    if isinstance(x, int) or not x.names[0] or all(type(a) is Symbol for m in x.terms for a in m):
        return x
    parts: list[Dim] = []
    for m, c in x.terms.items():
        term: Dim = c
        for a in m:
            term = term * _atom_within(a, extent)
        parts.append(term)
    return total(parts)


def _atom_within(atom: Atom, extent: Mapping[str, Dim]) -> Dim:
    match atom:
        case Symbol():
            return atom_dim(atom)
        case Max():
            return _max_within([within(y, extent) for y in atom.args], extent)
        case Floor() | Mod():
            num, den = within(atom.num, extent), within(atom.den, extent)
    if all(n in extent for n in atom_dim(atom).names[0]):
        low, high = extreme(num, extent, False), extreme(num, extent, True)
        first = floor_div(low, den) if not isinstance(den, DimExpr) or not den.names[0] else None
        if first is not None and compare(first, floor_div(high, den)):
            return first if isinstance(atom, Floor) else num - den * first
        if at_least(low, 0) and at_least(extreme(den, extent, False) - 1, high):
            return 0 if isinstance(atom, Floor) else num
    if isinstance(den, int):
        factor, rest = _common_factor(num, den, extent)
        if factor > 1:
            num, den = floor_div(num - rest, factor), den // factor
            return floor_div(num, den) if isinstance(atom, Floor) else factor * modulo(num, den) + rest
    return floor_div(num, den) if isinstance(atom, Floor) else modulo(num, den)


def _common_factor(num: Dim, den: int, extent: Mapping[str, Dim]) -> tuple[int, Dim]:
    """Returns a common factor of a divisor and all terms of a dividend but a rest, which is never as large as it."""
    terms = terms_of(num)
    for factor in sorted({gcd(c, den) for c in terms.values()}, reverse=True):
        rest = total([DimExpr({m: c}) if m else c for m, c in terms.items() if c % factor])
        if all(n in extent for n in names(rest)):
            low, high = extreme(rest, extent, False), extreme(rest, extent, True)
            if at_least(low, 0) and at_least(factor - 1, high):
                return factor, rest
    return 1, 0


def _max_within(args: list[Dim], extent: Mapping[str, Dim]) -> Dim:
    """Returns the maximum without arguments that are below another one over the ranges."""
    keep: list[Dim] = []
    for x in args:
        if any(_covers(k, x, extent) for k in keep):
            continue
        keep = [*(k for k in keep if not _covers(x, k, extent)), x]
    return largest(*keep)


def _covers(a: Dim, b: Dim, extent: Mapping[str, Dim]) -> bool:
    difference = a - b
    known = isinstance(difference, int) or all(n in extent for n in difference.names[0])
    return known and at_least(extreme(difference, extent, False), 0)


def plain(x: Dim) -> str | None:
    """Returns the name of the index that the expression is, or None when it is more than an index."""
    result = _only_symbol(x)
    return result.name if result is not None and result.is_index else None


def plain_symbol(x: Dim | None) -> str | None:
    """Returns the name of the symbol (not index) that a dimension is; None when it is another expression or unknown."""
    result = _only_symbol(x)
    return result.name if result is not None and not result.is_index else None


def _only_symbol(x: Dim | None) -> Symbol | None:
    if not isinstance(x, DimExpr) or len(x.terms) != 1:
        return None
    ((m, c),) = x.terms.items()
    return m[0] if c == 1 and len(m) == 1 and isinstance(m[0], Symbol) else None


def names(x: Dim) -> tuple[str, ...]:
    """Returns names of the indices in the expression, in order of occurrence."""
    return () if isinstance(x, int) else x.names[0]


def symbols(x: Dim) -> tuple[str, ...]:
    """Returns names of the symbols (not indices) in the expression, in order of occurrence."""
    return () if isinstance(x, int) else x.names[1]


def coefficient(x: Dim, name: str, *, is_index: bool) -> int | None:
    """Returns the integer factor of an index, or of a symbol, that occurs linearly (0 when absent), or None when it
    occurs in another way.
    """
    result = 0
    for m, c in terms_of(x).items():
        if len(m) == 1 and isinstance(m[0], Symbol):
            if m[0].name == name and m[0].is_index == is_index:
                result = c
        elif any(name in (names if is_index else symbols)(atom_dim(a)) for a in m):
            return None
    return result


def linear_in(at: Dim, i: str) -> tuple[Dim | None, Dim]:
    """Returns the factor and the rest of `at = factor * i + rest`; None as factor when it is not linear in `i`."""
    factor: Dim = 0
    rest: Dim = 0
    for m, c in terms_of(at).items():
        holders = [a for a in m if (a.name == i and a.is_index if isinstance(a, Symbol) else i in names(atom_dim(a)))]
        if not holders:
            rest = rest + DimExpr({m: c}) if m else rest + c
        elif len(holders) == 1 and isinstance(holders[0], Symbol):
            others: Dim = c
            for a in m:
                if a is not holders[0]:
                    others = others * atom_dim(a)
            if names(others):
                return None, 0
            factor = factor + others
        else:
            return None, 0
    return factor, rest
