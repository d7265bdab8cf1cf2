"""References in terms of other references: `T_ScaleOp(x, 2.0)[i]` is an element of the result of another record.

The statements of the called reference take the place of the call, with its operands and attributes as the call has
them, and with other names for its indices and helpers. Nothing is evaluated here.
Source: MLIR operation definitions, the proposal: a reference may be in terms of other references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from commonir.base.records import Record
from commonir.base.text import plural
from commonir.ir.types import ELEMENT_TYPES
from commonir.ods.from_records.reference_text import (
    Assignment,
    Call,
    Items,
    Literal,
    Name,
    Node,
    Read,
    Reference,
    ReferenceFault,
    Requirement,
    limited,
    nodes_of,
)

_MAX_STATEMENTS = 1000


class Callee(Record):
    """A reference that others call. `arguments` are its operands and attributes, in order; True for operands."""

    arguments: Mapping[str, bool]
    result: str
    reference: Reference


def expanded(reference: Reference, callee_of: Callable[[Call], Callee | None], operands: frozenset[str]) -> Reference:
    """Returns a reference without calls of others. `operands` are those of its operation.

    Raises: ReferenceFault at the place of a call.
    """
    expansion = _Expansion(reference, callee_of, operands)
    for assignment in reference.assignments:
        extents = tuple([(name, expansion.node(extent)) for name, extent in assignment.extents])
        body = expansion.node(assignment.body)
        expansion.assignments.append(assignment.replaced(extents=extents, body=body))
    requirements = [
        each.replaced(left=expansion.node(each.left), right=expansion.node(each.right))
        for each in reference.requirements
    ]
    broadcast = reference.broadcast | expansion.broadcast
    return limited(Reference(tuple(expansion.assignments), (*requirements, *expansion.requirements), broadcast))


class _Expansion:
    def __init__(
        self, reference: Reference, callee_of: Callable[[Call], Callee | None], operands: frozenset[str]
    ) -> None:
        self.callee_of = callee_of
        self.operands = operands
        self.assignments: list[Assignment] = []
        self.requirements: list[Requirement] = []
        self.broadcast: set[str] = set()
        self.used = {*operands, *_names(reference)}

    def node(self, node: Node) -> Node:
        """Returns an expression without calls of other references, whose statements are added."""
        match node:
            case Read(of=Call() as call, positions=positions):
                callee = self.callee_of(call)
                at = tuple([self.node(each) for each in positions])
                if callee is None:
                    return node.replaced(of=self.node(call), positions=at)
                return node.replaced(of=Name(self._call(call, callee), False, call.at), positions=at)
            case Read(of=of, positions=positions):
                return node.replaced(of=self.node(of), positions=tuple([self.node(each) for each in positions]))
            case Items(items=items):
                return node.replaced(items=tuple([self.node(each) for each in items]))
            case Call(name=name, arguments=arguments):
                if self.callee_of(node) is not None:
                    raise ReferenceFault(f"'{name}' is a tensor: read an element of it, as in '{name}(..)[i]'", node.at)
                return node.replaced(arguments=tuple([self.node(each) for each in arguments]))
            case _:
                return node

    def _call(self, call: Call, callee: Callee) -> str:
        """Adds the statements of a called reference, and returns the name that its result has here."""
        count = len(callee.arguments)
        if len(call.arguments) != count:
            raise ReferenceFault(
                f"'{call.name}' takes {plural(count, 'argument')}, found {len(call.arguments)}", call.at
            )
        of = {
            name: self._operand(name, argument, call, callee) if is_operand else self.node(argument)
            for (name, is_operand), argument in zip(callee.arguments.items(), call.arguments, strict=True)
        }
        if len(self.assignments) + len(callee.reference.assignments) > _MAX_STATEMENTS:
            raise ReferenceFault(
                f"the reference has more than {_MAX_STATEMENTS} statements with those it calls", call.at
            )
        names = {n: self._fresh(n) for n in _names(callee.reference) if n not in of and n not in ELEMENT_TYPES}
        renaming = _Renaming(of, names)
        self.assignments += map(renaming.assignment, callee.reference.assignments)
        self.requirements += [
            each.replaced(left=renaming.node(each.left), right=renaming.node(each.right))
            for each in callee.reference.requirements
        ]
        self.broadcast |= {names[n] for n in callee.reference.broadcast if n in names}
        return names[callee.result]

    def _operand(self, name: str, argument: Node, call: Call, callee: Callee) -> Name:
        """Returns the value a call passes for an operand: an operand of this operation, or the result of a call."""
        if isinstance(argument, Name) and argument.name in self.operands:
            return argument
        inner = self.callee_of(argument) if isinstance(argument, Call) else None
        if not isinstance(argument, Call) or inner is None:
            raise ReferenceFault(
                f"'{name}' of '{call.name}' is neither an operand of this operation nor a call", call.at
            )
        if callee.reference.broadcast:
            raise ReferenceFault(f"'{name}' of '{call.name}' broadcasts, which results of calls cannot", call.at)
        return Name(self._call(argument, inner), False, argument.at)

    def _fresh(self, name: str) -> str:
        n = 1
        while f"{name}_{n}" in self.used:
            n += 1
        self.used.add(f"{name}_{n}")
        return f"{name}_{n}"


class _Renaming:
    def __init__(self, arguments: Mapping[str, Node], names: Mapping[str, str]) -> None:
        self.arguments = arguments
        self.names = names

    def assignment(self, assignment: Assignment) -> Assignment:
        return assignment.replaced(
            name=self.names[assignment.name],
            axes=tuple([self.node(axis) for axis in assignment.axes]),
            extents=tuple([(self.names[name], self.node(extent)) for name, extent in assignment.extents]),
            body=self.node(assignment.body),
        )

    def node(self, node: Node) -> Node:
        match node:
            case Literal():
                return node
            case Name(name=name):
                return self.arguments.get(name) or node.replaced(name=self.names.get(name, name))
            case Items(items=items):
                return node.replaced(items=tuple([self.node(each) for each in items]))
            case Read(of=of, positions=positions):
                return node.replaced(of=self.node(of), positions=tuple([self.node(each) for each in positions]))
            case Call(arguments=arguments):
                return node.replaced(arguments=tuple([self.node(each) for each in arguments]))


def _names(reference: Reference) -> Iterator[str]:
    """Yields all names of a reference."""
    for assignment in reference.assignments:
        yield assignment.name
        yield from [name for name, _ in assignment.extents]
        yield from [axis.name for axis in assignment.axes if isinstance(axis, Name)]
    yield from [node.name for node in nodes_of(reference) if isinstance(node, Name)]
