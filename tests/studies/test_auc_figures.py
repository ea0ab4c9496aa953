"""Figures of the AUC study: regions of quality, grids of box plots."""

import json

import numpy as np
import pytest
from _paths import ROOT

from studies.auc_figures import annotator_quality_regions

GOLDEN = json.loads((ROOT / "tests" / "golden" / "auc.json").read_text())


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
