"""Measuring in child processes: what it records, survives and resumes. No GPU: see cpu_child.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from syncscan.errors import SyncscanError
from syncscan.measure.campaign import Log, all_units, measure_all, read_log, units_of

CHILD = Path(__file__).with_name("cpu_child.py")
ROOT = CHILD.parent.parent.parent
HEADER = {"gpu": "none", "torch": "2", "date": "today"}


@pytest.fixture
def command(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return lambda: [sys.executable, str(CHILD)]


def records_of(log: Log, unit: str) -> dict[str, dict]:
    return {record["code"]: record for record in log.finished[unit]["records"]}


@pytest.mark.long
def test_each_case_and_each_sample_gives_a_record(tmp_path, command):
    log = Log(tmp_path / "log", HEADER)
    units = ["cases torch.Tensor.__setitem__", "cases math.sqrt", "op_db repeat_interleave"]
    measure_all(log, units, command, workers=1)
    reads = records_of(log, "cases math.sqrt")
    assert [reads[code]["waited"] for code in ("math.sqrt(s)", "math.sqrt(2.0)")] == [True, False]
    store = records_of(log, "cases torch.Tensor.__setitem__")["x[index] = 0.0"]
    assert [store["args"][name]["is"] for name in ("input", "index", "value", "place")] == [
        "tensor",
        "tensor",
        "number",
        "tensor",
    ]
    samples = records_of(log, "op_db repeat_interleave")
    assert any("on the host" in code for code in samples)
    assert any("output_size" in record["args"] for record in samples.values())
    assert {record["op"] for record in samples.values()} == {"torch.repeat_interleave"}


def test_a_case_that_ends_the_process_is_noted_and_the_others_are_measured(tmp_path, command, monkeypatch):
    monkeypatch.setenv("CHILD_DIES_AT", "3")
    log = Log(tmp_path / "log", HEADER)
    measure_all(log, ["cases torch.Tensor.item"], command, workers=1)
    found = log.finished["cases torch.Tensor.item"]["records"]
    assert [record.get("error") for record in found] == [None, None, "the process ended with status 9", None]


def test_a_finished_unit_is_not_measured_again(tmp_path):
    path = tmp_path / "log"
    Log(path, HEADER).add({"unit": "cases math.sqrt", "records": [], "left out": None})
    with path.open("a") as stream:
        stream.write('{"unit": "cases mat')  # killed here
    log = Log(path, HEADER)
    measure_all(log, ["cases math.sqrt"], lambda: ["/nonexistent"])
    assert list(log.finished) == ["cases math.sqrt"]


@pytest.mark.parametrize("change", [{"torch": "3"}, {"gpu": "other"}])
def test_measurements_of_another_machine_are_not_resumed(tmp_path, change):
    Log(tmp_path / "log", HEADER).add({"unit": "cases math.sqrt", "records": [], "left out": None})
    assert Log(tmp_path / "log", HEADER | change).finished == {}


def test_a_complete_run_starts_over(tmp_path):
    log = Log(tmp_path / "log", HEADER)
    log.add({"unit": "cases math.sqrt", "records": [], "left out": None})
    log.close()
    assert Log(tmp_path / "log", HEADER).finished == {}


def test_a_child_that_cannot_start_is_one_error(tmp_path):
    log = Log(tmp_path / "log", HEADER)
    with pytest.raises(SyncscanError, match="measuring cannot start: the process ended with status 1"):
        measure_all(log, ["cases math.sqrt"], lambda: [sys.executable, "-c", "raise SystemExit(1)"])


def test_a_file_that_holds_no_measurements_is_refused(tmp_path):
    (tmp_path / "log").write_text(json.dumps({"a": 1}))
    with pytest.raises(SyncscanError, match="holds no measurements"):
        read_log(tmp_path / "log")


@pytest.mark.filterwarnings("ignore:The 'generic' unit for NumPy timedelta:DeprecationWarning")  # torch 2.11
def test_the_units_are_the_sheets_and_op_db():
    units = all_units()
    assert len(units) == len(set(units)) > 1000
    assert units[0] == "cases distributed"
    assert not any("jiterator" in unit for unit in units)


def test_the_units_of_some_operations_are_their_lines_and_their_samples():
    assert units_of(["torch.Tensor.copy_", "torch.abs"]) == [
        "cases torch.Tensor.copy_",
        "cases torch.abs",
        "op_db abs",
    ]
    with pytest.raises(SyncscanError, match=r"nothing measures 'torch\.Tensor\.copi_'.*torch\.Tensor\.copy_"):
        units_of(["torch.Tensor.copi_"])
