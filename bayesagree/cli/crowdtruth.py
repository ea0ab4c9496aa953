"""`bayesagree crowdtruth`: quality of items, annotators and labels by their mutual agreement."""

from pathlib import Path

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

# Rows on the screen of each table.
_SHOWN = 15


def crowdtruth(
    source: _options.Source,
    sampling: _options.ShortSampling,
    open_task: bool = False,
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Show the CrowdTruth quality of annotators, items and labels, the most suspicious first.

    wqs, uqs and aqs lie between 0 and 1, with an equal-tailed interval from resampled items; prob_spammer is the
    probability that an annotator is nearer to chance than to the average. -o keeps the annotators.

    Example: bayesagree crowdtruth labels.csv
    """
    from bayesagree.subjective.crowd_quality import crowdtruth as scored
    from bayesagree.subjective.crowd_quality import crowdtruth_posterior, spammers

    given, _ = source.read()
    if given.kind != "labels":
        raise InputError("crowdtruth is about labels; turn ratings into labels by a threshold first")
    found = scored(given, closed=not open_task)
    tree = crowdtruth_posterior(given, closed=not open_task, **vars(sampling))
    people = spammers(tree).reset_index().assign(ci_kind="eti", ci_prob=0.95)
    items = found[["uqs"]].to_dataframe().reset_index().sort_values("uqs", kind="stable")
    names = found[["aqs"]].to_dataframe().reset_index().sort_values("aqs", kind="stable")
    _output.write_table(people, output)
    shown = [
        _output.Table("annotators", people, "Annotators (worker quality score)", most=_SHOWN),
        _output.Table("items", items, "Items (unit quality score)", most=_SHOWN),
        _output.Table("labels", names, "Labels (annotation quality score)", most=_SHOWN),
    ]
    _output.show(shown, json=json)
