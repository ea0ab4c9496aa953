"""Plausibilities as each group of annotators sees them: pooled as far as the groups agree.

The votes n_ig of group g on item i come from the group's own plausibilities lambda_ig, which lie around those that all
groups have in common, m_i ~ Dirichlet(a):

    graded     lambda_ig ~ Dirichlet(s_g ((1 - r_g) m_i + r_g b_g)):  what is expected is worth s_g votes to the group,
               which leans, by a share r_g, to the labels of b_g whatever the item
    divided    lambda_ig = m_i, or with probability delta_g one of its own ~ Dirichlet(a + e_l)

    careful    a vote of annotator j is a draw from lambda_ig with probability theta_j, else from a habit of j

In the divided form t_i ~ m_i is a typical label of the common view, and a group that is apart has another one: l is
drawn from the mean of a without t_i. (Given t_i, m_i ~ Dirichlet(a + e_t): a typical label counts as one vote.)

The graded form integrates lambda_ig out and draws by a Chinese restaurant how many votes count for m_i and for b_g; the
divided one integrates all distributions out and draws which groups are apart. Two groups can only be known to differ,
so that one of them, that of most votes, is never apart. Without careless votes an annotator is a random member of the
group, and three people who favour a label whatever the item look like a group; the habits of `careful` are effects of
persons.

Features of annotators are crossed additively: each vote counts for a level of one feature, drawn from shares that all
votes have in common, and a group, a combination of levels, has the mean of their plausibilities with these shares.

Sources: Teh, Jordan, Beal, Blei, "Hierarchical Dirichlet processes", JASA 101 (2006), section 5.3, for the sampler of
the graded form; Ivey, Gauch, Jurgens, "NUTMEG: separating signal from noise in annotator disagreement" (EMNLP 2025) for
the question; Hovy et al., "Learning whom to trust with MACE" (NAACL 2013) for careless votes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._inference.results import check_size, fingerprint, result_tree
from bayesagree._inference.streams import Seed, block_generator, item_blocks, map_blocks, seed_sequence, stream_apart
from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import LOCAL, DrawBlock, Schedule, Stream, best_labels, by_chain, check_depth, label_dtype
from bayesagree.draws.convergence import ENOUGH_DRAWS, R_HAT_LIMIT, diagnostics
from bayesagree.draws.group_scores import Population, scores_by_group
from bayesagree.draws.posterior import Groups as Tree
from bayesagree.draws.posterior import Posterior, Request
from bayesagree.errors import InputError, warn
from bayesagree.plausibility.group_dirichlet._gibbs import States, draws_per_state, sample_states
from bayesagree.plausibility.group_dirichlet._kernels import count_different
from bayesagree.plausibility.group_dirichlet._problem import GroupProblem, MembersOfGroups
from bayesagree.plausibility.group_dirichlet.model import group_dirichlet_model
from bayesagree.plausibility.group_dirichlet.prior import GroupDirichletPrior
from bayesagree.plausibility.informed import guards
from bayesagree.plausibility.informed.covariates import on_items_of
from bayesagree.plausibility.informed.posterior import InformedDirichlet

if TYPE_CHECKING:
    import pymc as pm

type Form = Literal["graded", "divided"]

TARGET = "score against the truth of each group"


@dataclass(frozen=True, eq=False)
class OneGroup(Posterior):
    """The posterior of one group, whose states exist."""

    states: States
    group: int
    name = "group_dirichlet"
    target = TARGET

    def draw(self, annotations: Labels, request: Request) -> xr.DataTree:
        """Refuse: `GroupDirichlet` draws all groups at once."""
        raise InputError("draw all groups at once: group_dirichlet()")

    def model(self, annotations: Labels) -> "pm.Model":
        """Refuse: the model is of all groups."""
        raise InputError("the model is of all groups: group_dirichlet_model()")

    def blocks(
        self, annotations: Labels, request: Request, schedule: Schedule = LOCAL, *, plausibility: bool = False
    ) -> Stream:
        """Stream the draws of the group, those of `group_dirichlet` with the same seed."""
        depth = check_depth(request.top_labels or 1, annotations.categories.size)

        def draw(items: slice, rng: np.random.Generator) -> DrawBlock:
            (values,) = self.states.draw(items, rng, [self.group])
            return DrawBlock(items, best_labels(values, depth), plausibility=values if plausibility else None)

        return Stream(schedule.draw(draw, annotations.items.size, request.seed))


@dataclass(frozen=True)
class GroupDirichlet(Posterior):
    """Specification of the posterior of `group_dirichlet`, whose arguments it holds.

    With `population`, the share of each group, `evaluate` also scores for that population. `states` are for `evaluate`.
    """

    groups: MembersOfGroups | None = None
    form: Form = "graded"
    careful: bool = False
    prior: GroupDirichletPrior | None = None
    predictions: Predictions | None = None
    population: Population = None
    states: States | None = None
    name = "group_dirichlet"
    target = TARGET

    def problem(self, annotations: Labels, request: Request) -> GroupProblem:
        """Return the votes of each group, and the mean of each item that predictions give."""
        if self.groups is None:
            raise InputError(
                "group_dirichlet needs groups={annotator: group}; the command is `subjective --truth by-group --group`"
            )
        if self.form not in ("graded", "divided"):
            raise InputError(f"form={self.form!r} is not one of 'graded', 'divided'")
        base = None
        if self.predictions is not None:
            labels = on_items_of(annotations, self.predictions)
            predictions = self.predictions.aligned(labels.items, labels.categories)
            exclude = guards.without_knowing(labels, predictions)
            informed = InformedDirichlet(predictions, exclude).problem(labels)
            n_states = request.draws // draws_per_state(annotations.items.size, request.draws, request.chains)
            request = replace(request, draws=n_states, seed=stream_apart(request.seed, "predictions"))
            base = np.maximum([informed.prior_means(t) for chain in informed.drawn(request) for t in chain], 1e-9)
        how: dict[str, Any] = {"divided": self.form == "divided", "careful": self.careful, "prior": self.prior}
        return GroupProblem.of(annotations, self.groups, base=base, **how)

    def prepare(self, annotations: Labels, predictions: Predictions) -> tuple[Labels, Predictions]:
        """Return labels and predictions on the same items, those of the predictions that the model learns from."""
        labels = annotations if self.predictions is None else on_items_of(annotations, self.predictions)
        return super().prepare(labels, predictions)

    def model(self, annotations: Labels) -> "pm.Model":
        """Build the same posterior in PyMC, where it exists."""
        if self.careful or self.predictions is not None or self.groups is None:
            raise InputError("the PyMC model has groups=, form= and prior=; leave careful= and predictions= out")
        return group_dirichlet_model(annotations, groups=self.groups, form=self.form, prior=self.prior)

    def fitted(self, annotations: Labels, predictions: Predictions, request: Request) -> Posterior:
        """Return the same posterior with its states."""
        problem = self.problem(annotations, request)
        problem.warn_of_few()
        states = sample_states(problem, request.draws, request.chains, request.seed)
        return replace(self, states=states)

    @property
    def axes(self) -> dict[str, Any]:
        """Names of the groups, once there are states."""
        names = self.known.problem.names
        return {"group": names, "other_group": names}

    @property
    def known(self) -> States:
        """The states, which `fitted` makes."""
        if self.states is None:
            raise InputError("group_dirichlet has no states yet: fitted() makes them")
        return self.states

    def passes(self, reliabilities: Sequence[float], predictions: Predictions | None = None) -> list[Posterior]:
        """Return the posterior of each group, all of them with the same states."""
        return [OneGroup(self.known, g) for g in range(self.known.problem.names.size)]

    def results(self, groups: Tree) -> Tree:
        """Return scores by group."""
        return scores_by_group(groups, self.known.problem.names, self.population)

    def blocks(
        self, annotations: Labels, request: Request, schedule: Schedule = LOCAL, *, plausibility: bool = False
    ) -> Stream:
        """Refuse: there is a stream for each group, see `passes`."""
        raise InputError("group_dirichlet has a truth for each group; evaluate() and score() take it, group by group")

    def draw(self, annotations: Labels, request: Request) -> xr.DataTree:
        """Draw the plausibilities of all groups."""
        if self.predictions is not None:
            annotations, aligned = super().prepare(on_items_of(annotations, self.predictions), self.predictions)
            return replace(self, predictions=aligned)._draw(annotations, request)
        return self._draw(annotations, request)

    def _draw(self, annotations: Labels, request: Request) -> xr.DataTree:
        n_items, n_labels = annotations.items.size, annotations.categories.size
        problem = self.problem(annotations, request)
        last, dtype = {"category": n_labels}, np.dtype(np.float64)
        if request.top_labels is not None:
            last, dtype = {"rank": check_depth(request.top_labels, n_labels)}, np.dtype(label_dtype(n_labels))
        shape = {"chain": request.chains, "draw": request.draws, "group": problem.names.size, "item": n_items, **last}
        check_size(shape, dtype.itemsize, "pass top_labels=1, or call evaluate(), which streams")
        states = sample_states(problem, request.draws, request.chains, request.seed)
        kept = np.empty(tuple(shape.values()), dtype)
        differs = np.zeros((problem.names.size, n_items))
        root = seed_sequence(request.seed)

        def block(number: int, items: slice) -> Floats:
            drawn = np.stack([*states.draw(items, block_generator(root, number), range(problem.names.size))])
            by_item, by_sample = np.zeros(drawn.shape[:2]), np.zeros((len(drawn), request.samples))
            count_different(states.standpoints(items) if problem.divided else drawn, by_item, by_sample)
            differs[:, items] = by_item
            for g, values in enumerate(drawn):
                some = values if request.top_labels is None else best_labels(values, request.top_labels)
                kept[:, :, g, items] = by_chain(some, request.chains)
            return by_sample

        divided: Floats = sum(map_blocks(lambda job: block(*job), list(enumerate(item_blocks(n_items)))), np.zeros(1))
        differs /= request.samples
        differs[~problem.repeated] = np.nan
        share = ("chain", "draw", "group"), by_chain(divided / n_items, request.chains)
        drawn = {request.variable: (tuple(shape), kept), "divided": share} | states.parameters()
        names, chains = states.named(annotations)
        r_hat, ess = diagnostics(chains)
        groups = {
            "posterior": drawn,
            "derived": {"prob_different": (("group", "item"), differs)},
            "diagnostics": {"r_hat": (("parameter",), r_hat), "ess": (("parameter",), ess)},
            "constant_data": {
                "n_votes": (("group", "item"), problem.sizes),
                "n_votes_of_label": (("category",), np.bincount(problem.single[1], minlength=n_labels)),
            },
        }
        problem.warn_of_few()
        _warn(names, r_hat, chains.shape[1])
        coords = {"group": problem.names, "item": annotations.items, "category": annotations.categories}
        features = [*self.groups] if isinstance(self.groups, pd.DataFrame) else []
        coords |= {"level": problem.levels, "feature": features, "annotator": annotations.annotators}
        coords |= {"rank": np.arange(1, kept.shape[-1] + 1), "parameter": names}
        settings = {name: getattr(self, name) for name in ("form", "careful", "target")}
        settings |= {"prior": asdict(problem.prior), "draws_per_state": states.shared}
        settings["predictions"] = None if self.predictions is None else fingerprint(self.predictions)
        how = {"model": self.name, "engine": "gibbs", "seed": request.seed}
        return result_tree(groups, coords, settings=settings, **how)


def _warn(names: list[str], r_hat: np.ndarray[Any, Any], n_states: int) -> None:
    """Warn of chains that disagree."""
    worst = int(np.nan_to_num(r_hat).argmax())
    if n_states >= ENOUGH_DRAWS and r_hat[worst] > R_HAT_LIMIT:
        warn(f"the chains disagree about {names[worst]} (r_hat {r_hat[worst]:.2f}); pass more draws")


def group_dirichlet(
    labels: Labels,
    *,
    groups: MembersOfGroups,
    form: Form = "graded",
    careful: bool = False,
    prior: GroupDirichletPrior | None = None,
    predictions: Predictions | None = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    top_labels: int | None = None,
) -> xr.DataTree:
    """Plausibilities of each item as each group of annotators sees them, pooled as far as the groups agree.

    Parameters
    ----------
    labels
        Single labels by known annotators.
    groups
        Group of each annotator: a mapping or a series by annotator, or `bayesagree.annotations.Groups`. Annotators
        without a group are one, "unknown". Where the same few annotators of a group label all items and differ whatever
        the item, intervals are about these annotators, and too narrow for the whole group: a warning says so
        (`benchmarks/results/group_truth.md`). Or a table by
        annotator with a column for each feature: groups are then the combinations of levels that voted, whose
        plausibilities are the mean of those of their levels (graded form).
    form
        ``"graded"``: each group lies more or less near the common distribution of an item. ``"divided"``: on some items
        a group has a view of its own, which stands for another label than the common one; on all others it has the
        common view.
    careful
        Annotators have effects of their own: some votes are careless, and follow a habit of the annotator instead of
        the item.
    prior
        By default `GroupDirichletPrior()`.
    predictions
        Models whose output tells what items look like: the common distribution then has the means that draws of
        `informed_dirichlet`, fitted first to all votes, give (groups do not change them: a cut model), and items
        without votes are drawn too. Models that fit the votes better than independent voters could are left out, with a
        warning. Without predictions scores of good models are too low (`benchmarks/results/group_truth.md`): few votes
        take what a model knows beyond them for errors.
    draws, chains
        chains x draws draws of all items. Of more than 1250 items consecutive draws of a chain share a state of the
        Gibbs sampler, which draws plausibilities exactly.
    seed
        Same seed, same draws, on any number of threads.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, group, item, category), which sums to one over category, or
        ``top_label`` (chain, draw, group, item, rank), positions of categories; ``divided`` (chain, draw, group), the
        share of items on which the group's most plausible label (divided form: the typical label of its view) is none
        of the best of the mean of all other groups; ``similarity`` (chain, draw, group), the votes that the common
        distribution is worth to a group, and ``leaning``, the share of its views that favours some labels whatever the
        item, of crossed features both (chain, draw, level) with ``weight`` (chain, draw, feature), or ``apart`` (chain,
        draw, group), the probability that the group shares its distribution of an item with no other group;
        ``careful`` (chain, draw, annotator), the share of careful votes. Group ``derived``: ``prob_different`` (group,
        item), the probability that an item counts for ``divided``; NaN for groups without an item of two votes. Group
        ``diagnostics``: ``r_hat`` and ``ess`` (parameter). Group ``constant_data``: ``n_votes`` (group, item),
        ``n_votes_of_label`` (category).

    Raises
    ------
    InputError
        Labels without annotators, groups of other annotators, votes of one group only.
    SizeError
        A result too large for memory; `evaluate` streams it.

    Warns
    -----
    UserWarning
        Groups with at most one vote per item, groups of few annotators who differ whatever the item (Cochran's test),
        chains that disagree.

    See Also
    --------
    bayesagree.evaluate : Scores for each group, with this result or ``GroupDirichlet(groups)`` as ``plausibility=``;
        also ``differences`` of groups, ``worst_served``, and the score for a ``population={group: share}``.
    bayesagree.group_posterior : How well a model predicts the members of each group, without a truth.

    References
    ----------
    See the module; Y. W. Teh et al., JASA 101 (2006) 1566-1581, section 5.3; M. Plummer, Stat. Comput. 25 (2015), cuts.

    Examples
    --------
    >>> rows = [["yes"] * 8, ["yes"] * 4 + ["no"] * 4, ["no"] * 8] * 10
    >>> votes = Labels.from_matrix(rows, annotators=list("abcdefgh"))
    >>> sides = dict.fromkeys("abcd", "left") | dict.fromkeys("efgh", "right")
    >>> tree = group_dirichlet(votes, groups=sides, form="divided", draws=200, seed=1)
    >>> tree["derived"]["prob_different"].sel(group="left").values[:3].round().tolist()
    [0.0, 1.0, 0.0]
    >>> dict(tree["posterior"]["plausibility"].sizes)
    {'chain': 4, 'draw': 200, 'group': 2, 'item': 30, 'category': 2}
    """
    request = Request(draws, chains, seed, "gibbs", top_labels=top_labels)
    return GroupDirichlet(groups, form, careful, prior, predictions).draw(labels, request)
