"""From chains of a Dawid-Skene sampler to the result tree, with convergence diagnostics."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import check_size, result_tree
from bayesagree.annotations import Labels
from bayesagree.errors import as_python
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._gibbs import ChainDraws
from bayesagree.plausibility.dirichlet._draws import check_depth

DIMS: dict[str, tuple[str, ...]] = {
    "plausibility": ("item", "category"),
    "top_label": ("item", "rank"),
    "prevalence": ("category",),
    "accuracy": ("annotator",),
    "confusion": ("annotator", "category", "observed_category"),
    "concentration": ("category",),
    "crowd_confusion": ("category", "observed_category"),
    "difficulty": ("item",),
    "ambiguity": (),
}
R_HAT_LIMIT, R_HAT_LIMIT_OF_ONE, ENOUGH_DRAWS = 1.1, 1.5, 100
"""An annotator or an item may lag behind the crowd; at 1.5 its chains have ended in different places."""
WATCHED = 50
"""How many items and annotators have convergence diagnostics; each costs milliseconds."""


@dataclass(frozen=True)
class Size:
    """How much to draw and what to keep of it."""

    draws: int
    chains: int
    top_labels: int | None
    confusion: bool
    max_bytes: int

    def check(self, labels: Labels) -> None:
        """Refuse a result that would not fit, before anything is drawn."""
        sizes = {"chain": self.chains, "draw": self.draws, "item": labels.items.size}
        n_labels, n_annotators = labels.categories.size, labels.annotators.size
        if self.top_labels is None:
            way_out = "pass top_labels=L to keep only the L best labels of each draw, or fewer draws"
            check_size(sizes | {"category": n_labels}, 4, self.max_bytes, way_out)
        else:
            depth = check_depth(self.top_labels, n_labels)
            check_size(sizes | {"rank": depth}, 2, self.max_bytes, "use fewer draws")
        sizes = {"chain": self.chains, "draw": self.draws, "annotator": n_annotators}
        if self.confusion:
            matrix = {"category": n_labels, "observed_category": n_labels}
            check_size(sizes | matrix, 4, self.max_bytes, "pass confusion=False to keep accuracies only")
        check_size({"item": labels.items.size, "category": n_labels}, 8, self.max_bytes, "use fewer items at a time")


def chains_tree(
    labels: Labels,
    cells: AnnotationCells,
    chains: Sequence[ChainDraws],
    *,
    engine: str,
    seed: Any,
    settings: Mapping[str, Any],
) -> xr.DataTree:
    """Stack chains into the result of `dawid_skene`."""
    drawn = {name: np.stack([c.variables[name] for c in chains]) for name in chains[0].variables}
    probability = sum(c.expected for c in chains) / len(chains)
    diagnostics = _diagnostics(drawn | {"label_probability": np.stack([c.watched for c in chains])})
    posterior = {name: (("chain", "draw", *DIMS[name]), values) for name, values in drawn.items()}
    derived = {
        "label_probability": (("item", "category"), cells.expand(np.asarray(probability), labels.categories.size))
    }
    tree = result_tree(
        {"posterior": posterior, "sample_stats": diagnostics, "derived": derived,
         "constant_data": {"n_labels_given": (("annotator",), labels_given(labels))}},
        coordinates(labels, drawn["top_label"].shape[-1] if "top_label" in drawn else 0)
        | {"parameter": _parameter_names(drawn, labels)},
        model="dawid_skene", engine=engine, seed=seed, settings=settings,
    )  # fmt: skip
    warn_unless_converged(tree)
    return tree


def coordinates(labels: Labels, n_ranks: int = 0) -> dict[str, NDArray[Any]]:
    """Return the names on each axis of a result."""
    return {
        "item": labels.items,
        "annotator": labels.annotators,
        "category": labels.categories,
        "observed_category": labels.categories,
        "rank": np.arange(1, n_ranks + 1),
    }


def labels_given(labels: Labels) -> NDArray[np.int64]:
    """Count the annotations of each annotator, shape (annotator,)."""
    return np.bincount(labels.annotator_index, minlength=labels.annotators.size)


def watched_items(n_items: int) -> NDArray[np.int64]:
    """Choose items at even distances."""
    return np.unique(np.linspace(0, n_items - 1, min(WATCHED, n_items)).astype(np.int64))


def watched_candidates(cells: AnnotationCells, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the position of the label with most votes of each watched item."""
    items = watched_items(cells.n_items)
    start, stop = cells.candidate_start[items], cells.candidate_start[items + 1]
    return np.array([a + np.argmax(shares[a:b]) for a, b in zip(start, stop)], dtype=np.int64)


def _watched_parameters(name: str, values: NDArray[Any]) -> NDArray[Any] | None:
    """Return the draws to be diagnosed, shape (chain, draw, parameter)."""
    if name in ("plausibility", "top_label", "confusion", "crowd_confusion", "difficulty"):
        return None
    return values.reshape(*values.shape[:2], -1)[:, :, :WATCHED]


def _diagnostics(drawn: Mapping[str, NDArray[Any]]) -> dict[str, tuple[tuple[str, ...], Any]]:
    from arviz_stats.base.array import array_stats

    chosen = [c for c in (_watched_parameters(n, v) for n, v in drawn.items()) if c is not None]
    draws = np.concatenate(chosen, axis=2)
    varies = np.ptp(draws, axis=(0, 1)) > 0
    stats = {}
    for name, function in (("r_hat", array_stats.rhat), ("ess", array_stats.ess)):
        values = np.full(varies.size, np.nan)
        if varies.any() and draws.shape[1] >= 4:
            with np.errstate(divide="ignore", invalid="ignore"):  # a probability that hardly ever leaves 0
                values[varies] = function(draws[:, :, varies], chain_axis=0, draw_axis=1)
        stats[name] = (("parameter",), values)
    return stats


def _parameter_names(drawn: Mapping[str, NDArray[Any]], labels: Labels) -> list[str]:
    axis = coordinates(labels)
    names = []
    for name, values in drawn.items():
        chosen = _watched_parameters(name, values)
        if chosen is not None and not DIMS[name]:
            names.append(name)
        elif chosen is not None:
            names += [f"{name}[{as_python(v)}]" for v in axis[DIMS[name][0]][: chosen.shape[2]]]
    return names + [f"label_probability[{as_python(labels.items[i])}]" for i in watched_items(labels.items.size)]


def warn_unless_converged(tree: xr.DataTree) -> None:
    """Warn where chains disagree; with fewer than a hundred draws r-hat is mostly noise."""
    if tree["posterior"].sizes["draw"] < ENOUGH_DRAWS:
        return
    r_hat = tree["sample_stats"].to_dataset()["r_hat"]
    names = [str(name) for name in r_hat["parameter"].values]
    one = [name.startswith(("label_probability", "accuracy")) for name in names]
    excess = np.nan_to_num(r_hat.values / np.where(one, R_HAT_LIMIT_OF_ONE, R_HAT_LIMIT))
    worst = int(excess.argmax())
    if excess[worst] > 1:
        warnings.warn(
            f"the chains disagree about {names[worst]} (r-hat {float(r_hat[worst]):.2f}); pass more draws and tune, or "
            "a larger thin. Chains that still disagree have found different explanations of the labels: pass gold",
            UserWarning,
            stacklevel=4,
        )
