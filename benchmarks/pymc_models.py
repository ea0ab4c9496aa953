"""PyMC models fast enough to play with: seconds, effective draws and divergences; benchmarks/results/pymc_models.md.

    BAYESAGREE_DATA=... python benchmarks/pymc_models.py

Sixty dermatology cases: Plackett-Luce by NUTS; three by PrIRN.
Phi of 200 items with five ratings on five levels. Each by
the sampler of PyMC and by nutpie where it is installed. Processor time counts all processes, compilation too.
"""

import importlib.util
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np

import bayesagree as ba
from bayesagree import simulate
from bayesagree.datasets import load
from bayesagree.inference.nuts import sample_nuts

CASES = 60
"""Cases of Plackett-Luce: as many as the claim is about."""


def processor_seconds() -> float:
    """Return the processor time of this process and of those that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def row(name: str, variable: str, draw: Callable[[], Any]) -> str:
    """Return a line of the table."""
    wall, processor = time.perf_counter(), processor_seconds()
    tree = draw()
    wall, processor = time.perf_counter() - wall, processor_seconds() - processor
    ess = az.ess(tree["posterior"].to_dataset()[[variable]])[variable].values
    stats = tree["sample_stats"].to_dataset()
    diverging = int(stats["diverging"].sum()) if "diverging" in stats else 0
    program = tree.attrs.get("sampler", tree["posterior"].attrs.get("inference_library", "pymc"))
    shape = f"{tree['posterior'].sizes['chain']} x {tree['posterior'].sizes['draw']}"
    line = f"| {name} | {program} | {shape} | {wall:.0f} | {processor:.0f} | {ess.min():.0f} | {diverging} |"
    print(line, flush=True)
    return line


def derm(cases: int) -> ba.Rankings:
    """Return the first cases."""
    rankings: Any = load("derm-ddx").annotations
    table = rankings.to_long()
    kept = table[table["item"].isin(rankings.items[:cases])]
    return ba.Rankings.from_long(kept, annotator="ranking", labels=list(rankings.categories))


def by_nuts(program: str, rankings: ba.Rankings, ratings: ba.Ratings) -> list[str]:
    """Return the lines of one NUTS sampler."""
    how: dict[str, Any] = {"random_seed": 1, "sampler": {"nuts_sampler": program}}
    phi, four = ba.agreement.common_agreement_model, {"draws": 1000, "chains": 4} | how
    two = {"chains": 2, "tune": 400} | how
    lines = [
        row("Phi, item means sampled", "phi", lambda: sample_nuts(phi(ratings), **four)),
        row(
            "Plackett-Luce", "worth",
            lambda: sample_nuts(ba.plausibility.PlackettLuce().model(rankings), draws=700, recorded=["worth"], **two),
        ),
    ]  # fmt: skip
    if program == "pymc":
        model = ba.plausibility.PrIRN(reliability=10).model(derm(3))  # 419 labels each: 2514 variables
        lines.append(
            row("PrIRN, three cases", "mass", lambda: sample_nuts(model, draws=200, recorded=["mass"], **two))
        )
    return lines


def main() -> None:
    """Measure and write the page."""
    warnings.simplefilter("ignore")
    rankings, ratings = (
        derm(CASES),
        simulate.ratings(n_items=200, ratings_per_item=5, phi=0.4, random_seed=7).ratings,
    )
    lines = [
        "# PyMC models fast enough to play with", "",
        f"{CASES} dermatology cases, 200 items of five ratings on five levels; what each line is stands in",
        "`benchmarks/pymc_models.py`, which made it. Effective draws are those of the worst worth or mass, or of Phi.",
        "Two processors; seconds by the clock depend on what else ran, processor seconds hardly do.", "",
        "| model | sampler | chains x draws | seconds | processor seconds | effective draws | divergences |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for program in ("pymc", "nutpie"):
        if importlib.util.find_spec(program) is not None:
            lines += by_nuts(program, rankings, ratings)
        (Path(__file__).parent / "results" / "pymc_models.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
