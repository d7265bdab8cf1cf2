"""What two programs differ in, told by their text alone: `matching` finds what stands for what, `comparing` what is not
the same about it, `weights` how far constants are apart. Nothing is run.
"""

from __future__ import annotations

from commonir.inspection.differences.comparing import Side, differences, marks

__all__ = ["Side", "differences", "marks"]
