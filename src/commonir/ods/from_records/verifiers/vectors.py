"""Checks of operations of the vector dialect."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.ods.from_records.verifiers.values import Verifier

VERIFIERS: Mapping[str, Verifier] = MappingProxyType({})
