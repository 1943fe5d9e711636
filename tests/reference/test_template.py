"""`syncscan recipe`, as a user runs it where torch is not installed."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys

import pytest

from syncscan.reference.templates import (
    codes_with_templates,
    difference,
    find_template,
    paste,
    templates,
    templates_for,
)
from syncscan.rule import rule_book

WITHOUT_TORCH = """\
import sys
sys.modules.update(torch=None, numpy=None)
from syncscan.cli import main
sys.argv[0] = "syncscan"
main()
"""


def syncscan(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *args], capture_output=True, text=True, check=False
    )


def test_list_names_every_component_with_its_report_and_rules() -> None:
    result = syncscan("recipe", "list")
    assert result.returncode == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert set(lines) == set(templates())
    assert "#38047  SYN101 SYN201 SYN205" in lines["build_spec_decode_metadata"]
    for report in ("#40654", "#42202", "#41429", "#38361", "#38047"):
        assert any(report in line for line in lines.values())


def test_show_prints_the_component() -> None:
    result = syncscan("recipe", "show", "upload")
    assert result.returncode == 0
    assert result.stdout.startswith("from __future__ import annotations\n")
    assert "def upload(" in result.stdout
    assert "def staging(" in result.stdout


@pytest.mark.parametrize("name", templates())
def test_a_shown_component_stands_alone(name: str) -> None:
    text = paste(find_template(name))
    assert "syncscan.reference" not in text
    module: dict[str, object] = {"__name__": "pasted"}
    sys.modules["pasted"] = sys  # dataclasses look their module up
    exec(compile(text, f"<{name}>", "exec", dont_inherit=True), module)
    del sys.modules["pasted"]
    mentioned = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    local = {node.arg for node in ast.walk(ast.parse(text)) if isinstance(node, ast.arg)}
    stored = {
        node.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    functions = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    assert name in module
    assert mentioned <= {*module, *local, *stored, *functions, *vars(builtins)}


@pytest.mark.parametrize("name", templates())
def test_every_code_in_a_component_is_a_rule(name: str) -> None:
    text = paste(find_template(name)) + difference(find_template(name))
    assert set(re.findall(r"SYN\d{3}", text)) <= set(rule_book())


def test_diff_shows_what_waits_and_what_replaces_it() -> None:
    result = syncscan("recipe", "diff", "pad_logits_indices")
    assert result.returncode == 0
    assert result.stdout.startswith("--- blocking/step_inputs.py\n+++ reference/step_inputs.py\n@@")
    assert "-    buffer[used:padded_to].fill_(logits_indices[-1].item())  # SYN101\n" in result.stdout
    assert "+    buffer[used:padded_to] = logits_indices[-1:]\n" in result.stdout


@pytest.mark.parametrize("name", templates())
def test_every_component_differs_from_its_blocking_form(name: str) -> None:
    lines = difference(find_template(name)).splitlines()
    assert any(line.startswith("-") and "# SYN" in line for line in lines)


@pytest.mark.parametrize("command", ["show", "diff"])
def test_an_unknown_name_is_one_line_on_stderr(command: str) -> None:
    result = syncscan("recipe", command, "uploads")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == ("syncscan: no template 'uploads'; did you mean 'upload'?\n")
    result = syncscan("recipe", command, "weather")
    assert result.stderr == ("syncscan: no template 'weather'; `syncscan recipe list` names them all\n")


def test_explain_points_to_the_templates() -> None:
    page = syncscan("rule", "SYN205").stdout
    assert "## Templates\n\n- `syncscan recipe show build_spec_decode_metadata`: Split a batch" in page
    assert "## Templates" not in syncscan("rule", "SYN401").stdout


def test_a_rule_finds_its_templates() -> None:
    assert [template.name for template in templates_for("SYN205")] == ["build_spec_decode_metadata"]
    assert templates_for("SYN401") == []
    assert codes_with_templates() == {code for template in templates().values() for code in template.codes}
