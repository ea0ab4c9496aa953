"""Dirichlet plausibilities from single labels.

Story.  Every item i has plausibilities lambda_i over K labels. Each annotator of the item draws a label from them.
Prior.  lambda_i ~ Dirichlet(a0, ..., a0).
Data.   Single labels: n_ik = number of annotators of item i who chose label k.
Paper.  Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.1.
Exact.  The posterior is Dirichlet(a0 + n_i), so means and covariances are rational, and the probability that a label is
        the most plausible one is a finite sum for three labels with whole shapes: Pr(X_k > X_j, X_l) over gammas.
Wrong   when annotators copy each other, differ in skill, or an item is ambiguous in a way that more of the same
        annotators would not show: the posterior shrinks with every annotation, whoever made it.
"""

from fractions import Fraction
from math import comb, factorial

from _reference import write_exact

PRIOR = 1


def data() -> list[list[int]]:
    """Return counts of three labels for four items."""
    return [[1, 0, 0], [2, 1, 0], [3, 3, 1], [0, 0, 5]]


def exact(counts: list[list[int]]) -> dict[str, list[list[float]]]:
    """Return posterior mean, variance and the probability of each label to be the largest."""
    shapes = [[PRIOR + n for n in row] for row in counts]
    mean = [[Fraction(a, sum(row)) for a in row] for row in shapes]
    variance = [[m * (1 - m) / (sum(row) + 1) for m in ms] for ms, row in zip(mean, shapes)]
    largest = [[probability_largest(row[k], row[:k] + row[k + 1 :]) for k in range(3)] for row in shapes]
    return {
        name: [[float(v) for v in row] for row in table]
        for name, table in (("mean", mean), ("variance", variance), ("prob_largest", largest))
    }


def probability_largest(a: int, others: list[int]) -> Fraction:
    """Return Pr(X_a > all others) for gammas with whole shapes.

    F_b(x) = 1 - sum_{i < b} e^-x x^i / i!, so the product over two others is a sum of e^(-m x) x^n, and
    int x^(a - 1) e^-x x^n e^(-m x) dx / (a - 1)! = (a + n - 1)! / ((a - 1)! (1 + m)^(a + n)).
    """
    b, c = others

    def term(n: int, m: int) -> Fraction:
        return Fraction(comb(a + n - 1, n) * factorial(n), (1 + m) ** (a + n))

    total = Fraction(1)
    for shape in (b, c):
        total -= sum((term(i, 1) / factorial(i) for i in range(shape)), Fraction(0))
    for i in range(b):
        for j in range(c):
            total += term(i + j, 2) / (factorial(i) * factorial(j))
    return total


def main() -> None:
    """Write the reference posterior."""
    counts = data()
    write_exact(
        __file__,
        data={"counts": counts, "prior": PRIOR, "reliability": 1},
        posterior=exact(counts),
        source="Stutz et al., section 2.1; closed form in rational numbers",
    )


if __name__ == "__main__":
    main()
