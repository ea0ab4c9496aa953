"""The true labels that a draw of the plausibilities stands for: the most plausible ones, or ones sampled from it."""

from dataclasses import replace
from typing import Literal

import numpy as np

from bayesagree._inference.streams import BLOCK, Seed, block_generator, stream_apart
from bayesagree.draws.blocks import DrawBlock
from bayesagree.draws.top_labels import Truth, TruthDraws, truth_draws
from bayesagree.errors import InputError, positive_int
from bayesagree.metrics._label_kernels import pick_labels
from bayesagree.metrics.registry import Metric

type TruthIs = Literal["top", "sampled"]


def draws_for(
    metric: Metric, truth: Truth, *, truth_is: TruthIs, threshold: float | None, thin: int, seed: Seed,
    plausibility: bool = False,
) -> TruthDraws:  # fmt: skip
    """Return the draws of a truth, as a metric reads them."""
    check_truth_is(truth_is, metric)
    sampled = truth_is == "sampled"
    full = sampled or plausibility or metric.record.against_distribution
    draws = thinned(truth_draws(truth, metric.depth, threshold=threshold, plausibility=full), thin)
    return with_sampled_labels(draws, seed) if sampled else draws


def check_truth_is(truth_is: str, metric: Metric) -> None:
    """Refuse a truth that a metric does not have."""
    if truth_is not in ("top", "sampled"):
        raise InputError(f"truth_is={truth_is!r} is not one of 'top', 'sampled'")
    if truth_is == "sampled" and metric.depth > 1:
        raise InputError(f"{metric.name} compares {metric.depth} labels of a draw; a sampled truth is one label")


def with_sampled_labels(draws: TruthDraws, seed: Seed) -> TruthDraws:
    """Return draws whose only best label is sampled from the plausibilities: the label of one more annotator."""
    root = stream_apart(seed, "sampled truth")
    read = draws.read

    def sampled(items: slice) -> DrawBlock:
        return sampled_block(read(items), root)

    return replace(draws, read=sampled)


def sampled_block(block: DrawBlock, root: np.random.SeedSequence) -> DrawBlock:
    """Replace the best labels of a block by one label sampled from all plausibilities."""
    label = np.empty(block.top_label.shape[:2], block.top_label.dtype)
    uniform = block_generator(root, block.items.start // BLOCK).random(label.shape)
    pick_labels(np.asarray(block.plausibility), uniform, label)
    return block._replace(top_label=label[:, :, None])


def thinned(draws: TruthDraws, thin: int) -> TruthDraws:
    """Return every `thin`-th draw of each chain."""
    if positive_int(thin, "thin") == 1:
        return draws
    kept = np.arange(draws.chains * draws.draws).reshape(draws.chains, -1)[:, ::thin]
    read = draws.read

    def some(items: slice) -> DrawBlock:
        block, at = read(items), kept.ravel()
        full = None if block.plausibility is None else np.ascontiguousarray(block.plausibility[:, at])
        return block._replace(top_label=np.ascontiguousarray(block.top_label[:, at]), plausibility=full)

    return replace(draws, draws=kept.shape[1], read=some)
