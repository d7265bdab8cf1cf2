"""Exports a dialect as a Common IR library that declares each operation, with types, shapes and documentation.

The library declares operators and does not define them: a node that calls one is read as the operation itself, and
other tools can check such nodes by the declarations.
"""

from __future__ import annotations

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.version import __version__
from commonir.dialects import common_ir, onnx
from commonir.dialects.common_ir.naming import library_name
from commonir.ir.attributes import StringAttr
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region
from commonir.ods import Dialect
from commonir.ods.declared_from import declaration_of

IR_VERSION = 14
"""The version of the IR of ONNX that libraries are written for."""


def dialect_library(dialect: Dialect) -> Module:
    """Returns the library of a dialect, with the newest definition of each operation.

    Raises: DiagnosticError (E0601) with every operation that cannot be declared.
    """
    block = Block()
    diagnostics = Diagnostics()
    for name, definitions in sorted(dialect.operations.items()):
        try:
            declaration = declaration_of(definitions[-1])
        except ValueError as error:
            diagnostics.add(UNSUPPORTED_CONVERSION, f"{name} cannot be declared: {error}")
            continue
        explicit = tuple([common_ir.signature_dictionary(s) for s in declaration.signatures])
        built = block.append(common_ir.OperatorDeclaration(library_name(name).partition(".")[2], explicit))
        if declaration.doc:
            built.set_extra(onnx.DOC_STRING, StringAttr(declaration.doc))
    diagnostics.raise_errors()
    if block.first is None:
        message = f"the dialect '{dialect.name}' has no operations"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
    library = common_ir.Library(
        common_ir.qualified_name(common_ir.LIBRARY_DOMAIN, dialect.name),
        dialect.name,
        common_ir.LIBRARY_DOMAIN,
        Region([block]),
        ir_version=IR_VERSION,
        model_version=1,
        producer_tag=f"commonir {__version__}",
    )
    library.set_extra(onnx.DOC_STRING, StringAttr(dialect.summary))
    module = Module()
    module.body.append(library)
    return module
