"""The group of commands: its help comes from the table of names, a command is imported when it runs."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bayesagree.cli import COMMANDS
from bayesagree.cli._options import flattened
from bayesagree.cli._output import working
from bayesagree.errors import InputError

Force = Annotated[bool, typer.Option("--force", help="Replace a file to write where there is one.")]


class LazyGroup(TyperGroup):
    """Commands by name: with their line of help in the group's help, with their options once they are called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and remaining arguments; here the command's module is imported."""
        if args[0] not in self.commands and Path(args[0]).is_file():
            args = ["contents", *args]
        args = [word for k, given in enumerate(args) for word in _scale_words(given, args[k - 1] if k else "")]
        name, command, rest = super().resolve_command(ctx, args)
        command = command and load(str(name))
        if command:
            _refuse_misplaced_files(args, command)
        return name, command, rest


# Options of which a second file would replace the first without a word.
FILES = ("--annotators", "--people", "--gold", "--contents")


def _refuse_misplaced_files(args: list[str], command: Any) -> None:
    """Refuse a second file for an option that takes one, and predictions as an option: they are an argument."""
    given = [word.partition("=")[0] for word in args]
    if "--predictions" in given and any(parameter.name == "predictions" for parameter in command.params):
        raise InputError(f"predictions are the second file: bayesagree {args[0]} LABELS PREDICTIONS")
    for option in FILES:
        if given.count(option) > 1:
            raise InputError(f"{option} is given twice; it takes one file: join them in one table")


def _scale_words(word: str, before: str) -> list[str]:
    """Split the value of ``--scale 1,5``, an option of two values, as other lists are written."""
    if word.startswith("--scale="):
        return ["--scale", *word.removeprefix("--scale=").split(",")]
    return word.split(",") if before == "--scale" else [word]


def load(name: str) -> Any:
    """Return a command with its options: the function of its name in the module of its name."""
    return as_command(getattr(import_module(f"bayesagree.cli.{name}"), name), name)


def as_command(function: Callable[..., None], name: str) -> Any:
    """Return a function as a command, whose parameters are its options."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name)(well_behaved(function, name))
    return typer.main.get_command(alone)


def well_behaved(function: Any, name: str) -> Any:
    """Let a command show that it works; give one that writes a file --force, without which a file there stays."""
    command = flattened(function, name)
    parameters = dict(signature(command).parameters)
    written = [name for name in ("output", "report") if name in parameters]
    if written:
        parameters["force"] = Parameter("force", Parameter.KEYWORD_ONLY, default=False, annotation=Force)

    @wraps(command)
    def shown(**given: Any) -> None:
        force = given.pop("force", False)
        for option in written:
            _refuse_to_replace(given[option], force, option)
        with working(name):
            command(**given)

    shown.__signature__ = signature(command).replace(parameters=list(parameters.values()))  # type: ignore[attr-defined]
    shown.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters.values()}
    return shown


def _refuse_to_replace(output: Any, force: bool, option: str) -> None:
    """Refuse, before anything is computed, to write where a file stands already."""
    if output is not None and not force and Path(output).exists():
        raise InputError(f"{output} is there already; pass --force to replace it, or another --{option}")


# Plain help: the one with boxes imports all of rich, which takes three times as long as everything else here.
app = typer.Typer(cls=LazyGroup, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"bayesagree {version('bayesagree')}")
        raise typer.Exit


@app.callback(help="Bayesian agreement and evaluation when annotators disagree.")
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Take the options of the group itself."""
