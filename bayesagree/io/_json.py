"""Files opened up to a limit of size, plain or gzip, as text, JSON and JSON Lines; no object has a key twice."""

import codecs
import gzip
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from bayesagree.errors import InputError, opening, refuse, require_file

# Bytes that a gzip file, a result or a member of an archive may unpack to; more would not fit most machines' memory.
MOST_UNPACKED = 4 * 2**30


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Turn what can be wrong with a file into errors that name it."""
    require_file(path)
    with opening(path, "gzip file" if path.suffix == ".gz" else "table in text"):
        try:
            yield
        except UnicodeDecodeError as error:
            where = f"{str(path)!r}, line {undecodable_line(path)}"
            raise InputError(f"{where}: not UTF-8 text; save it as UTF-8") from error


def require_size(size: int, where: str) -> None:
    """Refuse what unpacks to more bytes than are read."""
    if size > MOST_UNPACKED:
        raise InputError(
            f"{where}: unpacks to {size / 2**30:.1f} GiB or more, and {MOST_UNPACKED / 2**30:g} GiB are read at most; "
            "unpack it yourself if it is what you expect"
        )


class _Unpacked(gzip.GzipFile):
    """The content of a gzip file up to `MOST_UNPACKED` bytes: a small file can unpack to more than any disk holds."""

    def read(self, size: int | None = -1) -> bytes:
        most = MOST_UNPACKED + 1 - self.tell()
        part = super().read(most if size is None or size < 0 else min(size, most))
        require_size(self.tell(), repr(self.name))
        return part


def open_file(path: Path) -> IO[bytes]:
    """Open a file to its bytes, unpacked if it ends in .gz."""
    return io.BufferedReader(_Unpacked(path), 2**20) if path.suffix == ".gz" else path.open("rb")  # type: ignore[arg-type]


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


def read_json(path: Path) -> Any:
    """Read a JSON file, plain or gzip; errors name the file and the line."""
    with guarded(path):
        return parse(content_of(path), repr(str(path)))


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
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text) if line is None else "utf-8", "surrogatepass")
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where}, line {line or error.lineno}: not JSON ({error.msg}); export it again"
        ) from error
    except UnicodeDecodeError as error:
        first = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{where}, line {line or first}: not UTF-8 text; save it as UTF-8") from error
    except (RecursionError, InputError) as error:
        place = where if line is None else f"{where}, line {line}"
        deep = ": nested too deep; this is no export of annotations"
        raise InputError(f"{place}{deep if isinstance(error, RecursionError) else error}") from error


def parse_lines(lines: Iterable[bytes], where: str) -> Iterator[dict[str, Any]]:
    """Parse JSON Lines, one object a line."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = parse(line.removeprefix(codecs.BOM_UTF8), where, number)
            if not isinstance(row, dict):
                raise InputError(f"{where}, line {number}: expected an object, got {row!r}; one object a line")
            yield row


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        require_distinct([name for name, _ in pairs], "")
    return fields


def require_distinct(names: list[str], where: str) -> None:
    """Refuse a name that is there twice."""
    refuse(
        pd.Index(names, dtype=object).duplicated(),
        lambda k: f"{where}: column {names[k]!r} is there twice; give every column a name of its own",
    )


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct)
