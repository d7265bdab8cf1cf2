"""Lowers the operations of format dialects to the core by inlining their references, without a conversion table.

The result is a new module of `ml_program` functions with core operations; the source does not change. Unknown and
data-dependent dims become symbols, so that all shapes are expressions from here on. Shape arithmetic is folded.
Names of values are preserved; names of source operations become locations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum

from commonir.base.codes import UNDEFINED_VALUE, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.shared import Shared
from commonir.base.tuples import NamedTuple
from commonir.dialects.core.communication import rank_of, set_rank
from commonir.dialects.mlir import ml_program
from commonir.dialects.mlir.function_operations import FunctionOp
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.cloning import clone
from commonir.ir.core_types import core_type
from commonir.ir.data import Data
from commonir.ir.interface import NO_PORT, Port, metadata_of, neutral_attributes, port_attributes, set_metadata
from commonir.ir.module import Function, Instances, Invocation, Module, distinct_names
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Location, located_at
from commonir.ir.types import FunctionType, StateType, TensorType, Type
from commonir.ods import (
    Form,
    MlirOp,
    Op,
    UntrustedValues,
    check_operation,
    check_results,
    infer,
    is_not_known,
    known_contents,
    operations_behind,
    path_of,
    traits,
    undefined_operand,
)
from commonir.ods.branching import RegionBranch, SinglePath, single_path
from commonir.ods.faults import with_operands
from commonir.ods.patterns import differ_only_in_shape
from commonir.ods.verify import MAX_SUGGESTIONS
from commonir.passes.data_dependent_dims import DimNames
from commonir.passes.entry_types import entry_types
from commonir.passes.function_faults import function_faults
from commonir.passes.inlined_functions import checked_calls, definitions, functions_to_lower
from commonir.passes.lowered_form import is_elementary, is_lowered, may_be_deferred, takes_sizes_to_fit
from commonir.passes.lowered_globals import LoweredGlobals
from commonir.passes.order_nodes import order_nodes
from commonir.passes.order_subgraphs import order_subgraphs
from commonir.passes.output_dims import ports_with_dim_names, without_dim_names
from commonir.passes.remove_unused import remove_unused
from commonir.passes.shared_calls import CallStart, SharedCalls
from commonir.passes.states import States, load, store
from commonir.passes.transcribe import Frame
from commonir.passes.unstructured import is_unstructured
from commonir.passes.variables_to_globals import variables_to_globals
from commonir.rewrite.casts import cast, is_same_type
from commonir.rewrite.expand import append, expand

Shapes = Mapping[str, tuple[int, ...]]


class Deferral(Enum):
    """Which operations are not lowered, but left to the engine, which specializes them when it reaches them."""

    NONE = "none"
    OPEN = "those whose meaning depends on data-dependent values"
    ALL = "all that have a reference"


class PreservedOperations(NamedTuple):
    """Operations that stay as they are when the others are lowered: those for which `is_kept` is True.

    With `is_partial`, operations that cannot be lowered stay too. `failed` receives those that were found so only when
    they were lowered: what is nested in them has been lowered. `origins` receives the source operation of each new one.
    Values that have other types in the core are cast where operations of the two sorts meet.
    """

    is_kept: Callable[[Operation], bool]
    is_partial: bool
    origins: dict[Operation, Operation]
    failed: set[Operation]

    def stays(self, op: Operation) -> bool:
        """Returns whether an operation stays.

        What ends a block stays with the operation that holds it, and so does everything in an operation of a known
        dialect without a meaning: its definition says what may be in it.
        """
        holder = op.parent_op
        if isinstance(op, Op) and op.has_trait(traits.Terminator) and holder is not None and not op.successors:
            return self.stays(holder)
        if self.is_kept(op) or self._is_unknown(op):
            return True
        while holder is not None:
            if isinstance(holder, Op) and not self.is_kept(holder) and self._is_unknown(holder):
                return True
            holder = holder.parent_op
        return False

    def _is_unknown(self, op: Operation) -> bool:
        """Returns whether nothing says how an operation is lowered, which may stay then."""
        is_known = is_lowered(op) or (isinstance(op, Op) and op.form is not Form.STRUCTURAL)
        return (
            self.is_partial and not is_known and not isinstance(op, Function | Invocation | Module | ml_program.Global)
        )


def lower(
    module: Module,
    defer: Deferral = Deferral.NONE,
    shapes: Shapes | None = None,
    function: str | None = None,
    *,
    preserved: PreservedOperations | None = None,
) -> Module:
    """Returns the module in `ml_program` and `core`; the module itself if it is lowered already.

    With `defer`, some operations of other dialects remain, and with `preserved` those that it chooses. `shapes` are the
    shapes of inputs of `function`, by default the main one, by name; the result is then valid for these only. A private
    `function` stays also where others call it.

    Raises: DiagnosticError (E0601, E0401, E0509, and the findings of `ods.check_operation`), with every finding.
    """
    try:
        return _lowered(module, defer, shapes, function, preserved)
    except DiagnosticError as error:
        # Looking for operations out of order beforehand would take time for all of the others.
        is_used_early = any(d.code is UNDEFINED_VALUE for d in error.diagnostics)
        ordered = order_nodes(module) if is_used_early else module
        if ordered is module:
            raise
        return _lowered(ordered, defer, shapes, function, preserved)


def core_types(module: Module) -> Mapping[Value, Type]:
    """Returns the types in the core of the values of a program, as far as it can be lowered.

    A function that is called once has the dims of its call; one that is called more often those of its own arguments.
    """
    if _without_memory(module) is not module or any(is_unstructured(op) for op in module.nested()):
        return {}
    counts = Counter(op.callee for op in module.nested() if isinstance(op, Invocation))
    functions = [f for f in definitions(module) if counts[f] != 1]
    try:
        checked_calls(functions).check_count()
    except DiagnosticError:
        return {}
    out: dict[Value, Type] = {}
    own: dict[Value, Type] = {}
    diagnostics = Diagnostics()
    states, variables = States(module, diagnostics), LoweredGlobals(module)
    for function in functions:
        lowering = _Lowering(function, diagnostics, states, variables, Deferral.NONE, {})
        with suppress(DiagnosticError):  # what has been lowered has its types
            lowering.function()
        values = lowering.values
        out.update({v: built.type for v, built in values.items()})
        if counts[function]:
            own.update({v: out[v] for v in _values_of(function) if v in out})
    return {**out, **own}


def _values_of(function: Function) -> Iterator[Value]:
    for op in function.walk():
        yield from (() if op is function else op.results)
        yield from (a for region in op.regions for block in region.blocks for a in block.arguments)


def _lowered(
    module: Module, defer: Deferral, shapes: Shapes | None, function: str | None, preserved: PreservedOperations | None
) -> Module:
    module = _without_memory(module)
    if preserved is None and _is_done(module, defer) and not shapes:
        return module
    diagnostics = Diagnostics(function_faults(module))
    diagnostics.raise_errors()
    module = _structured(order_subgraphs(variables_to_globals(module)))
    input_shapes: Shapes = shapes or {}
    main = module.function(function) if input_shapes else None
    module_class = Module if defer is Deferral.NONE else Deferred
    result = module_class(neutral_attributes(module), module.entry)
    _describe(result, module)
    states = States(module, diagnostics)
    variables = LoweredGlobals(module)
    for state in states.globals:
        result.body.append(state)
    invoked = set[Operation | None]() if preserved is None else _invoked_modules(module, preserved)
    has_calls = preserved is not None and any(
        isinstance(op, Invocation) and preserved.stays(op) for op in module.nested()
    )
    lowered = functions_to_lower(module, function, None if preserved is None else preserved.stays, has_calls=has_calls)
    shared = Shared()
    for op in module.body.operations:
        if isinstance(op, Function) and op not in lowered:
            continue
        if isinstance(op, Function):
            shapes_of = input_shapes if op is main else {}
            lowering = _Lowering(op, diagnostics, states, variables, defer, shapes_of, preserved, shared)
            result.body.append(lowering.function())
        elif isinstance(op, ml_program.Global):
            _keep_global(variables, op, result, diagnostics)
        elif preserved is not None and preserved.stays(op) and op not in invoked:
            result.body.append(clone(op, {}))
        elif is_lowered(op) and not isinstance(op, Module):
            result.body.append(op.clone_shallow((), ()))
    for variable in variables.nested:
        result.body.append(variable)
    diagnostics.raise_errors()
    return result


def _describe(result: Module, source: Module) -> None:
    """Gives a lowered module the metadata that the dialect of the source holds elsewhere, such as its documentation."""
    functions = source.functions
    main = functions.get(source.entry) or (next(iter(functions.values())) if len(functions) == 1 else None)
    if main is not None:
        set_metadata(result, main.described(metadata_of(result)))


def _invoked_modules(module: Module, preserved: PreservedOperations) -> set[Operation | None]:
    """Returns the nested modules whose functions take the place of their invocations."""
    invocations = [op for op in module.nested() if isinstance(op, Invocation) and not preserved.stays(op)]
    callees = [op.callee for op in invocations]
    return {callee.parent_op for callee in callees if callee is not None and callee.parent_op is not module}


def _without_memory(module: Module) -> Module:
    """Returns the module with values instead of memory."""
    if not any(isinstance(op, Function) and op.on_memory for op in module.body.operations):
        return module
    from commonir.passes.ark.memory_to_values import memory_to_values  # noqa: PLC0415  loads a dialect that few need

    return memory_to_values(module)


def _structured(module: Module) -> Module:
    """Returns the module with structured control flow."""
    if not any(is_unstructured(op) for op in module.nested()):
        return module
    from commonir.passes.structure_control import structure_control  # noqa: PLC0415  loads dialects that few programs use

    return structure_control(module)


class Deferred(Module):
    """A lowered module that may contain operations left to engines."""

    __slots__ = ()


def _is_done(module: Module, defer: Deferral) -> bool:
    """Returns whether nothing is left to lower."""
    if isinstance(module, Deferred) and defer is not Deferral.NONE:
        return True
    if defer is not Deferral.NONE and all(is_lowered(op) for op in module.body.operations):
        # What is left inside was left to engines, unless it was never looked at.
        return not any(
            isinstance(op, MlirOp) or (isinstance(op, ml_program.GlobalUse) and not is_lowered(op))
            for op in module.nested()
        )
    return all(is_lowered(op) or is_elementary(op) for op in module.nested())


def _keep_global(variables: LoweredGlobals, op: ml_program.Global, module: Module, diagnostics: Diagnostics) -> None:
    try:
        module.body.append(variables.get(op))
    except DiagnosticError as error:
        diagnostics.extend(error.diagnostics)


class _Lowering:
    """The lowering of one function."""

    def __init__(
        self,
        source: Function,
        diagnostics: Diagnostics,
        states: States,
        variables: LoweredGlobals,
        defer: Deferral,
        shapes: Shapes,
        preserved: PreservedOperations | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.source = source
        self.shared = Shared() if shared is None else shared
        self.preserved = preserved
        self.copies: set[Operation] = set()
        self.block = Block()
        # The types of arguments of nested blocks for which the program declares none that can be relied on.
        self.entries = dict(entry_types(source))
        self.variables = variables
        self.diagnostics = diagnostics
        self.defer = defer
        self.shapes = shapes
        self.states = states.by_input
        self.values: dict[Value, Value] = {}
        # Operations that could not be lowered, which has been reported, and their results.
        self.failed: set[Operation] = set()
        self.missing: set[Value] = set()
        self.untrusted = UntrustedValues()
        self.dim_names = DimNames(source.inputs)
        self.calls = SharedCalls()

    def function(self) -> Operation:
        block = self._block_like(self.source.body, lower_bound=1)
        for argument, name in zip(
            block.arguments, distinct_names([a.name for a in block.arguments], "arg"), strict=True
        ):
            argument.name = name
        self._fill(block, self.source.body)
        self.block = block
        outputs = self._operands(self.source.outputs, self.source.body.last or self.source)
        inputs = [self.values.get(v) for v in self.source.inputs]
        self._check_results(self.source, inputs, outputs, _Frame(block, self.source.body), self.source)
        end = self.source.body.last
        stays = self._stays(self.source)
        block.append(end.clone_shallow(outputs, ()) if stays and end is not None else ml_program.Return(outputs))
        remove_unused(block, self._is_needed if self.preserved is not None or self.defer is not Deferral.NONE else None)
        signature = FunctionType(tuple([a.type for a in block.arguments]), tuple([v.type for v in outputs]))
        if stays and isinstance(self.source, FunctionOp):
            copy = self.source.clone_shallow((), (Region([block]),))
            return copy.with_attributes(function_type=signature)
        names = tuple(self.source.output_names)
        result = ml_program.Func(
            self.source.symbol_name,
            signature,
            Region([block]),
            names,
            arg_attrs=_port_attributes(without_dim_names(self.source.input_ports), [a.name for a in block.arguments]),
            res_attrs=_port_attributes(ports_with_dim_names(self.source, block.arguments, outputs), names),
        )
        reported = rank_of(self.source)
        if reported is not None:
            set_rank(result, *reported)
        return result

    def _block_like(self, source: Block, *, lower_bound: int = 0) -> Block:
        """Returns a block with the same arguments; their unknown dims are named after them."""
        arguments = [a for a in source.arguments if not isinstance(a.type, StateType)]
        types = [self._argument_type(a, lower_bound) for a in arguments]
        block = Block(types, [a.name for a in arguments])
        self.values.update(zip(arguments, block.arguments, strict=True))
        return block

    def _stays(self, op: Operation) -> bool:
        return self.preserved is not None and self.preserved.stays(op)

    def _is_needed(self, op: Op) -> bool:
        return op in self.copies or (self.defer is not Deferral.NONE and takes_sizes_to_fit(op))

    def _argument_type(self, argument: Value, lower_bound: int) -> Type:
        region = argument.owner.parent if isinstance(argument.owner, Block) else None
        holder = None if region is None else region.parent
        declared = self.entries.get(argument, argument.type)
        type = declared if holder is not None and self._stays(holder) else self.source.core_type(declared)
        if argument.owner is self.source.body and argument.name in self.shapes and isinstance(type, TensorType):
            return type.with_shape(self.shapes[argument.name])
        return self.dim_names.of_argument(argument, type, lower_bound)

    def _fill(self, block: Block, source: Block) -> None:
        """Lowers the operations of a block and of the blocks nested in it, innermost blocks first."""
        # A frame is a block being filled, what remains of its source, and the operation whose regions are done.
        frames: list[_Frame] = [_Frame(block, source)]
        while frames:
            frame = frames[-1]
            op = frame.next()
            if op is None:
                frames.pop()
                self._leave(frame)
                continue
            self.block = frame.block
            if isinstance(op, Invocation) and not self._stays(op):
                nested = self._enter(op, frame)
                frames += [] if nested is None else [nested]
                continue
            passage = None if self._stays(op) else self._passage(op)
            if passage is not None:
                frames += self._pass_through(op, passage, frame)
                continue
            if op.regions and op not in frame.ready:
                frame.ready[op] = tuple([Region([self._block_like(b) for b in region.blocks]) for region in op.regions])
                frame.postpone(op)
                for region, lowered in zip(reversed(op.regions), reversed(frame.ready[op]), strict=True):
                    pairs = zip(reversed(lowered.blocks), reversed(region.blocks), strict=True)
                    frames.extend(_Frame(b, s, is_nested=True) for b, s in pairs)
                continue
            before = frame.block.last
            self._operation(op, frame)
            if self.preserved is not None:
                first = frame.block.first if before is None else before.next
                while first is not None:
                    self.preserved.origins.setdefault(first, op)
                    first = first.next

    def _passage(self, op: Operation) -> SinglePath | None:
        """Returns the path through an operation with regions that is taken for all inputs; None if there is none.

        Dims in the other regions may be contradictory, as they are never reached.
        """
        result = single_path(op, self._known_data) if isinstance(op, RegionBranch) else None
        return result if result is not None and not self._errors(op) else None

    def _known_data(self, value: Value) -> Data | None:
        """Returns the contents of a value that do not depend on the inputs, for example because the dims are known."""
        replacement = self.values.get(value)
        return None if replacement is None else known_contents(replacement)

    def _pass_through(self, op: Operation, passage: SinglePath, frame: _Frame) -> list[_Frame]:
        """Returns a frame that lowers the block that runs in an operation in place of the operation; none if there is
        no block.
        """
        received = passage.results if passage.block is None else passage.received
        operands = self._operands(received, op)
        if len(operands) < len(received):
            self._fail(op)
        elif passage.block is not None:
            self.values.update(zip(passage.block.arguments, operands, strict=True))
            return [_Frame(frame.block, passage.block, passed_by=op, operands=passage.results)]
        else:
            self.values.update(zip(op.results, operands, strict=True))
        return []

    def _enter(self, op: Invocation, frame: _Frame) -> _Frame | None:
        """Returns a frame that lowers a function of another module in place of its invocation; None if that is not
        possible.
        """
        errors = self._errors(op)
        operands = self._operands(op.operands, op)
        if not errors and len(operands) < len(op.operands):
            self._fail(op)
            return None
        try:
            called = None if errors else op.called_with([v.type for v in operands], self.shared.of(Instances))
        except DiagnosticError as error:
            called, errors = None, list(error.diagnostics)
        if called is None:
            self._report(
                op, errors or [Diagnostic(UNSUPPORTED_CONVERSION, f"{op.name} runs a function that is not there")]
            )
            return None
        has_states = len(operands) < len(called.inputs)
        key = None if has_states or self.preserved is not None else self.calls.key(called, operands, frame.block)
        copies = None if key is None else self.calls.copy(key, operands, frame.block)
        if copies is not None:
            self.missing.update(op.results[len(copies) :])
            for result, value in zip(op.results, copies, strict=False):
                self._map_result(result, value, operands)
            return None
        self.values.update(zip([a for a in called.inputs if a not in self.states], operands, strict=True))
        self.entries |= entry_types(called)
        start = None if key is None else CallStart(key, operands, frame.block.last, self._marks())
        return _Frame(frame.block, called.body, invoked_by=op, called=called, start=start)

    def _marks(self) -> tuple[int, ...]:
        """Returns counts that only change when lowering has another effect than operations."""
        return len(self.diagnostics), len(self.missing), len(self.dim_names), len(self.untrusted)

    def _leave(self, frame: _Frame) -> None:
        """Maps the results of an invocation or of a passed operation to the values that its body returned."""
        if frame.passed_by is not None:
            for result, value in zip(frame.passed_by.results, frame.operands, strict=True):
                if value in self.values:
                    self.values[result] = self.values[value]
                else:
                    self.missing.add(result)
        op, called = frame.invoked_by, frame.called
        if op is None or called is None:
            return
        self.missing.update(op.results[len(called.outputs) :])
        arguments = {self.values[v] for v in called.inputs if v in self.values}
        outputs = [self.values[v] for v in called.outputs if v in self.values]
        self._check_results(called, [self.values.get(v) for v in called.inputs], outputs, frame, op)
        if frame.start is not None and len(outputs) == len(called.outputs):
            self.calls.record(frame.start, outputs, frame.block, self._marks())
        for result, value in zip(op.results, called.outputs, strict=False):
            if value in self.values:
                self._map_result(result, self.values[value], arguments)
                continue
            self.missing.add(result)
            if value not in self.missing:
                message = f"{called.symbol_name}: output '{value.name}' is not defined"
                self.diagnostics.add(UNDEFINED_VALUE, message, where=path_of(op))

    def _map_result(self, result: Value, replacement: Value, arguments: Collection[Value]) -> None:
        # Inside of a function a value may have a name that each call of it gives again.
        replacement.name = replacement.name if replacement in arguments else result.name or replacement.name
        self.values[result] = replacement

    def _check_results(
        self, called: Function, inputs: Sequence[Value | None], outputs: Sequence[Value], frame: _Frame, user: Operation
    ) -> None:
        """Compares what a function returns with the types that it declares, now or when it runs."""
        known = [v for v in inputs if v is not None]
        if len(known) < len(called.inputs) or len(outputs) < len(called.outputs):
            return  # what is missing has been reported
        try:
            check = called.result_check(known, outputs)
        except DiagnosticError as error:
            self.diagnostics.extend(
                located_at(d.located(where=path_of(user)), user.location) for d in error.diagnostics
            )
            return
        if isinstance(check, Op):
            self._expand(check, check.operands, frame)
            check.erase()

    def _operation(self, op: Operation, frame: _Frame) -> None:
        is_terminator = isinstance(op, Op) and op.has_trait(traits.Terminator)
        if is_terminator and not frame.is_nested:
            return
        errors = self._errors(op)
        state = self._state_of(op)
        operands = self._operands(op.operands if state is None else op.operands[1:], op)
        if errors and not self._may_wait(DiagnosticError(*errors), frame):
            self._report(op, errors)
        elif state is not None:
            self._access(state, op, operands, frame)
        elif op in self.failed or len(operands) < len(op.operands):
            self._fail(op)
        elif isinstance(op, ml_program.GlobalUse):
            self._use_global(op, operands, frame)
        elif self._stays(op):
            self._copy_kept(op, operands, frame)
        elif is_lowered(op) or is_elementary(op):
            self._copy(op, operands, frame)
        elif isinstance(op, Op) and op.has_trait(traits.ConstantLike) and not any(r.is_used for r in op.results):
            # Not every constant has a meaning in terms of the core, and one that nothing uses needs none.
            return
        elif isinstance(op, Op) and op.form is Form.COMPOSITE:
            if errors or (self.defer is Deferral.ALL and may_be_deferred(op)):
                self._keep(op, operands, frame)
            else:
                self._expand(op, operands, frame)
        else:
            dialect = op.name.partition(".")[0]
            undefined = op.undefined_operator if isinstance(op, Op) else ""
            by = f"a plugin with the dialect '{dialect}', or the field `reference` of a TableGen record,"
            by = "a function of the model that has its name" if undefined else by
            help = f"`cir check` says what is known of it; {by} may state what it means"
            message = f"{undefined or op.name} cannot be lowered to core"
            self._report(op, [Diagnostic(UNSUPPORTED_CONVERSION, message, help=help)])

    def _errors(self, op: Operation) -> list[Diagnostic]:
        """Returns the errors of a source operation; where a type is in doubt, its replacement reports them."""
        if not isinstance(op, Op):
            return []
        if self.untrusted.propagate(op):
            return []
        diagnostics = check_operation(op, shared=self.shared)
        self.untrusted.record(op, diagnostics)
        return [d for d in diagnostics if d.is_error]

    def _use_global(self, op: ml_program.GlobalUse, operands: Sequence[Value], frame: _Frame) -> None:
        try:
            built = self.variables.access(op, operands[0] if operands else None)
        except DiagnosticError as error:
            self._report(op, error.diagnostics)
            return
        frame.block.append(built)
        for result, new_result in zip(op.results, built.results, strict=True):
            new_result.name = result.name
            self.values[result] = new_result
        self._name_dims(op, built)

    def _state_of(self, op: Operation) -> ml_program.Global | None:
        """Returns the global that replaces the state that an operation reads or writes."""
        touches = isinstance(op, Op) and (op.has_trait(traits.ReadsState) or op.has_trait(traits.WritesState))
        return self.states.get(op.operands[0]) if touches else None

    def _access(self, state: ml_program.Global, op: Operation, operands: Sequence[Value], frame: _Frame) -> None:
        """Reads or replaces the contents of a state."""
        if op.results:
            built = load(state)
            frame.block.append(built)
            built.results[0].name = op.results[0].name
            self.values[op.results[0]] = built.results[0]
        elif len(operands) < len(op.operands) - 1:
            self._fail(op)
        else:
            self._place_store(state, op, operands[0], frame)

    def _place_store(self, state: ml_program.Global, op: Operation, value: Value, frame: _Frame) -> None:
        try:
            built = store(state, value)
        except DiagnosticError as error:
            self._report(op, error.diagnostics)
            return
        for behind in operations_behind(built.operands):
            frame.block.append(behind)
        frame.block.append(built)

    def _operands(self, values: Sequence[Value], user: Operation) -> tuple[Value, ...]:
        """Returns the replacements of the values that an operation uses; reports those that have none."""
        for n, v in enumerate(values):
            if v not in self.values and v not in self.missing:
                candidates = self.values if len(self.diagnostics) < MAX_SUGGESTIONS else ()
                found = undefined_operand(user, n, v, candidates)
                self.diagnostics.extend([found.located(where=path_of(user))])
        if self.preserved is None:
            return tuple([self.values[v] for v in values if v in self.values])
        return self._cast([v for v in values if v in self.values], self._stays(user))

    def _cast(self, values: Sequence[Value], stays: bool) -> tuple[Value, ...]:
        """Returns the replacements of values for an operation that stays, or for one that is lowered."""
        out: list[Value] = []
        for v in values:
            new, expected = self.values[v], v.type if stays else self.source.core_type(v.type)
            # In the core, inferred dims may be more exact than declared ones.
            if not is_same_type(new.type, expected) and (stays or not differ_only_in_shape(new.type, expected)):
                new = cast(new, expected)
                if isinstance(new.owner, Operation):
                    self.block.append(new.owner)
            out.append(new)
        return tuple(out)

    def _report(self, op: Operation, diagnostics: Iterable[Diagnostic]) -> None:
        """Reports why the results of an operation have no replacement."""
        found = [with_operands(op, d) for d in diagnostics] if isinstance(op, Op) else diagnostics
        self.diagnostics.extend(located_at(d.located(where=path_of(op)), op.location) for d in found)
        self._fail(op)

    def _fail(self, op: Operation) -> None:
        self.missing.update(op.results)
        # A block without its end is of no use to the operation around it.
        if op.next is None and op.parent_op is not None:
            self.failed.add(op.parent_op)

    def _copy(self, op: Operation, operands: Sequence[Value], frame: _Frame) -> None:
        """Copies an operation, and infers its result types from the new operands."""
        copy = op.clone_shallow(tuple(operands), frame.ready.get(op, ()))
        frame.block.append(copy)
        self.values.update(zip(op.results, copy.results, strict=True))
        if not isinstance(copy, Op) or copy.declares_results:
            return
        try:
            types = infer(copy).types
            wrong = check_results(copy, types)
        except DiagnosticError as error:
            self._report(op, error.diagnostics)
            return
        if any(d.is_error for d in wrong):
            self._report(op, wrong)
            return
        for result, type in zip(copy.results, types, strict=False):
            result.retype(type)
        self._name_dims(op, copy)

    def _copy_kept(self, op: Operation, operands: Sequence[Value], frame: _Frame) -> None:
        """Copies an operation that stays, with its types; unknown dims of its results are named."""
        copy = op.clone_shallow(tuple(operands), frame.ready.get(op, ()))
        frame.block.append(copy)
        self.copies.add(copy)
        self.values.update(zip(op.results, copy.results, strict=True))
        self._name_dims(op, copy)

    def _may_wait(self, error: DiagnosticError, frame: _Frame) -> bool:
        """Returns whether an operation that cannot be lowered is left to engines, because it may never be reached."""
        return self.defer is not Deferral.NONE and (frame.block.parent is not None or is_not_known(error))

    def _keep(self, op: Op, operands: Sequence[Value], frame: _Frame) -> None:
        """Leaves an operation to engines, with the result types that hold for all operands."""
        copy = op.clone_shallow(tuple(operands), frame.ready.get(op, ()))
        frame.block.append(copy)
        self.values.update(zip(op.results, copy.results, strict=True))
        # What the source declares of results is compared with them later, so it is not known here.
        for result in () if op.infers_types else copy.results:
            if isinstance(result.type, TensorType):
                result.retype(result.type.with_shape(None))
        try:
            types = infer(copy).types
        except DiagnosticError:
            types = tuple([r.type for r in copy.results])
        for result, type in zip(copy.results, types, strict=False):
            if op.infers_types:
                # Nothing but the operation itself says what it gives.
                result.retype(core_type(type))
            else:
                is_tensor = isinstance(type, TensorType)
                result.retype(type.with_shape(None) if is_tensor and self.defer is Deferral.ALL else type)
        self._name_dims(op, copy)

    def _expand(self, op: Op, operands: Sequence[Value], frame: _Frame) -> None:
        regions = _by_field(op, frame.ready.get(op, ()))
        try:
            expansion = expand(op, operands, regions, is_final=self.defer is Deferral.NONE)
        except DiagnosticError as error:
            if self._may_wait(error, frame):
                self._keep(op, operands, frame)
            elif self.preserved is not None and self.preserved.is_partial:
                self.preserved.failed.add(op)
                self._copy_kept(op, self._cast(op.operands, stays=True), frame)
            else:
                self._report(op, error.diagnostics)
            return
        location = Location(name=op.source_name or op.first_name)
        before = frame.block.last
        values = append(frame.block, expansion, location)
        # Optional results need not be asked for.
        for result, value in zip(op.results, values, strict=False):
            if not value.name and isinstance(value.owner, Operation):
                value.name = result.name
            self.values[result] = value
        self._name_dims(op, frame.block.first if before is None else before.next)

    def _name_dims(self, op: Operation, first: Operation | None) -> None:
        """Names the data-dependent dims of the operations that replace an operation, the last ones of a block."""
        try:
            self.dim_names.name_results(first, op.first_name or "size")
        except DiagnosticError as error:
            self._report(op, error.diagnostics)


def _by_field(op: Op, regions: Sequence[Region]) -> dict[str, Region | tuple[Region, ...]]:
    """Returns the regions of an operation by field; one field may have any number of regions."""
    fields, remaining = op.layout.regions, iter(regions)
    variadic_count = len(regions) - sum(not f.variadic for f in fields)
    return {
        f.name: tuple([next(remaining) for _ in range(variadic_count)]) if f.variadic else next(remaining)
        for f in fields
        if f.variadic or regions
    }


def _port_attributes(ports: Mapping[str, Port], names: Iterable[str]) -> tuple[DictionaryAttr, ...] | None:
    return port_attributes([ports.get(name, NO_PORT) for name in names])


class _Frame(Frame):
    """A block that is being filled from the rest of its source; the other fields say why the block is lowered."""

    def __init__(
        self,
        block: Block,
        source: Block,
        is_nested: bool = False,
        invoked_by: Invocation | None = None,
        called: Function | None = None,
        passed_by: Operation | None = None,
        operands: tuple[Value, ...] = (),
        start: CallStart | None = None,
    ) -> None:
        super().__init__(block, source)
        self.start = start
        self.passed_by = passed_by
        self.operands = operands
        self.invoked_by = invoked_by
        self.called = called
        self.is_nested = is_nested
