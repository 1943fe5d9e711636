"""Records become conditions: the simplest that agree with every call, the same each time."""

from __future__ import annotations

import pytest

from syncscan.errors import SyncscanError
from syncscan.measure.derive import derive, replace_measured
from syncscan.measure.write import condition_text
from syncscan.ops import OperationTable, parse_table

NONE = OperationTable({}, {})


def tensor(on="gpu", dtype="float32", shape=(8,), **more):
    return {"is": "tensor", "on": on, "dtype": dtype, "shape": list(shape), "bytes": 32, **more}


def number(value):
    return {"is": "number", "value": repr(value)}


def record(waited, *, result=None, calls=None, aten=None, dynamic=False, names=None, **args):
    return {
        "op": "torch.made_up",
        "code": "made up",
        "args": args,
        "names": names or list(args),
        "waited": waited,
        "calls": calls or {},
        "aten": aten or {},
        "dynamic": dynamic,
        "result": result or tensor(),
        "shares": False,
    }


def derived(*records, known=NONE):
    return derive(records, known)["torch.made_up"]


def texts(cases):
    return [(case.effect.value, condition_text(case.when), condition_text(case.unless)) for case in cases]


def test_an_argument_that_is_given_decides():
    calls = {"copy to host": 1, "cudaStreamSynchronize": 1}
    entry = derived(
        record(True, calls=calls, dynamic=True, input=tensor(), repeats=tensor(dtype="int64")),
        record(False, input=tensor(), repeats=number(2)),
        record(False, input=tensor(), repeats=tensor(dtype="int64"), output_size=number(8)),
        record(False, input=tensor("cpu"), repeats=tensor("cpu", "int64")),
    )
    assert texts(entry.blocks) in (
        [("shape depends on data", "repeats is gpu and output_size not given", "")],
        [("shape depends on data", "repeats is gpu", "output_size is number")],
    )
    assert entry.args == ("input", "repeats", "output_size")


def test_a_result_without_dimensions_has_no_size_that_data_decides():
    calls = {"copy to host": 2, "copy to gpu": 2, "cudaStreamSynchronize": 4}
    loss = record(True, calls=calls, dynamic=True, result=tensor(shape=()), lengths=tensor(dtype="int64"))
    assert texts(derived(loss).blocks) == [("upload", "lengths is gpu", "")]


def test_a_gpu_scalar_where_others_give_a_number_is_a_read():
    entry = derived(
        record(False, input=tensor(), alpha=number(1)),
        record(True, calls={"copy to host": 1}, input=tensor(), alpha=tensor(shape=())),
    )
    assert texts(entry.blocks) == [("reads a scalar", "alpha is gpu", "")]


def test_what_touches_no_gpu_cannot_wait():
    entry = derived(record(True, input=tensor(), calls={"copy to host": 1}, result=number(1)))
    assert texts(entry.blocks) == [("reads a scalar", "input is gpu", "")]


def test_pageable_memory_waits_above_a_size_only_where_lines_show_it():
    def upload(waited, size, *, pinned=False):
        host = tensor("cpu", bytes=size, **({"pinned": True} if pinned else {}))
        return record(waited, input=host, names=["input"]) | {"op": "torch.Tensor.cuda"}

    records = [
        upload(False, 64),
        upload(False, 2**21),
        upload(True, 2**21 + 4),
        upload(False, 2**22, pinned=True),
    ]
    (case,) = derive(records, NONE)["torch.Tensor.cuda"].blocks
    assert condition_text(case.when) == "input is pageable and input > 2097152 bytes"


def test_calls_that_nothing_tells_apart_wait_sometimes():
    same = {"input": tensor(), "ord": number(2)}
    entry = derived(record(True, **same), record(False, **same))
    assert entry.blocks == ()
    assert [condition_text(case.when) for case in entry.sometimes] == ["input is gpu"]


KNOWN = parse_table("""
["torch.made_up"]
args = ["input", "mask"]
blocks = [{ as = "shape depends on data", when = "mask is gpu" }, { as = "upload", when = "input is cpu" }]
result = "gpu"
""")


def test_a_condition_of_the_table_stays_where_calls_confirm_it():
    entry = derived(record(True, input=tensor(), mask=tensor()), record(False, input=tensor()), known=KNOWN)
    assert texts(entry.blocks) == [("shape depends on data", "mask is gpu", "")]
    assert entry.result == "gpu"


def test_a_condition_that_a_call_contradicts_is_replaced():
    entry = derived(
        record(False, input=tensor(), mask=tensor()),
        record(True, input=tensor(), mask=tensor(dtype="bool")),
        known=KNOWN,
    )
    assert [condition_text(case.when) for case in entry.blocks] == ["mask is gpu mask"]


def test_the_same_records_confirm_the_table_that_they_gave():
    records = [
        record(True, input=tensor(), n=number(1)),
        record(False, input=tensor(dtype="bool"), n=number(1)),
        record(True, input=tensor(dtype="bool"), n=tensor(shape=())),
        record(False, input=tensor("cpu"), n=number(1)),
    ]
    first = derive(records, NONE)
    assert derive(records, OperationTable({}, first)) == first


@pytest.mark.parametrize(
    ("records", "result", "dtype", "count"),
    [
        (
            [record(False, input=tensor()), record(False, result=tensor("cpu"), input=tensor("cpu"))],
            "input",
            "",
            1,
        ),
        ([record(False, result=tensor(dtype="bool"), input=tensor())], "input", "bool", 1),
        ([record(False, result=number(3), input=tensor())], "number", "", 1),
        ([record(True, result=tensor("cpu"), input=tensor())], "cpu", "", 1),
        (
            [
                record(False, device={"is": "string", "value": "cuda"}, size=number(3)),
                record(False, result=tensor("cpu"), size=number(3)),
            ],
            "device",
            "float",
            1,
        ),
        (
            [
                record(
                    False,
                    result={"is": "sequence", "length": 2, "items": [tensor(), tensor()]},
                    input=tensor(),
                )
            ],
            "input",
            "",
            2,
        ),
    ],
    ids=["with the operands", "a mask", "a number", "on the host", "a factory", "a pair"],
)
def test_where_the_result_lives(records, result, dtype, count):
    entry = derived(*records)
    assert (entry.result, entry.dtype, entry.count) == (result, dtype, count)


def test_a_condition_may_need_four_terms():
    """Each of the four operands has to be on the GPU, or the call does not wait."""
    names = ["a", "b", "c", "d"]
    records = [record(True, calls={"copy to host": 1}, **{name: tensor() for name in names})]
    for host in names:
        operands = {name: tensor("cpu" if name == host else "gpu") for name in names}
        records.append(record(False, **operands))
    (case,) = derived(*records).blocks
    assert condition_text(case.when) == "a is gpu and b is gpu and c is gpu and d is gpu"


def test_of_conditions_that_explain_as_much_the_same_is_taken_in_any_order():
    waiting = record(True, calls={"copy to host": 1}, b=tensor(), a=tensor())
    going_on = record(False, b=tensor("cpu"), a=tensor("cpu"))
    for records in ([waiting, going_on], [going_on, waiting]):
        assert texts(derived(*records).blocks) == [("error check", "a is gpu", "")]


@pytest.mark.parametrize(
    ("waits", "others", "said"),
    [
        ([tensor(dtype="bool")], [tensor()], "mask is gpu mask"),
        ([tensor("cpu", "bool")], [tensor()], "input is gpu and mask is cpu"),
        ([tensor(shape=())], [tensor()], "mask is gpu scalar"),
        ([number(2.5)], [tensor()], "input is gpu and mask is host data"),
    ],
    ids=["a mask", "a place", "a scalar", "a number"],
)
def test_what_says_where_an_operand_is_wins_over_what_it_looks_like(waits, others, said):
    records = [record(True, calls={"copy to host": 1}, input=tensor(), mask=each) for each in waits]
    entry = derived(*records, *(record(False, input=tensor(), mask=each) for each in others))
    assert [text for _, text, _ in texts(entry.blocks)] == [said]


@pytest.mark.parametrize(
    ("waits", "others", "said"),
    [
        (tensor("cpu", "bfloat16", pinned=True), tensor("cpu"), "input is pinned"),
        (tensor("cpu", "bfloat16"), tensor("cpu", pinned=True), "input is pageable"),
        (tensor("cpu", "bfloat16"), tensor(), "input is cpu"),
        (tensor(dtype="bfloat16", shape=()), tensor(), "input is gpu scalar"),
    ],
    ids=["pinned", "pageable", "the host", "a scalar"],
)
def test_where_memory_lies_explains_before_what_is_in_it(waits, others, said):
    entry = derived(record(True, calls={"copy to host": 1}, input=waits), record(False, input=others))
    assert [text for _, text, _ in texts(entry.blocks)] == [said]


def test_the_device_explains_before_a_switch():
    def moved(waited, device, flag):
        switch = {"is": "bool", "value": flag}
        return record(
            waited,
            calls={"copy to host": 1},
            input=tensor(),
            device={"is": "device", "value": device},
            flag=switch,
        )

    entry = derived(moved(True, "cpu", "True"), moved(False, "cuda:0", "False"))
    assert [text for _, text, _ in texts(entry.blocks)] == ["input is gpu and device is cpu device"]


def test_of_two_sizes_that_explain_as_much_the_larger_is_taken():
    def upload(waited, size, **more):
        host = tensor("cpu", bytes=size, **more)
        return record(waited, input=host, names=["input"]) | {"op": "torch.Tensor.cuda"}

    records = [upload(False, 64), upload(False, 1024, pinned=True), upload(True, 2**20), upload(True, 2**21)]
    (case,) = derive(records, NONE)["torch.Tensor.cuda"].blocks
    assert condition_text(case.when) == "input is pageable and input > 1024 bytes"


def test_where_some_operations_are_measured_the_others_stay_on_the_same_machine_only():
    here = {"gpu": "a GPU", "torch": "2"}
    known = OperationTable(here, parse_table('["torch.other"]\n\n["torch.made_up"]').operations)
    waits = [record(True, input=tensor()), record(False, input=tensor("cpu"))]
    found = replace_measured(waits, known, ["torch.made_up"], here)
    assert found["torch.other"] == known.operations["torch.other"]
    assert texts(found["torch.made_up"].blocks) == [("error check", "input is gpu", "")]
    with pytest.raises(SyncscanError, match="measure every operation"):
        replace_measured(waits, known, ["torch.made_up"], here | {"torch": "3"})


def test_what_held_sometimes_holds_always_once_a_kind_tells_it():
    known = parse_table('["torch.made_up"]\nsometimes = [{ as = "error check", when = "input is gpu" }]')
    aten = {"aten.linalg_lu_factor_ex.default": 1}
    entry = derived(
        record(True, aten=aten, input=tensor(shape=(4, 3))),
        record(False, aten=aten, input=tensor(shape=(4, 4))),
        known=known,
    )
    assert texts(entry.blocks) == [("error check", "input is gpu", "input is square")]
    assert not entry.sometimes


def test_only_linear_algebra_asks_whether_a_matrix_is_square():
    calls = [
        record(True, aten={"aten.mode.default": 1}, input=tensor(shape=(4, 3))),
        record(False, aten={"aten.mode.default": 1}, input=tensor(shape=(4, 4))),
    ]
    entry = derived(*calls)
    assert not entry.blocks
    assert [text for _, text, _ in texts(entry.sometimes)] == ["input is gpu"]


def test_a_condition_that_others_explain_is_left_out():
    entry = derived(
        record(True, input=tensor(dtype="bool")),
        record(True, input=tensor()),
        record(False, input=tensor(layout="sparse_coo")),
        record(False, input=tensor(layout="sparse_csr", dtype="bool")),
        record(False, input=tensor("cpu")),
    )
    assert texts(entry.blocks) == [("error check", "input is gpu", "input is sparse")]
