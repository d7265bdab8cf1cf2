"""Operations with a definition, whose result types are inferred when they are built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.base.shared import Shared
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.types import Type
from commonir.ods.definition import Definition, coerced, not_a_value, split_arguments, successors_of
from commonir.ods.fields import MISSING
from commonir.ods.inference import infer
from commonir.ods.known import NOT_COMPUTED
from commonir.ods.text_form import TextForm

if TYPE_CHECKING:
    from commonir.notation import Expr, Kernel, Tensor
    from commonir.symbolic import Dim


class SizedByData(NamedTuple):
    """A kernel in which numbers that are computed from data are symbols, and the sizes of its result, of these.

    `numbers` are expressions of single elements in i64, by symbol, each with the most that it can be; none is negative.
    """

    numbers: Mapping[str, tuple[Expr, Dim]]
    kernel: Kernel
    sizes: tuple[Dim, ...]


class Op(TextForm, Definition):
    """An operation with a definition. Constructing takes the fields in order of declaration, by position or by name.

    Raises: DiagnosticError (E0502 to E0505) when operands or attributes contradict the definition; TypeError for a
    wrong number or name of arguments.
    """

    folds_in_double: ClassVar[bool] = False
    """Whether constants in single precision are computed in double precision and rounded, as C libraries do."""

    def __init__(self, *args: Any, **named: Any) -> None:
        layout = self.layout
        if named or len(args) != len(layout.arguments):
            args = self._bind(args, named)
        if layout.is_plain:
            count = len(layout.inputs)
            operands, attributes = args[:count], args[count:]
            if attributes:
                declared = zip(layout.attributes, attributes, strict=True)
                attributes = tuple([v if v is f.default else coerced(self, f, v) for f, v in declared])
            self._attributes, self._offsets = attributes, None
            regions: tuple[Region, ...] = ()
        else:
            operands, self._attributes, self._offsets, regions = split_arguments(self, args)
        self._operands = operands  # inference reads operands, regions and undeclared attributes
        self.regions = regions
        self._extra = None
        self.cached_dims = NOT_COMPUTED
        try:
            self._start(operands, self._result_types())
        except AttributeError:
            # Testing each operand of each new operation would take longer.
            for f, v in zip(self.operand_fields(), operands, strict=False):
                if not isinstance(v, Value):  # pyright: ignore[reportUnnecessaryIsInstance]  # for callers without types
                    raise not_a_value(self, f, v) from None
            raise
        if regions:
            self._own(regions)
        if layout.successors:
            self.successors = successors_of(self, args)

    def verify_sharing(self, shared: Shared) -> Iterable[Diagnostic]:  # noqa: ARG002  few share something
        """Yields the findings of `verify`. What checks of other operations need, too, is in `shared`."""
        return self.verify()

    def path_to(self, op: Operation) -> str | None:  # noqa: ARG002  none by default
        """Returns the path of an operation in it, in the notation of its file format; None for the default form."""
        return None

    def kernel_of_sizes(self) -> Kernel | None:
        """Returns the kernel of the only result of an algorithm, where sizes determine its elements."""
        return None

    def sized_by_data(self, prefix: str, *operands: Tensor) -> SizedByData | None:  # noqa: ARG002  none by default
        """Returns the kernel of the only result of an algorithm, of whose sizes data decide; None if it has none.

        Names of symbols begin with the prefix.
        """
        return None

    def folds(self, operands: Sequence[Data]) -> bool:  # noqa: ARG002  all by default
        """Returns whether the operation may be folded for these constants: not if the result is unspecified, nor if
        MLIR does not fold it.
        """
        return True

    def in_32_bits(self, operands: Sequence[Data]) -> Sequence[Data] | None:  # noqa: ARG002  none by default
        """Returns the constants of index type, if the result must be equal in 32 and 64 bits to be folded, because the
        width of an index is known only at run time; otherwise None.
        """
        return None

    def _bind(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """Returns the arguments in order of declaration, with defaults."""
        fields = self.layout.arguments
        if len(args) > len(fields):
            raise TypeError(f"{self.name} takes {plural(len(fields), 'argument')}, {len(args)} were given")
        out: list[Any] = list(args)
        for f in fields[len(args) :]:
            if f.name in named:
                out.append(named.pop(f.name))
            elif f.variadic:
                out.append(())
            elif f.default is not MISSING:
                out.append(f.default)
            else:
                self._check_names(named, args)
                raise TypeError(f"{self.name}: missing argument '{f.name}'")
        if named:
            self._check_names(named, args)
        return tuple(out)

    def _check_names(self, named: Iterable[str], args: Sequence[object]) -> None:
        """Raises TypeError for a name that no argument has, or that of a positional one."""
        names = [f.name for f in self.layout.arguments]
        for name in named:
            if name not in names:
                help = did_you_mean(name, names)
                raise TypeError(f"{self.name}: '{name}' is not an argument{f': {help}' if help else ''}")
            if names.index(name) < len(args):
                raise TypeError(f"{self.name}: '{name}' is given twice")

    def _result_types(self) -> tuple[Type, ...]:
        return infer(self).types


class ResultTypesNotInferredError(TypeError):
    """Result types that do not follow from operands and attributes were not given.

    What a caller in Python can do about it is a note of the exception: its message is also that of texts and files.
    """

    def __init__(self, op: Op) -> None:
        super().__init__(f"the result types of {op.name} cannot be inferred: state them")
        self.add_note(f"use {type(op).__name__}.build")


class DeclaredResults(Op):
    """The base of definitions whose result types are declared by the program, not inferred; `build` constructs it."""

    declares_results = True

    def _result_types(self) -> tuple[Type, ...]:
        raise ResultTypesNotInferredError(self)

    def infer(self) -> tuple[Type, ...]:
        return tuple([r.type for r in self.results])
