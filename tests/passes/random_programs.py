"""Random programs on integers, positions, floats, bools and tensors, for passes; made from a seed alone.

Values are taken from few, constants among them, so that operations on the same operands and on constants are frequent.
"""

from __future__ import annotations

import random

_NUMBERS = {
    "i32": ("0", "1", "-1", "2", "7", "-128", "2147483647"),
    "i8": ("0", "1", "-1", "3", "127", "-128"),
    "index": ("0", "1", "2", "5"),
    "f32": ("0.0", "-0.0", "1.0", "2.5", "-3.0"),
    "i1": ("true", "false"),
    "tensor<4xi32>": ("dense<0>", "dense<1>", "dense<[1, -2, 3, 4]>", "dense<-1>"),
}
_INTEGERS = (
    "addi",
    "subi",
    "muli",
    "andi",
    "ori",
    "xori",
    "maxsi",
    "minsi",
    "maxui",
    "minui",
    "shli",
    "shrsi",
    "shrui",
)
_QUOTIENTS = ("divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi", "ceildivui")
_FLOATS = ("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf")
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_INTEGER_TYPES = ("i32", "i8", "index", "tensor<4xi32>")


class _Program:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.values = {t: [f"%{name}{n}" for n in range(2)] for name, t in zip("abcdef", _NUMBERS, strict=True)}
        self.lines: list[str] = []

    def pick(self, type: str) -> str:
        """One of the latest values of a type, or a constant."""
        if self.rng.random() < 0.3:
            text = self.rng.choice(_NUMBERS[type])
            return self.add(f"arith.constant {text}" + ("" if type == "i1" else f" : {type}"), type)
        return self.rng.choice(self.values[type][-4:])

    def add(self, text: str, type: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        self.values[type].append(name)
        return name

    def step(self) -> None:
        """One operation."""
        kind = self.rng.randrange(8)
        if kind < 3:
            t = self.rng.choice(_INTEGER_TYPES)
            op = self.rng.choice(_INTEGERS if self.rng.random() < 0.8 else _QUOTIENTS)
            self.add(f"arith.{op} {self.pick(t)}, {self.pick(t)} : {t}", t)
        elif kind == 3:
            self.add(f"arith.{self.rng.choice(_FLOATS)} {self.pick('f32')}, {self.pick('f32')} : f32", "f32")
        elif kind == 4:
            t = self.rng.choice(("i32", "i8", "index"))
            self.add(f"arith.cmpi {self.rng.choice(_PREDICATES)}, {self.pick(t)}, {self.pick(t)} : {t}", "i1")
        elif kind == 5:
            t = self.rng.choice(tuple(_NUMBERS))
            self.add(f"arith.select {self.pick('i1')}, {self.pick(t)}, {self.pick(t)} : {t}", t)
        elif kind == 6:
            op, source, target = self.rng.choice(
                (
                    ("extsi", "i8", "i32"),
                    ("extui", "i8", "i32"),
                    ("trunci", "i32", "i8"),
                    ("index_cast", "i32", "index"),
                    ("index_cast", "index", "i32"),
                    ("extui", "i1", "i32"),
                    ("sitofp", "i32", "f32"),
                )
            )
            self.add(f"arith.{op} {self.pick(source)} : {source} to {target}", target)
        else:
            t = "tensor<4xi32>"
            self.add(f"tensor.extract {self.pick(t)}[{self.pick('index')}] : {t}", "i32")


def program(seed: int, operations: int = 12) -> str:
    """A function of so many operations and the constants that they take."""
    result = _Program(random.Random(seed))
    arguments = [f"{v}: {t}" for t, values in result.values.items() for v in values]
    for _ in range(operations):
        result.step()
    results = [(values[-1], t) for t, values in result.values.items()]
    types = ", ".join([t for _, t in results])
    return "\n".join(
        [
            f"func.func @f{seed}({', '.join(arguments)}) -> ({types}) {{",
            *result.lines,
            f"  return {', '.join([v for v, _ in results])} : {types}",
            "}",
            "",
        ]
    )
