"""Custom calls that name a function of the program: those by which StableHLO's dynamic operations are exported.

Sources: stablehlo/dialect/ExperimentalOps (dynamic_reduce_window, dynamic_top_k, dynamic_rng_bit_generator); XLA,
ApproxTopK, of which any recall is allowed and all elements are looked at here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo.base import numbers_in, sizes_in
from commonir.dialects.mlir.stablehlo.bodies import part
from commonir.dialects.mlir.stablehlo.foreign_calls import result_shape, settings_of
from commonir.dialects.mlir.stablehlo.reduction import Sort, Windows, windows_reduced
from commonir.ir.attributes import ArrayAttr, SymbolRefAttr
from commonir.ir.core_types import core_type
from commonir.ir.module import Function, Module
from commonir.ir.operation import Region, Value
from commonir.notation import NotationError
from commonir.ods import Form, Op, results_of, traits
from commonir.ods.operand_shapes import known_dims_of

if TYPE_CHECKING:
    from commonir.dialects.mlir.stablehlo.control import CustomCall


def reduced_windows(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    """Reduces windows of sizes that are computed: `reduce_window` whose attributes are operands, in order."""
    count = (len(inputs) - 5) // 2
    if count < 1 or len(inputs) != 2 * count + 5:
        raise NotationError("the windows of a reduction are given by five operands after the tensors")
    *tensors, dimensions, strides, base, dilations, padding = inputs
    pairs = sizes_in(padding)
    windows = Windows(
        sizes_in(dimensions),
        numbers_in(strides),
        numbers_in(base),
        numbers_in(dilations),
        tuple(zip(pairs[::2], pairs[1::2], strict=True)),
    )
    return windows_reduced(tuple(tensors[:count]), tuple(tensors[count:]), called_region(op), windows)


def approximate_top_k(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    """Returns the first elements along an axis in the order of a comparison, which an approximation may return too.

    Its operands are tensors and what pads each of them; its results have `top_k` elements, or more that hold these.
    """
    count = len(op.results)
    axis = settings_of(op).get("reduction_dim", -1)
    if count < 1 or len(inputs) < 2 * count or not 0 <= axis < len(known_dims_of(inputs[0])):
        raise NotationError("'ApproxTopK' takes tensors, a number for each, and the axis along which they are reduced")
    tensors = inputs[:count]
    size = result_shape(op, 0, inputs)[axis]
    types = [v.type for v in tensors]
    sort = Sort.build({"inputs": tensors, "dimension": axis}, types)
    ordered = sort.reference(tensors, comparator=called_region(op))
    sort.erase()
    return tuple([part(x, axis, 0, size) for x in ordered])


def called_region(op: CustomCall) -> Region:
    """Returns the function that a call names as a region of the core.

    Raises: NotationError where it is missing, or not a function of numbers without nested programs.
    """
    names = op.called_computations.values if isinstance(op.called_computations, ArrayAttr) else ()
    name = names[0].path[-1] if names and isinstance(names[0], SymbolRefAttr) else ""
    modules = [a for a in op.ancestors() if isinstance(a, Module)]
    function = next((f for m in modules if isinstance(f := m.symbol(name), Function)), None)
    if function is None or function.is_declaration:
        raise NotationError(
            f"'{op.call_target_name}' takes a function of the program, and there is none called '{name}'"
        )
    types = [core_type(v.type) for v in function.inputs]
    return core.nested(types, lambda *arguments: _yielded(function, arguments))


def _yielded(function: Function, arguments: Sequence[Value]) -> tuple[Value, ...]:
    values = dict(zip(function.inputs, arguments, strict=True))
    for op in function.body.operations:
        if not isinstance(op, Op) or op.regions:
            raise NotationError(
                f"'{function.symbol_name}' has the operation '{op.name}', which cannot be combined here"
            )
        if op.has_trait(traits.Terminator):
            break
        values.update(zip(op.results, _applied(op, values), strict=True))
    return tuple([values[v] for v in function.outputs])


def _applied(op: Op, values: Mapping[Value, Value]) -> Sequence[Value]:
    """Returns the results of an operation on other operands, in terms of the core."""
    if op.form is not Form.COMPOSITE:
        return op.clone_shallow(tuple([values[v] for v in op.operands]), ()).results
    operands: list[Value | tuple[Value, ...] | None] = []
    for group in op.grouped_operands():
        if isinstance(group, tuple):
            operands.append(tuple([values[v] for v in group]))
        else:
            operands.append(None if group is None else values[group])
    return results_of(op.reference(*operands))
