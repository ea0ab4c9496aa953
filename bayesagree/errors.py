"""The errors that input can raise: each message says the value, its place, the rule and the way out."""


class InputError(ValueError):
    """Input that breaks a rule of its container; nothing was computed or written."""


class SizeError(ValueError):
    """A result that would not fit the stated memory; the message names its size and the way out."""


class ConvergenceError(RuntimeError):
    """An iteration or a refinement that did not reach its stated accuracy."""


def some(values: object, most: int = 5) -> str:
    """List the first few values of a sequence for an error message."""
    items = list(values)  # type: ignore[call-overload]
    shown = ", ".join(repr(plain(v)) for v in items[:most])
    return shown if len(items) <= most else f"{shown}, ... ({len(items)} in all)"


def plain(value: object) -> object:
    """Return the plain Python value of a numpy scalar, so that messages read 'q17' and not np.str_('q17')."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value
