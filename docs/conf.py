"""Configuration of the documentation; README.md in this folder says how to build it."""

import inspect
import os
import shutil
import sys
import tempfile
from importlib.metadata import version as installed_version
from pathlib import Path

import typer
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from typer.cli import get_docs_for_click

import bayesagree
from bayesagree.cli import COMMANDS, _output
from bayesagree.cli._commands import load
from bayesagree.metrics.registry import METRICS

sys.path.insert(0, str(Path(__file__).parent))
import format_pages
import metric_pages
import paper_page

HERE = Path(__file__).parent
ROOT = HERE.parent
GENERATED = HERE / "generated"
PROSE = nodes.paragraph | nodes.emphasis | nodes.strong

project = "bayesagree"
author = "The bayesagree developers"
version = release = installed_version("bayesagree")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_nb"]
templates_path = ["_templates"]
exclude_patterns = ["README.md", "_build", "pymc-example"]

# Roles that point nowhere are warnings; text in single backticks of docstrings is a link only where it can be one.
nitpicky = True
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*")]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# Pages execute; notebooks take minutes and are shown as they are stored.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_in_temp = True
nb_execution_timeout = 600
suppress_warnings = ["myst-nb.lexer"]  # unexecuted pages name no lexer
nb_execution_excludepatterns = ["generated/notebooks/*"]
nb_merge_streams = True

# Kernels are plain ones: nobody's settings.
os.environ["IPYTHONDIR"] = tempfile.mkdtemp()

html_theme = "pydata_sphinx_theme"
html_title = "bayesagree"
html_theme_options = {
    "show_prev_next": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {
    page: []  # pages of a section alone have something to list
    for page in (
        "index",
        "start",
        "choose",
        "audits",
        "gallery",
        "trees",
        "generated/commands",
        "results",
        "other-packages",
        "generated/papers",
        "generated/studies",
        "models",
        "benchmarks",
        "tested",
        "coverage",
    )
}
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"


def copy_pages(app):
    """Copy what is kept elsewhere in the repository: notebooks, measured results, the plain models, studies."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    for folder in ("notebooks", "benchmarks", "models"):
        (GENERATED / folder).mkdir(parents=True)
    for file in ROOT.glob("notebooks/*.ipynb"):
        shutil.copy2(file, GENERATED / "notebooks")
    for suffix in ("md", "png"):
        for file in ROOT.glob(f"benchmarks/results/*.{suffix}"):
            shutil.copy2(file, GENERATED / "benchmarks")
    shutil.copy2(ROOT / "studies" / "README.md", GENERATED / "studies.md")
    for file in ROOT.glob("models/[!_]*.py"):
        (GENERATED / "models" / f"{file.stem}.md").write_text(
            f"# {file.stem}\n\n```python\n{file.read_text()}```\n"
        )


def write_metrics(app):
    """Write one page per metric, from the registry."""
    folder = GENERATED / "metrics"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text(metric_pages.index())
    for record in METRICS.values():
        (folder / f"{metric_pages.file_name(record)}.md").write_text(metric_pages.page(record))


def write_formats(app):
    """Write one page per format of files, from its reader."""
    folder = GENERATED / "formats"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text(format_pages.index())
    for name in format_pages.names():
        (folder / f"{name}.md").write_text(format_pages.page(name))


def write_papers(app):
    """Write the page on the papers, from its record."""
    (GENERATED / "papers.md").write_text(paper_page.page())


def write_commands(app):
    """Write the help of every command, and the rule of `--json`, as one page."""
    texts = ["# Commands\n"]
    for name in COMMANDS:
        command = load(name)
        context = typer.Context(command, info_name=name)
        texts.append(
            get_docs_for_click(obj=command, ctx=context, name=name, indent=1, call_prefix="bayesagree")
        )
    texts.append(f"## JSON documents\n\n{inspect.getdoc(_output)}\n")
    (GENERATED / "commands.md").write_text("\n".join(texts))


def link_public_names(app, doctree):
    """Turn every public name in backticks, with or without the name of the package, into a link to its reference."""
    if app.env.current_document.docname == "generated/commands":
        return  # there `compare` is a command
    for literal in [node for node in doctree.findall(nodes.literal) if isinstance(node.parent, PROSE)]:
        name = literal.astext().removeprefix("bayesagree.").removeprefix("ba.")
        if name.partition(".")[0] in bayesagree.__all__ or name != literal.astext():
            link = addnodes.pending_xref(
                "",
                literal.deepcopy(),
                refdomain="py",
                reftype="obj",
                reftarget=f"bayesagree.{name}",
                refexplicit=True,
            )
            literal.replace_self(link)


def write_math(self, node):
    """Write a formula as MathML, which browsers show without a script from a network."""
    self.body.append(tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block)))
    raise nodes.SkipNode


def setup(app):
    """Register the steps above; pages are copied before the summaries of the reference are generated."""
    app.connect("builder-inited", copy_pages, priority=100)
    app.connect("builder-inited", write_commands, priority=101)
    app.connect("builder-inited", write_metrics, priority=101)
    app.connect("builder-inited", write_formats, priority=101)
    app.connect("builder-inited", write_papers, priority=101)
    app.connect("doctree-read", link_public_names)
    app.add_html_math_renderer("mathml", (write_math, None), (write_math, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
