"""What a name means that the function itself does not bind."""

from __future__ import annotations

import functools

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.guesses import named
from syncscan.check.infer.source.index import Class, Function, Import, Module
from syncscan.check.infer.source.program import Definition, builtin_names
from syncscan.check.infer.table.results import dtype_class
from syncscan.check.infer.values.basic import NONE, NUMBER
from syncscan.check.infer.values.lattice import join
from syncscan.model import UNKNOWN, Kind, Value


def outer_name(frame: Frame, name: str) -> Value:
    """A name that is not local: of an enclosing function, the module, or Python."""
    scope: Function | None = frame.function
    while scope is not None:
        if name in scope.children:
            return definition(scope.children[name])
        scope = scope.parent
        if scope is not None and name in frame.context.scopes.locals_of(scope):
            return frame.read(frame.context.known.captured[scope, name])
    module = frame.module
    if name in module.names or name in module.globals:
        return module_name(frame, module, name)
    if name in builtin_names():
        return Value(Kind.MODULE, payload=f"builtins.{name}")
    return frame.read(frame.context.known.globals[module, name])  # bound in an expression, if at all


def module_name(frame: Frame, module: Module, name: str) -> Value:
    """The value of a top-level name of a module of the project."""
    program, variables = frame.context.program, frame.context.known.globals
    target = module.names.get(name)
    own = frame.read(variables[module, name]) if name in module.globals else None
    if isinstance(target, Import):
        found = program.follow(target)
        if found is not None:
            return join(definition(found), own) if own is not None else definition(found)
        if own is None:
            place = program.global_of(target)
            own = frame.read(variables[place]) if place is not None else None
        return named(frame, own, name) if own is not None else UNKNOWN
    if target is not None:
        return definition(target)
    if own is not None:
        return own
    submodule = program.modules.get(f"{module.name}.{name}")
    return Value(Kind.MODULE, payload=submodule) if submodule is not None else UNKNOWN


def definition(found: Definition) -> Value:
    """The value of something defined or imported."""
    if isinstance(found, Function):
        return Value(Kind.FUNCTION, payload=found)
    if isinstance(found, Class):
        return Value(Kind.CLASS, payload=found)
    return external(found) if isinstance(found, str) else Value(Kind.MODULE, payload=found)


@functools.lru_cache(maxsize=65536)
def external(name: str) -> Value:
    """Something outside the project, by its full name."""
    if name.startswith("torch.") and (dtype := dtype_class(name)) and name.count(".") == 1:
        return Value(Kind.DTYPE, dtype=dtype)
    if name in {"numpy.bool_", "numpy.int32", "numpy.int64", "numpy.float32", "numpy.float64"}:
        return Value(Kind.DTYPE, dtype=dtype_class(name.rstrip("_")), payload=name)
    if name == "numpy.newaxis":
        return NONE
    if name in {"math.inf", "math.pi", "numpy.inf", "numpy.nan", "sys.maxsize"}:
        return NUMBER
    return Value(Kind.MODULE, payload=name)
