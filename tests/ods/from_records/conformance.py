"""Definitions that are loaded from the TableGen files of MLIR, against mlir-opt.

For each operation programs are made, at random from its definition or written by hand (`samples.mlir`). Those that
mlir-opt accepts it prints in the custom form; loaded definitions read what it prints and print the same, byte by byte.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from commonir import tablegen
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.attribute_text import attribute_text
from commonir.ir.module import Module
from commonir.ods import Dialects, Op, verify
from commonir.ods.from_records import Loaded, RecordOp, loaded
from commonir.text.directives import DIRECTIVES
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.mlir_programs.atoms import can_be_sampled, candidate
from tests.mlir_programs.oracle import GENERIC, SEPARATOR, ask
from tests.tablegen.oracle import mlir_include

FILES: Mapping[str, tuple[str, ...]] = {
    "builtin": ("IR/BuiltinOps",),
    "func": ("Dialect/Func/IR/FuncOps",),
    "arith": ("Dialect/Arith/IR/ArithOps",),
    "math": ("Dialect/Math/IR/MathOps",),
    "cf": ("Dialect/ControlFlow/IR/ControlFlowOps",),
    "scf": ("Dialect/SCF/IR/SCFOps",),
    "tensor": ("Dialect/Tensor/IR/TensorOps",),
    "linalg": ("Dialect/Linalg/IR/LinalgOps", "Dialect/Linalg/IR/LinalgStructuredOps", "Dialect/Linalg/IR/LinalgRelayoutOps"),
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
PER_OPERATION = 3
"""How many programs of one operation are compared."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A program that mlir-opt accepts and that is read or printed in another way here."""

    operation: str
    program: str
    detail: str


@dataclass(slots=True)
class Result:
    """What was found of a dialect. `agreeing` counts, by operation, programs that both print alike."""

    dialect: str
    operations: tuple[str, ...]
    cpp_only: tuple[str, ...]
    generic_only: tuple[str, ...]
    agreeing: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    @property
    def unseen(self) -> list[str]:
        """Operations with a form of which mlir-opt accepted no program."""
        seen = {*self.agreeing, *(d.operation for d in self.differences), *self.cpp_only, *self.generic_only}
        return [name for name in self.operations if name not in seen]


def definitions_of(dialect: str, sources: tablegen.Sources) -> dict[str, type[Op]]:
    """The definitions of a dialect, loaded from the files of MLIR."""
    return {
        d.name: d
        for each in loaded_files(dialect, sources)
        for d in each.definitions.values()
        if d.name.startswith(f"{dialect}.")
    }


def loaded_files(dialect: str, sources: tablegen.Sources) -> Iterator[Loaded]:
    """What each of the files of a dialect defines."""
    root = mlir_include()
    known = Dialects()
    for name in FILES[dialect]:
        records = tablegen.load(root / f"mlir/{name}.td", [str(root)], sources=sources)
        found = loaded(records, known, frozenset(DIRECTIVES))
        known = Dialects(given=found.dialects)
        yield found


def program_of(op: Op) -> str:
    """A function with an operation, in the generic form. Sizes that must be constant are."""
    names: list[str] = []
    before: list[str] = []
    arguments: list[str] = []
    for n, v in enumerate(op.operands):
        names.append(f"%a{n}")
        kind = str(v.type)
        if op.name.startswith("tosa.") and kind.startswith("!tosa.shape<"):
            count = int(kind.removeprefix("!tosa.shape<").removesuffix(">"))
            values = f"dense<{'1' if count else ''}> : tensor<{count}xindex>"
            before.append(f'  %a{n} = "tosa.const_shape"() <{{values = {values}}}> : () -> {kind}')
        else:
            arguments.append(f"%a{n}: {kind}")
    held = ", ".join([f"{k} = {attribute_text(v)}" for k, v in op.properties.items()])
    results = f"%r:{len(op.results)} = " if op.results else ""
    signature = f"({', '.join([str(v.type) for v in op.operands])}) -> ({', '.join([str(r.type) for r in op.results])})"
    line = f'  {results}"{op.name}"({", ".join(names)}){f" <{{{held}}}>" if held else ""} : {signature}'
    return "\n".join([f"func.func @f({', '.join(arguments)}) {{", *before, line, "  return", "}", ""])


def drawn(definitions: Iterable[type[Op]], count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Programs made at random, each with the name of its operation; the oracle says which of them are right."""
    for definition in definitions:
        if can_be_sampled(definition):
            random = Random(f"{seed} {definition.name}")
            for _ in range(count):
                made = candidate(definition, random)
                if made is not None:
                    yield definition.name, program_of(made)


def written() -> list[str]:
    """Programs written by hand."""
    return [each.strip() + "\n" for each in SAMPLES.read_text().split(SEPARATOR)] if SAMPLES.exists() else []


def compare(dialect: str, sources: tablegen.Sources, *, count: int = 60, seed: int = 1) -> Result:
    """Compares the operations of a dialect with mlir-opt."""
    definitions = definitions_of(dialect, sources)
    result = Result(
        dialect,
        tuple(definitions),
        tuple([name for name, d in definitions.items() if is_cpp_only(d)]),
        tuple([name for name, d in definitions.items() if not (d.assembly or d.custom_form) and not is_cpp_only(d)]),
    )
    given = Dialects(given=[each for found in loaded_files(dialect, sources) for each in found.dialects])
    mentioned = [p for p in written() if any(f"{dialect}." in word for word in p.split())]
    programs = [*drawn(definitions.values(), count, seed), *[("", p) for p in mentioned]]
    texts = [p for _, p in programs]
    seen: Counter[str] = Counter()
    for (name, _), custom, generic in zip(programs, ask(texts), ask(texts, GENERIC), strict=True):
        if custom.text is None or generic.text is None or (name and seen[name] >= PER_OPERATION):
            continue
        seen[name] += 1
        _compare(result, name, custom.text, generic.text, given)
    return result


def is_cpp_only(definition: type[Op]) -> bool:
    """Whether the form of an operation is written in C++, and we have none either."""
    return (
        issubclass(definition, RecordOp) and definition.cpp_form and not (definition.assembly or definition.custom_form)
    )


def _compare(result: Result, name: str, custom: str, generic: str, given: Dialects) -> None:
    found: Sequence[str] = [name]
    try:
        module = parse_module(custom, given, file="<stdin>")
        found = [name] if name else _used(module, result)
        wrong = [d.message for d in verify(module, given)]
        ours = print_module(module, elide=None, naming=Naming.MLIR, dialects=given)
        ours_generic = print_module(module, generic=True, elide=None, naming=Naming.MLIR, dialects=given)
        again = print_module(parse_module(generic, given), elide=None, naming=Naming.MLIR, dialects=given)
    except DiagnosticError as error:
        result.differences.append(Difference(name, custom, f"refused: {error.diagnostics[0].message}"))
        return
    pairs = ((custom, ours, "custom"), (generic, ours_generic, "generic"), (custom, again, "generic to custom"))
    detail = next((_first(a, b, what) for a, b, what in pairs if a.strip() != b.strip()), "")
    detail = detail or (f"found wrong: {wrong[0]}" if wrong else "")
    if detail:
        result.differences.append(Difference(name, custom, detail))
        return
    for each in found:
        if f'"{each}"' not in custom:
            result.agreeing[each] += 1


def _used(module: Module, result: Result) -> list[str]:
    return [op.name for op in module.walk() if op.name in result.operations]


def _first(theirs: str, ours: str, what: str) -> str:
    lines = zip(theirs.splitlines(), ours.splitlines(), strict=False)
    return next(
        (f"{what}: '{b.strip()}', mlir-opt: '{a.strip()}'" for a, b in lines if a != b), f"{what}: other length"
    )


def table(results: Iterable[Result]) -> str:
    """How many operations of each dialect agree, and which do not."""
    rows: list[str] = [
        "| dialect | operations | print and read back | C++ form only | generic form only | unseen |",
        "|-|-|-|-|-|-|",
    ]
    totals: dict[str, int] = defaultdict(int)
    for r in results:
        agreeing = [n for n in r.operations if r.agreeing[n] and not any(d.operation == n for d in r.differences)]
        for key, count in (("all", len(r.operations)), ("agree", len(agreeing))):
            totals[key] += count
        rows.append(
            f"| {r.dialect} | {len(r.operations)} | {len(agreeing)} | {', '.join(r.cpp_only)} | {', '.join(r.generic_only)}"
            f" | {', '.join(r.unseen)} |"
        )
    share = totals["agree"] / max(totals["all"], 1)
    return "\n".join([*rows, f"| all | {totals['all']} | {totals['agree']} ({share:.1%}) | | | |"])
