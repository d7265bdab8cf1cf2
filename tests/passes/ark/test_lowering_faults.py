"""Operations that cannot be lowered are reported with their place, and nothing else happens."""

from __future__ import annotations

import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.formats.ark.read import loads
from commonir.ir.module import Module
from commonir.ods import Dialects

from tests.formats.ark import model_files as files
from tests.passes.ark.building import Building


def module_of(*ranks: Building) -> Module:
    result = Module()
    for rank in ranks:
        read, diagnostics = loads(files.text(rank.document(), rank.generation), Dialects())
        assert read is not None, diagnostics
        for op in list(read.body.operations):
            op.detach()
            result.body.append(op)
    return result


def findings(*ranks: Building) -> list[Diagnostic]:
    with pytest.raises(DiagnosticError) as caught:
        cir.lower(module_of(*ranks))
    return list(caught.value.diagnostics)


def test_operation_that_breaks_a_rule_is_reported_once_for_each_that_does() -> None:
    b = Building("v3")
    for _ in range(2):
        b.op("Add", [b.tensor([2, 3]), b.tensor([2, 4])], [b.tensor([2, 3])])
    diagnostics = findings(b)
    assert [d.code.id for d in diagnostics] == ["E0504", "E0504"]
    assert all("shapes [2, 3] and [2, 4] do not fit together" in d.message for d in diagnostics)
    assert len({d.where for d in diagnostics}) == 2


def test_message_without_a_tag_is_reported() -> None:
    b = Building("v3", 0, 2)
    b.op("Send", [b.tensor([4])], [b.tensor([4], held=b.buffer(1))])
    (diagnostic,) = findings(b)
    assert diagnostic.code.id == "E0275"
    assert "has no tag on both sides" in diagnostic.message


def _sender(shape: list[int], strides: list[int], offsets: list[int]) -> Building:
    b = Building("v3", 0, 2)
    x = b.tensor(shape, held=b.buffer(send=[(1, 0)]))
    b.op("Send", [x], [b.tensor(shape, held=b.buffer(1, recv=[(-1, 0)]), strides=strides, offsets=offsets)])
    return b


def _receiver(shape: list[int]) -> Building:
    b = Building("v3", 1, 2)
    b.op("Recv", [b.tensor(shape, held=b.buffer(0, send=[(-1, 0)]))], [b.tensor(shape, held=b.buffer(recv=[(0, 0)]))])
    return b


def test_message_that_lands_beyond_its_buffer_is_reported() -> None:
    (diagnostic,) = findings(_sender([2, 4], [6, 4], [4, 0]), _receiver([2, 4]))
    assert diagnostic.code.id == "E0601"
    assert "what rank 0 sends lands beyond the 32 bytes of the buffer" in diagnostic.message


def test_message_of_another_size_is_reported() -> None:
    (diagnostic,) = findings(_sender([2, 4], [2, 4], [0, 0]), _receiver([2, 3]))
    assert diagnostic.code.id == "E0601"
    assert "tensor<2x4xf32>, which does not fit [2, 3] of f32" in diagnostic.message


TEXT = """
ark.rank @rank0 0 of 1 "v3" {
  %a = tensor 0 buffer 0 : tensor<4xf32>
  %b = tensor 1 buffer 1 : tensor<4xf32>
  %c = core.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = Relu %c into %b gives 2 node 0 "relu" : tensor<4xf32>
} after [[]]
"""


def test_text_with_values_that_lie_nowhere_is_reported() -> None:
    with pytest.raises(DiagnosticError) as caught:
        cir.lower(cir.loads(TEXT, format="mlir"))
    messages = [d.message for d in caught.value.diagnostics]
    assert messages == [
        "a program of ARK has no place for core.add",
        "ark.Relu: operand 0 does not say which part of a buffer it is",
    ]


@pytest.mark.parametrize(("view", "message"), [("in [2, 4]", "expected 1 number,"), ("in [3]", "ends at 0 + 4")])
def test_text_with_a_tensor_beyond_its_array_is_reported(view: str, message: str) -> None:
    text = TEXT.replace("%a = tensor 0 buffer 0", f"%a = tensor 0 buffer 0 {view}")
    with pytest.raises(DiagnosticError) as caught:
        cir.lower(cir.loads(text, format="mlir"))
    assert message in caught.value.diagnostics[0].message
