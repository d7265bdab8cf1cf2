"""C programs with compiled functions compute what the native engine computes, on this machine and on others."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.ahead_of_time.compiling import CompileOptions, compile_functions
from commonir.ahead_of_time.object_files import named_target
from commonir.ahead_of_time.undefined_symbols import undefined_symbols
from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f16, f32, f64, i64, string
from commonir.symbolic import symbol

from tests.ahead_of_time.programs import DECODE, SWAP, engine_outputs
from tests.oracles import find_program, require_package
from tests.runtime.programs import program

require_package("llvmlite")

Array = NDArray[Any]

EXAMPLES = Path(__file__).parents[2] / "examples"
RANDOM = np.random.default_rng(0)

STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def constant(array: Array) -> Value:
    return core.constant(ArrayData(TensorType(f32, array.shape), array))


def text_program(text: str) -> Module:
    return cir.loads(text, format="mlir")


def layers() -> Module:
    """Everything that code for a processor differs in: products, tails, elementary functions, half precision, views."""
    w, bias, kernel = normal(19, 33), normal(33), normal(4, 2, 3, 3)

    def build(x: Value, half: Value, image: Value) -> list[Value]:
        y = core.tanh(core.add(core.matmul(x, constant(w)), constant(bias)))
        convolved = core.conv(image, constant(kernel), pads=((1, 1), (1, 1)))
        return [core.softmax(y), core.exp(half), core.relu(convolved)]

    types = {"x": TensorType(f32, (symbol("n"), 19)), "half": TensorType(f16, (3, 5))}
    return program(build, {**types, "image": TensorType(f32, (1, 2, 7, 9))})


def product() -> Module:
    """A product, and half precision."""
    w = normal(7, 9)
    types = {"x": TensorType(f32, (5, 7)), "half": TensorType(f16, (3,))}
    return program(lambda x, half: [core.matmul(x, constant(w)), core.mul(half, half)], types)


def build(folder: Path, *command: str, libraries: Sequence[str] = ()) -> Path:
    """Builds the example in a folder, and returns the path of the program."""
    result = folder / "example"
    words = [*command, "main.c", "net.o", *libraries, "-o", str(result)]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    return result


def run(program_: Path, inputs: Mapping[str, Array], *before: str, function: str = "main") -> dict[str, bytes]:
    """Runs an example on inputs in its folder, and returns the bytes of the outputs by name."""
    folder = program_.parent
    for name, array in inputs.items():
        (folder / f"{function}.{name}.bin").write_bytes(np.ascontiguousarray(array).tobytes())
    subprocess.run([*before, str(program_), "."], cwd=folder, check=True, capture_output=True, text=True)
    files = [p for p in folder.glob(f"{function}.*.bin") if p.name.split(".")[1] not in inputs]
    return {p.name.split(".")[1]: p.read_bytes() for p in files}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["transformer.onnx", "mobilenet.mlpackage"])
def test_c_programs_of_the_examples_give_the_bits_of_the_engine(model: str, tmp_path: Path) -> None:
    module = cir.load(EXAMPLES / model)
    name = Path(model).stem
    report = cir.compile(module, tmp_path, name="net")
    with np.load(EXAMPLES / f"{name}_inputs.npz") as stored:
        inputs = dict(stored)
    if name == "mobilenet":  # The example calls it for the largest batch.
        inputs = {n: np.ascontiguousarray(np.broadcast_to(x, (16, *x.shape[1:]))) for n, x in inputs.items()}
    (function,) = report.functions
    actual = run(build(tmp_path, find_program("cc", ["cc"]), "-std=c99", *STRICT), inputs, function=function)
    for output, expected in engine_outputs(module, inputs).items():
        assert actual[output] == expected.tobytes()


def test_a_c_program_gives_the_bits_of_the_engine(tmp_path: Path) -> None:
    module, inputs = product(), {"x": normal(5, 7), "half": normal(3).astype(np.float16)}
    cir.compile(module, tmp_path, name="net")
    actual = run(build(tmp_path, find_program("cc", ["cc"])), inputs)
    for output, expected in engine_outputs(module, inputs).items():
        assert actual[output] == expected.tobytes()


def control(x: Value, h: Value, limit: Value) -> list[Value]:
    """A loop with a loop, a branch and states that change places inside, and a recurrent layer."""
    row, count = TensorType(f32, (4,)), TensorType(i64, ())

    def after_steps(first: Value) -> Value:
        condition = core.nested([count, row], lambda n, _: (core.less(n, limit),))
        body = core.nested(
            [count, row], lambda n, v: (core.add(n, core.scalar(1, i64)), core.mul(v, core.splat(0.5, v)))
        )
        return core.while_((core.scalar(0, i64), first), condition, body)[1]

    def body(a: Value, b: Value, x: Value) -> list[Value]:
        y = core.add(after_steps(a), x)
        large = core.greater(core.reduce_sum(y, (0,)), core.scalar(0.0, f32))
        (z,) = core.if_(large, core.nested([], lambda: (core.tanh(y),)), core.nested([], lambda: (b,)))
        return [b, z, core.mul(y, b)]

    last, other, stacked = core.scan((h, core.neg(h)), (x,), core.nested([row, row, row], body))
    start, w = core.unsqueeze(core.unsqueeze(h, (0,)), (0,)), constant(np.float32(0.2) * normal(1, 16, 4))
    layer = core.lstm(core.unsqueeze(stacked, (1,)), w, w, start, start, constant(normal(1, 16)))
    return [last, other, stacked, *layer]


def control_inputs(length: int) -> dict[str, Array]:
    return {"x": normal(length, 4), "h": normal(4), "limit": np.array(length // 3)}


CONTROL = {"x": TensorType(f32, (symbol("n", 0), 4)), "h": TensorType(f32, (4,)), "limit": TensorType(i64, ())}


def test_loops_and_branches_in_c_give_the_bits_of_the_engine(tmp_path: Path) -> None:
    module, inputs = program(control, CONTROL), control_inputs(7)
    cir.compile(module, tmp_path, name="net", sizes={"n": 7})
    actual = run(build(tmp_path, find_program("cc", ["cc"])), inputs)
    for output, expected in engine_outputs(module, inputs).items():
        assert actual[output] == expected.tobytes()


def test_loops_in_libraries_may_have_no_rounds(tmp_path: Path) -> None:
    module = program(control, CONTROL)
    cir.compile(module, tmp_path / "net.so", sizes={"n": 7})
    net = cir.load_compiled(tmp_path / "net.so")
    for length in (7, 1, 0, 4):
        inputs = control_inputs(length)
        actual = net.run(inputs)
        for output, expected in engine_outputs(module, inputs).items():
            np.testing.assert_array_equal(actual[output], expected)


@pytest.mark.parametrize("text", [DECODE, SWAP])
@pytest.mark.parametrize("options", [{}, {"embed": True, "static_workspace": True}])
def test_sources_are_strict_c_and_cpp(text: str, options: dict[str, Any], tmp_path: Path) -> None:
    cir.compile(text_program(text), tmp_path, name="net", **options)
    build(tmp_path, find_program("cc", ["cc"]), "-std=c99", *STRICT)
    cpp = [find_program("c++", ["c++"]), "-std=c++11", *STRICT, "-x", "c++", "main.c", "-x", "none", "net.o"]
    subprocess.run([*cpp, "-o", "cpp"], cwd=tmp_path, check=True)
    subprocess.run(["./cpp"], cwd=tmp_path, check=True, capture_output=True)


def test_an_example_ends_with_a_message_where_weights_do_not_fit(tmp_path: Path) -> None:
    w = normal(4, 4)
    cir.compile(program(lambda x: core.matmul(x, constant(w)), {"x": TensorType(f32, (2, 4))}), tmp_path, name="net")
    example = build(tmp_path, find_program("cc", ["cc"]))
    weights = tmp_path / "net.weights"
    for contents, message in (
        (weights.read_bytes()[:-1], "net.weights: the weights are shorter than the program's\n"),
        (b"0" * weights.stat().st_size, "net.weights: these are not weights of a program\n"),
    ):
        weights.write_bytes(contents)
        ended = subprocess.run([str(example)], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (1, message)


def test_names_of_the_program_become_identifiers(tmp_path: Path) -> None:
    types = {
        "int": TensorType(f32, (2,)),
        "a/b": TensorType(f32, (2,)),
        "a.b": TensorType(f32, (2,)),
        "1": TensorType(f32, (2,)),
    }
    module = program(lambda a, b, c, d: core.add(core.add(a, b), core.add(c, d)), types, name="weird name")
    cir.compile(module, tmp_path, name="net")
    header = (tmp_path / "net.h").read_text()
    declared = (
        "int net_weird_name(void *workspace, const float *int_2, const float *a_b, const float *a_b_2, const float *n_1"
    )
    assert declared in header
    build(tmp_path, find_program("cc", ["cc"]), *STRICT)


def test_the_header_names_functions_of_other_libraries(tmp_path: Path) -> None:
    module = program(
        lambda x, y: [core.acosh(x), core.sin(y)], {"x": TensorType(f32, (3,)), "y": TensorType(f64, (3,))}
    )
    report = cir.compile(module, tmp_path, name="net")
    assert {"acoshf", "sin"} <= set(report.undefined)
    assert "net.o and -lm: it calls acoshf" in (tmp_path / "net.h").read_text()
    build(tmp_path, find_program("cc", ["cc"]), *STRICT, libraries=["-lm"])


# -- other machines


@pytest.mark.slow
def test_code_for_aarch64_agrees_with_the_engine(tmp_path: Path) -> None:
    compiler = find_program("aarch64-linux-gnu-gcc", ["aarch64-linux-gnu-gcc"])
    emulator = find_program("qemu-aarch64", ["qemu-aarch64"])
    module = layers()
    cir.compile(module, tmp_path, name="net", target="aarch64-linux-gnu", sizes={"n": 5})
    inputs = {"x": normal(5, 19), "half": normal(3, 5).astype(np.float16), "image": normal(1, 2, 7, 9)}
    actual = run(build(tmp_path, compiler, "-static", *STRICT), inputs, emulator)
    for name, expected in engine_outputs(module, inputs).items():
        assert_close(np.frombuffer(actual[name], expected.dtype).reshape(expected.shape), expected)


def assert_close(actual: Array, expected: Array) -> None:
    """Compares up to sums in another order."""
    np.testing.assert_allclose(actual, expected, rtol=1e-3 if expected.dtype == np.float16 else 2e-6, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3"])
def test_code_for_older_processors_agrees_with_the_engine(cpu: str, tmp_path: Path) -> None:
    module = layers()
    cir.compile(module, tmp_path / "net.so", cpu=cpu, target="x86_64-linux-gnu", sizes={"n": 5})
    inputs = {"x": normal(5, 19), "half": normal(3, 5).astype(np.float16), "image": normal(1, 2, 7, 9)}
    compiled = cir.load_compiled(tmp_path / "net.so").run(inputs)
    for name, expected in engine_outputs(module, inputs).items():
        assert_close(compiled[name], expected)


def test_a_product_for_aarch64_agrees_with_numpy(tmp_path: Path) -> None:
    compiler = find_program("aarch64-linux-gnu-gcc", ["aarch64-linux-gnu-gcc"])
    emulator = find_program("qemu-aarch64", ["qemu-aarch64"])
    module, inputs = product(), {"x": normal(5, 7), "half": normal(3).astype(np.float16)}
    cir.compile(module, tmp_path, name="net", target="aarch64-linux-gnu")
    actual = run(build(tmp_path, compiler, "-static"), inputs, emulator)
    assert actual["y1"] == (inputs["half"] * inputs["half"]).tobytes()
    (expected, _) = cir.run(module, inputs, engine="reference").values()
    assert_close(np.frombuffer(actual["y0"], np.float32).reshape(5, 9), expected)


@pytest.mark.parametrize(("emulated", "status"), [("cortex-a53", 1), ("max", 0)])
def test_code_asks_for_instructions_of_aarch64(emulated: str, status: int, tmp_path: Path) -> None:
    compiler = find_program("aarch64-linux-gnu-gcc", ["aarch64-linux-gnu-gcc"])
    emulator = find_program("qemu-aarch64", ["qemu-aarch64"])
    report = cir.compile(product(), tmp_path, name="net", target="aarch64-linux-gnu", cpu="neoverse-n1")
    assert {"dotprod", "fullfp16"} <= set(report.features)
    example = build(tmp_path, compiler, "-static")
    command = [emulator, "-cpu", emulated, str(example)]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == status


def test_functions_of_a_windows_library_are_exported() -> None:
    module = cir.lower(product())
    target = named_target("x86_64-pc-windows-msvc", None)
    data = compile_functions([module.main], CompileOptions("net", target, {}, is_shared=True), "net.weights").data
    exported = {"net_main", "net_message", "net_check_cpu", "net_check_weights"}
    assert all(f" /EXPORT:{name}".encode() in data for name in exported)
    assert b"/EXPORT:net_description,DATA" in data
    assert b"/EXPORT:net_main.run" not in data


@pytest.mark.parametrize(
    ("triple", "start"),
    [
        ("aarch64-linux-gnu", b"\x7fELF\x02\x01"),
        ("arm64-apple-macosx", b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"),
        ("arm64-apple-ios-simulator", b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"),
        ("x86_64-pc-windows-msvc", b"\x64\x86"),
    ],
)
def test_objects_for_other_systems_need_no_library(triple: str, start: bytes, tmp_path: Path) -> None:
    report = cir.compile(product(), tmp_path, name="net", target=triple)
    data = (tmp_path / "net.o").read_bytes()
    assert data.startswith(start)
    assert report.triple == triple
    allowed = {
        "memset",
        "memcpy",
        "_memset",
        "_memcpy",
        "_bzero",
        "__truncsfhf2",
        "__extendhfsf2",
        "_fltused",
        "__chkstk",
    }
    assert set(undefined_symbols(data)) <= allowed


@pytest.mark.parametrize(
    ("options", "message", "help"),
    [
        ({"target": "z80"}, "LLVM has no target named 'z80'", "such as"),
        ({"cpu": "x86-64-v9"}, "LLVM has no processor named 'x86-64-v9'", "did you mean 'x86-64'"),
        ({"target": "armv7-linux-gnueabihf"}, "'armv7-linux-gnueabihf' is not a target of 64 bits", "x86_64"),
    ],
)
def test_unknown_processors_are_refused(options: dict[str, Any], message: str, help: str, tmp_path: Path) -> None:
    with pytest.raises(cir.DiagnosticError) as refused:
        cir.compile(program(core.relu, {"x": TensorType(f32, (3,))}), tmp_path, **options)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.message == message
    assert help in (diagnostic.help or "")


# -- what is not compiled


def test_everything_that_is_not_compiled_is_named(tmp_path: Path) -> None:
    def build(x: Value) -> list[Value]:
        return [core.argsort(x, axis=0), *core.top_k(x, 2)]

    with pytest.raises(cir.DiagnosticError) as refused:
        cir.compile(program(build, {"x": TensorType(f32, (3,))}), tmp_path / "net.so")
    assert {d.code.id for d in refused.value.diagnostics} == {"E0720"}
    assert [d.message.split(": ")[1].split()[0] for d in refused.value.diagnostics] == ["core.argsort", "core.top_k"]
    assert not any(tmp_path.iterdir())


def test_strings_are_refused_with_the_command_that_removes_them(tmp_path: Path) -> None:
    labels = np.array(["cat", "dog"], object)

    def build(x: Value) -> list[Value]:
        names = core.constant(ArrayData(TensorType(string, (2,)), labels))
        return [x, core.gather(names, core.cast(x, to=i64))]

    with pytest.raises(cir.DiagnosticError) as refused:
        cir.compile(program(build, {"x": TensorType(f32, (3,))}), tmp_path)
    assert "`cir edit --drop-output NAME`" in (refused.value.diagnostics[0].help or "")


def test_an_output_survives_a_program_that_is_not_compiled(tmp_path: Path) -> None:
    cir.compile(program(core.relu, {"x": TensorType(f32, (3,))}), tmp_path, name="net")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(cir.DiagnosticError):
        cir.compile(program(lambda x: core.argsort(x, axis=0), {"x": TensorType(f32, (3,))}), tmp_path, name="net")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
