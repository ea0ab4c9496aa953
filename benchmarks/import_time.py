"""What `import bayesagree` costs beyond the libraries it cannot do without.

uv run python benchmarks/import_time.py

Each import runs in fresh interpreters, in turn, and the medians of their processor seconds are printed.
"""

import resource
import statistics
import subprocess
import sys

IMPORTS = {"xarray, numba": "import xarray, numba", "bayesagree": "import bayesagree", "pymc": "import pymc"}
RUNS = 7


def seconds(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    runs = [{name: seconds(code) for name, code in IMPORTS.items()} for _ in range(RUNS)]
    median = {name: statistics.median(run[name] for run in runs) for name in IMPORTS}
    for name, value in median.items():
        print(f"import {name:14s} {value:6.2f} s")
    print(f"bayesagree / (xarray, numba) = {median['bayesagree'] / median['xarray, numba']:.2f}")


if __name__ == "__main__":
    main()
