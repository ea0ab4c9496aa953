"""`bayesagree agreement`: the table, one JSON document, options of Phi, the toy cases, and errors with exit code 2."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from bayesagree import agreement_table, read_annotations, simulate

SCALE = ("--scale", 1, 5, "--step", 1)


@pytest.fixture
def run(run):
    return partial(run, "agreement")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ratings")
    ratings = simulate.ratings(n_items=40, ratings_per_item=4, phi=0.7, seed=1).ratings
    frame = pd.DataFrame({"item": ratings.item_index, "annotator": np.tile(np.arange(4), 40), "rating": ratings.rating})
    frame.to_csv(folder / "ratings.csv", index=False)
    frame.rename(columns={"rating": "label"}).astype(int).to_csv(folder / "labels.csv", index=False)
    return folder


def test_json_is_one_document_with_an_interval_for_every_coefficient(run, files):
    code, out, _ = run(files / "ratings.csv", *SCALE, "--json")
    assert code == 0
    rows = {row["coefficient"]: row for row in json.loads(out)["agreement"]}
    assert {"phi", "alpha_interval", "percent_agreement", "fleiss_kappa", "gwet_ac2"} <= rows.keys()
    assert rows["phi"]["lower"] < 0.7 < rows["phi"]["upper"]
    for row in rows.values():
        known = row["estimate"] is not None
        assert row["lower"] <= row["estimate"] <= row["upper"] if known else row["note"]


def test_items_of_a_cluster_are_resampled_together(run, files):
    items = pd.DataFrame({"item": np.arange(40), "document": np.arange(40) // 8})
    items.to_csv(files / "items.csv", index=False)
    given = files / "labels.csv", "--item-features", files / "items.csv"
    found, alone = coefficients(run, *given, "--cluster", "document"), coefficients(run, given[0])
    whole = agreement_table(read_annotations(files / "labels.csv"), cluster=items.set_index("item")["document"], seed=1)
    alpha = whole.set_index("coefficient").loc["alpha_nominal", ["estimate", "lower", "upper"]].tolist()
    assert [found["alpha_nominal"][name] for name in ("estimate", "lower", "upper")] == pytest.approx(alpha)
    assert found["alpha_nominal"]["estimate"] == alone["alpha_nominal"]["estimate"]
    assert found["alpha_nominal"]["lower"] != alone["alpha_nominal"]["lower"]
    code, _, error = run(given[0], "--cluster", "document")
    assert code == 2
    assert "--cluster names a column of the items: give their table, --item-features FILE" in error


def estimates(run, *args):
    code, out, _ = run(*args, *SCALE, "--json")
    assert code == 0
    return {row["coefficient"]: row["estimate"] for row in json.loads(out)["agreement"]}


def test_the_published_likelihood_and_flat_item_means_change_phi_alone_and_warn_of_few_ratings(run, files):
    default = estimates(run, files / "ratings.csv")
    squeezed = estimates(run, files / "ratings.csv", "--likelihood", "squeezed")
    assert {name for name in default if default[name] != squeezed[name]} == {"phi"}
    with pytest.warns(UserWarning, match="random answers look like agreement below 5"):
        flat = estimates(run, files / "ratings.csv", "--item-mean", "flat")
    assert {name for name in default if default[name] != flat[name]} == {"phi"}
    assert flat["phi"] > default["phi"]


def test_labels_have_no_phi_and_the_table_says_why(run, files, tmp_path):
    table = tmp_path / "table.csv"
    code, out, _ = run(files / "labels.csv", "-o", table)
    assert code == 0
    assert "alpha_nominal" in out
    kept = pd.read_csv(table).set_index("coefficient")
    assert np.isnan(kept.loc["phi", "estimate"])
    assert "read them with --scale lowest,highest" in kept.loc["phi", "note"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "give either a file of annotations or --data NAME"),
        (["missing.csv"], "missing.csv"),
        (["{ratings}", *SCALE, "--level", "cardinal"], "--level 'cardinal' is not one of nominal, ordinal"),
        (["{ratings}", *SCALE, "--item-mean", "wide"], "item_mean='wide' is not"),
        (["{ratings}", "--scale", 1, 3, "--step", 1], "outside the scale"),
    ],
)
def test_bad_input_exits_with_2_and_one_message(run, files, tmp_path, args, message):
    out = tmp_path / "never.csv"
    code, printed, errors = run(*(str(a).format(ratings=files / "ratings.csv") for a in args), "-o", out)
    assert code == 2
    assert message in " ".join(errors.split())
    assert printed == ""
    assert "Traceback" not in errors
    assert not out.exists()


def test_orders_are_stated_by_options(run, files, tmp_path):
    labels = files / "labels.csv"
    notes = {name: row["note"] for name, row in coefficients(run, labels).items()}
    assert "--unordered if they are codes of classes" in notes["alpha_ordinal"]
    codes = coefficients(run, labels, "--unordered")
    assert codes["alpha_ordinal"]["estimate"] is codes["icc_polychoric"]["estimate"] is None
    assert coefficients(run, labels, "--ordered")["fleiss_kappa"]["note"] == "ordinal weights"
    words = pd.read_csv(labels).assign(label=lambda rows: rows["label"].map(dict(enumerate("edcba", 1))))
    words.to_csv(tmp_path / "words.csv", index=False)
    _, _, error = run(tmp_path / "words.csv", "--ordered")
    assert "--ordered: the order of the labels 'a', 'b'" in error and "--labels" in error
    stated = coefficients(run, tmp_path / "words.csv", "--ordered", "--labels", "a,b,c,d,e")
    assert stated["alpha_ordinal"]["estimate"] == pytest.approx(coefficients(run, labels)["alpha_ordinal"]["estimate"])


def coefficients(run, *args):
    code, out, _ = run(*args, "--json")
    assert code == 0
    return {row["coefficient"]: row for row in json.loads(out)["agreement"]}


def test_the_text_is_one_table_under_its_title(run, tmp_path):
    pd.DataFrame({"item": [1, 1, 2, 2], "annotator": [1, 2, 1, 2], "label": [0, 0, 1, 0]}).to_csv(tmp_path / "l.csv")
    code, out, _ = run(tmp_path / "l.csv")
    assert code == 0
    assert out.startswith("Agreement; kappas, AC and Brennan-Prediger with no weights (intervals: 95 %)\n")
