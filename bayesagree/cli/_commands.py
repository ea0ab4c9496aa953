"""The group of commands: its help comes from the table of names, a command is imported when it runs."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bayesagree.cli import COMMANDS, _output
from bayesagree.cli._options import GIVEN, Json, ResultFile, TableFile
from bayesagree.cli._output import Answer, ResultAnswer, TableAnswer, keep, require, show
from bayesagree.errors import InputError

Force = Annotated[bool, typer.Option("--force", help="Replace a file to write where there is one.")]


class LazyGroup(TyperGroup):
    """Commands by name: with their line of help in the group's help, with their options once they are called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and remaining arguments; here the command's module is imported."""
        if args[0] not in self.commands and Path(args[0]).exists():
            args = ["contents", *args]
        name, command, rest = super().resolve_command(ctx, args)
        command = command and load(str(name))
        parameters = getattr(command, "params", ())
        known = {word: one for one in parameters for word in (*one.opts, *one.secondary_opts)}
        given = [known[word] for word in (word.partition("=")[0] for word in rest) if word in known]
        if twice := [one.opts[0] for one in given if given.count(one) > 1]:
            raise InputError(f"{twice[0]} is given twice, and the second would replace the first; give it once")
        return name, command, rest


def load(name: str) -> Any:
    """Return a command with its options: the function of its name in the module of its name."""
    return as_command(getattr(import_module(f"bayesagree.cli.{name}"), name), name)


def as_command(function: Callable[..., Answer], name: str) -> Any:
    """Return a function as a command: its parameters are options, and so are the fields of a dataclass among them.

    The kind of its answer decides what --output keeps. A command that writes a file has --force, without which a file
    that is there stays.
    """
    whole, bundles = signature(function, eval_str=True), dict[str, Any]()
    parameters: list[Parameter] = []
    for parameter in whole.parameters.values():
        own, bundle = [parameter], parameter.annotation
        if isinstance(bundle, type) and is_dataclass(bundle):
            bundles[parameter.name], own = bundle, [*signature(bundle, eval_str=True).parameters.values()]
        parameters += own

    def add(name: str, default: Any, annotation: Any) -> None:
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))

    kept = {TableAnswer: TableFile, ResultAnswer: ResultFile}.get(whole.return_annotation)
    add("json", False, Json)
    if kept is not None:
        add("output", None, kept)
    if "output" in [parameter.name for parameter in parameters]:
        add("force", False, Force)

    add("context", Parameter.empty, typer.Context)

    def command(context: Any, **given: Any) -> None:
        origin = context.get_parameter_source
        GIVEN.set({p.name: p.opts[0] for p in context.command.params if "COMMAND" in str(origin(p.name))})
        force, json = given.pop("force", False), given.pop("json")
        if given.get("data") is not None and given.get("predictions", "") is None:
            # The annotations have a name, so that the one file is that of predictions.
            given["predictions"], given["annotations"] = given["annotations"], None
        output = given.get("output")
        if output is not None and not force and output.exists():
            raise InputError(f"{output} is there already; pass --force to replace it, or another --output")
        if kept is not None:
            given.pop("output")
            require(output, result=kept is ResultFile)
        for key, bundle in bundles.items():
            given[key] = bundle(**{field.name: given.pop(field.name) for field in fields(bundle)})
        with _output.progress(name):
            answer = function(**given)
        if kept is not None and output is not None:
            keep(answer.keep, output)
        show(answer.tables, as_json=json, notes=answer.notes)
        if answer.code:
            raise typer.Exit(answer.code)

    command.__doc__ = function.__doc__
    command.__signature__ = Signature([p.replace(kind=Parameter.KEYWORD_ONLY) for p in parameters])  # type: ignore
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name)(command)
    return typer.main.get_command(alone)


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
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Take the options of the group itself."""
