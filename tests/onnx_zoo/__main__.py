"""Command line of the check of exported networks; see the package's description."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from pathlib import Path

# Progress bars of coremltools; read when tqdm is imported.
os.environ.setdefault("TQDM_DISABLE", "1")
logging.getLogger("coremltools").setLevel(logging.CRITICAL)

from tests import onnx_zoo  # noqa: E402
from tests.onnx_zoo.checking import Check, Outcome  # noqa: E402
from tests.onnx_zoo.export import Exporter, export, run_torch  # noqa: E402
from tests.onnx_zoo.networks import NETWORKS  # noqa: E402


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.onnx_zoo",
        description=onnx_zoo.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAMES", help="networks; all when none is given")
    parser.add_argument("--exporter", choices=[*(exporter.value for exporter in Exporter), "both"], default="both")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="use the exported files there, or leave them there")
    return parser.parse_args()


def check_network(name: str, exporters: list[Exporter], folder: Path) -> list[Outcome]:
    """Exports a network where it is not yet, and checks it."""
    network = NETWORKS[name]
    module = network.module()
    cases = network.cases()
    expected = [run_torch(module, case, network.outputs) for case in cases]
    outcomes: list[Outcome] = []
    for exporter in exporters:
        outcome = Outcome(f"{name} {exporter.value}")
        path = folder / f"{name}_{exporter.value}.onnx"
        if not path.exists():
            outcome.step("export", lambda exporter=exporter, path=path: export(network, module, exporter, path))
        if path.exists():
            Check(path, network, cases, expected).all_steps(outcome)
        print(outcome, flush=True)
        outcomes.append(outcome)
    return outcomes


def main() -> int:
    """Print one line per file; return 1 when one does not conform."""
    arguments = parse_arguments()
    start = time.perf_counter()
    unknown = [name for name in arguments.names if name not in NETWORKS]
    if unknown:
        sys.exit(f"unknown network {', '.join(unknown)}; there are {', '.join(NETWORKS)}")
    exporters = list(Exporter) if arguments.exporter == "both" else [Exporter(arguments.exporter)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        outcomes = [o for name in arguments.names or NETWORKS for o in check_network(name, exporters, folder)]
    conforming = sum(outcome.is_conforming for outcome in outcomes)
    print(f"{conforming} of {len(outcomes)} files conform; {time.perf_counter() - start:.0f} s")
    return 0 if conforming == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
