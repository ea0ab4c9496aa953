import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate

from bayesagree import InputError, Labels, Predictions, dirichlet, score
from bayesagree.metrics.sklearn_scorer import make_scorer


def of(model, x):
    return Predictions.from_scores(pd.DataFrame(model.predict_proba(x), x.index, model.classes_), name="m")


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(1)
    x = pd.DataFrame({"x": rng.normal(size=80)}, index=[f"i{k}" for k in range(80)])
    p = 1 / (1 + np.exp(-3 * x["x"].to_numpy()))
    votes = Labels.from_counts(rng.multinomial(5, np.c_[1 - p, p]), items=x.index.tolist(), labels=["no", "yes"])
    majority = pd.Series(votes.categories[votes.counts().argmax(axis=1)], index=x.index)
    return x, majority, dirichlet(votes, draws=100, random_seed=1)


def test_it_is_the_mean_of_the_score(case):
    x, majority, truth = case
    model = LogisticRegression().fit(x, majority)
    given = of(model, x)
    assert given.categories.tolist() == ["no", "yes"]
    for metric, sign in (("accuracy", 1), ("log_loss", -1), ("total_variation", -1)):
        expected = sign * score(truth, given, metric).mean().item()
        assert make_scorer(metric, truth)(model, x, majority) == pytest.approx(expected)
    best = dirichlet(
        Labels.from_counts([[1, 2]], items=["i1"], labels=["no", "yes"]), draws=9, top_labels=1, random_seed=1
    )
    assert 0 <= make_scorer("accuracy", best)(model, x.loc[["i1"]]) <= 1


def test_cross_validation_and_grid_search(case):
    x, majority, truth = case
    scorer = make_scorer("balanced_accuracy", truth)
    assert cross_val_score(LogisticRegression(), x, majority, scoring=scorer, cv=4).mean() > 0.7
    assert cross_val_score(LogisticRegression(), x.to_numpy(), majority, scoring=scorer, cv=4).mean() > 0.7
    search = GridSearchCV(LogisticRegression(), {"C": [1e-6, 1.0]}, scoring=make_scorer("log_loss", truth), cv=4)
    assert search.fit(x, majority).best_params_ == {"C": 1.0}


def test_refused(case):
    x, majority, truth = case
    model = LogisticRegression().fit(x, majority)
    with pytest.raises(InputError, match="no names"):
        make_scorer("accuracy", truth)(model, x.to_numpy(), majority.to_numpy())
    with pytest.raises(InputError, match="has no items 'other'"):
        make_scorer("accuracy", truth)(model, x.set_index(pd.Index(["other", *x.index[1:]])))
    with pytest.raises(InputError, match="takes a truth, or the labels"):
        make_scorer("accuracy")


def test_votes_follow_the_folds(case):
    x, majority, _ = case
    votes = np.random.default_rng(3).multinomial(5, [0.4, 0.6], size=80)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer("accuracy", labels=["no", "yes"], random_seed=1).set_score_request(votes=True)
        options = {"cv": KFold(4), "params": {"votes": votes}, "return_estimator": True, "return_indices": True}
        found = cross_validate(LogisticRegression(), x, majority, scoring=scorer, **options)
        search = GridSearchCV(LogisticRegression(), {"C": [1e-6, 1.0]}, scoring=scorer, cv=4)
        assert set(search.fit(x, majority, votes=votes).best_params_) == {"C"}
    for value, model, rows in zip(found["test_score"], found["estimator"], found["indices"]["test"]):
        truth = dirichlet(Labels.from_counts(votes[rows], labels=["no", "yes"]), random_seed=1)
        given = of(model, x.iloc[rows].reset_index(drop=True))
        assert value == pytest.approx(score(truth, given, "accuracy", random_seed=1).mean().item())
