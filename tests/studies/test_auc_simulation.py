"""The simulation study: each run against a plain twin, and every claim of the paper on its output."""

import itertools

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

from studies import auc_claims as claims
from studies.auc_simulation import CASES, auc_study, label_level_auc
from studies.binary_crowds import crowdsourced_binary

SMALL = dict(
    cases=["good", "bad"],
    labels_per_item=[3, 5],
    labels_per_annotator=[5],
    runs=7,
    n_items=120,
    n_models=9,
    random_seed=3,
)


def errors_of(tree):
    return tree["study/swap_error"].values


# The machinery


def test_a_run_equals_a_plain_twin():
    tree = auc_study(
        cases=["good"], labels_per_item=[5], labels_per_annotator=[9], runs=2, n_items=150, n_models=12, random_seed=0
    )
    for run in range(2):
        place = (list(CASES).index("good"), 5, 9, run)
        draw, _ = np.random.SeedSequence(0, spawn_key=place).spawn(2)
        problem = crowdsourced_binary(
            n_items=150,
            n_models=12,
            labels_per_item=5,
            labels_per_annotator=9,
            mean_tpr=0.8,
            mean_fpr=0.2,
            random_seed=draw,
        )
        truth = [kendalltau(q, problem.plausibility).statistic for q in problem.scores]
        labels = np.full((150, problem.tpr.size), np.nan)
        labels[problem.item_index, problem.annotator_index] = problem.positive
        n = (~np.isnan(labels)).sum(axis=1)
        share = (np.nansum(labels, axis=1) + 0.5) / (n + 1)
        higher = share[:, None] > share
        pgt = [(np.sign(q[:, None] - q)[higher] + 1).mean() / 2 for q in problem.scores]
        sgt = np.zeros(12)
        for column in labels.T:
            own = ~np.isnan(column)
            if 0 < np.nansum(column) < own.sum():
                sgt += own.sum() * np.array([roc_auc_score(column[own], q[own]) for q in problem.scores])
        for method, estimate in (("pgt", pgt), ("sgt", sgt)):
            ours, true = (np.sign(np.subtract.outer(v, v))[np.triu_indices(12, 1)] for v in (estimate, truth))
            swap_error = 0.5 - (ours * true).mean() / 2
            found = tree["study/swap_error"].sel({"auc_method": method, "run": run}).item()
            assert found == pytest.approx(swap_error, abs=1e-12)
        areas = (np.array(truth) + 1) / 2
        largest = np.max(np.abs(np.diff(areas)) / areas[:-1])
        assert tree["study/adjacent_difference"].sel(run=run).item() == pytest.approx(largest, abs=1e-12)


def test_a_run_depends_on_its_place_only():
    whole = auc_study(**SMALL)
    part = auc_study(**SMALL | {"cases": ["bad"], "labels_per_item": [5], "runs": 3})
    chosen = whole["study/swap_error"].sel(case=["bad"], labels_per_item=[5], run=[0, 1, 2])
    np.testing.assert_array_equal(chosen.values, errors_of(part))
    other = auc_study(**SMALL | {"random_seed": 4})
    assert (errors_of(other) != errors_of(whole)).any()


# The claims of the paper, on a small and on the whole study


@pytest.fixture(
    scope="module", params=[pytest.param(6, marks=pytest.mark.long), pytest.param(100, marks=pytest.mark.slow)]
)
def tree(request):
    return auc_study(runs=request.param, random_seed=0)


@pytest.fixture(scope="module")
def study(tree):
    return tree["study"].to_dataset()


def whole(study):
    return study.sizes["run"] == 100


CLAIMS = (
    "supervised_quartiles",
    "difficulty",
    "better_than_chance",
    "pgt_lowest",
    "dgt_never_better",
    "only_sgt_improves",
    "sgt_most_variable",
    "bad_quality",
    "bad_pgt_beats_supervised",
    "average_quality",
    "average_pgt_beats_supervised",
    "good_quality",
    "good_all_beat_supervised",
    "outstanding_quality",
    "outstanding_pgt_beats_supervised",
    "outstanding_sgt_beats_supervised",
    "outstanding_dgt_beats_supervised",
)


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_of_the_paper_holds(study, claim):
    assert getattr(claims, claim)(study).holds


def test_all_methods_improve_with_labels_per_item(study):
    claim = claims.labels_per_item_help(study)
    assert claim.holds if whole(study) else claim.ours.startswith("mean falls in 90 of 90")  # sd needs many runs


def test_average_case_sgt_beats_supervised_in_61_percent(study):
    claim = claims.average_sgt_beats_supervised(study)
    assert claim.holds if whole(study) else 9 <= cells(claim) <= 13


def test_good_case_pgt_beats_supervised_from_5_labels(study):
    assert (
        claims.good_pgt_beats_supervised(study).holds if whole(study) else no_cell_contradicts(study, "good", "pgt", 5)
    )


def test_good_case_sgt_beats_supervised_in_20_of_30_cells_not_in_the_published_21(study):
    claim = claims.good_sgt_beats_supervised(study)
    assert not claim.holds if whole(study) else True
    assert cells(claim) == 20 if whole(study) else 18 <= cells(claim) <= 22


def test_all_solutions_of_the_extreme_case_are_of_low_quality(study):
    if whole(study):
        assert claims.extreme_quality(study).holds
    found = study.swap_error.sel(case="extreme", auc_method=list(claims.PUBLISHED))
    assert (claims.interval(found)[1] > claims.MIDDLE).all()


def no_cell_contradicts(study, case, method, least):
    """With few runs: no cell whose 99 % interval lies above the supervised reference."""
    reference = study.swap_error.sel({"auc_method": "supervised"}).mean()
    chosen = {"case": case, "auc_method": method, "labels_per_item": slice(least, None)}
    return bool((claims.interval(study.swap_error.sel(chosen))[0] < reference).all())


def cells(claim):
    """Number of cells from '66.67% (20 of 30 cells)'."""
    return int(claim.ours.split("(")[1].split()[0])


def test_two_thirds_of_the_handicap_of_dgt_are_its_tie_rule(study):
    """One coin per tied item, not one per model, brings DGT closer to PGT everywhere, and past SGT on average."""
    means = study.swap_error.mean(["run", "labels_per_annotator"])
    fair, published, pgt, sgt = (means.sel({"auc_method": m}) for m in ("dgt", "dgt_published", "pgt", "sgt"))
    assert (fair < published).all()
    assert 0.6 < (published - fair).mean() / (published - pgt).mean() < 0.75
    assert fair.mean() < sgt.mean()


@pytest.mark.long
def test_committees_of_experts_sgt_overtakes_pgt():
    """The paper's open question: with 500 labels an annotator SGT ranks better than PGT (paired 99 %)."""
    tree = auc_study(
        cases=["average", "good"], labels_per_item=[5, 9], labels_per_annotator=[500], runs=60, random_seed=0
    )
    table = claims.committee_table(tree)
    assert (table["difference"] < 0).all()
    assert (table["upper"] < 0).sum() >= 3


# The command


def test_the_auc_of_labels_counts_every_pair_of_labels_of_two_items():
    problem = crowdsourced_binary(n_items=30, n_models=3, labels_per_item=4, labels_per_annotator=4, random_seed=2)
    given = problem.labels
    counts = given.counts().astype(float)
    share = counts[:, 1] / np.maximum(counts.sum(axis=1), 1)
    weight = counts.sum(axis=1) > 0
    right, total = np.zeros(3), 0.0
    for a, b in itertools.permutations(range(30), 2):
        pair = weight[a] * share[a] * weight[b] * (1 - share[b])
        right += pair * (0.5 * (np.sign(problem.scores[:, a] - problem.scores[:, b]) + 1))
        total += pair
    np.testing.assert_allclose(label_level_auc(problem), right / total)
