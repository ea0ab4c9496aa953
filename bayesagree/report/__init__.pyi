from .data import report_data
from .page import render, write_report
from .settings import ReportSettings

__all__ = [
    "ReportSettings",
    "render",
    "report_data",
    "write_report",
]
