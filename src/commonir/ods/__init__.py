"""Operation definitions: what a dialect needs to declare its operations, and what follows from the declarations."""

from commonir.ods.dialect import Dialect, Dialects, definitions_in
from commonir.ods.fields import (
    Check,
    attribute,
    constraint,
    derived,
    non_negative,
    one_of,
    operand,
    parameter,
    positive,
    region,
    result,
)
from commonir.ods.forms import Form
from commonir.ods.inference import Derived, infer, operations_behind, results_of
from commonir.ods.known import Known, known_data, known_dims
from commonir.ods.operation import Op, StatedResults
from commonir.ods.patterns import (
    all_integers,
    all_numbers,
    any_element,
    any_type,
    element_type,
    floats,
    signed_integers,
    unsigned_integers,
)
from commonir.ods.verify import are_compatible, check_operation, not_constant, path_of, verify

__all__ = [
    "Check",
    "Derived",
    "Dialect",
    "Dialects",
    "Form",
    "Known",
    "Op",
    "StatedResults",
    "all_integers",
    "all_numbers",
    "any_element",
    "any_type",
    "are_compatible",
    "attribute",
    "check_operation",
    "constraint",
    "definitions_in",
    "derived",
    "element_type",
    "floats",
    "infer",
    "known_data",
    "known_dims",
    "non_negative",
    "not_constant",
    "one_of",
    "operand",
    "operations_behind",
    "parameter",
    "path_of",
    "positive",
    "region",
    "result",
    "results_of",
    "signed_integers",
    "unsigned_integers",
    "verify",
]
