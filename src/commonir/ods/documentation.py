"""Reference pages of operations and dialects, derived from the definitions.

A page and a record (for `--json`) have the same content. References are shown for an example: operands of a small rank
whose dimensions are the names in the patterns.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import pairwise

from commonir.base.diagnostics import DiagnosticError
from commonir.base.lazy import LazyModule
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import attribute_text
from commonir.ir.module import Function
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ListType, MapType, OptionalType, SparseTensorType, TensorType, TupleType, Type
from commonir.notation import formula
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.dialect import Dialect
from commonir.ods.examples import example_of, general_example_of
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.forms import Form
from commonir.ods.inference import Derived, infer, operations_behind
from commonir.ods.known import known_dims
from commonir.ods.operation import Op
from commonir.ods.version_changes import changes_between

Record = dict[str, object]


class WorkedExample(NamedTuple):
    """A program with an operation: its text, the values that it computes, and the program lowered to core."""

    text: str
    values: tuple[str, ...]
    lowered: Function | None


_FENCE = "```"
_LABEL = re.compile(r"\b(C\d+)[.:]\s+")
_FORMS = {
    Form.COMPOSITE: "composite: equivalent to these operations, to which it is lowered",
    Form.KERNEL: "kernel: each element of the result, in index notation",
    Form.ALGORITHM: "algorithm: a function of whole arrays",
    Form.STRUCTURAL: "structural: other operations do not define it",
}

_WITH_TEXT = (Form.COMPOSITE, Form.KERNEL)
_MOST_LINES = 24


def summary_of(definition: type[Op]) -> str:
    """Returns the first sentence of the description of an operation; a later version has that of its base class."""
    return _LABEL.split(next(iter(_paragraphs(_described(definition).__doc__)), ""))[0].strip()


def _described(definition: type[Op]) -> type[Op]:
    """Returns the definition that describes an operation: the oldest base class with its name."""
    bases = [c for c in definition.__mro__ if issubclass(c, Op) and c.name == definition.name and c.__doc__]
    return bases[-1] if bases else definition


def _paragraphs(docstring: str | None) -> list[str]:
    text = inspect.cleandoc(docstring or "")
    out: list[str] = []
    for n, part in enumerate(text.split(_FENCE)):
        if n % 2:
            # Code between fences is not prose.
            out.append(f"{_FENCE}{part.rstrip()}\n{_FENCE}")
        else:
            out += [" ".join(p.split()) for p in part.split("\n\n") if p.strip()]
    return out


class _Doc:
    """The parts of a docstring: description, labelled conditions, source document."""

    def __init__(self, definition: type[Op]) -> None:
        self.description: list[str] = []
        self.conditions: dict[str, str] = {}
        self.source = ""
        for n, p in enumerate(_paragraphs(definition.__doc__)):
            if p.startswith("Source:"):
                self.source = p.removeprefix("Source:").strip()
                continue
            text, *parts = (p,) if p.startswith(_FENCE) else _LABEL.split(p)
            self.conditions |= dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
            if n and text:
                self.description.append(text.strip())


def _conditions(definition: type[Op]) -> dict[str, str]:
    """Returns the labelled conditions: those with a method, and those in the docstring only."""
    methods = {c.label: c.text for c in definition.layout.constraints.values()}
    conditions = {**_Doc(_described(definition)).conditions, **_Doc(definition).conditions, **methods}
    return {
        label: text.rstrip(".") for label, text in sorted(conditions.items(), key=lambda item: (len(item[0]), item[0]))
    }


def _changes(definitions: Sequence[type[Op]]) -> dict[str, str]:
    """Returns the changes of each later version of an operation: from its docstring, else derived from its
    fields.
    """
    first = summary_of(definitions[-1])
    out: dict[str, str] = {}
    for older, newer in pairwise(definitions):
        own = (
            ""
            if newer.__doc__ == older.__doc__ or _described(newer) is newer
            else " ".join(_paragraphs(newer.__doc__)[:1])
        )
        change = own if own not in ("", first) else changes_between(older, newer)
        if change:
            out[newer.since] = change
    return out


def _source(dialect: Dialect, definition: type[Op]) -> str:
    """Returns the document that defines an operation."""
    return _Doc(definition).source or ("" if dialect.source is None else dialect.source(definition))


# -- records


def operation_record(dialect: Dialect, name: str) -> Record:
    """Returns the newest definition of an operation as plain data.

    Raises: KeyError when the dialect has no such operation.
    """
    definitions = dialect.operations[name]
    definition = definitions[-1]
    return {
        "name": name,
        "class": definition.__name__,
        "summary": summary_of(definition),
        "description": _Doc(_described(definition)).description,
        "versions": [d.since for d in definitions if d.since],
        "form": definition.form.value,
        "operands": [_input_record(f) for f in definition.layout.inputs],
        "attributes": [_attribute_record(f) for f in definition.layout.attributes if f.kind is FieldKind.ATTRIBUTE],
        "derived_attributes": {k: _first_line(d.__doc__) for k, d in definition.layout.derived.items()},
        "regions": [{"name": f.spelling, "variadic": f.variadic, "doc": f.doc} for f in definition.layout.regions],
        "results": [_value_record(f) for f in definition.layout.results],
        "type_variables": {k: str(v) for k, v in definition.layout.variables.items() if _is_used(definition, k)},
        "constraints": _conditions(definition),
        "same_rank": list(definition.same_rank),
        "traits": {t.name: t.summary for t in definition.traits},
        "assembly": definition.assembly,
        "reference": reference_text(definition),
        "changes": _changes(definitions),
        "source": _source(dialect, definition),
    }


def dialect_record(dialect: Dialect) -> Record:
    """Returns a dialect and its operations as plain data."""
    summaries = {name: summary_of(definitions[-1]) for name, definitions in sorted(dialect.operations.items())}
    return {
        "name": dialect.name,
        "summary": dialect.summary,
        "versions": list(dialect.versions),
        "operations": summaries,
    }


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().partition("\n")[0]


def _is_used(definition: type[Op], variable: str) -> bool:
    fields = definition.layout.by_name.values()
    return any(f.pattern is not None and f.pattern.element == variable for f in fields)


def _value_record(field: Field) -> Record:
    return {
        "name": field.spelling,
        "type": "any" if field.pattern is None else str(field.pattern),
        "optional": field.optional,
        "variadic": field.variadic,
        "doc": field.doc,
    }


def _input_record(field: Field) -> Record:
    out = _value_record(field)
    if field.kind is FieldKind.PARAMETER:
        return {**out, **_attribute_record(field), "type": out["type"], "constant": True}
    return {**out, "constant": field.constant}


def _attribute_record(field: Field) -> Record:
    return {
        "name": field.spelling,
        "kind": "" if field.type is None else field.type.name,
        "cases": [] if field.type is None else list(field.type.cases),
        "optional": field.optional,
        "default": _default_text(field),
        "check": "" if field.check is None else field.check.text,
        "doc": field.doc,
    }


def _default_text(field: Field) -> str | None:
    if field.default is MISSING or field.default is None or field.type is None:
        return None
    return _without_type(attribute_text(field.type.to_attribute(field.default)))


# -- the meaning, for an example


def reference_text(definition: type[Op]) -> str:
    """Returns the reference as a formula or as operations; as Python if there is no example and the code suffices."""
    if definition.form not in _WITH_TEXT:
        return ""
    example = general_example_of(definition) if definition.form is Form.KERNEL else example_of(definition)
    try:
        derived = None if example is None else infer(example)
    except DiagnosticError:
        derived = None
    if derived is not None and derived.kernels:
        return formula(derived.kernels, tuple([f.spelling for f in definition.layout.results]))
    # The reference may depend on elements that are not known in the example.
    return _body(definition, derived) if derived is not None and derived.outputs else _python(definition.reference)


def _python(reference: Callable[..., object]) -> str:
    """Returns the code of a reference; "" if it calls functions that the page does not show."""
    code = reference.__code__
    called = [reference.__globals__.get(name) for name in code.co_names]
    if "self" in code.co_varnames and any(inspect.isfunction(f) or isinstance(f, LazyModule) for f in called):
        return ""
    return textwrap.dedent(inspect.getsource(reference)).rstrip()


def _body(definition: type[Op], derived: Derived) -> str:
    """Returns the operations of a composite, one line each."""
    names: dict[Value, str] = {}
    for f, passed in zip(definition.layout.formals, derived.inputs, strict=True):
        if isinstance(passed, Value):
            names[passed] = f.spelling
        elif passed is not None:
            names |= {v: f"{f.spelling}{n}" for n, v in enumerate(passed)}
    operations = operations_behind(derived.outputs, frozenset(names))
    return _listed(operations, names, derived.outputs, [f.spelling for f in definition.layout.results])


def _lowered_text(function: Function) -> str:
    """Returns the operations of an example that is lowered, one line each; "" if they do not show its meaning."""
    *body, _ = function.body.operations
    if len(body) > _MOST_LINES or any(op.regions or not op.name.startswith("core.") for op in body):
        return ""
    return _listed(body, {v: v.name for v in function.inputs}, function.outputs, function.output_names)


def _listed(
    body: Iterable[Operation], names: dict[Value, str], outputs: Sequence[Value], results: Sequence[str]
) -> str:
    taken = set(names.values())
    for v, name in zip(outputs, results, strict=False):
        names.setdefault(v, name)
    lines = [_line(op, names, taken) for op in body]
    returned = [names.get(v, "?") for v in outputs]
    return "\n".join([*lines, *([] if returned == [*results] else [f"return {', '.join(returned)}"])])


def _line(op: Operation, names: dict[Value, str], taken: set[str]) -> str:
    for r in op.results:
        if r not in names:
            names[r] = next(n for n in _fresh() if n not in taken)
            taken.add(names[r])
    operands = [names.get(v, "?") for v in op.operands]
    operands += [f"{k} = {_without_type(attribute_text(v))}" for k, v in op.properties.items() if k != GROUP_SIZES]
    return f"{', '.join([names[r] for r in op.results])} = {op.name}({', '.join(operands)})"


def _fresh() -> Iterator[str]:
    n = 0
    while True:
        yield f"t{n}"
        n += 1


def _without_type(text: str) -> str:
    """Returns numbers and lists without their types."""
    text = re.sub(r"#commonir\.dims<([^<>]*)>", lambda match: f"[{match[1].replace(chr(34), '')}]", text)
    listed = re.sub(r"array<\w+(?:: ([^<>]*))?>", lambda match: f"[{match[1] or ''}]", text)
    return re.sub(r" : (?:i64|f64)\b", "", listed)


# -- pages


def operation_page(dialect: Dialect, name: str, work: Callable[[type[Op]], WorkedExample | None] | None = None) -> str:
    """Returns the reference page of an operation, as Markdown. `work` builds and runs an example.

    Raises: KeyError when the dialect has no such operation.
    """
    definitions = dialect.operations[name]
    definition = definitions[-1]
    lines = [f"# `{name}`", "", summary_of(definition), ""]
    for p in _Doc(_described(definition)).description:
        lines += [p, ""]
    lines += ["```python", _signature(definition), "```", ""]
    if definition.assembly:
        lines += ["Text form:", "", "```", f"{name} {definition.assembly}", "```", ""]
    if definition.index_formula:
        lines += ["Shapes:", "", "```", definition.index_formula, "```", ""]
    lines += _operands(definition)
    lines += _attributes(definition)
    lines += _table("Regions", ("name", "meaning"), [(f"`{f.spelling}`", f.doc) for f in definition.layout.regions])
    lines += _results(definition)
    variables = [(f"`{k}`", str(v)) for k, v in definition.layout.variables.items() if _is_used(definition, k)]
    lines += _table("Element types", ("variable", "one of"), variables)
    worked = work(definition) if work is not None else None
    if worked is not None:
        lines += ["## Example", "", "```mlir", worked.text, "```", ""]
        lines += ["```", *worked.values, "```", ""] if worked.values else []
    elif definition.form is not Form.STRUCTURAL:
        lines += _example(definition, example_of(definition))
    lines += _table("Constraints", ("label", "condition"), list(_conditions(definition).items()))
    lines += _table("Traits", ("trait", "meaning"), [(f"`{t.name}`", t.summary) for t in definition.traits])
    lowered = None if worked is None or worked.lowered is None else _lowered_text(worked.lowered)
    lines += _meaning(definition, reference_text(definition) if lowered is None else lowered)
    lines += _versions(dialect, definitions)
    source = _source(dialect, definition)
    if source:
        lines += [f"Source: {source}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _versions(dialect: Dialect | None, definitions: Sequence[type[Op]]) -> list[str]:
    """Returns the section on the versions of an operation and their changes."""
    names = [d.since for d in definitions if d.since]
    if not names:
        return []
    systems = [dialect.systems(name) if dialect is not None else "" for name in names]
    versions = [f"{name} ({text})" if text else name for name, text in zip(names, systems, strict=True)]
    since = f"Since {versions[0]}" + (f", changed in {', '.join(versions[1:])}." if versions[1:] else ".")
    rows = [(f"`{version}`", change) for version, change in _changes(definitions).items()]
    return ["## Versions", "", since, "", *([*_rows(("version", "change"), rows), ""] if rows else [])]


def _example(definition: type[Op], example: Op | None) -> list[str]:
    """Returns the section that shows the types of an operation whose operands have the dims of their patterns."""
    if example is None:
        return []
    try:
        types = infer(example).types
    except DiagnosticError:
        return []
    results = [_type_text(t) for t in types]
    if not results or any(isinstance(t, TensorType) and t.shape is None for t in types):
        return []
    arguments = [
        f"{f.spelling}: {', '.join([_operand_text(v) for v in values])}"
        for f in definition.layout.inputs
        if f.kind is FieldKind.OPERAND and (values := _values_of(example, f))
    ]
    spellings = {f.spelling for f in definition.layout.attributes}
    shown = [(key, value) for key, value in example.properties.items() if key in spellings]
    arguments += [f"{key} = {_without_type(attribute_text(value))}" for key, value in shown]
    return ["## Example", "", "```", f"{definition.name}({', '.join(arguments)}) -> {', '.join(results)}", "```", ""]


def _values_of(op: Op, field: Field) -> Sequence[Value]:
    """Returns the operands of a field."""
    value: Value | tuple[Value, ...] | None = getattr(op, field.name)
    return () if value is None else (value,) if isinstance(value, Value) else value


def _operand_text(value: Value) -> str:
    """Returns the type of an operand, and its elements if they are known."""
    dims, text = known_dims(value), _type_text(value.type)
    if dims is None:
        return text
    elements = ", ".join(map(str, dims))
    return f"{text} = {elements}" if text.endswith("[]") else f"{text} = [{elements}]"


def _type_text(type: Type) -> str:
    """Returns a type as in index notation, such as f32[n, c]; unknown dims are question marks."""
    match type:
        case ListType() | OptionalType() | TupleType() | MapType():
            name = type.__class__.__name__.removesuffix("Type").lower()
            return f"{name}<{', '.join(map(_type_text, type.parts))}>"
        case SparseTensorType():
            return f"sparse<{_type_text(type.dense)}>"
        case _:
            pass
    if not isinstance(type, TensorType):
        return str(type)
    dims = "?" if type.shape is None else ", ".join(["?" if d is None else str(d) for d in type.shape])
    return f"{type.element}[{dims}]"


def dialect_page(dialect: Dialect) -> str:
    """Returns the index of a dialect, as Markdown."""
    lines = [f"# Dialect `{dialect.name}`", "", _sentence(dialect.summary), ""]
    if dialect.versions:
        lines += [f"Versions: {', '.join(dialect.versions)}.", ""]
    lines += [f"{plural(len(dialect.operations), 'operation')}.", ""]
    rows: list[tuple[str, str, str]] = []
    for name, definitions in sorted(dialect.operations.items()):
        rows.append((f"[`{name}`]({name}.md)", summary_of(definitions[-1]), definitions[0].since))
    if not any(since for _, _, since in rows):
        return "\n".join([*lines, *_rows(("operation", "meaning"), [row[:2] for row in rows])]) + "\n"
    return "\n".join([*lines, *_rows(("operation", "meaning", "since"), rows)]) + "\n"


def pages_of(dialect: Dialect) -> Mapping[str, str]:
    """Returns all pages of a dialect by file name: its index and one for each operation."""
    out = {f"{dialect.name}.md": dialect_page(dialect)}
    return out | {f"{name}.md": operation_page(dialect, name) for name in sorted(dialect.operations)}


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text and not text.endswith(".") else text


def _signature(definition: type[Op]) -> str:
    """Returns the signature of the constructor."""
    shown: list[str] = []
    for f in definition.layout.arguments:
        if f.is_required or (f.variadic and f.default is MISSING):
            shown.append(f.name)
        else:
            default = f.default.name if isinstance(f.default, Enum) else repr(f.default)
            shown.append(f"{f.name}={default}")
    return f"{definition.__name__}({', '.join(shown)})"


def _operands(definition: type[Op]) -> list[str]:
    rows: list[tuple[str, str, str]] = []
    for f in definition.layout.inputs:
        notes = [f.doc]
        if f.kind is FieldKind.PARAMETER:
            notes += ["known before running", *_attribute_notes(f)]
        elif f.constant:
            notes.append("constant")
        if f.variadic:
            notes.append("any number")
        elif f.optional:
            notes.append("optional")
        rows.append((f"`{f.spelling}`", f"`{f.pattern}`" if f.pattern is not None else "", _joined(notes)))
    return _table("Operands", ("name", "type", "notes"), rows)


def _attributes(definition: type[Op]) -> list[str]:
    rows: list[tuple[str, str, str]] = []
    for f in definition.layout.attributes:
        if f.kind is FieldKind.ATTRIBUTE:
            kind = "" if f.type is None else f.type.name
            rows.append((f"`{f.spelling}`", kind, _joined([f.doc, *_attribute_notes(f)])))
    for name, member in definition.layout.derived.items():
        rows.append((f"`{name}`", "derived", _first_line(member.__doc__)))
    return _table("Attributes", ("name", "type", "notes"), rows)


def _attribute_notes(field: Field) -> Iterator[str]:
    if field.type is not None and field.type.cases:
        yield f"one of {', '.join(f'`{c}`' for c in field.type.cases)}"
    if field.check is not None:
        yield f"must be {field.check.text}"
    default = _default_text(field)
    if default is not None:
        yield f"default `{default}`"
    elif field.optional and field.kind is FieldKind.ATTRIBUTE:
        yield "optional"


def _results(definition: type[Op]) -> list[str]:
    rows: list[tuple[str, str, str]] = []
    for f in definition.layout.results:
        notes = [f.doc, "any number" if f.variadic else "optional" if f.optional else ""]
        rows.append((f"`{f.spelling}`", f"`{f.pattern}`" if f.pattern is not None else "", _joined(notes)))
    return _table("Results", ("name", "type", "notes"), rows)


def _meaning(definition: type[Op], text: str) -> list[str]:
    if definition.form is Form.COMPOSITE and not text:
        return []
    shown = ["```python" if text.startswith("def ") else "```", text, "```", ""] if text else []
    is_of_example = definition.form is Form.STRUCTURAL and text
    form = "the example, lowered to core operations" if is_of_example else _FORMS[definition.form]
    return ["## Meaning", "", _sentence(form), "", *shown]


def _joined(notes: Iterable[str]) -> str:
    return "; ".join(filter(None, notes))


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"## {title}", "", *_rows(head, rows), ""] if rows else []


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return [*lines, *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)]
