"""The fields of a model that ONNX and Common IR share, which the core has no place for.

A conversion between the two by way of the core keeps what the source states of the model: its domain, its version, who
produced it, and a version of the IR that is newer than the operator sets need.
"""

from __future__ import annotations

from commonir.conversions.conversion import ConversionOptions
from commonir.dialects import common_ir, onnx
from commonir.dialects.common_ir.naming import is_dns_name
from commonir.ir.attributes import IntegerAttr, StringAttr
from commonir.ir.module import Module

_KEPT = (onnx.DOMAIN, onnx.MODEL_VERSION, onnx.PRODUCER_NAME, onnx.PRODUCER_VERSION)


def keep_model_fields(source: Module, result: Module, options: ConversionOptions) -> None:
    """Gives a converted model the fields of its source, if both are models of ONNX or Common IR.

    If an operator set was chosen, the version of the IR is the oldest that it needs.
    """
    graphs = [next((op for op in m.body.operations if isinstance(op, onnx.Graph)), None) for m in (source, result)]
    if None in graphs:
        return
    for key in _KEPT:
        stated = source.extra.get(key)
        is_domain = key == onnx.DOMAIN and isinstance(graphs[1], common_ir.Graph)
        if stated is None or (is_domain and not (isinstance(stated, StringAttr) and is_dns_name(stated.value))):
            continue
        result.set_extra(key, stated)
    if source.extra.get(onnx.PRODUCER_NAME) is not None and source.extra.get(onnx.PRODUCER_VERSION) is None:
        result.set_extra(onnx.PRODUCER_VERSION, None)
    stated, own = source.extra.get(onnx.IR_VERSION), result.extra.get(onnx.IR_VERSION)
    needed = own.value if isinstance(own, IntegerAttr) else 0
    newest = onnx.ir_version_of(onnx.NEWEST_OPSET)
    if isinstance(stated, IntegerAttr) and options.opset is None and needed < stated.value <= newest:
        result.set_extra(onnx.IR_VERSION, stated)
