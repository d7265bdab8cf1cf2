"""Finds the differences of two programs whose operations are matched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir import func
from commonir.formats.format import MLIR, Format, Outline
from commonir.inspection.differences.matching import Matching
from commonir.inspection.differences.weights import distance
from commonir.ir.attributes import Attribute, TypeAttr, attribute_text
from commonir.ir.data import Data
from commonir.ir.equality import same_attribute, same_data
from commonir.ir.module import Function, Module, Symbol, weight_name
from commonir.ir.operation import Operation, Value
from commonir.ods import Op, known_data
from commonir.reports import Change, Differences, OperationDifference, WeightDifference
from commonir.text.printer import Naming, naming_of

_FEW_ELEMENTS = 16
"""Constants of at most so many elements are part of what an operation says, and shown; larger ones are weights."""
_ABSENT = ""


class Side(NamedTuple):
    """One of the programs: as its file has it, and in the form in which both are compared."""

    program: Module
    compared: Module
    format: Format | None

    @property
    def format_name(self) -> str:
        """The name of its format; `mlir` or `core` for a program that is not of one format."""
        if self.format is not None:
            return self.format.name
        return MLIR if naming_of(self.program) is Naming.MLIR else "core"

    @property
    def outline(self) -> Outline:
        """Returns the outline of its file."""
        return Outline() if self.format is None else self.format.outline(self.program)


def differences(a: Side, b: Side, *, tolerance: float | None, measure: bool) -> Differences:
    """Returns the differences of two programs.

    Weights are equal if their elements differ by no more than `tolerance` times the largest magnitude; without a
    tolerance, if all bits are equal. `measure` compares the others by value.
    """
    work = _Comparing(Matching(a.compared, b.compared), tolerance, measure=measure)
    work.compare(a.compared, b.compared)
    return Differences(
        formats=(a.format_name, b.format_name),
        compared_as="core" if a.compared is not a.program else a.format_name,
        interface=tuple(work.interface),
        about=tuple(_about(a.outline, b.outline)),
        operations=tuple(work.operations),
        weights=tuple(work.weights),
        same_operations=work.same_operations,
        same_weights=work.same_weights,
    )


def marks(a: Module, b: Module) -> dict[Operation, tuple[str, ...]]:
    """Returns the operations of both programs that differ, with lines that describe the differences other than
    names.
    """
    work = _Comparing(Matching(a, b), None, measure=False)
    work.compare(a, b)
    return work.marks


def _about(a: Outline, b: Outline) -> Iterator[Change]:
    """Yields differences in the metadata of files."""
    left, right = (
        {"format": o.title, "producer": o.producer, **{f"opset of '{k}'": v for k, v in o.opsets.items()}, **o.metadata}
        for o in (a, b)
    )
    yield from _changes(left, right)


def _changes(left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[Change]:
    for name in {**left, **right}:
        before, after = left.get(name, _ABSENT), right.get(name, _ABSENT)
        if before != after:
            yield Change(name, before, after)


def _are_of_mlir(a: Function, b: Function) -> bool:
    return isinstance(a, func.Func) and isinstance(b, func.Func)


def _namesakes(first: Sequence[str], second: Sequence[str], *, of_mlir: bool) -> Sequence[str]:
    """Returns the second names; in MLIR, where they do not belong to a function, as the first ones in their places."""
    return first if of_mlir and len(first) == len(second) else second


class _Comparing:
    """The differences of two programs in the order of the first; what only the second has comes last."""

    def __init__(self, matching: Matching, tolerance: float | None, *, measure: bool) -> None:
        self.interface: list[Change] = []
        self.operations: list[OperationDifference] = []
        self.weights: list[WeightDifference] = []
        self.same_operations = 0
        self.same_weights = 0
        self.marks: dict[Operation, tuple[str, ...]] = {}
        self._matching = matching
        self._tolerance = tolerance
        self._measure = measure

    def compare(self, a: Module, b: Module) -> None:
        """Compares the two programs."""
        for op in a.nested():
            other = self._matching.operations.get(op)
            if other is None:
                self._only(op, "removed")
                continue
            if isinstance(op, Function) and isinstance(other, Function):
                self._compare_interfaces(op, other)
            data, there = op.constant_data(), other.constant_data()
            if data is not None and there is not None and data.count > _FEW_ELEMENTS:
                self._compare_weights(op, other, data, there)
            elif not (_is_said_by_users(op) and _is_said_by_users(other)):
                self._compare_operations(op, other)
        for op in b.nested():
            if not self._matching.is_matched(op):
                self._only(op, "added")

    def _only(self, op: Operation, kind: str) -> None:
        if _is_said_by_users(op):
            return
        name = _named(op)
        names = (name, "") if kind == "removed" else ("", name)
        kinds = (op.name, "") if kind == "removed" else ("", op.name)
        self.operations.append(OperationDifference(kind, _place(op), *names, *kinds))
        self.marks[op] = ("only in the first" if kind == "removed" else "only in the second",)

    def _compare_interfaces(self, a: Function, b: Function) -> None:
        of = f" of {a.symbol_name}" if a.symbol_name == b.symbol_name else f" of {a.symbol_name}, {b.symbol_name}"
        inputs = _namesakes([v.name for v in a.inputs], [v.name for v in b.inputs], of_mlir=_are_of_mlir(a, b))
        outputs = _namesakes(list(a.output_names), list(b.output_names), of_mlir=_are_of_mlir(a, b))
        sides = [
            {
                **{f"input '{n}'{of}": str(v.type) for n, v in zip(named[0], f.inputs, strict=False)},
                **{f"output '{n}'{of}": str(v.type) for n, v in zip(named[1], f.outputs, strict=False)},
            }
            for f, named in ((a, ([v.name for v in a.inputs], a.output_names)), (b, (inputs, outputs)))
        ]
        self.interface += _changes(*sides)

    def _compare_weights(self, a: Operation, b: Operation, data: Data, there: Data) -> None:
        if same_data(data, there):
            self.same_weights += 1
            return
        counted = self._measure or self._tolerance is not None
        apart = distance(data, there, self._tolerance or 0.0) if counted else None
        is_within = self._tolerance is not None and apart is not None and not apart.beyond and data.type is there.type
        if is_within and not self._measure:
            self.same_weights += 1
            return
        difference = WeightDifference(
            name=weight_name(a),
            other_name=weight_name(b),
            type=str(data.type),
            other_type=str(there.type),
            count=data.count,
            is_within=is_within,
            largest=None if apart is None else apart.largest,
            relative=None if apart is None else apart.relative,
            beyond=None if apart is None else apart.beyond,
        )
        self.weights.append(difference)
        self.marks[a] = self.marks[b] = ("weights differ",)

    def _compare_operations(self, a: Operation, b: Operation) -> None:
        changes = [*_differences_of(a, b), *self._rewired(a, b)]
        types = [Change("type", str(x.type), str(y.type)) for x, y in _unlike(a, b) if x.type is not y.type]
        kind = "changed" if changes else "retyped" if types else "renamed" if _renamed(a, b) else ""
        if kind in ("", "renamed"):
            self.same_operations += 1
        if kind:
            difference = OperationDifference(kind, _place(a), _named(a), _named(b), a.name, b.name, (*changes, *types))
            self.operations.append(difference)
            if kind == "changed":
                lines = [f"{c.what}: {c.before or 'nothing'} → {c.after or 'nothing'}" for c in changes]
                self.marks[a] = self.marks[b] = (f"differs: {', '.join([c.what for c in changes])}", *lines)

    def _rewired(self, a: Operation, b: Operation) -> Iterator[Change]:
        """Yields a description of operands that do not correspond."""
        left, right = _operands_by_name(a, a), _operands_by_name(b, b if a.name == b.name else a)
        for where in {**left, **right}:
            x, y = left.get(where), right.get(where)
            if x is not None and y is not None and self._are_one(x, y):
                continue
            texts = _operand_text(a, where, x), _operand_text(b, where, y)
            if texts[0] == texts[1] and x is not None and y is not None:
                texts = f"{texts[0]} of {_maker_text(x)}", f"{texts[1]} of {_maker_text(y)}"
            yield Change(where, *texts)

    def _are_one(self, a: Value, b: Value) -> bool:
        left, right = known_data(a), known_data(b)
        if left is None or right is None:
            return self._matching.values.get(a) is b
        # One program may share a constant that the other one states twice.
        if same_data(left, right) or _is_rounded(left, right):
            return True
        return left.count > _FEW_ELEMENTS and self._matching.values.get(a) is b


def _is_said_by_users(op: Operation) -> bool:
    """Returns whether an operation is a small constant that others use: it is a part of what they say."""
    data = None if op.operands else op.constant_data()
    return data is not None and data.count <= _FEW_ELEMENTS and any(v.uses for v in op.results)


def _is_rounded(a: Data, b: Data) -> bool:
    """Returns whether two small constants are floats that differ in precision only."""
    narrow, wide = sorted((a, b), key=lambda data: data.element.bits)
    if narrow.element.bits == wide.element.bits or a.shape != b.shape or a.count > _FEW_ELEMENTS:
        return False
    if not (a.element.is_float and b.element.is_float):
        return False
    array = narrow.array()
    with np.errstate(over="ignore"):
        return bool(np.array_equal(wide.array().astype(array.dtype), array))


def _operands_by_name(op: Operation, named: Operation) -> dict[str, Value]:
    """Returns the operands by the names that another operation declares, those of one field numbered; without a name by
    position.
    """
    names = named.field_names[0]
    out: dict[str, Value] = {}
    for n, value in enumerate(op.operands):
        name = names[n] if n < len(names) else f"operand {n}"
        out[name if name not in out else f"{name}[{names[:n].count(name)}]"] = value
    return out


def _operand_text(op: Operation, name: str, value: Value | None) -> str:
    """Returns an operand, or the attribute that an operation has in its place."""
    if value is not None:
        return _value_text(value)
    field = next((f for f in op.layout.attributes if f.name == name), None) if isinstance(op, Op) else None
    if isinstance(op, Op) and field is not None and op.field_value(field) == field.default:
        return "default"
    return _attribute_text(op.attribute_dictionary.get(name))


def _differences_of(a: Operation, b: Operation) -> Iterator[Change]:
    """Yields differences of the operations themselves: types, attributes, small constants."""
    if a.name != b.name:
        yield Change("operation", a.name, b.name)
        return
    if isinstance(a, Symbol) and isinstance(b, Symbol) and a.symbol_name != b.symbol_name:
        yield Change("name", a.symbol_name, b.symbol_name)
    left, right = _meaning(a), _meaning(b)
    # What one of them has as an operand is compared with the operands.
    passed = {*a.field_names[0], *b.field_names[0]}
    for name in [name for name in {**left, **right} if name not in passed]:
        x, y = left.get(name), right.get(name)
        if x is None or y is None or not same_attribute(x, y):
            yield Change(name, _attribute_text(x), _attribute_text(y))
    counts = [sum(len(r.blocks) for r in op.regions) for op in (a, b)]
    if counts[0] != counts[1]:
        yield Change("blocks", str(counts[0]), str(counts[1]))


def _meaning(op: Operation) -> Mapping[str, Attribute]:
    """Returns the attributes that determine what an operation does.

    For an operation with a definition these are the declared attributes, without the name of a symbol and the type of a
    function, which are its interface.
    """
    if not isinstance(op, Op):
        return op.attribute_dictionary
    left_out = {*op.extra, *(("sym_name",) if isinstance(op, Symbol) else ())}
    return {
        name: value
        for name, value in op.attribute_dictionary.items()
        if name not in left_out and not (isinstance(op, Function) and isinstance(value, TypeAttr))
    }


def _attribute_text(attribute: Attribute | None) -> str:
    return _ABSENT if attribute is None else attribute_text(attribute, _FEW_ELEMENTS)


def _unlike(a: Operation, b: Operation) -> Iterable[tuple[Value, Value]]:
    return zip(a.results, b.results, strict=False)


def _renamed(a: Operation, b: Operation) -> bool:
    return any(x.name != y.name for x, y in _unlike(a, b))


def _value_text(value: Value | None) -> str:
    if value is None:
        return _ABSENT
    maker, data = value.defining_op, known_data(value)
    if data is not None and data.count <= _FEW_ELEMENTS:
        values = list(data.values())
        return str(values if data.shape else values[0])
    return value.name or (_maker_text(value) if maker is None else maker.name)


def _maker_text(value: Value) -> str:
    return f"input {value.index}" if value.defining_op is None else value.defining_op.name


def _named(op: Operation) -> str:
    return op.symbol_name if isinstance(op, Symbol) else op.first_name


def _place(op: Operation) -> str:
    """Returns the name of the function around an operation; "" when there is none."""
    return next((f.symbol_name for f in op.ancestors() if isinstance(f, Function)), "")
