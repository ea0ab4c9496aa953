"""What the tests of the studies share."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from studies._command import run

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the studies of the papers to CI: `uv run pytest` is about the package."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.long)


@pytest.fixture
def run_study(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple]:
    """Run a study as `python -m studies.<name>` does; returns exit code, answer and errors."""

    def command(name: str, *words: object) -> tuple:
        monkeypatch.setattr("sys.argv", [name, *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            run(import_module(f"studies.{name}").main)
        return stop.value.code or 0, *capsys.readouterr()

    return command
