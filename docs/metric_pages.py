"""One page per metric, written from its record: a contract of what it is and what is tested."""

import json
import re
from pathlib import Path

from bayesagree.metrics.records import Mean, Sums
from bayesagree.metrics.registry import METRICS, MetricRecord

# Formula and paper of each metric: p are probabilities of the model, y its label, t the true one, lambda the truth.
SOURCES = json.loads((Path(__file__).parent / "metrics.json").read_text(encoding="utf-8"))
AVERAGES = {
    "_macro": "mean over labels of ",
    "_micro": "sums over labels of ",
    "_weighted": "weighted mean over labels of ",
}
# Headings of the list, in their order.
HEADINGS = (
    "Best labels in order",
    "One true label, means over items",
    "One true label, counts and other sums over items",
    "Areas under curves",
    "The whole distribution of labels",
    "Numbers",
)
TESTED = {
    "order": "equals a direct computation on every draw (`tests/metrics/test_oracles.py`)",
    "label": "equals scikit-learn on every draw to 1e-12, ties and absent labels included "
    "(`tests/metrics/test_oracles.py`)",
    "plausibilities": "equals plain numpy and scipy on every draw, and published numbers to six digits "
    "(`tests/metrics/test_oracles.py`)",
    "number": "equals scipy and scikit-learn on every draw (`tests/metrics/test_oracles.py`)",
}
NEEDS = {
    "labels": "hard labels",
    "scores": "scores that order the labels",
    "probabilities": "probabilities",
    "numbers": "numbers",
}


def example_name(record: MetricRecord) -> str:
    """Return a name of the metric, with its number and label."""
    number = "1" if record.number is float else "2"
    return record.pattern.replace("{}", number).replace("{label}", "1")


def file_name(record: MetricRecord) -> str:
    """Return the name of its page."""
    return record.pattern.replace("_{}", "").replace("{}", "_beta").replace("[{label}]", "_of_label")


def heading(record: MetricRecord) -> str:
    """Return the heading that it stands under."""
    if record.against != "label":
        return HEADINGS[{"order": 0, "plausibilities": 4, "number": 5}[record.against]]
    return HEADINGS[1 if isinstance(record.kind, Mean) else 2 if isinstance(record.kind, Sums) else 3]


def tested(record: MetricRecord) -> str:
    """Return the property that the tests hold it to."""
    if record.pattern.startswith("expected_calibration_error"):
        return "equals a computation by hand, and a published number to six digits"
    return TESTED[record.against]


def direction(record: MetricRecord) -> str:
    """Return which values are better."""
    return "higher" if record.higher_is_better else "lower" if record.best is None else "nearest"


def few_votes(record: MetricRecord) -> str:
    """Return what happens with few votes."""
    if record.needs == "numbers":
        return "`evaluate` regresses the item means on the predictions (`informed_normal`)."
    if record.biased_of_estimate:
        return "Of vote shares it is biased where votes are few (a warning says so); score a posterior."
    return "A posterior from votes alone scores too low; `evaluate` learns how far."


def page(record: MetricRecord) -> str:
    """Return the page of a metric."""
    name, n_labels = (
        "interval_coverage_90" if record.default == 90 else example_name(record),
        2 if record.two_labels else 3,
    )
    numeric = record.needs == "numbers"
    base, suffix = re.fullmatch(r"(.*?)(_macro|_micro|_weighted|\[{label}\])?", record.pattern).groups()
    source = SOURCES[base]
    how = rf"\text{{{AVERAGES[suffix]}}} " if suffix in AVERAGES else ""
    facts = {
        "range": f"{source['range']}, {direction(record)} is better",
        "needs": f"{NEEDS[record.needs]} of the model"
        + (", in several runs" if record.runs else "")
        + (", ordered categories" if record.ordered else ""),
        "does not exist": f"where {record.undefined}: NaN, with a warning"
        if record.undefined
        else "always exists",
        "few votes": few_votes(record),
        "tested": f"It {tested(record)}; its interval in a simulation: "
        f"[coverage](../benchmarks/{'number_coverage' if numeric else 'metric_coverage'}.md).",
        "reference": source["reference"],
    }
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items())
    code = example_of_numbers(name) if numeric else example(name, n_labels, record.ordered)
    code = example_of_runs(name) if record.runs else code
    return f"""# {title(record)}

`"{record.pattern}"`: {meaning(record)}.

$${how}{source["formula"]}$$

| | |
| --- | --- |
{rows}

```python
{code}
```

```text
{output(code)}
```
"""


def title(record: MetricRecord) -> str:
    """Return the heading of a metric."""
    words = (
        record.title.replace("{label}", "LABEL")
        .replace("F{}", "F beta")
        .replace("-{}", "-K")
        .replace(" {}", " K")
    )
    return words[0].upper() + words[1:]


def meaning(record: MetricRecord) -> str:
    """Return the definition in words."""
    return record.meaning.replace("{k}", "beta" if record.number is float else "K").replace("{label}", "LABEL")


def example(name: str, n_labels: int, ordered: bool) -> str:
    """Return the code that scores two models by it."""
    stated = f", labels=range({n_labels}), ordered=True" if ordered else ""
    return f"""import numpy as np
import bayesagree as ba

rng = np.random.default_rng(1)
truth = rng.dirichlet(np.full({n_labels}, 0.3), 60)
votes = ba.Labels.from_counts(rng.multinomial(5, truth){stated})
guess = rng.dirichlet(np.ones({n_labels}), 60)
models = ba.Predictions.from_scores({{"good": 0.8 * truth + 0.2 * guess, "poor": 0.4 * truth + 0.6 * guess}})
posterior = ba.dirichlet(votes, draws=100, random_seed=1)
ba.score(posterior, models, "{name}").mean(("chain", "draw")).to_series().round(3)"""


def example_of_runs(name: str) -> str:
    """Return the code that scores two models of several runs by it."""
    return f"""import numpy as np
import pandas as pd
import bayesagree as ba

rng = np.random.default_rng(1)
truth = rng.integers(0, 2, 60)
votes = ba.Labels.from_counts(10 * np.eye(2, dtype=int)[truth])
rows = [
    (model, item, run, truth[item] if rng.random() < skill else 1 - truth[item])
    for model, skill in (("good", 0.9), ("poor", 0.6)) for item in range(60) for run in range(4)
]
models = ba.Predictions.from_long(pd.DataFrame(rows, columns=["model", "item", "run", "label"]), run="run")
posterior = ba.dirichlet(votes, draws=100, random_seed=1)
ba.score(posterior, models, "{name}").mean(("chain", "draw")).to_series().round(3)"""


def example_of_numbers(name: str) -> str:
    """Return the code that scores two models of numbers by it."""
    return f"""import numpy as np
import bayesagree as ba

rng = np.random.default_rng(1)
truth = rng.uniform(2, 4, 60)
ratings = ba.Ratings.from_matrix(truth[:, None] + rng.uniform(-1, 1, (60, 5)), scale=(1, 5))
noise = rng.normal(size=(60, 40))
models = ba.Predictions.from_numbers({{"good": truth[:, None] + 0.5 * noise, "poor": 3 + noise}})
posterior = ba.informed_normal(ratings, models, draws=100, random_seed=1)
ba.score(posterior, models, "{name}").mean(("chain", "draw")).to_series().round(3)"""


def output(code: str) -> str:
    """Run the code and return its last line as text: here and not in a kernel, which each page would start anew."""
    *lines, last = code.splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    return str(eval(last, names))


def index() -> str:
    """Return the page that lists all metrics."""
    texts = [
        "# Metrics\n\nAny of these names goes into `score`, `evaluate` and ``bayesagree evaluate --metrics``.\n"
    ]
    for words in HEADINGS:
        records = [r for r in METRICS.values() if heading(r) == words]
        texts.append(f"## {words}\n\n| name | meaning | needs | better |\n| --- | --- | --- | --- |")
        for r in records:
            texts.append(
                f"| [`{r.pattern}`]({file_name(r)}.md) | {meaning(r)} | {NEEDS[r.needs]} | {direction(r)} |"
            )
        texts.append("")
    names = "\n".join(file_name(r) for r in METRICS.values())
    return "\n".join(texts) + f"\n```{{toctree}}\n:hidden:\n{names}\n```\n"
