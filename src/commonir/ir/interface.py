"""What users of a program see of it beyond its types, whatever format it comes from: ports of functions, and metadata.

A `Port` tells of an input or output what its type cannot say: that it is an image, which sizes its dimensions may have,
what fills it when it is not given, which labels its elements have. Formats keep these facts in forms of their own; a
`Function` gives them in this one, and lowering and conversions carry them on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonir.base.tuples import NamedTuple
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
from commonir.ir.ports import NO_PORT, ColorSpace, NewInterface, Port, SizeRange
from commonir.ir.types import TensorType, Type, i64

PORT = "commonir.port"
"""The attribute of an argument or result of a function that tells what its type cannot."""
METADATA = "commonir.metadata"
"""The attribute of a module that holds what its author says about it."""
NEUTRAL_PREFIX = "commonir."
"""Attributes of a module whose names begin with this belong to no format, and every conversion keeps them."""


class Metadata(NamedTuple):
    """What the author of a program says about it. `user_defined` are further texts by name, in order."""

    description: str = ""
    version: str = ""
    author: str = ""
    license: str = ""
    user_defined: tuple[tuple[str, str], ...] = ()


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
        # MLIR has no missing number; -1 stands for no bound, as in Core ML.
        bounds = [_numbers((r.lower, -1 if r.upper is None else r.upper)) for r in port.ranges]
        entries.append(("ranges", ArrayAttr(tuple(bounds))))
    if port.default is not None:
        held = IntegerAttr(port.default) if isinstance(port.default, int) else FloatAttr(port.default)
        entries.append(("default", held))
    if port.contents is not None:
        entries.append(("contents", DataAttr(port.contents)))
    if port.declared:
        entries.append(("declared", StringAttr(port.declared)))
    if port.labels:
        labels = [StringAttr(v) if isinstance(v, str) else IntegerAttr(v) for v in port.labels]
        entries.append(("labels", ArrayAttr(tuple(labels))))
    return DictionaryAttr(tuple(entries))


def port_of(attribute: Attribute | None) -> Port:
    """Returns the port that an attribute holds, as far as it is one."""
    held = dict(attribute.entries) if isinstance(attribute, DictionaryAttr) else {}
    default, contents = held.get("default"), held.get("contents")
    image = _text(held.get("image"))
    labels = [v.value for v in _items(held.get("labels")) if isinstance(v, StringAttr | IntegerAttr)]
    texts = tuple([v for v in labels if isinstance(v, str)])
    return Port(
        doc=_text(held.get("doc")),
        image=next((c for c in ColorSpace if c.value == image), None),
        shape=_dims(held.get("shape")),
        shapes=tuple(map(_dims, _items(held.get("shapes")))),
        ranges=tuple(_ranges(_items(held.get("ranges")))),
        default=default.value if isinstance(default, IntegerAttr | FloatAttr) else None,
        labels=texts or tuple([v for v in labels if isinstance(v, int)]),
        contents=contents.data if isinstance(contents, DataAttr) else None,
        declared=_text(held.get("declared")),
    )


def port_attributes(ports: Iterable[Port]) -> tuple[DictionaryAttr, ...] | None:
    """Attributes of the arguments or the results of a function, one for each; None when there is nothing to say."""
    given = list(ports)
    if all(port == NO_PORT for port in given):
        return None
    return tuple([DictionaryAttr(() if p == NO_PORT else ((PORT, port_attribute(p)),)) for p in given])


def default_data(kind: Type, port: Port) -> Data | None:
    """Returns the contents of an input of some type that is not given; None when it must be, or has no fixed shape."""
    if port.contents is not None:
        return port.contents
    if port.default is None or not isinstance(kind, TensorType) or not kind.is_static:
        return None
    return SplatData(kind, bytes(data_of(kind.element, (), [port.default]).buffer()))


def named_ports(names: Iterable[str], attributes: Iterable[DictionaryAttr] | None) -> Mapping[str, Port]:
    """Returns the ports that attributes of arguments or results hold, by name."""
    held = {n: dict(a.entries).get(PORT) for n, a in zip(names, attributes or (), strict=False)}
    return {name: port_of(attribute) for name, attribute in held.items() if attribute is not None}


def metadata_of(module: Module) -> Metadata:
    """Returns what the author of a program says about it."""
    kept = module.extra.get(METADATA)
    held = dict(kept.entries) if isinstance(kept, DictionaryAttr) else {}
    user = held.get("user_defined")
    return Metadata(
        *[_text(held.get(name)) for name in Metadata._fields[:-1]],
        user_defined=tuple([(k, _text(v)) for k, v in _pairs_of(user)]),
    )


def _pairs_of(form: Attribute | None) -> Iterator[tuple[str, Attribute | None]]:
    if isinstance(form, DictionaryAttr):
        yield from form.entries
    for entry in form.values if isinstance(form, ArrayAttr) else ():
        held = dict(entry.entries) if isinstance(entry, DictionaryAttr) else {}
        yield _text(held.get("key")), held.get("value")


def text_entry(key: str, value: str) -> DictionaryAttr:
    """Returns a text with its name as an attribute, also where the name is empty or another text has it too."""
    return DictionaryAttr((("key", StringAttr(key)), ("value", StringAttr(value))))


def are_keys(names: Sequence[str]) -> bool:
    """Returns whether names can be those of a dictionary, which MLIR has without empty and repeated ones."""
    return all(names) and len(set(names)) == len(names)


def set_metadata(module: Module, metadata: Metadata) -> None:
    """Replaces what the author of a program says about it."""
    texts = zip(Metadata._fields[:-1], metadata[:-1], strict=True)
    entries: list[tuple[str, Attribute]] = [(name, StringAttr(text)) for name, text in texts if text]
    if metadata.user_defined:
        pairs = metadata.user_defined
        if are_keys([key for key, _ in pairs]):
            held: Attribute = DictionaryAttr(tuple([(key, StringAttr(value)) for key, value in pairs]))
        else:
            held = ArrayAttr(tuple([text_entry(*pair) for pair in pairs]))
        entries.append(("user_defined", held))
    module.set_extra(METADATA, DictionaryAttr(tuple(entries)) if entries else None)


def neutral_attributes(module: Module) -> Mapping[str, Attribute]:
    """Returns what a module keeps of its source that belongs to no format."""
    return {key: value for key, value in module.extra.items() if key.startswith(NEUTRAL_PREFIX)}


def _numbers(values: tuple[int, ...]) -> DenseArrayAttr:
    return DenseArrayAttr(i64, values)


def _dims(attribute: Attribute | None) -> tuple[int, ...]:
    return tuple(map(int, attribute.values)) if isinstance(attribute, DenseArrayAttr) else ()


def _items(attribute: Attribute | None) -> tuple[Attribute, ...]:
    return attribute.values if isinstance(attribute, ArrayAttr) else ()


def _ranges(bounds: Iterable[Attribute]) -> Iterator[SizeRange]:
    for attribute in bounds:
        lower, upper = (*_dims(attribute), 0, -1)[:2]
        yield SizeRange(lower, None if upper < 0 else upper)


def _text(attribute: Attribute | None) -> str:
    return attribute.value if isinstance(attribute, StringAttr) else ""


__all__ = [
    "METADATA",
    "NO_PORT",
    "PORT",
    "ColorSpace",
    "Metadata",
    "NewInterface",
    "Port",
    "SizeRange",
    "default_data",
    "metadata_of",
    "named_ports",
    "neutral_attributes",
    "port_attribute",
    "port_attributes",
    "port_of",
    "set_metadata",
]
