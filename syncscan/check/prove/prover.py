"""The walks of a project, each computed at its first read, and their fixed point."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from syncscan.check.defects import reason_of
from syncscan.check.infer.source.index import TAKE_CLASSES, Class, Function, Module
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.prove.assumptions import Assumptions
from syncscan.check.prove.cycles import lowest
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.kept import Computation, KeptWalk, KeptWalks, Node, Read, WalkWriter, line_of
from syncscan.check.prove.observed import is_narrower
from syncscan.check.prove.promises import contradicted, within
from syncscan.check.prove.ran import Ran
from syncscan.check.prove.recorded import Recorded
from syncscan.check.prove.source import Asked, Definitions, Question
from syncscan.check.prove.stores import all_written, surely_written
from syncscan.check.prove.values import (
    ANYWHERE,
    BOTTOM,
    NONE,
    STRING,
    TOP,
    AbstractValue,
    has_tensors,
    join,
    join_all,
    kept_outside,
    lazily,
    list_of,
    may_hold_gpu,
    with_keys,
)
from syncscan.check.prove.walk import Walk
from syncscan.facts import RETURN
from syncscan.model import Device, Kind

Call = tuple[Any, ...]  # a function, and parameters with their known values
_NOTHING: Mapping[str, AbstractValue] = {}
_MOST_INSIDE = 3  # walks for known values in one another
_DEEPEST = 24  # nested walks and attributes in progress
# Iterations of one walk, after which the walk is widened to anything. The order could decide there, so this is a guard: vLLM has 8.
_MOST_ITERATIONS = 12
_REWRITTEN_FROM = 0.1  # share of computations that no kept result replaced, above which all are stored again
_UNSEEN = object()
_OPEN = AbstractValue(Kind.UNKNOWN, payload="no assumption")
_UNSET = AbstractValue(Kind.UNKNOWN, payload="unset")  # of an attribute that no walk so far sets
_KEEP_RESULTS = frozenset(
    {"builtins.classmethod", "builtins.staticmethod", "functools.cache", "functools.lru_cache"}
)


class Prover:
    """The walks of one project."""

    def __init__(
        self,
        project: Definitions,
        assumptions: Assumptions,
        ran: Ran | None = None,
        kept: KeptWalks | None = None,
        *,
        keeps: bool = False,
    ) -> None:
        """Take over the walks of an earlier proof, and note for `data` what each computation reads."""
        self.source = project
        self.assumptions = assumptions
        self.ran = ran or Ran()
        self.recorded = Recorded(project, assumptions)
        self._values: dict[Node, Any] = {}  # walks, and the values of attributes
        self._in_progress: list[Node] = []  # each reads the next
        self._dependents: dict[Node, dict[Node, None]] = {}  # readers of the present value
        self._worklist: dict[Node, None] = {}  # the worklist: readers of values that have changed since
        self._iterations: Counter[Node] = Counter()
        self._hooks: list[Function | str] | None = None
        self._is_dense: bool | None = None
        self._kept = kept  # of an earlier proof
        self._answers: dict[Question, Any] = {}
        self._unread: dict[Function, Walk] = {}  # as readers see them before their first walk
        self._nodes_read: list[set[Node]] = []  # of each computation in progress
        # The nodes whose values may still change, each with those that it reads.
        self._reading: dict[Node, set[Node]] = {}
        self._final: set[Node] = set()  # the others
        # The names of a walk, or the value of an attribute, that became anything.
        self._settled_nodes: dict[Node, Any] = {}
        self._reads: list[
            dict[tuple[Read, int], Any]
        ] = []  # of each computation in progress, by the answer's identity
        self._inside: list[Call] = []  # walks for known values in progress, in the computation at hand
        self._for_known: dict[Call, Computation] = {}
        self._keeps = keeps
        self._computed: dict[Node, list[Computation]] = {}
        self._anew = 0  # computations that no kept one replaced
        self.used: dict[str, None] = {}  # assumptions
        self.readers: dict[Function, frozenset[str]] = {}  # names whose containers a function only reads

    def walk(self, function: Function) -> Walk:
        """Return the walk of a function at the fixed point.

        A value that is not computed at the fixed point of its cycle becomes anything, since nothing in the source makes it.
        The cycles below come first, so that the result does not depend on the order of computations.
        """
        self.asked(function)
        while self._worklist or self._reading:
            while self._worklist:
                self._compute(next(iter(self._worklist)))
            final, lacking = lowest(self._reading, self._lacks)
            self._final |= final
            for node in final:
                del self._reading[node]
            for node in lacking:
                self._set(node, self._settled(node, self._values[node]))
        found: Walk = self._values[function]
        return found

    def asked(self, function: Function) -> Walk:
        """Return the present walk of a function, for a reader."""
        walk: Walk = self._read(function)
        return walk

    def _read(self, node: Node) -> Any:
        """Return the present value of a node, and note the reader: a change puts readers on the worklist."""
        if node not in self._values and node not in self._in_progress:
            if len(self._in_progress) < _DEEPEST:
                self._compute_inside(node)
            else:
                self._worklist[node] = None
        found = self._values.get(node, _UNSEEN)
        if found is _UNSEEN:
            found = BOTTOM if isinstance(node, tuple) else self._unwalked(node)
        if self._in_progress:
            self._dependents.setdefault(node, {})[self._in_progress[-1]] = None
            self._nodes_read[-1].add(node)
            self._note(node, found)
        return found

    def _compute_inside(self, node: Node) -> None:
        """Compute a node for a reader; later, from the worklist, where the readers' nesting leaves no room on the stack."""
        try:
            self._compute(node)
        except RecursionError:
            self._worklist[node] = None

    def _unwalked(self, function: Function) -> Walk:
        return self._unread.setdefault(function, Walk(function, is_partial=True))

    def _compute(self, node: Node) -> None:
        """Compute a node again from the present values of others; put its readers on the worklist if the value changed."""
        self._worklist.pop(node, None)
        self._iterations[node] += 1
        self._in_progress.append(node)
        self._reads.append({})
        self._nodes_read.append(set())
        outer, self.assumptions.used = self.assumptions.used, {}
        inside, self._inside = self._inside, []
        try:
            found = self._replayed(node)
            if found is _UNSEEN:
                self._anew += 1
                found = self._written(*node) if isinstance(node, tuple) else self._walked(node)
        finally:
            self._in_progress.pop()
            reads = [(read, answer) for (read, _), answer in self._reads.pop().items()]
            nodes = self._nodes_read.pop()
            used, self.assumptions.used = self.assumptions.used, outer
            self._inside = inside
        self.used.update(used)
        if self._keeps:
            self._computed.setdefault(node, []).append(Computation(reads, found, [*used]))
        if self._iterations[node] > _MOST_ITERATIONS:
            found = found.open() if isinstance(found, Walk) else TOP
        is_final = nodes <= self._final
        if is_final:
            self._final.add(node)
            self._reading.pop(node, None)
        else:
            self._reading[node] = nodes
        self._set(node, self._settled(node, found) if is_final or node in self._settled_nodes else found)

    def _set(self, node: Node, found: Any) -> None:
        """Take a result of a node; put the readers on the worklist if the value changed."""
        before = self._values.get(node, _UNSEEN)
        self._values[node] = found
        if before is _UNSEEN or self._differ(before, found):
            self._worklist.update(self._dependents.pop(node, {}))

    def _lacks(self, node: Node) -> bool:
        """Return whether a part of a node's value is not computed."""
        found = self._values[node]
        return found in (BOTTOM, _UNSET) if isinstance(node, tuple) else found.lacks

    def _settled(self, node: Node, found: Any) -> Any:
        """Return a result with anything for what is not computed at the fixed point, now or when the node was settled before."""
        before = self._settled_nodes.get(node)
        if isinstance(node, tuple):
            if before is None and found not in (BOTTOM, _UNSET):
                return found
            is_unset = found is _UNSET and before in (None, _UNSET)
            self._settled_nodes[node] = _UNSET if is_unset else TOP
            return None if is_unset else TOP
        if before is None and not found.lacks:
            return found
        names = self._settled_nodes[node] = (before or frozenset()) | found.missing
        return found.settled(names)

    def _differ(self, before: Any, found: Any) -> bool:
        """Return whether readers see a difference between two results of a node."""
        if self._kept is not None and (isinstance(before, KeptWalk) or isinstance(found, KeptWalk)):
            signature = self._kept.signature(before)
            return signature is None or signature != self._kept.signature(found)
        if isinstance(found, Walk):
            return bool(before.summary != found.summary)
        return bool(before != found)

    def _replayed(self, node: Node) -> Any:
        """Return the kept result of a node where every answer that it depends on is the kept one; else `_UNSEEN`."""
        if self._kept is None:
            return _UNSEEN
        kept, at = self._kept.computations(node), 0
        while kept:
            reads = kept[0].reads
            if at == len(reads):
                self.assumptions.used.update(dict.fromkeys(kept[0].used))
                return self._kept.found(node, kept[0])
            read = reads[at]
            signature = self._kept.signature(self._again(self._kept.nodes[read]))
            kept = [each for each in kept if each.reads[at : at + 2] == [read, signature]]
            at += 2
        return _UNSEEN

    def _again(self, read: Read) -> Any:
        """Return the present answer to what a kept computation read."""
        return self.answer(read) if isinstance(read, Question) else self._read(read)

    def answer(self, question: Question) -> Any:
        """Return the answer to a question to the project, for the computation at hand."""
        found = self._answers.get(question, _UNSEEN)
        if found is _UNSEEN:
            found = self._answers[question] = self.source.answer(question)
        self._note(question, found)
        return found

    def _note(self, read: Read, answer: Any) -> None:
        """Note what the computation at hand reads, each answer once."""
        if self._reads and (self._keeps or self._inside):
            self._reads[-1].setdefault((read, id(answer)), answer)

    def data(self) -> bytes | None:
        """Return all computations as bytes for a later proof; None where most of them come from such bytes."""
        if not self._keeps or self._anew <= self._iterations.total() * _REWRITTEN_FROM:
            return None
        return WalkWriter(self.source, self.ran).data(self._computed)

    def line(self, function: Function) -> int:
        """Return the first line of a function."""
        return line_of(function) if self._kept is None else self._kept.line(function)

    def walked_with(self, function: Function, known: Mapping[str, AbstractValue]) -> Walk | None:
        """Return the walk of a function where some parameters have a known value; None for walks too deep in one another.

        A walk inside the same walk adds nothing.
        """
        call = (function, *known.items())
        if call in self._inside:
            return Walk(function)
        if len(self._inside) >= _MOST_INSIDE:
            return None
        kept = self._for_known.get(call)
        if kept is None or any(self._again(read) is not answer for read, answer in kept.reads):
            kept = self._walked_for(call, function, known)
            if not self._inside:
                self._for_known[call] = kept
        self.assumptions.used.update(dict.fromkeys(kept.used))
        walk: Walk = kept.found
        return walk

    def _walked_for(self, call: Call, function: Function, known: Mapping[str, AbstractValue]) -> Computation:
        """Walk a function for known values inside the computation at hand, which reads all that the walk reads."""
        self._inside.append(call)
        self._reads.append({})
        outer, self.assumptions.used = self.assumptions.used, {}
        try:
            found = self._walked(function, known)
        finally:
            self._inside.pop()
            reads = [(read, answer) for (read, _), answer in self._reads.pop().items()]
            used, self.assumptions.used = self.assumptions.used, outer
        for read, answer in reads:
            self._note(read, answer)
        return Computation(reads, found, [*used])

    def _walked(self, function: Function, known: Mapping[str, AbstractValue] = _NOTHING) -> Walk:
        walk = Walk(function)
        frame = WalkFrame(self, walk)
        try:
            self._run(frame, known)
        except Exception as error:
            if isinstance(error, RecursionError) and len(self._in_progress) > 1:
                raise
            reason = f"the proof cannot follow this function: {reason_of(function, error)}"
            frame.gives_up(function.node, reason)
            return walk.open()
        return walk

    def _run(self, frame: WalkFrame, known: Mapping[str, AbstractValue]) -> None:
        function, node = frame.function, frame.function.node
        for parameter in function.parameters:
            name = parameter.name
            frame.bind(name, known[name] if name in known else self.parameter(function, name))
        if isinstance(node, ast.Lambda):
            value = frame.evaluate(node.body)
            frame.walk.returned = value
            return
        if frame.run(node.body):
            frame.walk.returned = join(frame.walk.returned, NONE)

    def parameter(self, function: Function, name: str) -> AbstractValue:
        """Return the value of a parameter: the declared value, the object of a method, or else anything."""
        parameter = function.by_name[name]
        if parameter is function.parameters[0] and function.owner is not None and not function.is_static:
            kind = Kind.CLASS if function.is_of_class or function.name in TAKE_CLASSES else Kind.INSTANCE
            return AbstractValue(kind, payload=function.owner)
        value = self._declared(function, parameter)
        if parameter.star:
            value = list_of(value, Kind.TUPLE) if parameter.star == "*" else _of_keywords(value)
            return self.recorded.met(value, [function], name)
        default = parameter.default
        if isinstance(default, ast.Constant) and default.value is None and value is not TOP:
            value = join(value, NONE)
        if may_hold_gpu(value):
            value = self._passed(function, name, value)
        elif value.kind is Kind.NUMBER and value.dtype == "bool":
            value = within(self._passed(function, name, value), value)
        return self.assumptions.of_parameter(function, name, self.recorded.met(value, [function], name))

    def _passed(self, function: Function, name: str, value: AbstractValue) -> AbstractValue:
        """Return what the recorded callers pass to a parameter; the value where one of them leaves that open."""
        callers = self.ran.callers(function)
        found = [] if callers else [value]
        for code, line in sorted(callers):
            caller = self.source.by_code.get(code)
            if caller is None:
                return value
            walk = self.asked(caller)
            calls = walk.passed_at(function, name, line)
            if not calls and walk.is_partial:
                calls = [BOTTOM]
            if not calls or TOP in calls:
                return value
            found += calls
        passed = join_all(found)
        return passed if is_narrower(passed, value) else value

    def _declared(self, function: Function, parameter: Parameter) -> AbstractValue:
        """Return the declared value of a parameter, joined with contradicting calls that the check has seen."""
        value = self.source.promised(parameter.annotation, function.module, function.parent or function)
        if value is TOP or has_tensors(value):
            return value
        passed = self.answer(Question(Asked.PASSED, parameter))
        if passed is None or not _may_be_tensor(passed):
            return value
        recorded = self._passed(function, parameter.name, TOP)  # by walks, which know more than the check
        return value if recorded is not TOP and not _may_be_tensor(recorded) else join(value, passed)

    def returned(self, function: Function) -> AbstractValue:
        """Return the result of a function, for any arguments."""
        return self.recorded.met(self._returned(function), [function], RETURN)

    def _returned(self, function: Function) -> AbstractValue:
        if self.source.is_generator(function):
            return lazily(AbstractValue(Kind.LIST, element=TOP))
        known = self.assumptions.of_call(function, _OPEN)
        if known is not _OPEN:
            return known
        promised = self.source.promised_result(function)
        found = kept_outside(self.asked(function).returned)
        is_final = promised is TOP or has_tensors(promised) or self._is_final(function)
        return within(found, promised) if is_final else contradicted(promised, [found])

    def _is_final(self, function: Function) -> bool:
        """Return whether a call of the name of a function runs its body and nothing else: no code binds or sets the name too."""
        name = function.name
        is_async = self.source.forms.of_function(function).is_async
        if is_async or not function.decorators <= _KEEP_RESULTS or function.parent is not None:
            return False
        if self.source.bodies.assigning(name):
            return False
        is_one = name not in self.source.outline(function.module).rebound
        return is_one and not self.answer(Question(Asked.STORING, name=name))

    def attribute(self, cls: Class, name: str) -> AbstractValue:
        """Return the value of an object's attribute: the declared value, or the join of all stores in the project."""
        written = self.written(cls, name)
        methods = [each for above in cls.mro() for each in above.methods.values()]
        met = self.recorded.met(TOP if written is None else written, methods, f"self.{name}")
        return self.assumptions.of_attribute(cls, name, met)

    def written(self, cls: Class, name: str) -> AbstractValue | None:
        """Return what is declared of an attribute, or all that the project sets it to; None where it does neither."""
        found: AbstractValue | None = self._read((cls, name))
        return BOTTOM if found is _UNSET else found

    def _written(self, cls: Class, name: str) -> AbstractValue | None:
        for base in cls.mro():
            annotation = base.annotations.get(name) or self.source.bodies.class_variable(base, name)
            if annotation is not None:
                promised = self.source.promised(annotation, base.module, base.parent)
                is_open = promised is TOP or has_tensors(promised)
                return promised if is_open else contradicted(promised, surely_written(self, cls, name))
        values = all_written(self, cls, name)
        if not values:
            return None if values is None else _UNSET
        whole = join_all(values)
        return _moved(whole) if cls.is_module else whole

    def hooks(self) -> list[Function | str]:
        """Return the functions that the project registers as hooks of modules, and the places of unknown hooks."""
        if self._hooks is None:
            self._hooks = [hook for module in self.source.modules for hook in self._hooks_of(module)]
        return self._hooks

    @property
    def is_dense(self) -> bool:
        """Return whether no statement makes sparse tensors; of a run, none that ran."""
        if self._is_dense is None:
            self._is_dense = not any(
                self._ran(module, first, last)
                for module in self.source.modules
                for first, last in self.source.outline(module).makes_sparse
            )
        return self._is_dense

    def _ran(self, module: Module, first: int, last: int) -> bool:
        """Return whether lines anywhere in a module may have run, which a run knows if it recorded the top."""
        return not self.ran.read(module) or self.ran.lines(module, first, last)

    def _hooks_of(self, module: Module) -> Iterator[Function | str]:
        for name, is_of_object, line, last in self.source.outline(module).hooks:
            if not self._ran(module, line, last):
                continue
            named = self.source.methods_named(name) if is_of_object else module.functions
            found = [each for each in named if each.name == name]
            yield from found
            if not found:
                yield f"{module.path}:{line}"


def _moved(value: AbstractValue) -> AbstractValue:
    """Return an attribute of a module, whose tensors may be transferred with the module."""
    if value.kind is Kind.UNION:
        return join_all(map(_moved, value.items or ()))
    if value.kind is Kind.TENSOR:
        return join(value, ANYWHERE) if value.device is not Device.CUDA else value
    return value


def _of_keywords(value: AbstractValue) -> AbstractValue:
    """Return the dictionary of keyword arguments of some value."""
    return with_keys(list_of(value, Kind.DICT), STRING)


def _may_be_tensor(value: AbstractValue) -> bool:
    return any(option.kind is Kind.TENSOR for option in value.options)
