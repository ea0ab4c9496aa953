"""One record per posterior: complete, and its results carry its name."""

import inspect

import numpy as np
import pytest

from bayesagree import InputError, Labels, Predictions, Rankings, Ratings
from bayesagree.plausibility.registry import POSTERIORS, PosteriorRecord, fitting_posteriors, posterior_for

ANNOTATIONS = {
    Labels: Labels.from_matrix([[0, 0, 1], [1, 1, 1], [0, 1, 0]]),
    Rankings: Rankings.from_blocks([[[[0], [1]], [[1, 2]]]], labels=3),
    Ratings: Ratings.from_matrix([[4, 5, 4], [1, 2, 2]], scale=(1, 5), step=1),
}
PREDICTIONS = Predictions.from_labels({"A": [0, 1, 0], "B": [1, 1, 0]})
RECORDS = pytest.mark.parametrize("record", POSTERIORS.values(), ids=POSTERIORS)


def needed(record: PosteriorRecord) -> dict[str, Predictions]:
    return {"predictions": PREDICTIONS} if record.takes_predictions else {}


@RECORDS
def test_records_are_complete(record: PosteriorRecord) -> None:
    assert record.title
    assert record.sentence == record.sentence.strip().rstrip(".")
    assert record.reference.key in record.reference.key + record.reference.text
    assert record.reference.text.endswith(".")
    assert record.annotations in ANNOTATIONS
    assert record.reliabilities[0] > 0
    assert len(set(record.reliabilities)) == len(record.reliabilities)
    for function in (record.posterior, record.blocks, record.model):
        assert inspect.getdoc(function)
        assert {"prior", "shape"} & set(inspect.signature(function).parameters)
        assert ("reliability" in inspect.signature(function).parameters) != record.learns_reliability
    assert record.posterior.__name__ == record.name
    assert record.model.__name__ == f"{record.name}_model"


@RECORDS
@pytest.mark.filterwarnings("ignore:.*items have not converged")
def test_results_name_their_model(record: PosteriorRecord) -> None:
    annotations = ANNOTATIONS[record.annotations]
    tree = record.posterior(annotations, **needed(record), draws=20, chains=2, seed=1)
    assert tree.attrs["model"] == record.name
    assert tree.attrs["sampler"] == tree.attrs["engine"]
    assert ("posterior_parameters" in tree) == (record.closed_form or record.takes_predictions)
    assert posterior_for(annotations, record.name) is record
    assert record in fitting_posteriors(annotations)


@RECORDS
def test_blocks_are_the_draws_of_the_posterior(record: PosteriorRecord) -> None:
    if record.annotations is Ratings:
        return  # ratings have labels only beside a threshold
    annotations = ANNOTATIONS[record.annotations]
    asked = needed(record) | {"draws": 200, "chains": 2, "seed": 3}
    kept = record.posterior(annotations, top_labels=1, **asked)["posterior"]["top_label"].values
    blocks = record.blocks(annotations, depth=1, **asked)
    drawn = np.concatenate([block.top_label for block in blocks])
    np.testing.assert_array_equal(drawn[:, :, 0], kept.reshape(400, -1).T)


def test_names_and_kinds_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="plausibility='irn' is not one of"):
        posterior_for(ANNOTATIONS[Labels], "irn")
    with pytest.raises(InputError, match="is for Rankings, and these are Labels; use 'dirichlet' or"):
        posterior_for(ANNOTATIONS[Labels], "prirn")
