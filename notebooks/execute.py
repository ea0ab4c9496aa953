"""Execute notebooks and keep copies with their outputs (the stored ones have none).

    uv run python notebooks/execute.py                       all, into build/notebooks
    uv run python notebooks/execute.py 04 08 --to folder     those whose names contain 04 or 08

BAYESAGREE_DRAWS scales the draws down, BAYESAGREE_DATA names the folder of the public data sets.
"""

import argparse
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def execute(notebook: Any, timeout: int) -> None:
    """Run a notebook from top to bottom, in the folder of the notebooks; outputs land in it."""
    NotebookClient(notebook, timeout=timeout, resources={"metadata": {"path": str(HERE)}}).execute()


def main() -> None:
    """Execute the notebooks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names; all by default")
    parser.add_argument("--to", type=Path, default=HERE.parent / "build" / "notebooks", help="folder of the copies")
    asked = parser.parse_args()
    asked.to.mkdir(parents=True, exist_ok=True)
    for path in sorted(HERE.glob("*.ipynb")):
        if not asked.names or any(name in path.name for name in asked.names):
            notebook = nbformat.read(path, as_version=4)
            execute(notebook, timeout=3600)
            nbformat.write(notebook, asked.to / path.name)
            print(asked.to / path.name, flush=True)


if __name__ == "__main__":
    main()
