"""The choice of a suggestion for a read from the GPU, by the site of the read and the use of its result."""

from __future__ import annotations

import ast
import itertools
from typing import TypeGuard

from syncscan.model import Kind
from syncscan.rule import Facts
from syncscan.syntax.use import (
    Role,
    Use,
    is_parameter,
    is_set_by_loop,
    last_set,
    loop_over,
    set_in_loop,
    use_of,
    uses_of,
)

from ._data import data_behind, is_constant
from ._decisions import of_a_decision, of_an_assertion
from ._held import of_host_data
from ._kept_copies import of_an_attribute
from ._loop_reads import changes_in_place, elements_behind, is_before_loop, of_a_loop
from ._parts import (
    ATOMS,
    LONGEST,
    STEPS,
    attribute_behind,
    calls_in,
    is_enclosed,
    is_made_for,
    is_path,
    is_put_back,
    kind_of_read,
    last_name,
    line_of,
    names_in,
    root_of,
    views_in,
    whole_of,
)
from ._shared import call_around, index_parts, keywords_of
from ._sites import branch_of_uses, is_collected, is_needed_at_once, is_used_at_once
from ._suggestions import suggest

# The arguments that torch takes from the GPU where they are tensors, as measured.
_TAKES_TENSOR = frozenset({"torch.Tensor.fill_", "torch.Tensor.clamp", "torch.Tensor.clamp_", "torch.clamp"})
_LOG_FOR_DEBUGGING = frozenset({"logging.debug", "logging.Logger.debug"})
# Not `multinomial` and `bernoulli`, whose probabilities are on the GPU.
_RANDOM = frozenset({"rand", "randn", "randint", "randperm", "uniform_", "random_"})
_FACTORIES = frozenset(
    {"zeros", "ones", "empty", "full", "arange", "eye", "tensor", "zeros_like", "linspace"}
)
_WRITES = frozenset({"log", "add_scalars"})
_KEPT = frozenset({Role.APPENDED, Role.RECORDED, Role.LOGGED, Role.INDEX})


def of_a_number(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a tensor of one element that becomes a number; "" where only the general one fits."""
    call = call_around(node, facts)
    if call is not None and facts.name_of(call.func) in _TAKES_TENSOR:
        name = facts.name_of(call.func).rpartition(".")[2]
        return suggest("fill") if name == "fill_" else suggest("takes-tensor", operation=name)
    held = of_host_data(tensor, node, facts)
    if held or facts.raises(node):
        return held or of_an_assertion(node, facts)
    in_each = facts.in_loop(node) and not _is_made_in_loop(node, tensor, facts)
    hint = of_a_loop(node, tensor, facts) if in_each else _by_use(node, tensor, facts)
    return hint or (suggest("collect") if is_collected(node, facts) else "")


def _is_made_in_loop(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> bool:
    """Return whether the body of a loop computes what a node reads; the target of the loop may be set again by the node's statement."""
    around = facts.around(node)
    if isinstance(tensor, ast.Name) and is_set_by_loop(tensor.id, node, around):
        return set_in_loop(tensor.id, node, around) is not None
    return facts.made_in_loop(node)


def of_many(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a whole tensor that is copied to the host."""
    if facts.in_loop(node) and not facts.made_in_loop(node):
        return _of_copies(node, tensor, facts)
    data = of_host_data(tensor, node, facts)
    if data:
        return data
    name = _kept(tensor, facts)
    use = use_of(node, facts.around(node))
    held = line_of(attribute_behind(tensor, node, facts), facts)
    if held.count(".") == 1 and use.role not in _KEPT:
        return suggest("mirror-copy", tensor=held)
    hint = (_of_a_copy(use, name, tensor, facts) if name else "") or _of_elements_once(tensor, node, facts)
    if hint:
        return hint
    side = _side_of_another_read(node, facts)
    if side:
        return suggest("copy-together", beside=side)
    return suggest("used-at-once") if is_used_at_once(node, facts) else ""


def _of_a_copy(use: Use, name: str, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a copy by what becomes of the copy; "" where the host works with the copy."""
    if use.role is Role.APPENDED and facts.in_loop(use.node):
        values = _list_of(use, facts)
        is_of_loop = set_in_loop(values, use.node, facts.around(use.node)) is not None
        return "" if is_of_loop else suggest("append-copy", tensor=name, list=values)
    is_index = (
        use.role is Role.INDEX and isinstance(use.node, ast.Subscript) and facts.of(use.node.value).is_gpu
    )
    return suggest("index-tensor", tensor=line_of(tensor, facts)) if is_index else ""


def of_a_store(node: ast.Assign, store: ast.expr, facts: Facts) -> str:
    """Return the suggestion for a GPU tensor that is stored in a tensor of the host."""
    name = line_of(store, facts)
    if facts.in_loop(node) and name:
        return suggest("store-in-loop", store=name)
    made = last_set(name, node, facts.around(node))
    factory = next((each for each in calls_in(made) if last_name(each.func) in _FACTORIES), None)
    is_made = isinstance(made, ast.Call) and factory is not None and "device" not in keywords_of(factory)
    if is_made and not _takes_host_index(node, facts):
        return suggest("store-on-gpu", store=name)
    return ""


def _takes_host_index(node: ast.Assign, facts: Facts) -> bool:
    """Return whether a store has a list or a range for an index, which a tensor on the GPU would upload."""
    target = node.targets[0]
    parts = index_parts(target) if isinstance(target, ast.Subscript) else []
    return any(isinstance(each, (ast.Call, ast.List)) and not facts.of(each).is_gpu for each in parts)


def _of_copies(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a copy in each iteration, of a tensor from before the loop."""
    if isinstance(node, ast.Call) and last_name(node.func) == "tolist":
        return of_a_loop(node, tensor, facts)
    views = views_in(tensor)
    names = [each.id for each in views if isinstance(each, ast.Name)]
    iterables = [loop_over(name, node, facts.around(node)) for name in names]
    taken = [
        each.value
        for each in views
        if isinstance(each, ast.Subscript)
        and facts.of(each.value).kind is Kind.TENSOR
        and is_before_loop(each, node, facts)
    ]
    parts = [*taken, *(each for each in iterables if each is not None and facts.of(each).is_gpu)]
    before = line_of(parts[0], facts) if parts else ""
    return suggest("copy-before-loop", iterable=before) if before else ""


def of_rounds(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a read in each iteration, of a tensor created before or inside the loop."""
    if not facts.made_in_loop(node):
        return of_a_loop(node, tensor, facts)
    return _by_use(node, tensor, facts)


def of_a_text(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a tensor that becomes text."""
    if lazily := _log_lazily(node, facts):
        return lazily
    if facts.in_loop(node) and not facts.made_in_loop(node):
        return of_a_loop(node, tensor, facts)
    name = _kept(tensor, facts)
    return suggest("log", tensor=name) if name and facts.in_loop(node) else ""


def _log_lazily(node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a plain tensor in an f-string for the debug level; a format or a computation would run all the same."""
    if (
        not isinstance(node, ast.FormattedValue)
        or node.format_spec is not None
        or not isinstance(node.value, ATOMS)
    ):
        return ""
    written = facts.parent(node)
    call = facts.parent(written) if isinstance(written, ast.JoinedStr) else None
    if (
        not isinstance(call, ast.Call)
        or facts.name_of(call.func) not in _LOG_FOR_DEBUGGING
        or calls_in(node.value)
    ):
        return ""
    return suggest("log-lazily", debug=facts.source(call.func), tensor=facts.source(node.value))


def of_an_upload(
    call: ast.Call, source: ast.Name | ast.Attribute, device: str, copy: str, facts: Facts
) -> str:
    """Return the suggestion for a named tensor of the host that is copied to the GPU; ``copy`` is the call without blocking."""
    around, name = facts.around(call), facts.source(source)
    made = last_set(source.id, call, around) if isinstance(source, ast.Name) else None
    data = data_behind(made, facts) if made is not None else None
    if data is not None and is_constant(data, call, facts):
        return suggest("constant", data=line_of(data, facts) or name)
    factory = whole_of(made)
    is_made = data is None and isinstance(factory, ast.Call) and last_name(factory.func) in _FACTORIES
    if is_made and device and is_made_for(name, call, facts):
        return suggest("made-above", source=name, device=device)
    if _is_own(call, name, facts):
        return of_an_attribute(call, source, facts)
    is_argument = isinstance(source, ast.Name) and is_parameter(source.id, call, around)
    is_of_a_batch = not is_argument and _is_passed_in(source, call, facts)
    return suggest(_row_of_a_batch(source, facts), source=name, copy=copy) if is_of_a_batch else ""


def _row_of_a_batch(source: ast.expr, facts: Facts) -> str:
    return "loader-of-others" if facts.of(source).kind is Kind.MOVED else "loader"


def _is_own(call: ast.Call, name: str, facts: Facts) -> bool:
    """Return whether a call moves an attribute of the object, outside of its constructor.

    The copy of `copy_` has its place, and the attribute must keep its own.
    """
    is_attribute = name.startswith("self.") and name.count(".") == 1
    is_kept = last_name(call.func) == "copy_" or is_put_back(call, name, facts)
    return is_attribute and not is_kept and not facts.function(call).endswith("__init__")


def _is_passed_in(source: ast.AST | None, node: ast.AST, facts: Facts) -> bool:
    """Return whether a tensor comes to its function in an argument or from a loop."""
    around = facts.around(node)
    for _ in range(STEPS):
        name = next(iter(names_in(source)), "") if source is not None and is_path(source) else ""
        if is_set_by_loop(name, node, around) or is_parameter(name, node, around):
            return True
        source = last_set(name, node, around)
        source = source.value if isinstance(source, ast.Subscript) else source
    return False


def of_a_test(tested: ast.expr, facts: Facts) -> str:
    """Return the suggestion for a GPU tensor that decides a branch."""
    held = of_host_data(tested, tested, facts)
    if held or facts.raises(tested):
        return held or of_an_assertion(tested, facts)
    whole = facts.parent(tested)
    if isinstance(whole, ast.BoolOp) and all(_is_truth(each, facts) for each in whole.values):
        return _of_several(whole, facts)
    decided = tested.left if isinstance(tested, ast.Compare) else tested
    root = root_of(decided)
    elements = elements_behind(decided, tested, facts) if facts.in_loop(tested) else ""
    if elements:
        return suggest("elements", tensor=elements)
    if isinstance(root, ast.Name) and loop_over(root.id, tested, facts.around(tested)) is not None:
        return of_a_loop(tested, root, facts)
    return of_a_decision(use_of(tested, facts.around(tested)).node, tested, tested, facts)


def _is_truth(node: ast.expr, facts: Facts) -> bool:
    """Return whether an operand is a boolean tensor on the GPU, for which `&` and `and` decide alike."""
    value = facts.of(node)
    return value.is_gpu and value.dtype == "bool" and not isinstance(node, ast.BoolOp)


def _of_several(whole: ast.BoolOp, facts: Facts) -> str:
    """Return the suggestion for operands of `and` or `or` that are all tensors on the GPU."""
    parts = [line_of(each, facts) for each in whole.values]
    operator = " & " if isinstance(whole.op, ast.And) else " | "
    marked = [
        part if isinstance(each, ATOMS) else f"({part})"
        for part, each in zip(parts, whole.values, strict=True)
    ]
    text = operator.join(marked)
    return suggest("combine", test=text) if all(parts) and len(text) <= 2 * LONGEST else ""


def of_lengths(tensor: ast.AST | None, node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a tensor from which a size is read; "" for one that the function itself computes."""
    root = root_of(tensor)
    text = line_of(root, facts) if root is not None and facts.of(root).kind is Kind.TENSOR else ""
    is_made = isinstance(root, ast.Name) and last_set(root.id, node, facts.around(node)) is not None
    is_given = not is_made or _is_passed_in(root, node, facts)
    return suggest("lengths", tensor=text) if text and is_given else ""


def of_a_bound(number: ast.expr, node: ast.Subscript, facts: Facts) -> str:
    """Return the suggestion for a bound of a slice."""
    row = _of_one_row(node, number, facts)
    if row:
        return suggest("one-row", row=row)
    if _is_random(number, number, facts):
        return suggest("random-number", tensor=line_of(number, facts) or "the tensor")
    return suggest("bound", tensor=line_of(number, facts) or "n")


def _of_one_row(node: ast.Subscript, number: ast.expr, facts: Facts) -> str:
    """Return the code that takes the one row of a slice such as ``x[n:n + 1]`` by an index; "" for other slices."""
    part = next((each for each in index_parts(node) if _contains(each, number)), None)
    if not isinstance(part, ast.Slice) or part.step is not None or not isinstance(part.upper, ast.BinOp):
        return ""
    text, last = line_of(part.lower, facts), part.upper
    is_one = isinstance(last.op, ast.Add) and isinstance(last.right, ast.Constant) and last.right.value == 1
    is_tensor = facts.of(node.value).kind is Kind.TENSOR and isinstance(node.ctx, ast.Load)
    if not text or not is_one or not is_tensor or line_of(last.left, facts) != text:
        return ""
    return line_of(node, facts, {part: f"{text if isinstance(part.lower, ATOMS) else f'({text})'}.view(1)"})


def of_an_index(node: ast.Subscript, number: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a number that selects one row of a tensor."""
    if facts.of(node.value).kind is not Kind.TENSOR:
        return ""  # a list takes no tensor of one element in place of the number
    parts = index_parts(node)
    dim = next((place for place, part in enumerate(parts) if _contains(part, number)), 0)
    others = [part for place, part in enumerate(parts) if place != dim]
    is_plain = isinstance(node.ctx, ast.Load) and all(isinstance(part, ast.Slice) for part in others)
    text = line_of(number, facts)
    is_number = parts[dim] is number or isinstance(parts[dim], (ast.Name, ast.Call))
    view = f"{text if isinstance(number, ATOMS) else f'({text})'}.view(1)"
    row = line_of(node, facts, {parts[dim]: view}) if text and is_number and is_plain else ""
    return suggest("index", row=row, dim=str(dim)) if row else ""


def _contains(part: ast.AST, node: ast.AST | None) -> bool:
    return any(each is node for each in ast.walk(part))


def _by_use(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a number that is read once, by what becomes of the number."""
    use, name = use_of(node, facts.around(node)), _kept_number(node, tensor, facts)
    branch = branch_of_uses(node, facts)
    if branch:
        return suggest("read-inside", test=branch)
    if use.role is Role.TEST:
        return of_a_decision(use.node, node, tensor, facts) if _only_decides(node, facts) else ""
    if not name:
        return ""
    if use.role is Role.ADDED and (_adds(use.node) and facts.statement(node) is use.node):
        return _of_a_sum(use.node, node, name, facts)
    is_record = use.role is Role.RECORDED or (use.role is Role.ADDED and _only_adds(node, facts))
    if (is_record or use.role in {Role.APPENDED, Role.LOGGED}) and not is_needed_at_once(node, facts):
        keep = _of_a_record if is_record else _of_a_kept_number
        return keep(use, node, name, facts)
    return _of_a_host_number(use, node, tensor, facts)


def _of_a_kept_number(use: Use, node: ast.AST, name: str, facts: Facts) -> str:
    """Return the suggestion for a number that a list or a log keeps."""
    if use.role is Role.LOGGED:
        return suggest("log", tensor=name) if facts.in_loop(node) else ""
    return "" if _is_part(node, use, facts) else suggest("append", tensor=name, list=_list_of(use, facts))


def _of_a_record(use: Use, node: ast.AST, name: str, facts: Facts) -> str:
    """Return the suggestion for a number under a text; what goes straight to a writer of metrics, the writer would copy."""
    call = facts.around(node).parent(use.node)
    if isinstance(call, ast.Call) and last_name(call.func) in _WRITES:
        return suggest("log", tensor=name) if facts.in_loop(node) else ""
    return "" if facts.function(node).endswith("__init__") else suggest("record", tensor=name)


def _of_a_sum(statement: ast.AugAssign, node: ast.AST, name: str, facts: Facts) -> str:
    added = line_of(statement, facts, {_converted(node, facts): name})
    total = line_of(statement.target, facts)
    return (
        suggest("sum", statement=added, sum=total) if added else suggest("sum-long", sum=total, tensor=name)
    )


def _converted(node: ast.AST, facts: Facts) -> ast.AST:
    """Return a read with a conversion around it that changes no number, ``float(t.item())``: it would read the tensor, too."""
    outer = facts.parent(node)
    is_conversion = isinstance(outer, ast.Call) and facts.name_of(outer.func) == "builtins.float"
    return outer if is_conversion and outer is not None else node


def _only_decides(node: ast.AST, facts: Facts) -> bool:
    """Return whether the program tests a number, and does nothing else for which the host needs the number."""
    needs = (each for each in uses_of(node, facts.around(node)) if each.role is Role.OTHER)
    return all(isinstance(each.node, ast.Compare) for each in needs)


def _only_adds(node: ast.AST, facts: Facts) -> bool:
    """Return whether the program adds up a number, and does nothing else with the number but keep and log it."""
    uses = uses_of(node, facts.around(node))
    added = [each.node for each in uses if each.role is Role.ADDED]
    return all(each.role in {Role.ADDED, *_KEPT} for each in uses) and all(map(_adds, added))


def _adds(node: ast.AST) -> TypeGuard[ast.AugAssign]:
    return isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)


def _of_a_host_number(use: Use, node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a number that the host needs, or gives to its caller."""
    root = root_of(tensor)
    if _is_random(tensor, node, facts):
        return suggest("random-number", tensor=line_of(tensor, facts))
    if use.role is Role.RETURNED:
        is_own = root is not None and not calls_in(tensor) and line_of(root, facts).startswith("self.")
        return suggest("mirror", tensor=line_of(root, facts)) if is_own else ""
    once = _of_elements_once(tensor, node, facts)
    if once:
        return once
    side = _side_of_another_read(node, facts)
    if side and use.role is not Role.INDEX:
        return suggest("read-together", beside=side)
    if use.role in {Role.SIZE, Role.ITERATED}:
        return of_lengths(tensor, node, facts)
    if isinstance(use.node, ast.Subscript) and isinstance(use.node.ctx, ast.Load):
        return of_an_index(use.node, tensor, facts)
    return ""


def _is_random(tensor: ast.AST | None, node: ast.AST, facts: Facts) -> bool:
    """Return whether a tensor is drawn at random, in its expression or where its name was set.

    A generator of the program's own draws numbers that the program may need again.
    """
    root = root_of(tensor)
    made = last_set(root.id, node, facts.around(node)) if isinstance(root, ast.Name) else None
    draws = [each for each in calls_in(tensor) + calls_in(made) if last_name(each.func) in _RANDOM]
    return bool(draws) and not any("generator" in keywords_of(each) for each in draws)


def _side_of_another_read(node: ast.AST, facts: Facts) -> str:
    """Return "before" or "after" if the statement there reads from the GPU like a node; else "".

    A line number would be wrong after an edit above it.
    """
    kind, own = kind_of_read(node), facts.statement(node)
    made = (
        {each.id for each in own.targets if isinstance(each, ast.Name)}
        if isinstance(own, ast.Assign)
        else set()
    )
    for side, statement in (("before", facts.before(node)), ("after", facts.after(node))):
        calls = calls_in(statement) if isinstance(statement, (ast.Assign, ast.Expr)) else []
        if side == "after":  # a read of what this statement copied needs no copy of its own
            known = next((each for other, each in facts.behind(node) if other is statement), facts)
            calls = [
                each
                for each in calls
                if made.isdisjoint(names_in(each.func)) and known.blocks(each) is not None
            ]
        if kind and any(kind_of_read(each) == kind for each in calls):
            return side
    return ""


def _of_elements_once(tensor: ast.AST | None, node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for one of several elements of a tensor that a function reads one by one; "" for others."""
    whole = (
        line_of(tensor.value, facts) if isinstance(tensor, ast.Subscript) and is_path(tensor.value) else ""
    )
    reads = [*_reads_around(node, "number", facts), *_reads_around(node, "copy", facts)] if whole else []
    read = [each.func.value for each in reads if isinstance(each.func, ast.Attribute)]
    parts = [each for each in read if isinstance(each, ast.Subscript) and line_of(each.value, facts) == whole]
    count = len({ast.unparse(each.slice) for each in parts})  # one place may be read in two branches
    is_set = isinstance(tensor, ast.Subscript) and changes_in_place(tensor.value, node, facts)
    return suggest("elements-once", tensor=whole) if count > 1 and not is_set else ""


def _reads_around(node: ast.AST, kind: str, facts: Facts) -> list[ast.Call]:
    """Return the reads of a kind in the function of a node."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    function = next((each for each in facts.around(node).up(node) if isinstance(each, functions)), None)
    return [each for each in calls_in(function) if kind_of_read(each) == kind]


def _is_part(node: ast.AST, use: Use, facts: Facts) -> bool:
    """Return whether a read is one of several parts of what is appended: of a tuple, a list or a dictionary."""
    around = facts.around(node).up(node, itself=False)
    inside = itertools.takewhile(lambda each: each is not use.node, around)
    return any(isinstance(each, (ast.Tuple, ast.List, ast.Dict)) for each in inside)


def _list_of(use: Use, facts: Facts) -> str:
    call = use.node
    held = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    return line_of(held, facts) or "values"


def _kept_number(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the text of a kept tensor, with the function of `math` that a node applies to it as one of torch."""
    name = _kept(tensor, facts)
    if name and isinstance(node, ast.Call) and facts.name_of(node.func).startswith("math."):
        return f"torch.{last_name(node.func)}({name})"
    return name


def _kept(tensor: ast.AST | None, facts: Facts) -> str:
    """Return the text of a tensor that a list keeps, detached from its graph, if the text is short; else ""."""
    text = line_of(tensor, facts)
    if not text or tensor is None:
        return ""
    if text.endswith(".detach()") or facts.of(tensor).dtype in {"int", "bool", "uint8"}:
        return text
    return f"{text}.detach()" if isinstance(tensor, ATOMS) or is_enclosed(text) else f"({text}).detach()"
