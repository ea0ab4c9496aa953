"""Readers of the files that annotation and evaluation tools write.

- `registry`: every format by name, and how a file says which it is.
- `_found`: answers as a reader finds them, and the containers made of them; `_file`: the parts of a file.
- `label_studio`, `argilla`, `prodigy`, `doccano`: annotation tools; `preflib`: votes of elections.
- `pairwise`: comparisons of two models: battles of an arena, MT-Bench, AlpacaEval, tables.
- `inspect_log`, `lm_eval`, `promptfoo`, `phoenix`, `experiments`: logs of evaluations.
- `_guess`: which column of a table is which.
- `spreadsheet`: long, wide, counts and list layouts of tables.
"""
