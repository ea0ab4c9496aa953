"""The command line equals Python: each command prints the numbers that the call of the package returns.

Options are given values that are not their defaults, so that one that is lost on its way changes the numbers.
"""

import json
import re
from functools import partial
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import bayesagree as ba

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SHORT = {"draws": 50, "chains": 2, "random_seed": 3}
OPTIONS = ("--draws", 50, "--chains", 2, "--seed", 3)


@pytest.fixture
def votes(folder):
    return ba.read_annotations(folder / "labels.csv")


@pytest.fixture
def models(folder):
    return ba.read_predictions(folder / "models.csv")


@pytest.fixture
def calls(monkeypatch):
    """Give the calls of a function by a command: its arguments and its result, which a second call would repeat."""

    def of(module, name):
        real, seen = getattr(import_module(module), name), []

        def recorded(*given, **how):
            seen.append((*given, how, real(*given, **how)))
            return seen[-1][-1]

        monkeypatch.setattr(f"{module}.{name}", recorded)
        return seen

    return of


def same(rows, table, *columns):
    """Compare records with a data frame, column by column, in the same order; what is missing is null."""
    assert len(rows) == len(table)
    for column in columns or table.columns:
        ours = [None if pd.isna(v) else v for v in table[column].tolist()]
        theirs = [row[column] for row in rows]
        number = any(isinstance(v, float) for v in ours)
        assert theirs == (pytest.approx(ours, nan_ok=True) if number and None not in ours else ours), column


def features(folder, column):
    return pd.read_csv(folder / "items.csv").set_index("item")[column]


def test_agreement(document, folder, votes):
    found = document("agreement", "labels.csv", "--item-features", "items.csv", "--cluster", "page", "--seed", 2)
    table = ba.agreement_table(votes, cluster=features(folder, "page"), random_seed=2)
    same(found["agreement"], table, "coefficient", "estimate", "lower", "upper", "note")


def test_agreement_of_every_pair(document, votes):
    found = document("agreement", "labels.csv", "--by", "pair", "--seed", 2)
    same(found["agreement"], ba.agreement_table(votes, by="pair", random_seed=2), "annotator", "estimate", "lower")


def test_agreement_of_ratings(document, calls):
    seen = calls("bayesagree.agreement.coefficients", "agreement_table")
    found = document("agreement", "ratings.csv", "--scale", "1,5", "--step", 1, "--level", "nominal", "--seed", 2)
    [(given, how, table)] = seen
    assert (given.scale, given.step, how["level"], how["random_seed"]) == ((1, 5), 1, "nominal", 2)
    assert {"phi", "fleiss_kappa"} <= set(table["coefficient"])
    same(found["agreement"], table, "coefficient", "estimate")


def test_agreement_of_comparisons(document, folder):
    games = ba.read_annotations(folder / "games.csv")
    found = document("agreement", "games.csv", "--duplicates", "first")
    same(found["agreement"], ba.agreement_table(games.to_labels("first"), random_seed=1), "coefficient", "estimate")


def test_plausibility(document, run, tmp_path, votes):
    how = ("labels.csv", "--plausibility", "dirichlet", *OPTIONS)
    found = document("plausibility", *how, "--reliability", "1,3", "-o", tmp_path / "items.csv")
    for level in (1, 3):
        tree = ba.dirichlet(votes, reliability=level, top_labels=1, **SHORT)
        known = ba.annotation_certainty(tree).to_series()
        rows = [row for row in found["items"] if row["reliability"] == level]
        assert {row["item"]: row["certainty"] for row in rows} == pytest.approx(known.to_dict())
        assert [row["certainty"] for row in rows] == sorted(row["certainty"] for row in rows)
    same(found["items"], pd.read_csv(tmp_path / "items.csv"))
    assert run("plausibility", *how, "-o", tmp_path / "kept.nc").returncode == 0
    kept = ba.read_result(tmp_path / "kept.nc")["posterior"]["plausibility"]
    np.testing.assert_array_equal(kept, ba.dirichlet(votes, **SHORT)["posterior"]["plausibility"])


EVALUATIONS = {
    "plain": ("--plausibility dirichlet --reliability 1,2 --metrics f1_macro,recall[a]",
              {"plausibility": "dirichlet", "reliability": (1, 2), "metrics": ["f1_macro", "recall[a]"]}),
    "resampled": ("--items bootstrap --item-features items.csv --cluster page --by half --plausibility dirichlet",
                  {"items": "bootstrap", "cluster": "page", "by": "half", "plausibility": "dirichlet"}),
    "gold": ("--gold gold.csv", {"gold": True}),
}  # fmt: skip


@pytest.mark.parametrize("case", EVALUATIONS)
def test_evaluate(document, folder, tmp_path, votes, models, case):
    words, how = EVALUATIONS[case]
    how = dict(how)
    for name in {"cluster", "by"} & how.keys():
        how[name] = features(folder, how[name])
    if "gold" in how:
        how["gold"] = pd.read_csv(folder / "gold.csv").set_index("item")["label"].to_dict()
    found = document("evaluate", "labels.csv", "models.csv", *words.split(), *OPTIONS, "-o", tmp_path / "kept.nc")
    tree = ba.evaluate(votes, models, **how, **SHORT)
    scores = tree["posterior"].mean(("chain", "draw"))
    assert {row["metric"] for row in found["scores"]} == set(scores.data_vars)
    for row in found["scores"]:
        at = {name: row[name] for name in ("model", "reliability") if name in row}
        assert row["score"] == pytest.approx(float(scores[row["metric"]].sel(at).squeeze())), row
    for row in found["pairs"]:
        ours = ba.pairwise(tree, row["metric"], reliability=row.get("reliability"))
        at = ours.sel(model=row["model"], other_model=row["other_model"])
        for name in ("prob_better", "difference", "lower", "upper"):
            assert row[name] == pytest.approx(float(at[name]))
    assert ("slices" in found, "targets" in found) == (case == "resampled", case == "gold")
    again = document("evaluate", tmp_path / "kept.nc")
    assert again.keys() == found.keys()
    for name in ("scores", "pairs"):
        same(again[name], pd.DataFrame(found[name]))


def test_evaluate_by_a_function_and_the_auc(run, document, monkeypatch, folder, votes):
    monkeypatch.syspath_prepend(folder)
    how = ("labels.csv", "models.csv", "--plausibility", "dirichlet", *OPTIONS)
    assert {row["metric"] for row in document("evaluate", *how, "--metrics", "own_metrics:hits")["scores"]} == {"hits"}
    scores = ("labels.csv", "shares.csv", *how[2:], "--metrics")
    shares = ba.read_predictions(folder / "shares.csv")
    tree = ba.evaluate(votes, shares, metrics=["roc_auc_ovr"], plausibility="dirichlet", **SHORT)
    mean = tree["posterior"]["roc_auc_ovr"].mean(("chain", "draw"))
    for row in document("evaluate", *scores, "roc_auc_ovr")["scores"]:
        assert row["score"] == pytest.approx(mean.sel(model=row["model"]).item())
    assert "use roc_auc_ovr" in run("evaluate", *scores, "auc").stderr


def test_evaluate_and_report_print_the_same_scores(document, folder, tmp_path, votes):
    risk = pd.DataFrame({"label": votes.categories, "risk": ["high", *["low"] * (votes.categories.size - 1)]})
    risk.to_csv(tmp_path / "risk.csv", index=False)
    how = ("labels.csv", "models.csv", *OPTIONS, "--plausibility", "dirichlet", "--risk", tmp_path / "risk.csv")
    rows = {(row["model"], row["metric"]): row for row in document("evaluate", *how)["scores"]}
    said = " ".join(document("report", *how, "-o", tmp_path / "page.html")["notes"])
    assert "[bold]good is better than fair with probability" in said
    page = (tmp_path / "page.html").read_text()
    row, at_risk = (rows["[bold]good", f"accuracy{name}"] for name in ("", "_given_risk[high]"))
    assert f"{row['score']:.3f} ({row['lower']:.3f} to {row['upper']:.3f})" in page
    table = re.sub("<[^>]*>", " ", page.partition('id="risk-table"')[2].partition("</table>")[0]).split()
    assert f"{at_risk['score']:.3f}" in table and "accuracy_given_risk[high]" in table


def test_report_of_comparisons(document, folder, tmp_path):
    how = ("games.csv", *OPTIONS)
    said = document("report", *how, "-o", tmp_path / "one.html")
    assert "is better than" in said["notes"][0]
    assert "Which comparisons should be next?" in (tmp_path / "one.html").read_text()


@pytest.mark.parametrize(("margin", "code"), [(-0.5, 0), (0.0, 1)])
def test_check_says_it_by_its_exit_code(run, votes, models, margin, code):
    claim = ("--new", "fair", "--old", "[bold]good", *(("--not-worse", -margin) if margin else ()))
    done = run("check", "labels.csv", "models.csv", *claim, "--plausibility", "dirichlet", *OPTIONS)
    assert done.returncode == code, done.stderr
    how = {"margin": margin, "plausibility": "dirichlet", **SHORT}
    if code == 0:
        ba.assert_better(votes, models, "fair", "[bold]good", **how)
    else:
        with pytest.raises(AssertionError) as error:
            ba.assert_better(votes, models, "fair", "[bold]good", **how)
        assert str(error.value).splitlines()[0] in " ".join(done.stdout.split())


def test_check_says_how_many_items_it_leaves_out(run, folder, tmp_path):
    table = pd.read_csv(folder / "models.csv")
    first = table["item"].unique()[:3]
    table[(table["model"] != "fair") | ~table["item"].isin(first)].to_csv(tmp_path / "some.csv", index=False)
    claim = ("--new", "fair", "--old", "[bold]good", "--missing", "skip", "--plausibility", "dirichlet")
    said = " ".join(run("check", "labels.csv", tmp_path / "some.csv", *claim, *OPTIONS).stdout.split())
    assert f"3 of {table['item'].nunique()} items are left out: a model predicts nothing for them." in said


def test_annotators(document, folder, votes):
    gold = pd.read_csv(folder / "gold.csv").set_index("item")["label"].to_dict()
    how = {"variant": "one_coin", **SHORT}
    words = ("labels.csv", "--variant", "one_coin", "--gold", "gold.csv", *OPTIONS, "--allow-unmixed")
    found = document("annotators", *words)
    tree = ba.dawid_skene(votes, gold=gold, **how)
    accuracy = tree["posterior"]["accuracy"].mean(("chain", "draw"))
    for row in found["annotators"]:
        assert row["accuracy"] == pytest.approx(accuracy.sel(annotator=row["annotator"]).item())
    assert {row["measure"] for row in found["confidence"]} >= {"gold_items"}


def test_annotators_of_ratings_are_ordered_by_their_levels(document, folder, tmp_path):
    """The level of each annotator, who alone stands beside it, and the components of variance of `icc`."""
    found = document("annotators", "ratings.csv", "--scale", "1,5", *OPTIONS, "-o", tmp_path / "levels.csv")
    ratings = ba.read_annotations(folder / "ratings.csv", scale=(1, 5))
    tree = ba.normal_inverse_gamma(ratings, annotator_effects="shift", **SHORT)
    drawn = tree["posterior"]["annotator_shift"].mean(("chain", "draw")).to_series()
    levels = {row["annotator"]: row["shift"] for row in found["annotators"]}
    assert levels == pytest.approx(drawn.to_dict())
    assert [*levels.values()] == sorted(levels.values())
    parts = ba.agreement.icc(ratings, random_seed=3).attrs["variances"]
    assert {row["part"]: row["value"] for row in found["variances"]} == pytest.approx(parts)
    assert pd.read_csv(tmp_path / "levels.csv")["annotator"].tolist() == [*levels]


def test_judge_of_columns_of_other_names(document, calls, folder, tmp_path):
    table, people = (pd.read_csv(folder / f"{name}.csv") for name in ("verdicts", "labels"))
    table, people = table[table["judge"] == "gpt"], people[people["annotator"] == "ann"]  # no rate by the truth
    people.to_csv(tmp_path / "people.csv", index=False)
    table.rename(columns={"item": "question", "label": "answer"}).to_csv(tmp_path / "verdicts.csv", index=False)
    seen = calls("bayesagree.judges.rate", "corrected_rate")
    words = ("--people", tmp_path / "people.csv", "--system", "system", "--positive", "b", "--inclusion", "chance")
    how = ("--draws", 20, "--chains", 2, "--seed", 3, "-o", tmp_path / "rates.csv")
    found = document("judge", tmp_path / "verdicts.csv", *words, *how)
    [(verdicts, votes, asked, tree)] = seen
    assert verdicts.to_matrix().sort_index().to_numpy().tolist() == table.pivot(
        index="item", columns="judge", values="label").to_numpy().tolist()  # fmt: skip
    assert votes.n_annotations == len(people)
    for name, column in (("system", "system"), ("inclusion", "chance")):
        assert asked.pop(name).to_dict() == table.set_index("item")[column].to_dict()
    assert asked == {"positive": "b", **SHORT, "draws": 20}
    same(found["rates"], ba.judges.judge_table(tree))
    assert len(pd.read_csv(tmp_path / "rates.csv")) == len(found["rates"])


@pytest.mark.parametrize(("n_second", "targets"), [(5, ["share", "truth"]), (4, ["share"])])
def test_a_judge_is_set_beside_the_truth_where_half_of_the_items_have_two_votes(
    document, monkeypatch, tmp_path, n_second, targets
):
    """The accuracy of people is learnt from items on which two of them answered: five of the ten, or one less."""
    items, said = [f"t{i}" for i in range(10)], [*"xyxyxyxyxy"]
    pd.DataFrame({"item": items, "judge": "gpt", "label": said}).to_csv(tmp_path / "verdicts.csv", index=False)
    people = pd.DataFrame({"item": items, "annotator": "ann", "label": said})
    empty = pd.DataFrame({"item": ["t10", "t11"], "annotator": "ann"})  # nobody answered these
    both = pd.concat([people, people[:n_second].assign(annotator="bob"), empty])
    both.to_csv(tmp_path / "people.csv", index=False)
    asked = []

    def rate(given, human, *, target="share", **how):
        asked.append((target, how["positive"]))
        return target

    table = pd.DataFrame({"rate": [0.5]})
    table.attrs["warnings"] = []
    monkeypatch.setattr("bayesagree.judges.rate.corrected_rate", rate)
    monkeypatch.setattr("bayesagree.judges.judge_table", lambda tree: table.assign(target=tree))
    monkeypatch.setattr("bayesagree.judges.tables.system_pairs", lambda tree: table[:0])
    found = document("judge", tmp_path / "verdicts.csv", "--people", tmp_path / "people.csv")
    assert [row["target"] for row in found["rates"]] == targets
    assert asked == [(target, "y") for target in targets]  # of two labels the last


def test_judge_beside_ratings(document, tmp_path):
    rng = np.random.default_rng(2)
    truth, rows = rng.integers(0, 3, 40), []
    for who in ("gpt", "ann", "bob", "cyn"):
        said = np.where(rng.random(40) < 0.8, truth, rng.integers(0, 3, 40))
        rows += [(f"t{item}", who, value) for item, value in enumerate(said)]
    table = pd.DataFrame(rows, columns=["item", "annotator", "rating"])
    judge, people = (table[(table["annotator"] == "gpt") == by] for by in (True, False))
    judge.rename(columns={"annotator": "judge"}).to_csv(tmp_path / "judge.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ("--people", tmp_path / "people.csv", "--scale", "0,2")
    [row] = document("judge", tmp_path / "judge.csv", *words)["judges"]
    models = ba.Predictions.from_labels({"gpt": judge.set_index("item")["rating"]})
    expected = ba.alternative_annotator_test(ba.Ratings.from_long(people, scale=(0, 2)), models, random_seed=1)
    assert row["prob_passes"] == expected["prob_passes"].item()


def test_subjective(document, folder, votes, models):
    from bayesagree.subjective import group_performance

    words = ("labels.csv", "models.csv", "--annotators", "people.csv", "--group", "age", "--draws", 50, "--seed", 2)
    found = document("subjective", *words)
    people = ba.annotations.Annotators.from_table(pd.read_csv(folder / "people.csv"))
    performance = group_performance(votes, models, people, by=["age"])["performance"]
    for row in found["groups"]:
        assert row["raw_mean"] == pytest.approx(performance.sel(model=row["model"], group=row["group"]).item())
    assert {"group", "other_group", "alpha"} <= found["agreement"][0].keys()


def test_people_whose_table_names_them_otherwise(document, run, folder, tmp_path):
    people = pd.read_csv(folder / "people.csv").rename(columns={"annotator": "rater"})
    people.to_csv(tmp_path / "raters.csv", index=False)
    words = ("agreement", "labels.csv", "--group", "age", "--seed", 2, "--annotators")
    assert document(*words, tmp_path / "raters.csv") == document(*words, "people.csv")
    assert "column 'rater' is taken for the annotator" in run(*words, tmp_path / "raters.csv").stderr


def test_predictions_per_annotation_have_no_truth_by_group(document, run, folder, tmp_path, votes):
    """Each annotator's label by one who never errs: all groups are served alike."""
    said = votes.to_long().assign(model="m")
    said.to_csv(tmp_path / "said.csv", index=False)
    words = ("labels.csv", tmp_path / "said.csv", "--annotators", "people.csv", "--group", "age", "--draws", 20)
    code, _, err = run("subjective", *words, "--truth", "by-group")
    assert code == 2 and "--truth by-group scores predictions per item; these are per annotation" in err
    assert [row["raw_mean"] for row in document("subjective", *words)["groups"]] == [1, 1]


@pytest.mark.long
def test_subjective_against_the_truth_of_each_group(document):
    words = ("labels.csv", "models.csv", "--annotators", "people.csv", "--group", "age", "--draws", 50)
    truth = document("subjective", *words, "--truth", "by-group")
    assert {row["group"] for row in truth["scores"]} == {"old", "young"}


def test_blind(document, folder, models):
    from bayesagree.blind.scores import blind_posterior, blind_scores

    how = ("--methods", "majority,em", "--metrics", "accuracy,f1", "--leave-one-out", *OPTIONS)
    found = document("blind", "models.csv", "--gold", "gold.csv", *how)
    drawn = blind_posterior(models, method="majority", metrics=("accuracy", "f1"), leave_one_out=True, **SHORT)
    mean = drawn["posterior"].mean(("chain", "draw"))
    for row in found["scores"]:
        assert row["score"] == pytest.approx(mean[row["metric"]].sel(model=row["model"]).item())
    gold, labels = pd.read_csv(folder / "gold.csv"), pd.read_csv(folder / "models.csv")
    right = labels.merge(gold, on="item").eval("label_x == label_y").groupby(labels["model"]).mean()
    for row in found["methods"]:
        em = blind_scores(models, method="em", metric=row["metric"], leave_one_out=True, random_seed=3)
        assert row["em"] == pytest.approx(em.sel(model=row["model"]).item())
        assert row["majority"] == pytest.approx(mean[row["metric"]].sel(model=row["model"]).item())
        if row["metric"] == "accuracy":
            assert row["gold"] == pytest.approx(right[row["model"]])


def test_plan(document, calls):
    seen = calls("bayesagree.planning.designs", "plan")
    words = ("--n-items", "20", "--n-annotators", "2,3", "--metric", "alpha_nominal", "--target", 0.9, "--seed", 2)
    found = document("plan", "labels.csv", *words, "--cost", "1,2", "--replicates", 2)
    [(_, models, how, designs)] = seen
    asked = {"items": [20], "annotators": [2, 3], "metric": "alpha_nominal", "target": 0.9, "cost": [1, 2]}
    assert (models, how | asked | {"replicates": 2, "random_seed": 2}) == (None, how)
    same(found["designs"], designs.to_dataframe().reset_index())


@pytest.mark.long
def test_plan_of_runs_that_cost_something(document, folder, tmp_path, votes):
    table = pd.read_csv(folder / "models.csv")
    runs = [table.assign(run=1), table.assign(run=2, label=table["label"].sample(frac=1, random_state=1).to_numpy())]
    pd.concat(runs).to_csv(tmp_path / "runs.csv", index=False)
    words = (
        "--n-items",
        20,
        "--n-annotators",
        2,
        "--runs",
        "1,4",
        "--cost",
        "1,2,.5",
        "--target",
        1,
        "--replicates",
        2,
    )
    found = document("plan", "labels.csv", tmp_path / "runs.csv", *words)
    how = {"items": [20], "annotators": [2], "runs": [1, 4], "cost": (1, 2, 0.5), "target": 1, "replicates": 2}
    table = (
        ba.plan(votes, ba.read_predictions(tmp_path / "runs.csv"), **how, random_seed=1).to_dataframe().reset_index()
    )
    same(found["designs"], table, "runs", "cost", "worth")
    assert found["notes"][-1].endswith("20 items, 2 annotators each, 1 runs.")


@pytest.mark.parametrize("goal", ["decision", "metric", "certainty"])
def test_next(document, votes, models, goal):
    given = () if goal == "certainty" else ("models.csv",)
    found = document("next", "labels.csv", *given, "-n", 5, "--goal", goal, "--plausibility", "dirichlet", "--seed", 2)
    how = {"n": 5, "goal": goal, "plausibility": "dirichlet", "random_seed": 2}
    same(found["items"], ba.annotate_next(votes, models if given else None, **how))


@pytest.mark.long
def test_next_and_plan_of_comparisons(document, folder):
    games = ba.read_annotations(folder / "games.csv")
    same(document("next", "games.csv", "-n", 2)["pairs"], ba.annotate_next(games, n=2, random_seed=1))
    assert document("plan", "games.csv")["comparisons"][0]["votes"] == 0


def test_preferences(document, folder):
    names = ("--first", "left", "--second", "right", "--winner", "winner", "--annotator", "annotator")
    effects = ("--order", "none", "--scale", "arena")
    found = document("preferences", "games.csv", *names, *effects, *OPTIONS)
    games = ba.Comparisons.from_long(pd.read_csv(folder / "games.csv"), annotator="annotator")
    tree = ba.davidson(games, order=None, **SHORT)
    table = ba.comparisons.preference_table(tree, scale="arena").drop(columns="component")
    same(found["models"], table, "model", "mean", "lower", "upper")
    same(found["effects"], ba.comparisons.effect_table(tree), "effect", "annotator", "mean", "upper")


def test_demo(document, monkeypatch):
    from bayesagree.datasets import simulate

    monkeypatch.setattr(simulate, "labelled_test_set", partial(simulate.labelled_test_set, n_items=20))
    found = document("demo", "--seed", 2, "--draws", 30)
    assert all(row["lower"] <= row["uncertainty_adjusted_accuracy"] <= row["upper"] for row in found["models"])
    best = max(found["models"], key=lambda row: row["accuracy_against_majority_vote"])["model"]
    verdict = "also ranks" if found["models"][0]["model"] == best else "would have ranked"
    assert f"The majority vote {verdict} {best} first." in found["notes"][-2]
    assert found["notes"][0].startswith("Simulated test set: 20 items, ")


def test_next_writes_what_an_export_holds_of_its_items(run, folder, tmp_path):
    """Tasks for the tool that the votes came from had no text."""
    answers = [{"from_name": "q", "type": "choices", "value": {"choices": [label]}} for label in "xy"]
    people = [{"completed_by": who, "result": [answer]} for who, answer in enumerate(answers)]
    tasks = [{"id": k, "data": {"text": f"words {k}"}, "annotations": people} for k in range(3)]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    code, _, _ = run(
        "next", str(tmp_path / "export.json"), "-n", "3", "--tool", "label_studio", "-o", str(tmp_path / "t.json")
    )
    written = json.loads((tmp_path / "t.json").read_text())
    assert (code, sorted(one["data"]["text"] for one in written)) == (0, ["words 0", "words 1", "words 2"])


def test_rows_without_a_winner_are_left_out_where_columns_are_named_too(document, folder, tmp_path):
    games = pd.read_csv(folder / "games.csv")
    games["winner"] = games["winner"].mask(games.index == 3)
    games.to_csv(tmp_path / "games.csv", index=False)
    named = document("preferences", tmp_path / "games.csv", "--first", "left", *OPTIONS)
    assert named["notes"][0] == "left out 1 comparisons without a verdict"
    assert named["comparisons"][0]["comparisons"] == len(games) - 1
