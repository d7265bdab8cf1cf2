"""The prelude of the older form of operation definitions: classes, types, attributes and values.

Such a file includes no other form and passes the full name of the operation to `Op`. Names that follow the pattern of
operations (`TF_ReluOp`) and are used without being defined are declared too, as operations without fields.
Source: MLIR operation definitions and rewrite patterns, the proposal with `Op<"tf.Add", [NoSideEffect]>`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from commonir.tablegen.lexer import SourceFile, Sources, Token

OLDER = "OlderOp"
"""The base class of operations in the older form."""

_CLASSES = """
class OpProperty;
def NoSideEffect : OpProperty;
def Commutative : OpProperty;
def ins;
def outs;

class CPred<code pred> { code predExpr = pred; }
class TypeConstraint<code pred = "true", string descr = ""> {
  CPred predicate = CPred<pred>;
  string summary = descr;
}
class Type<code pred = "true", string descr = "any type"> : TypeConstraint<pred, descr> { string builderCall = ""; }
class Attr<code pred = "true", string descr = "any attribute", string storage = "Attribute">
    : TypeConstraint<pred, descr> {
  string storageType = storage;
  string returnType = storage;
  string convertFromStorage = "$_self";
  Type valueType = ?;
}
class TypedAttr<code pred, string descr, string storage, Type of> : Attr<pred, descr, storage> { let valueType = of; }
class ConstantAttr<Attr attribute, string val> : Attr<"true", "constant attribute " # val> {
  Attr attr = attribute;
  string value = val;
}

class OlderOp;
class Op<string opname, list<OpProperty> props = []> : OlderOp {
  string opName = opname;
  list<OpProperty> properties = props;
  string summary = ?;
  string description = ?;
  code reference = ?;
  string mnemonic = ?;
  code builder = ?;
  code printer = ?;
  code parser = ?;
  code verifier = ?;
  bit hasCanonicalizer = 0;
  bit hasConstantFolder = 0;
}
class Arguments<dag args> { dag arguments = args; }
class Results<list<Type> types> { list<Type> returnTypes = types; }
class Traits<list<string> names> { list<string> traits = names; }
class Pat<dag src, dag res> {
  dag sourcePattern = src;
  dag resultPattern = res;
}
"""

_ELEMENTS = {
    **{f"{sign}{bits}": (f"is{word}Integer({bits})", f"{bits}-bit {word.lower()} integer", f"IntegerType({bits}{arg})")
       for sign, word, arg in (("I", "Signless", ""), ("SI", "Signed", ", true"), ("UI", "Unsigned", ", false"))
       for bits in (1, 4, 8, 16, 32, 64)},
    **{f"F{bits}": (f"isF{bits}()", f"{bits}-bit float", f"F{bits}Type()") for bits in (16, 32, 64)},
    "BF16": ("isBF16()", "bfloat16", "BF16Type()"),
}  # fmt: skip
"""The C++ condition, summary and builder call of each element type."""

_ATTRIBUTES = {
    "AnyAttr": ("true", "any attribute", "Attribute"),
    "BoolAttr": ("isa<BoolAttr>($_self)", "bool attribute", "BoolAttr"),
    "StrAttr": ("isa<StringAttr>($_self)", "string attribute", "StringAttr"),
    "UnitAttr": ("isa<UnitAttr>($_self)", "unit attribute", "UnitAttr"),
    "TypeAttr": ("isa<TypeAttr>($_self)", "type attribute", "TypeAttr"),
    "ArrayAttr": ("isa<ArrayAttr>($_self)", "array attribute", "ArrayAttr"),
    "ElementsAttr": ("isa<ElementsAttr>($_self)", "constant vector/tensor attribute", "ElementsAttr"),
}

_ACTIVATIONS = ("None", "Relu", "Relu1", "Relu6", "Tanh", "Sign")

_OPERATION = re.compile(r"([A-Z][A-Za-z0-9]*)_(\w+)Op")


def _defs() -> Iterator[str]:
    for name in ("AnyTensor", "TF_Tensor", "TFL_Tensor"):
        yield f'def {name} : Type<"isa<TensorType>($_self)", "tensor">;'
    yield 'def AnyType : Type<"true", "any type">;'
    condition = '!interleave(!foreach(t, types, "(" # t.predicate.predExpr # ")"), " || ")'
    summary = '!interleave(!foreach(t, types, t.summary), " or ")'
    yield f"class AnyTypeOf<list<Type> types> : Type<{condition}, {summary}>;"
    for word in ("Tensor", "Vector"):
        of_elements = f'!subst("$_self", "cast<{word}Type>($_self).getElementType()", {condition})'
        whole = f'"isa<{word}Type>($_self) && (" # {of_elements} # ")"'
        described = f'"{word.lower()} of " # {summary} # " values"'
        yield f"class {word}Of<list<Type> types> : Type<{whole}, {described}>;"
    yield 'def AnyVector : Type<"isa<VectorType>($_self)", "vector">;'
    yield 'def AnyFloat : Type<"isa<FloatType>($_self)", "floating-point">;'
    yield 'def AnyInteger : Type<"isa<IntegerType>($_self)", "integer">;'
    for name, (condition, summary, call) in _ELEMENTS.items():
        yield f'def {name} : Type<"$_self.{condition}", "{summary}"> {{ let builderCall = "$_builder.get{call}"; }}'
        tensor = f"isa<TensorType>($_self) && cast<TensorType>($_self).getElementType().{condition}"
        yield f'def {name}Tensor : Type<"{tensor}", "tensor of {summary} values">;'
        class_name = "FloatAttr" if "F" in name else "IntegerAttr"
        holds = f"isa<{class_name}>($_self) && cast<{class_name}>($_self).getType().{condition}"
        yield f'def {name}Attr : TypedAttr<"{holds}", "{summary} attribute", "{class_name}", {name}>;'
    for name, (condition, summary, stored) in _ATTRIBUTES.items():
        yield f'def {name} : Attr<"{condition}", "{summary}", "{stored}">;'
    derived = "let returnType = ret; code body = b;"
    yield f'class DerivedAttr<code ret, code b> : Attr<"true", "derived attribute"> {{ {derived} }}'
    yield "class NativeCodeCall<string expr, int returns = 1> { string expression = expr; int numReturns = returns; }"
    yield "def replaceWithValue ;"
    for word in _ACTIVATIONS:
        yield f'def TFL_AF_{word} : ConstantAttr<StrAttr, "\\"{word.upper()}\\"">;'


def _operations() -> Iterator[str]:
    """Yields the operations that the proposal shows in short form."""
    arguments = "TFL_Tensor:$lhs, TFL_Tensor:$rhs, StrAttr:$fused_activation_function"
    form = "tfl.Add $lhs, $rhs {fused_activation_function: $fused_activation_function }: ${type(self)}"
    head = f'def TFL_AddOp : Op<"tfl.Add", [NoSideEffect]>, Arguments<(ins {arguments})>, Results<[TFL_Tensor]>'
    yield f'{head} {{ let mnemonic = "{form}"; }}'


def files_of(path: str, include_dirs: Sequence[str], sources: Sources) -> list[SourceFile]:
    """Returns a file with those that it includes, as far as they exist in its folder and `include_dirs`.

    Ends at the first file that defines the class `Op`: that is one of MLIR's own form.
    """
    real = os.path.realpath(path)
    roots = [os.path.dirname(real), *(os.path.realpath(each) for each in include_dirs)]
    found: dict[str, SourceFile] = {}
    pending = [(real, path)]
    while pending:
        at, shown = pending.pop()
        if at in found:
            continue
        file = found[at] = sources.read(at, shown)
        tokens = list(_tokens(file))
        if any(a[1] == "class" and b[1] == "Op" for a, b in pairwise(tokens)):
            break
        names = [
            name
            for (kind, _, _), (of, name, _) in pairwise(tokens)
            if kind == "include" and of == "string" and "\0" not in name
        ]
        for name in names:
            places = [os.path.join(each, name) for each in (*include_dirs, roots[0], os.path.dirname(at))]
            known = [(os.path.realpath(place), place) for place in places]
            pending += [p for p in known if _is_inside(p[0], roots) and os.path.isfile(p[0])][:1]
    return list(found.values())


def _is_inside(path: str, roots: Sequence[str]) -> bool:
    return any(path.startswith(os.path.join(root, "")) for root in roots)


def is_older(files: Sequence[SourceFile]) -> bool:
    """Returns whether a file, with those that it includes, is in the older form."""
    tokens = [token for file in files for token in _tokens(file)]
    named = any(
        text == "Op" and opened[1] == "<" and first[0] == "string"
        for (_, text, _), opened, first in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )
    own = set(_defined(tokens))
    if "Op" in own:
        return False
    return named or ("Pat" in {text for _, text, _ in tokens} and "Pat" not in own)


def prelude_of(files: Sequence[SourceFile]) -> tuple[str, tuple[str, ...]]:
    """Returns the prelude of a file with those that it includes, and the operations used without being defined.

    The prelude omits names that the files define themselves.
    """
    tokens = [token for file in files for token in _tokens(file)]
    own = set(_defined(tokens))
    used = dict.fromkeys([text for kind, text, _ in tokens if kind == "id"])
    shown = {_defined_by(line): line for line in _operations()}
    declared = tuple([n for n in used if n not in own and n not in shown and _OPERATION.fullmatch(n)])
    lines = [line for line in _defs() if _defined_by(line) not in own]
    lines += [line for name, line in shown.items() if name in used and name not in own]
    for name in declared:
        match = _OPERATION.fullmatch(name)
        assert match is not None
        lines.append(f'def {name} : Op<"{match[1].lower()}.{match[2]}">;')
    return "\n".join([_CLASSES, *lines, ""]), declared


def _defined_by(line: str) -> str:
    """Returns the name that a line of the prelude defines."""
    return line.split()[1].partition("<")[0]


def _tokens(file: SourceFile) -> Iterator[Token]:
    """Yields all tokens of a file, including those of disabled preprocessor regions."""
    at = 0
    while True:
        segment = file.segment(at)
        yield from segment.tokens
        if segment.end == len(file.text):
            return
        at = file.directive(segment.end)[2]


def _defined(tokens: list[Token]) -> Iterator[str]:
    for (kind, _, _), (_, name, _) in pairwise(tokens):
        if kind in ("def", "class", "defm", "multiclass"):
            yield name
