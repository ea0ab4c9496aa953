from .data import report_data
from .page import render, write_report
from .settings import ReportSettings, Settings

__all__ = [
    "ReportSettings",
    "Settings",
    "render",
    "report_data",
    "write_report",
]
