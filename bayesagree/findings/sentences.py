"""What each check of an audit says.

A finding has its values in their order; calls stand in `what_to_do` by name, in Python or on the command line.
"""

from typing import NamedTuple


class Words(NamedTuple):
    """Usual severity of a check (critical, warning, note), what it finds, and what to do; texts to be filled in."""

    severity: str
    finding: str
    what_to_do: str


# Each call in Python, and on the command line.
CALLS = {
    "weigh": ("ba.dawid_skene(labels)", "bayesagree annotators LABELS"),
    "score": ("ba.evaluate(labels, predictions)", "bayesagree evaluate LABELS PREDICTIONS"),
    "next": ("ba.annotate_next(labels)", "bayesagree next LABELS"),
    "plan": ("ba.plan(labels, predictions)", "bayesagree plan LABELS PREDICTIONS"),
    "groups": (
        "ba.group_posterior(...)",
        "bayesagree subjective LABELS PREDICTIONS --annotators PEOPLE --group AGE",
    ),
    "strengths": ('ba.davidson(..., order="annotator")', "bayesagree preferences LABELS --order annotator"),
    "skip": ('ba.evaluate(..., missing="skip")', "bayesagree evaluate LABELS PREDICTIONS --missing skip"),
    "merge": ("read_annotations(..., merge_similar=True)", "--merge-similar"),
    "no_answer": ("na_values=[...]", "--missing-labels"),
    "agreement": ("ba.agreement_table(labels)", "bayesagree agreement LABELS"),
}
WORDS = {
    "copies": Words(
        "warning",
        "{!r} and {!r} agree on {} of their items, expected {:.2f}",
        "ask whether they worked together, or read the question alike; if together, leave one of the two out",
    ),
    "one_answer": Words(
        "warning",
        "{!r} gives the same answer to all {:.0f} items ({} like this)",
        "leave these annotators out",
    ),
    "careless": Words(
        "warning",
        "{!r} answers {} the others: kappa with their majority {}, usual {:.2f} ({} like this)",
        "ask how they read the question; leave them out, or weight them: {weigh}",
    ),
    "against_gold": Words(
        "warning",
        "nobody gives the label of gold on {} of {} items ({:.1f} expected if annotators err independently)",
        "read these items: gold is wrong, or the question is not what gold answers",
    ),
    "spelling": Words(
        "warning",
        "{} {}",
        "{merge} makes them one; {no_answer} names those that are no answer",
    ),
    "camps": Words(
        "note",
        "annotators form camps of {} and {}, which agree more within, by {:.2f}",
        "ask what each understands by the question, and score the models for each: {groups}",
    ),
    "first_place": Words(
        "warning",
        "{!r} names the first in {} of the comparisons, expected {:.2f} ({} like this)",
        "show each pair in both orders, or estimate the effect of the place: {strengths}",
    ),
    "favours": Words(
        "warning",
        "with {!r}, {!r} wins {} of its comparisons, expected {:.2f}",
        "ask whether the judge made the model, or is of its family; if so, leave these comparisons out",
    ),
    "never_meet": Words(
        "warning",
        "annotators form {} groups that never meet on an item; the largest gives {:.2f} of the answers",
        "have some items answered in every group; until then compare annotators and agreement within "
        "groups only",
    ),
    "too_fast": Words(
        "warning",
        "{!r} gives {} of the answers in a third of the usual {:.1f} seconds ({} like this)",
        "read some of these answers, or leave the annotators out",
    ),
    "drifts": Words(
        "warning",
        "{!r} agrees with most others in {:.2f} of the first half of the answers, and in {:.2f} of "
        "the last ({} like this)",
        "leave out the later answers, and have fewer given in one go",
    ),
    "repeats": Words(
        "warning",
        "when an item came again, annotators gave another answer in {} of the cases",
        "read these items: the question is unclear there, or the annotators do not read",
    ),
    "same_text": Words(
        "warning",
        "{} items show {} texts",
        "keep one item of each text: they count as independent, and are not",
    ),
    "few_votes": Words(
        "note",
        "one vote more may tie or turn the majority of {} of the items",
        "score with the doubt, {score}, and add votes there: {next}",
    ),
    "paradox": Words(
        "note",
        "answers agree in {:.2f} of pairs, yet kappa is {:.2f}: {:.2f} of them are {!r}",
        "report a coefficient too that a common label does not lower, such as Gwet's: {agreement}",
    ),
    "unused": Words(
        "note",
        "{} are given by one annotator or nobody",
        "ask whether they are needed, and read as they are meant: metrics that average over labels count them",
    ),
    "knows_votes": Words(
        "critical",
        "{} know the votes: they fit them up to {:.1f} standard deviations better than an independent model{}",
        "ask what they were trained on, and leave them out of the predictions",
    ),
    "missing": Words(
        "warning",
        "{!r} predicts nothing for {} of the items",
        "predict them, or score the items that every model predicts: {skip}",
    ),
    "base_rate": Words(
        "warning",
        "{!r} matches the votes hardly better than chance: kappa {}",
        "check that its items and labels are those of the votes; its accuracy is that of a common label",
    ),
    "served_badly": Words(
        "warning",
        "{}: the model gives their answers less often than those of all, by {:.2f} or more",
        "score the models for each group: {groups}",
    ),
    "unseparated": Words(
        "note",
        "nothing separates {} of {} models from each other; the best, {!r}, has accuracy {}",
        "call none of them the best; how many items and votes would tell them apart: {plan}",
    ),
    "no_probabilities": Words(
        "note",
        "scores of {} are no probabilities",
        "only their order counts",
    ),
    "uncalibrated": Words(
        "note",
        "the probabilities that {!r} states are {}, by {:.2f}",
        "calibrate them on other items before models are compared by log loss or Brier score",
    ),
    "all_err": Words(
        "note",
        "all {} models give the same label against the majority of {} of the items; if models err "
        "independently, {} of these labels are likely wrong",
        "read these items, the first ones first: their label is wrong, or they are hard",
    ),
}
