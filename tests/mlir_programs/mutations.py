"""Programs made wrong in one place: a type, an operand, an attribute, a region, a block or a symbol.

Some changes leave a program right; what matters is that both sides say the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

Mutation = Callable[[Random, str], str | None]

_OPERATION = re.compile(r'"([\w.]+)"\(([^()]*)\)((?:\[[^\]]*\])?)(.*?) : \(([^()]*)\) -> (.*)$')
_TYPES = ("i1", "i32", "f32", "index", "tensor<4xf32>", "tensor<?x3xi8>", "vector<4xf32>", "!shape.shape", "none")


def _lines(text: str, fits: Callable[[str], bool]) -> list[int]:
    return [n for n, line in enumerate(text.split("\n")) if fits(line)]


def _changed(random: Random, text: str, fits: Callable[[str], bool], change: Callable[[str], str | None]) -> str | None:
    """A program with one line changed; None when no line fits."""
    places = _lines(text, fits)
    if not places:
        return None
    lines = text.split("\n")
    at = random.choice(places)
    result = change(lines[at])
    if result is None or result == lines[at]:
        return None
    lines[at] = result
    return "\n".join(lines)


def _is_operation(line: str) -> bool:
    return _OPERATION.search(line) is not None


def wrong_result_type(random: Random, text: str) -> str | None:
    """Another type of a result."""

    def change(line: str) -> str | None:
        match = _OPERATION.search(line)
        assert match is not None
        if match[6].strip() in ("()", ""):
            return None
        return line[: match.start(6)] + random.choice(_TYPES)

    return _changed(random, text, _is_operation, change)


def wrong_operand_type(random: Random, text: str) -> str | None:
    """Another type of an argument of a function, in its label and its type."""
    arguments = re.findall(r"(%a\d+): ([^,()<>]+(?:<[^<>]*>)?)", text)
    if not arguments:
        return None
    name, kind = random.choice(arguments)
    other = random.choice([t for t in _TYPES if t != kind])
    return text.replace(f"{name}: {kind}", f"{name}: {other}", 1)


def missing_operand(random: Random, text: str) -> str | None:
    """One operand fewer, and one type fewer."""

    def change(line: str) -> str | None:
        match = _OPERATION.search(line)
        assert match is not None
        names = match[2].split(", ")
        types = _split(match[5])
        if len(names) != len(types) or not match[2]:
            return None
        at = random.randrange(len(names))
        del names[at], types[at]
        shown = f"{line[: match.start(2)]}{', '.join(names)}{line[match.end(2) : match.start(5)]}{', '.join(types)}"
        return shown + line[match.end(5) :]

    return _changed(random, text, _is_operation, change)


def _split(types: str) -> list[str]:
    """Types at the commas between them."""
    out, depth = [""], 0
    for c in types:
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and not depth:
            out.append("")
        else:
            out[-1] += c
    return [t.strip() for t in out] if types else []


def missing_property(random: Random, text: str) -> str | None:
    """A property fewer."""

    def change(line: str) -> str | None:
        match = re.search(r"<\{(.*)\}>", line)
        if match is None:
            return None
        entries = _split(match[1])
        del entries[random.randrange(len(entries))]
        attributes = f" <{{{', '.join(entries)}}}>" if entries else ""
        return line[: match.start()].rstrip() + attributes + line[match.end() :]

    return _changed(random, text, lambda s: "<{" in s, change)


def wrong_property(random: Random, text: str) -> str | None:
    """A property of another kind."""

    def change(line: str) -> str | None:
        match = re.search(r"<\{(.*)\}>", line)
        if match is None:
            return None
        entries = _split(match[1])
        at = random.randrange(len(entries))
        key = entries[at].partition(" = ")[0]
        entries[at] = f"{key} = {random.choice(['7 : i9', 'unit', '[true]', '@other', '2.5 : f64'])}"
        return f"{line[: match.start()]}<{{{', '.join(entries)}}}>{line[match.end() :]}"

    return _changed(random, text, lambda s: "<{" in s, change)


def missing_terminator(random: Random, text: str) -> str | None:
    """A block without its last operation."""
    ends = ("yield", "func.return", "program.return", "shape.return", "scf.condition", "cf.br", "output")
    places = _lines(text, lambda s: any(f'{e}"(' in s for e in ends))
    if not places:
        return None
    lines = text.split("\n")
    del lines[random.choice(places)]
    return "\n".join(lines)


def repeated_terminator(random: Random, text: str) -> str | None:
    """A terminator in the middle of a block."""
    return _changed(random, text, lambda s: s.startswith('"func.return"'), lambda s: f"{s}\n{s}")


def use_before_definition(random: Random, text: str) -> str | None:
    """Two neighbouring operations in the other order."""
    lines = text.split("\n")
    places = [
        n
        for n in range(len(lines) - 1)
        if all(re.match(r"%\w+ = ", s) and not s.endswith("({") for s in lines[n : n + 2])
        and lines[n].split()[0] in lines[n + 1]
    ]
    if not places:
        return None
    at = random.choice(places)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return "\n".join(lines)


def unknown_value(random: Random, text: str) -> str | None:
    """A value that nothing defines."""

    def change(line: str) -> str | None:
        match = _OPERATION.search(line)
        assert match is not None
        names = match[2].split(", ")
        if not match[2]:
            return None
        names[random.randrange(len(names))] = "%nowhere"
        return line[: match.start(2)] + ", ".join(names) + line[match.end(2) :]

    return _changed(random, text, _is_operation, change)


def missing_region(random: Random, text: str) -> str | None:
    """An operation whose region says nothing."""
    match = list(re.finditer(r"\(\{\n[^{}]*?\n\}\)", text))
    if not match:
        return None
    chosen = random.choice(match)
    return text[: chosen.start()] + random.choice(["({\n})", "({\n}, {\n})", ""]) + text[chosen.end() :]


def symbol_clash(random: Random, text: str) -> str | None:
    """Two symbols of one name."""
    names = sorted(set(re.findall(r'sym_name = "(\w+)"', text)))
    if len(names) < 2:
        return None
    first, second = random.sample(names, 2)
    return text.replace(f'sym_name = "{first}"', f'sym_name = "{second}"')


def unknown_symbol(random: Random, text: str) -> str | None:
    """A reference to nothing."""
    match = list(re.finditer(r" = @(\w+)\}>", text))
    if not match:
        return None
    chosen = random.choice(match)
    return text[: chosen.start(1)] + "nothing" + text[chosen.end(1) :]


def wrong_successor(random: Random, text: str) -> str | None:
    """A branch to another block, or with other values."""
    labels = sorted(set(re.findall(r"^\^b\d+", text, re.MULTILINE)))
    if not labels:
        return None

    def change(line: str) -> str | None:
        return re.sub(r"\[\^b\d+", f"[{random.choice([*labels, '^nowhere'])}", line, count=1)

    return _changed(random, text, lambda s: "[^b" in s, change)


def wrong_result_count(random: Random, text: str) -> str | None:
    """One result more than there are."""
    return _changed(
        random, text, lambda s: bool(re.match(r"%\w+ = \"", s)), lambda s: re.sub(r"^(%\w+) =", r"\1:2 =", s)
    )


def renamed_operation(random: Random, text: str) -> str | None:
    """Another operation with the same operands."""
    names = sorted(set(re.findall(r'"((?:arith|math|tosa|shape|index|complex|tensor)\.\w+)"\(', text)))
    if len(names) < 2:
        return None
    first, second = random.sample(names, 2)
    return text.replace(f'"{first}"(', f'"{second}"(', 1)


MUTATIONS: tuple[Mutation, ...] = (
    wrong_result_type,
    wrong_operand_type,
    missing_operand,
    missing_property,
    wrong_property,
    missing_terminator,
    repeated_terminator,
    use_before_definition,
    unknown_value,
    missing_region,
    symbol_clash,
    unknown_symbol,
    wrong_successor,
    wrong_result_count,
    renamed_operation,
)
"""All ways to make a program wrong."""
