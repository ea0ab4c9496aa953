# ruff: noqa: E501
"""Runs of `bayesagree.draws` that take the other side of its conditions: traces of other models, shares, refusals."""

from typing import Any

import numpy as np
import xarray as xr

import bayesagree as ba
from _runs.branches import lumped
from _runs.recipe import FEW, add, later
from _runs.world import FINE, HARD, LABELS, LEVELS, NUMBERS, PAGES, RANKED, RANKED_SOFT, SOFT
from bayesagree.draws.blocks import DrawBlock
from bayesagree.draws.pseudo_label import PseudoLabel
from bayesagree.draws.top_labels import labels_of, number_draws, of_items, point_estimate, stream_of, truth_draws
from bayesagree.draws.trace import Trace
from bayesagree.metrics import score

sides = {"ann": "P", "bob": "P", "cyn": "Q", "dan": "R", "eve": "Q"}
run = add(
    "evaluate shares", ba.evaluate, LABELS, SOFT, plausibility="group_dirichlet", groups=sides, metrics=["brier"], **FEW
)
for shares in ((1, 0, 0), (0, 0, 0), (0.5, -0.1, 0.6), (0.5, np.nan, 0.5), (np.inf, 1, 1), (2, 1, 5)):
    run(population=dict(zip("PQR", shares)))
run(population={"P": 1.0, "Q": 0.5})
grouped = later(lambda: ba.group_dirichlet(LABELS(), groups=sides, **FEW), "grouped")
add("score by name", lambda t, p: score(truth=t, predictions=p, metric="brier", seed=1), grouped, SOFT)()
add("score by name", lambda t, p: score(t, predictions=p, metric="brier", seed=1), grouped, SOFT)()


def share_right(true: Any, given: Any) -> float:
    """Return how often the given label is right: a metric that takes no weights."""
    return float(np.mean(np.asarray(true) == np.asarray(given)))


run = add(
    "evaluate a function",
    ba.evaluate,
    LABELS,
    HARD,
    plausibility="dirichlet",
    items="bootstrap",
    metrics=[share_right],
    **FEW,
)
run()
run(cluster=PAGES)

drawn = later(lambda: ba.dirichlet(LABELS(), **FEW), "drawn")
best = later(lambda: ba.dirichlet(LABELS(), top_labels=2, **FEW), "best")
means = later(lambda: ba.normal_inverse_gamma(LEVELS(), **FEW), "means")
merged = later(lambda: ba.dawid_skene(LABELS(), variant="one_coin", tune=4, **FEW), "merged")


def posterior(tree: Any, *names: str, **changed: Any) -> Any:
    """Return a trace of a model of the user's own, without what else results of the package hold."""
    kept = tree["posterior"].to_dataset()
    kept = kept[list(names)] if names else kept
    return xr.DataTree.from_dict({"posterior": kept.assign(**changed)})


TRACES = {
    "own": lambda: posterior(drawn(), "plausibility"), "best": lambda: posterior(best(), "top_label"), "named best": best, "whole": drawn, "merged": merged,
    "means": lambda: posterior(means()), "mean": lambda: posterior(means(), "mean"), "nothing": lambda: posterior(means(), "variance"),
    "unnamed": lambda: xr.DataTree.from_dict({"posterior": drawn()["posterior"].to_dataset().drop_vars("category")}),
    "of others": lambda: posterior(drawn(), "plausibility").isel(item=slice(3, None)),
    "turned": lambda: posterior(drawn(), "plausibility").isel(category=slice(None, None, -1)), "grouped": grouped, "rankings": lumped,
    "NaN": lambda: posterior(drawn(), "plausibility", plausibility=lambda t: t["plausibility"].where(t["item"] != "t03")),
    "chains": lambda: posterior(merged(), "plausibility").isel(chain=[0]),
}  # fmt: skip


def tried(call: Any) -> Any:
    """Give a result, or the sentence that refuses it."""
    try:
        return call()
    except ba.InputError as error:
        return f"refused: {error}"


def read(tree: Any) -> Any:
    """Give the best labels of a trace, its numbers, the names of its labels, and its first and third item."""
    blocks = [lambda k=k: truth_draws(tree, k).blocks for k in (1, 2, 4)]
    blocks += [lambda: truth_draws(tree, 1, threshold=2.5).blocks, lambda: number_draws(tree, 2.5).blocks]
    found = [tried(lambda b=b: [block._asdict() for block in b()]) for b in blocks]
    return [
        found,
        tried(lambda: labels_of(tree)),
        tried(lambda: of_items(tree, np.asarray(tree["posterior"]["item"])[[2, 0]])),
    ]


def scored(tree: Any) -> Any:
    """Give scores of labels, of shares and of numbers against a trace, and its diagnostics."""
    data = ((LABELS, HARD, "top_1_accuracy"), (LABELS, SOFT, "brier"), (LEVELS, NUMBERS, "mae"))
    found = [
        tried(lambda a=a, b=b, m=m: ba.evaluate(a(), b(), plausibility=tree, seed=3, metrics=[m])) for a, b, m in data
    ]
    return [found, Trace.of(tree).tree.get("diagnostics")]


for name, make in TRACES.items():
    add(f"read a trace {name}", read, later(make, name))()
    add(f"score a trace {name}", scored, later(make, name))()
tree = later(TRACES["own"], "own")
for options in ({"to": "kept.zarr"}, {"population": {"P": 1.0}}, {"draws": 5}, {"reliability": 2.0}):
    add("evaluate trace", ba.evaluate, LABELS, HARD, plausibility=tree, seed=3, metrics=["top_1_accuracy"])(**options)
add("Trace.model", lambda t: Trace.of(t).model(LABELS()), tree)()


def with_diagnostics(**found: Any) -> Any:
    """Return what is read of a trace that holds diagnostics of its own."""
    made = xr.DataTree.from_dict({"posterior": drawn()["posterior"].to_dataset(), "diagnostics": xr.Dataset(found)})
    from bayesagree.draws.blocks import Schedule

    read = stream_of(made, truth_draws(made, 1), Schedule())
    return [block.diagnostics if block.diagnostics is not None else "none" for block in read.blocks]


line = np.linspace(1, 1.4, 14)
for found in ({"r_hat": ("item", line), "ess": ("item", 90 * line)}, {"r_hat": ("item", line)}, {"ess": ("item", line)}, {},
              {"r_hat": ("part", line), "ess": ("part", line)}, {"r_hat": 1.2, "ess": 50.0}):  # fmt: skip
    add(f"diagnostics {sorted(found)}", with_diagnostics, **found)()

places: Any = np.array([4, 7, 9])
block = DrawBlock(places, np.array([[[1], [0]], [[2], [2]], [[0], [1]]]), number=np.array([[0.5, 1], [2, 3], [4, 7]]))
for inside in ([0, 2], [1], [0, 1, 2]):
    for items in (block.items, slice(4, 7)):
        add(
            f"DrawBlock.some {inside}",
            lambda b, i, n: b._replace(items=n).some(np.array(i))._asdict(),
            block,
            inside,
            items,
        )()
masses = np.random.default_rng(3).dirichlet(np.ones(5), (2, 3, 4))
named = np.array([[1, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0], [0, 1, 1, 1], [1, 0, 1, 0]], bool)
for shape in (0.0, 0.7):
    for items in (slice(0, 4), slice(1, 5)):
        add("PseudoLabel", lambda s, i: [PseudoLabel(named, s, np.random.SeedSequence(5)).split(masses, i),
                                         PseudoLabel(named, s, np.random.SeedSequence(5)).best(masses, i, 3)], shape, items)()  # fmt: skip

estimate = xr.DataArray(np.arange(6.0).reshape(3, 2), {"item": [*"pqr"], "category": [*"xy"]}, ("item", "category"))
for name, given in (("whole", estimate), ("turned", estimate.T), ("open", estimate.where(estimate["item"] != "q")), ("flat", estimate[:, 0]),
                    ("numbers", estimate[:, 0].drop_vars("category")), ("other dims", estimate.rename(item="part"))):  # fmt: skip
    add(f"point_estimate {name}", point_estimate, given)()
    add(f"point_estimate {name}", lambda e: point_estimate(e, np.array([*"rqp"]), np.array([*"yx"])), given)()
    add(f"number_draws {name}", lambda e: [b._asdict() for b in number_draws(e, 2.0).blocks], given)()
    add(f"truth_draws {name}", lambda e: [b._asdict() for b in truth_draws(e, 2).blocks], given)()

for options in (
    {"top_labels": 1},
    {"engine": "nuts", "client": "none"},
    {"engine": "nuts", "to": "x.zarr"},
    {"engine": "gibbs"},
    {"sampler": {"tune": 3}},
):
    add("normal_inverse_gamma", lambda **o: ba.normal_inverse_gamma(LEVELS(), **FEW, **o))(**options)
for options in ({"top_labels": 4}, {"top_labels": 0}, {"max_bytes": 4000}, {"max_bytes": 4032}, {"max_bytes": 4033}):
    add("dirichlet", ba.dirichlet, LABELS, **FEW)(**options)
for metric in ("brier", "top_1_accuracy", "mae"):
    add("evaluate ratings by labels", lambda m: ba.evaluate(FINE(), ba.Predictions.from_labels(
        {"A": ["below", "at_or_above"] * 6}, items=FINE().items.tolist(), labels=["below", "at_or_above"]), metrics=[m], **FEW), metric)()  # fmt: skip
    add("evaluate ratings by a threshold", lambda m: ba.evaluate(FINE(), ba.Predictions.from_labels(
        {"A": ["below", "at_or_above"] * 6}, items=FINE().items.tolist(), labels=["below", "at_or_above"]), threshold=2.5, metrics=[m], **FEW), metric)()  # fmt: skip
    add("evaluate ratings by numbers", ba.evaluate, FINE, NUMBERS, **FEW)(metrics=[metric], threshold=2.5)
add("evaluate rankings lumped", ba.evaluate, RANKED, RANKED_SOFT, plausibility=lumped, seed=3)(
    metrics=["brier", "average_overlap_3"]
)
