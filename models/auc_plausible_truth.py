"""Concordance of scores with plausible truths, from labels of two kinds.

Story.  Item i is positive with probability p_i, and each of its annotators says so with that probability. A model's
        score q_i should order the items as p_i does: its concordance is the share of pairs of items ordered alike,
        equal scores counting one half.
Prior.  p_i ~ Beta(c, c), so that after n_i1 positive and n_i0 negative labels p_i ~ Beta(n_i1 + c, n_i0 + c).
Data.   Crowd labels of two kinds, as counts.
Paper.  Urkullu, Perez, Calvo, "On the evaluation and selection of classifier learning algorithms with crowdsourced
        data", section 3.3 (the truth as a probability); there p_i is its posterior mean.
Exact.  With whole shapes the densities are polynomials, so the probability of each order of a few items is a rational
        number by integrating one after the other, and the concordance is a function of the order.
Wrong   as an interval for the concordance with the true probabilities: the draws are noisier than they are, so the
        concordance comes out low. Wrong too where one label is the truth and the others are slips.
"""

from fractions import Fraction
from itertools import combinations, permutations
from math import factorial

from _reference import write_exact

PRIOR = 1
SCORES = {"A": [0.1, 0.4, 0.6, 0.9], "B": [0.3, 0.2, 0.8, 0.7], "C": [0.5, 0.5, 0.5, 0.9]}

type Polynomial = list[Fraction]


def data() -> list[list[int]]:
    """Return counts of negative and positive labels of four items."""
    return [[3, 0], [2, 1], [1, 1], [1, 4]]


def exact(counts: list[list[int]]) -> dict[str, dict[str, float]]:
    """Return mean and variance of each model's concordance, and the probability that A beats each other model."""
    orders = {order: probability(order, counts) for order in permutations(range(len(counts)))}
    if sum(orders.values()) != 1:
        raise ArithmeticError("the probabilities of the orders do not sum to one")
    values = {m: {order: concordance(q, order) for order in orders} for m, q in SCORES.items()}
    mean = {m: sum(orders[o] * v for o, v in table.items()) for m, table in values.items()}
    variance = {m: sum(orders[o] * (v - mean[m]) ** 2 for o, v in table.items()) for m, table in values.items()}
    better = {m: sum(p for o, p in orders.items() if values["A"][o] > values[m][o]) for m in ("B", "C")}
    tables = {"mean": mean, "variance": variance, "prob_a_better": better}
    return {name: {m: float(v) for m, v in table.items()} for name, table in tables.items()}


def probability(order: tuple[int, ...], counts: list[list[int]]) -> Fraction:
    """Return Pr(p_first < p_second < ...): integrate f_1, then f_2 times that integral, and so on, from 0 to x."""
    below: Polynomial = [Fraction(1)]
    for item in order:
        negative, positive = counts[item]
        below = integral(product(density(positive + PRIOR, negative + PRIOR), below))
    return sum(below, Fraction(0))


def density(a: int, b: int) -> Polynomial:
    """Return the coefficients of the Beta(a, b) density."""
    scale = Fraction(factorial(a + b - 1), factorial(a - 1) * factorial(b - 1))
    power: Polynomial = [Fraction(0)] * (a - 1) + [scale]
    for _ in range(b - 1):
        power = product(power, [Fraction(1), Fraction(-1)])
    return power


def product(f: Polynomial, g: Polynomial) -> Polynomial:
    """Multiply two polynomials."""
    out = [Fraction(0)] * (len(f) + len(g) - 1)
    for i, a in enumerate(f):
        for j, b in enumerate(g):
            out[i + j] += a * b
    return out


def integral(f: Polynomial) -> Polynomial:
    """Integrate a polynomial from 0 to x."""
    return [Fraction(0), *(a / (k + 1) for k, a in enumerate(f))]


def concordance(scores: list[float], order: tuple[int, ...]) -> Fraction:
    """Count the pairs that the scores put in this order of the items, worst first."""
    pairs = list(combinations(order, 2))
    twice = sum(2 if scores[low] < scores[high] else scores[low] == scores[high] for low, high in pairs)
    return Fraction(twice, 2 * len(pairs))


def main() -> None:
    """Write the reference posterior."""
    counts = data()
    write_exact(
        __file__,
        data={"counts": counts, "prior": PRIOR, "reliability": 1, "scores": SCORES},
        posterior=exact(counts),
        source="Urkullu, Perez, Calvo, section 3.3; the orders of four items in rational numbers",
    )


if __name__ == "__main__":
    main()
