"""The suggestion for host data that become a tensor on the GPU: a fill for a number, pinned memory for a list."""

from __future__ import annotations

import ast

from syncscan.model import Kind, Value
from syncscan.rule import Facts

from ._parts import is_path, is_put_back, names_in
from ._suggestions import suggest

_DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
}
OF_DATA = frozenset(
    {"torch.tensor", "torch.as_tensor", "torch.Tensor", *(f"torch.{kind}Tensor" for kind in _DTYPES)}
)


def of_new(call: ast.Call, data: ast.expr, facts: Facts) -> str:
    """Return the suggestion for `new_tensor`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "new_tensor":
        return ""
    tensor, item = facts.source(call.func.value), data
    shape = "()"
    if isinstance(data, (ast.List, ast.Tuple)) and len(data.elts) == 1:
        item, shape = data.elts[0], "(1,)"
    full = f"{tensor}.new_full({shape}, {facts.source(item)}{_dtype(call, facts)})"
    if shape != "()" or facts.of(item).kind is Kind.NUMBER:
        return suggest("number", full=full)
    if are_constants(data, call, facts):
        return suggest("constants")
    dtype = _dtype(call, facts) or f", dtype={tensor}.dtype"
    pinned = (
        f"torch.tensor({facts.source(data)}{dtype}, pin_memory=True).to({tensor}.device, non_blocking=True)"
    )
    return _of_a_list(data, pinned, facts)


def of_data(call: ast.Call, data: ast.expr, device: str, facts: Facts) -> str:
    """Return the suggestion for a call that creates a tensor of ``data``, for a GPU named as source text."""
    text, dtype = facts.source(data), _dtype(call, facts) + _gradient(call, facts)
    if facts.name_of(call.func).endswith("Tensor") and facts.of(data).kind is Kind.NUMBER:
        return ""  # of a tensor whose elements nothing sets
    if is_constant(data, call, facts):
        return "" if is_put_back(call, text, facts) else suggest("constant", data=text)
    formula = _of_a_range(data, dtype, device, facts)
    if formula:
        return formula
    full = f"torch.full((), {text}{dtype}, device={device})"
    one = _only_number(data, facts)
    if one is not None:
        return suggest("number", full=_of_one(call, one, dtype, device, facts))
    kept = _dtype(call, facts)
    pinned = f"torch.tensor({text}{kept}, pin_memory=True).to({device}, non_blocking=True)"
    pinned += ".requires_grad_()" if kept != dtype else ""
    if facts.name_of(call.func) == "torch.Tensor":
        return ""  # which has the default dtype, whatever the data are
    if facts.of(data).kind is Kind.NUMBER:
        return suggest("number", full=full)
    if are_constants(data, call, facts):
        return suggest("constants")
    return _of_a_list(data, pinned, facts)


def _of_a_range(data: ast.expr, dtype: str, device: str, facts: Facts) -> str:
    """Return the suggestion for a range, and for numbers that a comprehension computes from one by arithmetic; "" for other data."""
    if isinstance(data, ast.Call) and facts.name_of(data.func) == "builtins.range":
        bounds = ", ".join([*map(facts.source, data.args), *([dtype.removeprefix(", ")] if dtype else [])])
        return suggest("range", bounds=bounds, device=device)
    if not isinstance(data, ast.ListComp) or len(data.generators) > 1:
        return ""
    loop = data.generators[0]
    if loop.ifs or not isinstance(loop.target, ast.Name):
        return ""
    inside = [
        each
        for each in ast.walk(data.elt)
        if not isinstance(each, (ast.operator, ast.unaryop, ast.expr_context))
    ]
    is_formula = all(
        isinstance(each, (ast.BinOp, ast.UnaryOp, ast.Name, ast.Attribute, ast.Constant)) for each in inside
    )
    if not isinstance(loop.iter, ast.Call) or facts.name_of(loop.iter.func) != "builtins.range":
        return ""
    if not is_formula or loop.target.id not in names_in(data.elt):
        return ""
    return suggest("range-formula", bounds=", ".join(map(facts.source, loop.iter.args)), device=device)


def of_numbers(data: ast.expr, call: ast.Call, device: str, facts: Facts) -> str:
    """Return the suggestion beside a copy from pinned memory: for one number, or for numbers computed from a range; else ""."""
    one, dtype = _only_number(data, facts), _dtype(call, facts)
    if one is not None:
        return suggest("held-number", full=_of_one(call, one, dtype, device, facts))
    if facts.of(data).kind is Kind.NUMBER:
        return suggest("held-number", full=f"torch.full((), {facts.source(data)}{dtype}, device={device})")
    return _of_a_range(data, dtype, device, facts)


def _of_a_list(data: ast.expr, pinned: str, facts: Facts) -> str:
    """Return the suggestion for a list or a tuple, whose elements may be GPU scalars if they are not known; "" for other data."""
    if not _is_list(data, facts):
        return ""
    row = "list" if holds_numbers(facts.of(data)) else "list-of-others"
    return suggest(row, pinned=pinned)


def holds_numbers(value: Value) -> bool:
    """Return whether a value is a number or an array, or a list or tuple of such, and surely of no tensors."""
    return bool(value.options) and all(map(_is_numbers, value.options))


def _is_numbers(value: Value) -> bool:
    if value.kind not in {Kind.LIST, Kind.TUPLE}:
        return value.kind in {Kind.NUMBER, Kind.NDARRAY}
    inside = value.items if value.items is not None else (value.element,)
    return all(each is None or holds_numbers(each) for each in inside)


def _is_list(data: ast.expr, facts: Facts) -> bool:
    if isinstance(data, ast.Call) and isinstance(data.func, ast.Attribute) and data.func.attr == "tolist":
        return True
    is_written_out = isinstance(data, (ast.List, ast.ListComp, ast.Tuple))
    value = facts.of(data)
    inside = value.items if value.items is not None else (value.element,)
    if any(each is not None and each.is_gpu for each in inside):
        return False  # which is read one by one
    return is_written_out or value.kind in {Kind.LIST, Kind.TUPLE}


_SETTINGS = frozenset({"config", "cfg", "args", "settings"})


def is_constant(data: ast.expr, node: ast.AST, facts: Facts) -> bool:
    """Return whether data are a setting: an attribute of an object, or one under ``config``, read outside of ``__init__``."""
    parts = []
    while isinstance(data, ast.Attribute):
        parts.append(data.attr)
        data = data.value
    is_own = isinstance(data, ast.Name) and data.id == "self" and len(parts) == 1
    is_kept = is_own or (isinstance(data, ast.Name) and not _SETTINGS.isdisjoint((data.id, *parts[1:])))
    return bool(parts) and is_kept and not facts.function(node).endswith("__init__")


def of_constants(data: ast.expr, call: ast.Call, facts: Facts) -> str:
    """Return the suggestion for data that are the same in each call: literals, or maybe an attribute."""
    if are_constants(data, call, facts):
        return suggest("constants")
    is_kept = is_constant(data, call, facts) and not is_put_back(call, facts.source(data), facts)
    return suggest("maybe-constant", data=facts.source(data)) if is_kept else ""


def are_constants(data: ast.expr, node: ast.AST, facts: Facts) -> bool:
    """Return whether data are a list of literals and attributes of classes, in a function that runs more than once."""
    elements = data.elts if isinstance(data, (ast.List, ast.Tuple)) else []
    is_inside = facts.function(node) != "<module>" and not facts.function(node).endswith("__init__")
    return is_inside and len(elements) > 1 and all(map(_is_fixed, elements))


def _is_fixed(node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(map(_is_fixed, node.elts))
    if isinstance(node, ast.UnaryOp):
        return _is_fixed(node.operand)
    names = names_in(node) if is_path(node) else []
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.Attribute) and names[:1] != [] and names[0][:1].isupper()
    )


def data_behind(source: ast.expr, facts: Facts) -> ast.expr | None:
    """Return the data of the call at the start of a chain such as ``torch.tensor(data).view(1, -1)``; else None."""
    while isinstance(source, ast.Call):
        if facts.name_of(source.func) in OF_DATA or _is_of_data(source):
            return (
                source.args[0]
                if len(source.args) == 1 and not isinstance(source.args[0], ast.Starred)
                else None
            )
        if not isinstance(source.func, ast.Attribute):
            return None
        source = source.func.value
    return None


def _is_of_data(call: ast.Call) -> bool:
    """Return whether a call names a function such as ``torch.tensor``; only the text is known of other statements."""
    return ast.unparse(call.func) in OF_DATA


def _only_number(data: ast.expr, facts: Facts) -> ast.expr | None:
    """Return the number of a list or tuple of one number, written out; else None."""
    elements = data.elts if isinstance(data, (ast.List, ast.Tuple)) else []
    return elements[0] if len(elements) == 1 and facts.of(elements[0]).kind is Kind.NUMBER else None


def _of_one(call: ast.Call, number: ast.expr, dtype: str, device: str, facts: Facts) -> str:
    """Return the code of a tensor of one number on the GPU; `torch.Tensor([0])` has the default dtype, as `torch.zeros(1)`."""
    if facts.name_of(call.func) != "torch.Tensor":
        return f"torch.full((1,), {facts.source(number)}{dtype}, device={device})"
    return f"torch.empty(1, device={device}).fill_({facts.source(number)})"


def _gradient(call: ast.Call, facts: Facts) -> str:
    wanted = facts.argument(call, "requires_grad")
    return f", requires_grad={facts.source(wanted)}" if wanted is not None else ""


def _dtype(call: ast.Call, facts: Facts) -> str:
    """Return the argument for the dtype of the tensor that a call creates, or "" where the data decide."""
    name = facts.name_of(call.func).removeprefix("torch.").removesuffix("Tensor")
    if name in _DTYPES:
        return f", dtype=torch.{_DTYPES[name]}"
    dtype = facts.argument(call, "dtype")
    return f", dtype={facts.source(dtype)}" if dtype is not None else ""
