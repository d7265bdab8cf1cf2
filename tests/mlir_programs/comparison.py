"""How what we print differs from what mlir-opt prints, and what we refuse from what it refuses."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from commonir.base.diagnostics import DiagnosticError

from tests.mlir_programs import oracle, programs
from tests.mlir_programs.atoms import Atom, atom_of, can_be_sampled, candidate
from tests.mlir_programs.mutations import MUTATIONS
from tests.mlir_programs.oracle import GENERIC, LOCATIONS
from tests.mlir_programs.recipes import RECIPES


class Form(NamedTuple):
    """One way to print a program."""

    name: str
    generic: bool
    locations: bool

    @property
    def options(self) -> tuple[str, ...]:
        """The options of mlir-opt."""
        return (GENERIC,) * self.generic + (LOCATIONS,) * self.locations


FORMS = (
    Form("custom", False, False),
    Form("generic", True, False),
    Form("custom, locations", False, True),
    Form("generic, locations", True, True),
)


class Difference(NamedTuple):
    """A program that comes out differently."""

    form: str
    source: str
    lines: str


def generated(seed: int, *, extra: int = 1) -> list[str]:
    """Programs in which each operation that can be made stands in one, with up to `extra` statements more."""
    random = Random(seed)
    makers = programs.makers()
    out: list[str] = []
    for make in makers:
        atom: Atom | None = None
        for _ in range(4):
            atom = atom or make(random)
        if atom is not None:
            out.append(programs.module(random, makers, [atom], random.randint(0, extra)))
    return [*out, *programs.named_modules(random)]


def differences(sources: Sequence[str], form: Form) -> Iterator[Difference]:
    """Where our text of programs that mlir-opt accepts is not its own, letter by letter."""
    expected = oracle.ask(sources, *form.options)
    for source, answer, before in zip(sources, expected, oracle.lines_before(sources), strict=True):
        if answer.text is None:
            yield Difference(form.name, source, f"refused by mlir-opt: {answer.message}")
        else:
            yield from _difference(form, source, answer.text, before)


def read_back(texts: Sequence[str]) -> Iterator[Difference]:
    """Where what mlir-opt printed, read and printed by us, is not the same text."""
    for text in texts:
        yield from _difference(FORMS[0], text, text, 0)


def _difference(form: Form, source: str, expected: str, before: int) -> Iterator[Difference]:
    try:
        result = oracle.ours(source, generic=form.generic, locations=form.locations, before=before)
    except DiagnosticError as error:
        yield Difference(form.name, source, "; ".join([str(d.message) for d in error.diagnostics]))
        return
    if result != expected:
        lines = unified_diff(expected.splitlines(), result.splitlines(), "mlir-opt", "ours", lineterm="", n=0)
        yield Difference(form.name, source, "\n".join(list(lines)[2:]))


class Verdict(NamedTuple):
    """Returns the verdicts of both on a program; None where they agree."""

    name: str
    source: str
    theirs: str | None
    ours: str | None

    @property
    def agree(self) -> bool:
        """Whether both accept it, or neither."""
        return (self.theirs is None) == (self.ours is None)


def verdicts(named: Sequence[tuple[str, str]]) -> Iterator[Verdict]:
    """Yields what both say of programs, which may be wrong; each is known by the name of what it is about."""
    for (name, source), answer in zip(named, oracle.ask([s for _, s in named]), strict=True):
        diagnostics = oracle.findings(source)
        yield Verdict(
            name, source, None if answer.text is not None else answer.message, diagnostics[0] if diagnostics else None
        )


def candidates(seed: int, each: int) -> Iterator[tuple[str, str]]:
    """Programs of a single operation whose types and attributes fit its fields, but perhaps not each other."""
    random = Random(seed)
    for definition in programs.definitions():
        if not can_be_sampled(definition) or definition.name in programs.NEEDS_SYMBOLS:
            continue
        for _ in range(each):
            op = candidate(definition, random)
            if op is not None:
                yield definition.name, alone(atom_of(op))


def alone(atom: Atom) -> str:
    """A function of nothing but a statement."""
    arguments = ", ".join([f"%a{n}: {t}" for n, t in enumerate(atom.operands)])
    text = programs.filled(atom.text, [f"%a{n}" for n in range(len(atom.operands))], f"%r:{len(atom.results)}")
    return f"func.func @f({arguments}) {{\n{text}\nreturn\n}}\n"


def mutated(seed: int, each: int) -> Iterator[tuple[str, str]]:
    """Programs made wrong in one place, `each` for each way to do so."""
    random = Random(seed)
    sources = generated(seed, extra=2)
    for mutation in MUTATIONS:
        count = 0
        for _ in range(20 * each):
            text = mutation(random, random.choice(sources))
            if text is not None:
                yield mutation.__name__, text
                count += 1
            if count == each:
                break


def reaching() -> list[str]:
    """Programs that reach each operation: recipes that choose among several are asked more than once."""
    random = Random(0)
    makers = programs.makers()
    out: list[str] = programs.named_modules(random)
    for make in makers:
        # Where types or attributes chosen by chance do not fit, others are tried.
        tries, expected = (16, 16) if make in RECIPES else (24, 3)
        atoms = (a for a in (make(random) for _ in range(tries)) if a is not None)
        out += [programs.module(random, (lambda _: None,), [a], 0) for a in islice(atoms, expected)]
    return [*out, *[programs.module(random, makers, [], 6) for _ in range(60)]]


_DIFFERENCES = tomllib.loads((Path(__file__).parent / "differences.toml").read_text("utf-8"))
STRICTER: Mapping[str, str] = _DIFFERENCES["stricter"]
"""Our requirements beyond those of mlir-opt, by operation: those that the specification states, or that follow."""

LAXER: Mapping[str, str] = _DIFFERENCES["laxer"]
"""Requirements of mlir-opt beyond the specification, which we do not have."""

CONSTRUCTS: Mapping[str, Sequence[str]] = _DIFFERENCES["constructs"]
"""Constructs that a text can have in many operations: our treatment, and that of mlir-opt."""


def is_known(verdict: Verdict) -> bool:
    """Returns whether a disagreement is one of those that are meant."""
    table = LAXER if verdict.ours is None else STRICTER
    # A message about a place that is not in the text is not known to be about this program.
    declared = (verdict.theirs or verdict.source) if verdict.ours is None else verdict.ours
    # mlir-opt drops properties that it does not know, and says nothing.
    dropped = verdict.theirs is None and "is not an attribute of it" in declared
    return dropped or any(name in declared for name in table)
