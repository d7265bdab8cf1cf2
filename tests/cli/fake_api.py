"""A surface with one made-up program, so that commands are tested for what they do with answers, findings and faults.

A "model file" is a line of text: `ok`, or what shall go wrong. The end-to-end tests use the real surface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from commonir.base import codes, file_codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from commonir.base.files import atomic_file
from commonir.reports import (
    Change,
    Comparison,
    Differences,
    Divergence,
    DoctorReport,
    EngineReport,
    FileEntry,
    FormatReport,
    FunctionSummary,
    OperationDifference,
    OperationEntry,
    PackageReport,
    Port,
    Profile,
    ProfileEntry,
    SavedDrawing,
    ShapeEntry,
    Summary,
    ValueDifference,
    WeightDifference,
)
from commonir.runtime.comparing.comparison import compare_outputs, default_rtol

__all__ = ["compare_outputs", "default_rtol"]

DEFAULT_ENGINE = "numpy"

LOSS = codes.Code("W0699", "something is lost", "For the tests.", severity=Severity.WARNING)
EVIL = "conv\x1b[31m\u202e[bold]"


class Function:
    """A function of which nothing is known beyond its types."""

    input_ports: Mapping[str, Port] = {}
    output_ports: Mapping[str, Port] = {}


class Module:
    """The program of a file."""

    def __init__(self, mood: str, format: str) -> None:
        self.mood = mood
        self.format = format

    def function(self, name: str | None) -> Function:
        return Function()


def load(path: str, format: str | None = None, *, findings: Diagnostics | None = None, lenient: bool = False) -> Module:
    mood = Path(path).read_text().strip()
    match mood:
        case "unreadable":
            raise DiagnosticError(
                Diagnostic(file_codes.EMPTY_FILE, "the file is empty", file=path, help="fetch it again")
            )
        case "crash":
            raise ValueError(f"unexpected {EVIL}")
        case "interrupt":
            raise KeyboardInterrupt
        case "memory":
            raise MemoryError
        case _:
            return Module(mood, format or "coreml")


def verify(module: Module) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    if module.mood in ("wrong", "lossy"):
        code = codes.WRONG_TYPE if module.mood == "wrong" else LOSS
        found.append(Diagnostic(code, f"operand 'x' of '{EVIL}' is f16", where=f"main.operations[3] '{EVIL}'"))
    return found


def check(path: str) -> tuple[Module | None, list[Diagnostic]]:
    module = load(path)
    return module, verify(module)


def programs_of(paths: Sequence[str]) -> list[tuple[str, ...]]:
    return [(path,) for path in paths]


def random_inputs(
    module: Module,
    *,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    given: Mapping[str, NDArray[np.generic]] | None = None,
) -> dict[str, NDArray[np.generic]]:
    size = (dims or {}).get("d", 2)
    drawn = {"x": np.random.default_rng(seed).standard_normal((1, size)).astype(np.float32)}
    return drawn | dict(given or {})


def run(
    module: Module,
    inputs: Mapping[str, NDArray[np.generic]],
    *,
    engine: str | None = None,
    function: str | None = None,
    seed: int = 0,
    state: object = None,
    options: object = None,
) -> dict[str, NDArray[np.generic]]:
    if engine not in (None, "numpy", "onnxruntime"):
        raise DiagnosticError(Diagnostic(codes.UNKNOWN_ENGINE, f"no engine '{engine}'"))
    x = inputs["x"].astype(np.float32)
    y = x * np.float32(2)
    if module.mood == "differs" and engine == "onnxruntime":
        y[0, 1] += 1
    return {"y": y, "z": np.asarray([3, -1], np.int32)}


class State(dict[str, NDArray[np.generic]]):
    pass


def lower(module: Module, *, defer: bool = False) -> Module:
    return module


def engine_options(**options: object) -> dict[str, object]:
    return options


def run_steps(
    module: Module,
    inputs: Mapping[str, NDArray[np.generic]],
    *,
    steps: int | None,
    engine: str | None,
    function: str | None,
    seed: int,
    dims: Mapping[str, int],
    state: State,
    options: object,
    ranks: int | None,
    parallel: str | None,
    findings: Diagnostics,
) -> tuple[dict[str, NDArray[np.generic]], dict[str, NDArray[np.generic]]]:
    drawn = random_inputs(module, function=function, seed=seed, dims=dims, given=inputs)
    return drawn, run(module, drawn, engine=engine, function=function, seed=seed)


def input_ports(module: Module, *, function: str | None) -> Mapping[str, Port]:
    return module.function(function).input_ports


def output_ports(module: Module, *, function: str | None) -> Mapping[str, Port]:
    return module.function(function).output_ports


def call_attributes(module: Module, function: str | None) -> tuple[str, ...] | None:
    return None


def runs(module: Module) -> tuple[str | None, ...]:
    return (None,)


def together(engine: str | None) -> AbstractContextManager[bool]:
    return nullcontext(True)


def unlike_stated(
    module: Module, outputs: Mapping[str, NDArray[np.generic]], *, function: str | None
) -> list[Diagnostic]:
    return []


def run_with_onnxruntime(
    path: str, inputs: Mapping[str, NDArray[np.generic]], *, state: State, options: object
) -> dict[str, NDArray[np.generic]]:
    return run(load(path), inputs, engine="onnxruntime")


def output_format(path: str) -> str:
    if path.endswith(".onnx"):
        return "onnx"
    raise DiagnosticError(Diagnostic(codes.UNKNOWN_OUTPUT_FORMAT, f"no format has the suffix of '{path}'"))


def file_format(to: str) -> str:
    return to


def convert(
    module: Module,
    to: str,
    *,
    findings: Diagnostics | None = None,
    **choices: object,
) -> Module:
    CHOSEN.clear()
    CHOSEN.update({name: value for name, value in choices.items() if value})
    if module.mood == "lossy" and findings is not None:
        findings.extend(verify(module))
    return Module(module.mood, to)


CHOSEN: dict[str, object] = {}
"""What the last conversion was asked for."""


def image_input(color: str, scale: float, bias: tuple[float, ...]) -> tuple[object, ...]:
    return color, scale, bias


def run_converted(
    source: Module, converted: Module, inputs: Mapping[str, NDArray[np.generic]], **options: object
) -> dict[str, NDArray[np.generic]]:
    return run(converted, inputs)


def writable_format(module: Module) -> str:
    return module.format


def edit(module: Module, **changes: object) -> Module:
    return module


def extract(module: Module, sources: list[str], targets: list[str], *, function: str | None = None) -> Module:
    return module


def optimize(module: Module, **choices: object) -> Module:
    return module


def bundle(module: Module) -> Module:
    return module


def tablegen_json(path: str, include_dirs: tuple[str, ...], defines: tuple[str, ...]) -> str:
    return "{}\n"


def library(dialect: str) -> Module:
    return Module("ok", dialect)


def compare(
    a: Module, b: Module | None, inputs: Mapping[str, NDArray[np.generic]], *, engines: tuple[str, ...], **how: object
) -> Comparison:
    is_within = a.mood != "differs"
    value = ValueDifference(EVIL, "mil.conv", "onnx.Conv", "f32", "f32", is_within, 0.5, 0.1, 0.2, 0.9, 0.1, 0.01)
    found = () if is_within else (Divergence(value, (EVIL,), (f"mil.conv '{EVIL}'",), (f"onnx.Conv '{EVIL}'",)),)
    names = engines or ("numpy", "numpy")
    return Comparison((names[0], names[-1]), "main", (value,), (), (EVIL,), (), found, (1, 1), (4, 4))


def save(
    module: Module,
    path: str,
    *,
    format: str | None = None,
    external_data: bool | None = None,
    findings: Diagnostics | None = None,
) -> tuple[FileEntry, ...]:
    with atomic_file(path) as out:
        out.write(module.mood.encode())
    return (FileEntry(path, Path(path).stat().st_size),)


MLIR = "mlir"


def show(
    module: Module,
    *,
    generic: bool = False,
    node: str | None = None,
    around: int = 0,
    elide: bool = True,
    syntax: str = MLIR,
    names: str = "",
    locations: bool = False,
) -> str:
    options = f"generic={generic} node={node} around={around} elide={elide} syntax={syntax}"
    options += f" names={names}" * bool(names) + " locations" * locations
    return f"module {{ {EVIL} }} // {options}\n"


def summarize(
    module: Module, *, with_flops: bool = False, with_weights: bool = False, with_ranks: bool = False
) -> Summary:
    function = FunctionSummary(
        name="main",
        opset="CoreML7",
        inputs=(Port("x", "tensor<1x?xf32>", "d in 1..8"),),
        outputs=(Port("y", "tensor<1x?xf32>"), Port("z", "tensor<2xi32>")),
        states=(),
        operations={EVIL: 3, "mil.add": 1},
    )
    return Summary(
        format=module.format,
        title="Core ML package" if module.format == "coreml" else "ONNX model",
        producer="a test",
        entry="main",
        functions=(function,),
        parameter_count=25_557_032,
        weight_bytes={"f16": 51_000_000, "i8": 512},
        element_types=("f32", "i32"),
        metadata={"author": EVIL},
        files=(FileEntry("weights/weight.bin", 51_000_512),),
        flops="2 * d" if with_flops else None,
    )


def view(
    module: Module,
    path: str,
    *,
    other: Module | None = None,
    to: str | None = None,
    title: str = "",
    other_title: str = "",
) -> SavedDrawing:
    with atomic_file(path) as out:
        out.write(b"<svg/>")
    return SavedDrawing(path, 6, 10, 20, f"a picture of {title}", (EVIL,), ("something is left out",))


def shapes(
    module: Module, sizes: Mapping[str, int] | None = None, *, with_constants: bool = False
) -> tuple[ShapeEntry, ...]:
    size = (sizes or {}).get("N", "N")
    constants = (ShapeEntry("main", "w", "mil.const", "tensor<3xf32>"),) if with_constants else ()
    return (ShapeEntry("main", "x", "input", f"tensor<{size}x3xf32>"), *constants)


def diff(a: Module, b: Module, *, tolerance: float | None = None, measure: bool = False) -> Differences:
    changes = (Change("axis", "1", "2"), Change("x", EVIL, ""))
    changed = OperationDifference("changed", "main", "y", EVIL, "mil.softmax", "mil.softmax", changes)
    weight = WeightDifference("w", "w", "tensor<3xf32>", "tensor<3xf32>", 3, tolerance is not None)
    measured = weight.replaced(largest=0.5, relative=0.1, beyond=1) if measure else weight
    operations = () if tolerance else (changed,) * 30
    return Differences(("coreml", "coreml"), "coreml", (), (), operations, (measured,), 4, 2)


def profile(
    module: Module,
    inputs: Mapping[str, NDArray[np.generic]],
    *,
    engine: str | None = None,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    warmup: int = 1,
    repeat: int = 5,
    options: object = None,
    tell: Callable[[str], None] = print,
) -> Profile:
    tell("running the whole")
    entries = [ProfileEntry(f"v{n}", "mil.conv", EVIL, ("core.conv",), n / 8, n / 9, n, 10**9) for n in range(1, 31)]
    return Profile(engine or "numpy", function or "main", repeat, 3.0, 2.0, 1.5e-3, 4e-6, 5000, tuple(entries))


def save_trace(found: Profile, path: str) -> None:
    Path(path).write_text(found.engine)


def operations(dialect: str | None = None, *, dialects: object = ()) -> tuple[OperationEntry, ...]:
    return (OperationEntry("mil.conv", "Convolution.", "ios15"), OperationEntry("mil.add", "Sum.", "ios15"))


def reference_page(name: str, *, dialects: object = ()) -> str:
    if name != "mil.conv":
        raise DiagnosticError(Diagnostic(codes.UNKNOWN_REFERENCE, f"no operation or dialect '{name}'"))
    return "# mil.conv\n\nConvolution.\n"


def doctor() -> DoctorReport:
    return DoctorReport(
        version="0.1.0",
        python="3.11.7",
        platform="Linux",
        packages=(PackageReport("numpy", "2.3.5"), PackageReport("onnxruntime", None, "ort")),
        engines=(EngineReport("numpy", True), EngineReport("onnxruntime", False, "needs onnxruntime")),
        formats=(FormatReport("coreml", (".mlpackage",), True, False), FormatReport("onnx", (".onnx",), True, True)),
    )
