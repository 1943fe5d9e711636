"""Options that no run can have together: one line says so, and nothing is read or written."""

from __future__ import annotations

import pytest

CASES = {
    "- .": "- reads standard input, so it is the only path",
    "--stdin-filename a.py .": "--stdin-filename needs - as the path",
    "--config pyproject.toml --isolated": "--config names a file and --isolated ignores it; give one of them",
    "--statistics --output-format json": "--statistics is text; leave --output-format json out",
    "--diff --output-format sarif": "--diff is text; leave --output-format sarif out",
    "--diff --statistics": "--diff shows the fixes and --statistics counts the findings; give one of them",
    "--add-ignores --reason known --fix": "--add-ignores keeps what fixes change; give one of them at a time",
    "--add-ignores": "--add-ignores needs --reason TEXT, which each comment gives",
    "--reason known": "--reason is for the comments that --add-ignores writes",
    "--baseline a --write-baseline b": "--baseline reads a file and --write-baseline writes one; give one of them",
    "--write-baseline b --fix": "--write-baseline takes the files as they are; leave fixes and - out",
    "--write-baseline b --diff": "--write-baseline takes the files as they are; leave fixes and - out",
    "--write-baseline b -": "--write-baseline takes the files as they are; leave fixes and - out",
    "--since HEAD --fix": "--since only reports what a change brings; leave fixes, --write-baseline and - out",
    "--since HEAD --diff": "--since only reports what a change brings; leave fixes, --write-baseline and - out",
    "--since HEAD -": "--since only reports what a change brings; leave fixes, --write-baseline and - out",
    "--watch --fix": "--watch shows what is found as files change; leave fixes, --write-baseline, --since, --trace and - out",
    "--watch --since HEAD": "--watch shows what is found as files change; leave fixes, --write-baseline, --since, --trace and - out",
    "--watch --output-format json": "--watch is text or concise; leave --output-format json out, or write it with --output-file",
    "--cache-dir c --no-cache": "--cache-dir names a folder for results and --no-cache keeps none; give one of them",
}


@pytest.mark.parametrize(("options", "said"), CASES.items(), ids=CASES)
def test_options_that_contradict_each_other_are_refused(syncscan, tmp_path, options, said):
    (tmp_path / "pyproject.toml").touch()
    before = sorted(tmp_path.iterdir())
    run = syncscan("check", *options.split())
    assert (run.status, run.stdout) == (2, "")
    assert run.stderr == f"syncscan: {said}\n"
    assert sorted(tmp_path.iterdir()) == before
