"""Adapts inputs and states of a program to a program converted from it, and outputs and states back.

A conversion may give inputs and outputs other names, and inputs and states other element types.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.ir.interface import Port
from commonir.ir.module import Function, Module
from commonir.ir.types import TensorType, Type
from commonir.runtime.state import State, initial_contents, mutable_globals

Array = NDArray[Any]


def adapted_inputs(before: Function, after: Function, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns arrays for the inputs of a converted function: by name, or by position where a name is new.

    A scalar input becomes one of shape [1] where the target format has no scalars.
    """
    names = {v.name for v in after.inputs}
    new_names = [v.name for v in after.inputs if v.name not in inputs]
    old_names = [v.name for v in before.inputs if v.name not in names and v.name in inputs]
    source = {**{name: name for name in inputs}, **dict(zip(new_names, old_names, strict=False))}
    out: dict[str, Array] = {}
    for v in after.inputs:
        array = inputs.get(source.get(v.name, v.name))
        if array is None:
            continue
        type = v.type
        if not isinstance(type, TensorType):
            out[v.name] = array
            continue
        expected = dtype_of(type.element.name)
        converted = array if array.dtype == expected else np.asarray(array).astype(expected)
        out[v.name] = converted.reshape(1) if type.shape == (1,) and not converted.shape else converted
    return out


def adapted_state(before: Module, after: Module, state: Mapping[str, Array]) -> State:
    """Returns contents for the states of a converted program, in its element types: those of `state`, or initial ones.

    Both modules are lowered. A format may lack initial values.
    """
    contents = {**initial_contents(before), **state}
    kept = mutable_globals(after)
    return State({n: _in_type(array, kept[n].type) for n, array in contents.items() if n in kept})


def states_as_inputs(before: Module, after: Module, function: Function, state: Mapping[str, Array]) -> dict[str, Array]:
    """Returns contents of states that are inputs of a function of the converted program: of `state`, or initial ones.

    Both modules are lowered.
    """
    kept, names = mutable_globals(after), {v.name for v in function.inputs}
    contents = {**initial_contents(before), **state}
    out: dict[str, Array] = {}
    for name, variable in mutable_globals(before).items():
        type = variable.type
        if name in names and name not in kept and isinstance(type, TensorType) and type.is_static:
            zeros = np.zeros(type.static_shape, dtype_of(type.element.name)) if name not in contents else None
            out[name] = contents[name] if zeros is None else zeros
    return out


def restored_state(before: Module, state: Mapping[str, Array]) -> dict[str, Array]:
    """Returns contents of states of a converted program in the element types of the original, lowered program."""
    types = {name: g.type for name, g in mutable_globals(before).items()}
    return {name: _in_type(array, types[name]) if name in types else array for name, array in state.items()}


def _in_type(array: Array, type: Type) -> Array:
    expected = dtype_of(type.element.name) if isinstance(type, TensorType) else array.dtype
    return array if array.dtype == expected else array.astype(expected)


def renamed_outputs(before: Function, outputs: Mapping[str, Array], after: Function | None = None) -> dict[str, Array]:
    """Returns the outputs of a converted function under the names and in the element types of the original function.

    Lists, maps and absent values are left as they are. Probabilities that have labels `after` the conversion are a
    vector there, and get back their shape.
    """
    ports: Mapping[str, Port] = {} if after is None else after.output_ports
    types = dict(zip(before.output_names, [v.type for v in before.outputs], strict=True))
    classifies = any(port.labels for port in ports.values()) and len(outputs) > len(types)
    new_names = [n for n, a in outputs.items() if n not in types and not (classifies and _is_label(a, ports.get(n)))]
    old_names = [name for name in types if name not in outputs]
    names = {**{name: name for name in outputs}, **dict(zip(new_names, old_names, strict=False))}
    out: dict[str, Array] = {}
    for name, array in outputs.items():
        own_name = names[name]
        type = types.get(own_name)
        expected = dtype_of(type.element.name) if isinstance(type, TensorType) else None
        out[own_name] = array if expected is None or array.dtype == expected else array.astype(expected)
        if name in ports and ports[name].labels and isinstance(type, TensorType):
            out[own_name] = _unflattened(out[own_name], type)
    return out


def _is_label(output: Array, port: Port | None) -> bool:
    """Returns whether an output may be the best label, which a conversion to a classifier adds."""
    return np.shape(output) == () and (port is None or not port.labels)


def _unflattened(array: Array, type: TensorType) -> Array:
    """Returns a vector in the shape of a type with as many elements, of which unknown dims are 1."""
    shape = tuple([d if isinstance(d, int) else 1 for d in type.shape or ()])
    return array.reshape(shape) if prod(shape) == array.size else array
