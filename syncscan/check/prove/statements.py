"""Walking statements: bindings, branches, loops, contexts and definitions."""

from __future__ import annotations

import ast
from contextlib import nullcontext

from syncscan.check.infer.source.conventions import allows_waits
from syncscan.check.infer.source.index import Class, imported_names
from syncscan.check.infer.source.syntax import walk
from syncscan.check.prove.attributes import stores_attribute
from syncscan.check.prove.containers import enters, iterates, may_swallow, unpacked
from syncscan.check.prove.definitions import defined_class, defined_function
from syncscan.check.prove.frame import STATEMENTS, Arguments, WalkFrame, handles
from syncscan.check.prove.lists import bound_value
from syncscan.check.prove.names import import_value
from syncscan.check.prove.narrowing import narrow
from syncscan.check.prove.operators import binary, deletes_item, stores_item
from syncscan.check.prove.outline import ANNOTATED, DATA
from syncscan.check.prove.promises import within
from syncscan.check.prove.setters import deletes_attribute
from syncscan.check.prove.special import asks_classes, runs
from syncscan.check.prove.truths import truth_of
from syncscan.check.prove.values import (
    NO_TENSOR,
    TOP,
    UNREACHED,
    AbstractValue,
    Truth,
    join,
    kept_outside,
    merged,
)
from syncscan.model import Kind
from syncscan.syntax.names import dotted_name

_ENDS = frozenset({"sys.exit", "os._exit", "exit"})


@handles(STATEMENTS, "Expr")
def _expr(frame: WalkFrame, node: ast.Expr) -> bool | None:
    if not isinstance(node.value, ast.Constant):
        frame.evaluate(node.value)
    if isinstance(node.value, ast.Call):
        return frame.module.imported_name(dotted_name(node.value.func)) not in _ENDS
    return None


@handles(STATEMENTS, "Pass", "Global", "Nonlocal")
def _nothing(*_: object) -> None:
    pass


@handles(STATEMENTS, "Assign")
def _assign(frame: WalkFrame, node: ast.Assign) -> None:
    value = frame.evaluate(node.value)
    if len(node.targets) > 1:  # a list with two names
        value = kept_outside(value)
    for target in node.targets:
        assign(frame, target, value)


@handles(STATEMENTS, "AnnAssign")
def _annotated(frame: WalkFrame, node: ast.AnnAssign) -> None:
    promised = frame.source.promised(node.annotation, frame.module, frame.function)
    if isinstance(node.target, ast.Attribute):
        base = frame.evaluate(node.target.value)
        frame.walk.stored.setdefault(f"{node.target.attr}{ANNOTATED}", []).append((base, promised))
    if node.value is None:
        return
    assign(frame, node.target, within(frame.evaluate(node.value), promised))


@handles(STATEMENTS, "AugAssign")
def _augmented(frame: WalkFrame, node: ast.AugAssign) -> None:
    target = node.target
    before = frame.evaluate(_as_read(target))
    value = binary(frame, node, type(node.op).__name__, before, frame.evaluate(node.value), in_place=True)
    is_part = isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target.attr == DATA)
    if not (is_part and before.kind is Kind.TENSOR):  # the value stays in its place
        assign(frame, target, value)


def _as_read(target: ast.expr) -> ast.expr:
    """Return the target of an augmented assignment as a read."""
    kinds: dict[str, type[ast.expr]] = {
        "Name": ast.Name,
        "Attribute": ast.Attribute,
        "Subscript": ast.Subscript,
    }
    read = kinds[type(target).__name__](
        **{name: getattr(target, name) for name in target._fields if name != "ctx"}
    )
    read.ctx = ast.Load()  # type: ignore[attr-defined]
    return ast.copy_location(read, target)


def assign(frame: WalkFrame, target: ast.expr, value: AbstractValue) -> None:
    """Bind a target of an assignment."""
    if isinstance(target, ast.Name):
        frame.bind(target.id, bound_value(frame, target, value))
    elif isinstance(target, (ast.Tuple, ast.List)):
        items = unpacked(frame, target, value, len(target.elts))
        for each, item in zip(target.elts, items, strict=True):
            assign(frame, each, item)
    elif isinstance(target, ast.Starred):
        assign(frame, target.value, AbstractValue(Kind.LIST, element=value))
    elif isinstance(target, ast.Attribute):
        stores_attribute(frame, target, value)
    elif isinstance(target, ast.Subscript):
        stores_item(frame, target, value)


@handles(STATEMENTS, "Delete")
def _delete(frame: WalkFrame, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            deletes_item(frame, target)
        elif isinstance(target, ast.Attribute):
            deletes_attribute(frame, target, frame.evaluate(target.value), target.attr)


@handles(STATEMENTS, "Return")
def _return(frame: WalkFrame, node: ast.Return) -> bool:
    with frame.handing_out():
        value = frame.evaluate(node.value) if node.value is not None else _none()
    frame.walk.returned = join(frame.walk.returned, value)
    return False


def _none() -> AbstractValue:
    return AbstractValue(Kind.NONE)


@handles(STATEMENTS, "Raise")
def _raise(frame: WalkFrame, node: ast.Raise) -> bool:
    for each in (node.exc, node.cause):
        if each is None:
            continue
        value = frame.evaluate(each)
        if any(option.kind is Kind.CLASS for option in value.options):
            frame.call(each, value, Arguments())
        elif value is TOP and isinstance(each, ast.Name) and each.id in frame.function.by_name:
            frame.unknown(each, "raises what is not known, which makes an object of a class")
    return False


@handles(STATEMENTS, "Assert")
def _assert(frame: WalkFrame, node: ast.Assert) -> bool | None:
    known = truth_of(frame, node.test)
    if node.msg is not None and known is not True:
        env = dict(frame.env)
        frame.evaluate(node.msg)
        frame.env = env
    narrow(frame, node.test, holds=True)
    return known is not False and known is not UNREACHED


@handles(STATEMENTS, "Break")
def _break(frame: WalkFrame, _: ast.Break) -> bool:
    frame.leaves(again=False)
    return False


@handles(STATEMENTS, "Continue")
def _continue(frame: WalkFrame, _: ast.Continue) -> bool:
    frame.leaves(again=True)
    return False


@handles(STATEMENTS, "If")
def _if(frame: WalkFrame, node: ast.If) -> bool:
    known = truth_of(frame, node.test)

    def then() -> bool:
        narrow(frame, node.test, holds=True)
        return frame.run(node.body)

    def otherwise() -> bool:
        narrow(frame, node.test, holds=False)
        return frame.run(node.orelse)

    ways = {True: (then,), False: (otherwise,), None: (then, otherwise), UNREACHED: ()}[known]
    return frame.branch(*ways)


@handles(STATEMENTS, "While")
def _while(frame: WalkFrame, node: ast.While) -> bool:
    known: list[Truth] = []

    def body() -> bool:
        known[:] = [truth_of(frame, node.test)]
        if known in ([False], [UNREACHED]):
            return False
        narrow(frame, node.test, holds=True)
        return frame.run(node.body)

    def after() -> bool:
        narrow(frame, node.test, holds=False)
        if known != [True]:
            frame.run(node.orelse)
        return known != [UNREACHED]

    return frame.loop(node, body, after)


@handles(STATEMENTS, "For", "AsyncFor")
def _for(frame: WalkFrame, node: ast.For) -> bool:
    item = iterates(frame, node.iter, frame.evaluate(node.iter))

    def body() -> bool:
        assign(frame, node.target, item)
        return frame.run(node.body)

    def after() -> bool:
        frame.run(node.orelse)
        return True

    return frame.loop(node, body, after)


@handles(STATEMENTS, "Try", "TryStar")
def _try(frame: WalkFrame, node: ast.Try) -> bool:
    start = dict(frame.env)
    with frame.trying() as raised:
        with frame.catching(swallows=_swallows(frame, node)):
            reached = frame.run(node.body)
        reached = reached and frame.run(node.orelse)
        ends = [dict(frame.env)] if reached else []
        for handler in node.handlers:
            frame.env = dict(raised)
            if handler.name:
                frame.bind(handler.name, NO_TENSOR)
            if frame.run(handler.body):
                ends.append(dict(frame.env))
    frame.env = dict(raised)
    for env in ends:
        for name, value in env.items():
            frame.env[name] = join(frame.env[name], value) if name in frame.env else value
    if not frame.run(node.finalbody):
        return False
    if not ends:
        frame.env = start
        return False
    if not node.finalbody:
        frame.env = ends[0]
        for env in ends[1:]:
            frame.env = {**frame.env, **{k: join(frame.env.get(k, v), v) for k, v in env.items()}}
    return True


def _swallows(frame: WalkFrame, node: ast.Try) -> bool:
    """Return whether a ``try`` may swallow an exception of its body; of a run, one whose handler ran."""
    handled = [each.body for each in node.handlers if frame.prover.ran.statement(frame.module, each.body[0])]
    return any(map(_leaves, node.finalbody)) or any(
        not isinstance(body[-1], ast.Raise) or any(map(_leaves, body)) for body in handled
    )


def _leaves(node: ast.stmt) -> bool:
    return any(isinstance(each, ast.Return | ast.Break | ast.Continue) for each in walk(node))


@handles(STATEMENTS, "With", "AsyncWith")
def _with(frame: WalkFrame, node: ast.With) -> bool:
    reason, swallows = "", False
    with frame.trying() as raised:
        for item in node.items:
            if allows_waits(_maker(frame, item.context_expr)):
                place = f"{frame.module.path}:{node.lineno}"
                reason = f"the region at {place} may synchronize: {frame.text(item.context_expr)}"
                entered = NO_TENSOR
            else:
                value = frame.evaluate(item.context_expr)
                entered = enters(frame, item.context_expr, value)
                swallows = swallows or may_swallow(frame, value)
            if item.optional_vars is not None:
                assign(frame, item.optional_vars, entered)
        with frame.catching(swallows=swallows), frame.allowed(reason) if reason else nullcontext():
            reached = frame.run(node.body)
    if swallows:
        frame.env = merged(frame.env, raised) if reached else raised
    return reached or swallows


def _maker(frame: WalkFrame, node: ast.expr) -> str:
    """Return the full name of a context's constructor, under any import name."""
    called = node.func if isinstance(node, ast.Call) else node
    return frame.module.imported_name(dotted_name(called)).rpartition(".")[2] if dotted_name(called) else ""


@handles(STATEMENTS, "Import", "ImportFrom")
def _import(frame: WalkFrame, node: ast.Import | ast.ImportFrom) -> None:
    for name, target in imported_names(node, frame.module).items():
        if name != "*":
            frame.bind(name, import_value(frame.prover, target, frame.module))


@handles(STATEMENTS, "FunctionDef", "AsyncFunctionDef")
def _function(frame: WalkFrame, node: ast.FunctionDef) -> None:
    frame.bind(node.name, defined_function(frame, node))


@handles(STATEMENTS, "ClassDef")
def _class(frame: WalkFrame, node: ast.ClassDef) -> None:
    frame.bind(node.name, defined_class(frame, node))


@handles(STATEMENTS, "Match")
def _match(frame: WalkFrame, node: ast.Match) -> bool:
    subject = frame.evaluate(node.subject)
    ways = []
    for case in node.cases:

        def way(case: ast.match_case = case) -> bool:
            _pattern(frame, case.pattern, subject)
            if case.guard is not None:
                truth_of(frame, case.guard)
                narrow(frame, case.guard, holds=True)
            return frame.run(case.body)

        ways.append(way)
    return frame.branch(*ways, lambda: True)


def _pattern(frame: WalkFrame, pattern: ast.AST, subject: AbstractValue) -> None:
    """Walk a pattern: its comparisons, and the names that the pattern binds."""
    for part in walk(pattern):
        given = subject if part is pattern else TOP
        if isinstance(part, ast.MatchClass):
            _class_pattern(frame, part, given)
        elif isinstance(part, ast.MatchSequence | ast.MatchMapping):
            runs(frame, part, given, "__len__", "__getitem__", "__iter__", "keys", "get")
        elif isinstance(part, ast.MatchValue):
            runs(frame, part, given, "__eq__")
            other = frame.evaluate(part.value)
            if other.kind is not Kind.STRING:
                binary(frame, part, "Eq", TOP if part is not pattern else subject, other)
                if part is not pattern or subject is TOP or subject.kind is Kind.TENSOR:
                    frame.may(part, part.value, "what is compared with {} may be a tensor on the GPU")
        for name in (getattr(part, "name", None), getattr(part, "rest", None)):
            if name:
                frame.bind(name, subject if part is pattern else TOP)


def _class_pattern(frame: WalkFrame, pattern: ast.MatchClass, subject: AbstractValue) -> None:
    """Walk the reads of attributes in a pattern of a class: ``case Point(x=0)``."""
    cls = frame.evaluate(pattern.cls)
    asks_classes(frame, pattern, [cls])
    found = cls.payload if isinstance(cls.payload, Class) else None
    base = AbstractValue(Kind.INSTANCE, payload=found) if found is not None else subject
    names = list(pattern.kwd_attrs)
    if found is not None and pattern.patterns:
        texts = [
            part
            for _, value in frame.source.bodies.values(found.mro(), "__match_args__")
            for part in walk(value)
        ]
        names += [str(each.value) for each in texts if isinstance(each, ast.Constant)]
        names += found.fields() if found.is_record else []
    for name in names:
        frame.attribute(pattern, base, name)
