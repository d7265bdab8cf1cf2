"""ARK programs in other generations are what ARK would have written there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import ark
from commonir.formats.ark.write import dumps
from commonir.ods import Dialects, verify
from commonir.passes.ark.generations import in_generation

from tests.formats.ark.model_files import Document, document, exchange, later, op, product, tensor, text


def _program(document: Document) -> cir.Module:
    return cir.loads(json.dumps(document).encode(), format="ark")


@pytest.mark.parametrize("before", ark.GENERATIONS)
@pytest.mark.parametrize("after", ark.GENERATIONS)
@pytest.mark.parametrize("make", [product, lambda g: exchange(g, 0)])
def test_program_is_that_of_the_other_generation(before: str, after: str, make: Callable[[str], Document]) -> None:
    changed = in_generation(_program(make(before)), after)
    assert dumps(changed) == text(make(after), after)
    assert [str(d) for d in verify(changed, Dialects())] == []


def _merged() -> Document:
    """Two nodes: the first one of two operations, of which the second one uses the result of the first."""
    x, y, z, u = (tensor("v2", n, [4]) for n in range(4))
    chain = [op("Exp", [x], [y], [later(y, 5)]), op("Relu", [later(y, 5)], [z], [later(z, 6)])]
    document_ = document("v2", [*chain, op("Add", [later(z, 6), later(z, 6)], [u], [later(u, 7)])], [(0, 2)])
    document_["Nodes"][0]["Ops"].append(document_["Nodes"].pop(1)["Ops"][0])
    document_["Nodes"][1] |= {"Id": 1, "ProducerNodeIds": [0]}
    document_["Nodes"][0]["ConsumerNodeIds"] = [1]
    return document_


def test_nodes_of_several_operations_are_divided() -> None:
    changed = json.loads(dumps(in_generation(_program(_merged()), "v3")))
    edges = [(n["Id"], n["ProducerNodeIds"], n["ConsumerNodeIds"], n["Op"]["Type"]) for n in changed["Nodes"]]
    assert edges == [(0, [], [1], "Exp"), (1, [0], [2], "Relu"), (2, [1], [], "Add")]


def test_edges_that_no_tensor_implies_stay() -> None:
    result = _merged()
    x, y = tensor("v2", 20, [4]), tensor("v2", 21, [4])
    result["Nodes"][1]["Ops"] = [op("Exp", [x], [y], [later(y, 22)])]
    changed = json.loads(dumps(in_generation(_program(result), "v3")))
    assert [n["ProducerNodeIds"] for n in changed["Nodes"]] == [[], [0], [1]]


def _padded() -> Document:
    result = product("v2")
    for holder in result["Nodes"][0]["Ops"][0]["ReadTensors"]:
        holder.update(Strides=[8, 8], PaddedShape=[8, 8])
    return result


def _with_pads() -> Document:
    result = product("v1")
    result["Nodes"][0]["Ops"][0]["ReadTensors"][0].update(Strides=[2, 4], Pads=[2, 1])
    result["Nodes"][0]["Ops"][0]["Args"]["StridesACDB"]["DIMS"][0] = 4
    return result


def _sync() -> Document:
    x = tensor("v3", 0, [4])
    args: dict[str, Any] = {"PeerNum": ("INT", 1), "Rank": ("INT", 0)}
    return document("v3", [op("DeviceSync", [x], [x], [later(x, 1)], "sync", virtual=False, **args)], world=2)


def _external() -> Document:
    result = product("v4")
    result["Nodes"][0]["Op"]["ReadTensors"][0]["Buffer"]["IsExternal"] = True
    return result


def _contradicting() -> Document:
    result = product("v1")
    result["Nodes"][0]["Ops"][0]["Args"]["ShapeMNK"]["DIMS"] = [2, 4, 9]
    return result


@pytest.mark.parametrize(
    ("document", "generation", "message"),
    [
        (_padded(), "v1", "tensor 't0' of the shape [2, 3] is padded to [8, 8]"),
        (_with_pads(), "v2", "tensor 't0' has the pads [2, 1], which are not one"),
        (_sync(), "v2", "'DeviceSync' came with generation v3"),
        (_external(), "v3", "the memory of buffer 0 is given from outside"),
        (_contradicting(), "v3", "'ShapeMNK' says something else than the tensors, [2, 4, 3]"),
    ],
)
def test_what_a_generation_cannot_say_is_refused(document: Document, generation: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        in_generation(_program(document), generation)
    assert {d.code.id for d in caught.value.diagnostics} == {"E0601"}
    assert caught.value.diagnostics[0].message == f"files of generation {generation} cannot say this: {message}"


def test_unknown_generation_is_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        in_generation(_program(product("v1")), "v5")
    assert caught.value.diagnostics[0].help in ("did you mean 'v1' or 'v2' or 'v3'?", "generations: v1, v2, v3, v4")
