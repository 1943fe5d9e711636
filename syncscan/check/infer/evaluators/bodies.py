"""What functions consist of: statements, or the one expression of a lambda. And what they return."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.registry import BODIES, EXPRESSIONS, STATEMENTS, register
from syncscan.check.infer.known.cells import joined
from syncscan.check.infer.values.basic import element_of
from syncscan.check.infer.values.lattice import join
from syncscan.check.infer.values.passing import evidence_in, explained, inferred
from syncscan.model import UNKNOWN, Kind, Value


@register(BODIES, ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)
def _statements(frame: Frame, node: ast.Module | ast.FunctionDef) -> None:
    frame.run(node.body)


@register(BODIES, ast.Lambda)
def _lambda_body(frame: Frame, node: ast.Lambda) -> None:
    """The expression of a lambda; it is recorded under the statement in which it stands."""
    statement, recorder = frame.function.statement, frame.recorder
    if recorder is None or statement is None:
        _returns(frame, frame.evaluate(node.body), node)
        return
    recorder.begin(statement)
    _returns(frame, frame.evaluate(node.body), node)
    recorder.end()


@register(EXPRESSIONS, ast.Lambda)
def _lambda(frame: Frame, node: ast.Lambda) -> Value:
    function = frame.context.scopes.function_of(node, frame.function, frame.statement)
    frame.outcome.lambdas[function] = None
    return Value(Kind.FUNCTION, payload=function)


@register(STATEMENTS, ast.Return)
def _return(frame: Frame, node: ast.Return) -> bool:
    if node.value is not None:
        _returns(frame, frame.evaluate(node.value), node)
    return False


def _returns(frame: Frame, value: Value, node: ast.AST) -> None:
    """Tell the callers what the function returns at a node."""
    function = frame.function
    if function.is_generator:
        return
    returned = inferred(frame.context.observations.result(function, value))
    _tell_what_places(frame, returned)
    cell = frame.context.known.returns[function]
    if returned is not UNKNOWN and joined(frame.told(cell), returned) is not None:
        text = f"returned by `{function.qualname}`"
        frame.tell(cell, explained(returned, frame.module.path, node, text, cell))


_SOMETHING_ELSE = frozenset({""})  # than a parameter; one object, for nearly every function says so


def _tell_what_places(frame: Frame, returned: Value) -> None:
    """Tell whether a result is on the GPU because an argument is, so that each caller gets its own."""
    for evidence in dict.fromkeys(evidence_in(returned)):
        steps = evidence.chain() if evidence is not None else ()
        names = {frame.passed[step] for step in steps if step in frame.passed}
        frame.tell(
            frame.context.known.placing[frame.function], frozenset(names) if names else _SOMETHING_ELSE
        )


@register(EXPRESSIONS, ast.Yield)
def _yield(frame: Frame, node: ast.Yield) -> Value:
    if node.value is not None:
        frame.yielded = join(frame.yielded, inferred(frame.evaluate(node.value)))
    return UNKNOWN


@register(EXPRESSIONS, ast.YieldFrom)
def _yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    frame.yielded = join(frame.yielded, inferred(element_of(frame.evaluate(node.value))))
    return UNKNOWN
