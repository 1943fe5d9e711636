"""The definitions of a project: modules, classes and functions, read without running any code.

They reflect the source alone, and are immutable once the modules are linked (`Program`). The inference stores
its results elsewhere, in `syncscan.check.infer.dataflow`. Each leads to all others, so its `repr` leaves its fields out.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from syncscan.check.files import is_outside
from syncscan.check.infer.source.conventions import is_module_class, prepares_inputs, reads_outputs
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.source.syntax import walk
from syncscan.syntax.names import dotted_name

_TABLES = (".TypedDict", ".dict", ".OrderedDict", ".UserDict")  # names of classes end so
AUTOGRAD_FUNCTIONS = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
LAMBDA = "<lambda>"
NO_NAMES: frozenset[str] = frozenset()  # CPython makes a new one each time
FIELDS = ""  # stands among the members of a class for their names, and the order of its fields
ALL = "*"  # of `from module import *`
TAKE_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})  # in place of the object
NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple", "collections.namedtuple"})

# Decorators that make a kernel of what they are given; packages give them out under names of their own.
_MAKE_KERNELS = (
    ".triton.jit",
    ".cute.jit",
    ".cute.kernel",
    ".cutlass_dsl.dsl_user_op",
    ".cuda.jit",
    ".language.prim_func",
    ".warp.kernel",
    ".warp.func",
    ".taichi.kernel",
    ".taichi.func",
)


@dataclass(eq=False, slots=True, repr=False)
class Function:
    """A function, a method, a lambda, or the body of a module (whose node is the module)."""

    name: str
    qualname: str
    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module
    owner: Class | None = None
    parent: Function | None = None
    parameters: list[Parameter] = field(default_factory=list)
    decorators: frozenset[str] = NO_NAMES  # full names, see `Program.full_name`
    is_property: bool = False  # read like an attribute
    is_cached_property: bool = False  # a property whose body runs once for each object
    is_cached: bool = False  # such a property, or a function whose body runs once for the same arguments
    is_static: bool = False  # takes no ``self``
    is_of_class: bool = False  # takes the class where other methods take the object
    is_kernel: bool = False  # the GPU runs what a compiler makes of it
    children: dict[str, Function | Class] = field(default_factory=dict)
    plain: list[Parameter] = field(default_factory=list)  # those that positional arguments fill
    rest: Parameter | None = None  # ``*args``
    more: Parameter | None = None  # ``**kwargs``
    by_name: dict[str, Parameter] = field(default_factory=dict)
    global_names: frozenset[str] = NO_NAMES  # that a ``global`` statement names
    nonlocal_names: frozenset[str] = NO_NAMES
    statement: ast.stmt | None = None  # in which a lambda stands
    is_generator: bool = False
    calls_of_its_own: frozenset[str] | None = None
    called_as: tuple[Virtual, ...] | None = None
    number: int = 0  # of a lambda among those of the definition around it, from 1 on
    key: str = field(init=False)  # no other definition of the project has it, and it is the same in every run

    def __post_init__(self) -> None:
        self.key = self.module.key_of(self.qualname)

    @property
    def result(self) -> ast.expr | None:
        """The declared annotation of the result, or None."""
        return getattr(self.node, "returns", None)

    def take(self, parameters: Iterable[Parameter]) -> None:
        """Set the parameters, in order."""
        self.parameters = list(parameters)
        plain = [p for p in self.parameters if not p.star and not p.keyword_only]
        self.plain = plain if len(plain) < len(self.parameters) else self.parameters
        self.rest = next((p for p in self.parameters if p.star == "*"), None)
        self.more = next((p for p in self.parameters if p.star == "**"), None)
        self.by_name = {parameter.name: parameter for parameter in self.parameters}

    def decorate(self, decorators: frozenset[str]) -> None:
        """Set the decorators by their full names, with the properties that follow from them."""
        self.decorators = decorators
        short = [name.rpartition(".")[2] for name in decorators]
        self.is_property = "builtins.property" in decorators or not _PROPERTIES.isdisjoint(short)
        self.is_cached_property = self.is_property and any(map(_KEEPS_RESULTS.search, short))
        self.is_cached = self.is_cached_property or not decorators.isdisjoint(_CACHES)
        self.is_static = "builtins.staticmethod" in decorators
        self.is_of_class = "builtins.classmethod" in decorators
        self.is_kernel = any(f".{name}".endswith(_MAKE_KERNELS) for name in decorators)

    def is_argument(self, parameter: Parameter) -> bool:
        """Return whether each call passes exactly one value for a parameter: neither the receiver, nor a default, nor `*args`."""
        is_receiver = self.owner is not None and not self.is_static and parameter is self.parameters[0]
        return not (is_receiver or parameter.star or parameter.default is not None)

    @property
    def is_lambda(self) -> bool:
        """True for a lambda, which the analysis meets where it stands."""
        return self.name == LAMBDA

    @property
    def is_abstract(self) -> bool:
        """True for a method that exists to be overridden: it is declared abstract, or ends with a raise."""
        body = self.node.body if isinstance(self.node, ast.FunctionDef) else []
        return "abc.abstractmethod" in self.decorators or (bool(body) and isinstance(body[-1], ast.Raise))

    @property
    def works_on_the_host(self) -> bool:
        """True for a method that prepares model inputs on the host, and does not process outputs."""
        return self.owner is not None and self.owner.prepares_inputs and not reads_outputs(self.name)

    @property
    def is_of_a_kernel(self) -> bool:
        """True for a kernel or a function nested in one, which Python never runs."""
        function: Function | None = self
        while function is not None and not function.is_kernel:
            function = function.parent
        return function is not None

    def own_calls(self) -> frozenset[str]:
        """Return the private methods that a method calls on its own object."""
        if self.calls_of_its_own is None:
            receiver = self.parameters[0].name if self.parameters else "self"
            calls = (dotted_name(node.func) for node in walk(self.node) if isinstance(node, ast.Call))
            found = (name.removeprefix(f"{receiver}.") for name in calls if name.startswith(f"{receiver}._"))
            self.calls_of_its_own = frozenset(found) or NO_NAMES
        return self.calls_of_its_own

    def virtuals(self) -> tuple[Virtual, ...]:
        """Return the virtual methods of base classes through which a call may run this method."""
        if self.called_as is None:
            above = self.owner.mro()[1:] if self.owner is not None else []
            found = (cls.virtual(self.name) for cls in above)
            self.called_as = tuple(virtual for virtual in found if virtual and self in virtual.below)
        return self.called_as


_CACHES = frozenset({"functools.cache", "functools.lru_cache"})
_PROPERTIES = frozenset({"abstractproperty", "cached_property", "lazy_property"})
_KEEPS_RESULTS = re.compile(r"(^|_)(cached?|lazy|memoized?)($|_)")  # names of decorators


@dataclass(eq=False, slots=True, repr=False)
class Virtual:
    """A method as called through a class: any of the overriding methods of its subclasses."""

    cls: Class
    name: str
    below: dict[Function, None]
    named: frozenset[str] | None = None  # see `names`

    def names(self) -> frozenset[str]:
        """Return the keywords that some overriding methods name, and the method of the class itself does not.

        An argument under such a keyword is only for those methods.
        """
        if self.named is None:
            own = self.cls.find_method(self.name)
            named = {name for method in self.below for name in method.by_name}
            self.named = frozenset(named.difference(own.by_name if own is not None else ()))
        return self.named

    def methods(self) -> tuple[Function, ...]:
        """Return the methods that a call may run: the overriding ones, and that of the class unless it exists to be overridden."""
        own = self.cls.find_method(self.name)
        return (*self.below, *([own] if own is not None and not own.is_abstract else []))

    @property
    def key(self) -> str:
        """See `Function.key`."""
        return f"{self.cls.key}.{self.name}"


@dataclass(eq=False, slots=True, repr=False)
class Class:
    """A class of the project."""

    name: str
    qualname: str
    module: Module
    node: ast.ClassDef
    parent: Function | None = None
    methods: dict[str, Function] = field(default_factory=dict)
    nested: dict[str, Class] = field(default_factory=dict)
    annotations: dict[str, ast.expr] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)  # names of attributes that its own code sets
    bases: list[Class] = field(default_factory=list)
    external_bases: list[str] = field(default_factory=list)
    subclasses: list[Class] = field(default_factory=list)  # every class below this one
    decorators: frozenset[str] = NO_NAMES
    linear: list[Class] = field(default_factory=list)
    overriding: dict[str, tuple[Function, ...]] = field(default_factory=dict)
    defined_below: dict[str, list[Function]] | None = None  # methods of the classes below, by name
    stored_below: dict[str, list[Class]] | None = (
        None  # the classes below whose own code sets an attribute, by name
    )
    virtuals: dict[str, Virtual | None] = field(default_factory=dict)
    makers: frozenset[str] | None = None
    of_torch: bool | None = None
    before_models: bool | None = None
    key: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = self.module.key_of(self.qualname)

    def annotates(self, name: str) -> bool:
        """Return whether the body of the class annotates an attribute."""
        return name in self.annotations

    @property
    def is_record(self) -> bool:
        """True for a ``dataclass`` or a named tuple, whose fields are the parameters of ``__init__``."""
        return (
            any(
                any(name.rpartition(".")[2] == "dataclass" for name in cls.decorators)
                or cls.decorators & {"attrs.define", "attr.define", "define"}
                for cls in self.mro()
            )
            or self.is_named_tuple
        )

    @property
    def is_named_tuple(self) -> bool:
        """True for a record whose fields are immutable."""
        return any(not NAMED_TUPLES.isdisjoint(cls.external_bases) for cls in self.mro())

    @property
    def is_enumeration(self) -> bool:
        """True for an ``Enum``, whose members nobody can set again."""
        return any(base.endswith(("Enum", "Flag")) for cls in self.mro() for base in cls.external_bases)

    @property
    def is_table(self) -> bool:
        """True for a ``TypedDict`` and for a subclass of a dictionary."""
        return any(base.endswith(_TABLES) for cls in self.mro() for base in cls.external_bases)

    @property
    def is_module(self) -> bool:
        """True for an ``nn.Module``, as far as the source of the project shows."""
        if self.of_torch is None:
            self.of_torch = any(is_module_class(base) for cls in self.mro() for base in cls.external_bases)
        return self.of_torch

    @property
    def is_differentiable(self) -> bool:
        """True for a ``torch.autograd.Function``, an operation with its own gradient."""
        return any(not AUTOGRAD_FUNCTIONS.isdisjoint(cls.external_bases) for cls in self.mro())

    @property
    def prepares_inputs(self) -> bool:
        """True for a class that prepares model inputs on the host, by its name or that of a base; False for a module."""
        if self.before_models is None:
            outside = [name.rpartition(".")[2] for cls in self.mro() for name in cls.external_bases]
            is_model = self.is_module or any(name.endswith(("Module", "Model")) for name in outside)
            names = (*(cls.name for cls in self.mro()), *outside)
            self.before_models = not is_model and any(map(prepares_inputs, names))
        return self.before_models

    def makes(self, name: str) -> bool:
        """Return whether a method initialises the instance: ``__init__``, or a private method that only ``__init__`` calls."""
        if self.makers is None:
            init = self.find_method("__init__")
            made = init.own_calls() if init is not None else frozenset()
            others = (method for cls in self.mro() for method in cls.methods.values() if method is not init)
            later = {called for method in others if method.name not in made for called in method.own_calls()}
            self.makers = frozenset({"__init__", *(made - later)})
        return name in self.makers

    def mro(self) -> list[Class]:
        """Return this class and its known bases, the nearest first."""
        return self.linear

    def find_method(self, name: str) -> Function | None:
        """Return the method that an instance of exactly this class runs, or None."""
        for cls in self.mro():
            if name in cls.methods:
                return cls.methods[name]
        return None

    def overrides(self, name: str) -> tuple[Function, ...]:
        """Return the methods that a call may run: the method of this class, and its overrides."""
        if name not in self.overriding:
            own = self.find_method(name)
            below = self._defined_below().get(name, ()) if self.subclasses else ()
            self.overriding[name] = tuple(dict.fromkeys((own, *below) if own else below))
        return self.overriding[name]

    def _defined_below(self) -> dict[str, list[Function]]:
        """Return the methods of all subclasses by name, cached because there may be thousands."""
        if self.defined_below is None:
            self.defined_below = {}
            for cls in self.subclasses:
                for name, method in cls.methods.items():
                    self.defined_below.setdefault(name, []).append(method)
        return self.defined_below

    def virtual(self, name: str) -> Virtual | None:
        """Return the virtual method of overriding methods in subclasses; None without any."""
        if name not in self.virtuals:
            below = self._below(name)
            self.virtuals[name] = Virtual(self, name, below) if below else None
        known = self.virtuals[name]
        return known if known is not None and known.below else None

    def known_virtual(self, name: str) -> Virtual | None:
        """Return the virtual method, also where an edit has removed its last overriding method."""
        self.virtual(name)
        return self.virtuals[name]

    def _below(self, name: str) -> dict[Function, None]:
        own = self.find_method(name)
        return {method: None for method in self.overrides(name) if method is not own}

    def forget_below(self) -> None:
        """Clear the caches of the members that subclasses define and set."""
        self.defined_below = self.stored_below = None

    def look_again(self, name: str) -> None:
        """Recompute the methods that a call of ``name`` may run; an existing `Virtual` keeps its identity."""
        self.overriding.pop(name, None)
        known = self.virtuals.get(name)
        if known is None:
            self.virtuals.pop(name, None)
        else:
            known.below, known.named = self._below(name), None

    def storing_below(self, name: str) -> Sequence[Class]:
        """Return the subclasses whose own code sets an attribute."""
        if not self.subclasses:
            return ()
        if self.stored_below is None:
            self.stored_below = {}
            for cls in self.subclasses:
                for each in cls.stored:
                    self.stored_below.setdefault(each, []).append(cls)
        return self.stored_below.get(name, ())

    def fields(self) -> list[str]:
        """Return the fields of a record in the order of its ``__init__`` parameters."""
        names: dict[str, None] = {}
        for cls in reversed(self.mro()):
            names.update(dict.fromkeys(cls.annotations))
        return list(names)


class Import(NamedTuple):
    """A name from another module; ``name`` is "" for the module itself."""

    module: str
    name: str = ""


class Unread(Protocol):
    """A file that is not parsed yet, but whose definitions are restored from an earlier run.

    Functions receive their ``parameters`` on demand, which is reported to the callbacks in ``noting``.
    """

    parameters: dict[Function, object]
    noting: list[Callable[[Function], None]]
    without_result: set[Function]  # of which no result is declared
    annotated: dict[Class, Collection[str]]  # the attributes that classes declare

    def give(self, function: Function) -> None:
        """Restore the parameters of a function."""

    def lines(self) -> Lines:
        """Return the lines of the file."""

    def aliases(self) -> dict[str, ast.expr]:
        """Return the aliases, see `Module.aliases`."""

    def read(self, module: Module) -> None:
        """Parse the file, and attach its nodes to the module and its definitions."""


@dataclass(eq=False, slots=True, repr=False)
class Module:
    """A file of the project; ``is_linked`` says that its classes have their bases, and all definitions their decorators."""

    name: str
    path: str
    tree: ast.Module
    lines: Lines
    is_package: bool
    names: dict[str, Function | Class | Import] = field(default_factory=dict)
    aliases: dict[str, ast.expr] = field(default_factory=dict)  # other names for what has one, set once
    globals: set[str] = field(default_factory=set)  # names that are set at the top, or by ``global``
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    body: Function = None  # type: ignore[assignment]  # set by `index_module`
    kept: frozenset[str] = frozenset()  # fields that stay in host memory, see `fields`
    makers: frozenset[str] = NO_NAMES  # what declares such fields, of modules that were asked for them
    is_linked: bool = False
    unread: Unread | None = None
    is_outside: bool = field(init=False)
    _defined: Counter[str] = field(default_factory=Counter)
    _by_node: dict[ast.ClassDef, Class] = field(default_factory=dict)
    _stars: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self.is_outside = is_outside(self.name)

    def read(self) -> bool:
        """Parse the file if it is not parsed yet; return whether this call did."""
        unread, self.unread = self.unread, None
        if unread is not None:
            self.lines = unread.lines()
            unread.read(self)
        return unread is not None

    @property
    def stars(self) -> tuple[str, ...]:
        """The modules that ``from module import *`` imports from, the last one first."""
        if self._stars is None:
            found = [
                target.module
                for target in self.names.values()
                if isinstance(target, Import) and target.name == ALL
            ]
            self._stars = tuple(reversed(found))
        return self._stars

    def class_at(self, node: ast.ClassDef) -> Class | None:
        """Return the class that a statement defines, or None."""
        if not self._by_node:
            self._by_node.update((cls.node, cls) for cls in self.classes)
        return self._by_node.get(node)

    def forget_nodes(self) -> None:
        """Clear the caches of `class_at` and `stars`."""
        self._by_node.clear()
        self._stars = None

    def key_of(self, qualname: str) -> str:
        """Return the key of the next definition of a name."""
        self._defined[qualname] += 1
        return f"{self.path}:{qualname}:{self._defined[qualname]}"

    @property
    def key(self) -> str:
        """See `Function.key`."""
        return self.path

    def imported_name(self, name: str) -> str:
        """Return the full name behind a dotted name by the module's own imports; else the name unchanged."""
        head, dot, rest = name.partition(".")
        target = self.names.get(head)
        if not isinstance(target, Import):
            return name
        return ".".join(filter(None, (target.module, target.name))) + dot + rest

    def resolve_relative(self, module: str | None, level: int) -> str:
        """Return the absolute module name of ``from ..module import``."""
        if not level:
            return module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - level + self.is_package]
        return ".".join([*kept, module] if module else kept)


def imported_names(node: ast.Import | ast.ImportFrom, module: Module) -> dict[str, Import]:
    """Return the names that an import statement binds."""
    names: dict[str, Import] = {}
    if isinstance(node, ast.Import):
        for alias in node.names:
            target = alias.name if alias.asname else alias.name.partition(".")[0]
            names[alias.asname or target] = Import(target)
    else:
        source = module.resolve_relative(node.module, node.level)
        for alias in node.names:
            star = f"{ALL}{source}" if alias.name == ALL else ""  # a module may have several
            names[star or alias.asname or alias.name] = Import(source, alias.name)
    return names
