"""A posterior whose draws exist: a trace of a model of the user's own, or any result of this package."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import xarray as xr

from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.blocks import Stream
from bayesagree.inference.convergence import worst_of_items
from bayesagree.inference.group_scores import is_grouped
from bayesagree.inference.posterior import Posterior, Request, Truths
from bayesagree.inference.top_labels import names_of, number_draws, of_items, truth_draws


@dataclass(frozen=True, eq=False)
class Trace(Posterior):
    """Draws that are read, not made."""

    tree: xr.DataTree
    threshold: float | None = None
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
            if wanted and "diagnostics" not in tree:
                worst = worst_of_items(values.transpose("chain", "draw", "item", ...).values)
                by_item = {key: ("item", found) for key, found in worst.items()}
                tree = tree.assign(diagnostics=xr.DataTree(xr.Dataset(by_item, {"item": values["item"]})))
        return cls(tree)

    @property
    def asks_threshold(self) -> bool:
        """Whether its truth are numbers."""
        return not {"plausibility", "top_label"} & set(self.tree["posterior"].data_vars)

    def matched(self, annotations: Any) -> Self:
        """Return the trace with its items in the order of the annotations; refuse those of other items or labels."""
        known = names_of(self.tree, "item")
        if sorted(known.tolist(), key=str) != sorted(annotations.items.tolist(), key=str):
            raise InputError("the items of the trace are not those of the annotations")
        if not self.asks_threshold:
            labels = names_of(self.tree, "category")
            if not np.array_equal(labels[: annotations.categories.size], annotations.categories):
                raise InputError("the labels of the trace are not those of the annotations, in their order")
        if np.array_equal(known, annotations.items):
            return self
        return replace(self, tree=of_items(self.tree, annotations.items))

    def truths(
        self,
        annotations: Any,
        predictions: Predictions,
        request: Request,
        reliabilities: Sequence[float] = (1.0,),
    ) -> Truths:
        """Return the truth of the trace, or of each of its groups, in its own number of draws."""
        tree = self.matched(annotations).tree
        draws, chains = (tree["posterior"].sizes[dim] for dim in ("draw", "chain"))
        found = super().truths(annotations, predictions, replace(request, draws=draws, chains=chains))
        if not is_grouped(tree):
            return replace(found, posteriors=[replace(self, tree=tree)])
        known: Any = tree["constant_data"] if "constant_data" in tree.children else {}
        each = [replace(self, tree=tree.isel(group=g)) for g in range(tree["posterior"].sizes["group"])]
        n_votes = known["n_votes"].values if "n_votes" in known else None
        names = np.asarray(tree["posterior"]["group"])
        return replace(found, posteriors=each, axis="group", names=names, n_votes=n_votes)

    def draw(self, annotations: Any, request: Request) -> xr.DataTree:
        """Return the trace, its items in the order of the annotations."""
        return self.matched(annotations).tree

    def blocks(self, annotations: Any, request: Request) -> Stream:
        """Stream the draws of the trace."""
        if request.numbers:
            drawn = number_draws(self.tree, self.threshold)
        else:
            how: Any = {"threshold": self.threshold, "plausibility": request.plausibility}
            drawn = truth_draws(self.tree, request.top_labels or 1, **how)
        return Stream(drawn.map(request.then or (lambda block: block)))

    def model(self, annotations: Any) -> Any:
        """Refuse: the model is the user's."""
        raise InputError("a trace holds draws and no model")
