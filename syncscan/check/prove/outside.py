"""Calls of code outside of the project: torch by the operation table, other packages by their declarations."""

from __future__ import annotations

import ast
import re

from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.prove.conditions import possible_case
from syncscan.check.prove.containers import iterates
from syncscan.check.prove.frame import Arguments, WalkFrame
from syncscan.check.prove.packages import (
    CONTAINERS_OF_MODULES,
    HARMLESS_CONTEXTS,
    HARMLESS_LAYERS,
    HARMLESS_TORCH,
    gives_values,
    is_cast,
    is_standard,
    keeps_only,
    looks_on_the_host,
    only_looks,
    root_of,
)
from syncscan.check.prove.python import call_builtin, formats
from syncscan.check.prove.registered import Implementation, implementations
from syncscan.check.prove.results import result_of
from syncscan.check.prove.special import (
    given_outside,
    runs_hooks,
    runs_method,
    runs_of_torch,
    runs_texts_of_exceptions,
)
from syncscan.check.prove.unread import keeps
from syncscan.check.prove.values import (
    ANYWHERE,
    BOOL,
    HOST,
    NO_TENSOR,
    NONE,
    NUMBER,
    STRING,
    TOP,
    AbstractValue,
    host_arrays,
    join_all,
    list_of,
    may_hold_gpu,
    options_of,
    sequence,
    truth,
)
from syncscan.model import Device, Kind
from syncscan.ops.inferred import device_named
from syncscan.ops.table import Effect, Operation

_IS_NUMBER = re.compile(r"\b(int|float|bool|complex|Number)\b")  # in the annotations of registered functions
_WHY = {
    Effect.ALWAYS: "it blocks",
    Effect.SHAPE: "the shape of its result depends on data",
    Effect.SCALAR: "it reads a number from the GPU",
    Effect.UPLOAD: "it may copy from pageable memory to the GPU",
    Effect.DOWNLOAD: "it may copy from the GPU to the host",
    Effect.CHECK: "it checks for errors on the host",
    Effect.WAIT: "it is an explicit synchronization",
}
_ABOUT_SIZE = "it may copy more than {} bytes that are in pageable memory, or with gaps between the elements"
_SIZE = "make the source by `torch.zeros`, with `pin_memory=True` and a size of literal numbers"
_OVERRIDING = (
    "__torch_function__",
    "__torch_dispatch__",
)  # which every operation of torch runs on subclasses of tensors
_RUN_CODE = frozenset(
    {"torch.Tensor.backward", "torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.apply_"}
)
_TEXTS = frozenset({"logging", "warnings", "pprint", "traceback", "string", "textwrap", "json", "pickle"})
# Functions that make texts of the exception at hand, as others do for ``exc_info=True``.
_TEXTS_OF_EXCEPTIONS = frozenset(
    {"logging.exception", "logging.Logger.exception", "traceback.format_exc", "traceback.print_exc", "traceback.print_last"}
)  # fmt: skip
_REPLACING = frozenset({"dataclasses.replace", "copy.replace"})
_COPIES = frozenset({"copy.copy", "copy.deepcopy"})
_COPYING = (
    "__copy__",
    "__deepcopy__",
    "__reduce__",
    "__reduce_ex__",
    "__getstate__",
    "__setstate__",
    "__getnewargs__",
)
_ONE_SELF = frozenset({Kind.NONE, Kind.NUMBER, Kind.STRING, Kind.DTYPE, Kind.DEVICE})
_CONTAINERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET})
_OF_MODULES = frozenset(
    f"torch.nn.{module}{name}" for module in ("", "parameter.") for name in ("Parameter", "Buffer")
)
_CHILDREN = ("children", "named_children")
_PARAMETERS = ("parameters", "named_parameters", "named_modules")
# The methods of its own, and of the modules inside, that a method of a module calls, which a class of the project may override.
_RUNS_OF_MODULES = {
    **dict.fromkeys(("eval", "train"), ("train", *_CHILDREN)),
    **dict.fromkeys(("requires_grad_", "zero_grad", "parameters", "named_parameters"), _PARAMETERS),
    **dict.fromkeys(("buffers", "named_buffers"), ("named_buffers", "named_modules")),
    **dict.fromkeys(("modules", "named_modules"), ("named_modules",)),
    "children": ("named_children",),
    "apply": ("apply", *_CHILDREN),
    "state_dict": ("state_dict", "_save_to_state_dict", "get_extra_state"),
    "load_state_dict": ("load_state_dict", "_load_from_state_dict", "set_extra_state"),
    **dict.fromkeys(
        (
            "to",
            "cuda",
            "cpu",
            "half",
            "float",
            "double",
            "bfloat16",
            "to_empty",
            "type",
            "xpu",
            "share_memory",
        ),
        ("_apply", *_CHILDREN),
    ),
}
_LISTING = frozenset({"keys", "values", "items"})  # of a container of modules
# Methods that return the module itself.
_RETURN_SELF = frozenset(
    {"eval", "train", "requires_grad_", "to", "cuda", "cpu", "half", "float", "double", "bfloat16", "to_empty", "type", "xpu",
     "share_memory", "apply"}
)  # fmt: skip
_MODULE_METHODS = frozenset(
    {"eval", "train", "parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "buffers",
     "named_buffers", "register_buffer", "register_parameter", "requires_grad_", "add_module", "extra_repr", "zero_grad"}
)  # fmt: skip


def call_outside(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk a call of something outside of the project, by its full name."""
    root = root_of(name)
    _calls_back(frame, node, name, args)
    if name in frame.source.table.own:
        frame.assume(f"`{name}` does what [tool.syncscan.operations] declares")
        return operation_call(frame, node, name, args)
    if root == "python":
        return _call_standard(frame, node, "os", args)
    if root == "builtins":
        return call_builtin(frame, node, name.partition(".")[2], args)
    if is_cast(name):
        return args.given(1, "val") or TOP
    if root == "copy":
        return _copied(frame, node, name, args)
    if root not in {"torch", "numpy"} and frame.source.operation(name) is not None:
        return operation_call(frame, node, name, args)
    if root in {"torch", "numpy"}:
        return (_call_torch if root == "torch" else _call_numpy)(frame, node, name, args)
    if name in HARMLESS_CONTEXTS:
        return AbstractValue(Kind.INSTANCE, payload=name)
    if keeps_only(name):
        keeps(frame, node, name, args)
        return TOP
    if looks_on_the_host(name):
        return _call_standard(frame, node, name, args)
    where = "the standard library" if is_standard(name) else f"the package `{root}`"
    return frame.unknown(
        node, f"`{name}` is of {where}, of which nothing is declared", name.rpartition(".")[2]
    )


def _call_registered(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk a call of an operation that the project registers, or that a stub describes; others are unknown callees."""
    found = implementations(frame.prover, name)
    if found == [] and frame.source.operation(name) is not None:
        return operation_call(frame, node, name, args)
    if not found:
        return frame.unknown(node, f"`{name}` is not in the operation table", name.rpartition(".")[2])
    frame.assume(f"`{name}` runs what the project registers for it, and nothing else")
    return join_all([_runs_registered(frame, node, each, args) for each in found])


def _runs_registered(
    frame: WalkFrame, node: ast.AST, implementation: Implementation, args: Arguments
) -> AbstractValue:
    function = implementation.function
    given = [*zip(function.parameters, args.args, strict=False)]
    given += [(each, args.kwargs[each.name]) for each in function.parameters if each.name in args.kwargs]
    for parameter, value in given:
        if may_hold_gpu(value) and _IS_NUMBER.search(ast.unparse(parameter.annotation or ast.Name("Any"))):
            frame.may(
                node,
                None,
                f"torch reads the number `{parameter.name}` from what may be a tensor",
                _HOST_ARGUMENTS,
            )
    if implementation.is_bare:
        frame.calls(node, function)
        return TOP
    return frame.call(node, AbstractValue(Kind.FUNCTION, payload=function), args)


def _calls_back(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> None:
    """Note the methods of the project that code outside may run: of objects that it is given, and of classes that extend its own."""
    root = root_of(name)
    if root != "builtins" and not only_looks(name):
        given_outside(frame, node, args.values)
    if root == "torch":
        runs_of_torch(frame, node, *_OVERRIDING)
    if name in _REPLACING:
        _replaces(frame, node, args)
    if name in _TEXTS_OF_EXCEPTIONS or truth(args.kwargs.get("exc_info", NONE)) is not False:
        runs_texts_of_exceptions(frame, node)


def _replaces(frame: WalkFrame, node: ast.AST, args: Arguments) -> None:
    """Walk the making of an object like another one."""
    for option in options_of(args.args[0]) if args.args else (TOP,):
        if option.kind is Kind.INSTANCE and isinstance(option.payload, Class):
            frame.call(node, AbstractValue(Kind.CLASS, payload=option.payload), Arguments(spreads=True))
        elif (
            frame.source.methods_named("__post_init__")
            and frame.prover.ran.called(frame.module, node) is None
        ):
            frame.unknown(node, "it makes an object of the class of another one, which is not known")


def _copied(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk a copy of an object, which is of the same class; methods of the project may say how to copy."""
    if name not in _COPIES or not args.args:
        return _call_standard(frame, node, name, args)
    for method in (method for dunder in _COPYING for method in frame.source.methods_named(dunder)):
        runs_method(frame, node, method)
    options = options_of(args.args[0])
    is_of_class = all(
        option.kind in _ONE_SELF | _CONTAINERS
        or option is HOST
        or (
            option.kind is Kind.INSTANCE
            and isinstance(option.payload, Class)
            and not _copies_itself(frame, option.payload)
        )
        for option in options
    )
    whole = operation_call(frame, node, name, args)
    return join_all(map(_copy_of, options)) if is_of_class else whole


def _copies_itself(frame: WalkFrame, cls: Class) -> bool:
    """Return whether a method of a class, or of one below it, may make something else as the copy."""
    return any(frame.source.overrides(cls, dunder) for dunder in _COPYING)


def _copy_of(value: AbstractValue) -> AbstractValue:
    """Return the copy of a value; the items of a container may copy themselves to anything."""
    return AbstractValue(value.kind, element=TOP) if value.kind in _CONTAINERS else value


def _call_standard(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk a call of the standard library, which reads its arguments."""
    if root_of(name) in _TEXTS:
        for value in args.values:
            formats(frame, node, value)
    elif any(map(may_hold_gpu, args.values)) or args.spreads_more:
        frame.may(node, None, f"`{name}` may be given a tensor on the GPU, and read it", _HOST_ARGUMENTS)
        return NO_TENSOR
    if root_of(name) in {"math", "time", "random"} or name.startswith("triton."):
        return NUMBER
    return HOST if gives_values(name) else NO_TENSOR


_HOST_ARGUMENTS = "annotate the arguments with types that are no tensors"
_PADDING = "torch.nn.utils.rnn.pad_packed_sequence"
_SORTED = "pad by `index_select` on the GPU, with an order that is kept beside the packed sequence"


def _call_numpy(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    if any(map(may_hold_gpu, args.values)) or args.spreads_more:
        reason = f"`{name}` may be given a tensor on the GPU, and copy it to the host"
        frame.may(node, None, reason, "annotate the arguments as `numpy.ndarray`")
    return (
        AbstractValue(Kind.INSTANCE, payload=name)
        if "Generator" in name or "errstate" in name
        else host_arrays()
    )


def _call_torch(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    if name == "torch.device":
        return _device(frame, node, args)
    if name in CONTAINERS_OF_MODULES:
        return _container(frame, node, name, args)
    if name in HARMLESS_CONTEXTS or name in HARMLESS_LAYERS:
        return AbstractValue(Kind.INSTANCE, payload=name)
    if name in _OF_MODULES or name.endswith(".__torch_function__"):  # which runs an operation that was noted
        return ANYWHERE
    if _is_of_module(*name.rpartition(".")[::2]):
        return _of_module(frame, node, name, args)
    if name == "torch.Size" and any(map(may_hold_gpu, args.values)):
        frame.may(node, None, "the size may be of tensors on the GPU, which are read", _HOST_ARGUMENTS)
    if name == _PADDING:  # of an object, whose tensors no annotation places
        frame.may(node, None, "it copies the order of sequences that were not sorted to the host", _SORTED)
    if name in HARMLESS_TORCH or name.startswith(("torch.backends.", "torch._C._log_api")):
        return _flag_of(name)
    if name in _RUN_CODE:
        return frame.unknown(node, f"`{name}` runs the backward functions and hooks of whatever was recorded")
    if frame.source.table.find(name) is not None:
        return operation_call(frame, node, name, args)
    return _call_registered(frame, node, name, args)


def _container(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk the making of a container of modules, which iterates over what it is given."""
    for each in () if name.endswith("Sequential") else args.args:
        iterates(frame, node, each)
    return AbstractValue(Kind.INSTANCE, payload=name)


def _is_of_module(owner: str, name: str) -> bool:
    """Return whether a method is one that torch modules have, or any of a layer."""
    is_method = name in _MODULE_METHODS or name in _RUNS_OF_MODULES
    if owner in CONTAINERS_OF_MODULES and name in _LISTING:
        return True
    return owner in HARMLESS_LAYERS or (is_method and owner.startswith("torch.nn."))


def _flag_of(name: str) -> AbstractValue:
    last = name.rpartition(".")[2]
    if last.startswith(("is_", "are_")):
        return BOOL
    if last == "Size":
        return list_of(NUMBER, Kind.TUPLE)
    return {
        "get_default_dtype": AbstractValue(Kind.DTYPE),
        "Generator": AbstractValue(Kind.INSTANCE, payload=name),
    }.get(last, NO_TENSOR)


def _of_module(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk a method that every torch module has."""
    last = name.rpartition(".")[2]
    if last in {"__call__", "forward"}:
        runs_hooks(frame, node)
        return ANYWHERE
    runs_of_torch(frame, node, *_RUNS_OF_MODULES.get(last, (last,) if last in _LISTING else ()))
    if last in {"register_buffer", "register_parameter", "add_module"}:
        return TOP
    if last in _LISTING or last in _MODULE_METHODS - _RETURN_SELF:
        named = sequence([STRING, TOP], Kind.TUPLE)
        return list_of(named if last == "items" or last.startswith("named_") else TOP)
    made = TOP if last in _MODULE_METHODS else operation_call(frame, node, f"torch.nn.Module.{last}", args)
    is_own = last in _RETURN_SELF and bool(args.args) and _returns_itself(frame, args.args[0], last)
    return args.args[0] if is_own else made


def _returns_itself(frame: WalkFrame, module: AbstractValue, method: str) -> bool:
    """Return whether a method of torch returns the module: it returns what ``_apply`` or ``train`` of its class does."""
    if module.kind is not Kind.INSTANCE:
        return False
    returned = {"eval": "train", "apply": "", "requires_grad_": ""}.get(method, "_apply")
    cls = module.payload
    return not returned or not isinstance(cls, Class) or not frame.source.overrides(cls, returned)


def _device(frame: WalkFrame, node: ast.AST, args: Arguments) -> AbstractValue:
    index = args.given(1, "index")
    if index is not None and may_hold_gpu(index):
        frame.may(node, None, "the index may be a tensor on the GPU, which is read", _HOST_ARGUMENTS)
    given = args.given(0, "type")
    place = device_named(given) if given is not None else Device.UNKNOWN
    return AbstractValue(Kind.DEVICE, Device.MIXED if place is Device.UNKNOWN else place)


def operation_call(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk a call of an operation of the table; an operation that is not there is an unknown callee."""
    operation = frame.source.operation(name)
    if operation is None:
        return frame.unknown(
            node, f"the operation `{name}` is not in the operation table", name.rpartition(".")[2]
        )
    if frame.source.table.find(name) is None:
        frame.assume(f"`{name}` does what its stub says, as measured")
    bound = Bound.of(operation, args.args, args.kwargs)
    blocks(frame, node, name, bound, spreads=args.spreads_more)
    if _is_in_place(name) and args.args:
        return args.args[0] if args.args[0].kind is Kind.TENSOR else ANYWHERE
    return (
        TOP
        if args.spreads_more and operation.result not in {"number", "none", "string"}
        else result_of(bound, is_starred=args.certain is not None)
    )


def _is_in_place(name: str) -> bool:
    return name.startswith("torch.Tensor.") and name.endswith("_") and not name.endswith("__")


def blocks(frame: WalkFrame, node: ast.AST, name: str, bound: Bound, *, spreads: bool = False) -> None:
    """Note that an operation may block, where nothing excludes it."""
    operation = bound.operation
    if name.startswith("torch."):
        runs_of_torch(frame, node, *_OVERRIDING)
    case = possible_case(bound, dense=frame.prover.is_dense)
    if case is None and spreads:
        case = next(iter((*operation.blocks, *operation.sometimes)), None)
    if case is not None:
        most = next((term.size for term in case.when if term.test == "bytes"), 0)
        if most and case.effect is Effect.UPLOAD:
            frame.may(node, None, f"`{name}`: {_ABOUT_SIZE.format(most)}", _SIZE)
        else:
            frame.may(node, None, f"`{name}`: {_WHY[case.effect]}", _fact_of(node, bound, case.effect))
    elif _depends_on_size(operation) and any(each.count is not None for each in bound.operands()):
        frame.assume("no code changes the size of a tensor that is made with literal sizes")


def _depends_on_size(operation: Operation) -> bool:
    cases = (*operation.blocks, *operation.sometimes)
    return any(term.test == "bytes" for case in cases for term in case.when)


def _may_be_no_positions(bound: Bound) -> bool:
    """Return whether the index of a subscript is a tensor that may be a mask, a single number, or on the host."""
    tensors = [
        each
        for value in bound.values.get("index", ())
        for each in options_of(value)
        if each.kind is Kind.TENSOR
    ]
    return any(each.dtype != "int" or not each.ndim or each.device is not Device.CUDA for each in tensors)


def _fact_of(node: ast.AST, bound: Bound, effect: Effect) -> str:
    """Return the single fact that would exclude a case."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and _may_be_no_positions(bound):
        index = node.slice.id
        return f"`assert {index}.is_cuda and {index}.ndim == 1 and {index}.dtype == torch.int64`, if it holds positions"
    if effect in {Effect.ALWAYS, Effect.WAIT, Effect.CHECK}:
        return "leave it out of the step, or allow it with a reason"
    if effect is Effect.UPLOAD:
        return "copy from pinned memory with `non_blocking=True`, or keep the operands in one place"
    first = next(iter(bound.operation.args), "input").lstrip("*")
    return f"`assert {'x' if first == 'input' else first}.is_cpu` of its operand, or an annotation that is no tensor"
