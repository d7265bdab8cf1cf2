"""Changes the element types in which a program is computed, as to those that a target has or to half precision.

A policy maps element types. Operations that must keep theirs are surrounded by casts. Inputs and outputs have types of
their own, and are cast at the border. Constants are converted when they are needed. Values that do not fit are
reported; the source does not change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mlir import ml_program
from commonir.ir.data import ArrayData, Data, DeferredData, data_of
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.types import ELEMENT_TYPES, ElementType, TensorType, Type, boolean, i32, with_known_dims
from commonir.ods import Op, attr_types
from commonir.ods.fields import FieldKind
from commonir.passes.transcribe import Transcription, copied, with_functions
from commonir.rewrite.legality import collection_help
from commonir.symbolic import Dim


class ElementPolicy(ABC):
    """A mapping of element types."""

    @abstractmethod
    def inside(self, element: ElementType) -> ElementType:
        """Returns the element type in which values of an element type are computed.

        Raises: DiagnosticError when there is none.
        """

    @abstractmethod
    def at_border(self, element: ElementType) -> ElementType:
        """Returns the element type of inputs and outputs of an element type."""

    def keeps(self, op: Operation) -> bool:
        """Returns whether an operation keeps its own element types."""
        del op
        return False

    def constant(self, data: Data, element: ElementType) -> Data:
        """Returns a constant in an element type."""
        return converted_data(data, element)


OF_OWN_TYPES = (core.Decoded, core.Quantize, core.BitCast, core.NarrowCast)
"""Operations whose result is about an element type, so that they cannot be computed in another one."""


def convert_elements(module: Module, policy: ElementPolicy) -> Module:
    """Returns a lowered module that is computed in the element types of a policy.

    Raises: DiagnosticError for all values for which the policy has no element type.
    """
    diagnostics = Diagnostics()
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    result = with_functions(module, [_Conversion(f, policy, diagnostics).function() for f in functions])
    diagnostics.raise_errors()
    return result


class _Conversion(Transcription):
    """The conversion of one function."""

    def __init__(self, source: ml_program.Func, policy: ElementPolicy, diagnostics: Diagnostics) -> None:
        super().__init__(source, diagnostics)
        self.policy = policy
        self._casts: dict[tuple[Value, ElementType], Value] = {}

    def argument_type(self, argument: Value) -> Type:
        type = argument.type
        if not isinstance(type, TensorType):
            return type
        is_input = argument.owner is self.source.body
        return type.with_element((self.policy.at_border if is_input else self.policy.inside)(type.element))

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        out: list[Value] = []
        for old, new in zip(self.source.outputs, values, strict=True):
            type = old.type
            out.append(new if not isinstance(type, TensorType) else self._as(new, self.policy.at_border(type.element)))
        return tuple(out)

    def rewritten(self, op: Operation, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Sequence[Value]:
        keeps = self.policy.keeps(op)
        if isinstance(op, core.Constant):
            expected = op.value.element if keeps else self.policy.inside(op.value.element)
            data = op.value if keeps else _as_bound(op, expected)
            return (core.Constant(self.policy.constant(data, expected)).y,)
        if isinstance(op, ml_program.GlobalLoadConst):
            return self._global_constant(op)
        if isinstance(op, ml_program.GlobalLoad):
            built = self.place(copied(op, operands)).result
            return (self._as(built, self._inside(built.type, keeps)),)
        declared = _declared_elements(op)
        arguments = tuple(
            [
                self._as(new, element or self._operand_element(op, old, keeps))
                for old, new, element in zip(op.operands, operands, declared, strict=True)
            ]
        )
        changes = {} if keeps else self._attributes(op)
        if isinstance(op, core.Dims) and not keeps:
            changes["values"] = _dims_as_bounds(op, self.policy.inside(op.element))
        built = self.place(copied(op, arguments, regions, **changes))
        for old, new in zip(op.results, built.results, strict=True):
            new.retype(with_known_dims(new.type, old.type))
        return [self._in_result_type(op, old, new, keeps) for old, new in zip(op.results, built.results, strict=True)]

    def _global_constant(self, op: ml_program.GlobalLoadConst) -> Sequence[Value]:
        data = op.constant_data()
        if data is None:
            return self.place(copied(op, ())).results
        return (core.Constant(self.policy.constant(data, self.policy.inside(data.element))).y,)

    def _operand_element(self, op: Operation, old: Value, keeps: bool) -> ElementType:
        if isinstance(op, ml_program.GlobalStore) and isinstance(old.type, TensorType):
            return old.type.element
        return self._inside(old.type, keeps)

    def _inside(self, type: Type, keeps: bool) -> ElementType:
        if not isinstance(type, TensorType):
            message, help = f"a value of type {type} has no element type", collection_help(type)
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))
        return type.element if keeps else self.policy.inside(type.element)

    def _attributes(self, op: Operation) -> dict[str, object]:
        """Returns the changed attributes that name element types."""
        if not isinstance(op, Op):
            return {}
        out: dict[str, object] = {}
        for f in op.layout.attributes:
            if f.type is attr_types.element:
                named = op.field_value(f)
                expected = self.policy.inside(named)
                if expected is not named:
                    out[f.name] = expected
        return out

    def _in_result_type(self, op: Operation, old: Value, new: Value, keeps: bool) -> Value:
        """Returns a result in its element type, wrapped around if that of the source is narrower."""
        if not isinstance(old.type, TensorType) or not isinstance(new.type, TensorType):
            return new
        new.name = old.name
        value = self._as(new, new.type.element if keeps else self.policy.inside(old.type.element))
        narrow = old.type.element
        if isinstance(op, core.Cast) and tensor_type(op.x).element is boolean:
            return value
        is_narrow = narrow.is_integer and narrow.bits < i32.bits
        if value.type is not old.type and is_narrow and isinstance(op, _LEAVE_RANGE):
            return self.placed(_wrapped(value, narrow))
        return value

    def _as(self, value: Value, element: ElementType) -> Value:
        """Returns a value cast to an element type; each cast is created once."""
        type = value.type
        if not isinstance(type, TensorType) or type.element is element:
            return value
        key = (value, element)
        cached = self._casts.get(key)
        if cached is not None and _is_visible(cached, self.block.parent):
            return cached
        result = self.placed(core.cast(value, element))
        self._casts[key] = result
        return result


def _declared_elements(op: Operation) -> list[ElementType | None]:
    """Returns the element type that the definition demands of each operand, or None."""
    if not isinstance(op, Op):
        return [None] * len(op.operands)
    out: list[ElementType | None] = []
    for f in op.layout.inputs:
        result = op.field_value(f) if f.kind is FieldKind.OPERAND else op.bound_value(f)
        count = 0 if result is None else 1 if isinstance(result, Value) else len(result)
        out += [ELEMENT_TYPES.get("" if f.pattern is None else f.pattern.element)] * count
    return out


def _is_visible(value: Value, region: Region | None) -> bool:
    """Returns whether a value is visible in a region that is being filled and has no parent operation yet."""
    owner = value.owner
    return isinstance(owner, Operation) and owner.parent is not None and owner.parent.parent is region


_LEAVE_RANGE = (
    core.Abs,
    core.Add,
    core.BitwiseNot,
    core.Cast,
    core.Conv,
    core.ConvTranspose,
    core.CumProd,
    core.CumSum,
    core.Div,
    core.Einsum,
    core.FloorDiv,
    core.Linear,
    core.MatMul,
    core.Mul,
    core.Neg,
    core.Pow,
    core.ReduceProd,
    core.ReduceSum,
    core.ScatterElements,
    core.ScatterNd,
    core.ShiftLeft,
    core.Sub,
    core.SumPool,
)
"""Operations whose result may not be a value of the type of their operands."""


def _wrapped(value: Value, narrow: ElementType) -> Value:
    """Returns integers wrapped around to the range of a narrower type, as in its arithmetic."""
    count = 1 << narrow.bits
    lowest = -(count >> 1) if narrow.kind == "int" else 0
    shifted = core.sub(value, core.splat(lowest, value)) if lowest else value
    inside = core.mod(shifted, core.splat(count, value))
    return core.add(inside, core.splat(lowest, value)) if lowest else inside


# -- constants


def converted_data(data: Data, element: ElementType) -> Data:
    """Returns a constant in another element type, which is computed when it is needed.

    Raises: DiagnosticError (E0601) for integers that do not fit into 32 bits.
    """
    if data.element is element:
        return data
    if element is i32 and data.element.is_integer and data.element.bits >= i32.bits:
        _check_range(data)
    type = TensorType(element, data.shape)
    return DeferredData(type, lambda: _cast(data, type))


def _cast(data: Data, type: TensorType) -> Data:
    from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

    return ArrayData(type, data.array().astype(dtype_of(type.element.name)))


_SATURATING = (core.DynamicSlice, core.Maximum, core.Minimum)
"""Operations for which an integer beyond all values of the other operands, or all sizes, is like the nearest value."""


def _as_bound(op: core.Constant, element: ElementType) -> Data:
    """Returns the contents of a constant; if it is only a bound, within the range of its new element type."""
    data = op.value
    if not _is_narrowed_bound(op, data.element, element):
        return data
    return data_of(data.element, data.shape, [_nearest(int(v), element) for v in data.values()])


def _dims_as_bounds(op: core.Dims, element: ElementType) -> tuple[Dim, ...]:
    """Returns the numbers of a vector of dims; those that are only bounds within the range of its new element type."""
    if not _is_narrowed_bound(op, op.element, element):
        return op.values
    return tuple([_nearest(d, element) if isinstance(d, int) else d for d in op.values])


def _is_narrowed_bound(op: core.Constant | core.Dims, old: ElementType, new: ElementType) -> bool:
    is_narrowed = old.is_integer and new.is_integer and new.bits < old.bits
    return is_narrowed and op.y.is_used and all(isinstance(user, _SATURATING) for user in op.y.users)


def _nearest(number: int, element: ElementType) -> int:
    least, most = element.integer_limits
    return min(max(number, least), most)


def _check_range(data: Data) -> None:
    if not data.count:
        return
    array = data.array()
    smallest, largest = int(array.min()), int(array.max())
    if smallest < -(2**31) or largest >= 2**31:
        message = f"a constant has elements from {smallest} to {largest}, which 32 bits do not hold"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
