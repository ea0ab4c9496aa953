"""Figures show the numbers of the results that they are given."""

import inspect
import io
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from bayesagree import (
    Annotators,
    InputError,
    Labels,
    annotation_certainty,
    common_agreement,
    dirichlet,
    evaluate,
    pairwise,
    plots,
    score,
)
from bayesagree.datasets.simulate import labelled_test_set, ratings
from bayesagree.evaluation.tables import score_intervals
from bayesagree.plausibility.votes import shared_wins
from bayesagree.subjective import EvaluationSpecification, crowdtruth, group_performance
from studies.crowd import plot_annotator_quality, plot_shares


@pytest.fixture(scope="module")
def given():
    return labelled_test_set(n_items=40, n_labels=3, random_seed=1)


@pytest.fixture(scope="module")
def tree(given):
    how = {"plausibility": "dirichlet", "another_annotator": True, "draws": 50, "random_seed": 1}
    return evaluate(given.labels, given.predictions, reliability=[0.3, 1], **how)


@pytest.fixture(scope="module")
def posterior(given):
    return dirichlet(given.labels, draws=50, random_seed=1)


def drawn(axes):
    """Draw to the end, as a reader would see it, and return the panels; nothing else may be touched."""
    figure = np.asarray(axes, dtype=object).flat[0].figure
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(io.BytesIO(), format="svg")
    return figure.axes


def test_scores_stand_at_their_means_and_another_annotator_is_dashed(tree, given):
    plug_in = score(shared_wins(given.labels), given.predictions, "accuracy")
    (panel,) = drawn(plots.plot_scores(tree, metric="accuracy", plug_in=plug_in))
    found = tree["posterior"]["accuracy"].mean(("chain", "draw"))
    interval = score_intervals(tree).sel(metric="accuracy").transpose("model", "reliability")
    for bars in panel.containers:
        np.testing.assert_allclose(bars.lines[0].get_ydata(), found.sel(model=bars.get_label()))
        ends = np.array(bars.lines[2][0].get_segments())[:, :, 1].T
        np.testing.assert_allclose(ends, [interval[end].sel(model=bars.get_label()) for end in ("lower", "upper")])
    assert (panel.containers[-1].get_label(), panel.containers[-1].lines[0].get_linestyle()) == (
        "another annotator", "--",
    )  # fmt: skip
    with pytest.raises(InputError, match="was not computed"):
        plots.plot_scores(tree, metric="overlap_2")


def test_rows_stand_best_first_with_the_plug_in_metric_beside(given):
    tree = evaluate(given.labels, given.predictions, plausibility="dirichlet", draws=50, random_seed=1)
    plug_in = score(shared_wins(given.labels), given.predictions, "accuracy")
    (panel,) = drawn(plots.plot_scores(tree, metric="accuracy", plug_in=plug_in))
    found = tree["posterior"]["accuracy"].mean(("chain", "draw"))
    names = [label.get_text() for label in panel.get_yticklabels()]
    np.testing.assert_allclose(panel.containers[0].lines[0].get_xdata(), found.sel(model=names))
    crosses = next(line for line in panel.lines if line.get_marker() == "x")
    np.testing.assert_allclose(crosses.get_xdata(), plug_in.sel(model=names).values.ravel())


def test_scores_on_a_grid_have_bars_on_it(given):
    """Of 40 items the accuracy is k/40: bins between them made a comb."""
    tree = evaluate(given.labels, given.predictions, plausibility="dirichlet", draws=50, random_seed=1)
    (panel,) = drawn(plots.plot_score_draws(tree, metric="accuracy"))
    draws = tree["posterior"]["accuracy"].values.ravel() * given.labels.items.size
    left, width = np.array([(patch.get_x(), patch.get_width()) for patch in panel.patches if hasattr(patch, "get_x")]).T
    assert draws == pytest.approx(draws.round())
    edges, step = left * given.labels.items.size, width * given.labels.items.size
    np.testing.assert_allclose(edges % 1, 0.5, atol=1e-6)
    np.testing.assert_allclose(step, step.round(), atol=1e-6)


def scores_of(means):
    """Return draws of the score of models A, B, ... that hardly vary."""
    values = np.array(means) + np.random.default_rng(1).normal(0, 0.001, (2, 50, len(means)))
    coords = {"model": list("ABCDEFGHI"[: len(means)])}
    return xr.DataTree.from_dict({"posterior": xr.Dataset({"accuracy": (("chain", "draw", "model"), values)}, coords)})


def test_a_line_parts_models_that_differ_and_every_row_has_room():
    panels = [
        drawn(plots.plot_scores(scores_of(means), metric="accuracy"))[0] for means in ([0.9, 0.5, 0.9], [0.9] * 9)
    ]
    between = [line.get_ydata()[0] for line in panels[0].lines if line.get_color() == "0.8"]
    assert between == [1.5]
    assert panels[0].get_ylim()[0] > panels[0].get_ylim()[1]  # the best on top
    few, many = (panel.figure.get_figheight() for panel in panels)
    of_label = 1.2 * 10 / 72  # inches of a line of text of ten points
    assert many - few > 6 * of_label
    assert few > 3 * of_label + 1


def test_models_stand_side_by_side_around_each_reliability(tree):
    (panel,) = drawn(plots.plot_scores(tree, metric="accuracy"))
    at = np.array([bars.lines[0].get_xdata() for bars in panel.containers])
    np.testing.assert_allclose(at.mean(axis=0), [0, 1], atol=1e-12)
    gaps = np.diff(at, axis=0)
    np.testing.assert_allclose(gaps, gaps[0, 0])
    assert 0 < gaps[0, 0] * len(at) < 0.5  # those of one reliability stand together


def test_bars_of_draws_hold_every_draw():
    """Also of scores without a grid, in about forty bars."""
    rough = np.random.default_rng(2).normal(0.6, 0.1, (2, 50, 2))
    tree = xr.DataTree.from_dict(
        {"posterior": xr.Dataset({"accuracy": (("chain", "draw", "model"), rough)}, {"model": ["A", "B"]})}
    )
    (panel,) = drawn(plots.plot_score_draws(tree, metric="accuracy"))
    bars = [patch for patch in panel.patches if hasattr(patch, "get_x")]
    assert sum(bar.get_height() for bar in bars) == 200
    assert len(bars) == 2 * 40
    assert min(bar.get_x() for bar in bars) == pytest.approx(rough.min())
    assert max(bar.get_x() + bar.get_width() for bar in bars) == pytest.approx(rough.max())


def test_places_are_written_best_model_first(tree):
    comparison = pairwise(tree, "accuracy", reliability=1.0)
    panel, _ = drawn(plots.plot_rank_probability(comparison))
    best = comparison["model"].values[0]
    assert panel.get_yticklabels()[0].get_text() == str(best)
    first = float(comparison["rank_probability"].sel(model=best, rank=1))
    assert f"{first:.2f}" in [text.get_text() for text in panel.texts]


def test_item_fits_have_a_density_over_the_scale():
    rated = ratings(n_items=4, ratings_per_item=5, phi=0.6, random_seed=1).ratings
    tree = common_agreement(rated, keep_item_means=True, draws=30, chains=2, random_seed=1)
    panels = drawn(plots.plot_item_fits(tree, rated, items=rated.items[:2].tolist()))
    assert [panel.get_title() for panel in panels[:2]] == [f"{name} (5 ratings)" for name in rated.items[:2]]
    x, density = panels[0].lines[0].get_data()
    assert np.trapezoid(density, x) == pytest.approx(1, abs=0.05)
    with pytest.raises(InputError, match="there is no item 'x'"):
        plots.plot_item_fits(tree, rated, items=["x"])


def test_five_fits_stand_in_rows_of_four_and_the_rest_is_empty():
    rated = ratings(n_items=5, ratings_per_item=3, phi=0.6, random_seed=1).ratings
    means = np.random.default_rng(1).uniform(1.5, 4.5, (1, 20, 5))
    drawn = {"item_mean": (("chain", "draw", "item"), means), "phi": (("chain", "draw"), np.full((1, 20), 0.5))}
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(drawn, {"item": rated.items})})
    panels = plots.plot_item_fits(tree, rated)
    x, density = panels[0, 1].lines[0].get_data()
    of_beta = stats.beta((means[0, :, 1] - 1) / 4 * 4, (5 - means[0, :, 1]) / 4 * 4)  # 2 (1 - log2(1 - 0.5)) = 4
    np.testing.assert_allclose(density, of_beta.pdf((x[:, None] - 1) / 4).mean(axis=1) / 4, atol=1e-6)
    np.testing.assert_array_equal(panels[0, 1].lines[1].get_xdata(), rated.rating[rated.item_index == 1])
    assert panels.shape == (2, 4)
    assert [panel.axison for panel in panels.ravel()] == [True] * 5 + [False] * 3
    width, height = panels[0, 0].figure.get_size_inches()
    assert (width / 4, height / 2) == pytest.approx((2.4, 1.9))


def test_sizes_of_sets_are_means_of_groups_of_like_certainty():
    certainty = xr.DataArray([0.9, 0.4, 0.7, 0.5, 0.8], {"item": list("abcde")}, ("item",))
    sets = xr.DataArray(
        np.array([[[1, 0, 0], [1, 1, 1], [1, 1, 0], [1, 1, 0], [1, 0, 0]]], bool),
        {"model": ["A"], "item": list("abcdz"), "category": [0, 1, 2]}, ("model", "item", "category"),
    )  # fmt: skip
    (panel,) = drawn(plots.plot_set_size(sets, certainty, bins=2))
    line, _, (bars,) = panel.containers[0]
    np.testing.assert_allclose(line.get_xydata(), [[0.45, 2.5], [0.8, 1.5]])
    # Of sizes 3 and 2, and of 2 and 1, the standard error is 1/2: two of them above and below.
    np.testing.assert_allclose([segment[:, 1] for segment in bars.get_segments()], [[1.5, 3.5], [0.5, 2.5]])
    with pytest.raises(InputError, match="4 items have both a set and a certainty: too few for bins=3"):
        plots.plot_set_size(sets, certainty, bins=3)


def test_strips_name_the_share_of_draws_on_top(posterior, given):
    (panel,) = drawn(plots.plot_plausibility(posterior, 3, point=shared_wins(given.labels)))
    values = posterior["posterior"]["plausibility"].sel(item=3)
    best = int(values.mean(("chain", "draw")).values.argmax())
    lead = float((values.argmax("category") == best).mean())
    assert panel.get_xticklabels()[0].get_text() == f"{best}\n{lead:.0%} on top"
    with pytest.raises(InputError, match="without top_labels"):
        plots.plot_plausibility(dirichlet(given.labels, top_labels=1, draws=5, random_seed=1), 3)


def test_strips_show_the_most_plausible_labels_and_every_draw():
    values = np.random.default_rng(1).dirichlet([1, 4, 2, 0.5], (2, 20, 1))
    data = xr.Dataset(
        {"plausibility": (("chain", "draw", "item", "category"), values)}, {"item": ["x"], "category": list("abcd")}
    )
    point = xr.DataArray([[0.1, 0.6, 0.3, 0.0]], {"item": ["x"], "category": list("abcd")}, ("item", "category"))
    (panel,) = drawn(plots.plot_plausibility(xr.DataTree.from_dict({"posterior": data}), "x", point=point, most=3))
    flat = values.reshape(40, 4)
    assert [text.get_text()[0] for text in panel.get_xticklabels()] == list("bca")
    assert [bar.get_height() for bar in panel.patches] == [0.6, 0.3, 0.1]
    for k, label in enumerate([1, 2, 0]):
        dots, mean = panel.lines[2 * k : 2 * k + 2]
        np.testing.assert_array_equal(dots.get_ydata(), flat[:, label])
        assert dots.get_xdata().mean() == pytest.approx(k)
        np.testing.assert_allclose(mean.get_ydata(), flat[:, label].mean())
        assert mean.get_xdata()[0] < dots.get_xdata().min() < dots.get_xdata().max() < mean.get_xdata()[1]
        assert np.mean(mean.get_xdata()) == pytest.approx(k)
        assert np.ptp(mean.get_xdata()) < 1  # strips stand apart
    few = plots.plot_plausibility(xr.DataTree.from_dict({"posterior": data}), "x", most=1)
    wider = panel.figure.get_figwidth() - few.figure.get_figwidth()
    assert 0.5 < wider / 2 < few.figure.get_figwidth()


def test_three_labels_of_four_are_a_simplex_of_their_own():
    values = np.random.default_rng(1).dirichlet(np.ones(4), (1, 30, 2))
    data = xr.Dataset(
        {"plausibility": (("chain", "draw", "item", "category"), values)},
        {"item": ["x", "y"], "category": list("abcd")},
    )
    (panel,) = drawn(plots.plot_simplex(xr.DataTree.from_dict({"posterior": data}), ["y", "x"], labels=list("dab")))
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    for line, item in zip(panel.lines, [1, 0]):
        three = values[0, :, item][:, [3, 0, 1]]
        np.testing.assert_allclose(line.get_xydata(), three / three.sum(axis=1, keepdims=True) @ corners)
    heights = [text.get_position()[1] for text in panel.texts]  # below the side at the bottom, above the top
    assert heights[0] == heights[1] < 0 < heights[2]
    assert len({(line.get_color(), line.get_marker()) for line in panel.lines}) == 2


def test_a_certain_item_stands_in_its_corner_of_the_simplex():
    certain = Labels.from_counts([[10**6, 0, 0], [0, 10**6, 0], [0, 0, 10**6]])
    (panel,) = drawn(plots.plot_simplex(dirichlet(certain, draws=10, random_seed=1), [0, 1, 2]))
    for line, corner in zip(panel.lines, [[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]]):
        np.testing.assert_allclose(line.get_xydata().mean(axis=0), corner, atol=1e-3)


def test_certainty_is_sorted_by_itself_or_by_one_curve(posterior, given):
    low = annotation_certainty(dirichlet(given.labels, reliability=0.2, random_seed=1), exact=True)
    high = annotation_certainty(posterior, exact=True)
    (panel,) = drawn(plots.plot_certainty({"low": low, "high": high}))
    assert (np.diff(panel.lines[1].get_ydata()) >= 0).all()
    assert panel.lines[2].get_ydata()[0] == 0.95
    assert panel.get_xlabel() == "items, sorted"
    (panel,) = drawn(plots.plot_certainty({"low": low, "high": high}, order="low", limit=None))
    assert (panel.get_xlabel(), len(panel.lines)) == ("items, sorted by low", 2)
    np.testing.assert_array_equal(panel.lines[0].get_ydata(), np.sort(low.values))
    assert panel.lines[1].get_marker() == "."
    np.testing.assert_array_equal(panel.lines[1].get_ydata(), high.values[np.argsort(low.values, kind="stable")])
    with pytest.raises(InputError, match="there is no curve 'x'; there is low"):
        plots.plot_certainty({"low": low}, order="x")
    with pytest.raises(InputError, match="there is none at all"):
        plots.plot_certainty({})


def test_groups_quality_and_shares():
    votes = Labels.from_matrix([["a", "b", "a", "a"], ["b", "b", "b", "a"]], annotators=list("wxyz"))
    people = Annotators.from_table(pd.DataFrame({"annotator": list("wxyz"), "gender": ["f", "f", "f", "m"]}))
    table = group_performance(votes, votes_of(votes), people, by=["gender"])
    texts = [text.get_text() for text in drawn(plots.plot_groups(table))[0].texts]
    assert texts == [f"{value:.2f}" for value in table["performance"].transpose("group", "model").values.ravel()]
    (panel,) = drawn(plot_annotator_quality(crowdtruth(votes)["wqs"], ["w"]))
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["apart (1)", "others (3)"]
    declared = EvaluationSpecification("x", protected=["gender"], annotators={"gender": {"f": 0.5, "m": 0.5}})
    panels = drawn(plot_shares(declared.check(votes, people).distributions))
    assert [patch.get_width() for patch in panels[0].patches] == [75, 25]
    assert panels[0].lines[0].get_xdata().tolist() == [50, 50]


def test_cells_without_a_value_are_empty_and_every_group_has_room():
    sizes = []
    for n_groups, n_models in ((2, 1), (2, 3), (9, 3)):
        values = np.linspace(0.1, 0.9, n_groups * n_models).reshape(n_groups, n_models)
        values[0, 0] = np.nan
        table = xr.Dataset(
            {"performance": (("group", "model"), values), "n_annotators": ("group", np.arange(n_groups))},
            {"group": list("abcdefghi")[:n_groups], "model": list("ABC")[:n_models]},
            {"metric": "accuracy", "by": "age"},
        )
        panel = plots.plot_groups(table)[0, 0]
        texts = [text.get_text() for text in panel.texts]
        assert texts == ["", *(f"{value:.2f}" for value in values.ravel()[1:])]
        # White where the cell is dark: above the middle of the least and the largest value.
        light = [text.get_color() == "white" for text in panel.texts]
        assert light == (values.ravel() > (np.nanmin(values) + np.nanmax(values)) / 2).tolist()
        sizes.append(panel.figure.get_size_inches())
    few, wide, high = sizes
    assert wide[0] - few[0] > 2 * 0.5  # four digits
    assert high[1] - few[1] > 7 * 1.2 * 10 / 72  # a line of text of ten points
    assert few.min() > 1


def votes_of(labels):
    """Return a model that says what the first annotator says."""
    from bayesagree import Predictions

    return Predictions.from_labels({"A": labels.to_matrix().iloc[:, 0].tolist()}, labels=["a", "b"])


def test_widths_of_designs_stand_within_those_of_one_study():
    width = np.array([[0.4, 0.3], [0.2, 0.1]])
    table = {"width": width, "width_lower": width * [0.8, 0.9], "width_upper": width * [1.2, 1.5]}
    dims = ("items", "annotators")
    designs = xr.Dataset({name: (dims, v) for name, v in table.items()}, {"items": [50, 200], "annotators": [3, 5]})
    (panel,) = drawn(plots.plot_designs(designs.assign_attrs(metric="fleiss_kappa", target=0.25).transpose()))
    for k, bars in enumerate(panel.containers):
        line, _, (segments,) = bars
        np.testing.assert_allclose(line.get_xydata().T, [[3, 5], width[k]])
        ends = [segment[:, 1] for segment in segments.get_segments()]
        np.testing.assert_allclose(ends, np.stack([table["width_lower"][k], table["width_upper"][k]], axis=1))
    assert [line.get_ydata()[0] for line in panel.lines if line.get_label() == "wanted"] == [0.25]


def test_groups_stand_at_their_means_beside_that_of_all():
    draws = np.random.default_rng(1).beta(8, 2, (2, 100, 1, 1)) - [[0.0], [0.1], [0.2]]
    parts = {"performance": (("chain", "draw", "group", "model"), draws)}
    names = {"group": ["a", "b", "c"], "model": ["A"]}
    sizes = xr.Dataset({"n_annotators": ("group", [4, 5, 6])}, {"group": names["group"]})
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(parts, names), "constant_data": sizes})
    (panel,) = drawn(plots.plot_groups(tree))
    points = next(line for line in panel.lines if line.get_marker() == "o")
    np.testing.assert_allclose(points.get_xydata(), np.column_stack([draws[..., 0].mean(axis=(0, 1)), range(3)]))
    (dashed,) = (line for line in panel.lines if line.get_linestyle() == "--")
    np.testing.assert_allclose(dashed.get_xdata(), draws.mean())
    lengths = [np.diff(segment[:, 0])[0] for segment in panel.collections[0].get_segments()]
    np.testing.assert_allclose(lengths, lengths[0])  # the draws are alike but for a shift
    inside = np.mean(np.abs(draws[..., 0, 0] - np.mean(panel.collections[0].get_segments()[0][:, 0])) <= lengths[0] / 2)
    assert inside == pytest.approx(0.95, abs=0.01)
    assert [text.get_text() for text in panel.get_yticklabels()] == ["a (4)", "b (5)", "c (6)"]
    assert panel.get_ylim()[0] > panel.get_ylim()[1]  # the first on top
    assert panel.figure.get_figheight() > 3 * 1.2 * 10 / 72 + 0.8  # lines of text of ten points, and an axis


def test_figures_take_axes_return_them_and_change_no_setting(tree):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    before = dict(mpl.rcParams)
    for name in plots.__all__:
        assert inspect.signature(getattr(plots, name)).parameters["axes"].default is None
        assert name in (plots.__doc__ or "").split()
    _, (left, right) = plt.subplots(1, 2)
    assert plots.plot_scores(tree, metric="accuracy", axes=right) is right
    assert right.get_xlabel()
    assert not left.has_data()
    panel = plots.plot_scores(tree, metric="accuracy")
    assert plt.figure(plt.get_fignums()[-1]) is panel.figure  # notebooks show it
    assert dict(mpl.rcParams) == before
