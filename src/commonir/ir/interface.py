"""Ports of functions and metadata of modules, in one form for all formats.

A `Port` has the facts about an input or output that its type does not express: that it is an image, which shapes are
allowed, its default value, the labels of its elements. Each format stores these facts in its own way; a `Function`
returns them in this form, and lowering and conversions preserve them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from commonir.ir.data import Data, SplatData, data_of
from commonir.ir.module import Module
from commonir.ir.ports import NO_PORT, ColorSpace, DimRange, Metadata, Port
from commonir.ir.types import TensorType, Type, i64

PORT = "commonir.port"
"""The name of the attribute of an argument or result of a function that stores its port."""
METADATA = "commonir.metadata"
"""The name of the attribute of a module that stores its metadata."""
NEUTRAL_PREFIX = "commonir."
"""Attributes of a module with this prefix belong to no format, and every conversion preserves them."""


def port_attribute(port: Port) -> DictionaryAttr:
    """Returns a port as an attribute; `port_of` is the inverse."""
    entries: list[tuple[str, Attribute]] = []
    if port.doc:
        entries.append(("doc", StringAttr(port.doc)))
    if port.image is not None:
        entries.append(("image", StringAttr(port.image.value)))
    if port.shape:
        entries.append(("shape", _numbers(port.shape)))
    if port.shapes:
        entries.append(("shapes", ArrayAttr(tuple(map(_numbers, port.shapes)))))
    if port.ranges:
        # -1: unbounded, as in Core ML.
        bounds = [_numbers((r.lower, -1 if r.upper is None else r.upper)) for r in port.ranges]
        entries.append(("ranges", ArrayAttr(tuple(bounds))))
    if port.default is not None:
        attribute = IntegerAttr(port.default) if isinstance(port.default, int) else FloatAttr(port.default)
        entries.append(("default", attribute))
    if port.contents is not None:
        entries.append(("contents", DataAttr(port.contents)))
    if port.declared:
        entries.append(("declared", StringAttr(port.declared)))
    if port.dims:
        entries.append(("dims", ArrayAttr(tuple(map(StringAttr, port.dims)))))
    if port.state:
        entries.append(("state", StringAttr(port.state)))
    if port.labels:
        labels = [StringAttr(v) if isinstance(v, str) else IntegerAttr(v) for v in port.labels]
        entries.append(("labels", ArrayAttr(tuple(labels))))
    return DictionaryAttr(tuple(entries))


def port_of(attribute: Attribute | None) -> Port:
    """Returns the port that an attribute stores; entries of an unexpected form are ignored."""
    entries = dict(attribute.entries) if isinstance(attribute, DictionaryAttr) else {}
    default, contents = entries.get("default"), entries.get("contents")
    image = _text(entries.get("image"))
    labels = [v.value for v in _items(entries.get("labels")) if isinstance(v, StringAttr | IntegerAttr)]
    strings = tuple([v for v in labels if isinstance(v, str)])
    return Port(
        doc=_text(entries.get("doc")),
        image=next((c for c in ColorSpace if c.value == image), None),
        shape=_dims(entries.get("shape")),
        shapes=tuple(map(_dims, _items(entries.get("shapes")))),
        ranges=tuple(_ranges(_items(entries.get("ranges")))),
        default=default.value if isinstance(default, IntegerAttr | FloatAttr) else None,
        labels=strings or tuple([v for v in labels if isinstance(v, int)]),
        contents=contents.data if isinstance(contents, DataAttr) else None,
        declared=_text(entries.get("declared")),
        dims=tuple(map(_text, _items(entries.get("dims")))),
        state=_text(entries.get("state")),
    )


def port_attributes(ports: Iterable[Port]) -> tuple[DictionaryAttr, ...] | None:
    """Returns attributes for the arguments or the results of a function, one each; None when all ports are empty."""
    all_ports = list(ports)
    if all(port == NO_PORT for port in all_ports):
        return None
    return tuple([DictionaryAttr(() if p == NO_PORT else ((PORT, port_attribute(p)),)) for p in all_ports])


def default_data(type: Type, port: Port) -> Data | None:
    """Returns the default contents of an input; None when it is required, or has no static shape."""
    if port.contents is not None:
        return port.contents
    if port.default is None or not isinstance(type, TensorType) or not type.is_static:
        return None
    return SplatData(type, bytes(data_of(type.element, (), [port.default]).buffer()))


def named_ports(names: Iterable[str], attributes: Iterable[DictionaryAttr] | None) -> Mapping[str, Port]:
    """Returns the ports that attributes of arguments or results store, by name."""
    attributes_by_name = {n: dict(a.entries).get(PORT) for n, a in zip(names, attributes or (), strict=False)}
    return {name: port_of(attribute) for name, attribute in attributes_by_name.items() if attribute is not None}


def metadata_of(module: Module) -> Metadata:
    """Returns the metadata of a module."""
    stored = module.extra.get(METADATA)
    entries = dict(stored.entries) if isinstance(stored, DictionaryAttr) else {}
    user = entries.get("user_defined")
    return Metadata(
        *[_text(entries.get(name)) for name in Metadata._fields[:-1]],
        user_defined=tuple([(k, _text(v)) for k, v in _pairs_of(user)]),
    )


def _pairs_of(form: Attribute | None) -> Iterator[tuple[str, Attribute | None]]:
    if isinstance(form, DictionaryAttr):
        yield from form.entries
    for entry in form.values if isinstance(form, ArrayAttr) else ():
        fields = dict(entry.entries) if isinstance(entry, DictionaryAttr) else {}
        yield _text(fields.get("key")), fields.get("value")


def text_entry(key: str, value: str) -> DictionaryAttr:
    """Returns a string with its name, for names that a dictionary attribute cannot have: empty or repeated ones."""
    return DictionaryAttr((("key", StringAttr(key)), ("value", StringAttr(value))))


def are_keys(names: Sequence[str]) -> bool:
    """Returns whether a dictionary attribute can have these names: none is empty or repeated."""
    return all(names) and len(set(names)) == len(names)


def set_metadata(module: Module, metadata: Metadata) -> None:
    """Replaces the metadata of a module."""
    fields = zip(Metadata._fields[:-1], metadata[:-1], strict=True)
    entries: list[tuple[str, Attribute]] = [(name, StringAttr(text)) for name, text in fields if text]
    if metadata.user_defined:
        pairs = metadata.user_defined
        if are_keys([key for key, _ in pairs]):
            user_defined: Attribute = DictionaryAttr(tuple([(key, StringAttr(value)) for key, value in pairs]))
        else:
            user_defined = ArrayAttr(tuple([text_entry(*pair) for pair in pairs]))
        entries.append(("user_defined", user_defined))
    module.set_extra(METADATA, DictionaryAttr(tuple(entries)) if entries else None)


def neutral_attributes(module: Module) -> Mapping[str, Attribute]:
    """Returns the attributes of a module that belong to no format."""
    return {key: value for key, value in module.extra.items() if key.startswith(NEUTRAL_PREFIX)}


def _numbers(values: tuple[int, ...]) -> DenseArrayAttr:
    return DenseArrayAttr(i64, values)


def _dims(attribute: Attribute | None) -> tuple[int, ...]:
    return tuple(map(int, attribute.values)) if isinstance(attribute, DenseArrayAttr) else ()


def _items(attribute: Attribute | None) -> tuple[Attribute, ...]:
    return attribute.values if isinstance(attribute, ArrayAttr) else ()


def _ranges(bounds: Iterable[Attribute]) -> Iterator[DimRange]:
    for attribute in bounds:
        lower, upper = (*_dims(attribute), 0, -1)[:2]
        yield DimRange(lower, None if upper < 0 else upper)


def _text(attribute: Attribute | None) -> str:
    return attribute.value if isinstance(attribute, StringAttr) else ""
