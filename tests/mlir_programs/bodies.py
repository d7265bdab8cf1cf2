"""Operations of linalg whose scalar programs are changed: other operations, operands, arguments, yielded values.

Some changes leave a program right; what matters is that both sides say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from tests.mlir_programs import comparison, oracle

_OTHERS = {"addf": "mulf", "mulf": "subf", "addi": "muli", "muli": "subi", "andi": "xori", "ori": "andi", "add": "mul"}
_SCALAR = re.compile(r'"(arith|complex)\.(\w+)"')
_YIELD = re.compile(r'"linalg\.yield"\((%\w+)\) : \((\S+)\) -> \(\)')
_FLOAT = "<{fastmath = #arith.fastmath<none>}>"


def changed(seed: int, each: int) -> Iterator[tuple[str, str]]:
    """Programs of which one body was changed, at most `each` of an operation, with what was changed."""
    random = Random(seed)
    sources = [s for s in comparison.generated(seed, extra=0) if "linalg." in s]
    for answer in oracle.ask(sources, oracle.GENERIC):
        text = answer.text or ""
        result = _YIELD.search(text)
        if result is not None:
            built = list(_changes(text, result))
            yield from random.sample(built, min(each, len(built)))


def _changes(text: str, end: re.Match[str]) -> Iterator[tuple[str, str]]:
    start = text.rfind("^bb0", 0, end.start())
    before, body, after = text[:start], text[start : end.start()], text[end.end() :]
    label, _, inside = body.partition("\n")
    arguments = label[len("^bb0(") : -len("):")].split(", ")
    named = {a.partition(": ")[0]: a.partition(": ")[2] for a in arguments}
    value, type = end.groups()

    def whole(body: str = body, last: str = end[0]) -> str:
        return before + body + last + after

    for match in _SCALAR.finditer(body):
        if match[2] in _OTHERS:
            other = f'"{match[1]}.{_OTHERS[match[2]]}"'
            yield f"{match[0]} is {other}", whole(body[: match.start()] + other + body[match.end() :])
    for name, stored in named.items():
        if stored == type:
            yield f"yields {name}", whole(last=end[0].replace(value, name))
        for other in named:
            used = re.sub(rf"{name}\b", other, inside)
            if other != name and used != inside:
                yield f"uses {other} for {name}", whole(f"{label}\n{used}")
    if type in ("f16", "f32", "f64"):
        negated = f'%n = "arith.negf"({value}) {_FLOAT} : ({type}) -> {type}\n'
        yield "yields the negative", whole(body + negated, end[0].replace(value, "%n"))
        doubled = f'%n = "arith.addf"({value}, {value}) {_FLOAT} : ({type}, {type}) -> {type}\n'
        yield "yields the double", whole(body + doubled, end[0].replace(value, "%n"))
    yield "yields nothing", whole(last='"linalg.yield"() : () -> ()')
    yield "yields two", whole(last=f'"linalg.yield"({value}, {value}) : ({type}, {type}) -> ()')
    yield "has no end", whole(last="")
    yield "has two blocks", whole(last=f"{end[0]}\n^bb1:\n{end[0]}")
    yield "one argument less", whole(f"^bb0({', '.join(arguments[:-1])}):\n{inside}")
    yield "one argument more", whole(f"^bb0({', '.join([*arguments, '%more: f32'])}):\n{inside}")
    first = next(iter(named))
    yield "another type", whole(f"^bb0({', '.join([f'{first}: i7', *arguments[1:]])}):\n{inside}")
