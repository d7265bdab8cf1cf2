"""Replaces subgraphs by single operations that compute the same (`recognitions`), where the dialect has them.

Both are run on sample values; a subgraph stays where these differ by more than rounding. Results may be rounded
differently. What looks like a form and stays is reported with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.notation import NotationError
from commonir.ods import Dialects, Op, known_data, traits
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


class _Candidate:
    """A subgraph that forms are compared with; its structure, and its result for a sample, are computed once."""

    def __init__(self, subgraph: Subgraph) -> None:
        self.subgraph = subgraph
        self._results: dict[tuple[int, ...], tuple[Samples, Data | None]] = {}

    @cached_property
    def structure(self) -> object:
        """A key that is equal for subgraphs that compute the same."""
        return _structure(self.subgraph)

    def result(self, proposal: Proposal, sample: Samples, runs: SampleRuns) -> Data | None:
        """Returns the result for contents of the inputs of a proposal; None if it is not computed."""
        key = tuple(map(id, sample))
        if key not in self._results:
            # The sample stays, so that no other one has the same key.
            self._results[key] = sample, self._computed(proposal, sample, runs)
        return self._results[key][1]

    def _computed(self, proposal: Proposal, sample: Samples, runs: SampleRuns) -> Data | None:
        operations = self.subgraph.operations
        contents: dict[Value, Data] = dict(zip(proposal.inputs, sample, strict=True))
        for v in dict.fromkeys([v for op in operations for v in op.operands]):
            data = None if v in contents else known_data(v)
            if data is not None:
                contents[v] = data
        return runs.result(operations, contents, self.subgraph.result, proposal.sizes)


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
        # Proposals that the dialect does not express, and what they need, by form and structure.
        self._not_written: set[object] = set()
        self._needed: dict[object, str] = {}

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
        candidates = [_Candidate(subgraph) for subgraph in self._finder.ending_at(op, self._may_have)]
        for recognition in self._recognitions:
            for number, form in enumerate(recognition.forms):
                for subgraph, propose in () if form.find is None else form.find(op, self._finder):
                    if self._try(recognition, number, _Candidate(subgraph), propose):
                        return
            for candidate in candidates:
                for number, form in enumerate(recognition.forms):
                    is_possible = form.may_be(candidate.subgraph.primitives)
                    if is_possible and self._try(recognition, number, candidate, form.propose):
                        return

    def _may_have(self, primitives: Primitives) -> bool:
        return any(form.may_be_in(primitives) for r in self._recognitions for form in r.forms)

    def _try(self, recognition: Recognition, number: int, candidate: _Candidate, propose: Propose) -> bool:
        """Applies a form to a subgraph; returns whether it did."""
        subgraph = candidate.subgraph
        form, type = recognition.forms[number], subgraph.x.type
        if not isinstance(type, TensorType):
            return False
        tolerance = TOLERANCES.get(type.element.name, 0.0)
        least = math.inf
        lacking: list[Proposal] = []
        form_key = (recognition.name, number, candidate.structure)
        for n, proposal in enumerate(propose(subgraph)):
            key = (form_key, n, proposal.assumed)
            difference = self._measured(candidate, proposal, key)
            least = min(least, difference)
            if difference > tolerance:
                continue
            if subgraph.outside is not None:
                name = subgraph.outside.name or "an inner value"
                self._stay(recognition, form, subgraph, _OTHERWISE_EQUAL, f"'{name}' inside of it is used elsewhere")
                return False
            if key not in self._not_written and self._replace(subgraph, proposal):
                self.applied[recognition.name] += 1
                return True
            self._not_written.add(key)
            lacking.append(proposal)
        if lacking:
            if form_key not in self._needed:
                self._needed[form_key] = self._needed_for(subgraph, lacking)
            self._stay(recognition, form, subgraph, _OTHERWISE_EQUAL, self._needed[form_key])
        else:
            text = f"it differs by {least:.1e}, and at most {tolerance:.0e} is rounding"
            self._stay(recognition, form, subgraph, least, text)
        return False

    def _measured(self, candidate: _Candidate, proposal: Proposal, key: object) -> float:
        """Returns by how much a proposal differs from a subgraph, on samples up to one on which it is another one."""
        difference = self._differences.get(key)
        if difference is None:
            difference = 0.0
            for sample in proposal.samples:
                difference = max(difference, self._difference(candidate, proposal, sample))
                if difference > _NEARLY:
                    break
            self._differences[key] = difference
        return difference

    def _difference(self, candidate: _Candidate, proposal: Proposal, sample: Samples) -> float:
        expected = candidate.result(proposal, sample, self._runs)
        result = None if expected is None else self._runs.built(proposal.build, sample)
        if expected is None or result is None:
            return math.inf
        return largest_difference(result, expected, sample[0] if proposal.is_pointwise else None)

    def _replace(self, subgraph: Subgraph, proposal: Proposal) -> bool:
        """Replaces a subgraph, if the dialect expresses the operation; returns whether it did."""
        written = self._written(subgraph, proposal)
        if written is None:
            return False
        written.value.retype(subgraph.result.type)
        root = subgraph.root
        replace_results(root, (written.value, *root.results[1:]), written.operations)
        for op in reversed(subgraph.operations):
            if not any(r.is_used for r in op.results):
                op.erase()
        return True

    def _written(self, subgraph: Subgraph, proposal: Proposal, version: str = "") -> Written | None:
        """Returns the operations of the dialect for a proposal; None if they are the parts of its operation."""
        try:
            value = proposal.build(*proposal.inputs)
        except (DiagnosticError, NotationError):  # dims that are equal in samples, and not known to be so
            return None
        written = self._writer.written(value, proposal.most, subgraph.root, version)
        if written is None:
            return None
        if written.value.owner in written.operations and all(o.name != subgraph.root.name for o in written.operations):
            return written
        _erase(written)
        return None

    def _needed_for(self, subgraph: Subgraph, proposals: Sequence[Proposal]) -> str:
        """Returns which operation set expresses one of some proposals, or that there is none."""
        name, own = self._function.name.partition(".")[0], self._function.operation_set
        dialect = self._dialects.get(name)
        if dialect is None or not dialect.newer_versions(own):
            return f"{name} has no single operation for it"
        newer = dialect.newer_versions(own)
        for proposal in proposals:
            operations = self._names_in(newer[-1], subgraph, proposal)
            if operations is None:
                continue
            for version in newer:
                is_declared = all(dialect.find(n, version) is not None for n in operations)
                if is_declared and self._names_in(version, subgraph, proposal) is not None:
                    return f"it needs {dialect.version_text(version)}, and the program has {dialect.version_text(own)}"
        return f"{name} has no single operation for it"

    def _names_in(self, version: str, subgraph: Subgraph, proposal: Proposal) -> list[str] | None:
        """Returns the names of the operations of another operation set for a proposal; None if it has none."""
        written = self._written(subgraph, proposal, version)
        if written is None:
            return None
        names = [op.name for op in written.operations if not (isinstance(op, Op) and op.has_trait(traits.ConstantLike))]
        _erase(written)
        return names

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
