"""Compares `cir opt` at both levels with onnxslim on ONNX models: nodes, onnxruntime's time, bytes, outputs.

    python -m benchmarks.graph_optimization PATHS.. [--exports FOLDER] [--only TEXT] [--least N] [--no-time]

Paths are models, or folders that are searched for them. Nodes count in all nested graphs, without `Constant`. Times are
the CPU time of onnxruntime on one thread, without its own optimization and with all of it: each model is in a process
of its own, and the processes of one source take turns. Outputs are compared with those of the source, both without
optimization: equal bit for bit, or the largest difference over the largest magnitude. Models of less than N nodes (20)
are left out.

With torch and transformers, `--exports` first makes the models of `graph_exports` in a folder. Needs onnxslim.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray

import commonir

from benchmarks.harness import report

Array = NDArray[np.generic]

_OURS = (sys.executable, "-m", "commonir", "opt", "--no-check")
_SLIM = "import sys, onnxslim; onnxslim.slim(sys.argv[1], sys.argv[2])"
_LIMIT_SECONDS = 600
_ROUNDS = 10
_LEAST_NODES = 20
_ERROR = 1e-4
_HALF_ERROR = 2e-2
_NODES_OF_ONE, _BYTES, _NOISE = 1.05, 1.01, 1.02
"""How much more nodes a model may have, how many more bytes than its source, and how far runs of one model differ."""

_TIMER = """
import sys, time
import numpy, onnxruntime
inputs = dict(numpy.load(sys.argv[2]))
sessions = []
for level in (onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = level
    sessions.append(onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"]))
inputs = {i.name: inputs[i.name] for i in sessions[0].get_inputs()}
for session in sessions:
    session.run(None, inputs)
print("ready", flush=True)
for line in sys.stdin:
    for session in sessions:
        count, start = 0, time.process_time()
        while count < 2 or time.process_time() - start < 0.015:
            session.run(None, inputs)
            count += 1
        print((time.process_time() - start) / count, end=" ")
    print(flush=True)
"""
_VARIANTS = ("cir", "fast", "slim")
_COLUMNS = ("off", "default")


class _Result(NamedTuple):
    """An optimized model: nodes, bytes over those of the source, the difference of outputs (NaN: not compared), and
    times over the source's, without onnxruntime's optimization and with it.
    """

    nodes: int
    bytes: float
    error: float
    times: Mapping[str, float]


class _Comparison(NamedTuple):
    """A model with the results by variant; a string says why there is none."""

    name: str
    nodes: int
    results: Mapping[str, _Result | str]

    def of(self, variant: str) -> _Result | None:
        result = self.results[variant]
        return result if isinstance(result, _Result) else None

    def node_ratio(self, variant: str) -> float | None:
        """Returns nodes over those that onnxslim leaves; a result that does not compute the same does not count."""
        ours, theirs = self.of(variant), self.of("slim")
        return None if ours is None or theirs is None else max(ours.nodes, 1) / max(theirs.nodes, 1)

    def time_ratio(self, variant: str, setting: str) -> float | None:
        ours, theirs = self.of(variant), self.of("slim")
        if ours is None or theirs is None or not ours.times or not theirs.times:
            return None
        return ours.times[setting] / theirs.times[setting]


def main() -> int:
    """Prints the table and the means; the exit status is 1 when a target is missed."""
    arguments = _arguments()
    if arguments.exports is not None:
        if importlib.util.find_spec("torch") is not None:
            subprocess.run([sys.executable, "-m", "benchmarks.graph_exports", str(arguments.exports)], check=True)
        arguments.paths.append(arguments.exports)
    _print_row("model", "source", *_VARIANTS, "of slim", "fast", "bytes", "outputs", *_COLUMNS)
    comparisons: list[_Comparison] = []
    seen: set[bytes] = set()
    for path in _models(arguments.paths):
        content = path.read_bytes()
        if arguments.only not in str(path) or content in seen:
            continue
        seen.add(content)
        comparison = _compared(path, arguments.least, with_times=not arguments.no_time)
        if comparison is not None:
            comparisons.append(comparison)
            _print_comparison(comparison)
    print()
    results = [_print_summary(comparisons, v) for v in _VARIANTS[:2]]
    return 0 if all(results) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATHS")
    parser.add_argument("--exports", type=Path, metavar="FOLDER", help="make exports of torch here, and compare them")
    parser.add_argument("--only", default="", metavar="TEXT", help="models whose path has this text")
    parser.add_argument("--least", type=int, default=_LEAST_NODES, metavar="N", help="nodes that a model has at least")
    parser.add_argument("--no-time", action="store_true", help="compare nodes, bytes and outputs only")
    return parser.parse_args()


def _models(paths: Iterable[Path]) -> list[Path]:
    return [p for path in paths for p in (sorted(path.rglob("*.onnx")) if path.is_dir() else [path])]


def _count_nodes(path: Path) -> int:
    def count(graph: onnx.GraphProto) -> int:
        inner = [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
        inner += [g for n in graph.node for a in n.attribute for g in a.graphs]
        return len([n for n in graph.node if n.op_type != "Constant"]) + sum([count(g) for g in inner])

    return count(onnx.load(path, load_external_data=False).graph)


def _compared(path: Path, least: int, *, with_times: bool) -> _Comparison | None:
    """Returns the comparison of a model; None for a small one, and for one that onnxruntime does not run."""
    try:
        nodes = _count_nodes(path)
        inputs = _inputs(path) if nodes >= least else None
    except Exception:  # noqa: BLE001  a file that is not a model
        return None
    if inputs is None:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        np.savez(folder / "inputs.npz", allow_pickle=False, **inputs)
        commands: dict[str, Sequence[str]] = {
            "cir": [*_OURS, str(path), "-o"],
            "fast": [*_OURS, str(path), "--level", "fast", "-o"],
            "slim": [sys.executable, "-c", _SLIM, str(path)],
        }
        results: dict[str, Path | str] = {n: _made(c, folder / f"{n}.onnx") for n, c in commands.items()}
        expected = _outputs(path, inputs)
        errors: dict[str, float] = {}
        for name, result in results.items():
            if isinstance(result, Path):
                try:
                    errors[name] = _error(_outputs(result, inputs), expected)
                except Exception as error:  # noqa: BLE001  whatever onnxruntime raises
                    results[name] = _line(error)
        good = {n: r for n, r in results.items() if isinstance(r, Path)}
        times = _times({"source": path, **good}, folder / "inputs.npz") if with_times else {}
        size = path.stat().st_size
        return _Comparison(
            path.stem,
            nodes,
            {
                n: _Result(_count_nodes(r), r.stat().st_size / size, errors[n], times.get(n, {}))
                if isinstance(r, Path)
                else r
                for n, r in results.items()
            },
        )


def _made(command: Sequence[str], path: Path) -> Path | str:
    """Runs an optimizer that writes a file, and returns the file, or why there is none."""
    try:
        done = subprocess.run(
            [*command, str(path)], check=False, capture_output=True, text=True, timeout=_LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"over {_LIMIT_SECONDS} s"
    return path if path.exists() and not done.returncode else (done.stderr.strip().splitlines() or ["no file"])[-1]


# -- outputs


def _session(path: Path) -> Callable[[Mapping[str, Array]], Sequence[Array]]:
    import onnxruntime  # noqa: PLC0415  the help needs none

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]

    def run(inputs: Mapping[str, Array]) -> Sequence[Array]:
        return [np.asarray(v) for v in session.run(None, {n: inputs[n] for n in names})]

    return run


def _outputs(path: Path, inputs: Mapping[str, Array]) -> Sequence[Array]:
    return _session(path)(inputs)


def _inputs(path: Path) -> dict[str, Array] | None:
    """Returns inputs that onnxruntime takes: random ones, else small ones; None if it takes none."""
    run = _session(path)
    for make in (_random_inputs, _small_inputs):
        try:
            inputs = make(path)
            run(inputs)
        except Exception:  # noqa: BLE001  whatever onnxruntime raises
            continue
        return inputs
    return None


def _random_inputs(path: Path) -> dict[str, Array]:
    return {n: np.asarray(v) for n, v in commonir.random_inputs(commonir.load(path)).items()}


def _small_inputs(path: Path) -> dict[str, Array]:
    """Returns zeros and ones for integers, for tokens and masks, and random floats."""
    random = np.random.default_rng(0)
    graph = onnx.load(path, load_external_data=False).graph
    known = {t.name for t in graph.initializer}
    result: dict[str, Array] = {}
    for value in graph.input:
        if value.name not in known:
            type = value.type.tensor_type
            dtype = onnx.helper.tensor_dtype_to_np_dtype(type.elem_type)
            shape = [d.dim_value or 1 for d in type.shape.dim]
            numbers = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)
            result[value.name] = np.asarray(numbers).astype(dtype)
    return result


def _error(outputs: Sequence[Array], expected: Sequence[Array]) -> float:
    """Returns the largest difference of outputs over the largest magnitude of theirs; 0 if all bits are equal."""
    if len(outputs) != len(expected):
        return math.inf
    result = 0.0
    for a, b in zip(map(np.asarray, outputs), map(np.asarray, expected), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return math.inf
        if a.tobytes() == b.tobytes() or not a.size:
            continue
        if a.dtype.kind not in "fiub":
            return math.inf
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        if not np.array_equal(np.isfinite(wide_a), np.isfinite(wide_b)):
            return math.inf
        difference = np.nan_to_num(np.abs(wide_a - wide_b)).max()
        scale = np.abs(wide_b[np.isfinite(wide_b)]).max(initial=0.0)
        error = float(difference / scale) if scale else float(difference)
        # Half precision has a tolerance of its own.
        result = max(result, error * (_ERROR / _HALF_ERROR if a.dtype.itemsize == 2 else 1))
    return result


# -- times


def _times(models: Mapping[str, Path], inputs: Path) -> dict[str, dict[str, float]]:
    """Returns times over those of the source, by variant and setting.

    The CPU time of a run is the low decile over rounds in which the models take turns.
    """
    processes = {
        n: subprocess.Popen(
            [sys.executable, "-c", _TIMER, str(path), str(inputs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for n, path in models.items()
    }
    found: dict[str, list[list[float]]] = {n: [] for n in models}
    try:
        for process in processes.values():
            _answer(process)
        for _ in range(_ROUNDS):
            for n, process in processes.items():
                assert process.stdin is not None
                process.stdin.write("\n")
                process.stdin.flush()
                found[n].append([float(t) for t in _answer(process)])
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    if not all(len(times) == len(_COLUMNS) for rounds in found.values() for times in rounds):
        return {}
    seconds = {n: [statistics.quantiles(column, n=10)[0] for column in zip(*r, strict=True)] for n, r in found.items()}
    return {n: {s: seconds[n][i] / seconds["source"][i] for i, s in enumerate(_COLUMNS)} for n in models}


def _answer(process: subprocess.Popen[str]) -> list[str]:
    """Returns the words that a process prints next; none if it has ended."""
    assert process.stdout is not None
    return process.stdout.readline().split()


# -- printing


def _print_row(name: str, *cells: str) -> None:
    print("| " + " | ".join([f"{name:34.34}", *[f"{c:>14}" for c in cells]]) + " |", flush=True)


def _print_comparison(comparison: _Comparison) -> None:
    results = [comparison.of(v) for v in _VARIANTS]
    ratios = [comparison.node_ratio(v) for v in _VARIANTS[:2]]
    _print_row(
        comparison.name,
        str(comparison.nodes),
        *["fails" if r is None else str(r.nodes) for r in results],
        *["" if r is None else f"{r:.3f}" for r in ratios],
        " ".join(["-" if r is None else f"{r.bytes:.2f}" for r in results]),
        " ".join(["-" if r is None else "=" if r.error == 0 else f"{r.error:.0e}" for r in results]),
        *[" ".join([f"{r.times[s]:.2f}" if r is not None and r.times else "-" for r in results]) for s in _COLUMNS],
    )
    for variant in _VARIANTS:
        result = comparison.results[variant]
        if isinstance(result, str):
            print(f"    {variant}: {result}")


def _mean(values: Iterable[float | None]) -> float:
    known = [v for v in values if v is not None and math.isfinite(v)]
    return statistics.geometric_mean(known) if known else math.nan


def _print_summary(comparisons: Sequence[_Comparison], variant: str) -> bool:
    """Prints the figures of a level over onnxslim's, and returns whether all are within their targets."""
    results = [r for c in comparisons if (r := c.of(variant)) is not None]
    ratios = [r for c in comparisons if (r := c.node_ratio(variant)) is not None]
    name = "cir opt --level fast" if variant == "fast" else "cir opt"
    print(f"{name}: {len(results)} of {len(comparisons)} models; ", end="")
    print(f"{sum(r.error == 0 for r in results)} give the same bits, onnxslim's ", end="")
    print(f"{sum(r is not None and r.error == 0 for c in comparisons for r in [c.of('slim')])}; ", end="")
    print(
        f"over {_NODES_OF_ONE} of onnxslim's nodes: {sum(r > _NODES_OF_ONE for r in ratios)}; nodes over the ", end=""
    )
    of_source = [_mean(r.nodes / c.nodes for c in comparisons if (r := c.of(v)) and r.nodes) for v in (variant, "slim")]
    print(f"source's {of_source[0]:.3f}, onnxslim's {of_source[1]:.3f}")
    within = [
        report(f"{name}: nodes / onnxslim, geometric mean", _mean(ratios), "x", 1),
        report(f"{name}: nodes / onnxslim, worst", max(ratios, default=math.nan), "x", _NODES_OF_ONE),
        report(f"{name}: bytes / source, worst", max([r.bytes for r in results], default=math.nan), "x", _BYTES),
        report(f"{name}: difference of outputs, worst", max([r.error for r in results], default=math.nan), "", _ERROR),
    ]
    for setting in _COLUMNS:
        times = [c.time_ratio(variant, setting) for c in comparisons]
        if any(t is not None for t in times):
            title = f"{name}: time / onnxslim, onnxruntime's optimization {setting}, geometric mean"
            within.append(report(title, _mean(times), "x", _NOISE))
    return all(within)


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


if __name__ == "__main__":
    sys.exit(main())
