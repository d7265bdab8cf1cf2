"""Versions of operator sets between files and programs. Source: onnx.proto of ONNX 1.23."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonir.dialects import onnx
from commonir.formats.onnx.graph_writing import items
from commonir.formats.onnx.messages import GraphProto, OperatorSetIdProto, Repeated, create
from commonir.formats.onnx.unknown_fields import merge
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr
from commonir.ods import Op
from commonir.ods.patterns import version_number

_DEFAULT_DOMAINS = ("", "ai.onnx")
_NEWEST_ASSUMED = 18
"""The version that a model is taken to use which states neither its operator sets nor the version of its format."""


def is_default_domain(domain: str) -> bool:
    """Returns whether a domain is that of the operators of ONNX itself."""
    return domain in _DEFAULT_DOMAINS


def op_types_in(graph: GraphProto) -> Iterator[str]:
    """Yields the operators of the default domain that the nodes of a graph use, nested graphs included."""
    for node in graph.node[:]:
        if is_default_domain(node.domain):
            yield node.op_type
        for attribute in node.attribute[:]:
            for nested in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs[:]):
                yield from op_types_in(nested)


def only_version(domain: str, op_types: Iterable[str], ir_version: int) -> int | None:
    """Returns a version of an operator set in which operators have the only meaning that they can have.

    `ir_version` limits the versions of the default domain, 0 if it is not known. None if an operator is not known, or
    if the versions that have all of the operators differ in the meaning of one.
    """
    names = {onnx.operation_name(domain, op_type) or "" for op_type in op_types}
    definitions = [list(onnx.DIALECT.operations.get(name, ())) for name in names]
    if not all(definitions):
        return None
    oldest = max([min(version_number(d.since) for d in own) for own in definitions], default=1)
    newest = onnx.newest_version(domain)
    if is_default_domain(domain):
        allowed = [v for v in range(oldest, newest + 1) if onnx.ir_version_of(v) <= ir_version]
        newest = max(allowed, default=oldest) if ir_version else max(oldest, _NEWEST_ASSUMED)
    for own in definitions:
        found = {_meaning(d, own) for v in range(oldest, newest + 1) if (d := _in_effect(own, v)) is not None}
        if len(found) != 1:
            return None
    return newest


def _in_effect(definitions: Sequence[type[Op]], version: int) -> type[Op] | None:
    """Returns the newest of the definitions of an operator that is not newer than a version."""
    known = [d for d in definitions if version_number(d.since) <= version]
    return max(known, key=lambda d: version_number(d.since), default=None)


def _meaning(definition: type[Op], versions: Sequence[type[Op]]) -> type[Op]:
    """Returns the class that gives a version of an operator its meaning: the last one from which it derives."""
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
