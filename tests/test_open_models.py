"""Every PyMC model: names of the user, what is observed as data, parts of one's own, traces that feed the rest."""

import importlib
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayesagree as ba
from bayesagree.inference.random_draws import beta_variable, dirichlet_variable
from bayesagree.plausibility import DawidSkenePrior

pytestmark = pytest.mark.nuts


class Late:
    """PyMC, imported when a test first uses it: collecting the tests imports nothing heavy."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("pymc"), name)


pm: Any = Late()

ITEMS, ANNOTATORS, CATEGORIES = ["owl", "fox", "elk"], ["ann", "bob"], ["no", "perhaps", "yes"]
VOTES = [["no", "no"], ["yes", "perhaps"], ["yes", "yes"]]
LABELS = ba.Labels.from_matrix(VOTES, items=ITEMS, annotators=ANNOTATORS, labels=CATEGORIES)
RATINGS = ba.Ratings.from_matrix([[1, 2], [4, 5], [3, 3]], items=ITEMS, annotators=ANNOTATORS, scale=(1, 5), step=1)
RANKINGS = ba.Rankings.from_blocks(
    [[[["no"], ["yes"]], [["no"]]], [[["yes", "no"]], [["perhaps"], ["no"]]], [[["yes"]], [["no"]]]],
    items=ITEMS, labels=CATEGORIES,
)  # fmt: skip
MODELS = ba.Predictions.from_labels(
    {"A": ["no", "yes", "yes"], "B": ["no", "no", "yes"]}, items=ITEMS, labels=CATEGORIES
)

NUMBERS = ba.Predictions.from_numbers({"A": [1.5, 4.0, 3.0]}, items=ITEMS)
OF_RATINGS = ("informed_normal", "normal_inverse_gamma")


def softmax_of_normals():
    """Plausibilities with a prior of one's own, by a covariate of the items."""
    slope = pm.Normal("slope", shape=3)
    return pm.math.softmax(np.array([-1.0, 0.0, 1.0])[:, None] * slope, axis=1)


def groups_of_annotators():
    """One confusion matrix for each of two groups."""
    return pm.Dirichlet("of_group", np.ones((2, 3, 3)) + 2 * np.eye(3))[np.array([0, 1])]


OPENED = {
    "dirichlet": (LABELS, {"plausibility": softmax_of_normals}),
    "dawid_skene": (LABELS, {"prevalence": softmax_of_normals, "confusion": groups_of_annotators}),
    "dawid_skene, one coin": (LABELS, {"variant": "one_coin", "prevalence": softmax_of_normals}),
    "dawid_skene, mixed membership": (LABELS, {"variant": "mixed_membership", "prevalence": softmax_of_normals}),
    "informed_dirichlet": (LABELS, {"predictions": MODELS, "log_mean": lambda eta: eta + pm.Normal("shift", shape=3)}),
    "informed_normal": (RATINGS, {"predictions": NUMBERS}),
    "prirn": (RANKINGS, {}),
    "plackett_luce": (
        RANKINGS,
        {"worth": lambda shape, item, category: pm.Gamma("worth", shape, pm.math.exp(pm.Normal("easy")), dims="slot")},
    ),
    "normal_inverse_gamma": (
        RATINGS,
        {
            "mean": lambda variance: pm.Normal("level") + np.arange(3),
            "variance": lambda: pm.HalfNormal("sd") * np.ones(3),
        },
    ),
    "common_agreement": (RATINGS, {"item_mean": lambda: pm.Beta("unit_item_mean", 2, 2, dims="item")}),
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", OPENED)


def model_of(name: str) -> Any:
    """Return the function that builds a PyMC model."""
    if name == "common_agreement":
        return ba.agreement.common_agreement_model
    if name == "informed_normal":
        return lambda ratings, predictions: ba.plausibility.InformedNormal(predictions=predictions).model(ratings)
    room = {"informed_dirichlet": "informed"}.get(name, name)
    return getattr(importlib.import_module(f"bayesagree.plausibility.{room}.model"), f"{name}_model")


def built(name: str, *, own: bool) -> Any:
    """Return our model, or the one with parts of one's own."""
    annotations, parts = OPENED[name]
    ours = {key: value for key, value in parts.items() if key in ("predictions", "variant")}
    return model_of(name.split(",")[0])(annotations, **(parts if own else ours))


@EVERY
@pytest.mark.parametrize("own", [False, True])
def test_names_of_the_user_and_data(name, own):
    model = built(name, own=own)
    data = {v.name for v in model.data_vars}
    assert list(model.coords["item"]) == ITEMS
    if name != "prirn":
        assert [n for n in data if n.startswith("observed_")]
        assert model.observed_RVs or model.potentials
    if name == "plackett_luce":
        assert {"item_of_slot", "item_of_ranking"} <= data
    elif name not in ("prirn", "informed_dirichlet"):
        assert list(model.coords["annotator"]) == ANNOTATORS
        assert {n for n in data if n.startswith("annotator_of_")}
        assert {n for n in data if n.startswith("item_of_")}
    truth = {"common_agreement": "item_mean"} | dict.fromkeys(OF_RATINGS, "mean")
    truth = truth.get(name, "plausibility")
    dims = ("item", "category") if truth == "plausibility" else ("item",)
    assert model.named_vars_to_dims[truth] == dims
    if truth == "plausibility":
        assert list(model.coords["category"])[:3] == CATEGORIES


def test_observed_values_are_those_of_the_annotations():
    assert built("common_agreement", own=False)["observed_rating"].get_value().tolist() == RATINGS.rating.tolist()
    assert built("dirichlet", own=False)["observed_label"].get_value().tolist() == LABELS.label_index.tolist()
    model = built("plackett_luce", own=False)
    assert sorted(model["item_of_ranking"].get_value()) == sorted(RANKINGS.item_index)


def our_confusion():
    """The prior of the confusion matrices of `dawid_skene_model` under another name."""
    return pm.Dirichlet("rows", np.broadcast_to(ba.plausibility.DawidSkenePrior().confusion(3), (2, 3, 3)))


def our_item_means():
    """The prior of the item means of `common_agreement_model` under other names."""
    m, s = pm.Uniform("m", 0, 1), pm.Uniform("s", 0, 1)
    return beta_variable("own_mean", m * (s**-2 - 1), (1 - m) * (s**-2 - 1), dims="item")


NORMAL = ba.plausibility.NormalInverseGammaPrior.for_scale((1, 5))
OURS = {
    "dirichlet": {"plausibility": lambda: dirichlet_variable("own", np.full((3, 3), 1 / 3))},
    "dawid_skene": {
        "prevalence": lambda: pm.Dirichlet("own", np.full(3, DawidSkenePrior().prevalence)) * np.ones((3, 1)),
        "confusion": our_confusion,
    },
    "informed_dirichlet": {"predictions": MODELS, "log_mean": lambda eta: eta},
    "plackett_luce": {"worth": lambda shape, item, category: pm.Gamma("own", shape, 1, dims="slot")},
    "normal_inverse_gamma": {
        "variance": lambda: pm.InverseGamma("own", alpha=NORMAL.shape, beta=NORMAL.scale, dims="item"),
        "mean": lambda variance: NORMAL.mean + pm.Normal("z", shape=3) * (variance / NORMAL.strength) ** 0.5,
    },
    "common_agreement": {
        "phi": lambda: pm.Uniform("own_phi", -1, 1), "item_mean": our_item_means,
        "mean": lambda mean, item, annotator: mean, "precision": lambda precision, item, annotator: precision,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_a_model_opened_with_parts_equal_to_ours_is_ours(name):
    """Of three models the tests compare two, engine and NUTS of ours, by draws; the opened one has our density."""
    models = built(name, own=False), model_of(name)(OPENED[name][0], **OURS[name])
    rng, shapes = np.random.default_rng(1), models[0].eval_rv_shapes()
    at = [rng.normal(size=shapes[value.name]) for value in models[0].value_vars]
    ours, opened = (
        float(model.compile_logp(mode="FAST_COMPILE")(dict(zip([v.name for v in model.value_vars], at))))
        for model in models
    )
    assert ours == pytest.approx(opened, rel=1e-12)


@pytest.mark.filterwarnings("ignore:The effect of Potentials")
@EVERY
def test_traces_feed_certainty_metrics_and_evaluate(name):
    with built(name, own=True):
        drawn = pm.sample_prior_predictive(200, random_seed=1)
    trace = xr.DataTree.from_dict(
        {
            "posterior": drawn["prior"].to_dataset(),
            **({"constant_data": drawn["constant_data"].to_dataset()} if "constant_data" in drawn else {}),
        }
    )
    if name == "common_agreement":
        assert set(ba.agreement.phi_summary(trace)) >= {"mean", "lower", "upper"}
        return
    threshold = {"threshold": 3.0} if name in OF_RATINGS else {}
    certainty = ba.annotation_certainty(trace, **threshold)
    assert certainty["item"].values.tolist() == ITEMS
    if not threshold:
        found = ba.score(trace, MODELS, "accuracy")
        assert dict(found.sizes) == {"chain": 1, "draw": 200, "model": 2}
        whole = ba.evaluate(OPENED[name][0], MODELS, plausibility=trace, metrics=("accuracy",))
        assert np.allclose(whole["posterior"]["accuracy"].values, found.transpose("chain", "draw", "model"))
