from .comparisons import comparison_report
from .data import report_data
from .page import write_report
from .settings import ReportSettings

__all__ = [
    "ReportSettings",
    "comparison_report",
    "report_data",
    "write_report",
]
