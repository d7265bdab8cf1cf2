"""Index notation: scalar expressions, tensors seen through views, and kernels `result[axes] = body`.

Indices are `commonir.symbolic` expressions, so positions and dimensions share one algebra. Every expression has an
element type; see `functions.py` for what the functions mean. Expressions and tensors are interned: equal ones
are one object, so they compare and hash by identity, and `==` compares identity (`call("equal", a, b)` builds the
expression). An index name has one extent within a kernel. Nothing here computes on
arrays. Source: `docs/architecture.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, Self

from commonir.ir.interning import Interned
from commonir.ir.types import ElementType, boolean, complex64, f32, i64
from commonir.notation.functions import FOLDS, FUNCTIONS, Number, converted, fits, number_key
from commonir.symbolic import Dim, DimExpr, element_count, index, largest, plain
from commonir.symbolic.constraints import Constraint
from commonir.symbolic.errors import NotationError, OutOfRangeError

Index = DimExpr
Indices = tuple[DimExpr, ...]
PaddingMode = Literal["constant", "edge", "reflect", "wrap"]


class Expr(Interned):
    """A scalar expression; arithmetic builds a larger one."""

    __slots__ = ("_free", "dtype")

    dtype: ElementType
    _free: tuple[str, ...] | None

    @classmethod
    def _new(cls, key: tuple[object, ...], dtype: ElementType, *content: object) -> Self:
        """Returns a new expression with a key, from one value for each slot of its class."""
        result = object.__new__(cls)
        object.__setattr__(result, "dtype", dtype)
        object.__setattr__(result, "_free", None)
        for slot, value in zip(cls.__slots__, content, strict=True):
            object.__setattr__(result, slot, value)
        cls._register(key, result)
        return result

    def free_indices(self, find: Callable[[Expr], Iterable[str]]) -> tuple[str, ...]:
        """Returns the result of `find`, computed once; see `traversal.free`."""
        if self._free is None:
            object.__setattr__(self, "_free", tuple(dict.fromkeys(find(self))))
        return self._free or ()

    def __bool__(self) -> bool:
        raise TypeError("the truth of an expression is not known while it is traced: use select")

    def __add__(self, other: Scalar) -> Expr:
        return call("add", self, other)

    def __radd__(self, other: Scalar) -> Expr:
        return call("add", other, self)

    def __sub__(self, other: Scalar) -> Expr:
        return call("subtract", self, other)

    def __rsub__(self, other: Scalar) -> Expr:
        return call("subtract", other, self)

    def __mul__(self, other: Scalar) -> Expr:
        return call("multiply", self, other)

    def __rmul__(self, other: Scalar) -> Expr:
        return call("multiply", other, self)

    def __truediv__(self, other: Scalar) -> Expr:
        return call("divide", self, other)

    def __rtruediv__(self, other: Scalar) -> Expr:
        return call("divide", other, self)

    def __floordiv__(self, other: Scalar) -> Expr:
        return call("floor_divide", self, other)

    def __rfloordiv__(self, other: Scalar) -> Expr:
        return call("floor_divide", other, self)

    def __mod__(self, other: Scalar) -> Expr:
        return call("remainder", self, other)

    def __rmod__(self, other: Scalar) -> Expr:
        return call("remainder", other, self)

    def __pow__(self, other: Scalar) -> Expr:
        return call("power", self, other)

    def __rpow__(self, other: Scalar) -> Expr:
        return call("power", other, self)

    def __neg__(self) -> Expr:
        return call("negative", self)

    def __abs__(self) -> Expr:
        return call("absolute", self)

    def __lt__(self, other: Scalar) -> Expr:
        return call("less", self, other)

    def __le__(self, other: Scalar) -> Expr:
        return call("less_equal", self, other)

    def __gt__(self, other: Scalar) -> Expr:
        return call("greater", self, other)

    def __ge__(self, other: Scalar) -> Expr:
        return call("greater_equal", self, other)

    def __and__(self, other: Scalar) -> Expr:
        return call("logical_and" if self.dtype is boolean else "bitwise_and", self, other)

    def __or__(self, other: Scalar) -> Expr:
        return call("logical_or" if self.dtype is boolean else "bitwise_or", self, other)

    def __xor__(self, other: Scalar) -> Expr:
        return call("logical_xor" if self.dtype is boolean else "bitwise_xor", self, other)

    def __invert__(self) -> Expr:
        return call("logical_not" if self.dtype is boolean else "bitwise_not", self)

    def by(self, *axes: Dim) -> Kernel:
        """Returns the kernel whose result has these axes: indices, or 1 for an axis of size 1."""
        return Kernel(axes, self)

    def __str__(self) -> str:
        return _describe(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_describe(self)})"


Scalar = Expr | DimExpr | Number
"""An operand of arithmetic: an index expression stands for its value, a Python number adapts to the other operand."""


class Const(Expr):
    """A number.

    0.0 and -0.0 are different objects; every NaN is the same.
    """

    __slots__ = ("value",)
    __match_args__ = ("value",)

    value: Number

    def __new__(cls, value: Number, dtype: ElementType) -> Self:
        if not fits(value, dtype):
            raise OutOfRangeError(value, dtype)
        value = converted(value, dtype)
        key = (cls, number_key(value), dtype)
        existing = cls._lookup(key)
        return cls._new(key, dtype, value) if existing is None else existing


class Position(Expr):
    """The value of an index expression (as in iota)."""

    __slots__ = ("at",)
    __match_args__ = ("at",)

    at: DimExpr

    def __new__(cls, at: DimExpr, dtype: ElementType = i64) -> Self:
        if not dtype.is_numeric:
            raise NotationError(f"the position {at} is a number, not a value of {dtype}")
        key = (cls, at, dtype)
        existing = cls._lookup(key)
        return cls._new(key, dtype, at) if existing is None else existing


class Access(Expr):
    """`tensor[at]`.

    An element of `at` is an index expression, or an integer `Expr` that reads the position from data.
    """

    __slots__ = ("tensor", "at")  # noqa: RUF023  the order of construction
    __match_args__ = ("tensor", "at")

    tensor: Tensor
    at: tuple[Dim | Expr, ...]

    def __new__(cls, tensor: Tensor, at: Sequence[Dim | Expr]) -> Self:
        at = tuple([_coordinate(p) for p in at])
        if len(at) != len(tensor.shape):
            raise NotationError(f"{tensor.name} has rank {len(tensor.shape)}, but is read with {len(at)} indices")
        key = (cls, tensor, at)
        existing = cls._lookup(key)
        return cls._new(key, tensor.dtype, tensor, at) if existing is None else existing


def _coordinate(p: Dim | Expr) -> Dim | Expr:
    """Returns a position, an index expression unwrapped."""
    if isinstance(p, (int, DimExpr)):
        return p
    if not p.dtype.is_integer:
        raise NotationError(f"a position is an integer, but {p} has element type {p.dtype}")
    if isinstance(p, Position):
        return p.at
    return p.value if isinstance(p, Const) and isinstance(p.value, int) else p


class Apply(Expr):
    """A scalar function of `FUNCTIONS` applied to expressions of one element type."""

    __slots__ = ("fn", "args")  # noqa: RUF023  the order of construction
    __match_args__ = ("fn", "args")

    fn: str
    args: tuple[Expr, ...]

    def __new__(cls, fn: str, args: tuple[Expr, ...]) -> Self:
        key = (cls, fn, args)
        existing = cls._lookup(key)
        return cls._new(key, _result_type(fn, args), fn, args) if existing is None else existing


def _result_type(fn: str, args: tuple[Expr, ...]) -> ElementType:
    row = FUNCTIONS.get(fn)
    if row is None:
        raise NotationError(f"no scalar function '{fn}'")
    if len(args) != row.arity:
        raise NotationError(f"{fn} takes {row.arity} operands, found {len(args)}")
    checked = args
    if fn == "select":
        if args[0].dtype is not boolean:
            raise NotationError(f"the condition of select has element type {args[0].dtype}, expected {boolean}")
        checked = args[1:]
    dtype = checked[0].dtype
    for a in checked[1:]:
        if a.dtype is not dtype:
            raise NotationError(f"{fn} of {dtype} and {a.dtype}: operands need one element type, cast one of them")
    if dtype.kind not in row.kinds:
        raise NotationError(f"{fn} is not defined on {dtype}")
    return boolean if row.result == "boolean" else dtype


class Fold(Expr):
    """The values of `body` for every value of the indices `over`, combined; over an empty range the fold's identity."""

    __slots__ = ("fn", "over", "body")  # noqa: RUF023  the order of construction
    __match_args__ = ("fn", "over", "body")

    fn: str
    over: tuple[str, ...]
    body: Expr

    def __new__(cls, fn: str, over: tuple[str, ...], body: Expr) -> Self:
        key = (cls, fn, over, body)
        result = cls._lookup(key)
        if result is not None:
            return result
        if fn not in FOLDS:
            raise NotationError(f"no fold '{fn}'")
        if body.dtype.kind not in FOLDS[fn].kinds:
            raise NotationError(f"a fold by {fn} is not defined on {body.dtype}")
        if not over or len(set(over)) != len(over):
            raise NotationError(f"a fold by {fn} needs different indices, found {list(over)}")
        return cls._new(key, body.dtype, fn, over, body)


class Join(Expr):
    """Pieces concatenated along an index; in each piece the index counts from 0.

    `extents` are those of the index in each piece; None when the accesses of the pieces determine them.
    """

    __slots__ = ("along", "pieces", "extents")  # noqa: RUF023  the order of construction
    __match_args__ = ("along", "pieces", "extents")

    along: str
    pieces: tuple[Expr, ...]
    extents: tuple[Dim, ...] | None

    def __new__(cls, along: str, pieces: tuple[Expr, ...], extents: tuple[Dim, ...] | None = None) -> Self:
        key = (cls, along, pieces, extents)
        result = cls._lookup(key)
        if result is not None:
            return result
        if not pieces:
            raise NotationError(f"join along {along} of no pieces")
        if extents is not None and len(extents) != len(pieces):
            raise NotationError(f"join along {along} has {len(pieces)} pieces, but {len(extents)} extents")
        for p in pieces:
            if p.dtype is not pieces[0].dtype:
                raise NotationError(f"join of {pieces[0].dtype} and {p.dtype}: pieces need one element type")
        return cls._new(key, pieces[0].dtype, along, pieces, extents)


class Update(Expr):
    """The elements of `start`, of which some are changed, one after another; it is the whole body of a kernel.

    For each value of the indices `over`, in row-major order, the element at the positions `at`, one for each axis of
    the kernel, becomes the function `fn` of what it is and of `body`, or just `body` if there is no function. `start`
    depends on the axes of the kernel, the others only on `over`, which are other indices.
    """

    __slots__ = ("fn", "over", "at", "body", "start")  # noqa: RUF023  the order of construction
    __match_args__ = ("fn", "over", "at", "body", "start")

    fn: str | None
    over: tuple[str, ...]
    at: tuple[Dim | Expr, ...]
    body: Expr
    start: Expr

    def __new__(cls, fn: str | None, over: tuple[str, ...], at: Sequence[Dim | Expr], body: Expr, start: Expr) -> Self:
        at = tuple([_coordinate(p) for p in at])
        key = (cls, fn, over, at, body, start)
        result = cls._lookup(key)
        if result is not None:
            return result
        if body.dtype is not start.dtype:
            raise NotationError(f"elements of {start.dtype} are updated with {body.dtype}: cast one of them")
        if fn is not None and _result_type(fn, (start, body)) is not start.dtype:
            raise NotationError(f"an update by {fn} changes the element type {start.dtype}")
        return cls._new(key, start.dtype, fn, over, at, body, start)


class Cast(Expr):
    """The value converted to another element type; see `functions.py` for the rules."""

    __slots__ = ("body",)
    __match_args__ = ("body",)

    body: Expr

    def __new__(cls, body: Expr, dtype: ElementType) -> Self:
        key = (cls, body, dtype)
        result = cls._lookup(key)
        if result is not None:
            return result
        opaque = {body.dtype.kind, dtype.kind} & {"string", "handle"}
        if opaque or (body.dtype.kind == "complex" and dtype.kind != "complex"):
            raise NotationError(f"no conversion from {body.dtype} to {dtype}")
        return cls._new(key, dtype, body)


class Padded(Interned):
    """The view that continues a tensor: by `fill`, its border, its mirror image (border not repeated) or itself."""

    __slots__ = ("before", "after", "mode", "fill")  # noqa: RUF023  the order of construction
    __match_args__ = ("before", "after", "mode", "fill")

    before: tuple[Dim, ...]
    after: tuple[Dim, ...]
    mode: PaddingMode
    fill: Number

    def __new__(cls, before: tuple[Dim, ...], after: tuple[Dim, ...], mode: PaddingMode, fill: Number) -> Self:
        return cls._intern(before, after, mode, fill, key=(before, after, mode, number_key(fill)))


class Dilated(Interned):
    """The view with `factor - 1` zeros between neighbours."""

    __slots__ = ("factors",)
    __match_args__ = ("factors",)

    factors: tuple[int, ...]

    def __new__(cls, factors: tuple[int, ...]) -> Self:
        return cls._intern(factors)


class Flat(Interned):
    """The view as one axis, in row-major order."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls._intern()


View = Padded | Dilated | Flat


class Tensor(Interned):
    """A traced operand, perhaps with views of it.

    `shape` is that of the outermost view; `steps` are the views, innermost first, each with the shape it is applied
    to.
    """

    __slots__ = ("name", "shape", "dtype", "steps")  # noqa: RUF023  the order of construction
    __match_args__ = ("name", "shape", "dtype", "steps")

    name: str
    shape: tuple[Dim, ...]
    dtype: ElementType
    steps: tuple[tuple[View, tuple[Dim, ...]], ...]

    def __new__(
        cls, name: str, shape: tuple[Dim, ...], dtype: ElementType, steps: tuple[tuple[View, tuple[Dim, ...]], ...] = ()
    ) -> Self:
        for n in shape:
            if isinstance(n, int) and n < 0:
                raise NotationError(f"{name} would have a dimension of size {n}")
        return cls._intern(name, shape, dtype, steps)

    __iter__ = None
    """Not iterable: Python would otherwise read positions 0, 1, 2 and so on until one raises."""

    def __getitem__(self, at: Dim | Expr | Sequence[Dim | Expr]) -> Access:
        return Access(self, (at,) if isinstance(at, (int, DimExpr, Expr)) else at)

    @property
    def rank(self) -> int:
        """Number of axes of the outermost view."""
        return len(self.shape)

    @property
    def source(self) -> Tensor:
        """The operand without its views."""
        return Tensor(self.name, self.steps[0][1], self.dtype) if self.steps else self

    def _through(self, view: View, shape: tuple[Dim, ...]) -> Tensor:
        return Tensor(self.name, shape, self.dtype, (*self.steps, (view, self.shape)))

    def padded(
        self, before: Sequence[Dim], after: Sequence[Dim], mode: PaddingMode = "constant", fill: Number = 0
    ) -> Tensor:
        """Returns the tensor continued on both sides of each axis; position 0 is `before` to the left of it.

        Negative amounts cut. Mode `constant` reads `fill` outside, `edge` the nearest element, `reflect` the mirror
        image without the border, `wrap` the tensor again.
        """
        if not len(before) == len(after) == self.rank:
            raise NotationError(
                f"{self.name} has rank {self.rank}, but is padded by {len(before)} and {len(after)} amounts"
            )
        if all(p == 0 for p in (*before, *after)):
            return self
        if self.dtype.kind == "bool" and fill == 0:
            fill = False
        if mode != "constant":
            fill = 0
        elif not fits(fill, self.dtype):
            raise NotationError(f"{self.name} is padded with {fill!r}, which is not a value of {self.dtype}")
        else:
            fill = converted(fill, self.dtype)
        shape = tuple(n + b + a for n, b, a in zip(self.shape, before, after, strict=True))
        return self._through(Padded(tuple(before), tuple(after), mode, fill), shape)

    def dilated(self, factors: Sequence[int]) -> Tensor:
        """Returns the tensor with `factor - 1` zeros between neighbours along each axis."""
        if len(factors) != self.rank:
            raise NotationError(f"{self.name} has rank {self.rank}, but is dilated by {len(factors)} factors")
        if any(f < 1 for f in factors):
            raise NotationError(f"{self.name} is dilated by {list(factors)}, expected factors of at least 1")
        if all(f == 1 for f in factors):
            return self
        spread = tuple(n if f == 1 else largest((n - 1) * f + 1, 0) for n, f in zip(self.shape, factors, strict=True))
        return self._through(Dilated(tuple(factors)), spread)

    @property
    def flat(self) -> Tensor:
        """The elements as one axis, in row-major order."""
        return self._through(Flat(), (element_count(self.shape),))

    def __repr__(self) -> str:
        return f"Tensor({self.name}{''.join(f'.{type(v).__name__.lower()}' for v, _ in self.steps)})"


class Kernel:
    """`result[axes] = body`, with `extents` of indices that no access bounds.

    An axis is an index, or 1 for an axis of size 1. `constraints` are those that the ranges do not imply; an explicit
    range, and one that is read through a floor or an offset, needs its own.
    """

    __slots__ = ("axes", "body", "constraints", "extents")
    __match_args__ = ("axes", "body", "extents", "constraints")

    def __init__(
        self,
        axes: Sequence[Dim],
        body: Expr,
        extents: tuple[tuple[str, Dim], ...] = (),
        constraints: tuple[Constraint, ...] = (),
    ) -> None:
        self.axes = tuple(axes)
        self.body = body
        self.extents = extents
        self.constraints = constraints
        seen: set[str] = set()
        for a in self.axes:
            name = plain(a)
            if name is None and a != 1:
                raise NotationError(f"a result axis is an index or 1, found {a}")
            if name in seen:
                raise NotationError(f"index {name} stands for two result axes")
            seen.update((name,) if name else ())

    @property
    def dtype(self) -> ElementType:
        """Element type of the result."""
        return self.body.dtype

    def by(self, *axes: Dim) -> Kernel:
        """Returns the same body with other result axes."""
        return Kernel(axes, self.body, self.extents, self.constraints)

    def where(self, extents: Mapping[DimExpr, Dim], constraints: Sequence[Constraint] = ()) -> Kernel:
        """Returns the kernel with extents for indices, and constraints that must hold."""
        declared = tuple((name_of(i), n) for i, n in extents.items())
        return Kernel(self.axes, self.body, self.extents + declared, self.constraints + tuple(constraints))

    @property
    def _key(self) -> tuple[object, ...]:
        return self.axes, self.body, self.extents, self.constraints

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)


Kernels = tuple[Kernel, ...]
"""The kernels of an operation with several results; an index name has the same extent in all of them."""


def name_of(i: Dim) -> str:
    """Returns the name of an index. Raises: NotationError when the expression is more than an index."""
    name = plain(i)
    if name is None:
        raise NotationError(f"expected an index, found {i}")
    return name


def indices(name: str, n: int) -> Indices:
    """Returns `n` indices that share a name and are numbered from 0."""
    return tuple([index(f"{name}{k}") for k in range(n)])


def lift(x: Scalar, dtype: ElementType | None = None) -> Expr:
    """Returns a scalar as an expression.

    A number or an index expression without an explicit element type is i64, f32, complex<f32> or boolean, and takes the
    element type of the other operands.
    """
    if isinstance(x, Expr):
        if dtype is not None and x.dtype is not dtype:
            return _adapted(x, dtype)
        return x
    if isinstance(x, DimExpr):
        return Position(x, dtype or i64)
    return Const(x, dtype or _default_type(x))


def _default_type(x: Number) -> ElementType:
    if isinstance(x, bool):
        return boolean
    return i64 if isinstance(x, int) else f32 if isinstance(x, float) else complex64


def _adapted(x: Expr, dtype: ElementType) -> Expr:
    """Returns a number or an index with another element type. Raises: NotationError when it has no such value."""
    match x:
        case Const(value=v):
            return Const(v, dtype)
        case Position(at=p):
            return Position(p, dtype)
        case _:
            raise NotationError(f"{x} has element type {x.dtype}, expected {dtype}: cast it")


def _agreed(args: Sequence[Scalar]) -> tuple[Expr, ...]:
    """Returns the scalars as expressions; numbers and indices take the element type of the others."""
    lifted = [a if isinstance(a, Expr) else lift(a) for a in args]
    fixed = next((e for e in lifted if not isinstance(e, (Const, Position))), None)
    if fixed is None:
        order = ("complex", "float", "int", "uint", "bool")
        dtype = min((e.dtype for e in lifted), key=lambda t: order.index(t.kind) if t.kind in order else len(order))
    else:
        dtype = fixed.dtype
    return tuple(
        [_adapted(e, dtype) if e.dtype is not dtype and isinstance(e, (Const, Position)) else e for e in lifted]
    )


def call(fn: str, *args: Scalar) -> Expr:
    """Returns a scalar function of `FUNCTIONS` applied to scalars.

    Raises: NotationError when their element types do not agree.
    """
    if fn == "select" and len(args) == 3:
        return Apply(fn, (lift(args[0]), *_agreed(args[1:])))
    return Apply(fn, _agreed(args))


def select(condition: Scalar, a: Scalar, b: Scalar) -> Expr:
    """Returns `a` where the condition holds, else `b`. Both are evaluated and take part in the range rule."""
    return call("select", condition, a, b)


def cast(x: Scalar, dtype: ElementType) -> Expr:
    """Returns the scalar converted to an element type; itself when it has that type."""
    e = lift(x)
    if e.dtype is dtype:
        return e
    if isinstance(e, Position) and dtype.is_numeric:
        return Position(e.at, dtype)
    return Cast(e, dtype)


def fold(fn: str, over: Sequence[Index] | Index, body: Scalar, dtype: ElementType | None = None) -> Expr:
    """Returns the values of `body` over ranges of indices, combined by a function of `FOLDS`.

    With `dtype` the values are converted to it, combined in it, and the result is converted back.
    """
    value = lift(body)
    if isinstance(over, DimExpr):
        over = (over,)
    if not over:
        return value
    inner = value if dtype is None else cast(value, dtype)
    return cast(Fold(fn, tuple(name_of(i) for i in over), inner), value.dtype)


def total(over: Sequence[Index] | Index, body: Scalar, dtype: ElementType | None = None) -> Expr:
    """Returns the sum of `body` over ranges of indices."""
    return fold("add", over, body, dtype)


def updated(
    start: Scalar, over: Sequence[Index], at: Sequence[Dim | Expr], body: Scalar, fn: str | None = None
) -> Expr:
    """Returns elements of which those at some positions are changed for each value of the indices `over`.

    See `Update`.
    """
    before, new = _agreed((start, body))
    return Update(fn, tuple([name_of(i) for i in over]), at, new, before)


def join(along: Index, pieces: Sequence[Scalar], extents: Sequence[Dim] | None = None) -> Expr:
    """Returns pieces concatenated along an index; `extents` are theirs, where no access determines them."""
    return Join(name_of(along), _agreed(pieces), None if extents is None else tuple(extents))


def linear(at: Sequence[Dim], shape: Sequence[Dim]) -> Dim:
    """Returns the row-major position, for reading `tensor.flat`."""
    out: Dim = 0
    for i, n in zip(at, shape, strict=True):
        out = out * n + i
    return out


def _describe(e: Expr) -> str:
    """Returns a short text of an expression for messages; `formula` returns all of it."""
    match e:
        case Const(value=v):
            return str(v)
        case Position(at=p):
            return str(p)
        case Access(tensor=t, at=at):
            return f"{t.name}[{', '.join(map(str, at))}]"
        case Apply(fn=fn, args=args):
            return f"{fn}({', '.join(map(_describe_operand, args))})"
        case Fold(fn=fn, over=over):
            return f"fold({fn}, {', '.join(over)})"
        case Join(along=along):
            return f"join({along})"
        case Update(over=over):
            return f"update({', '.join(over)})"
        case Cast(body=body):
            return f"cast({_describe_operand(body)}, {e.dtype})"
        case _:
            return type(e).__name__


def _describe_operand(e: Expr) -> str:
    return _describe(e) if isinstance(e, (Const, Position, Access)) else "..."
