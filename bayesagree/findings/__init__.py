"""What is wrong with a test set, ranked: `audit`.

- `case`: what the checks look at, and what one of them says.
- `of_annotations`, `of_models`: the checks, one function each.
- `table`: all of them, corrected together; `sentences`: what they say.
"""
