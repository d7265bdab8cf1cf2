"""A copy of a function as elementary operations: kernels, algorithms and constants, with composites expanded.

Sharding analyzes this copy, because kernels show how an operation can be sharded. The source does not change.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Form, Op, operations_behind, traits
from commonir.rewrite.expand import Expansion, expand


class Node:
    """An elementary operation, and the operation of the source that it belongs to.

    `used` are its operands and the values that its regions capture.
    """

    __slots__ = ("is_inner", "op", "source", "used")

    def __init__(self, op: Operation, source: Operation, used: tuple[Value, ...], *, is_inner: bool) -> None:
        self.op = op
        self.source = source
        self.used = used
        self.is_inner = is_inner

    @property
    def kernel(self) -> Op | None:
        """The operation if its reference is a kernel."""
        return self.op if isinstance(self.op, Op) and self.op.form is Form.KERNEL else None


class Elementary:
    """The elementary operations of a function in order. `values` maps values of the source to those of the copy."""

    def __init__(self, function: Function) -> None:
        self._block = Block()
        self.nodes: list[Node] = []
        self.of_source: dict[Operation, list[Node]] = {}
        self.values: dict[Value, Value] = {a: Value(a.type, name=a.name) for a in function.inputs}
        self.users: dict[Value, list[Node]] = {}
        self.makers: dict[Value, Node] = {}
        for op in function.body.operations:
            if not (isinstance(op, Op) and op.has_trait(traits.Terminator)):
                self._add(op)
        self.inputs = tuple([self.values[v] for v in function.inputs])
        self.outputs = tuple([self.values[v] for v in function.outputs])
        self.shared: set[Value] = set(self.values.values())
        self.fixed = self._fixed()

    def _add(self, op: Operation) -> None:
        operands = tuple([self.values[v] for v in op.operands])
        written = written_out(op, operands, self._block)
        built = [self._block.append(op.clone_shallow(operands, ()))] if written is None else written[0]
        results = built[0].results if written is None else written[1]
        inside = tuple([self.values[v] for v in op.values_used if v in self.values]) if op.regions else ()
        nodes = [Node(m, op, m.operands + inside, is_inner=written is not None) for m in built]
        self.of_source[op] = nodes
        for node in nodes:
            for v in dict.fromkeys(node.used):
                self.users.setdefault(v, []).append(node)
            self.makers.update((r, node) for r in node.op.results)
        self.nodes += nodes
        for source, copy in zip(op.results, results, strict=True):
            copy.name = copy.name or source.name
            self.values[source] = copy

    def _fixed(self) -> set[Value]:
        """Returns the values that depend on constants only."""
        result: set[Value] = set()
        for node in self.nodes:
            if (
                all(v in result for v in node.op.operands)
                and isinstance(node.op, Op)
                and node.op.has_trait(traits.Pure)
            ):
                result.update(node.op.results)
        return result


def written_out(
    op: Operation, operands: Sequence[Value], block: Block
) -> tuple[list[Operation], tuple[Value, ...]] | None:
    """Expands a composite into elementary operations on some operands, appends them to a block, and returns them with
    its results.

    Returns None for an elementary operation, or one that cannot be expanded.
    """
    if not isinstance(op, Op) or not _is_composite(op):
        return None
    values: dict[Value, Value] = {}
    result: list[Operation] = []
    pending: list[tuple[Op, tuple[Value, ...]]] = [(op, tuple(operands))]
    after: dict[Operation, tuple[Value, ...]] = {}
    while pending:
        current, arguments = pending.pop()
        if current in after:
            values.update(zip(current.results, [_last(v, values) for v in after.pop(current)], strict=True))
            continue
        arguments = tuple([_last(v, values) for v in arguments])
        if not _is_composite(current):
            copy = block.append(current.clone_shallow(arguments, ()))
            result.append(copy)
            values.update(zip(current.results, copy.results, strict=True))
            continue
        try:
            expansion = _without_bias(current, arguments) or expand(current, arguments)
        except DiagnosticError:
            return None
        after[current] = expansion.results
        pending.append((current, arguments))
        nested: list[Op] = [o for o in expansion.operations if isinstance(o, Op)]
        if len(nested) < len(expansion.operations) or any(o.regions for o in nested):
            return None
        pending.extend([(o, o.operands) for o in reversed(nested)])
    return result, tuple([_last(v, values) for v in op.results])


def _last(value: Value, values: dict[Value, Value]) -> Value:
    while value in values:
        value = values[value]
    return value


def _without_bias(op: Op, operands: Sequence[Value]) -> Expansion | None:
    """Returns a product with a bias as a product and an addition, since a sum over ranks must come between them."""
    match op:
        case core.Linear(bias=Value()):
            product = core.linear(*operands[:2])
            added = core.add(product, operands[2])
        case core.Conv(bias=Value(), strides=strides, dilations=dilations, pads=pads, groups=groups):
            product = core.conv(operands[0], operands[1], None, strides, dilations, pads, groups)
            added = core.add(product, core.per_channel(operands[2], product))
        case core.ConvTranspose(bias=Value(), strides=strides, dilations=dilations, pads=pads):
            output_arguments = (op.output_padding, op.groups)
            product = core.conv_transpose(operands[0], operands[1], None, strides, dilations, pads, *output_arguments)
            added = core.add(product, core.per_channel(operands[2], product))
        case _:
            return None
    return Expansion((added,), operations_behind((added,)))


def _is_composite(op: Op) -> bool:
    if isinstance(op, core.Linear | core.Conv | core.ConvTranspose):
        return op.bias is not None
    return op.form is Form.COMPOSITE and not op.regions and not op.infers_types and bool(op.results)
