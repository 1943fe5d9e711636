"""Copies to the GPU from pinned memory, where pinning raises no error that the copy did not.

Pinning needs CUDA. Pinning fails for an array (`torch.tensor(array, pin_memory=True)`), and for a tensor whose elements
share memory, such as an expanded one. `tests/rules/tried` tries all of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from syncscan.model import Kind
from syncscan.rule import Facts

from ._code import CallCode, method_call
from ._data import holds_numbers
from ._parts import calls_in, is_path
from ._shared import given, keywords_of, unpacks

_FRESH = frozenset(
    {"torch.Tensor.clone", "torch.Tensor.contiguous", "torch.cat", "torch.stack"}
)  # functions with dense results
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)
_PLAIN = frozenset({Kind.NUMBER, Kind.LIST, Kind.TUPLE})
_MAKE_PLAIN = frozenset(
    {f"builtins.{name}" for name in ("int", "float", "len", "list", "range", "sorted", "tuple")}
)
_DECIDES_THE_PLACE = {"device", "pin_memory", "out", "layout"}


def is_surely_gpu(device: ast.expr, facts: Facts) -> bool:
    """Return whether a device is a literal GPU; a variable may name the CPU in another run."""
    if isinstance(device, ast.Call) and facts.name_of(device.func) == "torch.device":
        device = next(iter(given(device)), device)
    if not isinstance(device, ast.Constant):
        return False
    if isinstance(device.value, str):
        return device.value.partition(":")[0] == "cuda"
    return isinstance(device.value, int) and not isinstance(device.value, bool)


def _pinned(source: ast.expr, target: ast.expr | None, facts: Facts, *, has_cuda: bool) -> str | None:
    """Return the source in pinned memory if CUDA is available, as ``has_cuda`` ensures; None where pinning may fail.

    ``target`` is the device, or a tensor, to whose device the source is copied.
    """
    if isinstance(source, ast.Call):
        name = facts.name_of(source.func)
        data = facts.argument(source, "data")
        if name == "torch.tensor" and data is not None and not holds_host_numbers(data, facts):
            return None
        reads_data = name == "torch.tensor" and data is not None and is_plain_data(data, facts)
        if reads_data and not _decides_the_place(source):
            flag = "True" if has_cuda else cuda_check(source, target, facts)
            if flag is None:
                return None
            on_host = CallCode(source, facts).with_argument(
                "device", '"cpu"'
            )  # whatever the default device is
            return on_host.with_argument("pin_memory", flag).whole()
    return method_call(source, "pin_memory", facts=facts) if has_cuda and _is_dense(source, facts) else None


def with_pinned_source(call: ast.Call, source: ast.expr, facts: Facts) -> CallCode | None:
    """Return a copy to the GPU from pinned memory; None where pinning might raise an error that the copy did not."""
    name = facts.name_of(call.func)
    target = facts.argument(call, "input" if name.endswith(".copy_") else "device")
    has_cuda = name.endswith(".cuda") or (target is not None and is_surely_gpu(target, facts))
    from_pinned = _pinned(source, target, facts, has_cuda=has_cuda)
    return CallCode(call, facts).edited(source, from_pinned) if from_pinned is not None else None


def _decides_the_place(call: ast.Call) -> bool:
    return unpacks(call) or not _DECIDES_THE_PLACE.isdisjoint(keywords_of(call))


def cuda_check(call: ast.Call, target: ast.expr | None, facts: Facts) -> str | None:
    """Return the test under which a call pins its source: ``x.is_cuda`` for the device of a tensor, else ``torch.cuda.is_available()``.

    On a machine with a GPU, a tensor on the CPU then takes no part of CUDA, which a forked process could not use. ``torch`` has the
    name that the call gives it.
    """
    like = target.value if isinstance(target, ast.Attribute) and target.attr == "device" else None
    if like is not None and is_path(like) and facts.of(like).kind is Kind.TENSOR:
        return f"{facts.source(like)}.is_cuda"
    if not isinstance(call.func, ast.Attribute):
        return None
    return f"{facts.source(call.func.value)}.cuda.is_available()"


def is_plain_data(data: ast.expr, facts: Facts) -> bool:
    """Return whether `torch.tensor` reads data element by element, and can pin the result: a number, a list, a tuple.

    Pinning fails for arrays and tensors, which a caller may pass for what an annotation calls a list. So the function itself has to
    make the list.
    """
    return has_plain_kind(data, facts) and _is_made_here(data, facts)


def holds_host_numbers(data: ast.expr, facts: Facts) -> bool:
    """Return whether data are known to be numbers of the host, so that `torch.tensor` reads nothing from the GPU, one by one."""
    return holds_numbers(facts.of(data)) and not any(map(facts.blocks, calls_in(data)))


def has_plain_kind(data: ast.expr, facts: Facts) -> bool:
    """Return whether data are a number, a list or a tuple, by what is inferred or declared."""
    options = facts.of(data).options
    return bool(options) and all(each.kind in _PLAIN for each in options)


def _is_made_here(data: ast.expr, facts: Facts) -> bool:
    """Return whether an expression makes a list or a number, or is a name to which its function gives nothing else."""
    if not isinstance(data, ast.Name):
        return _makes_plain(data, facts)
    values = _given_to(data, facts)
    return bool(values) and all(value is not None and _makes_plain(value, facts) for value in values)


def _makes_plain(value: ast.expr, facts: Facts) -> bool:
    """Return whether an expression makes a list, or computes a number of literals, lengths and shapes."""
    if isinstance(value, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.Constant)):
        return True
    if isinstance(value, ast.UnaryOp):
        return _makes_plain(value.operand, facts)
    if isinstance(value, ast.BinOp):
        sides = (value.left, value.right)
        made = [each for each in sides if _makes_plain(each, facts)]
        is_repeated = isinstance(value.op, ast.Mult) and any(isinstance(each, ast.List) for each in made)
        return is_repeated or len(made) == len(sides)
    if isinstance(value, ast.Subscript):
        value = value.value
    if isinstance(value, ast.Attribute):
        return value.attr == "shape"
    if not isinstance(value, ast.Call):
        return False
    is_list = isinstance(value.func, ast.Attribute) and value.func.attr in {"tolist", "size"}
    return is_list or facts.name_of(value.func) in _MAKE_PLAIN


def _given_to(name: ast.Name, facts: Facts) -> list[ast.expr | None]:
    """Return all that the function around a name gives to it, None for a parameter or a part of something; [] for outer names."""
    function = next((each for each in facts.around(name).up(name) if isinstance(each, _SCOPES)), None)
    nodes = [*ast.walk(function)] if function is not None else []
    values = {target: value for each in nodes for target, value in _set_by(each)}
    stored = [each for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    found = [values.get(each) for each in stored if each.id == name.id]
    taken = [each for each in nodes if isinstance(each, ast.arg) and each.arg == name.id]
    return [*found, *(None for _ in taken)]


def _set_by(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets to which an assignment gives its whole value, each with the value."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value


def _is_dense(source: ast.expr, facts: Facts) -> bool:
    """Return whether an expression surely creates a tensor whose elements share no memory."""
    if isinstance(source, (ast.BinOp, ast.UnaryOp)):
        return facts.of(source).is_cpu_tensor
    if not isinstance(source, ast.Call) or not facts.of(source).is_cpu_tensor:
        return False
    return facts.name_of(source.func) in _FRESH | {"torch.tensor"}
