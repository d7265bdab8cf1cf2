"""Whole programs of statements: functions with blocks and regions, symbols, locations and aliases, chosen by chance."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from commonir.ods import Op

from tests.dialects.mlir.linalg.named_programs import (
    named_operations,
    pointwise_operations,
    pointwise_program,
)
from tests.dialects.mlir.linalg.named_programs import program as named_program
from tests.mlir_programs import texts
from tests.mlir_programs.atoms import Atom, atom_of, can_be_sampled, sample
from tests.mlir_programs.oracle import DIALECTS
from tests.mlir_programs.recipes import RECIPES

NAMES = (
    "builtin",
    "func",
    "arith",
    "math",
    "cf",
    "scf",
    "tensor",
    "linalg",
    "tosa",
    "shape",
    "ub",
    "complex",
    "index",
    "ml_program",
)
"""The dialects that programs are made of."""

Make = Callable[[Random], Atom | None]


def definitions() -> list[type[Op]]:
    """All operations of the dialects."""
    out: list[type[Op]] = []
    for name in NAMES:
        dialect = DIALECTS.get(name)
        assert dialect is not None
        out += [versions[-1] for versions in dialect.operations.values()]
    return out


def _sampled(definition: type[Op]) -> Make:
    def make(random: Random) -> Atom | None:
        op = sample(definition, random)
        return None if op is None else atom_of(op)

    return make


_BY_RECIPE = frozenset(
    {
        "complex.bitcast",
        "complex.constant",
        "tensor.extract_slice",
        "tensor.from_elements",
        "tensor.insert_slice",
        "tensor.scatter",
        "tensor.splat",
        "linalg.winograd_filter_transform",
        "linalg.winograd_input_transform",
        "linalg.winograd_output_transform",
        "tosa.avg_pool2d",
        "tosa.const",
        "tosa.conv2d",
        "tosa.conv3d",
        "tosa.depthwise_conv2d",
        "tosa.max_pool2d",
        "tosa.transpose_conv2d",
        "func.call",
        "func.constant",
        "func.call_indirect",
        "tosa.variable_read",
        "tosa.variable_write",
        "ml_program.global_load",
        "ml_program.global_load_const",
        "ml_program.global_load_graph",
        "ml_program.global_store",
        "ml_program.global_store_graph",
        "linalg.index",
        "tensor.parallel_insert_slice",
    }
)
"""Operations without regions of which a definition says too little, or that need a symbol or an operation around."""


def makers() -> list[Make]:
    """Returns the makers of statements: one for each operation with a sufficient definition, and each recipe."""
    sampled = [_sampled(d) for d in definitions() if can_be_sampled(d) and d.name not in _BY_RECIPE]
    return [*sampled, *RECIPES]


NEEDS_SYMBOLS = frozenset({n for n in _BY_RECIPE if n.startswith(("func.", "ml_program.", "tosa.variable"))})
"""Operations that mean nothing without a symbol that stands beside."""


class Program:
    """A program in the making."""

    def __init__(self, random: Random, makers: Sequence[Make], *, wild: bool = False) -> None:
        self.random = random
        self.makers = makers
        self.wild = wild
        self.top: list[str] = []
        self.count = 0

    def number(self) -> int:
        """A number that nothing else in the program has."""
        self.count += 1
        return self.count

    def attributes(self) -> str:
        """Attributes that are not declared, perhaps none."""
        if self.random.random() > 0.15:
            return ""
        result = texts.entries(self.random, 1, "other.")
        return f" {{{result}}}" if result else ""

    def location(self) -> str:
        """A location, perhaps none."""
        return f" loc({texts.location(self.random)})" if self.random.random() < 0.25 else ""


class Body:
    """The statements of a function in the making: values that are visible, and arguments that were asked for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.arguments: list[str] = []
        self.visible: list[tuple[str, str]] = []

    def value(self, type: str) -> str:
        """A value of a type: one that is there, or a new argument."""
        known = [n for n, t in self.visible if t == type]
        if known and self.program.random.random() < 0.8:
            return self.program.random.choice(known)
        name = f"%a{len(self.arguments)}"
        self.arguments.append(f"{name}: {type}")
        self.visible.append((name, type))
        return name

    def statement(self, atom: Atom, depth: int) -> str:
        """The text of a statement; statements inside of it are made too."""
        program = self.program
        inputs = [self.value(t) for t in atom.operands]
        unique = f"u{program.number()}_"
        name = f"%{program.random.choice(['v', 'x', 'res'])}{program.number()}"
        if atom.top:
            program.top.append(self._filled(atom.top, [], unique, "", ""))
        before = len(self.visible)
        inner = self.statements(program.random.randint(0, 2), depth - 1) if "$body" in atom.text else ""
        preserved = [v for v in self.visible[before:] if v[0].startswith("%a")]
        self.visible[before:] = preserved
        bound = f"{name}:{len(atom.results)}" if len(atom.results) > 1 else name
        text = self._filled(atom.text, inputs, unique, bound, inner)
        names = [f"{name}#{n}" for n in range(len(atom.results))] if len(atom.results) > 1 else [name]
        self.visible += zip(names, atom.results, strict=False)
        return text

    def _filled(self, text: str, inputs: Sequence[str], unique: str, bound: str, inner: str) -> str:
        def place(match: re.Match[str]) -> str:
            match match[1]:
                case "r":
                    return bound
                case "u":
                    return unique
                case "a":
                    return self.program.attributes()
                case "l":
                    return self.program.location()
                case "body":
                    return inner
                case number:
                    return inputs[int(number)]

        return re.sub(r"\$(body|\d+|[rual])", place, text)

    def statements(self, count: int, depth: int) -> str:
        """Some statements, one below the other."""
        if depth < 0:
            return ""
        lines: list[str] = []
        for _ in range(count):
            atom = self.program.random.choice(self.program.makers)(self.program.random)
            if atom is not None:
                lines.append(self.statement(atom, depth))
        return "\n".join(lines)


def function(program: Program, atoms: Sequence[Atom] = (), count: int = 4) -> str:
    """A function with some statements, those given among them."""
    random, body = program.random, Body(program)
    text = "\n".join([body.statement(a, 2) for a in atoms])
    text += "\n" + body.statements(count, 2)
    returned = random.sample(body.visible, min(len(body.visible), random.randint(0, 2)))
    names, types = ", ".join([n for n, _ in returned]), ", ".join([t for _, t in returned])
    kind = random.choice(("func.func", "func.func", "func.func", "ml_program.func", "shape.func"))
    end = {"func.func": "func.return", "ml_program.func": "ml_program.return", "shape.func": "shape.return"}[kind]
    inputs = ", ".join([a.partition(": ")[2] for a in body.arguments])
    seen = random.choice(("", ', sym_visibility = "private"', ', sym_visibility = "nested"'))
    label = f"^bb0({', '.join([a + program.location() for a in body.arguments])}):\n" if body.arguments else ""
    stop = f'"{end}"({names}) : ({types}) -> (){program.location()}'
    if random.random() < 0.25:
        stop = _branches(program, body, stop)
    return f'"{kind}"() <{{function_type = ({inputs}) -> ({types}), sym_name = "f{program.number()}"{seen}}}> ({{\n{label}{text}\n{stop}\n}}){program.attributes()} : () -> (){program.location()}'


def _branches(program: Program, body: Body, stop: str) -> str:
    """Blocks that branch to each other after the statements of the first one."""
    random = program.random
    visible = [v for v in body.visible if v[0].startswith(("%a", "%v", "%x", "%res"))]
    labels = [f"^b{program.number()}" for _ in range(random.randint(1, 4))]
    types = {b: [t for _, t in random.sample(visible, min(len(visible), random.randint(0, 2)))] for b in labels}
    conditions = [n for n, t in visible if t == "i1"]
    flags = [(n, t) for n, t in visible if t in ("i32", "i64", "i8")]

    def pick(block: str) -> tuple[str, list[str]]:
        return block, [random.choice([n for n, t in visible if t == kind]) for kind in types[block]]

    def jump() -> str:
        chosen = [pick(random.choice(labels)) for _ in range(3)]
        if conditions and random.random() < 0.5:
            (a, x), (b, y) = chosen[:2]
            arguments = ", ".join([random.choice(conditions), *x, *y])
            kinds = ", ".join(["i1", *types[a], *types[b]])
            weights = random.choice(("", "branch_weights = array<i32: 3, 5>, "))
            return f'"cf.cond_br"({arguments})[{a}, {b}] <{{{weights}operandSegmentSizes = array<i32: 1, {len(x)}, {len(y)}>}}>{program.attributes()} : ({kinds}) -> (){program.location()}'
        if flags and random.random() < 0.5:
            return _switch(program, random.choice(flags), chosen, types)
        (a, x) = chosen[0]
        return f'"cf.br"({", ".join(x)})[{a}]{program.attributes()} : ({", ".join(types[a])}) -> (){program.location()}'

    lines = [jump()]
    for n, b in enumerate(labels):
        arguments = ", ".join([f"%c{program.number()}: {t}" for t in types[b]])
        lines.append(f"{b}({arguments}):" if arguments else f"{b}:")
        last = n == len(labels) - 1
        lines.append(
            stop
            if last or random.random() < 0.3
            else '"ub.unreachable"() : () -> ()'
            if random.random() < 0.1
            else jump()
        )
    return "\n".join(lines)


def _switch(
    program: Program, flag: tuple[str, str], chosen: Sequence[tuple[str, list[str]]], types: dict[str, list[str]]
) -> str:
    cases = chosen[1 : program.random.randint(1, 3)]
    arguments = ", ".join([flag[0], *chosen[0][1], *[v for _, vs in cases for v in vs]])
    kinds = ", ".join([flag[1], *types[chosen[0][0]], *[t for b, _ in cases for t in types[b]]])
    counts = ", ".join([str(len(vs)) for _, vs in cases])
    numbers = ", ".join([str(n * 3 - 1) for n in range(len(cases))])
    values = f", case_values = dense<[{numbers}]> : vector<{len(cases)}x{flag[1]}>" if cases else ""
    segments = f"array<i32: {counts}>" if cases else "array<i32>"
    total = sum(len(vs) for _, vs in cases)
    blocks = ", ".join([chosen[0][0], *[b for b, _ in cases]])
    return f'"cf.switch"({arguments})[{blocks}] <{{case_operand_segments = {segments}{values}, operandSegmentSizes = array<i32: 1, {len(chosen[0][1])}, {total}>}}> : ({kinds}) -> (){program.location()}'


def subgraph(program: Program) -> str:
    """A graph whose statements may use what comes later."""
    body = Body(program)
    text = body.statements(3, 1)
    returned = program.random.sample(body.visible, min(len(body.visible), 2))
    names, types = ", ".join([n for n, _ in returned]), ", ".join([t for _, t in returned])
    inputs = ", ".join([a.partition(": ")[2] for a in body.arguments])
    label = f"^bb0({', '.join(body.arguments)}):\n" if body.arguments else ""
    lines = text.split("\n")
    if all("({" not in line and "})" not in line for line in lines):
        program.random.shuffle(lines)
    end = f'"ml_program.output"({names}) : ({types}) -> ()'
    text = "\n".join(lines)
    return f'"ml_program.subgraph"() <{{function_type = ({inputs}) -> ({types}), sym_name = "g{program.number()}"}}> ({{\n{label}{text}\n{end}\n}}) : () -> ()'


def library(program: Program) -> str:
    """Shape functions of operations."""
    name = f"l{program.number()}"
    inner = '"shape.func"() <{function_type = (!shape.value_shape) -> !shape.shape, sym_name = "same"}> ({\n^bb0(%a: !shape.value_shape):\n%0 = "shape.shape_of"(%a) : (!shape.value_shape) -> !shape.shape\n"shape.return"(%0) : (!shape.shape) -> ()\n}) : () -> ()'
    return f'"shape.function_library"() <{{mapping = {{std.exp = @same}}, sym_name = "{name}"}}> ({{\n{inner}\n}}){program.attributes()} : () -> ()'


def module(random: Random, makers: Sequence[Make], atoms: Sequence[Atom] = (), count: int = 4) -> str:
    """A program. `atoms` are statements that it must have; what is more is chosen by chance."""
    program = Program(random, makers)
    parts = [function(program, atoms, count)]
    if random.random() < 0.15:
        parts.append(subgraph(program))
    if random.random() < 0.05:
        parts.append(library(program))
    if random.random() < 0.15:
        inner = Program(random, makers)
        inner.count = 1000
        stored = function(inner, (), 2)
        name = random.choice(("", ' <{sym_name = "inner"}>'))
        parts.append(f'"builtin.module"(){name} ({{\n{stored}\n' + "\n".join(inner.top) + "\n}) : () -> ()")
    parts[random.randint(0, len(parts)) : 0] = program.top
    text = "\n".join(parts)
    before = ""
    kinds = sorted(set(re.findall(r"tensor<[\dx?]*[a-z]+\d+>", text)))
    if kinds and random.random() < 0.2:
        kind = random.choice(kinds)
        before = f"!alias = {kind}\n"
        text = text.replace(kind, "!alias")
    name = random.choice(("", "", ' <{sym_name = "whole"}>'))
    stored = random.choice(("", "", ' {other.key = "of the module"}'))
    return f'{before}"builtin.module"(){name} ({{\n{text}\n}}){stored} : () -> (){program.location()}'


def named_modules(random: Random) -> list[str]:
    """A program for each named operation of linalg, which its region follows from."""
    out = [named_program(d, random)[0] for d in named_operations()]
    out += [pointwise_program(d, random)[0] for d in pointwise_operations()]
    return [f"builtin.module {{\n{p}}} loc(unknown)" for p in out]


def reached_in(text: str) -> set[str]:
    """The operations in a text in the generic form."""
    return set(re.findall(r'^\s*(?:%\S+(?::\d+)? = )?"([\w.]+)"\(', text, re.MULTILINE)) & KNOWN


KNOWN = frozenset({d.name for d in definitions()} | {"builtin.module"})
"""The operations of the dialects."""


def filled(text: str, inputs: Sequence[str], bound: str) -> str:
    """A statement on its own: no attributes that are not declared, no location, nothing inside."""

    def place(match: re.Match[str]) -> str:
        return bound if match[1] == "r" else inputs[int(match[1])] if match[1].isdigit() else ""

    return re.sub(r"\$(body|\d+|[rual])", place, text)
