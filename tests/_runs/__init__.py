"""Runs whose numbers are kept, for `tests/test_same_numbers.py`: one module for each sub-package."""
