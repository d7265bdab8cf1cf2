"""Assembly formats compiled into steps that read operations token by token: the inverse of `text/format_writer.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from commonir.ir.attributes import UnitAttr
from commonir.ir.operation import Operation
from commonir.ods import Op
from commonir.ods.fields import Field, FieldKind
from commonir.ods.text_form import FormTask
from commonir.text import assembly
from commonir.text.directives import DIRECTIVES
from commonir.text.form_context import FormContext
from commonir.text.form_reader import FormReader, Reading, plan_of

Step: TypeAlias = "Callable[[FormReader], Reading | None]"
"""Reads an element of a form, or returns a generator that reads it, if it may have regions."""


class CompiledForm:
    """A compiled form: the functions that read its elements. `has_regions`: they may request regions."""

    __slots__ = ("_plan", "_steps", "has_regions")

    def __init__(self, definition: type[Op]) -> None:
        self._plan = plan_of(definition)
        self._steps = _compiled(self._plan.form.elements)
        self.has_regions = _has_regions(self._plan.form.elements)

    def read(self, context: FormContext, result_count: int, start: int) -> FormTask:
        """Reads an operation after its name."""
        reader = FormReader(context, self._plan, result_count, start)
        for step in self._steps:
            task = step(reader)
            if task is not None:
                yield from task
        return reader.build()

    def read_at_once(self, context: FormContext, result_count: int, start: int) -> Operation:
        """Reads an operation after its name, of a form without regions."""
        reader = FormReader(context, self._plan, result_count, start)
        for step in self._steps:
            step(reader)
        return reader.build()


@cache
def form_of(definition: type[Op]) -> CompiledForm:
    """Returns the compiled form of a definition."""
    return CompiledForm(definition)


def _has_regions(elements: Sequence[assembly.Element]) -> bool:
    for e in elements:
        match e:
            case assembly.Regions() | assembly.Custom() | assembly.AnyOrder():
                return True
            case assembly.Variable(field=field):
                if field.kind is FieldKind.REGION:
                    return True
            case assembly.Optional(elements=inner, otherwise=otherwise):
                if _has_regions(inner) or _has_regions(otherwise):
                    return True
            case _:
                pass
    return False


def _compiled(elements: Sequence[assembly.Element]) -> tuple[Step, ...]:
    """Returns the functions that read elements; layout is not read."""
    return tuple([_step(e) for e in elements if not (isinstance(e, assembly.Literal) and not e.text.strip())])


def _step(element: assembly.Element) -> Step:
    """Returns the function that reads an element."""
    match element:
        case assembly.Literal(text=text):
            return _literal(text)
        case assembly.Variable(field=field):
            return _variable(field)
        case assembly.TypeOf(group=group):
            short = element.short
            return lambda reader: reader.read_type_of(group, short)
        case assembly.Operands():
            return FormReader.read_all_operands
        case assembly.AttributeDictionary(keyword=keyword):
            return lambda reader: reader.read_attributes(keyword=keyword)
        case assembly.FunctionalType(inputs=inputs, results=results):
            return lambda reader: reader.read_functional_type(inputs, results)
        case assembly.Signature():
            return FormReader.read_signature
        case assembly.Successors():
            return FormReader.read_all_successors
        case assembly.PropertyDictionary():
            return FormReader.read_properties
        case assembly.Regions():
            return FormReader.read_regions
        case assembly.Custom(name=name, arguments=arguments):
            read = DIRECTIVES[name].read
            return lambda reader: read(reader, arguments)
        case assembly.Optional():
            return _optional(element)
        case assembly.AnyOrder():
            return _any_order(element)
        case assembly.Results() | assembly.Reference():
            raise AssertionError("results and references are read only as part of other elements")


def _literal(text: str) -> Step:
    def read(reader: FormReader) -> None:
        context = reader.context
        if not context.tokens.take(text):
            context.tokens.unexpected(f"'{text}'", at=context.tokens.start if text[0].isalpha() else None)

    return read


def _variable(field: Field) -> Step:
    def read_one(reader: FormReader) -> None:
        reader.operands[field] = [reader.context.use()]

    if field.kind is FieldKind.REGION:
        return lambda reader: reader.read_region(field)
    if field.kind is FieldKind.OPERAND and field.is_required:
        return read_one
    return lambda reader: reader.read_variable(field)


class _ElementGroup:
    """Elements that are read together; reading them sets the flags that they imply."""

    __slots__ = ("flags", "has_regions", "steps")

    def __init__(self, elements: Sequence[assembly.Element], implied: Sequence[assembly.Element]) -> None:
        self.flags = [e.field for e in implied if isinstance(e, assembly.Variable)]
        read = [e for e in elements if e not in implied]
        self.steps = _compiled(read)
        self.has_regions = _has_regions(read)

    def read(self, reader: FormReader) -> Reading | None:
        """Reads the elements."""
        for field in self.flags:
            reader.attributes[field] = UnitAttr()
        if self.has_regions:
            return self._tasks(reader)
        for step in self.steps:
            step(reader)
        return None

    def _tasks(self, reader: FormReader) -> Reading:
        for step in self.steps:
            task = step(reader)
            if task is not None:
                yield from task


def _optional(group: assembly.Optional) -> Step:
    first = next((e for e in group.elements if not (isinstance(e, assembly.Literal) and not e.text.strip())), None)
    there = _ElementGroup(group.elements, [e for e in group.elements if group.is_implied(e)])
    otherwise = _ElementGroup(group.otherwise, [e for e in group.otherwise if group.is_implied(e)])

    def read(reader: FormReader) -> Reading | None:
        return (otherwise if first is None or not reader.starts(first) else there).read(reader)

    return read


def _any_order(group: assembly.AnyOrder) -> Step:
    clauses = [(c[0], _ElementGroup(c, [e for e in c if group.is_implied(c, e)])) for c in group.clauses]

    def read(reader: FormReader) -> Reading:
        left = list(clauses)
        while True:
            clause = next((c for c in left if reader.starts(c[0])), None)
            if clause is None:
                if any(reader.starts(c[0]) for c in clauses if c not in left):
                    reader.tokens.fail(f"'{reader.tokens.text}' is repeated, but may occur only once")
                return
            left.remove(clause)
            task = clause[1].read(reader)
            if task is not None:
                yield from task

    return read
