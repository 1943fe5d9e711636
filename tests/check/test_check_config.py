"""Settings: where they come from, what they do, and what a mistake in them says."""

from __future__ import annotations

import json
import sys

import pytest

from syncscan.config import find_config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BLOCKS = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\nprint(losses.sum().item())\n'
UNUSED = "x = 1  # syncscan: ignore[SYN101] no more\n"


def codes(run) -> list[str]:
    return sorted({finding["code"] for finding in json.loads(run.stdout)["findings"]})


def checked(syncscan, *arguments) -> list[str]:
    return codes(syncscan("check", "--output-format", "json", *arguments))


def settings(table: str) -> dict[str, str]:
    return {"pyproject.toml": f"[tool.syncscan]\n{table}\n", "a.py": BLOCKS + UNUSED}


@pytest.mark.parametrize(
    ("table", "arguments", "expected"),
    [
        ("", [], ["SYN001", "SYN101"]),
        ('select = ["SYN101"]', [], ["SYN101"]),
        ('select = ["SYN1"]', [], ["SYN101"]),
        ('select = ["SYN2"]', [], []),
        ('ignore = ["SYN1"]', [], ["SYN001"]),
        ('select = ["SYN101"]\nignore = ["SYN1"]', [], ["SYN101"]),
        ('select = ["SYN1"]\nignore = ["SYN101"]', [], []),
        ('select = ["SYN2"]\nextend-select = ["SYN101"]', [], ["SYN101"]),
        ('ignore = ["SYN101"]', ["--select", "SYN101"], ["SYN101"]),
        ('select = ["SYN101"]', ["--extend-select", "SYN0"], ["SYN001", "SYN101"]),
        ('ignore = ["SYN001"]', ["--ignore", "SYN1"], []),
        ("", ["--select", "syn0,SYN1"], ["SYN001", "SYN101"]),
        ("", ["--select", "SYN0", "--select", "SYN101"], ["SYN001", "SYN101"]),
        ('per-file-ignores = { "a.py" = ["SYN1"] }', [], ["SYN001"]),
        ('per-file-ignores = { "tests/**" = ["SYN1"] }', [], ["SYN001", "SYN101"]),
        ('select = ["SYN2"]', ["--isolated"], ["SYN001", "SYN101"]),
    ],
)
def test_choice_of_codes(syncscan, project, table, arguments, expected):
    project(settings(table))
    assert checked(syncscan, *arguments) == expected


def test_a_suppression_is_used_though_its_rule_is_off(syncscan, project):
    project({"a.py": BLOCKS.replace(".item())", ".item())  # syncscan: ignore[SYN101] logged once")})
    assert checked(syncscan, "--ignore", "SYN101") == []


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("selct = []", "unknown key 'selct'; did you mean 'select'?"),
        ('select = ["SYN1O1"]', "select: unknown code 'SYN1O1'; did you mean 'SYN101'?"),
        ('select = ["SYN101", ""]', "select: a code is empty; write codes such as SYN101"),
        ('select = ["weather"]', "select: unknown code 'weather'; `syncscan rule` lists them"),
        (
            "weather = 1",
            "unknown key 'weather'; it is one of extend, select, ignore, extend-select, per-file-ignores,",
        ),
        ('select = "SYN101"', "select: must be a list of strings, not 'SYN101'"),
        ("ignore = [1]", "ignore: must be a list of strings, not [1]"),
        (
            'min-confidence = "prooved"',
            "min-confidence: 'prooved' is not a confidence; did you mean 'proved'?",
        ),
        ('require-reason = "yes"', "require-reason: must be true or false, not 'yes'"),
        ("per-file-ignores = []", "per-file-ignores: must be a table such as"),
        ('per-file-ignores = { "a" = ["SYN1O1"] }', "per-file-ignores: unknown code 'SYN1O1'; did you mean"),
        (
            'exclude = ["a/", "!"]',
            "exclude: '!' is no pattern of paths; write it as in a .gitignore, such as",
        ),
        (
            'per-file-ignores = { "[z-a]" = ["SYN1"] }',
            "per-file-ignores: '[z-a]' is no pattern of paths; write",
        ),
        (
            'hot = ["Runner.step"]',
            "hot: 'Runner.step' names no function; write it as 'package.module:Class.method'",
        ),
        ('conventions = { host-name = ["*_h"] }', "unknown key 'host-name'; did you mean 'host-names'?"),
        ('conventions = ["*_h"]', "conventions: must be a table such as"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_nearest_valid_word(syncscan, project, table, message):
    project(settings(table))
    run = syncscan("check")
    assert (run.status, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert "pyproject.toml: [tool.syncscan]: " in run.stderr
    assert message in run.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "SYN1O1"], "syncscan: --select: unknown code 'SYN1O1'; did you mean 'SYN101'?\n"),
        (
            ["--min-confidence", "sure"],
            "syncscan: --min-confidence: 'sure' is not a confidence; it is one of assumed, inferred, observed, proved\n",
        ),
        (["--select", ""], "syncscan: --select: a code is empty; write codes such as SYN101"),
        (["--select", ","], "syncscan: --select: a code is empty"),
        (["--ignore", "SYN1,"], "syncscan: --ignore: a code is empty"),
        (["--ignore", "SYN"], "syncscan: what is selected and ignored leaves no rule on; `syncscan rule`"),
        ([""], "syncscan: Invalid value for '[PATHS]...': it is empty"),
        (["--config", ""], "syncscan: Invalid value for '--config': it is empty"),
        (["--min-confidence", ""], "syncscan: Invalid value for '--min-confidence': it is empty"),
        (["-", "--stdin-filename", ""], "syncscan: Invalid value for '--stdin-filename': it is empty"),
        (["--config", "no.toml"], "syncscan: no.toml: no such file; --config takes a TOML file with a"),
        (["--config", "empty.toml"], "syncscan: empty.toml: has no [tool.syncscan] table; add one, or"),
        (["--config", "bad.toml"], "syncscan: bad.toml: cannot be read: "),
    ],
)
def test_a_mistake_on_the_command_line(syncscan, project, arguments, message):
    project({"empty.toml": "", "bad.toml": "[tool"})
    run = syncscan("check", *arguments)
    assert (run.status, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert run.stderr.startswith(message)


@pytest.mark.parametrize("table", ["select = []", 'select = ["SYN1"]\nignore = ["SYN1"]'])
def test_settings_that_leave_no_rule_on_are_no_clean_report(syncscan, project, table):
    project(settings(table))
    run = syncscan("check")
    assert (run.status, run.stdout) == (2, "")
    assert run.stderr.startswith("syncscan: what is selected and ignored leaves no rule on; ")
    assert checked(syncscan, "--extend-select", "SYN101") == ["SYN101"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--output-format", "xml"],
        ["--jobs", "-1"],
        ["--no-such-option"],
    ],
)
def test_options_that_make_no_sense(syncscan, project, arguments):
    run = syncscan("check", *arguments)
    assert (run.status, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert run.stderr.startswith("syncscan: ")


def test_a_module_without_functions_has_no_entry_point(syncscan, project):
    root = project({**settings('hot = ["a:step"]'), "a.py": ""})
    message = "hot: the project has no function 'a:step'; write it as 'package.module:Class.method'\n"
    assert syncscan("check").stderr == f"syncscan: {root / 'pyproject.toml'}: [tool.syncscan]: {message}"


def test_the_nearest_table_wins(project):
    root = project(
        {
            "pyproject.toml": '[tool.syncscan]\nselect = ["SYN1"]\n',
            "inner/pyproject.toml": '[tool.syncscan]\nselect = ["SYN0"]\n',
            "inner/deep/a.py": "",
            "plain/pyproject.toml": "[project]\n",
        }
    )
    assert find_config(root / "inner" / "deep").select == ("SYN0",)
    assert find_config(root / "plain").select == ("SYN1",)
    assert find_config(root).root == root


def test_config_names_a_file_anywhere(syncscan, project):
    project(settings("") | {"ci/strict.toml": '[tool.syncscan]\nselect = ["SYN0"]\n'})
    assert checked(syncscan, "--config", "ci/strict.toml") == ["SYN001"]


def test_show_settings_prints_what_could_be_pasted(syncscan, project):
    table = "\n".join(
        [
            'select = ["SYN1", "SYN0"]',
            'ignore = ["SYN001"]',
            "extend-select = []",
            'per-file-ignores = { "tests/\\"a\\"" = ["SYN1"] }',
            'min-confidence = "proved"',
            'exclude = ["gen/"]',
            "require-reason = true",
            'hot = ["pkg.run:Runner.step"]',
            'sync-free = ["engine:Runner.step"]',
            'configurations = { "quiet" = ["engine:Runner.log = False"] }',
            'when = ["step"]',
            'facts = ["kept/facts.json"]',
            'environment = "tools/env"',
            'conventions = { "host-names" = ["*_h"], "gpu-names" = [] }',
            'operations = { "torch.ops.m.f" = { args = ["x"], ndim = 0 } }',
        ]
    )
    root = project(settings(table))
    run = syncscan("check", "--show-settings")
    assert run.stdout.splitlines()[0] == f"# from {root / 'pyproject.toml'}"
    assert tomllib.loads(run.stdout) == tomllib.loads(f"[tool.syncscan]\n{table}")


def test_show_settings_without_a_table(syncscan, project, tmp_path):
    run = syncscan("check", "--show-settings", "--isolated", "--select", "SYN1")
    assert run.stdout.startswith("# defaults: no [tool.syncscan] table applies\n")
    assert tomllib.loads(run.stdout)["tool"]["syncscan"]["select"] == ["SYN1"]


LEVELS = """\
import torch


def proved() -> None:
    print(torch.zeros(8, device="cuda").sum().item())


def inferred(device: torch.device) -> None:
    print(torch.zeros(8, device=device).sum().item())


def assumed(lens_gpu, lens_dev) -> None:
    print(lens_gpu.sum().item())
    print(lens_dev.sum().item())
"""


@pytest.mark.parametrize(
    ("level", "lines"), [(None, [5, 9]), ("proved", [5]), ("inferred", [5, 9]), ("assumed", [5, 9, 13])]
)
def test_the_threshold_of_confidence(syncscan, project, level, lines):
    project({"a.py": LEVELS})
    options = ["--min-confidence", level] if level else []
    findings = json.loads(syncscan("check", "--output-format", "json", *options).stdout)["findings"]
    assert [finding["line"] for finding in findings] == lines


def test_conventions_of_names_can_be_set(syncscan, project):
    table = 'min-confidence = "assumed"\nconventions = { gpu-names = ["*_dev"] }'
    project(settings(table) | {"a.py": LEVELS})
    findings = json.loads(syncscan("check", "--output-format", "json").stdout)["findings"]
    assert [finding["line"] for finding in findings] == [5, 9, 14]


BASE = '[tool.syncscan]\nselect = ["SYN1"]\nmin-confidence = "proved"\nbaseline = "base.json"\n'


def test_settings_extend_others(syncscan, project):
    project({
        "shared/base.toml": BASE,
        "a/pyproject.toml": '[tool.syncscan]\nextend = "../shared/base.toml"\nselect = ["SYN2"]\n',
        "a/x.py": "",
    })  # fmt: skip
    shown = syncscan("check", "--show-settings", "a").stdout
    assert 'select = ["SYN2"]' in shown
    assert 'min-confidence = "proved"' in shown
    assert 'baseline = "../shared/base.json"' in shown
    assert "extend =" not in shown


BAD_EXTENDS = {
    "no-file": ('extend = "no.toml"', "extend: no.toml: no such file"),
    "itself": ('extend = "pyproject.toml"', "extends this file in turn"),
    "no-table": ('extend = "empty.toml"', "has no [tool.syncscan] table"),
    "no-text": ("extend = 1", "extend: must be a path"),
    "a-mistake-in-it": ('extend = "bad.toml"', "bad.toml: [tool.syncscan]: unknown key 'selct'"),
    "in-a-circle": ('extend = "circle.toml"', "extends this file in turn"),
}


@pytest.mark.parametrize(("table", "message"), BAD_EXTENDS.values(), ids=BAD_EXTENDS)
def test_a_bad_extend_gets_one_line(syncscan, project, table, message):
    project({
        "pyproject.toml": f"[tool.syncscan]\n{table}\n",
        "empty.toml": "",
        "bad.toml": "[tool.syncscan]\nselct = []\n",
        "circle.toml": '[tool.syncscan]\nextend = "pyproject.toml"\n',
        "x.py": "",
    })  # fmt: skip
    done = syncscan("check")
    assert message in done.stderr
    assert (done.stderr.count("\n"), done.status) == (1, 2)


@pytest.mark.parametrize("setting", ["hot", "sync-free"])
def test_a_function_in_a_module_that_is_not_there_is_an_error_in_a_full_run(syncscan, project, setting):
    project({
        "pyproject.toml": f'[tool.syncscan]\n{setting} = ["pkg.runer:Runner.step"]\n',
        "pkg/__init__.py": "",
        "pkg/runner.py": "class Runner:\n    def step(self):\n        pass\n",
        "tools/x.py": "",
    })  # fmt: skip
    done = syncscan("check")
    assert f"{setting}: the project has no module 'pkg.runer'; did you mean 'pkg.runner'?" in done.stderr
    assert (done.stderr.count("\n"), done.status) == (1, 2)
    assert "has no module 'pkg.runer'" in syncscan("check", "pkg").stderr
    assert syncscan("check", "tools").status == 0
