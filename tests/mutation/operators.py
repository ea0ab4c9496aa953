"""Every place of a module where one operator of mutation applies: found in the syntax tree, written as text.

| operator | example |
| --- | --- |
| sign | `a + b` -> `a - b`, `-a` -> `a` |
| off by one | `x[1:]` -> `x[2:]`, `range(n)` -> `range(n - 1)` |
| comparison | `<` -> `<=` and `>`, `==` -> `!=`, `in` -> `not in` |
| constant | `0.5` -> `1.0`, `True` -> `False` |
| axis | `axis=0` -> `axis=1` |
| dropped term | `a * b` -> `a`, `a and b` -> `b`, a keyword left out, an update of a sum left out |
| condition | `if a` -> `if not a` |
| swapped arguments | `f(a, b)` -> `f(b, a)`, `a - b` -> `b - a` |
| wrong name | `a * b` with another local name of the same statement in place of `b` |
| wrong function | `min` -> `max`, `mean` -> `sum`, `any` -> `all` |

Left out: docstrings, types, decorators, imports, what is raised or warned.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Site(NamedTuple):
    """One mutant: its file, operator, the text at an offset in bytes, what replaces it, and the statement around it."""

    file: str
    operator: str
    start: int
    stop: int
    text: str
    lines: tuple[int, int]
    owner: str

    def apply(self, source: bytes) -> bytes:
        """Give the source of the module with this bug."""
        return source[: self.start] + self.text.encode() + source[self.stop :]


ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
PAIRS = [
    ("min", "max"), ("mean", "sum"), ("any", "all"), ("argmin", "argmax"), ("floor", "ceil"), ("zeros", "ones"),
    ("minimum", "maximum"), ("log", "log1p"), ("zeros_like", "ones_like"), ("nanmin", "nanmax"), ("lower", "upper"),
]  # fmt: skip
OTHER = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
QUIET = {"warn", "cast", "TypeVar", "getLogger", "require", "InputError", "SizeError"}
"""Calls that make messages or types: their text is no number."""


class Finder(ast.NodeVisitor):
    """Collect the sites of one module."""

    def __init__(self, file: str, source: str):
        self.file = file
        self.starts = [0]
        for line in source.encode().splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.sites: list[Site] = []
        self.owner: list[str] = []
        self.statement: ast.stmt | None = None
        self.locals: list[set[str]] = []

    def add(self, operator: str, node: ast.AST, new: ast.AST | str) -> None:
        """Note that `new` may stand in the place of `node`."""
        text = new if isinstance(new, str) else f"({ast.unparse(new)})"
        start, stop = (
            self.starts[line - 1] + column
            for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        )
        around = self.statement
        first = around.lineno
        body = getattr(around, "body", None)
        # Of a compound statement only the head: its body are statements of their own.
        last = body[0].lineno - 1 if isinstance(body, list) and body else around.end_lineno
        if isinstance(around, ast.FunctionDef):
            first, last = around.body[0].lineno, around.end_lineno
        found = Site(self.file, operator, start, stop, text, (first, max(first, last)), ".".join(self.owner))
        self.sites.append(found)

    def visit(self, node: ast.AST) -> None:
        """Skip what no test could tell apart, and keep the statement around each expression."""
        if isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom, ast.Assert, ast.Global)):
            return
        outer = self.statement
        if isinstance(node, ast.stmt):
            self.statement = node
        super().visit(node)
        self.statement = outer

    def body(self, statements: list[ast.stmt]) -> None:
        for one in statements:
            if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
                self.visit(one)

    def visit_Module(self, node: ast.Module) -> None:
        self.body(node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.owner.append(node.name)
        self.locals.append({n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                           | {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)})  # fmt: skip
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        self.body(node.body)
        self.locals.pop()
        self.owner.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.owner.append(node.name)
        self.body(node.body)
        self.owner.pop()

    def visit_TypeAlias(self, node: ast.TypeAlias) -> None:
        """Leave out types."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return
        self.add("condition", node.test, ast.UnaryOp(ast.Not(), node.test))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.add("condition", node, ast.IfExp(node.test, node.orelse, node.body))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add("dropped term", node, "pass")
        if type(node.op) in ARITHMETIC:
            self.add("sign", node, ast.unparse(ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        left, op, right = node.left, node.op, node.right
        text = any(isinstance(side, (ast.JoinedStr, ast.List)) or (
            isinstance(side, ast.Constant) and isinstance(side.value, str)) for side in (left, right))  # fmt: skip
        if not text:
            if type(op) in ARITHMETIC:
                self.add("sign", node, ast.BinOp(left, ARITHMETIC[type(op)](), right))
            if isinstance(op, (ast.Sub, ast.Div, ast.Pow)):
                self.add("swapped arguments", node, ast.BinOp(right, op, left))
            if isinstance(right, ast.Constant) and right.value == 1 and isinstance(op, (ast.Add, ast.Sub)):
                self.add("off by one", node, left)
            else:
                self.add("dropped term", node, left)
                if not isinstance(op, (ast.Pow, ast.Div)):
                    self.add("dropped term", node, right)
            self.names(node)
        self.generic_visit(node)

    def names(self, node: ast.BinOp) -> None:
        """Put another local name of the statement in the place of a name of this term."""
        if not self.locals or self.statement is None:
            return
        known = {
            n.id for n in ast.walk(self.statement)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in self.locals[-1]
        }  # fmt: skip
        for side in (node.left, node.right):
            if isinstance(side, ast.Name) and side.id in known:
                for other in sorted(known - {side.id}):
                    self.add("wrong name", side, other)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.add("sign" if isinstance(node.op, ast.USub) else "condition", node, node.operand)
        if not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.add("condition", node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
        for k in range(len(node.values)):
            rest = node.values[:k] + node.values[k + 1 :]
            self.add("dropped term", node, ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for k, op in enumerate(node.ops):
            for new in COMPARISONS[type(op)]:
                changed = [*node.ops[:k], new(), *node.ops[k + 1 :]]
                self.add("comparison", node, ast.Compare(node.left, changed, node.comparators))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant, operator: str = "constant") -> None:
        v = node.value
        if isinstance(v, bool):
            self.add("constant", node, str(not v))
        elif isinstance(v, int):
            self.add(operator, node, str(v + 1))
            if v > 0:
                self.add(operator, node, str(v - 1))
        elif isinstance(v, float):
            self.add("constant", node, repr(2 * v if v else 1.0))

    def visit_Slice(self, node: ast.Slice) -> None:
        for part in (node.lower, node.upper):
            if part is None:
                continue
            if isinstance(part, ast.Constant):
                self.visit_Constant(part, "off by one")
            else:
                self.add("off by one", part, ast.BinOp(part, ast.Sub(), ast.Constant(1)))
                self.visit(part)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            if isinstance(part, ast.Constant):
                self.visit_Constant(part, "off by one")
            else:
                self.visit(part)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in QUIET or name.endswith("Error"):
            return
        if name in OTHER:
            where = node.func
            if isinstance(where, ast.Attribute):
                self.add("wrong function", where, ast.Attribute(where.value, OTHER[name], ast.Load()))
            else:
                self.add("wrong function", where, OTHER[name])
        if len(node.args) > 1 and name not in ("isinstance", "getattr", "hasattr", "issubclass", "asarray", "array"):
            a, b = node.args[:2]
            same = isinstance(a, ast.Starred) or isinstance(b, ast.Starred) or ast.dump(a) == ast.dump(b)
            if not same:
                self.add("swapped arguments", node, ast.Call(node.func, [b, a, *node.args[2:]], node.keywords))
        for k, keyword in enumerate(node.keywords):
            if keyword.arg is None:
                continue
            rest = node.keywords[:k] + node.keywords[k + 1 :]
            self.add("dropped term", node, ast.Call(node.func, node.args, rest))
            if keyword.arg == "axis" and isinstance(keyword.value, (ast.Constant, ast.UnaryOp)):
                self.add("axis", keyword.value, "1" if ast.unparse(keyword.value) in ("0", "-1") else "0")
        self.visit(node.func)
        for part in node.args:
            if name == "range" and not isinstance(part, ast.Constant):
                self.add("off by one", part, ast.BinOp(part, ast.Sub(), ast.Constant(1)))
            self.visit(part)
        for keyword in node.keywords:
            if keyword.arg != "axis":
                self.visit(keyword.value)


def sites_of(root: Path, file: str) -> Iterator[Site]:
    """Give every mutant of a file that is still Python, each once."""
    source = (root / file).read_text()
    finder = Finder(file, source)
    finder.visit(ast.parse(source))
    seen = set()
    for site in finder.sites:
        key = (site.start, site.stop, site.text)
        if key not in seen:
            seen.add(key)
            yield site
