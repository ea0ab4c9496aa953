"""Execute notebooks and keep their outputs.

    uv run --group notebooks python notebooks/execute.py                       copies of all in build/notebooks
    uv run --group notebooks python notebooks/execute.py 04 08 --to folder     copies of those whose names start with 04 or 08
    uv run --group notebooks python notebooks/execute.py --store               the notebooks themselves (public data are needed)

BAYESAGREE_DATA names the folder of the public data sets. `matplotlibrc` in this folder sets the resolution of the figures.
"""

import argparse
import os
import re
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

HERE = Path(__file__).parent
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# A warning opens with a file of this machine and its line, and ends with that line.
WARNED_AT = re.compile(r"^\S+\.py:\d+: (\w+: .*)\n(?:  .*\n)?", re.MULTILINE)
# Some draws follow another path after the last bit of a float has changed, as it does between processors: those of
# Hamiltonian chains, and replicates of a predictive check. 0.4 is four standard errors of a standardised mean at the
# smallest effective sample size of these notebooks, about 100. An effective sample size itself, printed above 100, is
# known to a factor.
SAMPLING_ERROR, FACTOR_OF_SIZE = 0.4, 3.0


def execute(notebook: Any, timeout: int) -> None:
    """Run a notebook from top to bottom, in the folder of the notebooks; outputs land in it, without traces of the machine."""
    resources = {"metadata": {"path": str(HERE)}}
    NotebookClient(
        notebook, timeout=timeout, resources=resources, record_timing=False, coalesce_streams=True
    ).execute()
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    clean(notebook)


def clean(notebook: Any) -> None:
    """Take files of this machine out of warnings, and store figures in 64 colours, at a third of their size."""
    for output in outputs(notebook.cells):
        if output.output_type == "stream":
            output.text = WARNED_AT.sub(r"\1\n", output.text)
        if image := output.get("data", {}).get("image/png"):
            picture = (
                Image.open(BytesIO(b64decode(image))).convert("RGB").quantize(64, dither=Image.Dither.NONE)
            )
            picture.save(small := BytesIO(), "PNG", optimize=True)
            output.data["image/png"] = b64encode(small.getvalue()).decode()


def outputs(cells: Any) -> list[Any]:
    """Return the outputs of code cells."""
    return [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]


def numbers(cell: Any) -> list[str]:
    """Return the numbers that a cell prints, as they are printed."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs([cell])]
    return NUMBER.findall(re.sub(r"0x[0-9a-f]+|<Figure size \S+", "", " ".join(texts)))


def agree(stored: str, again: str, by_processor: bool) -> bool:
    """Return whether a number is the stored one.

    Seeds are fixed, so that a number differs by rounding alone: one unit of its last digit. Numbers that depend on the
    processor (cells with the tag `processor`) differ by their Monte-Carlo error.
    """
    mantissa, _, exponent = stored.lower().partition("e")
    last_digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    a, b = float(stored), float(again)
    if by_processor and a > 100:
        return a / FACTOR_OF_SIZE < b < a * FACTOR_OF_SIZE
    return abs(a - b) <= max(last_digit * 1.01, SAMPLING_ERROR * max(abs(a), 1) if by_processor else 0)


def differences(stored: Any, again: Any) -> list[str]:
    """Return what a second run of a notebook prints differently, and which cells lack a stored output."""
    found = []
    for number, (old, new) in enumerate(zip(stored.cells, again.cells)):
        if old.cell_type != "code":
            continue
        if bool(old.outputs) != bool(new.outputs) or old.execution_count is None:
            found.append(f"cell {number} has no stored output")
        before, after = numbers(old), numbers(new)
        by_processor = "processor" in old.metadata.get("tags", ())
        if len(before) != len(after):
            found.append(f"cell {number} prints {len(after)} numbers, stored are {len(before)}")
        found += [
            f"cell {number} prints {b}, stored is {a}"
            for a, b in zip(before, after)
            if not agree(a, b, by_processor)
        ]
    return found


def main() -> None:
    """Execute the notebooks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="starts of the names; all by default")
    parser.add_argument(
        "--to", type=Path, default=HERE.parent / "build" / "notebooks", help="folder of the copies"
    )
    parser.add_argument("--store", action="store_true", help="keep the outputs in the notebooks themselves")
    options = parser.parse_args()
    if options.store and not os.environ.get("BAYESAGREE_DATA"):
        parser.error("--store needs the public data: set BAYESAGREE_DATA to their folder")
    folder = HERE if options.store else options.to
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(HERE.glob("*.ipynb")):
        if not options.names or path.name.startswith(tuple(options.names)):
            notebook = nbformat.read(path, as_version=4)
            execute(notebook, timeout=3600)
            nbformat.write(notebook, folder / path.name)
            print(f"{folder / path.name}: {(folder / path.name).stat().st_size / 1e3:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
