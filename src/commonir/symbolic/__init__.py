"""Symbolic dimensions and index expressions: one integer algebra with bounds, comparison and text."""

from commonir.base.lazy import import_members

import_members(
    globals(),
    {
        "analysis": (
            "at_least coefficient compare element_count evaluate extreme is_plainly_at_least is_tight largest "
            "linear_in maxima_in names plain plain_symbol range_within smallest substitute substitute_indices symbols "
            "within"
        ),
        "dims": (
            "Atom Dim DimExpr Floor Max Mod Monomial Symbol atom_dim bounds ceil_div floor_div index modulo regrouped "
            "size_of symbol terms_of total"
        ),
        "syntax": "DimSyntaxError declared_symbols parse text",
    },
)
