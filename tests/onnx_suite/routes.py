"""The ways a case can be run, by the names that the command line has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.onnx_suite.ark_route import ThroughArk
from tests.onnx_suite.cases import Case, quiet
from tests.onnx_suite.conversion_routes import InOlderOpset, ThroughCoreml, ThroughOnnx
from tests.onnx_suite.evaluators import CommonIr, Evaluator, OnnxReference, OnnxRuntime
from tests.onnx_suite.messages import Rewriting, Verifying
from tests.onnx_suite.outcomes import Judge, Outcome

ENGINES = ("numpy", "native", "reference", "onnxruntime")

_PEERS: Mapping[str, Callable[[], Evaluator]] = {"reference-evaluator": OnnxReference, "onnxruntime": OnnxRuntime}
PEERS = tuple(_PEERS)

_ROUTES: Mapping[str, Callable[[str], Evaluator]] = {
    "": CommonIr,
    "onnx": ThroughOnnx,
    "opset13": InOlderOpset,
    "coreml": ThroughCoreml,
    "ark": ThroughArk,
    "messages": Rewriting,
    "verify": Verifying,
}
ROUTES = tuple(_ROUTES)


def judging(engine: str, route: str, peer: str | None = None) -> Callable[[Case], Outcome]:
    """Returns the function that judges cases in a process: an evaluator of ours, or one of others."""
    judge = Judge(_PEERS[peer]() if peer else _ROUTES[route](engine))
    with quiet():
        return judge.judge
