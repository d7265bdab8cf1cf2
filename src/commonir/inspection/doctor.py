"""Checks the environment for `cir doctor`: versions, engines, formats, plugins."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec

from commonir.base.diagnostics import DiagnosticError
from commonir.base.file_cache import FileCache
from commonir.base.version import __version__
from commonir.conversions.conversion import ENTRY_POINTS as CONVERSIONS
from commonir.conversions.conversion import Conversions
from commonir.formats.format import ENTRY_POINTS as FORMATS
from commonir.formats.format import Formats
from commonir.llvm.compiled_cache import compiled_folder, most_bytes
from commonir.ods import Dialects
from commonir.ods.dialect import ENTRY_POINTS as DIALECTS
from commonir.passes.definition import ENTRY_POINTS as PASSES
from commonir.passes.definition import Passes
from commonir.reports import CacheReport, DoctorReport, EngineReport, FormatReport, PackageReport, PluginReport
from commonir.runtime.engine import ENTRY_POINTS as ENGINES
from commonir.runtime.engine import Engines, default_engine_name
from commonir.tablegen import installed_headers

_OWN_PACKAGE = "commonir"
# What the program works with, and the extra that installs it; "" for what it always needs.
_PACKAGES = (
    ("numpy", ""),
    ("ml_dtypes", ""),
    ("protobuf", ""),
    ("click", ""),
    ("rich", ""),
    ("onnxruntime", "ort"),
    ("iree-base-compiler", "iree"),
    ("iree-base-runtime", "iree"),
    ("llvmlite", "native"),
    ("mpi4py", "mpi"),
    ("pillow", "image"),
    ("onnx", "test"),
    ("torch", "conformance"),
    ("coremltools", "conformance"),
)


# The package that an engine of ours is an adapter to, as it is imported, and its extra.
_NEEDED = {
    "onnxruntime": ("onnxruntime", "ort"),
    "iree": ("iree", "iree"),
    "mpi": ("mpi4py", "mpi"),
    "native": ("llvmlite", "native"),
}


def examine() -> DoctorReport:
    """Returns the report on the installation. Engines that are not installed are not imported."""
    return DoctorReport(
        version=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        packages=tuple([PackageReport(name, _version(name), extra) for name, extra in _PACKAGES]),
        engines=tuple(_engines()),
        formats=tuple(_formats()),
        plugins=tuple(_plugins()),
        headers=_headers(),
        cache=_cache(),
    )


def clear_compiled() -> None:
    """Removes all compiled programs from the cache."""
    folder = compiled_folder()
    if folder is not None:
        FileCache(folder, most_bytes()).clear()


def _cache() -> CacheReport:
    folder, limit = compiled_folder(), most_bytes()
    if folder is None:
        return CacheReport(most_bytes=limit)
    files = FileCache(folder, limit).files()
    return CacheReport(str(folder), len(files), sum([status.st_size for _, status in files]), limit)


def _headers() -> str:
    folder = installed_headers()
    return f"files of MLIR in {folder}" if folder is not None else "the prelude of commonir, as no MLIR is installed"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _engines() -> list[EngineReport]:
    engines = Engines()
    out: list[EngineReport] = []
    for name in engines.names():
        try:
            engines.get(name)
            package, extra = _NEEDED.get(name, ("", ""))
            missing = bool(package) and find_spec(package) is None
            note = f"python -m pip install 'commonir[{extra}]'" if missing else ""
            default = "the default" if name == default_engine_name() else ""
            out.append(EngineReport(name, not missing, note or default))
        except DiagnosticError as error:
            out.append(EngineReport(name, False, error.diagnostics[0].help or error.diagnostics[0].message))
    return out


def _formats() -> list[FormatReport]:
    formats = sorted(Formats().working(), key=lambda f: f.name)
    return [FormatReport(f.name, f.suffixes, f.is_readable, f.is_writable) for f in formats]


def _plugins() -> list[PluginReport]:
    """Returns reports on plugins; each is loaded, to see whether it works."""
    sources = (
        (DIALECTS, "dialect", Dialects().get),
        (FORMATS, "format", Formats().get),
        (CONVERSIONS, "conversion", Conversions().get),
        (ENGINES, "engine", Engines().get),
        (PASSES, "pass", Passes().get),
    )
    out: list[PluginReport] = []
    for group, kind, get in sources:
        for entry in entry_points(group=group):
            if entry.dist is None or entry.dist.name == _OWN_PACKAGE:
                continue
            note = ""
            try:
                get(entry.name)
            except DiagnosticError as error:
                note = error.diagnostics[0].message
            out.append(PluginReport(entry.name, kind, entry.dist.name, not note, note))
    return sorted(out, key=lambda p: (p.kind, p.name))
