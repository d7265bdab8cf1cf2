"""Kernels of references that records have as text: the same objects that `reference` of a class in Python returns.

Source: `notation/`; MLIR operation definitions, the proposal: reference implementations determine shapes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from commonir.base.text import plural
from commonir.ir.attributes import ArrayAttr, BoolAttr, DenseArrayAttr, FloatAttr, IntegerAttr
from commonir.ir.types import ELEMENT_TYPES, ElementType
from commonir.notation import (
    FUNCTIONS,
    Constraint,
    Expr,
    Fold,
    Kernel,
    Kernels,
    NotationError,
    Tensor,
    broadcast_shape,
    call,
    cast,
    fold,
    free,
    index,
    indices,
    join,
    lift,
    require,
    select,
    walk,
)
from commonir.ods.definition import Definition
from commonir.ods.fields import FieldKind
from commonir.ods.from_records.reference_text import (
    ALIASES,
    FOLD_NAMES,
    Assignment,
    Call,
    Items,
    Literal,
    Name,
    Node,
    Read,
    Reference,
    reads_of,
)
from commonir.symbolic import Dim, DimExpr, element_count, largest, smallest

Value: TypeAlias = "Expr | Dim | float | bool | Tensor | ElementType | tuple[object, ...]"
Scope: TypeAlias = "Mapping[str, Dim | Expr | tuple[Dim | Expr, ...]]"

_OPERATORS: Mapping[str, str] = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "//": "floor_divide",
    "%": "remainder",
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
    "&&": "logical_and",
    "||": "logical_or",
}


def _divided(a: float, b: float) -> float:
    return a / b


def _floor(a: Any, b: Any) -> object:
    return a // b


def _both(a: bool, b: bool) -> bool:
    return a and b


def _either(a: bool, b: bool) -> bool:
    return a or b


_OF_NUMBERS: Mapping[str, Callable[..., object]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": _divided,
    "floor_divide": _floor,
    "remainder": operator.mod,
    "negative": operator.neg,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "logical_and": _both,
    "logical_or": _either,
    "logical_not": operator.not_,
}
_RELATIONS = ("==", "<=", ">=")


def reference_method(reference: Reference, results: Sequence[str]) -> Callable[..., Kernels]:
    """Returns the method `reference` of a definition with these results."""

    def kernels(self: Definition, *tensors: Tensor | tuple[Tensor, ...] | None) -> Kernels:
        return Tracing(self, reference, tensors).kernels(results)

    return kernels


class Tracing:
    """Builds the kernels of one operation."""

    def __init__(
        self, op: Definition, reference: Reference, tensors: Sequence[Tensor | tuple[Tensor, ...] | None]
    ) -> None:
        self.reference = reference
        self.given = {a.name: a for a in reference.assignments}
        self.constants: dict[str, object] = {}
        operands = iter(tensors)
        for f in op.layout.by_name.values():
            if f.kind is FieldKind.OPERAND:
                self.constants[f.spelling] = next(operands)
            elif f.kind is FieldKind.ATTRIBUTE:
                self.constants[f.spelling] = _number(op.field_value(f))
        self.constraints: list[Constraint] = []
        self.extents: dict[DimExpr, Dim] = {}
        self.lengths = self._lengths()
        self.wildcards = {name: indices(name, count) for name, count in self.lengths.items()}
        self._bound = {name for at in self.wildcards.values() for i in at for name in [str(i)]}
        self._known: dict[object, Value] = {}
        self._broadcast()

    # -- wildcards

    def _spans(self, name: str) -> Iterator[tuple[Tensor, int, int]]:
        """Yields tensors read at a wildcard, with the first axis and the number of axes that it stands for."""
        for read in reads_of(self.reference):
            names = [p.name for p in read.positions if isinstance(p, Name) and p.is_wildcard]
            tensor = self.constants.get(read.of.name) if isinstance(read.of, Name) else None
            if names == [name] and isinstance(tensor, Tensor):
                first = next(n for n, p in enumerate(read.positions) if isinstance(p, Name) and p.is_wildcard)
                count = tensor.rank - len(read.positions) + 1
                if count < 0:
                    expected = len(read.positions) - 1
                    raise NotationError(f"'{tensor.name}' has rank {tensor.rank}, expected at least {expected}")
                yield tensor, first, count

    def _lengths(self) -> dict[str, int]:
        out: dict[str, int] = {}
        for name in self.reference.wildcards:
            spans = list(self._spans(name))
            counts = {count for _, _, count in spans}
            if len(counts) > 1 and name not in self.reference.broadcast:
                shown = ", ".join([f"{count} of '{tensor.name}'" for tensor, _, count in spans])
                raise NotationError(f"'{name}...' stands for different numbers of axes: {shown}")
            if counts:
                out[name] = max(counts)
        while len(out) < len(self.reference.wildcards):
            found = next(self._from_helpers(out), None)
            if found is None:
                name = next(n for n in self.reference.wildcards if n not in out)
                raise NotationError(f"the number of axes of '{name}...' follows from no operand")
            out |= [found]
        return out

    def _from_helpers(self, known: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        """Yields lengths of wildcards at which helpers are read whose own wildcards have known lengths."""
        for read in reads_of(self.reference):
            names = [p.name for p in read.positions if isinstance(p, Name) and p.is_wildcard]
            helper = self.given.get(read.of.name) if isinstance(read.of, Name) else None
            if helper is None or len(names) != 1 or names[0] in known:
                continue
            wild = [axis.name for axis in helper.axes if isinstance(axis, Name) and axis.is_wildcard]
            if all(name in known for name in wild):
                rank = len(helper.axes) - len(wild) + sum([known[name] for name in wild])
                if rank < len(read.positions) - 1:
                    raise NotationError(f"'{helper.name}' has rank {rank}, expected at least {len(read.positions) - 1}")
                yield names[0], rank - len(read.positions) + 1

    def _broadcast(self) -> None:
        for name in sorted(self.reference.broadcast & self.lengths.keys()):
            spans = list(self._spans(name))
            shapes = [tensor.shape[first : first + count] for tensor, first, count in spans]
            shape, constraints = broadcast_shape(*shapes, names=[f"'{tensor.name}'" for tensor, _, _ in spans])
            self.constraints += constraints
            self.extents |= dict(zip(self.wildcards[name], shape, strict=True))

    # -- kernels

    def kernels(self, results: Sequence[str]) -> Kernels:
        """Returns the kernels of the results."""
        for requirement in self.reference.requirements:
            left, right = self.dim(requirement.left, {}), self.dim(requirement.right, {})
            relation = requirement.relation
            if relation in ("<", ">"):
                left, relation = (left + 1, "<=") if relation == "<" else (left - 1, ">=")
            if relation not in _RELATIONS:
                raise NotationError(f"require takes ==, <, <=, > or >=, not '{relation}'")
            self.constraints += require(left, relation, right, "required by the reference")
        return tuple([self.kernel(self.given[name]) for name in results])

    def kernel(self, assignment: Assignment) -> Kernel:
        """Returns the kernel of a result."""
        axes: list[Dim] = []
        scope: dict[str, Dim | Expr | tuple[Dim | Expr, ...]] = {}
        for axis in assignment.axes:
            if isinstance(axis, Literal):
                axes.append(1)
            elif isinstance(axis, Name) and axis.is_wildcard:
                axes += self.wildcards[axis.name]
                scope[axis.name] = self.wildcards[axis.name]
            elif isinstance(axis, Name):
                axes.append(index(axis.name))
                scope[axis.name] = index(axis.name)
                self._bound.add(axis.name)
        self._declare(assignment, scope)
        body = self.scalar(assignment.body, scope)
        folded = [n for e in walk(body) if isinstance(e, Fold) for n in e.over]
        used = {*[str(i) for i in axes], *free(body), *folded}
        return Kernel(axes, body).where({i: n for i, n in self.extents.items() if str(i) in used}, self.constraints)

    def _declare(self, assignment: Assignment, scope: Scope) -> None:
        """Adds the explicit extents of an assignment."""
        for name, extent in assignment.extents:
            at = scope.get(name, index(name))
            size = self.dim(extent, scope)
            self.extents |= {i: size for i in (at if isinstance(at, tuple) else (at,)) if isinstance(i, DimExpr)}

    # -- values

    def dim(self, node: Node, scope: Scope) -> Dim:
        """Returns a dimension or an index expression."""
        value = self.value(node, scope)
        if isinstance(value, bool) or not isinstance(value, int | DimExpr):
            raise NotationError(f"expected an integer of indices, dims and attributes, found {value}")
        return value

    def scalar(self, node: Node, scope: Scope) -> Expr:
        """Returns a scalar expression."""
        return lift(_plain(self.value(node, scope)))

    def value(self, node: Node, scope: Scope) -> Value:
        """Returns the value of an expression."""
        match node:
            case Literal(value=value):
                return value
            case Name(name=name):
                return self._named(name, scope)
            case Items(items=items):
                return tuple([self.value(item, scope) for item in items])
            case Read(of=of, positions=positions):
                return self._read(of, positions, scope)
            case Call(name=name, arguments=arguments):
                return self._called(name, arguments, scope)

    def _named(self, name: str, scope: Scope) -> Value:
        if name in scope:
            return scope[name]
        if name in self.constants:
            value = self.constants[name]
            if value is None:
                raise NotationError(f"'{name}' is absent")
            return value  # pyright: ignore[reportReturnType]  a tensor, a number or a tuple of numbers
        if name in self.given:
            return self._expanded(self.given[name], ())
        if name in ELEMENT_TYPES:
            return ELEMENT_TYPES[name]
        return index(name)

    def _read(self, of: Node, positions: Sequence[Node], scope: Scope) -> Value:
        if isinstance(of, Name) and of.name in self.given and of.name not in scope:
            at = [p for node in positions for p in self._positions(node, scope, None, 0)]
            return self._expanded(self.given[of.name], tuple(at))
        value = self.value(of, scope)
        if isinstance(value, tuple):
            if len(positions) != 1:
                raise NotationError(f"a list is read at one position, found {len(positions)}")
            number = self.dim(positions[0], scope)
            if not isinstance(number, int) or not -len(value) <= number < len(value):
                raise NotationError(f"item {number} is out of range: {list(value)} has {plural(len(value), 'item')}")
            return value[number]  # pyright: ignore[reportReturnType]  a number or an index
        if not isinstance(value, Tensor):
            raise NotationError(f"{value} is read like a tensor")
        wild = sum(isinstance(p, Name) and p.is_wildcard for p in positions)
        count = value.rank - (len(positions) - wild)
        at: list[Dim | Expr] = []
        for n, node in enumerate(positions):
            at += self._positions(node, scope, value, n, count if wild == 1 else None)
        if len(at) != value.rank:
            raise NotationError(f"'{value.name}' has rank {value.rank}, but is read at {len(at)} positions")
        return value[at]

    def _positions(
        self, node: Node, scope: Scope, tensor: Tensor | None, axis: int, count: int | None = None
    ) -> list[Dim | Expr]:
        """Returns the positions that a node stands for: several for a wildcard."""
        if not (isinstance(node, Name) and node.is_wildcard):
            value = self.value(node, scope)
            if isinstance(value, bool | float | Tensor | tuple | ElementType):
                raise NotationError(f"expected an index, found {value}")
            return [value]
        bound = scope.get(node.name, self.wildcards.get(node.name, ()))
        at: list[Dim | Expr] = [*bound] if isinstance(bound, tuple) else [bound]
        if node.name in self.reference.broadcast and tensor is not None and count is not None:
            at = at[len(at) - count :]
            sizes = tensor.shape[axis : axis + count]
            return [self._broadcast_position(i, n) for n, i in zip(sizes, at, strict=True)]
        return at

    def _broadcast_position(self, at: Dim | Expr, size: Dim) -> Dim | Expr:
        """Returns where an axis of a size is read: at 0 where it has one element, which running may decide."""
        if size == 1:
            return 0
        extent = self.extents.get(at, size) if isinstance(at, DimExpr) else size
        decided = extent == size or isinstance(size, int) or not isinstance(at, DimExpr)
        return at if decided else at * smallest(size - 1, 1)

    def _expanded(self, assignment: Assignment, at: tuple[Dim | Expr, ...]) -> Value:
        """Returns the body of an assignment at given positions."""
        key = (assignment.name, at)
        if key not in self._known:
            rank = sum([self.lengths[a.name] if isinstance(a, Name) and a.is_wildcard else 1 for a in assignment.axes])
            if len(at) != rank:
                raise NotationError(
                    f"'{assignment.name}' has rank {rank}, but is read at {plural(len(at), 'position')}"
                )
            scope: dict[str, Dim | Expr | tuple[Dim | Expr, ...]] = {}
            rest = list(at)
            for axis in assignment.axes:
                if isinstance(axis, Name):
                    count = self.lengths[axis.name] if axis.is_wildcard else 1
                    taken, rest = rest[:count], rest[count:]
                    scope[axis.name] = tuple(taken) if axis.is_wildcard else taken[0]
                else:
                    rest = rest[1:]
            self._declare(assignment, scope)
            self._known[key] = self.value(assignment.body, scope)
        return self._known[key]

    # -- functions

    def _called(self, name: str, arguments: Sequence[Node], scope: Scope) -> Value:
        name = _OPERATORS.get(name, name)
        if name in FOLD_NAMES and self._is_fold(arguments, scope):
            return self._folded(FOLD_NAMES[name], arguments, scope)
        if name == "concat":
            along = self._named(_name(arguments[0]), scope)
            if not isinstance(along, DimExpr):
                raise NotationError("concat takes an index first")
            return join(along, [self.scalar(a, scope) for a in arguments[1:]])
        if name == "select":
            condition = self.value(arguments[0], scope)
            if isinstance(condition, bool):
                return self.value(arguments[1 if condition else 2], scope)
            return select(lift(_plain(condition)), *[_plain(self.value(a, scope)) for a in arguments[1:]])
        values = [self.value(a, scope) for a in arguments]
        if name in _VIEWS:
            return _VIEWS[name](*values)
        return _applied(ALIASES.get(name, name), values)

    def _is_fold(self, arguments: Sequence[Node], scope: Scope) -> bool:
        """Returns whether the first arguments are indices that are not bound yet."""
        first = arguments[0] if len(arguments) > 1 else None
        return (
            isinstance(first, Name)
            and first.name not in scope
            and first.name not in self.constants
            and first.name not in self.given
        )

    def _folded(self, function: str, arguments: Sequence[Node], scope: Scope) -> Expr:
        inner = dict(scope)
        over: list[DimExpr] = []
        for argument in arguments[:-1]:
            name = _name(argument)
            if isinstance(argument, Name) and argument.is_wildcard:
                inner[name] = self.wildcards[name]
                over += self.wildcards[name]
                continue
            unused = name
            while unused in self._bound:
                unused += "_"
            self._bound.add(unused)
            if index(name) in self.extents:
                self.extents[index(unused)] = self.extents[index(name)]
            inner[name] = index(unused)
            over.append(index(unused))
        return fold(function, over, self.scalar(arguments[-1], inner))


def _name(node: Node) -> str:
    if not isinstance(node, Name):
        raise NotationError("expected an index")
    return node.name


def _plain(value: Value) -> Expr | Dim | float | bool:
    if isinstance(value, Tensor):
        raise NotationError(f"expected a number, found {value}: read an element of it, as in 'x[i]' or 'pad(..)[i]'")
    if isinstance(value, tuple | ElementType):
        raise NotationError(f"expected a number, found {value}")
    return value


def _applied(function: str, values: Sequence[Value]) -> Value:
    """Returns a function of numbers, of dims, or of scalar expressions."""
    plain = [_plain(v) for v in values]
    if not any(isinstance(v, Expr) for v in plain):
        symbolic = any(isinstance(v, DimExpr) for v in plain)
        if function in ("maximum", "minimum") and all(isinstance(v, int | DimExpr) for v in plain):
            dims: list[Dim] = [v for v in plain if isinstance(v, int | DimExpr)]
            return largest(*dims) if function == "maximum" else -largest(*[-d for d in dims])
        arithmetic = ("add", "subtract", "multiply", "negative", "floor_divide", "remainder")
        is_integer = all(isinstance(v, int | DimExpr) and not isinstance(v, bool) for v in plain)
        if function in _OF_NUMBERS and (not symbolic or (function in arithmetic and is_integer)):
            try:
                return _OF_NUMBERS[function](*plain)  # pyright: ignore[reportReturnType]  a number or a dim
            except ZeroDivisionError:
                raise NotationError("division by zero") from None
    if function not in FUNCTIONS:
        raise NotationError(f"unknown function '{function}'")
    return call(function, *plain)


def _number(value: object) -> object:
    """Returns an attribute as a number or a tuple of numbers, where it is one."""
    match value:
        case IntegerAttr() | FloatAttr() | BoolAttr():
            return value.value
        case DenseArrayAttr(values=values):
            return tuple(values)
        case ArrayAttr(values=values):
            return tuple([_number(v) for v in values])
        case _:
            return value


def _tensor(value: Value) -> Tensor:
    if not isinstance(value, Tensor):
        raise NotationError(f"expected an operand, found {value}")
    return value


def _dims(value: Value) -> tuple[Dim, ...]:
    dims = [v for v in value if isinstance(v, int | DimExpr)] if isinstance(value, tuple) else []
    if not isinstance(value, tuple) or len(dims) < len(value):
        raise NotationError(f"expected a list of integers, found {value}")
    return tuple(dims)


def _padded(x: Value, before: Value, after: Value, fill: Value = 0) -> Tensor:
    if not isinstance(fill, int | float):
        raise NotationError(f"expected the number to pad with, found {fill}")
    return _tensor(x).padded(_dims(before), _dims(after), fill=fill)


def _dim(x: Value, axis: Value) -> Dim:
    shape = _tensor(x).shape
    if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        raise NotationError(f"'{_tensor(x).name}' has rank {len(shape)}, which has no axis {axis}")
    return shape[axis]


def _cast(x: Value, to: Value) -> Expr:
    dtype = to.dtype if isinstance(to, Tensor | Expr) else to
    if not isinstance(dtype, ElementType):
        raise NotationError(f"cast takes an element type or an operand, found {to}")
    return cast(lift(_plain(x)), dtype)


def _dilated(x: Value, factors: Value) -> Tensor:
    numbers = [d for d in _dims(factors) if isinstance(d, int)]
    return _tensor(x).dilated(numbers)


def _flat(x: Value) -> Tensor:
    return _tensor(x).flat


def _rank(x: Value) -> int:
    return _tensor(x).rank


def _size(x: Value) -> Dim:
    return element_count(_tensor(x).shape)


_VIEWS: Mapping[str, Callable[..., Value]] = {
    "pad": _padded,
    "dilate": _dilated,
    "flat": _flat,
    "dim": _dim,
    "rank": _rank,
    "size": _size,
    "cast": _cast,
}
