"""Static differences of two programs: `matching` pairs their operations, `comparing` finds differences of the pairs,
`weights` compares constants. Nothing is run.
"""

from __future__ import annotations

from commonir.inspection.differences.comparing import Side, differences, marks

__all__ = ["Side", "differences", "marks"]
