"""The command line: `bayesagree COMMAND`; one module per command, imported when the command runs.

Nothing but this table and `main` is imported at once, so that help and version answer at once and an interrupt while a
command starts ends in one line. A new command is a module with a function of its name and one line here.
"""

import atexit
import gc
import os
import re
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import NoReturn

from bayesagree.errors import InputError, SizeError, UnmixedError

# Command to its line in the help, in the order of the help.
COMMANDS = {
    "demo": "Show the main job on a simulated test set: which of three models is best.",
    "contents": "Show what a file holds and which commands fit; so does the file's name alone.",
    "agreement": "Show common agreement Phi and the classic coefficients, with intervals.",
    "plausibility": "Draw the posterior of the truth of each item and write it to a file.",
    "evaluate": "Score models under the uncertainty that the annotations leave.",
    "report": "Write agreement, certainty, scores and groups as one HTML page.",
    "certainty": "Show the annotation certainty of the items, least certain first.",
    "compare": "Show the probability that each model is better than each other.",
    "check": "Fail, by exit code 1, unless one model is better than another.",
    "reliability": "Show how well each reliability predicts a held-out annotator.",
    "conformal": "Show prediction sets that cover what annotators say, and their size.",
    "auc": "Show the area under the curve of models against crowd labels.",
    "blind": "Score and rank systems without expert labels.",
    "preferences": "Show the strengths of models from comparisons of two.",
    "rankings": "Evaluate against rankings under PrIRN and Plackett-Luce.",
    "annotators": "Show accuracy and warning flags of the annotators.",
    "judge": "Show what a language model's verdicts are worth, from people's votes on some.",
    "subjective": "Show how well each model predicts each group of annotators.",
    "plan": "Show what each number of items and annotators would show, and cost.",
    "next": "List the items that deserve the next label.",
    "doctor": "Check the installation: versions, threads, cache, data folder.",
}

_ARGUMENT = re.compile(
    r"(?<![\w'\"])(model|item|annotator|labels?|rating|rank|scale|step|duplicates|threshold|plausibility|reliability|"
    r"rate_share|positive|target|format|question|kind|n|goal|metric|coverage|score|seed|draws|chains)"
    r"=(?:'(\w+)'|\((\w+), (\w+)\)|(\S?))"
)


def process() -> NoReturn:
    """Be the program `bayesagree`: run `main`, then end the process at once.

    Python would look for cycles among half a million objects while it imports, and at the end take apart, one by one,
    what goes with the process: together up to .4 s. What asks to be run at the end is run.
    """
    gc.disable()
    warnings.showwarning = _show_warning
    try:
        main()
    except SystemExit as end:
        code = end.code
    else:
        code = 0
    atexit._run_exitfuncs()
    os._exit(int(code or 0))


def _show_warning(message: Warning | str, category: type[Warning], *place: object, **where: object) -> None:
    """Show a warning as a sentence: its line of code is no place that the user knows."""
    _say(with_options(str(message)))


@cache
def _say(text: str) -> None:
    """Write a sentence to stderr, once however often it is said."""
    sys.stderr.write(f"bayesagree: {text}\n")


def main() -> None:
    """Run the command that the words after `bayesagree` name."""
    answered(_app)


def _app() -> None:
    from bayesagree.cli._commands import app

    app()


def answered(program: Callable[[], object]) -> None:
    """Run a program; input that breaks a rule ends with its message on stderr and exit code 2."""
    if sys.stdout is None:
        _stop("stdout is closed; send the answer to a file, or to /dev/null")
    try:
        try:
            program()
        finally:
            sys.stdout.flush()
    except (InputError, SizeError, UnmixedError, FileNotFoundError) as error:
        _stop(with_options(str(error)))
    except OSError as error:
        if error.filename is None:
            # What is left of the answer would fail once more when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _stop(f"{error.filename or 'the answer'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.stderr.write("bayesagree: interrupted\n")
        sys.exit(130)  # 128 + SIGINT, as shells say it


def _stop(message: str) -> NoReturn:
    sys.stderr.write(f"bayesagree: {message}\n")
    sys.exit(2)


def with_options(message: str) -> str:
    """Name the arguments of the package as the command line does: --label ... for label=..., --scale 1,5 for (1, 5)."""
    message = message.replace("ordered=True", "--ordered").replace("ordered=False", "--unordered")
    return _ARGUMENT.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    name, word, low, high, more = found.groups()
    return f"--{name.replace('_', '-')} {word or (f'{low},{high}' if low else more)}".rstrip()
