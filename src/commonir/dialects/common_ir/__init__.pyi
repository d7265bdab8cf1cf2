# Written by `python -m tests.member_stubs` from the table in __init__.py.

from commonir.dialects.common_ir.closure import BUILT_IN as BUILT_IN
from commonir.dialects.common_ir.closure import Closure as Closure
from commonir.dialects.common_ir.closure import use_of as use_of
from commonir.dialects.common_ir.control_flow import BUILT_IN_OPERATORS as BUILT_IN_OPERATORS
from commonir.dialects.common_ir.control_flow import control_flow as control_flow
from commonir.dialects.common_ir.declared_results import DeclaredTypes as DeclaredTypes
from commonir.dialects.common_ir.functions import Call as Call
from commonir.dialects.common_ir.functions import FunctionDefinition as FunctionDefinition
from commonir.dialects.common_ir.functions import INPUT_ARG_COUNT as INPUT_ARG_COUNT
from commonir.dialects.common_ir.functions import Namespace as Namespace
from commonir.dialects.common_ir.functions import PARAMETER_FORMS as PARAMETER_FORMS
from commonir.dialects.common_ir.functions import argument_counts as argument_counts
from commonir.dialects.common_ir.functions import instance_of as instance_of
from commonir.dialects.common_ir.functions import references_of as references_of
from commonir.dialects.common_ir.instances import FunctionInstance as FunctionInstance
from commonir.dialects.common_ir.operators import OperatorDeclaration as OperatorDeclaration
from commonir.dialects.common_ir.operators import OperatorNode as OperatorNode
from commonir.dialects.common_ir.operators import PREFIX as PREFIX
from commonir.dialects.common_ir.ordering import CONTROL_INPUT as CONTROL_INPUT
from commonir.dialects.common_ir.ordering import CyclicOrder as CyclicOrder
from commonir.dialects.common_ir.ordering import control_inputs_of as control_inputs_of
from commonir.dialects.common_ir.ordering import node_name as node_name
from commonir.dialects.common_ir.ordering import nodes_by_name as nodes_by_name
from commonir.dialects.common_ir.ordering import ordered as ordered
from commonir.dialects.common_ir.program import Graph as Graph
from commonir.dialects.common_ir.program import Import as Import
from commonir.dialects.common_ir.program import Library as Library
from commonir.dialects.common_ir.program import MODEL_AUTHOR as MODEL_AUTHOR
from commonir.dialects.common_ir.program import MODEL_LICENSE as MODEL_LICENSE
from commonir.dialects.common_ir.program import qualified_name as qualified_name
from commonir.dialects.common_ir.shape_checks import CheckShapes as CheckShapes
from commonir.dialects.common_ir.signatures import LIBRARY_DOMAIN as LIBRARY_DOMAIN
from commonir.dialects.common_ir.signatures import signature_dictionary as signature_dictionary
from commonir.dialects.common_ir.signatures import signature_from as signature_from
from commonir.ods import Dialect

DIALECT: Dialect
