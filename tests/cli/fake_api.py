"""The API with one made-up program, so that commands are tested for what they do with answers, findings and faults.

A "model file" is a line of text: `ok`, or what shall go wrong. The end-to-end tests use the real API, from which names
and parameters are derived: a call that the real function refuses fails here too. Of functions without an answer here,
those that return a program return the one they were called with; everything else is the real thing.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import commonir
from commonir.base import codes, file_codes
from commonir.base.arrays import flat_values
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from commonir.base.files import atomic_file
from commonir.inputs.steps import Steps
from commonir.inspection.faults.failing_conversions import FailingConversion
from commonir.inspection.faults.reducing import Part
from commonir.reports import (
    CacheReport,
    Change,
    Comparison,
    Compilation,
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
    ProfileComparison,
    ProfileEntry,
    ProfileRow,
    Reduction,
    SavedDrawing,
    ShapeEntry,
    Summary,
    ValueDifference,
    WeightDifference,
)

Arrays = Mapping[str, NDArray[np.generic]]
T = TypeVar("T")

LOSS = codes.Code("W0699", "something is lost", "For the tests.", severity=Severity.WARNING)
_OF_THE_ANSWER = object()
EVIL = "conv\x1b[31m\u202e[bold]"


_API = Path(commonir.__file__).parent / "api"
__path__ = [str(_API)]  # its modules are found below this one too


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _names() -> dict[str, str]:
    """Returns the module that each name of the API comes from. All is read: loading it takes longer than a test may."""
    imports = [node for node in _parsed(_API / "__init__.pyi").body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports if node.module for alias in node.names}


@cache
def _functions(module: str) -> dict[str, ast.FunctionDef]:
    path = _API / f"{module.removeprefix('commonir.api.')}.py"
    return {node.name: node for node in _parsed(path).body if isinstance(node, ast.FunctionDef)}


def _parameters(name: str) -> inspect.Signature:
    """Returns the parameters of a function of the API; a default that is not written out is that of the answer."""
    arguments = _functions(_names()[name])[name].args
    first_default = len(arguments.args) - len(arguments.defaults)
    defaults = [None] * first_default + arguments.defaults
    result = [
        _parameter(a.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, d)
        for a, d in zip(arguments.args, defaults, strict=True)
    ]
    for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        result.append(_parameter(a.arg, inspect.Parameter.KEYWORD_ONLY, d))
    return inspect.Signature(result)


def _parameter(name: str, form: Any, default: ast.expr | None) -> inspect.Parameter:
    if default is None:
        return inspect.Parameter(name, form)
    try:
        return inspect.Parameter(name, form, default=ast.literal_eval(default))
    except ValueError:
        return inspect.Parameter(name, form, default=_OF_THE_ANSWER)


def answer(function: Callable[..., T]) -> Callable[..., T]:
    """Answers the calls of the function of the API with this name; parameters without use are left out."""
    own = inspect.signature(function).parameters
    named = [name for name, p in own.items() if p.kind is not p.VAR_KEYWORD]
    parameters = _parameters(function.__name__)
    assert parameters.parameters.keys() >= {*named}, function.__name__

    @wraps(function)
    def call(*args: object, **kwargs: object) -> T:
        bound = parameters.bind(*args, **kwargs)
        more = {k: v for k, v in bound.arguments.items() if k not in named} if len(named) < len(own) else {}
        bound.apply_defaults()
        known = {k: bound.arguments[k] for k in named if bound.arguments[k] is not _OF_THE_ANSWER}
        return function(**known, **more)

    return call


def __getattr__(name: str) -> Any:
    module = _names().get(name)
    if module is None:
        raise AttributeError(name)
    returns = (
        _functions(module)[name].returns if module.startswith("commonir.api.") and name in _functions(module) else None
    )
    if isinstance(returns, ast.Name) and returns.id == "Module":
        return lambda module, *_, **__: module
    return getattr(import_module(module), name)


class Module:
    """The program of a file."""

    def __init__(self, mood: str, format: str) -> None:
        self.mood = mood
        self.format = format


@answer
def fitted_inputs(inputs: Arrays) -> Arrays:
    return inputs


@answer
def unknown_inputs() -> list[Diagnostic]:
    return []


@answer
def load(path: str, format: str | None) -> Module:
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


@answer
def verify(module: Module) -> list[Diagnostic]:
    diagnostics: list[Diagnostic] = []
    if module.mood in ("wrong", "lossy"):
        code = codes.WRONG_TYPE if module.mood == "wrong" else LOSS
        diagnostics.append(Diagnostic(code, f"operand 'x' of '{EVIL}' is f16", where=f"main.operations[3] '{EVIL}'"))
    return diagnostics


@answer
def check(path: str) -> tuple[Module | None, list[Diagnostic]]:
    module = load(path)
    return module, verify(module)


@answer
def file_count(module: Module) -> int:
    del module
    return 1


@answer
def maps_weights(module: Module) -> bool:
    del module
    return False


def programs_of(paths: Sequence[str]) -> list[tuple[str, ...]]:
    return [(path,) for path in paths]


@answer
def random_inputs(seed: int, dims: Mapping[str, int] | None, given: Arrays | None) -> dict[str, NDArray[np.generic]]:
    size = (dims or {}).get("d", 2)
    drawn = {"x": np.random.default_rng(seed).standard_normal((1, size)).astype(np.float32)}
    return drawn | dict(given or {})


@answer
def run(module: Module, inputs: Arrays, engine: str | None) -> dict[str, NDArray[np.generic]]:
    if engine not in (None, "numpy", "onnxruntime"):
        raise DiagnosticError(Diagnostic(codes.UNKNOWN_ENGINE, f"no engine '{engine}'"))
    x = inputs["x"].astype(np.float32)
    y = x * np.float32(2)
    if module.mood == "differs" and engine == "onnxruntime":
        y[0, 1] += 1
    return {"y": y, "z": np.asarray([3, -1], np.int32)}


@answer
def together() -> AbstractContextManager[bool]:
    return nullcontext(True)


@answer
def compile(module: Module, path: str) -> Compilation:
    files = (FileEntry(f"{path}/net.o", 1),)
    return Compilation(path, files, ("main",), "x86_64-unknown-linux-gnu", "x86-64", (), 64, ())


@answer
def engine_options() -> None:
    return None


@answer
def run_steps(module: Module, inputs: Arrays, engine: str | None, seed: int, dims: Mapping[str, int] | None) -> Steps:
    drawn = random_inputs(module, seed=seed, dims=dims, given=inputs)
    return Steps(drawn, run(module, drawn, engine=engine), engine or "numpy")


@answer
def input_ports() -> Mapping[str, Port]:
    return {}


@answer
def output_ports() -> Mapping[str, Port]:
    return {}


@answer
def call_attributes() -> tuple[str, ...] | None:
    return None


@answer
def runs() -> tuple[str | None, ...]:
    return (None,)


@answer
def shape_mismatches() -> list[Diagnostic]:
    return []


@answer
def flat_arrays(values: Arrays) -> tuple[dict[str, NDArray[np.generic]], list[str]]:
    return flat_values(values)


@answer
def run_with_onnxruntime(path: str, inputs: Arrays) -> dict[str, NDArray[np.generic]]:
    return run(load(path), inputs, engine="onnxruntime")


@answer
def output_format(path: str) -> str:
    if path.endswith(".onnx"):
        return "onnx"
    raise DiagnosticError(Diagnostic(codes.UNKNOWN_OUTPUT_FORMAT, f"no format has the suffix of '{path}'"))


@answer
def convert(module: Module, to: str, findings: Diagnostics | None, **choices: object) -> Module:
    CHOSEN.clear()
    CHOSEN.update({name: value for name, value in choices.items() if value})
    if module.mood == "lossy" and findings is not None:
        findings.extend(verify(module))
    return Module(module.mood, to)


CHOSEN: dict[str, object] = {}
"""The choices of the last conversion."""


@answer
def image_input(color: str, scale: float, bias: tuple[float, ...], layout: str = "") -> tuple[object, ...]:
    return color, scale, bias


@answer
def run_converted(converted: Module, inputs: Arrays) -> dict[str, NDArray[np.generic]]:
    return run(converted, inputs)


@answer
def writable_format(module: Module) -> str:
    return module.format


@answer
def has_external_data(format: str) -> bool:
    return format == "onnx"


@answer
def tablegen_json() -> str:
    return "{}\n"


@answer
def library(dialect: str) -> Module:
    return Module("ok", dialect)


@answer
def compare(a: Module, engines: Sequence[str]) -> Comparison:
    is_within = a.mood != "differs"
    value = ValueDifference(EVIL, "mil.conv", "onnx.Conv", "f32", "f32", is_within, 0.5, 0.1, 0.2, 0.9, 0.1, 0.01)
    result = () if is_within else (Divergence(value, (EVIL,), (f"mil.conv '{EVIL}'",), (f"onnx.Conv '{EVIL}'",)),)
    names = engines or ("numpy", "numpy")
    return Comparison((names[0], names[-1]), "main", (value,), (), (EVIL,), (), result, (1, 1), (4, 4))


@answer
def conversion_fails(format: str) -> FailingConversion:
    return FailingConversion(str, format)


@answer
def reduce(module: Module) -> Part | None:
    return None if module.mood == "differs" else Part(module, {}, (EVIL,))  # pyright: ignore[reportArgumentType]


@answer
def reduction_of(output: str, runs: int) -> Reduction:
    return Reduction(output, None, 2, 1, (EVIL,), (EVIL,), (EVIL,), runs)


@answer
def save(module: Module, path: str) -> tuple[FileEntry, ...]:
    with atomic_file(path) as out:
        out.write(module.mood.encode())
    return (FileEntry(path, Path(path).stat().st_size),)


@answer
def show(
    generic: bool,
    node: str | None,
    around: int | None,
    complete: bool,
    elide: bool,
    names: str,
    locations: bool,
    syntax: str = "mlir",
) -> str:
    options = f"generic={generic} node={node} around={around} elide={elide} syntax={syntax}"
    options += " complete" * complete + f" names={names}" * bool(names) + " locations" * locations
    return f"module {{ {EVIL} }} // {options}\n"


@answer
def summarize(module: Module, with_flops: bool) -> Summary:
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


@answer
def view(path: str, title: str) -> SavedDrawing:
    with atomic_file(path) as out:
        out.write(b"<svg/>")
    return SavedDrawing(path, 6, 10, 20, f"a picture of {title}", (EVIL,), ("something is left out",))


@answer
def shapes(dims: Mapping[str, int] | None, with_constants: bool) -> tuple[ShapeEntry, ...]:
    size = (dims or {}).get("N", "N")
    constants = (ShapeEntry("main", "w", "mil.const", "tensor<3xf32>"),) if with_constants else ()
    return (ShapeEntry("main", "x", "input", f"tensor<{size}x3xf32>"), *constants)


@answer
def diff(tolerance: float | None, measure: bool) -> Differences:
    changes = (Change("axis", "1", "2"), Change("x", EVIL, ""))
    changed = OperationDifference("changed", "main", "y", EVIL, "mil.softmax", "mil.softmax", changes)
    weight = WeightDifference("w", "w", "tensor<3xf32>", "tensor<3xf32>", 3, tolerance is not None)
    measured = weight.replaced(largest=0.5, relative=0.1, beyond=1) if measure else weight
    operations = () if tolerance else (changed,) * 30
    return Differences(("coreml", "coreml"), "coreml", (), (), operations, (measured,), 4, 2)


@answer
def profile_engines(
    engines: Sequence[str], function: str | None, repeat: int, on_progress: Callable[[str], None] = print
) -> ProfileComparison:
    on_progress("running the whole program")
    entries = [ProfileEntry(f"v{n}", "mil.conv", EVIL, ("core.conv",), n / 8, n / 9, n, 10**9) for n in range(1, 31)]
    profiles = [
        Profile(engine, function or "main", repeat, 3.0, 2.0, 1.5e-3, 4e-6, 5000, tuple(entries)) for engine in engines
    ]
    rows = (ProfileRow("mil.conv", (30,) * len(engines), (2.0,) * len(engines)),)
    return ProfileComparison(tuple(profiles), rows, rows)


@answer
def save_trace(profiles: ProfileComparison, path: str) -> None:
    Path(path).write_text(profiles.profiles[0].engine)


@answer
def save_profile(profiles: ProfileComparison, path: str) -> None:
    Path(path).write_text(f"<!DOCTYPE html>{len(profiles.profiles)}")


@answer
def operations() -> tuple[OperationEntry, ...]:
    return (OperationEntry("mil.conv", "Convolution.", "ios15"), OperationEntry("mil.add", "Sum.", "ios15"))


@answer
def reference_page(name: str) -> str:
    if name != "mil.conv":
        raise DiagnosticError(Diagnostic(codes.UNKNOWN_REFERENCE, f"no operation or dialect '{name}'"))
    return "# mil.conv\n\nConvolution.\n"


@answer
def doctor(*, clear_cache: bool = False) -> DoctorReport:
    return DoctorReport(
        version="0.1.0",
        python="3.11.7",
        platform="Linux",
        packages=(PackageReport("numpy", "2.3.5"), PackageReport("onnxruntime", None, "ort")),
        engines=(EngineReport("numpy", True), EngineReport("onnxruntime", False, "needs onnxruntime")),
        formats=(FormatReport("coreml", (".mlpackage",), True, False), FormatReport("onnx", (".onnx",), True, True)),
        cache=CacheReport("/cache/compiled", 0 if clear_cache else 2, 0 if clear_cache else 5_000_000, 2_000_000_000),
    )
