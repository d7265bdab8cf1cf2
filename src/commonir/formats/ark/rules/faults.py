"""The inputs and findings of rules for ARK programs; each finding names its operation and node."""

from __future__ import annotations

from commonir.base.diagnostics import Code, Diagnostic
from commonir.base.file_codes import ARK_TENSOR
from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.dialects.ark.views import View
from commonir.ir.operation import Operation, Value


class Fault(NamedTuple):
    """A finding about an operation, or about a node of a rank."""

    op: Operation
    node: int
    finding: Diagnostic


def fault(op: ark.ArkOp, code: Code, message: str, where: str = "", help: str | None = None) -> Fault:
    """A finding about an operation of a file, `where` in it."""
    return Fault(op, op.node, Diagnostic(code, message, where=where, help=help))


class RankTensors:
    """The operations of a rank, and where each tensor lies.

    `is_sound` says whether the tensors can be looked at; of a rank that `is_verified` they can.
    """

    def __init__(self, rank: ark.Rank, *, is_verified: bool = False) -> None:
        self.rank = rank
        self.ops = [op for op in rank.body.operations if isinstance(op, ark.ArkOp)]
        self.holders = [op for op in rank.body.operations if isinstance(op, ark.HoldsView)]
        self._held = rank.views
        self._views: dict[ark.HoldsView, View] = {}
        self.is_sound = is_verified or (
            all(isinstance(op, ark.ArkOp | ark.Tensor) for op in rank.body.operations)
            and all(map(_is_sound, self.holders))
            and all(v in self._held for op in self.ops for v in op.operands)
        )

    def holder_of(self, value: Value) -> ark.HoldsView:
        """The operation that says where a tensor lies."""
        return self._held[value]

    def view_of(self, holder: ark.HoldsView) -> View:
        """The part of a buffer that a tensor is."""
        result = self._views.get(holder)
        if result is None:
            result = self._views[holder] = holder.view
        return result

    def is_local(self, holder: ark.HoldsView) -> bool:
        """Whether a tensor lies on the rank itself."""
        return holder.is_local(self.rank.rank)

    def nodes(self) -> dict[ark.HoldsView, int]:
        """The nodes that first mention tensors, by the operations that say where these lie."""
        out: dict[ark.HoldsView, int] = {}
        for op in self.ops:
            if isinstance(op, ark.HoldsView):
                out.setdefault(op, op.node)
            for value in op.operands:
                out.setdefault(self._held[value], op.node)
        return out


def _is_sound(op: ark.HoldsView) -> bool:
    """Returns whether a view can be examined; errors of others are reported by the checks of operations."""
    return not any(d.is_error for d in op.view_findings())


def number_of(value: Value) -> int:
    """The number of a tensor."""
    match value.owner:
        case ark.Tensor(tensor_id=number):
            return number
        case ark.ArkOp(result_id=number):
            return number
        case _:
            return ark.NO_ID


def place_of(op: ark.ArkOp, value: Value) -> str:
    """Where an operation of a file mentions a tensor."""
    for field, values in (("ReadTensors", op.read_tensors), ("WriteTensors", op.written_tensors)):
        for n, each in enumerate(values):
            if each is value:
                return f"{field}[{n}]"
    return "ResultTensors[0]"


def holder_fault(holder: ark.HoldsView, node: int, message: str, field: str = "") -> Fault:
    """A finding about a tensor at the place where it is first mentioned."""
    return Fault(holder, node, Diagnostic(ARK_TENSOR, message, where=field_of(holder, field)))


def field_of(holder: ark.HoldsView, field: str) -> str:
    """A field of a tensor, from the place that its operation has."""
    inner = "ResultTensors[0]" if isinstance(holder, ark.ArkOp) else ""
    return ".".join([part for part in (inner, field) if part])
