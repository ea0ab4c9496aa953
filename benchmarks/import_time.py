"""Time of `import bayesagree` and of the command line's help, beside the libraries that the package builds on.

uv run python benchmarks/import_time.py

Each runs in fresh interpreters, in turn, and the medians of their processor seconds are printed.
"""

import resource
import statistics
import subprocess
import sys

COMMANDS = {
    "import bayesagree": "import bayesagree",
    "import xarray": "import xarray",
    "import xarray, numba": "import xarray, numba",
    "import pymc": "import pymc",
    "import every name": "from bayesagree import *",
    "bayesagree --help": "import sys; sys.argv[1:] = ['--help']; from bayesagree.cli import main; main()",
    "bayesagree --version": "import sys; sys.argv[1:] = ['--version']; from bayesagree.cli import main; main()",
}
RUNS = 7


def seconds(code: str) -> float:
    """Return the processor seconds of a fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the medians and the ratio to xarray."""
    runs = [{name: seconds(code) for name, code in COMMANDS.items()} for _ in range(RUNS)]
    median = {name: statistics.median(run[name] for run in runs) for name in COMMANDS}
    for name, value in median.items():
        print(f"{name:21s} {value:6.2f} s")
    print(f"bayesagree / xarray = {median['import bayesagree'] / median['import xarray']:.2f}")


if __name__ == "__main__":
    main()
