import subprocess
import sys

# Parts of scipy that few calls need are imported where they are used: together they would take a fifth of the import.
PARTS_OF_SCIPY = ("scipy.optimize", "scipy.stats", "scipy.fft", "scipy.sparse.csgraph")
HEAVY = ("pymc", "pytensor", "arviz", "matplotlib", "sklearn", "dask", *PARTS_OF_SCIPY)
NEEDED = "import xarray, numba, scipy.sparse, scipy.special"
"""What the package cannot do without; old versions of scipy load some of the other parts with these."""


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
    assert set(loaded(NEEDED)) <= set(PARTS_OF_SCIPY)
