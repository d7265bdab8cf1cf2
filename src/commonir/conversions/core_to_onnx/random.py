"""Rules for core operations that draw random numbers; the numbers are those of the runtime's generator."""

from __future__ import annotations

from commonir.conversions.core_to_onnx.building import cast, vector
from commonir.dialects import core, onnx
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64, i64
from commonir.ods import known_dims
from commonir.rewrite.legalize import Context, rule
from commonir.symbolic import Dim

# Runtimes draw numbers of no other types.
_ELEMENTS = (f32, f64)


def _drawn_as(element: ElementType) -> ElementType:
    return element if element in _ELEMENTS else f32


def _seed(op: core.RandomTensor) -> float | None:
    return None if op.seed == core.ANY_SEED else float(op.seed)


def _fixed(dims: tuple[Dim, ...] | None) -> tuple[int, ...] | None:
    """The numbers of a shape when all are known."""
    result = tuple([d for d in dims or () if isinstance(d, int)])
    return result if dims is not None and len(result) == len(dims) else None


def _tensor_of(op: core.RandomTensor, context: Context, shape: Value) -> Value:
    """Some tensor of the shape."""
    dims = known_dims(op.shape)
    if dims is not None:
        return onnx.ConstantOfShape(vector(context, dims), value=data_of(f32, (1,), (0.0,))).output
    dim_values = cast(shape, i64)
    count = core.reduce_prod(dim_values, (), False)
    return core.dynamic_reshape(core.range(core.scalar(0, i64), count, core.scalar(1, i64)), dim_values)


@rule(core.RandomUniform)
def random_uniform(op: core.RandomUniform, context: Context, shape: Value) -> Value:
    dtype, dims = _drawn_as(op.element), _fixed(known_dims(op.shape))
    if dims is not None:
        new_op = onnx.RandomUniform(dtype=dtype, high=op.high, low=op.low, seed=_seed(op), shape=dims).output
    else:
        like = _tensor_of(op, context, shape)
        new_op = onnx.RandomUniformLike(like, dtype=dtype, high=op.high, low=op.low, seed=_seed(op)).output
    return cast(new_op, op.element)


@rule(core.RandomNormal)
def random_normal(op: core.RandomNormal, context: Context, shape: Value) -> Value:
    dtype, dims = _drawn_as(op.element), _fixed(known_dims(op.shape))
    if dims is not None:
        new_op = onnx.RandomNormal(dtype=dtype, mean=op.mean, scale=op.deviation, seed=_seed(op), shape=dims).output
    else:
        like = _tensor_of(op, context, shape)
        new_op = onnx.RandomNormalLike(like, dtype=dtype, mean=op.mean, scale=op.deviation, seed=_seed(op)).output
    return cast(new_op, op.element)
