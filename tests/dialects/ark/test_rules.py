"""Rules of operations of ARK: each violation is reported with the label, what was expected and what was found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from commonir.base.diagnostics import Diagnostic
from commonir.dialects import ark
from commonir.formats.ark.read import loads
from commonir.ods import Dialects, verify

from tests.formats.ark.model_files import Document, buffer, document, later, op, tensor

F32, F16, I32 = "FP32", "FP16", "INT32"


def _t(number: int, *shape: int, data_type: str = F32) -> Document:
    return tensor("v3", number, shape, data_type)


def _found(document: Document) -> list[Diagnostic]:
    module, diagnostics = loads(json.dumps(document).encode(), Dialects())
    assert module is not None, [str(d) for d in diagnostics]
    return verify(module, Dialects())


def _broken(kind: str, reads: list[Document], writes: list[Document], world: int = 1, **args: Any) -> list[str]:
    """The messages about one operation."""
    results = [later((writes or reads)[0], 99)]
    document_ = document("v3", [op(kind, reads, writes, results, virtual=False, **args)], world=world)
    result = _found(document_)
    assert {d.code.id for d in result} <= {"E0504"}
    return [d.message.removeprefix(f"ark.{kind}: ") for d in result]


@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Div", "Rope"])
def test_operands_have_one_type_and_are_broadcast(kind: str) -> None:
    result = _broken(kind, [_t(0, 2, 4), _t(1, 2, 4, data_type=F16)], [_t(2, 2, 4)])
    assert result == ["C1: tensors must have one data type, found f32, f16, f32"]
    assert _broken(kind, [_t(0, 2, 4), _t(1, 3, 4)], [_t(2, 2, 4)]) == [
        "C2: shapes [2, 4] and [3, 4] do not fit together"
    ]
    result = _broken(kind, [_t(0, 1, 4), _t(1, 3, 1)], [_t(2, 1, 4)])
    assert result == ["C2: expected to write [3, 4], found [1, 4]"]


def test_rope_c3_size_is_even() -> None:
    assert _broken("Rope", [_t(0, 3), _t(1, 3)], [_t(2, 3)]) == ["C3: the last axis must have an even size, found 3"]


@pytest.mark.parametrize("kind", ["Exp", "Sqrt", "Rsqrt", "Relu", "Sigmoid", "Gelu", "Copy"])
def test_functions_write_what_they_read_or_more(kind: str) -> None:
    assert _broken(kind, [_t(0, 4)], [_t(1, 4, data_type=F16)]) == [
        "C1: tensors must have one data type, found f32, f16"
    ]
    assert _broken(kind, [_t(0, 3, 4)], [_t(1, 4)]) == ["C2: expected to write [3, 4], found [4]"]
    assert _broken(kind, [_t(0, 1, 4)], [_t(1, 2, 3, 4)]) == []


def test_cast_changes_the_type_only() -> None:
    assert _broken("Cast", [_t(0, 4)], [_t(1, 4, data_type=I32)]) == []
    assert _broken("Cast", [_t(0, 3)], [_t(1, 4)]) == ["C2: shape [3] cannot be repeated to [4]"]


@pytest.mark.parametrize("kind", ["ReduceSum", "ReduceMax", "ReduceMean"])
def test_reductions(kind: str) -> None:
    def reduced(axis: int, keep: bool, x: Document, y: Document) -> list[str]:
        return _broken(kind, [x], [y], Axis=("INT", axis), KeepDim=("BOOL", keep))

    assert reduced(1, False, _t(0, 2, 4), _t(1, 2)) == []
    assert reduced(0, False, _t(0, 4), _t(1, 1)) == []
    assert reduced(1, True, _t(0, 2, 4), _t(1, 2, 1, data_type=F16)) == [
        "C1: tensors must have one data type, found f32 and f16"
    ]
    assert reduced(-1, True, _t(0, 2, 4), _t(1, 2, 1)) == ["C2: 'Axis' must be between 0 and 1, found -1"]
    assert reduced(2, True, _t(0, 2, 4), _t(1, 2, 1)) == ["C2: 'Axis' must be between 0 and 1, found 2"]
    assert reduced(1, True, _t(0, 2, 4), _t(1, 2)) == ["C3: expected to write [2, 1], found [2]"]
    assert reduced(0, True, _t(0, 1, 4), _t(0, 1, 4)) == ["C4: a tensor cannot be reduced in its place"]


def test_transpose() -> None:
    def transposed(axes: list[int], x: Document, y: Document) -> list[str]:
        return _broken("Transpose", [x], [y], Permutation=("DIMS", axes))

    assert transposed([0, 2, 3, 1], _t(0, 2, 3, 4, 5), _t(1, 2, 4, 5, 3)) == []
    assert transposed([1, 0], _t(0, 2, 3), _t(1, 3, 2, data_type=F16)) == [
        "C1: tensors must have one data type, found f32 and f16"
    ]
    assert transposed([1, 1], _t(0, 2, 3), _t(1, 3, 2)) == [
        "C2: 'Permutation' must name each of 2 axes once, found [1, 1]"
    ]
    assert transposed([1, 0], _t(0, 2, 3), _t(1, 2, 3)) == ["C3: expected to write [3, 2], found [2, 3]"]


def test_embedding() -> None:
    rows, out = _t(1, 6, 4), _t(2, 1, 1, 8, 4)
    assert _broken("Embedding", [_t(0, 8, data_type=I32), rows], [out]) == []
    result = _broken("Embedding", [_t(0, 8), rows], [out])
    assert result == ["C1: numbers of rows must be INT32 of at most 3 axes, found tensor<8xf32>"]
    result = _broken("Embedding", [_t(0, 8, data_type=I32), _t(1, 6, 4, data_type=F16)], [out])
    assert result == ["C2: expected a matrix of f32, found tensor<6x4xf16>"]
    result = _broken("Embedding", [_t(0, 8, data_type=I32), rows], [_t(2, 8, 4)])
    assert result == ["C3: expected to write [1, 1, 8, 4], found [8, 4]"]


def test_matmul() -> None:
    def product(a: Document, b: Document, y: Document, left: bool = False, right: bool = False) -> list[str]:
        return _broken("Matmul", [a, b], [y], TransposeInput=("BOOL", left), TransposeOther=("BOOL", right))

    assert product(_t(0, 3), _t(1, 3), _t(2, 1, 1)) == []
    assert product(_t(0, 3, 2), _t(1, 7, 4, 3), _t(2, 7, 2, 4), left=True, right=True) == []
    result = product(_t(0, 2, 3), _t(1, 3, 4, data_type=F16), _t(2, 2, 4))
    assert result == ["C1: tensors must have one data type, found f32, f16, f32"]
    result = product(_t(0, 2, 3), _t(1, 4, 3), _t(2, 2, 4))
    assert result == ["C2: 3 columns on the left, but 4 rows on the right"]
    assert product(_t(0, 2, 3), _t(1, 3, 4), _t(2, 4, 2)) == ["C3: expected [2, 4], found [4, 2]"]
    result = product(_t(0, 2, 2, 3), _t(1, 5, 3, 4), _t(2, 5, 2, 4))
    assert result == ["C3: the leading axes, [2] on the left and [5] on the right, do not broadcast"]


def test_matmul_c4_arguments_of_the_first_generation_say_what_tensors_say() -> None:
    a, b, y = (tensor("v1", n, shape) for n, shape in enumerate([(5, 2, 3), (4, 3), (5, 2, 4)]))
    args: dict[str, Any] = {
        "InputDimNC": ("DIMS", [1, 5]),
        "OtherDimNC": ("DIMS", [1, 1]),
        "ShapeMNK": ("DIMS", [2, 4, 3]),
        "StridesACDB": ("DIMS", [3, 4, 4, 3]),
        "TransposeInput": ("BOOL", False),
        "TransposeOther": ("BOOL", True),
    }
    result = op("Matmul", [a, b], [y], [later(y, 3)], virtual=False, **args)
    assert _found(document("v1", [result])) == []
    for name in ("InputDimNC", "OtherDimNC", "ShapeMNK", "StridesACDB"):
        right = args[name][1]
        wrong = {**result, "Args": {**result["Args"], name: {"DIMS": [*right[:-1], 9]}}}
        shown = json.dumps([*right[:-1], 9])
        message = f"ark.Matmul: C4: '{name}' must be {json.dumps(right)} by the tensors, found {shown}"
        assert [d.message for d in _found(document("v1", [wrong]))] == [message]


def test_send_c1_placeholder_is_like_what_is_sent() -> None:
    proxy = tensor("v3", 1, [3], held=buffer("v3", 1, 1, recv=[(-1, 0)]))
    message = "C1: expected the data type and as many elements as tensor<4xf32>, found tensor<3xf32>"
    assert _broken("Send", [_t(0, 4)], [proxy], world=2) == [message]


def test_packets_have_twice_the_bytes() -> None:
    packets = _t(1, 31, data_type="UINT8")
    message = "C1: packets must be 32 bytes of UINT8, found tensor<31xui8>"
    assert _broken("SendPacket", [_t(0, 4)], [packets], world=2, Flag=("UINT32", 1)) == [message]
    assert _broken("RecvPacket", [_t(0, 4), packets], [_t(2, 4)], world=2, Flag=("UINT32", 1)) == [message]


def test_all_other_ranks_take_part() -> None:
    x, y, proxy = _t(0, 4), _t(1, 4), _t(2, 4)
    args: dict[str, Any] = {"NPeers": ("UINT32", 2), "Rank": ("INT", 0)}
    assert _broken("RecvReduceSend", [x, y], [y, proxy, proxy], world=3, **args) == []
    result = _broken("RecvReduceSend", [x, y], [y, proxy], world=2, **args)
    assert result == ["C1: 'NPeers' must be 1, the number of other ranks, found 2", "C2: expected 2 proxies, found 1"]
    result = _broken("RecvReduceSend", [x, y], [y, proxy, proxy], world=3, NPeers=("UINT32", 2), Rank=("INT", 1))
    assert result == ["C3: 'Rank' must be 0, the rank of the file, found 1"]
    result = _broken("RecvReduceSend", [x, y], [_t(3, 5), proxy, proxy], world=3, **args)
    assert result == ["C4: expected to write tensor<4xf32>, found tensor<5xf32>"]
    result = _broken("DeviceSync", [x], [x], world=3, PeerNum=("INT", 1), Rank=("INT", 0))
    assert result == ["C1: 'PeerNum' must be 2, the number of other ranks, found 1"]
    args = {"NPeers": ("UINT32", 8), "Rank": ("INT", 0)}
    result = _broken("RecvReduceSend", [x, y], [y, *[proxy] * 8], world=9, **args)
    assert result == ["C1: 'NPeers' must be at most 7, found 8"]
    args = {"Flag": ("UINT32", 1), "NPeers": ("UINT32", 1), "Rank": ("INT", 0)}
    result = _broken("RecvReduceSendPacket", [x, _t(4, 16, data_type="UINT8")], [y, proxy], world=2, **args)
    assert result == ["C5: packets must be 32 bytes of UINT8, found tensor<16xui8>"]


def test_what_is_read_and_what_is_written_follows_from_definitions() -> None:
    scale = document("v3", [op("RecvReduceSend", [_t(0, 4), _t(1, 4)], [_t(2, 4), _t(3, 4)], [later(_t(2, 4), 9)],
                                virtual=False, NPeers=("UINT32", 1), Rank=("INT", 0))], world=2)  # fmt: skip
    module, _ = loads(json.dumps(scale).encode(), Dialects())
    assert module is not None
    result = next(o for o in module.nested() if isinstance(o, ark.RecvReduceSend))
    assert [v.name for v in result.read_tensors] == ["t0", "t1"]
    assert [v.name for v in result.written_tensors] == ["t2", "t3"]
    assert result.aliased is result.written_tensors[0]


def test_tensor_of_a_text_is_checked_like_that_of_a_file() -> None:
    from commonir.text.parser import parse_module  # noqa: PLC0415

    source = """ark.rank @rank0 0 of 1 "v3" {
      %t0 = "ark.tensor"() <{buffer = 0 : i64, buffer_rank = -1 : i64, data_type = "FP16", offsets = array<i64: 1>,
        padded_shape = array<i64: 4>, recv_tags = [], send_tags = [], strides = array<i64: 4>, tensor_id = 0 : i64}>
        : () -> tensor<4xf32>
    }"""
    diagnostics = verify(parse_module(source, Dialects()), Dialects())
    assert [(d.code.id, d.message) for d in diagnostics] == [
        ("E0273", "ark.tensor: elements of FP16 are f16, found tensor<4xf32>"),
        ("E0273", "ark.tensor: 'Offsets': dimension 0 ends at 1 + 4, beyond the extent 4 that 'Strides' states"),
    ]
