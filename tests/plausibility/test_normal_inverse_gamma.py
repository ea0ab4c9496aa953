import json
from pathlib import Path

import numpy as np
import pytest
from _errors_of_draws import assert_mean, assert_share

from bayesagree import Ratings, annotation_certainty, normal_inverse_gamma
from bayesagree.plausibility import NormalInverseGammaPrior
from bayesagree.plausibility.certainty import label_certainty

ROOT = Path(__file__).parents[2]
MODEL = json.loads((ROOT / "models" / "normal_inverse_gamma.json").read_text())
GOLDEN = json.loads((ROOT / "tests" / "golden" / "stutz.json").read_text())["normal_inverse_gamma"]


def ratings_of(rows):
    width = max(map(len, rows))
    return Ratings.from_matrix([row + [None] * (width - len(row)) for row in rows], scale=(-4, 4))


@pytest.mark.parametrize("random_seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_reference_posterior(random_seed):
    data, expected = MODEL["data"], MODEL["posterior"]
    prior = NormalInverseGammaPrior(**data["prior"])
    tree = normal_inverse_gamma(
        ratings_of(data["ratings"]), reliability=data["reliability"], prior=prior, draws=20_000, random_seed=random_seed
    )
    posterior = tree["posterior"].to_dataset().stack(sample=("chain", "draw")).transpose("sample", "item")
    assert_mean(posterior["mean"].values, expected["mean"])
    assert_mean(posterior["variance"].values, expected["variance"])
    exact = label_certainty(tree, threshold=data["threshold"], exact=True)
    np.testing.assert_allclose(exact.sel(category="below"), expected["prob_below"], atol=1e-9)
    np.testing.assert_allclose(exact.sum("category"), 1, atol=1e-12)
    drawn = label_certainty(tree, threshold=data["threshold"])
    assert_share(drawn.sel(category="below"), expected["prob_below"], posterior.sizes["sample"])


def test_golden():
    prior = NormalInverseGammaPrior(*GOLDEN["prior"])
    ratings = ratings_of([GOLDEN["ratings"]])
    tree = normal_inverse_gamma(ratings, reliability=GOLDEN["reliability"], prior=prior, draws=1, chains=1)
    after = tree["posterior_parameters"].to_dataset().isel(item=0)
    assert after["location"].item() == pytest.approx(GOLDEN["mean"], abs=5e-7)
    assert (after["scale"] / (after["shape"] - 1)).item() == pytest.approx(GOLDEN["variance"], abs=5e-7)
    certainty = annotation_certainty(tree, threshold=GOLDEN["threshold"], exact=True)
    assert certainty.item() == pytest.approx(1 - GOLDEN["prob_below"], abs=5e-6)


def test_an_item_without_ratings_keeps_the_prior():
    tree = normal_inverse_gamma(Ratings.from_matrix([[4.0], [None]], scale=(0, 10)), draws=1, chains=1)
    assert tree["posterior_parameters"]["location"].values[1] == 5.0
    assert tree["posterior_parameters"]["shape"].values[1] == 1.5
