"""The command line: `bayesagree COMMAND`; one module per command, whose heavy imports wait until it runs."""

import sys

import typer

from bayesagree.errors import InputError, SizeError

app = typer.Typer(
    name="bayesagree",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="How good is a model, when the people who labelled its test set do not agree?",
)


def main() -> None:
    """Run the command; input that breaks a rule ends with its message on stderr and exit code 2."""
    try:
        app()
    except (InputError, SizeError, FileNotFoundError) as error:
        typer.echo(f"bayesagree: {error}", err=True)
        sys.exit(2)
