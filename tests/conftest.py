"""What all tests share: the folder of public data sets, and Hypothesis without deadlines (machines differ)."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("bayesagree", deadline=None)
settings.load_profile("bayesagree")

WITHOUT_DATA = "BAYESAGREE_DATA is not set: the tests on public data sets (fixture public_data) are deselected"


@pytest.fixture(scope="session")
def public_data() -> Path:
    """Give the folder of the public data sets; tests that ask for it run only where BAYESAGREE_DATA names one."""
    return Path(os.environ["BAYESAGREE_DATA"])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not os.environ.get("BAYESAGREE_DATA"):
        away = [item for item in items if "public_data" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=away)
        items[:] = [item for item in items if item not in set(away)]


def pytest_report_header() -> str | None:
    return None if os.environ.get("BAYESAGREE_DATA") else WITHOUT_DATA
