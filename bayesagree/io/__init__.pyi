from .exports import Export, read_annotations, read_export
from .files import atomic_path, read_predictions, read_result, write_result
from .outputs import summary_table, write_items, write_table
from .tables import read_table

__all__ = [
    "Export",
    "atomic_path",
    "read_annotations",
    "read_export",
    "read_predictions",
    "read_result",
    "read_table",
    "summary_table",
    "write_items",
    "write_result",
    "write_table",
]
