"""Attributes that say which axes of operands are which, and bounds of dynamic dimensions; how each is written.

Source: StableHLO specification, gather, scatter, dot_general, convolution; StableHLO dialect, attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir.stablehlo.accuracy import in_one_line
from commonir.ir.attributes import Attribute, DialectAttr
from commonir.ir.types import TensorType
from commonir.ods.attr_types import AttrType
from commonir.ods.own_forms import checked_forms

Axes = tuple[int, ...]
T = TypeVar("T", bound=tuple[Axes | int, ...])


class GatherDims(NamedTuple):
    """The axes of a gather: of the result that lie in slices, of the operand that are dropped, shared or positioned."""

    offset_dims: Axes = ()
    collapsed_slice_dims: Axes = ()
    operand_batching_dims: Axes = ()
    start_indices_batching_dims: Axes = ()
    start_index_map: Axes = ()
    index_vector_dim: int = 0


class ScatterDims(NamedTuple):
    """The axes of a scatter: of the updates that lie in windows, of the inputs that are added, shared or positioned."""

    update_window_dims: Axes = ()
    inserted_window_dims: Axes = ()
    input_batching_dims: Axes = ()
    scatter_indices_batching_dims: Axes = ()
    scatter_dims_to_operand_dims: Axes = ()
    index_vector_dim: int = 0


class DotDims(NamedTuple):
    """The axes of a product: those that both operands share, and those that are summed over."""

    lhs_batching_dimensions: Axes = ()
    rhs_batching_dimensions: Axes = ()
    lhs_contracting_dimensions: Axes = ()
    rhs_contracting_dimensions: Axes = ()


class RaggedDotDims(NamedTuple):
    """The axes of a ragged product: as those of a product, the one of lhs that groups divide, and that of rhs along
    which it has a part for each group.
    """

    lhs_batching_dimensions: Axes = ()
    rhs_batching_dimensions: Axes = ()
    lhs_contracting_dimensions: Axes = ()
    rhs_contracting_dimensions: Axes = ()
    lhs_ragged_dimensions: Axes = ()
    rhs_group_dimensions: Axes = ()


class ConvDims(NamedTuple):
    """The axes of a convolution: batch, feature and spatial ones of the input, the kernel and the output."""

    input_batch_dimension: int
    input_feature_dimension: int
    input_spatial_dimensions: Axes
    kernel_input_feature_dimension: int
    kernel_output_feature_dimension: int
    kernel_spatial_dimensions: Axes
    output_batch_dimension: int
    output_feature_dimension: int
    output_spatial_dimensions: Axes


class ChannelHandle(NamedTuple):
    """A channel between processes: its number and its kind."""

    handle: int = 0
    type: int = 0


_BLANK = r"(?:\s|//[^\n]*)*"
_ENTRY = re.compile(rf"{_BLANK}(\w+){_BLANK}={_BLANK}(\[[^\]]*\]|-?\d+){_BLANK}(,|$)")


def entries_of(body: str) -> Iterator[tuple[str, Axes | int]]:
    """The entries of `name = [1, 2], name = 3`. Raises: ValueError for any other text."""
    at = 0
    while at < len(body.rstrip()):
        match = _ENTRY.match(body, at)
        if match is None:
            raise ValueError(f"expected `name = number` or `name = [numbers]`, found '{body[at:].strip()}'")
        at = match.end()
        value = match[2]
        yield match[1], _numbers(value[1:-1]) if value[0] == "[" else int(value)


def _numbers(text: str) -> Axes:
    words = [w.strip() for w in text.split(",")] if text.strip() else []
    if not all(re.fullmatch(r"-?\d+", w) for w in words):
        raise ValueError(f"expected integers, found '[{text}]'")
    return tuple([int(w) for w in words])


def entries_text(entries: Mapping[str, Axes | int], *, all_shown: bool = False) -> str:
    """Entries as text; those that are empty or zero are left out unless all are shown."""
    shown = [
        f"{name} = {value if isinstance(value, int) else list(value)}"
        for name, value in entries.items()
        if value or all_shown
    ]
    return ", ".join(shown)


def structure(
    cls: type[T],
    mnemonic: str,
    defaults: Mapping[str, Axes | int],
    *,
    all_shown: bool = False,
    dialect: str = "stablehlo",
) -> AttrType[T]:
    """An attribute `#dialect.mnemonic<name = .., ..>` that is held as a named tuple."""

    def coerce(value: object) -> T:
        if not isinstance(value, cls):
            raise ValueError(f"expected {cls.__name__}, found {value!r}")
        return value

    def decode(attr: Attribute) -> T:
        if not isinstance(attr, DialectAttr) or (attr.dialect, attr.mnemonic) != (dialect, mnemonic):
            raise ValueError(f"expected #{dialect}.{mnemonic}, found {attr!r}")
        result = dict(defaults)
        seen: set[str] = set()
        for name, value in entries_of(attr.body or ""):
            if name not in defaults or isinstance(value, int) is not isinstance(defaults[name], int):
                raise ValueError(f"expected one of {', '.join(defaults)}, found '{name}'")
            if name in seen:
                raise ValueError(f"'{name}' is given twice")
            seen.add(name)
            result[name] = value
        return cls(**result)

    def stored(value: T) -> Attribute:
        fields = dict(zip(defaults, value, strict=True))
        return DialectAttr(dialect, mnemonic, entries_text(fields, all_shown=all_shown))

    return AttrType(cls.__name__, coerce, stored, decode)


gather_dims = structure(GatherDims, "gather", GatherDims()._asdict())
scatter_dims = structure(ScatterDims, "scatter", ScatterDims()._asdict())
dot_dims = structure(DotDims, "dot", DotDims()._asdict())
ragged_dot_dims = structure(RaggedDotDims, "ragged_dot", RaggedDotDims()._asdict(), dialect="chlo")
channel_handle = structure(ChannelHandle, "channel_handle", ChannelHandle()._asdict(), all_shown=True)

# -- convolutions: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`


class _Group(NamedTuple):
    first: int
    second: int
    spatial: Axes


def _group_text(group: _Group, letters: str) -> str:
    count = len(group.spatial) + 2
    shown = [""] * count
    marks = [(group.first, letters[0]), (group.second, letters[1])]
    marks += [(axis, str(n)) for n, axis in enumerate(group.spatial)]
    for axis, mark in marks:
        if not 0 <= axis < count or shown[axis]:
            raise ValueError(f"axis {axis} of {count} is not there, or is there twice")
        shown[axis] = mark
    return f"[{', '.join(shown)}]"


def _groups(dims: ConvDims) -> tuple[_Group, _Group, _Group]:
    return _Group(*dims[:3]), _Group(*dims[3:6]), _Group(*dims[6:])


def conv_text(dims: ConvDims) -> str:
    """The axes of a convolution in their short form. Raises: ValueError for those that it cannot say."""
    lhs, rhs, out = _groups(dims)
    return f"{_group_text(lhs, 'bf')}x{_group_text(rhs, 'io')}->{_group_text(out, 'bf')}"


def _group(words: Sequence[str], letters: str) -> _Group:
    """The axes of one operand, from what stands in the brackets."""
    places: dict[str, int] = {}
    for n, word in enumerate(words):
        if word in places:
            raise ValueError(f"'{word}' stands twice")
        places[word] = n
    spatial = [w for w in words if w not in letters]
    expected = [str(n) for n in range(len(spatial))]
    if sorted(spatial) != sorted(expected) or any(letter not in places for letter in letters):
        raise ValueError(f"expected {letters[0]}, {letters[1]} and spatial axes from 0, found [{', '.join(words)}]")
    return _Group(places[letters[0]], places[letters[1]], tuple([places[w] for w in expected]))


_CONV = re.compile(r"\s*\[([^\]]*)\]\s*x\s*\[([^\]]*)\]\s*->\s*\[([^\]]*)\]\s*")


def conv_of(text: str) -> ConvDims:
    """The axes that a short form says. Raises: ValueError for any other text."""
    match = _CONV.fullmatch(text)
    if match is None:
        raise ValueError(f"expected [b, 0, f]x[0, i, o]->[b, 0, f], found '{text}'")
    groups = [_group([w.strip() for w in match[n].split(",")], "io" if n == 2 else "bf") for n in (1, 2, 3)]
    return ConvDims(*groups[0], *groups[1], *groups[2])


_RAW = ConvDims(0, 0, (), 0, 0, (), 0, 0, ())._asdict()


def _decoded_conv(attr: Attribute) -> ConvDims:
    if not isinstance(attr, DialectAttr) or (attr.dialect, attr.mnemonic) != ("stablehlo", "conv"):
        raise ValueError(f"expected #stablehlo.conv, found {attr!r}")
    body = (attr.body or "").strip()
    if not body.startswith("raw"):
        return conv_of(body)
    result: dict[str, Axes | int] = dict(_RAW)
    for name, value in entries_of(body.removeprefix("raw")):
        if name not in result or isinstance(value, int) is not isinstance(result[name], int):
            raise ValueError(f"expected one of {', '.join(_RAW)}, found '{name}'")
        result[name] = value
    return ConvDims(**result)  # pyright: ignore[reportArgumentType]


def _stored_conv(dims: ConvDims) -> Attribute:
    try:
        return DialectAttr("stablehlo", "conv", conv_text(dims))
    except ValueError:
        return DialectAttr("stablehlo", "conv", f"raw {entries_text(dims._asdict(), all_shown=True)}")


def _to_conv(value: object) -> ConvDims:
    if not isinstance(value, ConvDims):
        raise ValueError(f"expected the axes of a convolution, found {value!r}")
    return value


conv_dims: AttrType[ConvDims] = AttrType("axes of a convolution", _to_conv, _stored_conv, _decoded_conv)

# -- bounds of dynamic dimensions: `#stablehlo.bounds<?, 16>`


def _bounds(attr: Attribute) -> DialectAttr:
    """Returns the bounds in their short form. Raises: ValueError for any other text."""
    body = attr.body or "" if isinstance(attr, DialectAttr) else ""
    listed = _LISTED_BOUNDS.fullmatch(body)
    words = [w.strip() for w in (body if listed is None else listed[1]).split(",")]
    if words == [""]:
        words = []
    if not all(word == "?" or word.isdecimal() for word in words):
        raise ValueError(f"expected numbers or '?', found '{body}'")
    return DialectAttr("stablehlo", "bounds", ", ".join(words))


_LISTED_BOUNDS = re.compile(r"\s*bounds\s*=\s*\[([^\]]*)\]\s*")


def _encoding_fault(type: TensorType) -> str | None:
    encoding, shape = type.encoding, type.shape
    if not isinstance(encoding, DialectAttr) or encoding.mnemonic != "bounds" or shape is None:
        return None
    bounds = encoding.body.split(", ") if encoding.body else []
    if len(bounds) != len(shape):
        return f"a tensor of rank {len(shape)} has {len(shape)} bounds, found {len(bounds)}"
    for axis, (dim, bound) in enumerate(zip(shape, bounds, strict=True)):
        if isinstance(dim, int) and bound != "?":
            return f"dimension {axis} is {dim} and has no bound but '?', found {bound}"
    return None


CHLO = checked_forms({"ragged_dot": ragged_dot_dims.from_attribute})
"""The attributes of chlo that are checked wherever they stand."""

OWN = checked_forms(
    {
        "bounds": _bounds,
        "channel_handle": channel_handle.from_attribute,
        "dot_algorithm": in_one_line,
        "result_accuracy": in_one_line,
        "conv": conv_dims.from_attribute,
        "dot": dot_dims.from_attribute,
        "gather": gather_dims.from_attribute,
        "scatter": scatter_dims.from_attribute,
        "type_extensions": _bounds,
    },
    _encoding_fault,
)
"""The attributes that are checked wherever they stand, not only as the field of an operation."""
