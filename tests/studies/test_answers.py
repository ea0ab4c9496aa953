"""Random answers called agreement (Checco et al., figure 3), and agreement by sample size (figures 4, 5)."""

import numpy as np
import pytest

from bayesagree import Ratings, common_agreement, krippendorff_alpha
from studies.answers import random_answers
from studies.sizes import agreement_by_size


@pytest.mark.long
def test_the_paper_s_flat_means_call_random_answers_agreement_more_often():
    found = random_answers(n_annotators=[3, 10], n_levels=[11], n_items=60, repeats=3, random_seed=1)
    np.testing.assert_array_equal(found["false_agreement"], (found["lower"] > 0).mean("repeat"))
    np.testing.assert_array_equal(found["false_disagreement"], (found["upper"] < 0).mean("repeat"))
    flat = found.sel(item_mean="flat", n_levels=11)
    assert flat["phi"].mean("repeat").sel(n_annotators=3) > 0.1
    assert abs(found["phi"].sel(item_mean="hierarchical").mean()) < 0.1
    assert (
        flat["phi"].mean("repeat").values > found["phi"].sel(item_mean="hierarchical", n_levels=11).mean("repeat")
    ).all()


def test_the_whole_set_is_the_last_share():
    given = Ratings.from_matrix(
        [[1, 2, 2, 2, 2], [4, 4, 5, 5, 5], [2, 3, 2, 2, 2], [5, 5, 5, 5, 5]], scale=(1, 5), step=1
    )
    options = {"item_mean": "flat", "likelihood": "squeezed"}
    found = agreement_by_size(given, shares=[1.0], repeats=1, random_seed=1, **options).isel(share=0, repeat=0)
    own = common_agreement(given, random_seed=1, **options)["agreement"]
    assert found["phi"].item() == pytest.approx(float(own["mean"]))
    assert found["alpha"].item() == pytest.approx(krippendorff_alpha(given, level="interval"))
    assert found["percent"].item() == pytest.approx(np.mean([6 / 10, 4 / 10, 6 / 10, 1]))
