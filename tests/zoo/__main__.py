"""Command line of the zoo: `python -m tests.zoo make --size small --out DIR [NAMES]`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

# Progress bars of coremltools; read when tqdm is imported.
os.environ.setdefault("TQDM_DISABLE", "1")
logging.getLogger("coremltools").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")

from tests.zoo.families.registry import FAMILIES  # noqa: E402
from tests.zoo.network import Precision, Size, Target  # noqa: E402
from tests.zoo.onnx_export import export_onnx  # noqa: E402
from tests.zoo.registry import NETWORKS  # noqa: E402


def folder_size_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def make(arguments: argparse.Namespace) -> None:
    target = Target(arguments.target) if arguments.target else None
    for name in selected(arguments):
        network = NETWORKS[name]
        precisions = [Precision(arguments.precision)] if arguments.precision else list(network.targets)
        for precision in precisions:
            start = time.perf_counter()
            sample = network.build(Size(arguments.size), precision, target, arguments.out / f"{name}_{precision.value}")
            seconds = time.perf_counter() - start
            megabytes = folder_size_bytes(sample.folder) / 1e6
            print(f"{sample.folder.name:32} {megabytes:8.2f} MB {seconds:6.1f} s", flush=True)


def make_families(arguments: argparse.Namespace) -> None:
    for name in arguments.names or FAMILIES:
        FAMILIES[name].build(arguments.out / name)
        print(arguments.out / name, flush=True)


def make_onnx(arguments: argparse.Namespace) -> None:
    for name in selected(arguments):
        path = arguments.out / f"{name}_fp32" / "torch.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        export_onnx(NETWORKS[name].recipe(Size(arguments.size)), path)
        print(path, flush=True)


def list_networks(_: argparse.Namespace) -> None:
    for network in NETWORKS.values():
        targets = ", ".join(f"{precision.value} {target.value}" for precision, target in network.targets.items())
        print(f"{network.name:28} {network.summary} ({network.source}; {targets})")
    for family in FAMILIES.values():
        print(f"{family.name:28} {family.description()['summary']}")


def selected(arguments: argparse.Namespace) -> Sequence[str]:
    """Return the names asked for, or all."""
    unknown = [name for name in arguments.names if name not in NETWORKS]
    if unknown:
        sys.exit(f"unknown network {', '.join(unknown)}; there are {', '.join(NETWORKS)}")
    return arguments.names or list(NETWORKS)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, action in (("make", make), ("make-families", make_families), ("export-onnx", make_onnx)):
        command = commands.add_parser(name)
        command.add_argument("names", nargs="*", metavar="NAMES", help="networks; all when none is given")
        command.add_argument("--size", choices=[size.value for size in Size], default=Size.SMALL.value)
        command.add_argument("--out", type=Path, required=True, help="folder that gets one folder per package")
        command.set_defaults(action=action)
        if action is make:
            command.add_argument("--precision", choices=[precision.value for precision in Precision])
            command.add_argument("--target", choices=[target.value for target in Target])
    commands.add_parser("list").set_defaults(action=list_networks)
    return parser.parse_args()


if __name__ == "__main__":
    chosen = parse_arguments()
    chosen.action(chosen)
