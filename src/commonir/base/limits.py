"""The bounds that every reader of bytes checks before it allocates or recurses.

They are far above what real models need and far below what would exhaust a machine. A reader takes a `Limits` value and
reports NESTING_TOO_DEEP or LIMIT_EXCEEDED, naming the field, what it allows and what was found.
"""

from __future__ import annotations

from commonir.base.tuples import NamedTuple


class Limits(NamedTuple):
    """One immutable set of bounds; `limits._replace(max_rank=8)` gives another."""

    max_nesting_depth: int = 100
    """How deep messages, blocks, types and values may contain each other; the depth at which protobuf runtimes stop."""

    max_message_bytes: int = 2**31 - 1
    """Size of one protobuf message without the weights that are mapped; the limit of the format itself."""

    max_text_bytes: int = 256 * 2**20
    """Size of a program in text form, and of a JSON document."""

    max_tensor_bytes: int = 16 * 2**30
    """Size of one tensor that is decoded into memory, such as an array given as an input."""

    max_immediate_elements: int = 2**24
    """Elements of one constant that is written out in text or in a message instead of in a weight file."""

    max_alias_parts: int = 2**24
    """Parts that the aliases of a text stand for, written out at every use: an alias of aliases grows by each level."""

    max_rank: int = 64
    """Dimensions of a tensor; the limit of numpy."""

    max_operations: int = 10_000_000
    """Operations in one program, also after references have been expanded."""

    max_computed_elements: int = 2**22
    """Elements of a constant that the definition of an operation computes from a few numbers."""

    max_inlined_operations: int = 100_000
    """Operations for which the calls of a program stand: functions that call functions multiply."""

    max_diagnostics: int = 1000
    """Findings that one stage reports before it stops."""


DEFAULT_LIMITS = Limits()
