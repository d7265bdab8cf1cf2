"""MLIR texts of varied operations: random shapes, constants, attributes and regions, so that hardly a line recurs.

What is made depends on the arguments alone; mlir-opt accepts it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

_ELEMENTS = ("f32", "f16", "i32", "i8", "i64")
_PER_FUNCTION = 500
Lines = list[str]


class _Function:
    """A function being made: the names of its values by type."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.count = 0
        self.values: dict[str, list[str]] = {}
        self.lines: Lines = []
        self.emitted = 0

    def shape(self, rank: int | None = None) -> list[int]:
        return [self.rng.randint(1, 64) for _ in range(self.rng.randint(1, 4) if rank is None else rank)]

    def add(self, text: str, type: str, operations: int = 1) -> str:
        """Appends an operation with one result of a type."""
        name = f"%{self.count}"
        self.count += 1
        self.emitted += operations
        self.lines.append(f"    {name} = {text}")
        self.values.setdefault(type, []).append(name)
        return name

    def value(self, type: str) -> str:
        """Returns a value of a type, a new constant if there is none."""
        known = self.values.get(type)
        if known:
            return self.rng.choice(known[-8:])
        return self.add(f"arith.constant {_constant(self.rng, type)}", type)

    def tensor(self, element: str) -> tuple[str, list[int], str]:
        """Returns a value, the shape and the type of a tensor: one that is there, or a new constant."""
        known = [t for t in self.values if t.startswith("tensor") and t.endswith(f"x{element}>") and "?" not in t]
        if known and self.rng.random() < 0.7:
            type = self.rng.choice(known[-10:])
            return self.value(type), [int(n) for n in type[len("tensor<") : -1].split("x")[:-1]], type
        shape = self.shape()
        type = _type(shape, element)
        return self.add(f"arith.constant {_constant(self.rng, type)}", type), shape, type


def _type(shape: list[int], element: str) -> str:
    return f"tensor<{'x'.join(map(str, [*shape, element]))}>"


def _number(rng: random.Random, element: str) -> str:
    if element.startswith("f"):
        return f"{rng.randint(-999, 999) / 8:.6e}"
    if element == "i1":
        return rng.choice(("true", "false"))
    return str(rng.randint(1 if element == "index" else -100, 100))


def _constant(rng: random.Random, type: str) -> str:
    if not type.startswith("tensor"):
        return f"{_number(rng, type)}{'' if type == 'i1' else f' : {type}'}"
    element = type[:-1].rpartition("x")[2]
    return f"dense<{_number(rng, element)}> : {type}"


def _scalar(f: _Function) -> None:
    element = f.rng.choice(_ELEMENTS)
    names = ("addf", "subf", "mulf", "divf") if element.startswith("f") else ("addi", "subi", "muli", "xori")
    flags = f.rng.choice(("", " fastmath<nnan>", " fastmath<fast>")) if element.startswith("f") else ""
    a, b = f.value(element), f.value(element)
    f.add(f"arith.{f.rng.choice(names)} {a}, {b}{flags} : {element}", element)


def _elementwise(f: _Function) -> None:
    element = f.rng.choice(("f32", "f16", "i32"))
    a, _, type = f.tensor(element)
    name = f.rng.choice(("arith.addf", "arith.mulf") if element != "i32" else ("arith.addi", "arith.muli"))
    f.add(f"{name} {a}, {f.value(type)} : {type}", type)


def _compared(f: _Function) -> None:
    a, shape, type = f.tensor("f32")
    order = f.rng.choice(("olt", "oge", "une", "ord"))
    condition = f.add(f"arith.cmpf {order}, {a}, {f.value(type)} : {type}", _type(shape, "i1"))
    f.add(f"arith.select {condition}, {a}, {f.value(type)} : {_type(shape, 'i1')}, {type}", type)


def _tosa(f: _Function) -> None:
    a, shape, type = f.tensor("f32")
    match f.rng.randrange(4):
        case 0:
            low = f.rng.randint(-50, 0)
            limits = f"min_val = {low}.0 : f32, max_val = {low + f.rng.randint(1, 99)}.0 : f32"
            f.add(f"tosa.clamp {a} {{{limits}}} : ({type}) -> {type}", type)
        case 1:
            axis = f.rng.randrange(len(shape))
            result = _type([1 if n == axis else d for n, d in enumerate(shape)], "f32")
            f.add(f"tosa.reduce_max {a} {{axis = {axis} : i32}} : ({type}) -> {result}", result)
        case 2:
            order = f.rng.sample(range(len(shape)), len(shape))
            result = _type([shape[n] for n in order], "f32")
            perms = ", ".join(map(str, order))
            f.add(f"tosa.transpose {a} {{perms = array<i32: {perms}>}} : ({type}) -> {result}", result)
        case _:
            f.add(f"tosa.{f.rng.choice(('tanh', 'sigmoid', 'exp', 'abs'))} {a} : ({type}) -> {type}", type)


def _sliced(f: _Function) -> None:
    a, shape, type = f.tensor("f32")
    begin = [f.rng.randrange(n) for n in shape]
    dims = [f.rng.randint(1, n - b) for n, b in zip(shape, begin, strict=True)]
    result = _type(dims, "f32")
    shown = f"[{', '.join(map(str, begin))}] [{', '.join(map(str, dims))}] [{', '.join('1' * len(shape))}]"
    f.add(f"tensor.extract_slice {a}{shown} : {type} to {result}", result)


def _condition(f: _Function) -> None:
    a, _, type = f.tensor("f32")
    c, name = f.value("i1"), f.rng.choice(("addf", "subf", "divf"))
    shown = f"scf.if {c} -> ({type}) {{\n      %x = arith.{name} {a}, {a} : {type}\n      scf.yield %x : {type}\n"
    f.add(f"{shown}    }} else {{\n      scf.yield {a} : {type}\n    }}", type, 4)


def _loop(f: _Function) -> None:
    a, _, type = f.tensor("f32")
    low, high, step = f.value("index"), f.value("index"), f.value("index")
    text = f"scf.for %i = {low} to {high} step {step} iter_args(%s = {a}) -> ({type}) {{\n"
    text += f"      %x = math.{f.rng.choice(('exp', 'sqrt', 'tanh'))} %s : {type}\n      scf.yield %x : {type}\n    }}"
    f.add(text, type, 3)


def _generic(f: _Function) -> None:
    a, shape, type = f.tensor("f32")
    out = f.add(f"tensor.empty() : {type}", type)
    dims = ", ".join([f"d{n}" for n in range(len(shape))])
    order = f"affine_map<({dims}) -> ({dims})>"
    kinds = ", ".join(['"parallel"'] * len(shape))
    head = f"linalg.generic {{indexing_maps = [{order}, {order}], iterator_types = [{kinds}]}}"
    text = f"{head} ins({a} : {type}) outs({out} : {type}) {{\n    ^bb0(%p: f32, %q: f32):\n"
    text += f"      %x = arith.{f.rng.choice(('addf', 'mulf'))} %p, %q : f32\n      linalg.yield %x : f32\n"
    f.add(f"{text}    }} -> {type}", type, 3)


def _casted(f: _Function) -> None:
    a = f.value("i32")
    match f.rng.randrange(3):
        case 0:
            f.add(f"arith.sitofp {a} : i32 to f32", "f32")
        case 1:
            f.add(f"arith.extsi {a} : i32 to i64", "i64")
        case _:
            f.add(f"arith.index_cast {a} : i32 to index", "index")


_MAKERS: tuple[tuple[Callable[[_Function], None], int], ...] = (
    (_scalar, 6),
    (_elementwise, 5),
    (_compared, 2),
    (_tosa, 5),
    (_sliced, 3),
    (_condition, 1),
    (_loop, 1),
    (_generic, 2),
    (_casted, 2),
)


def varied(operations: int, seed: int = 0) -> Iterator[str]:
    """Yields the lines of a module of about so many varied operations."""
    rng = random.Random(seed)
    makers, weights = zip(*_MAKERS, strict=True)
    yield "module {"
    emitted = 0
    while emitted < operations:
        f = _Function(rng)
        while f.emitted < min(_PER_FUNCTION, operations - emitted):
            rng.choices(makers, weights)[0](f)
        yield f"  func.func @f{emitted}() {{"
        yield from f.lines
        yield "    return"
        yield "  }"
        emitted += f.emitted + 2
    yield "}"
