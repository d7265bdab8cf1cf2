"""Conversions between formats, and how one is found.

A conversion turns a core module into the dialect of a format. Conversions are found by the name of the format they
lead to, through the entry points of installed packages (group `commonir.conversions`), ours and those of plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.plugins import Plugins
from commonir.base.records import Record
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.interface import ColorSpace
from commonir.ir.module import Module
from commonir.passes.half_precision import PrecisionLog
from commonir.rewrite.legalize import Rules, Target

ENTRY_POINTS = "commonir.conversions"

_OURS = {
    "ark": "commonir.conversions.core_to_ark:CONVERSION",
    "common_ir": "commonir.conversions.core_to_common_ir:CONVERSION",
    "coreml": "commonir.conversions.mil:CONVERSION",
    "linalg": "commonir.conversions.core_to_linalg:CONVERSION",
    "mil": "commonir.conversions.mil:CONVERSION",
    "onnx": "commonir.conversions.onnx:CONVERSION",
    "onnxtxt": "commonir.conversions.onnx:CONVERSION",
    "tosa": "commonir.conversions.core_to_tosa:CONVERSION",
    "tosa-linalg": "commonir.conversions.tosa_linalg:CONVERSION",
    "stablehlo": "commonir.conversions.core_to_stablehlo:CONVERSION",
}


class ImageInput(NamedTuple):
    """How pixels from 0 to 255 become the values that a program expects: times a scale, plus a bias by channel.

    For an output, it is how its values become pixels. `layout` is the order of the axes of the tensor, NCHW or NHWC;
    without it, it follows from the shape.
    """

    color: ColorSpace
    scale: float = 1.0
    bias: tuple[float, ...] = ()
    layout: str = ""


class ConversionOptions(Record):
    """Options of a conversion; those that a conversion does not take are refused (`refuse_options`).

    `opset` is the number of an operation set, `target` the name of the oldest system that is to run the program, and
    None leaves the choice to the conversion: what serves most users, or the oldest that has all that is needed.
    `images` are inputs and outputs that become images. `labels` name the elements of outputs with probabilities, by the
    name of the output ("" for the only one that they fit), and `docs` are descriptions of inputs and outputs by name.
    `states` have the name of the output that holds what an input is in the next run, by the name of the input.
    """

    opset: int | None = None
    target: str | None = None
    images: Mapping[str, ImageInput] = MappingProxyType({})
    labels: Mapping[str, tuple[str, ...] | tuple[int, ...]] = MappingProxyType({})
    docs: Mapping[str, str] = MappingProxyType({})
    states: Mapping[str, str] = MappingProxyType({})


DEFAULT_OPTIONS = ConversionOptions()
OPTION_CONTENTS: Mapping[str, str] = MappingProxyType(
    {
        "opset": "an opset",
        "target": "a system to run on",
        "precision": "a precision",
        "images": "images",
        "labels": "labels",
        "docs": "descriptions of inputs and outputs",
        "states": "states",
        "fuse": "fused operations",
    }
)
"""The names of options in messages."""
PORT_OPTIONS = frozenset({"labels", "docs", "states"})
"""The options that become ports of functions, which a format keeps that has a place for them."""


class CoreRules(Record):
    """The rules by which a conversion legalizes core operations one by one, among operations of other dialects.

    `finish` takes the types of a legalized module to those of the target, in place. `has_requirements`: the target can
    express that a program ends where a condition does not hold.
    """

    rules: Rules
    target: Target
    finish: Callable[[Module], None]
    has_requirements: bool = False


class Conversion(Record):
    """A step from the core to the dialect of a format.

    `convert` takes a core module, what users chose and the list that receives what is lost, and returns the new module.
    What cannot be expressed is raised, all of it. `within`, where there is one, takes a module that is in that dialect
    already to what users chose, without a way through the core; None when it must go through the core. `halved` takes
    one to half precision, but for the operations that names select, and logs what it does; None when it must go through
    the core. `selected` reduces one to one of its functions; None when it must go through the core, for which `kept`
    adds what it states to what users chose, so that no more changes. `direct` takes a module of another dialect there
    without a way through the core, where nothing was chosen; None when it must go through the core. `describe` gives a
    result what its source states of the program and the core has no place for.
    `takes` names the options that the format has a place for.
    `format` is the format that the result is written in, when that has another name. `takes_ranks`:
    it takes programs of several ranks. `keeps_defaults`: it states contents of inputs that need not be given.
    `keeps_handles`: the format has handles; other conversions receive their numbers.
    `core_rules` are for programs that are converted only in part, if the target can stand beside other dialects.
    `beside` takes a core module of one function, and the name of an operation set, to operations that replace some of
    a program of the format; without it such a program only gets operations that it has already.
    """

    name: str
    convert: Callable[[Module, ConversionOptions, Diagnostics], Module]
    within: Callable[[Module, ConversionOptions, Diagnostics], Module | None] | None = None
    halved: Callable[[Module, Sequence[str], PrecisionLog], Module | None] = lambda _module, _keep, _log: None
    selected: Callable[[Module, str], Module | None] = lambda _module, _function: None
    kept: Callable[[Module, ConversionOptions], ConversionOptions] = lambda _module, options: options
    direct: Callable[[Module, Diagnostics], Module | None] = lambda _module, _lost: None
    describe: Callable[[Module, Module, ConversionOptions], None] = lambda _source, _result, _options: None
    takes: frozenset[str] = PORT_OPTIONS
    format: str = ""
    takes_ranks: bool = False
    keeps_defaults: bool = False
    keeps_handles: bool = False
    core_rules: CoreRules | None = None
    beside: Callable[[Module, str], Module] | None = None


def refuse_options(to: str, conversion: Conversion, options: ConversionOptions) -> None:
    """Raises: DiagnosticError (E0601) for options that the format a conversion leads to has no place for."""
    refused = [
        name
        for name in ConversionOptions.fields()
        if name not in conversion.takes and getattr(options, name) != getattr(DEFAULT_OPTIONS, name)
    ]
    if refused:
        by_systems = "it names its operation sets by systems: `--target iOS17`"
        raise DiagnosticError(
            *[
                Diagnostic(
                    UNSUPPORTED_CONVERSION,
                    f"'{to}' has no place for {OPTION_CONTENTS[name]}",
                    help=by_systems if name == "opset" and "target" in conversion.takes else None,
                )
                for name in refused
            ]
        )


class Conversions:
    """The conversions in use."""

    def __init__(self, items: Iterable[Conversion] = (), *, discover: bool = True) -> None:
        self._plugins = Plugins(Conversion, ENTRY_POINTS, _OURS, items, discover=discover)

    def names(self) -> tuple[str, ...]:
        """Names of the formats that can be converted to, sorted."""
        return self._plugins.names()

    def of_dialect(self, dialect: str) -> Conversion | None:
        """The conversion whose results are of a dialect: the one of its name, else the first whose programs may hold
        operations of it; None if there is none.
        """
        found = self._plugins.get(dialect)
        if found is not None:
            return found
        others = [c for c in self._plugins.own() if c.core_rules is not None and c.beside is not None]
        return next((c for c in others if c.core_rules and dialect in c.core_rules.target.also_legal), None)

    def get(self, name: str) -> Conversion:
        """The conversion to a format. Raises: DiagnosticError (E0601)."""
        result = self._plugins.get(name)
        if result is None:
            message = f"no conversion leads to '{name}'"
            help = did_you_mean(name, self.names()) or f"conversions lead to {', '.join(self.names())}"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))
        return result
