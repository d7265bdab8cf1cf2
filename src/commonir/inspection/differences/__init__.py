"""Static differences of two programs: `matching` pairs their operations, `comparing` finds what is not
the same about it, `weights` how far constants are apart. Nothing is run.
"""

from __future__ import annotations

from commonir.inspection.differences.comparing import Side, differences, marks

__all__ = ["Side", "differences", "marks"]
