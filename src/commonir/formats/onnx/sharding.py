"""How nodes of a model are distributed over devices, and what is wrong with that.

Annotations say it; they change no result. Shards of a tensor are numbered by nested loops over its sharded dimensions,
the first outermost, and go to the devices of a specification in that order; an entry of its devices that is a key of
its map of groups stands for several devices that each have the shard.

S1. A node names a configuration of the model, each once.
S2. A configuration has a name of its own, and as many device names as devices, if it names them.
S3. Devices are numbers of devices of the configuration, or keys of groups of such.
S4. A specification names an input or output of the node.
S5. Sharded axes exist, each once.
S6. There are as many shards as devices, or one device that has all.
S7. The sizes of the parts of an axis are those of the tensor.

Source: onnx.proto of ONNX 1.23, multi-device; facts on ONNX and Common IR, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import MALFORMED_PROGRAM
from commonir.base.tuples import NamedTuple
from commonir.formats.onnx import kept
from commonir.formats.onnx.kept import merge
from commonir.formats.onnx.messages import (
    DeviceConfigurationProto,
    NodeDeviceConfigurationProto,
    ShardedDimProto,
    ShardingSpecProto,
    create,
)
from commonir.formats.onnx.places import Places
from commonir.ir.attributes import ArrayAttr, Attribute
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import TensorType, Type


class Configuration(NamedTuple):
    """Devices that a model can run on."""

    name: str
    devices: int


def configurations(module: Module) -> tuple[Configuration, ...]:
    """The configurations of several devices that a model has."""
    made = [_configuration(form) for form in _items(module.extra.get(kept.CONFIGURATION))]
    return tuple([Configuration(c.name, c.num_devices) for c in made])


def _configuration(form: Attribute) -> DeviceConfigurationProto:
    return merge(form, create(DeviceConfigurationProto))


def _items(attribute: Attribute | None) -> tuple[Attribute, ...]:
    return attribute.values if isinstance(attribute, ArrayAttr) else ()


def check_sharding(module: Module, places: Places) -> Iterator[Diagnostic]:
    """What is wrong with the configurations of a model, and with the nodes that refer to them."""
    known: dict[str, int] = {}
    for n, form in enumerate(_items(module.extra.get(kept.CONFIGURATION))):
        try:
            given = _configuration(form)
        except DiagnosticError as error:
            yield from error.diagnostics
            continue
        if not given.name or given.name in known:
            yield _wrong("S2", f"a configuration needs a name of its own, found '{given.name}'", f"configuration[{n}]")
        if given.num_devices < 1 or len(given.device) not in (0, given.num_devices):
            text = f"'{given.name}' has {given.num_devices} devices, and names {len(given.device)}"
            yield _wrong("S2", text, f"configuration[{n}]")
        known[given.name] = given.num_devices
    for op in module.listed():
        if kept.DEVICES in op.extra:
            yield from _check_node(op, _items(op.extra[kept.DEVICES]), known, places.place_of(op))


def _wrong(label: str, text: str, where: str) -> Diagnostic:
    return Diagnostic(MALFORMED_PROGRAM, f"{label}: {text}", where=where)


def _check_node(
    op: Operation, forms: tuple[Attribute, ...], known: Mapping[str, int], place: str
) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    types = {v.name: v.type for v in (*op.operands, *op.results) if v.name}
    for n, form in enumerate(forms):
        where = f"{place}.device_configurations[{n}]"
        try:
            given = merge(form, create(NodeDeviceConfigurationProto))
        except DiagnosticError as error:
            yield from (d.located(where=where) for d in error.diagnostics)
            continue
        name = given.configuration_id
        if name not in known or name in seen:
            what = "is named twice" if name in seen else "is none of the model's"
            yield _wrong("S1", f"the configuration '{name}' {what}", where)
        seen.add(name)
        for k, spec in enumerate(given.sharding_spec):
            yield from _check_spec(spec, types, known.get(name), f"{where}.sharding_spec[{k}]")


def _check_spec(
    spec: ShardingSpecProto, types: Mapping[str, Type], devices: int | None, where: str
) -> Iterator[Diagnostic]:
    kind = types.get(spec.tensor_name)
    if kind is None:
        yield _wrong("S4", f"the node has no input or output '{spec.tensor_name}'", where)
    groups = {entry.key: tuple(entry.value) for entry in spec.index_to_device_group_map}
    given = [n for entry in spec.device for n in groups.get(entry, (entry,))]
    if devices is not None:
        for n in dict.fromkeys(given):
            if not 0 <= n < devices:
                yield _wrong("S3", f"there is no device {n}: the configuration has {devices}", where)
    shape = kind.shape if isinstance(kind, TensorType) else None
    seen: set[int] = set()
    shards = 1
    for dim in spec.sharded_dim:
        axis = dim.axis
        if shape is not None:
            if not -len(shape) <= axis < len(shape):
                yield _wrong("S5", f"'{spec.tensor_name}' has {len(shape)} axes, found axis {axis}", where)
                continue
            axis %= len(shape)
            yield from _check_size(spec.tensor_name, dim, shape[axis], where)
        if axis in seen:
            yield _wrong("S5", f"axis {axis} is sharded twice", where)
        seen.add(axis)
        parts = [part.num_shards for part in dim.simple_sharding]
        if any(n < 1 for n in parts):
            yield _wrong("S6", f"axis {axis} is cut into {min(parts)} parts", where)
        shards *= max(1, sum(parts))
    if len(spec.sharded_dim) and len(spec.device) not in (1, shards):
        text = f"'{spec.tensor_name}' has {shards} shards for {len(spec.device)} devices or groups"
        yield _wrong("S6", text, where)


def _check_size(name: str, dim: ShardedDimProto, size: object, where: str) -> Iterator[Diagnostic]:
    """Compares the sizes that the parts of an axis have together with that of the tensor, where all are numbers."""
    parts = list(dim.simple_sharding)
    if not isinstance(size, int) or any(part.WhichOneof("dim") != "dim_value" for part in parts):
        return
    total = sum(part.dim_value for part in parts)
    if total != size:
        yield _wrong("S7", f"axis {dim.axis} of '{name}' has size {size}, its parts {total}", where)
