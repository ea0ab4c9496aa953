"""PrIRN: plausibilities around the inverse rank normalisation of partial rankings.

Story.  An annotator gives blocks B_1 > B_2 > ... of tied labels; label k of block m earns 1/(m |B_m|). The sums over
        annotators, normalised, are IRN_i; the plausibilities scatter around it: lambda_i ~ Dirichlet(gamma IRN_i + a0).
Prior.  a0 for every label, 0.01 in the authors' code. There is no likelihood: PrIRN is a distribution put on the truth,
        not a model of how annotators rank.
Data.   Partial rankings with ties.
Paper.  Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.2 and B.3.
Exact.  Means and variances of the Dirichlet distribution, in rational numbers.
Wrong   when the number of annotators should matter: IRN is normalised, so ten annotators are as sure as one.
"""

from fractions import Fraction

from _reference import write_exact

RELIABILITY = 10
PRIOR = Fraction(1, 100)
N_LABELS = 5


def data() -> list[list[list[list[int]]]]:
    """Return the rankings of three items: annotators, blocks, labels."""
    return [[[[0, 3], [2]], [[1], [0]]], [[[4], [0, 1, 2]]], [[[2]], [[2], [1]], [[1, 2, 3]]]]


def exact(cases: list[list[list[list[int]]]]) -> dict[str, list[list[float]]]:
    """Return IRN with shared ties, and mean and variance of the plausibilities."""
    result: dict[str, list[list[float]]] = {"irn": [], "mean": [], "variance": []}
    for case in cases:
        score = [Fraction(0)] * N_LABELS
        for ranking in case:
            for place, block in enumerate(ranking, start=1):
                for label in block:
                    score[label] += Fraction(1, place * len(block))
        irn = [s / sum(score) for s in score]
        shape = [RELIABILITY * s + PRIOR for s in irn]
        mean = [a / sum(shape) for a in shape]
        result["irn"].append([float(s) for s in irn])
        result["mean"].append([float(m) for m in mean])
        result["variance"].append([float(m * (1 - m) / (sum(shape) + 1)) for m in mean])
    return result


def main() -> None:
    """Write the reference posterior."""
    cases = data()
    write_exact(
        __file__,
        data={"cases": cases, "n_labels": N_LABELS, "reliability": RELIABILITY, "prior": float(PRIOR)},
        posterior=exact(cases),
        source="Stutz et al., appendix B.2 and B.3; Dirichlet moments in rational numbers",
    )


if __name__ == "__main__":
    main()
