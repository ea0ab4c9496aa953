import json
import subprocess
import sys
from functools import cache

import pytest

# Loaded where they are used: each of these would take a twentieth of the time of the import, or far more.
HEAVY = (
    "pymc", "pytensor", "arviz", "matplotlib", "sklearn", "dask", "narwhals",
    *(f"scipy.{part}" for part in ("special", "sparse", "optimize", "stats", "fft", "interpolate")),
)  # fmt: skip
LAZY = ("numpy", "pandas", "xarray", "numba", *HEAVY)
"""What `import bayesagree` leaves to the first use of a name."""

ROOMS = "agreement, annotations, datasets, evaluation, io, metrics, plots, predictive, report, simulate, subjective"
STARTS = f"""
import bayesagree
from bayesagree import {ROOMS}
seen("import")
import contextlib, io as texts
sys.argv = ["bayesagree", "--help"]
from bayesagree.cli import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(texts.StringIO()): main()
seen("help")
bayesagree.certainty, bayesagree.dirichlet, bayesagree.Labels, bayesagree.datasets.load
bayesagree.simulate.crowd_labels, bayesagree.read_annotations
seen("names")
"""
CALLS = """
from bayesagree import Labels, agreement_table
agreement_table(Labels.from_matrix([[0, 1], [1, 1]]), random_seed=1)
seen("agreement")
from bayesagree import annotation_certainty, dirichlet
annotation_certainty(dirichlet(Labels.from_matrix([[0, 1], [1, 1]]), top_labels=1, random_seed=1))
seen("certainty")
"""


@cache
def loaded(code):
    """Run a script in a new process; what stands in sys.modules where it says seen(name), by name."""
    script = (
        f"import sys, json\nnow = {{}}\ndef seen(name): now[name] = list(sys.modules)\n{code}\nprint(json.dumps(now))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_import_loads_no_library():
    assert set(LAZY) & set(loaded(STARTS)["import"]) == set()


@pytest.mark.parametrize("stage", ["help", "names"])
def test_help_and_names_load_nothing_heavy(stage):
    assert set(HEAVY) & set(loaded(STARTS)[stage]) == set()


def test_agreement_of_few_labels_and_few_draws_compile_nothing():
    """A kernel that is loaded, compiled or not, imports `numba.np.arraymath`."""
    assert "numba" not in loaded(CALLS)["agreement"]
    assert "numba.np.arraymath" not in loaded(CALLS)["certainty"]


def test_an_older_python_gets_the_version_that_is_needed():
    code = "import sys; sys.version_info, sys.version = (3, 11, 7), '3.11.7 (main)'; import bayesagree"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: bayesagree needs Python 3.12 or newer, and this is 3.11.7; try: uv run python" in run.stderr
