"""Definitions of operations out of TableGen records, the same objects as those that are written in Python.

Source: MLIR operation definitions.
"""

from __future__ import annotations

from commonir.ods.dialect import Dialects
from commonir.ods.from_records.attributes import AttributeCheck
from commonir.ods.from_records.loading import Loaded
from commonir.ods.from_records.operations import RecordOp
from commonir.tablegen import Records


def loaded(records: Records, dialects: Dialects) -> Loaded:
    """What records define; `dialects` are those whose definitions they replace.

    Raises: DiagnosticError (E0264) with every record that defines no operation, though it should.
    """
    return Loaded(records, dialects)


__all__ = ["AttributeCheck", "Loaded", "RecordOp", "loaded"]
