"""Programs of one operation of the mil dialect, for tests: made, lowered and run from arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import name_of
from commonir.dialects import mil
from commonir.dialects.mil.program import Const, Func, Return
from commonir.ir.data import ArrayData, Data, TextData
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ELEMENT_TYPES, TensorType, string, tensor
from commonir.ods import Op, attr_types
from commonir.ods.fields import Field, FieldKind
from commonir.passes.lower import lower
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE_ENGINE
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY_ENGINE

Array = NDArray[Any]
Given = Array | np.generic | Data | str | int | float | bool | list[Any]

ENGINES = {"reference": REFERENCE_ENGINE, "numpy": NUMPY_ENGINE}


def f16(values: object) -> Array:
    """Numbers in half precision."""
    return np.array(values, np.float16)


def f32(values: object) -> Array:
    """Numbers in single precision."""
    return np.array(values, np.float32)


def i8(values: object) -> Array:
    """Signed integers of 8 bits."""
    return np.array(values, np.int8)


def i16(values: object) -> Array:
    """Signed integers of 16 bits."""
    return np.array(values, np.int16)


def i32(values: object) -> Array:
    """Signed integers of 32 bits."""
    return np.array(values, np.int32)


def u8(values: object) -> Array:
    """Unsigned integers of 8 bits."""
    return np.array(values, np.uint8)


def u16(values: object) -> Array:
    """Unsigned integers of 16 bits."""
    return np.array(values, np.uint16)


def u32(values: object) -> Array:
    """Unsigned integers of 32 bits."""
    return np.array(values, np.uint32)


def narrow(element: str, values: object) -> Data:
    """Constant integers of a few bits."""
    array = np.array(values, np.uint8)
    return ArrayData(TensorType(ELEMENT_TYPES[element], array.shape), array)


def as_array(value: Given) -> Array:
    """A parameter as the array that a file would hold: numbers of Python are int32 and fp32."""
    array = np.asarray(value)
    if isinstance(value, np.ndarray | np.generic):
        return array
    return array.astype({"i": np.int32, "f": np.float32}.get(array.dtype.kind, array.dtype))


def data_of_array(value: Given) -> Data:
    """Constant data of a parameter."""
    if isinstance(value, Data):
        return value
    if isinstance(value, str):
        return TextData(tensor(string), (value,))
    array = as_array(value)
    return ArrayData(TensorType(ELEMENT_TYPES[name_of(array.dtype)], array.shape), array)


def _attribute(field: Field, data: Data) -> object:
    """An attribute as a reader decodes it."""
    assert field.type is not None
    return (
        data
        if field.type is attr_types.data or field.type.from_elements is None
        else field.type.from_elements(data.shape, data.values())
    )


class Program:
    """A function with one operation. What is neither a parameter nor decides shapes is an input; the rest is constant.

    `flexible` leaves the sizes of inputs open, but for those that `closed` names. `constants` names operands that are
    constant all the same, `computed` those that are inputs although they decide shapes.
    """

    def __init__(
        self,
        definition: type[Op],
        inputs: Mapping[str, Given],
        *,
        flexible: bool = False,
        closed: Collection[str] = (),
        constants: Collection[str] = (),
        computed: Collection[str] = (),
    ) -> None:
        self.block = Block(label=definition.since)
        self.inputs: dict[str, Array] = {}
        self.flexible = flexible
        self.closed = closed
        self.constants = constants
        self.computed = computed
        fields = {f.spelling: f for f in (*definition.layout.inputs, *definition.layout.attributes)}
        arguments = {fields[k].name: self._argument(fields[k], v) for k, v in inputs.items()}
        self.op = self.block.append(definition(**arguments))
        self.block.append(Return(self.op.results, tuple(f"y{n}" for n in range(len(self.op.results)))))

    def _argument(self, field: Field, value: Given) -> object:
        if field.variadic:
            assert isinstance(value, list)
            return tuple([self._value(field, v, f"{field.name}{n}") for n, v in enumerate(value)])
        if field.kind is FieldKind.ATTRIBUTE:
            return _attribute(field, data_of_array(value))
        return self._value(field, value, field.name)

    def _value(self, field: Field, value: Given, name: str) -> Value:
        is_fixed = field.kind is FieldKind.PARAMETER or field.constant or field.name in self.constants
        if (is_fixed or field.by_value or isinstance(value, str)) and field.name not in self.computed:
            return self.block.append(Const(val=data_of_array(value))).result
        array = as_array(value)
        element = ELEMENT_TYPES[name_of(array.dtype)]
        self.inputs[name] = array
        return self.block.add_argument(TensorType(element, self._sizes(field, array)), name)

    def _sizes(self, field: Field, array: Array) -> tuple[int | None, ...]:
        # Sizes of 1 stay: what is not known is not taken to be broadcast.
        if not self.flexible or field.name in self.closed or field.name in self.computed:
            return array.shape
        return tuple([1 if n == 1 else None for n in array.shape])

    def lowered(self) -> Module:
        """The program in the core."""
        function = Func("main", self.block.label, (Region([self.block]),))
        module = Module()
        module.body.append(function)
        return lower(module)

    def results(self, engine: str) -> list[Array]:
        """Returns the results of the program, lowered and run by an engine."""
        result = ENGINES[engine].prepare(self.lowered()).run(self.inputs)
        return [np.asarray(v) for v in result.values()]


def definition_of(name: str, version: str) -> type[Op]:
    """The definition of an operation in a version."""
    result = mil.DIALECT.find(f"mil.{name}", version)
    assert result is not None
    return result
