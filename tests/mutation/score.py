# ruff: noqa: T201
"""Mutants drawn at random from the syntax tree of the package, and the share that the default tests kill, by room.

    python -m pytest -n 0 -p tests.mutation.reached --reached map.json tests      # which test runs which line
    python tests/mutation/score.py map.json --seed 7 --each 5                   # of all rooms
    python tests/mutation/score.py map.json --seed 7 --each 20 --room judges --out kept.jsonl

Each mutant is written into a copy of the tree; the tests that run the mutated statement follow one another until one
fails: runs whose numbers are kept, then those of the mirrored folder, quick ones before slow ones, for a total of
`--limit` seconds of their usual time each. What kills a mutant is run on the unchanged copy too, once for each test: a
test that fails there is left out, and the others decide. A mutant that loops (30 s of processor time and three times
the usual) is killed. Kernels that a mutant changes, and those of other files that call them, are compiled anew. With
`--out`, fates are appended to a file, and what stands there is not run again.
"""

import argparse
import ast
import gc
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from operators import Site, sites_of  # noqa: E402

LEFT_OUT = ("plots/", "datasets/", "simulate/", "integrations/", "__init__.py", "errors.py")
"""Not part of the draw: figures, downloads, simulators of demonstrations, adapters."""
DEFAULTS = "tests/test_defaults.py::test_defaults_are_those_that_are_stated"
"""Reads signatures and fields without running them."""
SAME = "tests/test_same_numbers.py"
"""Its runs come first, within a limit of their own: there are many, and all are quick."""
TOGETHER = 20
"""So many mutants are drawn before the tests that killed them are run on the unchanged copy."""
KERNEL_SECONDS = 90
"""Added where kernels are compiled anew."""


class Tree:
    """The package as it stands: its sites, its kernels, where a name is used, which tests run a line."""

    def __init__(self, root: Path, maps: list[str]):
        self.root = root
        self.files = sorted(str(p.relative_to(root)) for p in (root / "bayesagree").rglob("*.py"))
        self.text = {file: (root / file).read_text() for file in self.files}
        self.tree = {file: ast.parse(text) for file, text in self.text.items()}
        self.seconds: dict[str, float] = {}
        self.tests: dict[tuple[str, int], list[str]] = defaultdict(list)
        self.of_file: dict[str, set[str]] = defaultdict(set)
        self.imported: set[tuple[str, int]] = set()
        self.test_files = {str(p.relative_to(root)): p.read_text() for p in (root / "tests").rglob("test_*.py")}
        for name in maps:
            for test, of in json.loads(Path(name).read_text()).items():
                if test == "imports":
                    self.imported |= {
                        ("bayesagree/" + file, line) for file, lines in of["lines"].items() for line in lines
                    }
                    continue
                self.seconds[test] = of["seconds"]
                for file, lines in of["lines"].items():
                    self.of_file["bayesagree/" + file].add(test)
                    for line in lines:
                        self.tests["bayesagree/" + file, line].append(test)

    @staticmethod
    def room(file: str) -> str:
        """Give the folder of a file; modules beside the folders are a room of their own."""
        parts = Path(file).parts
        return parts[1].lstrip("_") if len(parts) > 2 else "top"

    def sites(self) -> dict[str, list[Site]]:
        """Give all sites by room."""
        rooms = defaultdict(list)
        for file in self.files:
            if not file.removeprefix("bayesagree/").startswith(LEFT_OUT) and not file.endswith("__init__.py"):
                rooms[self.room(file)].extend(sites_of(self.root, file))
        return rooms

    @cached_property
    def kernels(self) -> set[tuple[str, str]]:
        """Names of compiled functions, with their file."""
        found = set()
        for file, tree in self.tree.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and any(
                    word in ast.unparse(d) for d in node.decorator_list for word in ("njit", "_compiled")
                ):
                    found.add((file, node.name))
            found |= {(file, name) for name in re.findall(r"njit\([^)]*\)\((\w+)\)", self.text[file])}
        return found

    @cached_property
    def uses(self) -> dict[str, list[tuple[str, str, int, int]]]:
        """Where each name is used inside a function: file, outermost function, lines of the statement."""
        found = defaultdict(list)
        for file, tree in self.tree.items():
            for outer in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
                for statement in ast.walk(outer):
                    if not isinstance(statement, ast.stmt) or isinstance(statement, ast.FunctionDef):
                        continue
                    body = getattr(statement, "body", None)
                    stop = body[0].lineno - 1 if body else statement.end_lineno
                    for node in ast.walk(statement):
                        name = getattr(node, "id", getattr(node, "attr", None))
                        if isinstance(name, str) and statement.lineno <= node.lineno <= max(stop, statement.lineno):
                            found[name].append((file, outer.name, statement.lineno, max(stop, statement.lineno)))
        return found

    def knows(self, file: str, of: str, name: str) -> bool:
        """Whether a file may mean by `name` what stands in the file `of`."""
        module = ".".join(Path(of).with_suffix("").parts)
        known = [rf"\b{re.escape(module)}\b", rf"import [^\n]*\b({Path(of).stem}|{name})\b"]
        return file == of or any(re.search(one, self.text[file]) for one in known)

    def callers(self, file: str, name: str, seen: set[tuple[str, str]]) -> set[str]:
        """Give the tests that name a kernel or constant or run a line that uses it, also through other kernels."""
        if (file, name) in seen:
            return set()
        seen.add((file, name))
        module = ".".join(Path(file).with_suffix("").parts)
        direct = {f for f, text in self.test_files.items() if module in text and re.search(rf"\b{name}\b", text)}
        tests = {test for test in self.seconds if test.split("::")[0] in direct}
        for where, function, start, stop in self.uses.get(name, []):
            if not self.knows(where, file, name):
                continue
            if (where, function) in self.kernels:
                tests |= self.callers(where, function, seen)
            else:
                tests |= self.at(where, start, stop)
        return tests

    def at(self, file: str, start: int, stop: int) -> set[str]:
        """Give the tests that run one of the lines."""
        return {test for line in range(start, stop + 1) for test in self.tests.get((file, line), ())}

    def reaching(self, site: Site) -> set[str]:
        """Give the tests that may notice a mutant."""
        outer = site.owner.split(".")
        kernel = [name for name in outer if (site.file, name) in self.kernels]
        if kernel:
            return self.callers(site.file, kernel[0], set())
        function = [n for n in ast.walk(self.tree[site.file]) if isinstance(n, ast.FunctionDef) and n.name == outer[-1]]
        line = self.text[site.file].encode()[: site.start].count(b"\n") + 1
        stated = {DEFAULTS} & self.seconds.keys() if site.owner and (not function or line < site.lines[0]) else set()
        if function:
            found = self.at(site.file, *site.lines) | stated
            runs = not self.imported.isdisjoint((site.file, line) for line in range(site.lines[0], site.lines[1] + 1))
            return found or (self.of_file[site.file] if runs else set())
        names = [
            n.id
            for s in self.tree[site.file].body
            if s.lineno <= site.lines[0] <= s.end_lineno and isinstance(s, (ast.Assign, ast.AnnAssign))
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ]
        used = set().union(*(self.callers(site.file, name, set()) for name in names)) if names else set()
        return (used or self.of_file[site.file]) | stated

    def stale(self, site: Site) -> list[str]:
        """Give the files whose compiled kernels hold what a mutant changes."""
        constant = not site.owner
        if not constant and not any((site.file, name) in self.kernels for name in site.owner.split(".")):
            return []
        files, new = {site.file}, [site.file]
        while new:
            module = ".".join(Path(new.pop()).with_suffix("").parts)
            package, _, stem = module.rpartition(".")
            for file, text in self.text.items():
                named = module in text or re.search(rf"from {re.escape(package)} import [^\n]*\b{stem}\b", text)
                if file not in files and named and "numba" in text:
                    files.add(file)
                    new.append(file)
        return sorted(files) if constant or "numba" in self.text[site.file] else []


class Copy:
    """A copy of the tree in which one mutant after the other is tested."""

    KEPT = ("bayesagree", "studies", "tests", "models", "docs", "notebooks", "benchmarks", ".ci")

    def __init__(self, root: Path, folder: Path):
        self.root, self.folder = root, folder
        self.passes: dict[str, bool] = {}
        for name in self.KEPT:
            shutil.copytree(root / name, folder / name)
        for file in root.iterdir():
            if file.is_file():
                shutil.copy2(file, folder / file.name)

    def pass_unchanged(self, tests: list[str], seconds: float) -> bool:
        """Whether these tests pass on the unchanged copy; each is looked at once."""
        new = [test for test in tests if test not in self.passes]
        if new:
            log = self.folder / "log.txt"
            code = self._fork(new, log, seconds + KERNEL_SECONDS, None, [])
            failed = set(named(log.read_text(errors="replace"), new))
            self.passes |= {test: code == 0 or (code == 1 and test not in failed) for test in new}
        return all(self.passes[test] for test in tests)

    def test(self, site: Site, tests: list[str], stale: list[str], seconds: float) -> tuple[str, str]:
        """Give the fate of a mutant, and the end of what pytest printed."""
        module = self.folder / site.file
        kept = self.folder / ".kept"
        kept.mkdir(exist_ok=True)

        def caches() -> list[Path]:
            return [
                p for file in stale for p in (self.folder / file).parent.glob(f"__pycache__/{Path(file).stem}.*.nb?")
            ]

        moved = {p: kept / f"{n}" for n, p in enumerate(caches())}
        for was, to in moved.items():
            was.rename(to)
        stamp = None if stale else (module, hashlib.sha256(module.read_bytes()).digest())
        module.write_bytes(site.apply((self.root / site.file).read_bytes()))
        log = self.folder / "log.txt"
        try:
            code = self._fork(tests, log, seconds, stamp, ["-x"])
        finally:
            shutil.copy2(self.root / site.file, module)
            for new in caches():
                new.unlink()
            for was, to in moved.items():
                to.rename(was)
        text = log.read_text(errors="replace")
        broken = named(text, tests)
        if code == 0:
            return "survived", ""
        cannot_import = "ImportError while loading conftest" in text or re.search(
            r"^\d+ errors? in", text, re.MULTILINE
        )
        if code in (1, 2) or code < 0 or cannot_import:
            return "killed", broken[0] if broken else f"exit {code}"
        return "error", text[-600:]

    def _fork(
        self, tests: list[str], log: Path, seconds: float, stamp: tuple[Path, bytes] | None, options: list[str]
    ) -> int:
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(out, 1)
                os.dup2(out, 2)
                os.chdir(self.folder)
                os.environ["PYTHONPATH"] = str(self.folder)
                sys.path[:] = [str(self.folder), *(p for p in sys.path if Path(p or ".").resolve() != self.root)]
                sys.dont_write_bytecode = True
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 2))
                import pytest
                from numba.core import caching

                # A mutant outside kernels leaves the compiled ones of its file valid.
                own = caching._hash_source_file
                if stamp is not None:
                    caching._hash_source_file = lambda p, *of: stamp[1] if Path(p) == stamp[0] else own(p, *of)
                options += ["-q", "-n", "0", "-m", "", "-p", "no:cacheprovider", "--tb=line", "-rfE"]
                options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
                os._exit(pytest.main([*options, *tests]))
            except BaseException:  # noqa: BLE001  the child must end here, whatever it is
                traceback.print_exc()
                os._exit(3)
        end = time.monotonic() + 5 * seconds
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.1)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return -9


def named(text: str, tests: list[str]) -> list[str]:
    """Give the tests that the summary of pytest calls failed; names may hold spaces."""
    lines = [line for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return [test for test in tests if any(f"{line} - ".split(" ", 1)[1].startswith(f"{test} - ") for line in lines)]


def ordered(tree: Tree, site: Site, limit: float) -> tuple[list[str], int]:
    """Give the tests of a mutant in order, as many as the limit allows, and how many there are in all."""
    room = tree.room(site.file)
    stem = Path(site.file).stem.strip("_")

    def key(test: str) -> tuple[bool, bool, bool, float]:
        return test != DEFAULTS, not test.startswith(f"tests/{room}"), f"test_{stem}" not in test, tree.seconds[test]

    every = sorted(tree.reaching(site), key=key)
    chosen = []
    for same in (True, False):
        total = 0.0
        for test in every:
            if test.startswith(SAME) != same:
                continue
            total += tree.seconds[test]
            if total > limit and chosen:
                break
            chosen.append(test)
    return chosen, len(every)


def draw(tree: Tree, seed: int, each: int, rooms: list[str] | None) -> list[Site]:
    """Draw sites of every room: first a file in proportion to its lines, then an operator, then a site."""
    drawn = []
    sites = tree.sites()
    for room in rooms or sorted(sites):
        rng = random.Random(f"{seed} {room}")
        by_file = defaultdict(list)
        for site in sites[room]:
            by_file[site.file].append(site)
        files = sorted(by_file)
        size = [len(tree.text[file].splitlines()) for file in files]
        for k in range(each):
            of = by_file[rng.choices(files, size)[0]]
            operator = rng.choice(sorted({s.operator for s in of}))
            drawn.append((k, rng.choice([s for s in of if s.operator == operator])))
    return [site for _, site in sorted(drawn, key=lambda one: one[0])]


def table(fates: list[dict]) -> str:
    """Write the score by room with its standard error."""
    lines = ["| room | drawn | killed | score |", "| --- | ---: | ---: | ---: |"]
    rooms = defaultdict(list)
    for fate in fates:
        rooms[fate["room"]].append(fate["fate"] == "killed")
    for name, dead in [*sorted(rooms.items()), ("all", [d for of in rooms.values() for d in of])]:
        p = sum(dead) / len(dead)
        lines.append(f"| {name} | {len(dead)} | {sum(dead)} | {p:.2f} ± {(p * (1 - p) / len(dead)) ** 0.5:.2f} |")
    return "\n".join(lines)


def fates(tree: Tree, copy: Copy, sites: list[Site], limit: float) -> list[dict]:
    """Give the fates of mutants by tests that pass without them; what killed them is looked at together."""
    rows: dict[Site, dict] = {}
    new = sites
    while new:
        for site in new:
            chosen, n_tests = ordered(tree, site, limit)
            tests = [test for test in chosen if copy.passes.get(test, True)]
            stale = tree.stale(site)
            seconds = 30 + 3 * sum(tree.seconds[test] for test in tests) + KERNEL_SECONDS * bool(stale)
            start = time.monotonic()
            fate, by = copy.test(site, tests, stale, seconds) if tests else ("survived", "no test runs this line")
            if fate == "killed" and by not in tests and not copy.pass_unchanged(tests, seconds):
                by = next(test for test in tests if not copy.passes[test])
            was = (ROOT / site.file).read_bytes()[site.start : site.stop].decode()
            rows[site] = site._asdict() | {
                "room": tree.room(site.file), "was": was, "fate": fate, "by": by, "tests": len(tests),
                "of": n_tests, "seconds": round(time.monotonic() - start, 1),
            }  # fmt: skip
            what = f"{site.file}:{site.lines[0]} {site.operator}: {was!r} -> {site.text!r}"
            print(
                f"{fate:9}{rows[site]['seconds']:6.1f} s, {len(tests)} of {n_tests} tests  {what}  {by[-200:]}",
                flush=True,
            )
        killers = sorted({rows[site]["by"] for site in new if rows[site]["by"] in tree.seconds})
        copy.pass_unchanged(killers, 30 + 3 * sum(tree.seconds[test] for test in killers))
        new = [site for site in new if not copy.passes.get(rows[site]["by"], True)]
    return list(rows.values())


def main() -> None:
    """Draw, test, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maps", nargs="+")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--each", type=int, default=5, help="mutants of each room")
    parser.add_argument("--room", nargs="*")
    parser.add_argument("--limit", type=float, default=30)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--worker", default="1/1", help="2/3: every third mutant, from the second on")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no mutant after this time")
    options = parser.parse_args()
    tree = Tree(ROOT, options.maps)
    kept = []
    if options.out and options.out.exists():
        kept = [json.loads(line) for line in options.out.read_text().splitlines()]
    done = {(fate["file"], fate["start"], fate["text"]) for fate in kept}
    import arviz  # noqa: F401  imported once, for all children
    import dask.array  # noqa: F401
    import hypothesis.extra.numpy  # noqa: F401
    import jinja2  # noqa: F401
    import narwhals  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.csv  # noqa: F401
    import pytest  # noqa: F401
    import rich.console  # noqa: F401
    import typer  # noqa: F401
    import xarray  # noqa: F401
    import zarr  # noqa: F401
    from scipy import optimize, special, stats  # noqa: F401

    gc.freeze()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(ROOT, Path(folder))
        worker, of = map(int, options.worker.split("/"))
        drawn = draw(tree, options.seed, options.each, options.room)[worker - 1 :: of]
        left = [site for site in drawn if (site.file, site.start, site.text) not in done]
        for k in range(0, len(left), TOGETHER):
            if time.monotonic() - begun > 60 * options.minutes:
                print("STOPPED: the time is up; with --out the next run goes on")
                break
            rows = fates(tree, copy, left[k : k + TOGETHER], options.limit)
            kept += rows
            if options.out:
                with options.out.open("a") as file:
                    file.writelines(json.dumps(row) + "\n" for row in rows)
    print(table(kept))


if __name__ == "__main__":
    main()
