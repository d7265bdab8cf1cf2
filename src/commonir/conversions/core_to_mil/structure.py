"""Rules for functions, nested programs, states and what ends them."""

from __future__ import annotations

from commonir.conversions.core_to_mil.building import cast
from commonir.conversions.operands import element_of
from commonir.dialects import core
from commonir.dialects.mil.control import Cond, ReadState, WriteState
from commonir.dialects.mil.elementwise import Cast
from commonir.dialects.mil.operands import DataType
from commonir.dialects.mil.program import Func, Return
from commonir.dialects.mlir import ml_program
from commonir.ir.operation import Operation, Value
from commonir.ir.types import StateType, TensorType, f16
from commonir.ods import are_compatible
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(ml_program.Func)
def function(op: ml_program.Func, context: Context) -> Operation:
    (content,) = context.regions
    version = context.target.version
    content.block.label = version
    return Func.build({"sym_name": op.sym_name, "opset": version, "specializations": (content,)}, ())


@rule(ml_program.Return)
def returned(op: ml_program.Return, context: Context, values: tuple[Value, ...]) -> Operation:
    holder = op.parent_op
    names = holder.output_names if isinstance(holder, ml_program.Func) else ()
    return Return.build({"values": values, "names": tuple(names) or ("",) * len(values)}, ())


@rule(core.Yield)
def yielded(op: core.Yield, context: Context, values: tuple[Value, ...]) -> Operation:
    return Return.build({"values": values, "names": ("",) * len(values)}, ())


@rule(core.If)
def if_(op: core.If, context: Context, condition: Value) -> Result:
    then, otherwise = context.regions
    for a, b in zip(*[region.block.last.operands for region in (then, otherwise) if region.block.last], strict=True):
        if not are_compatible(a.type, b.type):
            return Mismatch(f"the branches return {a.type} and {b.type}, which the results of mil.cond cannot both be")
    return Cond(condition, then, otherwise)


# -- states


def _state(context: Context, name: str, type: TensorType) -> Value:
    """The input of the function that holds a state."""
    key = ("state", name)
    if key not in context.memo:
        context.memo[key] = context.prologue.add_argument(StateType(type), name)
    return context.memo[key]


def _half(op: ml_program.GlobalLoad | ml_program.GlobalStore) -> tuple[ml_program.Global, TensorType] | Mismatch:
    """The global that is used, and the type of the state that holds it."""
    result = op.target
    type = None if result is None else result.type
    if result is None or not isinstance(type, TensorType) or not type.is_static:
        return Mismatch("a state of Core ML has a fixed shape")
    if not type.element.is_float:
        return Mismatch(f"a state of Core ML holds half precision, not {type.element}")
    return result, type.with_element(f16)


@rule(ml_program.GlobalLoad)
def load(op: ml_program.GlobalLoad, context: Context) -> Result:
    result = _half(op)
    if isinstance(result, Mismatch):
        return result
    declaration, kind = result
    value = ReadState(_state(context, declaration.sym_name, kind)).output
    return cast(value, declaration.type.element) if isinstance(declaration.type, TensorType) else value


@rule(ml_program.GlobalStore)
def store(op: ml_program.GlobalStore, context: Context, value: Value) -> Result:
    result = _half(op)
    if isinstance(result, Mismatch):
        return result
    declaration, kind = result
    narrow = value if element_of(value) is f16 else Cast(value, DataType.FP16).output
    return WriteState(_state(context, declaration.sym_name, kind), narrow)
