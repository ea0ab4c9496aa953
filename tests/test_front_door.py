"""Programs as users of the field type them, on files and on frames of pandas and polars; each line with its answer."""

import inspect
import re

import arviz as az
import numpy as np
import pandas as pd
import pytest

import bayesagree as ba

SHORT = {"draws": 50, "chains": 2, "random_seed": 1}


def in_memory(frame, tmp_path):
    return frame


def in_polars(frame, tmp_path):
    return pytest.importorskip("polars").DataFrame(frame.to_dict("list"))


def in_file(frame, tmp_path):
    path = tmp_path / f"{'_'.join(map(str, frame.columns))}.csv"
    frame.to_csv(path, index=False)
    return str(path)


KINDS = pytest.mark.parametrize("held", [in_memory, in_polars, in_file])


# Four annotators, of whom each errs on every seventh item; the truth cycles through three labels.
VOTES = pd.DataFrame(
    [(f"q{i}", who, "xyz"[(i + ((i + 2 * j) % 7 == 0)) % 3]) for i in range(60) for j, who in enumerate("abcd")],
    columns=["item", "annotator", "label"],
)
ITEMS = [f"q{item}" for item in range(60)]
TRUTH = np.array(["xyz"[item % 3] for item in range(60)])
HARD = pd.DataFrame({"item": ITEMS, "right": TRUTH, "wrong": np.roll(TRUTH, 20 % 3)})
PROBA = pd.DataFrame(np.where(TRUTH[:, None] == np.array(list("xyz")), 0.9, 0.05), columns=list("xyz"))
RATED = pd.DataFrame(
    [(item, who, 1 + (item + shift) % 7) for item in range(6) for who, shift in zip("abc", (0, 0, 1))],
    columns=["item", "annotator", "rating"],
)


TABLES = {
    "annotations": VOTES,
    "predictions": HARD,
    "ratings": RATED,
    "probabilities": PROBA.assign(item=ITEMS),
    "battles": pd.DataFrame({"model_a": [*"ABC"] * 9, "model_b": [*"BCA"] * 9, "winner": ["model_a", "tie", "A"] * 9}),
    "people": pd.DataFrame({"annotator": [*"abcd"], "age": ["old", "old", "young", "young"]}),
}
PROGRAMS = {
    "evaluate and compare": """
votes, models = ba.read_annotations(annotations), ba.read_predictions(predictions)
result = ba.evaluate(votes, models, metrics="accuracy", random_seed=1, **short)
assert dict(result["posterior"].sizes) == {"chain": 2, "draw": 50, "model": 2}  # nothing that nobody asked for
assert result.identical(ba.evaluate(annotations, predictions, metrics="accuracy", random_seed=1, **short))
table = ba.compare(result)
assert (table.index.name, [*table.index], [*table["rank_upper"]]) == ("model", ["right", "wrong"], [1, 2])
assert ((table["lower"] <= table["score"]) & (table["score"] <= table["upper"])).all()
assert {"prob_best", "tier", "difference", "difference_upper", "prob_better", "warning"} <= {*table.columns}
assert table.equals(ba.compare(result, "accuracy"))
assert ba.pairwise(result)["prob_better"].sel(model="right", other_model="wrong") > 0.95
summary = az.summary(result, ci_prob=0.95, ci_kind="hdi", round_to="none")
shown = summary.loc[["accuracy[right]", "accuracy[wrong]"], ["hdi95_lb", "hdi95_ub"]].astype(float)
np.testing.assert_allclose(shown, table[["lower", "upper"]], rtol=1e-9)
ba.assert_better(annotations, predictions, "right", "wrong", random_seed=1, **short)
""",
    "agreement and consensus": """
table = ba.agreement_table(annotations, random_seed=1).set_index("coefficient")
assert ba.krippendorff_alpha(annotations) == table.loc["alpha_nominal", "estimate"]
same = ba.agreement_difference(annotations, annotations, random_seed=1)
assert (same["estimate"].dropna() == 0).all()
assert "phi" in az.summary(ba.common_agreement(ratings, scale=(1, 7), draws=50, chains=2, random_seed=1)).index
vote = ba.majority_vote(annotations)
assert isinstance(vote, pd.Series) and (vote.index.name, vote.attrs["note"]) == ("item", "")
assert (vote[items] == truth).all()
assert ba.vote_shares(annotations).sel(item="q0").values.tolist() == [0.75, 0.25, 0]
assert ba.annotation_certainty(ba.dirichlet(annotations, draws=9, random_seed=1)).sizes == {"item": 60}
""",
    "sets": """
models = ba.read_predictions(probabilities)
one = ba.Predictions.from_labels(pd.Series(truth, items))
assert ([*one.models], [*one.items]) == (["model"], items)
sets = ba.conformalize(annotations, probabilities).predict_set(models)
assert sets.sizes == {"model": 1, "item": 60, "category": 3}
assert (sets.sum("category") >= 1).all()
following = ba.annotate_next(annotations, predictions, n=3, plausibility="dirichlet", random_seed=1)
assert following["item"].isin(items).all()
""",
    "groups and arenas": """
votes, models = ba.read_annotations(annotations), ba.read_predictions(predictions)
old = ba.Annotators.from_table(people)
groups = ba.group_posterior(votes, models, old, by=["age"], draws=50, chains=2, random_seed=1)
assert [*groups["posterior"]["group"].values] == ["old", "young"]
result = ba.davidson(battles, draws=200, chains=2, random_seed=1)
assert [*ba.compare(result, "strength").index][0] == "A"  # wins against B and C
assert {"strength[A]", "win_rate[C]"} <= {*az.summary(result).index}
rate = ba.corrected_rate(annotations, annotations, positive="x", draws=50, chains=1, random_seed=1)
assert "rate[all]" in az.summary(rate).index
""",
}


@KINDS
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_programs_run_as_they_stand(name, held, tmp_path):
    short = {"plausibility": "dirichlet", "draws": 50, "chains": 2}
    given = {table: held(frame, tmp_path) for table, frame in TABLES.items()}
    if name == "groups and arenas" and held is in_file:
        given["people"] = TABLES["people"]
    exec(
        PROGRAMS[name], {"ba": ba, "az": az, "np": np, "pd": pd, "items": ITEMS, "truth": TRUTH, "short": short} | given
    )


def test_a_run_of_the_command_line(run, tmp_path):
    files = [in_file(VOTES, tmp_path), in_file(HARD, tmp_path), "--plausibility", "dirichlet", "--draws", "50"]
    passed = run("check", *files, "--new", "right", "--old", "wrong")
    failed = run("check", *files, "--new", "wrong", "--old", "right")
    assert (passed[0], failed[0]) == (0, 1)


@KINDS
def test_posteriors(held, tmp_path):
    given = held(VOTES, tmp_path)
    for draw, how in ((ba.dirichlet, SHORT), (ba.dawid_skene, SHORT | {"draws": 5, "tune": 5})):
        found = draw(given, **how)
        assert found["posterior"].identical(draw(ba.Labels.from_long(VOTES), **how)["posterior"])
        assert ("exact" in found.attrs["inference"]) == (draw is ba.dirichlet)  # false of chains


@KINDS
def test_one_classifier_is_one_model(held, tmp_path):
    """Its two columns were read as two models, of accuracies .04 and .96 for a classifier that has .97."""
    frame = PROBA if held is in_memory else held(PROBA.assign(item=ITEMS), tmp_path)
    if held is not in_file:
        found = ba.Predictions.from_scores(frame)
        assert (found.models.tolist(), found.categories.tolist()) == (["model"], ["x", "y", "z"])
        assert ba.Predictions.from_scores(frame, name="clf").models.tolist() == ["clf"]
    read = ba.read_predictions(frame)
    assert (read.models.tolist(), read.categories.tolist()) == (["model"], ["x", "y", "z"])
    assert (read.categories[read.hard_labels()[0]] == TRUTH).all()


@KINDS
def test_a_column_for_each_model(held, tmp_path):
    read = ba.read_predictions(held(HARD, tmp_path))
    assert (read.models.tolist(), read.categories.tolist()) == (["right", "wrong"], ["x", "y", "z"])
    chances = pd.DataFrame({"comment_id": ["p", "q"], "clf_v1": [0.2, 0.9], "clf_v2": [0.4, 0.7]})
    found = ba.read_predictions(held(chances, tmp_path))
    assert found.scores.round(9).tolist() == [[[0.8, 0.2], [0.1, 0.9]], [[0.6, 0.4], [0.3, 0.7]]]
    votes = ba.Labels.from_counts([[3, 0], [1, 2]], items=["p", "q"], labels=["fine", "toxic"])
    with pytest.warns(UserWarning, match="read as probabilities of the last, 'toxic'"):
        scored = ba.evaluate(votes, held(chances, tmp_path), plausibility="dirichlet", **SHORT)
    assert scored["posterior"]["model"].values.tolist() == ["clf_v1", "clf_v2"]


@KINDS
def test_names_of_columns_are_guessed_as_the_readers_do(held, tmp_path):
    renamed = VOTES.rename(columns={"item": "task_id", "annotator": "worker", "label": "answer"})
    games = pd.DataFrame({"model_a": list("ABC"), "model_b": list("BCA"), "winner": ["model_a", "tie", "A"]})
    note = "column 'task_id' is taken for the item; column 'worker' is taken for the annotator; column 'answer'"
    if held is not in_file:
        with pytest.warns(UserWarning, match=note):
            labels = ba.Labels.from_long(held(renamed, tmp_path))
        assert (labels.counts() == ba.Labels.from_long(VOTES).counts()).all()
        assert ba.Comparisons.from_long(held(games, tmp_path)).to_long()["winner"].tolist() == ["left", "tie", "right"]
    with pytest.warns(UserWarning, match=note):
        table = ba.agreement_table(held(renamed, tmp_path), random_seed=1)
    assert table["estimate"].notna().any()


CONTAINERS = {
    "Labels": "Labels.from_long.* Labels.from_matrix.* Labels.from_counts.* read_annotations",
    "Ratings": "Ratings.from_long",
    "Rankings": "Rankings.from_long.* Rankings.from_blocks",
    "Comparisons": "Comparisons.from_long",
    "Predictions": "Predictions.from_scores.* Predictions.from_labels.* read_predictions",
    "Annotators": "Annotators.from_table",
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_names_the_constructor_to_use(name):
    with pytest.raises(ba.InputError, match=rf"{name}\(\.\.\.\) does not read a DataFrame; {CONTAINERS[name]}"):
        getattr(ba, name)(VOTES)


def test_the_root_is_small():
    assert len(ba.__all__) <= 45 and not [name for name in ba.__all__ if name.endswith("_model")]


@pytest.mark.parametrize("name", [name for name in ba.__all__ if not name.endswith("Error")])
def test_signatures_show_public_names(name):
    """Aliases such as Seed and Prior were shown, which nobody can import."""
    shown = str(inspect.signature(getattr(ba, name))) if callable(getattr(ba, name)) else ""
    for alias in ("Seed", "Prior", "Destination", "Gold", "Plausibility", "Sampler", "ItemGroup"):
        assert not re.search(rf"(?<![.\w]){alias}\b", shown)
    assert not re.search(r"bayesagree\.(\w+\.)*_", shown)


@pytest.mark.filterwarnings("ignore:models 'right', 'wrong' are not independent:UserWarning")
def test_items_that_nobody_annotated_are_counted_and_left_out_of_annotations_alone():
    """The weekly case, predictions that run ahead of labels, changed the scores from annotations alone in silence."""
    votes = ba.Labels.from_long(VOTES[~VOTES["item"].isin(ITEMS[:20])])
    models = ba.Predictions.from_labels(HARD)
    with pytest.warns(UserWarning, match="20 of 60 items have predictions and no annotations"):
        ahead = ba.evaluate(votes, models, **SHORT)["annotations_only"]["accuracy"].mean(("chain", "draw"))
    known = ba.evaluate(votes, models.on_items(votes.items), plausibility="dirichlet", **SHORT)["posterior"]
    np.testing.assert_allclose(ahead, known["accuracy"].mean(("chain", "draw")), atol=0.02)
    with pytest.warns(UserWarning, match="20 of 60 items have predictions and no annotations: they are left out"):
        alone = ba.evaluate(votes, models, plausibility="dirichlet", **SHORT)
    np.testing.assert_array_equal(alone["posterior"]["accuracy"], known["accuracy"])


REFUSED = {
    "score(votes, models, 'accuracy')": "expected DataTree or DataArray, got Labels; pass the whole result",
    "evaluate(votes, models, metrics=['acc'])": r"metric 'acc' is not known; did you mean 'accuracy'\?",
    "evaluate(votes, models, prior=1.0)": "prior=... is no argument of informed_dirichlet.*: name the posterior",
    "evaluate(votes)": "pass the predictions of the models",
    "annotation_certainty(votes)": "expected DataTree, got Labels; pass the whole result of a posterior",
    "dirichlet(VOTES.drop(columns='annotator'))": "no column 'annotator'.* read_annotations takes these options",
    "common_agreement(RATED)": r"pass scale=\(lowest, highest\)",
    "common_agreement(ba.Ratings.from_long(RATED, scale=(1, 7)), scale=(1, 7))": "ratings= is Ratings already",
    "dirichlet([[1, 2]])": r"labels=\.\.\.: expected Labels, got list; Labels.from_long",
    "prirn(VOTES)": "expected Rankings, got Labels",
}


@pytest.mark.parametrize("call", REFUSED)
def test_a_refusal_names_the_way_out(call):
    votes, models = ba.Labels.from_long(VOTES), ba.Predictions.from_labels(HARD)
    with pytest.raises(ba.InputError, match=REFUSED[call]) as refused:
        eval(f"ba.{call}", globals() | {"votes": votes, "models": models})
    assert "use one of accuracy" not in str(refused.value)


@KINDS
def test_items_without_scores_are_skipped_on_request(held, tmp_path):
    """Tables of scores with a row missing, or NaN in it, were refused whatever `missing` said."""
    rows = [("A", 1, 0.7, 0.3), ("A", 2, 0.2, 0.8), ("A", 3, 0.6, 0.4), ("B", 1, 0.9, 0.1), ("B", 3, np.nan, np.nan)]
    table = held(pd.DataFrame(rows, columns=["model", "item", "no", "yes"]), tmp_path)
    votes = ba.Labels.from_counts([[3, 0], [1, 2], [2, 2]], items=[1, 2, 3], labels=["no", "yes"])
    how = {"plausibility": "dirichlet", "metrics": "brier", **SHORT}
    with pytest.raises(ba.InputError, match=r"model 'B' has no prediction for 2 of 3 items: 2, 3; missing='skip'"):
        ba.evaluate(votes, table, **how)
    found = ba.evaluate(votes, table, missing="skip", **how)["posterior"]["brier"]
    first = ba.Predictions.from_scores({"A": [[0.7, 0.3]], "B": [[0.9, 0.1]]}, items=[1], labels=["no", "yes"])
    alone = ba.evaluate(votes.select(votes.item_index == 0), first, **how)["posterior"]["brier"]
    assert found.mean().item() == pytest.approx(alone.mean().item(), abs=0.02)
    with pytest.raises(ba.InputError, match="model 'B' has no prediction for 2 of 3 items"):
        ba.conformalize(votes, table)
