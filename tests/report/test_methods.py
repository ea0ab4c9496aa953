"""The methods paragraph names what was computed and nothing else, for every combination of inputs."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from bayesagree import Annotators, Labels, Predictions, Rankings, Ratings
from bayesagree.annotations.groups import Groups
from bayesagree.report.data import report_data
from bayesagree.report.page import methods_paragraph, render
from bayesagree.subjective import EvaluationSpecification

CHAPTERS = {
    '<section id="models"': "draws of the truth; scores are",
    '<section id="groups"': "Annotators were grouped by age",
    'id="group-scores"': "hierarchical beta-binomial posterior",
    '<section id="specification"': "declared specification",
    '<section id="gold"': "Scores against gold rest on the 20 items",
    "more votes would": "The value of further votes",
    "Another annotator</span></th>": "Another annotator gives a label",
    "1, 4 (the first is the reference)": "results also shown at 4",
    "(Bayesian bootstrap)": "The items are taken as a sample",
    "Labels only": "Beside it stands the",
}
"""What the page has of an analysis, and what the methods call it."""

WHO = ["ann", "bob", "cam", "eve"]
PEOPLE = Annotators.from_table(pd.DataFrame({"annotator": WHO, "age": ["old", "old", "young", "young"]}))
DECLARED = EvaluationSpecification("unequal accuracy", protected=["age"])


def inputs():
    """Yield annotations, models, groups and settings in all combinations that a report takes."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 45)
    votes = np.where(rng.random((45, 4)) < 0.8, truth[:, None], 1 - truth[:, None])
    known, unknown = Labels.from_matrix(votes, annotators=WHO, labels=[0, 1]), Labels.from_matrix(votes, labels=[0, 1])
    counts = Labels.from_counts(known.counts())
    share = np.clip(truth * 0.6 + 0.4 * rng.random((2, 45)), 0.01, 0.99)
    scored = Predictions.from_scores({m: np.column_stack([1 - s, s]) for m, s in zip("AB", share)})
    hard = Predictions.from_labels({"A": truth, "B": 1 - truth}, labels=[0, 1])
    one = Predictions.from_labels({"A": truth}, labels=[0, 1])
    ways = [{}, {"plausibility": "dirichlet", "reliability": (1.0, 4.0), "items": "bootstrap"}]
    for annotations, models, way in product([known, unknown, counts], [None, one, hard, scored], ways):
        for grouped in {False, annotations is known}:
            yield annotations, models, grouped, way
    yield known, scored, False, {"plausibility": "informed_dirichlet"}
    levels = np.clip(rng.integers(2, 5, (40, 1)) + np.array([-1, 0, 1, 1]), 1, 5)
    rated = Ratings.from_matrix(levels, scale=(1, 5), step=1, annotators=WHO)
    sides = Predictions.from_labels({m: ["below", "at_or_above"] * 20 for m in "AB"}, labels=["below", "at_or_above"])
    for models, grouped in product([None, sides], [False, True]):
        yield rated, models, grouped, {"threshold": 3.0}
    ranked = Rankings.from_blocks([[[[0], [1]], [[1]]], [[[1]], [[1], [0]]]], labels=2)
    for models in (None, Predictions.from_labels({"A": [0, 1], "B": [1, 1]}, labels=[0, 1])):
        yield ranked, models, False, {}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_methods_name_the_chapters_of_the_page():
    seen = {chapter: set() for chapter in CHAPTERS}
    for annotations, models, grouped, way in inputs():
        more = {}
        if models is not None and isinstance(annotations, Labels) and annotations.annotators_known and not way:
            more = {"gold": dict(zip(annotations.items[:20].tolist(), [0, 1] * 10))}
        if grouped:
            groups = Groups.by_features(annotations, PEOPLE, ["age"])
            more |= {"groups": groups, "annotators": PEOPLE, "specification": DECLARED}
        data = report_data(annotations, models, draws=20, chains=2, **way, **more)
        page, methods = render(data).split('<section id="methods"')[0], methods_paragraph(data)
        settings = render(data).split('<table id="settings">')[1]
        for chapter, name in CHAPTERS.items():
            found = chapter in page or chapter in settings
            assert found == (name in methods), (chapter, annotations, models, grouped, way)
            seen[chapter].add(found)
        assert ("[Balayn and Bozzon, 2019]" in render(data)) == grouped
    assert all(found == {True, False} for found in seen.values()), seen
