"""The stages that a changed model goes through, with limits, and how each of them ended."""

from __future__ import annotations

import random
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import commonir
from commonir.api import json_inputs, load_overlay
from commonir.base.diagnostics import Diagnostics
from commonir.cli.stored_arrays import is_stored

from tests.hostile.cases import ARRAYS, IMAGES, RESULTS, Mutant, write_mutant
from tests.wild.files import Case, WildFile
from tests.wild.outcomes import Outcome, Verdict

STAGE_SECONDS = 5.0
"""CPU time of one stage."""
CASE_SECONDS = 60.0
"""CPU time of all stages of a case; for what no signal ends."""
MOST_EXTRA_BYTES = 10**9
"""Memory beyond that of the process and the size of the files."""
_ADDRESS_BYTES = 6 << 30
_RUN_SECONDS, _RUN_BYTES = 2.0, 400_000_000
_TARGETS = ("onnx", "mil", "ark", "stablehlo", "linalg", "common_ir", "tosa")
_LEVELS = ("exact", "fast")
_OPSETS = (7, 9, 11, 13, 17, 18, 21, 22)
_DRAWINGS = ("html", "svg")
_EXTERNAL = (None, True, False, "each")
_SOURCE = Path(commonir.__file__).parent


class _TooSlow(BaseException):
    """A stage takes more CPU time than it may."""


class Judge:
    """Judges cases, in a process of limited memory."""

    def __init__(self, *, limits_memory: bool = True) -> None:
        self._limits_memory = limits_memory
        if limits_memory:
            import resource  # noqa: PLC0415  not on Windows

            resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_BYTES, _ADDRESS_BYTES))

    def __call__(self, case: Mutant) -> list[Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            path = write_mutant(case, Path(folder))
            size_bytes = sum([p.stat().st_size for p in Path(folder).rglob("*") if p.is_file()])
            return self._stages(case, path, size_bytes)

    def _stages(self, case: Mutant, path: Path, size_bytes: int) -> list[Outcome]:
        out: list[Outcome] = []
        program: list[commonir.Module] = []
        for name, stage in _stages_of(path, case.seed.model, random.Random(case.number)):
            outcome = self._judged(case_of(case, name), stage, path, program, size_bytes)
            out.append(outcome)
            if name == "check" and not program:
                break
        return out

    def _judged(self, case: Case, stage: Stage, path: Path, program: list[commonir.Module], size_bytes: int) -> Outcome:
        start = time.process_time()
        before = self._resident_bytes(reset=True)
        verdict, reason = Verdict.RIGHT, ""
        try:
            with _time_limit(STAGE_SECONDS):
                stage(path, program)
        except commonir.DiagnosticError as error:
            first = error.diagnostics[0]
            verdict, reason = Verdict.REFUSED, f"{first.code.id} {first.message}"
        except _TooSlow as error:
            verdict, reason = Verdict.HANG, f"over {STAGE_SECONDS:g} s of CPU time: {_place_of(error)}"
        except BaseException as error:  # noqa: BLE001  one case must not end the others
            text = str(error).partition("\n")[0]
            verdict, reason = Verdict.CRASH, f"{type(error).__name__} {_place_of(error)}: {text}"
        extra = self._resident_bytes(reset=False) - before - size_bytes
        if extra > MOST_EXTRA_BYTES and verdict in (Verdict.RIGHT, Verdict.REFUSED):
            verdict, reason = Verdict.CRASH, f"memory: {extra // 10**6} MB beyond the size of the file; {reason}"
        return Outcome(case, verdict, reason, time.process_time() - start)

    def _resident_bytes(self, *, reset: bool) -> int:
        """Returns the memory of the process: now, from when on the peak is counted anew, or the peak since then."""
        if not self._limits_memory:
            return 0
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        field = "VmRSS:" if reset else "VmHWM:"
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def case_of(case: Mutant, stage: str) -> Case:
    """Returns the stage of a case under the name by which the tables list it."""
    return Case(WildFile(case.seed.entry, f"{case.seed.name} --number {case.number}"), stage)


def ended(case: Mutant, reason: str) -> list[Outcome]:
    """Returns the outcome of a case whose process ended or was ended."""
    verdict = Verdict.HANG if reason.startswith("no end") else Verdict.CRASH
    return [Outcome(case_of(case, "process"), verdict, reason)]


@contextmanager
def _time_limit(seconds: float) -> Generator[None]:
    """Raises an exception in the block after some CPU time, which a busy machine does not change."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise _TooSlow

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _place_of(error: BaseException) -> str:
    """Returns the last functions of the package in a traceback, the innermost first."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(_SOURCE))]
    names = [f"{Path(f.filename).relative_to(_SOURCE.parent).as_posix().replace('/', '.')}:{f.name}" for f in frames]
    return " < ".join(list(dict.fromkeys(reversed(names)))[:2])


# -- stages

Stage = Callable[[Path, list[commonir.Module]], object]
"""Gets the path and the program, which is in the list once it is open."""


def _stages_of(path: Path, model: Path, rng: random.Random) -> list[tuple[str, Stage]]:
    stored = [("stored", _read_stored)] if is_stored(str(path)) else []
    if path.suffix in ARRAYS:
        return [("arrays", _read_arrays), *stored]
    if path.suffix in IMAGES:
        return [("image", lambda path, _: _read_image(path, model))]
    if path.suffix == ".td":
        return [("records", _read_records), ("rules", _read_rules)]
    if path.name.endswith(RESULTS):
        return [
            ("overlay", lambda path, _: _read_report(path, model)),
            *stored,
            ("inputs", lambda path, _: json_inputs(commonir.load(model), path.read_bytes())),
        ]
    target, level, opset, drawing = (
        rng.choice(_TARGETS),
        rng.choice(_LEVELS),
        rng.choice(_OPSETS),
        rng.choice(_DRAWINGS),
    )
    where, seed = rng.choice(_EXTERNAL), rng.random()
    return [
        ("load", _load),
        ("show", lambda path, _: commonir.show(commonir.load(path, lenient=True))),
        ("check", lambda path, _: commonir.check(path)),
        ("info", lambda _, program: str(commonir.summarize(program[0]))),
        ("run", _run),
        ("opt", lambda _, program: commonir.optimize(program[0], level=level)),
        ("opset", lambda _, program: commonir.convert(program[0], "onnx", opset=opset)),
        ("convert", lambda _, program: commonir.convert(program[0], target)),
        ("save", lambda path, program: _save(path, program, where)),
        ("view", lambda path, program: _view(path, program, drawing)),
        ("diff", lambda _, program: str(commonir.diff(program[0], commonir.optimize(program[0]), measure=True))),
        ("edit", lambda _, program: _edit(program, random.Random(seed))),
        ("fix", lambda path, _: commonir.fix(path)),
        ("shapes", lambda _, program: str(commonir.shapes(program[0]))),
    ]


def _load(path: Path, program: list[commonir.Module]) -> None:
    program.append(commonir.load(path, lenient=False, findings=Diagnostics()))


def _run(path: Path, program: list[commonir.Module]) -> None:
    del path
    options = commonir.engine_options(memory_limit_bytes=_RUN_BYTES, time_limit_seconds=_RUN_SECONDS)
    commonir.run(program[0], options=options)


def _save(path: Path, program: list[commonir.Module], external_data: bool | str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / path.name
        has_choice = path.suffix in (".onnx", ".cir")
        commonir.save(program[0], place, external_data=external_data if has_choice else None)
        commonir.load(place)


def _view(path: Path, program: list[commonir.Module], drawing: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        commonir.view(program[0], Path(folder) / f"drawing.{drawing}", title=path.name)


def _edit(program: list[commonir.Module], rng: random.Random) -> None:
    """Changes the interface at random; a part that is extracted is refused or whole."""
    module = program[0]
    inputs, outputs = [v.name or "" for v in module.inputs], [v.name or "" for v in module.outputs]
    inner = [v.name for op in module.main.body.operations for v in op.results if v.name]
    renamed = rng.choice([*inputs, *outputs, *inner, "x"])
    match rng.randrange(5):
        case 0:
            commonir.edit(module, rename={renamed: rng.choice((*inputs, *outputs, "\x1b[31m", "new"))})
        case 1:
            commonir.edit(module, dims={f"{rng.choice([*inputs, 'x'])}.{rng.randrange(3)}": rng.choice((1, 7, "n"))})
        case 2:
            commonir.edit(module, inputs={rng.choice([*inputs, "x"]): None}, metadata={"author": "a\0b"})
        case 3:
            commonir.edit(module, add_outputs=[rng.choice([*inner, "x"])], drop_outputs=outputs[:1])
        case _:
            commonir.extract(module, [rng.choice([*inputs, *inner, "x"])], [rng.choice([*inner, *outputs, "y"])])


def _read_arrays(path: Path, program: list[commonir.Module]) -> None:
    del program
    from commonir.cli.arrays import parse_inputs, summarize_array  # noqa: PLC0415

    text = f"x=@{path}" if path.suffix == ".npy" else f"@{path}"
    for name, array in parse_inputs([text], seed=0).items():
        str(summarize_array(name, array))


def _read_stored(path: Path, program: list[commonir.Module]) -> None:
    del program
    from commonir.cli.stored_arrays import has_sets, read_stored  # noqa: PLC0415

    has_sets(str(path))
    read_stored(str(path))


def _read_report(path: Path, model: Path) -> None:
    str(commonir.view(commonir.load(model), overlay=load_overlay(path, model)))


def _read_image(path: Path, model: Path) -> None:
    program = commonir.load(model)
    [name] = [v.name for v in program.inputs]
    commonir.read_image(program, name or "", path, resize=True)


def _read_records(path: Path, program: list[commonir.Module]) -> None:
    del program
    commonir.load_dialects(path)


def _read_rules(path: Path, program: list[commonir.Module]) -> None:
    del program
    commonir.load_rules(path)
