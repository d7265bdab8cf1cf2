"""Operators that a Common IR file declares: the declarations, and what the definitions made of them share.

A declared operator says which operands it takes and what follows for the types of its results. What it computes comes
from a function of the same name and signature in a library that the graph imports; without one, a program can be
checked, shown and saved, but not run. Source: Common IR specification, operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import NO_MEANING, WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import onnx
from commonir.dialects.common_ir import checks, rules
from commonir.dialects.common_ir.functions import (
    DECLARATIONS,
    FunctionDefinition,
    Namespace,
    module_around,
    shared_instance,
    symbol_in,
)
from commonir.dialects.common_ir.signatures import LIBRARY_DOMAIN, signature_from
from commonir.ir.attributes import DictionaryAttr, StringAttr
from commonir.ir.module import Instances, Invocation, Symbol
from commonir.ir.types import ElementType, Type
from commonir.ods import Op, attr_types, attribute, traits
from commonir.ods.declared import AmbiguousName, Declaration, DeclaredOp, Multiplicity, Signature, define
from commonir.ods.declared_types import DeclaredType, ListOf, TensorOf, TwoWildcards
from commonir.ods.declares import Declares

PREFIX = "common_ir.op."
"""The prefix of the names of declared operators' operations, before the name that nodes call them by."""


class OperatorNode(DeclaredOp, Invocation):
    """Base of the definitions of declared operators: they run the function that gives them a meaning."""

    @property
    def callee(self) -> onnx.FunctionInstance:
        """The function that it runs.

        Raises: DiagnosticError (E0512) when nothing says what it computes.
        """
        return self.called_with([v.type for v in self.operands])

    @property
    def definition(self) -> FunctionDefinition:
        """The function that says what it computes. Raises: DiagnosticError (E0512) when there is none."""
        return self._meaning()

    def called_with(self, types: Sequence[Type], instances: Instances | None = None) -> onnx.FunctionInstance:
        given = DictionaryAttr(tuple(self.declared_attributes.items()))
        return shared_instance(instances, self._meaning(), given, types, self.segment_sizes)

    def _meaning(self) -> FunctionDefinition:
        module = module_around(self)
        bare = self.called.rpartition(".")[2]
        result: dict[str, FunctionDefinition] = {}
        elements = self.unified().elements
        libraries = [] if module is None else [op for op in module.body.operations if isinstance(op, Namespace)]
        for library in libraries:
            function = symbol_in(library.body, bare)
            if isinstance(function, FunctionDefinition) and has_signature(function, self.signature, elements):
                result[f"{library.symbol_name}.{bare}"] = function
        if len(result) == 1:
            return next(iter(result.values()))
        if result:
            text = f"{self.called}: {len(result)} functions could be its meaning: {', '.join(result)}"
            raise DiagnosticError(Diagnostic(NO_MEANING, text, help="import the library of only one of them"))
        text = f"{self.called}: it is only declared: nothing says what it computes"
        help = (
            f"import a library with a function '{bare}' of its signature {self.signature}, "
            "or call an operation such as org.commonir.core.add"
        )
        raise DiagnosticError(Diagnostic(NO_MEANING, text, help=help))


def has_signature(
    function: FunctionDefinition, signature: Signature, elements: Mapping[str, ElementType] = MappingProxyType({})
) -> bool:
    """Returns whether a function takes and returns what a signature says: the same types, but for the names of
    dimensions. Where the signature takes any number of values, the function has a list of them.

    `elements` are what type variables of the signature stand for.
    """
    if len(function.inputs) != len(signature.inputs) or len(function.outputs) != len(signature.outputs):
        return False
    mine = function.signature_types()
    its = [ListOf(p.type) if p.multiplicity is Multiplicity.MANY else p.type for p in signature.inputs]
    its += [p.type for p in signature.outputs]
    return _canonical(mine, {}) == _canonical(its, elements)


def _canonical(types: Iterable[DeclaredType], elements: Mapping[str, ElementType]) -> list[str]:
    """Declared types as texts in which dimensions are named in order of occurrence."""
    names: dict[tuple[str, bool], str] = {}

    def text(t: DeclaredType) -> str:
        if not isinstance(t, TensorOf):
            return f"{type(t).__name__}({', '.join(map(text, t.parts))})"
        element = str(elements.get(t.pattern.element, t.pattern.element))
        if t.pattern.dims is None:
            return f"{element} {t.is_sparse}"
        shown: list[str] = []
        for name, is_many in t.dimensions:
            is_own = bool(name) and not name.isdigit()
            given = names.setdefault((name, is_many), f"d{len(names)}") if is_own else name
            shown.append(given + "*" * is_many)
        return f"{element} {t.is_sparse} [{', '.join(shown)}]"

    return [text(t) for t in types]


class OperatorDeclaration(
    Op, Symbol, Declares, name="common_ir.operator", traits=(traits.SymbolTrait, traits.Declares)
):
    """Declares an operator: at least one signature, each with typed parameters and attributes.

    A signature is a dictionary: `inputs` and `outputs` are lists of `{name, type, multiplicity, doc}`, `attributes` of
    `{name, type, default, doc}`, and `types` lists the element types of each type variable.
    """

    sym_name: str = attribute(attr_types.symbol_name, doc="the name of the operator")
    signatures: tuple[DictionaryAttr, ...] = attribute(attr_types.dictionaries, doc="one for each overload")

    namespace = DECLARATIONS

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def declaration(self) -> Declaration:
        """Returns the declaration. Raises: ValueError, which says what is wrong with a signature."""
        signatures: list[Signature] = []
        for n, declared in enumerate(self.signatures):
            try:
                signatures.append(signature_from(declared))
            except ValueError as error:
                raise type(error)(f"signature {n + 1}: {error}") from None
        doc = self.extra.get(onnx.DOC_STRING)
        return Declaration(self.sym_name, tuple(signatures), doc.value if isinstance(doc, StringAttr) else "")

    def definitions(self, called: str) -> tuple[type[OperatorNode], ...]:
        """Its definitions, one for each signature, under the name that nodes call it by. Raises: ValueError."""
        return define(self.declaration, called, PREFIX + called, OperatorNode)

    def declared(self) -> Mapping[str, tuple[type[DeclaredOp], ...]]:
        try:
            return {PREFIX + self.sym_name: self.definitions(self.sym_name)}
        except ValueError:
            return {}  # reported by `verify`

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        yield from checks.limited(self._broken_rules())

    def _broken_rules(self) -> Iterator[Diagnostic]:
        place = f"operator '{self.sym_name}'"
        yield from checks.documentation(self.extra.get(onnx.DOC_STRING))
        try:
            signatures = self.declaration.signatures
        except TwoWildcards as error:
            yield rules.ONE_WILDCARD.broken(f"{place}: {error}")
            return
        except AmbiguousName as error:
            yield rules.ONE_OR_MANY.broken(f"{place}: {error}")
            return
        except ValueError as error:
            yield Diagnostic(WRONG_ATTRIBUTE, f"{place}: {error}")
            return
        if not signatures:
            yield rules.HAS_SIGNATURE.broken(f"{place} has no signature")
        # The declarations of a dialect's library follow from its definitions, which check more than types can say.
        holder = self.parent_op
        if not (isinstance(holder, Namespace) and holder.symbol_name.startswith(f"{LIBRARY_DOMAIN}.")):
            for n, found in enumerate(signatures):
                yield from checks.signature(found, f"signature {n + 1}")
