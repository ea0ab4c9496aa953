"""The maximum of the Plackett-Luce likelihood: published fits, another library, and when it does not exist."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _paths import ROOT

from bayesagree.annotations import Rankings
from bayesagree.plausibility.plackett_luce.likelihood import rankings_log_probability
from studies.plackett_luce_ml import plackett_luce_ml

GOLDEN = json.loads((ROOT / "tests" / "golden" / "plackett_luce.json").read_text())


def ranking_set(name: str) -> Rankings:
    from bayesagree.datasets import load

    rankings = load(f"rankings-plackettluce/{name}").annotations
    assert isinstance(rankings, Rankings)
    return rankings


@pytest.mark.usefixtures("public_data")
@pytest.mark.parametrize("name", GOLDEN["maximum_likelihood"]["sets"])
def test_maximum_on_complete_rankings_equals_another_library(name: str) -> None:
    expected = GOLDEN["maximum_likelihood"]["sets"][name]
    rankings = ranking_set(name)
    assert rankings.n_annotations == expected["rankings"]
    log_worth = np.log(plackett_luce_ml(rankings).values[0])
    log_worth -= log_worth.mean()
    np.testing.assert_allclose(log_worth, expected["log_worth"], atol=GOLDEN["maximum_likelihood"]["tolerance"])


def test_maximum_of_a_cycle_is_even() -> None:
    golden = GOLDEN["cyclic"]
    plausibility = plackett_luce_ml(Rankings.from_blocks([golden["blocks"]], labels=3))
    np.testing.assert_allclose(plausibility.values, 1 / 3, atol=1e-9)


def among_named(cases: list[list[list[list[int]]]], n_labels: int) -> Rankings:
    """Rankings that were offered the labels they name and no others."""
    named = [[[k for block in race for k in block] for race in case] for case in cases]
    return Rankings.from_blocks(cases, labels=n_labels, offered=named)


def log_worths_among_named(races: list[list[list[int]]], n_labels: int, *, pseudo: bool) -> np.ndarray:
    """Log worths of a fit; `pseudo` adds half a win and half a loss of each label against one more label."""
    if pseudo:
        races = races * 2 + [pair for k in range(n_labels) for pair in ([[k], [n_labels]], [[n_labels], [k]])]
    best = plackett_luce_ml(among_named([races], n_labels + pseudo))
    assert best["exists"].all()
    return np.log(best.values[0, :n_labels])


@pytest.mark.parametrize("name", GOLDEN["only_named_compete"]["cases"])
def test_published_fits_where_only_named_labels_compete(name: str) -> None:
    golden = GOLDEN["only_named_compete"]["cases"][name]
    expected = np.array(golden["log_worth"])
    found = log_worths_among_named(golden["rankings"], expected.size, pseudo=golden.get("pseudo", False))
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=golden["tolerance"])


def test_published_fits_of_nascar_races(public_data: Path) -> None:
    golden = GOLDEN["nascar"]
    finish = np.loadtxt(public_data / "rankings-plackettluce" / "nascar.csv", delimiter=",", skiprows=1, dtype=int)
    races = [[[driver - 1] for driver in row if driver] for row in finish]
    place = np.array([np.mean([r.index([k]) for r in races if [k] in r]) for k in range(87)])
    shown = np.argsort(place[:83], kind="stable")[[0, 1, 2, 80, 81, 82]]
    without_four = [[block for block in race if block[0] < 83] for race in races]
    for fit, n, kept in (("without_four", 83, without_four), ("all", 87, races)):
        log_worth = log_worths_among_named(kept, n, pseudo=fit == "all")
        log_worth -= log_worth[0]
        np.testing.assert_allclose(log_worth[shown], golden[fit]["by_average_place"], atol=golden[fit]["tolerance"])
    np.testing.assert_allclose(log_worth[83:], golden["all"]["four"], atol=golden["all"]["tolerance_four"])


def test_published_fits_of_bean_varieties(public_data: Path) -> None:
    golden = GOLDEN["beans"]
    beans = pd.read_csv(public_data / "rankings-plackettluce" / "beans.csv")
    position = {name: k for k, name in enumerate(golden["varieties"])}
    for node, rows in beans.groupby(np.where(beans["maxTN"] > golden["split"], "warm", "cool")):
        pairs = [
            [[position["Local"]], [position[b]]] if verdict == "Worse" else [[position[b]], [position["Local"]]]
            for b, verdict in zip(rows["variety_b"], rows["var_b"])
        ]
        log_worth = log_worths_among_named(pairs, len(position), pseudo=True)
        expected = np.array(golden[node])
        np.testing.assert_allclose(log_worth - log_worth[0], expected - expected[0], atol=golden["tolerance"])


def test_labels_that_never_met_have_no_maximum() -> None:
    rankings = among_named([[[[0], [1]], [[1], [0]], [[2], [3]], [[3], [2]]]], 4)
    with pytest.warns(UserWarning, match=r"\[0, 1\] \| \[2, 3\] comparisons go one way at most"):
        mode = plackett_luce_ml(rankings)
    assert not mode["exists"].item()
    np.testing.assert_allclose(mode.values, 0.25, atol=1e-6)


def test_maximum_with_ties_is_above_its_neighbours() -> None:
    case = [[[0, 1], [2]], [[2], [1, 3]], [[3], [0, 2]], [[1], [0]], [[2, 3], [1]], [[0, 3]]]
    rankings = Rankings.from_blocks([case], labels=6)
    best = plackett_luce_ml(rankings)
    assert bool(best["exists"])
    assert best.values[0, 4:].tolist() == [0.0, 0.0]
    ranks = np.full((len(case), 6), 9)
    ranks[rankings.ranking_index(), rankings.label_index] = rankings.block
    with np.errstate(divide="ignore"):
        log_worth = np.log(best.values)

    def height(moved: np.ndarray) -> float:
        return rankings_log_probability(np.repeat(moved, len(case), axis=0), ranks)[0].sum()

    for step in np.random.default_rng(3).normal(0, 0.1, (20, 6)):
        assert height(log_worth + step) <= height(log_worth) + 1e-12


def test_a_label_that_always_wins_has_no_maximum_and_gets_the_mode() -> None:
    one_way = Rankings.from_blocks([[[["a"], ["b"]], [["a"], ["b"]]]], labels=["a", "b", "c", "d"], items=["q17"])
    with pytest.warns(UserWarning, match=r"1 of 1 items have no maximum, as 'q17'.*\['[ab]'\] \| \['[ab]'\]"):
        mode = plackett_luce_ml(one_way, shape=0.5)
    assert not mode["exists"].item()
    assert mode.values.sum() == pytest.approx(1.0)
    assert mode.values[0, 0] > mode.values[0, 1] > mode.values[0, 2] == mode.values[0, 3] > 0


@pytest.mark.slow
def test_maximum_on_all_dermatology_cases() -> None:
    from bayesagree.datasets import load

    rankings = load("derm-ddx").annotations
    assert isinstance(rankings, Rankings)
    with pytest.warns(UserWarning, match="have no maximum"):
        best = plackett_luce_ml(rankings)
    np.testing.assert_allclose(best.sum("category"), 1.0, atol=1e-12)
    assert int(best["exists"].sum()) == 1405
