"""A posterior whose draws exist: a trace of a model of the user's own, or any result of this package."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python
from bayesagree.inference.blocks import LOCAL, Schedule, Stream
from bayesagree.inference.convergence import worst_of_items
from bayesagree.inference.group_scores import Population, is_grouped, scores_by_group
from bayesagree.inference.posterior import Groups, Posterior, Request
from bayesagree.inference.top_labels import number_draws, stream_of, truth_draws


@dataclass(frozen=True, eq=False)
class Trace(Posterior):
    """Draws that are read, not made."""

    tree: xr.DataTree
    threshold: float | None = None
    population: Population = None
    name = "trace"
    engine = "trace"
    exchangeable = False

    @classmethod
    def of(cls, tree: xr.DataTree) -> "Trace":
        """Add R-hat and ESS of each item to a trace, as results of the package's own Markov chains have them."""
        for name, values in tree["posterior"].data_vars.items():
            wanted = {"plausibility": {"item", "category"}, "mean": {"item"}}.get(str(name), set())
            if not wanted <= {*values.dims}:
                raise InputError(
                    f"{name} has the dims {', '.join(map(str, values.dims))}; name them in the model, by coords= and "
                    f"dims=: {' and '.join(sorted(wanted, reverse=True))}"
                )
        return cls(tree if "diagnostics" in tree else _with_diagnostics(tree))

    @property
    def asks_threshold(self) -> bool:
        """Whether its truth are numbers."""
        return not {"plausibility", "top_label"} & set(self.tree["posterior"].data_vars)

    def check(self, annotations: Any) -> None:
        """Refuse annotations of other items or labels."""
        named = {"item": annotations.items} | ({} if self.asks_threshold else {"category": annotations.categories})
        for dim, names in named.items():
            known = _names(self.tree, dim)
            if dim == "item":
                if sorted(known.tolist(), key=str) != sorted(names.tolist(), key=str):
                    raise InputError("the items of the trace are not those of the annotations")
            elif not np.array_equal(known[: len(names)], names):
                raise InputError("the labels of the trace are not those of the annotations, in their order")
        self._require_distributions()

    def fitted(self, annotations: Any, predictions: Predictions, request: Request) -> Posterior:
        """Return the trace with its items in the order of the annotations."""
        known = _names(self.tree, "item")
        if np.array_equal(known, annotations.items):
            return self
        return replace(self, tree=self.tree.isel(item=pd.Index(known).get_indexer(pd.Index(annotations.items))))

    def _require_distributions(self) -> None:
        """Refuse plausibilities that are none, such as percents or logits, by the first and last draws."""
        posterior = self.tree["posterior"]
        if "plausibility" not in posterior.data_vars:
            return
        shown = posterior["plausibility"].isel(draw=[0, -1])
        total = shown.sum("category").where(shown.min("category") >= 0)
        wrong = ~(abs(total - 1) < 1e-3).all([dim for dim in total.dims if dim != "item"])
        if wrong.any():
            at = int(wrong.values.argmax())
            item, found = as_python(wrong["item"].values[at]), total.isel(item=at).values.flat[0]
            raise InputError(
                f"the plausibilities of item {item!r} sum to {found:g} or are negative; a draw of an item is a "
                "distribution over the labels: normalise it in the model"
            )

    def sized(self, request: Request) -> Request:
        """Return the request with the number of draws and chains of the trace."""
        draws, chains = (self.tree["posterior"].sizes[dim] for dim in ("draw", "chain"))
        return replace(request, draws=draws, chains=chains)

    @property
    def axes(self) -> dict[str, Any]:
        """Names of groups, where the trace has a truth for each."""
        names = self.tree["posterior"]["group"].values if is_grouped(self.tree) else None
        return {} if names is None else {"group": names, "other_group": names}

    def passes(self, reliabilities: Sequence[float], predictions: Predictions | None = None) -> list[Posterior]:
        """Return the trace of each group, or the trace itself."""
        if not self.axes:
            if self.population is not None:
                raise InputError("population= holds shares of groups, and this trace has no groups")
            return [self]
        return [replace(self, tree=self.tree.isel(group=g)) for g in range(self.axes["group"].size)]

    def results(self, groups: Groups) -> Groups:
        """Return scores by group, where the trace has groups."""
        if not self.axes:
            return groups
        known: Any = self.tree["constant_data"] if "constant_data" in self.tree.children else None
        n_votes = None if known is None or "n_votes" not in known else known["n_votes"].values
        return scores_by_group(groups, self.axes["group"], self.population, n_votes)

    def draw(self, annotations: Any, request: Request) -> xr.DataTree:
        """Return the trace."""
        return self.tree

    def blocks(
        self, annotations: Any, request: Request, schedule: Schedule = LOCAL, *, plausibility: bool = False
    ) -> Stream:
        """Stream the draws of the trace."""
        if request.numbers:
            return stream_of(self.tree, number_draws(self.tree, self.threshold), schedule)
        how: Any = {"threshold": self.threshold, "plausibility": plausibility}
        return stream_of(self.tree, truth_draws(self.tree, request.top_labels or 1, **how), schedule)

    def model(self, annotations: Any) -> Any:
        """Refuse: the model is the user's."""
        raise InputError("a trace holds draws and no model")


def _names(tree: xr.DataTree, dim: str) -> NDArray[Any]:
    """Return the names on a dimension of the truth, also of labels of which only the best ones were kept."""
    for group in ("posterior", "constant_data", "posterior_parameters"):
        if group in tree and dim in tree[group].coords:
            return np.asarray(tree[group][dim])
    raise InputError(f"the trace names no {dim}: sample a model that has the coordinate {dim!r}")


def _with_diagnostics(tree: xr.DataTree) -> xr.DataTree:
    """Return the trace with the worst R-hat and ESS of each item, as the package's own Markov chains have them."""
    posterior = tree["posterior"].to_dataset()
    name = next((name for name in ("plausibility", "mean") if name in posterior), None)
    if name is None:
        return tree
    worst = worst_of_items(posterior[name].transpose("chain", "draw", "item", ...).values)
    found = xr.Dataset({name: ("item", values) for name, values in worst.items()}, {"item": posterior["item"]})
    groups = {group: node.to_dataset() for group, node in tree.children.items()}
    return xr.DataTree.from_dict(groups | {"diagnostics": found})
