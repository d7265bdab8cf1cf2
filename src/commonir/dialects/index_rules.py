"""What is known of simpler forms of operations of the index dialect.

Source: MLIR index dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from commonir.ods.rules import Rules

RULES = Rules()
