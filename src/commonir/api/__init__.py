"""The functions of the API, and those for the command line: load, verify, run, convert, save and inspect models.

Packages, and modules of ours, are loaded only by the calls that need them: opening loads protobuf, running loads numpy.
So the modules here are loaded on first use, and import inside functions what not every call needs. Public classes are
members of `commonir` only.
"""

from typing import TYPE_CHECKING

from commonir import PUBLIC
from commonir.base.lazy import lazy_members

if TYPE_CHECKING:
    from commonir.api.running import Array as Array
    from commonir.conversions.conversion import ImageInput as ImageInput
    from commonir.inspection.faults.reducing import Part as Part
    from commonir.formats.format import MLIR as MLIR
    from commonir.ir.interface import Port as Port
    from commonir.ods import Dialect as Dialect
    from commonir.ods.terms import Rewrite as Rewrite

_PUBLIC = {m: names for m, names in PUBLIC.items() if m.startswith("api.")}
# For the command line.
__getattr__ = lazy_members(
    globals(),
    {
        "comparing": "command_fails compare_run conversion_fails default_rtol differs reduction_of stored_inputs",
        "fixing": "save_fixed",
        "completing": "completions",
        "opening": "Path_ check_pieces file_count file_format has_external_data is_model maps_weights output_format"
        " programs_of unregistered writable_format",
        "optimizing": "passes",
        "programs": "bundle call_attributes valid with_interface_of",
        "profiling": "save_trace",
        "reference": "declared_operations declared_page doctor is_dialect library load_overlay tablegen_json",
        "running": (
            "default_engine engine_for_one_run input_ports output_ports run_converted run_with_onnxruntime runs "
            "fitted_inputs flat_arrays json_inputs outputs_as_json runs_together scalar_input together "
            "shape_mismatches unknown_inputs"
        ),
        "stored_models": "StoredModel StoredRun stored_model",
    },
    {**_PUBLIC, "formats.format": "MLIR", "ods": "Dialect"},
)
