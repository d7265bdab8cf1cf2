"""Parses references of records: the results of an operation in index notation, as text.

    result[b..., i, j] = sum(k, lhs[b..., i, k] * rhs[b..., k, j])

Statements end with a line, unless a bracket is open or an operator is last: `name[axes] = expression` for each result
and for what others use below, `name[axes] for i < extent = expression` with explicit extents, `require left == right`,
and `broadcast b`, which lets the wildcard `b...` stand for axes that broadcast. Nothing is evaluated here, and nothing
is ever executed as code.
Source: MLIR operation definitions, the proposal: reference implementations determine shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonir.base.records import Record

_TOKEN = re.compile(
    r"(?:[ \t]|\\\n|#[^\n]*)*(?:(\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+)|(\d+)|([A-Za-z_]\w*)"
    r"|(\.\.\.|//|<=|>=|==|!=|&&|\|\||[-+*/%<>=!()\[\],;^])|(\n))"
)
_KINDS = ("float", "int", "name", "mark", "line")
_MAX_DEPTH = 60
_MAX_CHARACTERS = 20_000
_MAX_TOTAL_DEPTH = 100
_MAX_NODES = 20_000

_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("==", "!=", "<", "<=", ">", ">="),
    ("+", "-"),
    ("*", "/", "//", "%"),
)
"""Binary operators by precedence, loosest first."""
COMPARISONS = frozenset(_LEVELS[2])
OPERATORS = frozenset([mark for level in _LEVELS for mark in level])
_GOES_ON = OPERATORS | {"=", ",", "^"}
"""Marks after which a statement goes on in the next line."""


class ReferenceFault(ValueError):
    """A text is not a reference: the reason, and its offset in the text."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class Literal(Record):
    """A number."""

    value: int | float
    at: int


class Name(Record):
    """An index, an attribute, a tensor, or with `is_wildcard` any number of indices: `b...`."""

    name: str
    is_wildcard: bool
    at: int


class Call(Record):
    """A function, a fold or an operator on arguments."""

    name: str
    arguments: tuple[Node, ...]
    at: int


class Items(Record):
    """A list in brackets."""

    items: tuple[Node, ...]
    at: int


class Read(Record):
    """`tensor[positions]`."""

    of: Node
    positions: tuple[Node, ...]
    at: int


Node = Literal | Name | Call | Items | Read


class Assignment(Record):
    """`name[axes] for index < extent = body`."""

    name: str
    axes: tuple[Node, ...]
    extents: tuple[tuple[str, Node], ...]
    body: Node
    at: int


class Requirement(Record):
    """`require left relation right`."""

    left: Node
    relation: str
    right: Node
    at: int


class Reference(Record):
    """A parsed reference. `broadcast` are wildcards that broadcast."""

    assignments: tuple[Assignment, ...]
    requirements: tuple[Requirement, ...]
    broadcast: frozenset[str]

    @property
    def wildcards(self) -> tuple[str, ...]:
        """The names of its wildcards."""
        axes = [axis for a in self.assignments for axis in a.axes]
        return tuple(dict.fromkeys([n.name for n in (*axes, *nodes_of(self)) if isinstance(n, Name) and n.is_wildcard]))


FOLD_NAMES = {
    "sum": "add",
    "product": "multiply",
    "max": "maximum",
    "min": "minimum",
    "all": "logical_and",
    "any": "logical_or",
}
"""Folds by their names in references."""
ALIASES = {"max": "maximum", "min": "minimum", "abs": "absolute"}
"""Functions of index notation that references call by another name."""


def reads_of(reference: Reference) -> Iterator[Read]:
    """Yields all reads of tensors."""
    for node in nodes_of(reference):
        if isinstance(node, Read):
            yield node


def nodes_of(reference: Reference) -> Iterator[Node]:
    """Yields all nodes of expressions."""
    pending: list[Node] = [node for r in reference.requirements for node in (r.left, r.right)]
    for assignment in reference.assignments:
        pending += [assignment.body, *[node for _, node in assignment.extents]]
    pending.reverse()
    while pending:
        node = pending.pop()
        yield node
        pending += _parts(node)[::-1]


def _parts(node: Node) -> tuple[Node, ...]:
    """Returns the expressions directly in an expression."""
    match node:
        case Call(arguments=arguments):
            return arguments
        case Items(items=items):
            return items
        case Read(of=of, positions=positions):
            return (of, *positions)
        case _:
            return ()


def parsed_reference(text: str) -> Reference:
    """Returns the statements of a reference. Raises: ReferenceFault."""
    if len(text) > _MAX_CHARACTERS:
        raise ReferenceFault(f"the reference has more than {_MAX_CHARACTERS} characters", 0)
    return limited(_Parser(text).reference())


def limited(reference: Reference) -> Reference:
    """Returns a reference whose expressions, with the helpers that they read, are not too deep or large.

    Raises: ReferenceFault.
    """
    depths: dict[str, int] = {}
    count = 0
    for assignment in reference.assignments:
        depth = 0
        pending = [(node, 1) for node in (assignment.body, *[extent for _, extent in assignment.extents])]
        while pending:
            node, level = pending.pop()
            count += 1
            depth = max(depth, level + (depths.get(node.name, 0) if isinstance(node, Name) else 0))
            pending += [(part, level + 1) for part in _parts(node)]
            if depth > _MAX_TOTAL_DEPTH:
                raise ReferenceFault(
                    f"'{assignment.name}' is more than {_MAX_TOTAL_DEPTH} expressions deep", assignment.at
                )
            if count > _MAX_NODES:
                raise ReferenceFault(f"the reference has more than {_MAX_NODES} expressions", assignment.at)
        depths[assignment.name] = depth
    return reference


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str, int]] = []
        at, depth = 0, 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None or match.lastindex is None:
                rest = re.sub(r"^(?:[ \t]|#[^\n]*)*", "", text[at:])
                if not rest.strip():
                    break
                raise ReferenceFault(f"'{rest[0]}' is not part of index notation", len(text) - len(rest))
            kind, value = _KINDS[match.lastindex - 1], match[match.lastindex]
            depth += (value in "([") - (value in ")]") if kind == "mark" and len(value) == 1 else 0
            goes_on = bool(self.tokens) and self.tokens[-1][0] == "mark" and self.tokens[-1][1] in _GOES_ON
            if kind != "line" or (depth <= 0 and not goes_on):
                self.tokens.append(("line" if value == ";" else kind, value, match.start(match.lastindex)))
            at = match.end()
        self.tokens.append(("end", "", len(text)))
        self.place = 0
        self.depth = 0

    # -- tokens

    @property
    def token(self) -> tuple[str, str, int]:
        return self.tokens[self.place]

    def advance(self) -> tuple[str, str, int]:
        result = self.token
        self.place = min(self.place + 1, len(self.tokens) - 1)
        return result

    def takes(self, mark: str) -> bool:
        if self.token[0] in ("mark", "name") and self.token[1] == mark:
            self.advance()
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.takes(mark):
            raise self.fault(f"expected '{mark}', found {self.shown()}")

    def fault(self, message: str) -> ReferenceFault:
        return ReferenceFault(message, self.token[2])

    def shown(self) -> str:
        kind, value, _ = self.token
        return "the end" if kind == "end" else "the end of the line" if kind == "line" else f"'{value}'"

    def name(self) -> str:
        kind, value, _ = self.token
        if kind != "name":
            raise self.fault(f"expected a name, found {self.shown()}")
        self.advance()
        return value

    # -- statements

    def reference(self) -> Reference:
        assignments: list[Assignment] = []
        requirements: list[Requirement] = []
        broadcast: set[str] = set()
        while self.token[0] != "end":
            if self.token[0] == "line":
                self.advance()
                continue
            if self.takes("require"):
                requirements.append(self.requirement())
            elif self.takes("broadcast"):
                broadcast.add(self.name())
                self.takes("...")
            else:
                assignments.append(self.assignment())
            if self.token[0] not in ("line", "end"):
                raise self.fault(f"expected the end of the statement, found {self.shown()}")
        if not assignments:
            raise ReferenceFault("the reference has no result: expected 'result[i] = ..'", 0)
        return Reference(tuple(assignments), tuple(requirements), frozenset(broadcast))

    def requirement(self) -> Requirement:
        at = self.token[2]
        node = self.expression()
        if not isinstance(node, Call) or node.name not in COMPARISONS:
            raise ReferenceFault("require takes a comparison, such as 'require dim(x, 0) == 3'", at)
        left, right = node.arguments
        return Requirement(left, node.name, right, at)

    def assignment(self) -> Assignment:
        at = self.token[2]
        name = self.name()
        axes: tuple[Node, ...] = ()
        if self.takes("["):
            axes = self.listed("]")
        extents: list[tuple[str, Node]] = []
        if self.takes("for"):
            while True:
                bound = self.name()
                self.expect("<")
                extents.append((bound, self.level(3)))
                if not self.takes(","):
                    break
        self.expect("=")
        return Assignment(name, axes, tuple(extents), self.expression(), at)

    # -- expressions

    def listed(self, close: str) -> tuple[Node, ...]:
        out: list[Node] = []
        if self.takes(close):
            return ()
        while True:
            out.append(self.expression())
            if self.takes(close):
                return tuple(out)
            self.expect(",")

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.fault(f"the expression is more than {_MAX_DEPTH} deep")
        result = self.level(0)
        self.depth -= 1
        return result

    def level(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self.unary()
        left = self.level(level + 1)
        while self.token[0] == "mark" and self.token[1] in _LEVELS[level]:
            _, operator, at = self.advance()
            left = Call(operator, (left, self.level(level + 1)), at)
        return left

    def unary(self) -> Node:
        kind, value, at = self.token
        if kind == "mark" and value in ("-", "!"):
            self.advance()
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise self.fault(f"the expression is more than {_MAX_DEPTH} deep")
            operand = self.unary()
            self.depth -= 1
            return Call("negative" if value == "-" else "logical_not", (operand,), at)
        base = self.primary()
        if self.token[:2] == ("mark", "^"):
            at = self.advance()[2]
            return Call("power", (base, self.unary()), at)
        return base

    def primary(self) -> Node:
        kind, value, at = self.advance()
        result: Node
        match kind:
            case "int":
                return Literal(int(value), at)
            case "float":
                return Literal(float(value), at)
            case "name":
                if self.takes("("):
                    result = Call(value, self.listed(")"), at)
                else:
                    result = Name(value, self.takes("..."), at)
            case "mark" if value == "(":
                result = self.expression()
                self.expect(")")
            case "mark" if value == "[":
                return Items(self.listed("]"), at)
            case _:
                self.place -= kind != "end"
                raise self.fault(f"expected a value, found {self.shown()}")
        while self.token[:2] == ("mark", "["):
            at = self.advance()[2]
            result = Read(result, self.listed("]"), at)
        return result
