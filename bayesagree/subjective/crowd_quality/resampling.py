"""The uncertainty of CrowdTruth qualities, and who labels as if at random: a Bayesian bootstrap over the items.

Each draw weights the items anew, weights ~ Dirichlet(1, ..., 1), as if they were a sample of a larger population, and
solves for all qualities again. An annotator of five items has a wide interval, one of five hundred a narrow one.

The chance level of an annotator is the quality of their own labels dealt at random over their own items. Somebody who
always gives the same label sits exactly on it, however often the crowd happens to agree with them. A spammer is an
annotator whose quality is nearer to their chance level than to the quality of the average annotator; the draws say with
what probability.
"""

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import require_from, result_tree
from bayesagree._inference.streams import Seed, block_generators, map_blocks
from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.errors import InputError, positive_int
from bayesagree.subjective.crowd_quality._judgments import Judgments
from bayesagree.subjective.crowd_quality.quality import Quality, compare_vectors, solve


def crowdtruth_posterior(
    labels: Labels,
    *,
    closed: bool = True,
    tolerance: float = 1e-3,
    max_iterations: int = 1000,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
) -> xr.DataTree:
    """Draw the CrowdTruth qualities under a Bayesian bootstrap over items.

    Parameters
    ----------
    labels, closed, tolerance, max_iterations
        As `crowdtruth`.
    draws, chains
        Independent draws, chains x draws in all; each solves for all qualities.
    seed
        Same seed, same draws, on any number of threads.

    Returns
    -------
    DataTree
        Group ``posterior``: ``uqs`` (chain, draw, item), ``wqs``, ``chance_wqs`` (chain, draw, annotator) and ``aqs``
        (chain, draw, category). The UQS of an item varies with the weights of its annotators only.

    Raises
    ------
    InputError, ConvergenceError
        As `crowdtruth`.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> tree = crowdtruth_posterior(votes, draws=20, chains=1, seed=1)
    >>> tree["posterior"]["wqs"].mean(("chain", "draw")).idxmin().item()
    'z'
    """
    n_samples = positive_int(draws, "draws") * positive_int(chains, "chains")
    judgments = Judgments.of(labels)
    generators = block_generators(seed, n_samples)
    judged = np.unique(judgments.item)

    def one(rng: np.random.Generator) -> tuple[Quality, Floats]:
        weight = np.zeros(judgments.shape[0])
        weight[judged] = judged.size * rng.dirichlet(np.ones(judged.size))
        quality = solve(
            judgments, closed=closed, tolerance=tolerance, max_iterations=max_iterations, item_weight=weight
        ).last
        dealt = _dealt(judgments.annotator, places, rng)
        _, wwa, wsa = compare_vectors(judgments, dealt, quality.wqs, quality.uqs * weight, quality.aqs)
        return quality, wwa * wsa

    _ = judgments.visits, judgments.places  # built once, before threads share them
    places = np.argsort(judgments.annotator, kind="stable")
    solved = list(map_blocks(one, generators))
    of = {"uqs": "item", "wqs": "annotator", "chance_wqs": "annotator", "aqs": "category"}
    drawn = [q._asdict() | {"chance_wqs": chance} for q, chance in solved]
    posterior = {
        name: (("chain", "draw", dim), np.stack([one[name] for one in drawn]).reshape(chains, draws, -1))
        for name, dim in of.items()
    }
    n_judged = np.bincount(judgments.annotator, minlength=judgments.shape[1])
    coords = {"item": labels.items, "annotator": labels.annotators, "category": labels.categories}
    groups = {"posterior": posterior, "constant_data": {"n_items": (("annotator",), n_judged)}}
    return result_tree(groups, coords, model="crowdtruth", engine="bootstrap", seed=seed, settings={"closed": closed})


def spammers(result: xr.DataTree, *, probability: float = 0.0) -> pd.DataFrame:
    """List annotators by the probability that they label as if at random.

    Parameters
    ----------
    result
        Result of `crowdtruth_posterior`.
    probability
        List only those of at least this probability.

    Returns
    -------
    DataFrame
        Index annotator, most suspicious first: ``prob_spammer`` = Pr(quality nearer to the annotator's own chance level
        than to the average annotator, each annotation counting once), mean ``wqs`` with ``lower`` and ``upper`` (ETI
        0.95), mean ``chance_wqs``, and ``n_items``.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> spammers(crowdtruth_posterior(votes, draws=20, chains=1, seed=1)).index[0]
    'z'
    """
    if not 0 <= probability <= 1:
        raise InputError(f"probability={probability!r} is not between 0 and 1")
    require_from("crowdtruth_posterior", result, "posterior/chance_wqs")
    posterior = result["posterior"].to_dataset()
    n_items = result["constant_data"].to_dataset()["n_items"]
    wqs, chance = posterior["wqs"], posterior["chance_wqs"].mean(("chain", "draw"))
    average = wqs.weighted(n_items).mean("annotator")
    suspicious = (wqs < (chance + average) / 2).mean(("chain", "draw")).where(n_items > 0)
    interval = wqs.quantile([0.025, 0.975], ("chain", "draw"))
    columns = {"prob_spammer": suspicious, "wqs": wqs.mean(("chain", "draw")), "lower": interval[0]}
    columns |= {"upper": interval[1], "chance_wqs": chance, "n_items": n_items}
    index = pd.Index(posterior["annotator"].values, name="annotator")
    table = pd.DataFrame({name: column.values for name, column in columns.items()}, index)
    listed = pd.DataFrame(table[table["prob_spammer"] >= probability]) if probability else table
    return listed.sort_values(["prob_spammer", "wqs"], ascending=[False, True])


def _dealt(annotator: NDArray[np.int64], places: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Deal the vectors of every annotator at random over their own items: whose vector each judgment gets."""
    dealt = np.empty_like(places)
    dealt[places] = np.lexsort((rng.random(annotator.size), annotator))
    return dealt
