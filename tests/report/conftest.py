"""What the tests of the report share: one small evaluation, and a real browser."""

import os
import shutil
from importlib.util import find_spec

import pytest

from bayesagree import Predictions
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.report.data import report_data

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HAS_BROWSER = any(map(shutil.which, BROWSERS)) and find_spec("playwright") is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what needs a browser where there is none; continuous integration must have one."""
    if not HAS_BROWSER and not os.environ.get("CI"):
        away = [item for item in items if "browser" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=away)
        items[:] = [item for item in items if item not in set(away)]


def pytest_report_header() -> str | None:
    return None if HAS_BROWSER else "no Chromium or no playwright: tests of the report in a browser are deselected"


@pytest.fixture(scope="session")
def test_set():
    return labelled_test_set(n_items=60, random_seed=1)


@pytest.fixture(scope="session")
def data(test_set):
    return report_data(test_set.labels, test_set.predictions, plausibility="dirichlet", draws=200)


@pytest.fixture(scope="session")
def informed(test_set):
    """Votes on most items, models in an order that is not that of their scores, and their report."""
    given = test_set.predictions
    said = dict(zip(given.models.tolist(), given.categories[given.hard_labels()].tolist()))
    names = {"items": given.items.tolist(), "labels": given.categories.tolist()}
    models = Predictions.from_labels({model: said[model] for model in "BAC"}, **names)
    votes = test_set.labels.select(test_set.labels.item_index < 50)
    return votes, models, report_data(votes, models, draws=20, chains=2)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()
