from .exports import Export, read_export
from .outputs import summary_table, write_items
from .tables import read_table

__all__ = ["Export", "read_export", "read_table", "summary_table", "write_items"]
