"""Weights lie beside a model file of ARK, under the names of inputs, and come back with it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.base.safetensors import read_safetensors, write_safetensors
from commonir.dialects import ark

from tests.formats.ark.model_files import document, later, op, tensor, text

W = np.arange(8, dtype=np.float32).reshape(4, 2)


def _product(weight: str = "w") -> bytes:
    """x [3, 4] times w [4, 2], both given by virtual operations."""
    x, w, y = tensor("v3", 0, [3, 4]), tensor("v3", 1, [4, 2]), tensor("v3", 2, [3, 2])
    ops = [
        op("Tensor", [], [], [x], "x", virtual=True),
        op("Tensor", [], [], [w], weight, virtual=True),
        op(
            "Matmul",
            [x, w],
            [y],
            [later(y, 3)],
            "product",
            TransposeInput=("BOOL", False),
            TransposeOther=("BOOL", False),
        ),
    ]
    return text(document("v3", ops, [(0, 2), (1, 2)]), "v3")


def _files(folder: Path, weights: dict[str, NDArray[np.generic]] | None = None, name: str = "w") -> Path:
    path = folder / "net.ark.json"
    path.write_bytes(_product(name))
    if weights is not None:
        with (folder / "net.ark.safetensors").open("wb") as stream:
            write_safetensors(stream, weights)
    return path


def _rank(path: Path) -> ark.Rank:
    (rank,) = cir.load(path).body.operations
    assert isinstance(rank, ark.Rank)
    return rank


def _names(rank: ark.Rank) -> tuple[list[str], list[str]]:
    return [ark.port_name(v) for v in rank.initial], [ark.port_name(v) for v in rank.inputs]


def test_inputs_of_one_name_are_distinguished(tmp_path: Path) -> None:
    weights: dict[str, NDArray[np.generic]] = {"x": np.ones((3, 4), np.float32), "x_2": W}
    path = _files(tmp_path, weights, "x")
    (total,) = cir.run(cir.load(path), {}).values()
    np.testing.assert_array_equal(total, np.tile(W.sum(0), (3, 1)))
    cir.save(cir.load(path), tmp_path / "again.ark.json")
    again = read_safetensors(tmp_path / "again.ark.safetensors")
    assert sorted(again) == ["x", "x_2"]
    np.testing.assert_array_equal(again["x_2"], W)
    (tmp_path / "net.ark.safetensors").unlink()
    (function,) = cir.summarize(cir.load(path)).functions
    assert [port.name for port in function.inputs] == ["x", "x_2"]
    (result,) = cir.run(cir.load(path), weights).values()
    np.testing.assert_array_equal(result, total)


def test_without_weights_all_tensors_are_inputs(tmp_path: Path) -> None:
    assert _names(_rank(_files(tmp_path))) == (["x", "w"], ["x", "w"])


def test_a_tensor_with_weights_is_not_an_input(tmp_path: Path) -> None:
    rank = _rank(_files(tmp_path, {"w": W}))
    assert _names(rank) == (["x", "w"], ["x"])
    stored = rank.initial[1].owner
    assert isinstance(stored, ark.VirtualTensor)
    assert stored.content is not None
    assert np.array_equal(stored.content.array(), W)


def test_a_tensor_without_a_name_is_known_by_its_number(tmp_path: Path) -> None:
    assert _names(_rank(_files(tmp_path, {"t1": W}, ""))) == (["x", "t1"], ["x"])


def test_weights_and_file_come_back(tmp_path: Path) -> None:
    path = _files(tmp_path, {"w": W})
    result = tmp_path / "made"
    result.mkdir()
    cir.save(cir.load(path), result / "new.ark.json")
    assert (result / "new.ark.json").read_bytes() == path.read_bytes()
    assert (result / "new.ark.safetensors").read_bytes() == (tmp_path / "net.ark.safetensors").read_bytes()
    assert sorted(p.name for p in result.iterdir()) == ["new.ark.json", "new.ark.safetensors"]


def test_a_program_is_written_over_itself(tmp_path: Path) -> None:
    path = _files(tmp_path, {"w": W})
    module = cir.load(path)
    weights = tmp_path / "net.ark.safetensors"
    before, notes = weights.stat().st_ino, Diagnostics()
    assert [Path(f.path) for f in cir.save(module, path, findings=notes)] == [path]
    assert [note.message for note in notes] == ["unchanged weights stay in 'net.ark.safetensors' (104 B)"]
    assert weights.stat().st_ino == before
    assert np.array_equal(read_safetensors(weights)["w"], W)


def test_changed_weights_replace_their_file_and_stay_readable(tmp_path: Path) -> None:
    path = _files(tmp_path, {"w": W})
    module = cir.load(path)
    changed = cir.edit(module, rename={"w": "weight"})
    notes = Diagnostics()
    cir.save(changed, path, findings=notes)
    assert list(notes) == []
    assert {n: a.tolist() for n, a in read_safetensors(tmp_path / "net.ark.safetensors").items()} == {
        "weight": W.tolist()
    }
    # The program that was read has the contents of the old file, which is not there any more.
    x = {"x": np.ones((3, 4), np.float32)}
    for program in (module, changed, cir.load(path)):
        (total,) = cir.run(program, x).values()
        np.testing.assert_array_equal(total, np.tile(W.sum(0), (3, 1)))


def test_a_copy_has_the_bytes_of_the_file_of_another_tool(tmp_path: Path) -> None:
    path = _files(tmp_path, {"w": W})
    weights = tmp_path / "net.ark.safetensors"
    header = b'{"__metadata__": {"tool": "other"}, "w": {"dtype": "F32", "shape": [4, 2], "data_offsets": [0, 32]}}  '
    weights.write_bytes(len(header).to_bytes(8, "little") + header + W.tobytes())
    cir.save(cir.edit(cir.load(path), rename={"x": "image"}), tmp_path / "copy.ark.json")
    assert (tmp_path / "copy.ark.safetensors").read_bytes() == weights.read_bytes()


def test_weights_stay_in_another_generation(tmp_path: Path) -> None:
    path = _files(tmp_path, {"w": W})
    cir.save(cir.convert(cir.load(path), "ark", opset=1), tmp_path / "old.ark.json")
    assert np.array_equal(read_safetensors(tmp_path / "old.ark.safetensors")["w"], W)
    assert _names(_rank(tmp_path / "old.ark.json")) == (["x", "w"], ["x"])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"v": W}, "rank0 has no input 'v'"),
        ({"w": W.T.copy()}, "'w' must be tensor<4x2xf32>, found f32 of the shape [2, 4]"),
        ({"w": W.astype(np.float16)}, "'w' must be tensor<4x2xf32>, found f16 of the shape [4, 2]"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    weights: dict[str, NDArray[np.generic]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.load(_files(tmp_path, weights))
    assert [(d.code.id, d.message) for d in error.value.diagnostics] == [("E0279", message)]
    assert error.value.diagnostics[0].file == str(tmp_path / "net.ark.safetensors")


def test_a_file_that_is_not_an_archive_is_refused(tmp_path: Path) -> None:
    path = _files(tmp_path)
    (tmp_path / "net.ark.safetensors").write_bytes(b"\xff" * 20)
    with pytest.raises(cir.DiagnosticError) as error:
        cir.load(path)
    assert [d.code.id for d in error.value.diagnostics] == ["E0279"]


def test_weights_of_another_program_are_in_the_way(tmp_path: Path) -> None:
    module = cir.load(_files(tmp_path))
    with (tmp_path / "other.ark.safetensors").open("wb") as stream:
        write_safetensors(stream, {"w": W})
    with pytest.raises(cir.DiagnosticError) as error:
        cir.save(module, tmp_path / "other.ark.json")
    assert [d.code.id for d in error.value.diagnostics] == ["E0803"]
    assert not (tmp_path / "other.ark.json").exists()


def test_a_program_with_weights_is_not_one_text(tmp_path: Path) -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.dumps(cir.load(_files(tmp_path, {"w": W})))
    assert "weights" in error.value.diagnostics[0].message


def test_a_rank_without_the_weights_that_others_have_is_found(tmp_path: Path) -> None:
    x = tensor("v3", 0, [3, 4])
    nodes = [
        op("Tensor", [], [], [x], "w", virtual=True),
        op("Relu", [x], [tensor("v3", 1, [3, 4])], [later(tensor("v3", 1, [3, 4]), 2)], "y"),
    ]
    for rank in (0, 1):
        content = text(document("v3", nodes, [(0, 1)], rank, 2), "v3")
        (tmp_path / f"net.rank{rank}.json").write_bytes(content)
    assert not cir.check(tmp_path)[1]
    with (tmp_path / "net.rank0.safetensors").open("wb") as stream:
        write_safetensors(stream, {"w": np.ones((3, 4), np.float32)})
    (found,) = cir.check(tmp_path)[1]
    assert (found.code.id, found.file) == ("W0280", str(tmp_path / "net.rank1.json"))
    assert found.help == "put 'net.rank1.safetensors' beside it; without it they are inputs"
    with (tmp_path / "net.rank1.safetensors").open("wb") as stream:
        write_safetensors(stream, {"w": np.ones((3, 4), np.float32)})
    assert not cir.check(tmp_path)[1]


@pytest.mark.parametrize(
    ("link", "code"), [("hard", "E0301"), ("symbolic", "E0301"), ("pipe", "E0301"), ("inside", None)]
)
def test_weights_that_are_a_link_out_of_the_folder_are_refused(tmp_path: Path, link: str, code: str | None) -> None:
    (tmp_path / "a").mkdir()
    path = _files(tmp_path / "a", {"w": W})
    place = tmp_path / "a" / "net.ark.safetensors"
    if link == "hard":
        os.link(place, tmp_path / "other")
    elif link == "symbolic":
        place.rename(tmp_path / "other")
        place.symlink_to(tmp_path / "other")
    elif link == "inside":
        place.rename(tmp_path / "a" / "other")
        place.symlink_to("other")
    else:
        place.unlink()
        os.mkfifo(place)
    if code is None:
        assert _names(_rank(path)) == (["x", "w"], ["x"])
    else:
        with pytest.raises(cir.DiagnosticError, match=code):
            cir.load(path)
