"""What is known: cells that writers contribute to, and evaluations that change nothing until they are committed."""

from __future__ import annotations

import ast
import gc
import textwrap

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.record import Candidate
from syncscan.check.infer.evaluate.running import evaluate
from syncscan.check.infer.known.cells import Cell, Knowledge, moment
from syncscan.check.infer.solver import Solver
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.values.lattice import join
from syncscan.check.infer.values.sharing import Shared
from syncscan.model import UNKNOWN, Conventions, Device, Kind, Value
from syncscan.ops import load_table

PROGRAM = """
    import torch

    class Batch:
        def __init__(self, lens):
            self.lens = lens

    def total(batch, scale):
        longest = lambda: batch.lens.max()
        return longest() * scale

    def host():
        return total(Batch(torch.zeros(3)), 2)

    def main(batch: Batch):
        batch.extra = torch.zeros(3, device="cuda")
        return total(Batch(torch.zeros(3, device="cuda")), batch.extra)
"""


def solved(text: str) -> tuple[Solver, dict[str, Function]]:
    text = textwrap.dedent(text)
    module = index_module("a", "a.py", ast.parse(text), Lines(text), is_package=False)
    solver = Solver([module], load_table(), Conventions())
    solver.solve(lambda *_: None)
    return solver, {function.qualname: function for function in solver.functions()}


def test_each_writer_has_its_contribution_and_the_value_is_their_join() -> None:
    solver, functions = solved(PROGRAM)
    lens = functions["Batch.__init__"].by_name["lens"]
    cell = solver.known.parameters[lens]
    assert {writer.name: value.device for writer, value in cell.told().items()} == {
        "host": Device.CPU,
        "main": Device.CUDA,
    }
    assert cell.value == join(*cell.told().values())
    assert cell.value.device is Device.MIXED
    assert cell.readers == [functions["Batch.__init__"]]


def test_a_cell_tells_whether_more_is_known() -> None:
    _, functions = solved(PROGRAM)
    first, second = functions["host"], functions["main"]
    cell: Cell[Value] = Cell(UNKNOWN, "returns", None)
    on_gpu, on_host = (Value(Kind.TENSOR, device) for device in (Device.CUDA, Device.CPU))
    assert cell.contribute(0, first, on_gpu, Shared())
    assert not cell.contribute(0, second, on_gpu, Shared())  # noted all the same: the first may be taken back
    assert cell.told() == {first: on_gpu, second: on_gpu}
    assert cell.contribute(1, second, join(on_gpu, on_host), Shared())
    assert cell.told()[second].device is cell.value.device is Device.MIXED


def test_a_cell_remembers_what_was_known_at_each_moment_and_takes_back_what_was_told() -> None:
    _, functions = solved(PROGRAM)
    first, second = functions["host"], functions["main"]
    assert first.order < second.order
    cell: Cell[Value] = Cell(UNKNOWN, "returns", None)
    on_gpu, on_host = (Value(Kind.TENSOR, device) for device in (Device.CUDA, Device.CPU))
    cell.contribute(0, second, on_gpu, Shared())
    cell.contribute(1, first, on_host, Shared())
    told, later = moment(0, second), moment(1, first)
    assert [cell.before(when).device for when in (told, told + 1, later + 1)] == [
        Device.UNKNOWN,
        Device.CUDA,
        Device.MIXED,
    ]
    assert [cell.next_change(when) for when in (told, told + 1, later + 1)] == [told, later, None]
    cell.withdraw(told)
    assert cell.fold(later) == (on_host, True)
    assert cell.note(later, on_host, is_news=True) is None
    assert cell.value is on_host


def test_a_cell_says_what_a_writer_told_last_however_many_told_something() -> None:
    defined = "".join(f"def f{n}(): pass\n" for n in range(40))
    _, functions = solved(defined)
    writers = [functions[f"f{n}"] for n in range(40)]
    cell: Cell[frozenset[str]] = Cell(frozenset(), "placing", None)
    for turn, writer in enumerate(writers):
        cell.contribute(turn, writer, frozenset({writer.name}), Shared())
        assert [cell.told_by(each) for each in writers[: turn + 1]] == [{f"f{n}"} for n in range(turn + 1)]
        assert all(cell.told_by(each) is None for each in writers[turn + 1 :])
    cell.contribute(40, writers[0], frozenset({"f0", "more"}), Shared())
    assert cell.told_by(writers[0]) == {"f0", "more"}
    cell.withdraw(moment(40, writers[0]))
    assert cell.told_by(writers[0]) == {"f0"}
    cell.insert(50, writers[1], frozenset({"later"}))
    assert cell.told_by(writers[1]) == {"later"}


def test_a_function_is_a_reader_of_what_it_has_read_once() -> None:
    solver, _ = solved(PROGRAM)
    assert any(len(trail) > 1 for trail in solver.timeline.trails.values())
    for function, trail in solver.timeline.trails.items():
        for cell in {cell for evaluation in trail for cell in evaluation.reads}:
            assert cell.readers.count(function) == 1


def test_what_is_known_is_a_fixed_point_of_every_evaluation() -> None:
    solver, functions = solved(PROGRAM)
    assert "total.<lambda>" in functions
    for function in functions.values():
        frame = Frame(solver.context, function)
        evaluate(frame)
        assert frame.outcome.contributions == {}, function.qualname
        assert all(function in cell.readers for cell in frame.outcome.reads), function.qualname


def test_an_evaluation_changes_nothing_by_itself() -> None:
    text = textwrap.dedent(PROGRAM)
    module = index_module("a", "a.py", ast.parse(text), Lines(text), is_package=False)
    solver = Solver([module], load_table(), Conventions())
    (main,) = (function for function in module.functions if function.name == "main")
    outcomes = []
    for _ in range(2):
        frame = Frame(solver.context, main)
        evaluate(frame)
        outcomes.append(frame.outcome)
    first, second = outcomes
    assert first.contributions
    assert first.contributions == second.contributions
    assert list(first.reads) == list(second.reads)
    assert all(not cell.history and not cell.readers for cell in first.contributions)


def test_what_is_recorded_of_a_function_goes_without_the_collector() -> None:
    solver, functions = solved(PROGRAM)
    gc.collect()
    gc.disable()  # as while a project is checked
    try:
        before = recorded()
        statements = solver.statements(functions["main"])
        assert recorded() == before + 2
        del statements
        assert recorded() == before
    finally:
        gc.enable()


def recorded() -> int:
    return sum(type(each) is Candidate for each in gc.get_objects())  # no object is asked what it is


def test_it_is_known_who_has_asked_however_many_have() -> None:
    _, functions = solved("".join(f"def f{n}(): pass\n" for n in range(40)))
    known, others = Knowledge(), [functions[f"f{n}"] for n in range(40)]
    for asker in [*others, *others]:
        known.asks(asker, ("module", "name"))
        known.asks(others[0], ("module", "other"))
    askers = known.all_asked()["module", "name"]
    assert sorted(each.name for each in askers) == sorted(each.name for each in others)
    assert [*known.all_asked()["module", "other"]] == [others[0]]
