"""The definitions of installed packages that a project needs: those that it names, and what they name in turn, the nearest first."""

from __future__ import annotations

import ast
import re
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path

from syncscan.check.files import SourceError, decode, normalise, read_bytes
from syncscan.check.libraries.module import (
    DEFINITIONS,
    IMPORTS,
    LibraryModule,
    imports_in,
    name_of,
    parts_binding,
    paths_in,
)
from syncscan.check.nesting import parse

# Lines of definitions that are read for one project: more would take longer than the project itself.
MOST_LINES = 20_000
# A package without such an import computes nothing on a GPU.
_TORCH = re.compile(r"^[ \t]*(?:from|import)[ \t]+torch\b", re.MULTILINE)
_LEVELS = ("*.py", "*/*.py", "*/*/*.py")  # of a package, where the import is looked for
# In a module without the import, longer definitions tell nothing: those that choose a device or hold settings are short.
_LONGEST = 40
_NO_PYTHON = (SourceError, SyntaxError, ValueError, RecursionError)

Names = tuple[str, ...]  # a name and the attributes that are read of it
Imported = tuple[ast.Import | ast.ImportFrom, ast.alias]


class Needed:
    """The definitions that are needed of the packages in some folders."""

    def __init__(self, folders: Sequence[Path], follows: Callable[[str], bool]) -> None:
        """Start with nothing; ``follows`` says of a top-level name whether its package may be read."""
        self._folders = folders
        self._follows = follows
        self._modules: dict[str, LibraryModule | None] = {}
        self._queue: deque[tuple[LibraryModule, Names]] = deque()
        self._asked: dict[tuple[LibraryModule, Names], None] = {}
        self._places: dict[Path, None] = {}
        self._computing: dict[str, bool] = {}
        self._lines = 0
        self.is_cut = False  # a definition is needed that the bound leaves out

    @property
    def modules(self) -> list[LibraryModule]:
        """The modules that needed names lead to, in packages that define at least one of these names.

        Modules that keep no statement are included, so that their names still resolve.
        """
        read = [module for _, module in sorted(self._modules.items()) if module is not None]
        defining = {module.package for module in read if module.defines}
        return [module for module in read if module.package in defining]

    @property
    def start(self) -> list[str]:
        """All that decides what `read` will find, as text: the names asked for, each with its module, and the modules known."""
        return [*sorted(map(_text, self._asked)), *sorted(self._modules)]

    @property
    def places(self) -> list[Path]:
        """The files that were read, and those that were looked for in vain."""
        return [*self._places]

    def follow(self, module: LibraryModule) -> None:
        """Ask for what a file of the project uses of packages; what it imports from beside itself is of the project."""
        imported = self._use_imports(module, module.body, is_own=True)
        for path in dict.fromkeys(path for statement in module.body for path in paths_in(statement)):
            if path[0] not in imported and path[0] not in module.bound:
                for star in module.stars:
                    if not star.level:
                        self._member(module.target(star), path)

    def read(self) -> None:
        """Read what is needed of what is needed, up to `MOST_LINES`; the order of the project's files has no part in it."""
        self._queue = deque(sorted(self._queue, key=_text))
        while self._queue:
            self._resolve(*self._queue.popleft())

    def _use(self, module: LibraryModule, statement: ast.stmt) -> None:
        """Ask for the names that a statement of a package uses."""
        imported = self._use_imports(module, [statement])
        for path in dict.fromkeys(paths_in(statement)):
            if path[0] not in imported and (path[0] in module.bound or module.stars):
                self._ask(module, path)

    def _use_imports(
        self, module: LibraryModule, nodes: Sequence[ast.AST], *, is_own: bool = False
    ) -> Container[str]:
        """Ask for what some nodes import, and for the attributes that they read of it; return the names bound.

        The relative imports of a file of the project are its own.
        """
        imported = defaultdict[str, list[Imported]](list)
        for statement in imports_in(nodes):
            is_relative = isinstance(statement, ast.ImportFrom) and statement.level > 0
            for alias in statement.names:
                if alias.name != "*" and not (is_own and is_relative):
                    imported[name_of(alias, statement)].append((statement, alias))
                    self._import(module, statement, alias, ())
        for path in dict.fromkeys(path for node in nodes for path in paths_in(node) if path[0] in imported):
            for statement, alias in imported[path[0]]:
                self._import(module, statement, alias, path[1:])
        return imported

    def _ask(self, module: LibraryModule, path: Names) -> None:
        if (module, path) not in self._asked:
            self._asked[module, path] = None
            self._queue.append((module, path))

    def _resolve(self, module: LibraryModule, path: Names) -> None:
        """Keep the statements that bind a name, and follow the names that they use; of one name, all statements or none."""
        name, rest = path[0], path[1:]
        has_room = self._lines < MOST_LINES
        for statement in module.bound.get(name, ()):
            imported = [*_imports_of(name, statement)]
            for each, alias in imported:
                self._import(module, each, alias, rest)
            if isinstance(statement, IMPORTS):
                module.kept[statement] = None
            elif imported or self._tells(module, statement):
                self._keep(
                    module, statement, name, has_room=has_room or not isinstance(statement, DEFINITIONS)
                )
        if name not in module.bound:
            self._resolve_star(module, path)

    def _keep(self, module: LibraryModule, statement: ast.stmt, name: str, *, has_room: bool) -> None:
        """Keep a statement, and follow the names that its parts use which bind a name."""
        if not has_room:
            self.is_cut = True
            return
        if statement not in module.kept:
            module.kept[statement] = None
            self._lines += _length(statement)
        for part in parts_binding(name, statement):
            self._use(module, part)

    def _tells(self, module: LibraryModule, statement: ast.stmt) -> bool:
        """Return whether a definition may say where values live."""
        if _TORCH.search(module.text):
            return True
        return _length(statement) <= _LONGEST and self._computes(module.package)

    def _computes(self, package: str) -> bool:
        """Return whether a package imports torch anywhere near its top."""
        if package not in self._computing:
            files = (
                file
                for folder in self._folders
                for level in _LEVELS
                for file in sorted((folder / package).glob(level))
            )
            self._computing[package] = any(map(_imports_torch, files))
        return self._computing[package]

    def _resolve_star(self, module: LibraryModule, path: Names) -> None:
        """Follow a name that a module has by ``from module import *``."""
        for star in module.stars:
            source = self._find(module.target(star))
            if source is not None and (path[0] in source.bound or source.stars):
                module.kept.update(dict.fromkeys(each for each in module.body if star in ast.walk(each)))
                self._ask(source, path)

    def _import(
        self, module: LibraryModule, statement: ast.Import | ast.ImportFrom, alias: ast.alias, rest: Names
    ) -> None:
        """Follow an imported name, and attributes of it."""
        if isinstance(statement, ast.ImportFrom):
            source = module.target(statement)
            if not source:
                return
            if source == module.name:  # a package imports a module of its own
                self._member(f"{source}.{alias.name}", rest)
            else:
                self._member(source, (alias.name, *rest))
        elif rest:
            self._member(alias.name if alias.asname else alias.name.partition(".")[0], rest)

    def _member(self, of: str, path: Names) -> None:
        """Follow a member of a module, which a statement binds or which is a module itself."""
        while path:
            module = self._find(of)
            if module is not None and (
                path[0] in module.bound or (module.stars and not self._find(f"{of}.{path[0]}"))
            ):
                self._ask(module, path)
                return
            of, path = f"{of}.{path[0]}", path[1:]
            if module is None and self._find(of) is None:
                return

    def _find(self, name: str) -> LibraryModule | None:
        """Return the module of a full name, read on first request; None where there is none to follow."""
        if name not in self._modules:
            self._modules[name] = self._read(name) if self._follows(name.partition(".")[0]) else None
        return self._modules[name]

    def _read(self, name: str) -> LibraryModule | None:
        for folder in self._folders:
            base = folder.joinpath(*name.split("."))
            for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
                self._places[path] = None
                try:
                    data = read_bytes(path)
                except SourceError:
                    continue  # not there, or not to be read
                try:
                    text = normalise(decode(data)[0])
                    return LibraryModule(name, path, text, parse(text).body)
                except _NO_PYTHON:
                    return None
        return None


def _imports_of(name: str, statement: ast.stmt) -> Iterator[Imported]:
    """Yield the imports in a statement that bind a name; not those inside a definition."""
    for each in imports_in([statement]) if not isinstance(statement, DEFINITIONS) else ():
        yield from ((each, alias) for alias in each.names if name_of(alias, each) == name)


def _length(statement: ast.stmt) -> int:
    return (statement.end_lineno or statement.lineno) - statement.lineno + 1


def _imports_torch(file: Path) -> bool:
    try:
        return _TORCH.search(decode(read_bytes(file))[0]) is not None
    except _NO_PYTHON:
        return False


def _text(asked: tuple[LibraryModule, Names]) -> str:
    module, names = asked
    return f"{module.name}:{'.'.join(names)}"
