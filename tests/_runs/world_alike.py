"""Runs of the other files a second time, on the data of which much is alike.

Kept are those that take little time and give something else there, see `test_same_numbers.py`.
"""

from _runs.recipe import RUNS, among_alike

ALIKE = "alike: "
for name, run in list(RUNS.items()):
    if not name.startswith(("bayesagree ", ALIKE)):
        RUNS[ALIKE + name] = lambda run=run: among_alike(run)
