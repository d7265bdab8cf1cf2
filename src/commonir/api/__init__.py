"""The surface for programs and for the command line: load, verify, run, convert, save and ask about models.

Packages, and modules of ours, are loaded only by the calls that need them: opening loads protobuf, running loads numpy.
So the modules here import inside of functions what not every call needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.api.opening import (
    Path_,
    check,
    check_pieces,
    dumps,
    file_format,
    load,
    load_dialects,
    loads,
    output_format,
    programs_of,
    save,
    verify,
    writable_format,
)
from commonir.api.programs import (
    bundle,
    convert,
    edit,
    extract,
    image_input,
    infer,
    load_rules,
    lower,
    optimize,
    passes,
    shapes,
    shard,
    valid,
)
from commonir.api.reference import (
    declared_operations,
    declared_page,
    diff,
    doctor,
    library,
    operations,
    reference_page,
    show,
    summarize,
    tablegen_json,
    view,
)
from commonir.api.running import (
    DEFAULT_ENGINE,
    compare,
    compare_outputs,
    default_rtol,
    engine_options,
    output_ports,
    prepare,
    profile,
    random_inputs,
    read_picture,
    run,
    run_converted,
    run_steps,
    run_with_onnxruntime,
    runs,
    save_trace,
    scalar_input,
    together,
    unlike_stated,
    with_externs,
    write_picture,
)
from commonir.formats.format import MLIR
from commonir.ir.module import Module
from commonir.ods import Dialect
from commonir.runtime.state import State

if TYPE_CHECKING:
    from commonir.api.running import Array
    from commonir.ir.interface import Port
    from commonir.ods.terms import Rewrite

__all__ = [
    "DEFAULT_ENGINE",
    "MLIR",
    "Array",
    "Dialect",
    "Module",
    "Path_",
    "Port",
    "Rewrite",
    "State",
    "bundle",
    "check",
    "check_pieces",
    "compare",
    "compare_outputs",
    "convert",
    "declared_operations",
    "declared_page",
    "default_rtol",
    "diff",
    "doctor",
    "dumps",
    "edit",
    "engine_options",
    "extract",
    "file_format",
    "image_input",
    "infer",
    "library",
    "load",
    "load_dialects",
    "load_rules",
    "loads",
    "lower",
    "operations",
    "optimize",
    "output_format",
    "output_ports",
    "passes",
    "prepare",
    "profile",
    "programs_of",
    "random_inputs",
    "read_picture",
    "reference_page",
    "run",
    "run_converted",
    "run_steps",
    "run_with_onnxruntime",
    "runs",
    "save",
    "save_trace",
    "scalar_input",
    "shapes",
    "shard",
    "show",
    "summarize",
    "tablegen_json",
    "together",
    "unlike_stated",
    "valid",
    "verify",
    "view",
    "with_externs",
    "writable_format",
    "write_picture",
]
