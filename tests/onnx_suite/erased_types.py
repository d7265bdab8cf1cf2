"""Types of outputs inferred where a model states none, by us and by onnx, against those that the cases state.

    python -m tests.onnx_suite.erased_types

prints how many cases of single operators each infers exactly, and the cases of which onnx knows a size that we do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import onnx
from onnx import shape_inference

from commonir.formats.onnx.read import loads
from commonir.ir.types import ListType, OptionalType, TensorType, Type, unknown
from commonir.ods import Dialects
from commonir.passes.infer_shapes import infer_shapes

from tests.onnx_suite.cases import Case, load_cases

Sizes = tuple[int | None, ...]


class Known(NamedTuple):
    """The known part of a type: its class, and for a tensor its dims, or None when the rank is unknown."""

    kind: str
    sizes: Sizes | None = None


class Verdict(Enum):
    """How good the types of a case are, from best to worst."""

    EXACT = "exact"
    UNKNOWN_SIZES = "unknown sizes"
    UNKNOWN_RANK = "unknown rank"
    NO_TYPE = "no type"
    WRONG = "wrong"


class Inferred(NamedTuple):
    """The types that onnx and we infer for the outputs of a case, and those that the case states."""

    case: Case
    stated: list[Known]
    theirs: list[Known]
    ours: list[Known]

    @property
    def knows_less(self) -> bool:
        """Whether onnx knows a size or a rank that we do not."""
        return any(_lacks(a, b) for a, b in zip(self.ours, self.theirs, strict=True))


def inferred(cases: Iterable[Case]) -> Iterator[Inferred]:
    """The types of the outputs of cases whose models are stripped of them."""
    dialects = Dialects()
    for case in cases:
        model = onnx.load(case.model)
        declared = [_of_message(o.type) for o in model.graph.output]
        for o in model.graph.output:
            o.ClearField("type")
        del model.graph.value_info[:]
        theirs = shape_inference.infer_shapes(model, data_prop=True)
        module, _ = loads(model.SerializeToString(), dialects)
        infer_shapes(module)
        yield Inferred(
            case,
            declared,
            [_of_message(o.type) for o in theirs.graph.output],
            [_of_type(v.type) for v in module.main.outputs],
        )


def verdict(declared: Sequence[Known], actual: Sequence[Known]) -> Verdict:
    """The verdict on the types of a case: that on the worst of its outputs."""
    order = list(Verdict)
    return max((_verdict(s, f) for s, f in zip(declared, actual, strict=True)), key=order.index)


def _verdict(declared: Known, actual: Known) -> Verdict:
    if not actual.kind:
        return Verdict.NO_TYPE
    if actual.kind != declared.kind:
        return Verdict.WRONG
    if declared.sizes is None:
        return Verdict.EXACT
    if actual.sizes is None:
        return Verdict.UNKNOWN_RANK
    if len(actual.sizes) != len(declared.sizes):
        return Verdict.WRONG
    pairs = [(s, f) for s, f in zip(declared.sizes, actual.sizes, strict=True) if s is not None]
    if any(f not in (None, s) for s, f in pairs):
        return Verdict.WRONG
    return Verdict.UNKNOWN_SIZES if any(f is None for _, f in pairs) else Verdict.EXACT


def _lacks(ours: Known, theirs: Known) -> bool:
    if theirs.kind and not ours.kind:
        return True
    if theirs.sizes is None:
        return False
    return ours.sizes is None or any(
        a is None and b is not None for a, b in zip(ours.sizes, theirs.sizes, strict=False)
    )


def _of_message(type: onnx.TypeProto) -> Known:
    if not type.HasField("tensor_type"):
        return Known(type.WhichOneof("value") or "")
    if not type.tensor_type.HasField("shape"):
        return Known("tensor_type")
    dims = type.tensor_type.shape.dim
    return Known("tensor_type", tuple([d.dim_value if d.HasField("dim_value") else None for d in dims]))


def _of_type(type: Type) -> Known:
    match type:
        case TensorType(shape=None):
            return Known("tensor_type")
        case TensorType(shape=shape):
            return Known("tensor_type", tuple([d if isinstance(d, int) else None for d in shape or ()]))
        case ListType():
            return Known("sequence_type")
        case OptionalType():
            return Known("optional_type")
        case _:
            return Known("" if type is unknown else str(type))


def main() -> None:
    """Prints the table."""
    cases = load_cases(("node",))
    for title, expected in (("as they are", False), ("expanded into other operators", True)):
        result = list(inferred([c for c in cases if c.is_expanded is expected]))
        print(f"{len(result)} cases {title}")
        for name, types in (("onnx", [i.theirs for i in result]), ("commonir", [i.ours for i in result])):
            counts = Counter(verdict(i.stated, t).value for i, t in zip(result, types, strict=True))
            print(f"  {name:9} {', '.join(f'{n} {text}' for text, n in counts.most_common())}")
        print(*[f"  onnx knows more of {i.case.name}" for i in result if i.knows_less], sep="\n")


if __name__ == "__main__":
    main()
