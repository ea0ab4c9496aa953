"""Scores of models with intervals, and comparisons of models.

- `scoring`: uncertainty-adjusted scores of every model, annotations streamed through a posterior in blocks.
- `comparison`: a table of models, best first; probabilities that one is better; practical equivalence.
- `gold`: items whose label is known, and whether gold contradicts the annotators.
- `gates`: a claim that must hold, for continuous integration.
- `tables`: scores and comparisons in the arrangement of the command line, the report and the figures.
- `_batches`: the mean over batches of items; `_results`: sums under each truth, and the groups of the result;
  `_truths`: groups of several truths beside each other.
"""
