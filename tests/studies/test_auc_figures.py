"""Figures of the AUC study: regions of quality, grids of box plots."""

import io
import json

import numpy as np
import pytest
from _paths import ROOT

from bayesagree.errors import InputError
from studies.auc_figures import annotator_quality_regions, plot_quality_regions, plot_swap_errors
from studies.auc_simulation import auc_study

GOLDEN = json.loads((ROOT / "tests" / "golden" / "auc.json").read_text())


@pytest.fixture(scope="module")
def tree():
    return auc_study(
        cases=["average", "good"],
        labels_per_item=[5, 15],
        labels_per_annotator=[5, 15, 45],
        runs=3,
        n_items=100,
        n_models=10,
    )


def test_one_panel_per_configuration_with_one_box_per_method(tree):
    panels = plot_swap_errors(tree, "good", labels_per_item=[5, 15])
    assert panels.shape == (2, 3)
    medians = [line.get_ydata()[0] for line in panels[0, 0].lines if len(line.get_xdata()) == 2]
    errors = tree["study"].to_dataset().swap_error.sel(case="good", labels_per_item=5, labels_per_annotator=5)
    for method in ("dgt_published", "sgt", "pgt"):
        assert float(errors.sel({"auc_method": method}).median()) in medians
    panels[0, 0].figure.savefig(io.BytesIO(), format="svg")


def test_what_the_study_does_not_have_is_refused(tree):
    with pytest.raises(InputError, match="no case 'bad'"):
        plot_swap_errors(tree, "bad", labels_per_item=[5])
    with pytest.raises(InputError, match="no labels_per_item 45"):
        plot_swap_errors(tree, "good")


def test_regions_of_quality_sum_to_one():
    panel = plot_quality_regions(annotator_quality_regions(0.7, 0.3))
    panel.figure.savefig(io.BytesIO(), format="svg")
    shown = [float(text.get_text().split("\n")[1]) for text in panel.texts]
    assert sum(shown) == pytest.approx(1, abs=0.005)
    assert panel.texts[0].get_text().startswith("very bad")


@pytest.mark.parametrize("case", GOLDEN["cases"])
def test_quality_regions(case):
    golden = GOLDEN["cases"][case]
    table = annotator_quality_regions(golden["mean_tpr"], golden["mean_fpr"])
    np.testing.assert_allclose(table, golden["exact"], rtol=6e-4)  # four printed digits
    assert table.sum().item() == pytest.approx(1, abs=1e-12)
    if case in ("average", "good", "outstanding"):
        np.testing.assert_allclose(table, golden["printed"], rtol=0, atol=0.5e-3 * 1.001)
    if case == "extreme":
        for cell, bound in zip(table.values.ravel(), np.ravel(golden["printed_bounds"])):
            sign, limit = bound.split()
            assert cell > float(limit) if sign == ">" else cell < float(limit)


def test_figure_7_is_misprinted():
    golden = GOLDEN["cases"]["bad"]
    printed = np.array(golden["printed"], dtype=float)
    off = np.abs(printed - golden["exact"]) > 0.5e-3
    assert off[0, 1] and off[1, 0] and off[1, 1] and not off[0, 0]
    assert np.nansum(printed) < 0.961
