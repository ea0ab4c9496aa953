"""Coverage of the 95 % interval of Phi with and without annotators' levels: benchmarks/results/annotator_levels.md.

    python benchmarks/annotator_levels.py [repetitions]

60 items, five annotators, five levels, Phi .6; levels with standard deviation 0, .5, 1 and 2 in log odds.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from calibration.test_annotator_effects import covered


def study(repetitions: int) -> str:
    """Return the page."""
    warnings.simplefilter("ignore")
    lines = [
        "# Phi and annotators' levels", "",
        f"{repetitions} simulated crowds a row: 60 items, 5 annotators, 5 levels, Phi .6, of which the plain fit knows",
        "nothing where levels differ: it answers for the ratings as they stand. Monte-Carlo error of a coverage of .95",
        f"is {np.sqrt(0.95 * 0.05 / repetitions):.2f}. Made by `benchmarks/annotator_levels.py`.", "",
        "| sd of levels | mean, plain | covers, plain | mean, shift | covers, shift | shifts covered |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for sd in (0.0, 0.5, 1.0, 2.0):
        plain, shift, of_shifts, mean_plain, mean_shift = np.mean(
            [covered(s, sd) for s in range(repetitions)], axis=0
        )
        lines.append(
            f"| {sd} | {mean_plain:.2f} | {plain:.2f} | {mean_shift:.2f} | {shift:.2f} | {of_shifts:.2f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    page = study(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
    (Path(__file__).parent / "results" / "annotator_levels.md").write_text(page)
    print(page)
