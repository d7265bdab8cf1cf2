"""The text form of ARK programs: it says everything, so that the file that is written from it is the same."""

from __future__ import annotations

import pytest

from commonir import api
from commonir.base.diagnostics import DiagnosticError
from commonir.formats.ark.read import loads
from commonir.formats.ark.write import dumps
from commonir.ods import Dialects
from commonir.text.parser import parse_module

from tests.formats.ark import model_files as files
from tests.formats.ark.rank_programs import sync
from tests.passes.ark import ark_programs as programs

Document = files.Document


def _again(document: Document, generation: str) -> str:
    """The text of a document, from which the same document is written."""
    content = files.text(document, generation)
    module, diagnostics = loads(content, Dialects())
    assert module is not None, diagnostics
    text = api.show(module, complete=True)
    assert dumps(parse_module(text, Dialects())) == content
    assert dumps(parse_module(api.show(module, generic=True), Dialects())) == content
    return text


def test_text_of_a_rank_says_what_is_not_plain() -> None:
    module, _ = loads(files.text(files.exchange("v3", 0), "v3"), Dialects())
    assert module is not None
    assert api.show(module) == (
        """module {
  ark.rank @rank0 0 of 2 "v3" {
    %t0 = tensor 0 buffer 0 : tensor<8xf16>
    %t1 = tensor 1 buffer 1 sent [[1, -2147483648]] : tensor<8xf16>
    %t2 = ScalarMul %t0 into %t1 gives 2 node 0 "scale" {Factor = 0.5 : f64} : tensor<8xf16>
    %t5 = tensor 5 buffer 3 rank 1 received [[-1, -2147483648]] : tensor<8xf16>
    %t6 = Send %t2 into %t5 gives 6 node 1 "send" : tensor<8xf16>
    %t7 = SendDone %t6 gives 7 node 2 "senddone" : tensor<8xf16>
    %t9 = tensor 9 buffer 5 rank 1 sent [[-1, -2147483647]] : tensor<8xf16>
    %t8 = tensor 8 buffer 4 received [[1, -2147483647]] : tensor<8xf16>
    %t10 = Recv %t9 into %t8 gives 10 node 3 "recv" : tensor<8xf16>
    %t11 = tensor 11 buffer 11 : tensor<8xf16>
    %t12 = Add %t2, %t10 into %t11 gives 12 node 4 "gr\\C3\\B6\\C3\\9Fe\\09\\22a\\22/b" : tensor<8xf16>
  } after [[], [0], [1], [], [0, 3]]
}
"""
    )


@pytest.mark.parametrize("generation", ["v1", "v2", "v3", "v4"])
def test_files_of_all_generations_are_written_from_their_text(generation: str) -> None:
    _again(files.exchange(generation, 1), generation)
    _again(files.product(generation), generation)


def test_pads_padding_parts_and_bytes_are_said() -> None:
    part = files.tensor("v3", 1, [2, 4], "BYTE", strides=[4, 8], offsets=[1, 4])
    part["PaddedShape"] = [3, 4]
    x = files.tensor("v3", 0, [2, 4], "BYTE")
    text = _again(files.document("v3", [files.op("Copy", [x], [part], [files.later(part, 2)])]), "v3")
    assert '%t1 = tensor 1 buffer 1 as "BYTE" at [1, 4] in [4, 8] padded [3, 4] : tensor<2x4xui8>' in text
    x, y = files.tensor("v1", 0, [4]), files.tensor("v1", 1, [4])
    y["Pads"] = [2]
    text = _again(files.document("v1", [files.op("Copy", [x], [y], [files.later(y, 2)])]), "v1")
    assert "%t0 = tensor 0 buffer 0 pads : tensor<4xf32>" in text
    assert "%t1 = tensor 1 buffer 1 pads [2] : tensor<4xf32>" in text


def test_virtual_operations_say_what_they_are_views_of() -> None:
    x, y = files.tensor("v3", 0, [4]), files.tensor("v3", 2, [2, 2], held=files.buffer("v3", 0))
    ops = [
        files.op("Tensor", [], [], [x], "input", virtual=True),
        files.op("Tensor", [x], [], [y], "", virtual=True),
    ]
    text = _again(files.document("v3", ops, [(0, 1)]), "v3")
    assert '%input = Tensor gives 0 node 0 "input" buffer 0 : tensor<4xf32>' in text
    assert '%t2 = Tensor %input gives 2 node 1 "" buffer 0 : tensor<2x2xf32> : tensor<4xf32>' in text


def test_edges_that_do_not_answer_each_other_are_both_said() -> None:
    document = files.exchange("v3", 0)
    document["Nodes"][0]["ConsumerNodeIds"] = [4, 1]
    assert "} after [[], [0], [1], [], [0, 3]] before [[4, 1], [2], [], [4], []]" in _again(document, "v3")


def test_every_operation_of_a_rank_that_communicates_is_written_from_its_text() -> None:
    x, scratch, total = programs.whole(0, 4), programs.whole(1, 8), programs.whole(2, 4)
    proxies = [files.tensor("v3", 10 + n, [4], held=files.buffer("v3", 10 + n, n, recv=[(-1, 5)])) for n in (1, 2)]
    args: Document = {"NPeers": ("UINT32", 2), "Rank": ("INT", 0)}
    ops = [
        files.op("RecvReduceSend", [x, scratch], [total, *proxies], [files.later(total, 3)], **args),
        sync(0, 3, 20),
        files.op("Noop", [files.later(total, 3)], [], []),
    ]
    text = _again(files.document("v3", ops, [(0, 2)], 0, 3), "v3")
    assert "%t3 = RecvReduceSend %t0, %t1 into %t2, %t11, %t12 gives 3 node 0" in text
    assert 'Noop %t3 node 2 "noop" : tensor<4xf32>' in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('%t1 = Copy into %t0 gives 1 node 0 "" : tensor<4xf32>', "expected 1 tensors that are read, found 0"),
        ('%t1 = Copy %t0 gives 1 node 0 "" : tensor<4xf32>', "expected 1 tensors that are written, found 0"),
        ('%t1 = Copy %t0, %t0 into %t0 gives 1 node 0 "" : tensor<4xf32>', "that are read, found 2"),
        ("%t1 = tensor 1 buffer 1 : tensor<*xf32>", "expected a tensor of known shape"),
        ("%t1 = tensor 1 buffer 1 : tensor<2xf64>", "expected a tensor of known shape and of a data type of ARK"),
        ("%t1 = tensor 1 buffer 1 : f32", "expected a tensor of known shape"),
        ("%t1 = tensor 1 at [0] : tensor<2xf32>", "expected 'buffer'"),
        ('%t1 = Copy %t0 into %t0 node "" : tensor<4xf32>', "expected"),
        ('%t1 = Copy %t0 into %t0 gives 1 node 0 "" : f32, f32, f32', "2 operands have 3 types"),
    ],
)  # fmt: skip
def test_texts_that_say_too_little_or_too_much_are_refused(line: str, message: str) -> None:
    text = f'ark.rank @rank0 0 of 1 "v3" {{\n%t0 = tensor 0 buffer 0 : tensor<4xf32>\n{line}\n}}'
    with pytest.raises(DiagnosticError, match=message):
        parse_module(text, Dialects())


def test_a_part_is_shown_by_the_name_of_an_operation_each_rank_apart() -> None:
    module = programs.program(programs.exchange(0), programs.exchange(1))
    text = api.show(module, node="total", around=1)
    assert text.count("// @rank") == 2
    assert text.count("= Add ") == 2
    assert text.count("= tensor 20 ") == 2
    assert " after " not in text
