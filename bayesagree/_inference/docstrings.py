"""Parameters that the functions of a family share: described once, and put into each docstring on import."""

import inspect
import re
from collections.abc import Callable
from typing import Any

_NAMES = re.compile(r"^\{([a-z_, ]+)\}$", re.MULTILINE)


def shared[F: Callable[..., Any]](**parameters: str) -> Callable[[F], F]:
    """Replace lines such as ``{truth, threshold}`` of a docstring by the descriptions of these parameters.

    A description that begins with an underlined heading is whole sections, inserted as they are.

    Examples
    --------
    >>> @shared(k="Number of labels.")
    ... def first(k):
    ...     "{k}"
    >>> first.__doc__.splitlines()
    ['k', '    Number of labels.']
    """

    def text(names: re.Match[str]) -> str:
        return "\n".join(paragraph(name) for name in names[1].split(", "))

    def paragraph(name: str) -> str:
        lines = inspect.cleandoc(parameters[name]).splitlines()
        if lines[1:2] == ["-" * len(lines[0])]:  # whole sections
            return _NAMES.sub(text, "\n".join(lines))
        return "\n    ".join([name, *lines])

    def decorate(function: F) -> F:
        # Compilers dedent docstrings from Python 3.13 on only.
        function.__doc__ = _NAMES.sub(text, inspect.cleandoc(function.__doc__ or ""))
        return function

    return decorate
