"""Replaces subgraphs by single operations that compute the same (`recognitions`), where the dialect has them.

Both are run on sample values; a subgraph stays where these differ by more than rounding. Results may be rounded
differently. What looks like a form and stays is reported with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import Dialects, Op, known_data
from commonir.passes.core_forms import CoreWriter, FromCore, Written
from commonir.passes.proposals import Proposal, Samples
from commonir.passes.recognitions import Form, Propose, Recognition
from commonir.passes.remove_unused import remove_unused
from commonir.passes.sample_runs import TOLERANCES, Evaluate, SampleRuns, largest_difference
from commonir.passes.subgraphs import Primitives, Subgraph, SubgraphFinder, is_hashable
from commonir.rewrite.replacing import replace_results

_NEARLY = 0.02
"""A subgraph that differs by less from a form looks like it."""


class FusionReport(NamedTuple):
    """How often recognitions were applied, by name, and to which operations not, by name and then by reason."""

    applied: Counter[str]
    reasons: dict[str, dict[str, list[Operation]]]


def fuse(
    module: Module, recognitions: Sequence[Recognition], evaluate: Evaluate, from_core: FromCore, dialects: Dialects
) -> FusionReport:
    """Applies recognitions to the functions of a module, in place."""
    report = FusionReport(Counter(), {})
    differences: dict[object, float] = {}
    for function in module.defined_functions.values():
        # Where something else refers to values by name, they stay.
        if function.referred_names:
            continue
        writer = CoreWriter(function, from_core)
        fusion = _Fusion(function, recognitions, SampleRuns(evaluate), writer, dialects, differences)
        fusion.run()
        if fusion.applied:
            remove_unused(function.body)
        report.applied.update(fusion.applied)
        for name, text, op in fusion.reasons():
            report.reasons.setdefault(name, {}).setdefault(text, []).append(op)
    return report


class _Reason(NamedTuple):
    """Why a subgraph stays: the closer it is to the form, the smaller its distance."""

    distance: float
    text: str
    op: Op


_OTHERWISE_EQUAL = -1.0
"""The distance of a subgraph that computes the same, and stays for another reason."""


class _Fusion:
    """The application of recognitions to one function."""

    def __init__(
        self,
        function: Function,
        recognitions: Sequence[Recognition],
        runs: SampleRuns,
        writer: CoreWriter,
        dialects: Dialects,
        differences: dict[object, float],
    ) -> None:
        self._function = function
        self._recognitions = recognitions
        self._runs = runs
        self._writer = writer
        self._dialects = dialects
        self._finder = SubgraphFinder()
        self._differences = differences
        self.applied = Counter[str]()
        # By the recognition, and the last operation with a key primitive.
        self._reasons: dict[tuple[str, Op], _Reason] = {}
        self._explained: dict[Op, str] = {}
        # By form and structure.
        self._lacking: dict[object, str] = {}

    def run(self) -> None:
        """Visits operations from the last to the first, so that a form is found with all that belongs to it."""
        for op in reversed(self._function.walk_list()):
            if isinstance(op, Op) and op.parent is not None:
                self._visit(op)

    def reasons(self) -> Iterator[tuple[str, str, Op]]:
        """Yields the name of a recognition, the reason and an operation, for what looks like a form and stays."""
        for (name, key), reason in self._reasons.items():
            if key.parent is not None and reason.op.parent is not None:
                yield name, reason.text, reason.op

    def _visit(self, op: Op) -> None:
        subgraphs = list(self._finder.ending_at(op, self._may_have))
        for recognition in self._recognitions:
            for number, form in enumerate(recognition.forms):
                for subgraph, propose in () if form.find is None else form.find(op, self._finder):
                    if self._try(recognition, number, subgraph, propose):
                        return
            for subgraph in subgraphs:
                for number, form in enumerate(recognition.forms):
                    if form.may_be(subgraph.primitives) and self._try(recognition, number, subgraph, form.propose):
                        return

    def _may_have(self, primitives: Primitives) -> bool:
        return any(form.may_be_in(primitives) for r in self._recognitions for form in r.forms)

    def _try(self, recognition: Recognition, number: int, subgraph: Subgraph, propose: Propose) -> bool:
        """Applies a form to a subgraph; returns whether it did."""
        form, type = recognition.forms[number], subgraph.x.type
        proposals = list(propose(subgraph))
        if not proposals or not isinstance(type, TensorType):
            return False
        key = (recognition.name, number, _structure(subgraph))
        tolerance = TOLERANCES.get(type.element.name, 0.0)
        least, lacking = math.inf, ""
        for n, proposal in enumerate(proposals):
            own_key = (*key, n, proposal.assumed)
            difference = self._measured(subgraph, proposal, own_key)
            least = min(least, difference)
            if difference > tolerance:
                continue
            if subgraph.outside is not None:
                name = subgraph.outside.name or "an inner value"
                self._stay(recognition, form, subgraph, _OTHERWISE_EQUAL, f"'{name}' inside of it is used elsewhere")
                return False
            reason = self._lacking.get(own_key) or self._replace(subgraph, proposal)
            if not reason:
                self.applied[recognition.name] += 1
                return True
            self._lacking[own_key] = reason
            lacking = lacking or reason
        distance = _OTHERWISE_EQUAL if lacking else least
        text = lacking or f"it differs by {least:.1e}, and at most {tolerance:.0e} is rounding"
        self._stay(recognition, form, subgraph, distance, text)
        return False

    def _measured(self, subgraph: Subgraph, proposal: Proposal, key: object) -> float:
        """Returns by how much a proposal differs from a subgraph, on all samples."""
        difference = self._differences.get(key)
        if difference is None:
            difference = max([self._difference(subgraph, proposal, sample) for sample in proposal.samples])
            self._differences[key] = difference
        return difference

    def _difference(self, subgraph: Subgraph, proposal: Proposal, sample: Samples) -> float:
        contents: dict[Value, Data] = dict(zip(proposal.inputs, sample, strict=True))
        for v in dict.fromkeys([v for op in subgraph.operations for v in op.operands]):
            data = None if v in contents else known_data(v)
            if data is not None:
                contents[v] = data
        expected = self._runs.result(subgraph.operations, contents, subgraph.result, proposal.sizes)
        result = None if expected is None else self._runs.built(proposal.build, sample)
        if expected is None or result is None:
            return math.inf
        return largest_difference(result, expected, sample[0] if proposal.is_pointwise else None)

    def _replace(self, subgraph: Subgraph, proposal: Proposal) -> str:
        """Replaces a subgraph; returns why the dialect does not express the operation, "" if it did."""
        written = self._written(subgraph, proposal)
        if written is None:
            return self._needed(subgraph, proposal)
        written.value.retype(subgraph.result.type)
        root = subgraph.root
        replace_results(root, (written.value, *root.results[1:]), written.operations)
        for op in reversed(subgraph.operations):
            if not any(r.is_used for r in op.results):
                op.erase()
        return ""

    def _written(self, subgraph: Subgraph, proposal: Proposal, version: str = "") -> Written | None:
        """Returns the operations of the dialect for a proposal; None if they are the parts of its operation."""
        written = self._writer.written(proposal.build(*proposal.inputs), proposal.most, subgraph.root, version)
        if written is None:
            return None
        if written.value.owner in written.operations and all(o.name != subgraph.root.name for o in written.operations):
            return written
        _erase(written)
        return None

    def _needed(self, subgraph: Subgraph, proposal: Proposal) -> str:
        """Returns which operation set has an operation, or that there is none."""
        function = self._function
        dialect = self._dialects.get(function.name.partition(".")[0])
        own = function.operation_set
        versions = () if dialect is None else dialect.versions
        for version in versions[versions.index(own) + 1 :] if own in versions else ():
            written = self._written(subgraph, proposal, version)
            if dialect is not None and written is not None:
                _erase(written)
                return f"it needs {dialect.version_text(version)}, and the program has {dialect.version_text(own)}"
        return f"{function.name.partition('.')[0]} has no single operation for it"

    def _stay(self, recognition: Recognition, form: Form, subgraph: Subgraph, distance: float, text: str) -> None:
        explained = self._explained.get(subgraph.root)
        if distance > _NEARLY or explained not in (None, recognition.name):
            return
        if explained is not None and distance == _OTHERWISE_EQUAL:
            return
        if distance == _OTHERWISE_EQUAL:
            # What is a part of it need no longer be reported.
            self._explained.update(dict.fromkeys(subgraph.operations, recognition.name))
        for op in reversed(subgraph.operations):
            part = self._finder.primitives(op)
            if part is not None and part.classes & form.keys:
                known = self._reasons.get((recognition.name, op))
                if known is None or distance < known.distance:
                    self._reasons[recognition.name, op] = _Reason(distance, text, subgraph.root)
                return


def _erase(written: Written) -> None:
    for op in reversed(written.operations):
        op.erase()


def _structure(subgraph: Subgraph) -> object:
    """Returns a key that is equal for subgraphs that compute the same from `x` and `others`, by their operations."""
    numbers: dict[Value, object] = {subgraph.x: "x"}
    numbers.update({v: n for n, v in enumerate(subgraph.others)})
    parts: list[object] = [subgraph.x.type, tuple([v.type for v in subgraph.others])]
    for n, op in enumerate(subgraph.operations):
        used: list[object] = []
        for v in op.operands:
            data = None if v in numbers else known_data(v)
            used.append(numbers[v] if data is None else (data.type, data.contents()))
        attributes = tuple([a if is_hashable(a) else id(a) for a in op.attribute_values])
        parts.append((type(op), attributes, op.operand_offsets, tuple(used)))
        numbers.update({r: (n, r.index) for r in op.results})
    return tuple(parts)
