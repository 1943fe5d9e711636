"""The questions of a proof to a project: definitions, annotations, and the results of the check's inference.

No other module of the package asks the solver. A proof trusts declarations (annotations, the operation table) and
the source itself. It takes the callees of the solver for a call that it cannot resolve itself.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

from syncscan.check.infer.dataflow.annotations import Annotations
from syncscan.check.infer.dataflow.observations import Observations
from syncscan.check.infer.source.index import Class, Function, Module, Virtual
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.source.syntax import last_name, walk
from syncscan.check.prove.bindings import Bindings, bindings_of, bound_at_run
from syncscan.check.prove.bodies import Bodies, related_to
from syncscan.check.prove.forms import Forms
from syncscan.check.prove.outline import Outline, is_special
from syncscan.check.prove.packages import HARMLESS_LAYERS
from syncscan.check.prove.ran import Code, code_of
from syncscan.check.prove.registrations import Registrations
from syncscan.check.prove.uses import owners_set
from syncscan.check.prove.values import (
    TOP,
    AbstractValue,
    anywhere,
    join_all,
    opened,
    with_keys,
    without_protocols,
)
from syncscan.model import Kind
from syncscan.ops.stubs import measured, with_cases_of_stub
from syncscan.ops.table import Operation, OperationTable
from syncscan.syntax.names import dotted_name
from syncscan.system.workers import shared, workers

# Annotations of iterables that may run code during iteration, unlike a list.
_LAZY = frozenset(
    {"Iterable", "Iterator", "Generator", "AsyncIterable", "AsyncIterator", "AsyncGenerator", "Awaitable", "Coroutine"}
)  # fmt: skip
_WORTH_SHARING = 100  # files
_MOST_ALIASES = 8  # of one another, in annotations


class Decorator(NamedTuple):
    """A decorator by its full name; ``is_made`` by a call: ``@cached(size=3)``."""

    name: str
    definition: Function | Class | None  # where it is of the project
    is_made: bool


class Asked(Enum):
    """The sorts of questions that the inference answers, or the bodies of any functions."""

    PASSED = "passed"  # to a parameter
    SET = "set"  # to an attribute of objects of a class
    RESOLVED = "resolved"  # callees of a function under a name
    STORING = "storing"  # an attribute of a name
    ONLY_LISTS = "only lists"  # for attributes of a name

    __hash__ = object.__hash__


class Question(NamedTuple):
    """A question whose answer may differ where no definition does."""

    sort: Asked
    about: Any = None
    name: str = ""


class Solved(Protocol):
    """The solver of a project once it is solved."""

    @property
    def context(self) -> Any:
        """Return the source, the operation table and the conventions."""

    @property
    def known(self) -> Any:
        """Return the known functions, by cell."""


class Definitions:
    """The definitions of a project by their names and nodes."""

    def __init__(
        self,
        solver: Solved,
        outlines: Mapping[str, Outline] | None = None,
        forms: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        """Take the outlines and forms of files that were read before, by path; the others are read when they are asked for."""
        context = solver.context
        self.modules: list[Module] = list(context.modules)
        self._outlines = dict(outlines or {})
        self.forms = Forms(forms or {})
        self.table: OperationTable = context.table
        self.scopes = context.scopes
        self.program = context.program
        self.declared: dict[Function, str] = context.declared
        self._context = context
        self._annotations = Annotations(context.program, of_all_types=True)
        self._registrations: Registrations | None = None
        self._has_distributions: bool | None = None
        self._parameters: dict[Parameter, Any] = solver.known.parameters
        self._attributes: dict[tuple[Class, str], Any] = solver.known.attributes
        self._callees: dict[Function, dict[Function | Virtual, Any]] = solver.known.callees
        self._bindings: dict[Module, Bindings] = {}
        self._bound_at_run: dict[Module, frozenset[str]] = {}
        self._set_elsewhere: dict[str, frozenset[Any]] = {}
        self._by_node: dict[Module, dict[ast.AST, Function]] = {}
        self._by_code: dict[Code, Function] | None = None
        self._methods: dict[str, list[tuple[Class, Function]]] | None = None
        self._bodies: Bodies | None = None
        self._extending: dict[str, list[Class]] | None = None
        self._special: dict[Class, tuple[str, ...]] = {}
        self._overrides: dict[tuple[Class, str], tuple[Function, ...]] = {}
        self._stores: dict[str, list[tuple[Function, bool]]] | None = None
        self._uses: frozenset[str] | None = None
        self._classes: dict[str, Class | bool] = {}
        self._promised: dict[tuple[ast.expr, Module], AbstractValue] = {}
        self._above: dict[tuple[Class, str], tuple[tuple[Function, ...], tuple[str, ...]]] = {}

    def outline(self, module: Module) -> Outline:
        """Return the outline of a file."""
        found = self._outlines.get(module.path)
        if found is None:
            found = self._outlines[module.path] = Outline.of(module)
        return found

    def outlines(self) -> list[tuple[Module, Outline]]:
        """Return every file with its outline, read in several processes: to read a file takes most of its time to parse it."""
        left = [each for each in self.modules if each.path not in self._outlines]
        if len(left) >= _WORTH_SHARING:
            count = workers(0)
            parts = shared(
                lambda share, count: [Outline.of(each).data() for each in left[share::count]], count
            )
            for share, part in enumerate(parts):
                for module, data in zip(left[share::count], part, strict=True):
                    self._outlines[module.path] = Outline(*data)
        return [(each, self.outline(each)) for each in self.modules]

    @property
    def registrations(self) -> Registrations:
        """Return the calls that may register operations of torch."""
        if self._registrations is None:
            self._registrations = Registrations(self.modules)
        return self._registrations

    @property
    def has_distributions(self) -> bool:
        """Return whether a file names the distributions of torch."""
        if self._has_distributions is None:
            self._has_distributions = any(outline.has_distributions for _, outline in self.outlines())
        return self._has_distributions

    def entry(self, module: str, name: str) -> Function | None:
        """Return the function or method of a full name; of a method also where a class above defines it."""
        found: Module | None = self.program.modules.get(module)
        if found is None:
            return None
        for function in found.functions:
            if function.qualname == name:
                return function
        owner, _, method = name.rpartition(".")
        cls = next((each for each in found.classes if each.qualname == owner), None)
        found_method: Function | None = cls.find_method(method) if cls is not None else None
        return found_method

    def function_at(self, module: Module, node: ast.AST) -> Function | None:
        """Return the function that a ``def`` defines."""
        if module not in self._by_node:
            self._by_node[module] = {function.node: function for function in module.functions}
        return self._by_node[module].get(node)

    def named(self, name: str) -> Function | Class | None:
        """Return the function or class of the project that has a full name."""
        parts = name.replace(".<locals>", "").split(".")
        for count in range(len(parts) - 1, 0, -1):
            module: Module | None = self.program.modules.get(".".join(parts[:count]))
            if module is not None:
                rest = ".".join(parts[count:])
                cls = next((each for each in module.classes if each.qualname == rest), None)
                return cls or self.entry(module.name, rest)
        return None

    def is_own(self, name: str) -> bool:
        """Return whether a full name is of a module of the project."""
        parts = name.split(".")
        return any(".".join(parts[:count]) in self.program.modules for count in range(1, len(parts)))

    @property
    def by_code(self) -> dict[Code, Function]:
        """Return the functions and lambdas of the project by the places of their code."""
        if self._by_code is None:
            functions = [
                each for module in self.modules for each in module.functions if each is not module.body
            ]
            self._by_code = {code_of(each): each for each in [*self.scopes.all_lambdas(), *functions]}
        return self._by_code

    def bindings(self, module: Module) -> Bindings:
        """Return the bindings at the top of a module."""
        found = self._bindings.get(module)
        if found is None:
            found = self._bindings[module] = bindings_of(module, self._defined)
        return found

    def bound_at_run(self, module: Module) -> frozenset[str]:
        """Return the names that the top of a module binds outside of ``if TYPE_CHECKING``."""
        found = self._bound_at_run.get(module)
        if found is None:
            found = self._bound_at_run[module] = frozenset(bound_at_run(module, module.tree.body))
        return found

    def _defined(self, module: Module, node: ast.AST) -> Function | Class | None:
        return module.class_at(node) if isinstance(node, ast.ClassDef) else self.function_at(module, node)

    def promised(self, annotation: ast.expr | None, module: Module, scope: Function | None) -> AbstractValue:
        """Return what an annotation promises; anything where that is nothing that matters."""
        if annotation is None:
            return TOP
        key = (annotation, module)
        found = self._promised.get(key)
        if found is None:
            found = TOP
            if not self._names_lazy(annotation, module):
                found = without_protocols(opened(self._annotations.read(annotation, module, scope)))
                if found.kind is Kind.DICT and (keys := _keys_in(annotation)) is not None:
                    found = with_keys(found, self.promised(keys, module, scope))
            self._promised[key] = found
        return found

    def _names_lazy(self, annotation: ast.expr, module: Module, seen: int = 0) -> bool:
        """Return whether an annotation, or a part of it, names an iterable that may run code during iteration."""
        for node in walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if any(name in node.value for name in _LAZY):
                    return True
            elif isinstance(node, (ast.Name, ast.Attribute)):
                if last_name(node) in _LAZY:
                    return True
                alias = self.program.written_as(module, dotted_name(node)) if seen < _MOST_ALIASES else None
                if alias is not None and self._names_lazy(alias[1], alias[0], seen + 1):
                    return True
        return False

    def overrides(self, cls: Class, name: str) -> tuple[Function, ...]:
        """Return the methods that a call on an object of a class may run: for each class below it, those that hide all others.

        More than one may be left if bases meet again above: the order of bases is not followed further.
        """
        key = (cls, name)
        found = self._overrides.get(key)
        if found is None:
            methods: dict[Function, None] = {}
            for each in (cls, *cls.subclasses):
                defining = {above: own for above in each.mro() if (own := self._own_methods(above, name))}
                hidden = {above for one in defining for above in one.mro()[1:]}
                shown = [own for one, own in defining.items() if one not in hidden]
                methods.update((method, None) for own in shown for method in own)
            found = self._overrides[key] = tuple(methods)
        return found

    def _own_methods(self, cls: Class, name: str) -> tuple[Function, ...]:
        """Return the method that a class defines; a special method may be assigned in the body."""
        own = (cls.methods[name],) if name in cls.methods else ()
        return (*own, *self.bodies.functions(cls, name)) if name.startswith("__") else own

    def metaclasses(self, cls: Class) -> list[Class]:
        """Return the classes of the project that make a class, or one above or below it."""
        found: list[Class] = []
        for each in (*cls.mro(), *cls.subclasses):
            for keyword in each.node.keywords if self.forms.of_class(each).has_keywords else ():
                name = dotted_name(keyword.value) if keyword.arg == "metaclass" else ""
                meta = self.program.lookup_dotted(each.module, name, each.parent) if name else None
                found += [meta] if isinstance(meta, Class) else []
        return found

    def special_names(self, cls: Class) -> tuple[str, ...]:
        """Return the names of the special methods that objects of a class may have."""
        found = self._special.get(cls)
        if found is None:
            own = {name for each in related_to(cls) for name in (*each.methods, *self.bodies.names(each))}
            found = self._special[cls] = tuple(sorted(filter(is_special, own)))
        return found

    def above(self, owner: Class, name: str) -> tuple[tuple[Function, ...], tuple[str, ...]]:
        """Return the methods next above a class, and the classes outside of the project that may have one.

        The object may be of any class below.
        """
        found = self._above.get((owner, name))
        if found is None:
            methods: dict[Function, None] = {}
            outside: dict[str, None] = {}
            for cls in (owner, *owner.subclasses):
                above = [each for each in cls.mro() if each is not owner and owner not in each.mro()]
                defined = [method for each in above for method in self._own_methods(each, name)]
                methods.update(dict.fromkeys(defined))
                if not defined:
                    outside.update(
                        dict.fromkeys(base for each in (owner, *above) for base in each.external_bases)
                    )
            found = self._above[owner, name] = tuple(methods), tuple(outside)
        return found

    def returned_parameter(self, function: Function) -> str:
        """Return the parameter that every call of a function returns as it is, or ""."""
        return self.forms.of_function(function).returned

    def is_generator(self, function: Function) -> bool:
        """Return whether calls of a function make a generator."""
        return self.forms.of_function(function).yields

    def promised_result(self, function: Function) -> AbstractValue:
        """Return what the annotation of a result promises; see `promised`."""
        annotation = self.forms.result(function)
        return self.promised(annotation, function.module, function.parent or function)

    def _passed(self, parameter: Parameter) -> AbstractValue | None:
        """Return what the check has seen callers pass to a parameter; None where it has seen none."""
        value = self._parameters[parameter].value  # (`get` would find no cell of an earlier run)
        return None if value.kind is Kind.UNKNOWN else anywhere(opened(value))

    def _set_to(self, cls: Class, name: str) -> AbstractValue:
        """Return what the check has seen the project set an attribute to, the fields of records among them."""
        return anywhere(opened(join_all(self._attributes[each, name].value for each in related_to(cls))))

    @property
    def observations(self) -> Observations:
        """Return the runtime facts."""
        found: Observations = self._context.observations
        return found

    def class_named(self, name: str) -> Class | bool:
        """Return the class of a full name; otherwise whether the project may have another such class."""
        found = self._classes.get(name)
        if found is None:
            own = self.named(name)
            alike = [each for each in own.module.classes if each.qualname == own.qualname] if own else []
            is_one = isinstance(own, Class) and len(alike) == 1
            is_own = name.startswith("__main__.") or self.is_own(name)  # a script is of any module
            found = self._classes[name] = own if is_one and isinstance(own, Class) else is_own
        return found

    def methods_named(self, name: str) -> list[Function]:
        """Return every method and property of the project with a name."""
        return [method for _, method in self.definers(name)]

    def definers(self, name: str) -> list[tuple[Class, Function]]:
        """Return every method and property of the project with a name, and the class.

        A special method may be assigned in the body of the class: ``__iter__ = items``.
        """
        if self._methods is None:
            self._methods = {}
            for module in self.modules:
                for function in module.functions:
                    if function.owner is not None:
                        self._methods.setdefault(function.name, []).append((function.owner, function))
        found = self._methods.get(name, [])
        if not name.startswith("__"):
            return found
        assigned = self.bodies.assigning(name)
        return found + [(cls, each) for cls in assigned for each in self.bodies.functions(cls, name)]

    @property
    def bodies(self) -> Bodies:
        """Return the assignments in the bodies of all classes."""
        if self._bodies is None:
            self._bodies = Bodies(self.outlines(), self.program, self.scopes)
        return self._bodies

    def defines(self, name: str) -> bool:
        """Return whether a class of the project has a method of a name, or assigns the name in its body."""
        return bool(self.methods_named(name)) or any(self.bodies.assigning(name))

    def extending(self, name: str) -> list[Class]:
        """Return the classes of the project that extend a layer of torch, by its full name."""
        if name not in HARMLESS_LAYERS:  # the call of another class is an obstacle itself
            return []
        if self._extending is None:
            self._extending = {}
            for each in (cls for module in self.modules for cls in module.classes):
                for base in each.external_bases:
                    self._extending.setdefault(base, []).append(each)
        return self._extending.get(name, [])

    def setters(self, name: str) -> list[Function]:
        """Return every setter of a property of a name."""
        return [
            each for each in self.methods_named(name) if any(d.endswith(".setter") for d in each.decorators)
        ]

    def _only_lists(self, name: str) -> bool:
        """Return whether no use of an attribute of some name hands its list to anybody."""
        if self._uses is None:
            self._uses = frozenset(each for _, outline in self.outlines() for each in outline.uses)
        return name not in self._uses

    def storing(self, name: str) -> list[tuple[Function, bool]]:
        """Return the functions that set an attribute of a name, and whether on other objects than their own."""
        if self._stores is None:
            self._stores = {}
            for module, outline in self.outlines():
                for position, attribute, of_others in outline.stores:
                    self._stores.setdefault(attribute, []).append((module.functions[position], of_others))
        return self._stores.get(name, [])

    def set_elsewhere(self, name: str) -> frozenset[Any]:
        """Return the modules and classes on which other code sets a name, as ``settings.PINNED = True`` does.

        The answer rests on the functions of `Asked.STORING`, so a walk asks that question, too.
        """
        found = self._set_elsewhere.get(name)
        if found is None:
            writers = [each for each, of_others in self.storing(name) if of_others]
            for each in writers:
                each.module.read()
            lookup = self.program.lookup_dotted
            found = self._set_elsewhere[name] = frozenset(
                lookup(each.module, owner, each) for each in writers for owner in owners_set(each.node, name)
            )
        return found

    def answer(self, question: Question) -> Any:
        """Return the answer to a question whose answer may differ where no definition does."""
        sort, about, name = question
        if sort is Asked.PASSED:
            return self._passed(about)
        if sort is Asked.SET:
            return self._set_to(about, name)
        if sort is Asked.RESOLVED:
            return self._resolved_by_check(about, name)
        return self.storing(name) if sort is Asked.STORING else self._only_lists(name)

    def _resolved_by_check(self, function: Function, name: str) -> list[Function]:
        """Return the callees that the check's inference resolved from a function under a name."""
        found: dict[Function, None] = {}
        for callee in self._callees.get(function, ()):
            for each in callee.below if isinstance(callee, Virtual) else (callee,):
                of_class = each.owner.name if each.owner is not None and each.name == "__init__" else ""
                if name in {each.name, of_class}:
                    found[each] = None
        return list(found)

    def operation(self, name: str) -> Operation | None:
        """Return the entry of the operation table for a full name, or of a stub whose calls were measured."""
        known = self.table.find(name)
        if known is None or name in self.table.own:
            return known or measured(name)
        return with_cases_of_stub(known)

    def decoration(self, function: Function | Class) -> list[Decorator]:
        """Return the decorators of a function or a class."""
        found: list[Decorator] = []
        if isinstance(function, Function) and not self.forms.of_function(function).is_decorated:
            return found
        for node in getattr(function.node, "decorator_list", ()):
            is_made = isinstance(node, ast.Call)
            called = node.func if isinstance(node, ast.Call) else node
            name = dotted_name(called)
            definition = self.program.lookup_dotted(function.module, name, function.parent) if name else None
            if isinstance(definition, (Function, Class)):
                found.append(Decorator(definition.name, definition, is_made))
            else:
                full = self.program.full_name(node, function.module, function.parent)
                found.append(Decorator(full or ast.unparse(node), None, is_made))
        return found


def of_classes(writers: Iterable[tuple[Function, bool]], classes: Collection[Class]) -> list[Function]:
    """Return the functions that may set an attribute of objects of some classes: not methods of others on their own objects."""
    return [
        function
        for function, of_others in writers
        if of_others or function.owner is None or function.owner in classes
    ]


def _keys_in(annotation: ast.expr) -> ast.expr | None:
    """Return the value of keys that ``dict[K, V]`` declares."""
    both = annotation.slice if isinstance(annotation, ast.Subscript) else None
    return both.elts[0] if isinstance(both, ast.Tuple) and len(both.elts) == 2 else None
