"""What holds for every command: help with a valid example, refusals that name the way out, no partial files."""

import json
import shlex
import subprocess
import sys
import warnings
from types import SimpleNamespace

import _exports
import pandas as pd
import pytest

from bayesagree import datasets
from bayesagree.annotations import Labels
from bayesagree.cli import COMMANDS as LINES
from bayesagree.cli import _commands, _options, main
from bayesagree.cli._options import Source, WithPredictions
from bayesagree.errors import InputError

COMMANDS = {name: _commands.load(name) for name in LINES}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_can_be_parsed_and_says_what_its_options_are(name):
    command = COMMANDS[name]
    example = next(line for line in (command.help or "").splitlines() if line.strip().startswith("Example: "))
    words = shlex.split(example.split("Example: ")[1])
    assert words[:2] == ["bayesagree", name]
    assert command.make_context(name, words[2:]).params
    options = {parameter.name: parameter for parameter in command.params if parameter.name != "help"}
    assert all(parameter.help for parameter in options.values())
    assert "json" in options
    assert ("force" in options) == ("output" in options)
    files = [key for key, parameter in options.items() if parameter.param_type_name == "argument"]
    assert "predictions" not in options or files == ["annotations", "predictions"]


def test_labels_of_a_named_data_set_have_the_order_that_is_given(monkeypatch):
    data_set = SimpleNamespace(annotations=Labels.from_matrix([["a", "b"], ["b", "b"]]), predictions=None)
    _options.GIVEN.set({})  # that of a command before
    monkeypatch.setattr(datasets, "load", lambda name: data_set)
    assert [Source(data="x", ordered=given).read()[0].ordered for given in (True, False, None)] == [True, False, None]


def test_an_interrupt_while_a_command_starts_ends_in_one_line(run, monkeypatch):
    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(_commands, "app", lambda **given: stop())
    assert run("demo") == (130, "", "bayesagree: interrupted\n")


MODELS = "labels.csv models.csv"
REFUSED = {
    "evaluate": "give either a file of annotations or --data NAME",
    "evaluate labels.csv": "there are no predictions",
    "agreement --data x --kind ratings": "--kind is not used with --data x, which is read as it is; leave it out",
    "agreement --data x --merge-similar": "--merge-similar is not used with --data x",
    "agreement --data x --rank place": "--rank is not used with --data x",
    "evaluate --data x --missing-labels n/a": "--missing-labels is not used with --data x",
    "evaluate labels.csv --item unit": "no column 'unit'",
    "evaluate missing.csv x.csv": "there is no file 'missing.csv'",
    "evaluate missing.nc": "missing.nc",
    f"evaluate {MODELS} --metrics hit": "metric 'hit' is not known",
    f"evaluate {MODELS} --items some": "'some' is not one of 'fixed', 'bootstrap'",
    f"evaluate {MODELS} --by half": "--by names a column of the items: give their table, --item-features FILE",
    f"evaluate {MODELS} --item-features items.csv --by hour": "has no column 'hour'; it has item, page, half",
    f"evaluate {MODELS} --gold people.csv": "has no column 'item'; it has annotator, age",
    f"evaluate {MODELS} -o kept.txt": "results are written as .nc (netCDF), not '.txt'",
    f"evaluate {MODELS} --draws 0": "greater than or equal to 1",
    "evaluate --data cifar": "similar: cifar10h",
    f"evaluate {MODELS} --seed 1 --seed=2": "--seed is given twice",
    f"evaluate {MODELS} --metric recall --metrics accuracy": "--metrics is given twice",
    "agreement labels.csv -o one.csv --output two.csv": "--output is given twice",
    "contents labels.csv --ordered --unordered": "--ordered is given twice",
    f"evaluate {MODELS} --item-features nowhere.csv": "name a column of it, --by or --cluster",
    "agreement labels.csv --item-features nowhere.csv": "name a column of it, --cluster",
    "agreement labels.csv --by pair --group age": "--group is not used with --by pair",
    "report games.csv --metrics recall": "--metrics is not used for comparisons of models",
    "report games.csv --group age": "--group is not used for comparisons of models",
    "plan games.csv --n-items 10": "--n-items is not used for comparisons of models",
    "next games.csv --tool table": "--tool is not used for comparisons of models",
    "next labels.csv --contents nowhere.csv": "--contents is not used without --output",
    "annotators ratings.csv --scale 1,5 --variant full": "--variant is not used for ratings",
    "plausibility labels.csv --threshold 2": "--threshold is not used for labels",
    f"subjective {MODELS} --annotators people.csv --group age --threshold 2": "--threshold is not used for labels",
    "blind models.csv --crowd labels.csv": "--crowd is not used by these methods, but by calibrated_majority",
    "preferences games.csv --format arena --first left": "--format is not used where columns are named",
    "audit labels.csv --time gold.csv": "no column 'annotator'",
    "agreement ratings.csv": "pass --scale, or --label",
    "agreement ratings.csv --scale 1,3": "outside the scale (1, 3); pass --scale 1,5",
    "agreement labels.csv --level cardinal": "--level cardinal is not one of 'nominal', 'ordinal'",
    "agreement labels.csv --duplicates some": "'some' is not one of 'error'",
    "agreement labels.csv -o kept.xls": "tables are written as .csv",
    "agreement labels.csv --predictions models.csv": "No such option",
    "agreement labels.csv --annotators people.csv": "name those to group by, --group FEATURES",
    "plausibility labels.csv --reliability low": "'low' is not a list of numbers",
    "plausibility labels.csv --reliability 1,2 -o kept.nc": "keeps draws of one reliability",
    "plausibility labels.csv --plausibility informed_dirichlet": "use bayesagree evaluate --plausibility",
    "plausibility games.csv": "bayesagree preferences reads them",
    "evaluate games.csv models.csv": "bayesagree preferences reads them",
    "report ranked.csv --group age --annotators people.csv": "not on rankings",
    "report labels.csv --group age": "--group age needs the features of the annotators: give --annotators FILE",
    "report labels.csv --specification declared.json": "features of their annotators",
    "report ratings.csv --scale 1,5 --gold gold.csv": "--gold is for labels",
    f"check {MODELS} --new fair --old best": "--old best is not one of the models",
    f"check {MODELS} --new fair --old poor --not-worse 0": "--not-worse 0 must be above 0, such as .01",
    "annotators ranked.csv": "rated on labels or ratings, not on rankings; --kind labels --label COLUMN reads a column",
    "plan ranked.csv": "not for rankings; --kind labels --label COLUMN reads a column",
    "judge verdicts.csv --people labels.csv": "the labels are 'a', 'b', 'c': name the one that counts",
    "judge verdicts.csv --people labels.csv --positive d": "positive='d' is not one of the labels",
    "judge verdicts.csv --people labels.csv --positive a --system team": "has no column 'team'",
    "subjective labels.csv --group age": "there are no predictions",
    f"subjective {MODELS} --group age --truth all": "by-group",
    f"subjective {MODELS} --truth by-group": "Missing option '--group'",
    "next ratings.csv --scale 1,5": "not ratings; --kind labels --label COLUMN reads a column",
    "subjective ratings.csv models.csv --scale 1,5 --group age --truth by-group": "pass threshold=c",
    "blind models.csv --methods guess": "'guess'",
    "plan labels.csv --n-items 10,two": "'--n-items': '10,two' is not a list of numbers",
    "plan labels.csv --cost 1": "must be two numbers, or three with the cost of a run",
    f"next {MODELS} --goal luck": "'luck' is not one of 'decision'",
    "next labels.csv --tool excel -o tasks.json": "'excel' is not one of 'label_studio'",
    "judge games.csv --people labels.csv": "'games.csv' holds comparisons of models: bayesagree preferences",
    "judge verdicts.csv --people games.csv": "'games.csv' holds comparisons of models: bayesagree preferences",
    "contents --data bluebird": "name a file: it is read and its contents are shown",
    "next labels.csv -o items.xls": "tables are written as .csv, .tsv, .parquet, .jsonl, not '.xls'",
    "annotators ratings.csv --scale 1,5 --allow-unmixed": "--allow-unmixed is not used for ratings",
    "agreement models.csv": "no column 'annotator' for the annotator",
    "preferences labels.csv": "comparisons are rows of left, right and winner",
    "preferences games.csv --scale elo": "'elo' is not one of 'strength'",
    "preferences games.csv --order often": "'often' is not one of 'auto'",
    "nothing": "No such command",
}


@pytest.mark.parametrize("words", REFUSED)
def test_bad_input_exits_with_2_names_the_way_out_and_writes_nothing(run, folder, words):
    before = set(folder.iterdir())
    code, out, err = run(*words.split())
    assert code == 2
    assert REFUSED[words] in " ".join(err.split())
    assert out == ""
    assert "Traceback" not in err
    assert set(folder.iterdir()) == before


def test_output_replaces_nothing_without_force(run, tmp_path):
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    for words in ("plausibility labels.csv", "agreement labels.csv", "next labels.csv"):
        done = run(*words.split(), "-o", kept)
        assert done.returncode == 2
        assert f"{kept} is there already; pass --force to replace it, or another --output" in done.stderr
        assert kept.read_text() == "mine"
    assert run("plausibility", "labels.csv", "--draws", 20, "-o", kept, "--force").returncode == 0
    assert kept.read_text().startswith("item,reliability,certainty")


@pytest.mark.parametrize(
    ("way", "message"),
    [pytest.param(">&-", "stdout is closed", marks=pytest.mark.long), ("> /dev/full", "No space left on device")],
)
def test_an_answer_that_cannot_be_written_ends_with_a_sentence(folder, way, message):
    script = f'"$0" -c "from bayesagree.cli import main; main()" contents "$1" {way}'
    words = ["sh", "-c", script, sys.executable, str(folder / "labels.csv")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_warnings_are_sentences_and_said_once(capsys, monkeypatch):
    def warn(**given):
        for category in (UserWarning, UserWarning, RuntimeWarning):
            warnings.warn("votes are few", category, stacklevel=1)

    monkeypatch.setattr(_commands, "app", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        main()
    assert capsys.readouterr().err == "bayesagree: votes are few\n"


def test_columns_of_the_predictions_have_any_name(run, tmp_path):
    votes = "".join(f"t{i},w{w},{'ab'[(i + w) % 3 > 0]}\n" for i in range(6) for w in range(3))
    (tmp_path / "votes.csv").write_text("task,worker,said\n" + votes)
    rows = "".join(f"{m},t{i},a\n" for m in "MN" for i in range(6))
    (tmp_path / "models.csv").write_text("system,item,label\n" + rows)
    names = ("--item", "task", "--annotator", "worker", "--label", "said")
    own = ("--model", "system", "--predictions-item", "item", "--predictions-label", "label")
    files = (tmp_path / "votes.csv", tmp_path / "models.csv")
    done = run("evaluate", *files, *names, *own, "--plausibility", "dirichlet", "--draws", 20)
    assert done.returncode == 0, done.stderr


def test_commands_for_labels_read_best_labels_of_rankings_and_ratings(document):
    """The way out that `plan`, `next` and `annotators` name: ranked.csv is labels.csv with a second choice each."""
    grid = ("--n-items", 20, "--n-annotators", 2, "--replicates", 2)
    first = ("--kind", "labels", "--duplicates", "first")
    assert document("plan", "ranked.csv", *first, *grid) == document("plan", "labels.csv", *grid)
    assert len(document("next", "ratings.csv", "--kind", "labels", "--label", "rating", "-n", 5)["items"]) == 5


def test_a_file_alone_says_what_it_holds_and_which_commands_fit(document):
    found = document("ratings.csv", "--scale=1,5")
    held = {(row["what"], row["value"]) for row in found["contents"]}
    assert {("read as", "Ratings"), ("items", "32"), ("scale", "1 to 5, 5 levels")} <= held
    printed = [row["command"] for row in found["commands"]]
    assert printed[0] == "bayesagree agreement ratings.csv --scale=1,5"
    for command in printed:
        name, *words = shlex.split(command)[1:]
        assert COMMANDS[name].make_context(name, words).params


def test_the_commands_that_fit_depend_on_what_a_file_holds(document, tmp_path, monkeypatch):
    def fitting(*words):
        return [row["command"].removeprefix("bayesagree ") for row in document("contents", *words)["commands"]]

    games = ["preferences", "agreement", "report", "next", "plan"]
    assert fitting("games.csv") == [f"{command} games.csv" for command in games]
    labels = [f"{command} labels.csv" for command in ("agreement", "plausibility", "annotators", "report")]
    assert fitting("labels.csv") == labels
    scale = "ratings.csv --scale 1,4"
    with_five = pd.DataFrame({"item": [1, 1], "annotator": [*"ab"], "rating": [1, 4]})
    with_five.to_csv(tmp_path / "ratings.csv", index=False)
    monkeypatch.chdir(tmp_path)
    half = [f"agreement {scale}", f"plausibility {scale} --threshold 2.5", f"report {scale}"]
    assert fitting(*scale.split()) == half
    counts = pd.DataFrame({"item": [1, 2], "yes": [2, 0], "no": [1, 3]})
    counts.to_csv(tmp_path / "counts.csv", index=False)
    kinds = fitting("counts.csv", "--format", "counts")
    assert kinds == [f"{command} counts.csv --format counts" for command in ("agreement", "plausibility", "report")]


def test_outputs_of_models_alone_are_evaluated_beside_annotations(document, run, tmp_path):
    outputs = _exports.lm_eval(tmp_path, _exports.votes(2, 3))
    found = document("contents", outputs)
    assert [row["command"] for row in found["commands"]] == [f"bayesagree evaluate ANNOTATIONS {outputs}"]
    code, _, err = run("agreement", outputs)
    assert (code, err.splitlines()[-1].split(") ")[-1]) == (2, "holds outputs of models, no annotations")


def test_items_to_label_next_are_kept_with_their_texts(document, run, folder, tmp_path):
    texts = pd.DataFrame({"item": [f"t{i}" for i in range(32)], "text": [f"words {i}" for i in range(32)]})
    texts.to_csv(tmp_path / "texts.csv", index=False)
    words = ("next", "labels.csv", "-n", 3, "--plausibility", "dirichlet")
    found = document(*words, "--contents", tmp_path / "texts.csv", "-o", tmp_path / "kept.csv")
    kept = pd.read_csv(tmp_path / "kept.csv")
    assert kept["item"].tolist() == [row["item"] for row in found["items"]]
    assert kept["text"].tolist() == [f"words {item[1:]}" for item in kept["item"]]
    assert run(*words, "--tool", "table", "-o", tmp_path / "plain.json").returncode == 0
    shown = [task["data"] for task in json.loads((tmp_path / "plain.json").read_text())]
    assert shown == [{"item": item} for item in kept["item"]]


@pytest.mark.parametrize(("number", "words"), [
    (1200, "1,200 more comparisons of A and B would separate them with probability 0.8."),
    (None, "A million more comparisons of A and B would not separate them with probability 0.8."),
])  # fmt: skip
def test_a_plan_of_comparisons_says_how_many_more_separate_the_best(document, monkeypatch, number, words):
    worth = pd.DataFrame({"votes": [0]})
    worth.attrs |= {"models": ("A", "B"), "separating": number}
    monkeypatch.setattr("bayesagree.planning.value_of_votes", lambda pilot, random_seed: worth)
    assert document("plan", "games.csv") == {"notes": [words], "comparisons": [{"votes": 0}]}


def test_a_report_needs_its_extra_before_it_reads_a_file(run, monkeypatch):
    monkeypatch.setattr("bayesagree.cli.report.find_spec", lambda name: None)
    code, out, err = run("report", "labels.csv")
    assert (code, out) == (2, "")
    assert "the report needs the extra report: pip install 'bayesagree[report]'" in err


@pytest.mark.parametrize("tool", ["label_studio", "prodigy", "inspect"])
def test_one_command_makes_a_report_of_an_untouched_export(run, tmp_path, tool):
    export = _exports.TOOLS[tool](tmp_path, _exports.votes(20, 4))
    done = run("report", export, "--draws", 50, "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert "20 items" in (tmp_path / "page.html").read_text()


def test_gold_that_contradicts_the_annotators_is_said_first(document, run, tmp_path):
    votes = "".join(f"{i},{a},{'no' if i % 3 else 'yes'}\n" for i in range(60) for a in range(5))
    (tmp_path / "votes.csv").write_text("item,annotator,label\n" + votes)
    models = "".join(f"{i},right,{'yes' if i % 2 else 'no'}\n" for i in range(60))
    (tmp_path / "models.csv").write_text("item,model,label\n" + models)
    gold = "".join(f"{i},{'yes' if i % 2 else 'no'}\n" for i in range(40))
    (tmp_path / "gold.csv").write_text("item,gold\n" + gold)
    given = (tmp_path / "votes.csv", tmp_path / "models.csv", "--gold", tmp_path / "gold.csv", "--draws", 50)
    found = document("evaluate", *given)
    assert found["notes"][0].startswith("Gold contradicts the annotators")
    [target] = found["targets"]
    assert target["on_gold_items"] == 1
    said = run("report", *given, "-o", tmp_path / "page.html")
    assert said.stdout.index("Gold contradicts the annotators") < said.stdout.index("How much is undecided")


def test_help_fits_eighty_columns(run, monkeypatch):
    """Seventeen of 22 descriptions were cut with three dots."""
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("--help")
    assert all(f"{name}  " in out and text in out for name, text in LINES.items())
    assert max(map(len, out.splitlines())) <= 80


def test_gold_that_says_two_things_of_an_item_is_refused(folder, run, tmp_path):
    gold = pd.read_csv(folder / "gold.csv")
    other = gold.assign(label=gold["label"].map({"a": "b", "b": "c", "c": "a"}))
    pd.concat([gold, other.tail(1)]).to_csv(tmp_path / "gold.csv", index=False)
    done = run("evaluate", folder / "labels.csv", folder / "models.csv", "--gold", tmp_path / "gold.csv", "--draws", 20)
    last = gold.iloc[-1]
    assert done[0] == 2 and f"of {last['item']!r}; leave one of them" in done[2] and repr(last["label"]) in done[2]


def test_gold_of_other_items_is_left_out_aloud(folder, run, tmp_path):
    gold = pd.read_csv(folder / "gold.csv")
    pd.concat([gold, gold.tail(2).assign(item=["nowhere", "never"])]).to_csv(tmp_path / "gold.csv", index=False)
    _, _, err = run(
        "evaluate", folder / "labels.csv", folder / "models.csv", "--gold", tmp_path / "gold.csv", "--draws", 20
    )
    assert f"left out 2 of {len(gold) + 2} items, on which there is no label: 'nowhere', 'never'" in " ".join(
        err.split()
    )


@pytest.mark.parametrize(
    ("cells", "listed", "found"),
    [("True False True False", "False,True", "False, True"), ("1 1.5 2 1", "2,1.5,1", "2.0, 1.5, 1.0"),
     ("01 1 02 1", "02,01,1", "'02', '01', '1'")],
)  # fmt: skip
def test_labels_are_listed_as_the_file_has_them(document, tmp_path, cells, listed, found):
    rows = "".join(f"{i},{who},{cell}\n" for i, cell in enumerate(cells.split()) for who in "ab")
    (tmp_path / "votes.csv").write_text("item,annotator,label\n" + rows)
    held = {
        row["what"]: row["value"]
        for row in document("contents", tmp_path / "votes.csv", "--labels", listed)["contents"]
    }
    assert held["categories"] == found


def test_a_kept_result_takes_no_option(folder, run, tmp_path):
    kept = tmp_path / "scores.nc"
    assert run("evaluate", folder / "labels.csv", folder / "models.csv", "--draws", 20, "-o", kept)[0] == 0
    assert run("evaluate", kept)[0] == 0
    code, out, err = run("evaluate", kept, "--items", "bootstrap")
    assert (code, out) == (2, "") and "--items is not used where a kept result is shown; leave it out" in err


@pytest.mark.parametrize(("text", "found"), [
    ("1,-2,0.5", [1, -2, 0.5]), (" 3 ", [3]), ("1e3,-4", [1000.0, -4]), ("007", [7]),
])  # fmt: skip
def test_whole_numbers_of_a_list_are_whole(text, found):
    read = _options.numbers(text)
    assert read == found and [type(one) for one in read] == [type(one) for one in found]


@pytest.mark.parametrize(("text", "found"), [
    ("True,False", [True, False]), ("1,2", [1, 2]), ("-1,0.5", [-1, 0.5]), ("4", 4), ("01,2", ["01", "2"]),
    ("1,2.", ["1", "2."]), ("a, b", ["a", "b"]), ("x", ["x"]), ("True,no", ["True", "no"]), ("1e3,2", ["1e3", "2"]),
])  # fmt: skip
def test_labels_are_numbers_where_all_are_written_as_such_and_one_is_their_number(text, found):
    assert _options.label_names(text) == found


def test_a_name_on_the_command_line_is_that_of_a_number_or_itself():
    assert [_options.one_named(text, [1, "b", 2.5]) for text in ("1", "b", "2.5", "c")] == [1, "b", 2.5, "c"]


def test_a_column_by_item_is_the_first_that_is_there(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text("item,truth,note\np,yes,1\nq,no,2\np,yes,3\n")
    assert _options.by_item(path, "item", "label", "gold", "truth").to_dict() == {"p": "yes", "q": "no"}
    with pytest.raises(InputError, match="has no column 'label'; it has item, truth, note"):
        _options.by_item(path, "item", "label", "gold")
    with pytest.raises(InputError, match="has no column 'unit'; it has item, truth, note"):
        _options.by_item(path, "unit", "truth")
    with pytest.raises(InputError, match=r"says 1, 3 of 'p'; leave one of them"):
        _options.by_item(path, "item", "note")


def test_features_of_items_and_of_annotators_need_their_files(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("item,page,hour\np,1,9\nq,2,9\n")
    found = _options.item_groups(path, "item", by="page", cluster=None)
    assert {name: column.to_dict() for name, column in found.items()} == {"by": {"p": 1, "q": 2}}
    assert _options.item_groups(None, "item", by=None, cluster=None) == {}
    with pytest.raises(InputError, match=r"items\.csv is not used: name a column of it, --by or --cluster"):
        _options.item_groups(path, "item", by=None, cluster=None)
    with pytest.raises(
        InputError, match="--cluster names a column of the items: give their table, --item-features FILE"
    ):
        _options.item_groups(None, "item", by=None, cluster="page")


@pytest.mark.parametrize(("given", "count"), [({}, ["p"]), ({"item": "unit"}, ["p"])])
def test_predictions_have_columns_of_their_own_names_if_any(tmp_path, given, count):
    key = given.get("item", "item")
    (tmp_path / "votes.csv").write_text(f"{key},annotator,label\np,a,Yes\np,b,no\n")
    (tmp_path / "said.csv").write_text("model,task,answer\nA,p,yes\n")
    how = {"annotations": tmp_path / "votes.csv", "predictions": tmp_path / "said.csv", "merge_similar": True}
    source = WithPredictions(**how, **given, predictions_item="task", predictions_label="answer")
    votes, models = source.read()
    assert (votes.items.tolist(), models.items.tolist(), models.categories.tolist()) == (count, ["p"], ["Yes"])
    assert WithPredictions(annotations=tmp_path / "votes.csv", **given).read()[1] is None
    with pytest.raises(InputError, match="there are no predictions: give a file of predictions"):
        WithPredictions(annotations=tmp_path / "votes.csv", **given).read(needed=True)
