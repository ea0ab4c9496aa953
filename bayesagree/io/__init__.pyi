from .exports import Export, read_export
from .outputs import write_items, write_table
from .tables import read_table

__all__ = ["write_table", "Export", "read_export", "read_table", "write_items"]
