# ruff: noqa: E501, T201
"""Plausible bugs, one at a time, against the tests that must notice them: not in the default run.

    uv run python tests/mutation/mutants.py              # all of them, half an hour and more
    uv run python tests/mutation/mutants.py Phi report   # those whose name contains one of the words

Every mutant replaces one piece of text, once, in a copy of the package; the tests named with it run until one fails. A
mutant that survives is a missing test; one whose text is no longer there is an error, so that the list follows the code.

Tally of 22 November 2026: of 78 mutants (19 that survived the first audit, 59 since) all die. Eight of the younger ones
lived at first (calibration error, smallest group, two of the checkpoint, votes of the others, names of groups, the test
of swap rates, claims on random answers) and have tests now; two that no test can tell from the code were taken out.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SECONDS = 900
"""A mutant whose tests take longer loops: it is killed."""


class Mutant(NamedTuple):
    """One bug: the module, its text before and after, and the tests that should fail."""

    name: str
    module: str
    was: str
    became: str
    tests: str


EXACT = "agreement/_exact/"
PL = "plausibility/plackett_luce/"
PL_TESTS = "plausibility/plackett_luce/"
MUTANTS = [
    # The survivors of the first audit.
    Mutant("Phi: second derivative of narrow intervals", EXACT + "likelihood.py", "width**2 / 24, 0)", "width**2 / 12, 0)", "agreement/test_likelihood.py"),
    Mutant("Phi: evidence without the width of the intervals", EXACT + "likelihood.py", "float(weight @ densities[:, 0]) * np.log(gap)", "0.0", "agreement/test_likelihood.py"),
    Mutant("Phi: mode of log p", EXACT + "posterior.py", "np.argmax(self.phi_density())", "np.argmax(self.log_density)", "agreement/test_posterior.py agreement/test_limits.py"),
    Mutant("Phi: item means without the weights of the nodes", EXACT + "hyper_grid.py", "log_prior = log_beta_shape(at, m, s) + log_weight\n", "log_prior = log_beta_shape(at, m, s)\n", "agreement/test_draws.py agreement/test_item_means.py"),
    Mutant("Dirichlet: chance of all unnamed labels", "plausibility/dirichlet/_kernels.py", "else n_unnamed * part", "else part", "plausibility/dirichlet/test_dirichlet.py"),
    Mutant("Dirichlet: bound of the unnamed labels", "plausibility/dirichlet/_kernels.py", "excess = (1.0 - a) * worth", "excess = 0.0", "plausibility/dirichlet/test_dirichlet.py"),
    Mutant("Dawid-Skene EM: prior of labels never given", "plausibility/dawid_skene/_em_kernels.py", "log_prior -= unseen[r] * math.log(total[r])", "pass", "plausibility/dawid_skene/test_em.py"),
    Mutant("Calibration error: bins unweighted", "plausibility/calibration/recalibration.py", "float(np.nansum(np.abs(per_bin[0] - per_bin[1]) * count) / truth.size)", "float(np.nanmean(np.abs(per_bin[0] - per_bin[1])))", "calibration/test_recalibration.py -m long"),
    Mutant("Certainty of sets: code overflows", "plausibility/certainty.py", "        if size > 2**62 // n_labels:", "        if size < 0:", "plausibility/test_certainty.py"),
    Mutant("Partial average overlap: best annotator", "metrics/partial_rankings.py", "_overlap(ours, theirs, normalise).mean()", "_overlap(ours, theirs, normalise).max()", "metrics/test_uncertainty_adjusted.py"),
    Mutant("AUC ceiling: pairs of an item with itself", "metrics/posterior_auc.py", "(total**2 - np.square(weight).sum(axis=1))", "total**2", "metrics/test_posterior_auc.py"),
    Mutant("Smallest group: intra-class term", "subjective/group_model.py", "(1 + (n - 1) * posterior", "(1 + n * posterior", "subjective/test_group_model.py"),
    Mutant("Bootstrap: test-set variance over n", "evaluation/_sums.py", "/ (n_items + 1)", "/ n_items", "evaluation/test_evaluate.py"),
    Mutant("Kept draws: a block too many is done", "_inference/storage.py", "self.store.done(items.start // BLOCK + 1)", "self.store.done(items.stop // BLOCK + 1)", "inference/test_kept_draws.py"),
    Mutant("Run: annotations are no part of its identity", "evaluation/_passes.py", '"annotations": annotations, "predictions": given}', '"predictions": given}', "evaluation/test_evaluate.py inference/"),
    Mutant("Report: ordinary score of the first model", "report/panel.py", 'own = scores.table.sel(metric=metric, model=best)', 'own = scores.table.sel(metric=metric).isel(model=0)', "report/test_panel.py"),
    Mutant("Report: worst and best group exchanged", "report/panel.py", '("model", "worst", "best")', '("model", "best", "worst")', "report/test_panel.py"),
    Mutant("Report: first by the plug-in metric", "report/panel.py", "np.argmax(sign * plug_in.values)", "np.argmin(sign * plug_in.values)", "report/test_panel.py"),
    Mutant("Report: open items at the last reliability", "report/panel.py", "int((data.certainty.isel(reliability=0) < OPEN).sum())", "int((data.certainty.isel(reliability=-1) < OPEN).sum())", "report/test_panel.py"),
    # Phi.
    Mutant("Phi: maximum likelihood of two camps stays at the grid", EXACT + "posterior.py", "        return -1.0\n", "        pass\n", "agreement/test_limits.py"),
    Mutant("Phi: joint mode without the truths", EXACT + "posterior.py", "return -0.5 * np.nan_to_num(away) ** 2", "return 0 * np.nan_to_num(away)", "agreement/test_limits.py"),
    Mutant("Phi: unanimous ends count as disagreement", "agreement/limits.py", "    if not inside.any():", "    if False:", "agreement/test_limits.py"),
    Mutant("Phi: one end only is seen", "agreement/limits.py", "for end in (0.0, 1.0))", "for end in (0.0, 0.0))", "agreement/test_limits.py"),
    Mutant("Phi: conflicting readings of the ends", "agreement/limits.py", "(found := squeezed()).lower > 0", "(found := squeezed()).lower > 1", "agreement/test_limits.py -m long"),
    Mutant("Phi: squeezed by the ratings of the item", EXACT + "likelihood.py", "n = counts.size.max()", "n = counts.size[row]", "agreement/test_limits.py"),
    Mutant("Phi: grid of levels off by one", "agreement/limits.py", "return steps + 1", "return steps", "agreement/test_limits.py"),
    Mutant("Phi: decision at the wrong end", "agreement/summary.py", '"disagreement" if upper < 0', '"disagreement" if lower < 0', "agreement/test_phi.py"),
    Mutant("Phi: difference the wrong way round", "agreement/summary.py", "_summary(a - b, ci_prob)", "_summary(b - a, ci_prob)", "agreement/test_phi.py"),
    # Rankings.
    Mutant("Plackett-Luce: absent labels compete", PL + "_stages.py", "frozenset(offered if cases.limited else everything)", "frozenset(everything)", PL_TESTS + "test_choice_sets.py"),
    Mutant("Plackett-Luce: equal rankings count once", PL + "_stages.py", "singles[one] += times", "singles[one] += 1", PL_TESTS + "test_plackett_luce.py"),
    Mutant("Plackett-Luce: what a tie leaves is not exposed", PL + "_gibbs_kernels.py", "rest.wait += finish", "pass", PL_TESTS + "test_choice_sets.py"),
    Mutant("Plackett-Luce: equal rankings of unequal offers are one", PL + "_cases.py", "tuple(np.searchsorted(named, choice[r]).tolist())", "tuple(np.searchsorted(named, choice[first]).tolist())", PL_TESTS + "test_choice_sets.py"),
    Mutant("Plackett-Luce: chance of all labels", PL + "likelihood.py", "everything if choice is None else choice[r]", "everything", PL_TESTS + "test_choice_sets.py"),
    Mutant("Lumped: order of unnamed labels by name", "draws/pseudo_label.py", "top_labels(theta, named, unnamed, self.shape, rng, top[k])", "top[k] = np.argsort(-self.split(values, items)[:, :, k].reshape(len(theta), -1), axis=1, kind='stable')[:, :depth]", "draws/test_unnamed_labels.py"),
    Mutant("Overlap of annotators: not normalised", "metrics/partial_rankings.py", "[_overlap(among[r], among[:r], normalise)", "[_overlap(among[r], among[:r], False)", "metrics/test_uncertainty_adjusted.py"),
    Mutant("Overlap: plain by default", "metrics/partial_rankings.py", "predictions: Predictions, *, k: int = 3, normalise: bool = True", "predictions: Predictions, *, k: int = 3, normalise: bool = False", "metrics/test_uncertainty_adjusted.py"),
    # Blind evaluation.
    Mutant("Blind: one gold set a draw", "blind/scores.py", "return PseudoGold(drawn, False, pseudo_gold.vote_shares(systems, leave_one_out=leave_one_out))", "return PseudoGold(drawn, True)", "blind/test_scores.py"),
    Mutant("Blind: own vote counts when left out", "blind/pseudo_gold.py", "        counts = counts - own\n", "        counts = counts - 0 * own\n", "blind/test_pseudo_gold.py"),
    Mutant("Blind: soft counts transposed", "blind/scores.py", "(given @ shares).swapaxes(1, 2)[None]", "(given @ shares)[None]", "blind/test_scores.py"),
    Mutant("Blind: a threshold for each metric", "blind/scores.py", 'return metric if calibrate_for == "each" else calibrate_for', "return metric", "blind/test_combiners.py"),
    Mutant("Blind: Williams counts systems without gold", "blind/judgement.py", " & np.isfinite(gold)\n", "\n", "blind/test_experiment.py"),
    Mutant("Copeland: the unscored take a place", "evaluation/paired_tests.py", "points = np.where(np.isnan(score), np.nan, beats.sum(axis=1) - beats.sum(axis=0))", "points = beats.sum(axis=1) - beats.sum(axis=0)", "evaluation/test_paired_tests.py"),
    # Groups of annotators.
    Mutant("Disagreement: ties of others count", "subjective/disagreement.py", "((others > mine) & (others > second))", "(others > mine)", "subjective/test_disagreement.py"),
    Mutant("Groups: names of three decimals", "annotations/groups.py", "for decimals in range(3, 18):", "for decimals in range(3, 4):", "annotations/test_groups.py"),
    Mutant("Specification: individual fairness unreported", "subjective/specification.py", 'if specification.fairness == "individual":', 'if specification.fairness != "individual":', "subjective/test_specification.py"),
    Mutant("Choice sets: what was not offered is accepted", "annotations/_choice_sets.py", "np.setdiff1d(named, self[r])", "np.setdiff1d(self[r], self[r])", PL_TESTS + "test_choice_sets.py"),
    # The studies of the papers, files and runs, and the younger rooms.
    Mutant('Random answers: claims at the upper end', 'studies/answers.py', '(summary[..., 1] > 0)', '(summary[..., 2] > 0)', 'studies/test_answers.py -m long'),
    Mutant('Sample size: the likelihood asked for is dropped', 'studies/sizes.py', ', "likelihood": likelihood', '', 'studies/test_answers.py'),
    Mutant('AUC study: items without labels count as negative', 'studies/auc_simulation.py', '(n_labels > 0) - share', '1 - share', 'studies/test_auc_simulation.py'),
    Mutant('AUC study: kept estimates shifted by one', 'studies/auc_simulation.py', 'values[..., 1:, :]', 'values[..., :-1, :]', 'studies/test_auc_simulation.py'),
    Mutant('Blind tables: swap rates enter the test as they are', 'blind/judgement.py', '[1 - 2 * v for v in r]', '[1 - v for v in r]', 'studies/test_blind_tables.py'),
    Mutant('Blind tables: many swaps are a good method', 'blind/judgement.py', 'good = 1 - value[:, m, r] if', 'good = value[:, m, r] if', 'studies/test_blind_tables.py'),
    Mutant('Blind tables: the second best is the worst', 'blind/judgement.py', 'order = np.argsort(-score', 'order = np.argsort(score', 'studies/test_blind_tables.py'),
    Mutant("Blind tables: every triangle test is Williams'", 'blind/judgement.py', 'x.size, correction=correction)', 'x.size)', 'studies/test_blind_tables.py'),
    Mutant('Blind tables: sd of the population', 'studies/blind_tables.py', '"sd": pairs.std(ddof=1)', '"sd": pairs.std()', 'studies/test_blind_tables.py'),
    Mutant('Vote quality: one threshold for all', 'studies/blind_tables.py', 'majority(systems, threshold=threshold', 'majority(systems, threshold=0.5', 'studies/test_blind_tables.py'),
    Mutant('Set-ups: four levels pass for five', 'studies/crowd.py', 'ratings.step) != 4', 'ratings.step) not in (2, 4)', 'studies/test_crowd.py'),
    Mutant('Set-ups: area under the curve off by the ranks', 'studies/crowd.py', 'n * (n + 1) / 2', 'n * (n - 1) / 2', 'studies/test_crowd.py'),
    Mutant('Spammers: the wrong ones stay', 'studies/crowd.py', 'labels.select(~np.isin(', 'labels.select(np.isin(', 'studies/test_crowd.py'),
    Mutant('Accuracy of annotators over all labels', 'studies/crowd.py', 'np.bincount(labels.annotator_index[known],', 'np.bincount(labels.annotator_index,', 'studies/test_crowd.py'),
    Mutant('Certainty by reliability: always one', 'studies/certainty.py', '"reliability": weight,', '"reliability": 1,', 'studies/test_certainty.py -m long'),
    Mutant('Certainty of gold: items without gold count', 'studies/certainty.py', 'np.where(truth >= 0, picked, np.nan)', 'picked', 'studies/test_certainty.py -m long'),
    Mutant('Sets of two sizes: the first label alone', 'metrics/uncertainty_adjusted.py', 'wanted = block.top_label[..., :k]', 'wanted = block.top_label[..., :1]', 'studies/test_certainty.py -m long'),
    Mutant('Toy classes: labels the wrong way round', 'studies/toy.py', '> cut)', '< cut)', 'studies/test_certainty.py -m long'),
    Mutant('CIFAR-10H: votes for probabilities', 'datasets/_conversion.py', 'table[:, 11:]', 'table[:, 1:11]', 'datasets/test_datasets.py -k cifar10h_is_joined'),
    Mutant('CIFAR-10H: any numbers pass', 'datasets/_conversion.py', '!= CHECKSUMS[name]:', '== "":', 'datasets/test_datasets.py -k parts'),
    Mutant('Dermatology models: names exchanged', 'datasets/_readers.py', 'enumerate("ABCD")', 'enumerate("BACD")', 'datasets/test_datasets.py -k models_of'),
    Mutant('Predictions: scores read as hard labels', 'io/files.py', 'score if scored else None', 'None', 'io/test_files.py'),
    Mutant("Checkpoint: any state is this run's", '_inference/checkpoint.py', 'if found == self.identity:', 'if found:', 'inference/test_kept_draws.py'),
    Mutant('Checkpoint: the last state is not written', '_inference/checkpoint.py', 'if not (self.due or now):', 'if not self.due:', 'inference/test_kept_draws.py'),
    Mutant('Entropy: digamma without its one', 'plausibility/certainty.py', 'sp.special.digamma(total + 1)', 'sp.special.digamma(total)', 'plausibility/test_certainty.py'),
    Mutant('Plan: variance within items', 'planning/closed_forms.py', '/ (n - 1).sum())', '/ n.sum())', 'planning/test_closed_forms.py'),
    Mutant('Plan: Spearman-Brown upside down', 'planning/closed_forms.py', 'target * (1 - reliability) / (reliability * (1 - target))', 'reliability * (1 - target) / (target * (1 - reliability))', 'planning/test_closed_forms.py'),
    Mutant('Plan: Bonett without the last item', 'planning/closed_forms.py', '(k * (k - 1) * width**2) + 1', '(k * (k - 1) * width**2)', 'planning/test_closed_forms.py'),
    Mutant('Corrected rate: shift to the other side', 'judges/estimators.py', '(-(1 - centre) * of_q0 + centre * of_q1)', '((1 - centre) * of_q0 - centre * of_q1)', 'judges/test_estimators.py'),
    Mutant('Prediction-powered mean: sum of the means', 'judges/estimators.py', '(others.mean() - f.mean())', '(others.mean() + f.mean())', 'judges/test_estimators.py'),
    Mutant('Prediction sets: unseen labels by the wrong side', 'conformal/calibration.py', 'side="right")]', 'side="left")]', 'conformal/'),
    Mutant('Brier of votes: biased', 'metrics/votes_alone.py', 'size - 1, out=', 'size, out=', 'metrics/test_posterior_scores.py metrics/test_distribution_metrics.py'),
]  # fmt: skip


def killed(mutant: Mutant) -> bool:
    """Run the tests of one mutant in a copy of the package."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("bayesagree", "studies"):
            shutil.copytree(ROOT / name, copy / name)
        for name in ("tests", "models", "docs", "notebooks", "pyproject.toml", "README.md"):
            (copy / name).symlink_to(ROOT / name)
        module = copy / ("" if mutant.module.startswith("studies/") else "bayesagree") / mutant.module
        text = module.read_text()
        if text.count(mutant.was) != 1:
            raise SystemExit(f"{mutant.name}: {text.count(mutant.was)} places in {mutant.module} read {mutant.was!r}")
        module.write_text(text.replace(mutant.was, mutant.became))
        if "numba" in text:
            # Kernels of other files that call a changed one keep their caches: all are compiled anew.
            for cached in (copy / "bayesagree").rglob("*.nb?"):
                cached.unlink()
        words = mutant.tests.split()
        paths = [f"tests/{word}" if "/" in word or word.endswith(".py") else word for word in words]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *paths]
        try:
            done = subprocess.run(
                command, cwd=copy, env=os.environ | {"PYTHONPATH": folder}, capture_output=True, text=True,
                timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return True
        if done.returncode not in (0, 1):
            raise SystemExit(f"{mutant.name}: pytest did not run\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.returncode == 1


def main() -> None:
    """Print the fate of every mutant, and the share that died."""
    words = [word.lower() for word in sys.argv[1:]]
    chosen = [m for m in MUTANTS if not words or any(word in m.name.lower() for word in words)]
    dead = 0
    for mutant in chosen:
        died = killed(mutant)
        dead += died
        print(f"{'killed  ' if died else 'SURVIVED'}  {mutant.name}", flush=True)
    print(f"{dead} of {len(chosen)} died")


if __name__ == "__main__":
    main()
