"""Ports of functions: facts about inputs and outputs that types do not express; new interfaces; metadata of programs.

`ir/interface.py` stores them in attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from commonir.base.strict_json import JsonError, parse
from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data
from commonir.ir.operation import Block, Value


class ColorSpace(Enum):
    """The order of the channels of an image."""

    GRAYSCALE = "grayscale"
    RGB = "rgb"
    BGR = "bgr"

    @property
    def channels(self) -> int:
        """Number of channels of the tensor that holds the image."""
        return 1 if self is ColorSpace.GRAYSCALE else 3


class DimRange(NamedTuple):
    """The allowed sizes of a dimension, `lower` and `upper` included; None: unbounded."""

    lower: int
    upper: int | None

    def __contains__(self, dim: object) -> bool:
        return isinstance(dim, int) and self.lower <= dim and (self.upper is None or dim <= self.upper)

    def __str__(self) -> str:
        if self.lower == self.upper:
            return str(self.lower)
        return f"{self.lower}..{'' if self.upper is None else self.upper}"


class Port(NamedTuple):
    """Facts about an input or output that its type does not express.

    `shape` is the shape it has by default; either `shapes` lists all that are allowed (the default first), or `ranges`
    has the range of each dimension. `default` fills an input that is not passed, or `contents` when its elements
    differ. An `image` is a tensor [1, channels, height, width] of values from 0 to 255. `labels` name the elements of a
    vector of probabilities, in order. `declared` is the type with wildcards in its shape that the signature declares,
    such as `f32[n, *]`: within one signature equal names are equal dims, also in the types of other inputs. `dims` are
    names of dims that the type has not: those that the program gives to dims of outputs that inference finds, and those
    of all dims where types have no names; "" for a dim without one. `state` is the name of the output with what this
    input is in the next run, where the two hold what the program keeps between runs.
    """

    doc: str = ""
    image: ColorSpace | None = None
    shape: tuple[int, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[DimRange, ...] = ()
    default: int | float | None = None
    labels: tuple[str, ...] | tuple[int, ...] = ()
    contents: Data | None = None
    declared: str = ""
    dims: tuple[str, ...] = ()
    state: str = ""

    @property
    def is_optional(self) -> bool:
        """Whether the input may be omitted."""
        return self.default is not None or self.contents is not None

    def allows(self, shape: tuple[int, ...]) -> bool:
        """Returns whether a shape is allowed."""
        if self.shapes:
            return shape in self.shapes
        if self.ranges:
            return len(shape) == len(self.ranges) and all(dim in r for dim, r in zip(shape, self.ranges, strict=True))
        return True


NO_PORT = Port()


def labels_of_text(text: str) -> tuple[str, ...] | tuple[int, ...]:
    """Returns labels from JSON: an array, or an object with the labels by index as of `id2label`; nothing if it is
    neither.
    """
    try:
        value = parse(text)
    except JsonError:
        return ()
    if isinstance(value, dict):
        keys = [str(n) for n in range(len(value))]
        value = [value[key] for key in keys] if value.keys() == set(keys) else None
    if not isinstance(value, list):
        return ()
    numbers = tuple([v for v in value if isinstance(v, int) and not isinstance(v, bool)])
    texts = tuple([v for v in value if isinstance(v, str)])
    return next((labels for labels in (numbers, texts) if len(labels) == len(value)), ())


class NewInterface(NamedTuple):
    """The new interface of a function. Its inputs are the arguments of `body`, a block without a terminator.

    Ports are by name; an input or output without an entry has an empty port. `renamed` maps the new name of an input
    or output to its previous name; one without an entry is new.
    """

    body: Block
    outputs: tuple[tuple[str, Value], ...]
    input_ports: Mapping[str, Port]
    output_ports: Mapping[str, Port]
    renamed: Mapping[str, str]


class Metadata(NamedTuple):
    """The author's description of a program. `user_defined` are further strings by name, in order."""

    description: str = ""
    version: str = ""
    author: str = ""
    license: str = ""
    user_defined: tuple[tuple[str, str], ...] = ()
