"""Wrong programs of stablehlo, with the finding of each; IREE, whose stablehlo is the other one, refuses them too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.mlir.stablehlo.accuracy import algorithm_faults
from commonir.ir.attributes import DialectAttr
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module

from tests.oracles import oracle

_, *_CHUNKS = (Path(__file__).parent / "wrong.mlir").read_text().split("// -----\n")
_HEAD = re.compile(r"// (\w+)( newer)?: (.*)\n")
_PROGRAMS = {found[1]: (found, chunk) for chunk in _CHUNKS if (found := _HEAD.match(chunk)) is not None}


def test_every_program_says_what_is_reported() -> None:
    assert len(_PROGRAMS) == len(_CHUNKS)


@pytest.mark.parametrize("name", _PROGRAMS)
def test_wrong_program_is_reported(name: str) -> None:
    head, source = _PROGRAMS[name]
    try:
        diagnostics = verify(parse_module(source, Dialects()), Dialects())
    except DiagnosticError as error:
        diagnostics = error.diagnostics
    assert any(head[3] in d.message for d in diagnostics), [d.message for d in diagnostics]


@pytest.mark.parametrize("name", [name for name, (head, _) in _PROGRAMS.items() if not head[2]])
def test_wrong_program_is_refused_by_the_verifier_of_iree(name: str) -> None:
    ir = oracle("iree.compiler.ir")
    with ir.Context(), pytest.raises(ir.MLIRError):
        ir.Module.parse(_PROGRAMS[name][1]).operation.verify()


@pytest.mark.parametrize(
    ("count", "finding"), [("0x1", None), ("0x0", "must be positive"), ("one", "must be positive"), ("1", None)]
)
def test_counts_of_an_algorithm_are_numbers_in_any_notation(count: str, finding: str | None) -> None:
    algorithm = "lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32"
    attribute = DialectAttr("stablehlo", "dot_algorithm", f"{algorithm}, num_primitive_operations = {count}")
    assert all(finding and finding in fault for fault in algorithm_faults(attribute))
    assert bool(list(algorithm_faults(attribute))) == (finding is not None)
