"""Half precision: which operations are computed in it, which stay in single precision, and why.

A constant decides by its elements, as in coremltools. Where one is finite but beyond the range of half precision, the
operation that uses it stays in single precision; numbers from 1e38 on stand for infinity, as in attention masks, and
become the largest finite half, as in the float16 converter of onnxruntime, for an infinity in a row that is masked out
entirely would make it NaN. Elements that would become 0 become the smallest half.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from commonir.base.codes import CHANGED_IN_CONVERSION, UNDEFINED_VALUE, WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import listed, plural
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.attributes import StringAttr
from commonir.ir.data import ArrayData, Data, DeferredData
from commonir.ir.lookup import names_of
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType, f16, f32
from commonir.ods import Op, attr_types, traits
from commonir.passes.convert_elements import ElementPolicy, convert_elements, converted_data
from commonir.reports import KeptEntry, PrecisionReport

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST_HALF = 2.0**-24
LARGEST_HALF = 65504.0
_AS_INFINITE = 1e38
"""Numbers from this on act as infinity, as those that mask out parts of a softmax."""
_KEPT = "commonir.kept_precision"
"""Undeclared attribute of a lowered operation whose source stays in single precision."""
_SHOWN = 6


class Reason(Enum):
    """Why an operation stays in single precision."""

    CHOSEN = "chosen"
    RANGE = "range"
    FORM = "form"


_REASONS = {
    Reason.CHOSEN: "chosen to stay",
    Reason.RANGE: "with a constant beyond the range of f16, which ends at 65504",
    Reason.FORM: "without a form in f16",
}


class PrecisionLog:
    """The record of a change to half precision."""

    def __init__(self) -> None:
        self.changed: set[object] = set()
        self.kept: dict[object, KeptEntry] = {}
        self.limited: dict[str, None] = {}

    def keep(self, op: Operation, reason: Reason, detail: str = "") -> None:
        """Records that an operation stays in single precision."""
        self.kept.setdefault(_identity(op), KeptEntry(_label(op), op.name, reason.value, detail))

    def change(self, op: Operation) -> None:
        """Records that an operation is computed in half precision."""
        self.changed.add(_identity(op))

    def report(self) -> PrecisionReport:
        """Returns the report. An operation of which a part stays counts as one that stays."""
        changed = self.changed - self.kept.keys()
        return PrecisionReport(f16.name, len(changed), tuple(self.kept.values()), tuple(self.limited))


def _identity(op: Operation) -> object:
    """Returns the common entry of the operations that one operation of the source became."""
    return op.location or op


def _label(op: Operation) -> str:
    return op.source_name or op.first_name or op.name


def precision_note(report: PrecisionReport) -> Diagnostic:
    """Returns a report of what changed and what stayed as a note."""
    total = report.changed + len(report.kept)
    message = f"{report.changed:,} of {plural(total, 'operation')} are computed in {report.type}"
    if report.kept:
        message += f"; {len(report.kept):,} {'stays' if len(report.kept) == 1 else 'stay'} in f32"
    notes: list[str] = []
    for reason in Reason:
        entries = [entry for entry in report.kept if entry.reason == reason.value]
        if entries:
            notes.append(f"{len(entries):,} {_REASONS[reason]}: {listed(list(map(_entry_text, entries)), _SHOWN)}")
    if report.limited:
        what = plural(len(report.limited), "constant")
        notes.append(f"limited to 65504, as infinity is meant, in {what}: {listed(report.limited, _SHOWN)}")
    return Diagnostic(CHANGED_IN_CONVERSION, message, notes=tuple(notes))


def _entry_text(entry: KeptEntry) -> str:
    is_lowered = entry.operation.startswith("core.")  # which is not what the user's file calls it
    return entry.name if is_lowered or entry.name == entry.operation else f"{entry.name} ({entry.operation})"


# -- what users choose to keep


def operations_to_keep(module: Module, patterns: Sequence[str]) -> set[Operation]:
    """Returns the operations that names, types (`onnx.Softmax` or `Softmax`) and patterns with `*` and `?` select.

    Raises: DiagnosticError (E0401) for each pattern that selects nothing.
    """
    operations = [op for op in module.nested() if not isinstance(op, Function | Module)]
    labels = {op: {*names_of(op), op.name, op.name.partition(".")[2]} for op in operations}
    result: set[Operation] = set()
    missing: list[Diagnostic] = []
    for pattern in patterns:
        selected = {op for op, names in labels.items() if any(fnmatchcase(name, pattern) for name in names)}
        if not selected:
            help = did_you_mean(pattern, dict.fromkeys(name for names in labels.values() for name in names))
            message = f"no operation, value or type of operation to keep is called '{pattern}'"
            missing.append(Diagnostic(UNDEFINED_VALUE, message, help=help))
        result |= selected
    if missing:
        raise DiagnosticError(*missing)
    return result


# -- constants


class _Extent(NamedTuple):
    """How large elements of a constant are: the largest magnitude below 1e38, and the first number from there on."""

    largest: float
    infinite: float | None


def _extent(data: Data) -> _Extent:
    import numpy as np  # noqa: PLC0415  only where constants are looked at

    array = data.array().astype(np.float32, copy=False)
    magnitudes = np.abs(array)
    if not data.count or float(magnitudes.max()) <= LARGEST_HALF:
        return _Extent(0.0, None)
    finite = magnitudes[magnitudes < _AS_INFINITE]
    beyond = array[(magnitudes >= _AS_INFINITE) & np.isfinite(array)]
    return _Extent(float(finite.max()) if finite.size else 0.0, float(beyond.flat[0]) if beyond.size else None)


def halved(data: Data) -> Data:
    """Returns a constant in half precision, which is computed when it is needed."""
    type = TensorType(f16, data.shape)
    return DeferredData(type, lambda: ArrayData(type, _rounded(data)))


def _rounded(data: Data) -> NDArray[Any]:
    import numpy as np  # noqa: PLC0415  only where a constant is converted

    wide = data.array().astype(np.float32, copy=False)
    magnitudes = np.abs(wide)
    limited = np.where((magnitudes >= _AS_INFINITE) & np.isfinite(wide), np.copysign(LARGEST_HALF, wide), wide)
    is_tiny = (magnitudes > 0) & (magnitudes < SMALLEST_HALF)
    return np.where(is_tiny, np.copysign(SMALLEST_HALF, wide), limited).astype(np.float16)


class Constants:
    """The constants of a program in single precision, each looked at once."""

    def __init__(self, log: PrecisionLog) -> None:
        self._log = log
        self._extents: dict[Value, _Extent | None] = {}

    def beyond_range(self, op: Operation) -> str:
        """Returns which constant operand of an operation half precision cannot hold, and its largest magnitude; "" if
        there is none. Records constants that stand for infinity.
        """
        extents = [(v, extent) for v in op.operands if (extent := self._extent_of(v)) is not None]
        for value, extent in extents:
            if extent.largest > LARGEST_HALF:
                return f"{value.name or 'a constant'} has magnitudes up to {extent.largest:.6g}"
        for value, extent in extents:
            if extent.infinite is not None:
                self._log.limited[f"{value.name or 'a constant'} ({extent.infinite:.2g})"] = None
        return ""

    def _extent_of(self, value: Value) -> _Extent | None:
        if value not in self._extents:
            data = plain_constant(value)
            self._extents[value] = None if data is None or data.element is not f32 else _extent(data)
        return self._extents[value]


def plain_constant(value: Value) -> Data | None:
    """Returns the elements of a value that is a constant of the program as it stands; None for others."""
    owner = value.owner
    if not isinstance(owner, Op) or owner.operands or owner.regions:
        return None
    # One that is stored in a compressed form has several parts.
    parts = [f for f in owner.layout.attributes if f.type is attr_types.data]
    return owner.constant_data() if len(parts) <= 1 else None


# -- lowered programs


class HalfPrecision(ElementPolicy):
    """Computes single precision as half precision; inputs and outputs keep their types."""

    def __init__(self, log: PrecisionLog | None = None) -> None:
        self.log = PrecisionLog() if log is None else log
        self.constants = Constants(self.log)

    def inside(self, element: ElementType) -> ElementType:
        return f16 if element is f32 else element

    def at_border(self, element: ElementType) -> ElementType:
        return element

    def keeps(self, op: Operation) -> bool:
        if isinstance(op, core.Constant):
            return any(self.keeps(user) for user in op.y.users)
        if _KEPT in op.extra:
            self.log.keep(op, Reason.CHOSEN)
            return True
        detail = self.constants.beyond_range(op)
        if detail:
            self.log.keep(op, Reason.RANGE, detail)
        elif computes_in(op, f32):
            self.log.change(op)
        return bool(detail)

    def constant(self, data: Data, element: ElementType) -> Data:
        return halved(data) if element is f16 and data.element is f32 else converted_data(data, element)


def computes_in(op: Operation, element: ElementType) -> bool:
    """Returns whether an operation computes something of an element type: it is not a constant, cast or structure."""
    if not isinstance(op, Op) or op.has_trait(traits.Terminator) or op.has_trait(traits.ConstantLike):
        return False
    if isinstance(op, Function | core.Cast):
        return False
    return any(isinstance(v.type, TensorType) and v.type.element is element for v in (*op.operands, *op.results))


def mark_kept(lowered: Collection[Operation]) -> None:
    """Marks lowered operations whose sources stay in single precision."""
    for op in lowered:
        op.set_extra(_KEPT, StringAttr(f32.name))


def in_half_precision(module: Module, log: PrecisionLog) -> Module:
    """Returns a lowered program computed in half precision, but for the operations that are marked."""
    result = convert_elements(module, HalfPrecision(log))
    for op in result.nested():
        if _KEPT in op.extra:
            op.set_extra(_KEPT, None)
    return result


def check_precision(precision: str | None, keep: Sequence[str]) -> None:
    """Raises: DiagnosticError (E0901) for a precision other than float16, and for operations to keep without one."""
    if precision not in (None, "float16"):
        message = f"'{precision}' is not a precision to compute in"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message, help="float16 is one"))
    if precision is None and keep:
        message = "operations keep their precision where it changes, and no precision is chosen"
        raise DiagnosticError(Diagnostic(WRONG_USAGE, message, help="add `--precision float16`"))
