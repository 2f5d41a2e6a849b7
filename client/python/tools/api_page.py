"""Writes the API page: every public name with its signature and docstring. `python tools/api_page.py > API.md`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "slotbook"
#: Modules that users import from, in the order of the page. `slotbook` itself exports names of `slotbook.feed`.
MODULES = (
    "feed",
    "history",
    "archive",
    "accounts",
    "units",
    "adapters/ccxt",
    "adapters/nautilus",
    "adapters/hftbacktest",
)
#: Classes that a public one inherits from.
INHERITED = {"feed": [("Subscription", "subscription")], "history": [("HistoryOperations", "operations")]}
#: Special methods that say how an object is used.
DOCUMENTED = {"__init__", "__iter__", "__aiter__", "__aenter__", "__await__", "__len__"}
HEAD = """# API of slotbook for Python

Every public name, with its docstring. `python tools/api_page.py > API.md` writes this page.
The names of `slotbook.feed` that most programs need are in `slotbook` as well.
"""


@dataclass
class Module:
    """A source file."""

    lines: list[str]
    tree: ast.Module

    @classmethod
    def read(cls, path: Path) -> Module:
        text = path.read_text("utf-8")
        return cls(text.splitlines(), ast.parse(text))

    def comment_above(self, node: ast.stmt) -> list[str]:
        """The `#:` lines above a statement."""
        at = node.lineno - 2
        found: list[str] = []
        while at >= 0 and self.lines[at].strip().startswith("#:"):
            found.insert(0, self.lines[at].strip())
            at -= 1
        return found


def path_of(name: str) -> Path:
    file = SOURCE / f"{name}.py"
    return file if file.exists() else SOURCE / name / "__init__.py"


def public_names(module: Module, path: Path) -> Iterator[tuple[str, Module]]:
    """Public names of a module with the files that define them."""
    origins: dict[str, Path] = {}
    names: list[str] | None = None
    own: list[str] = []
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module is not None:
            origins.update({alias.name: path.parent / f"{node.module}.py" for alias in node.names})
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            own.append(node.name)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ast.literal_eval(node.value)
    for name in names if names is not None else own:
        if not name.startswith("_"):
            yield (name, Module.read(origins[name]) if name in origins else module)


def definition(module: Module, name: str) -> list[str]:
    """The lines of a definition without bodies."""
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return class_lines(module, node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            return function_lines(node, "")
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if ast.unparse(target) == name:
                return [*module.comment_above(node), ast.unparse(node)]
    raise SystemExit(f"no definition of {name}")


def class_lines(module: Module, node: ast.ClassDef) -> list[str]:
    bases = [ast.unparse(base) for base in node.bases]
    lines = [f"class {node.name}({', '.join(bases)}):" if bases else f"class {node.name}:"]
    lines += docstring_lines(node, "    ")
    for member in node.body:
        if isinstance(member, ast.AnnAssign) and not ast.unparse(member.target).startswith("_"):
            lines += [f"    {line}" for line in (*module.comment_above(member), ast.unparse(member))]
        elif isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_documented(member.name):
            lines += function_lines(member, "    ")
    return lines if len(lines) > 1 else [f"{lines[0]} ..."]


def is_documented(name: str) -> bool:
    return name in DOCUMENTED or not name.startswith("_")


def function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef, indent: str) -> list[str]:
    lines = [f"{indent}@{ast.unparse(one)}" for one in node.decorator_list]
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    result = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    lines.append(f"{indent}{start} {node.name}({ast.unparse(node.args)}){result}: ...")
    return lines + docstring_lines(node, f"{indent}    ")


def docstring_lines(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, indent: str) -> list[str]:
    text = ast.get_docstring(node)
    if text is None:
        return []
    return [f"{indent}# {line}".rstrip() for line in text.splitlines() if line.strip()]


def page() -> Iterator[str]:
    yield HEAD
    for name in MODULES:
        path = path_of(name)
        module = Module.read(path)
        yield f"## slotbook.{name.replace('/', '.')}\n"
        yield f"{ast.get_docstring(module.tree)}\n"
        inherited = [(one, Module.read(path.parent / f"{file}.py")) for one, file in INHERITED.get(name, [])]
        for public, origin in [*public_names(module, path), *inherited]:
            yield f"### {public}\n"
            yield "\n".join(["```python", *definition(origin, public), "```\n"])


if __name__ == "__main__":
    print("\n".join(page()).rstrip())
