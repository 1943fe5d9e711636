"""The fixed point over the whole project: functions are evaluated until no summary changes."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterable

from syncscan.check.infer.annotations import Annotations
from syncscan.check.infer.frame import Frame
from syncscan.check.infer.index import Cell, Class, Function, Module, parameters_of
from syncscan.check.infer.names import Project
from syncscan.check.infer.record import Candidate, Recorder, Waits
from syncscan.model import Conventions
from syncscan.ops import OperationTable

# A function is looked at again when something that it reads changes; real projects settle within a few
# rounds, and this bound keeps a pathological one from running on.
_MOST_EVALUATIONS = 24


class Solver:
    """What is known of a project, refined function by function.

    First everything is followed that the source shows. Then, with ``assume`` set, what is still open
    is filled in: tensors that nobody is seen to pass, devices that only the run decides.
    """

    def __init__(self, modules: list[Module], table: OperationTable, conventions: Conventions) -> None:
        self.project = Project(modules)
        self.annotations = Annotations(self.project)
        self.table = table
        self.conventions = conventions
        self.assume = False
        self.classes: dict[ast.ClassDef, Class] = {
            cls.node: cls for module in modules for cls in module.classes
        }
        self.modules = modules
        self.defects: dict[Function, Exception] = {}
        self.elsewhere: dict[Function, None] = {}  # called in branches for other hardware
        self._queue: deque[Function] = deque()
        self._queued: set[Function] = set()
        self._evaluations: dict[Function, int] = {}
        self._missed: dict[str, dict[Function, None]] = {}
        self._lambdas: dict[ast.Lambda, Function] = {}
        self._locals: dict[Function, frozenset[str]] = {}

    def solve(self, progress: Callable[[str, int, int], None]) -> None:
        """Reach the fixed point."""
        self._settle("infer", (f for module in self.modules for f in module.functions), progress)
        self.assume = True
        still_open = (f for module in self.modules for f in module.functions if f.is_open)
        self._settle("assume", still_open, progress)

    def _settle(
        self, stage: str, functions: Iterable[Function], progress: Callable[[str, int, int], None]
    ) -> None:
        """Evaluate functions, and again whatever changes with them, until nothing does."""
        self._evaluations.clear()
        for function in list(functions):
            self.enqueue(function)
        total = sum(len(module.functions) for module in self.modules)
        while self._queue:
            progress(stage, len(self._evaluations), total)
            function = self._queue.popleft()
            self._queued.discard(function)
            count = self._evaluations.get(function, 0)
            if count < _MOST_EVALUATIONS:
                self._evaluations[function] = count + 1
                self._evaluate(function)

    def _evaluate(self, function: Function, recorder: Recorder | None = None) -> None:
        """Evaluate one function; one that makes us fail is noted, and not looked at again."""
        if function in self.defects:
            return
        try:
            Frame(self, function, recorder).run()
        except Exception as error:
            self.defects[function] = error

    def function_of(self, node: ast.Lambda, frame: Frame) -> Function:
        """A lambda as a function; it is looked at for the first time where it is first met."""
        function = self._lambdas.get(node)
        if function is None:
            module, outer = frame.module, frame.function
            prefix = "" if outer is module.body else f"{outer.qualname}."
            function = Function("<lambda>", f"{prefix}<lambda>", module, node)
            function.parent = None if outer is module.body else outer
            function.parameters = list(parameters_of(node.args))
            function.by_name = {parameter.name: parameter for parameter in function.parameters}
            function.statement = frame.statement
            self._lambdas[node] = function
            module.functions.append(function)
            self.enqueue(function)
        return function

    def enqueue(self, function: Function) -> None:
        """Look at a function again."""
        if function not in self._queued:
            self._queued.add(function)
            self._queue.append(function)

    def changed(self, cell: Cell) -> None:
        """Look again at everything that has read a cell."""
        for function in list(cell.readers):
            self.enqueue(function)

    def misses_attribute(self, name: str, function: Function) -> None:
        """A function reads an attribute that no class that it knows is seen to set."""
        self._missed.setdefault(name, {})[function] = None

    def found_attribute(self, name: str) -> None:
        """An attribute turns out to be set from outside its class: look again at what missed it."""
        for function in self._missed.pop(name, {}):
            self.enqueue(function)

    def candidates(self, function: Function, waits: Waits | None = None) -> list[Candidate]:
        """The statements of a function in which a GPU value reaches a place that may block.

        With ``waits``, those that read one of the properties in it count as well.
        """
        recorder = Recorder(waits or {})
        self._evaluate(function, recorder)
        return recorder.candidates()

    def locals_of(self, function: Function) -> frozenset[str]:
        """The names that a function binds."""
        if function not in self._locals:
            names = {parameter.name for parameter in function.parameters}
            if not isinstance(function.node, ast.Module):
                names |= {
                    child.id
                    for child in ast.walk(function.node)
                    if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)
                }
            self._locals[function] = frozenset(names - function.global_names - function.nonlocal_names)
        return self._locals[function]
