"""One toolkit for machine-learning programs: opens, checks, explains, runs and converts them.

Example:
    import commonir as cir

    program = cir.load("examples/mobilenet.mlpackage")
    outputs = cir.run(program)  # arrays by name; inputs that are not given are random
    cir.save(cir.convert(program, "onnx"), "mobilenet.onnx")
"""

from importlib import import_module
from types import FunctionType

from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError, InternalError, Severity
from commonir.base.version import __version__

PUBLIC: dict[str, str] = {
    "api.compiling": "compile load_compiled",
    "api.comparing": "compare compare_outputs computed_values reduce",
    "api.opening": "check dumps load load_dialects loads save verify",
    "api.fixing": "fix",
    "api.optimizing": "load_rules optimize",
    "api.programs": "calling convert edit extract image_input infer legalize lower read_labels shapes shard",
    "api.preparing": "prepare",
    "api.profiling": "profile profile_engines save_profile",
    "api.reference": "diff operations reference_page show summarize view",
    "api.running": "engine_options random_inputs read_image run run_steps with_externs write_image",
    "base.sparse": "SparseArray",
    "inspection.viewing": "View",
    "ir.module": "Function Module",
    "ir.operation": "Operation Value",
    "ir.types": "TensorType Type",
    "ods": "Dialect",
    "reports": "Comparison Compilation Differences Profile Summary",
    "ahead_of_time.loading": "CompiledLibrary",
    "runtime.state": "State",
}
"""The public names besides those imported above, by module. Type checkers read them from `__init__.pyi`, which
`python -m tests.member_stubs` writes.
"""

_MODULES = {name: module for module, names in PUBLIC.items() for name in names.split()}

__all__ = ["Code", "Diagnostic", "DiagnosticError", "InternalError", "Severity", "__version__"]
__all__ += list(_MODULES)  # pyright: ignore[reportUnsupportedDunderAll]  the stub has the names


def __getattr__(name: str) -> object:
    """Loads the module of a public name on first use: the help of the command line needs none."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'commonir' has no attribute '{name}'")
    result = getattr(import_module(f"commonir.{module}"), name)
    if isinstance(result, FunctionType):
        # The command line, which takes the functions from `commonir.api`, needs no checks.
        from commonir.api.arguments import checked  # noqa: PLC0415

        result = checked(result)
    globals()[name] = result
    return result


def __dir__() -> list[str]:
    return __all__
