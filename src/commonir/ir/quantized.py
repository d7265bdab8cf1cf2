"""The parts of the types of MLIR's quant dialect, which are stored as dialect types with a body in canonical form."""

from __future__ import annotations

import re

from commonir.base.tuples import NamedTuple
from commonir.ir.types import DialectType, Type, integer_type

_UNIFORM = re.compile(
    r"([iu])(\d{1,2})(?:<(-?\d+):(-?\d+)>)?(?::([^:,{<]+)(?::(\d+|\{[^}]*\}))?)?(?:, (.*))?", re.DOTALL
)


class Quantized(NamedTuple):
    """The parts of a quantized type.

    `storage` is the name of the integer type with its sign, `i8` or `u8`, `bounds` the least and the largest integer,
    `expressed` the name of a type, `blocks` the sizes of blocks by axis, None for whole slices. `scales` are texts of a
    scale, each with its zero point, and `lengths` those of the nested lists in which they are.
    """

    storage: str
    bounds: tuple[int, int]
    expressed: str
    blocks: dict[int, int | None]
    scales: tuple[tuple[str, int], ...]
    lengths: tuple[int, ...]

    @property
    def bits(self) -> int:
        """The bits of an integer."""
        return int(self.storage[1:])

    @property
    def axis(self) -> int | None:
        """The axis whose slices have their own scales; None if the tensor has one scale, or blocks have."""
        return next((axis for axis, size in self.blocks.items() if size is None), None)


def quantized_of(type: Type) -> Quantized | None:
    """Returns the parts of a quantized type that stores integers; None for others."""
    if not isinstance(type, DialectType) or type.dialect != "quant" or type.mnemonic == "calibrated":
        return None
    match = _UNIFORM.fullmatch(type.body or "")
    if match is None:
        return None
    sign, bits, least, most, expressed, axes, scales = match.groups("")
    whole = integer_type(int(bits), "unsigned" if sign == "u" else "signed").integer_limits
    blocks: dict[int, int | None] = {int(axis): int(size) for axis, size in re.findall(r"(\d+):(\d+)", axes)}
    if axes.isdigit():
        blocks[int(axes)] = None
    pairs = [text.strip(" {}").partition(":") for text in scales.split(",") if scales]
    return Quantized(
        f"{sign}{bits}",
        (int(least), int(most)) if least else whole,
        expressed,
        blocks,
        tuple([(scale, int(zero or 0)) for scale, _, zero in pairs]),
        _lengths(scales),
    )


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
