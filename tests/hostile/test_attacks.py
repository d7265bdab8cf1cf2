"""Files that once ended in a traceback: each ends in a result or in one diagnostic that says what is wrong."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.ir.module import Module

from tests.oracles import oracle

_MODELS = Path(__file__).parents[1] / "models"
_TABLE = "constexpr_bytes_iOS16"


def _codes(action: Callable[[], object]) -> list[str]:
    """The codes of the errors with which a function ends; none when it returns."""
    try:
        action()
    except cir.DiagnosticError as error:
        return [d.code.id for d in error.diagnostics]
    return []


def _mlir(text: str) -> Module:
    return cir.loads(text, format="mlir")


@pytest.mark.parametrize("name", [_TABLE, "pixel_shuffle_palettized4_fp32"])
def test_compressed_weights_without_their_file(tmp_path: Path, name: str) -> None:
    package = tmp_path / "m.mlpackage"
    shutil.copytree(_MODELS / name / "model.mlpackage", package)
    for file in package.rglob("weight.bin"):
        file.unlink()
    module, diagnostics = cir.check(package)
    assert module is not None
    assert {d.code.id for d in diagnostics if d.is_error} == {"E0111"}
    cir.shapes(module)


_BLOCKS = """
func.func @f(%c: i1, %a: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.execute_region -> tensor<4xf32> {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    cf.br ^bb2
  ^bb2:
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""


def test_shapes_of_regions_with_several_blocks() -> None:
    assert "tensor<4xf32>" in str(cir.shapes(_mlir(_BLOCKS)))


def test_a_loop_without_its_reduction_is_an_error_of_the_run() -> None:
    module = _mlir(
        "func.func @f(%a: index, %x: f32) -> f32 {\n"
        "  %0 = scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 {\n    scf.reduce\n  }\n"
        "  return %0 : f32\n}\n"
    )
    assert _codes(lambda: cir.run(module)) == ["E0403"]


def test_an_element_type_without_arrays_is_an_error_of_the_run() -> None:
    module = _mlir(
        "func.func @f() -> tensor<4xi3> {\n"
        "  %0 = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi3>\n  return %0 : tensor<4xi3>\n}\n"
    )
    assert _codes(lambda: cir.run(module)) == ["E0709"]


def test_random_inputs_that_no_array_can_have_are_refused() -> None:
    huge = f"tensor<0x{2**40}x{2**40}xf32>"
    module = _mlir(f"func.func @f(%a: {huge}) -> {huge} {{\n  return %a : {huge}\n}}\n")
    assert _codes(lambda: cir.run(module)) == ["E0711"]


def test_rules_on_operations_whose_records_declare_no_arguments(tmp_path: Path) -> None:
    (tmp_path / "r.td").write_text(
        "class Dialect { string name = ?; }\n"
        "class Trait;\n"
        "class Op<Dialect d, string m, list<Trait> t = []> { Dialect opDialect = d; string opName = m; "
        "dag arguments = ?; }\n"
        "class Pat<dag src, dag res> { dag sourcePattern = src; dag resultPattern = res; }\n"
        'def D : Dialect { let name = "d"; }\n'
        'def A : Op<D, "a">;\ndef B : Op<D, "b">;\ndef : Pat<(A $x), (B $x)>;\n'
    )
    assert set(_codes(lambda: cir.load_rules(tmp_path / "r.td"))) <= {"E0604", "E0264", "E0262", "E0263"}


def test_dims_of_a_program_with_results_that_no_definition_has() -> None:
    onnx = oracle("onnx")
    helper = onnx.helper
    infos = [helper.make_tensor_value_info(name, 1, ["n", 2, 4]) for name in ("x", "y")]
    node = helper.make_node("LpPool", ["x"], ["y", "further"], kernel_shape=[1])
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()
    module = cir.loads(content, format="onnx")
    assert "E0506" in {d.code.id for d in cir.verify(module)}
    assert _codes(lambda: cir.edit(module, dims={"n": 3})) == []


def test_included_names_with_characters_that_no_path_has(tmp_path: Path) -> None:
    (tmp_path / "x.td").write_bytes(b'include "a\0b.td"\n')
    assert _codes(lambda: cir.load_dialects(tmp_path / "x.td")) != []


def test_constants_of_several_results_are_not_folded() -> None:
    onnx = oracle("onnx")
    helper = onnx.helper
    tensor = helper.make_tensor("c", 1, [], [1.0])
    info = [helper.make_tensor_value_info(name, 1, [2]) for name in ("x", "y")]
    nodes = [helper.make_node("Constant", [], ["a", "b"], value=tensor), helper.make_node("Add", ["x", "a"], ["y"])]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:])
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    module = cir.loads(content, format="onnx")
    assert "E0506" in {d.code.id for d in cir.verify(module)}
    cir.optimize(module)


def _headers() -> Iterator[bytes]:
    yield b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,"
    yield b"{'descr': ('x"


@pytest.mark.parametrize("header", list(_headers()))
def test_headers_of_arrays(tmp_path: Path, header: bytes) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    content = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(content[:8] + len(header).to_bytes(2, "little") + header)
    from commonir.cli.arrays import parse_inputs  # noqa: PLC0415

    assert _codes(lambda: parse_inputs([f"x=@{tmp_path / 'x.npy'}"], seed=0)) == ["E0902"]


@pytest.mark.parametrize("dims", [[], [2, 2]])
def test_axes_that_are_not_a_vector_in_other_opsets(dims: list[int]) -> None:
    onnx = oracle("onnx")
    helper = onnx.helper
    node = helper.make_node("ReduceSumSquare", ["x", "axes"], ["y"])
    inputs = [helper.make_tensor_value_info("x", 1, [2, 3]), helper.make_tensor_value_info("axes", 7, dims)]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", 1, None)])
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()
    module = cir.loads(content, format="onnx")
    assert _codes(lambda: cir.convert(module, "onnx", opset=13)) == ["E0509"]


def test_large_windows_are_converted_without_listing_positions() -> None:
    onnx = oracle("onnx")
    helper = onnx.helper
    infos = [helper.make_tensor_value_info(name, 1, [1, 1, 2, 2**24, 2]) for name in ("x", "y")]
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[1, 2, 1])
    infos[1].type.tensor_type.shape.dim[3].dim_value -= 1
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()
    start = time.process_time()
    cir.convert(cir.loads(content, format="onnx"), "tosa")
    assert time.process_time() - start < 5


def test_a_transposition_of_axes_that_do_not_exist_is_not_optimized() -> None:
    module = _mlir(
        "func.func @f(%a: tensor<1x4xf32>) -> tensor<4x1xf32> {\n"
        "  %0 = tosa.transpose %a {perms = array<i32: 1, 7>} : (tensor<1x4xf32>) -> tensor<4x1xf32>\n"
        "  return %0 : tensor<4x1xf32>\n}\n"
    )
    assert [d.is_error for d in cir.verify(module)] != []
    cir.optimize(module)


@pytest.mark.parametrize(("has_type", "axis"), [(False, 0), (False, 5), (True, 5)])
def test_tensors_of_unknown_types_or_ranks_are_joined(has_type: bool, axis: int) -> None:
    onnx = oracle("onnx")
    helper = onnx.helper
    x = helper.make_tensor_value_info("x", 1, None) if has_type else onnx.ValueInfoProto(name="x")
    others = [helper.make_tensor_value_info("z", 1, [2, 3]), helper.make_tensor_value_info("y", 1, None)]
    graph = helper.make_graph(
        [helper.make_node("Concat", ["x", "z"], ["y"], axis=axis)], "g", [x, others[0]], others[1:]
    )
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()
    module = cir.loads(content, format="onnx")
    array = np.zeros((2, 3), np.float32)
    assert _codes(lambda: cir.run(module, {"x": array, "z": array})) == ["E0504" if has_type else "E0709"]
    assert set(_codes(lambda: cir.convert(module, "linalg"))) <= {"E0601"}
    cir.optimize(module)


@pytest.mark.parametrize("run", [cir.run, cir.run_steps])
def test_random_inputs_are_within_the_memory_limit(run: Callable[..., object]) -> None:
    module = _mlir(
        "func.func @f(%a: tensor<100xf32>, %b: tensor<100xf32>) -> tensor<1xf32> {\n"
        "  %0 = tensor.extract_slice %a[0] [1] [1] : tensor<100xf32> to tensor<1xf32>\n"
        "  return %0 : tensor<1xf32>\n}\n"
    )
    small, enough = [cir.engine_options(memory_limit_bytes=size) for size in (700, 10_000)]
    with pytest.raises(cir.DiagnosticError, match=r"input 'b' of shape .* does not fit in the memory limit"):
        run(module, options=small)
    run(module, options=enough)


@pytest.mark.parametrize("name", ["vector", "tensor", "memref", "complex", "tuple"])
def test_types_nested_deeper_than_the_limit_are_refused(name: str) -> None:
    dim = "" if name in ("complex", "tuple") else "2x"
    codes = _codes(lambda: _mlir(f"func.func private @f({f'{name}<{dim}' * 3000}f32{'>' * 3000})\n"))
    assert set(codes) <= {"E0302", "E0240", "E0241", "E0242"}
    assert codes != []


def test_values_of_another_way_are_errors_of_the_run() -> None:
    module = _mlir(
        "func.func @f(%c: i1) -> i32 {\n  cf.cond_br %c, ^a, ^b\n^a:\n  %0 = arith.constant 1 : i32\n  cf.br ^b\n"
        "^b:\n  return %0 : i32\n}\n"
    )
    for c in (True, False):
        assert _codes(lambda c=c: cir.run(module, {"c": np.array(c)})) == ["E0401"]
    assert _codes(lambda: cir.convert(module, "onnx")) == ["E0401"]


def test_branches_with_other_arguments_than_their_blocks_are_not_merged() -> None:
    module = _mlir("func.func @f(%x: i32) {\n  cf.br ^a(%x : i32)\n^a:\n  cf.br ^b\n^b:\n  return\n}\n")
    assert [d.is_error for d in cir.verify(module)] != []
    cir.optimize(module)


def test_manifests_of_many_missing_files_are_reported_up_to_a_limit(tmp_path: Path) -> None:
    package = tmp_path / "m.mlpackage"
    shutil.copytree(_MODELS / _TABLE / "model.mlpackage", package)
    manifest = json.loads((package / "Manifest.json").read_text("utf-8"))
    entry = {"name": "n", "author": "a", "description": "d"}
    manifest["itemInfoEntries"].update({f"x{n}": {"path": f"p{n}", **entry} for n in range(1200)})
    (package / "Manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert _codes(lambda: cir.load(package)) == ["E0111"] * 1000
