from .data import report_data
from .page import write_report

__all__ = [
    "report_data",
    "write_report",
]
