# Written by `python -m tests.member_stubs` from the table in __init__.py.

from commonir.dialects.mlir.arith.comparison import CmpF as CmpF
from commonir.dialects.mlir.arith.comparison import CmpFPredicate as CmpFPredicate
from commonir.dialects.mlir.arith.comparison import CmpI as CmpI
from commonir.dialects.mlir.arith.comparison import CmpIPredicate as CmpIPredicate
from commonir.dialects.mlir.arith.comparison import Select as Select
from commonir.dialects.mlir.arith.constants import Constant as Constant
from commonir.dialects.mlir.arith.conversions import Bitcast as Bitcast
from commonir.dialects.mlir.arith.conversions import ExtF as ExtF
from commonir.dialects.mlir.arith.conversions import ExtSI as ExtSI
from commonir.dialects.mlir.arith.conversions import ExtUI as ExtUI
from commonir.dialects.mlir.arith.conversions import FPToSI as FPToSI
from commonir.dialects.mlir.arith.conversions import FPToUI as FPToUI
from commonir.dialects.mlir.arith.conversions import IndexCast as IndexCast
from commonir.dialects.mlir.arith.conversions import IndexCastUI as IndexCastUI
from commonir.dialects.mlir.arith.conversions import SIToFP as SIToFP
from commonir.dialects.mlir.arith.conversions import ScalingExtF as ScalingExtF
from commonir.dialects.mlir.arith.conversions import ScalingTruncF as ScalingTruncF
from commonir.dialects.mlir.arith.conversions import TruncF as TruncF
from commonir.dialects.mlir.arith.conversions import TruncI as TruncI
from commonir.dialects.mlir.arith.conversions import UIToFP as UIToFP
from commonir.dialects.mlir.arith.floats import AddF as AddF
from commonir.dialects.mlir.arith.floats import DivF as DivF
from commonir.dialects.mlir.arith.floats import MaxNumF as MaxNumF
from commonir.dialects.mlir.arith.floats import MaximumF as MaximumF
from commonir.dialects.mlir.arith.floats import MinNumF as MinNumF
from commonir.dialects.mlir.arith.floats import MinimumF as MinimumF
from commonir.dialects.mlir.arith.floats import MulF as MulF
from commonir.dialects.mlir.arith.floats import NegF as NegF
from commonir.dialects.mlir.arith.floats import RemF as RemF
from commonir.dialects.mlir.arith.floats import SubF as SubF
from commonir.dialects.mlir.arith.integers import AddI as AddI
from commonir.dialects.mlir.arith.integers import AddUIExtended as AddUIExtended
from commonir.dialects.mlir.arith.integers import AndI as AndI
from commonir.dialects.mlir.arith.integers import CeilDivSI as CeilDivSI
from commonir.dialects.mlir.arith.integers import CeilDivUI as CeilDivUI
from commonir.dialects.mlir.arith.integers import DivSI as DivSI
from commonir.dialects.mlir.arith.integers import DivUI as DivUI
from commonir.dialects.mlir.arith.integers import FloorDivSI as FloorDivSI
from commonir.dialects.mlir.arith.integers import MaxSI as MaxSI
from commonir.dialects.mlir.arith.integers import MaxUI as MaxUI
from commonir.dialects.mlir.arith.integers import MinSI as MinSI
from commonir.dialects.mlir.arith.integers import MinUI as MinUI
from commonir.dialects.mlir.arith.integers import MulI as MulI
from commonir.dialects.mlir.arith.integers import MulSIExtended as MulSIExtended
from commonir.dialects.mlir.arith.integers import MulUIExtended as MulUIExtended
from commonir.dialects.mlir.arith.integers import OrI as OrI
from commonir.dialects.mlir.arith.integers import RemSI as RemSI
from commonir.dialects.mlir.arith.integers import RemUI as RemUI
from commonir.dialects.mlir.arith.integers import ShLI as ShLI
from commonir.dialects.mlir.arith.integers import ShRSI as ShRSI
from commonir.dialects.mlir.arith.integers import ShRUI as ShRUI
from commonir.dialects.mlir.arith.integers import SubI as SubI
from commonir.dialects.mlir.arith.integers import XOrI as XOrI
from commonir.ods import Dialect

DIALECT: Dialect
