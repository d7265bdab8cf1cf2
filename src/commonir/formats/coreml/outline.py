"""The outline of a Core ML model: its description besides the types of its program."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.text import plural
from commonir.dialects.mil.description import Description, Dictionary, Feature, Image, MultiArray, description_of
from commonir.formats.format import Outline
from commonir.ir.module import Module
from commonir.ir.ports import NO_PORT

_TOOL_VERSION = "com.github.apple.coremltools.version"
_LABELS_SHOWN = 5


def outline(module: Module) -> Outline:
    """Returns the description of a model besides the types of its program."""
    description = description_of(module)
    if description is None:
        return Outline(title="Core ML program")
    user = dict(description.metadata.user_defined)
    tool = user.get(_TOOL_VERSION, "")
    notes = {
        (interface.name, feature.name): note
        for interface in description.interfaces
        for feature in (*interface.inputs, *interface.outputs, *interface.states)
        if (note := _note(feature, _labels(module, interface.name, feature)))
    }
    return Outline(
        title=f"Core ML {'pipeline' if module.modules else 'program'}, "
        f"specification version {description.specification_version}",
        producer=f"coremltools {tool}" if tool else "",
        metadata=_metadata(description),
        ports=notes,
    )


def _metadata(description: Description) -> dict[str, str]:
    m = description.metadata
    named = {"description": m.description, "version": m.version, "author": m.author, "license": m.license}
    return {key: value for key, value in (*named.items(), *m.user_defined) if value}


def _labels(module: Module, function: str, feature: Feature) -> Sequence[object]:
    """Returns the class labels of an output of probabilities; nothing for other features."""
    if not isinstance(feature.type, Dictionary) or function not in module.functions:
        return ()
    return module.functions[function].output_ports.get(feature.name, NO_PORT).labels


def _note(feature: Feature, labels: Sequence[object]) -> str:
    parts: list[str] = []
    match feature.type:
        case MultiArray(shapes=shapes, ranges=ranges, default=default):
            if shapes:
                parts.append("one of " + ", ".join("x".join(map(str, s)) for s in shapes))
            elif ranges:
                parts.append("sizes " + " x ".join(map(str, ranges)))
            if default is not None:
                parts.append(f"default {default}")
        case Image():
            parts.append(_image_note(feature.type))
        case Dictionary() if labels:
            shown = [*map(str, labels[:_LABELS_SHOWN]), *(["..."] if len(labels) > _LABELS_SHOWN else [])]
            count = plural(len(labels), "class", "classes")
            parts.append(f"{count}: {', '.join(shown)}")
        case _:
            pass
    if feature.is_optional:
        parts.append("optional")
    if feature.summary:
        parts.append(f'"{feature.summary}"')
    return ", ".join(parts)


def _image_note(image: Image) -> str:
    """Returns the color space and the allowed sizes of an image, width x height."""
    text = f"{image.color} image {image.width}x{image.height}"
    if image.widths is not None and image.heights is not None:
        return f"{text}, sizes {image.widths} x {image.heights}"
    others = [f"{width}x{height}" for width, height in image.sizes if (width, height) != (image.width, image.height)]
    return f"{text}, or {', '.join(others)}" if others else text
