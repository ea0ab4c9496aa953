# ruff: noqa: E501
"""Runs of commands that take the side of a condition which no other command takes: notes, marks, refusals, defaults."""

import json
import os
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pandas as pd
from _hostile import ITEMS

from _runs.commands import WHERE, printed
from _runs.recipe import RUNS, add, later
from _runs.world import MANY_PAGES, SYSTEM_GOLD, SYSTEMS, _many, table
from bayesagree.blind import blind_experiment
from bayesagree.cli import _options, blind, plan


def _more() -> Any:
    where = WHERE()
    table("two.csv").groupby(["item", "label"]).size().unstack(fill_value=0).reset_index().to_csv(
        where / "counts.csv", index=False
    )
    truth, systems = SYSTEM_GOLD(), SYSTEMS()
    rows = [(m, i, int(v)) for m, of in zip(systems.models, systems.label_index) for i, v in zip(systems.items, of)]
    pd.DataFrame(rows, columns=["model", "item", "label"]).to_csv(where / "systems.csv", index=False)
    same = [(m, i, truth[i] if k % 5 else 1 - truth[i]) for m in ("s0", "s1", "s2") for k, i in enumerate(truth)]
    pd.DataFrame(same, columns=["model", "item", "label"]).to_csv(where / "copies.csv", index=False)
    pd.DataFrame({"item": [*truth], "label": [*truth.values()]}).to_csv(where / "truth.csv", index=False)
    pd.DataFrame({"item": ITEMS[:6], "answer": [*"xyzxyx"]}).to_csv(where / "answered.csv", index=False)
    pd.DataFrame({"item": ITEMS[:5], "truth": [*"xyzxy"]}).to_csv(where / "truths.csv", index=False)
    pd.DataFrame({"label": [*"abc"], "risk": [0, 2, 1]}).to_csv(where / "risk.csv", index=False)
    pd.DataFrame({"label": [*"abc"], "danger": [0, 2, 1]}).to_csv(where / "danger.csv", index=False)
    models = table("models.csv")
    models[models["model"] == "mid"].to_csv(where / "single.csv", index=False)
    models[models["model"] != "low"].to_csv(where / "pair.csv", index=False)
    twins = models[models["model"] == "mid"]
    pd.concat([twins, twins.assign(model="twin")]).to_csv(where / "twins.csv", index=False)
    models.rename(columns={"item": "id", "label": "says"}).to_csv(where / "other.csv", index=False)
    pair = [("A", "B", w, f"g{k % 5}") for k, w in enumerate([*"ABBABAAB"] * 3)]
    pd.DataFrame(pair, columns=["left", "right", "winner", "item"]).to_csv(where / "even.csv", index=False)
    apart = [(a, b, w) for a, b, w in [*zip("ACAC", "BDBD", "ACBC")] * 5]
    pd.DataFrame(apart, columns=["left", "right", "winner"]).to_csv(where / "apart.csv", index=False)
    pd.DataFrame([*pair[:7], ("A", "B", None, "g1")], columns=["left", "right", "winner", "item"]).to_csv(
        where / "unsaid.csv", index=False
    )
    ranked = [
        (i, who, label, k + 1)
        for i, order in enumerate(["abc", "bca", "cab", "acb"])
        for who in "uvw"
        for k, label in enumerate(order if who != "w" else order[::-1])
    ]
    names = ["item", "annotator", "label", "rank"]
    pd.DataFrame(ranked, columns=names).to_csv(where / "ranked.csv", index=False)
    pd.DataFrame(
        [(i, "g", label, 3 - "abc".index(label)) for i in range(4) for label in "abc"],
        columns=["item", "judge", *names[2:]],
    ).to_csv(where / "judged.csv", index=False)
    scored = [
        (m, i, c, (2 + k + 3 * i * (j + 1)) % 7 / 7)
        for k, m in enumerate("AB")
        for i in range(4)
        for j, c in enumerate("abc")
    ]
    pd.DataFrame(scored, columns=["model", "item", "label", "score"]).to_csv(where / "scored.csv", index=False)
    rated = [(f"r{i}", who, (i * 3 + j * 5 + i * j) % 5 + 1) for i in range(9) for j, who in enumerate("uvw")]
    pd.DataFrame(rated, columns=["item", "annotator", "rating"]).to_csv(where / "rated.csv", index=False)
    pd.DataFrame([(i, "g", (r + 1) % 6) for i, _, r in rated[::3]], columns=["item", "judge", "rating"]).to_csv(
        where / "grades.csv", index=False
    )
    pd.DataFrame([(i, "g", "xyz"[k % 3]) for k, i in enumerate(ITEMS)], columns=["item", "judge", "label"]).to_csv(
        where / "three.csv", index=False
    )
    points = [(m, f"r{i}", (i * k) % 5 + 1) for m, k in (("A", 2), ("B", 3)) for i in range(9)]
    pd.DataFrame(points, columns=["model", "item", "rating"]).to_csv(where / "points.csv", index=False)
    pd.DataFrame(
        [(m, i, "above"[: 5 * (v > 2)] or "below") for m, i, v in points], columns=["model", "item", "label"]
    ).replace("above", "at_or_above").to_csv(where / "answers.csv", index=False)
    pd.DataFrame([(i, "g", (k * 3) % 7) for k, i in enumerate(ITEMS)], columns=["item", "judge", "rating"]).to_csv(
        where / "points_of_judge.csv", index=False
    )
    pd.DataFrame({"annotator": [*"uvw"], "age": ["old", "young", "young"]}).to_csv(where / "raters.csv", index=False)
    _many().to_csv(where / "forty.csv", index=False)
    MANY_PAGES().rename_axis("item").rename("page").reset_index().to_csv(where / "pages.csv", index=False)
    (where / "outputs.json").write_text(
        json.dumps(
            [
                {
                    "id": k,
                    "data": {"text": f"t{k}"},
                    "annotations": [],
                    "predictions": [
                        {
                            "model_version": "m",
                            "result": [{"from_name": "q", "type": "choices", "value": {"choices": ["xy"[k % 2]]}}],
                        }
                    ],
                }
                for k in range(4)
            ]
        )
    )
    (where / "golden.json").write_text(
        json.dumps(
            [
                {
                    "id": k,
                    "data": {"text": f"t{k}"},
                    "annotations": [
                        {
                            "completed_by": {"email": who},
                            "ground_truth": who == "u" and k < 3,
                            "result": [
                                {"from_name": "q", "type": "choices", "value": {"choices": ["xy"[(k + j) % 2]]}}
                            ],
                        }
                        for j, who in enumerate("uv")
                    ],
                }
                for k in range(5)
            ]
        )
    )
    tasks = pd.DataFrame({"task": ITEMS[:6], "label": [*"xyzxyx"]})
    tasks.to_csv(where / "tasks.csv", index=False)
    pd.DataFrame({"item": [*ITEMS, "t99"], "text": [f"text {i}" for i in [*ITEMS, "t99"]]}).to_csv(
        where / "more.csv", index=False
    )
    return where


MORE = later(_more)


def told(words: str, written: str = "") -> Any:
    """Run a command where the further files are."""
    MORE()
    return printed(words, written)


SAMPLED = "--draws 12 --chains 2"
COMMANDS = f"""
contents
contents counts.csv --format counts
contents outputs.json
contents golden.json
evaluate outputs.json models.csv
contents rated.csv --labels 5 --label rating --kind labels
contents models.csv --labels 4
contents rated.csv --scale 1 5 --kind ratings
contents rated.csv --scale 2,9
contents labels.csv --kind words
contents ranked.csv --labels a,b,c,d
contents labels.csv --labels x,y
contents labels.csv --no-annotator --duplicates keep
agreement ranked.csv
certainty ranked.csv --reliability 1 {SAMPLED}
certainty ranked.csv --reliability 1,3 {SAMPLED}
certainty labels.csv --reliability 1,two
certainty labels.csv --k 2 {SAMPLED}
evaluate single.csv
evaluate labels.csv single.csv {SAMPLED}
evaluate labels.csv other.csv {SAMPLED} --predictions-item id --predictions-label says
evaluate labels.csv other.csv {SAMPLED}
evaluate labels.csv --simulated-models 3 {SAMPLED} --seed 4
evaluate rated.csv --scale 1 5 --step 1 --simulated-models 3 {SAMPLED}
evaluate labels.csv models.csv {SAMPLED} --gold truths.csv
evaluate labels.csv models.csv {SAMPLED} --gold tasks.csv
evaluate labels.csv models.csv {SAMPLED} --gold answered.csv
evaluate labels.csv models.csv {SAMPLED} --gold risk.csv
evaluate labels.csv models.csv {SAMPLED} --gold truth.csv
evaluate labels.csv models.csv {SAMPLED} --by page
evaluate labels.csv models.csv {SAMPLED} --by colour --item-features items.csv
evaluate labels.csv models.csv {SAMPLED} --plausibility dawid_skene --allow-unmixed
evaluate labels.csv models.csv {SAMPLED} --items all
evaluate labels.csv --predictions models.csv
evaluate labels.csv models.csv --gold gold.csv --gold truths.csv
compare labels.csv
compare labels.csv models.csv {SAMPLED} --plausibility dirichlet --reliability 3
compare labels.csv models.csv {SAMPLED} --plausibility dirichlet --reliability 1
check labels.csv
check labels.csv pair.csv {SAMPLED} --plausibility dirichlet --new top --old best
check labels.csv pair.csv {SAMPLED} --plausibility dirichlet --new top --old mid --not-worse 0
conformal labels.csv
conformal rated.csv points.csv --scale 1 5
conformal ranked.csv points.csv
auc labels.csv shares.csv --draws 12
auc counts.csv scores.csv --draws 12 --format counts
auc two.csv scores.csv --draws 12 --positive yes
auc two.csv scores.csv --draws 12 --positive perhaps
auc two.csv
auc rated.csv points.csv --scale 1 5
blind systems.csv --gold truth.csv --draws 12 --methods majority,em,round_robin --metrics accuracy,precision
blind systems.csv --draws 12 --positive 1 --methods majority --metrics f1
blind systems.csv --draws 12 --positive yes --methods majority --metrics f1
blind copies.csv --draws 12 --methods majority --metrics accuracy
blind pair.csv --draws 12 --methods majority --metrics accuracy
blind
annotators ranked.csv
annotators rated.csv --scale 1 5 --step 1 --gold gold.csv
annotators rated.csv --scale 1 5 --step 1 {SAMPLED}
annotators labels.csv {SAMPLED} --variant one_coin --allow-unmixed
judge three.csv --people labels.csv {SAMPLED}
judge three.csv --people labels.csv {SAMPLED} --positive z
judge three.csv --people labels.csv {SAMPLED} --positive w
judge three.csv --people labels.csv --choose 3
judge three.csv
judge three.csv --choose 3 --system colour
judge three.csv --choose 3 --positive y --verdicts-item id
judge grades.csv --people rated.csv {SAMPLED}
judge grades.csv --people rated.csv {SAMPLED} --scale 0 6
judge three.csv --people rated.csv {SAMPLED} --scale 0 6
judge grades.csv --choose 4 --scale 0 6
judge points_of_judge.csv --choose 4 --scale 0 6 --design doubt
judge points_of_judge.csv --people two.csv {SAMPLED} --scale 0 6
judge points_of_judge.csv --people two.csv {SAMPLED} --scale 0 6 --positive no
judge grades.csv --choose 4
judge judged.csv --people ranked.csv {SAMPLED}
next labels.csv twins.csv --number 3 --plausibility dirichlet
next labels.csv single.csv --number 3 --plausibility dirichlet
next labels.csv pair.csv --number 3 --plausibility dirichlet
next ranked.csv --number 3
next labels.csv models.csv --number 3 --goal certainty --plausibility dirichlet
next labels.csv --number 3 --goal speed
plan labels.csv --n-items 20 --n-annotators 4 --cost 1
plan labels.csv --n-items 20 --n-annotators 4 --cost 1,2,3
plan labels.csv --n-items 20 --replicates 2
plan labels.csv --n-items 20 --replicates 2 --crossed
plan labels.csv models.csv --n-items 20 --replicates 2
plan labels.csv --n-items 20,30 --n-annotators 4 --replicates 2 --target 9 --cost 1,2
plausibility labels.csv --plausibility informed_dirichlet --force -o q.nc
plausibility labels.csv --plausibility dawid_skene --reliability 2 --force -o q.nc
preferences labels.csv
preferences games.csv --covariates length {SAMPLED} --ties none --order none --discrimination none
preferences unsaid.csv {SAMPLED} --ties none
preferences even.csv {SAMPLED} --ties none --order none
preferences apart.csv {SAMPLED} --ties none --order none
preferences games.csv {SAMPLED} --first left --second right --winner winner --ties some
rankings labels.csv
rankings ranked.csv --prirn 2 --plackett-luce 1 {SAMPLED} --case 2 --simulated-models 2 --risk risk.csv
rankings ranked.csv --prirn 2 --plackett-luce 1 {SAMPLED} --risk danger.csv
rankings ranked.csv --prirn 2 --plackett-luce 0.5 {SAMPLED}
rankings ranked.csv --prirn 2 --plackett-luce 1.5 {SAMPLED}
rankings ranked.csv --prirn 2 --plackett-luce 1 {SAMPLED} --case 9
rankings ranked.csv scored.csv --prirn 2 --plackett-luce 1 {SAMPLED}
report ranked.csv --gold gold.csv --force -o s.html
report ranked.csv --annotators people.csv --group age --force -o s.html
report labels.csv --group age --force -o s.html
subjective ranked.csv models.csv
subjective labels.csv
subjective labels.csv models.csv --output s.html --specification spec.json
subjective labels.csv models.csv --specification spec.json
subjective labels.csv --annotators people.csv --specification spec.json
subjective labels.csv models.csv --annotators people.csv --truth by-group
subjective labels.csv models.csv --annotators people.csv --truth own --group age
subjective labels.csv models.csv --group age
subjective rated.csv answers.csv --scale 1 5 --step 1 --annotators raters.csv --group age --draws 12 --threshold 3 --no-phi
subjective rated.csv answers.csv --scale 1 5 --step 1 --annotators raters.csv --group age --draws 12 --threshold 3 --metric accuracy --no-phi
subjective rated.csv points.csv --scale 1 5 --step 1 --annotators raters.csv --group age --draws 12 --no-phi
""".strip().splitlines()
for words in COMMANDS:
    RUNS[f"bayesagree {words}"] = lambda words=words: told(words)
WRITTEN = {
    f"certainty labels.csv {SAMPLED} --force -o t.json --tool label_studio --contents texts.csv": "t.json",
    "next labels.csv --number 3 --force -o t.csv": "t.csv",
    "next labels.csv --number 3 --force -o t.json --tool paper": "t.json",
    "plan apart.csv --force -o w.csv": "w.csv",
    "next apart.csv --number 2 --force -o w.csv": "w.csv",
    f"preferences even.csv {SAMPLED} --ties none --order none --force -o w.nc": "w.nc",
    "conformal labels.csv shares.csv --coverage .7 --force -o w.csv --new shares.csv": "w.csv",
    "blind systems.csv --draws 12 --methods majority --metrics accuracy --force -o w.nc": "w.nc",
}
for words, file in WRITTEN.items():
    RUNS[f"bayesagree {words}"] = lambda words=words, file=file: told(words, file)


def later_compare(*options: str) -> Any:
    """Keep a result, and compare its models."""
    told(
        f"evaluate labels.csv models.csv {SAMPLED} --plausibility dirichlet --reliability 1,3 --metrics accuracy,top_1_accuracy --force -o k.nc"
    )
    found = told(" ".join(("compare k.nc", *options)))
    os.remove(WHERE() / "k.nc")
    return found


for options in ((), ("--metric", "accuracy", "--reliability", "3"), ("--reliability", "2")):
    add(f"compare a kept result {options}", later_compare, *options)()


def marks() -> list[str]:
    """Give the marks of correlations just at and beside the limits, and of what does not exist."""
    nan = float("nan")
    cells = [(v, p, r) for v in (0.51, nan) for p in (0.0099, 0.01, 0.0499, 0.05, 0.2, nan) for r in (2.0, nan)]
    found = [blind._marked({"correlation": v, "p_value": p, "method_rank": r}) for v, p, r in cells]  # type: ignore[arg-type]
    return [*found, *(blind._ranked({"score": s, "rank": 3.0}) for s in (0.25, nan))]  # type: ignore[arg-type]


add("marks of blind", marks)()


def _worth(number: int | None) -> list[str]:
    return plan._pair(SimpleNamespace(attrs={"models": ("A", "B"), "separating": number}))  # type: ignore[arg-type]


add("sentences of plan", lambda: [_worth(n) for n in (None, 7, 12345)])()
add("sentences of next", lambda: [_next(v, n) for v in ((0,), (0, 1, 2, 3)) for n in (1, 2, 3, 4)])()


def _next(votes: Any, n: int) -> list[str]:
    found = pd.DataFrame({"votes": votes, "prob_right": [0.61 + 0.07 * v for v in votes]})
    found.attrs["models"] = ("A", "B")
    return import_module("bayesagree.cli.next")._worth(found, n)


def _notes(*p_values: float | None) -> list[list[str]]:
    """Give the notes of a command whose check of independence gave such p-values."""
    tree = blind_experiment(SYSTEMS(), methods=["majority"], metrics=["accuracy"], draws=6, seed=1)
    return [list(blind._notes(tree, p)) for p in p_values]


add("notes of blind", _notes, None, 0.0499, 0.05, 0.7)()
add("options of a source", lambda: [_options.label_names(t) for t in (None, "3", "-1,0,1", "a,1", "x, y")])()
add("lists of numbers", lambda: [_options.numbers(t, "--n", whole=w) for t, w in (("1,2.5", False), ("3, 4", True))])()
for text in ("1,x", "", "1.5,2"):
    add(f"lists of numbers {text!r}", lambda t=text: _options.numbers(t, "--n", whole=True))()
