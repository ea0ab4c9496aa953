"""Peak memory of every function with a size limit, against the size that its limit is compared with.

    uv run python benchmarks/memory.py

Each function runs in a process of its own: once on less data, which loads and compiles what it needs (some 60 MiB that
stay), then on data whose result is some 64 MiB. Peak is the highest resident memory during that call beyond what was
there before it; estimate is the largest size that the call compared with the limit of memory.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bayesagree as ba
from bayesagree.inference import results

DRAWS: dict[str, Any] = {"draws": 50, "chains": 4, "random_seed": 1}


def labels(n: int, n_labels: int = 10, votes: int = 5) -> ba.Labels:
    rng = np.random.default_rng(1)
    truth = rng.integers(n_labels, size=n)
    right = rng.random((n, votes)) < 0.7
    return ba.Labels.from_matrix(np.where(right, truth[:, None], rng.integers(n_labels, size=(n, votes))))


def models(given: ba.Labels) -> ba.Predictions:
    rng = np.random.default_rng(2)
    shape = (given.items.size, given.categories.size)
    return ba.Predictions.from_scores({m: rng.dirichlet(np.ones(shape[1]), shape[0]) for m in "AB"})


def ratings(n: int) -> ba.Ratings:
    return ba.Ratings.from_matrix(np.random.default_rng(1).integers(1, 6, (n, 4)), scale=(1, 5))


def rankings(n: int) -> ba.Rankings:
    rng = np.random.default_rng(1)
    orders = [[[[int(k)] for k in rng.permutation(10)[:3]] for _ in range(3)] for _ in range(n)]
    return ba.Rankings.from_blocks(orders, labels=10)


def rated_models(n: int) -> ba.Predictions:
    rng = np.random.default_rng(3)
    return ba.Predictions.from_numbers({m: rng.uniform(1, 5, n) for m in "AB"})


def group_dirichlet(n: int) -> Callable[[], Any]:
    given = labels(n)
    groups = {name: "old" if k % 2 else "young" for k, name in enumerate(given.annotators.tolist())}
    return lambda: ba.group_dirichlet(given, groups=groups, **DRAWS)


def informed_normal(n: int) -> Callable[[], Any]:
    given, known = ratings(n), rated_models(n)
    return lambda: ba.informed_normal(given, known, **DRAWS)


def informed(n: int) -> Callable[[], Any]:
    given = labels(n)
    known = models(given)
    return lambda: ba.informed_dirichlet(given, known, **DRAWS)


def of_labels(function: str, **options: Any) -> Callable[[int], Callable[[], Any]]:
    def prepare(n: int) -> Callable[[], Any]:
        given = labels(n)
        return lambda: getattr(ba, function)(given, **DRAWS | options)

    return prepare


def after(function: Callable[[Any, ba.Labels], Any]) -> Callable[[int], Callable[[], Any]]:
    """Prepare a function of a posterior."""

    def prepare(n: int) -> Callable[[], Any]:
        given = labels(n)
        tree = ba.dirichlet(given, **DRAWS)
        return lambda: function(tree, given)

    return prepare


def gold(given: ba.Labels) -> dict[Any, Any]:
    return dict.fromkeys(given.items.tolist()[:40], given.categories.tolist()[0])


def of_rankings(function: str, size: int) -> Callable[[int], Callable[[], Any]]:
    def prepare(n: int) -> Callable[[], Any]:
        given = rankings(n // size)
        return lambda: getattr(ba, function)(given, **DRAWS)

    return prepare


def kept(n: int) -> Callable[[], Any]:
    path = Path("/tmp") / f"memory-{n}.nc"
    ba.write_result(ba.dirichlet(labels(n), **DRAWS), path)

    def read() -> Any:
        found = ba.read_result(path)
        path.unlink()
        return found

    return read


CASES: dict[str, Callable[[int], Callable[[], Any]]] = {
    "dirichlet": of_labels("dirichlet"),
    "dirichlet(top_labels=1)": of_labels("dirichlet", top_labels=1, draws=500),
    "dawid_skene": of_labels("dawid_skene"),
    "dawid_skene(variant='one_coin')": of_labels("dawid_skene", variant="one_coin"),
    "informed_dirichlet": informed,
    "group_dirichlet": group_dirichlet,
    "normal_inverse_gamma": lambda n: (lambda given: lambda: ba.normal_inverse_gamma(given, **DRAWS))(
        ratings(10 * n)
    ),
    "informed_normal": informed_normal,
    "prirn": of_rankings("prirn", 1),
    "plackett_luce": of_rankings("plackett_luce", 4),
    "calibrate": after(lambda tree, given: ba.calibrate(tree, gold(given), random_seed=1)),
    "with_posterior_predictive": after(
        lambda tree, given: ba.predictive.with_posterior_predictive(tree, given, random_seed=1)
    ),
    "read_result": kept,
}


def status(field: str) -> int:
    """Give a field of the memory of this process, in bytes."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field)]
    return 1024 * int(line.split()[1])


def measure(name: str) -> None:
    """Print estimate and peak of one function."""
    CASES[name](40)()
    CASES[name](1000)()  # large enough for compiled code
    sizes = [0]

    def noting(shape: Any, itemsize: int, way_out: str) -> None:
        sizes.append(itemsize * int(np.prod([int(n) for n in shape.values()], dtype=object)))

    for module in [m for key, m in sys.modules.items() if key.startswith("bayesagree")]:
        if getattr(module, "check_size", None) is results.check_size and module is not results:
            module.check_size = noting
    call = CASES[name](4000)
    del sizes[1:]  # what was prepared has sizes of its own
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    result = call()
    peak = status("VmHWM") - before
    held = getattr(result, "nbytes", 0)
    print(json.dumps({"function": name, "estimate": max(sizes), "peak": peak, "result": held}))


def main() -> None:
    """Write the table."""
    if len(sys.argv) > 1:
        return measure(sys.argv[1])
    lines = [
        "| function | estimate, MiB | result, MiB | peak, MiB | peak / estimate |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name in CASES:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=False)
        if done.returncode:
            print(name, done.stderr[-600:])
            continue
        row = json.loads(done.stdout.splitlines()[-1])
        estimate, held, peak = (row[key] / 2**20 for key in ("estimate", "result", "peak"))
        ratio = f"{peak / estimate:.2f}" if estimate else "no estimate"
        lines.append(f"| `{name}` | {estimate:.0f} | {held:.0f} | {peak:.0f} | {ratio} |")
        print(lines[-1], flush=True)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
