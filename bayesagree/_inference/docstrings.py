"""Parameters that the functions of a family share: described once, and put into each docstring on import."""

import inspect
import re
from collections.abc import Callable
from typing import Any


def shared[F: Callable[..., Any]](**parameters: str) -> Callable[[F], F]:
    """Replace lines such as ``{truth, threshold}`` of a docstring by the descriptions of these parameters.

    Examples
    --------
    >>> @shared(k="Number of labels.")
    ... def first(k):
    ...     "{k}"
    >>> first.__doc__.splitlines()
    ['k', '    Number of labels.']
    """

    def paragraph(name: str) -> str:
        return "\n    ".join([name, *inspect.cleandoc(parameters[name]).splitlines()])

    def decorate(function: F) -> F:
        function.__doc__ = re.sub(
            r"^\{([a-z_, ]+)\}$",
            lambda found: "\n".join(paragraph(name) for name in found[1].split(", ")),
            inspect.cleandoc(function.__doc__ or ""),  # compilers dedent docstrings from Python 3.13 on only
            flags=re.MULTILINE,
        )
        return function

    return decorate
