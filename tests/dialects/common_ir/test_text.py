"""The text form of Common IR programs: what files of examples say is printed and parsed back."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonir as cir
from commonir.dialects.common_ir import OperatorNode, control_inputs_of, node_name
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

FOLDER = Path(__file__).parents[3] / "examples" / "common_ir"
EXAMPLES = sorted(FOLDER.glob("**/*.cir.json"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name.partition(".")[0])
def test_examples_are_printed_and_parsed_back(path: Path) -> None:
    module = cir.load(path)
    text = print_module(module, elide=None)
    again = parse_module(text, Dialects())
    assert print_module(again, elide=None) == text
    named = parse_module(print_module(module, elide=None, locations=True), Dialects())
    assert [str(d) for d in verify(named, Dialects())] == []
    for before, after in zip(module.nested(), named.nested(), strict=True):
        assert (node_name(before), control_inputs_of(before)) == (node_name(after), control_inputs_of(after))
        if isinstance(before, OperatorNode):
            assert isinstance(after, OperatorNode)
            assert (before.called, before.number) == (after.called, after.number)


def test_node_names_are_part_of_saved_texts(tmp_path: Path) -> None:
    """Control inputs speak of them."""
    cir.save(cir.load(FOLDER / "control_inputs.cir.json"), tmp_path / "model.mlir")
    assert [d for d in cir.verify(cir.load(tmp_path / "model.mlir")) if d.is_error] == []
