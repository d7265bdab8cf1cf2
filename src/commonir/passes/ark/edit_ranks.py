"""Changes the interfaces of the ranks of ARK programs: names, outputs, and inputs that become weights.

An ARK file lists no inputs or outputs: they follow from what its operations read and leave. A virtual operation names
an input or output, so that a new name or a new output is a node more, and what only a dropped output needs is removed,
messages too.
The source does not change; contents are shared with it. The result is not verified here.
Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.base.codes import DUPLICATE_NAME, IMPOSSIBLE_EDIT, UNDEFINED_VALUE
from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.dialects import ark
from commonir.dialects.ark.views import View, overlap
from commonir.ir.data import Data
from commonir.ir.lookup import find_value
from commonir.ir.operation import Operation, Value
from commonir.ir.origins import Location
from commonir.passes.ark.needless import NOTHING_NEEDLESS, needless_operations
from commonir.passes.ark.nodes import Nodes, view_attributes

if TYPE_CHECKING:
    from commonir.ir.module import Module
    from commonir.passes.edits import Edits

_SHOWN = 4


def edit_ranks(module: Module, edits: Edits, *, function: str | None) -> None:
    """Changes all ranks of a program in place, or the one of a name. A name stands for what every rank calls so, and
    after the name of a rank, as in `rank0.x`, for what this rank calls so.

    Raises: DiagnosticError (E0401, E0402, E0407, E0603) with every change that cannot be made.
    """
    ranks = [op for op in module.body.operations if isinstance(op, ark.Rank)]
    chosen = ranks if function is None else [rank for rank in ranks if rank.sym_name == function]
    diagnostics = Diagnostics()
    if edits.dims:
        help = "set dims of the program before it becomes an ARK program: `cir convert --set-dim`"
        diagnostics.add(IMPOSSIBLE_EDIT, "the shapes of an ARK program cannot be changed", help=help)
    changes = [_RankEdit(rank, edits) for rank in chosen]
    for change in changes:
        change.plan()
    diagnostics.extend(_by_message(changes))
    for name in edits.names:
        if not any(name in change.found for change in changes):
            known = [n for change in changes for n in change.known_names]
            who = f"'{chosen[0].sym_name}'" if len(chosen) == 1 else f"none of {len(chosen)} ranks"
            message = f"{who} has an input, an output or an operation called '{name}'"
            diagnostics.add(UNDEFINED_VALUE, message, help=did_you_mean(name, known))
    if len(diagnostics) == 0:
        for change in changes:
            change.check_outputs()
        diagnostics.extend(_by_message(changes))
    diagnostics.raise_errors()
    if any(change.dropped for change in changes):
        needless = needless_operations(module, {change.rank: change.remaining for change in changes})
        for change in changes:
            change.needless = needless[change.rank]
    for change in changes:
        change.apply()
    diagnostics.extend(_by_message(changes))
    diagnostics.raise_errors()


def _by_message(changes: Sequence[_RankEdit]) -> Iterator[Diagnostic]:
    """Yields the errors of ranks; those of several ranks once, with the names of the ranks."""
    found: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    for change in changes:
        for diagnostic in change.diagnostics:
            found[diagnostic.message].append(diagnostic)
    for first, *others in found.values():
        if others:
            names = ", ".join([d.where for d in (first, *others)][:_SHOWN])
            more = f" and {len(others) + 1 - _SHOWN} more" if len(others) >= _SHOWN else ""
            yield Diagnostic(first.code, first.message, notes=[f"in {names}{more}"], help=first.help)
        else:
            yield first


class _RankEdit:
    """The changes of one rank, which is a copy already. `found` are the names in edits that it has."""

    def __init__(self, rank: ark.Rank, edits: Edits) -> None:
        self.diagnostics = Diagnostics()
        self.found: set[str] = set()
        self._rank = rank
        self._ops = [op for op in rank.body.operations if isinstance(op, ark.ArkOp)]
        self._views = rank.views
        inputs = set(rank.inputs)
        self._inputs = {name: value for value, name in rank.initial_names.items() if value in inputs}
        outputs = rank.outputs
        self._outputs = dict(zip(outputs.names, outputs, strict=True))
        self._edits = edits
        self._renamed: dict[ark.ArkOp, str] = {}
        self._named_inputs: dict[Value, str] = {}
        self._left = dict(self._outputs)
        self._new_names: dict[str, str] = {}
        self._contents: dict[Value, Data] = {}
        self.needless = NOTHING_NEEDLESS
        """The operations that are removed with dropped outputs."""

    @property
    def known_names(self) -> Iterator[str]:
        """Yields the names that users may know."""
        yield from self._inputs
        yield from self._outputs
        yield from [op.op_name for op in self._ops if op.op_name]

    def _local(self, name: str) -> str:
        """Returns a name without that of the rank before it."""
        known = {*self.known_names}
        prefix = f"{self._rank.sym_name}."
        return name.removeprefix(prefix) if name not in known else name

    def _refuse(self, message: str, help: str | None = None) -> None:
        self._report(IMPOSSIBLE_EDIT, message, help)

    def _report(self, code: Code, message: str, help: str | None) -> None:
        origin = self._rank.location
        file = origin.file if isinstance(origin, Location) and origin.file else None
        self.diagnostics.add(code, message, file=file, where=self._rank.sym_name, help=help)

    # -- what is to change

    def plan(self) -> None:
        """Finds what the edits name. Problems are in `diagnostics`."""
        edits = self._edits
        for name in edits.drop_outputs:
            if self._local(name) in self._outputs:
                self.found.add(name)
                self._left.pop(self._local(name), None)
        for name in edits.add_outputs:
            self._plan_output(name)
        for name, data in edits.contents.items():
            self._plan_content(name, data)
        for old, new in edits.renames.items():
            self._plan_rename(old, new)
        self._check_taken()

    def _plan_output(self, name: str) -> None:
        local = self._local(name)
        try:
            value = find_value(self._rank, local)
        except DiagnosticError as error:
            self.diagnostics.extend(error.diagnostics)
            return
        if value is None:
            return
        self.found.add(name)
        if local in self._left:
            self._refuse(f"'{local}' is an output already")
            return
        holder = self._views.get(value)
        if holder is None or not holder.is_local(self._rank.rank):
            self._refuse(f"'{local}' is in a buffer of another rank", "name it as an output of that rank")
            return
        overwriting = self._overwriting(value, holder)
        if overwriting is not None:
            by = f"'{overwriting.op_name}'" if overwriting.op_name else overwriting.name
            help = "an ARK program returns what its buffers hold at the end: convert it to ONNX first"
            self._refuse(f"'{local}' cannot be an output: {by} overwrites its buffer", help)
            return
        self._left[local] = value

    def _overwriting(self, value: Value, holder: ark.HoldsView) -> ark.ArkOp | None:
        """Returns the first operation that overwrites a tensor after it is computed."""
        views, owner = self._views, value.owner
        start = self._ops.index(owner) + 1 if isinstance(owner, ark.ArkOp) else 0
        for op in self._ops[start:]:
            written = [] if op.is_virtual else [views[v] for v in op.written_tensors if v in views]
            if any(other.is_local(self._rank.rank) and overlap(other.view, holder.view) for other in written):
                return op
        return None

    def _plan_content(self, name: str, data: Data | None) -> None:
        local = self._local(name)
        value = self._inputs.get(local)
        if value is None:
            return
        self.found.add(name)
        if data is None:
            self._refuse(f"the input '{local}' has no default value", f"give one, as in `{local}=...`")
        elif data.type != value.type:
            self._refuse(f"the input '{local}' is {value.type}, and cannot become a constant {data.type}")
        else:
            self._contents[value] = data

    def _plan_rename(self, old: str, new: str) -> None:
        local = self._local(old)
        port = self._inputs.get(local) or self._outputs.get(local)
        named = [op for op in self._ops if op.op_name == local]
        if port is None and not named:
            value = find_value(self._rank, local)
            if value is not None:
                self._numbered(value, old)
            return
        self.found.add(old)
        if not new:
            self._refuse(f"'{local}' needs a name")
        self._new_names[local] = new
        if port is None:
            self._renamed |= dict.fromkeys(named, new)
        elif isinstance(port.owner, ark.VirtualOp):
            self._renamed[port.owner] = new
        elif local in self._inputs:
            self._named_inputs[port] = new

    def _numbered(self, value: Value, name: str) -> None:
        self.found.add(name)
        owner = value.owner
        help = f"rename its operation: --rename {owner.op_name}=NAME" if isinstance(owner, ark.ArkOp) else None
        self._refuse(f"'{name}' is the number of a tensor, which ARK files do not name", help)

    def _check_taken(self) -> None:
        """Reports names that would stand for two inputs, outputs or operations."""
        names = Counter([self._new_names.get(name, name) for name in dict.fromkeys(self.known_names)])
        for new in dict.fromkeys(self._new_names.values()):
            if names[new] > 1:
                self._report(DUPLICATE_NAME, f"the name '{new}' is taken", "rename the other one too")

    @property
    def rank(self) -> ark.Rank:
        """The rank."""
        return self._rank

    @property
    def remaining(self) -> frozenset[Value]:
        """The values that are outputs after the changes."""
        return frozenset(self._left.values())

    @property
    def dropped(self) -> frozenset[Value]:
        """The outputs that are none after the changes."""
        return frozenset(self._outputs.values()) - self.remaining

    def check_outputs(self) -> None:
        """Reports a rank that would have no output any more."""
        if not self._left and self._outputs:
            self._refuse("no output would be left")

    # -- the changes

    def apply(self) -> None:
        """Replaces the rank by the changed one. Reports E0603 where a file cannot have these outputs."""
        rank = self._rank
        nodes = Nodes(rank)
        nodes.remove(self.needless.operations)
        for value, name in self._named_inputs.items():
            content = self._contents.pop(value, None)
            changed = {**self._tags(value), **({} if content is None else {"content": content})}
            named = _named_input(nodes, value, name, changed)
            self._left = {n: named if v is value else v for n, v in self._left.items()}
        expected = [self._add_output(nodes, name, value) for name, value in self._left.items()]
        changes = defaultdict[Operation, dict[str, object]](dict)
        for op, tags in self.needless.tags.items():
            changes[op].update(tags)
        for op, name in self._renamed.items():
            changes[op]["op_name"] = name
            if op.is_virtual:
                op.results[0].name = name
        for value, data in self._contents.items():
            if isinstance(value.owner, Operation):
                changes[value.owner]["content"] = data
        built = nodes.rebuilt(changes)
        for name, value in zip(built.output_names, built.outputs, strict=True):
            if name not in expected:
                self._refuse_remaining(name, value)
        if self.needless.operations:
            self._check_inputs(built)
        block = rank.parent
        assert block is not None
        block.insert_before(rank, built)
        rank.erase()

    def _add_output(self, nodes: Nodes, name: str, value: Value) -> str:
        """Names an output, unless it is one of this name already, and returns its name."""
        new = self._new_names.get(name, name)
        is_known = self._outputs.get(name) is value
        if not is_known or (new != name and value.owner not in self._renamed):
            _named_output(nodes, value, new, self._tags(value))
        return new

    def _check_inputs(self, built: ark.Rank) -> None:
        """Refuses a rank of which other inputs follow than before, by what its operations read first."""
        before, after = _initial_views(self._rank, self._new_names), _initial_views(built, {})
        views = built.views
        ops = [op for op in built.body.operations if isinstance(op, ark.ArkOp) and not op.is_virtual]
        read = {views[v].buffer for op in ops for v in op.read_tensors if v in views}
        for buffer in [b for b in {**before, **after} if b in read and before[b] != after[b]]:
            old, new = (", ".join([f"'{name}'" for name in of[buffer]]) or "no input" for of in (before, after))
            help = "an ARK file lists no inputs, these follow from what is read first: convert it to ONNX first"
            self._refuse(f"{self._dropped} cannot be dropped: without its operations, {old} would be {new}", help)

    @property
    def _dropped(self) -> str:
        return ", ".join([f"'{n}'" for n in self._outputs if n not in self._left])

    def _tags(self, value: Value) -> Mapping[str, object]:
        """Returns the tags of the buffer of a value without those of messages that go, where these are others."""
        holder = ark.view_of(value)
        return {} if holder is None else self.needless.tags.get(holder, {})

    def _refuse_remaining(self, name: str, value: Value) -> None:
        op = value.owner
        by = f" of {op.name.partition('.')[2]} '{op.op_name}'" if isinstance(op, ark.ArkOp) and op.op_name else ""
        help = "drop the output before the program is divided among ranks, or convert it first, for example to ONNX"
        self._refuse(
            f"{self._dropped} cannot be dropped: '{name}'{by} stays, since it is exchanged with other ranks", help
        )


def _initial_views(rank: ark.Rank, renames: Mapping[str, str]) -> defaultdict[int, dict[str, View]]:
    """Returns the parts of buffers whose initial contents are read, by the numbers of the buffers and by names."""
    views = rank.views
    out = defaultdict[int, dict[str, View]](dict)
    for value, name in rank.initial_names.items():
        out[views[value].buffer][renames.get(name, name)] = views[value].view
    return out


def _named_input(nodes: Nodes, value: Value, name: str, changed: Mapping[str, object]) -> Value:
    """Names a tensor that nothing computes, by a virtual operation before its first use; returns the named tensor.
    `changed` are other attributes of it.
    """
    holder = value.owner
    assert isinstance(holder, ark.Tensor)
    arguments = {**view_attributes(holder), **changed, "node": 0, "op_name": name, "result_id": holder.tensor_id}
    new_op = ark.VirtualTensor.build(arguments, [value.type], holder.location)
    assert holder.parent is not None
    holder.parent.insert_before(holder, new_op)
    result = new_op.results[0]
    result.name = name
    value.replace_all_uses_with(result)
    users = {*result.users}
    places = [n for n, ops in enumerate(nodes.ops) if any(op in users for op in ops)]
    if places:
        nodes.insert(places[0], new_op, after=places)
    return result


def _named_output(nodes: Nodes, value: Value, name: str, tags: Mapping[str, object]) -> None:
    """Adds a virtual operation that names a tensor, after all others."""
    holder = ark.view_of(value)
    assert holder is not None
    known = [op.tensor_id for op in nodes.rank.body.operations if isinstance(op, ark.Tensor)]
    number = max([*known, *(op.result_id for ops in nodes.ops for op in ops)]) + 1
    view = {**view_attributes(holder), **tags, "content": None}
    arguments = {**view, "inputs": (value,), "node": 0, "op_name": name, "result_id": number}
    new_op = ark.VirtualTensor.build(arguments, [value.type], nodes.rank.location)
    new_op.results[0].name = name
    nodes.rank.body.append(new_op)
    places = [n for n, ops in enumerate(nodes.ops) if value.owner in ops]
    nodes.insert(len(nodes.ops), new_op, before=places)
