"""Formats text for terminals: escapes names from files, and formats and parses quantities.

`escape` is the only guard between a name in a file and a terminal: every name that was not written in this package is
passed through `escape` before it is printed.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.lazy import lazy_pattern

PIECE_SEPARATOR = "// -----"
"""The line between two programs of one MLIR text."""

_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_DECIMAL_UNITS = ("", "k", "M", "G", "T", "P")

_LONGEST_REPR = 100
_LONGEST_MESSAGE, _MESSAGE_START, _MESSAGE_END = 4000, 1500, 500
_LONG_DIM = lazy_pattern(r'"[^"]{37,}"(?=x)')


def escape(text: str) -> str:
    r"""Replaces every character that is not printable by its escape sequence.

    That covers control characters, so escape sequences of terminals; characters that change the direction of writing
    or have no width; line separators; lone surrogates. Printable text of any script stays as it is.

    Example:
        >>> escape("conv\x1b[31m\n")
        'conv\\x1b[31m\\n'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def escape_lines(text: str) -> str:
    """Escapes each line of a text, keeping its line breaks and tabs."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else _escaped(char) for char in text)


def one_line(text: str) -> str:
    r"""Returns the lines of a text joined and escaped.

    Example:
        >>> one_line("usage: cir\n  MODEL")
        'usage: cir MODEL'
    """
    return escape(" ".join(part.strip() for part in text.split("\n")) if "\n" in text else text)


def message_line(text: str) -> str:
    """Returns a text of a finding in one line and escaped; of a long one, which names from files make, both ends."""
    if len(text) > _LONGEST_MESSAGE:
        left_out = len(text) - _MESSAGE_START - _MESSAGE_END
        text = f"{text[:_MESSAGE_START]}... ({left_out} characters left out) ...{text[-_MESSAGE_END:]}"
    return one_line(text)


def _escaped(char: str) -> str:
    number = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def format_count(count: int) -> str:
    """Returns a count with three digits and a decimal unit.

    Example:
        >>> format_count(25_557_032), format_count(999), format_count(12_000)
        ('25.6 M', '999', '12.0 k')
    """
    number = float(count)
    for unit in _DECIMAL_UNITS:
        if abs(number) < 999.5 or unit == _DECIMAL_UNITS[-1]:
            return f"{count}" if not unit else f"{number:.{_decimals(number)}f} {unit}"
        number /= 1000
    raise AssertionError("the last unit always fits")


def format_bytes(size_bytes: int) -> str:
    """Returns a size in decimal units, as for disks and downloads.

    Example:
        >>> format_bytes(512), format_bytes(1_480_000)
        ('512 B', '1.48 MB')
    """
    text = format_count(size_bytes)
    return f"{text}B" if " " in text else f"{text} B"


def format_seconds(seconds: float) -> str:
    """Returns a time with three digits and a suitable unit.

    Example:
        >>> format_seconds(1.5), format_seconds(0.00123), format_seconds(4.2e-6)
        ('1.5 s', '1.23 ms', '4.2 us')
    """
    for unit, length in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def parse_bytes(text: str) -> int:
    """Returns a size as people write it: a number of bytes, or one with a decimal unit.

    Example:
        >>> parse_bytes("512M"), parse_bytes("1.5 GB"), parse_bytes("64")
        (512000000, 1500000000, 64)

    Raises: ValueError.
    """
    number = text.strip().upper().removesuffix("B").strip()
    unit = number[-1:] if number[-1:].isalpha() else ""
    units = [u.upper() for u in _DECIMAL_UNITS]
    if unit not in units:
        raise ValueError(f"'{escape(text)}' is not a size: give bytes, or a unit as in 512M or 2G")
    try:
        size_bytes = float(number.removesuffix(unit)) * 1000 ** units.index(unit)
    except ValueError:
        raise ValueError(f"'{escape(text)}' is not a size: give bytes, or a unit as in 512M or 2G") from None
    if not 0 < size_bytes < 2**63:
        raise ValueError(f"'{escape(text)}' is not a size")
    return int(size_bytes)


def _decimals(number: float) -> int:
    return 2 if abs(number) < 9.995 else 1 if abs(number) < 99.95 else 0


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """Returns a count with its noun.

    Example:
        >>> plural(1, "error"), plural(2, "error"), plural(0, "entry", "entries")
        ('1 error', '2 errors', '0 entries')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def listed(items: Sequence[str], most: int) -> str:
    """Returns items separated by commas; of more than `most` the first ones, and how many others there are.

    Example:
        >>> listed(["a", "b"], 2), listed(["a", "b", "c"], 2)
        ('a, b', 'a, b and 1 more')
    """
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {more:,} more" if more > 0 else "")


def with_short_dims(types: str) -> str:
    """Returns a text with types in which `?` stands for each dim that is a long expression.

    Example:
        >>> with_short_dims('tensor<"batch"x"floor((height + 31) / 32) * floor((width + 31) / 32)"xf32>')
        'tensor<"batch"x?xf32>'
    """
    return _LONG_DIM.sub("?", types)


def shortened(text: str, end: str) -> str:
    """Returns a text that ends with `end`, in one line of up to 100 characters."""
    line = " ".join(text.split())
    return line + end if len(line) + len(end) <= _LONGEST_REPR else f"{line[: _LONGEST_REPR - 4]}...{end}"


def shortened_list(before: str, items: Sequence[str], after: str) -> str:
    """Returns a text with a list in it, in one line of up to 100 characters: the last items are left out first.

    Example:
        >>> shortened_list("f(", ["%a", "%b"], "): i32>")
        'f(%a, %b): i32>'
    """
    text = f"{before}{', '.join(items)}{after}"
    count = min(len(items), _LONGEST_REPR // 2)
    while len(text) > _LONGEST_REPR and count:
        count -= 1
        text = f"{before}{', '.join([*items[:count], '...'])}{after}"
    return shortened(text[:-1], text[-1:])


def html_line(code: str, text: str = "") -> str:
    """Returns an HTML element with code and a text after it."""
    return f"<div><code>{escape_html(code)}</code> {escape_html(text)}</div>"


def escape_html(text: str) -> str:
    """Returns a text for an HTML page, with control characters escaped as in a terminal."""
    text = escape_lines(text)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
        text = text.replace(char, entity)
    return text
