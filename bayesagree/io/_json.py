"""Files opened up to a limit of size, plain or gzip, as text, JSON and JSON Lines; no object has a key twice."""

import csv
import gc
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import batched
from pathlib import Path
from typing import IO, Any

from bayesagree.errors import InputError, require_file

MOST_UNPACKED = 4 * 2**30
"""Bytes that a gzip file or a member of a ZIP archive may unpack to; more would not fit the memory of most machines."""


BLOCK = 1000
"""Lines of JSON that are parsed together: fewer cost time, and a line at fault has its whole block parsed twice."""


def guarded[T](read: Callable[[Path], T], path: Path) -> T:
    """Turn what can be wrong with a file into errors that name it."""
    require_file(path)
    try:
        return read(path)
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
                "what you expect, and stream it (bayesagree.io.patterns) if it does not fit the memory"
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
    return guarded(lambda known: list(lines_of(known)), path)


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


def read_json(path: Path) -> Any:
    """Read a JSON file, plain or gzip; errors name the file and the line."""
    with no_garbage():
        return guarded(lambda known: parse(content_of(known), repr(str(known))), path)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read JSON Lines, plain or gzip; errors name the file and the line."""
    with no_garbage():
        rows = guarded(lambda known: parse_lines(lines_of(known), repr(str(known))), path)
    if not rows:
        raise InputError(f"{str(path)!r} is empty: no JSON object in it")
    return rows


def parse(text: bytes | str, where: str, line: int | None = None) -> Any:
    """Parse JSON, or one line of it; errors say where."""
    place = where if line is None else f"{where}, line {line}"
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


def parse_lines(lines: Iterable[str], where: str) -> list[dict[str, Any]]:
    """Parse JSON Lines, one object a line."""
    rows: list[dict[str, Any]] = []
    for block in batched(enumerate(lines, 1), BLOCK):
        given = [(number, line) for number, line in block if line.strip()]
        try:
            found = _DECODER.decode(f"[{','.join([line for _, line in given])}]")
        except (json.JSONDecodeError, RecursionError, InputError):
            found = []
        if len(found) != len(given) or set(map(type, found)) != {dict}:
            found = [_object(line, where, number) for number, line in given]
        rows += found
    return rows


def _object(line: str, where: str, number: int) -> dict[str, Any]:
    row = parse(line, where, number)
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
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise InputError(f"{where}: column {repeated[0]!r} is there twice; give every column a name of its own")


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct)
