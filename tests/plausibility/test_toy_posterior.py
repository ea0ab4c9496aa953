"""A posterior from outside the package: what it derives from, and that evaluations and certainties know it then.

Binary labels under a Beta prior, drawn in a way of its own, so that the Dirichlet posterior checks it.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from bayesagree import Labels, Predictions, annotation_certainty, dirichlet, evaluate
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.nuts import sample_nuts
from bayesagree.inference.posterior import ItemPosterior, Request
from bayesagree.inference.results import settings_of
from bayesagree.plausibility.registry import POSTERIORS, STUTZ, PosteriorRecord
from bayesagree.report.data import report_data

VOTES = Labels.from_counts([[3, 1], [0, 4], [2, 2]] * 30, labels=["no", "yes"])
MODELS = Predictions.from_labels({"A": ["no", "yes", "no"] * 30, "B": ["yes"] * 90})


@dataclass(frozen=True)
class BetaBinomial(ItemPosterior):
    """Posterior of the share of "yes", Beta(prior + yes, prior + no)."""

    reliability: float = 1.0
    prior: float = 0.5
    name = "beta_binomial"

    def problem(self, annotations):
        return self.prior + self.reliability * annotations.counts()

    def drawer(self, problem, request: Request):
        def draw(items, rng):
            shapes = problem[items]
            yes = rng.beta(shapes[:, 1:], shapes[:, :1], size=(len(shapes), request.samples))
            return DrawBlock(items, plausibility=np.stack([1 - yes, yes], axis=2))

        return draw

    def known(self, problem, request: Request):
        return {"posterior_parameters": {"concentration": (("item", "category"), problem)}}

    def model(self, annotations):
        import pymc as pm

        with pm.Model(coords={"item": annotations.items, "category": annotations.categories}) as model:
            yes = pm.Beta("yes", *self.problem(annotations).T[::-1], dims="item")
            pm.Deterministic("plausibility", pm.math.stack([1 - yes, yes], axis=1), dims=("item", "category"))
        return model


@pytest.fixture
def registered(monkeypatch):
    record = PosteriorRecord(
        BetaBinomial(), "beta-binomial", Labels, "a beta-binomial posterior", STUTZ, closed_form=True
    )
    monkeypatch.setitem(POSTERIORS, record.name, record)


def test_it_draws_and_has_certainties():
    tree = BetaBinomial().draw(VOTES, Request(random_seed=1))
    known = dirichlet(VOTES, random_seed=2)
    assert tree.attrs["model"] == "beta_binomial"
    # Certainties of 4000 draws: five standard errors of a difference of shares.
    difference = annotation_certainty(tree) - annotation_certainty(known)
    assert float(abs(difference).max()) < 5 * np.sqrt(2 * 0.25 / 4000)


def test_it_is_evaluated_as_an_object():
    one, other = (
        evaluate(VOTES, MODELS, plausibility=truth, reliability=(1.0, 2.0), random_seed=random_seed)["posterior"][
            "accuracy"
        ]
        for truth, random_seed in ((BetaBinomial(), 1), ("dirichlet", 2))
    )
    error = np.sqrt(other.var(("chain", "draw")) * 2 / 4000)
    assert (abs(one.mean(("chain", "draw")) - other.mean(("chain", "draw"))) < 5 * error).all()
    sized = evaluate(VOTES, MODELS, plausibility=BetaBinomial(2.0), draws=20, random_seed=1)
    assert settings_of(sized)["reliability"] == 2.0


def test_it_is_evaluated_and_reported_by_name(registered):
    how = {"draws": 20, "random_seed": 1, "metrics": ["accuracy", "agreement"]}
    tree = evaluate(VOTES, MODELS, plausibility="beta_binomial", prior=1.0, **how)
    assert tree.identical(evaluate(VOTES, MODELS, plausibility=BetaBinomial(prior=1.0), **how))
    with pytest.raises(TypeError, match="no argument priors=; did you mean prior="):
        evaluate(VOTES, MODELS, plausibility="beta_binomial", priors=1.0)
    data = report_data(VOTES, MODELS, plausibility="beta_binomial", draws=50)
    assert data.settings.record.title == "beta-binomial"


@pytest.mark.nuts
def test_its_model_is_sampled():
    one = Labels.from_counts([[3, 1]], labels=["no", "yes"])
    tree = sample_nuts(BetaBinomial().model(one), draws=500, chains=2, random_seed=1)
    assert float(tree["posterior"]["plausibility"][..., 0].mean()) == pytest.approx(3.5 / 5, abs=0.03)
