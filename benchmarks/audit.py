"""False alarms of `audit` on test sets without defects, and its power for each defect: benchmarks/results/audit.md.

    uv run python benchmarks/audit.py [--sets 500] [--repeats 100]

A test set has a true label of each item, twelve annotators who give it in .65 to .92 of their answers, five of them on
each item, and three models; or labels that are open to debate; or ratings. Each defect is planted in one of the first
kind.
"""

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from bayesagree import Annotators, Comparisons, Labels, Predictions, audit, simulate

LABELS = np.array(["good", "fair", "poor"])
WHO = np.array([f"r{j}" for j in range(12)])
SERIOUS, SILENT = ["critical", "warning"], ["none", "not run"]


def clean(rng, n_items=200):
    """Return the parts of a test set without defects: votes (item, annotator), -1 for none, and what goes with them."""
    truth = rng.choice(3, n_items, p=[0.5, 0.3, 0.2])
    votes = noisy(rng, truth[:, None], rng.uniform(0.65, 0.92, WHO.size))
    votes[rng.random(votes.shape).argsort(axis=1) >= 5] = -1
    models = {name: noisy(rng, truth, right) for name, right in (("A", 0.85), ("B", 0.75), ("C", 0.6))}
    seconds, when = (
        rng.lognormal(2, 0.5, votes.shape),
        rng.spawn(1)[0].random(votes.shape),
    )
    people = pd.DataFrame({"annotator": WHO, "age": np.repeat(["young", "old"], 6)})
    return {
        "truth": truth,
        "stated": {"A": 0.85, "B": 0.75, "C": 0.6},
        "votes": votes,
        "models": models,
        "gold": truth.copy(),
        "time": seconds,
        "when": when,
        "people": people,
    }


def noisy(rng, truth, right):
    """Return labels that are the true one with some probability, and else another one."""
    shape = np.broadcast_shapes(np.shape(truth), np.shape(right))
    return np.where(rng.random(shape) < right, truth, (truth + rng.integers(1, 3, shape)) % 3)


def arguments(parts, label=LABELS.__getitem__):
    """Return the arguments of `audit`."""
    item, who = np.nonzero(parts["votes"] >= 0)
    names, votes = pd.DataFrame({"item": item, "annotator": WHO[who]}), parts["votes"][item, who]
    known = parts.get("names", LABELS)
    rows = pd.concat([names.assign(label=known[votes]), parts.get("again", names[:0])])
    scores = {
        m: np.where(np.arange(3) == p[:, None], parts["stated"][m], (1 - parts["stated"][m]) / 2)
        for m, p in parts["models"].items()
    }
    scores |= {m: np.log(scores[m]) for m in parts.get("logits", [])}
    predictions = Predictions.from_scores(scores, labels=LABELS.tolist())
    if "known" in parts:
        predictions = predictions.on_items(parts["known"])
    return {
        "annotations": Labels.from_long(rows, labels=list(dict.fromkeys([*LABELS, *known])), duplicates="keep"),
        "predictions": predictions,
        "people": Annotators.from_table(parts["people"]),
        "gold": pd.Series(LABELS[parts["gold"]])[::2],
        "time": names.assign(time=parts["time"][item, who], when=parts["when"][item, who]),
    }


def copied(parts, rng):
    votes = parts["votes"]
    votes[:, 1] = np.where(rng.random(len(votes)) < 0.9, votes[:, 0], votes[:, 1])


def one_answer(parts, rng):
    parts["votes"][parts["votes"][:, 0] >= 0, 0] = 0


def random_answers(parts, rng):
    votes = parts["votes"]
    votes[votes[:, 0] >= 0, 0] = rng.integers(0, 3, (votes[:, 0] >= 0).sum())


def opposite(parts, rng):
    votes = parts["votes"]
    votes[:, 0] = np.where(votes[:, 0] >= 0, (parts["truth"] + rng.integers(1, 3, len(votes))) % 3, -1)


def wrong_gold(parts, rng):
    swap = rng.random(parts["gold"].size) < 0.1
    parts["gold"] = np.where(swap, (parts["gold"] + 1) % 3, parts["gold"])


def spellings(parts, rng):
    parts["names"] = np.append(LABELS, "Good ")
    votes = parts["votes"]
    votes[:, 0] = np.where(votes[:, 0] == 0, 3, votes[:, 0])


def apart(parts, rng):
    half = np.arange(len(parts["votes"])) < len(parts["votes"]) / 2
    parts["votes"][np.ix_(half, np.arange(12) < 6)] = -1
    parts["votes"][np.ix_(~half, np.arange(12) >= 6)] = -1


def own_label(parts, rng):
    votes = parts["votes"]
    parts["names"] = np.append(LABELS, "other")
    votes[:, 0] = np.where((votes[:, 0] >= 0) & (rng.random(len(votes)) < 0.2), 3, votes[:, 0])


def clicks(parts, rng):
    parts["time"][:, 0] /= 10


def knows(parts, rng):
    """A model that was made from the votes: of each item one that is in the majority."""
    parts["models"]["A"] = (parts["votes"][:, :, None] == np.arange(3)).sum(axis=1).argmax(axis=1)


def tires(parts, rng):
    """One who is right in .9 of the answers at first, and answers at random in the end."""
    votes, late = parts["votes"], parts["when"][:, 0]
    right = noisy(rng, parts["truth"], np.interp(late, [0.3, 0.7], [0.9, 1 / 3]))
    votes[:, 0] = np.where(votes[:, 0] >= 0, right, -1)


def lacks(parts, rng):
    parts["known"] = np.arange(len(parts["votes"]))[5:]


def group(parts, rng):
    """The young call most good items fair, which the models do not know."""
    votes = parts["votes"][:, :6]
    votes[(votes == 0) & (rng.random(votes.shape) < 0.8)] = 1


def equal(parts, rng):
    parts["models"]["B"] = noisy(rng, parts["truth"], 0.85)


def hard(parts, rng):
    """A tenth of the items has votes for a label that is wrong."""
    wrong = rng.random(len(parts["truth"])) < 0.1
    votes = parts["votes"][wrong]
    parts["votes"][wrong] = np.where(votes >= 0, (votes + 1) % 3, -1)


def few(parts, rng):
    """Two votes each."""
    parts["votes"][rng.random(parts["votes"].shape).argsort(axis=1) >= 5] = -1


def nobody(parts, rng):
    parts["names"] = np.append(LABELS, "other")


def two_camps(parts, rng):
    """Twelve of equal care; to the second six, most good items are poor."""
    parts["votes"] = np.where(parts["votes"] >= 0, noisy(rng, parts["truth"][:, None], np.full(12, 0.8)), -1)
    other = (parts["truth"] == 0) & (rng.random(len(parts["truth"])) < 0.8)
    votes = parts["votes"][:, 6:]
    votes[other[:, None] & (votes == 0)] = 2


def habit(parts, rng):
    parts["models"]["C"] = rng.choice(3, len(parts["truth"]), p=[0.8, 0.1, 0.1])


def boastful(parts, rng):
    parts["stated"]["C"] = 0.95


def logits(parts, rng):
    parts["logits"] = ["C"]


def careless_again(parts, rng):
    item, who = np.nonzero(parts["votes"][:60] >= 0)
    label = LABELS[noisy(rng, parts["votes"][item, who], 0.6)]
    parts["again"] = pd.DataFrame({"item": item, "annotator": WHO[who], "label": label})


def rare(parts, rng):
    """Nearly all are good, and what is not is not found."""
    parts["votes"] = np.where(parts["votes"] >= 0, 1 * (rng.random(parts["votes"].shape) < 0.04), -1)


def arena(first=0.0, random_seed=0, n=1500, favour=0.0):
    """Return the audit of comparisons by six judges; the last adds log odds to the first, and to the model B."""
    rng = np.random.default_rng(random_seed)
    left = rng.integers(0, 4, n)
    right, who = (left + rng.integers(1, 4, n)) % 4, rng.integers(0, 6, n)
    odds = np.linspace(-1, 1, 4)[left] - np.linspace(-1, 1, 4)[right] + first * (who == 5)
    odds = odds + favour * (who == 5) * ((left == 1).astype(float) - (right == 1))
    won = rng.random(n) < 1 / (1 + np.exp(-odds))
    models, judges = np.array([*"ABCD"]), np.array([f"j{k}" for k in range(6)])
    table = {"left": models[left], "right": models[right], "winner": np.where(won, models[left], models[right])}
    games = pd.DataFrame(table | {"who": judges[who], "item": np.arange(n)})
    return audit(Comparisons.from_long(games, annotator="who", item="item"), random_seed=1)


# Check, and what is planted for it.
DEFECTS = {
    "knows_votes": knows, "copies": copied, "one_answer": one_answer, "careless": random_answers,
    "careless, against": opposite, "against_gold": wrong_gold, "spelling": spellings, "never_meet": apart,
    "unused, by one": own_label, "too_fast": clicks, "drifts": tires, "missing": lacks, "served_badly": group,
    "unseparated": equal, "all_err": hard, "few_votes": few, "unused": nobody, "camps": two_camps,
    "base_rate": habit, "uncalibrated": boastful, "no_probabilities": logits, "repeats": careless_again,
    "paradox": rare,
}  # fmt: skip
# Check of comparisons, and what one of six judges adds to the log odds.
JUDGES = {"first_place": {"first": 1.5}, "favours": {"favour": 1.5}}


def audited(defect=None, random_seed=0, n_items=200):
    """Return the audit of a test set with one defect, or none."""
    rng = np.random.default_rng(random_seed)
    parts = clean(rng, n_items)
    if defect is not None:
        DEFECTS[defect](parts, rng)
    return audit(**arguments(parts), random_seed=1)


def debated(random_seed):
    """Return the audit of labels that are open to debate, without defects."""
    made = simulate.labelled_test_set(n_items=200, random_seed=random_seed)
    return audit(made.labels, made.predictions, random_seed=1)


def rated(random_seed):
    """Return the audit of ratings without defects."""
    return audit(simulate.ratings(n_items=200, random_seed=random_seed).ratings, random_seed=1)


CLEAN = {
    "one true label": lambda seed: audited(None, seed),
    "open to debate": debated,
    "ratings": rated,
    "comparisons": lambda seed: arena(random_seed=seed),
}


def main() -> None:
    """Write the page and its numbers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=100)
    given, began = parser.parse_args(), time.process_time()
    warnings.simplefilter("ignore")
    seeds = [range(k, given.sets, len(CLEAN)) for k in range(len(CLEAN))]
    said = {
        name: [table.index[table["severity"].isin(SERIOUS)].tolist() for table in map(make, some)]
        for (name, make), some in zip(CLEAN.items(), seeds)
    }
    sets = {(name, n): partial(audited, name, n_items=n) for name in DEFECTS for n in (200, 600)}
    sets |= {(name, n): partial(arena, **added, n=n) for name, added in JUDGES.items() for n in (600, 1500)}
    power = {
        key: np.mean(
            [
                make(random_seed=seed)["severity"][key[0].split(",")[0]] not in SILENT
                for seed in range(given.repeats)
            ]
        )
        for key, make in sets.items()
    }
    results = Path(__file__).parent / "results"
    alarms = {name: [len(found) for found in tables] for name, tables in said.items()}
    kept = {
        "alarms": {name: [int(np.sum(np.array(n) > 0)), len(n)] for name, n in alarms.items()},
        "which": sorted({check for tables in said.values() for found in tables for check in found}),
        "power": {
            f"{name}, {n} {'comparisons' if name in JUDGES else 'items'}": round(float(p), 3)
            for (name, n), p in power.items()
        },
    }
    (results / "audit.json").write_text(json.dumps(kept, indent=1) + "\n")
    (results / "audit.md").write_text("\n".join(page(kept, power, given, time.process_time() - began)) + "\n")


def page(kept, power, given, seconds):
    """Yield the lines of the page."""
    yield "# False alarms and power of the audit\n\nMade by `benchmarks/audit.py --sets " + (
        f"{given.sets} --repeats {given.repeats}`, {seconds / 60:.0f} minutes of one processor.\n\n## No defect\n"
    )
    yield "200 items. A false alarm is a critical finding or a warning; at most .05 are asked.\n"
    yield "| test sets | number | with a false alarm |\n| --- | ---: | ---: |"
    for name, (found, n) in kept["alarms"].items():
        yield f"| {name} | {n} | {found / n:.3f} |"
    pairs = list(kept["alarms"].values())
    yield f"| all | {sum(n for _, n in pairs)} | {sum(x for x, _ in pairs) / sum(n for _, n in pairs):.3f} |"
    yield f"\nChecks that gave one: {', '.join(kept['which']) or 'none'}.\n\n## One defect\n"
    yield f"How often the check speaks, of {given.repeats} (Monte-Carlo error at most {0.5 / given.repeats**0.5:.2f})."
    yield "Each annotator gives 83 and 250 answers. A group of six whom a model serves badly (served_badly), a model"
    yield "that copies majorities (knows_votes) and one who tires (drifts) are missed most often; more items show"
    yield "them, and lower thresholds would raise false alarms. Two equal models can differ by chance (unseparated).\n"
    yield "| check | 200 items | 600 items |\n| --- | ---: | ---: |"
    for name in DEFECTS:
        yield f"| {name} | {power[name, 200]:.2f} | {power[name, 600]:.2f} |"
    yield "\nOne of six judges multiplies the odds by 4.5.\n"
    yield "| check | 600 comparisons | 1,500 comparisons |\n| --- | ---: | ---: |"
    for name in JUDGES:
        yield f"| {name} | {power[name, 600]:.2f} | {power[name, 1500]:.2f} |"


if __name__ == "__main__":
    main()
