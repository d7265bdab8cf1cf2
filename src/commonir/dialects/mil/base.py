"""Base of every definition of the mil dialect, and the versions of its operation sets.

How a definition relates to the messages of a file:

- `name="mil.conv"` is the operation type `conv`. Fields that a file binds under `inputs` are `operand(...)` or
  `parameter(...)`; fields that it keeps under `attributes` (such as `val` of `const`, or all parameters of the iOS 16
  `constexpr` operations) are `attribute(...)`. Nested blocks are `region()` fields in order.
- A field is spelt like the parameter in the file. Where that is a Python keyword or a member of `Operation`, it takes a
  trailing underscore: parameter `name` is field `name_`; `Field.spelling` is the name in the file.
- `since=` is the first operation set with an operation, a field or a constraint: one of `VERSIONS`. Element types by
  operation set are `by_version(...)`. Where an operation set changes what an operation means, its definition is another
  class with the same `name` and a later `since`.
- A parameter that a file binds to a literal is bound to a `mil.literal` in the module, so that nothing of it is lost.
- The attribute `name` that every operation carries in a file is not a field. It is kept, as an undeclared attribute,
  only when it differs from the name of the first result.

Source: MIL specification; coremltools 9 operation registry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from commonir.ir.attributes import StringAttr
from commonir.ods.operation import Op
from commonir.ods.traits import Trait

CORE_ML_5 = "CoreML5"
CORE_ML_6 = "CoreML6"
CORE_ML_7 = "CoreML7"
CORE_ML_8 = "CoreML8"
CORE_ML_9 = "CoreML9"

SYSTEMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        CORE_ML_5: ("iOS 15", "macOS 12", "watchOS 8", "tvOS 15"),
        CORE_ML_6: ("iOS 16", "macOS 13", "watchOS 9", "tvOS 16"),
        CORE_ML_7: ("iOS 17", "macOS 14", "watchOS 10", "tvOS 17", "visionOS 1"),
        CORE_ML_8: ("iOS 18", "macOS 15", "watchOS 11", "tvOS 18", "visionOS 2"),
        CORE_ML_9: ("iOS 26", "macOS 26", "watchOS 26", "tvOS 26", "visionOS 26"),
    }
)
"""The systems that each operation set came with."""
VERSIONS = tuple(SYSTEMS)
SPECIFICATION_VERSIONS: Mapping[str, int] = MappingProxyType(
    {CORE_ML_5: 6, CORE_ML_6: 7, CORE_ML_7: 8, CORE_ML_8: 9, CORE_ML_9: 10}
)
"""The specification version of a model that each operation set needs."""
OPERATION_NAME = "name"
"""Undeclared attribute: the name of an operation where it is not that of its first result."""
MAX_RANK = 5
"""The highest rank of values while a program runs."""
RESERVED = frozenset(
    {"any", "bool", "program", "func", "tensor", "list", "dict", "tuple", "true", "false", "string", "state", "bf16"}
    | {"fp16", "fp32", "fp64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
)
"""Words of the text form, which are not names."""
Structural = Trait("Structural", "is not an operation type of files, which express it in another way")
_NOT_IN_IDENTIFIERS = re.compile(r"[^A-Za-z0-9_]")


def as_identifier(name: str) -> str:
    """The nearest name that the format allows; nothing for nothing."""
    text = _NOT_IN_IDENTIFIERS.sub("_", name)
    return f"_{text}" if text[:1].isdigit() or text in RESERVED else text


def text_name(version: str) -> str:
    """Returns the name of an operation set in MIL text, such as `ios15`."""
    return SYSTEMS[version][0].lower().replace(" ", "")


def systems_text(version: str) -> str:
    """Returns the first systems that have an operation set, such as `iOS 15 / macOS 12`; "" for an unknown one."""
    return " / ".join(SYSTEMS.get(version, ())[:2])


class MilOp(Op, since=CORE_ML_5):
    """An operation of an ML Program."""

    @property
    def source_name(self) -> str:
        declared = self.extra.get(OPERATION_NAME)
        return declared.value if isinstance(declared, StringAttr) else super().source_name


def source_of(definition: type[Op]) -> str:
    """Returns the document that defines an operation; nothing for those that belong to no operation set."""
    systems = SYSTEMS.get(definition.since)
    return "" if systems is None else f"MIL operation reference, {definition.name.removeprefix('mil.')} ({systems[0]})."
