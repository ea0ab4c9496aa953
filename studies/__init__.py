"""The studies of the five papers, run again: `python -m studies.<name>` at the root of the repository.

README.md lists their commands. They are no part of the package, and nothing of the package imports them.

- `paradoxes`: limitations of agreement coefficients (Checco et al.).
- `answers`: how often random answers are called agreement (Checco et al.).
- `sizes`: agreement on random shares of a data set (Checco et al.).
- `clusters`: mixtures over Phi (Checco et al.).
- `toy`: three classes on a line and the certainty of their labels (Stutz et al.).
- `certainty`: certainty of labels and ratings by reliability (Stutz et al.).
- `rankings`: a whole evaluation against rankings under two aggregation models (Stutz et al.); `plackett_luce_ml`: the
  maximum-likelihood estimate.
- `top_k`, `partial_rankings`: metrics of the paper that no command asks for (Stutz et al.).
- `auc`: how well crowd labels rank models (Urkullu et al.); `auc_simulation` simulates,
  `binary_crowds` draws its problems, `auc_claims` checks
  the published findings, `auc_figures` draws, `auc_report` prints all tables.
- `blind`: every blind method against gold (Jung and Lease); `blind_experiment` judges the methods, `blind_cases` has
  systems, crowd and gold, `blind_tables` the tables of the paper, `blind_figures` its figures; `paired_tests` and
  `rank_correlation` are its statistics; `systems` simulates systems.
- `crowd`: CrowdTruth on four readings of one scale, its validation, spammers (Balayn and Bozzon).
- `groups`: the spread of performance over groups against chance (Balayn and Bozzon).
- `rates`: rivals of corrected rates in closed form, for the benchmarks of judges.
- `_command`: options, figures and exit codes of all of them.
"""
