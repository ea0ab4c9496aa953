"""Speed of `davidson` beside NUTS in PyMC and the bootstrap of evalica, and a million comparisons in batches.

`python -m benchmarks.comparison_speed` writes results/comparison_speed.md. evalica is no dependency: the environment
variable EVALICA_PYTHON names an interpreter that has it (0.4), else its rows are left out. Each job runs in a process
of its own, after a small one that compiles.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RESULT = Path(__file__).parent / "results" / "comparison_speed.md"
LARGE, SMALL = (100_000, 100, 20), (2_000, 15, 5)
"""Numbers of comparisons, models and annotators."""
EFFECTS: Any = {"ties": "annotator", "order": "annotator", "discrimination": "annotator"}
BATCH, ROUNDS = 100_000, 1000
EVALICA = """
import sys, time, pandas as pd, evalica
frame = pd.read_csv(sys.argv[1])
words = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
winners = frame["winner"].map(words).tolist()
xs, ys = frame["left"].astype(str).tolist(), frame["right"].astype(str).tolist()
rounds = int(sys.argv[2])
wall, used = time.perf_counter(), time.process_time()
for part in range(rounds // 25):  # all rounds at once take 10 MiB each
    evalica.bootstrap(evalica.bradley_terry, xs, ys, winners, n_resamples=25, bootstrap_method="percentile",
                      random_state=part)
print(time.perf_counter() - wall, time.process_time() - used)
"""


def table(n: int, models: int, annotators: int, random_seed: int = 1) -> pd.DataFrame:
    """Return comparisons with ties, places and discriminations by annotator."""
    rng = np.random.default_rng(random_seed)
    strength, tie = rng.normal(size=models), rng.normal(-0.5, 0.7, annotators)
    order, slope = rng.normal(0.1, 0.3, annotators), np.exp(rng.normal(0, 0.4, annotators))
    left = rng.integers(0, models, n)
    right, who = (left + rng.integers(1, models, n)) % models, rng.integers(0, annotators, n)
    half = (slope[who] * (strength[left] - strength[right]) + order[who]) / 2
    weight = np.exp(np.stack([half, -half, tie[who]], axis=1))
    outcome = (rng.random((n, 1)) > np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    words = np.array(["left", "right", "tie"])
    return pd.DataFrame({"left": left, "right": right, "winner": words[outcome], "who": who})


def fit(sizes: tuple[int, int, int], **options: Any) -> dict[str, float]:
    """Time one fit of 4 x 1000 draws, after a small one."""
    from bayesagree import Comparisons, davidson

    davidson(
        Comparisons.from_long(table(200, 4, 3), annotator="who"), draws=10, chains=1, random_seed=1, **options
    )
    games = Comparisons.from_long(table(*sizes), annotator="who")
    wall, used = time.perf_counter(), processor()
    tree = davidson(games, random_seed=1, **options)
    checks = tree["diagnostics"].to_dataset()
    found = {"wall": time.perf_counter() - wall, "processor": processor() - used}
    return found | {"ess": float(checks["ess"].min()), "r_hat": float(checks["r_hat"].max())}


def processor() -> float:
    """Return the processor's seconds of this process and of the processes that it waited for."""
    return sum(os.times()[:4])


def job(name: str, *arguments: str) -> dict[str, Any]:
    """Run a job of this file in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.comparison_speed", name, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def evalica(path: Path, rounds: int) -> dict[str, float] | None:
    """Return the seconds of the bootstrap."""
    python = os.environ.get("EVALICA_PYTHON")
    if python is None:
        return None
    done = subprocess.run(
        [python, "-c", EVALICA, str(path), str(rounds)], capture_output=True, text=True, check=True
    )
    return dict(zip(("wall", "processor"), map(float, done.stdout.split())))


def main() -> None:
    """Write the page."""
    lines: list[str] = []

    def line(sizes: tuple[int, ...], what: str, found: Any, beside: Any, note: str) -> None:
        ratio = "" if beside is None else f"{found['processor'] / beside['processor']:.3g}"
        size = "{:,} comparisons, {} models, {} annotators".format(*sizes)
        lines.append(f"| {size} | {what} | {found['processor']:.1f} | {found['wall']:.1f} | {ratio} | {note} |")
        RESULT.write_text(TEXT + "\n".join(lines) + "\n")
        sys.stderr.write(lines[-1] + "\n")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.csv"
        ours = job("fit", json.dumps(LARGE), "hmc")
        sampled = "least effective sample size {ess:.0f}, r-hat {r_hat:.3f}"
        line(LARGE, "davidson, 4 x 1000 draws", ours, None, sampled.format(**ours))
        small = {engine: job("fit", json.dumps(SMALL), engine) for engine in ("hmc", "nuts")}
        for engine, name in (("hmc", "davidson, 4 x 1000 draws"), ("nuts", "the same model in PyMC, NUTS")):
            one, beside = small[engine], small["hmc"] if engine == "nuts" else None
            line(SMALL, name, one, beside, sampled.format(**one))
        table(*LARGE).to_csv(path, index=False)
        if found := evalica(path, ROUNDS):
            note = "a tie is half a win; no places, no annotators"
            line(LARGE, f"evalica, {ROUNDS:,} bootstrap rounds", found, ours, note)


TEXT = """# Speed of comparisons

Seconds of the processor and of the clock on two cores, one run each, with every effect by annotator; a ratio is that of
the processor's seconds to those of `davidson` on the same comparisons. Nothing else ran on the machine. Made by
`python -m benchmarks.comparison_speed`.

| comparisons | job | processor | clock | ratio | |
|---|---|---|---|---|---|
"""


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["fit"]:
        print(json.dumps(fit(json.loads(sys.argv[2]), engine=sys.argv[3], **EFFECTS)))
    else:
        main()
