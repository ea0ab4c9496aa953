import subprocess
import sys

# Loaded where they are used: each of these would take a twentieth of the time of the import, or far more.
HEAVY = (
    "pymc", "pytensor", "arviz", "matplotlib", "sklearn", "dask", "narwhals",
    *(f"scipy.{part}" for part in ("special", "sparse", "optimize", "stats", "fft", "interpolate")),
)  # fmt: skip
NEEDED = "import xarray, numba"
"""What the package cannot do without."""


def loaded(code):
    script = f"{code}\nimport sys\nprint(*[m for m in {HEAVY} if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_import_loads_nothing_heavy():
    assert loaded("import bayesagree, bayesagree.datasets, bayesagree.simulate, bayesagree.io") == loaded(NEEDED)


def test_help_loads_nothing_heavy():
    code = (
        "import sys, contextlib, io\nsys.argv = ['bayesagree', '--help']\nfrom bayesagree.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main()"
    )
    assert loaded(code) == loaded(NEEDED)


def test_what_the_package_needs_loads_none_of_the_heavy_libraries():
    assert loaded(NEEDED) == []
