"""Examples of reference pages are programs that are valid and run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import commonir
from commonir.api import reference_page
from commonir.inspection.worked_examples import worked_example
from commonir.ods import Dialects
from commonir.ods.documentation import WorkedExample, summary_of
from commonir.ods.verify import verify
from commonir.text.parser import parse_module

from tests.dialects.upstream_text import upstream

ROOT = Path(commonir.__file__).parent
DIALECTS = Dialects()
MLIR_DIALECTS = [n for n in DIALECTS.names() if (d := DIALECTS.get(n)) and not d.keeps_names]
WITHOUT_VALUES = {
    "onnx.custom", "shape.func", "shape.function_library",
    "stablehlo.all_reduce", "stablehlo.async_start", "stablehlo.collective_reduce", "stablehlo.reduce_scatter",
}  # fmt: skip
"""Operations with regions that have no values of their own: declarations, what readers keep, and communication."""


def _written() -> dict[str, tuple[list[str], str]]:
    """Returns the written programs with the operations that they show, by file and first operation."""
    out: dict[str, tuple[list[str], str]] = {}
    for path in sorted(ROOT.rglob("examples.mlir")):
        for part in path.read_text(encoding="utf-8").split("// -----\n"):
            names, _, text = part.removeprefix("// ").partition("\n")
            out[names.split()[0]] = (names.split(), text)
    return out


WRITTEN = _written()
_OF_STABLEHLO = ("stablehlo", "chlo", "sdy", "check", "interpreter")
"""Dialects that mlir-opt does not have."""


def _worked(name: str) -> WorkedExample:
    dialect = DIALECTS.get(name.partition(".")[0])
    assert dialect is not None
    example = worked_example(dialect.operations[name][-1])
    assert example is not None
    return example


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("first", WRITTEN)
def test_a_written_program_is_valid_and_shows_its_operations(first: str) -> None:
    names, text = WRITTEN[first]
    module = parse_module(text, DIALECTS)
    assert [str(d) for d in verify(module, DIALECTS)] == []
    assert {*names} <= {op.name for op in module.walk()}
    for name in names:
        assert _worked(name).text == text.rstrip()


@pytest.mark.slow_cases("all")
@pytest.mark.parametrize(
    ("theirs", "least"),
    [(["math"], 30), ([d for d in MLIR_DIALECTS if d not in _OF_STABLEHLO], 300)],
    ids=["math", "all"],
)
def test_mlir_opt_accepts_the_examples_of_its_dialects(theirs: list[str], least: int) -> None:
    texts = [
        example.text
        for name in theirs
        if (dialect := DIALECTS.get(name))
        for versions in dialect.operations.values()
        if (example := worked_example(versions[-1])) and "stablehlo." not in example.text
    ]
    assert len(texts) > least
    result: subprocess.CompletedProcess[str] = upstream("\n// -----\n".join(texts), "--split-input-file")
    assert result.returncode == 0, result.stderr


@pytest.mark.slow_cases("linalg", "stablehlo")
@pytest.mark.slow_cases("chlo", "core", "linalg", "mil", "onnx", "stablehlo", "tosa")
@pytest.mark.parametrize("name", DIALECTS.names())
def test_every_operation_has_an_example(name: str) -> None:
    dialect = DIALECTS.get(name)
    assert dialect is not None
    for operation in dialect.operations:
        page = reference_page(operation)
        assert f"## Example\n\n```{'mlir' if name in MLIR_DIALECTS else ''}" in page, operation
        assert "return type(self)" not in page, operation


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS.names())
def test_operations_with_regions_have_an_example_with_values(name: str) -> None:
    dialect = DIALECTS.get(name)
    assert dialect is not None
    for operation, versions in dialect.operations.items():
        if any(not f.optional for f in versions[-1].layout.regions) and operation not in WITHOUT_VALUES:
            assert _worked(operation).values, operation


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("index.minu", ("lhs = -7", "rhs = 2", "result = 2")),
        ("arith.remsi", ("lhs = [[-7, 2, 5], [0, 9, -3]]", "rhs = [[2, 3, 1], [4, 2, 3]]",
                         "result = [[-1, 2, 0], [0, 1, 0]]")),
        ("linalg.dot", ("a = [1.5, -0.5, 0.25]", "b = [2, 0.25, -1]", "init = 0.25", "result = 2.875")),
        ("scf.for", ("x = 1.5", "result = 12")),
        ("stablehlo.scatter", ("input = [[1.5, -0.5], [0.25, 3], [-2, 1.5]]", "updates = [[2, 0.25], [-1, 4]]",
                               "result = [[0.5, 3.5], [0.25, 3], [0, 1.75]]")),
        ("onnx.Loop", ("x = [1.5, -0.5]", "last = [12, -4]", "all = [[3, -1], [6, -2], [12, -4]]")),
        ("core.while", ("x = 1.5", "y = 192")),
        ("mil.while_loop", ("x = [1.5, -0.5]", "y = [24, -8]")),
        ("math.isinf", ("result = [false, true, true, false]",)),
    ],
)  # fmt: skip
def test_an_example_shows_operands_and_results(name: str, values: tuple[str, ...]) -> None:
    assert _worked(name).values == values


def test_the_page_of_a_named_operation_of_linalg_shows_its_shapes() -> None:
    page = reference_page("linalg.conv_2d_nhwc_hwcf")
    assert "Shapes:\n\n```\nI[n, oh*s0 + kh*d0, ow*s1 + kw*d1, c] K[kh, kw, c, f] -> O[n, oh, ow, f]\n```\n" in page


def test_the_meaning_is_that_of_the_example() -> None:
    page = reference_page("arith.addf")
    assert page.endswith(
        "Composite: equivalent to these operations, to which it is lowered.\n\n```\nresult = core.add(lhs, rhs)\n```\n"
    )


@pytest.mark.parametrize("name", DIALECTS.names())
def test_summaries_are_sentences_without_constraints(name: str) -> None:
    dialect = DIALECTS.get(name)
    assert dialect is not None
    for operation, versions in dialect.operations.items():
        summary = summary_of(versions[-1])
        assert not re.search(r"\bC\d+[.:]", summary), operation
        assert re.match(r"[A-Z0-9|`ahsx-]", summary), operation
        assert summary.endswith("."), operation
        assert not re.match(
            r"(This|It|What|How|Whether|That|As|Every so many|The number (with|without|in)|The bits)\b", summary
        ), operation
