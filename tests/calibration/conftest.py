"""Fixture `calibration`; a run of long tests of this folder ends with the page of what they found."""

import json
from pathlib import Path

import pytest
from calibration._record import PROPERTY, Recorder, merge, write_page

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "benchmarks" / "results"


@pytest.fixture
def calibration(record_property) -> Recorder:
    """Give the recorder of this test."""
    return Recorder(record_property)


class Page:
    """Gathers the records of long tests from all workers."""

    def __init__(self) -> None:
        self.records: list[tuple[str, dict]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and "slow" in report.keywords:
            found = [json.loads(str(value)) for name, value in report.user_properties if name == PROPERTY]
            self.records += [(report.nodeid, record) for record in found]

    def pytest_sessionfinish(self) -> None:
        if self.records:
            write_page(RESULTS, merge(RESULTS / "calibration.json", self.records))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder: the short runs are small simulation studies themselves."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.long)


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that sees all reports writes the page."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Page())
