"""How long the report takes on two public data sets, against the minute that it may take on two quiet cores.

Run: BAYESAGREE_DATA=<folder> python benchmarks/report.py
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 60.0
COMMANDS = {
    "cifar10h, 4 models, 3 reliabilities": ("--data", "cifar10h"),
    "derm-ddx, Plackett-Luce, 1000 draws": (
        "--data", "derm-ddx", "--plausibility", "plackett_luce", "--reliability", "1", "--draws", "250",
    ),
    "derm-ddx, PrIRN, 1000 draws": ("--data", "derm-ddx", "--reliability", "10", "--draws", "250"),
}  # fmt: skip


def main() -> None:
    """Print the seconds that each command takes, compilation and imports included, and its share of the limit."""
    for name, options in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            code = "from bayesagree.cli import main; main()"
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", code, "report", *options, "-o", str(page)],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            seconds = time.perf_counter() - start
            print(
                f"{name}: {seconds:.1f} s, {seconds / LIMIT:.2f} of the limit, {page.stat().st_size / 1e3:.0f} kB"
            )


if __name__ == "__main__":
    main()
