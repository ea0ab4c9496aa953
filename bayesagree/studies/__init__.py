"""Studies of the papers, run again. Nothing else imports them, and their interface may change in any release.

- `answers_at_random`: how often random answers are called agreement (Checco et al.).
- `sample_size`: agreement on random shares of a data set (Checco et al.).
- `paradoxes`: limitations of agreement coefficients (Checco et al.).
- `auc_simulation`, `auc_claims`: the simulation study of AUC without gold, and its published findings (Urkullu et al.).
- `ranking_models`, `ranking_tables`: models under two aggregations of rankings, results as tables (Stutz et al.).
- `reliability_views`: certainty of labels and ratings across reliabilities (Stutz et al.).
- `blind_methods`, `blind_judgement`: every blind method against gold (Jung and Lease); `blind_tables` are the paper's
  tables, `blind_cases` and `blind_files` its data.
- `crowd_quality_setups`: CrowdTruth on four readings of one scale, its validation, spammers (Balayn and Bozzon).
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
