"""Time to read a million annotations from the file of each tool, and a log of 10,000 samples.

    uv run python benchmarks/formats.py [NAME ...]

Every file is built from the published schema (`tests/_exports.py`) and read by `read_export` to the container of its
annotations, once to warm up on a small file and once timed: processor seconds and wall seconds (more, where other work
runs). Beside it stands what the same file costs at least: its text parsed by Python's `json` or pandas' `read_csv`, and
nothing made of it. Writes benchmarks/results/formats.md.
"""

import json
import os
import platform
import resource
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import _exports  # noqa: E402

from bayesagree.io import read_export  # noqa: E402

ITEMS, ANNOTATORS = 100_000, 10
RESULTS = ROOT / "benchmarks" / "results" / "formats.md"


def parquet(folder: Path, rows: list) -> Path:
    import pandas as pd

    path = folder / "long.parquet"
    pd.DataFrame(rows, columns=["item", "annotator", "label"]).to_parquet(path)
    return path


def inspect_log(folder: Path, rows: list) -> Path:
    """Write 10,000 samples of these votes."""
    return _exports.inspect(folder, [row for row in rows if row[0] < 10_000])


def inspect_samples(folder: Path, rows: list) -> Path:
    """Write the same log as a run that was stopped leaves it: every sample in its own member."""
    return _exports.inspect(folder, [row for row in rows if row[0] < 10_000], summaries=False)


BUILDERS = {
    **_exports.TABLES,
    "long_parquet": parquet,
    **_exports.TOOLS,
    "inspect": inspect_log,
    "inspect_samples": inspect_samples,
}
OPTIONS = {"counts_csv": {"format": "counts"}, "wide_csv": {"format": "wide"}}


def parsed(path: Path) -> None:
    """Parse a file and make nothing of it."""
    import pandas as pd

    if path.suffix in (".csv", ".tsv", ".parquet"):
        read = pd.read_parquet if path.suffix == ".parquet" else pd.read_csv
        read(path)
    elif path.suffix in (".zip", ".eval"):
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                for line in archive.read(member).splitlines():
                    json.loads(line)
    else:
        with path.open() as lines:
            _ = [json.loads(line) for line in lines] if path.suffix == ".jsonl" else json.load(lines)


def measured(name: str, rows: list) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        options = OPTIONS.get(name, {})
        read_export(BUILDERS[name](Path(folder), rows[:1000]), **options)
        path = BUILDERS[name](Path(folder), rows)
        start, processor = time.perf_counter(), time.process_time()
        export = read_export(path, **options)
        wall, processor = time.perf_counter() - start, time.process_time() - processor
        found = export.annotations
        del export
        before = time.process_time()
        parsed(path)
        least = time.process_time() - before
        return {
            "name": name,
            "size": path.stat().st_size / 2**20,
            "n": found.n_annotations,
            "wall": wall,
            "cpu": processor,
            "ratio": processor / least,
        }


def main() -> None:
    rows = _exports.votes(ITEMS, ANNOTATORS)
    table = []
    for name in sys.argv[1:] or BUILDERS:
        row = measured(name, rows)
        table.append(row)
        print(
            f"{name:14} {row['n']:9,} {row['size']:7.1f} MiB {row['cpu']:6.2f} s cpu {row['wall']:6.2f} s "
            f"ratio {row['ratio']:5.2f}",
            flush=True,
        )
    if sys.argv[1:]:
        return
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    lines = [
        "# Reading files of tools",
        "",
        "Seconds to read the file to `Labels`, made by `benchmarks/formats.py`; files built from the published schemas",
        f"(`tests/_exports.py`). Python {platform.python_version()}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} "
        f"processors (wall time counts the other work), peak memory of all with building {peak:.1f} GiB.",
        "",
        "Ratio: to the processor time in which Python's `json`, or pandas, parses the same text and keeps nothing",
        "of it.",
        "",
        "| format | annotations | MiB | processor s | wall s | ratio |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {r['name']} | {r['n']:,} | {r['size']:.0f} | {r['cpu']:.2f} | {r['wall']:.2f} | {r['ratio']:.1f} |"
            for r in table
        ),
        "",
    ]
    RESULTS.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
