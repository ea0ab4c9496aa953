"""The documentation without Sphinx: its examples and commands run, its links and names exist."""

import importlib
import json
import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest

import bayesagree
from bayesagree.cli import main
from bayesagree.cli._commands import load
from bayesagree.metrics.registry import METRICS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
README = ROOT / "README.md"
TOP = [README, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "models" / "README.md"]
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"generated", "_build"} & set(page.relative_to(DOCS).parts))
BLOCK = re.compile(r"^```(\S[^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page, *kinds):
    return [text for kind, text in BLOCK.findall(page.read_text()) if kind in kinds]


def prose(page):
    return BLOCK.sub("", page.read_text())


def named(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


def commands(page):
    lines = "".join(blocks(page, "console")).replace("\\\n", "").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("bayesagree ")]


@named([page for page in PAGES if blocks(page, "{code-cell} python", "python")])
@pytest.mark.docs
def test_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for code in blocks(page, "{code-cell} python", "python"):
        exec(compile(code, page.name, "exec"), names)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")  # as a kernel does after each cell


@pytest.mark.slow
def test_the_example_for_the_gallery_of_pymc_gives_the_published_prevalence(monkeypatch):
    """The posterior means that the package rater publishes for the same data and prior."""
    import arviz as az
    import pymc as pm

    names, sample = {}, pm.sample
    monkeypatch.setattr(pm, "sample", lambda **given: sample(progressbar=False, cores=1, chains=2, **given))
    for code in blocks(DOCS / "pymc-example" / "annotators.md", "{code-cell} ipython3"):
        if not code.startswith("%"):
            exec(code, names)
    golden = json.loads((ROOT / "tests/golden/dawid_skene.json").read_text())["anesthesia_posterior"]
    found = az.summary(names["trace"], var_names=["prevalence"], round_to="none")
    error = golden["tolerance"] + 4 * found["mcse_mean"].to_numpy(float)
    assert (abs(found["mean"].to_numpy(float) - golden["prevalence"]) < error).all()


@pytest.mark.docs
def test_commands_of_the_first_page_run_on_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOCS / "start.md"
    exec("\n".join(blocks(page, "{code-cell} python")[:2]), {})
    for words in commands(page):
        monkeypatch.setattr(sys, "argv", ["bayesagree", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code, words
    assert (tmp_path / "report.html").stat().st_size > 10_000


@named([page for page in [README, *PAGES] if commands(page)])
def test_commands_have_their_options(page):
    for words in commands(page):
        command = load(words.pop(0))
        known = {name for parameter in command.params for name in parameter.opts}
        assert {word for word in words if re.match("--?[a-z]", word)} <= known, words


sys.path.insert(0, str(DOCS))
metric_pages = importlib.import_module("metric_pages")
format_pages = importlib.import_module("format_pages")


@pytest.mark.docs
@pytest.mark.parametrize("name", format_pages.names())
def test_the_page_of_a_format_has_an_example_that_runs_and_makes_a_report(name, monkeypatch):
    page, names = format_pages.page(name), {}
    for kind, code in BLOCK.findall(page):
        if kind == "{code-cell} python":
            exec(compile(code, name, "exec"), names)
    assert names["export"].format == name
    # The file makes a report by one command, all but what holds outputs of models alone.
    reported = re.search("^bayesagree report .*", page, re.MULTILINE)
    assert (reported is None) == (name == "lm_eval")
    if reported is not None:
        path = names["path"]
        words = [str(path) if word == path.name else word for word in reported[0].split()[1:]]
        options = ["--draws", "50", "--output", str(path.with_suffix(".html"))]
        monkeypatch.setattr(sys, "argv", ["bayesagree", *words, *options])
        with pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code
        assert path.with_suffix(".html").stat().st_size > 10_000


@pytest.mark.docs
@pytest.mark.parametrize("pattern", METRICS)
def test_the_page_of_a_metric_has_an_example_that_runs(pattern):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = metric_pages.page(METRICS[pattern])  # which runs its example
    assert "{k}" not in page
    code, shown = (text for _, text in BLOCK.findall(page))
    assert "ba.score(" in code
    assert {"good", "poor"} <= set(shown.split())


def test_every_metric_has_its_own_page():
    names = [metric_pages.file_name(record) for record in METRICS.values()]
    assert len(set(names)) == len(names)
    assert all(f"({name}.md)" in metric_pages.index() for name in names)


def source_of(file):
    """Return the file that the build makes this one from, or the file itself."""
    root, folder = ROOT, file.parent.name
    sources = {
        "metrics": root / "docs" / "metric_pages.py",
        "formats": root / "docs" / "format_pages.py",
        "generated": root / ("studies/README.md" if file.stem == "studies" else "bayesagree/cli/__init__.py"),
        "models": root / "models" / f"{file.stem}.py",
        "notebooks": root / "notebooks" / file.name,
        "benchmarks": root / "benchmarks" / "results" / file.name,
    }
    return sources[folder] if file.is_relative_to(DOCS / "generated") else file


@named([*TOP, *PAGES])
def test_links_resolve(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = source_of((page.parent / path).resolve()) if path else page
        assert file.is_file(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", file.read_text()), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, target


def exists(dotted):
    """Say whether a dotted name can be imported, as a module or an attribute of one."""
    parts = dotted.split(".")
    if parts[1:2] == ["integrations"]:  # an import of which loads the tool that it works with
        file = ROOT.joinpath(*parts[:3]).with_suffix(".py")
        return not parts[2:] or (file.is_file() and all(f" {name}" in file.read_text() for name in parts[3:]))
    for n in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("bayesagree"):
                return True  # the module is there, a tool that it works with is not installed
            continue
        for part in parts[n:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


@named([*TOP, *PAGES, DOCS / "api.rst"])
def test_names_exist(page):
    text = page.read_text()
    dotted = re.findall(r"\bbayesagree(?:\.[A-Za-z_]\w*)+", text)
    dotted += ["bayesagree." + name for name in re.findall(r"\bba\.([A-Za-z_][\w.]*\w)", text)]
    assert set(re.findall(r"\bba\.(\w+)", text)) <= set(dir(bayesagree))
    if page.suffix == ".rst":
        dotted += ["bayesagree." + name for name in re.findall(r"^   ([A-Za-z_][\w.]*)$", text, re.MULTILINE)]
    assert [name for name in dotted if not exists(name)] == []


def listed():
    return re.findall(r"^   ([A-Za-z_][\w.]*)$", (DOCS / "api.rst").read_text(), re.MULTILINE)


def test_every_public_name_is_in_the_reference():
    assert sorted(name for name in listed() if "." not in name) == sorted(bayesagree.__all__)


def test_continuous_integration_runs_the_first_commands_of_the_readme():
    box = blocks(README, "console")[0].splitlines()
    first = [line.partition("#")[0].strip().removeprefix("pip install uv && ") for line in box]
    assert first == ["uv run bayesagree demo", "uv run pytest"]
    assert {f"run {command}" for command in first} <= set((ROOT / ".ci" / "run").read_text().splitlines())


@named(TOP)
def test_files_that_are_named_exist(page):
    folders = "bayesagree|benchmarks|docs|models|notebooks|studies|tests"
    files = re.findall(rf"`((?:{folders})/[\w./]+)`", page.read_text())
    assert [file for file in files if not (ROOT / file).exists()] == []


@pytest.mark.docs
def test_the_code_of_the_readme_prints_its_table(capsys):
    exec(blocks(README, "python")[0], {})
    assert capsys.readouterr().out.strip() == blocks(README, "text")[0].strip()


def test_the_decision_tree_is_as_its_script_draws_it_and_names_functions():
    decision_tree = importlib.import_module("decision_tree")
    assert decision_tree.TARGET.read_text() == decision_tree.picture()
    shown = ", ".join(text for _, text, style in decision_tree.rows(decision_tree.TREE) if style == "name")
    assert set(re.findall(r"\w+", re.sub(r"\(.*?\)", "", shown))) <= set(bayesagree.__all__)
