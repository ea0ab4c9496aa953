"""Records of the rank metrics: the best labels of a draw beside the best labels of a model."""

from functools import partial

from bayesagree.metrics import _rank_kernels
from bayesagree.metrics._record import DEFAULT_K, MetricRecord

STUTZ = "D. Stutz et al., Evaluating AI systems under uncertain ground truth, arXiv:2307.02191, section 2.4."
FAGIN = "R. Fagin, R. Kumar, D. Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17, 2003, "
FAGIN += "doi:10.1137/S0895480102412856"


def _kendall_distance(k: int, n_labels: int) -> float:
    """Return the largest distance: the lists share as few labels as they can, in reversed order."""
    shared = max(0, 2 * k - n_labels)
    alone = k - shared
    return max(alone**2 + alone * (alone - 1) / 2 + shared * (shared - 1) / 2 + 2 * shared * alone, 1.0)


def _footrule_distance(k: int, n_labels: int) -> float:
    alone = min(k, n_labels - k)
    places = [*range(1, k + 1), *[k + 1] * alone]
    return max(float(sum(abs(a - b) for a, b in zip(places, reversed(places)))), 1.0)


_rank = partial(MetricRecord, default=DEFAULT_K, needs="scores")

RANK_RECORDS = (
    _rank(
        pattern="top_{}_accuracy",
        title="top-{} accuracy",
        meaning="share of items whose most plausible label is among the {k} best labels of the model",
        kernel=_rank_kernels.TOP,
        reference=STUTZ,
        formula=r"\frac1N \sum_i 1\{\arg\max_k \lambda_{ik} \in C_{iK}\}",
        one_true_label=True,
    ),
    _rank(
        pattern="set_{}_accuracy",
        title="set {} accuracy",
        meaning="share of items whose {k} most plausible labels are exactly the {k} best labels of the model",
        kernel=_rank_kernels.SET,
        reference=STUTZ,
        formula=r"\frac1N \sum_i 1\{Y_{iK} = C_{iK}\}",
    ),
    _rank(
        pattern="overlap_{}",
        title="overlap {}",
        meaning="mean share of the {k} most plausible labels that are among the {k} best labels of the model",
        kernel=_rank_kernels.OVERLAP,
        reference=STUTZ,
        formula=r"\frac1N \sum_i |Y_{iK} \cap C_{iK}| / K",
    ),
    _rank(
        pattern="average_overlap_{}",
        title="average overlap {}",
        meaning="mean overlap of the best 1, 2, ... {k} labels of the model with the most plausible ones",
        kernel=_rank_kernels.AVERAGE_OVERLAP,
        reference=STUTZ,
        formula=r"\frac1N \sum_i \frac1K \sum_{j=1}^K |Y_{ij} \cap C_{ij}| / j",
    ),
    _rank(
        pattern="kendall_tau_{}",
        title="kendall tau {}",
        meaning="how far the order of the {k} best labels agrees (Kendall), 1 for the same order",
        kernel=_rank_kernels.KENDALL,
        reference=f"{FAGIN}, section 3.1, penalty 1/2.",
        formula=r"1 - \frac1N \sum_i D_\tau(Y_{iK}, C_{iK}) / \max D_\tau",
        largest_distance=_kendall_distance,
    ),
    _rank(
        pattern="spearman_footrule_{}",
        title="spearman footrule {}",
        meaning="how near the {k} best labels are to their places (Spearman), 1 for the same places",
        kernel=_rank_kernels.FOOTRULE,
        reference=f"{FAGIN}, section 3.2, location k + 1.",
        formula=r"1 - \frac1N \sum_i F(Y_{iK}, C_{iK}) / \max F",
        largest_distance=_footrule_distance,
    ),
)
