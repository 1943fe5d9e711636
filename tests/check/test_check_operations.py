"""Operations that a project declares itself: `[tool.syncscan.operations]`."""

from __future__ import annotations

import json
import sys
from importlib.resources import files

import jsonschema
import pytest

from syncscan.report.schema import settings_schema

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DECLARED = """\
[tool.syncscan.operations."torch.ops._C.topk_rows"]
args = ["scores", "k"]
blocks = [{ as = "shape depends on data", when = "scores is gpu" }]
dtype = "int"

[tool.syncscan.operations]
"torch.ops._C.finish" = { args = [], blocks = [{ as = "explicit wait" }] }
"pkg._C.counts" = { result = "cpu", blocks = [{ as = "download", when = "input is gpu" }] }
"pkg.kernels.scale" = { args = ["x", "n"], reads = ["n"], result = "arg x" }
"extension.table" = { args = ["data"], result = "gpu", blocks = [{ as = "upload", when = "data is host data" }] }
"extension.check" = { blocks = [{ as = "error check", when = "input is gpu" }] }
"torch.ops._C.seen_by_gpu" = { result = "mapped" }
"extension.drain" = { args = [], result = "none", blocks = [{ as = "always" }] }
"extension.gather" = { result = "gpu" }
"""
PROGRAM = """\
import extension
import torch

from . import _C
from .kernels import scale

scores = torch.zeros(8, device="cuda")
rows = torch.ops._C.topk_rows(scores, 3)  # SYN206
more = torch.ops._C.topk_rows.default(scores, 3)  # SYN206
first = rows.cpu()  # SYN105
torch.ops._C.finish()  # SYN401
host = _C.counts(scores)  # SYN105
print(host)
scaled = scale(scores, scores[0])  # SYN106
large = scaled.max().item()  # SYN101
made = extension.table([1, 2])  # SYN302
extension.check(made)  # SYN502
extension.drain()  # SYN401
torch.ops._C.seen_by_gpu(torch.ones(1).pin_memory()).item()  # SYN101
torch.ops._C.unknown(scores).item()
extension.gather(extension.handle()).item()  # SYN101
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/kernels.py": "def scale(x, n):\n    return launch[n](x)\n",
    "pkg/a.py": PROGRAM,
}


def expected() -> set[tuple[int, str]]:
    lines = enumerate(PROGRAM.splitlines(), 1)
    return {(number, line.partition("# ")[2]) for number, line in lines if "# SYN" in line}


def found(syncscan, *arguments) -> set[tuple[int, str]]:
    run = syncscan("check", "--output-format", "json", *arguments)
    return {(finding["line"], finding["code"]) for finding in json.loads(run.stdout)["findings"]}


def test_declared_operations_wait_and_place_as_they_say(syncscan, project):
    project(FILES | {"pyproject.toml": DECLARED})
    assert found(syncscan) == expected()
    assert found(syncscan) == expected()  # from what is kept


def test_nothing_is_known_of_them_where_they_are_not_declared(syncscan, project):
    project(FILES | {"pyproject.toml": "[tool.syncscan]\n"})
    assert found(syncscan) == set()


def test_what_is_kept_rests_on_what_is_declared(syncscan, project):
    root = project(FILES | {"pyproject.toml": DECLARED})
    before = found(syncscan)
    (root / "pyproject.toml").write_text(
        DECLARED.replace("explicit wait", "always").replace('reads = ["n"], ', "")
    )
    assert (14, "SYN106") in before - found(syncscan)


def test_the_file_of_another_project_may_declare_them(syncscan, project):
    project(FILES | {"pyproject.toml": '[tool.syncscan]\nextend = "shared.toml"\n', "shared.toml": DECLARED})
    assert found(syncscan) == expected()


def test_shown_settings_can_be_pasted(syncscan, project):
    root = project(FILES | {"pyproject.toml": DECLARED})
    shown = syncscan("check", "--show-settings").stdout
    assert (
        tomllib.loads(shown)["tool"]["syncscan"]["operations"]
        == tomllib.loads(DECLARED)["tool"]["syncscan"]["operations"]
    )
    (root / "pyproject.toml").write_text(shown)
    assert found(syncscan) == expected()


NAME = '"torch.ops._C.scale"'
BAD = [
    ("operations = []", 'operations: must be a table such as { "torch.ops._C.scale" = { result = "none" } }, not []'),
    ("operations.scale = {}", "operations: 'scale' is no full name; write one in quotes, such as \"torch.ops._C.rms_norm\""),
    ("operations.torch.ops._C.scale = {}", "operations: 'torch' is no full name; write one in quotes, such as"),
    (f"operations.{NAME} = 1", "operations: [torch.ops._C.scale]: must be a table of args, blocks, "),
    (f"operations.{NAME}.result = 1", "[torch.ops._C.scale]: result: must be a text, not 1"),
    (f'operations.{NAME}.result = "gpus"', "result: unknown result 'gpus'; did you mean 'gpu'?"),
    (f'operations.{NAME}.result = "arg y"', "[torch.ops._C.scale]: result names 'y', which is not in args"),
    (f'operations.{NAME}.dtype = "int32"', "dtype: unknown dtype 'int32'; did you mean 'int'?"),
    (f'operations.{NAME}.args = "x"', "args: must be a list of the names of parameters, not 'x'"),
    (f'operations.{NAME}.args = ["x y"]', "args: must be a list of the names of parameters, not ['x y']"),
    (f'operations.{NAME}.reads = ["n"]', "a condition names 'n', which is not in args"),
    (f'operations.{NAME}.reduces = "n"', "reduces names 'n', which is not in args"),
    (f'operations.{NAME}.count = "two"', "count: must be a whole number, not 'two'"),
    (f'operations.{NAME}.ndim = true', "ndim: must be a number of dimensions, \"operands\", \"first+1\" or \"size\", not True"),
    (f'operations.{NAME}.block = []', "[torch.ops._C.scale]: unknown key 'block'; did you mean 'blocks'?"),
    (f'operations.{NAME}.blocks = {{ as = "upload" }}', "blocks: must be a list of tables, not {'as': 'upload'}"),
    (f'operations.{NAME}.blocks = [{{ when = "input is gpu" }}]', "blocks: has no `as`, which says how the call blocks: always,"),
    (f'operations.{NAME}.blocks = [{{ as = "uplod" }}]', "blocks: as: 'uplod' is no way to block; did you mean 'upload'?"),
    (f'operations.{NAME}.blocks = [{{ as = [] }}]', "blocks: as: must be a text, not []"),
    (f'operations.{NAME}.blocks = [{{ as = "upload", when = "input is on gpu" }}]', "when: unknown kind 'on gpu' in 'input is on gpu'"),
    (f'operations.{NAME}.blocks = [{{ as = "upload", when = 1 }}]', "blocks: when: must be a text, not 1"),
    (f'operations.{NAME}.forms = [{{ result = "gpu" }}]', "forms: has no `when`, which says which calls are of this form"),
    (f'operations.{NAME}.measured = 1', "measured: must be true or false, not 1"),
    (f'operations.{NAME}.aten = "x"', "aten: must be a list of the names of overloads, not 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_bad_entry_is_one_line_that_names_the_place(syncscan, project, line, message):
    root = project({"pyproject.toml": f"[tool.syncscan]\n{line}\n", "a.py": ""})
    for command in (["check"], ["trace", "--", sys.executable, "-c", "print(1)"]):
        run = syncscan(*command)
        assert (run.status, run.stdout, run.stderr.count("\n")) == (2, "", 1)
        assert run.stderr.startswith(f"syncscan: {root / 'pyproject.toml'}: [tool.syncscan]: operations: ")
        assert message in run.stderr


@pytest.mark.parametrize("line", [line for line, message in BAD if "which is not in args" not in message])
def test_the_schema_refuses_what_is_not_read(line):
    table = tomllib.loads(f"[tool.syncscan]\n{line}\n")["tool"]["syncscan"]
    assert not jsonschema.Draft7Validator(settings_schema()).is_valid(table)


def test_the_schema_accepts_the_table_that_comes_with_syncscan(operations):
    schema = jsonschema.Draft7Validator(settings_schema())
    assert schema.is_valid({"operations": operations})
    assert schema.is_valid(tomllib.loads(DECLARED)["tool"]["syncscan"])


@pytest.fixture
def operations() -> dict:
    table = tomllib.loads((files("syncscan.rules") / "ops.toml").read_text(encoding="utf-8"))
    del table["measured_on"]
    return table


def test_ops_show_prints_what_a_project_declares(syncscan, project):
    root = project({"pyproject.toml": DECLARED})
    shown = syncscan("ops", "show", "torch.ops._C.topk_rows.default")
    assert shown.stdout.splitlines() == [
        '["torch.ops._C.topk_rows"]',
        'args = ["scores", "k"]',
        'blocks = [{ as = "shape depends on data", when = "scores is gpu" }]',
        'dtype = "int"',
        f"# declared in {root / 'pyproject.toml'}",
    ]
