"""The common_ir dialect: graphs and libraries of the Common IR, what they declare, and calls of it.

Operators that a file declares become definitions at run time and are not listed here. Definitions only.
"""

from commonir.dialects.common_ir.program import (
    CONTROL_INPUT,
    INPUT_ARG_COUNT,
    MODEL_AUTHOR,
    MODEL_LICENSE,
    FunctionDefinition,
    Graph,
    Import,
    Library,
    OperatorDeclaration,
    qualified_name,
)
from commonir.ods import Dialect, definitions_in

DIALECT = Dialect(
    "common_ir", definitions_in(globals(), "common_ir"), summary="Graphs, libraries and declarations of the Common IR."
)

__all__ = [
    "CONTROL_INPUT",
    "DIALECT",
    "INPUT_ARG_COUNT",
    "MODEL_AUTHOR",
    "MODEL_LICENSE",
    "FunctionDefinition",
    "Graph",
    "Import",
    "Library",
    "OperatorDeclaration",
    "qualified_name",
]
