"""Blind evaluation: scores of classifiers without expert labels (Jung and Lease).

- `scores`: scores against pseudo-gold, and their posterior.
- `pseudo_gold`: label sets that stand in for the missing gold, from the systems alone.
- `combiners`: pseudo-gold that crowd labels supervise.
- `experiment`: every method on the same systems and, with gold, how well each replaces it (`judgement`).
- `paired_tests`: paired tests with corrections for multiplicity; Copeland ranks.
- `rank_correlation`: correlations of two scorings and tests of dependent correlations.
- `cases`: systems, crowd and gold from files, and public cases.
- `independence`: a check of the assumption that systems err independently, and the overlap of their positive items.
- `_difficulty`: truths behind systems that err on the same items.
- `systems`: labels of systems and crowd as codes.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
