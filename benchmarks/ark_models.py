"""The cost of reading and verifying ARK model files of 4 ranks with 2,500 nodes each.

Figures: seconds of CPU, and how many times as long as a bare reading of the JSON. Targets: 3 s and 4 times.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import commonir as cir

from benchmarks.harness import median_of, paired_ratio, report

RANKS = 4
NODES = 2_500


def _tensor(number: int, buffer: int) -> dict[str, object]:
    tensor = {"Id": buffer, "Rank": -1, "SendTags": [], "RecvTags": []}
    view = {"Shape": [64, 64], "Strides": [64, 64], "Offsets": [0, 0], "PaddedShape": [64, 64]}
    return {"Id": number, "DataType": "FP16", **view, "Buffer": tensor}


def _chain(rank: int) -> str:
    """Sums of a tensor and what was before."""
    nodes: list[dict[str, object]] = []
    for n in range(NODES):
        before = _tensor(2 * n, 2 * n - 1) if n else _tensor(0, 0)
        fields = {
            "Type": "Add",
            "Name": f"add_{n}",
            "IsVirtual": False,
            "ReadTensors": [before, _tensor(0, 0)],
            "WriteTensors": [_tensor(2 * n + 1, 2 * n + 1)],
            "ResultTensors": [_tensor(2 * n + 2, 2 * n + 1)],
            "Args": {},
        }
        edges = {"ProducerNodeIds": [n - 1] if n else [], "ConsumerNodeIds": [n + 1] if n + 1 < NODES else []}
        nodes.append({"Id": n, **edges, "Op": fields})
    return json.dumps({"Rank": rank, "WorldSize": RANKS, "Nodes": nodes})


def _cpu_seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> int:
    """Prints the figures; the exit status is 1 when the target is missed."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"net.rank{rank}.json" for rank in range(RANKS)]
        for rank, file in enumerate(files):
            file.write_text(_chain(rank))
        checked = median_of(lambda: _cpu_seconds(lambda: cir.check(files[0])))
        ratio = paired_ratio(
            lambda: _cpu_seconds(lambda: cir.load(files[0])),
            lambda: _cpu_seconds(lambda: [json.loads(file.read_bytes()) for file in files]),
        )
    results = [
        report(f"{RANKS * NODES:,} ARK nodes on {RANKS} ranks read and verified", checked, " s of CPU", 3),
        report("reading them against json.loads of their text", ratio, "x", 4),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
