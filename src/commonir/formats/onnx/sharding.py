"""How nodes of a model are distributed over devices, and what is wrong with that.

Annotations say it; they change no result. Shards of a tensor are numbered by nested loops over its sharded dimensions,
the first outermost, and go to the devices of a specification in that order; an entry of its devices that is a key of
its map of groups stands for several devices that each have the shard.

S1. A node refers to configurations of the model, to each at most once.
S2. The name of a configuration is unique; the number of device names, if any, is the number of devices.
S3. Devices are device numbers of the configuration, or keys of non-empty device groups.
S4. A specification refers to an input or output of the node, to each at most once.
S5. Sharded axes exist, each is listed once.
S6. There are as many shards as devices, or one device has all shards.
S7. The dim of a sharded axis is that of the tensor; for several axes fused into one, the product of their dims.

Source: onnx.proto of ONNX 1.23, multi-device; its proposals 0006 and 0007.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import MALFORMED_PROGRAM
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.messages import (
    DeviceConfigurationProto,
    NodeDeviceConfigurationProto,
    ShardedDimProto,
    ShardingSpecProto,
    create,
)
from commonir.formats.onnx.unknown_fields import merge
from commonir.ir.attributes import ArrayAttr, Attribute
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import TensorType, Type
from commonir.ods import path_of


class Configuration(NamedTuple):
    """Devices that a model can run on."""

    name: str
    devices: int


def configurations(module: Module) -> tuple[Configuration, ...]:
    """The configurations of several devices that a model has."""
    built = [_configuration(form) for form in _items(module.extra.get(unknown_fields.CONFIGURATION))]
    return tuple([Configuration(c.name, c.num_devices) for c in built])


def _configuration(form: Attribute) -> DeviceConfigurationProto:
    return merge(form, create(DeviceConfigurationProto))


def _items(attribute: Attribute | None) -> tuple[Attribute, ...]:
    return attribute.values if isinstance(attribute, ArrayAttr) else ()


def check_sharding(module: Module) -> Iterator[Diagnostic]:
    """Yields findings about the device configurations of a model and the nodes that refer to them."""
    known: dict[str, int] = {}
    for n, form in enumerate(_items(module.extra.get(unknown_fields.CONFIGURATION))):
        try:
            configuration = _configuration(form)
        except DiagnosticError as error:
            yield from error.diagnostics
            continue
        if not configuration.name or configuration.name in known:
            yield _wrong(
                "S2", f"a configuration needs a name of its own, found '{configuration.name}'", f"configuration[{n}]"
            )
        if configuration.num_devices < 1 or len(configuration.device) not in (0, configuration.num_devices):
            text = (
                f"'{configuration.name}' has {configuration.num_devices} devices, and names {len(configuration.device)}"
            )
            yield _wrong("S2", text, f"configuration[{n}]")
        known[configuration.name] = configuration.num_devices
    for op in module.walk_list():
        if unknown_fields.DEVICES in op.extra:
            yield from _check_node(op, _items(op.extra[unknown_fields.DEVICES]), known, path_of(op))


_HELP = {
    "S1": "name each configuration of the model once",
    "S2": "give the configuration a name and the number of its devices",
    "S3": "number devices from 0 on, or list those of a group in `index_to_device_group_map`",
    "S4": "name each input and output of the node once at most",
    "S5": "count axes from 0 on, or from -1 back, each once",
    "S6": "list one device for each shard, the first sharded axis outermost, or one that has all",
    "S7": "state the size of the axis, or those of the axes that were fused to it",
}


def _wrong(label: str, text: str, where: str, near: str | None = None) -> Diagnostic:
    return Diagnostic(MALFORMED_PROGRAM, f"{label}: {text}", where=where, help=near or _HELP[label])


def _check_node(
    op: Operation, forms: tuple[Attribute, ...], known: Mapping[str, int], place: str
) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    types = {v.name: v.type for v in (*op.operands, *op.results) if v.name}
    for n, form in enumerate(forms):
        where = f"{place}.device_configurations[{n}]"
        try:
            configuration = merge(form, create(NodeDeviceConfigurationProto))
        except DiagnosticError as error:
            yield from (d.located(where=where) for d in error.diagnostics)
            continue
        name = configuration.configuration_id
        if name in seen:
            yield _wrong("S1", f"the configuration '{name}' is named twice", where)
        elif name not in known:
            yield _wrong("S1", f"the configuration '{name}' is none of the model's", where, did_you_mean(name, known))
        seen.add(name)
        named: set[str] = set()
        for k, spec in enumerate(configuration.sharding_spec):
            at = f"{where}.sharding_spec[{k}]"
            if spec.tensor_name in named:
                yield _wrong("S4", f"'{spec.tensor_name}' has a specification already", at)
            named.add(spec.tensor_name)
            yield from _check_spec(spec, types, known.get(name), at)


def _check_spec(
    spec: ShardingSpecProto, types: Mapping[str, Type], devices: int | None, where: str
) -> Iterator[Diagnostic]:
    type = types.get(spec.tensor_name)
    if type is None:
        near = did_you_mean(spec.tensor_name, types)
        yield _wrong("S4", f"the node has no input or output '{spec.tensor_name}'", where, near)
    yield from _check_devices(spec, devices, where)
    shape = type.shape if isinstance(type, TensorType) else None
    axes: set[int] = set()
    shards = 1
    for dim in spec.sharded_dim:
        if not dim.HasField("axis"):
            yield _wrong("S5", "an axis is not stated", where)
            return
        axis = dim.axis
        if shape is not None and not -len(shape) <= axis < len(shape):
            yield _wrong("S5", f"'{spec.tensor_name}' has {len(shape)} axes, found axis {axis}", where)
            return
        if shape is not None:
            axis %= len(shape)
            yield from _check_size(spec.tensor_name, dim, shape[axis], where)
        if axis in axes:
            yield _wrong("S5", f"axis {axis} is sharded twice", where)
        axes.add(axis)
        parts = [part.num_shards for part in dim.simple_sharding]
        if any(n < 1 for n in parts):
            yield _wrong("S6", f"axis {axis} is cut into {min(parts)} parts", where)
            return
        shards *= math.prod(parts)
    if len(spec.sharded_dim) and len(spec.device) not in (1, shards):
        text = f"'{spec.tensor_name}' has {shards} shards for {len(spec.device)} devices or groups"
        yield _wrong("S6", text, where)


def _check_devices(spec: ShardingSpecProto, devices: int | None, where: str) -> Iterator[Diagnostic]:
    groups: dict[int, tuple[int, ...]] = {}
    for entry in spec.index_to_device_group_map:
        if entry.key in groups:
            yield _wrong("S3", f"there are two groups {entry.key}", where)
        elif not len(entry.value):
            yield _wrong("S3", f"the group {entry.key} has no devices", where)
        groups.setdefault(entry.key, tuple(entry.value))
    arguments = [n for entry in spec.device for n in groups.get(entry, (entry,))]
    if devices is not None:
        for n in dict.fromkeys(arguments):
            if not 0 <= n < devices:
                yield _wrong("S3", f"there is no device {n}: the configuration has {devices}", where)


def _check_size(name: str, dim: ShardedDimProto, length: object, where: str) -> Iterator[Diagnostic]:
    """Compares the size of an axis with what it is said to be cut of, where all are numbers: an axis that a reshape
    made of several has the product of their sizes.
    """
    parts = list(dim.simple_sharding)
    if not isinstance(length, int) or not parts or any(part.WhichOneof("dim") != "dim_value" for part in parts):
        return
    total = math.prod(part.dim_value for part in parts)
    if total != length:
        yield _wrong("S7", f"axis {dim.axis} of '{name}' has size {length}, its parts {total}", where)
