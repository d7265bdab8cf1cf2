"""The outline of a Core ML model: its description besides the types of its program."""

from __future__ import annotations

from commonir.dialects.mil.description import Description, Feature, Image, MultiArray, description_of
from commonir.formats.format import Outline
from commonir.ir.module import Module

_TOOL_VERSION = "com.github.apple.coremltools.version"


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
        if (note := _note(feature))
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


def _note(feature: Feature) -> str:
    parts: list[str] = []
    match feature.type:
        case MultiArray(shapes=shapes, ranges=ranges, default=default):
            if shapes:
                parts.append("one of " + ", ".join("x".join(map(str, s)) for s in shapes))
            elif ranges:
                parts.append("sizes " + " x ".join(map(str, ranges)))
            if default is not None:
                parts.append(f"default {default}")
        case Image(width=width, height=height, color=color, sizes=dims):
            parts.append(f"{color} image {width}x{height}" + (f", or {len(dims)} other sizes" if dims else ""))
        case _:
            pass
    if feature.is_optional:
        parts.append("optional")
    return ", ".join(parts)
