"""The page of coverage: a row for every public function with an interval, and only figures of the pages it links to."""

import inspect
import re
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import pytest
from _paths import ROOT
from test_api import public_functions

from bayesagree._numerics import intervals

PAGE = (ROOT / "docs" / "coverage.md").read_text()
RETURNS = re.compile(r"Returns\n-+\n(.*?)(?=\n\n?[A-Z]\w+\n---|\Z)", re.DOTALL)
WORDS = re.compile(r"\b(lower|upper|intervals?|hdi)\b")
MAKE_INTERVALS = {intervals.eti, intervals.hdi, intervals.column_hdi, intervals.beta_hdi}
ROWS = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| ")]
ROWS = [row for row in ROWS if not row[0].startswith((" ---", " function"))]


def code_objects(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_objects(constant)


def called(function: Callable[..., Any], seen: set[Any]) -> set[Any]:
    """Return the functions of the package that a function names, and those that they name."""
    function = inspect.unwrap(function)
    if function not in seen and function.__module__.startswith("bayesagree"):
        seen.add(function)
        for code in code_objects(function.__code__):
            for name in code.co_names:
                if inspect.isfunction(used := function.__globals__.get(name)):
                    called(used, seen)
    return seen


def has_interval(function: Callable[..., Any]) -> bool:
    """Say whether a function takes a probability, documents an interval, computes one, or returns draws."""
    signature = inspect.signature(function)
    documented = RETURNS.search(inspect.getdoc(function) or "")
    return (
        "ci_prob" in signature.parameters
        or "DataTree" in str(signature.return_annotation)
        or (documented is not None and WORDS.search(documented[1]) is not None)
        or bool(called(function, set()) & MAKE_INTERVALS)
    )


FOUND = sorted({function.__name__ for function in public_functions().values() if has_interval(function)})


def test_the_rule_finds_intervals_of_every_kind() -> None:
    """By its argument, its docstring, its draws, and what it calls."""
    assert {"agreement_table", "identified_accuracy", "dirichlet", "assert_better"} <= set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_every_interval_has_a_row(name: str) -> None:
    without = PAGE[PAGE.index("## No interval of their own") :]
    assert f"`{name}`" in without or any(re.search(rf"`{name}[` ]", row[0]) for row in ROWS)


def numbers(text: str) -> list[str]:
    """Return the decimal numbers of a text without leading zeros."""
    return [number.lstrip("0") for number in re.findall(r"(?<![\w.])\d*\.\d+", text)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0].strip()} {row[1].strip()}"[:60])
def test_every_figure_is_on_its_page(row: list[str]) -> None:
    page = re.search(r"\(generated/benchmarks/(\w+)\.md\)", row[4])
    assert page is not None
    known = set(numbers((ROOT / "benchmarks" / "results" / f"{page[1]}.md").read_text()))
    assert [number for number in numbers(row[2] + row[3]) if number not in known] == []
