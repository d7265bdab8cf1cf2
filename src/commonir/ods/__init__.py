"""Operation definitions: what a dialect needs to declare its operations, and what is derived from the declarations."""

from commonir.base.lazy import import_members

import_members(
    globals(),
    {
        "dialect": "Dialect Dialects definitions_in",
        "fields": (
            "Check attribute constraint derived non_negative one_of operand parameter positive region result successor"
        ),
        "forms": "Form",
        "inference": "Derived check_use infer is_not_known known_elements not_known operations_behind results_of trace",
        "known": "Known is_short known_contents known_data known_dims known_integer may_be_known",
        "mlir_op": "MlirOp",
        "operation": "Op DeclaredResults SizedByData",
        "patterns": (
            "TypeConstraint all_integers all_numbers any_element any_type any_value by_version element_type floats "
            "lists maps optionals same_as signed_integers sparse types types_by_version unsigned_integers"
        ),
        "verify": (
            "UntrustedValues are_compatible check_operation check_results differ_in_shape not_constant path_of "
            "source_path undefined_operand verify"
        ),
    },
)
