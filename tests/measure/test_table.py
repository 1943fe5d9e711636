"""The table that comes with syncscan: whole, canonical, documented; and the commands that show and write it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from syncscan.errors import SyncscanError
from syncscan.measure.derive import says
from syncscan.measure.handwritten import sheets
from syncscan.measure.page import operations_page
from syncscan.measure.write import write_table
from syncscan.ops import Effect, load_table, parse_condition, parse_table

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "rules" / "ops.toml").read_text(encoding="utf-8")
TABLE = load_table()


@pytest.fixture
def run(syncscan):
    """Runs `syncscan ops`."""
    return lambda *arguments: syncscan("ops", *arguments)


def test_hundreds_of_operations_are_measured():
    assert sum(entry.measured for entry in TABLE.operations.values()) >= 900
    assert TABLE.measured_on.keys() == {"gpu", "torch", "date"}


def test_the_table_is_written_as_the_writer_writes_it():
    assert write_table(TABLE.operations, TABLE.measured_on) == TEXT


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("torch.concat", "torch.cat"),
        ("torch.Tensor.clip", "torch.clamp"),
        ("torch.Tensor.clip_", "torch.clamp"),
        ("torch.special.expit", "torch.sigmoid"),
        ("torch.conv2d", "torch.nn.functional.conv2d"),
        ("torch.cuda.memory.empty_cache", "torch.cuda.empty_cache"),
        ("torch.maximum", "torch.maximum"),
    ],
)
def test_an_operation_answers_to_its_other_names(name, operation):
    assert TABLE.find(name).name == operation


def test_no_other_name_hides_an_entry():
    names = [alias for entry in TABLE.operations.values() for alias in entry.aliases]
    assert len({*names}) == len(names)
    assert TABLE.operations.keys().isdisjoint(names)


def test_the_page_is_not_stale():
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert page == operations_page(TABLE), "run `python docs/generate.py`"


def test_every_belief_has_its_verdict_on_the_page():
    page = operations_page(TABLE)
    believed = [name for name, sheet in sheets().items() if sheet.belief and name in TABLE.operations]
    assert len(believed) > 20
    assert all(f"| `{name}` | {sheets()[name].belief} |" in page for name in believed)


@pytest.mark.parametrize(
    ("name", "waits"),
    [
        ("torch.Tensor.item", "input is gpu"),
        ("torch.repeat_interleave", "repeats is gpu"),
        ("torch.linalg.inv", "A is gpu"),
        ("torch.Tensor.__setitem__", "input is gpu and index is gpu index and value is number"),
        ("torch.Tensor.cuda", "input is pageable and input > 2097152 bytes"),
        ("torch.optim.ASGD.step", ""),
        ("torch.cuda.synchronize", ""),
        ("torch.distributed.barrier", ""),
    ],
)
def test_what_waits(name, waits):
    assert parse_condition(waits) in [case.when for case in TABLE.operations[name].blocks]


@pytest.mark.parametrize(
    "name",
    [
        "torch.nonzero_static",
        "torch.masked_scatter",
        "torch.linalg.det",
        "torch.Tensor.__iter__",
        "torch.Tensor.__len__",
        "torch.Tensor.pin_memory",
        "torch.optim.Adam.step",
        "torch.cuda.Stream.wait_stream",
        "torch.distributed.all_reduce",
        "copy.deepcopy",
        "logging.debug",
    ],
)
def test_what_does_not_wait(name):
    entry = TABLE.operations[name]
    assert entry.measured
    assert all(case.effect is Effect.SCALAR and case.when for case in entry.blocks)


EARLIER = json.loads(Path(__file__).with_name("earlier_h200.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("call", EARLIER, ids=lambda call: call["case"])
def test_the_table_agrees_with_an_earlier_measurement(call):
    """175 of 177 calls; the page explains `torch.equal(x, x)`, and one call did nothing."""
    assert says(TABLE.operations[call["op"]].blocks, call) == call["waited"]


def test_parameters_that_want_a_number_are_cases_too():
    entry = parse_table('["torch.f"]\nargs = ["x", "k"]\nreads = ["k"]\n').operations["torch.f"]
    assert [(case.effect, case.when) for case in entry.blocks] == [
        (Effect.SCALAR, parse_condition("k is gpu"))
    ]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('blocks = [{ as = "upload", when = "input is purple" }]', "blocks: when: unknown kind 'purple'"),
        (
            'blocks = [{ as = "upload", when = "mask is gpu" }]',
            "a condition names 'mask', which is not in args",
        ),
        ('reads = ["k"]', "a condition names 'k', which is not in args"),
        ('sometimes = [{ as = "perhaps" }]', "sometimes: as: 'perhaps' is no way to block"),
        ("blocked = true", "unknown key 'blocked'"),
    ],
)
def test_a_table_that_is_wrong_names_the_entry(entry, message):
    with pytest.raises(SyncscanError, match=re.escape(f"ops.toml: [torch.f]: {message}")):
        parse_table(f'["torch.f"]\n{entry}\n')


def test_show_prints_the_entry_and_where_it_was_measured(run):
    shown = run("show", "torch.Tensor.nonzero")
    assert shown.status == 0
    assert '["torch.nonzero"]' in shown.stdout
    assert "# measured on NVIDIA H200, 2.11.0+cu130, " in shown.stdout


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        (
            "torch.repeat_interleve",
            ": `check` assumes that the operation does not block, and that its result lives with its operands; did you mean 'torch.repeat_interleave'?",
        ),
        ("torch.cuda.syncronize", "; did you mean 'torch.cuda.synchronize'?"),
        ("repeat_interleave", "; did you mean 'torch.repeat_interleave'?"),
        ("tolist", "; did you mean 'torch.Tensor.tolist'?"),
        ("item", "; did you mean 'torch.Tensor.item'?"),
        ("one_hot", "; did you mean 'torch.nn.functional.one_hot'?"),
        ("where", "; did you mean 'torch.where'?"),
        ("numpy.wherre", "; did you mean 'numpy.where'?"),
        (
            "torch.bogus",
            ": `check` assumes that the operation does not block, and that its result lives with its operands; write a whole name such as torch.nonzero",
        ),
        ("os.path.join", "; write a whole name such as torch.nonzero"),
        ("", "; write a whole name such as torch.nonzero"),
    ],
)
def test_show_says_what_an_unknown_operation_is_taken_for(name, rest, run):
    shown = run("show", name)
    assert (shown.status, shown.stdout) == (2, "")
    assert shown.stderr == f"syncscan: {name!r} is not in the table{rest}\n"


@pytest.mark.parametrize("command", ["measure", "verify"])
def test_measuring_without_a_gpu_is_one_line(command, run):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    failed = run(command)
    assert failed.status == 2
    assert failed.stderr.startswith("syncscan: measuring needs an NVIDIA GPU")
    assert failed.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--from", "FOLDER"], "Invalid value for '--from': File 'FOLDER' is a directory"),
        (["-o", ""], "Invalid value for '-o': it is empty"),
        (["--raw", ""], "Invalid value for '--raw': it is empty"),
    ],
)
def test_a_path_that_cannot_be_meant_is_one_line(tmp_path, options, message, run):
    failed = run("measure", *(option.replace("FOLDER", str(tmp_path)) for option in options))
    assert (failed.status, failed.stdout, failed.stderr.count("\n")) == (2, "", 1)
    assert failed.stderr.startswith(f"syncscan: {message.replace('FOLDER', str(tmp_path))}")


def test_a_table_is_written_from_kept_measurements(tmp_path, run):
    kept = tmp_path / "raw.jsonl"
    call = {
        "op": "torch.made_up",
        "code": "f(x)",
        "names": ["input"],
        "waited": False,
        "calls": {},
        "aten": {},
    }
    call |= {"args": {}, "result": {"is": "number", "value": "1"}, "shares": False, "dynamic": False}
    lines = [
        {"gpu": "G", "torch": "2", "date": "d"},
        {"unit": "cases x", "records": [call], "left out": None},
    ]
    kept.write_text("\n".join(map(json.dumps, lines)))
    unfinished = run("measure", "-o", str(tmp_path / "ops.toml"), "--from", str(kept))
    assert unfinished.status == 2
    assert "cut short" in unfinished.stderr
    assert not (tmp_path / "ops.toml").exists()
    with kept.open("a") as stream:
        stream.write('\n{"complete": true}\n')
    written = run("measure", "-o", str(tmp_path / "ops.toml"), "--from", str(kept))
    assert written.status == 0, written.stderr
    assert parse_table((tmp_path / "ops.toml").read_text()).operations["torch.made_up"].result == "number"
