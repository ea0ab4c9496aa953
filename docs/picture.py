"""The picture of the README, of simulated models against annotators who disagree; small ones of the gallery's figures.

uv run python docs/picture.py          writes docs/_static/scores.svg and docs/_static/gallery/*.png
"""

import re
from pathlib import Path

import matplotlib

matplotlib.use("agg")
matplotlib.rcParams |= {
    "svg.hashsalt": "bayesagree",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}

import matplotlib.pyplot as plt  # noqa: E402

import bayesagree as ba  # noqa: E402

DOCS = Path(__file__).parent
TARGET = DOCS / "_static" / "scores.svg"
SHADES = ["#08519c", "#6baed6", "#c6dbef"]


def main() -> None:
    """Evaluate three models and draw their scores and ranks."""
    test_set = ba.simulate.labelled_test_set(n_items=300, random_seed=1)
    votes = ba.score(ba.majority_vote(test_set.labels), test_set.predictions, "accuracy").squeeze(
        ("chain", "draw")
    )
    result = ba.evaluate(test_set.labels, test_set.predictions, random_seed=1)
    found = ba.compare(result)[::-1]
    places = ba.pairwise(result)["rank_probability"].sel(model=found.index.tolist())
    models = found.index.tolist()
    figure, (scores, ranks) = plt.subplots(1, 2, figsize=(9, 2.4), layout="constrained", sharey=True)
    lower, upper = (abs(found["score"] - found[end]) for end in ("lower", "upper"))
    scores.errorbar(
        found["score"], models, xerr=[lower, upper], fmt="o", color=SHADES[0], capsize=4, label="posterior"
    )
    scores.plot(votes.sel(model=models), models, "x", color="#d95f02", markersize=8, label="majority vote")
    scores.set_xlabel("accuracy, HDI 0.95")
    scores.margins(y=0.2)
    scores.legend(loc="lower right", fontsize=9)
    left = 0.0
    for rank, shade in zip(places["rank"].values.tolist(), SHADES):
        share = places.sel(rank=rank).values
        ranks.barh(models, share, left=left, color=shade, height=0.5, label=f"rank {rank}")
        left = left + share
    ranks.set_xlabel("probability of each rank")
    ranks.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1), fontsize=9, frameon=False)
    figure.savefig(TARGET, metadata={"Date": None})


def thumbnails() -> None:
    """Run the page of the gallery, and keep the first figure of each function."""
    names = {}
    matplotlib.rcdefaults()
    for code in re.findall(r"(?ms)^```{code-cell} python\n(.*?)^```", (DOCS / "gallery.md").read_text()):
        exec(code, names)
        found = re.findall(r"^plots\.(plot_\w+)\(", code, re.MULTILINE)
        target = DOCS / "_static" / "gallery" / f"{''.join(found)}.png"
        if found and target not in names.setdefault("kept", []):
            plt.gcf().savefig(target, dpi=90, bbox_inches="tight", metadata={"Software": None})
            names["kept"].append(target)
        plt.close("all")


if __name__ == "__main__":
    main()
    thumbnails()
