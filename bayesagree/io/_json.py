"""Files opened up to a limit of size, plain or gzip, as text, JSON and JSON Lines; no object has a key twice."""

import codecs
import csv
import gc
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import batched, islice
from pathlib import Path
from typing import IO, Any

import orjson

from bayesagree.errors import InputError, require_file

# Bytes that a gzip file or a member of a ZIP archive may unpack to; more would not fit the memory of most machines.
MOST_UNPACKED = 4 * 2**30


# Lines of JSON that are parsed together: fewer cost time, and a line at fault has its whole block parsed twice.
BLOCK = 1000


# Digits of the shortest number that may not fit 64 bits, which orjson turns into a float.
LONG = b"0" * 19

# Bytes of a text that are looked through at a time: they fit the cache of any processor.
PART = 2**18

# Lists of more bytes than this are parsed piece by piece, of this many bytes and what the last element takes.
LARGE, PIECE = 2**24, 2**17

# What stands between two objects of a list, and how many such places a piece is looked for to end at: a list within an
# element has them too.
BETWEEN, MOST_CANDIDATES = re.compile(rb"\}\s*,\s*\{"), 10_000

# Bytes by their values: digits become 0, and all else a space.
DIGITS = bytes(48 if chr(byte).isdigit() and byte < 128 else 32 for byte in range(256))


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Turn what can be wrong with a file into errors that name it."""
    require_file(path)
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r}, line {undecodable_line(path)}: not UTF-8 text; save it as UTF-8") from error
    except csv.Error as error:
        raise InputError(f"{str(path)!r}: not a table in text ({error}); save it with one kind of line end") from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"{str(path)!r}: not a whole gzip file ({error}); unpack it or download it again") from error


class _Unpacked(io.RawIOBase):
    """The content of a gzip file up to `MOST_UNPACKED` bytes: a small file can unpack to more than any disk holds."""

    def __init__(self, path: Path):
        self.path, self.file, self.size = path, gzip.GzipFile(path), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self.file.read(len(buffer))
        self.size += len(part)
        if self.size > MOST_UNPACKED:
            raise InputError(
                f"{str(self.path)!r} unpacks to more than {MOST_UNPACKED / 2**30:g} GiB; unpack it yourself if it is "
                "what you expect"
            )
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self.file.close()
        super().close()


def open_file(path: Path) -> IO[bytes]:
    """Open a file to its bytes, unpacked if it ends in .gz."""
    return io.BufferedReader(_Unpacked(path), 2**20) if path.suffix == ".gz" else path.open("rb")


def undecodable_line(path: Path) -> int:
    """Return the number of the first line that is not UTF-8."""
    with open_file(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


def lines_of(path: Path, encoding: str = "utf-8-sig") -> Iterator[str]:
    """Yield the lines of a text, with their ends."""
    with open_file(path) as stream, io.TextIOWrapper(stream, encoding, newline="\n") as lines:
        yield from lines


def content_of(path: Path) -> bytes:
    """Return all bytes, unpacked."""
    with open_file(path) as stream:
        return stream.read()


def text_lines(path: Path) -> list[str]:
    """Return the lines of a text, plain or gzip, in whatever encoding its first bytes state."""
    with guarded(path):
        return list(lines_of(path))


@contextmanager
def no_garbage() -> Iterator[None]:
    """Keep the collector from looking through millions of new objects of which none is garbage: half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Elements:
    """The elements of a large list in JSON, parsed piece by piece each time they are gone through.

    All at once they take ten times the memory of their text, which takes twice as long to fill and free as to parse.
    """

    def __init__(self, text: bytes, where: str) -> None:
        self.text, self.where = text, where

    def __iter__(self) -> Iterator[Any]:
        number = 0
        try:
            for piece in _pieces(self.text):
                found = _parse_fast((piece,))[0]
                yield from found
                number += len(found)
        except (ValueError, TypeError):  # no such list, or a value that only Python's own parser reads
            yield from islice(parse(self.text, self.where), number, None)


def _pieces(text: bytes) -> Iterator[bytes]:
    """Yield consecutive parts of a list of objects, each a list.

    A part that is a list of whole values ends between two elements: within an element, or a string, its brackets or
    quotes do not match. That it parses proves the cut.
    """
    start, last = text.index(b"[") + 1, text.rindex(b"]")
    while start < last:
        stop, following, left_open, seen = last, last, 0, start
        for candidate in islice(BETWEEN.finditer(text, start + PIECE, last), MOST_CANDIDATES):
            left_open += text.count(b"[", seen, candidate.end()) - text.count(b"]", seen, candidate.end())
            seen = candidate.end()
            if left_open == 0:
                stop, following = candidate.start() + 1, candidate.end() - 1
                break
        yield b"[%b]" % text[start:stop]
        start = following


def read_json(path: Path) -> Any:
    """Read a JSON file, plain or gzip; errors name the file and the line. A large list is parsed piece by piece."""
    with no_garbage(), guarded(path):
        text, where = content_of(path), repr(str(path))
        is_list = text[:PART].lstrip()[:1] == b"[" and text[-PART:].rstrip()[-1:] == b"]"
        return Elements(text, where) if is_list and len(text) > LARGE else parse(text, where)


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of JSON Lines, plain or gzip; errors name the file and the line."""
    with guarded(path), open_file(path) as lines:
        rows = parse_lines(lines, repr(str(path)))
        first = next(rows, None)
        if first is None:
            raise InputError(f"{str(path)!r} is empty: no JSON object in it")
        yield first
        yield from rows


def parse(text: bytes | str, where: str, line: int | None = None) -> Any:
    """Parse JSON, or one line of it; errors say where."""
    place = where if line is None else f"{where}, line {line}"
    try:
        return _parse_fast((text.encode() if isinstance(text, str) else text,))[0]
    except (ValueError, TypeError):  # not JSON, or a value that only Python's own parser reads
        pass
    try:
        text = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}, line {line or error.lineno}: not JSON ({error.msg}); export it again") from error
    except UnicodeDecodeError as error:
        first = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{where}, line {line or first}: not UTF-8 text; save it as UTF-8") from error
    except RecursionError as error:
        raise InputError(f"{place}: nested too deep; this is no export of annotations") from error
    except InputError as error:
        raise InputError(f"{place}{error}") from error


def parse_lines(lines: Iterable[bytes], where: str) -> Iterator[dict[str, Any]]:
    """Parse JSON Lines, one object a line."""
    first = 1
    for block in batched(lines, BLOCK):
        try:
            found = _parse_fast(block)
        except (ValueError, TypeError):  # also where lines are empty
            found = []
        if set(map(type, found)) != {dict}:
            found = [_object(line, where, number) for number, line in enumerate(block, first) if line.strip()]
        yield from found
        first += len(block)


def _parse_fast(texts: tuple[bytes, ...]) -> list[Any]:
    """Parse texts by orjson; an error where `json` may give another value: a key twice, numbers over 64 bits.

    A key that was dropped leaves fewer colons than there were. An escaped colon would hide it.
    """
    found = list(map(orjson.loads, texts))
    text = b" ".join(texts)
    parts = (text[start : start + PART + len(LONG)] for start in range(0, len(text), PART))
    if text.count(b":") != orjson.dumps(found).count(b":") or any(
        b"\\u003" in part or LONG in part.translate(DIGITS) for part in parts
    ):
        raise ValueError
    return found


def _object(line: bytes, where: str, number: int) -> dict[str, Any]:
    row = parse(line.removeprefix(codecs.BOM_UTF8), where, number)
    if not isinstance(row, dict):
        raise InputError(f"{where}, line {number}: expected an object, got {row!r}; one object a line")
    return row


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        require_distinct([name for name, _ in pairs], "")
    return fields


def require_distinct(names: list[str], where: str) -> None:
    """Refuse a name that is there twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{where}: column {name!r} is there twice; give every column a name of its own")
        seen.add(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct)
