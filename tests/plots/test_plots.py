"""Every figure is drawn once, from a small result, and shows the numbers of that result."""

import inspect
import io
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from bayesagree import (
    Annotators,
    InputError,
    Labels,
    annotation_certainty,
    common_agreement,
    compare,
    dirichlet,
    evaluate,
    majority_vote,
    plackett_luce,
    plots,
)
from bayesagree.agreement import annotator_agreement
from bayesagree.blind.experiment import blind_experiment
from bayesagree.datasets.simulate import labelled_test_set, rankings, ratings, simulated_systems
from bayesagree.metrics import top_k_accuracy
from bayesagree.plausibility import irn
from bayesagree.plausibility.certainty import expected_risk, risk_certainty
from bayesagree.subjective import EvaluationSpecification, check_specification, crowdtruth


@pytest.fixture(scope="module")
def rated():
    return ratings(n_items=30, ratings_per_item=5, phi=0.6, seed=1).ratings


@pytest.fixture(scope="module")
def test_set():
    return labelled_test_set(n_items=50, seed=1)


@pytest.fixture(scope="module")
def tree(test_set):
    return evaluate(test_set.labels, test_set.predictions, reliability=[0.3, 1, 3], draws=100, seed=1)


@pytest.fixture(scope="module")
def posterior(test_set):
    return dirichlet(test_set.labels, draws=100, seed=1)


@pytest.fixture(scope="module")
def blind():
    systems = simulated_systems(n_items=80, accuracies=(0.6, 0.7, 0.8, 0.9, 0.95), seed=1)
    return blind_experiment(
        systems.predictions, gold=dict(enumerate(systems.truth.tolist())), methods=["majority", "em"],
        metrics=["accuracy", "precision"], draws=50, seed=1,
    )  # fmt: skip


def drawn(axes):
    """Draw to the end, as a reader would see it, and return the panels; nothing else may be touched."""
    figure = np.asarray(axes, dtype=object).flat[0].figure
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(io.BytesIO(), format="svg")
    for panel in figure.axes:
        if panel.axison and panel.get_xlabel() == "" and panel.get_ylabel() == "":
            assert figure.get_supxlabel() or figure.get_supylabel() or panel.get_title()
    return figure.axes


def test_item_fits_have_a_band_around_the_mean(rated):
    tree = common_agreement(rated, keep_item_means=True, draws=50, chains=2, seed=1)
    panels = drawn(plots.plot_item_fits(tree, rated, items=rated.items[:3].tolist()))
    assert [panel.get_title() for panel in panels[:3]] == [f"{name} (5 ratings)" for name in rated.items[:3]]
    low, high = rated.scale
    x, density = panels[0].lines[0].get_data()
    assert (low < x).all()
    assert (x < high).all()
    assert np.trapezoid(density, x) == pytest.approx(1, abs=0.05)
    with pytest.raises(InputError, match="keep_item_means=True"):
        plots.plot_item_fits(common_agreement(rated, draws=10, seed=1), rated)
    with pytest.raises(InputError, match="there is no item 'x'"):
        plots.plot_item_fits(tree, rated, items=["x"])


def test_strips_name_the_share_of_draws_on_top(posterior, test_set):
    (panel,) = drawn(plots.plot_plausibility(posterior, 3, point=majority_vote(test_set.labels), most=3))
    values = posterior["posterior"]["plausibility"].sel(item=3)
    best = int(values.mean(("chain", "draw")).values.argmax())
    lead = float((values.argmax("category") == best).mean())
    assert panel.get_xticklabels()[0].get_text() == f"{best}\n{lead:.0%} on top"
    with pytest.raises(InputError, match="there is no item"):
        plots.plot_plausibility(posterior, "x")
    with pytest.raises(InputError, match="without top_labels"):
        plots.plot_plausibility(dirichlet(test_set.labels, top_labels=1, draws=5, seed=1), 3)


def test_strips_of_lumped_rankings():
    given = rankings(n_items=4, n_labels=6, seed=1).rankings
    lumped = plackett_luce(given, unranked="lumped", draws=150, seed=1)
    (panel,) = drawn(plots.plot_plausibility(lumped, given.items[0], point=irn(given)))
    assert len(panel.get_xticklabels()) == 6


def test_the_simplex_has_three_corners(posterior):
    with pytest.raises(InputError, match="three labels, not 4"):
        plots.plot_simplex(posterior, [0])
    (panel,) = drawn(plots.plot_simplex(posterior, [0, 1], labels=[0, 1, 2]))
    corners = [[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]]
    certain = Labels.from_counts([[10**6, 0, 0], [0, 10**6, 0], [0, 0, 10**6]])
    (panel,) = drawn(plots.plot_simplex(dirichlet(certain, draws=10, seed=1), [0, 1, 2]))
    for line, corner in zip(panel.lines, corners):
        np.testing.assert_allclose(line.get_xydata().mean(axis=0), corner, atol=1e-3)


def test_scores_stand_at_their_means(tree, test_set):
    plug_in = top_k_accuracy(majority_vote(test_set.labels), test_set.predictions).squeeze(("chain", "draw"))
    (panel,) = drawn(plots.plot_scores(tree, metric="top_1_accuracy", plug_in=plug_in))
    found = compare(tree, metric="top_1_accuracy", reliability=1.0)
    heights = [bars.lines[0].get_ydata()[1] for bars in panel.containers]
    np.testing.assert_allclose(heights, found["score"])
    with pytest.raises(InputError, match="was not computed"):
        plots.plot_scores(tree, metric="overlap_2")


def test_another_annotator_is_a_dashed_line_among_the_models(test_set):
    tree = evaluate(test_set.labels, test_set.predictions, another_annotator=True, draws=50, seed=1)
    plug_in = top_k_accuracy(majority_vote(test_set.labels), test_set.predictions)
    (panel,) = drawn(plots.plot_scores(tree, metric="top_1_accuracy", plug_in=plug_in))
    *_, last = panel.containers
    assert (last.get_label(), last.lines[0].get_linestyle()) == ("another annotator", "--")


def test_histograms_hold_every_draw(tree):
    (panel,) = drawn(plots.plot_score_draws(tree, metric="top_1_accuracy", reliability=1.0))
    assert sum(patch.get_height() for patch in panel.containers[0]) == 400
    with pytest.raises(InputError, match="pass reliability="):
        plots.plot_score_draws(tree, metric="top_1_accuracy")


def test_places_are_written_best_model_first(tree):
    comparison = compare(tree, metric="top_1_accuracy", reliability=1.0)
    panels = drawn(plots.plot_rank_probability(comparison))
    best = comparison["model"].values[int(comparison["score"].values.argmax())]
    assert panels[0].get_yticklabels()[0].get_text() == str(best)
    texts = [text.get_text() for text in panels[0].texts]
    assert f"{float(comparison['rank_probability'].sel(model=best, rank=1)):.2f}" in texts


def test_certainty_is_sorted_by_itself_or_by_one_curve(posterior, test_set):
    low = annotation_certainty(dirichlet(test_set.labels, reliability=0.2, seed=1), exact=True)
    high = annotation_certainty(posterior, exact=True)
    (panel,) = drawn(plots.plot_certainty({"low": low, "high": high}))
    assert (np.diff(panel.lines[1].get_ydata()) >= 0).all()
    (panel,) = drawn(plots.plot_certainty({"low": low, "high": high}, order="low", limit=None))
    np.testing.assert_array_equal(panel.lines[1].get_ydata(), high.values[np.argsort(low.values, kind="stable")])
    with pytest.raises(InputError, match="there is no curve 'x'; there is low"):
        plots.plot_certainty({"low": low}, order="x")


def test_certainty_by_agreement_says_the_correlation(posterior, test_set):
    certainty, agreement = annotation_certainty(posterior, exact=True), annotator_agreement(test_set.labels)
    (panel,) = drawn(plots.plot_certainty_by_agreement(certainty, agreement))
    correlation = np.corrcoef(agreement.values, certainty.values)[0, 1]
    assert panel.get_title() == f"50 items, correlation {correlation:.2f}"
    with pytest.raises(InputError, match="three or more"):
        plots.plot_certainty_by_agreement(certainty, agreement[:2])


def test_risk(posterior):
    risk = {0: 0, 1: 0, 2: 1, 3: 2}
    certainty = annotation_certainty(posterior, exact=True)
    panels = drawn(plots.plot_risk(certainty, risk_certainty(posterior, risk), expected_risk(posterior, risk)))
    assert panels[1].lines[0].get_ydata().max() <= 2


def test_correlation_with_gold_by_method(blind):
    (panel,) = drawn(plots.plot_method_correlation(blind))
    known = blind["methods"]["correlation"].sel(metric="accuracy", measure="pearson")
    np.testing.assert_allclose(panel.lines[0].get_ydata(), known)
    drawn(plots.plot_quality_correlation(blind, measure="kendall"))
    with pytest.raises(InputError, match="measure='r' is not one of"):
        plots.plot_method_correlation(blind, measure="r")
    with pytest.raises(InputError, match="with gold="):
        plots.plot_quality_correlation(blind.filter(lambda node: "methods" not in node.path))


def test_quality_of_the_annotators(test_set):
    quality = crowdtruth(test_set.labels)["wqs"]
    apart = quality["annotator"].values[:2]
    for panels in (drawn(plots.plot_annotator_quality(quality)), drawn(plots.plot_annotator_quality(quality, apart))):
        top = max(patch.get_y() + patch.get_height() for bars in panels[0].containers for patch in bars)
        assert 0 < top <= quality.size


def test_shares_beside_their_targets():
    votes = Labels.from_matrix([["a", "b", "a", "a"]], annotators=list("wxyz"))
    people = Annotators.from_table(pd.DataFrame({"annotator": list("wxyz"), "gender": ["f", "f", "f", "m"]}))
    declared = EvaluationSpecification("x", protected=["gender"], annotators={"gender": {"f": 0.5, "m": 0.5}})
    report = check_specification(declared, votes, people)
    panels = drawn(plots.plot_shares(report.distributions))
    assert [patch.get_width() for patch in panels[0].patches] == [75, 25]
    assert panels[0].lines[0].get_xdata().tolist() == [50, 50]
    with pytest.raises(InputError, match="names no feature"):
        plots.plot_shares(report.distributions.iloc[:0])


def test_every_figure_takes_axes_and_returns_them(tree):
    import matplotlib.pyplot as plt

    for name in plots.__all__:
        assert inspect.signature(getattr(plots, name)).parameters["axes"].default is None
    _, (left, right) = plt.subplots(1, 2)
    assert plots.plot_scores(tree, metric="top_1_accuracy", axes=right) is right
    assert right.get_xlabel()
    assert not left.has_data()
    assert len(plt.get_fignums()) == 1


def test_a_figure_is_one_that_notebooks_show(tree):
    import matplotlib.pyplot as plt

    panel = plots.plot_scores(tree, metric="top_1_accuracy")
    assert plt.figure(plt.get_fignums()[-1]) is panel.figure


def test_no_figure_changes_settings(tree):
    import matplotlib as mpl

    mpl.use("agg")
    before = dict(mpl.rcParams)
    drawn(plots.plot_scores(tree, metric="top_1_accuracy"))
    assert dict(mpl.rcParams) == before


def test_every_figure_is_listed_and_documented():
    listed = (plots.__doc__ or "").split()
    for name in plots.__all__:
        assert name in listed
        assert "by default a figure of its own" in (getattr(plots, name).__doc__ or "")
    assert "bayesagree.plots" in sys.modules
