"""The cost of simplifying ONNX models: against onnxsim, for a model of many nodes and for one of large weights.

One process loads, verifies, infers, folds and saves. Figures: its CPU time over that of onnxsim on the same model, in
processes of their own with all that they import, and its memory; the CPU time of 50,000 nodes over that of 5,000, which
is 10 when cost grows with size. onnxsim is asked for the same: its own check of outputs is off.

The model of many nodes repeats eight: additions of constants, of which half can be computed before, an identity, and a
reshape by a shape. BERT-base has the sizes of the published one and random weights, made by torch and transformers.
Needs: pip install onnxsim==0.8.1; torch and transformers for BERT.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

from benchmarks.harness import measure_process, paired_ratio, report

_NODES = 50_000
_PAIRS = 3
_MEGABYTE = 1e6

_OURS = """
import sys
import commonir as cir
module = cir.load(sys.argv[1])
assert not [d for d in cir.verify(module) if d.is_error]
cir.save(cir.optimize(module), sys.argv[2])
"""
_ONNXSIM = """
import sys
import onnx, onnxsim
model, _ = onnxsim.simplify(sys.argv[1], check_n=0)
onnx.save(model, sys.argv[2])
"""


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        many, few, out = folder / "many.onnx", folder / "few.onnx", folder / "out.onnx"
        make_chain(many, _NODES)
        make_chain(few, _NODES // 10)
        whole = [_usage(_OURS, many, out) for _ in range(_PAIRS)]
        least = min(cpu for cpu, _ in whole)
        results = [
            report(f"{_NODES:,} nodes, all steps", least, " s of CPU", 5),
            report(f"{_NODES:,} nodes, memory", max(peak for _, peak in whole) / _MEGABYTE, " MB", 300),
            report(f"{_NODES:,} nodes / a tenth of them", least / _usage(_OURS, few, out)[0], "x of CPU", 11),
        ]
        if importlib.util.find_spec("onnxsim") is None:
            print("onnxsim is not installed: no comparison")
            return 0 if all(results) else 1
        results.append(report(f"{_NODES:,} nodes / onnxsim", _ratio(many, out), "x of CPU", 1))
        if importlib.util.find_spec("torch") and importlib.util.find_spec("transformers"):
            bert = folder / "bert.onnx"
            measure_process(
                [sys.executable, "-c", f"from benchmarks.onnx_graphs import make_bert; make_bert({str(bert)!r})"]
            )
            peak = _usage(_OURS, bert, out)[1]
            results += [
                report("BERT-base / onnxsim", _ratio(bert, out), "x of CPU", 0.5),
                report("BERT-base, memory", peak / _MEGABYTE, " MB", 600),
            ]
    return 0 if all(results) else 1


def make_chain(path: Path, count: int) -> None:
    """Writes a model of a number of nodes."""
    import numpy as np  # noqa: PLC0415  only those who make models need them
    from onnx import TensorProto, helper, numpy_helper, save  # noqa: PLC0415

    random = np.random.default_rng(0)
    nodes = []
    source = "x"
    while len(nodes) < count:
        k = len(nodes)
        weight = numpy_helper.from_array(random.standard_normal(4).astype(np.float32))
        nodes += [
            helper.make_node("Add", [source, "one"], [f"a{k}"]),
            helper.make_node("Relu", [f"a{k}"], [f"r{k}"]),
            helper.make_node("Identity", [f"r{k}"], [f"i{k}"]),
            helper.make_node("Constant", [], [f"c{k}"], value=weight),
            helper.make_node("Mul", [f"c{k}", "one"], [f"m{k}"]),
            helper.make_node("Sub", [f"i{k}", f"m{k}"], [f"s{k}"]),
            helper.make_node("Shape", [f"s{k}"], [f"h{k}"]),
            helper.make_node("Reshape", [f"s{k}", f"h{k}"], [f"p{k}"]),
        ]
        source = f"p{k}"
    nodes.append(helper.make_node("Relu", [source], ["y"]))
    ports = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", 4])] for n in "xy"]
    one = numpy_helper.from_array(np.ones(4, np.float32), "one")
    graph = helper.make_graph(nodes, "chain", ports[0], ports[1], [one])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def make_bert(path: str) -> None:
    """Writes BERT-base with random weights, as torch exports it, with any batch and length."""
    import torch  # noqa: PLC0415  only those who make models need them
    from transformers import BertConfig, BertModel  # noqa: PLC0415

    config = BertConfig()
    config._attn_implementation = "eager"
    tokens, mask = torch.randint(0, config.vocab_size, (1, 16)), torch.ones(1, 16, dtype=torch.int64)
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(
        BertModel(config).eval(),
        (tokens, mask),
        path,
        dynamo=False,
        input_names=["input_ids", "attention_mask"],
        output_names=["hidden", "pooled"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "hidden": axes, "pooled": {0: "batch"}},
        opset_version=17,
    )


def _usage(script: str, source: Path, target: Path) -> tuple[float, float]:
    """CPU seconds and peak bytes of a script."""
    used = measure_process([sys.executable, "-c", script, str(source), str(target)])
    target.unlink(missing_ok=True)
    return used.cpu_seconds, used.peak_bytes


def _ratio(source: Path, target: Path) -> float:
    return paired_ratio(
        lambda: _usage(_OURS, source, target)[0], lambda: _usage(_ONNXSIM, source, target)[0], pairs=_PAIRS
    )


if __name__ == "__main__":
    sys.exit(main())
