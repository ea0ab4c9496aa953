"""Options that several commands have: one name, one meaning and one help text each."""

from pathlib import Path
from typing import Annotated

import typer

AnnotationsFile = Annotated[
    Path | None, typer.Argument(help="Annotations: CSV, TSV, Parquet or JSON Lines; nested blocks as JSON.")
]
PredictionsFile = Annotated[
    Path | None, typer.Argument(help="Predictions: columns model, item and label, score, or one column per label.")
]
Data = Annotated[str | None, typer.Option("--data", help="A public data set by name, instead of files.")]
Item = Annotated[str, typer.Option("--item", help="Column that names the item.")]
Annotator = Annotated[str, typer.Option("--annotator", help="Column that names the annotator.")]
ModelColumn = Annotated[str, typer.Option("--model", help="Column of the predictions that names the model.")]
LabelColumn = Annotated[str, typer.Option("--label", help="Column of the label.")]
RatingColumn = Annotated[str, typer.Option("--rating", help="Column of the rating.")]
RankColumn = Annotated[str, typer.Option("--rank", help="Column of the rank; equal ranks are ties.")]
Scale = Annotated[
    tuple[float, float] | None, typer.Option("--scale", help="Lowest and highest rating, such as: --scale 1 5.")
]
Step = Annotated[float | None, typer.Option("--step", help="Distance of the levels of the scale.")]
LabelNames = Annotated[
    str | None, typer.Option("--labels", help="All possible labels, comma separated, in the order ties should fall.")
]
Duplicates = Annotated[
    str, typer.Option("--duplicates", help="Repeated (item, annotator): error, first, last or keep.")
]
AnnotatorsFile = Annotated[
    Path | None, typer.Option("--annotators", help="Features: one row per annotator, any columns.")
]
SpecificationFile = Annotated[
    Path | None, typer.Option("--specification", help="What was declared about the evaluation, JSON.")
]
Plausibility = Annotated[
    str | None,
    typer.Option("--plausibility", help="dirichlet, prirn, plackett_luce, dawid_skene or normal_inverse_gamma."),
]
Draws = Annotated[int, typer.Option("--draws", help="Draws per chain.", min=1)]
Chains = Annotated[int, typer.Option("--chains", help="Chains.", min=1)]
Seed = Annotated[int, typer.Option("--seed", help="Same seed, same draws.")]
Dask = Annotated[str | None, typer.Option("--dask", help="Address of a Dask scheduler to run on.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Threshold = Annotated[
    float | None, typer.Option("--threshold", help="For ratings: is the mean below this value or not?")
]
ItemsAre = Annotated[str, typer.Option("--items", help="fixed: this test set; bootstrap: items are a sample.")]
TableFile = Annotated[Path | None, typer.Option("--output", "-o", help="Write the table here as CSV.")]
