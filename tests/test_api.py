"""The public surface: documented, typed, and free of what a function must not do."""

import inspect

import pytest

import bayesagree

FUNCTIONS = [name for name in bayesagree.__all__ if inspect.isfunction(getattr(bayesagree, name))]


@pytest.mark.parametrize("name", bayesagree.__all__)
def test_documented(name):
    doc = inspect.getdoc(getattr(bayesagree, name)) or ""
    assert doc.splitlines()[0].endswith(".")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_typed_and_seeded_by_keyword(name):
    function = getattr(bayesagree, name)
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter
    for option in ("seed", "draws", "chains", "reliability", "engine"):
        if option in signature.parameters:
            assert signature.parameters[option].kind is inspect.Parameter.KEYWORD_ONLY


def test_all_names_exist_once():
    assert len(set(bayesagree.__all__)) == len(bayesagree.__all__)
    assert all(hasattr(bayesagree, name) for name in bayesagree.__all__)


POSTERIORS = (
    "common_agreement", "dirichlet", "prirn", "plackett_luce", "normal_inverse_gamma", "dawid_skene", "group_posterior",
)  # fmt: skip
MODELS = {name: f"{name}_model" for name in POSTERIORS if name != "group_posterior"}


@pytest.mark.parametrize("name", POSTERIORS)
def test_posteriors_are_called_alike(name):
    parameters = inspect.signature(getattr(bayesagree, name)).parameters
    defaults = {option: parameters[option].default for option in ("draws", "chains", "seed")}
    assert defaults == {"draws": 1000, "chains": 4, "seed": None}
    assert parameters["engine"].kind is inspect.Parameter.KEYWORD_ONLY
    first = next(iter(parameters.values()))
    assert first.name in ("labels", "rankings", "ratings")


@pytest.mark.parametrize("name", MODELS)
def test_models_take_the_prior_of_their_posterior(name):
    """What changes the posterior changes the PyMC model: all but how it is drawn and kept."""
    drawing = {
        "draws", "chains", "tune", "thin", "seed", "engine", "top_labels", "max_bytes", "keep_item_means", "sampler", "ci_prob", "candidates",
        "restarts", "confusion", "client", "to", "progress", "competing",
    }  # fmt: skip
    posterior = inspect.signature(getattr(bayesagree, name)).parameters
    model = inspect.signature(getattr(bayesagree, MODELS[name])).parameters
    # The exact engine of Phi has uniform priors; only its PyMC model takes others.
    only_in_model = {"prior"} if name == "common_agreement" else set()
    assert set(posterior) - drawing == set(model) - only_in_model
    assert all(model[option].default == posterior[option].default for option in set(model) - only_in_model)
