"""The changes that users ask for to the interface of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data

_NOTHING: Mapping[str, str] = MappingProxyType({})
NewDim = int | str | tuple[int, int]
"""A number, the name of a dynamic dim, or the range of one, both ends included."""
_NO_CHANGES: Mapping[str, NewDim] = MappingProxyType({})
_NO_CONTENTS: Mapping[str, Data | None] = MappingProxyType({})


class Edits(NamedTuple):
    """The changes to make. All names are those of the program before the changes.

    `renames` maps old to new names of inputs, outputs and other values. `dims` sets dimensions, by the name of a
    symbol or as `INPUT.AXIS`; a text is the name of a dynamic dimension, and a pair is the range of one, for programs
    that state which sizes inputs may have. `metadata` sets texts; an empty one
    removes an entry. `contents` makes inputs constants, with some contents or, for None, their default values.
    """

    renames: Mapping[str, str] = _NOTHING
    dims: Mapping[str, NewDim] = _NO_CHANGES
    add_outputs: Sequence[str] = ()
    drop_outputs: Sequence[str] = ()
    metadata: Mapping[str, str] = _NOTHING
    contents: Mapping[str, Data | None] = _NO_CONTENTS

    @property
    def changes_function(self) -> bool:
        """Whether anything but metadata changes."""
        return bool(self.renames or self.dims or self.add_outputs or self.drop_outputs)

    @property
    def names(self) -> tuple[str, ...]:
        """All names of inputs, outputs and other values."""
        return tuple(dict.fromkeys([*self.drop_outputs, *self.add_outputs, *self.contents, *self.renames]))
