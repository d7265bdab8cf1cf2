"""Limits by how much constants that are folded enlarge a program.

Operations on constants that use each other's results, or the same constants, are folded all or one by one: parts of a
weight that are joined in another order take no more room than the weight, though each step alone would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from commonir.ir.data import Data
from commonir.ir.module import Function, Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import Op, known_data, known_dims, traits

_GROWTH_SHARE = 100
_OPERATION_BYTES = 64
"""The least size of an operation in a file."""
_TEXT_PER_BYTE = 3
"""A number of 4 bytes has up to 8 digits, a sign, a dot and a comma."""
_LARGE_BYTES = 256
"""Smaller constants, such as axes and bounds, do not join the operations that use them."""


class Growth:
    """A limit for a program: folded constants may enlarge it by 1 % of its constants.

    A constant that only such operations use makes room, shared among them, as does an operation that goes. `in_text`:
    the file is a text, which states equal elements once.
    """

    def __init__(self, module: Module, *, in_text: bool = False) -> None:
        self._in_text = in_text
        # Also those that their definition computes, as onnx.Constant.
        contents = [known_data(op.results[0]) for op in module.walk() if len(op.results) == 1 and not op.operands]
        known = [data for data in contents if data is not None and not (in_text and data.splat() is not None)]
        self._left = sum([data.size_bytes for data in known]) // _GROWTH_SHARE
        self._planned: set[Op] = set()

    def plan(self, function: Function, is_computed: Callable[[type[Op]], bool]) -> None:
        """Permits operations of a function that, folded together, stay within the limit.

        `is_computed` returns whether operations of a definition are folded.
        """
        for ops in _groups(function, is_computed):
            growth = self._growth_of(ops)
            if growth is not None and growth <= max(self._left, 0):
                self._left -= growth
                self._planned |= ops

    def permits(self, op: Op, results: Sequence[Data]) -> bool:
        """Returns whether an operation may become constants, which then count."""
        if not op.operands or op in self._planned:
            return True
        growth = sum(map(self._stored_bytes, results)) - sum(map(self._share_bytes, dict.fromkeys(op.operands)))
        left = self._left - growth + _OPERATION_BYTES
        if left < 0:
            return False
        self._left = left
        return True

    def _growth_of(self, ops: set[Op]) -> int | None:
        """Returns the bytes that folding some operations adds; None if they are not known."""
        added = 0
        constants: dict[Value, Data] = {}
        for op in ops:
            for r in op.results:
                if all(user in ops for user in r.users):
                    continue
                size = _size_bytes(r)
                if size is None:
                    return None
                added += size * (_TEXT_PER_BYTE if self._in_text else 1)
            constants.update({v: data for v in op.operands if (data := known_data(v)) is not None})
        freed = sum([self._stored_bytes(data) for v, data in constants.items() if all(user in ops for user in v.users)])
        return added - freed - _OPERATION_BYTES * len(ops)

    def _share_bytes(self, value: Value) -> int:
        """Returns the bytes of a constant for each of its users, if all of them may be folded; else 0."""
        data, users = known_data(value), value.users
        is_freed = all(known_data(v) is not None for user in users for v in user.operands)
        return self._stored_bytes(data) // len(users) if data is not None and is_freed and users else 0

    def _stored_bytes(self, data: Data) -> int:
        """Returns the bytes of a constant in the file, at most."""
        if not self._in_text:
            return data.size_bytes
        return _TEXT_PER_BYTE * (data.size_bytes if data.splat() is None else data.element.size_bytes(1))


def _size_bytes(value: Value) -> int | None:
    """Returns the bytes of the elements of a tensor; None if a dim is not known."""
    type = value.type
    if not isinstance(type, TensorType) or not type.is_static:
        return None
    return type.element.size_bytes(math.prod(type.static_shape))


def _groups(function: Function, is_computed: Callable[[type[Op]], bool]) -> Iterable[set[Op]]:
    """Returns the operations that depend on constants alone, grouped by the values that they share."""
    groups: dict[Op, set[Op]] = {}
    by_constant: dict[Value, Op] = {}
    for op in function.walk():
        if not isinstance(op, Op) or not op.operands or not is_computed(type(op)) or _is_returned(op):
            continue
        related: list[Op] = []
        for v in op.operands:
            owner = v.owner
            if isinstance(owner, Op) and owner in groups:
                related.append(owner)
            elif (data := known_data(v)) is not None:
                if data.size_bytes > _LARGE_BYTES:
                    related.append(by_constant.setdefault(v, op))
            elif not _has_known_dims(v):
                break
        else:
            _join(groups, op, related)
    return {id(group): group for group in groups.values()}.values()


def _join(groups: dict[Op, set[Op]], op: Op, related: Iterable[Op]) -> None:
    """Adds an operation to the groups of others, which become one."""
    group = groups[op] = {op}
    for other in related:
        found = groups.get(other, group)
        if found is not group:
            # The smaller one moves.
            smaller, group = sorted((found, group), key=len)
            group |= smaller
            groups.update(dict.fromkeys(smaller, group))


def _is_returned(op: Op) -> bool:
    return any(isinstance(user, Op) and user.has_trait(traits.Terminator) for r in op.results for user in r.users)


def _has_known_dims(value: Value) -> bool:
    dims = known_dims(value)
    return dims is not None and all(isinstance(d, int) for d in dims)
