"""Calls that leave the project: torch by the operation table, NumPy, and Python's own functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from syncscan.check.infer.attributes import attribute_of
from syncscan.check.infer.callables import Partial
from syncscan.check.infer.conditions import Bound, device_named
from syncscan.check.infer.index import Class
from syncscan.check.infer.narrow import key_of
from syncscan.check.infer.operations import dtype_named, placed, result_of, together
from syncscan.check.infer.values import (
    BOOL,
    INT,
    NDARRAY,
    NUMBER,
    STRING,
    as_tensor,
    element_of,
    join,
    join_all,
    list_of,
    refine,
    sequence,
    slice_of,
)
from syncscan.model import UNKNOWN, Confidence, Device, Evidence, Kind, Value
from syncscan.ops import DEFAULT, follows_default

if TYPE_CHECKING:
    from syncscan.check.infer.frame import Frame

Kwargs = dict[str, Value]
MODULE_METHODS = frozenset(
    {"to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train", "requires_grad_", "parameters", "buffers",
     "named_parameters", "named_buffers", "register_buffer", "register_parameter", "state_dict", "modules", "children",
     "__call__"}
)  # fmt: skip
ARRAY_METHODS = frozenset(
    {"all", "any", "argmax", "argmin", "argsort", "astype", "clip", "copy", "cumprod", "cumsum", "diagonal", "dot",
     "fill", "flatten", "item", "max", "mean", "min", "nonzero", "partition", "prod", "put", "ravel", "repeat",
     "reshape", "resize", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take", "tobytes",
     "tolist", "trace", "transpose", "var", "view"}
)  # fmt: skip


def call(frame: Frame, name: str, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    """Call something outside the project by its full name."""
    special = _SPECIAL.get(name)
    if special is not None:
        _note(frame, name, args, kwargs, node)
        return special(frame, args, kwargs, node)
    if name.startswith("torch."):
        return torch_function(frame, name, args, kwargs, node)
    if name.startswith("numpy."):
        return _numpy(frame, name, args, kwargs, node)
    if name.startswith(("builtins.", "math.", "operator.", "warnings.", "logging.", "copy.", "pickle.")):
        _note(frame, name, args, kwargs, node)
        return _PYTHON.get(name, UNKNOWN)
    return UNKNOWN


def torch_function(frame: Frame, name: str, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    """Call a function or a class of torch."""
    if name.startswith(("torch.cuda.", "torch.nn.")) and name.rpartition(".")[2][:1].isupper():
        if name.endswith(".Parameter"):
            return module_tensor(
                frame, args[0] if args else UNKNOWN, node, "a parameter moves with its module"
            )
        return Value(Kind.INSTANCE, payload=name)
    return torch_call(frame, name, args, kwargs, node)


def torch_call(frame: Frame, name: str, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    """Call an operation: what the table knows of it, else its stated default."""
    operation = frame.solver.table.find(name)
    if name.startswith("torch.") and name != "torch.compile":
        args, kwargs = list(map(as_tensor, args)), {key: as_tensor(value) for key, value in kwargs.items()}
    if operation is None:
        if not follows_default(name):
            return UNKNOWN
        if not any(_may_be_tensor(value) for value in [*args, *kwargs.values()]):
            return UNKNOWN
        operation = DEFAULT
    bound = Bound.of(operation, args, kwargs)
    _settle_device(frame, bound, node)
    if frame.default_device is not None and frame.default_device.device is Device.CUDA:
        bound.values.setdefault("default device", (frame.default_device,))
    result = args[0] if _is_in_place(name, args) else result_of(bound, frame.here(node))
    frame.note_call(node, name, bound)
    return result


# What modules, batches and tables of tensors have as well, and what gives another of the same.
_OF_MORE_THAN_TENSORS = MODULE_METHODS | frozenset(
    {"apply", "clone", "contiguous", "copy_", "detach", "double", "expand", "flatten", "gather", "index_select", "permute",
     "reshape", "share_memory_", "size", "split", "squeeze", "type", "unbind", "unsqueeze", "values", "view", "zero_grad"}
)  # fmt: skip


def is_of_tensors_alone(frame: Frame, name: str) -> bool:
    """Whether what has a method of this name is a tensor."""
    if name in _OF_MORE_THAN_TENSORS:
        return False
    return any(f"{owner}.{name}" in frame.solver.table.operations for owner in ("torch.Tensor", "torch"))


def moved_to_gpu(
    frame: Frame, base: Value, name: str, args: list[Value], kwargs: Kwargs, node: ast.expr
) -> Value:
    """What ``x.cuda()`` and ``x.to(device)`` make of an unknown ``x``; what was moved stays so under most methods."""
    device = args[0] if args else kwargs.get("device", UNKNOWN)
    if name == "cuda" or (name == "to" and _is_cuda(device)):
        evidence = Evidence(
            frame.module.path, node.lineno, f"`{frame.here(node).text}` puts it there", device.evidence
        )
        return Value(Kind.MOVED, Device.CUDA, Confidence.INFERRED, evidence=evidence)
    if name in {"cpu", "to", "size", "values"} or name not in _OF_MORE_THAN_TENSORS:
        return UNKNOWN
    return base


def _is_cuda(device: Value) -> bool:
    return device.kind in {Kind.STRING, Kind.DEVICE} and device_named(device) is Device.CUDA


def _is_in_place(name: str, args: list[Value]) -> bool:
    """``t.zero_()`` returns ``t`` itself: where it was, pinned if it was."""
    return name.startswith("torch.Tensor.") and name.endswith("_") and not name.endswith("__") and bool(args)


def _settle_device(frame: Frame, bound: Bound, node: ast.expr) -> None:
    """Take a device that only the run decides for the GPU: that is what such code is written for."""
    device = bound.get("device")
    if device is None or device.kind in {Kind.NONE, Kind.DTYPE, Kind.TENSOR} or not frame.assume():
        return
    if device.kind is Kind.UNKNOWN and not _names_a_device(node):
        return
    place, confidence, evidence = placed(device, frame.here(node))
    if place is Device.CUDA:
        bound.values["device"] = (Value(Kind.DEVICE, place, confidence, evidence=evidence),)


def _names_a_device(node: ast.expr) -> bool:
    """Whether an unknown argument is a device by the look of it: ``.to(x)`` takes a dtype as well."""
    if not isinstance(node, ast.Call):
        return False
    if any(keyword.arg == "device" for keyword in node.keywords):
        return True
    return any("device" in key_of(arg).rpartition(".")[2] for arg in node.args)


def _may_be_tensor(value: Value) -> bool:
    if value.kind in {Kind.LIST, Kind.TUPLE, Kind.UNION}:
        return any(map(_may_be_tensor, [*(value.items or ()), *([value.element] if value.element else [])]))
    return value.kind is Kind.TENSOR


def _note(frame: Frame, name: str, args: list[Value], kwargs: Kwargs, node: ast.expr) -> None:
    """Record a call of something that is not torch's, but may read a tensor."""
    operation = frame.solver.table.find(name)
    if operation is not None:
        frame.note_call(node, name, Bound.of(operation, args, kwargs))


def module_tensor(frame: Frame, value: Value, node: ast.expr, text: str) -> Value:
    """A parameter or buffer: it goes where its module goes, and that is the GPU."""
    if value.kind is not Kind.TENSOR or value.device is Device.CUDA:
        return value
    if not frame.assume():
        return refine(value, device=Device.UNKNOWN, pinned=None)
    evidence = Evidence(frame.module.path, node.lineno, text)
    return refine(value, device=Device.CUDA, confidence=Confidence.INFERRED, pinned=None, evidence=evidence)


def instance_call(
    frame: Frame, base: Value, name: str, args: list[Value], kwargs: Kwargs, node: ast.expr
) -> Value:
    """Call a method of an object of torch: a stream, an event, a layer."""
    full = f"{base.payload}.{name}"
    if frame.solver.table.find(full) is not None:
        return torch_call(frame, full, [base, *args], kwargs, node)
    if str(base.payload).startswith("torch.nn."):
        if name in {"__call__", "forward"}:
            return together(args)
        if name in {"to", "cuda", "eval", "train", "half", "float"}:
            return base
    return UNKNOWN


def module_method(frame: Frame, base: Value, name: str, args: list[Value], node: ast.expr) -> Value:
    """Call a method that a class of the project inherits from ``nn.Module``."""
    if name == "register_buffer" and len(args) > 1 and isinstance(args[0].payload, str):
        if isinstance(base.payload, Class):
            value = module_tensor(frame, args[1], node, f"buffer `{args[0].payload}` moves with its module")
            frame.store_attribute(base.payload, args[0].payload, value, node)
        return UNKNOWN
    if name in {"parameters", "buffers"}:
        return list_of(module_tensor(frame, Value(Kind.TENSOR), node, "parameters move with their module"))
    if name in {"named_parameters", "named_buffers"}:
        tensor = module_tensor(frame, Value(Kind.TENSOR), node, "parameters move with their module")
        return list_of(sequence([STRING, tensor], Kind.TUPLE))
    if name == "__call__":
        return together(args) if any(map(_may_be_tensor, args)) else UNKNOWN
    return base if name in {"to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train"} else UNKNOWN


def array_method(
    frame: Frame, base: Value, name: str, args: list[Value], kwargs: Kwargs, node: ast.expr
) -> Value:
    """Call a method of a NumPy array."""
    if name == "tolist":
        return list_of(NUMBER)
    if name in {"item", "__len__", "__int__"}:
        return NUMBER
    if name in {"sum", "max", "min", "mean", "prod", "any", "all", "argmax", "argmin", "std"}:
        whole = not args and "axis" not in kwargs
        return NUMBER if whole else refine(base, ndim=None, dtype=None)
    if name == "astype":
        return refine(base, dtype=dtype_named(args[0]) if args else None, pinned=False)
    if name in {"fill", "sort", "setflags", "resize"}:
        return UNKNOWN
    return refine(base, ndim=None, pinned=base.pinned if name in {"view", "reshape", "ravel"} else False)


def _numpy(frame: Frame, name: str, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    _note(frame, name, args, kwargs, node)
    short = name.rpartition(".")[2]
    operation = frame.solver.table.find(name)
    if operation is not None:
        return result_of(Bound.of(operation, args, kwargs), frame.here(node))
    if (
        short in {"prod", "sum", "max", "min", "mean", "any", "all"}
        and "axis" not in kwargs
        and len(args) == 1
    ):
        return NUMBER
    if short in {
        "int32",
        "int64",
        "float32",
        "float64",
        "bool_",
        "isscalar",
        "ndim",
        "size",
        "iinfo",
        "finfo",
    }:
        return NUMBER
    if short == "dtype":
        return Value(Kind.DTYPE)
    dtype = "bool" if short in _NUMPY_BOOL else "int" if short in {"nonzero", "argsort"} else None
    ndim = 1 if short in {"arange", "repeat", "concatenate", "fromiter"} else None
    array = refine(NDARRAY, pinned=False, dtype=dtype_named(kwargs.get("dtype")) or dtype, ndim=ndim)
    return list_of(array, Kind.TUPLE) if short in {"nonzero", "where"} and len(args) == 1 else array


_NUMPY_BOOL = frozenset(
    {"isin", "equal", "greater", "less", "logical_and", "logical_or", "logical_not", "isnan"}
)
_PYTHON = {
    **dict.fromkeys(("builtins.int", "builtins.len", "builtins.ord", "builtins.id", "builtins.hash"), INT),
    **dict.fromkeys(("builtins.bool", "builtins.isinstance", "builtins.hasattr", "builtins.callable"), BOOL),
    **dict.fromkeys(("builtins.float", "builtins.complex", "builtins.round"), NUMBER),
    **dict.fromkeys(("builtins.str", "builtins.repr", "builtins.format", "builtins.str.format"), STRING),
    **dict.fromkeys(("math.ceil", "math.floor", "math.prod", "math.gcd", "operator.index"), INT),
    **dict.fromkeys(("math.sqrt", "math.log", "math.log2", "math.exp", "math.pow"), NUMBER),
    "builtins.range": list_of(INT),
    "logging.getLogger": Value(Kind.INSTANCE, payload="logging.Logger"),
}


def _device(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    named = args[0] if args else kwargs.get("type", UNKNOWN)
    if named.kind is Kind.UNION:
        return Value(Kind.DEVICE, Device.MIXED)
    device = device_named(named)
    if device is Device.UNKNOWN and frame.assume():
        device = Device.MIXED  # the run decides
    evidence = (
        Evidence(frame.module.path, node.lineno, "the device is named here")
        if device is Device.CUDA
        else None
    )
    return Value(Kind.DEVICE, device, named.confidence, evidence=evidence)


def _current_device(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    evidence = Evidence(frame.module.path, node.lineno, "the current CUDA device")
    return Value(Kind.DEVICE, Device.CUDA, evidence=evidence)


def _partial(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    if not args:
        return UNKNOWN
    return Value(Kind.FUNCTION, payload=Partial(args[0], tuple(args[1:]), tuple(kwargs.items())))


def _second(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    """``typing.cast(T, value)``."""
    annotation = node.args[0] if isinstance(node, ast.Call) and node.args else None
    promised = frame.solver.annotations.read(annotation, frame.module, frame.function)
    value = args[1] if len(args) > 1 else UNKNOWN
    return value if value.kind is not Kind.UNKNOWN else promised


def _first(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    return args[0] if args else UNKNOWN


def _copied_record(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    """``dataclasses.replace(record, field=value)``."""
    if not args:
        return UNKNOWN
    for option in args[0].options:
        if isinstance(option.payload, Class):
            for name, value in kwargs.items():
                frame.store_attribute(option.payload, name, value, node)
    return args[0]


def _getattr(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:

    if len(args) < 2 or not isinstance(args[1].payload, str):
        return UNKNOWN
    value = frame.named(attribute_of(frame, args[0], args[1].payload, node), args[1].payload)
    return join(value, args[2]) if len(args) > 2 else value


def _sequence_of(kind: Kind) -> Callable[..., Value]:
    def make(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
        if not args:
            return list_of(UNKNOWN, kind)
        if args[0].items is not None and args[0].kind in {Kind.LIST, Kind.TUPLE}:
            return refine(args[0], kind=kind)
        return list_of(element_of(args[0]), kind)

    return make


def _dict(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    inside = [element_of(arg) for arg in args if arg.kind is Kind.DICT]
    return list_of(join_all([*inside, *kwargs.values()]), Kind.DICT)


def _zip(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    return list_of(sequence([element_of(arg) for arg in args], Kind.TUPLE))


def _enumerate(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    return list_of(sequence([INT, element_of(args[0]) if args else UNKNOWN], Kind.TUPLE))


def _map(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    from syncscan.check.infer.calls import call_value  # noqa: PLC0415 (which imports this module)

    if not args:
        return UNKNOWN
    return list_of(call_value(frame, args[0], [element_of(arg) for arg in args[1:]], {}, node))


def _chosen(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    """``max``, ``min``: one of the arguments, or an item of the only one."""
    return join_all(args) if len(args) > 1 else element_of(args[0]) if args else UNKNOWN


def _sum(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    return element_of(args[0]) if args else UNKNOWN


def _some_device(frame: Frame, args: list[Value], kwargs: Kwargs, node: ast.expr) -> Value:
    return Value(Kind.DEVICE)


_SPECIAL: dict[str, Callable[..., Value]] = {
    "torch.device": _device,
    "torch.cuda.current_device": _current_device,
    "torch.get_default_device": _some_device,
    "torch.compile": _first,
    "functools.partial": _partial,
    "typing.cast": _second,
    "copy.copy": _first,
    "copy.deepcopy": _first,
    "dataclasses.replace": _copied_record,
    "builtins.getattr": _getattr,
    "builtins.list": _sequence_of(Kind.LIST),
    "builtins.tuple": _sequence_of(Kind.TUPLE),
    "builtins.set": _sequence_of(Kind.SET),
    "builtins.sorted": _sequence_of(Kind.LIST),
    "builtins.reversed": _sequence_of(Kind.LIST),
    "builtins.iter": _first,
    "builtins.next": _sum,
    "builtins.dict": _dict,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.map": _map,
    "builtins.max": _chosen,
    "builtins.min": _chosen,
    "builtins.sum": _sum,
    "builtins.slice": lambda frame, args, kwargs, node: slice_of(args),
    "builtins.abs": _first,
    "itertools.chain.from_iterable": lambda frame, args, kwargs, node: list_of(
        element_of(element_of(args[0])) if args else UNKNOWN
    ),
}
