"""Other programs that show results of this package. Each module needs the program that it is named after (an extra).

- `inspect`: metrics for Inspect AI, and a report beside each log.
- `mlflow`: assessments of traces as annotations, and results as metrics of a run.
"""
