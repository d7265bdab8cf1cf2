"""Command line of the conformance check; see the package's description."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests import conformance
from tests.conformance.checking import check_folder


def kept_folders(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yield the packages of `folder` whose network is asked for; all when none is."""
    for path in sorted(folder.iterdir()):
        if (path / "meta.json").exists() and (not names or path.name in names or path.name.rpartition("_")[0] in names):
            yield path


def created_folders(size: str, names: Sequence[str], scratch: Path) -> Iterator[Path]:
    """Make the packages one after another, each deleted when the next is asked for: real ones take half a gigabyte."""
    # The one part that needs torch, transformers and coremltools.
    from tests.zoo.families.registry import FAMILIES  # noqa: PLC0415
    from tests.zoo.network import Size  # noqa: PLC0415
    from tests.zoo.registry import NETWORKS  # noqa: PLC0415

    unknown = [name for name in names if name not in NETWORKS and name not in FAMILIES]
    if unknown:
        sys.exit(f"unknown network or family {', '.join(unknown)}; there are {', '.join((*NETWORKS, *FAMILIES))}")
    for name in names or (*NETWORKS, *FAMILIES):
        if name in FAMILIES:
            FAMILIES[name].build(scratch / name)
            yield scratch / name
            continue
        for precision in NETWORKS[name].targets:
            folder = scratch / f"{name}_{precision.value}"
            NETWORKS[name].build(Size(size), precision, None, folder)
            yield folder
            shutil.rmtree(folder)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance",
        description=conformance.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAMES", help="networks and families of the zoo; all when none is given"
    )
    parser.add_argument("--size", choices=["small", "real"], default="small")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="check the packages there instead of making any")
    return parser.parse_args()


def main() -> int:
    """Print one line per package; return 1 when one does not conform."""
    arguments = parse_arguments()
    start = time.perf_counter()
    conforming: list[bool] = []
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary)
        if arguments.kept is None:
            folders = created_folders(arguments.size, arguments.names, scratch)
        else:
            folders = kept_folders(arguments.kept, arguments.names)
        for folder in folders:
            outcome = check_folder(folder, scratch)
            print(outcome, flush=True)
            conforming.append(outcome.is_conforming)
    seconds = time.perf_counter() - start
    print(f"{sum(conforming)} of {len(conforming)} packages conform; {seconds:.0f} s")
    return 0 if conforming and all(conforming) else 1


if __name__ == "__main__":
    sys.exit(main())
