"""Versions of operator sets between files and programs. Source: onnx.proto of ONNX 1.23."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonir.base.tuples import NamedTuple
from commonir.dialects import onnx
from commonir.formats.onnx import unknown_fields
from commonir.formats.onnx.graph_writing import items
from commonir.formats.onnx.messages import GraphProto, OperatorSetIdProto, Repeated, create
from commonir.formats.onnx.unknown_fields import merge
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr
from commonir.ods import Op

_DEFAULT_DOMAINS = ("", "ai.onnx")
_NEWEST_ASSUMED = 18
"""The version that a model is taken to use which states neither its operator sets nor the version of its format."""


def is_default_domain(domain: str) -> bool:
    """Returns whether a domain is that of the operators of ONNX itself."""
    return domain in _DEFAULT_DOMAINS


class Use(NamedTuple):
    """How a node uses an operator: its name, the attributes that it states, and the number of its inputs."""

    op_type: str
    attributes: frozenset[str]
    inputs: int


def uses_in(graph: GraphProto) -> Iterator[Use]:
    """Yields the uses of operators of the default domain in a graph, nested graphs included."""
    for node in graph.node[:]:
        attributes = node.attribute[:]
        if is_default_domain(node.domain):
            yield Use(node.op_type, frozenset(a.name for a in attributes), len(node.input))
        for attribute in attributes:
            for nested in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs[:]):
                yield from uses_in(nested)


def use_of(op: Op) -> Use:
    """Returns how an operation uses its operator."""
    op_type = onnx.operator_of(op.name)[1]
    return Use(op_type, frozenset(unknown_fields.written_attributes(op)), len(op.operands))


def only_version(domain: str, uses: Iterable[Use], ir_version: int) -> int | None:
    """Returns a version of an operator set in which nodes have the only meaning that they can have.

    `ir_version` limits the versions of the default domain, 0 if it is not known. None if no version has all of the
    operators as they are used, or if those that do differ in the meaning of one.
    """
    versions = range(1, onnx.newest_version(domain) + 1)
    if is_default_domain(domain):
        versions = [v for v in versions if onnx.ir_version_of(v) <= ir_version or not ir_version]
    distinct = set(uses)
    possible: dict[int, list[type[Op]]] = {}
    for v in versions:
        definitions = [_definition(domain, use, v) for use in distinct]
        if None not in definitions:
            possible[v] = [_meaning(d) for d in definitions if d is not None]
    if not possible or any(meanings != possible[max(possible)] for meanings in possible.values()):
        return None
    assumed = _NEWEST_ASSUMED if is_default_domain(domain) and not ir_version else max(possible)
    return max([v for v in possible if v <= assumed], default=min(possible))


def _definition(domain: str, use: Use, version: int) -> type[Op] | None:
    """Returns the definition of an operator in a version of its set; None if it is not used so there."""
    name = onnx.operation_name(domain, use.op_type)
    result = None if name is None else onnx.DIALECT.find(name, onnx.version_in(domain, version))
    if result is None or not use.attributes <= result.layout.spelled.keys():
        return None
    inputs = result.layout.inputs
    return result if use.inputs <= len(inputs) or any(f.variadic for f in inputs) else None


def _meaning(definition: type[Op]) -> type[Op]:
    """Returns the class that gives a version of an operator its meaning: the last one from which it derives."""
    versions = onnx.DIALECT.operations[definition.name]
    return [c for c in definition.__mro__ if c in versions][-1]


def opsets_of(items: Iterable[OperatorSetIdProto]) -> DictionaryAttr:
    """Versions of operator sets by domain; of several for one domain, the highest, as ONNX says."""
    out: dict[str, int] = {}
    for entry in items:
        out[entry.domain] = max(out.get(entry.domain, 0), entry.version)
    return DictionaryAttr(tuple([(domain, IntegerAttr(version)) for domain, version in out.items()]))


def write_opsets(versions: DictionaryAttr, forms: Attribute | None, into: Repeated[OperatorSetIdProto]) -> None:
    """Fills in versions of operator sets, as the file had them when they are still the same."""
    kept_forms = [merge(form, create(OperatorSetIdProto)) for form in items(forms)]
    if kept_forms and opsets_of(kept_forms) == versions:
        into.extend(kept_forms)
        return
    for domain, version in versions.entries:
        imported = into.add()
        imported.domain = domain
        imported.version = version.value if isinstance(version, IntegerAttr) else 0
