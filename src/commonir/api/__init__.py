"""The API for programs and for the command line: load, verify, run, convert, save and inspect models.

Packages, and modules of ours, are loaded only by the calls that need them: opening loads protobuf, running loads numpy.
So the modules here import inside functions what not every call needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.api.opening import (
    Path_ as Path_,
    check as check,
    check_pieces as check_pieces,
    dumps as dumps,
    file_format as file_format,
    load as load,
    load_dialects as load_dialects,
    loads as loads,
    output_format as output_format,
    programs_of as programs_of,
    save as save,
    verify as verify,
    writable_format as writable_format,
)
from commonir.api.programs import (
    bundle as bundle,
    call_attributes as call_attributes,
    calling as calling,
    convert as convert,
    edit as edit,
    extract as extract,
    image_input as image_input,
    infer as infer,
    load_rules as load_rules,
    lower as lower,
    optimize as optimize,
    passes as passes,
    shapes as shapes,
    shard as shard,
    valid as valid,
)
from commonir.api.reference import (
    declared_operations as declared_operations,
    declared_page as declared_page,
    diff as diff,
    doctor as doctor,
    library as library,
    operations as operations,
    reference_page as reference_page,
    show as show,
    summarize as summarize,
    tablegen_json as tablegen_json,
    view as view,
)
from commonir.api.running import (
    DEFAULT_ENGINE as DEFAULT_ENGINE,
    compare as compare,
    compare_outputs as compare_outputs,
    default_rtol as default_rtol,
    engine_options as engine_options,
    input_ports as input_ports,
    output_ports as output_ports,
    prepare as prepare,
    profile as profile,
    random_inputs as random_inputs,
    read_image as read_image,
    run as run,
    run_converted as run_converted,
    run_steps as run_steps,
    run_with_onnxruntime as run_with_onnxruntime,
    runs as runs,
    save_trace as save_trace,
    scalar_input as scalar_input,
    together as together,
    shape_mismatches as shape_mismatches,
    with_externs as with_externs,
    write_image as write_image,
)
from commonir.formats.format import MLIR as MLIR
from commonir.ir.module import Module as Module
from commonir.ods import Dialect as Dialect
from commonir.runtime.state import State as State

if TYPE_CHECKING:
    from commonir.api.running import Array as Array
    from commonir.ir.interface import Port as Port
    from commonir.ods.terms import Rewrite as Rewrite
