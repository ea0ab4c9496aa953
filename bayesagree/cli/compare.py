"""`bayesagree compare`: is A better than B, from an evaluation that was kept."""

from pathlib import Path

from bayesagree.cli import _output


def compare(
    result: Path,
    metric: str = "top_1_accuracy",
    reliability: float | None = None,
    ci_prob: float = 0.95,
    json: bool = False,
) -> None:
    """Show the probability that each model is better than each other, and that of every place.

    Example: bayesagree compare evaluation.nc --metric top_1_accuracy --reliability 1
    """
    from bayesagree._inference.results import settings_of
    from bayesagree.evaluation.comparison import compare as run
    from bayesagree.evaluation.tables import ITEMS_ARE, pair_table
    from bayesagree.io.files import read_result

    kept = read_result(result)
    found = run(kept, metric=metric, reliability=reliability, ci_prob=ci_prob)
    pairs = pair_table(found).assign(ci_kind="hdi", ci_prob=ci_prob)
    places = [f"place_{rank}" for rank in found["rank"].values]
    ranks = zip(found["model"].values.tolist(), found["rank_probability"].transpose("model", "rank").values.tolist())
    items = settings_of(kept).get("items")  # areas under the curve have none
    where = f" {ITEMS_ARE[items]}" if items else ""
    tables = [
        _output.Table("pairs", pairs, f"{metric}{where}: differences with their {ci_prob:.0%} HDI"),
        _output.Table(
            "ranks", [{"model": name, **dict(zip(places, row))} for name, row in ranks], "Probability of each place"
        ),
    ]
    _output.show(tables, json=json)
