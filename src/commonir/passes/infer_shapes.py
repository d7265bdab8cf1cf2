"""Infers the types of values from definitions; dims are expressions of input dims.

Declared types remain if inference gives nothing better. A dim that cannot be inferred gets its own name, so
that dependent dims are expressions of it. Dims with different names are never assumed equal: if they meet in a
broadcast, the result has the larger one, and 0 where one of them may be and is 0.

Changes only types; the verifier reports contradictions with definitions.
Source: DESIGN, data flow; Common IR specification, dimension variables.
"""

from __future__ import annotations

from collections.abc import Iterable

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ListType, SparseTensorType, TensorType, Type, have_like_parts, symbols_of, unknown
from commonir.notation import NotationError
from commonir.ods import Op, infer
from commonir.passes.data_dependent_dims import DimNames
from commonir.symbolic import Dim, DimExpr, compare, symbols

_MAX_ROUNDS = 3
"""How often a nested program is looked at until the types of what it carries from round to round stay as they are."""


def infer_shapes(module: Module, used_names: Iterable[str] = ()) -> None:
    """Fills in the types of all values of a module, in place; no new dim has one of `used_names`."""
    for function in module.defined_functions.values():
        infer_shapes_of(function, used_names)


def infer_shapes_of(function: Function, used_names: Iterable[str] = ()) -> None:
    """Fills in the types of all values of a function, in place; no new dim has one of `used_names`."""
    _Inference(function, used_names).run()


class _Inference:
    """The inference of one function."""

    def __init__(self, function: Function, used_names: Iterable[str]) -> None:
        self._function = function
        self._names = DimNames(function.inputs, used_names)
        # Names of dims introduced by values of the current block and of the enclosing ones.
        self._visible: dict[str, None] = {}
        # The names of sizes in types of which each size is known or has a name.
        self._named: dict[Type, dict[str, None]] = {}

    def run(self) -> None:
        body = self._function.body
        for argument in body.arguments:
            argument.retype(self._names.of_input(argument, argument.type, 1))
        self._add_visible(body.arguments)
        self._block(body)

    def _block(self, block: Block) -> None:
        # Nesting costs no stack: a frame is what remains of a block, and what to do when nothing does.
        frames = [_Frame(block.first)]
        while frames:
            frame = frames[-1]
            op = frame.next
            if op is None:
                frames.pop()
                continue
            if op.regions and op is not frame.entered:
                frame.enter(op, self._visible)
            if op is frame.entered and frame.rounds < _MAX_ROUNDS and self._enter(op, frame):
                frame.rounds += 1
                frames.extend(_Frame(b.first) for r in reversed(op.regions) for b in reversed(r.blocks))
                continue
            if op is frame.entered:
                self._visible = frame.visible
            frame.next = op.next
            self._operation(op)

    def _enter(self, op: Operation, frame: _Frame) -> bool:
        """Sets the types of arguments of nested blocks; returns whether the regions must be visited (again)."""
        entries = self._entries(op, frame)
        changed = frame.rounds == 0
        arguments = [list(r.blocks[0].arguments) if r.blocks else [] for r in op.regions]
        for values, types in zip(arguments, entries, strict=False):
            for v, type in zip(values, types, strict=False):
                before = v.type
                # After the first round what is not the same in all rounds has been found out, and counts.
                result = merged(before, type) if frame.rounds == 0 else self._widened(before, type, frame)
                v.retype(self._names.named(result, v.name or f"argument{v.index}"))
                changed = changed or v.type is not before
        self._visible = dict(frame.visible)
        self._add_visible([v for values in arguments for v in values])
        return changed

    @staticmethod
    def _widened(before: Type, type: Type, frame: _Frame) -> Type:
        """Returns a type for an argument whose type differs between iterations: dims that differ are unknown."""
        if before is type or not isinstance(before, TensorType) or not isinstance(type, TensorType):
            return type
        if before.shape is None or type.shape is None or len(before.shape) != len(type.shape):
            return type.with_shape(None)

        def is_own(d: Dim | None) -> bool:
            return isinstance(d, DimExpr) and not any(name in frame.visible for name in symbols(d))

        pairs = zip(before.shape, type.shape, strict=True)
        return type.with_shape(tuple([a if a == b or (b is None and is_own(a)) else None for a, b in pairs]))

    @staticmethod
    def _entries(op: Operation, frame: _Frame) -> tuple[tuple[Type, ...], ...]:
        """Returns the types of arguments of regions; in the first round they follow from operands only, since the
        regions have not been visited.
        """
        if not isinstance(op, Op):
            return ()
        ends = [] if frame.rounds else [b.last for r in op.regions for b in r.blocks if b.last is not None]
        built = {v: v.type for end in ends for v in end.operands if isinstance(v.owner, Operation)}
        for v in built:
            v.retype(unknown)
        try:
            return op.entry_types()
        finally:
            for v, type in built.items():
                v.retype(type)

    def _operation(self, op: Operation) -> None:
        if not isinstance(op, Op) or op.declares_results:
            self._name(op)
            return
        try:
            derived = infer(op)
        except (DiagnosticError, NotationError):
            self._name(op)
            return
        for r, type in zip(op.results, derived.types, strict=False):
            if op.regions:
                type = self._without_inner(type)
            if r.type is not type:
                r.retype(merged(r.type, type))
        self._name(op)

    def _name(self, op: Operation) -> None:
        """Names the dims of results that cannot be inferred."""
        for r in op.results:
            result = self._named.get(r.type)
            if result is None:
                r.retype(self._names.named(r.type, r.name or op.name.rpartition(".")[2], 0))
                result = self._named[r.type] = symbols_of([r.type])
            if result:
                self._visible.update(result)

    def _without_inner(self, type: Type) -> Type:
        """Returns a type without symbols that are only defined inside the regions."""
        if not isinstance(type, TensorType) or type.shape is None:
            return type
        return type.with_shape(
            tuple([d if not isinstance(d, DimExpr) or self._is_visible(d) else None for d in type.shape])
        )

    def _is_visible(self, dim: DimExpr) -> bool:
        return all(name in self._visible for name in symbols(dim))

    def _add_visible(self, values: Iterable[Value]) -> None:
        self._visible.update(symbols_of([v.type for v in values]))


class _Frame:
    """A position in a block: the next operation, the operation whose regions have been entered, and the symbols that
    were visible before.
    """

    __slots__ = ("entered", "next", "rounds", "visible")

    def __init__(self, first: Operation | None) -> None:
        self.next = first
        self.entered: Operation | None = None
        self.rounds = 0
        self.visible: dict[str, None] = {}

    def enter(self, op: Operation, visible: dict[str, None]) -> None:
        """Marks the regions of an operation as entered."""
        self.entered, self.rounds, self.visible = op, 0, visible


def merged(declared: Type, inferred: Type) -> Type:
    """Merges the declared and the inferred type of a value."""
    if declared is inferred or declared is unknown:
        return inferred
    if inferred is unknown:
        return declared
    match declared, inferred:
        case TensorType(), TensorType() if declared.element is inferred.element:
            return _merged_shapes(declared, inferred)
        case ListType(), ListType():
            return ListType(merged(declared.element, inferred.element), inferred.length or declared.length)
        case _ if have_like_parts(declared, inferred):
            return inferred.with_parts(tuple(map(merged, declared.parts, inferred.parts)))
        case SparseTensorType(), SparseTensorType() if declared.element is inferred.element:
            return SparseTensorType(inferred.element, _merged_shapes(declared.dense, inferred.dense).shape)
        case _:
            return inferred


def _merged_shapes(declared: TensorType, inferred: TensorType) -> TensorType:
    if inferred.shape is None:
        return declared
    if declared.shape is None or len(declared.shape) != len(inferred.shape):
        return inferred
    pairs = zip(declared.shape, inferred.shape, strict=True)
    return inferred.with_shape(tuple([_merged_dim(d, i) for d, i in pairs]))


def _merged_dim(declared: Dim | None, inferred: Dim | None) -> Dim | None:
    if inferred is None or (isinstance(declared, int) and compare(declared, inferred) is not False):
        return declared
    return inferred
