"""Passes, and how they are found by name.

A pass transforms a program and reports whether it changed anything. It never reads files or runs programs: what
computes constants is an argument. Passes are found through the entry points of installed packages (group
`commonir.passes`), ours by the same kind of references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType

from commonir.base.codes import UNKNOWN_REFERENCE, WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.plugins import Plugins
from commonir.base.records import Record
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ods import Dialects
from commonir.passes.core_forms import FromCore, no_conversion
from commonir.passes.simplify import Evaluate
from commonir.reports import RuleReport

ENTRY_POINTS = "commonir.passes"

# In the order in which they are listed. The names are those of MLIR where it has the pass.
_OURS = {
    "simplify": "commonir.passes.builtin:SIMPLIFY",
    "fuse": "commonir.passes.builtin:FUSE",
    "fix-default-inputs": "commonir.passes.builtin:FIX_DEFAULT_INPUTS",
    "canonicalize": "commonir.passes.builtin:CANONICALIZE",
    "cse": "commonir.passes.builtin:CSE",
    "inline": "commonir.passes.builtin:INLINE",
    "sccp": "commonir.passes.builtin:SCCP",
    "symbol-dce": "commonir.passes.builtin:SYMBOL_DCE",
    "mlprogram-pipeline-globals": "commonir.passes.builtin:PIPELINE_GLOBALS",
    "lower": "commonir.passes.builtin:LOWER",
    "fold-all-reduce": "commonir.passes.builtin:FOLD_ALL_REDUCE",
    "expand-all-reduce": "commonir.passes.builtin:EXPAND_ALL_REDUCE",
    "compress": "commonir.passes.builtin:COMPRESS",
}

OptionValue = bool | int | str


class OptionType(Enum):
    """The type of the values of an option."""

    FLAG = "true or false"
    INTEGER = "an integer"
    STRING = "a string"

    def parse(self, text: str) -> OptionValue | None:
        """Returns the value that a text stands for; None if it is not of the type."""
        match self:
            case OptionType.FLAG:
                return {"true": True, "1": True, "false": False, "0": False}.get(text)
            case OptionType.INTEGER:
                digits = text.removeprefix("-")
                return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS else None
            case OptionType.STRING:
                return text


# A 64-bit integer has no more.
_MAX_DIGITS = 19


class PassOption(NamedTuple):
    """An option of a pass: `name=value` in a pipeline, or the name alone for a flag that is set."""

    name: str
    type: OptionType
    summary: str
    default: OptionValue | None = None


class PassOptions:
    """The values of a pass's options, each of its declared type."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, OptionValue | None] = MappingProxyType({})) -> None:
        self._values = values

    def flag(self, name: str) -> bool:
        """Returns the value of a flag; False if it is not set and has no default."""
        return bool(self._values.get(name))

    def integer(self, name: str) -> int | None:
        """Returns the value of an integer; None if it is not set and has no default."""
        value = self._values.get(name)
        return value if isinstance(value, int) else None

    def string(self, name: str) -> str | None:
        """Returns the value of a string; None if it is not set and has no default."""
        value = self._values.get(name)
        return value if isinstance(value, str) else None


class PassContext(NamedTuple):
    """The context of a pass besides the program.

    `evaluator` returns a function that computes operations on constants, for the number of bytes by which a result may
    be larger than its operands (None: the default). `reports`, if not None, receives how often rules were applied and
    why not elsewhere; `findings` receives warnings. `from_core` writes core operations in the dialect of a function.
    `has_growth_limit`: users chose how much larger constants may be.
    """

    evaluator: Callable[[int | None], Evaluate]
    dialects: Dialects
    reports: list[RuleReport] | None
    findings: Diagnostics
    from_core: FromCore = no_conversion
    has_growth_limit: bool = False


class PassResult(NamedTuple):
    """The transformed module, which may be the one that was passed in, and whether anything changed."""

    module: Module
    changed: bool


RunNested = Callable[[Sequence[Operation], PassContext, PassOptions], bool]


class Pass(Record):
    """A pass. `run` may transform the module in place or return another one. `folds`: it applies folders.
    `run_nested`, of passes that can be nested, transforms operations that are isolated from above, in place, and
    returns whether any changed.

    Example:
        >>> def _strip(module, context, options):
        ...     return PassResult(module, changed=False)
        >>> Pass("strip", "does nothing", _strip).name
        'strip'
    """

    name: str
    summary: str
    run: Callable[[Module, PassContext, PassOptions], PassResult]
    options: tuple[PassOption, ...] = ()
    folds: bool = False
    run_nested: RunNested | None = None

    def options_from(self, texts: Mapping[str, str]) -> PassOptions:
        """Returns the options that texts stand for, with defaults for those that are missing.

        Raises: DiagnosticError (E0901) for an unknown option and for a value of another type.
        """
        options = {option.name: option for option in self.options}
        values = {option.name: option.default for option in self.options}
        for name, text in texts.items():
            option = options.get(name)
            if option is None:
                message = f"pass '{self.name}' has no option '{name}'"
                fallback = f"its options: {', '.join(options)}" if options else "it has no options"
                help = did_you_mean(name, options) or fallback
                raise DiagnosticError(Diagnostic(WRONG_USAGE, message, help=help))
            value = option.type.parse(text)
            if value is None:
                message = f"option '{name}' of pass '{self.name}' takes {option.type.value}, found '{text}'"
                raise DiagnosticError(Diagnostic(WRONG_USAGE, message))
            values[name] = value
        return PassOptions(values)


class Passes:
    """The passes in use."""

    def __init__(self, items: Iterable[Pass] = (), *, discover: bool = True) -> None:
        self._plugins = Plugins(Pass, ENTRY_POINTS, _OURS, items, discover=discover)

    def __iter__(self) -> Iterator[Pass]:
        """Returns all passes that can be loaded, ours first."""
        return iter(self._plugins)

    def own(self) -> Iterator[Pass]:
        """Returns the passes of this package."""
        return self._plugins.own()

    def names(self) -> tuple[str, ...]:
        """Returns the names of all passes, sorted."""
        return self._plugins.names()

    def get(self, name: str) -> Pass:
        """Returns the pass of a name. Raises: DiagnosticError (E0904, E0715)."""
        result = self._plugins.get(name)
        if result is None:
            help = did_you_mean(name, self.names()) or f"passes: {', '.join([p.name for p in self])}"
            raise DiagnosticError(Diagnostic(UNKNOWN_REFERENCE, f"no pass is called '{name}'", help=help))
        return result
