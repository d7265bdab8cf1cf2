"""The common_ir dialect: graphs and libraries of the Common IR, what they declare, and calls of it.

Operators that a file declares become definitions at run time and are not listed here. Definitions only.
"""

from commonir.base.lazy import import_members
from commonir.dialects.common_ir.ordering import CONTROL_INPUT
from commonir.ods import Dialect, definitions_in

import_members(
    globals(),
    {
        "closure": "BUILT_IN Closure use_of",
        "control_flow": "BUILT_IN_OPERATORS control_flow",
        "declared_results": "DeclaredTypes",
        "functions": (
            "INPUT_ARG_COUNT PARAMETER_FORMS Call FunctionDefinition Namespace argument_counts instance_of "
            "references_of"
        ),
        "instances": "FunctionInstance",
        "operators": "PREFIX OperatorDeclaration OperatorNode",
        "ordering": "CONTROL_INPUT CyclicOrder control_inputs_of node_name nodes_by_name ordered",
        "program": "MODEL_AUTHOR MODEL_LICENSE Graph Import Library qualified_name",
        "shape_checks": "CheckShapes",
        "signatures": "LIBRARY_DOMAIN signature_dictionary signature_from",
    },
)

DIALECT: Dialect = Dialect(
    "common_ir",
    definitions_in(globals(), "common_ir"),
    summary="Graphs, libraries and declarations of the Common IR.",
    keeps_names=True,
    meaningful=[CONTROL_INPUT],
)
