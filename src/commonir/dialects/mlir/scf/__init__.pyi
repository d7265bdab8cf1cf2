# Written by `python -m tests.member_stubs` from the table in __init__.py.

from commonir.dialects.mlir.scf.control import Condition as Condition
from commonir.dialects.mlir.scf.control import ExecuteRegion as ExecuteRegion
from commonir.dialects.mlir.scf.control import For as For
from commonir.dialects.mlir.scf.control import If as If
from commonir.dialects.mlir.scf.control import IndexSwitch as IndexSwitch
from commonir.dialects.mlir.scf.control import While as While
from commonir.dialects.mlir.scf.control import Yield as Yield
from commonir.dialects.mlir.scf.control import yielded as yielded
from commonir.dialects.mlir.scf.parallel import Forall as Forall
from commonir.dialects.mlir.scf.parallel import InParallel as InParallel
from commonir.dialects.mlir.scf.parallel import Parallel as Parallel
from commonir.dialects.mlir.scf.parallel import Reduce as Reduce
from commonir.dialects.mlir.scf.parallel import ReduceReturn as ReduceReturn
from commonir.ods import Dialect

DIALECT: Dialect
