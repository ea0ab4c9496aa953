"""Every number that a command prints, against an own computation from its draws or from its definition.

The data set is one on which nothing is alike (`_hostile`).
"""

import itertools
import json
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
import scipy as sp
from _hostile import CATEGORIES, ITEMS, write

import bayesagree as ba


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def answer(run, monkeypatch, folder):
    """Run a command and give its document: tables of records."""
    monkeypatch.chdir(folder)

    def document(*words):
        code, out, err = run(*" ".join(map(str, words)).split(), "--json")
        assert code == 0, err
        return json.loads(out)

    return document


def shortest(draws, prob=0.95):
    """Give the narrowest interval between two draws that has floor(prob n) draws between its ends."""
    ordered = np.sort(np.ravel(draws))
    inside = int(prob * ordered.size)
    ends = [(ordered[k + inside] - ordered[k], k) for k in range(ordered.size - inside)]
    k = min(ends)[1]
    return ordered[k], ordered[k + inside]


def first_place(merit):
    """Give the probability of the first place of each model; equal models share it."""
    leads = merit == merit.max(axis=1, keepdims=True)
    return (leads / leads.sum(axis=1, keepdims=True)).mean(axis=0)


def ahead(a, b):
    return np.mean(a > b) + np.mean(a == b) / 2


def most_plausible(shape):
    """Give Pr(label k has the largest of the Dirichlet's parts)."""
    return np.array(_most_plausible(tuple(np.round(shape, 9))))


@lru_cache
def _most_plausible(shape):
    """Quadrature over the logarithm of the largest Gamma variate: a part is largest if all others are below it."""
    at = np.linspace(-40, 6, 4001)[:, None]
    density = np.exp(sp.stats.gamma.logpdf(np.exp(at), shape) + at)
    below = sp.special.gammainc(shape, np.exp(at))
    others = [np.delete(below, k, axis=1).prod(axis=1) for k in range(len(shape))]
    return sp.integrate.trapezoid(density * np.array(others).T, at, axis=0)


def counts_of(labels, categories):
    return pd.crosstab(labels["item"], labels["label"]).reindex(index=ITEMS, columns=categories, fill_value=0).values


EVALUATE = (
    "evaluate labels.csv models.csv --plausibility dirichlet --reliability 1,4 --metrics top_1_accuracy,f1_macro "
    "--another-annotator --item-features items.csv --by part --draws 61 -o kept.nc --force"
)


@pytest.fixture
def kept(answer, folder):
    """Evaluation of the three models beside another annotator: its document and the draws that it kept."""
    found = answer(EVALUATE)
    return found, ba.read_result(folder / "kept.nc")


def test_evaluate(kept, folder):
    found, tree = kept
    posterior = tree["posterior"].to_dataset().stack(sample=("chain", "draw"))
    labels, models = (pd.read_csv(folder / name) for name in ("labels.csv", "models.csv"))
    counts = counts_of(labels, CATEGORIES)
    assert found["settings"][0]["n_items"] == 14
    assert found["settings"][0]["prior_share"] == pytest.approx(np.mean(1 / (1 + counts.sum(axis=1))))
    rows = pd.DataFrame(found["scores"])
    for (metric, level), part in rows.groupby(["metric", "reliability"], sort=False):
        draws = posterior[metric].sel(reliability=level).transpose("sample", "model")
        names, values = draws["model"].values.tolist(), draws.values
        order = sorted(range(4), key=lambda m: -values[:, m].mean())
        assert part["model"].tolist() == [names[m] for m in order]
        first = first_place(values)
        for (_, row), m, following in zip(part.iterrows(), order, [*order[1:], None]):
            assert row["mean"] == pytest.approx(values[:, m].mean())
            assert (row["lower"], row["upper"]) == pytest.approx(shortest(values[:, m]))
            assert row["best_with_probability"] == pytest.approx(first[m])
            expected = np.nan if following is None else ahead(values[:, m], values[:, following])
            assert row["better_than_next"] == pytest.approx(expected, nan_ok=True)
    for level in (1, 4):
        most = np.array([most_plausible(1 / 3 + level * row) for row in counts])
        certainty = tree["certainty"]["annotation_certainty"].sel(reliability=level)
        error = np.sqrt(0.25 / 244)
        np.testing.assert_allclose(certainty.values, most.max(axis=1), atol=4.5 * error)
        [row] = [row for row in found["open_items"] if row["reliability"] == level]
        assert row["share_below_0.95"] == np.mean(certainty.values < 0.95)
        for name, predicted in models.pivot(index="model", columns="item", values="label").iterrows():
            chance = most[np.arange(14), [CATEGORIES.index(label) for label in predicted[ITEMS]]]
            drawn = posterior["top_1_accuracy"].sel(reliability=level, model=name).values
            sd = np.sqrt((chance * (1 - chance)).sum()) / 14
            assert drawn.mean() == pytest.approx(chance.mean(), abs=4.5 * sd / np.sqrt(drawn.size))
            assert drawn.std() == pytest.approx(sd, rel=0.3)  # its own error: 1 / sqrt(2 * 244) = .045
    pairs = pd.DataFrame(found["pairs"]).set_index(["metric", "reliability", "model", "other_model"])
    assert len(pairs) == 4 * 12
    for (metric, level, one, other), row in pairs.iterrows():
        a, b = (posterior[metric].sel(reliability=level, model=name).values for name in (one, other))
        expected = [ahead(a, b), (a - b).mean(), *shortest(a - b)]
        assert row[["prob_better", "difference", "lower", "upper"]].tolist() == pytest.approx(expected)


def test_evaluate_by_slices(kept, folder):
    found, tree = kept
    slices, posterior = tree["slices"].to_dataset(), tree["posterior"].to_dataset()
    size = pd.read_csv(folder / "items.csv")["part"].value_counts()
    accuracy, total = slices["top_1_accuracy"], 0
    for part, n in size.items():
        one = accuracy.sel(part=part)
        total = total + n * one.sel(side="slice")
        rest = (14 * posterior["top_1_accuracy"] - n * one.sel(side="slice")) / (14 - n)
        np.testing.assert_allclose(one.sel(side="rest"), rest.transpose(*one.sel(side="rest").dims), atol=1e-12)
        np.testing.assert_allclose(one.sel(side="difference"), one.sel(side="slice") - one.sel(side="rest"), atol=1e-12)
    np.testing.assert_allclose(total / 14, posterior["top_1_accuracy"].transpose(*total.dims), atol=1e-12)
    rows = pd.DataFrame(found["slices"])
    assert len(rows) == 2 * 2 * 3 * 3 * 4
    for _, row in rows.iterrows():
        draws = slices[row["metric"]].sel(**{k: row[k] for k in ("reliability", "part", "side", "model")}).values
        assert row["mean"] == pytest.approx(draws.mean())
        assert (row["lower"], row["upper"]) == pytest.approx(shortest(draws))


def test_compare(kept, answer):
    _, tree = kept
    draws = tree["posterior"]["f1_macro"].sel(reliability=4).stack(sample=("chain", "draw"))
    found = answer("compare kept.nc --metric f1_macro --reliability 4 --ci-prob 0.8")
    assert len(found["pairs"]) == 12
    for row in found["pairs"]:
        a, b = (draws.sel(model=row[key]).values for key in ("model", "other_model"))
        expected = [ahead(a, b), (a - b).mean(), *shortest(a - b, 0.8), 0.8]
        assert [row[k] for k in ("prob_better", "difference", "lower", "upper", "ci_prob")] == pytest.approx(expected)
    values = draws.transpose("sample", "model").values
    places = np.zeros((4, 4))
    for row in values:
        for order in (orders := [o for o in itertools.permutations(range(4)) if (np.diff(row[list(o)]) <= 0).all()]):
            places[list(order), range(4)] += 1 / len(orders) / len(values)
    for row in found["ranks"]:
        m = draws["model"].values.tolist().index(row["model"])
        assert [row[f"place_{k}"] for k in range(1, 5)] == pytest.approx(places[m])


def test_certainty(answer, folder):
    counts = counts_of(pd.read_csv(folder / "labels.csv"), CATEGORIES)
    found = answer("certainty labels.csv --exact --reliability 1,4")
    for level in (1, 4):
        expected = np.array([most_plausible(1 / 3 + level * row).max() for row in counts])
        rows = [row for row in found["items"] if row["reliability"] == level]
        assert [row["certainty"] for row in rows] == pytest.approx(np.sort(expected), abs=1e-6)
        assert {row["item"]: row["certainty"] for row in rows} == pytest.approx(dict(zip(ITEMS, expected)), abs=1e-6)
        [row] = [row for row in found["certainty"] if row["reliability"] == level]
        values = [row[key] for key in ("mean", "smallest", "share_below_0.95")]
        assert values == pytest.approx([expected.mean(), expected.min(), np.mean(expected < 0.95)], abs=1e-6)


def test_next(answer, folder):
    labels, models = (pd.read_csv(folder / name) for name in ("labels.csv", "models.csv"))
    shape = 1 / 3 + counts_of(labels, CATEGORIES)
    now = np.array([most_plausible(row) for row in shape])
    predicted = models.pivot(index="model", columns="item", values="label")
    hit = {
        name: np.array([np.array(CATEGORIES) == label for label in row[ITEMS]]) for name, row in predicted.iterrows()
    }
    worth = {name: (now * one).sum() for name, one in hit.items()}
    best, other = sorted(worth, key=worth.get, reverse=True)[:2]

    def gains(score):
        expected, mean = np.zeros(14), (now * score).sum(axis=1)
        for k, vote in enumerate(np.eye(3)):
            after = np.array([most_plausible(row + vote) for row in shape])
            expected += shape[:, k] / shape.sum(axis=1) * (after * score).sum(axis=1) ** 2
        return expected - mean**2

    found = answer("next labels.csv models.csv --number 14")
    gain = gains(1.0 * hit[best] - hit[other])
    assert {row["item"]: row["gain"] for row in found["items"]} == pytest.approx(dict(zip(ITEMS, gain)), abs=1e-6)
    assert np.diff([row["gain"] for row in found["items"]]).max() < 1e-9
    score = 1.0 * hit[best] - hit[other]
    mean = (now * score).sum()
    sd = np.sqrt(((now * score**2).sum(axis=1) - (now * score).sum(axis=1) ** 2).sum())
    n = int((score != 0).any(axis=1).sum())
    sentence = f"The choice between {best} and {other} is right with probability {sp.stats.norm.cdf(mean / sd):.2f}; "
    sentence += f"after a vote on every item where they differ ({n}), with "
    s = np.sqrt(gain.sum())
    right = 1 - 2 * sp.special.owens_t(mean / sd, np.sqrt(sd**2 - s**2) / s)
    assert found["notes"][-1] == f"{sentence}{right:.2f}."
    metric = answer("next labels.csv models.csv --number 14 --goal metric")
    gain = np.mean([gains(1.0 * one) for one in hit.values()], axis=0)
    assert {row["item"]: row["gain"] for row in metric["items"]} == pytest.approx(dict(zip(ITEMS, gain)), abs=1e-6)


@pytest.mark.long
def test_next_by_certainty(answer, folder):
    counts = counts_of(pd.read_csv(folder / "labels.csv"), CATEGORIES)
    found = answer("next labels.csv --number 14")
    for row in found["items"]:
        votes = counts[ITEMS.index(row["item"])]
        order = np.argsort(-votes, kind="stable")
        m = votes[order[0]] - votes[order[1]] + 1
        assert row["votes"] == m
        shape, gain = 1 / 3 + votes, 0.0
        for j in order[1:]:
            chance = np.prod([(shape[j] + s) / (shape.sum() + s) for s in range(m)])
            after = most_plausible(shape + m * np.eye(3)[j])
            gain += chance * max(after[j] - after[order[0]], 0) / m
        assert row["gain"] == pytest.approx(gain, abs=1e-6)


def test_agreement(answer, folder):
    labels = pd.read_csv(folder / "labels.csv")
    counts = counts_of(labels, CATEGORIES)
    n, size = counts.sum(axis=1), counts.sum()
    rows = {row["coefficient"]: row for row in answer("agreement labels.csv")["agreement"]}
    assert all((row["n_items"], row["n_annotators"], row["n_annotations"]) == (14, 5, size) for row in rows.values())
    per_item = ((counts**2).sum(axis=1) - n) / (n * (n - 1))
    observed = per_item.mean()
    share = (counts / n[:, None]).mean(axis=0)
    disagree = 1 - (n * per_item).sum() / size
    by_chance = 1 - (counts.sum(axis=0) * (counts.sum(axis=0) - 1)).sum() / (size * (size - 1))
    expected = {
        "percent_agreement": observed,
        "fleiss_kappa": (observed - (share**2).sum()) / (1 - (share**2).sum()),
        "brennan_prediger": (observed - 1 / 3) / (2 / 3),
        "alpha_nominal": 1 - disagree / by_chance,
        "gwet_ac1": (observed - (share * (1 - share)).sum() / 2) / (1 - (share * (1 - share)).sum() / 2),
    }
    for name, value in expected.items():
        assert rows[name]["estimate"] == pytest.approx(value), name
        assert rows[name]["lower"] < value < rows[name]["upper"], name


@pytest.mark.long
def test_auc(answer, folder):
    labels, scores = (pd.read_csv(folder / name) for name in ("two.csv", "scores.csv"))
    found = answer("auc two.csv scores.csv --draws 40")
    counts = counts_of(labels, ["no", "yes"])
    share = (counts[:, 1] + 0.5) / (counts.sum(axis=1) + 1)

    def area(weight_yes, weight_no, score):
        ahead = (score[:, None] > score) + (score[:, None] == score) / 2
        pairs = np.outer(weight_yes, weight_no)
        np.fill_diagonal(pairs, 0)
        return (pairs * ahead).sum() / pairs.sum()

    assert found["settings"][0]["items"] == 14
    rows = {row["model"]: row for row in found["auc"]}
    assert [row["auc"] for row in found["auc"]] == sorted((row["auc"] for row in found["auc"]), reverse=True)
    for model, table in scores.groupby("model"):
        score, row = table.set_index("item")["score"][ITEMS].values, rows[model]
        weights, parts = [], []
        for _, own in labels.groupby("annotator"):
            at = [ITEMS.index(item) for item in own["item"]]
            yes = (own["label"] == "yes").values * 1.0
            if 0 < yes.sum() < yes.size:
                parts.append(area(yes, 1 - yes, score[at]))
                weights.append(yes.size)
        assert row["sgt"] == pytest.approx(np.average(parts, weights=weights))
        ordered = share[:, None] > share
        right = (score[:, None] > score) + (score[:, None] == score) / 2
        assert row["pgt"] == pytest.approx(right[ordered].mean())
        assert row["lower"] < row["auc"] < row["upper"]


@pytest.mark.long
def test_annotators(answer, folder):
    found = answer("annotators labels.csv --draws 100 --chains 2 --variant full")
    given = ba.read_annotations(folder / "labels.csv")
    tree = ba.dawid_skene(given, variant="full", draws=100, chains=2, seed=1)
    posterior = tree["posterior"].to_dataset()
    n = pd.read_csv(folder / "labels.csv")["annotator"].value_counts()
    rows = found["annotators"]
    for row in rows:
        drawn = posterior["accuracy"].sel(annotator=row["annotator"]).values
        numbers = [row[key] for key in ("accuracy", "lower", "upper", "prob_below_chance", "n_labels_given")]
        expected = [drawn.mean(), *shortest(drawn), (drawn < 1 / 3).mean(), n[row["annotator"]]]
        assert numbers == pytest.approx(expected)
        wide = np.subtract(*shortest(drawn)[::-1]) > 0.3
        assert row["flags"] == ["too_few_labels"] * bool(wide or n[row["annotator"]] < 10)
    assert rows == sorted(rows, key=lambda row: (not row["flags"], -row["n_labels_given"]))
    confusion = posterior["confusion"].mean(("chain", "draw"))
    assert len(found["confusion"]) == 5 * 9
    for row in found["confusion"]:
        place = {key: row[key] for key in ("annotator", "category", "observed_category")}
        assert row["probability"] == pytest.approx(confusion.sel(place).item())


@pytest.mark.long
def test_judge(answer, folder):
    found = answer("judge verdicts.csv --people two.csv --system system --draws 50 --chains 2")
    verdicts, people = (pd.read_csv(folder / name) for name in ("verdicts.csv", "two.csv"))
    system = verdicts.drop_duplicates("item").set_index("item")["system"]
    labels = {"labels": ["no", "yes"], "label": "label"}
    with pytest.warns(UserWarning):
        tree = ba.corrected_rate(
            ba.Labels.from_long(verdicts, item="item", annotator="judge", **labels),
            ba.Labels.from_long(people, item="item", annotator="annotator", **labels),
            positive="yes", system=system, draws=50, chains=2, seed=1,
        )  # fmt: skip
    posterior = tree["posterior"].to_dataset()
    assert len(found["rates"]) == 4
    for row in found["rates"]:
        own = verdicts[(verdicts["judge"] == row["judge"]) & (verdicts["system"] == row["system"])]
        assert row["raw_rate"] == pytest.approx((own["label"] == "yes").mean())
        voted = people["item"].drop_duplicates().map(system)
        assert row["n_items_with_votes"] == (voted == row["system"]).sum()
        rate = posterior["rate"].sel(system=row["system"]).values
        assert row["rate"] == pytest.approx(rate.mean())
        assert (row["lower"], row["upper"]) == pytest.approx(shortest(rate))
        for name in ("sensitivity", "specificity", "max_saving"):
            one = posterior[name].sel(system=row["system"]).sel(judge=row["judge"])
            assert row[name] == pytest.approx(np.median(one.values))
    [row] = found["pairs"]
    a, b = (posterior["rate"].sel(system=row[key]).values for key in ("system", "other_system"))
    numbers = [row[key] for key in ("difference", "lower", "upper", "prob_better")]
    assert numbers == pytest.approx([(a - b).mean(), *shortest(a - b), ahead(a, b)])


def test_conformal(answer, folder):
    labels, shares = (pd.read_csv(folder / name) for name in ("labels.csv", "shares.csv"))
    found = answer("conformal labels.csv shares.csv --coverage 0.7 -o sets.csv")
    counts = counts_of(labels, CATEGORIES)
    plausibility = counts / counts.sum(axis=1, keepdims=True)
    for row in found["thresholds"]:
        score = shares[shares["model"] == row["model"]].pivot(index="item", columns="label", values="score").values
        # The smallest score at which 1 + the weight at or below it, of n + 1, exceeds alpha = .3.
        order = np.argsort(score, axis=None)
        reached = (1 + np.cumsum(plausibility.ravel()[order])) / 15
        assert row["threshold"] == pytest.approx(score.ravel()[order][np.flatnonzero(reached > 0.3 + 1e-9)[0]])
    sets = pd.read_csv(folder / "sets.csv")
    rows = {(row["model"], row["quantity"]): row["value"] for row in found["coverage"]}
    for model, table in sets.groupby("model"):
        chosen = table.set_index("item")["labels"].fillna("").str.split()
        inside = np.array([[k in chosen[item] for k in CATEGORIES] for item in ITEMS])
        mass = (plausibility * inside).sum(axis=1)
        assert rows[model, "coverage"] == pytest.approx(mass.mean())
        assert rows[model, "mass_coverage"] == pytest.approx((mass >= 0.9).mean())
        assert rows[model, "size"] == pytest.approx(inside.sum(axis=1).mean())
        winner = plausibility.argmax(axis=1)
        assert rows[model, "majority_coverage"] == pytest.approx(inside[np.arange(14), winner].mean())
    ends = sp.stats.beta.ppf([0.025, 0.975], 15 - 4, 4)
    assert f"between {ends[0]:.2f} and {ends[1]:.2f}" in found["notes"][0]


@pytest.mark.long
def test_subjective(answer, folder):
    command = "subjective labels.csv --annotators people.csv --group age models.csv --draws 40"
    found = answer(command)
    labels, models, people = (pd.read_csv(folder / name) for name in ("labels.csv", "models.csv", "people.csv"))
    both = labels.merge(people).merge(models, on="item", suffixes=("", "_of_model"))
    both["hit"] = both["label"] == both["label_of_model"]
    own = both.groupby(["model", "age", "annotator"])["hit"].agg(["mean", "size"])
    of_group = own.groupby(["model", "age"]).agg(mean=("mean", "mean"), n=("size", "sum"), who=("size", "size"))
    for row in found["groups"]:
        expected = of_group.loc[(row["model"], row["group"])]
        assert [row["raw_mean"], row["annotations"], row["annotators"]] == pytest.approx(expected.tolist())
        assert row["lower"] < row["posterior_mean"] < row["upper"]
    for row in found["models"]:
        means = of_group.loc[row["model"], "mean"].values
        assert row["mean"] == pytest.approx(means.mean())
        assert row["raw_dispersion"] == pytest.approx(1 - means.std())
        assert row["differs"] == (row["p_value"] < 0.05)
    groups = dict(zip(people["annotator"], people["age"]))
    for row in found["agreement"]:
        pairs = []
        for _, item in labels.groupby("item"):
            for (a, one), (b, other) in itertools.combinations(zip(item["annotator"], item["label"]), 2):
                if sorted((groups[a], groups[b])) == sorted((row["group"], row["other_group"])):
                    pairs.append(one != other)
        assert row["pairs"] == len(pairs)


@pytest.mark.long
def test_plan(answer):
    found = answer("plan labels.csv --n-items 20,60 --n-annotators 2,3 --replicates 3 --target .4 --cost 2,.5")
    rows = {(row["items"], row["annotators"]): row for row in found["designs"]}
    for (items, annotators), row in rows.items():
        assert row["cost"] == items * (2 + annotators / 2)
        assert row["width_lower"] <= row["width"] <= row["width_upper"]
    fit = [(row["cost"], key) for key, row in rows.items() if row["width"] <= 0.4]
    items, annotators = min(fit)[1]
    assert len(fit) < 4
    assert found["notes"] == [
        f"The cheapest design with a width of at most 0.4: {items} items, {annotators} annotators each."
    ]


@pytest.mark.long
def test_preferences(answer, folder):
    found = answer("preferences games.csv --draws 60 --chains 2 --ci-prob 0.9 -o fit.nc --force")
    posterior = ba.read_result(folder / "fit.nc")["posterior"].to_dataset()
    drawn = posterior["strength"].stack(sample=("chain", "draw")).transpose("sample", "model")
    first = first_place(drawn.values)
    order = np.argsort(-drawn.values.mean(axis=0))
    assert [row["model"] for row in found["models"]] == drawn["model"].values[order].tolist()
    games = pd.read_csv(folder / "games.csv")
    for row, m, following in zip(found["models"], order, [*order[1:], None]):
        one, name = drawn.values[:, m], row["model"]
        assert row["mean"] == pytest.approx(one.mean())
        assert (row["lower"], row["upper"]) == pytest.approx(shortest(one, 0.9))
        assert row["best_with_probability"] == pytest.approx(first[m])
        if following is not None:
            assert row["better_than_next"] == pytest.approx(ahead(one, drawn.values[:, following]))
        assert row["comparisons"] == ((games["left"] == name) | (games["right"] == name)).sum()
    assert found["comparisons"][0]["comparisons"] == len(games)


@pytest.mark.long
def test_headline_of_the_report(kept, answer, folder):
    """The panel, number by number, from the draws of `evaluate`, the votes, and the commands of each part."""
    _, tree = kept
    options = "models.csv --plausibility dirichlet --annotators people.csv --group age --draws 61"
    found = answer(f"report labels.csv {options} --reliability 1,4 --metrics top_1_accuracy -o page.html")
    choice, score, agreement, left_open, *notes = found["notes"]
    at_1 = tree["posterior"]["top_1_accuracy"].sel(reliability=1).stack(sample=("chain", "draw"))
    draws = {name: at_1.sel(model=name).values for name in ("low", "mid", "top")}
    places = first_place(np.array([*draws.values()]).T)
    first, second = (["low", "mid", "top"][m] for m in np.argsort(-places)[:2])
    gap, p = draws[first] - draws[second], ahead(draws[first], draws[second])

    def written(values):
        return f"{values.mean():.3f} ({shortest(values)[0]:.3f} to {shortest(values)[1]:.3f})"

    assert choice.startswith(f"Which model is best? +{written(gap)}. ")
    assert f"{first} is better than {second} with probability {p:.3f}." in choice
    assert score.startswith(f"How good is {first}, given these labels? {written(draws[first])}. ")
    other = at_1.sel(model="another annotator").values.mean()
    assert f"Another annotator would score {other:.3f} against the same truth." in score
    counts = counts_of(pd.read_csv(folder / "labels.csv"), CATEGORIES)
    winners = counts == counts.max(axis=1, keepdims=True)
    models = pd.read_csv(folder / "models.csv").pivot(index="model", columns="item", values="label")
    predicted = [CATEGORIES.index(label) for label in models.loc[first, ITEMS]]
    plug_in = (winners / winners.sum(axis=1, keepdims=True))[np.arange(14), predicted].mean()
    assert f"Against the majority vote: {plug_in:.3f}." in score
    by_group = answer("subjective labels.csv --annotators people.csv --group age models.csv --draws 61")
    for row in by_group["groups"]:
        if row["model"] == first:
            numbers = f"{row['posterior_mean']:.3f} ({row['lower']:.3f} to {row['upper']:.3f})"
            assert f"Accuracy for {row['group']}: {numbers}." in score
    [alpha] = [r for r in answer("agreement labels.csv")["agreement"] if r["coefficient"] == "alpha_nominal"]
    numbers = f"{alpha['estimate']:.3f} ({alpha['lower']:.3f} to {alpha['upper']:.3f})"
    assert agreement.startswith(f"How far do annotators agree? {numbers}. ")
    most = np.array([most_plausible(1 / 3 + row) for row in counts])
    n = (most.max(axis=1) < 0.95).sum()
    assert left_open.startswith(f"What stays open? {100 * n / 14:.0f}\u00a0% ({n} of 14 items). ")
    # What votes are worth is about the two models of the largest expected accuracy.
    expected = {
        name: sum(most[i, CATEGORIES.index(k)] for i, k in enumerate(row[ITEMS])) for name, row in models.iterrows()
    }
    best, next_best = sorted(expected, key=expected.get, reverse=True)[:2]
    differ = (models.loc[best, ITEMS] != models.loc[next_best, ITEMS]).sum()
    assert f"By the labels alone, {differ} more votes" in left_open
    assert f"{first} comes first at every weight of an annotation (reliability 1 and 4)." in notes


@pytest.mark.long
def test_rankings(answer, folder):
    found = answer("rankings cases.json --prirn 2,9 --plackett-luce 1,3 --draws 60 -o rank.nc --force")
    cases = json.loads((folder / "cases.json").read_text())["cases"]
    rankings = [ranking for case in cases for ranking in case]
    labels = [sum(map(len, ranking)) for ranking in rankings]
    [row] = found["annotations"]
    assert row == pytest.approx(
        {
            "n_items": 3,
            "n_rankings": 7,
            "rankings_per_item": 7 / 3,
            "labels_per_item": np.mean([len({k for r in case for block in r for k in block}) for case in cases]),
            "labels_per_ranking": np.mean(labels),
            "blocks_per_ranking": np.mean([len(r) for r in rankings]),
            "share_with_ties": np.mean([max(map(len, r)) > 1 for r in rankings]),
            "largest_block": 2,
        }
    )
    tree = ba.read_result(folder / "rank.nc")
    certainty = tree["certainty"].to_dataset()
    settings = list(zip(certainty["aggregation"].values, certainty["reliability"].values))
    names = [f"{a} {r:g}" for a, r in settings]
    top = certainty["top_1"].transpose("setting", "item").values
    agreement = tree["annotation"]["agreement"].values
    assert [row["setting"] for row in found["settings"]] == names
    for s, row in enumerate(found["settings"]):
        for k in (1, 2, 3):
            assert row[f"top_{k}"] == pytest.approx(certainty[f"top_{k}"].transpose("setting", "item").values[s].mean())
        assert row["share_below_0.99"] == np.mean(top[s] < 0.99)
        assert row["correlation_with_agreement"] == pytest.approx(np.corrcoef(top[s], agreement)[0, 1])
    matrix = np.array([[row[name] for name in names] for row in found["correlation_of_certainty"]])
    np.testing.assert_allclose(matrix, np.corrcoef(top), atol=1e-9)
    prirn = [s for s, (kind, _) in enumerate(settings) if kind == "prirn"]
    for row in found["nearest_settings"]:
        s = names.index(row["setting"])
        nearest = max(prirn, key=lambda j: matrix[s, j])
        assert (row["prirn"], row["correlation"]) == (names[nearest], pytest.approx(matrix[s, nearest]))
    posterior = tree["posterior"].to_dataset()
    for row in found["scores"]:
        means = posterior[row["metric"]].mean(("chain", "draw")).isel(setting=names.index(row["setting"]))
        assert {m: row[m] for m in "ABCD"} == pytest.approx(dict(zip(means["model"].values.tolist(), means.values)))
    [item] = found["item"]
    lowest = int(top.mean(axis=0).argmin())
    assert item["certainty"] == pytest.approx(top.mean(axis=0)[lowest])
    written = [" > ".join("{" + ", ".join(block) + "}" for block in ranking) for ranking in cases[lowest]]
    assert [row["ranking"] for row in found["rankings"]] == written


@pytest.mark.long
def test_blind(answer, folder):
    found = answer("blind models.csv --gold gold.csv --draws 20 --metrics accuracy")
    [settings] = found["settings"]
    numbers = {name: settings[name] for name in ("n_models", "n_items", "n_gold", "n_crowd", "draws")}
    assert numbers == {"n_models": 3, "n_items": 14, "n_gold": 4, "n_crowd": 0, "draws": 20}
    gold = pd.read_csv(folder / "gold.csv").set_index("item")["label"]
    models = pd.read_csv(folder / "models.csv").pivot(index="item", columns="model", values="label")
    for row in found["actual"]:
        assert row["score"] == (models.loc[gold.index, row["model"]] == gold).mean()


def test_blind_on_the_screen(answer, run, folder):
    """Scores with their ranks; methods without a pseudo-gold have no row of its quality."""
    words = "blind models.csv --gold gold.csv --draws 20 --metrics accuracy --methods majority,em,sampling"
    found, (code, out, _) = answer(words), run(*words.split())
    assert code == 0
    blocks = {lines[0]: [line.split() for line in lines[1:]] for lines in map(str.splitlines, out.split("\n\n"))}
    score = {(row["estimator"], row["model"]): row for row in found["scores"]}
    gold = {row["model"]: row for row in found["actual"]}
    for name, *cells in blocks["accuracy: score (rank)"][1:]:
        rows = [gold[name], *(score[method, name] for method in ("majority", "em", "sampling"))]
        assert cells == " ".join(f"{row['score']:.3f} ({row['rank']:.0f})" for row in rows).split()
    quality = {row["estimator"]: row["quality"] for row in found["quality"]}
    assert quality["sampling"] is None
    known = [[method, f"{quality[method]:.3f}"] for method in ("majority", "em")]
    assert blocks["quality of the pseudo-gold"][1:] == known
    swaps = [row for row in found["methods"] if row["measure"] == "swap_rate"]
    assert blocks["swap_rate with the gold (rank of the method), n = 3"][1:] == [
        [row["estimator"], f"{row['correlation']:.3f}", f"({row['method_rank']:.0f})"] for row in swaps
    ]
    intervals = blocks["majority: 95 % HDI and ranks"][1:-1]
    keys = ("score", "lower", "upper", "prob_best", "expected_rank")
    assert intervals == [[m, *(f"{score['majority', m][key]:.3f}" for key in keys)] for m in ("low", "mid", "top")]
