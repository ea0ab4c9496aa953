"""One record per posterior: complete, and its results carry its name."""

from dataclasses import replace

import numpy as np
import pytest

from bayesagree import InputError, Labels, Predictions, Rankings, Ratings, evaluate
from bayesagree.inference.posterior import Posterior, Request
from bayesagree.inference.results import INFERENCE
from bayesagree.plausibility import Dirichlet, PrIRN
from bayesagree.plausibility.registry import POSTERIORS, PosteriorRecord, fitting_posteriors, record_for

ANNOTATIONS = {
    Labels: Labels.from_matrix([[0, 0, 1], [1, 1, 1], [0, 1, 0]]),
    Rankings: Rankings.from_blocks([[[[0], [1]], [[1, 2]]], [[[1], [0]]], [[[0, 2]]]], labels=3),
    Ratings: Ratings.from_matrix([[4, 5, 4], [1, 2, 2]], scale=(1, 5), step=1),
}
PREDICTIONS = Predictions.from_labels({"A": [0, 1, 0], "B": [1, 1, 0]})
NUMBERS = Predictions.from_numbers({"A": [4.0, 2.0], "B": [3.0, 1.0]})
RECORDS = pytest.mark.parametrize("record", POSTERIORS.values(), ids=POSTERIORS)


def specification(record: PosteriorRecord) -> Posterior:
    predictions = NUMBERS if record.annotations is Ratings else PREDICTIONS
    given = {"predictions": predictions} if record.specification.takes_predictions else {}
    return replace(record.specification.at(record.reliabilities[0]), **given)


@RECORDS
def test_results_name_their_model(record: PosteriorRecord) -> None:
    annotations = ANNOTATIONS[record.annotations]
    tree = specification(record).draw(annotations, Request(20, 2, 1))
    assert tree.attrs["model"] == record.name
    assert tree.attrs["sampler"] == specification(record).engine
    assert tree.attrs["inference"] == INFERENCE[specification(record).engine]
    assert ("posterior_parameters" in tree) == (record.closed_form or record.specification.takes_predictions)
    assert record_for(annotations, record.name) is record
    assert record in fitting_posteriors(annotations)


@RECORDS
def test_blocks_are_the_draws_of_the_posterior(record: PosteriorRecord) -> None:
    if record.annotations is Ratings:
        return  # ratings have labels only beside a threshold
    annotations, request = ANNOTATIONS[record.annotations], Request(20, 2, 3, top_labels=1)
    kept = specification(record).draw(annotations, request)["posterior"]["top_label"].values
    drawn = np.concatenate([block.top_label for block in specification(record).blocks(annotations, request).blocks])
    np.testing.assert_array_equal(drawn[:, :, 0], kept.reshape(40, -1).T)


def test_objects_and_names_are_the_same_posterior() -> None:
    labels, how = ANNOTATIONS[Labels], {"draws": 20, "random_seed": 1}
    by_name = evaluate(labels, PREDICTIONS, plausibility="dirichlet", reliability=2.0, prior=0.5, **how)
    by_object = evaluate(labels, PREDICTIONS, plausibility=Dirichlet(2.0, 0.5), **how)
    assert by_name.identical(by_object)
    both = evaluate(labels, PREDICTIONS, plausibility=Dirichlet(prior=0.5), reliability=(1.0, 2.0), **how)
    np.testing.assert_array_equal(both["posterior"]["accuracy"].sel(reliability=2.0), by_name["posterior"]["accuracy"])
    with pytest.raises(InputError, match="is for Rankings, and these are Labels"):
        evaluate(labels, PREDICTIONS, plausibility=PrIRN())
