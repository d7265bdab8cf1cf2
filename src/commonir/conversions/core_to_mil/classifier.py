"""Classifiers: the output of a label by its text, which Core ML has only together with all probabilities.

In the core a label is an element of a constant vector of texts at the position of the greatest probability. That output
is taken out of a program, and put back as `classify` once the program is legal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mil.control import Classify
from commonir.dialects.mil.program import Compound, CompoundLiteral, Func, Return
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.data import Data, data_of
from commonir.ir.interface import NO_PORT
from commonir.ir.module import Module
from commonir.ir.operation import Block, Value
from commonir.ir.types import FunctionType, ListType, TensorType, i64, string
from commonir.passes.remove_unused import remove_unused

LABEL = "classLabel"
"""The name of the output of a label where the program has none."""


class Labels(NamedTuple):
    """The labels of a classifier, and the names of its two outputs."""

    values: tuple[str, ...] | tuple[int, ...]
    label_name: str
    scores_name: str


def take_labels(module: Module) -> tuple[Module, Mapping[str, Labels]]:
    """A module whose functions return no labels, and those of each function that did; the given one is not touched."""
    result = {f.sym_name: labels for f in _functions(module) if (labels := _labels_of(f)) is not None}
    if not result:
        return module, {}
    copy = clone(module)
    for function in list(_functions(copy)):
        labels = result.get(function.sym_name)
        if labels is not None:
            _without_label(function, labels.label_name)
    return copy, result


def _functions(module: Module) -> list[ml_program.Func]:
    return [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]


def _labels_of(function: ml_program.Func) -> Labels | None:
    """The labels that a function returns, or that a port says its probabilities have."""
    outputs = list(zip(function.output_names, function.outputs, strict=True))
    for name, value in outputs:
        owner = value.owner
        if not isinstance(owner, core.Gather) or not isinstance(owner.x.owner, core.Constant):
            continue
        data, best = owner.x.owner.value, owner.positions.owner
        if data.element is not string or not isinstance(best, core.ArgMax) or len(data.shape) != 1:
            continue
        scores = next((n for n, v in outputs if v is best.x), None)
        if scores is not None:
            return Labels(tuple([str(v) for v in data.values()]), name, scores)
    for name, value in outputs:
        labels = function.output_ports.get(name, NO_PORT).labels
        if labels and isinstance(value.type, TensorType):
            other = next((n for n, v in outputs if _is_label(v)), LABEL)
            return Labels(labels, other, name)
    return None


def _is_label(value: Value) -> bool:
    """Whether an output is one label."""
    type = value.type
    return isinstance(type, TensorType) and type.element in (string, i64) and isinstance(value.owner, core.Gather)


def _without_label(function: ml_program.Func, name: str) -> None:
    """Replaces a function by one that does not return an output of a name."""
    remaining = [n for n, output in enumerate(function.output_names) if output != name]
    if len(remaining) == len(function.output_names):
        return
    outputs = [function.outputs[n] for n in remaining]
    type = FunctionType(function.function_type.inputs, tuple([v.type for v in outputs]))
    body, attributes = function.body, function.res_attrs
    last = body.last
    if last is not None:
        last.erase()
    body.append(ml_program.Return(tuple(outputs)))
    built = ml_program.Func(
        function.sym_name,
        type,
        function.body_region.take(),
        tuple([function.output_names[n] for n in remaining]),
        function.sym_visibility,
        function.arg_attrs,
        None if attributes is None else tuple([attributes[n] for n in remaining]),
    )
    block = function.parent
    if isinstance(block, Block):
        block.insert_before(function, built)
    function.regions = ()
    function.erase()
    remove_unused(built.body)


def put_labels(function: Func, labels: Labels) -> None:
    """Makes a function return the label of the greatest of its probabilities, and a dictionary of them."""
    last = function.body.last
    if not isinstance(last, Return) or labels.scores_name not in last.names:
        return
    at = last.names.index(labels.scores_name)
    classes = CompoundLiteral(_list_of(labels.values))
    built = Classify(last.values[at], classes.output)
    function.body.insert_before(last, classes)
    function.body.insert_before(last, built)
    values, names = list(last.values), list(last.names)
    values[at : at + 1], names[at : at + 1] = [built.label, built.scores], [labels.label_name, labels.scores_name]
    last.erase()
    function.body.append(Return.build({"values": tuple(values), "names": tuple(names)}, ()))


def _list_of(values: Sequence[str | int]) -> Compound:
    element = string if isinstance(values[0], str) else i64
    stored: list[Data] = [data_of(element, (), (v,)) for v in values]
    return Compound(ListType(TensorType(element, ()), len(stored)), stored)
