"""Values of names that the function itself does not bind."""

from __future__ import annotations

import functools

from syncscan.check.infer.domain.basic import NONE, NUMBER
from syncscan.check.infer.domain.lattice import join
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.conventions import dtype_class
from syncscan.check.infer.source.index import Class, Function, Import, Module
from syncscan.check.infer.source.program import Definition, builtin_names
from syncscan.check.infer.transfer.guesses import named
from syncscan.check.infer.transfer.point import Point
from syncscan.model import Kind


def outer_name(at: Point, name: str) -> AbstractValue:
    """Return the value of a non-local name: of an enclosing function, the module, or Python's built-ins."""
    scope: Function | None = at.function
    while scope is not None:
        if name in scope.children:
            return definition(scope.children[name])
        scope = scope.parent
        if scope is not None and name in at.context.scopes.locals_of(scope):
            return at.read(at.context.known.captured[scope, name])
    module = at.module
    if name in module.names or name in module.globals:
        return module_name(at, module, name)
    source = at.context.program.behind_star(module, name) if module.stars else None
    if source is not None:
        return module_name(at, source, name)
    if name in builtin_names():
        return AbstractValue(Kind.MODULE, payload=f"builtins.{name}")
    return at.read(at.context.known.globals[module, name])  # bound in an expression, if at all


def is_bound(at: Point, name: str) -> bool:
    """Return whether the project binds a non-local name; others are of built-ins, or of ``from module import *`` of a package."""
    scope = at.function.parent
    while scope is not None:
        if name in scope.children or name in at.context.scopes.locals_of(scope):
            return True
        scope = scope.parent
    module = at.module
    if name in module.names or name in module.globals:
        return True
    return bool(module.stars) and at.context.program.behind_star(module, name) is not None


def module_name(at: Point, module: Module, name: str) -> AbstractValue:
    """Return the value of a module's top-level name."""
    program, variables = at.context.program, at.context.known.globals
    target = module.names.get(name)
    own = at.read(variables[module, name]) if name in module.globals else None
    if isinstance(target, Import):
        found = program.follow(target)
        if found is not None:
            return join(definition(found), own) if own is not None else definition(found)
        if own is None:
            place = program.global_of(target)
            own = at.read(variables[place]) if place is not None else None
        return named(at, own, name) if own is not None else BOTTOM
    if target is not None:
        return definition(target)
    if own is not None:
        return own
    source = program.behind_star(module, name) if module.stars else None
    if source is not None:
        return module_name(at, source, name)
    submodule = program.modules.get(f"{module.name}.{name}")
    return AbstractValue(Kind.MODULE, payload=submodule) if submodule is not None else BOTTOM


def imported(at: Point, target: Import) -> AbstractValue:
    """Return the value of a name that an import within a function binds."""
    at.asks(target.module, target.name)
    found = at.context.program.follow(target)
    if found is not None:
        return definition(found)
    place = at.context.program.global_of(target)
    return at.read(at.context.known.globals[place]) if place is not None else BOTTOM


def definition(found: Definition) -> AbstractValue:
    """Return the value of a definition or an external name."""
    if isinstance(found, Function):
        return AbstractValue(Kind.FUNCTION, payload=found)
    if isinstance(found, Class):
        return AbstractValue(Kind.CLASS, payload=found)
    return external(found) if isinstance(found, str) else AbstractValue(Kind.MODULE, payload=found)


@functools.lru_cache(maxsize=65536)
def external(name: str) -> AbstractValue:
    """Return the value of an external name."""
    if name.startswith("torch.") and (dtype := dtype_class(name)) and name.count(".") == 1:
        return AbstractValue(Kind.DTYPE, dtype=dtype)
    if name in {"numpy.bool_", "numpy.int32", "numpy.int64", "numpy.float32", "numpy.float64"}:
        return AbstractValue(Kind.DTYPE, dtype=dtype_class(name.rstrip("_")), payload=name)
    if name == "numpy.newaxis":
        return NONE
    if name in _NUMBERS:
        return NUMBER
    return AbstractValue(Kind.MODULE, payload=name)


_NUMBERS = {"numpy.euler_gamma", "sys.maxsize"}.union(
    f"{package}.{name}" for package in ("math", "numpy", "torch") for name in ("e", "inf", "nan", "pi", "tau")
)
