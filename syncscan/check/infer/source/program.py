"""Name resolution across the modules of a project: definitions, modules, imports and external names."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Sequence
from itertools import islice
from pathlib import PurePath

from syncscan.check.infer.source.fields import note_kept
from syncscan.check.infer.source.index import NO_NAMES, Class, Function, Import, Module
from syncscan.syntax.names import dotted_name

# A definition of the project, or the full name of something outside it.
Definition = Function | Class | Module | str

_MOST_ABOVE = 64  # classes that one inherits from; no program that runs comes near
_MOST_STEPS = 8  # from one module to the next, after what has been imported there
_KNOWN_FROM_THE_TABLE = frozenset({"numpy", "torch"})


class Program:
    """All modules, and the resolution of names to definitions."""

    def __init__(self, modules: Sequence[Module], declared: frozenset[str] = frozenset()) -> None:
        """Link the modules; ``declared`` has the full names of operations that the project's settings declare."""
        self._extensions = {name.rpartition(".")[0] for name in declared}
        self.arrange(modules)
        new = [module for module in modules if not module.is_linked]
        for module in new:
            for cls in module.classes:
                self.link(cls)
            for function in module.functions:
                function.decorate(self.decorators_of(function))
            module.is_linked = True
        relate([cls for module in new for cls in module.classes])
        note_kept(new)

    def arrange(self, modules: Sequence[Module]) -> None:
        """Index the modules by name, and clear the cache of imports."""
        # A stand-in for torch among the tests must not hide what the operation table knows of the real one.
        self.modules = {
            module.name: module
            for module in modules
            if module.name.partition(".")[0] not in _KNOWN_FROM_THE_TABLE
        }
        for module in [*self.modules.values()]:
            self.modules.setdefault(_name_in_namespace(module), module)
        self._followed: dict[Import, Definition | None] = {}
        self._packages = {
            name.rsplit(".", count)[0] for name in self.modules for count in range(1, name.count(".") + 1)
        }

    def forget_followed(self) -> None:
        """Clear the cache of resolved imports."""
        self._followed.clear()

    def names_of(self, module: Module) -> list[str]:
        """Return the names under which others import a module."""
        names = dict.fromkeys((module.name, _name_in_namespace(module)))
        return [name for name in names if self.modules.get(name) is module]

    def link(self, cls: Class) -> None:
        """Resolve the bases and decorators of a class."""
        cls.bases, cls.external_bases = self.bases_of(cls)
        cls.decorators = self.decorators_of(cls)

    def decorators_of(self, of: Function | Class) -> frozenset[str]:
        """Return the full names of the decorators of a definition."""
        nodes = getattr(of.node, "decorator_list", ())
        found = filter(None, (self.full_name(node, of.module, of.parent) for node in nodes))
        return frozenset(found) or NO_NAMES

    def full_name(self, node: ast.expr, module: Module, scope: Function | None = None) -> str:
        """Return the full name of a decorator or another named expression, with or without call arguments.

        For external names, aliases, re-exports and ``partial`` are resolved. Built-ins are
        "builtins.property", and definitions of the project have their bare names. Unknown names are returned
        as written.
        """
        name = dotted_name(node.func if isinstance(node, ast.Call) else node)
        found = self.lookup_dotted(module, name, scope) if name else None
        if found == "functools.partial" and isinstance(node, ast.Call) and node.args:
            return self.full_name(node.args[0], module, scope)
        if found is None:
            alias = module.aliases.get(name)
            if isinstance(alias, ast.Call):
                return self.full_name(alias, module)
            return f"builtins.{name}" if name in builtin_names() else name
        return found if isinstance(found, str) else found.name.rpartition(".")[2]

    def bases_of(self, cls: Class) -> tuple[list[Class], list[str]]:
        """Return the bases of a class: those within the project, and the full names of the others."""
        inside: dict[Class, None] = {}
        outside: list[str] = []
        for node in cls.node.bases:
            base = node.value if isinstance(node, ast.Subscript) else node
            found = self.lookup_dotted(cls.module, dotted_name(base), cls.parent)
            if isinstance(found, Class):
                if found is not cls:
                    inside[found] = None
            elif isinstance(found, str):
                outside.append(found)
            elif found is None and dotted_name(base) == "dict":
                outside.append("builtins.dict")
        return [*inside], outside

    def lookup_dotted(self, module: Module, name: str, scope: Function | None = None) -> Definition | None:
        """Return the definition, module or external full name of a dotted name; None if unknown."""
        head, _, rest = name.partition(".")
        found: Definition | None = None
        while scope is not None and found is None:
            found = scope.children.get(head)
            scope = scope.parent
        if found is None:
            found = self.lookup(module, head)
        for part in rest.split(".") if rest else ():
            found = self.member(found, part)
        return found

    def member(self, of: Definition | None, name: str) -> Definition | None:
        """Return the definition of ``of.name``, or None."""
        if isinstance(of, str):
            return f"{of}.{name}"
        if isinstance(of, Module):
            found = self.lookup(of, name)
            return found if found is not None else self.modules.get(f"{of.name}.{name}")
        if isinstance(of, Class):
            return of.nested.get(name)
        return None

    def lookup(self, module: Module, name: str, seen: int = 0) -> Definition | None:
        """Return the definition of a module's top-level name, through imports and re-exports."""
        found = module.names.get(name)
        if found is None and name in module.aliases and seen < _MOST_STEPS:
            return self._alias(module, dotted_name(module.aliases[name]), seen + 1)
        if found is None and module.stars and (source := self.behind_star(module, name)) is not None:
            return self.lookup(source, name, seen + 1) if seen < _MOST_STEPS else None
        return self._follow(found, seen) if isinstance(found, Import) else found

    def behind_star(self, module: Module, name: str) -> Module | None:
        """Return the module that binds a name which a module has by ``from module import *``; None where it binds the name itself.

        ``__all__`` is not read: a program names nothing that its stars leave out.
        """
        seen: set[Module] = set()
        queue = [] if name.startswith("_") else [module]
        while queue:
            module = queue.pop()
            if name in module.names or name in module.globals:
                return module if seen else None
            seen.add(module)
            sources = [self.modules.get(star) for star in reversed(module.stars)]
            queue += [each for each in sources if each is not None and each not in seen]
        return None

    def written_as(self, module: Module, name: str, seen: int = 0) -> tuple[Module, ast.expr] | None:
        """Return the expression for which a name of a module stands, such as a type, and the module that says so."""
        head, _, rest = name.partition(".")
        target = module.names.get(head)
        if isinstance(target, Import) and seen < _MOST_STEPS:
            inside = self.modules.get(target.module if target.name or rest else "")
            if target.name and not rest:
                return self.written_as(inside, target.name, seen + 1) if inside is not None else None
            owner = self.follow(target)
            return self.written_as(owner, rest, seen + 1) if isinstance(owner, Module) and rest else None
        alias = module.aliases.get(name)
        if alias is None and module.stars and seen < _MOST_STEPS:
            source = self.behind_star(module, head)
            return self.written_as(source, name, seen + 1) if source is not None else None
        return (module, alias) if alias is not None else None

    def _alias(self, module: Module, name: str, seen: int) -> Definition | None:
        head, *rest = name.split(".")
        found = self.lookup(module, head, seen) if head else None
        for part in rest:
            found = self.member(found, part)
        return found

    def follow(self, target: Import) -> Definition | None:
        """Return the definition that an import binds; cached."""
        if target not in self._followed:
            self._followed[target] = self._follow(target, 0)
        return self._followed[target]

    def _follow(self, target: Import, seen: int) -> Definition | None:
        source = self.modules.get(target.module)
        if not target.name:
            return source if source is not None else self._outside(target.module)
        if source is not None:
            if seen < _MOST_STEPS and (found := self.lookup(source, target.name, seen + 1)) is not None:
                return found
            full = f"{target.module}.{target.name}"
            return self.modules.get(full) or (full if full in self._extensions else None)
        submodule = self.modules.get(f"{target.module}.{target.name}")
        return submodule if submodule is not None else f"{target.module}.{target.name}"

    def _outside(self, name: str) -> str | None:
        return None if name in self._packages else name

    def global_of(self, target: Import, seen: int = 0) -> tuple[Module, str] | None:
        """Return the module and name of the variable behind an import, or None."""
        source = self.modules.get(target.module)
        if source is None:
            return None
        if target.name in source.globals:
            return source, target.name
        behind = self.behind_star(source, target.name) if source.stars else None
        onward = (behind or source).names.get(target.name)
        if behind is not None and target.name in behind.globals:
            return behind, target.name
        return self.global_of(onward, seen + 1) if isinstance(onward, Import) and seen < _MOST_STEPS else None


def _name_in_namespace(module: Module) -> str:
    """Return the module name if the folder above the top package is a namespace package.

    No file in such a folder says so: other files import ``megatron/core/__init__.py`` as ``megatron.core``.
    """
    folders, parts = PurePath(module.path).parts[:-1], module.name.split(".")
    own = parts if module.is_package else parts[:-1]
    above = folders[: len(folders) - len(own)]
    if not own or not above or [*folders[len(above) :]] != own or not above[-1].isidentifier():
        return module.name
    return f"{above[-1]}.{module.name}"


def relate(classes: Sequence[Class]) -> None:
    """Set the linearised bases and the subclasses of each class, bases first, in linear time.

    A class that seems to inherit from itself, because the project defines a name more than once, loses that
    base.
    """
    is_done: dict[Class, bool] = {}
    for root in classes:
        stack = [(root, iter([*root.bases]))] if root not in is_done else []
        while stack:
            cls, bases = stack[-1]
            is_done[cls] = False
            base = next(bases, None)
            if base is None:
                above = dict.fromkeys(each for base in cls.bases for each in base.linear)
                cls.linear = [cls, *islice(above, _MOST_ABOVE)]
                is_done[cls] = True
                stack.pop()
            elif base not in is_done:
                stack.append((base, iter([*base.bases])))
            elif not is_done[base]:
                cls.bases.remove(base)
    for cls in classes:
        for base in cls.linear[1:]:
            base.subclasses.append(cls)


@functools.cache
def builtin_names() -> frozenset[str]:
    """Return the names of Python's built-ins."""
    return frozenset(dir(builtins))
