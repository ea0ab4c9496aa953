"""`bayesagree demo`: the main job on a small simulated test set."""

import numpy as np
import typer

from bayesagree.cli import _options, _output


def demo(seed: _options.Seed = 1, json: _options.Json = False) -> None:
    """Run the main job on a simulated test set: which of three models is best, when annotators do not agree.

    Example: bayesagree demo --seed 2
    """
    from bayesagree import compare, evaluate, majority_vote, simulate, top_k_accuracy

    test_set = simulate.labelled_test_set(seed=seed)
    labels, models = test_set.labels, test_set.predictions
    tree = evaluate(labels, models, seed=seed)
    result = compare(tree, metric="top_1_accuracy")
    vote = top_k_accuracy(majority_vote(labels), models).squeeze(("chain", "draw"), drop=True)
    order = sorted(result["model"].values.tolist(), key=lambda name: -float(result["score"].sel(model=name)))
    found = [
        {
            "model": name,
            "accuracy_against_majority_vote": float(vote.sel(model=name)),
            "uncertainty_adjusted_accuracy": float(result["score"].sel(model=name)),
            "lower": float(result["score_lower"].sel(model=name)),
            "upper": float(result["score_upper"].sel(model=name)),
            "best_with_probability": float(result["rank_probability"].sel(model=name, rank=1)),
        }
        for name in order
    ]
    if json:
        _output.show_json({"seed": seed, "ci_kind": "hdi", "ci_prob": 0.95, "models": found})
        return
    rows = [
        [name, ordinary, score, f"{lower:.3f} - {upper:.3f}", best]
        for name, ordinary, score, lower, upper, best in (row.values() for row in found)
    ]
    columns = [
        "model",
        "accuracy against the majority vote",
        "uncertainty-adjusted accuracy",
        "95 % HDI",
        "best with probability",
    ]
    open_share = np.mean(np.asarray(tree["certainty"]["annotation_certainty"]) < 0.95)
    best, second = rows[0][0], rows[1][0]
    better = float(result["prob_better"].sel(model=best, other_model=second))
    first_by_vote = max(rows, key=lambda row: row[1])[0]
    typer.echo(
        f"Simulated test set: {labels.items.size} items, {labels.n_annotations // labels.items.size} annotators each, "
        f"{labels.categories.size} labels; {models.models.size} models. "
        f"Plausibility: Dirichlet, reliability 1; 4 x 1000 draws, seed {seed}."
    )
    typer.echo(
        f"On {open_share:.0%} of the items the annotators leave the answer open (annotation certainty below 0.95).\n"
    )
    _output.show_table(columns, rows)
    verdict = "also ranks" if first_by_vote == best else "would have ranked"
    typer.echo(f"Pr({best} better than {second}) = {better:.2f}.  The majority vote {verdict} {first_by_vote} first.")
    typer.echo("Next: bayesagree evaluate annotations.csv predictions.csv")
