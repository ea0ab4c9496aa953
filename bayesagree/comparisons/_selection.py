"""Which effects a model has: those that predict held-out comparisons best."""

from typing import Any

import numpy as np

from bayesagree._types import Floats
from bayesagree.annotations.comparisons import TIE, Comparisons
from bayesagree.comparisons._cells import cells_of
from bayesagree.comparisons._density import DavidsonPrior, Density, Effect, Form
from bayesagree.errors import InputError, one_of
from bayesagree.inference.streams import Seed, stream_apart

FOLDS = 5
# Effects from simple to rich, in the order in which they are chosen.
CHOICES: dict[str, tuple[Effect, ...]] = {
    "ties": ("common", "annotator"),
    "order": (None, "common", "annotator"),
    "discrimination": (None, "annotator"),
}
# Standard errors by which a richer effect must predict better; at 0, chance chooses it half of the time.
CERTAINTY = 1.0


def choose_form(
    comparisons: Comparisons, form: Form, requested: dict[str, Any], prior: DavidsonPrior, random_seed: Seed
) -> tuple[Form, dict[str, float]]:
    """Replace each "auto" by the effect that predicts best, one after the other; return every form's score, too."""
    has_ties = bool((comparisons.outcome == TIE).any())
    several = comparisons.annotators.size > 1
    rng = np.random.default_rng(stream_apart(random_seed, "folds"))
    fold = rng.permutation(np.arange(comparisons.n_comparisons) % FOLDS)
    known: dict[Form, Floats] = {}
    for name, choices in CHOICES.items():
        if requested[name] != "auto" or (name == "order" and not comparisons.order_known):
            continue
        if name == "ties" and not has_ties:
            form = form._replace(ties=None)
            continue
        for choice in choices:
            richer = form._replace(**{name: choice})
            # Chains with discriminations and a strength for each item mix slowly.
            free = name == "discrimination" and form.item_effects
            if choice == form[form._fields.index(name)] or (choice == "annotator" and (not several or free)):
                continue
            for one in (form, richer):
                if one not in known:
                    known[one] = held_out_scores(comparisons, one, prior, fold)
            gain = known[richer] - known[form]
            if gain.mean() > CERTAINTY * gain.std() / np.sqrt(gain.size):
                form = richer
    scores = {f"ties={f.ties}, order={f.order}, discrimination={f.discrimination}": v.mean() for f, v in known.items()}
    return form, {name: round(float(score), 5) for name, score in scores.items()}


def held_out_scores(comparisons: Comparisons, form: Form, prior: DavidsonPrior, fold: Floats) -> Floats:
    """Return the log probability of each comparison at the mode given the comparisons of the other folds, (row,)."""
    whole, place = cells_of(comparisons, **form.cells)
    start = Density(whole, form, prior).start()
    scores = np.empty(comparisons.n_comparisons)
    for f in range(FOLDS):
        kept = fold != f
        density = Density(whole.counted(place[kept]), form, prior)
        point = density.mode(start)
        probability = whole.probabilities(density.natural(point), form.likelihood)
        scores[~kept] = np.log(probability.ravel()[place[~kept]])
    return scores


def checked_form(comparisons: Comparisons, requested: dict[str, Any], item_effects: bool, likelihood: Any) -> Form:
    """Return the simplest form that was requested, after checks."""
    effects: dict[str, Any] = {}
    for name, value in requested.items():
        if value not in ("auto", "common", "annotator", None):
            raise InputError(f"{name}={value!r} is not one of 'auto', 'common', 'annotator', None")
        if value == "annotator" and comparisons.annotators.size == 0:
            raise InputError(
                f"{name}='annotator', but the annotators are unknown; pass annotator= to Comparisons.from_long, or "
                f"{name}='common'"
            )
        effects[name] = CHOICES[name][0] if value == "auto" else value
    if effects["order"] and not comparisons.order_known:
        raise InputError(f"order={requested['order']!r}, but nobody knows which model was shown first; pass order=None")
    one_of(likelihood, "likelihood", ("davidson", "rao_kupper"))
    if item_effects and comparisons.items.size == 0:
        raise InputError("item_effects=True, but the items are unknown; pass item= to Comparisons.from_long")
    ties = int((comparisons.outcome == TIE).sum())
    if effects["ties"] is None and ties:
        raise InputError(f"ties=None, but {ties} comparisons are ties; pass ties='common', or drop these rows")
    if effects["discrimination"] == "common":  # the scale of the strengths
        effects["discrimination"] = None
    return Form(**effects, item_effects=bool(item_effects), likelihood=likelihood)
