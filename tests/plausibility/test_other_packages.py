"""The same numbers as AltTest and glide, on the same labels."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayesagree import Labels, Predictions, alternative_annotator_test
from bayesagree.judges import prediction_powered_mean

STORED = json.loads((Path(__file__).parents[1] / "golden" / "other_packages.json").read_text())


def test_alt_test_has_the_same_winning_rate_and_advantage():
    theirs = STORED["alt_test"]
    people = Labels.from_matrix(np.array([list(said) for said in theirs["people"].values()]).T)
    judge = Predictions.from_labels({"llm": list(theirs["judge"])}, labels=["0", "1", "2"])
    ours = alternative_annotator_test(people, judge, epsilon=theirs["epsilon"], random_seed=1)
    for name in ("winning_rate", "advantage_probability"):
        assert ours[name].item() == pytest.approx(theirs[name], abs=1e-12)


def test_glide_has_the_same_estimate_where_the_verdicts_weigh_the_same():
    """glide divides by n - 1, ppi_py and this package by n: in the weight of the verdicts, and in both variances."""
    theirs = STORED["glide"]
    given = [np.array(theirs[name], float) for name in ("labels", "verdicts", "unlabelled")]
    labels, verdicts, others = given
    n, shift = labels.size, others.mean() - verdicts.mean()
    own = (prediction_powered_mean(*given).estimate - labels.mean()) / shift
    for name, power in (("tuned", own * n / (n - 1)), ("not_tuned", 1.0)):
        found = prediction_powered_mean(*given, power=power)
        assert found.estimate == pytest.approx(theirs[name]["mean"], abs=1e-12)
        variance = found.standard_error**2 - power**2 * others.var() / others.size
        variance = variance * n / (n - 1) + power**2 * others.var(ddof=1) / others.size
        assert variance**0.5 == pytest.approx(theirs[name]["std"], abs=1e-12)
