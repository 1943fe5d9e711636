"""The meaning of a name: in the function at hand, in those around it, in its module, and in Python itself."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence

from syncscan.check.infer.source.index import Class, Function, Import, Module, imported_names
from syncscan.check.prove.bindings import Binding, SetByFunction
from syncscan.check.prove.frame import WalkFrame, Walks
from syncscan.check.prove.source import Asked, Question
from syncscan.check.prove.uses import blocks_of
from syncscan.check.prove.values import TOP, AbstractValue, external, join, join_all, used_later
from syncscan.model import Kind

_BUILTINS = frozenset(dir(builtins))
_OF_MODULES = frozenset({"__name__", "__file__", "__doc__", "__package__", "__path__"})
_MOST_STEPS = 12  # of imports that lead to imports


def name_value(frame: WalkFrame, name: str) -> AbstractValue:
    """Return the value of a name at a read."""
    found = frame.env.get(name)
    if found is not None and name in scopes_rebound(frame, frame.function):
        return TOP
    if found is not None:
        return found
    function: Function | None = frame.function
    scopes = frame.source.scopes
    if function is not None and function.node is not frame.module.tree and name in scopes.locals_of(function):
        return TOP  # bound on no path that was walked
    is_at_the_top = frame.function.node is frame.module.tree
    function = function.parent if function is not None else None
    while function is not None:
        if name in scopes.locals_of(function):
            return _captured(frame, function, name)
        function = function.parent
    whole = module_value(frame.prover, frame.module, name)
    if is_at_the_top and name in frame.source.bindings(frame.module).by_name:
        # bound further down only: ``print = partial(print, flush=True)`` reads the name of Python
        return join_all([whole, *_from_elsewhere(frame.prover, frame.module, name, is_bound=False)])
    return whole


def _captured(frame: WalkFrame, function: Function, name: str) -> AbstractValue:
    """Return the join of all values bound to a variable of an enclosing function."""
    if name in scopes_rebound(frame, function):
        return TOP
    return used_later(frame.prover.asked(function).binds(name))


def scopes_rebound(frame: WalkFrame, function: Function) -> frozenset[str]:
    """Return the names of a function that functions in it set."""
    return frozenset(frame.source.scopes.rebound_of(function))


def definition_value(found: Function | Class | Module | str | None) -> AbstractValue:
    """Return a definition as a value."""
    if isinstance(found, Function):
        return AbstractValue(Kind.FUNCTION, payload=found)
    if isinstance(found, Class):
        return AbstractValue(Kind.CLASS, payload=found)
    if isinstance(found, Module):
        return AbstractValue(Kind.MODULE, payload=found)
    return TOP if found is None else external(found)


def module_value(prover: Walks, module: Module, name: str, steps: int = 0) -> AbstractValue:
    """Return what a name means at the top of a module: all that may have bound it."""
    assumed = prover.assumptions.of_name(module, name)
    if assumed is not None:
        return assumed
    values = [value for each in _with_stars(prover, module) for value in _bound_in(prover, each, name, steps)]
    if name in prover.source.bindings(module).by_name:
        return join_all(values)
    return join_all([*values, *_from_elsewhere(prover, module, name, is_bound=bool(values))])


def _with_stars(prover: Walks, module: Module) -> list[Module | None]:
    """Return a module, and those whose names its stars bind, at any distance; None for one outside of the project."""
    found: dict[str, Module | None] = {module.name: module}
    queue = [module]
    while queue:
        for star in prover.source.bindings(queue.pop()).stars:
            if star not in found:
                found[star] = source = prover.source.program.modules.get(star)
                queue += [source] if source is not None else []
    return [module, *(each for each in found.values() if each is not module)]


def _bound_in(prover: Walks, module: Module | None, name: str, steps: int) -> list[AbstractValue]:
    """Return all that a module itself makes of a name."""
    if module is None:
        return [TOP]
    found = prover.source.bindings(module).by_name.get(name, ())
    values = [TOP] if _is_set_elsewhere(prover, module, name) else []
    ran = found if len(found) == 1 else _that_ran(prover, module, name, found)
    return [*values, *(value for each in ran for value in _values_of(prover, module, name, each, steps))]


def _values_of(
    prover: Walks, module: Module, name: str, binding: Binding, steps: int
) -> Iterator[AbstractValue]:
    """Yield what one binding makes of a name."""
    if isinstance(binding, (Function, Class)):
        yield definition_value(binding)
    elif isinstance(binding, SetByFunction):
        if prover.ran.body(binding.function):
            yield used_later(prover.asked(binding.function).binds(name))
    elif isinstance(binding, Import):
        own = submodule_of(prover, module, name)
        is_own = own is not None and binding == (module.name, name)
        yield definition_value(own) if is_own else import_value(prover, binding, module, steps + 1)
    elif isinstance(binding, ast.AnnAssign) and (promised := _promised(prover, module, binding)) is not TOP:
        yield promised
    elif isinstance(binding, ast.stmt) and not isinstance(binding, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield used_later(prover.asked(module.body).binds(name))
    else:
        yield TOP


def _is_set_elsewhere(prover: Walks, module: Module, name: str) -> bool:
    """Return whether code sets a name of a module from outside: ``settings.PINNED = True``."""
    prover.answer(Question(Asked.STORING, name=name))  # on which this rests
    return module in prover.source.set_elsewhere(name)


def _that_ran(prover: Walks, module: Module, name: str, found: Sequence[Binding]) -> Sequence[Binding]:
    """Return what binds a name at the top of a module, without the imports that a run left out, unless that is all of it."""
    if not prover.ran.read(module):
        return found
    left = [
        each for each in found if not isinstance(each, Import) or _may_have_run(prover, module, name, each)
    ]
    return left or found


def _may_have_run(prover: Walks, module: Module, name: str, target: Import) -> bool:
    nodes = [
        each for each in _imports_in(module.tree.body) if imported_names(each, module).get(name) == target
    ]
    return not nodes or any(prover.ran.statement(module, each) for each in nodes)


def _imports_in(body: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for block in blocks_of(node):
                yield from _imports_in(block)


def _promised(prover: Walks, module: Module, node: ast.AnnAssign) -> AbstractValue:
    """Return the value that a variable's annotation declares for every assignment."""
    found = prover.source.promised(node.annotation, module, None)
    return TOP if any(option.kind is Kind.TENSOR for option in found.options) else found


def _from_elsewhere(prover: Walks, module: Module, name: str, *, is_bound: bool) -> Iterator[AbstractValue]:
    """Yield what a name may be that the module itself does not bind, and that stars may bind or not."""
    if name in _OF_MODULES:
        yield AbstractValue(Kind.STRING)
        return
    if name not in _BUILTINS and any(
        each is None or "__getattr__" in prover.source.bindings(each).by_name
        for each in _with_stars(prover, module)
    ):
        yield TOP
        return
    submodule = submodule_of(prover, module, name)
    if submodule is not None:
        yield definition_value(submodule)
    elif name in _BUILTINS:
        yield external(f"builtins.{name}")
    elif not is_bound:
        yield TOP


def _is_builtin(value: AbstractValue) -> bool:
    return isinstance(value.payload, str) and value.payload.startswith("builtins.")


def submodule_of(prover: Walks, package: Module, name: str) -> Module | None:
    """Return the submodule of a package that has a name."""
    return prover.source.program.modules.get(f"{package.name}.{name}") if package.is_package else None


def import_value(prover: Walks, target: Import, importer: Module, steps: int = 0) -> AbstractValue:
    """Return the value of an import in a module."""
    program = prover.source.program
    source = program.modules.get(target.module)
    if not target.name:
        if source is not None:
            return definition_value(source)
        return definition_value(program.follow(target))
    if source is None:
        submodule = program.modules.get(f"{target.module}.{target.name}")
        return (
            definition_value(submodule)
            if submodule is not None
            else external(f"{target.module}.{target.name}")
        )
    if steps >= _MOST_STEPS:
        return TOP
    submodule = program.modules.get(f"{source.name}.{target.name}")
    if submodule is not None and target.name not in prover.source.bindings(source).by_name:
        return definition_value(submodule)
    found = module_value(prover, source, target.name, steps + 1)
    if submodule is not None and source is importer:  # a package that binds the name later, or again
        return join(definition_value(submodule), found)
    return TOP if _is_builtin(found) else found
