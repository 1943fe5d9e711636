"""The kinds of the operation table mean the same to all that ask for them: analysis, campaign and simulation."""

from __future__ import annotations

import ast

import numpy as np
import pytest
import torch

from syncscan import simulated_cuda
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.transfer.conditions import Bound, blocking_case
from syncscan.measure.describe import describe, kinds_of
from syncscan.measure.learn import MeasuredCall, learn
from syncscan.model import Conventions, Value
from syncscan.ops import Case, Effect, Operation, Term, load_table, parse_table
from syncscan.ops.kinds import KINDS, alternatives
from syncscan.simulate.export import plain_table
from syncscan.simulate.inside import kinds as simulated
from syncscan.simulate.inside.conditions import Table
from syncscan.trace.classify import classify

VALUES = [
    *(
        f'torch.zeros({shape}, dtype=torch.{dtype}, device="{device}")'
        for device in ("cuda", "cpu")
        for dtype in ("bool", "uint8", "int64", "float32", "bfloat16")
        for shape in ("()", "3", "(3, 2)")
    ),
    'torch.zeros((3, 2), device="cuda").T',
    "torch.zeros((4, 3))[::2]",
    "torch.zeros((2, 3, 3))",
    *(
        f"torch.eye(4).to_sparse{form}"
        for form in ("()", "(1)", "_csr()", "_csc()", "_bsr((2, 2))", "_bsc((2, 2))")
    ),
    "torch.sparse_coo_tensor(torch.zeros((2, 2), dtype=torch.int64), torch.ones(2), (3, 3))",
    "torch.zeros((3, 2)).T",
    "torch.zeros(3, pin_memory=True)",
    "torch.zeros((), pin_memory=True)",
    *("3", "0", "2.5", "True", "False", "np.int64(3)", "2", "-2", "2.0", "np.int64(2)"),
    *("[]", "[1, 2]", "(1, 2)", "[True, False]", "np.zeros(3)", "np.zeros(3, dtype=np.bool_)"),
    *('[1, torch.zeros((), device="cuda")]', '(torch.zeros(3, device="cuda"),)', "[torch.zeros(3)]"),
    '[torch.zeros(3, dtype=torch.bool, device="cuda")]',
    '(torch.zeros(3, dtype=torch.int64, device="cuda"),)',
    "(torch.zeros(3, dtype=torch.int64), torch.zeros(3, dtype=torch.uint8))",
    *("slice(0, 2)", 'slice(torch.zeros((), device="cuda"))', "slice(torch.zeros(()), None)"),
    *('"nuc"', '"cuda"', '"cuda:1"', '"cpu"', '"meta"', 'torch.device("cuda")', 'torch.device("cpu")'),
    *("torch.nn.Linear(2, 2)", 'torch.nn.Linear(2, 2, device="cuda")', "torch.nn.ReLU()"),
    "None",
]


def inferred(expression: str) -> Value:
    """What the static analysis knows of an expression."""
    text = f"import numpy as np\nimport torch\n\nvalue = {expression}\n"
    module = index_module("m", "m.py", ast.parse(text), Lines(text), is_package=False)
    solver = Solver([module], load_table(), Conventions())
    solver.solve(lambda *_: None)
    return solver.known.globals[module, "value"].value


def verdict(kind: str, value: Value) -> bool | None:
    """Whether an inferred value is of a kind; None where that is not known."""

    def holds(*, negated: bool) -> bool:
        operation = Operation("f", ("x",), (Case(Effect.ALWAYS, (Term("x", "is", kind, negated),)),))
        return blocking_case(Bound.of(operation, [value], {})) is not None

    return True if holds(negated=False) else False if holds(negated=True) else None


OF_LAYOUT = {
    kind for kind, said in KINDS.items() if any(fact in said for fact in ("layout", "coalesced", "hybrid"))
}


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("expression", VALUES)
def test_every_evaluator_of_the_kinds_says_the_same(expression: str) -> None:
    value = inferred(expression)
    with simulated_cuda():
        real = eval(expression, {"np": np, "torch": torch})
        measured = kinds_of(describe(real))
        of_simulation = {kind for kind in KINDS if simulated.test_of(alternatives(kind))(real)}
    is_plain_number = isinstance(real, (int, float, np.generic)) and not isinstance(real, bool)
    unasked = {"true", "false", "gpu device"} if is_plain_number else set()  # by the campaign, of any number
    assert measured == of_simulation - unasked
    taken_for_dense = OF_LAYOUT if "sparse" in expression else set()  # the analysis knows no layouts
    found = {kind: verdict(kind, value) for kind in KINDS.keys() - taken_for_dense}
    assert {kind for kind, known in found.items() if known} <= of_simulation
    assert not {kind for kind, known in found.items() if known is False} & of_simulation


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_every_kind_holds_for_some_value_and_not_for_another() -> None:
    """So that a kind which one of the three does not know fails the test above."""
    with simulated_cuda():
        of_each = [kinds_of(describe(eval(value, {"np": np, "torch": torch}))) for value in VALUES]
    assert frozenset().union(*of_each) == KINDS.keys()
    assert frozenset.intersection(*of_each) == frozenset()


TENSORS = [
    f'torch.zeros({shape}, device="{place}")' for shape in ("()", "3", "(3, 2)") for place in ("cuda", "cpu")
]


def test_a_kind_that_is_said_in_one_place_works_in_the_check_the_simulation_and_the_campaign(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(KINDS, "gpu vector", "on gpu, dims 1")
    table = parse_table('[f]\nargs = ["x"]\nblocks = [{as = "explicit wait", when = "x is gpu vector"}]')
    checked = {v: blocking_case(Bound.of(table.operations["f"], [inferred(v)], {})) for v in TENSORS}
    assert [value for value, case in checked.items() if case] == ['torch.zeros(3, device="cuda")']
    simulation = Table(plain_table(table)).operations["f"]
    with simulated_cuda():
        real = {value: eval(value, {"torch": torch}) for value in TENSORS}
        waits = {v: simulation.may_block((x,), {}) and simulation.effect({"x": x}) for v, x in real.items()}
        measured = [MeasuredCall({"x": describe(x)}, waited=bool(waits[v])) for v, x in real.items()]
    assert {value: bool(case) for value, case in checked.items()} == {v: bool(w) for v, w in waits.items()}
    assert [found.when for found in learn(measured, ["x"])] == [(Term("x", "is", "gpu vector"),)]


def test_what_a_wait_at_run_time_was_about_is_told_by_a_kind_that_is_said_in_one_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(KINDS, "host vector", "on host, dims 1 | is list, holds host")
    blocks = [{"as": "upload", "when": "data is host vector"}]
    table = load_table().with_own({"torch.as_tensor": {"args": ["data"], "blocks": blocks}})

    def code(text: str) -> str | None:
        return classify(f"import torch\n{text}\n", 2, None, None, None, "cudaStreamSynchronize:in", table)

    assert code('torch.as_tensor([1, 2], device="cuda")') is not None
    assert code('torch.as_tensor(3, device="cuda")') is None
