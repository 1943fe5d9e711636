"""The assumptions of a proof: flags of a configuration, and facts that the source does not show.

    ASSUMPTION = MODULE ":" PATH [FACT] " = " CONSTANT        FACT = ".is_cpu" | ".is_cuda" | ".is_tensor" | ".ndim" | ".dtype"

A path is an attribute of a class, a parameter of a function, a variable of a module, or a call without arguments:
``m:Runner.flag``, ``m:prepare.lengths``, ``m:FLAG``, ``m:can_pin()``. With a ``*`` in it, a path is a pattern for tensors.
``m:Settings.*.is_tensor = False`` says that no attribute of a class is a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from syncscan.check.infer.domain.basic import constant
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.prove.source import Definitions, of_classes
from syncscan.check.prove.values import (
    NONE,
    TOP,
    AbstractValue,
    join_all,
    may_hold_gpu,
    opened,
    plain,
    refine,
    tensor,
)
from syncscan.errors import ConfigError, suggestion
from syncscan.model import Device, Kind

_FACTS = frozenset({"is_plain", "is_cpu", "is_cuda", "ndim", "dtype"})
_FORM = "write it as 'package.module:Class.attribute = CONSTANT'"
_DTYPES = {"bool": "bool", "uint8": "uint8"}


@dataclass(frozen=True, slots=True)
class Assumption:
    """One of them: the path it is about, the fact of a tensor if it is about one, and the constant."""

    text: str
    module: str
    path: str
    fact: str
    constant: Any


def parse(text: str) -> Assumption:
    """Parse an assumption; ConfigError names the fault."""
    name, equals, value = text.partition("=")
    module, colon, path = name.strip().partition(":")
    if not equals or not colon or not module or not path:
        raise ConfigError(f"--assume: {text!r} is no assumption; {_FORM}")
    try:
        known = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, TypeError):
        raise ConfigError(
            f"--assume: {value.strip()!r} is no constant, such as True, 0 or 'text'; {_FORM}"
        ) from None
    before, _, last = path.rpartition(".")
    if last == "is_plain" and known is not True:
        raise ConfigError(f"--assume: {text!r}: only `is_plain = True` is a fact")
    fact = last if last in _FACTS and before else ""
    return Assumption(" ".join(text.split()), module, before if fact else path, fact, known)


@dataclass(slots=True)
class Assumptions:
    """All of a proof, and which of them it has used."""

    given: tuple[Assumption, ...] = ()
    used: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Assumptions:
        """Parse some texts."""
        return cls(tuple(map(parse, texts)))

    def check(self, project: Definitions) -> None:
        """Raise ConfigError for an assumption about a name that does not exist."""
        for each in self.given:
            module = project.program.modules.get(each.module)
            if module is None:
                hint = suggestion(each.module, project.program.modules, _FORM)
                raise ConfigError(f"--assume: {each.text!r}: no module {each.module!r} was read; {hint}")
            if not _is_there(module, each.path, project):
                hint = suggestion(each.path, _names_in(module), _FORM)
                raise ConfigError(f"--assume: {each.text!r}: {each.module} has no {each.path}; {hint}")

    def of_attribute(self, cls: Class, name: str, value: AbstractValue) -> AbstractValue:
        """Return the value of an attribute by the assumptions, or the value."""
        for base in cls.mro():
            value = self._apply(base.module, f"{base.qualname}.{name}", value)
        return value

    def of_parameter(self, function: Function, name: str, value: AbstractValue) -> AbstractValue:
        """Return the value of a parameter by the assumptions, or the value."""
        return self._apply(function.module, f"{function.qualname}.{name}", value)

    def of_name(self, module: Module, name: str) -> AbstractValue | None:
        """Return the value of a variable of a module by the assumptions."""
        found = self._apply(module, name, _NOTHING)
        return None if found is _NOTHING else found

    def of_call(self, function: Function, result: AbstractValue) -> AbstractValue:
        """Return the result of a call by the assumptions, or the result."""
        return self._apply(function.module, f"{function.qualname}()", result)

    def _apply(self, module: Module, path: str, value: AbstractValue) -> AbstractValue:
        for each in self.given:
            if each.module != module.name or not fnmatchcase(path, each.path):
                continue
            if each.path != path and not (each.fact and _is_tensor(value)) and each.fact != "is_plain":
                continue  # other patterns are about tensors alone
            if each.fact == "is_plain" and not may_hold_gpu(value):
                continue
            self.used[each.text] = None
            value = _with_fact(value, each.fact, each.constant) if each.fact else _constant(each.constant)
        return value


_NOTHING = AbstractValue(Kind.UNKNOWN, payload="no assumption")


def _is_tensor(value: AbstractValue) -> bool:
    return all(option.kind is Kind.TENSOR for option in value.options) and value is not NONE


def _constant(known: Any) -> AbstractValue:
    """Return a constant as a value; a list stands for any list of such items."""
    if isinstance(known, (list, tuple)):
        inside = join_all([constant(each) for each in known if not isinstance(each, (list, tuple, dict))])
        kind = Kind.LIST if isinstance(known, list) else Kind.TUPLE
        return opened(AbstractValue(kind, element=refine(inside, payload=None)))
    return constant(known) if not isinstance(known, (dict, set)) else TOP


def _with_fact(value: AbstractValue, fact: str, known: Any) -> AbstractValue:
    """Return a tensor with a fact, or a list of such tensors."""
    if fact == "is_plain":
        return plain(value)
    if value.kind in {Kind.LIST, Kind.TUPLE} and value.element is not None:
        return refine(value, element=_with_fact(value.element, fact, known))
    if value.kind is Kind.UNION and all(each.kind in {Kind.TENSOR, Kind.NONE} for each in value.items or ()):
        return join_all(
            [each if each is NONE else _with_fact(each, fact, known) for each in value.items or ()]
        )
    if value.kind is not Kind.TENSOR:
        value = tensor()
    if fact == "ndim":
        return refine(value, ndim=known)
    if fact == "dtype":
        return refine(value, dtype=dtype_named(str(known)))
    return refine(value, device=Device.CPU if known is (fact == "is_cpu") else Device.CUDA)


def dtype_named(name: str) -> str | None:
    """Return the dtype of a name of torch or NumPy as the domain knows it; None for another name."""
    name = name.rpartition(".")[2].rstrip("_")
    if name in _DTYPES:
        return name
    if name in {"int", "long", "short"} or name.startswith(("int", "uint")):
        return "int"
    is_float = name in {"float", "double", "half"} or name.startswith(("float", "bfloat", "complex"))
    return "float" if is_float else None


def _is_there(module: Module, path: str, project: Definitions) -> bool:
    if "*" in path:
        return True
    owner, _, name = path.removesuffix("()").rpartition(".")
    if path.endswith("()"):
        return any(function.qualname == path[:-2] for function in module.functions)
    if not owner:
        return name in project.bindings(module).by_name
    classes = [cls for cls in module.classes if cls.qualname == owner]
    if any(_may_have(cls, name, project) for cls in classes):
        return True
    return any(function.qualname == owner and name in function.by_name for function in module.functions)


def _may_have(cls: Class, name: str, project: Definitions) -> bool:
    """Return whether objects of a class may have an attribute: not where the project alone defines the class, and never sets the attribute."""
    above = cls.mro()
    if any(each.external_bases or "__getattr__" in each.methods for each in above):
        return True
    if any(name in each.methods or name in each.annotations or name in each.nested for each in above):
        return True
    if any("setattr(" in each.module.lines.text or "__dict__" in each.module.lines.text for each in above):
        return True
    is_set = any(True for _ in project.bodies.plain(above, name))
    return is_set or bool(of_classes(project.storing(name), (*above, *cls.subclasses)))


def _names_in(module: Module) -> list[str]:
    """Return the names of a module that assumptions may be about: attributes, parameters and variables."""
    found = [f"{cls.qualname}.{name}" for cls in module.classes for name in (*cls.stored, *cls.annotations)]
    found += [f"{each.qualname}.{name}" for each in module.functions for name in each.by_name]
    return found + sorted(module.globals)
