"""Index notation: kernels as scalar expressions over indices, whose range rule is the shape rule."""

from commonir.base.lazy import import_members
from commonir.symbolic import index as index
from commonir.symbolic.constraints import Constraint as Constraint
from commonir.symbolic.constraints import decide as decide
from commonir.symbolic.constraints import require as require
from commonir.symbolic.constraints import without_implied as without_implied
from commonir.symbolic.errors import NotationError as NotationError
from commonir.symbolic.errors import NotKnownError as NotKnownError
from commonir.symbolic.errors import OutOfRangeError as OutOfRangeError
from commonir.symbolic.errors import Relation as Relation

import_members(
    globals(),
    {
        "expressions": (
            "Access Apply Cast Const Dilated Expr Flat Fold Index Indices Join Kernel Kernels Padded PaddingMode "
            "Position Scalar Tensor Update View call cast fold indices join lift linear name_of select total updated"
        ),
        "formula": "formula math",
        "functions": "FOLDS FUNCTIONS FoldFunction Number ScalarFunction identity limits number_key",
        "fusion": "fuse is_fusible with_extents",
        "permuted_axes": "Permutation PermutedResult is_identity permuted_result",
        "ranges": (
            "Guard broadcast broadcast_shape names_of_axes piece_extents pieces_by_position ranges resolve shape_of"
        ),
        "traversal": "Visit children free mapped put reading replace replace_accesses rewrite walk with_children",
    },
)
