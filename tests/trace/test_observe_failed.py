"""Facts of a run that fails: nothing that an earlier run recorded is lost."""

from __future__ import annotations

import json
import sys

import pytest

pytest.importorskip("torch")


@pytest.mark.parametrize("words", [["facts", "record", "-o"], ["trace", "--facts"]], ids=" ".join)
def test_a_run_that_fails_replaces_no_facts_and_loses_none(run_syncscan, program, tmp_path, words):
    lines = "import sys\nimport torch\ndef f(x):\n    return x\ndef g(x):\n    return x\nf(1)\n"
    script = program(lines + "if len(sys.argv) > 1:\n    sys.exit(3)\ng(1)\n")
    command = [*words, "facts.json", "--", sys.executable, script]
    assert run_syncscan(*command).returncode == 0
    whole = (tmp_path / "facts.json").read_text()
    done = run_syncscan(*command, "fails")
    assert done.returncode == 3
    assert done.stderr.endswith(
        "syncscan: facts.failed.json has facts of 1 function; "
        "the command ended with exit status 3, so facts.json is left as it was\n"
    )
    assert (tmp_path / "facts.json").read_text() == whole
    assert list(json.loads((tmp_path / "facts.failed.json").read_text())["functions"]) == ["program:f"]
    if words[0] == "facts":
        done = run_syncscan(*command[:2], "--append", *command[2:], "fails")
        assert done.stderr == "syncscan: facts.json has facts of 1 function, 2 with those of before\n"
