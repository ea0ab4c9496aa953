"""Where the repository stands: golden values, reference posteriors and documentation are read from there."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
