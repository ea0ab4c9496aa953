"""Metrics of ordered labels and of numbers from a table to every page that prints them."""

import json

import numpy as np
import pandas as pd
import pytest

import bayesagree as ba
from bayesagree.metrics.registry import Metric

pytestmark = pytest.mark.long

RNG = np.random.default_rng(4)
LEVELS = ["low", "mid", "high", "top"]
WORLDS = {
    "ordered": ("label", ("--ordered", "--labels", ",".join(LEVELS)), [
        "ordinal_mae", "within_one_accuracy", "quadratic_kappa"]),
    "numbers": ("rating", ("--scale", "0,9", "--step", "1"), [
        "bias", "mae", "rmse", "pearson", "spearman", "concordance", "crps"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_page_prints_the_same_scores(run, tmp_path, monkeypatch, kind):
    """The scores of `evaluate` in Python, of its command, of `compare` and of the report."""
    monkeypatch.chdir(tmp_path)
    column, options, metrics = WORLDS[kind]
    place = RNG.uniform(0, 9, 30)

    def given(noise):
        at = np.clip(np.rint(place + noise * RNG.standard_normal(30)), 0, 9).astype(int)
        return [LEVELS[a // 3] for a in at] if kind == "ordered" else at.tolist()

    people = [pd.DataFrame({"item": range(30), "annotator": a, column: given(1)}) for a in "abc"]
    models = [pd.DataFrame({"item": range(30), "model": m, column: given(s)}) for m, s in (("A", 0.5), ("B", 3))]
    votes, predicted = pd.concat(people), pd.concat(models)
    votes.to_csv("people.csv", index=False)
    predicted.rename(columns={"rating": "number"}).to_csv("models.csv", index=False)

    how = {"plausibility": "dirichlet" if kind == "ordered" else "normal_inverse_gamma", "draws": 50, "seed": 1}
    truth_is = ("--plausibility", how["plausibility"], "--draws", 50)
    words = ("people.csv", *options, *truth_is, "--metrics", ",".join(metrics))
    if kind == "ordered":
        truth = ba.Labels.from_long(votes, labels=LEVELS, ordered=True)
        own = ba.Predictions.from_long(predicted, labels=LEVELS)
    else:
        truth = ba.Ratings.from_long(votes, scale=(0, 9), step=1)
        own = ba.Predictions.from_numbers({m: t["rating"].to_numpy() for m, t in predicted.groupby("model")})
    tree = ba.evaluate(truth, own, metrics=metrics, **how)
    expected = tree["posterior"].mean(("chain", "draw"))

    done = run("evaluate", words[0], "models.csv", *words[1:], "--json", "-o", "kept.nc")
    assert done.returncode == 0, done.stderr
    printed = pd.DataFrame(json.loads(done.stdout)["scores"]).set_index(["metric", "model"])
    done = run("report", *words, "models.csv", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    for metric in metrics:
        for model in "AB":
            value = expected[metric].sel(model=model).item()
            assert printed.loc[(metric, model), "mean"] == pytest.approx(value, abs=1e-6)
        done = run("compare", "kept.nc", "--metric", metric, "--json")
        assert done.returncode == 0, done.stderr
        places = pd.DataFrame(json.loads(done.stdout)["ranks"]).set_index("model")
        first = ba.compare(tree, metric=metric)["rank_probability"].sel(rank=1)
        assert places["place_1"].to_dict() == pytest.approx(first.to_series().to_dict()), metric
        assert Metric.named(metric).title in page, metric
