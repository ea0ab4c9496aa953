"""CoNLL: a ZIP with a file per annotator, a line per token with its tag last, an empty line after each sentence."""

from itertools import zip_longest
from pathlib import PurePosixPath

from bayesagree.errors import InputError
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def read(file: File, question: str | None) -> Found:
    """Read the entities of each sentence as spans of its tokens; all annotators must have the same tokens."""
    found, first = Found(), None
    for name, text in file.contents(file.members):
        who = PurePosixPath(name).stem
        sentences = _sentences(text.decode("utf-8-sig"), f"{file.name}, {name}")
        tokens = [[token for token, _ in sentence] for sentence in sentences]
        first = first or (name, tokens)
        if tokens != first[1]:
            place = next(k for k, (a, b) in enumerate(zip_longest(tokens, first[1]), 1) if a != b)
            raise InputError(f"{file.name}: sentence {place} of {name} has other tokens than that of {first[0]}")
        for k, sentence in enumerate(sentences, 1):
            for start, end, label in entities([tag for _, tag in sentence]) or [(None, None, None)]:
                found.spans.append(("entities", f"sentence {k}", who, start, end, label))
    return found


def _sentences(text: str, where: str) -> list[list[tuple[str, str]]]:
    sentences: list[list[tuple[str, str]]] = [[]]
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split()
        if not cells or cells[0] == "-DOCSTART-":
            sentences.append([])
        elif len(cells) < 2 or not (cells[-1] == "O" or cells[-1][:2] in ("B-", "I-")):
            raise InputError(
                f"{where}, line {number}: {line!r}: expected a token and a tag: O, B-name or I-name"
            )
        else:
            sentences[-1].append((cells[0], cells[-1]))
    return [sentence for sentence in sentences if sentence]


def entities(tags: list[str]) -> list[tuple[int, int, str]]:
    """First token, token after the last, and name of each entity; I- after another name begins a new one."""
    found: list[tuple[int, int, str]] = []
    for k, tag in enumerate(tags):
        name = tag[2:]
        if tag.startswith("I-") and found and found[-1][1:] == (k, name):
            found[-1] = found[-1][0], k + 1, name
        elif tag != "O":
            found.append((k, k + 1, name))
    return found
