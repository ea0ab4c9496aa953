"""Data flow one way, and imports follow: a module imports only what stands at its own level or before it."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "bayesagree"

LAYERS = [
    [
        "errors",
        "_axes",
        "_columns",
        "_intervals",
        "_streams",
        "_cluster",
        "_checkpoint",
        "_tree",
        "_tables",
        "_sorted_file",
        "_coded_rows",
        "_gamma",
        "_multisets",
        "_dirichlet_argmax",
    ],
    ["_labels", "_ratings", "_rankings", "annotations", "predictions", "annotators", "patterns"],
    [
        "io",
        "agreement",
        "plausibility",
        "distributions",
        "_binned_beta",
        "_prior_draws",
        "_gibbs_step",
        "_ranking_distribution",
    ],
    ["certainty", "calibrate", "annotator_checks", "metrics", "datasets", "simulate", "crowdtruth"],
    [
        "evaluate",
        "compare",
        "reliability",
        "predictive",
        "_ranking_score",
        "_item_likelihood",
        "_replicates",
        "_log_prior",
        "paired_comparison",
        "blind",
        "subjective",
        "studies",
    ],
    ["plots", "report", "cli"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imports(path):
    """Yield the second part of every `bayesagree.x...` that a module imports when it is loaded or run."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "bayesagree" else [f"bayesagree.{a.name}" for a in node.names]
        yield from (n.split(".")[1] for n in names if n.startswith("bayesagree."))


def test_imports_follow_the_flow():
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if module == "__init__" or module == "cli":
            continue
        for name in imports(path):
            if LEVEL.get(name, 0) > LEVEL.get(module, len(LAYERS)):
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


def test_every_module_has_its_level():
    modules = {p.relative_to(PACKAGE).with_suffix("").parts[0] for p in PACKAGE.rglob("*.py")} - {"__init__"}
    assert sorted(modules - set(LEVEL)) == []
