from .data import report_data
from .page import render, write_report
from .settings import Settings

__all__ = [
    "Settings",
    "render",
    "report_data",
    "write_report",
]
