"""From and to files: annotations, predictions, results."""

from bayesagree.io.files import atomic_path, read_annotations, read_predictions, read_result, write_result
from bayesagree.io.tables import read_table

__all__ = ["atomic_path", "read_annotations", "read_predictions", "read_result", "read_table", "write_result"]
