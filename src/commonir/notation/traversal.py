"""Walking and rebuilding expressions.

Expressions are interned, so a tree is a graph with shared nodes: every function here visits a shared node once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from commonir.notation.expressions import (
    Access,
    Apply,
    Cast,
    Const,
    Expr,
    Fold,
    Join,
    Position,
    Tensor,
    Update,
)
from commonir.symbolic import Dim, index, names, plain, substitute_indices
from commonir.symbolic.errors import NotationError


def children(e: Expr) -> tuple[Expr, ...]:
    """Returns the expressions directly inside an expression."""
    match e:
        case Access(at=at):
            return tuple([p for p in at if isinstance(p, Expr)])
        case Apply(args=args):
            return args
        case Fold(body=body) | Cast(body=body):
            return (body,)
        case Join(pieces=pieces):
            return pieces
        case Update(at=at, body=body, start=start):
            return (start, *[p for p in at if isinstance(p, Expr)], body)
        case _:
            return ()


def walk(e: Expr) -> Iterator[Expr]:
    """Yields each different expression inside (and including) an expression once, outer before inner."""
    seen = {e}
    stack = [e]
    while stack:
        here = stack.pop()
        yield here
        for c in reversed(children(here)):
            if c not in seen:
                seen.add(c)
                stack.append(c)


def with_children(e: Expr, new: Callable[[Expr], Expr]) -> Expr:
    """Returns the expression with each expression directly inside replaced."""
    match e:
        case Apply(fn=fn, args=args):
            return Apply(fn, tuple([new(a) for a in args]))
        case Fold(fn=fn, over=over, body=body):
            return Fold(fn, over, new(body))
        case Cast(body=body):
            return Cast(new(body), e.dtype)
        case Join(along=along, pieces=pieces, extents=extents):
            return Join(along, tuple([new(p) for p in pieces]), extents)
        case Access(tensor=tensor, at=at):
            return Access(tensor, tuple([new(p) if isinstance(p, Expr) else p for p in at]))
        case Update(fn=fn, over=over, at=at, body=body, start=start):
            return Update(fn, over, [new(p) if isinstance(p, Expr) else p for p in at], new(body), new(start))
        case _:
            return e


Visit = Callable[[Expr], Expr]


def mapped(e: Expr, change: Callable[[Expr, Visit], Expr]) -> Expr:
    """Returns the expression as `change` makes it of each different expression inside, once.

    `change` receives an expression and a function that maps another one: `with_children(x, visit)` maps those directly
    inside `x`.
    """
    done: dict[Expr, Expr] = {}

    def visit(x: Expr) -> Expr:
        result = done.get(x)
        if result is None:
            result = done[x] = change(x, visit)
        return result

    return visit(e)


def replace(e: Expr, known: Mapping[Expr, Expr]) -> Expr:
    """Returns the expression with others in place of those that are known."""
    return mapped(e, lambda x, visit: known[x] if x in known else with_children(x, visit))


def rewrite(
    e: Expr, position: Callable[[Dim], Dim], fold_over: Callable[[tuple[str, ...]], tuple[str, ...]] = lambda over: over
) -> Expr:
    """Returns the expression with every index expression passed through `position` and every folded range through
    `fold_over`.

    Raises: NotationError when `position` turns the index of a join into more than an index.
    """

    def rebuilt(x: Expr, visit: Visit) -> Expr:
        match x:
            case Position(at=at):
                moved = position(at)
                return Const(moved, x.dtype) if isinstance(moved, int) else Position(moved, x.dtype)
            case Access(tensor=tensor, at=at):
                return Access(tensor, tuple([visit(p) if isinstance(p, Expr) else position(p) for p in at]))
            case Fold(fn=fn, over=over, body=body):
                return Fold(fn, fold_over(over), visit(body))
            case Update(fn=fn, over=over, at=at, body=body, start=start):
                moved_at = [visit(p) if isinstance(p, Expr) else position(p) for p in at]
                return Update(fn, fold_over(over), moved_at, visit(body), visit(start))
            case Join(along=along, pieces=pieces, extents=extents):
                moved = plain(position(index(along)))
                if moved is None:
                    raise NotationError(f"the index {along} of a join can be renamed, not replaced by an expression")
                return Join(moved, tuple([visit(p) for p in pieces]), extents)
            case _:
                return with_children(x, visit)

    return mapped(e, rebuilt)


def replace_accesses(e: Expr, new: Callable[[Access], Expr]) -> Expr:
    """Returns the expression with every access replaced, innermost first."""

    def replaced(x: Expr, visit: Visit) -> Expr:
        result = with_children(x, visit)
        return new(result) if isinstance(result, Access) else result

    return mapped(e, replaced)


def reading(e: Expr, names: Mapping[str, str]) -> Expr:
    """Returns the expression with reads of other tensors in place of some, by the names of these."""

    def renamed(a: Access) -> Access:
        t = a.tensor
        return Access(Tensor(names[t.name], t.shape, t.dtype, t.steps), a.at) if t.name in names else a

    return replace_accesses(e, renamed)


def put(e: Expr, values: Mapping[str, Dim]) -> Expr:
    """Returns the expression with free indices replaced by index expressions.

    An index that a nested fold binds is a different index, even under the same name.
    Raises: NotationError when a value mentions an index that a fold inside binds; rename the fold first.
    """
    return mapped(e, lambda x, visit: _put(x, values, visit))


def _put(e: Expr, values: Mapping[str, Dim], visit: Visit) -> Expr:
    """Returns the expression with free indices replaced; `visit` does the same for what is inside."""
    relevant = {n: v for n, v in values.items() if n in free(e)}
    if not relevant:
        return e
    bound = {n for x in walk(e) if isinstance(x, Fold | Update) for n in x.over}
    if not bound & {*relevant, *(n for v in relevant.values() for n in names(v))}:
        return rewrite(e, lambda p: substitute_indices(p, relevant))
    if isinstance(e, Fold):
        captured = [n for k, v in relevant.items() for n in (k, *names(v)) if n in e.over]
        if captured:
            raise NotationError(f"index {captured[0]} is bound by a fold inside: rename it first")
    if isinstance(e, Access):
        at = tuple([visit(p) if isinstance(p, Expr) else substitute_indices(p, relevant) for p in e.at])
        return Access(e.tensor, at)
    if isinstance(e, Join) and e.along in relevant:
        e = rewrite_along(e, relevant[e.along])
    return with_children(e, visit)


def rewrite_along(e: Join, to: Dim) -> Join:
    """Returns the join along another index, its pieces not yet rewritten."""
    name = plain(to)
    if name is None:
        raise NotationError(f"the index {e.along} of a join can be renamed, not replaced by {to}")
    return Join(name, e.pieces, e.extents)


def free(e: Expr) -> tuple[str, ...]:
    """Returns names of the indices the expression depends on, in order of occurrence."""
    return e.free_indices(_free_of)


def _free_of(e: Expr) -> Iterator[str]:
    match e:
        case Access(at=at):
            for p in at:
                yield from free(p) if isinstance(p, Expr) else names(p)
        case Fold(over=over, body=body):
            yield from (n for n in free(body) if n not in over)
        case Position(at=at):
            yield from names(at)
        case Join(along=along, pieces=pieces):
            for p in pieces:
                yield from free(p)
            yield along
        case Update(over=over, at=at, body=body, start=start):
            yield from free(start)
            inside = [*[n for p in at for n in (free(p) if isinstance(p, Expr) else names(p))], *free(body)]
            yield from (n for n in inside if n not in over)
        case _:
            for c in children(e):
                yield from free(c)
