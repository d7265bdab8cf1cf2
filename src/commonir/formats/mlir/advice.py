"""Advice about findings whose cause is the whole text: several programs in it, or a dialect of the same name.

Source: mlir-opt, `--split-input-file`; onnx-mlir, the dialect `onnx` in `src/Dialect/ONNX/ONNX.td`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from commonir.base.codes import DUPLICATE_NAME
from commonir.base.diagnostics import Diagnostic
from commonir.base.lazy import lazy_pattern
from commonir.ods import Dialects
from commonir.text.pieces import pieces_of

_OF_ONNX_MLIR = lazy_pattern(
    r"onnx\.(?:NoValue|EntryPoint|Return|Yield|DimGroup)\b|\bonnx\.Constant\s+(?:dense|\{)|\"onnx\.\w+\"[^\n]*: si64",
    re.ASCII,
)
_SEVERAL = "the text has several programs, separated by `// -----`, which --split-input-file reads one by one"
_ONNX_MLIR = (
    "the text is in the dialect 'onnx' of onnx-mlir, which is another one: `--dialect src/Dialect/ONNX/ONNX.td -I DIR` "
    "of its repository loads it"
)


def advised(text: str, diagnostics: Sequence[Diagnostic], dialects: Dialects) -> list[Diagnostic]:
    """Returns the findings of a text, with advice on those that the whole text explains."""
    if not diagnostics:
        return []
    result = list(diagnostics)
    if any(d.code is DUPLICATE_NAME for d in result) and len(list(islice(pieces_of(text), 2))) > 1:
        result = [d.advised(_SEVERAL) if d.code is DUPLICATE_NAME else d for d in result]
    if _OF_ONNX_MLIR.search(text) is not None and dialects.find("onnx.NoValue") is None:
        first = next((n for n, d in enumerate(result) if "onnx." in d.message), 0)
        result[first] = result[first].advised(_ONNX_MLIR)
    return result
