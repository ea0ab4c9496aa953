"""PrefLib: the votes of one election (.soc, .soi, .toc, .toi, .cat), ranked in blocks of ties."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from bayesagree.annotations import Rankings
from bayesagree.errors import InputError
from bayesagree.io._json import text_lines
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

BLOCK = re.compile(r"\{([^{}]*)\}|([^,{}]+)")


class Election(NamedTuple):
    """Title, names of the alternatives, and one ranking for each voter: blocks of names, best first."""

    title: str
    alternatives: list[str]
    rankings: list[list[list[str]]]


def read(file: File, question: str | None) -> Found:
    """Read the votes as one item that every voter ranks; voters are numbered, and equal votes are voters too."""
    election = read_election(text_lines(file.path), file.name)  # pyright: ignore[reportArgumentType]
    rankings = Rankings.from_blocks(
        [election.rankings],
        labels=election.alternatives,
        items=[election.title or file.path.stem],  # pyright: ignore[reportOptionalMemberAccess]
    )
    return Found(container=rankings)


def read_election(lines: Iterable[str], where: str) -> Election:
    """Read the lines of a file: ``# ALTERNATIVE NAME 1: name`` and ``number of voters: 3,{1,5},2``.

    Examples
    --------
    >>> read_election(["# ALTERNATIVE NAME 1: a", "# ALTERNATIVE NAME 2: b", "2: 2,{1}"], "a file").rankings
    [[['b'], ['a']], [['b'], ['a']]]
    """
    names: dict[str, str] = {}
    rankings: list[list[list[str]]] = []
    title = ""
    for number, line in enumerate(map(str.strip, lines), 1):
        head, _, rest = line.partition(":")
        if head.startswith("# ALTERNATIVE NAME"):
            names[head.rsplit(" ", 1)[1]] = rest.strip()
        elif head == "# TITLE":
            title = rest.strip()
        elif line and not line.startswith("#"):
            blocks = [
                [k.strip() for k in (tied or one).split(",") if k.strip()] for tied, one in BLOCK.findall(rest)
            ]
            strange = [k for block in blocks for k in block if k not in names]
            if strange or not head.strip().isdigit():
                raise InputError(
                    f"{where}, line {number}: {line[:60]!r} is no number of voters and their order of alternatives "
                    f"{', '.join(names) or '(none is named)'}"
                )
            ranking = [[names[k] for k in block] for block in blocks if block]
            rankings.extend([ranking] * int(head))
    if len(set(names.values())) < len(names):
        raise InputError(f"{where}: two alternatives have one name; number them in the file")
    if not rankings:
        raise InputError(f"{where}: no vote; a line is a number of voters, a colon, and their order")
    return Election(title, list(names.values()), rankings)
