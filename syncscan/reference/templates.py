"""Components as text to paste: read from the sources, so that torch need not be installed.

A template is a definition of ``syncscan.reference`` that has a blocking form: a definition of the same
name in ``syncscan.reference.blocking``.
"""

from __future__ import annotations

import ast
import difflib
import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files

from syncscan.errors import SyncscanError, suggestion

_PACKAGE = "syncscan.reference"


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """A module taken apart: the text of each top-level definition and import, by the name it binds."""

    text: str
    definitions: dict[str, str] = field(default_factory=dict)
    uses: dict[str, tuple[str, ...]] = field(default_factory=dict)  # names that a definition mentions
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> (module, "name as alias")

    @property
    def docstring(self) -> str:
        """Return the docstring of the module."""
        return ast.get_docstring(ast.parse(self.text)) or ""


@dataclass(frozen=True, slots=True)
class Template:
    """A component, where it lives, and which rules find the lines that it replaces."""

    name: str
    module: str
    report: str
    summary: str
    codes: tuple[str, ...]


@functools.cache
def templates() -> dict[str, Template]:
    """Return every template by its name, module by module in the order of the source."""
    return {template.name: template for module in _modules() for template in _templates_of(module)}


def find_template(name: str) -> Template:
    """Return the template of this name; SyncscanError names the closest where there is none."""
    if name in templates():
        return templates()[name]
    hint = suggestion(name, templates(), "`syncscan recipe list` names them all")
    raise SyncscanError(f"no template {name!r}; {hint}")


@functools.cache
def codes_with_templates() -> frozenset[str]:
    """Return the codes of the rules that find lines of blocking forms.

    Only the marks are read, because every report asks: parsing the templates takes 20 ms.
    """
    return frozenset(code for module in _modules() for code in _marks(_text(f"blocking.{module}")))


def templates_for(code: str) -> list[Template]:
    """Return the templates whose blocking form holds a line that the rule of this code finds."""
    return [template for template in templates().values() if code in template.codes]


def paste(template: Template) -> str:
    """Return a module that holds the component with all definitions that the component needs, and imports nothing of syncscan."""
    order = _closure(template.module, template.name)
    bodies = [_source(module).definitions[name] for module, name in order]
    imports = {
        _source(module).imports[used]
        for module, name in order
        for used in _source(module).uses[name]
        if _is_external(module, used)
    }
    head = "\n".join(["from __future__ import annotations", "", *_render(imports)])
    return "\n\n\n".join([head, *bodies]) + "\n"


def difference(template: Template) -> str:
    """Return a unified diff from the blocking form to the sync-free one."""
    module = template.module
    needed = _closure(module, template.name)
    names = [name for name in templates() if (module, name) in needed]
    forms = [
        "\n\n\n".join(source.definitions[name] for name in names).splitlines()
        for source in (_source(f"blocking.{module}"), _source(module))
    ]
    before = [line.replace("# expect: ", "# ") for line in forms[0]]
    labels = (f"blocking/{module}.py", f"reference/{module}.py")
    return "\n".join(difflib.unified_diff(before, forms[1], *labels, lineterm="")) + "\n"


def _modules() -> list[str]:
    blocking = files(f"{_PACKAGE}.blocking").iterdir()
    return sorted(path.name[:-3] for path in blocking if path.name.endswith(".py") and path.name[0] != "_")


def _text(module: str) -> str:
    package, _, name = f"{_PACKAGE}.{module}".rpartition(".")
    return (files(package) / f"{name}.py").read_text(encoding="utf-8")


def _marks(text: str) -> set[str]:
    """Return the codes that a blocking form expects of the check."""
    return set(re.findall(r"# expect: (SYN\d+)", text))


@functools.cache
def _source(module: str) -> ModuleSource:
    source = ModuleSource(_text(module))
    lines = source.text.splitlines()
    for node in ast.parse(source.text).body:
        for bound in _bound_names(node):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            source.definitions[bound] = "\n".join(lines[first - 1 : node.end_lineno])
            source.uses[bound] = tuple(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))
        for bound, imported in _imported_names(node):
            source.imports[bound] = imported
    return source


def _bound_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def _imported_names(node: ast.stmt) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the names that an import binds: ("dist", ("", "torch.distributed as dist")), ("Any", ("typing", "Any"))."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            bound = alias.asname or alias.name
            yield bound, (module, f"{alias.name} as {bound}" if alias.asname else alias.name)


def _templates_of(module: str) -> Iterator[Template]:
    source, blocking = _source(module), _source(f"blocking.{module}")
    report = re.search(r"#\d+", source.docstring)
    for name, text in source.definitions.items():
        if name in blocking.definitions and not name.isupper():
            codes = tuple(sorted(_marks(blocking.definitions[name])))
            yield Template(name, module, report.group() if report else "", _summary(text), codes)


def _summary(text: str) -> str:
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    return (ast.get_docstring(node) or "").partition("\n")[0]


def _closure(module: str, name: str) -> list[tuple[str, str]]:
    """Return a definition and its dependencies, each after its own dependencies, as (module, name)."""
    found: dict[tuple[str, str], None] = {}
    pending: set[tuple[str, str]] = set()

    def visit(module: str, name: str) -> None:
        imported, _ = _source(module).imports.get(name, ("", ""))
        if imported.startswith(f"{_PACKAGE}."):
            visit(imported.removeprefix(f"{_PACKAGE}."), name)
        elif name in _source(module).definitions and (module, name) not in pending:
            pending.add((module, name))
            for used in _source(module).uses[name]:
                visit(module, used)
            found[module, name] = None

    visit(module, name)
    return list(found)


def _is_external(module: str, name: str) -> bool:
    imported = _source(module).imports.get(name)
    return imported is not None and not imported[0].startswith(f"{_PACKAGE}.")


def _render(imports: set[tuple[str, str]]) -> list[str]:
    """Return import lines, the standard library first; the names that come from one module on one line."""
    by_module: dict[str, list[str]] = {}
    for module, name in sorted(imports):
        by_module.setdefault(module, []).append(name)
    plain = [(name.split(".")[0], f"import {name}") for name in by_module.pop("", ())]
    named = [
        (module.split(".")[0], f"from {module} import {', '.join(names)}")
        for module, names in by_module.items()
    ]
    standard = [line for root, line in plain + named if root in sys.stdlib_module_names]
    others = [line for root, line in plain + named if root not in sys.stdlib_module_names]
    return [*standard, *([""] if standard and others else []), *others]
