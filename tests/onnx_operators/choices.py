"""Where we agree with no other evaluator, with the reason: `docs/onnx.md` documents it."""

from __future__ import annotations

from tests.onnx_operators.verdicts import Drawn


def reason(it: Drawn) -> str | None:
    """Why a model may give what no other evaluator gives; None where it may not."""
    keys = it.case.attributes
    match it.case.operator:
        case "AffineGrid" if keys.get("align_corners") and 1 in _sizes(it, 1):
            return "one element lies in the middle, as in torch; each of the others has another place for it"
        case "ConvTranspose" | "MaxPool" | "AveragePool" | "LpPool" if str(keys.get("auto_pad")).startswith("SAME"):
            return "a window shorter than its step: the sizes are those of the text, nothing is cut"
        case "LRN" if not keys["size"] % 2:
            return "an even number of channels: onnxruntime refuses it, onnx's evaluator leaves channels out"
        case "StringNormalizer":
            return "onnxruntime has no such locale, onnx's evaluator drops empty texts and accents"
        case "ReduceLogSumExp" if (x := it.case.inputs[0]) is not None and x.dtype.kind == "i":
            return "the whole part of the exact value; onnxruntime computes in integers"
        case "Resize":
            return "the text's length of the resized tensor, where onnxruntime refuses the type"
        case "Split" if "num_outputs" in keys:
            return "more pieces than elements: onnxruntime refuses it too"
        case "Hardmax" if (x := it.case.inputs[0]) is not None and x.size == 0:
            return "no element is the largest of none"
        case _:
            return None


def _sizes(it: Drawn, number: int) -> list[int]:
    inputs = it.case.inputs[number]
    return [] if inputs is None else [int(n) for n in inputs[2:]]
