"""Copies the functions of a lowered module operation by operation, with replacements.

It is the base of passes that transform core programs: a subclass defines the types of block arguments and the
replacements of operations. All other types are inferred. The source does not change; names and locations are preserved.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Origin
from commonir.ir.types import FunctionType, Type, with_known_dims
from commonir.ods import Op, infer, operations_behind, path_of


class Transcription:
    """The copy of one function. `block` receives operations, `values` maps values of the source to the copy."""

    def __init__(self, source: ml_program.Func, diagnostics: Diagnostics) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.values: dict[Value, Value] = {}
        self.block = Block()
        self._location: Origin | None = None
        self._unfinished: set[Block] = set()

    # -- what a pass decides

    def argument_type(self, argument: Value) -> Type:
        """Returns the type of the copy of a block argument."""
        return argument.type

    def rewritten(self, op: Operation, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Sequence[Value]:
        """Returns the replacements of an operation's results. Their operations need not be in a block yet.

        Raises: DiagnosticError for an operation that cannot be copied; it is reported with its path.
        """
        return self.place(copied(op, operands, regions)).results

    def inlined(self, op: Operation) -> Function | None:  # noqa: ARG002  none by default
        """Returns the function whose body takes the place of an operation, which calls it.

        Raises: DiagnosticError for a call that must not stay; it is reported with its path.
        """
        return None

    def prepare(self) -> None:
        """Inserts operations before all others; may replace the copies of inputs."""

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """Returns the values to return instead of some values."""
        return values

    # -- what is shared

    def place(self, op: Operation) -> Operation:
        """Appends an operation to the block, after its operands that are not in a block yet."""
        for dependency in operations_behind(op.operands):
            self._append(dependency)
        self._append(op)
        return op

    def placed(self, value: Value) -> Value:
        """Appends the operations that compute a value to the block, and returns the value."""
        for op in operations_behind((value,)):
            self._append(op)
        return value

    def _append(self, op: Operation) -> None:
        op.location = op.location or self._location
        self.block.append(op)

    def function(self) -> ml_program.Func:
        """Returns the copy of the function."""
        source = self.source
        top = self._block_like(source.body)
        self.block = top
        self.prepare()
        self.fill(top, source.body)
        self.block = top
        outputs = self.returned(tuple([self.values.get(v, v) for v in source.outputs]))
        self.place(ml_program.Return(outputs))
        signature = FunctionType(tuple([a.type for a in top.arguments]), tuple([v.type for v in outputs]))
        return ml_program.Func(
            source.sym_name,
            signature,
            Region([top]),
            source.output_names,
            source.sym_visibility,
            source.arg_attrs,
            source.res_attrs,
        )

    def _block_like(self, source: Block) -> Block:
        block = Block([self.argument_type(a) for a in source.arguments], [a.name for a in source.arguments])
        self.values.update(zip(source.arguments, block.arguments, strict=True))
        return block

    def fill(self, block: Block, source: Block) -> None:
        """Copies the operations of a block and of those nested in it, innermost blocks first."""
        frames = [Frame(block, source)]
        while frames:
            frame = frames[-1]
            op = frame.next()
            if op is None:
                frames.pop()
                self._leave(frame)
                continue
            called = self._called(op)
            if called is not None:
                self.values.update(zip(called.inputs, [self.values.get(v, v) for v in op.operands], strict=True))
                frames.append(Frame(frame.block, called.body, op, called))
                continue
            if op.regions and op not in frame.ready:
                regions = tuple([Region([self._block_like(b) for b in region.blocks]) for region in op.regions])
                frame.ready[op] = regions
                frame.postpone(op)
                for region, built in zip(reversed(op.regions), reversed(regions), strict=True):
                    pairs = zip(reversed(built.blocks), reversed(region.blocks), strict=True)
                    frames.extend(Frame(b, s) for b, s in pairs)
                continue
            if isinstance(op, ml_program.Return):
                continue
            self.block = frame.block
            self.transcribe(op, frame.ready.pop(op, ()))

    def _called(self, op: Operation) -> Function | None:
        try:
            return self.inlined(op)
        except DiagnosticError as error:
            self.diagnostics.extend(d.located(where=path_of(op)) for d in error.diagnostics)
            return None

    def _leave(self, frame: Frame) -> None:
        """Maps the results of a call to what the body in its place returned."""
        if frame.call is not None and frame.called is not None:
            for result, value in zip(frame.call.results, frame.called.outputs, strict=True):
                new = self.values.get(value, value)
                new.name = new.name or result.name
                self.values[result] = new

    def transcribe(self, op: Operation, regions: tuple[Region, ...] = ()) -> None:
        """Copies or replaces an operation, and maps its results."""
        self._location = op.location
        operands = tuple([self.values.get(v, v) for v in op.operands])
        built = [Value(r.type, name=r.name) for r in op.results]
        try:
            # An operation in a block without a terminator cannot be checked; the terminator is reported.
            if not any(block in self._unfinished for region in op.regions for block in region.blocks):
                built = [self.placed(v) for v in self.rewritten(op, operands, regions)]
        except DiagnosticError as error:
            self.diagnostics.extend(d.located(where=path_of(op)) for d in error.diagnostics)
            if isinstance(op.parent, Block) and op.parent.last is op:
                self._unfinished.add(op.parent)
        for old, new in zip(op.results, built, strict=True):
            new.name = new.name or old.name
            self.values[old] = new


class Frame:
    """A block that is being filled from the rest of its source, for the body of a function in the place of a call."""

    def __init__(
        self, block: Block, source: Block, call: Operation | None = None, called: Function | None = None
    ) -> None:
        self.block = block
        self.call = call
        self.called = called
        self.ready: dict[Operation, tuple[Region, ...]] = {}
        self._remaining = list(reversed(list(source.operations)))

    def next(self) -> Operation | None:
        return self._remaining.pop() if self._remaining else None

    def postpone(self, op: Operation) -> None:
        self._remaining.append(op)


def copied(
    op: Operation, operands: tuple[Value, ...], regions: tuple[Region, ...] = (), **changes: object
) -> Operation:
    """Returns a copy of an operation on other operands, with some attributes changed; its result types are inferred.

    Raises: DiagnosticError when they contradict the definition.
    """
    built = op.clone_shallow(operands, regions)
    if not isinstance(built, Op):
        return built
    if changes:
        changed = built.with_attributes(**changes)
        built.operands = ()
        built = changed
    if not built.declares_results:
        for result, type in zip(built.results, infer(built).types, strict=True):
            result.retype(type)
        if not changes:
            # Data-dependent values has names in the source, which inference does not know.
            for old, result in zip(op.results, built.results, strict=True):
                result.retype(with_known_dims(result.type, old.type))
    return built


def with_functions(module: Module, functions: Sequence[Function], *, drop: Sequence[Operation] = ()) -> Module:
    """Returns a copy of a module with functions replaced by those of the same names, and without some symbols."""
    replacement = {f.symbol_name: f for f in functions}
    result = Module(module.extra, module.entry)
    for op in module.body.operations:
        if op in drop:
            continue
        if isinstance(op, Function):
            result.body.append(replacement.get(op.symbol_name) or op.clone_shallow((), ()))
        else:
            result.body.append(op.clone_shallow((), ()))
    return result
