"""The project as defined: modules, classes and functions, without running any.

All of it is what the source says, and stays as it is once the modules are linked (`Program`). What the
inference finds out is kept apart, in `syncscan.check.infer.known`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from syncscan.check.files import is_outside
from syncscan.check.infer.source.conventions import prepares_inputs, reads_outputs
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.syntax import dotted_name, walk

_TYPED_TABLES = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})
AUTOGRAD_FUNCTIONS = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
LAMBDA = "<lambda>"
NO_NAMES: frozenset[str] = frozenset()  # CPython makes a new one each time
FIELDS = ""  # stands among the members of a class for the order of its fields
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


@dataclass(eq=False, slots=True)
class Parameter:
    """One parameter of a function; ``star`` is "", "*" or "**"."""

    name: str
    annotation: ast.expr | None
    default: ast.expr | None
    star: str
    keyword_only: bool


@dataclass(eq=False, slots=True)
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
        """What is declared of the result."""
        return getattr(self.node, "returns", None)

    def take(self, parameters: Iterable[Parameter]) -> None:
        """Give the function its parameters, in order."""
        self.parameters = list(parameters)
        plain = [p for p in self.parameters if not p.star and not p.keyword_only]
        self.plain = plain if len(plain) < len(self.parameters) else self.parameters
        self.rest = next((p for p in self.parameters if p.star == "*"), None)
        self.more = next((p for p in self.parameters if p.star == "**"), None)
        self.by_name = {parameter.name: parameter for parameter in self.parameters}

    def decorate(self, decorators: frozenset[str]) -> None:
        """Give the function its decorators, by their full names."""
        self.decorators = decorators
        self.is_cached_property = any(name.rpartition(".")[2] == "cached_property" for name in decorators)
        self.is_property = self.is_cached_property or "builtins.property" in decorators
        self.is_static = "builtins.staticmethod" in decorators
        self.is_of_class = "builtins.classmethod" in decorators
        self.is_kernel = any(f".{name}".endswith(_MAKE_KERNELS) for name in decorators)

    @property
    def is_lambda(self) -> bool:
        """Whether it has no name of its own, and is met where it stands."""
        return self.name == LAMBDA

    @property
    def works_on_the_host(self) -> bool:
        """Whether it is a method of what prepares the inputs of models, and not for what they gave."""
        return self.owner is not None and self.owner.prepares_inputs and not reads_outputs(self.name)

    @property
    def is_of_a_kernel(self) -> bool:
        """Whether Python never runs it: it is a kernel, or stands in one."""
        function: Function | None = self
        while function is not None and not function.is_kernel:
            function = function.parent
        return function is not None

    def own_calls(self) -> frozenset[str]:
        """The private methods that a method calls on its own object."""
        if self.calls_of_its_own is None:
            receiver = self.parameters[0].name if self.parameters else "self"
            calls = (dotted_name(node.func) for node in walk(self.node) if isinstance(node, ast.Call))
            found = (name.removeprefix(f"{receiver}.") for name in calls if name.startswith(f"{receiver}._"))
            self.calls_of_its_own = frozenset(found) or NO_NAMES
        return self.calls_of_its_own

    def virtuals(self) -> tuple[Virtual, ...]:
        """How a call through a class above its own may run this method."""
        if self.called_as is None:
            above = self.owner.mro()[1:] if self.owner is not None else []
            found = (cls.virtual(self.name) for cls in above)
            self.called_as = tuple(virtual for virtual in found if virtual and self in virtual.below)
        return self.called_as


@dataclass(eq=False, slots=True)
class Virtual:
    """A method as it is called through a class: any of those that the classes below define."""

    cls: Class
    name: str
    below: dict[Function, None]
    named: frozenset[str] | None = None  # see `names`

    def names(self) -> frozenset[str]:
        """The keywords that some of the methods name, and the class's own does not: they are meant for those alone."""
        if self.named is None:
            own = self.cls.find_method(self.name)
            named = {name for method in self.below for name in method.by_name}
            self.named = frozenset(named.difference(own.by_name if own is not None else ()))
        return self.named

    @property
    def key(self) -> str:
        """See `Function.key`."""
        return f"{self.cls.key}.{self.name}"


@dataclass(eq=False, slots=True)
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
        """Whether the body of the class says what an attribute is."""
        return name in self.annotations

    @property
    def is_record(self) -> bool:
        """Made by ``dataclass`` or a named tuple: the fields are the parameters of ``__init__``."""
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
        """A record whose fields cannot be set once it is made."""
        return any(not NAMED_TUPLES.isdisjoint(cls.external_bases) for cls in self.mro())

    @property
    def is_table(self) -> bool:
        """A ``TypedDict``: what it declares are its keys."""
        return any(not _TYPED_TABLES.isdisjoint(cls.external_bases) for cls in self.mro())

    @property
    def is_module(self) -> bool:
        """An ``nn.Module``, as far as the project's source shows."""
        if self.of_torch is None:
            self.of_torch = any(
                base.startswith("torch.nn.") for cls in self.mro() for base in cls.external_bases
            )
        return self.of_torch

    @property
    def is_differentiable(self) -> bool:
        """A ``torch.autograd.Function``: an operation that brings its own gradient."""
        return any(not AUTOGRAD_FUNCTIONS.isdisjoint(cls.external_bases) for cls in self.mro())

    @property
    def prepares_inputs(self) -> bool:
        """Works on the host before a model runs, by its name or that of a base; a module does not."""
        if self.before_models is None:
            outside = [name.rpartition(".")[2] for cls in self.mro() for name in cls.external_bases]
            is_model = self.is_module or any(name.endswith(("Module", "Model")) for name in outside)
            names = (*(cls.name for cls in self.mro()), *outside)
            self.before_models = not is_model and any(map(prepares_inputs, names))
        return self.before_models

    def makes(self, name: str) -> bool:
        """Whether a method makes the instance: ``__init__``, or a private one that it calls."""
        if self.makers is None:
            init = self.find_method("__init__")
            made = init.own_calls() if init is not None else frozenset()
            others = (method for cls in self.mro() for method in cls.methods.values() if method is not init)
            later = {called for method in others if method.name not in made for called in method.own_calls()}
            self.makers = frozenset({"__init__", *(made - later)})
        return name in self.makers

    def mro(self) -> list[Class]:
        """This class and its bases, the nearest first; unknown bases are left out."""
        return self.linear

    def find_method(self, name: str) -> Function | None:
        """The method that an instance of exactly this class would run."""
        for cls in self.mro():
            if name in cls.methods:
                return cls.methods[name]
        return None

    def overrides(self, name: str) -> tuple[Function, ...]:
        """The methods that a call may run: this class's own, and those of its subclasses."""
        if name not in self.overriding:
            own = self.find_method(name)
            below = self._defined_below().get(name, ()) if self.subclasses else ()
            self.overriding[name] = tuple(dict.fromkeys((own, *below) if own else below))
        return self.overriding[name]

    def _defined_below(self) -> dict[str, list[Function]]:
        """The methods of the classes below, by name: read once, for there may be thousands of them."""
        if self.defined_below is None:
            self.defined_below = {}
            for cls in self.subclasses:
                for name, method in cls.methods.items():
                    self.defined_below.setdefault(name, []).append(method)
        return self.defined_below

    def virtual(self, name: str) -> Virtual | None:
        """The methods below this class that a call through it may run instead of its own; None without any."""
        if name not in self.virtuals:
            below = self._below(name)
            self.virtuals[name] = Virtual(self, name, below) if below else None
        known = self.virtuals[name]
        return known if known is not None and known.below else None

    def known_virtual(self, name: str) -> Virtual | None:
        """The same, also where an edit has left no method of it."""
        self.virtual(name)
        return self.virtuals[name]

    def _below(self, name: str) -> dict[Function, None]:
        own = self.find_method(name)
        return {method: None for method in self.overrides(name) if method is not own}

    def forget_below(self) -> None:
        """Read again what the classes below define and set."""
        self.defined_below = self.stored_below = None

    def look_again(self, name: str) -> None:
        """Find out anew what a call of a method may run; what is virtual stays what it is."""
        self.overriding.pop(name, None)
        known = self.virtuals.get(name)
        if known is None:
            self.virtuals.pop(name, None)
        else:
            known.below, known.named = self._below(name), None

    def storing_below(self, name: str) -> Sequence[Class]:
        """The classes below this one whose own code sets an attribute of a name."""
        if not self.subclasses:
            return ()
        if self.stored_below is None:
            self.stored_below = {}
            for cls in self.subclasses:
                for each in cls.stored:
                    self.stored_below.setdefault(each, []).append(cls)
        return self.stored_below.get(name, ())

    def fields(self) -> list[str]:
        """The fields of a record in the order of its ``__init__``."""
        names: dict[str, None] = {}
        for cls in reversed(self.mro()):
            names.update(dict.fromkeys(cls.annotations))
        return list(names)


class Import(NamedTuple):
    """A name that comes from another module; ``name`` is "" where the module itself is meant."""

    module: str
    name: str = ""


class Unread(Protocol):
    """A file of which is known what it defines, and which has not been read for that.

    Functions are given their ``parameters`` when those are asked for, and that is told to all ``noting``.
    """

    parameters: dict[Function, object]
    noting: list[Callable[[Function], None]]
    without_result: set[Function]  # of which no result is declared
    annotated: dict[Class, Collection[str]]  # the attributes that classes declare

    def give(self, function: Function) -> None:
        """Give a function its parameters."""

    def lines(self) -> Lines:
        """Its lines."""

    def aliases(self) -> dict[str, ast.expr]:
        """See `Module.aliases`."""

    def read(self, module: Module) -> None:
        """Give the module its nodes, and all that it defines."""


@dataclass(eq=False, slots=True)
class Module:
    """A file of the project; ``is_linked`` says that its classes know their bases, and all their decorators."""

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

    def __post_init__(self) -> None:
        self.is_outside = is_outside(self.name)

    def read(self) -> bool:
        """Read the file, if it is known without that what it defines."""
        unread, self.unread = self.unread, None
        if unread is not None:
            self.lines = unread.lines()
            unread.read(self)
        return unread is not None

    def class_at(self, node: ast.ClassDef) -> Class | None:
        """The class that a statement defines."""
        if not self._by_node:
            self._by_node.update((cls.node, cls) for cls in self.classes)
        return self._by_node.get(node)

    def forget_nodes(self) -> None:
        """Forget which class each statement defines."""
        self._by_node.clear()

    def key_of(self, qualname: str) -> str:
        """The key of the next definition of a name."""
        self._defined[qualname] += 1
        return f"{self.path}:{qualname}:{self._defined[qualname]}"

    @property
    def key(self) -> str:
        """See `Function.key`."""
        return self.path

    def imported_name(self, name: str) -> str:
        """The full name of what is imported under a dotted name, as the module itself tells; else that name."""
        head, dot, rest = name.partition(".")
        target = self.names.get(head)
        if not isinstance(target, Import):
            return name
        return ".".join(filter(None, (target.module, target.name))) + dot + rest

    def resolve_relative(self, module: str | None, level: int) -> str:
        """The absolute name of ``from ..module import``."""
        if not level:
            return module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - level + self.is_package]
        return ".".join([*kept, module] if module else kept)


def imported_names(node: ast.Import | ast.ImportFrom, module: Module) -> dict[str, Import]:
    """What an import statement binds."""
    names: dict[str, Import] = {}
    if isinstance(node, ast.Import):
        for alias in node.names:
            target = alias.name if alias.asname else alias.name.partition(".")[0]
            names[alias.asname or target] = Import(target)
    else:
        source = module.resolve_relative(node.module, node.level)
        for alias in node.names:
            names[alias.asname or alias.name] = Import(source, alias.name)
    return names
