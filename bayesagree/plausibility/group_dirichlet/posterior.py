"""Plausibilities as each group of annotators sees them: pooled as far as the groups agree.

The votes n_ig of group g on item i come from the group's own plausibilities lambda_ig. All groups have m_i in common,
and on some items a group has a view of its own, which stands for another label:

    m_i ~ Dirichlet(a),   lambda_ig = m_i, or with probability delta_g one of its own ~ Dirichlet(a + e_l)

t_i ~ m_i is a typical label of the common view, and a group that is apart has another one: l is drawn from the mean of
a without t_i. (Given t_i, m_i ~ Dirichlet(a + e_t): a typical label counts as one vote.) Two groups can only be known
to differ, so that one of them, that of most votes, is never apart.

An annotator is a careful, random member of the group: three people who favour a label whatever the item look like a
group (`bayesagree.subjective.group_permutation_test`), and votes at random like views of one. The truth is learnt from
the votes alone, so that scores of models that know more than these votes come out too low.

Source: the question is that of Ivey, Gauch, Jurgens, "NUTMEG: separating signal from noise in annotator disagreement"
(EMNLP 2025); the model is ours.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._types import Advance, Named, Rng
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, warn
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.convergence import ENOUGH_DRAWS, MODES_APART, diagnostics
from bayesagree.inference.posterior import Drawer, Groups, ItemPosterior, Kinds, Request, Truths
from bayesagree.inference.streams import Seed, item_blocks
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.group_dirichlet._sampler import GroupVotes, MembersOfGroups
from bayesagree.plausibility.group_dirichlet.model import group_dirichlet_model
from bayesagree.plausibility.group_dirichlet.prior import GroupDirichletPrior
from bayesagree.plausibility.independence import warn_of_dependent

if TYPE_CHECKING:
    import pymc as pm

TARGET = "score against the truth of each group, from these annotations alone"


@dataclass(frozen=True)
class GroupDirichlet(ItemPosterior):
    """Specification of the posterior of `group_dirichlet`, whose arguments it holds.

    `states` and `group` are for `evaluate`, which passes over one group after the other.
    """

    groups: MembersOfGroups | None = None
    prior: GroupDirichletPrior | None = None
    states: Any = None
    group: int | None = None
    name = "group_dirichlet"
    engine = "gibbs"
    target = TARGET
    exchangeable = False

    def problem(self, annotations: Labels) -> GroupVotes:
        """Count the votes of each group."""
        if self.groups is None:
            raise InputError(
                "group_dirichlet needs groups={annotator: group}; the command is `subjective --truth by-group --group`"
            )
        return self.states or GroupVotes.of(annotations, self.groups)

    def model(self, annotations: Labels) -> "pm.Model":
        """Build the same posterior in PyMC."""
        return group_dirichlet_model(annotations, groups=self.groups or {}, prior=self.prior)

    def settings(self, annotations: Labels) -> Named:
        """Return the target and the prior."""
        return {"target": TARGET, "prior": asdict(self.prior or GroupDirichletPrior())}

    def truths(
        self,
        annotations: Labels,
        predictions: Predictions,
        request: Request,
        reliabilities: Sequence[float] = (1.0,),
    ) -> Truths:
        """Return the truth of each group, all with the same states; warn of models that depend on a group's votes."""
        given = super().truths(annotations, predictions, request)
        found = self.problem(annotations)
        # Members of a group are exchangeable where all annotators are not: its votes count as on items of their own.
        group, item = np.nonzero(found.votes.sum(axis=2))
        apart = Labels.from_counts(found.votes[group, item], labels=annotations.categories.tolist())
        warn_of_dependent(apart, given.predictions.take(item, apart.items))
        each = [replace(self, states=found, group=g) for g in range(found.names.size)]
        votes = found.votes.sum(axis=2)
        return replace(given, posteriors=each, axis="group", names=found.names, n_votes=votes)

    def variables(self, annotations: Labels, request: Request) -> Kinds:
        """Return the plausibilities or best labels of each group."""
        n_groups = self.problem(annotations).names.size
        of_one = super().variables(annotations, request).items()
        return {name: ({"group": n_groups} | last, dtype) for name, (last, dtype) in of_one}

    def drawer(self, problem: GroupVotes, request: Request) -> Drawer:
        """Return the function that draws a block of items, for all groups or for one of `truths`."""
        states = problem.states(self.prior, request)

        def draw(items: slice, rng: Rng) -> DrawBlock:
            if self.group is not None:
                return DrawBlock(items, plausibility=next(states.draw(items, rng, [self.group])))
            each = states.draw(items, rng, range(problem.names.size))
            return DrawBlock(items, plausibility=np.stack([*each], axis=2))

        return draw

    def coords(self, problem: GroupVotes) -> Named:
        """Return the names of groups and parameters."""
        labels = (f"shape[{as_python(k)}]" for k in problem.categories)
        return {"group": problem.names, "parameter": [*(f"apart[{g}]" for g in problem.names), *labels]}

    def known(self, problem: GroupVotes, request: Request) -> Groups:
        """Return on which items groups differ, and the parameters with R-hat and ESS."""
        states = problem.states(self.prior, request)
        names = self.coords(problem)["parameter"]
        parts = [states.different(items) for items in item_blocks(problem.votes.shape[1])]
        different = np.concatenate(parts, axis=-1)
        prob_different = different.mean(axis=(1, 2))
        prob_different[~problem.repeated] = np.nan
        r_hat, ess = diagnostics(np.concatenate([states.alone, states.log_shape], axis=2))
        worst = int(np.nan_to_num(r_hat).argmax())
        if states.alone.shape[1] >= ENOUGH_DRAWS and r_hat[worst] > MODES_APART:
            warn(f"the chains disagree about {names[worst]} (r_hat {r_hat[worst]:.2f}); pass more draws")
        of_draws = {"apart": states.alone, "divided": np.moveaxis(different.mean(axis=-1), 0, 2)}
        return {
            "posterior": {
                name: (("chain", "draw", "group"), np.repeat(values, states.shared, axis=1))
                for name, values in of_draws.items()
            },
            "derived": {"prob_different": (("group", "item"), prob_different)},
            "diagnostics": {"r_hat": (("parameter",), r_hat), "ess": (("parameter",), ess)},
            "constant_data": {
                "n_votes": (("group", "item"), problem.votes.sum(axis=2)),
                "n_votes_of_label": (("category",), problem.votes.sum(axis=(0, 1))),
            },
        }


def group_dirichlet(
    labels: Labels,
    *,
    groups: MembersOfGroups,
    prior: GroupDirichletPrior | None = None,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    top_labels: int | None = None,
    progress: Advance | None = None,
) -> xr.DataTree:
    """Infer the plausibilities of each item as each group of annotators sees them, pooled as far as groups agree.

    On some items a group has a view of its own, which stands for another label than the common one; on all others it
    has the common view.

    Parameters
    ----------
    labels
        Single labels by known annotators.
    groups
        Group of each annotator: a mapping or a series by annotator, or `bayesagree.annotations.Groups`. Annotators
        without a group are one, "unknown". Where the same few annotators of a group label all items and differ whatever
        the item, intervals are about these annotators, and too narrow for the whole group.
    prior
        By default `GroupDirichletPrior()`.
    draws, chains
        chains x draws draws of all items. Consecutive draws of a chain share a state of the Gibbs sampler, of 1000
        draws two, of large sets more; plausibilities are drawn exactly given a state.
    random_seed
        Same seed, same draws, on any number of threads.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    progress
        Called with the number of chains after every kept state of theirs, then with that of items of each block.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, group, category), which sums to one over category, or
        ``top_label`` (chain, draw, item, group, rank), positions of categories; ``divided`` (chain, draw, group), the
        share of items on which the typical label of the group's view is none of the most frequent ones of all other
        groups; ``apart`` (chain, draw, group), the probability that the group shares its distribution of an item with
        no other group. Group ``derived``: ``prob_different`` (group, item), the probability that an item counts for
        ``divided``; NaN for groups without an item of two votes. Group ``diagnostics``: ``r_hat`` and ``ess``
        (parameter). Group ``constant_data``: ``n_votes`` (group, item), ``n_votes_of_label`` (category).

    Raises
    ------
    InputError
        Labels without annotators, groups of other annotators, votes of one group only.
    SizeError
        A result above 4 GiB; `evaluate` streams it.

    Warns
    -----
    UserWarning
        Groups with at most one vote per item, chains that disagree.

    See Also
    --------
    bayesagree.evaluate : Scores for each group, with this result or ``GroupDirichlet(groups)`` as ``plausibility=``;
        also ``differences`` of groups, and ``worst_served``.
    bayesagree.group_posterior : How well a model predicts the members of each group, without a truth.

    References
    ----------
    See the module; J. Ivey, S. Gauch, D. Jurgens, "NUTMEG", EMNLP 2025.

    Examples
    --------
    >>> rows = [["yes"] * 8, ["yes"] * 4 + ["no"] * 4, ["no"] * 8] * 10
    >>> votes = Labels.from_matrix(rows, annotators=list("abcdefgh"))
    >>> sides = dict.fromkeys("abcd", "left") | dict.fromkeys("efgh", "right")
    >>> tree = group_dirichlet(votes, groups=sides, draws=200, random_seed=1)
    >>> tree["derived"]["prob_different"].sel(group="left").values[:3].round().tolist()
    [0.0, 1.0, 0.0]
    >>> dict(tree["posterior"]["plausibility"].sizes)
    {'chain': 4, 'draw': 200, 'item': 30, 'group': 2, 'category': 2}
    """
    labels = as_annotations(labels, (Labels,), "labels")
    request = Request(draws, chains, random_seed, top_labels, progress=progress)
    return GroupDirichlet(groups, prior).draw(labels, request)
