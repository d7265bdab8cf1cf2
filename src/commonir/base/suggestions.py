"""Suggests the nearest valid names, for messages about a name that does not exist.

It never changes what is accepted: a near miss is still an error, with a hint.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache

from commonir.base.text import escape

# difflib compares every pair of characters; longer names are never typing errors.
_MAX_LENGTH = 100
_MOST_TYPING_ERRORS = 2
_MOST_REMEMBERED = 256
"""A program that has a wrong name often has it often, and a search takes as long as reading hundreds of operations."""
_SHORTEST = 3
"""The fewest letters of an abbreviation."""


def nearest(name: str, candidates: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Returns the candidates most like a name, best first.

    Candidates that differ only in case, in `-` and `_`, or in the dialect or module prefix come first, then those that
    the name abbreviates or that abbreviate the name, the nearest in length first, then those of a similar spelling.

    Example:
        >>> nearest("mil.convv", ["mil.conv", "mil.add", "mil.conv_transpose"], limit=1)
        ('mil.conv',)
        >>> nearest("Conv", ["core.conv", "mil.conv"])
        ('core.conv', 'mil.conv')
        >>> nearest("convolution", ["core.constant", "core.conv"], limit=1)
        ('core.conv',)
        >>> nearest("batchnorm", ["onnx.BatchNormalization"])
        ('onnx.BatchNormalization',)
    """
    if not name or len(name) > _MAX_LENGTH:
        return ()
    return _nearest(name, tuple(dict.fromkeys(candidates)), limit)


@lru_cache(maxsize=_MOST_REMEMBERED)
def _nearest(name: str, pool: tuple[str, ...], limit: int) -> tuple[str, ...]:
    expected, own = _folded(name), _folded(_last_part(name))
    same = [candidate for candidate in pool if expected in (_folded(candidate), _folded(_last_part(candidate)))]
    # A name with a prefix stands for one with the same.
    prefix = name.removesuffix(_last_part(name))
    similar = [c for c in pool if c.startswith(prefix) and c not in same and _abbreviates(own, _folded(_last_part(c)))]
    if same:
        similar = [c for c in similar if len(_last_part(c)) < len(own)]
    similar.sort(key=lambda c: (abs(len(_folded(_last_part(c))) - len(own)), len(_last_part(c)) < len(own)))
    same += similar
    if len(expected) >= _SHORTEST:
        same += (each for each in pool if _folded(each).startswith(expected) and each not in same)
    if len(same) < limit:
        # Only a message about a misspelt name pays for this import.
        from difflib import get_close_matches  # noqa: PLC0415

        # A name that abbreviates another one, or the reverse, is not misspelt: others must be nearer.
        is_short = bool(similar) and abs(len(_last_part(similar[0])) - len(own)) > _MOST_TYPING_ERRORS
        cutoff = 0.8 if is_short else 0.6
        same += (candidate for candidate in get_close_matches(name, pool, limit, cutoff) if candidate not in same)
    return tuple(same[:limit])


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """Returns a help line that offers the nearest names, or None when nothing is near.

    Example:
        >>> did_you_mean("convert_", ["convert", "run"])
        "did you mean 'convert'?"
    """
    return offered(nearest(name, candidates))


def did_you_mean_file(path: str) -> str | None:
    """Returns a help line that offers the files of a folder with names like that of a file that does not exist."""
    folder, name = os.path.split(path)
    try:
        return did_you_mean(name, [escape(each) for each in os.listdir(folder or ".")])
    except OSError:
        return None


def offered(names: Iterable[str]) -> str | None:
    """Returns a help line that offers names, or None when there are none."""
    quoted = [f"'{name}'" for name in names]
    if not quoted:
        return None
    return f"did you mean {' or '.join(filter(None, [', '.join(quoted[:-1]), quoted[-1]]))}?"


def known_names(noun: str, names: Iterable[str]) -> str:
    """Returns a help line with all names that there are.

    Example:
        >>> known_names("input", ["x"]), known_names("input", ["x", "y"]), known_names("input", [])
        ("the only input is 'x'", "the inputs are 'x' and 'y'", 'there are no inputs')
    """
    quoted = [f"'{escape(name)}'" for name in names]
    if len(quoted) < 2:
        return f"the only {noun} is {quoted[0]}" if quoted else f"there are no {noun}s"
    return f"the {noun}s are {', '.join(quoted[:-1])} and {quoted[-1]}"


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def _folded(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _abbreviates(one: str, other: str) -> bool:
    """Returns whether one of two words is the beginning of the other, and at least a third of it."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _SHORTEST and len(long) <= 3 * len(short) and long.startswith(short)
