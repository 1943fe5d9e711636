"""The context that all instructions of one project share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from syncscan.check.infer.dataflow.annotations import Annotations
from syncscan.check.infer.dataflow.cells import Knowledge, Question
from syncscan.check.infer.dataflow.made import first_handed_in
from syncscan.check.infer.dataflow.needs import Imported, Names, UsedSlots, imported_by, uses_in
from syncscan.check.infer.dataflow.observations import Observations
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.source.conventions import place_of
from syncscan.check.infer.source.delegation import Delegate, delegates
from syncscan.check.infer.source.edits import ModuleEdit
from syncscan.check.infer.source.index import NO_NAMES, Function, Module
from syncscan.check.infer.source.mirrors import is_refreshed
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.source.parts import KeptParameters, kept_parameters, moves_in_place
from syncscan.check.infer.source.predicates import holds_for_none
from syncscan.check.infer.source.program import Program
from syncscan.check.infer.source.restructure import Consequences, restructure
from syncscan.check.infer.source.scopes import Scopes
from syncscan.check.infer.source.texts import BY_NAME, chosen_by_text, names_attributes
from syncscan.facts import FactSet
from syncscan.model import Conventions, Device
from syncscan.ops import Operation, OperationTable, stubs
from syncscan.ops.stubs import Stub

_OF_MODULES = frozenset(
    {"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "type", "apply", "train", "eval", "requires_grad_",
     "share_memory_", "zero_grad"}
)  # fmt: skip
_OF_ANYTHING = frozenset({"_assert", "from_numpy", "is_tensor"})
# First parameters of functions of torch that are tensors, besides `input`.
_OF_TENSORS = frozenset(
    {"A", "B", "L", "LD", "LU", "a", "anchor", "b", "condition", "input1", "log_probs", "logits", "query", "real",
     "sorted_sequence", "theta", "x1"}
)  # fmt: skip
# Keywords that NumPy has for the same, or that the table leaves out.
_KEYWORDS = frozenset(
    {"axis", "dim", "dims", "keepdim", "keepdims", "dtype", "out", "memory_format", "generator", "self", "input"}
)  # fmt: skip
_OF_PYTHON = frozenset(name for each in (list, dict, str, set, tuple, float) for name in dir(each))


_NOT_ASKED: Final = object()  # in place of an answer
KEPT = "__init__()"  # stands among the members of a class for the parameters that its initialiser keeps


class Context:
    """The source, the operation table, the conventions, and every cell."""

    def __init__(
        self,
        modules: list[Module],
        table: OperationTable,
        conventions: Conventions,
        asked: frozenset[str],
        facts: FactSet | None = None,
    ) -> None:
        self.modules = modules
        self.program = Program(modules, table.own)
        self.scopes = Scopes()
        self.annotations = Annotations(self.program)
        self.table = table
        self._of_others = _methods_of_others(table)
        known = {name: table.operations.get(full) for name, full in self._of_others.items()}
        self.handing_on = {
            name: self._of_others[name]
            for name, operation in known.items()
            if operation and _hands_on(operation)
        }
        self._names = Names(
            self._is_method_of_tensors,
            self._computes,
            self._takes_tensor,
            self._takes_first,
            self._takes_keyword,
        )
        self.conventions = conventions
        self.asked = asked  # functions outside the project that a rule asks about
        self.known = Knowledge()
        self.observations = Observations(facts, modules)
        self.declared = self._declared()
        self._refreshed: dict[str, bool] = {}
        self._asking: dict[str, set[Function]] = {}  # who asked for that, by name
        self._chosen: dict[Function, frozenset[str]] = {}
        self._delegates: dict[Function, tuple[Delegate, ...]] = {}
        self._naming: dict[Function, frozenset[str]] = {}
        self._known_by_text: dict[Function, frozenset[str]] = {}
        self._kept: dict[Function, KeptParameters] = {}
        self._moves_in_place: dict[Function, bool] = {}
        self._holds_for_none: dict[Function, bool | None] = {}
        self._uses: dict[Function, UsedSlots] = {}
        self._handed: dict[Function, Mapping[Slot, Slot]] = {}
        self._imported: dict[Module, Imported] = {}
        self._places: dict[str, Device] = {}

    def _declared(self) -> dict[Function, str]:
        """Return the functions whose behaviour the project declares in its settings, by full name."""
        own = self.table.own
        return {
            function: name
            for module in self.modules
            for function in (module.functions if own else ())
            if (name := f"{module.name}.{function.qualname}") in own
        }

    def stub(self, name: str) -> Stub | None:
        """Return the stub of an external name, or None.

        The project's own declarations take precedence over stubs. A measured entry of exactly this name takes
        precedence over a stub pattern.
        """
        found = stubs.of(name)
        if found is None or name in self.table.own:
            return None
        return None if "*" in found.operation.name and name in self.table.operations else found

    def knows(self, name: str) -> bool:
        """Return whether a stub or the operation table has exactly this name."""
        return self.stub(name) is not None or name in self.table.operations

    def parameter_at(self, state: State, slot: Slot) -> Parameter | None:
        """Return the parameter whose argument a slot holds unchanged; None for other slots."""
        if slot < 0 or state.ir.ops[slot] != Op.PARAMETER:
            return None
        parameter: Parameter = state.function.parameters[state.ir.data[slot]]
        return parameter

    def restructure(self, edits: Sequence[ModuleEdit]) -> Consequences:
        """Update the definitions of the project after edits; raises NotFollowedError as `restructure` does."""
        found = restructure(self.program, self.modules, edits, self.scopes.all_lambdas())
        if any(edit.redefines for edit in edits):
            self.declared = self._declared()
            self.annotations.forget()
        return found

    def forget(self, edits: Sequence[ModuleEdit]) -> set[Function]:
        """Invalidate facts of edited source, and return the functions whose lookups have other results now."""
        again = set[Function]()
        for edit in edits:
            self.scopes.forget((*edit.functions, *edit.gone))
            again |= self._callers_concerned(edit)
            before = self._imported.pop(edit.module, None)
            if edit.names and before != imported_by(edit.module):
                again.update(edit.module.functions)
            for known in (self._uses, self._handed):
                for function in [each for each in known if each.module is edit.module]:
                    del known[function]
        for name, was_refreshed in [*self._refreshed.items()]:
            if any(edit.mentions(name) for edit in edits):
                self._refreshed[name] = is_refreshed(self.modules, name)
                if self._refreshed[name] is not was_refreshed:
                    again |= self._asking[name]
        return again

    def _callers_concerned(self, edit: ModuleEdit) -> set[Function]:
        """Forget what the bodies of edited functions say, and return the callers of those that say something else now."""
        concerning = {function for function in edit.functions if self._asks_for_texts_anew(function)}
        asked = {
            asker
            for function in edit.functions
            for question in self._says_otherwise(function)
            for asker in self.known.asked[question]
        }
        for function in edit.gone:
            for cache in (
                self._chosen,
                self._naming,
                self._known_by_text,
                self._kept,
                self._moves_in_place,
                self._holds_for_none,
                self._delegates,
            ):
                cache.pop(function, None)
        callers = self.known.callees.items() if concerning else ()
        return asked | {caller for caller, callees in callers if not concerning.isdisjoint(callees)}

    def _asks_for_texts_anew(self, function: Function) -> bool:
        """Return whether an edited function follows the texts of other parameters than before."""
        self._chosen.pop(function, None)
        self._naming.pop(function, None)
        self._moves_in_place.pop(function, None)
        before = self._known_by_text.pop(function, None)
        now = self.known_by_text(function)
        if before is None:  # not known: a method with `**kwargs` may have set an attribute for each
            return bool(now) or (function.more is not None and function.owner is not None)
        return now != before

    def _says_otherwise(self, function: Function) -> Iterator[Question]:
        """Yield the questions to which an edited function gives another answer than before.

        `__init__` answers which arguments it keeps, `__getattr__` which object it asks, a predicate what it says of None.
        """
        kept, asked = self._kept.pop(function, None), self._delegates.pop(function, None)
        cls = function.owner
        if cls is not None and function.name == "__init__" and self.kept(function) != kept:
            yield cls, KEPT
        if cls is not None and function.name == "__getattr__" and self.delegates(function) != asked:
            yield cls, "__getattr__"
        before = self._holds_for_none.pop(function, _NOT_ASKED)
        if self.holds_for_none(function) is not before:
            yield asked_of(function)

    def is_refreshed(self, name: str, asked_by: Function) -> bool:
        """Return whether any code except ``+=`` writes to the host arrays of this name after their creation; cached."""
        self._asking.setdefault(name, set()).add(asked_by)
        if name not in self._refreshed:
            self._refreshed[name] = is_refreshed(self.modules, name)
        return self._refreshed[name]

    def asked_of_mirrors(self) -> list[tuple[str, bool, set[Function]]]:
        """Return the cached answers of `is_refreshed`, with the functions that asked."""
        return [(name, known, self._asking[name]) for name, known in self._refreshed.items()]

    def answer_of_mirrors(self, name: str, is_so: bool, asking: Iterable[Function]) -> None:
        """Restore such an answer from an earlier run."""
        self._refreshed[name] = is_so
        self._asking[name] = {*asking}

    def place_of(self, name: str) -> Device:
        """Return the device that the conventions promise for a name."""
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = place_of(self.conventions, name)
        return place

    def uses(self, state: State) -> UsedSlots:
        """Return what a function shows its values to be by their use; read once."""
        known = self._uses.get(state.function)
        if known is None:
            module = state.function.module
            imported = self._imported.get(module)
            if imported is None:  # once for each module: it looks at all names
                imported = self._imported[module] = imported_by(module)
            known = self._uses[state.function] = uses_in(state.ir, state.function, imported, self._names)
        return known

    def first_handed(self, state: State) -> Mapping[Slot, Slot]:
        """Return the instruction that first hands on each object which a function makes or gets; read once."""
        known = self._handed.get(state.function)
        if known is None:
            known = self._handed[state.function] = first_handed_in(state.ir, state.function)
        return known

    def _is_method_of_tensors(self, name: str) -> bool:
        """Return whether tensors have a method that nothing else has which the operation table or Python know."""
        return name not in self._of_others and self._computes(name)

    def _takes_keyword(self, method: str, keyword: str) -> bool:
        """Return whether a method of tensors may take a keyword, as far as its entry in the operation table says."""
        operation = self.table.find(f"torch.Tensor.{method}")
        return operation is None or not operation.args or keyword in operation.args or keyword in _KEYWORDS

    def _computes(self, name: str) -> bool:
        """Return whether tensors have a method that neither modules nor Python's own objects have."""
        if name in _OF_MODULES or name in _OF_PYTHON:
            return False
        in_place = name.endswith("_") and not name.endswith("__") and self._takes_tensor(name[:-1])
        return in_place or self._takes_tensor(name) or f"torch.Tensor.{name}" in self.table.operations

    def _takes_tensor(self, name: str) -> bool:
        """Return whether a torch function takes a tensor as its first argument."""
        known = self.table.operations
        found = known.get(f"torch.{name}") or known.get(f"torch.nn.functional.{name}")
        return found is not None and found.args[:1] == ("input",) and name not in _OF_ANYTHING

    def _takes_first(self, name: str) -> bool:
        """Return whether a function of torch, by its full name, takes a tensor as its first argument."""
        found, last = self.table.operations.get(name), name.rpartition(".")[2]
        is_so = found is not None and not _OF_TENSORS.isdisjoint(found.args[:1]) and last not in _OF_ANYTHING
        return is_so or self._takes_tensor(last)

    def chosen_by_text(self, function: Function) -> frozenset[str]:
        """Return the parameters of a private function that select behaviour by their text; cached."""
        known = self._chosen.get(function)
        if known is None:
            known = self._chosen[function] = chosen_by_text(function)
        return known

    def known_by_text(self, function: Function) -> frozenset[str]:
        """Return the parameters of a function whose texts are followed from its callers; cached."""
        known = self._known_by_text.get(function)
        if known is None:
            named = self.names_attributes(function)
            known = self._known_by_text[function] = self.chosen_by_text(function) | named
        return known

    def names_attributes(self, function: Function) -> frozenset[str]:
        """Return the parameters of a function whose texts name attributes; cached."""
        known = self._naming.get(function)
        if known is None:
            lines = function.module.lines
            known = names_attributes(function) if any(map(lines.mention, BY_NAME)) else NO_NAMES
            self._naming[function] = known
        return known

    def kept(self, initialiser: Function) -> KeptParameters:
        """Return the parameters that an initialiser keeps, or hands to the next one; cached."""
        known = self._kept.get(initialiser)
        if known is None:
            known = self._kept[initialiser] = kept_parameters(initialiser)
        return known

    def delegates(self, getter: Function) -> tuple[Delegate, ...]:
        """Return what a method ``__getattr__`` hands names on to; cached."""
        known = self._delegates.get(getter)
        if known is None:
            known = self._delegates[getter] = delegates(getter)
        return known

    def holds_for_none(self, function: Function) -> bool | None:
        """Return the outcome for None of a function that only asks whether its argument is None; cached."""
        if function not in self._holds_for_none:
            self._holds_for_none[function] = holds_for_none(function)
        return self._holds_for_none[function]

    def moves_in_place(self, function: Function) -> bool:
        """Return whether a function may move a module that has a name; cached."""
        known = self._moves_in_place.get(function)
        if known is None:
            known = self._moves_in_place[function] = moves_in_place(function)
        return known


def asked_of(function: Function) -> Question:
    """Return the question under which callers ask what a function says of None."""
    return function.module, f"{function.qualname}(None)"


def _methods_of_others(table: OperationTable) -> dict[str, str]:
    """Return the full names of the methods that the table and stubs know of classes other than tensors, by their own names."""
    found = {}
    for full in (*stubs.names(), *table.operations):
        owner, _, name = full.rpartition(".")
        if owner.rpartition(".")[2][:1].isupper() and owner != "torch.Tensor" and name.isidentifier():
            found[name] = full
    return found


def _hands_on(operation: Operation) -> bool:
    """Return whether the result of a method is its argument, or is where that is, as in `accelerate.Accelerator.gather`."""
    return (operation.result or "").startswith("arg ")
