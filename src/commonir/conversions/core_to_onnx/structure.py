"""Rules for functions, nested programs and what ends them."""

from __future__ import annotations

from commonir.conversions.core_to_onnx.building import constant, opset_of
from commonir.dialects import core, onnx
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DataAttr, DictionaryAttr, IntegerAttr
from commonir.ir.cloning import clone
from commonir.ir.data import Data
from commonir.ir.interface import NO_PORT, Port, default_data
from commonir.ir.module import distinct_names
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import TensorType, boolean, i64
from commonir.passes.node_names import number_nodes
from commonir.passes.output_dims import name_output_dims
from commonir.rewrite.legalize import Context, rule

# A default fills the whole input; beyond this the file would be large for something that is rarely meant.
_LARGEST_DEFAULT_BYTES = 2**20


@rule(ml_program.Func)
def function(op: ml_program.Func, context: Context) -> Operation:
    (content,) = context.regions
    _name_inputs(content.block)
    _name_outputs(content.block, op.output_names)
    number_nodes(content.block)
    name_output_dims(content.block, op)
    opset = opset_of(context)
    ports = op.input_ports
    defaults = {v.name: data for v in op.inputs if (data := default_of(v, ports.get(v.name, NO_PORT)))}
    stored = DictionaryAttr(tuple([(name, DataAttr(data)) for name, data in defaults.items()]))
    return onnx.Graph(op.sym_name, DictionaryAttr((("", IntegerAttr(opset)),)), content, stored)


def default_of(value: Value, port: Port) -> Data | None:
    """The contents of an input that is not given; None when the input has none, or no fixed shape that is small."""
    result = default_data(value.type, port)
    is_large = result is not port.contents and result is not None and result.size_bytes > _LARGEST_DEFAULT_BYTES
    return None if is_large else result


def _name_inputs(block: Block) -> None:
    for n, argument in enumerate(block.arguments):
        argument.name = argument.name or f"input{n}"


def _name_outputs(block: Block, names: tuple[str, ...]) -> None:
    """Gives outputs their names, which are not those of inputs.

    A value that has another name already keeps it, and is returned under the new one.
    """
    compute_outputs(block)
    last = block.last
    if isinstance(last, onnx.Return):
        inputs = [a.name for a in block.arguments]
        outputs = [name or f"output{n}" for n, name in enumerate(names)]
        for v, name in zip(last.outputs, distinct_names([*inputs, *outputs], "")[len(inputs) :], strict=True):
            v.name = name


def compute_outputs(block: Block) -> None:
    """Makes each output of a graph a value of its own that an operator of the graph computes, as ONNX demands.

    Inputs, constants, values of the graphs around it and values that are returned already are copied.
    """
    last = block.last
    if not isinstance(last, onnx.Return):
        return
    outputs: list[Value] = []
    for v in last.outputs:
        owner = v.owner
        is_computed = isinstance(owner, Operation) and owner.parent is block and not isinstance(owner, onnx.Initializer)
        is_own = is_computed and v not in outputs
        outputs.append(v if is_own else block.insert_before(last, onnx.Identity(v)).output)
    last.operands = tuple(outputs)


@rule(ml_program.Return)
def returned(op: ml_program.Return, context: Context, values: tuple[Value, ...]) -> Operation:
    return onnx.Return(values)


@rule(core.Yield)
def yielded(op: core.Yield, context: Context, values: tuple[Value, ...]) -> Operation:
    return onnx.Return(values)


@rule(core.If)
def if_(op: core.If, context: Context, condition: Value) -> tuple[Value, ...]:
    then, orelse = context.regions
    for branch in (then, orelse):
        compute_outputs(branch.block)
    return onnx.If(cond=condition, then_branch=then, else_branch=orelse).outputs


@rule(core.While)
def while_(op: core.While, context: Context, initial: tuple[Value, ...]) -> tuple[Value, ...]:
    """The condition is asked once before the loop, and at the end of each round."""
    condition, body = (region.block for region in context.regions)
    first = _answer(condition, initial)
    types = [a.type for a in body.arguments]
    names = ["", "", *(a.name for a in body.arguments)]
    rounds = Block([TensorType(i64, ()), TensorType(boolean, ()), *types], names)
    for old, new in zip(body.arguments, rounds.arguments[2:], strict=True):
        old.replace_all_uses_with(new)
    results: tuple[Value, ...] = ()
    for nested in body.operations:
        if isinstance(nested, onnx.Return):
            results = nested.outputs
            nested.erase()
        else:
            nested.detach()
            rounds.append(nested)
    again = _answer(condition, results[: len(initial)], rounds)
    rounds.append(onnx.Return((again, *results)))
    compute_outputs(rounds)
    return onnx.Loop(Region([rounds]), constant(context, i64, (), (2**63 - 1,)), first, initial).results


def _answer(condition: Block, values: tuple[Value, ...], block: Block | None = None) -> Value:
    """Returns what the condition yields for some values, from copies of its operations in `block`, if given."""
    mapping = dict(zip(condition.arguments, values, strict=True))
    for op in condition.operations:
        if isinstance(op, onnx.Return):
            return mapping.get(op.outputs[0], op.outputs[0])
        copy = clone(op, mapping)
        if block is not None:
            block.append(copy)
    raise ValueError("the condition of a loop yields nothing")
