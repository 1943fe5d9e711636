"""The project as defined: modules, classes and functions, without running any.

Everything that the fixed point refines is a `Cell`: a value, and the functions that have read it and
have to be looked at again when it changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from syncscan.check.files import is_outside
from syncscan.check.infer.values import join
from syncscan.model import UNKNOWN, Value


class Cell:
    """A value that grows, and its readers."""

    __slots__ = ("readers", "value")

    def __init__(self) -> None:
        self.value: Value = UNKNOWN
        self.readers: dict[Function, None] = {}  # a set with an order, so that every run goes the same way

    def would_grow(self, value: Value) -> bool:
        """Whether a value tells more than is known already."""
        known = self.value
        if known is value:
            return False
        joined = join(known, value)
        return joined is not known and joined != known

    def join(self, value: Value) -> bool:
        """Add what may be here; True if that changes what is known."""
        if not self.would_grow(value):
            return False
        self.value = join(self.value, value)
        return True


@dataclass(eq=False, slots=True)
class Parameter:
    """One parameter of a function; ``star`` is "", "*" or "**"."""

    name: str
    annotation: ast.expr | None
    default: ast.expr | None
    star: str
    keyword_only: bool
    cell: Cell


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
    returns: Cell = field(default_factory=Cell)
    decorators: frozenset[str] = frozenset()
    captured: dict[str, Cell] = field(default_factory=dict)  # locals that nested functions read
    children: dict[str, Function | Class] = field(default_factory=dict)
    callees: dict[Function, None] = field(default_factory=dict)
    by_name: dict[str, Parameter] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)  # that a ``global`` statement names
    nonlocal_names: set[str] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)  # locals that nested functions set
    statement: ast.stmt | None = None  # in which a lambda stands
    is_generator: bool = False
    is_open: bool = False  # asks something that only an assumption answers
    may_block: bool = False  # a GPU value reaches a place that may block
    follows: set[str] = field(default_factory=set)  # parameters that put a result on the GPU
    leads: bool = False  # puts a result on the GPU whatever is passed
    calls_of_its_own: frozenset[str] | None = None

    @property
    def is_property(self) -> bool:
        """Read like an attribute."""
        return self.is_cached_property or "property" in self.decorators

    @property
    def is_cached_property(self) -> bool:
        """A property whose body runs once for each object."""
        return bool(self.decorators & {"cached_property", "functools.cached_property"})

    def own_calls(self) -> frozenset[str]:
        """The private methods that a method calls on its own object."""
        if self.calls_of_its_own is None:
            calls = (dotted_name(node.func) for node in ast.walk(self.node) if isinstance(node, ast.Call))
            found = (name.removeprefix("self.") for name in calls if name.startswith("self._"))
            self.calls_of_its_own = frozenset(found)
        return self.calls_of_its_own

    @property
    def is_static(self) -> bool:
        """Takes no ``self``."""
        return "staticmethod" in self.decorators


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
    attributes: dict[str, Cell] = field(default_factory=dict)
    bases: list[Class] = field(default_factory=list)
    external_bases: list[str] = field(default_factory=list)
    subclasses: list[Class] = field(default_factory=list)
    decorators: frozenset[str] = frozenset()
    linear: list[Class] | None = None
    overriding: dict[str, tuple[Function, ...]] = field(default_factory=dict)
    makers: frozenset[str] | None = None

    @property
    def is_record(self) -> bool:
        """Made by ``dataclass`` or a named tuple: the fields are the parameters of ``__init__``."""
        return any(
            cls.decorators & {"dataclass", "dataclasses.dataclass", "attrs.define", "define"}
            or "typing.NamedTuple" in cls.external_bases
            for cls in self.mro()
        )

    @property
    def is_module(self) -> bool:
        """An ``nn.Module``, as far as the project's source shows."""
        return any(
            base in {"torch.nn.Module", "torch.nn.modules.module.Module"} or base.startswith("torch.nn.")
            for cls in self.mro()
            for base in cls.external_bases
        )

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
        """This class and its bases, the nearest first; cycles and unknown bases are left out."""
        if self.linear is None:
            self.linear = [self]
            for base in self.bases:
                self.linear += [cls for cls in base.mro() if cls not in self.linear]
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
            found = [own] if own else []
            for cls in self.all_subclasses():
                if name in cls.methods and cls.methods[name] not in found:
                    found.append(cls.methods[name])
            self.overriding[name] = tuple(found)
        return self.overriding[name]

    def all_subclasses(self) -> Iterator[Class]:
        """Every class below this one."""
        seen: set[Class] = {self}
        queue = [self]
        while queue:
            for cls in queue.pop().subclasses:
                if cls not in seen:
                    seen.add(cls)
                    queue.append(cls)
                    yield cls

    def cells(self, name: str) -> list[Cell]:
        """Where an attribute of an instance may be kept: by this class and its bases, or else by subclasses."""
        own = [cls.cell(name) for cls in self.mro() if name in cls.stored]
        return own or [cls.cell(name) for cls in self.all_subclasses() if name in cls.stored]

    def cell_for(self, name: str) -> Cell:
        """Where to keep an attribute that is set: with the root-most class that sets it.

        So a method of a subclass and one of the base see the same.
        """
        for cls in reversed(self.mro()):
            if name in cls.stored:
                return cls.cell(name)
        self.stored.add(name)
        return self.cell(name)

    def cell(self, name: str) -> Cell:
        """This class's own cell for an attribute."""
        if name not in self.attributes:
            self.attributes[name] = Cell()
        return self.attributes[name]

    def fields(self) -> list[str]:
        """The fields of a record in the order of its ``__init__``."""
        names: dict[str, None] = {}
        for cls in reversed(self.mro()):
            names.update(dict.fromkeys(cls.annotations))
        return list(names)


@dataclass(frozen=True, slots=True)
class Import:
    """A name that comes from another module; ``name`` is "" where the module itself is meant."""

    module: str
    name: str = ""


@dataclass(eq=False, slots=True)
class Module:
    """A file of the project."""

    name: str
    path: str
    tree: ast.Module
    lines: list[str]
    is_package: bool
    names: dict[str, Function | Class | Import] = field(default_factory=dict)
    globals: dict[str, Cell] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    body: Function = None  # type: ignore[assignment]  # set by `index_module`
    is_outside: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_outside = is_outside(self.name)

    def resolve_relative(self, module: str | None, level: int) -> str:
        """The absolute name of ``from ..module import``."""
        if not level:
            return module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - level + self.is_package]
        return ".".join([*kept, module] if module else kept)


def index_module(name: str, path: str, tree: ast.Module, lines: list[str], *, is_package: bool) -> Module:
    """List what a file defines."""
    module = Module(name, path, tree, lines, is_package)
    module.body = Function("<module>", "<module>", module, tree)
    module.functions.append(module.body)
    _Indexer(module).block(tree.body, module.body, None, "")
    return module


class _Indexer:
    """Walks the statements of a module, and of everything defined in it, once."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def block(self, body: list[ast.stmt], function: Function, owner: Class | None, prefix: str) -> None:
        for statement in body:
            self.statement(statement, function, owner, prefix)

    def statement(self, node: ast.stmt, function: Function, owner: Class | None, prefix: str) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.function(node, function, owner, prefix)
        elif isinstance(node, ast.ClassDef):
            self.class_(node, function, owner, prefix)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if function.node is self.module.tree and owner is None:
                self.module.names.update(imported_names(node, self.module))
        elif owner is not None and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if not _is_class_variable(node.annotation):
                owner.annotations[node.target.id] = node.annotation
            owner.stored.add(node.target.id)
        elif owner is not None and isinstance(node, ast.Assign):
            owner.stored.update(t.id for t in node.targets if isinstance(t, ast.Name))
        else:
            if owner is None:
                self._note(node, function)
            for name in ("body", "orelse", "finalbody"):
                self.block(getattr(node, name, None) or [], function, owner, prefix)
            for handler in getattr(node, "handlers", None) or getattr(node, "cases", None) or []:
                self.block(handler.body, function, owner, prefix)

    def function(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        parent: Function,
        owner: Class | None,
        prefix: str,
    ) -> None:
        info = Function(node.name, prefix + node.name, self.module, node, owner)
        info.parent = None if parent.node is self.module.tree else parent
        info.decorators = frozenset(filter(None, map(dotted_name, map(_undecorated, node.decorator_list))))
        info.parameters = list(parameters_of(node.args))
        info.by_name = {parameter.name: parameter for parameter in info.parameters}
        self.module.functions.append(info)
        if owner is not None:
            if not info.decorators & {"overload", "typing.overload"} and not any(
                name.endswith((".setter", ".deleter")) for name in info.decorators
            ):
                owner.methods[node.name] = info
        elif info.parent is not None:
            info.parent.children[node.name] = info
        elif not info.decorators & {"overload", "typing.overload"}:
            self.module.names[node.name] = info
        self.block(node.body, info, None, f"{info.qualname}.")

    def class_(self, node: ast.ClassDef, parent: Function, owner: Class | None, prefix: str) -> None:
        info = Class(node.name, prefix + node.name, self.module, node)
        info.parent = None if parent.node is self.module.tree else parent
        info.decorators = frozenset(filter(None, map(dotted_name, map(_undecorated, node.decorator_list))))
        self.module.classes.append(info)
        if owner is not None:
            owner.nested[node.name] = info
        elif info.parent is not None:
            info.parent.children[node.name] = info
        else:
            self.module.names[node.name] = info
        self.block(node.body, parent, info, f"{info.qualname}.")

    def _note(self, node: ast.stmt, function: Function) -> None:
        """Note every global and every ``self.name`` that a statement sets, and whether a function yields.

        They are only set by statements, and a yield stands nearly always directly in one: no
        expression has to be walked.
        """
        value = getattr(node, "value", None)
        if isinstance(value, (ast.Yield, ast.YieldFrom)):
            function.is_generator = True
        elif isinstance(node, ast.Global):
            function.global_names.update(node.names)
            for name in node.names:
                self.module.globals.setdefault(name, Cell())
        elif isinstance(node, ast.Nonlocal):
            function.nonlocal_names.update(node.names)
        owner = function.owner
        receiver = function.parameters[0].name if owner is not None and function.parameters else None
        targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
        targets += [item.optional_vars for item in getattr(node, "items", ())]
        while targets:
            target = targets.pop()
            if isinstance(target, (ast.Tuple, ast.List)):
                targets.extend(target.elts)
            elif isinstance(target, ast.Name) and function is self.module.body:
                self.module.globals.setdefault(target.id, Cell())
            elif isinstance(target, ast.Attribute) and owner and dotted_name(target.value) == receiver:
                owner.stored.add(target.attr)
        if owner is None or receiver is None:
            return
        if (
            isinstance(value, ast.Call)
            and value.args
            and isinstance(value.args[0], ast.Constant)
            and dotted_name(value.func) == f"{receiver}.register_buffer"
        ):
            owner.stored.add(str(value.args[0].value))


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


def parameters_of(arguments: ast.arguments) -> Iterator[Parameter]:
    """The parameters in order, each with its default."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    for arg, default in zip(plain, [*defaults, *arguments.defaults], strict=True):
        yield Parameter(arg.arg, arg.annotation, default, "", keyword_only=False, cell=Cell())
    if arguments.vararg:
        arg = arguments.vararg
        yield Parameter(arg.arg, arg.annotation, None, "*", keyword_only=False, cell=Cell())
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(arg.arg, arg.annotation, default, "", keyword_only=True, cell=Cell())
    if arguments.kwarg:
        arg = arguments.kwarg
        yield Parameter(arg.arg, arg.annotation, None, "**", keyword_only=False, cell=Cell())


def dotted_name(node: ast.AST) -> str:
    """``a.b.c`` for names and attributes of names, "" for everything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def _undecorated(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _is_class_variable(annotation: ast.expr) -> bool:
    base = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return dotted_name(base) in {"ClassVar", "typing.ClassVar"}
