"""`bayesagree demo`: the main job on a small simulated test set."""

from typing import Any

import numpy as np

from bayesagree.cli._options import Draws, Seed
from bayesagree.cli._output import Answer, Table


def demo(draws: Draws = 1000, seed: Seed = 1) -> Answer:
    """Run the main job on a simulated test set: which of three models is best, when annotators do not agree.

    Example: bayesagree demo --seed 2
    """
    from bayesagree import compare, evaluate, score
    from bayesagree.datasets import simulate
    from bayesagree.evaluation.tables import OPEN
    from bayesagree.inference.results import settings_of
    from bayesagree.plausibility.dawid_skene._results import choice_notes
    from bayesagree.plausibility.votes import shared_wins

    test_set = simulate.labelled_test_set(random_seed=seed)
    labels, models = test_set.labels, test_set.predictions
    tree = evaluate(labels, models, draws=draws, random_seed=seed)
    vote = score(shared_wins(labels), models, "accuracy").to_series().droplevel(["chain", "draw"])
    table: Any = compare(tree)[["score", "lower", "upper", "prob_best", "prob_better", "tier"]]
    table = table.rename(columns={"score": "uncertainty_adjusted_accuracy"})
    table.insert(0, "accuracy_against_majority_vote", vote[table.index])
    open_share = np.mean(np.asarray(tree["certainty/annotation_certainty"]) < OPEN)
    best, second, *_ = table.index
    verdict = "also ranks" if vote.idxmax() == best else "would have ranked"
    notes = [
        f"Simulated test set: {labels.items.size} items, {labels.n_annotations // labels.items.size} annotators each, "
        f"{labels.categories.size} categories; 4 x {draws} draws, seed {seed}.",
        *choice_notes(settings_of(tree)),
        f"On {open_share:.0%} of the items the annotation certainty is below {OPEN}.",
        f"Pr({best} better than {second}) = {table['prob_better'].iloc[0]:.2f}. The majority vote {verdict} "
        f"{vote.idxmax()} first.",
        "With your own files: bayesagree evaluate ANNOTATIONS PREDICTIONS",
    ]
    shown = table.drop(columns="prob_better").reset_index()
    return Answer([Table("models", shown, "Scores of the models, 95 % HDI")], notes)
