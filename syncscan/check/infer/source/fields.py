"""Input fields that a project keeps in host memory: ``sizes=Field.batched("image", keep_on_cpu=True)``.

Such a declaration applies to its file, and to importing modules of the same package. A module's own
declaration of the field takes precedence.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterator, Sequence

from syncscan.check.infer.source.index import Import, Module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.syntax import walk
from syncscan.syntax.names import dotted_name

_SWITCH = "keep_on_cpu"


def note_kept(modules: Sequence[Module]) -> None:
    """Set ``kept`` of every module to the names of its fields in host memory."""
    queue = deque(module for module in modules if says_so(module.lines))
    calls = (call for module in queue for _, call in _fields(module.tree))
    makers = frozenset(_maker(call) for call in calls if _is_kept(call))
    importers = _importers(modules) if makers else {}
    kept: dict[str, frozenset[str]] = {}  # by the names of the modules
    while queue and makers:
        module = queue.popleft()
        if module.name in kept:
            continue
        module.makers = makers
        own = declared(module.tree, makers)
        inherited = frozenset[str]().union(*(kept.get(name, ()) for name in beside(module)))
        module.kept = frozenset(name for name, is_kept in own.items() if is_kept) | (inherited - own.keys())
        kept[module.name] = module.kept
        if module.kept:
            queue.extend(importers.get(module.name, ()))


def says_so(lines: Lines) -> bool:
    """Return whether any line mentions the switch ``keep_on_cpu``."""
    return lines.mention(_SWITCH)


def declares_same(module: Module, tree: ast.Module, lines: Lines) -> bool:
    """Return whether another tree of a file declares the same fields, and with the same makers keeps some."""
    if not module.makers and not says_so(lines):
        return True
    before, now = (
        (declared(each, module.makers), {_maker(call) for _, call in _fields(each) if _is_kept(call)})
        for each in (module.tree, tree)
    )
    return before == now


def declared(tree: ast.Module, makers: Collection[str]) -> dict[str, bool]:
    """Return the fields that a file declares by these makers, with whether each stays in host memory."""
    return {name: _is_kept(call) for name, call in _fields(tree) if _maker(call) in makers}


def _fields(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in walk(tree):
        if isinstance(node, ast.keyword) and node.arg is not None and isinstance(node.value, ast.Call):
            yield node.arg, node.value
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if (
                    isinstance(key, ast.Constant)
                    and isinstance(key.value, str)
                    and isinstance(value, ast.Call)
                ):
                    yield key.value, value


def _is_kept(call: ast.Call) -> bool:
    return any(
        keyword.arg == _SWITCH and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in call.keywords
    )


def _maker(call: ast.Call) -> str:
    """Return the callable that declares a field: ``Field`` for ``Field.batched(...)``."""
    name = dotted_name(call.func)
    return name.rpartition(".")[0] or name


def _importers(modules: Sequence[Module]) -> dict[str, list[Module]]:
    """Return the modules of the same package that import each module, by its name."""
    found: dict[str, list[Module]] = {}
    for module in modules:
        for name in beside(module):
            found.setdefault(name, []).append(module)
    return found


def beside(module: Module) -> frozenset[str]:
    """Return the names of the modules in the same package from which a module imports."""
    package = module.name.rpartition(".")[0]
    targets = {target.module for target in module.names.values() if isinstance(target, Import)}
    return frozenset(name for name in targets if name.rpartition(".")[0] == package)
