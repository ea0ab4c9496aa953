"""The picture "which function for my data": annotations first, then the question.

uv run python docs/decision_tree.py          writes docs/_static/choose.svg
"""

from html import escape
from pathlib import Path

TARGET = Path(__file__).parent / "_static" / "choose.svg"
WIDTH, MARGIN, STEP, LINE = 380, 10, 18, 17
STYLE = """
text { font: 13px system-ui, 'DejaVu Sans', sans-serif; fill: #1f2328 } .question { font-weight: 600; font-size: 14px }
.name { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-weight: 600; fill: #0550ae }
:root { color-scheme: light dark } path { stroke: #8c959f; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .name { fill: #79c0ff } path { stroke: #6e7681 } }
"""

# (answer, functions) at a leaf, (question, branches) above it.
TREE = [
    (
        "What does one annotation look like?",
        [
            (
                "one label of a closed list",
                [
                    ("annotators unknown, or equally good", "dirichlet"),
                    ("few votes per item, several models", "informed_dirichlet"),
                    ("known annotators of different skill", "dawid_skene"),
                    ("groups of people who see items differently", "group_dirichlet"),
                ],
            ),
            (
                "several labels, ranked, with ties",
                [
                    ("more annotators, more certainty", "plackett_luce"),
                    ("more annotators, same certainty", "prirn"),
                    ("with predictions of models", "informed_plackett_luce"),
                ],
            ),
            ("a number on a bounded scale", "normal_inverse_gamma, informed_normal"),
            ("A, B or a tie: which of two is better", "davidson"),
        ],
    ),
    (
        "What do you want to know?",
        [
            (
                "from annotations alone",
                [
                    ("how far annotators agree: labels", "agreement_table"),
                    ("how far annotators agree: ratings", "common_agreement"),
                    ("on which items the answer is open", "annotation_certainty"),
                    ("which annotators are careless", "dawid_skene"),
                ],
            ),
            (
                "from annotations and predictions",
                [
                    ("how good is A, and is A better than B", "evaluate, compare"),
                    ("F1, AUC, Brier score, your own metric", "score, auc"),
                    ("which labels to show, to be right in 90 %", "conformalize"),
                    ("which group of people is served badly", "group_posterior"),
                ],
            ),
            (
                "from predictions, few or no annotations",
                [
                    ("what a language-model judge is worth", "corrected_rate"),
                    ("may a judge replace an annotator", "alternative_annotator_test"),
                    ("which model is best without gold", "blind_scores"),
                ],
            ),
            (
                "before the next annotations",
                [("how many items and annotators", "plan"), ("which items next", "annotate_next")],
            ),
        ],
    ),
]


def rows(branches: list, depth: int = 0) -> list[tuple[int, str, str]]:
    """Return depth, text and style of each line, from top to bottom."""
    lines = []
    for text, below in branches:
        lines.append((depth, text, "question" if depth == 0 else "answer"))
        lines += [(depth, below, "name")] if isinstance(below, str) else rows(below, depth + 1)
    return lines


def picture() -> str:
    """Return the picture."""
    drawn, parents, top = [], {}, MARGIN
    for depth, text, style in rows(TREE):
        top += LINE + {"question": 10, "answer": 5, "name": 0}[style]
        left = MARGIN + STEP * depth
        if style != "name":
            if depth:
                drawn.append(f'<path d="M{left - STEP + 5} {parents[depth - 1] + 6}V{top - 5}H{left - 4}"/>')
            parents[depth] = top
        words = escape(text)
        if style == "name":
            page = "../generated/api/bayesagree.{0}.html"
            words = ", ".join(
                f'<a href="{page.format(name)}" target="_top">{name}</a>' for name in text.split(", ")
            )
        drawn.append(f'<text class="{style}" x="{left}" y="{top}">{words}</text>')
    size = f'width="{WIDTH}" height="{top + 2 * MARGIN}"'
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {top + 2 * MARGIN}" role="img">'
    )
    title = "<title>Which function for my data</title>"
    return "\n".join([start, title, f"<style>{STYLE}</style>", *drawn, "</svg>\n"])


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
