"""`bayesagree compare`: is A better than B, from an evaluation that was kept."""

from pathlib import Path
from typing import Annotated

import typer

from bayesagree.cli import _options, _output


def compare(
    result: Annotated[Path, typer.Argument(help="What `bayesagree evaluate -o FILE` wrote.")],
    metric: Annotated[str, typer.Option(help="Metric to compare by.")] = "top_1_accuracy",
    reliability: Annotated[float | None, typer.Option(help="Which reliability, when there are several.")] = None,
    ci_prob: Annotated[float, typer.Option(help="Probability of the intervals.")] = 0.95,
    json: _options.Json = False,
) -> None:
    """Say with what probability each model is better than each other, and which place it takes.

    Example: bayesagree compare evaluation.nc --metric top_1_accuracy --reliability 1
    """
    from bayesagree.evaluation.comparison import compare as run
    from bayesagree.io.files import read_result

    answer = run(read_result(result), metric=metric, reliability=reliability, ci_prob=ci_prob)
    models = answer["model"].values.tolist()
    pairs = [
        [a, b, *(float(answer[key].sel(model=a, other_model=b)) for key in ("prob_better", "difference"))]
        + [float(answer[key].sel(model=a, other_model=b)) for key in ("lower", "upper")]
        for a in models
        for b in models
        if a != b
    ]
    names = ["model", "other model", "prob. better", "difference", "HDI lower", "HDI upper"]
    ranks = [[m, *answer["rank_probability"].sel(model=m).values.tolist()] for m in models]
    if json:
        keys = ["model", "other_model", "prob_better", "difference", "lower", "upper"]
        rank_rows = [{"model": m, "rank_probability": row} for m, *row in ranks]
        document = {"metric": metric, "ci_kind": "hdi", "ci_prob": ci_prob, "ranks": rank_rows}
        _output.show_json(document | {"pairs": [dict(zip(keys, row)) for row in pairs]})
        return
    _output.show_table(names, pairs, title=f"{metric}, {ci_prob:.0%} HDI")
    _output.show_table(
        ["model", *(f"place {r}" for r in range(1, len(models) + 1))], ranks, title="\nProbability of each place"
    )
