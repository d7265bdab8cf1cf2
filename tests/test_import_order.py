"""The import contract, for everything that import-linter does not see: lazy modules, references by name, and cycles."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

import pytest

TREE = Path(__file__).parent.parent
PACKAGE = "commonir"

REGISTRIES = ("commonir.ods.dialect", "commonir.runtime.engine")
"""Modules that name what is registered above them; they load it when it is asked for by name."""

CYCLES = (
    # Values of TableGen refer to records, whose fields are values; the type of a record names its classes.
    {
        "tablegen.folding",
        "tablegen.operators",
        "tablegen.records",
        "tablegen.types",
        "tablegen.values",
    },
    # Errors about dims hold the dims; arithmetic raises one where a dim grows too large.
    {"symbolic.dims", "symbolic.errors"},
    # Reports print themselves with tables that are written for each report; these are loaded when one is printed.
    {
        "reports",
        "reports.comparison_tables",
        "reports.difference_tables",
        "reports.port_tables",
        "reports.printing",
        "reports.profile_tables",
        "reports.profiles",
        "reports.rank_tables",
        "reports.report",
        "reports.summary_tables",
    },
    # Operations show themselves as tables, which are loaded when one is shown.
    {"ir.module", "ir.printable", "ir.tables"},
    # The functions that custom calls name are built from operations of the whole dialect, when one is run.
    {
        "dialects.mlir.stablehlo.call_targets",
        "dialects.mlir.stablehlo.called_programs",
        "dialects.mlir.stablehlo.control",
        "dialects.mlir.stablehlo.foreign_calls",
        "dialects.mlir.stablehlo.lapack",
    },
)
"""The cycles that are allowed, without `commonir.`; each is within one package."""


class Kind(Enum):
    """How one module names another."""

    IMPORT = auto()
    """Anywhere: at the top, in a function, for type checking, or as a lazy module."""

    REFERENCE = auto()
    """As a string `module:member` or `module`."""


class Edge(NamedTuple):
    source: str
    target: str
    kind: Kind


def modules_of(root: Path) -> dict[str, Path]:
    """Returns the modules of a package by name."""
    out: dict[str, Path] = {}
    for path in sorted(root.rglob("*.py")):
        parts = (root.name, *path.relative_to(root).with_suffix("").parts)
        out[".".join(parts).removesuffix(".__init__")] = path
    return out


def edges_of(modules: Mapping[str, Path]) -> Iterator[Edge]:
    """Returns everything that modules say of each other."""
    for name, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            targets: list[tuple[str, Kind]] = []
            match node:
                case ast.Import(names=names):
                    targets = [(alias.name, Kind.IMPORT) for alias in names]
                case ast.ImportFrom(module=str(module), names=names):
                    inner = [f"{module}.{alias.name}" for alias in names]
                    targets = [(each if each in modules else module, Kind.IMPORT) for each in inner]
                case ast.Call(func=ast.Name(id="LazyModule"), args=[ast.Constant(value=str(module))]):
                    targets = [(module, Kind.IMPORT)]
                case ast.Constant(value=str(text)) if text.startswith(f"{PACKAGE}."):
                    targets = [(text.partition(":")[0], Kind.REFERENCE)]
                case _:
                    pass
            yield from (Edge(name, target, kind) for target, kind in targets if target in modules and target != name)


def ranks_of(layers: list[str]) -> dict[str, int]:
    """Returns the height of each package, from a contract of import-linter."""
    return {name.strip(" ()"): len(layers) - number for number, line in enumerate(layers) for name in line.split("|")}


def upward(edges: Iterator[Edge] | list[Edge], ranks: Mapping[str, int]) -> list[str]:
    """Returns the edges that lead up, or to another package of the same layer."""
    out: set[str] = set()
    for source, target, kind in edges:
        low, high = (ranks.get(name.split(".")[1]) if "." in name else None for name in (source, target))
        if low is None or high is None or source.split(".")[1] == target.split(".")[1]:
            continue
        if low <= high and not (kind is Kind.REFERENCE and source in REGISTRIES):
            out.add(f"{source} names {target}")
    return sorted(out)


def cycles(edges: Iterator[Edge] | list[Edge]) -> list[set[str]]:
    """Returns the sets of modules that import each other (Tarjan's strongly connected components)."""
    graph: dict[str, set[str]] = {}
    for edge in edges:
        if edge.kind is Kind.IMPORT:
            graph.setdefault(edge.source, set()).add(edge.target)
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    out: list[set[str]] = []
    for start, first in graph.items():
        pending = [] if start in order else [(start, iter(sorted(first)))]
        while pending:
            name, targets = pending[-1]
            if name not in order:
                order[name] = low[name] = len(order)
                stack.append(name)
            target = next(targets, None)
            if target is not None:
                if target not in order:
                    pending.append((target, iter(sorted(graph.get(target, ())))))
                elif target in stack:
                    low[name] = min(low[name], order[target])
                continue
            pending.pop()
            if pending:
                low[pending[-1][0]] = min(low[pending[-1][0]], low[name])
            if low[name] == order[name]:
                result = set(stack[stack.index(name) :])
                del stack[stack.index(name) :]
                out += [result] if len(result) > 1 else []
    return out


@pytest.mark.slow
def test_imports_and_lazy_modules_point_down_and_cycles_are_named() -> None:
    contract = tomllib.loads((TREE / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    ranks = ranks_of(contract["contracts"][0]["layers"])
    edges = list(edges_of(modules_of(TREE / "src" / PACKAGE)))
    assert upward(edges, ranks) == []
    allowed = [sorted(f"{PACKAGE}.{name}" for name in cycle) for cycle in CYCLES]
    assert sorted(map(sorted, cycles(edges))) == sorted(allowed)


@pytest.mark.parametrize(
    ("low", "expected"),
    [
        ("from commonir.high import b", ["commonir.low.a names commonir.high.b"]),
        ("def f():\n    import commonir.high.b", ["commonir.low.a names commonir.high.b"]),
        ('b = LazyModule("commonir.high.b")', ["commonir.low.a names commonir.high.b"]),
        ('b = "commonir.high.b:NAME"', ["commonir.low.a names commonir.high.b"]),
        ("from commonir.low import c", []),
    ],
)
def test_each_way_to_name_a_higher_module_is_found(tmp_path: Path, low: str, expected: list[str]) -> None:
    for name, text in (("low/a", low), ("low/c", ""), ("high/b", "from commonir.low import a")):
        path = tmp_path / PACKAGE / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    edges = list(edges_of(modules_of(tmp_path / PACKAGE)))
    assert upward(edges, ranks_of(["high", "low"])) == expected
    has_cycle = any(edge == Edge("commonir.low.a", "commonir.high.b", Kind.IMPORT) for edge in edges)
    assert cycles(edges) == ([{"commonir.low.a", "commonir.high.b"}] if has_cycle else [])
