"""`bayesagree demo`: the main job on a small simulated test set."""

import numpy as np

from bayesagree.cli import _options, _output


def demo(seed: _options.Seed = 1) -> _output.Answer:
    """Run the main job on a simulated test set: which of three models is best, when annotators do not agree.

    Example: bayesagree demo --seed 2
    """
    from bayesagree import compare, evaluate, score
    from bayesagree.datasets import simulate
    from bayesagree.inference.results import settings_of
    from bayesagree.plausibility.dawid_skene._results import choice_notes
    from bayesagree.plausibility.votes import shared_wins

    test_set = simulate.labelled_test_set(random_seed=seed)
    labels, models = test_set.labels, test_set.predictions
    tree = evaluate(labels, models, random_seed=seed)
    result = compare(tree)
    vote = score(shared_wins(labels), models, "accuracy").squeeze(("chain", "draw"), drop=True)
    rows = [
        {
            "model": str(model),
            "accuracy_against_majority_vote": float(vote.sel(model=model)),
            "uncertainty_adjusted_accuracy": row["score"],
            "lower": row["lower"],
            "upper": row["upper"],
            "prob_best": row["prob_best"],
            "tier": row["tier"],
        }
        for model, row in result.iterrows()
    ]
    open_share = np.mean(np.asarray(tree["certainty"]["annotation_certainty"]) < 0.95)
    best, second = rows[0]["model"], rows[1]["model"]
    better = float(result["prob_better"].iloc[0])
    first_by_vote = max(rows, key=lambda row: row["accuracy_against_majority_vote"])["model"]
    verdict = "also ranks" if first_by_vote == best else "would have ranked"
    notes = [
        f"Simulated test set: {labels.items.size} items, {labels.n_annotations // labels.items.size} annotators each, "
        f"{labels.categories.size} categories; 4 x 1000 draws, seed {seed}.",
        *choice_notes(settings_of(tree)),
        f"On {open_share:.0%} of the items the annotation certainty is below 0.95.",
        f"Pr({best} better than {second}) = {better:.2f}. The majority vote {verdict} {first_by_vote} first.",
        "With your own files: bayesagree evaluate ANNOTATIONS PREDICTIONS",
    ]
    return _output.Answer([_output.Table("models", rows, "Scores of the models, 95 % HDI")], notes)
