"""The parts of the types of MLIR's quant dialect, which are stored as dialect types with a body in canonical form."""

from __future__ import annotations

import re

from commonir.base.tuples import NamedTuple
from commonir.ir.types import DialectType, Type

_UNIFORM = re.compile(r"([iu])(\d+)(?:<[^>]*>)?(?::([^:,{<]+)(?::(\d+|\{[^}]*\}))?)?(?:, (.*))?", re.DOTALL)


class Quantized(NamedTuple):
    """The parts of a quantized type.

    `storage` and `expressed` are names of types, `blocks` the sizes of blocks by axis, None for whole slices, and
    `scales` the lengths of the nested lists of scales.
    """

    storage: str
    expressed: str
    blocks: dict[int, int | None]
    scales: tuple[int, ...]


def quantized_of(type: Type) -> Quantized | None:
    """Returns the parts of a quantized type that stores integers; None for others."""
    if not isinstance(type, DialectType) or type.dialect != "quant" or type.mnemonic == "calibrated":
        return None
    match = _UNIFORM.fullmatch(type.body or "")
    if match is None:
        return None
    axes, scales = match[4] or "", match[5] or ""
    blocks: dict[int, int | None] = {}
    if axes.isdigit():
        blocks[int(axes)] = None
    for axis, size in re.findall(r"(\d+):(\d+)", axes):
        blocks[int(axis)] = int(size)
    return Quantized(f"i{match[2]}", match[3] or "", blocks, _lengths(scales))


def _lengths(listed: str) -> tuple[int, ...]:
    """Returns the length of a nested list of scales at each level: (2, 3) for `{{a, b, c}, {d, e, f}}`."""
    out: list[int] = []
    text = listed
    while text.startswith("{"):
        depth, count = 0, 1
        for char in text[1:-1]:
            depth += (char == "{") - (char == "}")
            count += char == "," and not depth
        out.append(count)
        text = text[1 : text.index("}", 1) + 1].strip() if text[1:2] == "{" else ""
    return tuple(out)
