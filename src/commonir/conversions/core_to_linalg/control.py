"""Rules for nested programs: scf.if, scf.while and scf.for; and for conditions that must hold.

What goes round in a loop has the types of what its body receives; sizes that are known there only are open.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.core_to_linalg.tensors import cast_to, empty
from commonir.conversions.operands import dims_of, refused
from commonir.conversions.to_mlir.dims import axis_size, dynamic_sizes, index_constant, static_sizes
from commonir.conversions.to_mlir.finish import erased
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mlir import arith, cf, scf, tensor
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import DYNAMIC, TensorType, Type, boolean, index
from commonir.ods import operations_behind
from commonir.rewrite.legalize import Context, Result, rule


@rule(core.Yield)
def yielded(op: core.Yield, context: Context, values: tuple[Value, ...]) -> Operation:
    return scf.Yield(values)


@rule(core.If)
def if_(op: core.If, context: Context, condition: Value) -> Result:
    then, orelse = context.regions
    types = [y.type for y in op.ys]
    for branch in (then, orelse):
        _cast_yielded(branch.block, types)
    taken = tensor.Extract.build({"tensor": condition, "indices": ()}, [boolean]).result_
    return scf.If.build({"condition": taken, "thenRegion": then, "elseRegion": orelse}, types)


def _cast_yielded(block: Block, types: Sequence[Type]) -> None:
    """Gives what a block yields the types that are wanted of it."""
    last = block.last
    if isinstance(last, scf.Yield):
        last.operands = tuple([_cast_before(last, v, t) for v, t in zip(last.operands, types, strict=True)])


def _cast_before(last: Operation, value: Value, type: Type) -> Value:
    if not isinstance(type, TensorType) or erased(value.type) is erased(type) or last.parent is None:
        return value
    return _placed(last.parent, tensor.Cast.build({"source": value}, [type]), last)


def _placed(block: Block, op: Operation, before: Operation | None = None) -> Value:
    """The result of an operation that is put into a block together with what it needs and is in no block yet."""
    for built in [*operations_behind(op.operands), op]:
        if before is None:
            block.append(built)
        else:
            block.insert_before(before, built)
    return op.results[0]


@rule(core.Require)
def required(op: core.Require, context: Context, condition: Value, values: tuple[Value, ...]) -> Operation:
    """cf.assert has no values for its message."""
    del values
    holds = tensor.Extract.build({"tensor": condition, "indices": ()}, [boolean]).result_
    return cf.Assert(holds, op.message)


@rule(core.While)
def while_(op: core.While, context: Context, initial: tuple[Value, ...]) -> Result:
    """The values go round; a stack grows by a slice in each round."""
    condition, body = context.regions
    types = [a.type for a in body.block.arguments]
    count = len(initial)
    stacks = [_open_stack(tensor_type(y)) for y in op.ys[count:]]
    empties = [empty(context, t.element, [0, *_inner(y)]) for t, y in zip(stacks, op.ys[count:], strict=True)]
    arguments = [_cast(v, t) for v, t in zip((*initial, *empties), (*types, *stacks), strict=True)]
    for block in (condition.block, body.block):
        for t in stacks:
            block.add_argument(t)
    before, after = condition.block, body.block
    answer = before.last
    if not isinstance(answer, scf.Yield):
        raise refused("the condition of a loop yields nothing")
    goes_on = _placed(before, tensor.Extract.build({"tensor": answer.operands[0], "indices": ()}, [boolean]), answer)
    answer.erase()
    before.append(scf.Condition(goes_on, tuple(before.arguments)))
    last = after.last
    if isinstance(last, scf.Yield):
        slices = last.operands[count:]
        grown = [_grown(context, after, last, s, v) for s, v in zip(after.arguments[count:], slices, strict=True)]
        last.operands = (*last.operands[:count], *grown)
    _cast_yielded(after, [*types, *stacks])
    new_op = scf.While.build(
        {"inits": tuple(arguments), "before": condition, "after": body}, [*[a.type for a in before.arguments]]
    )
    return new_op.results


def _cast(value: Value, type: Type) -> Value:
    return cast_to(value, type) if isinstance(type, TensorType) else value


def _open_stack(type: TensorType) -> TensorType:
    """A stack of slices whose number is data-dependent."""
    return type if type.shape is None else type.with_shape((None, *type.shape[1:]))


def _inner(stack: Value) -> list[int]:
    """The sizes of the slices of a stack. Raises: DiagnosticError (E0601) when they are data-dependent."""
    result = [d for d in (tensor_type(stack).shape or ())[1:] if isinstance(d, int)]
    if len(result) != len(tensor_type(stack).shape or ()) - 1:
        raise refused("the sizes of what a loop stacks are not known before running")
    return result


def _grown(context: Context, block: Block, last: Operation, stack: Value, slice_: Value) -> Value:
    """A stack with a slice behind it."""
    type = tensor_type(slice_)
    shape = dims_of(slice_)
    one = type.with_shape((1, *shape))
    groups = () if not shape else ((0, 1), *[(n + 1,) for n in range(1, len(shape))])
    arguments = {
        "src": slice_,
        "reassociation": groups,
        "static_output_shape": static_sizes((1, *shape)),
        "output_shape": dynamic_sizes(context, shape),
    }
    row = _placed(block, tensor.ExpandShape.build(arguments, [one]), last)
    joined = tensor.Concat.build({"dim": 0, "inputs": (stack, row)}, [stack.type])
    return _placed(block, joined, last)


@rule(core.Scan)
def scan(op: core.Scan, context: Context, initial: tuple[Value, ...], sequences: tuple[Value, ...]) -> Result:
    """A loop over positions: slices are taken at the position, and what is stacked is put there."""
    body = context.regions[0].block
    count = len(initial)
    states = [a.type for a in body.arguments[:count]]
    length = dims_of(op.sequences[0])[0]
    stacks = [empty(context, tensor_type(y).element, [length, *dims_of(y)[1:]]) for y in op.ys[count:]]
    initial_values = [*[_cast(v, t) for v, t in zip(initial, states, strict=True)], *stacks]
    loop = Block([index, *[v.type for v in initial_values]])
    at = loop.arguments[0]
    if op.reverse:
        last_position = axis_size(context, sequences[0], 0)
        behind = _placed(loop, arith.SubI(last_position, at))
        at = _placed(loop, arith.SubI(behind, index_constant(context, 1)))
    slices = [_slice(context, loop, v, at) for v in sequences]
    for old, new in zip(body.arguments, [*loop.arguments[1 : count + 1], *slices], strict=True):
        old.replace_all_uses_with(_cast_in(loop, new, old.type))
    values: tuple[Value, ...] = ()
    for nested in list(body.operations):
        if isinstance(nested, scf.Yield):
            values = nested.operands
            nested.erase()
        else:
            nested.detach()
            loop.append(nested)
    remaining = [_cast_in(loop, v, t) for v, t in zip(values[:count], states, strict=True)]
    rows = zip(loop.arguments[count + 1 :], values[count:], strict=True)
    stacked = [_put(context, loop, stack, v, at) for stack, v in rows]
    loop.append(scf.Yield((*remaining, *stacked)))
    bounds = [index_constant(context, 0), axis_size(context, sequences[0], 0), index_constant(context, 1)]
    arguments = {
        "lowerBound": bounds[0],
        "upperBound": bounds[1],
        "step": bounds[2],
        "initArgs": tuple(initial_values),
        "region": Region([loop]),
    }
    return scf.For.build(arguments, [v.type for v in initial_values]).results


def _cast_in(block: Block, value: Value, type: Type) -> Value:
    if not isinstance(type, TensorType) or erased(value.type) is erased(type):
        return value
    return _placed(block, tensor.Cast.build({"source": value}, [type]))


def _row(context: Context, shape: Sequence[object], dims: Sequence[Value], at: Value) -> dict[str, object]:
    """Where a slice along the first axis lies."""
    rank = len(shape)
    return {
        "static_offsets": (DYNAMIC, *(0,) * (rank - 1)),
        "offsets": (at,),
        "static_sizes": (1, *[d if isinstance(d, int) else DYNAMIC for d in shape[1:]]),
        "sizes": tuple(dims),
        "static_strides": (1,) * rank,
        "strides": (),
    }


def _slice(context: Context, block: Block, sequence: Value, at: Value) -> Value:
    shape = dims_of(sequence)
    where = _row(context, shape, dynamic_sizes(context, shape[1:]), at)
    type = tensor_type(sequence).with_shape(shape[1:])
    return _placed(block, tensor.ExtractSlice.build({"source": sequence, **where}, [type]))


def _put(context: Context, block: Block, stack: Value, value: Value, at: Value) -> Value:
    shape = dims_of(stack)
    value = _cast_in(block, value, tensor_type(stack).with_shape(shape[1:]))
    where = _row(context, shape, dynamic_sizes(context, shape[1:]), at)
    return _placed(block, tensor.InsertSlice.build({"source": value, "dest": stack, **where}, [stack.type]))
