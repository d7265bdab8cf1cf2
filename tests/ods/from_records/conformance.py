"""Definitions that are loaded from the TableGen files of MLIR, against mlir-opt.

Programs come from the generator of `tests/mlir_programs`, are made at random from definitions of dialects that it does
not know, or are written by hand (`samples.mlir`). Those that mlir-opt accepts it prints in the custom and in the
generic form; loaded definitions read both, find nothing wrong, and print the same, byte by byte.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from commonir import tablegen
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.attributes import attribute_text
from commonir.ir.operation import Operation
from commonir.ods import Dialect, Dialects, Op, verify
from commonir.ods.from_records import Loaded, RecordOp, loaded
from commonir.text.directives import DIRECTIVES
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.mlir_programs.atoms import can_be_sampled, candidate
from tests.mlir_programs.oracle import GENERIC, SEPARATOR, ask
from tests.mlir_programs.programs import NAMES, makers, module, named_modules
from tests.tablegen.oracle import mlir_include

FILES: Mapping[str, tuple[str, ...]] = {
    "builtin": ("IR/BuiltinOps",),
    "func": ("Dialect/Func/IR/FuncOps",),
    "arith": ("Dialect/Arith/IR/ArithOps",),
    "math": ("Dialect/Math/IR/MathOps",),
    "cf": ("Dialect/ControlFlow/IR/ControlFlowOps",),
    "scf": ("Dialect/SCF/IR/SCFOps",),
    "tensor": ("Dialect/Tensor/IR/TensorOps",),
    "linalg": (
        "Dialect/Linalg/IR/LinalgOps",
        "Dialect/Linalg/IR/LinalgStructuredOps",
        "Dialect/Linalg/IR/LinalgRelayoutOps",
    ),
    "tosa": ("Dialect/Tosa/IR/TosaOps",),
    "shape": ("Dialect/Shape/IR/ShapeOps",),
    "memref": ("Dialect/MemRef/IR/MemRefOps",),
    "ml_program": ("Dialect/MLProgram/IR/MLProgramOps",),
    "bufferization": ("Dialect/Bufferization/IR/BufferizationOps",),
    "complex": ("Dialect/Complex/IR/ComplexOps",),
    "index": ("Dialect/Index/IR/IndexOps",),
    "ub": ("Dialect/UB/IR/UBOps",),
    "quant": ("Dialect/Quant/IR/QuantOps",),
}  # fmt: skip
"""The TableGen files of each dialect of programs of machine learning."""

SAMPLES = Path(__file__).parent / "samples.mlir"


@dataclass(frozen=True, slots=True)
class Difference:
    """A program that mlir-opt accepts and that is read, judged or printed in another way here."""

    program: str
    detail: str


@dataclass(slots=True)
class Results:
    """The findings. `agreeing` counts programs with an operation that both print equally, in its custom form."""

    definitions: Mapping[str, type[Op]]
    agreeing: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    judged: list[Difference] = field(default_factory=list)
    compared: int = 0

    def without_form(self, *, in_cpp: bool) -> list[str]:
        """Operations without a custom form here, because it is written in C++, or because there is none."""
        return [n for n, d in self.definitions.items() if not (d.assembly or d.custom_form) and _is_cpp(d) is in_cpp]

    def unseen(self) -> list[str]:
        """Operations with a form that no program agreed on."""
        return [n for n, d in self.definitions.items() if (d.assembly or d.custom_form) and not self.agreeing[n]]

    @property
    def share(self) -> float:
        """The part of all operations that are read and printed."""
        return sum(self.agreeing[n] > 0 for n in self.definitions) / len(self.definitions)


def _is_cpp(definition: type[Op]) -> bool:
    return issubclass(definition, RecordOp) and definition.cpp_form


def load_files(names: Iterable[str] = FILES) -> Iterator[tuple[str, Loaded]]:
    """Yields the records of the files of dialects, with the name of the dialect."""
    root, sources, known = mlir_include(), tablegen.Sources(), Dialects()
    for dialect in names:
        for name in FILES[dialect]:
            records = tablegen.load(root / f"mlir/{name}.td", [str(root)], sources=sources)
            actual = loaded(records, known, frozenset(DIRECTIVES))
            known = Dialects(dialects=[*actual.dialects, *_others(known, actual)])
            yield dialect, actual


def _others(known: Dialects, actual: Loaded) -> list[Dialect]:
    names = {d.name for d in actual.dialects}
    return [d for name in FILES if name not in names and (d := known.get(name)) is not None]


def program_of(op: Op) -> str:
    """A function with an operation, in the generic form."""
    types = [str(v.type) for v in op.operands]
    content = ", ".join([f"{k} = {attribute_text(v)}" for k, v in op.properties.items()])
    results = f"%r:{len(op.results)} = " if op.results else ""
    uses = ", ".join([f"%a{n}" for n in range(len(types))])
    signature = f"({', '.join(types)}) -> ({', '.join([str(r.type) for r in op.results])})"
    line = f'  {results}"{op.name}"({uses}){f" <{{{content}}}>" if content else ""} : {signature}'
    arguments = ", ".join([f"%a{n}: {t}" for n, t in enumerate(types)])
    return f"func.func @f({arguments}) {{\n{line}\n  return\n}}\n"


def drawn(definitions: Iterable[type[Op]], count: int, seed: int) -> Iterator[str]:
    """Programs with one operation each, of dialects that the generator of programs does not know."""
    for definition in definitions:
        if can_be_sampled(definition) and definition.name.partition(".")[0] not in NAMES:
            random = Random(f"{seed} {definition.name}")
            built = [candidate(definition, random) for _ in range(count)]
            yield from [program_of(op) for op in built if op is not None]


def generated(count: int, seed: int) -> Iterator[str]:
    """Programs with each operation that the generator of programs knows."""
    known = makers()
    for number, make in enumerate(known):
        random = Random(f"{seed} {number}")
        for _ in range(count):
            atom = make(random)
            if atom is not None:
                yield module(random, known, (atom,), 1)
    yield from named_modules(Random(seed))


def written() -> list[str]:
    """Programs written by hand."""
    return [each.strip() + "\n" for each in SAMPLES.read_text().split(SEPARATOR)]


def compare(programs: Sequence[str], dialects: Dialects, definitions: Mapping[str, type[Op]]) -> Results:
    """Compares programs as loaded definitions read and print them with what mlir-opt prints."""
    results = Results(definitions)
    answers = zip(ask(programs), ask(programs, GENERIC), strict=True)
    pairs = [(a.text, b.text) for a, b in answers if a.text is not None and b.text is not None]
    # Some of what mlir-opt prints it does not read.
    for (custom, generic), again in zip(pairs, ask([text for text, _ in pairs]), strict=True):
        if again.text == custom:
            results.compared += 1
            _compare(results, custom, generic, dialects)
    return results


def _compare(results: Results, theirs: str, theirs_generic: str, dialects: Dialects) -> None:
    try:
        first, second = (parse_module(text, dialects, file="<stdin>") for text in (theirs, theirs_generic))
        wrong = [d.message for d in verify(first, dialects) if "unknown operation" not in d.message]
        pairs = (
            (theirs, _printed(first, dialects), "custom"),
            (theirs_generic, _printed(second, dialects, generic=True), "generic"),
            (theirs, _printed(second, dialects), "generic to custom"),
        )
    except DiagnosticError as error:
        if error.diagnostics[0].message.endswith("has no custom form"):
            return
        results.differences.append(Difference(theirs, f"refused: {error.diagnostics[0].message}"))
        return
    detail = next((_first(a, b, what) for a, b, what in pairs if a.strip() != b.strip()), "")
    if detail:
        results.differences.append(Difference(theirs, detail))
        return
    if wrong:
        results.judged.append(Difference(theirs, wrong[0]))
    bare = set(re.findall(r'"([\w.]+)"\(', theirs))
    for name in {op.name for op in first.walk()} - bare:
        results.agreeing[name] += 1


def _printed(program: Operation, dialects: Dialects, *, generic: bool = False) -> str:
    return print_module(program, generic=generic, elide=None, naming=Naming.MLIR, dialects=dialects)


def _first(theirs: str, ours: str, what: str) -> str:
    lines = zip(theirs.splitlines(), ours.splitlines(), strict=False)
    return next(
        (f"{what}: '{b.strip()}', mlir-opt: '{a.strip()}'" for a, b in lines if a != b), f"{what}: other length"
    )


def compare_all(count: int, seed: int) -> Results:
    """Compares programs with the operations of all dialects."""
    inputs: dict[str, Dialect] = {}
    definitions: dict[str, type[Op]] = {}
    for dialect, actual in load_files():
        inputs |= {d.name: d for d in actual.dialects}
        definitions |= {d.name: d for d in actual.definitions.values() if d.name.startswith(f"{dialect}.")}
    programs = [*written(), *generated(count, seed), *drawn(definitions.values(), 8 * count, seed)]
    return compare(programs, Dialects(dialects=inputs.values()), definitions)


def table(results: Results) -> str:
    """How many operations of each dialect agree, and which do not."""
    rows = [
        "| dialect | operations | read and printed | form in C++ only | without form | not compared |",
        "|-|-|-|-|-|-|",
    ]
    in_cpp, formless, unseen = results.without_form(in_cpp=True), results.without_form(in_cpp=False), results.unseen()
    for dialect in FILES:
        own = [n for n in results.definitions if n.startswith(f"{dialect}.")]
        cells = [", ".join([n for n in names if n in own]) for names in (in_cpp, formless, unseen)]
        rows.append(f"| {dialect} | {len(own)} | {sum(results.agreeing[n] > 0 for n in own)} | {' | '.join(cells)} |")
    agreeing = sum(results.agreeing[n] > 0 for n in results.definitions)
    rows.append(f"| all | {len(results.definitions)} | {agreeing} ({results.share:.1%}) | | | |")
    return "\n".join(rows)
