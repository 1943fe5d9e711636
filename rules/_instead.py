"""The choice of a suggestion for a read from the GPU, by the site of the read and the use of its result."""

from __future__ import annotations

import ast

from syncscan.rule import Facts
from syncscan.syntax.use import (
    Role,
    Use,
    has_own_value,
    is_parameter,
    is_set_by_loop,
    last_set,
    loop_over,
    set_in_loop,
    use_of,
)

from ._data import data_behind, is_constant
from ._shared import call_around, index_parts
from ._suggestions import suggest

# The arguments that torch takes from the GPU where they are tensors, as measured.
_TAKES_TENSOR = frozenset({"torch.Tensor.fill_", "torch.Tensor.clamp", "torch.Tensor.clamp_", "torch.clamp"})
_RANDOM = frozenset(
    {"rand", "randn", "randint", "randperm", "multinomial", "bernoulli", "uniform_", "random_"}
)
_READS = {"item": "number", "tolist": "copy", "cpu": "copy", "to": "copy"}
_NOT_FINITE = frozenset({"isnan", "isinf", "isfinite"})
_FACTORIES = frozenset(
    {"zeros", "ones", "empty", "full", "arange", "eye", "tensor", "zeros_like", "linspace"}
)
_EMPTY = frozenset({"any", "sum", "all", "nonzero", "count_nonzero", "numel"})
_LONGEST = 60
_STEPS = 4  # names through which a value is followed


def of_a_number(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a tensor of one element that becomes a number; "" where only the general one fits."""
    call = call_around(node, facts)
    if call is not None and facts.name_of(call.func) in _TAKES_TENSOR:
        name = facts.name_of(call.func).rpartition(".")[2]
        return suggest("fill") if name == "fill_" else suggest("takes-tensor", operation=name)
    if facts.raises(node):
        return suggest("asserted")
    if facts.in_loop(node) and not facts.made_in_loop(node):
        return _of_a_loop(node, tensor, facts)
    return _by_use(node, tensor, facts) or (suggest("round-later") if facts.in_loop(node) else "")


def of_many(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a whole tensor that is copied to the host."""
    if facts.in_loop(node) and not facts.made_in_loop(node):
        return _of_copies(node, tensor, facts)
    name = _kept(tensor, facts)
    hint = _of_a_copy(use_of(node, facts.around(node)), name, tensor, facts) if name else ""
    if hint:
        return hint
    side = _side_of_another_read(node, facts)
    if side:
        return suggest("copy-together", side=side)
    if facts.in_loop(node) and name:
        return suggest("collect", tensor=name)
    if not facts.used_at_once(node):
        return ""
    root = _root(tensor)
    is_passed = isinstance(root, ast.Name) and is_parameter(root.id, node, facts.around(node))
    return suggest("passed" if is_passed else "at-once", tensor=_text(tensor, facts) or "tensor")


def _of_a_copy(use: Use, name: str, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a copy by what becomes of the copy; "" where the host works with the copy."""
    if use.role is Role.APPENDED and facts.in_loop(use.node):
        return suggest("append-copy", tensor=name, list=_list_of(use, facts))
    if use.role in {Role.RECORDED, Role.LOGGED}:
        is_moved = _text(use.node, facts) == _text(_root(tensor), facts) != ""
        return suggest("copies") if is_moved else suggest("record-copy", tensor=name)
    if use.role is Role.INDEX:
        return suggest("index-tensor", tensor=_text(tensor, facts))
    return suggest("return-copy", tensor=_text(tensor, facts)) if use.role is Role.RETURNED else ""


def of_a_store(node: ast.Assign, store: ast.expr, facts: Facts) -> str:
    """Return the suggestion for a GPU tensor that is stored in a tensor of the host."""
    name = _text(store, facts)
    if facts.in_loop(node) and name:
        return suggest("store-in-loop", store=name)
    made = last_set(name, node, facts.around(node))
    if isinstance(made, ast.Call) and any(_last_name(each.func) in _FACTORIES for each in _calls_in(made)):
        return suggest("store-on-gpu", store=name)
    return ""


def _of_copies(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a copy in each iteration, of a tensor from before the loop."""
    if isinstance(node, ast.Call) and _last_name(node.func) == "tolist":
        return _of_a_loop(node, tensor, facts)
    iterables = [loop_over(name, node, facts.around(node)) for name in _names_in(tensor)]
    picked = (
        [each for each in ast.walk(tensor) if isinstance(each, ast.Subscript)] if tensor is not None else []
    )
    around = facts.around(node)
    taken = [
        each.value
        for each in picked
        if any(is_set_by_loop(name, node, around) for name in _names_in(each.slice))
    ]
    parts = [*taken, *(each for each in iterables if each is not None and facts.of(each).is_gpu)]
    if parts and _text(parts[0], facts):
        return suggest("copy-before-loop", iterable=_text(parts[0], facts))
    return suggest("copies")


def of_rounds(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a read in each iteration, of a tensor created before or inside the loop."""
    if not facts.made_in_loop(node):
        return _of_a_loop(node, tensor, facts)
    return _by_use(node, tensor, facts) or suggest("round-later")


def of_a_text(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a tensor that becomes text."""
    if facts.in_loop(node) and not facts.made_in_loop(node):
        return _of_a_loop(node, tensor, facts)
    name = _kept(tensor, facts)
    return suggest("log" if facts.in_loop(node) else "log-rarely", tensor=name) if name else ""


def of_an_upload(
    call: ast.Call, source: ast.Name | ast.Attribute, device: str, copy: str, facts: Facts
) -> str:
    """Return the suggestion for a named tensor of the host that is copied to the GPU; ``copy`` is the call without blocking."""
    around, name = facts.around(call), facts.source(source)
    made = last_set(source.id, call, around) if isinstance(source, ast.Name) else None
    data = data_behind(made, facts) if made is not None else None
    if data is not None and is_constant(data, call, facts):
        return suggest("constant", data=_text(data, facts) or name)
    if data is None and isinstance(made, ast.Call) and _last_name(made.func) in _FACTORIES and device:
        return suggest("made-above", source=name, device=device)
    if name.startswith("self.") and name.count(".") == 1 and not facts.function(call).endswith("__init__"):
        return suggest("buffer", source=name, copy=facts.edited(call, {}))
    return suggest("loader", source=name, copy=copy)


def of_a_test(tested: ast.expr, facts: Facts) -> str:
    """Return the suggestion for a GPU tensor that decides a branch."""
    if facts.raises(tested):
        return suggest("asserted")
    whole = facts.parent(tested)
    if isinstance(whole, ast.BoolOp) and all(facts.of(each).is_gpu for each in whole.values):
        return _of_several(whole, facts)
    root = _root(tested.left if isinstance(tested, ast.Compare) else tested)
    elements = _elements_behind(root, tested, facts) if facts.in_loop(tested) else ""
    if elements:
        return suggest("elements", tensor=elements)
    if isinstance(root, ast.Name) and loop_over(root.id, tested, facts.around(tested)) is not None:
        return _of_a_loop(tested, root, facts)
    return _of_test(use_of(tested, facts.around(tested)).node, tested, tested, facts)


def _of_several(whole: ast.BoolOp, facts: Facts) -> str:
    """Return the suggestion for tensors that `and` or `or` connects, each of which is read."""
    parts = [_text(each, facts) for each in whole.values]
    operator = " & " if isinstance(whole.op, ast.And) else " | "
    marked = [
        f"({part})" if isinstance(each, ast.Compare) else part
        for part, each in zip(parts, whole.values, strict=True)
    ]
    text = operator.join(marked)
    return suggest("combine", test=text) if all(parts) and len(text) <= 2 * _LONGEST else ""


def _elements_behind(root: ast.AST | None, node: ast.AST, facts: Facts) -> str:
    """Return the tensor from before a loop whose element of this round a name was computed from; "" if there is none."""
    around = facts.around(node)
    for _ in range(_STEPS):
        made = set_in_loop(root.id, node, around) if isinstance(root, ast.Name) else None
        if made is None:
            return ""
        if isinstance(made, ast.Subscript) and any(
            is_set_by_loop(name, node, around) for name in _names_in(made.slice)
        ):
            return "" if _changes_in_place(made.value, node, facts) else _text(made.value, facts)
        root = _root(made)
    return ""


def of_lengths(tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a tensor from which a size is read."""
    root = _text(_root(tensor), facts)
    return suggest("lengths", tensor=root) if root else ""


def of_a_bound(number: ast.expr, facts: Facts) -> str:
    """Return the suggestion for a bound of a slice."""
    if _is_random(number, number, facts):
        return suggest("random-number", tensor=_text(number, facts) or "the number")
    return suggest("bound", tensor=_text(number, facts) or "n")


def of_an_index(node: ast.Subscript, number: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a number that selects one row."""
    parts = index_parts(node)
    dim = next((place for place, part in enumerate(parts) if _contains(part, number)), 0)
    indexed, tensor = _text(node.value, facts) or "x", _text(number, facts) or "i"
    return suggest("index", indexed=indexed, dim=str(dim), tensor=tensor)


def _contains(part: ast.AST, node: ast.AST | None) -> bool:
    return any(each is node for each in ast.walk(part))


def _of_a_loop(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a read in each iteration of a tensor from before the loop."""
    around, root = facts.around(node), _root(tensor)
    if _changes_in_place(root, node, facts):
        return suggest("round-later")
    if not any(is_set_by_loop(name, node, around) for name in _names_in(tensor)):
        return (
            suggest("hoist", read=_text(node, facts)) if _text(node, facts) else suggest("list-before-loop")
        )
    is_own = isinstance(root, ast.Name) and has_own_value(root.id, node, around)
    if (is_own or isinstance(root, ast.Attribute)) and _text(tensor, facts):
        return suggest("gather", tensor=_text(tensor, facts))
    if not isinstance(root, ast.Name):
        return suggest("list-before-loop")
    return _of_elements(root.id, loop_over(root.id, node, around), tensor, facts)


def _of_elements(root: str, iterable: ast.expr | None, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for elements or rows that a loop reads; ``iterable`` holds them if the loop runs over them."""
    methods = [call.func.attr for call in _calls_in(tensor) if isinstance(call.func, ast.Attribute)]
    name = _text(iterable, facts) or root
    if not name.replace(".", "").replace("_", "").isalnum():
        return suggest("list-before-loop")
    if methods:
        return suggest("iterate-rows", iterable=name, operation=methods[0])
    return suggest("iterate", iterable=name) if iterable is not None else suggest("elements", tensor=name)


def _changes_in_place(root: ast.AST | None, node: ast.AST, facts: Facts) -> bool:
    """Return whether the function of a node calls a method such as `add_` of a name or attribute."""
    around, text = facts.around(node), _text(root, facts)
    return any(_text(value, facts) == text for value in around.names_around(node).changed)


def _by_use(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a number that is read once, by what becomes of the number."""
    use, name = use_of(node, facts.around(node)), _kept(tensor, facts)
    if name and isinstance(node, ast.Call) and facts.name_of(node.func).startswith("math."):
        name = f"torch.{_last_name(node.func)}({name})"
    if use.role is Role.TEST:
        return _of_test(use.node, node, tensor, facts)
    if not name:
        return ""
    if use.role is Role.ADDED and isinstance(use.node, ast.AugAssign) and facts.statement(node) is use.node:
        added, total = _text(use.node, facts, {node: name}), _text(use.node.target, facts)
        return (
            suggest("sum", statement=added, sum=total)
            if added
            else suggest("sum-long", sum=total, tensor=name)
        )
    if use.role is Role.APPENDED:
        return suggest("append", tensor=name, list=_list_of(use, facts))
    if use.role is Role.LOGGED:
        return suggest("log" if facts.in_loop(node) else "log-rarely", tensor=name)
    if use.role in {Role.RECORDED, Role.ADDED}:
        return suggest("record", tensor=name)
    return _of_a_host_number(use, node, tensor, name, facts)


def _of_a_host_number(use: Use, node: ast.AST, tensor: ast.AST | None, name: str, facts: Facts) -> str:
    """Return the suggestion for a number that the host needs, or gives to its caller."""
    root = _root(tensor)
    if _is_random(tensor, node, facts):
        return suggest("random-number", tensor=_text(tensor, facts))
    if use.role is Role.RETURNED:
        is_own = root is not None and not _calls_in(tensor) and _text(root, facts).startswith("self.")
        return suggest("mirror", tensor=_text(root, facts)) if is_own else suggest("return", tensor=name)
    side = _side_of_another_read(node, facts)
    if side and use.role is not Role.INDEX:
        return suggest("read-together", side=side)
    if use.role in {Role.SIZE, Role.ITERATED}:
        return of_lengths(tensor, facts)
    return _of_an_operand(use.node, node, tensor, name, facts)


def _is_random(tensor: ast.AST | None, node: ast.AST, facts: Facts) -> bool:
    """Return whether a tensor is drawn at random, in its expression or where its name was set."""
    root = _root(tensor)
    made = last_set(root.id, node, facts.around(node)) if isinstance(root, ast.Name) else None
    return any(_last_name(each.func) in _RANDOM for each in _calls_in(tensor) + _calls_in(made))


def _of_an_operand(user: ast.AST, node: ast.AST, tensor: ast.AST | None, name: str, facts: Facts) -> str:
    """Return the suggestion for a number that is an index, or an argument of a function."""
    if isinstance(user, ast.Subscript) and isinstance(user.ctx, ast.Load):
        return of_an_index(user, tensor, facts)
    is_call = isinstance(user, ast.Call) and user is not node and _last_name(user.func) not in _FACTORIES
    function = _text(user.func, facts) if is_call and isinstance(user, ast.Call) else ""
    return suggest("pass-tensor", function=function, tensor=name) if function else ""


def _of_test(test: ast.AST, node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a test, by what the test decides."""
    if tensor is None or not isinstance(test, (ast.If, ast.While, ast.IfExp)):
        return ""
    if isinstance(test, ast.If) and any(isinstance(each, ast.Raise) for each in ast.walk(test)):
        return suggest("asserted")
    checked = next((call for call in _calls_in(test.test) if _last_name(call.func) in _NOT_FINITE), None)
    if checked is not None:
        value = _text(checked.args[0] if checked.args else getattr(checked.func, "value", None), facts)
        return suggest("not-finite", tensor=value) if value else ""
    text = _text(test.test, facts, {node: facts.source(tensor)})
    if isinstance(test, ast.IfExp):
        return _of_values(text, test, facts)
    if isinstance(test, ast.If) and not _ends_with(test, ast.Break, ast.Return):
        return _of_branch(test, text, node, tensor, facts) if text else ""
    return _of_an_end(test, text, node, facts)


def _of_values(text: str, test: ast.IfExp, facts: Facts) -> str:
    new, old = (_text(each, facts) for each in (test.body, test.orelse))
    return suggest("choose", test=text, new=new, old=old) if text and new and old else ""


def _of_an_end(test: ast.If | ast.While, text: str, node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a test that ends a loop or a function."""
    count = _text(_counted(test.test), facts) if isinstance(test, ast.While) else ""
    if count:
        return suggest("counter", tensor=count)
    leaves = test.body[-1]
    if isinstance(leaves, ast.Return) and isinstance(leaves.value, ast.Constant) and facts.in_loop(node):
        return suggest("any-round")
    return suggest("stop" if facts.in_loop(node) else "early-exit", test=text) if text else ""


def _counted(condition: ast.expr) -> ast.AST | None:
    """Return the tensor that a condition compares by order with a bound, as a count is; else None."""
    is_order = isinstance(condition, ast.Compare) and isinstance(
        condition.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    )
    return (
        _root(condition.left)
        if isinstance(condition, ast.Compare) and is_order and not _calls_in(condition)
        else None
    )


def _of_branch(test: ast.If, text: str, node: ast.AST, tensor: ast.AST, facts: Facts) -> str:
    """Return the suggestion for an `if`: its choice between two values, or its guard of operations with a mask."""
    choice = _choice(test, facts)
    if choice is not None:
        return suggest("choose-name", test=text, **choice)
    guard = next((call for call in _calls_in(tensor) if _last_name(call.func) in _EMPTY), None)
    if guard is not None and isinstance(guard.func, ast.Attribute) and not _needs_its_guard(test):
        mask = guard.args[0] if _is_torch(guard.func.value) and guard.args else guard.func.value
        row = "guard-all" if guard.func.attr == "all" else "guard"
        return suggest(row, mask=_text(mask, facts)) if _text(mask, facts) else ""
    if facts.in_loop(node) and _ends_with(test, ast.Continue):
        return suggest("decide-before", test=text)
    return suggest("branch", test=text)


def _needs_its_guard(test: ast.If) -> bool:
    """Return whether a guarded body gives another result for an empty mask: there is an alternative, or a division."""
    inside = (each for statement in test.body for each in ast.walk(statement))
    divides = any(
        isinstance(each, (ast.BinOp, ast.AugAssign)) and isinstance(each.op, ast.Div) for each in inside
    )
    return bool(test.orelse) or divides


def _choice(test: ast.If, facts: Facts) -> dict[str, str] | None:
    """Return the name that both branches set, or that one branch may set again, and the two values."""
    sets = [branch[0] if len(branch) == 1 else None for branch in (test.body, test.orelse) if branch]
    if not all(isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) for each in sets):
        return None
    names = {
        each.targets[0].id
        for each in sets
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    values = [_text(each.value, facts) for each in sets if isinstance(each, ast.Assign)]
    if len(names) != 1 or not all(values):
        return None
    (target,) = names
    return {"target": target, "new": values[0], "old": values[1] if len(values) == 2 else target}


def _ends_with(test: ast.If, *kinds: type[ast.stmt]) -> bool:
    return isinstance(test.body[-1], kinds)


def _side_of_another_read(node: ast.AST, facts: Facts) -> str:
    """Return "before" or "after" for a statement next to that of a node which reads from the GPU in the same way; else "".

    A line number would be wrong after an edit above it.
    """
    kind = _kind_of_read(node)
    for side, statement in (("before", facts.before(node)), ("after", facts.after(node))):
        calls = _calls_in(statement) if isinstance(statement, (ast.Assign, ast.Expr)) else []
        if kind and any(_kind_of_read(each) == kind for each in calls):
            return side
    return ""


def _kind_of_read(node: ast.AST) -> str:
    """Return whether a call reads one number or copies a tensor, by the name of its method; "" for others."""
    name = _last_name(node.func) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or (name == "to" and not any(_is_cpu(each) for each in node.args)):
        return ""
    return _READS.get(name, "")


def _is_cpu(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "cpu"


def _list_of(use: Use, facts: Facts) -> str:
    call = use.node
    held = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    return _text(held, facts) or "values"


def _kept(tensor: ast.AST | None, facts: Facts) -> str:
    """Return the text of a tensor that a list keeps, detached from its graph, if the text is short; else ""."""
    text = _text(tensor, facts)
    if not text or tensor is None:
        return ""
    if text.endswith(".detach()") or facts.of(tensor).dtype in {"int", "bool", "uint8"}:
        return text
    return (
        f"{text}.detach()"
        if isinstance(tensor, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) or text.startswith("(")
        else f"({text}).detach()"
    )


def _text(node: ast.AST | None, facts: Facts, edits: dict[ast.AST, str] | None = None) -> str:
    """Return the text of a node if the text is one short line; else ""."""
    if node is None:
        return ""
    source = facts.around(node).text
    text = source.edited(node, edits) if edits else source.text_of(node)
    return text if len(text) <= _LONGEST and "\n" not in text else ""


def _root(tensor: ast.AST | None) -> ast.AST | None:
    """Return the name or attribute at the start of a chain of calls, elements and operations."""
    while isinstance(tensor, (ast.Call, ast.Subscript, ast.BinOp, ast.Attribute)) and not _is_path(tensor):
        if isinstance(tensor, ast.BinOp):
            tensor = tensor.left
        elif isinstance(tensor, (ast.Subscript, ast.Attribute)):
            tensor = tensor.value
        elif isinstance(tensor.func, ast.Attribute) and not _is_torch(tensor.func.value):
            tensor = tensor.func.value
        else:
            tensor = tensor.args[0] if tensor.args else None
    return tensor if isinstance(tensor, (ast.Name, ast.Attribute)) else None


def _is_path(node: ast.AST) -> bool:
    """Return whether a node is a name, or an attribute of a path."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_path(node.value))


def _is_torch(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in {"torch", "th", "F", "math", "np"}


def _names_in(node: ast.AST | None) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)] if node is not None else []


def _calls_in(node: ast.AST | None) -> list[ast.Call]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)] if node is not None else []


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
