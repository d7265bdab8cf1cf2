"""Checks of the rules of the Common IR on graphs, functions, libraries and declarations.

Each yields what breaks a rule, with its place within the operation that is checked. What only files show is found by
the reader, with the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from urllib.parse import urlsplit

from commonir.base.codes import WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic, Fix
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.suggestions import did_you_mean
from commonir.base.text import listed
from commonir.dialects import onnx
from commonir.dialects.common_ir import rules
from commonir.dialects.common_ir.naming import is_dns_name, is_identifier, is_reversed, markup_in
from commonir.dialects.common_ir.ordering import (
    CyclicOrder,
    control_inputs_of,
    needs_of,
    node_name,
    nodes_by_name,
    ordered,
)
from commonir.ir.attributes import ArrayAttr, Attribute, DictionaryAttr, StringAttr
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ElementType, MapType, TensorType, Type, unknown
from commonir.ods.declared import Parameter, Signature
from commonir.ods.declared_attributes import ANYTHING
from commonir.ods.declared_types import AnyOf, DeclaredType, DialectOf, MapOf, TensorOf, TwoWildcards
from commonir.ods.declared_types import declared_type as type_said_by
from commonir.ods.ordering import SORTED, put_in_order

_SHOWN = 5


def limited(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The most findings that are reported."""
    yield from islice(diagnostics, DEFAULT_LIMITS.max_diagnostics)


def nodes_of(block: Block) -> list[Operation]:
    """The nodes of a graph: its operations but for initializers and the end."""
    return [op for op in block.operations if not isinstance(op, onnx.Initializer | onnx.Return)]


def place_of(op: Operation, number: int) -> str:
    """Returns where a node stands in its graph, in words."""
    return f"node[{number}] '{onnx.shown_name(op)}'"


def _listed(names: Sequence[str]) -> str:
    return listed([f"'{n}'" for n in names], _SHOWN)


# -- names and texts


def identity(name: str, domain: str) -> Iterator[Diagnostic]:
    """The name and domain of a graph or library."""
    if not name:
        yield rules.NAMED.broken("there is no name", where="name")
    elif not is_identifier(name):
        yield rules.IDENTIFIERS.broken(f"the name '{name}' is not a C identifier", where="name")
    if not domain:
        yield rules.HAS_DOMAIN.broken("there is no domain", where="domain")
    elif not is_dns_name(domain):
        yield rules.DNS_DOMAIN.broken(f"'{domain}' is not a valid DNS name", where="domain")
    elif not is_reversed(domain):
        yield rules.REVERSED_DOMAIN.broken(f"'{domain}' is not a reversed domain name", where="domain")


def versions(version: int | None, model_version: object) -> Iterator[Diagnostic]:
    """The versions that a graph or library states."""
    yield from ir_version(version)
    if model_version is None:
        yield rules.STATES_MODEL_VERSION.broken("model_version is not stated")


def ir_version(version: int | None) -> Iterator[Diagnostic]:
    """The version of the specification, which begins with 1."""
    if not version or version < 1:
        text = f"ir_version {version} is not a version" if version else "ir_version is not stated"
        yield rules.STATES_IR_VERSION.broken(text)


def documentation(doc: Attribute | str | None, where: str = "") -> Iterator[Diagnostic]:
    """A documentation string."""
    text = doc.value if isinstance(doc, StringAttr) else doc if isinstance(doc, str) else ""
    result = markup_in(text)
    if result is not None:
        yield rules.NO_MARKUP.broken(
            f"the documentation string has markup that is not Markdown: {result!r}", where=where
        )


def documentation_within(holder: Operation) -> Iterator[Diagnostic]:
    """The documentation strings of what is in a graph or function: of its nodes, also of nested graphs, and values."""
    for op in holder.walk():
        node = [] if op is holder else [f"node '{name}'" if (name := node_name(op)) else op.name]
        for key, content in op.extra.items():
            if key == onnx.DOC_STRING:
                if op is not holder:
                    yield from documentation(content, *node)
                continue
            for place, doc in _documented(content):
                yield from documentation(doc, ".".join([*node, place]))


_DOC = "doc_string"
"""The field of messages that dictionaries may keep as it is in the file."""


def _documented(attribute: Attribute) -> Iterator[tuple[str, Attribute]]:
    """The documentation strings in a dictionary that keeps fields of messages, each with its place in it."""
    pending: list[tuple[str, Attribute]] = [("", attribute)]
    while pending:
        place, at = pending.pop()
        match at:
            case DictionaryAttr(entries=entries):
                for key, content in reversed(entries):
                    if key == _DOC:
                        yield place, content
                    else:
                        pending.append((key if not place else f"{place}.{key}", content))
            case ArrayAttr(values=values):
                pending += [(place, v) for v in reversed(values)]
            case _:
                pass


def identifiers(names: Iterable[str]) -> Iterator[Diagnostic]:
    """Names of what is in a graph, a function or a declaration."""
    wrong = list(dict.fromkeys([n for n in names if n and not is_identifier(n)]))
    if wrong:
        verb = "is not a C identifier" if len(wrong) == 1 else "are not C identifiers"
        yield rules.IDENTIFIERS.broken(f"{_listed(wrong)} {verb}")


def unique(names: Iterable[tuple[str, str]]) -> Iterator[Diagnostic]:
    """Names with what they are of, all in one namespace."""
    first: dict[str, str] = {}
    for name, what in names:
        if not name:
            continue
        if name in first:
            both = f"two {what}s" if first[name] == what else f"{_a(first[name])} and {_a(what)}"
            yield rules.UNIQUE_NAMES.broken(f"'{name}' is the name of {both}")
        else:
            first[name] = what


def _a(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"


def names_in(block: Block, attributes: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Everything in a graph or function that has a name, with what it is."""
    for a in block.arguments:
        yield a.name, "input"
    for name in attributes:
        yield name, "attribute"
    for op in block.operations:
        is_initializer = isinstance(op, onnx.Initializer)
        if not is_initializer and not isinstance(op, onnx.Return):
            yield node_name(op), "node"
        for r in op.results:
            yield r.name, "initializer" if is_initializer else "node output"


def nested_graphs(block: Block, around: frozenset[str] = frozenset()) -> Iterator[Diagnostic]:
    """The names in the graphs of nodes, and of these graphs.

    They are unique in their graph, and no output of a node has a name of `around`, which are visible in the graph.
    """
    visible = {*around, *(v.name for v in block.arguments)}
    numbers = {op: n for n, op in enumerate(nodes_of(block))}
    for op in block.operations:
        for nested in [b for r in op.regions for b in r.blocks]:
            for d in _nested_graph(nested, frozenset(visible)):
                yield d.located(where=place_of(op, numbers[op]))
        visible.update([v.name for v in op.results])


def _nested_graph(block: Block, visible: frozenset[str]) -> Iterator[Diagnostic]:
    names = list(names_in(block))
    yield from unique(names)
    yield from identifiers([block.label, *(name for name, _ in names)])
    for v in block.arguments:
        if problem := untyped(v):
            yield rules.TYPED_INPUTS.broken(f"input '{v.name}' {problem}")
    for name in [v.name for inner in nodes_of(block) for v in inner.results if v.name and v.name in visible]:
        text = f"'{name}' is the name of a node output in a nested graph and of a value around it"
        yield rules.UNIQUE_NAMES.broken(text)
    yield from nested_graphs(block, visible)


def declared_names(symbols: Iterable[tuple[str, str]]) -> Iterator[Diagnostic]:
    """The functions and operators of a file, which share a namespace."""
    first: dict[str, str] = {}
    for name, what in symbols:
        if not name:
            yield rules.IDENTIFIERS.broken(f"{_a(what)} has no name")
        elif name in first:
            both = f"two {what}s" if first[name] == what else "a function and an operator"
            yield rules.ONE_NAMESPACE.broken(f"'{name}' is the name of {both}")
        first.setdefault(name, what)
    yield from identifiers(first)


# -- graphs


def order(block: Block, *, is_free: bool) -> Iterator[Diagnostic]:
    """The edges between the nodes of a graph; `is_free` when nodes may stand in any order without cycles."""
    named = nodes_by_name(block)
    nodes = nodes_of(block)
    yield from _control_names(nodes, named)
    try:
        ordered(block)
    except CyclicOrder as error:
        has_control = any(control_inputs_of(op) for op in nodes)
        if has_control and not _is_cyclic_in_data(block):
            yield rules.CONTROL_ACYCLIC.broken(f"control inputs form a cycle: {error}")
        else:
            yield rules.ACYCLIC.broken(f"nodes need each other in a cycle: {error}")
        return
    if not is_free:
        yield from _topological(block, nodes, named)
    for n, op in enumerate(nodes):
        for nested in (b for r in op.regions for b in r.blocks):
            # Only nodes at top level must be in order.
            yield from (d.located(where=place_of(op, n)) for d in order(nested, is_free=True))


def _is_cyclic_in_data(block: Block) -> bool:
    try:
        ordered(block, with_control=False)
    except CyclicOrder:
        return True
    return False


def _control_names(nodes: Sequence[Operation], named: Mapping[str, Operation]) -> Iterator[Diagnostic]:
    for n, op in enumerate(nodes):
        for name in control_inputs_of(op):
            if name not in named:
                help = did_you_mean(name, named) or ""
                text = f"the control input '{name}' names no node of the graph"
                yield rules.CONTROL_NAMES_NODES.broken(text, where=place_of(op, n), help=help)


def _topological(block: Block, nodes: Sequence[Operation], named: Mapping[str, Operation]) -> Iterator[Diagnostic]:
    done: set[Operation] = set()
    numbers = {op: n for n, op in enumerate(nodes)}
    fix = Fix(SORTED, lambda: put_in_order(block, ordered(block)), block)
    for op in block.operations:
        for needed in needs_of(op, {}, block):
            if needed not in done and op in numbers:
                text = f"it reads what {place_of(needed, numbers.get(needed, 0))} makes, which follows it"
                yield rules.DATA_ORDER.broken(text, where=place_of(op, numbers[op]), fix=fix)
        for name in control_inputs_of(op):
            needed = named.get(name)
            if needed is not None and needed not in done:
                text = f"its control input '{name}' follows it"
                yield rules.CONTROL_ORDER.broken(text, where=place_of(op, numbers[op]), fix=fix)
        done.add(op)


def defined(block: Block, names: Iterable[str]) -> Iterator[Diagnostic]:
    """The values that nodes read and that the graph gives: whether anything defines them."""
    known = list(names)
    places = [(place_of(node, n), node.values_used) for n, node in enumerate(nodes_of(block))]
    places += [("outputs", op.operands) for op in block.operations if isinstance(op, onnx.Return)]
    for where, values in places:
        for v in values:
            if v.owner is None:
                text = f"'{v.name}' is not an output of a node, an input or an initializer"
                yield rules.DEFINED_INPUTS.broken(text, where=where, help=did_you_mean(v.name, known) or "")


def outputs_named(block: Block) -> Iterator[Diagnostic]:
    """Nodes without an output that is named."""
    for n, op in enumerate(nodes_of(block)):
        if not op.results:
            yield rules.HAS_OUTPUT.broken(f"a node of {op.name} has no output", where=place_of(op, n))


def interface(inputs: Sequence[Value], outputs: Sequence[Value]) -> Iterator[Diagnostic]:
    """The inputs and outputs of a graph."""
    for rule, what, values in ((rules.TYPED_INPUTS, "input", inputs), (rules.TYPED_OUTPUTS, "output", outputs)):
        for n, v in enumerate(values):
            if not v.name:
                yield rule.broken(f"{what} {n} has no name")
            if problem := untyped(v):
                yield rule.broken(f"{what} '{v.name}' {problem}")
    yield from unique((v.name, "output") for v in outputs)
    for v in outputs:
        owner = v.owner
        if isinstance(owner, Block | onnx.Initializer):
            what = "an input" if isinstance(owner, Block) else "an initializer"
            yield rules.OUTPUTS_OF_NODES.broken(f"the output '{v.name}' is {what} of the graph, not of a node")


def declared_texts(declared: DictionaryAttr) -> Iterator[Diagnostic]:
    """Declared types of inputs and outputs that are kept as texts."""
    for name, text in declared.entries:
        try:
            type_said_by(text.value if isinstance(text, StringAttr) else "")
        except TwoWildcards as error:
            yield rules.ONE_WILDCARD.broken(f"'{name}': {error}")
        except ValueError as error:
            yield Diagnostic(WRONG_ATTRIBUTE, f"the declared type of '{name}': {error}")


def map_types(values: Iterable[Value]) -> Iterator[Diagnostic]:
    """Types of values that are maps, or are made of some."""
    for v in values:
        if any(isinstance(t, MapType) and not (_is_scalar(t.key) and _is_scalar(t.value)) for t in _within(v.type)):
            yield rules.SCALAR_MAPS.broken(f"'{v.name}' has the type {v.type}")


def _is_scalar(type: Type) -> bool:
    is_element = type is unknown or isinstance(type, ElementType)
    return is_element or (isinstance(type, TensorType) and type.shape in ((), None))


def _within(type: Type) -> Iterator[Type]:
    """Yields a type and those that it is made of."""
    yield type
    for part in type.parts:
        yield from _within(part)


def untyped(v: Value) -> str:
    """Returns in words what the type of a value lacks; "" where it is stated in full."""
    if v.type is unknown:
        return "has no type"
    return f"has a type that is not stated in full: {v.type}" if unknown in _within(v.type) else ""


def import_form(uri: str) -> Iterator[Diagnostic]:
    """The reference to a library."""
    parts = urlsplit(uri)
    is_absolute_path = uri.startswith(("/", "\\")) or (len(parts.scheme) == 1)
    if not uri or is_absolute_path or any(c.isspace() or not c.isprintable() for c in uri):
        yield rules.IMPORT_FORM.broken(f"'{uri}' is neither an absolute URI nor a relative path")


# -- declarations


def signature(declared: Signature, where: str) -> Iterator[Diagnostic]:
    """One signature of an operator."""
    for what, p in [*(("input", p) for p in declared.inputs), *(("output", p) for p in declared.outputs)]:
        yield from _parameter(p, f"{where}.{what} '{p.name}'")
    for a in declared.attributes:
        place = f"{where}.attribute '{a.name}'"
        if a.type.text in ANYTHING:
            yield rules.TYPED_ATTRIBUTES.broken("the attribute may be anything", where=place)
        elif a.type.declared is not None:
            yield from declared_type(a.type.declared, place, rules.TYPED_ATTRIBUTES)
        yield from documentation(a.doc, place)
    names = [(p.name, "input") for p in declared.inputs] + [(a.name, "attribute") for a in declared.attributes]
    names += [(p.name, "output") for p in declared.outputs]
    for d in (*unique(names), *identifiers(n for n, _ in names), *documentation(declared.doc)):
        yield d.located(where=where)


def _parameter(p: Parameter, where: str) -> Iterator[Diagnostic]:
    if not p.name:
        yield rules.TYPED_OPERANDS.broken("the parameter has no name", where=where)
    yield from declared_type(p.type, where)
    yield from documentation(p.doc, where)


def declared_type(
    declared: DeclaredType, where: str, full: rules.SpecRule = rules.TYPED_OPERANDS
) -> Iterator[Diagnostic]:
    """A declared type: whether it says all that it must, which is the rule `full`, and should."""
    pending = [declared]
    while pending:
        at = pending.pop()
        pending.extend(reversed(at.parts))
        if isinstance(at, AnyOf):
            yield full.broken("the type may be any", where=where)
        if isinstance(at, MapOf):
            if not all(
                isinstance(p, DialectOf) or (isinstance(p, TensorOf) and not p.is_sparse and not p.dimensions)
                for p in at.parts
            ):
                yield rules.SCALAR_MAPS.broken(f"the type is {at}", where=where)
            del pending[len(pending) - len(at.parts) :]
        if isinstance(at, TensorOf) and at.pattern.dims is None and full is rules.TYPED_OPERANDS:
            yield rules.SHAPED_OPERANDS.broken(f"the type {at} states no shape", where=where)
