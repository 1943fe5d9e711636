"""Abstract values of type annotations; `BOTTOM` for annotations without meaning for the analysis."""

from __future__ import annotations

import ast
from collections.abc import Callable

from syncscan.check.infer.domain.basic import (
    BOOL,
    DEVICE,
    FLOAT,
    INT,
    NDARRAY,
    NONE,
    SLICE,
    STRING,
    TENSOR,
    list_of,
    sequence,
)
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.source.program import Program
from syncscan.check.nesting import parse_expression
from syncscan.model import ARRAYS, Device, Kind
from syncscan.syntax.names import dotted_name

_TORCH_TYPES = {
    "torch.Tensor": TENSOR,
    "torch.LongTensor": AbstractValue(Kind.TENSOR, dtype="int"),
    "torch.IntTensor": AbstractValue(Kind.TENSOR, dtype="int"),
    "torch.FloatTensor": AbstractValue(Kind.TENSOR, dtype="float"),
    "torch.BoolTensor": AbstractValue(Kind.TENSOR, dtype="bool"),
    "torch.ByteTensor": AbstractValue(Kind.TENSOR, dtype="uint8"),
    "torch.nn.Parameter": TENSOR,
    "torch.nn.parameter.Parameter": TENSOR,
    "torch.cuda.LongTensor": AbstractValue(Kind.TENSOR, Device.CUDA, dtype="int"),
    "torch.cuda.FloatTensor": AbstractValue(Kind.TENSOR, Device.CUDA, dtype="float"),
    "numpy.ndarray": NDARRAY,
    "numpy.typing.NDArray": NDARRAY,
    "torch.device": DEVICE,
    "torch.dtype": AbstractValue(Kind.DTYPE),
    "torch.SymInt": INT,  # a number outside of a graph
    "torch.SymFloat": FLOAT,
    "torch.SymBool": BOOL,
}
_BUILTINS = {
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "str": STRING,
    "None": NONE,
    "slice": SLICE,
}
_CONSTANTS: dict[type, AbstractValue] = {str: STRING, bool: BOOL, int: INT, type(None): NONE}
_LISTS = {
    "list": Kind.LIST,
    "List": Kind.LIST,
    "Sequence": Kind.LIST,
    "Iterable": Kind.LIST,
    "Iterator": Kind.LIST,
    "Generator": Kind.LIST,
    "Collection": Kind.LIST,
    "deque": Kind.LIST,
    "set": Kind.SET,
    "Set": Kind.SET,
    "frozenset": Kind.SET,
}
_DICTS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict"})
_PASSED = frozenset(
    {"Optional", "Annotated", "Final", "ClassVar", "Awaitable", "Required", "NotRequired", "TypeGuard"}
)


# Packages whose annotations have the type of the elements and the dimensions: ``Bool[Tensor, "rows"]``, ``TensorType["rows"]``.
_SHAPED = ("jaxtyping.", "torchtyping.")
_SCALARS = frozenset({"int", "float", "bool"})
_DTYPES = {
    "Bool": "bool",
    "Int": "int",
    "Integer": "int",
    "UInt8": "uint8",
    "Float": "float",
    "Inexact": "float",
}


def _shaped(name: str, tensor: AbstractValue) -> AbstractValue:
    """Return a tensor whose element type an annotation declares."""
    if name.startswith("torchtyping."):
        return TENSOR
    dtype = _DTYPES.get(name.rpartition(".")[2].rstrip("0123456789") or name)
    return refine(tensor, dtype=dtype) if dtype and tensor.kind in ARRAYS else tensor


class Annotations:
    """The abstract values of the annotations of one project, cached by node.

    With ``of_all_types``, which proofs ask for, ``Literal`` is the type of its constants, and every name of a type is followed.
    """

    def __init__(self, program: Program, *, of_all_types: bool = False) -> None:
        self._program = program
        self._of_all_types = of_all_types
        self._known: dict[ast.expr, AbstractValue] = {}

    def forget(self) -> None:
        """Clear the cache, because names may have new meanings."""
        self._known.clear()

    def read(self, node: ast.expr | None, module: Module, scope: Function | None = None) -> AbstractValue:
        """Return the abstract value that an annotation declares."""
        if node is None:
            return BOTTOM
        known = self._known.get(node)
        if known is None:
            self._known[node] = BOTTOM  # an annotation that refers to itself says nothing
            known = self._known[node] = self._read(node, module, scope)
        return known

    def _read(self, node: ast.expr, module: Module, scope: Function | None) -> AbstractValue:
        if isinstance(node, ast.Constant):
            if node.value is None:
                return NONE
            return self._parsed(node.value, module, scope) if isinstance(node.value, str) else BOTTOM
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._either([node.left, node.right], module, scope)
        if isinstance(node, ast.Subscript):
            if self._of_all_types and dotted_name(node.value).rpartition(".")[2] == "Literal":
                return _literal(node.slice)
            return self._generic(node, module, scope)
        return self._named(dotted_name(node), module, scope)

    def _parsed(self, text: str, module: Module, scope: Function | None) -> AbstractValue:
        try:
            return self._read(parse_expression(text.strip()), module, scope)
        except (SyntaxError, ValueError, RecursionError):
            return BOTTOM

    def _either(self, nodes: list[ast.expr], module: Module, scope: Function | None) -> AbstractValue:
        values = [self.read(node, module, scope) for node in nodes]
        return BOTTOM if any(value is BOTTOM for value in values) else join_all(values)

    def _generic(self, node: ast.Subscript, module: Module, scope: Function | None) -> AbstractValue:
        found = self._program.lookup_dotted(module, dotted_name(node.value), scope)
        name = (found if isinstance(found, str) else dotted_name(node.value)).rpartition(".")[2]
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not inside and name not in {"tuple", "Tuple"}:
            return BOTTOM
        if isinstance(found, str) and found.startswith(_SHAPED):
            return _shaped(found, self.read(inside[0], module, scope))
        if found is None and name in _SCALARS:
            return _of_scalars(name, inside[0])
        read: Callable[[ast.expr], AbstractValue] = lambda item: self.read(item, module, scope)  # noqa: E731
        if name in {"Optional", "Union"}:
            options = inside if name == "Union" else [inside[0], ast.Constant(None)]
            return self._either(options, module, scope)
        if name in _PASSED:
            return read(inside[0])
        if name in {"type", "Type"}:
            return join_all(map(_class_of, read(inside[0]).options))
        container = _container(name, inside, read)
        return self.read(node.value, module, scope) if container is None else container

    def _alias(self, node: ast.expr, module: Module) -> AbstractValue:
        """Return what a name of a type says: what it is written as, or what a type variable is bound to."""
        if not isinstance(node, ast.Call):
            return self.read(node, module)
        made = dotted_name(node.func).rpartition(".")[2]
        if made == "NewType" and len(node.args) > 1:
            return self.read(node.args[1], module)
        if made != "TypeVar":
            return BOTTOM
        bound = next((each.value for each in node.keywords if each.arg == "bound"), None)
        return self.read(bound, module) if bound is not None else self._either(node.args[1:], module, None)

    def _named(self, name: str, module: Module, scope: Function | None) -> AbstractValue:
        if not name:
            return BOTTOM
        found = self._program.lookup_dotted(module, name, scope)
        if isinstance(found, Class):
            return AbstractValue(Kind.INSTANCE, payload=found)
        if found is None and (written := self._program.written_as(module, name)) is not None:
            named = self._alias(written[1], written[0])
            return (
                named
                if self._of_all_types or any(option.kind in ARRAYS for option in named.options)
                else BOTTOM
            )
        if found is None:
            short = name.rpartition(".")[2]
            if name in _BUILTINS:
                return _BUILTINS[name]
            if name in _LISTS or name in _DICTS or name in {"tuple", "Tuple"}:
                return list_of(BOTTOM, _LISTS.get(short, Kind.DICT if short in _DICTS else Kind.TUPLE))
            return BOTTOM
        if isinstance(found, str):
            return _external(found)
        return BOTTOM


def _of_scalars(name: str, dims: ast.expr) -> AbstractValue:
    """Return the tensor that an annotation declares with its dimensions: ``int["batch"]``."""
    return refine(TENSOR, dtype=name) if isinstance(dims, ast.Constant) else _BUILTINS[name]


def _literal(node: ast.expr) -> AbstractValue:
    """Return the type of all constants in ``Literal[...]``."""
    constants = [*map(_constant, node.elts if isinstance(node, ast.Tuple) else [node])]
    return BOTTOM if BOTTOM in constants else join_all(constants)


def _constant(node: ast.expr) -> AbstractValue:
    """Return the type of a constant in ``Literal[...]``; unknown for a member of an enumeration."""
    return _CONSTANTS.get(type(node.value), BOTTOM) if isinstance(node, ast.Constant) else BOTTOM


def _class_of(instance: AbstractValue) -> AbstractValue:
    is_of_project = instance.kind is Kind.INSTANCE and isinstance(instance.payload, Class)
    return AbstractValue(Kind.CLASS, payload=instance.payload) if is_of_project else BOTTOM


def _container(
    name: str, inside: list[ast.expr], read: Callable[[ast.expr], AbstractValue]
) -> AbstractValue | None:
    """Return the container that a subscripted name declares; None for other names."""
    if name in {"tuple", "Tuple"}:
        return _tuple(inside, read)
    if name in _LISTS:
        return list_of(read(inside[0]), _LISTS[name])
    return list_of(read(inside[-1]), Kind.DICT) if name in _DICTS else None


def _tuple(inside: list[ast.expr], read: Callable[[ast.expr], AbstractValue]) -> AbstractValue:
    # `tuple[int]` often stands for any number of them.
    if len(inside) == 1 or (
        len(inside) == 2 and isinstance(inside[1], ast.Constant) and inside[1].value is ...
    ):
        return list_of(read(inside[0]), Kind.TUPLE)
    return sequence([read(item) for item in inside], Kind.TUPLE)


def _external(name: str) -> AbstractValue:
    if name in _TORCH_TYPES:
        return _TORCH_TYPES[name]
    if name.startswith(("torch.cuda.", "torch.nn.", "torch.distributed.", "torch.Generator")):
        return AbstractValue(Kind.INSTANCE, payload=name)
    return BOTTOM
