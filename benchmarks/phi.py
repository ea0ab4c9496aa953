"""Phi and alpha against their peers, in one run.

    python benchmarks/phi.py [nutpie pymc] [items=7000]

Ours: the exact engine, flat and hierarchical, continuous and 5 levels; a million items; interval alpha. Peers: NUTS of
the same PyMC model with 2 x (500 + 500) draws, by the samplers named (compilation counted), and
the `krippendorff` package on 600 continuous units where it is installed (it needs 20 GB of memory).
"""

import dataclasses
import importlib.util
import sys
import time

import numpy as np

from bayesagree import agreement_table, common_agreement, krippendorff_alpha, simulate
from bayesagree.agreement.phi import common_agreement_model
from bayesagree.annotations import Ratings
from bayesagree.datasets import load


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def nuts(ratings, item_mean, sampler):
    """Return seconds, mean and sd of Phi of NUTS."""
    import pymc as pm

    settings = {
        "tune": 500,
        "chains": 2,
        "cores": 2,
        "random_seed": 1,
        "progressbar": False,
        "nuts_sampler": sampler,
    }
    with common_agreement_model(ratings, item_mean=item_mean):
        seconds, tree = timed(lambda: pm.sample(500, **settings))
    phi = tree["posterior"]["phi"].values
    return seconds, phi.mean(), phi.std()


def engines(items, samplers):
    for n_levels in (None, 5):
        ratings = simulate.ratings(n_items=items, phi=0.4, n_levels=n_levels, random_seed=1).ratings
        if n_levels is None:  # Inside the scale, where NUTS has a plain Beta density.
            ratings = dataclasses.replace(ratings, rating=np.clip(ratings.rating, 1e-6, 1 - 1e-6))
        for item_mean in ("flat", "hierarchical"):
            common_agreement(ratings, item_mean=item_mean, random_seed=1)
            ours, tree = timed(lambda r=ratings, m=item_mean: common_agreement(r, item_mean=m, random_seed=1))
            found = tree["agreement"]
            print(f"{n_levels or 'continuous'} {item_mean}: exact {ours:.3f} s,", end=" ")
            print(f"Phi {float(found['mean']):.4f} +- {float(found['sd']):.4f}", flush=True)
            for sampler in samplers:
                peer, mean, sd = nuts(ratings, item_mean, sampler)
                print(
                    f"   {sampler} {peer:.1f} s, Phi {mean:.4f} +- {sd:.4f}: ratio {peer / ours:.0f}",
                    flush=True,
                )


def large():
    rng = np.random.default_rng(1)
    million = Ratings.from_matrix(rng.integers(0, 5, (1_000_000, 5)), scale=(0, 4), step=1)
    print(
        "a million items x 5 on 5 levels, hierarchical: "
        f"{timed(lambda: common_agreement(million, random_seed=1))[0]:.1f} s"
    )
    fine = simulate.ratings(n_items=1_000_000, phi=0.4, n_levels=None, random_seed=1).ratings
    floor = timed(lambda: np.sort(fine.rating))[0]
    for item_mean in ("hierarchical", "flat"):
        ours = timed(lambda m=item_mean: common_agreement(fine, item_mean=m, random_seed=1))[0]
        print(
            f"a million items x 5, continuous, {item_mean}: {ours:.1f} s, {ours / floor:.0f} sorts of the ratings"
        )
    seconds = []
    for name in ("truthfulness/s6", "truthfulness/s100"):  # the same statements on 6 and on 101 levels
        ratings = load(name).annotations
        agreement_table(ratings, random_seed=1)
        start = time.process_time()
        agreement_table(ratings, random_seed=1)
        seconds.append(time.process_time() - start)
        print(f"whole table, {name}, {ratings.n_annotations} ratings: {seconds[-1]:.2f} s of processor")
    print(f"   101 levels take {seconds[1] / seconds[0]:.1f} times as long as 6")
    survey = Ratings.from_matrix(rng.integers(0, 5, (7100, 5)), scale=(0, 4), step=1)
    print(
        f"whole table, 2000 replicates, 7100 x 5: {timed(lambda: agreement_table(survey, random_seed=1))[0]:.1f} s"
    )
    units = rng.random((600, 2))
    ours, alpha = timed(lambda: krippendorff_alpha(Ratings.from_matrix(units, scale=(0, 1)), level="interval"))
    print(f"interval alpha of 600 continuous units: {1000 * ours:.1f} ms")
    if importlib.util.find_spec("krippendorff") is not None:
        import krippendorff

        peer, other = timed(lambda: krippendorff.alpha(units.T, level_of_measurement="interval"))
        print(
            f"   krippendorff package {peer:.0f} s, ratio {peer / ours:.0f}; difference {abs(alpha - other):.1e}"
        )


if __name__ == "__main__":
    large()
    sizes = [int(word.removeprefix("items=")) for word in sys.argv[1:] if word.startswith("items=")]
    engines(*sizes or [7000], [word for word in sys.argv[1:] if "=" not in word] or ["nutpie", "pymc"])
