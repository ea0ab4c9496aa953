"""The command line: `bayesagree COMMAND`; one module per command, whose heavy imports wait until it runs."""

import re
import sys

import typer

from bayesagree.cli.agreement import agreement
from bayesagree.cli.annotators import annotators
from bayesagree.cli.blind import blind
from bayesagree.cli.compare import compare
from bayesagree.cli.demo import demo
from bayesagree.cli.doctor import doctor
from bayesagree.cli.evaluate import evaluate
from bayesagree.cli.plausibility import certainty, plausibility
from bayesagree.cli.rankings import rankings
from bayesagree.cli.reliability import reliability
from bayesagree.cli.report import report
from bayesagree.cli.study import study
from bayesagree.cli.subjective import subjective
from bayesagree.errors import InputError, SizeError

app = typer.Typer(
    name="bayesagree",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="How good is a model, when the people who labelled its test set do not agree?",
)
app.command("demo")(demo)
app.command("agreement")(agreement)
app.command("plausibility")(plausibility)
app.command("evaluate")(evaluate)
app.command("report")(report)
app.command("certainty")(certainty)
app.command("compare")(compare)
app.command("reliability")(reliability)
app.command("blind")(blind)
app.command("rankings")(rankings)
app.command("annotators")(annotators)
app.command("subjective")(subjective)
app.command("doctor")(doctor)
app.add_typer(study, name="study")


def main() -> None:
    """Run the command; input that breaks a rule ends with its message on stderr and exit code 2."""
    try:
        app()
    except (InputError, SizeError, FileNotFoundError) as error:
        typer.echo(f"bayesagree: {_with_options(str(error))}", err=True)
        sys.exit(2)


_ARGUMENT = re.compile(
    r"(?<![\w'\"])(model|item|annotator|labels?|rating|rank|scale|step|duplicates|threshold|plausibility|reliability)=(\S?)"
)


def _with_options(message: str) -> str:
    """Name the arguments of the package as the command line does: --label ... for label=..."""
    return _ARGUMENT.sub(lambda found: f"--{found[1]} {found[2]}".rstrip(), message)
