"""The bodies of functions compared with what they declare, for the attributes and operands of each call.

What a node gives may depend on an attribute of the function around it, and whether it takes its operands on their dims;
both are known only where the function is called. Source: Common IR specification, function definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import onnx
from commonir.dialects.common_ir import rules
from commonir.dialects.common_ir.declared_results import DeclaredTypes
from commonir.dialects.common_ir.functions import Call, FunctionDefinition, references_of
from commonir.dialects.common_ir.instances import fill_beside, innermost_first
from commonir.dialects.common_ir.ordering import CyclicOrder
from commonir.ir.attributes import Attribute, DictionaryAttr
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import Type, unknown
from commonir.ods import Op, are_compatible, check_operation, infer
from commonir.ods.declared_types import DeclaredType
from commonir.symbolic.constraints import Constraint

_MOST_CALLS = 1000
"""The different calls that are tried: functions that call each other may have exponentially many."""


def faults_of_calls(operations: Iterable[Operation]) -> Iterator[Diagnostic]:
    """Yields a finding for each contradiction in a function that some operations call, also through other functions.

    A function is tried once with each combination of attributes and operand types. What it contradicts without them is
    not reported.
    """
    pending = [op for op in operations if isinstance(op, Call) and not references_of(op)]
    done: set[object] = set()
    known: dict[FunctionDefinition, frozenset[str]] = {}
    for call in pending:
        function = call.definition
        if function is None:
            continue
        try:
            actual = DictionaryAttr(tuple(function.actual_attributes(call.attributes).items()))
            key = function, actual, call.counts, tuple([v.type for v in call.arguments])
            if key in done or len(done) >= _MOST_CALLS:
                continue
            done.add(key)
            if function not in known:
                known[function] = frozenset([d.message for d in _Trial(function, *_copied(function)).faults])
            trial = _Trial(function, *_copied(function, dict(actual.entries)))
        except (CyclicOrder, DiagnosticError):
            continue  # reported by the verifiers of the call and of the function
        found = [d for d in trial.faults if d.message not in known[function]]
        shown = ", ".join([f"{name} = {value}" for name, value in actual.entries])
        where = f"function '{function.sym_name}'" + (f" with {shown}" if shown else "")
        if not trial.faults:
            try:
                instance = call.callee
            except DiagnosticError:
                continue  # reported by the verifier of the call
            for v, argument in zip(instance.inputs, call.arguments, strict=True):
                v.retype(v.type if argument.type is unknown else argument.type)
            trial = _Trial(function, instance, {}, infer(call).constraints)
            where += f" of {', '.join([str(v.type) for v in call.arguments])}"
            found = [*trial.faults, *_misdeclared(call, trial)]
        for d in found:
            yield Diagnostic(d.code, d.message, where=where, help=d.help)
        pending += [op for op in trial.instance.walk() if isinstance(op, Call) and not references_of(op)]


def _copied(
    function: FunctionDefinition, actual: Mapping[str, Attribute] | None = None
) -> tuple[FunctionDefinition, Mapping[str, DeclaredType]]:
    """Returns a copy in which values, if any, replace the references to attributes, and the types that it declares.

    Raises: CyclicOrder, DiagnosticError.
    """
    block = Block([v.type for v in function.inputs], [v.name for v in function.inputs])
    values = dict(zip(function.inputs, block.arguments, strict=True))
    texts: Mapping[str, DeclaredType] = {}
    with suppress(ValueError):  # reported by the verifier of the function
        texts = function.declared_types()
    copy = FunctionDefinition(
        function.sym_name, Region([block]), function.attributes, function.declared, function.opset_import
    )
    return fill_beside(function, copy, function.body, block, values, actual), texts


class _Trial:
    """An instance of a function whose values have the types that follow: the errors of its nodes, else those of what it
    declares; and the types of its outputs. `assumed` are the equations under which a call fits the parameters.
    """

    def __init__(
        self,
        function: FunctionDefinition,
        instance: FunctionDefinition | onnx.FunctionInstance,
        texts: Mapping[str, DeclaredType],
        assumed: Sequence[Constraint] = (),
    ) -> None:
        self.instance = instance
        self.faults: list[Diagnostic] = []
        self.types: dict[Value, Type] = {}
        outputs = set(instance.outputs)
        for op in (op for top in instance.body.operations for op in innermost_first(top)):
            if not isinstance(op, Op):
                continue
            errors = [d for d in check_operation(op) if d.is_error]
            self.faults += errors
            if errors or op.declares_results:
                continue
            for v, type in zip(op.results, infer(op).types, strict=False):
                self.types[v] = type
                if v not in outputs:
                    v.retype(type)
        if not self.faults:
            declared = {v: texts[v.name] for v in (*instance.inputs, *instance.outputs) if v.name in texts}
            self.faults += DeclaredTypes(function, instance.body, declared, assumed).findings()


def _misdeclared(call: Call, trial: _Trial) -> Iterator[Diagnostic]:
    """Yields a finding for each result of a call that is declared otherwise than the function gives it."""
    for v, output in zip(call.results, trial.instance.outputs, strict=False):
        type = trial.types.get(output, unknown)
        if unknown not in (v.type, type) and not are_compatible(v.type, type):
            text = f"'{v.name}' is declared {v.type}, and the function gives {type}"
            yield rules.DECLARED_RESULTS.broken(text)
