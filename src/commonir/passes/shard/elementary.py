"""A function as elementary operations: kernels, algorithms and constants, with composites written out.

How a program can be divided is asked of what its operations mean. The copy that this makes is only looked at; the
source is not touched.
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
    """An elementary operation, and the operation of the source of which it is a part or a copy.

    `used` are its operands and what its regions take from outside.
    """

    __slots__ = ("is_inner", "op", "source", "used")

    def __init__(self, op: Operation, source: Operation, used: tuple[Value, ...], *, is_inner: bool) -> None:
        self.op = op
        self.source = source
        self.used = used
        self.is_inner = is_inner

    @property
    def kernel(self) -> Op | None:
        """The operation when index notation says what it does."""
        return self.op if isinstance(self.op, Op) and self.op.form is Form.KERNEL else None


class Elementary:
    """The elementary operations of a function in order. `values` are what stands for the values of the source."""

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
        for mine, its in zip(op.results, results, strict=True):
            its.name = its.name or mine.name
            self.values[mine] = its

    def _fixed(self) -> set[Value]:
        """The values that follow from constants alone."""
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
    """The elementary operations that a composite consists of, on some operands, and the values of its results. They are
    put into a block: what is in none counts as a part of what is computed from it.

    None for an operation that is elementary, or whose meaning cannot be stated.
    """
    if not isinstance(op, Op) or not _is_composite(op):
        return None
    values: dict[Value, Value] = {}
    result: list[Operation] = []
    pending: list[tuple[Op, tuple[Value, ...]]] = [(op, tuple(operands))]
    after: dict[Operation, tuple[Value, ...]] = {}
    while pending:
        here, arguments = pending.pop()
        if here in after:
            values.update(zip(here.results, [_last(v, values) for v in after.pop(here)], strict=True))
            continue
        arguments = tuple([_last(v, values) for v in arguments])
        if not _is_composite(here):
            copy = block.append(here.clone_shallow(arguments, ()))
            result.append(copy)
            values.update(zip(here.results, copy.results, strict=True))
            continue
        try:
            expansion = _without_bias(here, arguments) or expand(here, arguments)
        except DiagnosticError:
            return None
        after[here] = expansion.results
        pending.append((here, arguments))
        inner: list[Op] = [o for o in expansion.operations if isinstance(o, Op)]
        if len(inner) < len(expansion.operations) or any(o.regions for o in inner):
            return None
        pending.extend([(o, o.operands) for o in reversed(inner)])
    return result, tuple([_last(v, values) for v in op.results])


def _last(value: Value, values: dict[Value, Value]) -> Value:
    while value in values:
        value = values[value]
    return value


def _without_bias(op: Op, operands: Sequence[Value]) -> Expansion | None:
    """A product with a bias as a product and an addition: a sum over ranks must come between them."""
    match op:
        case core.Linear(bias=Value()):
            product = core.linear(*operands[:2])
            added = core.add(product, operands[2])
        case core.Conv(bias=Value(), strides=strides, dilations=dilations, pads=pads, groups=groups):
            product = core.conv(operands[0], operands[1], None, strides, dilations, pads, groups)
            added = core.add(product, core.per_channel(operands[2], product))
        case core.ConvTranspose(bias=Value(), strides=strides, dilations=dilations, pads=pads):
            rest = (op.output_padding, op.groups)
            product = core.conv_transpose(operands[0], operands[1], None, strides, dilations, pads, *rest)
            added = core.add(product, core.per_channel(operands[2], product))
        case _:
            return None
    return Expansion((added,), operations_behind((added,)))


def _is_composite(op: Op) -> bool:
    if isinstance(op, core.Linear | core.Conv | core.ConvTranspose):
        return op.bias is not None
    return op.form is Form.COMPOSITE and not op.regions and not op.infers_types and bool(op.results)
