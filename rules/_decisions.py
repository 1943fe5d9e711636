"""The choice of a suggestion for a GPU tensor that decides a branch, the end of a loop or a value."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from syncscan.model import Kind
from syncscan.rule import Facts

from ._guards import of_a_guard
from ._held import of_a_later_copy
from ._parts import ATOMS, calls_in, is_path, kind_of_read, last_name, line_of, root_of
from ._suggestions import suggest

_RESIZES = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack", "pad", "repeat", "append"})
_COLLECTIVES = frozenset(
    {"all_reduce", "broadcast", "reduce", "all_gather_into_tensor", "reduce_scatter_tensor"}
)
_WARNINGS = frozenset({"warn", "warning", "warning_once", "warn_once", "info", "print"})
_OF_OBJECTS = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_LOOPS = (ast.For, ast.While, ast.comprehension)
_CHOSEN = frozenset({Kind.TENSOR, Kind.NUMBER, Kind.MOVED, Kind.UNKNOWN})  # which `torch.where` may take


def of_a_decision(test: ast.AST, node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a test, by what the test decides."""
    if tensor is None or not isinstance(test, (ast.If, ast.While, ast.IfExp)):
        return ""
    if isinstance(test, ast.If) and _ends_with(test, ast.Raise):
        return of_an_assertion(node, facts)
    if isinstance(test, ast.If) and not test.orelse and all(map(_warns, test.body)):
        return suggest("warned")
    if isinstance(test, ast.IfExp):
        return _of_values(_on_the_gpu(test.test, node, tensor, facts), test, facts)
    if isinstance(test, ast.If) and not _ends_with(test, ast.Break, ast.Return):
        return _of_branch(test, node, tensor, facts)
    asked = _operand_around(node, test.test)
    return _of_an_end(test, line_of(asked, facts, {node: facts.source(tensor)}), node, facts)


def _warns(statement: ast.stmt) -> bool:
    """Return whether a statement does nothing but warn, log or print."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and last_name(call.func) in _WARNINGS


def of_an_assertion(node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for an assertion, or a test that raises; "" where a flag beside it turns it off already."""
    around = facts.parent(node)
    while isinstance(around, ast.UnaryOp):
        around = facts.parent(around)
    beside = around.values if isinstance(around, ast.BoolOp) and isinstance(around.op, ast.And) else []
    is_flagged = any(
        isinstance(each, (ast.Name, ast.Attribute)) and not facts.of(each).is_gpu for each in beside
    )
    if is_flagged:
        return ""
    later = of_a_later_copy(node, facts)
    if later or _is_read_next(node, facts):
        return later
    return suggest("asserted" if isinstance(facts.statement(node), ast.Assert) else "raised")


def _is_read_next(node: ast.AST, facts: Facts) -> bool:
    """Return whether the next statement reads what an assertion tests: then the assertion may test the number."""
    tested = _tested_in(node, facts)
    reads = [call.func for call in calls_in(facts.after(node)) if kind_of_read(call)]
    return any(isinstance(each, ast.Attribute) and ast.unparse(each.value) in tested for each in reads)


def _tested_in(node: ast.AST, facts: Facts) -> set[str]:
    return {ast.unparse(each) for each in ast.walk(node) if is_path(each) and facts.of(each).is_gpu}


def _on_the_gpu(test: ast.expr, node: ast.AST, tensor: ast.AST, facts: Facts) -> str:
    """Return the text of a test as a tensor, for `torch.where`; "" where only Python can decide the test."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _on_the_gpu(test.operand, node, tensor, facts)
        is_bool = facts.of(tensor if test.operand is node else test.operand).dtype == "bool"
        if not is_bool:
            return f"torch.logical_not({inner})" if inner else ""
        return f"~{inner if isinstance(test.operand, ATOMS) else f'({inner})'}" if inner else ""
    if isinstance(test, ast.Compare) and (len(test.ops) > 1 or isinstance(test.ops[0], _OF_OBJECTS)):
        return ""
    if isinstance(test, (ast.BoolOp, ast.NamedExpr)):
        return ""
    return line_of(test, facts, {node: facts.source(tensor)})


def _is_choice(values: Sequence[ast.expr], facts: Facts) -> bool:
    """Return whether `torch.where` can choose between values: numbers and tensors whose shape the choice does not change."""
    options = [facts.of(each).options or (facts.of(each),) for each in values]
    is_text = any(isinstance(each, (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict)) for each in values)
    is_text |= any(
        isinstance(each, ast.Constant) and isinstance(each.value, (str, type(None))) for each in values
    )
    calls = [call for each in values for call in calls_in(each)]  # which run both, and change nothing else
    is_free = all(
        facts.name_of(call.func).startswith("torch.") and last_name(call.func) not in _RESIZES
        for call in calls
    )
    return not is_text and is_free and all(any(option.kind in _CHOSEN for option in each) for each in options)


def _of_values(text: str, test: ast.IfExp, facts: Facts) -> str:
    new, old = (line_of(each, facts) for each in (test.body, test.orelse))
    is_choice = text and new and old and _is_choice((test.body, test.orelse), facts)
    return suggest("choose", test=text, new=new, old=old) if is_choice else ""


def _operand_around(node: ast.AST, test: ast.expr) -> ast.expr:
    """Return the operand of `and` and `or` that contains a node, for a copy of the others would ask for the same value.

    A node that an earlier statement reads is in none, and the whole test is what uses its value.
    """
    holder: ast.expr | None = test
    while isinstance(holder, ast.BoolOp):
        test, values = holder, holder.values
        holder = next((each for each in values if any(inner is node for inner in ast.walk(each))), None)
    return holder or test


def _of_an_end(test: ast.If | ast.While, text: str, node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a test that ends a loop or a function."""
    count = line_of(_counted(test.test, facts), facts) if isinstance(test, ast.While) else ""
    if count:
        return suggest("counter", tensor=count)
    leaves = test.body[-1]
    if isinstance(leaves, ast.Return) and isinstance(leaves.value, ast.Constant) and facts.in_loop(node):
        return suggest("any-iteration")
    if isinstance(test, ast.While) and not _is_set_in(test, node, facts):
        return ""  # the condition is for the body, which comes after
    if _is_shared(node, facts):
        return ""  # the other processes leave in this iteration
    return suggest("stop", test=text) if text and facts.in_loop(node) else ""


def _is_shared(node: ast.AST, facts: Facts) -> bool:
    """Return whether a loop gives a tested tensor to a collective, so that all processes decide alike."""
    loops = [each for each in facts.around(node).up(node) if isinstance(each, _LOOPS)]
    tested = _tested_in(node, facts)
    shared = [call for loop in loops for call in calls_in(loop) if last_name(call.func) in _COLLECTIVES]
    return any(ast.unparse(each) in tested for call in shared for each in call.args)


def _is_set_in(loop: ast.For | ast.While, tensor: ast.AST, facts: Facts) -> bool:
    """Return whether a loop sets a name that a tensor is computed from, or calls a method that changes one in place."""
    used = {facts.source(each) for each in ast.walk(tensor) if is_path(each) and facts.of(each).is_gpu}
    inside = [each for statement in loop.body for each in ast.walk(statement)]
    changed = [root_of(each) for each in inside if isinstance(getattr(each, "ctx", None), ast.Store)]
    changed += [
        root_of(each) for each in inside if isinstance(each, ast.Call) and last_name(each.func).endswith("_")
    ]
    return any(facts.source(each) in used for each in changed if each is not None)


def _counted(condition: ast.expr, facts: Facts) -> ast.AST | None:
    """Return the tensor that a condition compares by order with a bound, as a count is; else None."""
    if not isinstance(condition, ast.Compare) or calls_in(condition):
        return None
    is_order = isinstance(condition.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
    return root_of(condition.left) if is_order and facts.of(condition.left).is_gpu else None


def _of_branch(test: ast.If, node: ast.AST, tensor: ast.AST, facts: Facts) -> str:
    """Return the suggestion for an `if`: a guard of operations with a mask, or a skipped iteration of a `for` loop.

    A `while` loop does not know its iterations beforehand.
    """
    step = next(
        filter(_steps_an_optimizer, [call for each in (*test.body, *test.orelse) for call in calls_in(each)]),
        None,
    )
    if step is not None:
        name = line_of(step.func, facts)
        return suggest("optimizer-step", call=f"{name}()") if name else ""
    text = line_of(test.test, facts, {node: facts.source(tensor)})
    hint = of_a_guard(test, node, tensor, facts) if text else ""
    if hint or not text or not _ends_with(test, ast.Continue):
        return hint
    loop = next(
        (each for each in facts.around(test).up(test) if isinstance(each, (ast.For, ast.While))), None
    )
    if not isinstance(loop, ast.For) or _is_set_in(loop, tensor, facts):
        return ""
    return suggest("decide-before", test=text)


def _steps_an_optimizer(call: ast.Call) -> bool:
    """Return whether a call is an optimizer step. Zero gradients do not replace a skipped step: weight decay still applies."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "step" else None
    return isinstance(owner, (ast.Name, ast.Attribute)) and "optim" in last_name(owner)


def _ends_with(test: ast.If, *kinds: type[ast.stmt]) -> bool:
    return isinstance(test.body[-1], kinds)
