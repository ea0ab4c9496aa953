"""PrefLib: the votes of one election (.soc, .soi, .toc, .toi, .cat), ranked in blocks of ties."""

import re
from collections.abc import Iterable
from typing import Any

from bayesagree.annotations import Rankings
from bayesagree.errors import InputError
from bayesagree.io._json import guarded, lines_of
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

BLOCK = re.compile(r"\{([^{}]*)\}|([^,{}]+)")


def read(file: File, question: str | None) -> Found:
    """Read the votes as one item that every voter ranks; voters are numbered, and equal votes are voters too."""
    path: Any = file.path
    with guarded(path):
        return Found(container=read_election(lines_of(path), file.name, path.stem))


def read_election(lines: Iterable[str], where: str, item: str) -> Rankings:
    """Read the lines of a file: ``# ALTERNATIVE NAME 1: name`` and ``number of voters: 3,{1,5},2``.

    The item has the name of the title, else the given one.

    Examples
    --------
    >>> read_election(["# ALTERNATIVE NAME 1: a", "# ALTERNATIVE NAME 2: b", "2: 2,{1}"], "a file", "x").of_item(0)
    [[['b'], ['a']], [['b'], ['a']]]
    """
    names: dict[str, str] = {}
    rankings: list[list[list[str]]] = []
    for number, line in enumerate(map(str.strip, lines), 1):
        head, _, rest = line.partition(":")
        if head.startswith("# ALTERNATIVE NAME"):
            names[head.rsplit(" ", 1)[1]] = rest.strip()
        elif head == "# TITLE":
            item = rest.strip() or item
        elif line and not line.startswith("#"):
            blocks = [
                [k.strip() for k in (tied or one).split(",") if k.strip()] for tied, one in BLOCK.findall(rest)
            ]
            if not head.strip().isdigit() or any(k not in names for block in blocks for k in block):
                raise InputError(
                    f"{where}, line {number}: {line[:60]!r} is no number of voters and their order of alternatives "
                    f"{', '.join(names) or '(none is named)'}"
                )
            rankings += [[[names[k] for k in block] for block in blocks if block]] * int(head)
    if not rankings:
        raise InputError(f"{where}: no vote; a line is a number of voters, a colon, and their order")
    return Rankings.from_blocks([rankings], labels=list(names.values()), items=[item])
