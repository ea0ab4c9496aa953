"""The command line: `bayesagree COMMAND`; one module per command, imported when the command runs.

Nothing but this table and `main` is imported at once, so that help and version answer at once and an interrupt while a
command starts ends in one line. A new command is a module with a function of its name and one line here.
"""

import os
import sys
import warnings
from collections.abc import Callable
from typing import NoReturn

from bayesagree.errors import ConvergenceError, InputError, SizeError, of_commands

# Command to its line in the help, in the order of the help: at most 62 letters, what 80 columns have.
COMMANDS = {
    "demo": "Show the main job on a simulated test set.",
    "contents": "Show what a file holds and which commands fit.",
    "audit": "List what is wrong with a test set, the worst first.",
    "agreement": "Show how far annotators agree, with intervals.",
    "plausibility": "Show how certain the truth of each item is.",
    "evaluate": "Score and compare models when annotators disagree.",
    "report": "Write agreement, certainty and scores as one HTML page.",
    "check": "Fail, by exit code 1, unless one model is better.",
    "annotators": "Show the accuracy of each annotator, with warning flags.",
    "judge": "Show what a language model's verdicts are worth.",
    "subjective": "Show how well models predict each group of annotators.",
    "blind": "Score and rank systems without expert labels.",
    "plan": "Show what more items and annotators would show, and cost.",
    "next": "List the items to label next.",
    "preferences": "Show the strengths of models from comparisons of two.",
}


def main(program: Callable[[], object] | None = None) -> None:
    """Run the command that the words after `bayesagree` name, or another program in its way.

    Input that breaks a rule ends with its message on stderr and exit code 2. A warning is a sentence on stderr, once:
    its line of code is no place that the user knows.
    """
    if sys.stdout is None:
        _stop("stdout is closed; send the answer to a file, or to /dev/null")
    said: set[str] = set()
    words = of_commands.set(True)

    def show(message: Warning | str, *place: object, **where: object) -> None:
        if str(message) not in said:
            said.add(str(message))
            sys.stderr.write(f"bayesagree: {message}\n")

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            try:
                from bayesagree.cli._commands import app

                app(prog_name="bayesagree") if program is None else program()
            finally:
                sys.stdout.flush()
    except (InputError, SizeError, ConvergenceError, FileNotFoundError) as error:
        _stop(str(error))
    except OSError as error:
        if error.filename is None:
            # What is left of the answer would fail once more when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _stop(f"{error.filename or 'the answer'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.stderr.write("bayesagree: interrupted\n")
        sys.exit(130)  # 128 + SIGINT, as shells say it
    finally:
        of_commands.reset(words)


def _stop(message: str) -> NoReturn:
    sys.stderr.write(f"bayesagree: {message}\n")
    sys.exit(2)
