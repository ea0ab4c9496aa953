import subprocess
import sys
from functools import cache

# Loaded where they are used: each of these would take a twentieth of the time of the import, or far more.
HEAVY = (
    "pymc", "pytensor", "arviz", "matplotlib", "sklearn", "dask", "narwhals",
    *(f"scipy.{part}" for part in ("special", "sparse", "optimize", "stats", "fft", "interpolate")),
)  # fmt: skip
NEEDED = "import xarray, numba"
"""What every result and every kernel needs."""
LAZY = ("numpy", "pandas", "xarray", "numba", *HEAVY)
"""What `import bayesagree` leaves to the first use of a name."""


@cache
def loaded(code, names=HEAVY):
    script = f"{code}\nimport sys\nprint(*[m for m in {names} if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_import_loads_no_library():
    packages = (
        "agreement, annotations, datasets, evaluation, io, metrics, plots, predictive, report, simulate, subjective"
    )
    assert loaded(f"import bayesagree\nfrom bayesagree import {packages}", LAZY) == []


def test_a_posterior_loads_nothing_heavy():
    names = ("dirichlet", "Labels", "datasets.load", "simulate.crowd_labels", "read_annotations")
    code = "import bayesagree\n" + ", ".join(f"bayesagree.{name}" for name in names)
    assert loaded(code) == loaded(NEEDED)


def test_help_loads_nothing_heavy():
    code = (
        "import sys, contextlib, io\nsys.argv = ['bayesagree', '--help']\nfrom bayesagree.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main()"
    )
    assert loaded(code) == loaded(NEEDED)


def test_posteriors_of_groups_load_no_statistics():
    code = """
import numpy as np
import pandas as pd
from bayesagree import Annotators, Labels, Predictions, group_posterior

said = np.arange(48).reshape(8, 6) % 5 % 2
people = Annotators.from_table(pd.DataFrame({"annotator": range(6), "age": ["old", "young"] * 3}))
model = Predictions.from_labels({"A": said[:, 0]})
group_posterior(Labels.from_matrix(said), model, people, by=["age"], draws=10, random_seed=1)
"""
    assert "scipy.stats" not in loaded(code)


def test_agreement_of_few_labels_and_few_draws_compile_nothing():
    """A kernel that is loaded, compiled or not, imports `numba.np.arraymath`."""
    agreement = """
from bayesagree import Labels, agreement_table
agreement_table(Labels.from_matrix([[0, 1], [1, 1]]), random_seed=1)
"""
    assert loaded(agreement, ("numba",)) == []
    draws = """
from bayesagree import Labels, annotation_certainty, dirichlet
annotation_certainty(dirichlet(Labels.from_matrix([[0, 1], [1, 1]]), top_labels=1, random_seed=1))
"""
    assert loaded(draws, ("numba.np.arraymath",)) == []


def test_what_the_package_needs_loads_none_of_the_heavy_libraries():
    assert loaded(NEEDED) == []


def test_an_older_python_gets_the_version_that_is_needed():
    code = "import sys; sys.version_info, sys.version = (3, 11, 7), '3.11.7 (main)'; import bayesagree"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: bayesagree needs Python 3.12 or newer, and this is 3.11.7; try: uv run python" in run.stderr
