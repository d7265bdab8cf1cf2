"""The common_ir dialect: graphs and libraries of the Common IR, what they declare, and calls of it.

Operators that a file declares become definitions at run time and are not listed here. Definitions only.
"""

from commonir.dialects.common_ir.closure import BUILT_IN, Closure, use_of
from commonir.dialects.common_ir.control_flow import BUILT_IN_OPERATORS, control_flow
from commonir.dialects.common_ir.functions import (
    INPUT_ARG_COUNT,
    Call,
    FunctionDefinition,
    Namespace,
    instance_of,
    references_of,
)
from commonir.dialects.common_ir.operators import PREFIX, OperatorDeclaration, OperatorNode
from commonir.dialects.common_ir.ordering import (
    CONTROL_INPUT,
    CyclicOrder,
    control_inputs_of,
    node_name,
    nodes_by_name,
    ordered,
)
from commonir.dialects.common_ir.program import MODEL_AUTHOR, MODEL_LICENSE, Graph, Import, Library, qualified_name
from commonir.dialects.common_ir.signatures import LIBRARY_DOMAIN, signature_dictionary, signature_from
from commonir.ods import Dialect, definitions_in

DIALECT = Dialect(
    "common_ir",
    definitions_in(globals(), "common_ir"),
    summary="Graphs, libraries and declarations of the Common IR.",
    keeps_names=True,
)

__all__ = [
    "BUILT_IN",
    "BUILT_IN_OPERATORS",
    "CONTROL_INPUT",
    "DIALECT",
    "INPUT_ARG_COUNT",
    "LIBRARY_DOMAIN",
    "MODEL_AUTHOR",
    "MODEL_LICENSE",
    "PREFIX",
    "Call",
    "Closure",
    "CyclicOrder",
    "FunctionDefinition",
    "Graph",
    "Import",
    "Library",
    "Namespace",
    "OperatorDeclaration",
    "OperatorNode",
    "control_flow",
    "control_inputs_of",
    "instance_of",
    "node_name",
    "nodes_by_name",
    "ordered",
    "qualified_name",
    "references_of",
    "signature_dictionary",
    "signature_from",
    "use_of",
]
