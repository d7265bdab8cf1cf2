"""Rules of the Core ML format on a program, beside those on its operations (`ods.verify`) and on its description.

Each rule has a label, which begins its message; the tests that break the rules are named after the labels.

N1: a name is letters, digits, `_` and `@`, and does not begin with a digit or `@`.
N2: a name is not a keyword of MIL text.
P1: the version of the program is 1.
P2: the program has a function.
F1: a function has the specialization that it names (in `mil.func`).
F2: all specializations of a function have the same outputs (in `mil.func`).
F3: a specialization is named after an operation set.
V1: the specification version is a known one of ML Programs, and not older than the operation sets in use.
V2: several functions need specification version 9.
V3: states need specification version 9.
V4: a pipeline has at least the specification version of each of its models.
B1: `classify` is the last operation, and its results are only returned.
S1: a state is only used by `read_state` and `write_state`.
R1: a value that is not a constant has rank 5 at most (a warning).
R2: what a function returns is made by an operation that is not a constant (a warning).

Source: MIL specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import MALFORMED_PROGRAM, NEWER_FORMAT, NOT_IN_VERSION, RISKY_PROGRAM
from commonir.base.suggestions import did_you_mean
from commonir.dialects.mil.base import MAX_RANK, SPECIFICATION_VERSIONS, text_name
from commonir.dialects.mil.description import Description, description_of
from commonir.dialects.mil.pipeline import Composition
from commonir.dialects.mil.program import PROGRAM_ATTRIBUTES, PROGRAM_VERSION, Func, Return
from commonir.formats.coreml.interface import verify_description
from commonir.formats.coreml.names import bad_name, is_key, is_name
from commonir.ir.attributes import DictionaryAttr, IntegerAttr
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import StateType, TensorType
from commonir.ods import Op, path_of
from commonir.ods.traits import ConstantLike, Inline

NEWEST_PROGRAM_VERSION = 1
FUNCTIONS_SINCE = 9
STATES_SINCE = 9

_CLASSIFY = "mil.classify"
_STATE_USERS = frozenset({"mil.read_state", "mil.write_state"})


def verify_model(module: Module) -> list[Diagnostic]:
    """Returns violations of the format in a module and in the models of its pipeline."""
    diagnostics: list[Diagnostic] = []
    pending = [module]
    while pending:
        at = pending.pop()
        place = path_of(at)
        description = description_of(at)
        if description is not None:
            of_model = [*verify_program(at, description), *_check_parts(at, description.specification_version)]
            diagnostics += [d.located(where=place) if place else d for d in of_model]
        pending += reversed(at.modules)
    return diagnostics


def _check_parts(module: Module, specified: int) -> Iterator[Diagnostic]:
    """Checks that a pipeline is not older than its models."""
    for n, part in enumerate(module.modules):
        description = description_of(part)
        if description is not None and description.specification_version > specified:
            needed = description.specification_version
            message = f"V4: model {n} needs specification version {needed}, the pipeline states {specified}"
            yield Diagnostic(NOT_IN_VERSION, message, where="specificationVersion")


def verify_program(module: Module, description: Description) -> list[Diagnostic]:
    """Everything in a module read from a file, or meant for one, that the format does not allow."""
    functions = [op for op in module.body.operations if isinstance(op, Func)]
    diagnostics: list[Diagnostic] = []
    if not any(isinstance(op, Composition) for op in module.body.operations):
        diagnostics += [
            *_check_program(module, functions),
            *_check_versions(functions, description.specification_version),
        ]
    diagnostics += _check_keys(module.extra, lambda: "program")
    for function in functions:
        diagnostics += _check_function(function)
    names: set[str] = set()
    for outermost in functions:
        diagnostics += _check_returned(outermost)
        for op in outermost.walk():
            diagnostics += _check_names(op, names)
            diagnostics += _check_use(op)
            diagnostics += _check_ranks(op)
    return [*diagnostics, *verify_description(module.functions, description)]


def _check_program(module: Module, functions: list[Func]) -> Iterator[Diagnostic]:
    version = module.extra.get(PROGRAM_VERSION)
    if not isinstance(version, IntegerAttr) or version.value != NEWEST_PROGRAM_VERSION:
        declared = version.value if isinstance(version, IntegerAttr) else "none"
        message = f"P1: the version of a program must be {NEWEST_PROGRAM_VERSION}, found {declared}"
        yield Diagnostic(MALFORMED_PROGRAM, message, where="program.version")
    if not functions:
        yield Diagnostic(MALFORMED_PROGRAM, "P2: the program has no function", where="program.functions")


def _check_versions(functions: list[Func], specified: int) -> Iterator[Diagnostic]:
    first = min(SPECIFICATION_VERSIONS.values())
    if specified < first:
        message = f"V1: ML Programs need specification version {first}, found {specified}"
        yield Diagnostic(NOT_IN_VERSION, message, where="specificationVersion")
    newest = max(SPECIFICATION_VERSIONS.values())
    if specified > newest:
        message = f"V1: specification version {specified} is not known yet: {newest} is the newest"
        yield Diagnostic(NEWER_FORMAT, message, where="specificationVersion")
    if len(functions) > 1 and first <= specified < FUNCTIONS_SINCE:
        message = f"V2: several functions need specification version {FUNCTIONS_SINCE}, found {specified}"
        yield Diagnostic(NOT_IN_VERSION, message, where="specificationVersion")
    for function in functions:
        for region in function.specializations:
            label = region.block.label
            place = f"{function.sym_name}.block[{label}]"
            needed = SPECIFICATION_VERSIONS.get(label)
            if needed is None and not label and region.block.last is None:
                # The function has no specialization, as F1 reports.
                continue
            if needed is None:
                # A text calls them by the first system that has them.
                is_text = label.lower().startswith("ios")
                names = [text_name(name) if is_text else name for name in SPECIFICATION_VERSIONS]
                help = did_you_mean(label, names) or f"operation sets: {', '.join(names)}"
                yield Diagnostic(MALFORMED_PROGRAM, f"F3: unknown operation set '{label}'", where=place, help=help)
            elif first <= specified < needed and label == function.opset:
                message = f"V1: the operation set {label} needs specification version {needed}, found {specified}"
                yield Diagnostic(NOT_IN_VERSION, message, where=place)
        if first <= specified < STATES_SINCE:
            for value in function.inputs:
                if isinstance(value.type, StateType):
                    message = f"V3: states need specification version {STATES_SINCE}, found {specified}"
                    place = f"{function.sym_name}.inputs['{value.name}']"
                    yield Diagnostic(NOT_IN_VERSION, message, where=place)


def _check_function(function: Func) -> Iterator[Diagnostic]:
    if not is_name(function.sym_name):
        yield bad_name(function.sym_name, "function", f"program.functions['{function.sym_name}']")
    for value in function.inputs:
        if not is_name(value.name):
            yield bad_name(value.name, "input", f"{function.sym_name}.inputs['{value.name}']")


def _check_names(op: Operation, known: set[str]) -> Iterator[Diagnostic]:
    """Checks each distinct name once, where it is first defined."""
    names = [] if isinstance(op, Op) and op.has_trait(Inline) else [(r.name, "output") for r in op.results]
    if op.regions and not isinstance(op, Func):
        blocks = [block for region in op.regions for block in region.blocks]
        names += [(argument.name, "block input") for block in blocks for argument in block.arguments]
    for name, what in names:
        if name not in known:
            known.add(name)
            if not is_name(name):
                yield bad_name(name, what, path_of(op))
    if op.extra:
        # The path of an operation counts those before it.
        yield from _check_keys(op.extra, lambda: _place_of(op))


def _place_of(op: Operation) -> str:
    """Returns where a file has the attributes of an operation: those of a return are attributes of its block."""
    path = path_of(op)
    return path.rpartition(".operations[")[0] if isinstance(op, Return) else path


def _check_keys(extra: Mapping[str, object], place: Callable[[], str]) -> Iterator[Diagnostic]:
    """Checks the names of attributes, which may be keywords of MIL text."""
    stored = extra.get(PROGRAM_ATTRIBUTES)
    # What this package adds has a dot in its name, which no name of the format can have.
    keys = [key for key in extra if "." not in key]
    if isinstance(stored, DictionaryAttr):
        keys += [key for key, _ in stored.entries]
    for key in keys:
        if not is_key(key):
            yield bad_name(key, "attribute", place())


def _check_returned(function: Func) -> Iterator[Diagnostic]:
    for name, v in zip(function.output_names, function.outputs, strict=False):
        is_constant = isinstance(v.owner, Op) and v.owner.has_trait(ConstantLike)
        if not is_constant and v not in function.inputs:
            continue
        what = "a constant" if is_constant else "an input"
        message = f"R2: the output '{name}' is {what}; Core ML expects an identity in between"
        yield Diagnostic(RISKY_PROGRAM, message, where=function.sym_name)


def _check_ranks(op: Operation) -> Iterator[Diagnostic]:
    values = op.body.arguments if isinstance(op, Func) else op.results
    if isinstance(op, Op) and op.has_trait(ConstantLike):
        return
    for v in values:
        rank = v.type.rank if isinstance(v.type, TensorType) else None
        if rank is not None and rank > MAX_RANK:
            message = f"R1: '{v.name}' has rank {rank}, and Core ML runs rank {MAX_RANK} at most"
            yield Diagnostic(RISKY_PROGRAM, message, where=path_of(op))


def _check_use(op: Operation) -> Iterator[Diagnostic]:
    if op.name == _CLASSIFY:
        following = op.next
        if not isinstance(following, Return):
            yield Diagnostic(
                MALFORMED_PROGRAM, "B1: classify must be the last operation of its block", where=path_of(op)
            )
        for r in op.results:
            if any(not isinstance(user, Return) for user in r.users):
                message = f"B1: '{r.name}', a result of classify, can only be returned"
                yield Diagnostic(MALFORMED_PROGRAM, message, where=path_of(op))
    if op.name not in _STATE_USERS:
        for v in op.operands:
            if isinstance(v.type, StateType):
                message = f"S1: the state '{v.name}' can only be used by read_state and write_state"
                yield Diagnostic(MALFORMED_PROGRAM, message, where=path_of(op))
