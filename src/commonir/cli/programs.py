"""Arguments that name programs. One of ranks is named by a folder, by the file of a rank, or by the files of all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

import click

from commonir.cli.answer import Answer
from commonir.cli.options import PATH, completed
from commonir.cli.session import Session

Others = ParamSpec("Others")
_Body = Callable[Concatenate[Session, ...], Answer]
Decorator = Callable[[_Body], _Body]


def program_argument(metavar: str = "MODEL") -> Decorator:
    """Adds the argument of a command on one program, which gets it as `model`: the first of its files.

    Raises: UsageError for files of several programs.
    """

    def add(command: _Body) -> _Body:
        @wraps(command)
        def call(session: Session, *, model: tuple[str, ...], **options: object) -> Answer:
            return command(session, model=session.one_program(model), **options)

        return click.argument("model", metavar=metavar, nargs=-1, required=True, type=PATH)(call)

    return add


def inputs_arguments(command: _Body) -> _Body:
    """Adds the arguments of a command on one program and inputs of it, which gets them as `model` and `inputs`.

    Raises: UsageError for files of several programs.
    """

    @wraps(command)
    def call(session: Session, *, model: str, inputs: tuple[str, ...], **options: object) -> Answer:
        first, words = session.with_inputs(model, inputs)
        return command(session, model=first, inputs=tuple(words), **options)

    complete = completed("inputs", "=")
    call = click.argument("inputs", metavar="[INPUT]...", nargs=-1, shell_complete=complete)(call)
    return click.argument("model", type=PATH)(call)


def two_programs_argument(metavar: str, *, needs_both: bool) -> Decorator:
    """Adds the argument of a command on two programs, or on one without `needs_both`. It gets them as `first` and
    `second`, None for a second one that is missing.

    Raises: UsageError for other numbers of programs.
    """

    def add(command: _Body) -> _Body:
        @wraps(command)
        def call(session: Session, *, models: tuple[str, ...], **options: object) -> Answer:
            first, *others = session.joined(models)
            if len(others) > 1 or (needs_both and not others):
                expected = "two programs" if needs_both else "one program or two"
                raise click.UsageError(f"takes {expected}, {session.found(first, *others)}")
            return command(session, first=first, second=others[0] if others else None, **options)

        return click.argument("models", metavar=metavar, nargs=-1, required=True, type=PATH)(call)

    return add
