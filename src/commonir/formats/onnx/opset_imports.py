"""Versions of operator sets between files and programs. Source: onnx.proto of ONNX 1.23."""

from __future__ import annotations

from collections.abc import Iterable

from commonir.formats.onnx.graph_writing import items
from commonir.formats.onnx.messages import OperatorSetIdProto, Repeated, create
from commonir.formats.onnx.unknown_fields import merge
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr


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
