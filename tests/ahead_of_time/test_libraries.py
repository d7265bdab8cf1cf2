"""Compiled libraries compute what the native engine computes, and refuse what they were not compiled for."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.ahead_of_time.cpu_check import X86_FEATURES
from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, bf16, f16, f32, i8, u8
from commonir.llvm.compiler import host_target
from commonir.symbolic import symbol

from tests.ahead_of_time.programs import COUNTED_LOOKUP, DECODE, SWAP, engine_outputs
from tests.native.guarded_memory import GuardedMemory, Side
from tests.oracles import find_program, require_package
from tests.runtime.programs import program

require_package("llvmlite")
find_program("cc", ["cc"])

Array = NDArray[Any]

RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def constant(array: Array, element: ElementType = f32) -> Value:
    return core.constant(ArrayData(TensorType(element, array.shape), array))


def text_program(text: str) -> Module:
    return cir.loads(text, format="mlir")


def library(module: Module, folder: Path, **options: Any) -> cir.CompiledLibrary:
    cir.compile(module, folder / "net.so", **options)
    return cir.load_compiled(folder / "net.so")


def one(outputs: Mapping[str, Array]) -> Array:
    """Returns the only output."""
    (result,) = outputs.values()
    return result


def faults(folder: Path) -> str:
    with pytest.raises(cir.DiagnosticError) as refused:
        cir.load_compiled(folder / "net.so")
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code.id == "E0721"
    return diagnostic.message


def convolutions() -> Module:
    """Two padded convolutions, whose intermediate tensor has a border, for batches and images of several sizes."""
    kernels = normal(4, 3, 3, 3), normal(2, 4, 3, 3)
    pads = ((1, 1), (1, 1))
    shape = (symbol("n"), 3, symbol("h"), 8)

    def build(x: Value) -> Value:
        y = core.relu(core.conv(x, constant(kernels[0]), pads=pads))
        return core.conv(y, constant(kernels[1]), pads=pads)

    return program(build, {"x": TensorType(f32, shape)})


@pytest.mark.slow
def test_sizes_of_images_change_from_call_to_call(tmp_path: Path) -> None:
    module = convolutions()
    compiled = library(module, tmp_path, sizes={"n": 3, "h": 9})
    for n, h in ((3, 9), (1, 4), (2, 9), (1, 4), (3, 5)):
        x = normal(n, 3, h, 8)
        (expected,) = engine_outputs(module, {"x": x}).values()
        (actual,) = compiled.run({"x": x}).values()
        np.testing.assert_array_equal(actual, expected)


def test_borders_of_quantized_images_are_their_zero_point(tmp_path: Path) -> None:
    kernels = RANDOM.integers(-128, 128, (16, 20, 3, 3)).astype(np.int8)
    quantum = np.float32(1 / 16)

    def build(x: Value) -> Value:
        scale, zero = core.scalar(float(quantum), f32), constant(np.array(77, np.uint8), u8)
        y = core.dequantize(core.quantize(x, scale, u8, zero), scale, zero)
        filters = core.dequantize(constant(kernels, i8), scale, None)
        return core.relu(core.conv(y, filters, pads=((1, 1), (1, 1))))

    x = normal(1, 20, 6, 7)
    compiled = library(program(build, {"x": TensorType(f32, x.shape)}), tmp_path)
    levels = np.clip(np.round(x / quantum) + 77, 0, 255) - 77
    wide = np.pad(levels, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (2, 3))
    expected = np.maximum(np.einsum("nchwyx,ocyx->nohw", windows, kernels.astype(np.float64)), 0) * quantum**2
    for _ in range(2):
        np.testing.assert_allclose(one(compiled.run({"x": x})), expected, rtol=1e-6)


def test_sizes_change_from_call_to_call(tmp_path: Path) -> None:
    module = program(lambda x: core.reduce_sum(core.exp(x), axes=(1,)), {"x": TensorType(f32, (2, symbol("n")))})
    compiled = library(module, tmp_path, sizes={"n": 40})
    for n in (40, 3, 17):
        x = normal(2, n)
        np.testing.assert_allclose(one(compiled.run({"x": x})), np.exp(x).sum(1), rtol=1e-5)


def test_an_expansion_with_a_depthwise_convolution_runs_in_strips(tmp_path: Path) -> None:
    expand, windows, reduce = normal(32, 4, 1, 1), normal(32, 1, 3, 3), normal(4, 32, 1, 1)

    def build(x: Value) -> Value:
        y = core.relu(core.conv(x, constant(expand)))
        y = core.relu(core.conv(y, constant(windows), strides=(2, 2), pads=((1, 1), (1, 1)), groups=32))
        return core.conv(y, constant(reduce))

    # The expanded image has 460,800 bytes.
    module = program(build, {"x": TensorType(f32, (1, 4, 60, 60))})
    x = normal(1, 4, 60, 60)
    np.testing.assert_array_equal(one(library(module, tmp_path).run({"x": x})), one(engine_outputs(module, {"x": x})))


def test_a_size_beyond_its_limit_is_an_error_of_the_call(tmp_path: Path) -> None:
    compiled = library(convolutions(), tmp_path, sizes={"n": 2, "h": 5})
    with pytest.raises(cir.DiagnosticError, match="main: the size 'n' is not between 1 and 2"):
        compiled.run({"x": normal(3, 3, 5, 8)})


def test_a_size_without_a_limit_is_refused_with_the_option_that_states_it(tmp_path: Path) -> None:
    with pytest.raises(cir.DiagnosticError) as refused:
        cir.compile(convolutions(), tmp_path / "net.so", sizes={"n": 2})
    (diagnostic,) = refused.value.diagnostics
    assert (diagnostic.code.id, diagnostic.help) == ("E0707", "state the largest one: --size h=MAX")


@pytest.mark.parametrize("element", [f16, bf16])
def test_inputs_and_outputs_have_the_declared_element_types(element: Any, tmp_path: Path) -> None:
    type = TensorType(element, (5, 19))
    module = program(lambda x: [core.exp(x), x, core.add(x, core.exp(x))], {"x": type})
    x = normal(5, 19).astype(cir.run(module, engine="reference")["y0"].dtype)
    actual = library(module, tmp_path).run({"x": x})
    for name, expected in engine_outputs(module, {"x": x}).items():
        assert actual[name].dtype == expected.dtype
        np.testing.assert_array_equal(actual[name].view(np.uint16), expected.view(np.uint16))


def test_outputs_may_be_inputs_constants_views_and_equal(tmp_path: Path) -> None:
    fixed = normal(2, 3)

    def build(x: Value, unused: Value) -> list[Value]:
        y = core.relu(x)
        return [x, constant(fixed), core.transpose(x, perm=(1, 0)), y, y, unused]

    module = program(build, {"x": TensorType(f32, (2, 3)), "unused": TensorType(f32, (2,))})
    x, unused = normal(2, 3), normal(2)
    actual = library(module, tmp_path).run({"x": x, "unused": unused})
    positive = np.maximum(x, 0)
    for array, expected in zip(actual.values(), [x, fixed, x.T, positive, positive, unused], strict=True):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.slow
def test_caches_of_attention_last_from_call_to_call(tmp_path: Path) -> None:
    module = text_program(DECODE)
    compiled, state = library(module, tmp_path), cir.State()
    for step in range(3):
        inputs = {"x": normal(1, 4), "at": np.eye(6, dtype=np.float32)[:, step : step + 1]}
        (expected,) = engine_outputs(module, inputs, state).values()
        (actual,) = compiled.run(inputs).values()
        np.testing.assert_array_equal(actual, expected)
    for name, contents in state.items():
        np.testing.assert_array_equal(compiled.state[name], contents)


@pytest.mark.slow
def test_a_core_ml_program_with_caches_gives_the_bits_of_the_engine(tmp_path: Path) -> None:
    module = cir.load(Path(__file__).parents[1] / "models/llama_stateful_fp16/model.mlpackage")
    sizes = {"input_ids_1": 4, "causal_mask_2": 4, "causal_mask_3": 16}
    compiled, state, position = library(module, tmp_path, sizes=sizes), cir.State(), 0
    for tokens in (4, 1, 1, 3):
        mask = np.triu(np.full((1, 1, tokens, position + tokens), -1e4, np.float16), position + 1)
        inputs = {"input_ids": RANDOM.integers(0, 64, (1, tokens), np.int32), "causal_mask": mask}
        expected = one(engine_outputs(module, inputs, state))
        np.testing.assert_array_equal(one(compiled.run(inputs)), expected)
        position += tokens
    for name, contents in state.items():
        np.testing.assert_array_equal(compiled.state[name], contents)


def test_contents_of_states_can_be_replaced(tmp_path: Path) -> None:
    compiled = library(text_program(SWAP), tmp_path)
    compiled.state = cir.State({"first": np.array([5, 6], np.float32)})
    assert one(compiled.run({"x": np.zeros(2, np.float32)}, "sum")).tolist() == [5, 6]
    before = compiled.state["first"]
    one(compiled.run({}, "swap"))
    assert (before.tolist(), compiled.state["first"].tolist()) == ([5, 6], [3, 4])


def test_functions_share_states(tmp_path: Path) -> None:
    compiled = library(text_program(SWAP), tmp_path)
    x = np.array([10, 20], np.float32)
    assert one(compiled.run({"x": x}, "sum")).tolist() == [11, 22]
    assert one(compiled.run({}, "swap")).tolist() == [1, 2]
    assert one(compiled.run({"x": x}, "sum")).tolist() == [13, 24]
    compiled.state = cir.State()
    assert one(compiled.run({"x": x}, "sum")).tolist() == [11, 22]


def test_only_named_functions_are_compiled(tmp_path: Path) -> None:
    compiled = library(text_program(SWAP), tmp_path, functions=["sum"])
    assert compiled.functions == ("sum",)
    with pytest.raises(cir.DiagnosticError, match="the library has no function 'swap'"):
        compiled.run({}, "swap")


def test_a_position_out_of_range_is_an_error_that_leaves_states_as_they_were(tmp_path: Path) -> None:
    compiled = library(text_program(COUNTED_LOOKUP), tmp_path)
    table = normal(3, 2)
    rows = np.array([0, 2, 1, 2])
    np.testing.assert_array_equal(one(compiled.run({"table": table, "rows": rows})), table[rows])
    with pytest.raises(cir.DiagnosticError) as failed:
        compiled.run({"table": table, "rows": rows + 1})
    (diagnostic,) = failed.value.diagnostics
    message = "main: a position on axis 0 of 'table' is out of range"
    assert (diagnostic.code.id, diagnostic.message) == ("E0708", message)
    assert compiled.state["count"].item() == 1


@pytest.mark.parametrize(
    "options", [{"embed": True}, {"static_workspace": True}, {"embed": True, "static_workspace": True}]
)
def test_weights_and_workspace_may_be_in_the_library(options: Mapping[str, bool], tmp_path: Path) -> None:
    w = normal(19, 33)
    module = program(lambda x: core.softmax(core.matmul(core.exp(x), constant(w))), {"x": TensorType(f32, (4, 19))})
    x = normal(4, 19)
    (expected,) = engine_outputs(module, {"x": x}).values()
    (actual,) = library(module, tmp_path, **options).run({"x": x}).values()
    np.testing.assert_array_equal(actual, expected)
    assert (tmp_path / "net.weights").exists() != ("embed" in options)


def test_loading_imports_no_compiler(tmp_path: Path) -> None:
    module = program(core.relu, {"x": TensorType(f32, (3,))})
    cir.compile(module, tmp_path / "net.so")
    code = "import sys, commonir; commonir.load_compiled(sys.argv[1]).run({'x': [1.0, -1.0, 2.0]}); "
    code += "print('llvmlite' in sys.modules)"
    assert run_python(code, str(tmp_path / "net.so")) == "False"


def run_python(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_library_that_replaces_another_one_is_loaded(tmp_path: Path) -> None:
    x = np.array([-1, 2], np.float32)
    results: list[list[float]] = []
    for build in (core.relu, core.exp, core.neg):
        compiled = library(program(build, {"x": TensorType(f32, (2,))}), tmp_path)
        results.append(one(compiled.run({"x": x})).tolist())
    assert [results[0], results[2]] == [[0, 2], [1, -2]]
    np.testing.assert_allclose(results[1], np.exp(x), rtol=1e-6)


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("n", [1, 2])
def test_nothing_outside_of_the_memory_of_a_call_is_touched(n: int, side: Side, tmp_path: Path) -> None:
    w, kernel = normal(5, 18), normal(2, 1, 3, 3)

    def build(x: Value, image: Value) -> list[Value]:
        return [core.exp(core.matmul(x, constant(w))), core.conv(image, constant(kernel), pads=((1, 1), (1, 1)))]

    half = TensorType(f16, (symbol("n"), 5))
    module = program(lambda x, i: build(core.cast(x, to=f32), i), {"x": half, "image": TensorType(f32, (1, 1, 3, 5))})
    report = cir.compile(module, tmp_path / "net.so", sizes={"n": 2})
    inputs = {"x": normal(n, 5).astype(np.float16), "image": normal(1, 1, 3, 5)}
    expected = engine_outputs(module, inputs)
    memory = GuardedMemory()
    weights = memory.copy(np.fromfile(tmp_path / "net.weights", np.uint8), side)
    workspace = memory.array((report.workspace_bytes,), np.dtype(np.uint8), side)
    outputs = [memory.array(y.shape, y.dtype, side) for y in expected.values()]
    arrays = [weights, workspace, *[memory.copy(x, side) for x in inputs.values()], *outputs]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
    assert ctypes.CDLL(str(tmp_path / "net.so")).net_main(*pointers[:2], ctypes.c_int64(n), *pointers[2:]) == 0
    for actual, y in zip(outputs, expected.values(), strict=True):
        np.testing.assert_array_equal(actual, y)


# -- libraries and weights that do not fit


@pytest.fixture(name="matrix", scope="module")
def _matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("matrix")
    w = normal(8, 8)
    cir.compile(program(lambda x: core.matmul(x, constant(w)), {"x": TensorType(f32, (2, 8))}), folder / "net.so")
    return folder


def copied(folder: Path, to: Path) -> Path:
    for name in ("net.so", "net.weights"):
        (to / name).write_bytes((folder / name).read_bytes())
    return to


def test_missing_weights_are_reported(matrix: Path, tmp_path: Path) -> None:
    (copied(matrix, tmp_path) / "net.weights").unlink()
    assert "its weights in 'net.weights' cannot be read" in faults(tmp_path)


@pytest.mark.parametrize("size", [0, 10, 64, -1])
def test_short_weights_are_reported(size: int, matrix: Path, tmp_path: Path) -> None:
    path = copied(matrix, tmp_path) / "net.weights"
    path.write_bytes(path.read_bytes()[:size])
    assert "weights" in faults(tmp_path)


def test_weights_of_another_version_are_reported(matrix: Path, tmp_path: Path) -> None:
    w = normal(8, 8)
    other = program(lambda x: core.matmul(x, constant(w)), {"x": TensorType(f32, (2, 8))})
    cir.compile(other, tmp_path / "net.so")
    copied(matrix, tmp_path)
    cir.compile(other, tmp_path / "other.so")
    (tmp_path / "net.weights").write_bytes((tmp_path / "other.weights").read_bytes())
    assert faults(tmp_path).endswith("'net.weights': the weights belong to another version of the program")


@pytest.mark.parametrize("at", [0, 5000, -1])
def test_a_damaged_library_is_never_loaded(at: int, matrix: Path, tmp_path: Path) -> None:
    path = copied(matrix, tmp_path) / "net.so"
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    assert faults(tmp_path).endswith("it is damaged or incomplete: its checksum is another one")


def test_an_incomplete_library_is_never_loaded(matrix: Path, tmp_path: Path) -> None:
    path = copied(matrix, tmp_path) / "net.so"
    path.write_bytes(path.read_bytes()[:-100])
    assert faults(tmp_path).endswith("it is damaged or incomplete: its checksum is another one")


def test_a_missing_library_is_reported(tmp_path: Path) -> None:
    with pytest.raises(cir.DiagnosticError, match="cannot read a compiled library: no such file"):
        cir.load_compiled(tmp_path / "net.so")


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "net.so").write_bytes(b"\x7fELF and nothing else")
    assert faults(tmp_path).endswith("it was not written by `cir compile`, or is incomplete")


def test_a_library_for_other_instructions_is_refused(tmp_path: Path) -> None:
    host = host_target()
    if not host.triple.startswith("x86_64"):
        pytest.skip("this machine is not x86")
    if all(host.has(f) for f in X86_FEATURES):
        pytest.skip("this machine has all instructions")
    cir.compile(program(core.relu, {"x": TensorType(f32, (3,))}), tmp_path / "net.so", cpu="diamondrapids")
    assert "avx512fp16" in faults(tmp_path)


def test_the_functions_of_a_library_are_those_of_the_header(matrix: Path) -> None:
    loaded = ctypes.CDLL(str(matrix / "net.so"))
    loaded.net_message.restype = ctypes.c_char_p
    assert loaded.net_check_cpu() == 1
    assert [loaded.net_message(n) for n in (0, 1)] == [b"no error", b"these are not weights of a program"]
    assert loaded.net_message(-1) == loaded.net_message(1000) == b"an unknown error"
    assert not hasattr(loaded, "net_main.run")
