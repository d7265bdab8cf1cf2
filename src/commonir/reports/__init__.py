"""Reports of the API about programs, engines and comparisons.

Plain immutable data of texts and numbers, with no reference to the program it describes: commands print it, and
`to_json` is the `result` of the command's JSON envelope. Nothing here computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from commonir.base.text import plural
from commonir.reports.profiles import MachinePeak as MachinePeak
from commonir.reports.profiles import Profile as Profile
from commonir.reports.profiles import ProfileComparison as ProfileComparison
from commonir.reports.profiles import ProfileEntry as ProfileEntry
from commonir.reports.profiles import ProfileRow as ProfileRow
from commonir.reports.profiles import RankProfile as RankProfile
from commonir.reports.profiles import RankStep as RankStep
from commonir.reports.report import Entries as Entries
from commonir.reports.report import JsonValue as JsonValue
from commonir.reports.report import Report as Report

# -- programs


class Port(Report):
    """An input, output or state of a function.

    `note` says what the type cannot, such as the sizes a dimension may have.
    """

    name: str
    type: str
    note: str = ""


class FunctionSummary(Report):
    """The interface of a function, and how often it holds each operation, nested blocks included.

    `systems` are the first systems that have the operation set `opset`, "" where it belongs to none.
    """

    name: str
    opset: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[Port, ...]
    operations: Mapping[str, int]
    systems: str = ""


class FileEntry(Report):
    """A file of a model. A path inside a model is relative to the model."""

    path: str
    size_bytes: int


class WeightEntry(Report):
    """A constant of a program. `file` is where it lies, "" for one that lies in the program itself.

    A compressed one has the type that it stands for, the size of all that it is decoded from, and `storage`, such as
    "palettized 4 bits". `parameter_count` is the number of its elements; `bits` is how many bits each takes.
    """

    name: str
    type: str
    size_bytes: int
    file: str = ""
    offset: int | None = None
    storage: str = ""
    parameter_count: int = 0
    bits: float = 0.0


class StorageEntry(Report):
    """The weights of a program that are stored in the same way; `storage` is "" for those that are not compressed."""

    storage: str
    parameter_count: int
    size_bytes: int
    bits: float


# -- programs of ranks


class BufferEntry(Report):
    """A buffer of a rank. `kinds` says what it is for: input, weight, output, received (other ranks put data there),
    scratch, or unused.

    `first` and `last` are the steps of the first and the last operation that uses it, counted from 0 in the order in
    which they run, `first_operation` and `last_operation` their names; None for one that nothing uses. It holds
    something that is needed from step `lives_from` to step `lives_to`: inputs and what is received from the first step
    on, weights and outputs to the last one, what is sent until that is done. `offset` is where it could lie if memory
    were used again, None for one that needs none.
    """

    buffer: int
    name: str
    size_bytes: int
    kinds: tuple[str, ...]
    first: int | None
    last: int | None
    first_operation: str
    last_operation: str
    lives_from: int | None
    lives_to: int | None
    offset: int | None


class RankSummary(Report):
    """The memory of a rank; `name` is the function that it runs. Sizes are None where values lie in no buffers.

    `size_bytes` is what its buffers take together, `peak_bytes` what those take that are needed at once, at the
    operation `peak_operation`; `reused_bytes` is what is enough when buffers that are not needed at once share memory.
    """

    rank: int
    name: str
    size_bytes: int | None = None
    peak_bytes: int | None = None
    peak_operation: str = ""
    reused_bytes: int | None = None
    buffers: tuple[BufferEntry, ...] = ()


class TrafficEntry(Report):
    """The messages from one rank to another under a tag; `tag` is None for collective exchanges.

    `size_bytes` is None where it depends on dynamic dimensions; `unreceived` counts the messages that are
    never received.
    """

    source: int
    destination: int
    tag: int | None
    messages: int
    size_bytes: int | None
    unreceived: int = 0


class RanksSummary(Report):
    """A program of several ranks: memory of each, and what they exchange, by pair and tag.

    `missing` is how many ranks of the program are not there, `blocked` those that wait forever.
    """

    world_size: int
    ranks: tuple[RankSummary, ...]
    traffic: tuple[TrafficEntry, ...]
    barriers: int
    missing: int = 0
    blocked: tuple[int, ...] = ()

    def by_pair(self) -> tuple[TrafficEntry, ...]:
        """The traffic from each rank to each other one, over all tags."""
        pairs: dict[tuple[int, int], list[TrafficEntry]] = {}
        for entry in self.traffic:
            pairs.setdefault((entry.source, entry.destination), []).append(entry)
        return tuple([_together(source, destination, entries) for (source, destination), entries in pairs.items()])

    @property
    def total(self) -> TrafficEntry:
        """The traffic of all ranks."""
        return _together(-1, -1, self.traffic)


def _together(source: int, destination: int, entries: Sequence[TrafficEntry]) -> TrafficEntry:
    sizes = [entry.size_bytes for entry in entries if entry.size_bytes is not None]
    messages, unreceived = sum(e.messages for e in entries), sum(e.unreceived for e in entries)
    size_bytes = sum(sizes) if len(sizes) == len(entries) else None
    return TrafficEntry(source, destination, None, messages, size_bytes, unreceived)


class Compilation(Report):
    """A program that was compiled ahead of time: the files, the processor, and what a caller must know.

    `undefined` are the symbols that the object does not define itself. Units: the workspace is in bytes.
    """

    output: str
    files: tuple[FileEntry, ...]
    functions: tuple[str, ...]
    triple: str
    cpu: str
    features: tuple[str, ...]
    workspace_bytes: int
    undefined: tuple[str, ...]

    @property
    def heading(self) -> str:
        return f"{', '.join(self.functions)} for {self.cpu} ({self.triple})"


class SavedDrawing(Report):
    """An image of a program that was written: what it shows, in one line, and in words what is left out; `overlays`
    says what the colours of each overlay show.

    Units: `width` and `height` are in pixels at its natural size.
    """

    path: str
    size_bytes: int
    width: int
    height: int
    summary: str
    findings: tuple[str, ...]
    left_out: tuple[str, ...]
    overlays: tuple[str, ...] = ()


# -- summaries


class DeclarationEntry(Report):
    """A declaration that nodes can call: a `kind`, which is "function" or "operator", and its signatures.

    A signature has the parameters, attributes and results with their types, and what type variables stand for.
    """

    kind: str
    name: str
    signatures: tuple[str, ...]
    summary: str


class Summary(Report):
    """The summary of a program, as `cir info` shows it.

    `format` is the short name that `--to` takes, `title` what people call it, with its version. `weight_bytes` is the
    size of constants as stored, by element type; `element_types` are those of all values that the program computes;
    `flops` is the number of floating-point operations of the entry function, or of all ranks, a formula in dimensions;
    `peak_memory` the bytes of values that a run needs at once, of the rank that needs most;
    `weights` are its constants, largest first, where they were asked for; `ranks` is what a program of ranks is
    besides; `declarations` are the functions and operators that the file declares for nodes to call. `storages` groups
    the weights by how they are stored.
    """

    format: str
    title: str
    producer: str
    entry: str
    functions: tuple[FunctionSummary, ...]
    parameter_count: int
    weight_bytes: Mapping[str, int]
    element_types: tuple[str, ...]
    metadata: Mapping[str, str]
    files: tuple[FileEntry, ...]
    flops: str | None = None
    weights: tuple[WeightEntry, ...] | None = None
    ranks: RanksSummary | None = None
    declarations: tuple[DeclarationEntry, ...] = ()
    storages: tuple[StorageEntry, ...] = ()
    peak_memory: str | None = None

    @property
    def heading(self) -> str:
        count = sum(self.operations.values())
        functions = f"{len(self.functions):,} functions, " if len(self.functions) > 1 else ""
        return f"{self.title}, {functions}{count:,} operations, {self.parameter_count:,} parameters"

    @property
    def operations(self) -> Mapping[str, int]:
        """How often each operation occurs in all functions, most frequent first."""
        total: Counter[str] = Counter()
        for function in self.functions:
            total.update(function.operations)
        return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))

    @property
    def entry_function(self) -> FunctionSummary | None:
        """The function that runs when none is named."""
        return next((function for function in self.functions if function.name == self.entry), None)


# -- comparisons


class OutputError(Report):
    """How far one output is from what was expected.

    `absolute` and `relative` are the largest error over all elements, the latter divided by the largest expected
    magnitude; None when the outputs cannot be compared element by element, and `note` says why. `at` is the index of
    the largest error.
    """

    name: str
    type: str
    is_within: bool
    absolute: float | None
    relative: float | None
    atol: float
    rtol: float
    at: tuple[int, ...] = ()
    note: str = ""


class ValueDifference(Report):
    """How far one value of two programs is apart.

    `operation` and `other_operation` compute it on each side, in the nodes `node` and `other_node`, which are "" where
    the file names none but by the value; `type` and `other_type` are its element types.
    `absolute` and `relative` are the largest error of an element, the latter divided by that element; `rmse` is the
    root of the mean square of the error, `cosine` that of the angle between the two. All are None when the values
    cannot be compared element by element, and `note` says why. `at` is the index of the largest error, `beyond` the
    number of elements outside of the tolerance, out of `count`. `is_output` says whether both programs return it. `snr`
    and `psnr` are ratios of signal to error in decibels; `failed` has the criteria that do not hold. `overflows` counts
    the elements that agree only because the narrower type has an infinity for them.
    """

    name: str
    operation: str
    other_operation: str
    type: str
    other_type: str
    is_within: bool
    absolute: float | None
    relative: float | None
    rmse: float | None
    cosine: float | None
    atol: float
    rtol: float
    at: tuple[int, ...] = ()
    beyond: int = 0
    count: int = 0
    note: str = ""
    node: str = ""
    other_node: str = ""
    is_output: bool = False
    snr: float | None = None
    psnr: float | None = None
    failed: tuple[str, ...] = ()
    overflows: int = 0


class Cause(Report):
    """The likely cause of a difference, confirmed by a computation. `inspection.faults.causes` lists the kinds."""

    kind: str
    text: str


class Divergence(Report):
    """A value that differs although what it is computed from agrees.

    `inputs` are the values that both sides have and agree on, from which `operations` and `other_operations` compute
    it, each as its kind and name; `constants` are those among them that differ between the programs. `is_isolated`
    says whether these operations alone, on the same inputs, differ too; None when it was not tried. `folder` holds
    a reproducer. `cause` is the likely cause, None where none of the known ones fits. `path` names the values from this
    one to an output.
    """

    difference: ValueDifference
    inputs: tuple[str, ...]
    operations: tuple[str, ...]
    other_operations: tuple[str, ...]
    constants: tuple[str, ...] = ()
    is_isolated: bool | None = None
    folder: str | None = None
    cause: Cause | None = None
    path: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the value."""
        return self.difference.name

    @property
    def node(self) -> str:
        """The name of the node that computes it in the first program, "" where it is that of the value."""
        return self.difference.node

    @property
    def operation(self) -> str:
        """The kind of the operation that computes it in the first program."""
        return self.difference.operation

    @property
    def heading(self) -> str:
        cause = "" if self.cause is None else f", likely cause: {self.cause.kind}"
        return f"{self.operation} '{self.name}'{cause}"


class Comparison(Report):
    """Two programs, or two engines, value by value.

    `values` are in the program order of the first, `outputs` names those that both return. These decide whether the
    programs agree, unless `all_decide`. `only_first` and
    `only_second` name values that the other does not have. `divergences` are in program order. `whole` has the outputs
    of an ordinary run of each program, where all values agreed in pieces and an engine may compute operations together.
    `peak_values` and `peak_bytes` are the most that each side held at once.
    """

    engines: tuple[str, str]
    function: str
    values: tuple[ValueDifference, ...]
    outputs: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    divergences: tuple[Divergence, ...]
    peak_values: tuple[int, ...]
    peak_bytes: tuple[int, ...]
    whole: tuple[ValueDifference, ...] = ()
    all_decide: bool = False

    @staticmethod
    def of_sets(parts: Sequence[Comparison]) -> Comparison:
        """Returns comparisons on several sets of inputs as one, whose values have the number of their set: `set1/y`."""
        if len(parts) == 1:
            return parts[0]
        diverging = next((part for part in parts if part.divergences), parts[0])
        return parts[0].replaced(
            values=tuple([v.replaced(name=f"set{n}/{v.name}") for n, part in enumerate(parts) for v in part.values]),
            whole=tuple([v.replaced(name=f"set{n}/{v.name}") for n, part in enumerate(parts) for v in part.whole]),
            divergences=diverging.divergences,
        )

    @property
    def heading(self) -> str:
        first = self.first_divergence
        verdict = "agree" if self.is_within else "differ"
        where = "" if first is None else f", first divergence: {first.operation} '{first.name}'"
        return f"{self.engines[0]} and {self.engines[1]} {verdict}, {plural(len(self.values), 'value')}{where}"

    @property
    def is_within(self) -> bool:
        """Whether the values that decide agree: the outputs, or all."""
        deciding = [value for value in self.values if self.all_decide or value.is_output]
        return all(value.is_within for value in (*deciding, *self.whole))

    @property
    def first_divergence(self) -> Divergence | None:
        """The first operation, in program order, whose operands agree and whose result does not."""
        return self.divergences[0] if self.divergences else None


class Reduction(Report):
    """A small part of a program on which something still fails.

    `operations_before` and `operations_after` count operations without constants, `operations` names those of the part,
    each as its kind and name. `output` and `inputs_file` are the files of the part and its inputs, the latter None if
    they could not be computed; `runs` counts how often the condition was tried.
    """

    output: str
    inputs_file: str | None
    operations_before: int
    operations_after: int
    operations: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    runs: int


# -- what two programs differ in


class Change(Report):
    """Something that is stated in another way; `before` or `after` is "" for what only one side states."""

    what: str
    before: str
    after: str


class OperationDifference(Report):
    """An operation that differs. `kind` is removed (only the first program has it), added (only the second), changed,
    retyped (nothing but types, which follow from those of its operands), or renamed (nothing but names of values).

    `name` and `other_name` are what it is called on each side, `operation` and `other_operation` its kind there;
    `function` is the function that it is in.
    """

    kind: str
    function: str
    name: str
    other_name: str
    operation: str
    other_operation: str
    changes: tuple[Change, ...] = ()


class WeightDifference(Report):
    """A weight whose contents differ. Numbers are None where they were not requested or do not exist.

    `largest` is the largest difference of two elements, `relative` that as a part of the largest magnitude, `beyond`
    how many of the `count` elements differ by more than the tolerance.
    """

    name: str
    other_name: str
    type: str
    other_type: str
    count: int
    is_within: bool
    largest: float | None = None
    relative: float | None = None
    beyond: int | None = None


class Differences(Report):
    """The static differences of two programs.

    `formats` are those of the files, `compared_as` the form in which they were compared: their common format, or core.
    `interface` is about inputs and outputs, `about` about what files say besides the program, which makes no difference
    to it. Operations are in the order of the first program, those that are added last.
    """

    formats: tuple[str, str]
    compared_as: str
    interface: tuple[Change, ...]
    about: tuple[Change, ...]
    operations: tuple[OperationDifference, ...]
    weights: tuple[WeightDifference, ...]
    same_operations: int
    same_weights: int

    @property
    def heading(self) -> str:
        changes = sum(entry.kind != "renamed" for entry in self.operations)
        counts = {"interface": len(self.interface), "operations": changes, "weights": len(self.weights)}
        different = ", ".join([f"{name} {count:,}" for name, count in counts.items() if count])
        return f"{' against '.join(self.formats)}: {'the same' if self.are_same else f'changes of {different}'}"

    def of_kind(self, kind: str) -> tuple[OperationDifference, ...]:
        """The operations that differ in one way."""
        return tuple([found for found in self.operations if found.kind == kind])

    @property
    def are_same(self) -> bool:
        """Whether both compute the same from the same inputs, as far as texts show; names inside are ignored."""
        is_other = any(found.kind != "renamed" for found in self.operations)
        return not (self.interface or is_other or any(not weight.is_within for weight in self.weights))


# -- the installation


class ShapeEntry(Report):
    """A value with its type; `operation` is what computes it, "input" for an input, and "" for an argument of a nested
    program. `node` is its own name in the file, "" where it has none but that of the value.
    """

    function: str
    name: str
    operation: str
    type: str
    node: str = ""


class KeptEntry(Report):
    """An operation that stays in single precision, with its name in the source.

    `reason` is `chosen`, `range` (a constant is beyond that of the smaller type) or `form` (it takes no smaller type).
    """

    name: str
    operation: str
    reason: str
    detail: str = ""


class PrecisionReport(Report):
    """The outcome of a change of precision: how many operations are computed in `type`, and which stay as they were.

    `limited` are the constants with elements that act as infinity, which become the largest finite number of `type`.
    """

    type: str
    changed: int
    kept: tuple[KeptEntry, ...] = ()
    limited: tuple[str, ...] = ()


class OperationEntry(Report):
    """An operation with the first sentence of its reference page; `systems` are those that have version `since`."""

    name: str
    summary: str
    since: str = ""
    systems: str = ""


class PassOptionEntry(Report):
    """An option of a pass: its name, the type of its values, and what it sets."""

    name: str
    type: str
    summary: str


class PassEntry(Report):
    """A pass with what it does and its options."""

    name: str
    summary: str
    options: tuple[PassOptionEntry, ...] = ()


class RuleMismatch(Report):
    """Why a rewrite rule did not apply to operations that it could be for: how many, and where the first is."""

    reason: str
    count: int
    where: str


class RuleReport(Report):
    """The statistics of a rewrite rule or a pass: how often it was applied, and why not to the operations
    that are left.

    `place` is where the rule is written. `others` counts the operations whose reasons are not listed.
    """

    name: str
    place: str
    applied: int
    mismatches: tuple[RuleMismatch, ...] = ()
    others: int = 0


class LegalizationStepReport(Report):
    """One step of a legalization: the operation that was replaced, what replaced it, and the new operations."""

    operation: str
    by: str
    result: tuple[str, ...]


class LegalizationReport(Report):
    """The path by which operations became legal: those of one name whose paths are the same; `where` is the first one.

    `reasons` say why operations without steps stay as they are.
    """

    name: str
    where: str
    count: int
    steps: tuple[LegalizationStepReport, ...] = ()
    reasons: tuple[str, ...] = ()


class PackageReport(Report):
    """A package this one works with: its version, or None when it is not installed, and the extra that installs it."""

    name: str
    version: str | None
    extra: str = ""


class EngineReport(Report):
    """An engine that runs programs; `note` says what is missing when it is not available, else whether it is the
    default.
    """

    name: str
    is_available: bool
    note: str = ""


class FormatReport(Report):
    """A format and what can be done with it."""

    name: str
    suffixes: tuple[str, ...]
    is_read: bool
    is_written: bool


class PluginReport(Report):
    """Something that another package adds: its name, the kind of thing, and the package; `note` says why it fails."""

    name: str
    kind: str
    package: str
    is_available: bool = True
    note: str = ""


class CacheReport(Report):
    """The cache of compiled programs: its folder, "" if it has none, its entries, and its limit, which is
    0 where it is switched off.
    """

    folder: str = ""
    entries: int = 0
    size_bytes: int = 0
    most_bytes: int = 0


class DoctorReport(Report):
    """The state of the environment. `headers` says which TableGen files of MLIR are used."""

    version: str
    python: str
    platform: str
    packages: tuple[PackageReport, ...]
    engines: tuple[EngineReport, ...]
    formats: tuple[FormatReport, ...]
    plugins: tuple[PluginReport, ...] = ()
    headers: str = ""
    cache: CacheReport = CacheReport()
