"""`syncscan fix --verify`: only fixes that a run verifies are written."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]

MODEL = """\
import inspect

import numpy as np
import torch


def starts(lens: list[int]) -> torch.Tensor:
    return torch.tensor(lens, device="cuda")


def rows(ids: np.ndarray) -> torch.Tensor:
    return torch.tensor(ids, device="cuda")


def watched() -> torch.Tensor:
    assert "torch.fu" "ll" not in inspect.getsource(watched)
    return torch.tensor(1.0, device="cuda")


def unused() -> torch.Tensor:
    return torch.tensor(2.0, device="cuda")
"""
TESTS = """\
import model
import numpy as np


def test_starts():
    assert model.starts([1, 2]).shape == (2,)


def test_rows():
    assert model.rows(np.arange(3)).shape == (3,)


def test_watched():
    model.watched()


def test_that_fails_anyway():
    raise ValueError
"""
SEES_LINES = sys.version_info >= (3, 12)
NOT_RUN = "its line did not run in this run" if SEES_LINES else "did not synchronize in this run"
PYTEST = ["--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"]


def test_only_what_a_run_verifies_is_written_and_a_second_search_goes_on_where_it_was(syncscan, project):
    folder = project({"model.py": MODEL, "test_model.py": TESTS})
    shown = syncscan("fix", "model.py", "--all", "--verify", "--diff", *PYTEST)
    assert shown.status == 0, shown.stderr
    assert "without fixes: exit status 1, 1 failed, 3 passed, 3 synchronizations" in shown.stderr
    assert (folder / "model.py").read_text() == MODEL
    done = syncscan("fix", "model.py", "--all", "--verify", *PYTEST)
    assert "0 runs" in done.stderr
    assert done.stdout.splitlines() == [
        "model.py:8:12: SYN301: verified: copy from pinned memory with `non_blocking=True`",
        "model.py:12:12: SYN301: verified: copy from pinned memory with `non_blocking=True`",
        "model.py:17:12: SYN301: not applied: test_model::test_watched does not pass any more",
        f"model.py:21:12: SYN301: not applied: {NOT_RUN}",
        "2 of 4 fixes verified; 3 synchronizations before, 1 after",
    ]
    text = (folder / "model.py").read_text()
    assert 'torch.tensor(lens, device="cpu").pin_memory().to("cuda", non_blocking=True)' in text
    assert 'return torch.tensor(1.0, device="cuda")' in text
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".py") == [
        "model.py",
        "test_model.py",
    ]


OVERLAPPING = """\
import torch

x = torch.zeros(4, 4, device="cuda")
for _ in range(3):
    x[torch.tensor([0, 1], device="cuda")] = 0.0
"""


def test_of_fixes_that_overlap_only_what_is_written_is_verified(syncscan, project):
    folder = project({"ov.py": OVERLAPPING})
    done = syncscan("fix", "ov.py", "--all", "--verify", "--", sys.executable, "ov.py")
    assert done.status == 0, done.stderr
    verified = [line for line in done.stdout.splitlines() if ": verified" in line]
    assert len(verified) == 1, done.stdout
    assert "its edit overlaps that of a verified fix: run the command again" in done.stdout
    assert "1 of 2 fixes verified" in done.stdout
    assert "syncscan: trying 1 more fix with 0 verified\n" in done.stderr
    again = syncscan("fix", "ov.py", "--all", "--verify", "--", sys.executable, "ov.py")
    assert "1 of 1 fix verified; 3 synchronizations before, 0 after" in again.stdout
    assert "pin_memory=True" in (folder / "ov.py").read_text()


KINDS = """\
import torch


class Base:
    def step(self, lens: list[int]) -> torch.Tensor:
        return torch.tensor(lens, device="cuda")


class Sub(Base):
    def step(self, lens: list[int]) -> torch.Tensor:
        return torch.tensor([1, 2], device="cuda")


def empty(lens: list[int]) -> torch.Tensor:
    return torch.tensor(lens, device="cuda")


for _ in range(3):
    Sub().step([1])
    empty([])
"""


def test_the_report_names_the_edit_the_reason_and_a_step_that_no_call_ran(syncscan, project):
    project({"model.py": KINDS})
    words = ["--step", "__main__:Base.step", "--", sys.executable, "model.py"]
    done = syncscan("fix", "model.py", "--all", "--verify", "--diff", *words)
    ran = "its line ran in this run, and did not synchronize" if SEES_LINES else NOT_RUN
    *fixes, counts = done.stdout.splitlines()[:4]
    assert fixes == [
        "model.py:11:16: SYN301: verified: copy from pinned memory with `non_blocking=True`",
        f"model.py:6:16: SYN301: not applied: {NOT_RUN}",
        f"model.py:15:12: SYN301: not applied: {ran}",
    ], done.stderr
    assert "; 0 steps of __main__:Base.step: is it the function that runs each step? A subclass may" in counts


def test_the_check_shows_what_the_edit_does_and_the_suggestion_beyond_it(syncscan, project):
    project({"model.py": KINDS})
    shown = syncscan("check", "model.py", "--isolated").stdout
    assert "fix (unsafe): copy from pinned memory with `non_blocking=True`" in shown
    assert "suggestion: create this tensor of constants once" in " ".join(shown.split())


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory):
    """A Python that finds nothing but by its path of imports."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    return folder / "bin" / "python"


@pytest.mark.parametrize(
    ("command", "status", "told"),
    [
        (
            ["-c", "import model; model.starts([1])"],
            0,
            "2 of 2 fixes verified; 2 synchronizations before, 0 after",
        ),
        (None, 2, "no trace was made of the command: "),
    ],
)
def test_the_tracer_is_found_where_it_is_only_on_the_path_of_imports(
    project, bare_python, command, status, told
):
    program = "import torch\n\n\ndef starts(lens: list[int]):\n    torch.arange(3).to('cuda')\n    torch.arange(4).to('cuda')\n"
    folder = project({"model.py": program, "click.py": "raise SystemExit('of the copy')"})
    words = [bare_python, *command] if command else ["no-such-program"]
    done = subprocess.run(
        [bare_python, "-m", "syncscan", "fix", "model.py", "--all", "--verify", "--", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isdir, [str(ROOT), *sys.path]))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert told in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("path", "reason"), [("none.py", "none.py: cannot be read"), ("bad.py", "bad.py:1: ")]
)
def test_a_path_without_a_file_to_fix_ends_it_before_the_command_runs(syncscan, project, path, reason):
    folder = project({"bad.py": "def (:\n", "model.py": OVERLAPPING})
    command = [sys.executable, "-c", f"open({str(folder / 'ran')!r}, 'w')"]
    done = syncscan("fix", path, "--verify", "--", *command)
    checked = syncscan("check", path)
    assert (done.status, done.stdout, done.stderr) == (2, "", checked.stderr)
    assert done.stderr.startswith(f"syncscan: {reason}")
    assert not (folder / "ran").exists()


def test_a_file_that_cannot_be_analysed_is_named_and_others_are_fixed(syncscan, project):
    folder = project({"bad.py": "def (:\n", "model.py": OVERLAPPING})
    done = syncscan("fix", "bad.py", "model.py", "--all", "--verify", "--", sys.executable, "model.py")
    assert done.status == 2
    assert done.stderr.startswith("syncscan: bad.py:1: ")
    assert "1 of 2 fixes verified" in done.stdout
    assert (folder / "model.py").read_text() != OVERLAPPING


def test_a_program_without_cuda_is_no_trial_of_fixes_for_the_gpu(syncscan, project):
    if torch.version.cuda is not None:
        pytest.skip("this torch has CUDA")
    project({"ov.py": OVERLAPPING})
    for _ in range(2):  # the second run is made anew: the program may have CUDA by then
        done = syncscan("fix", "ov.py", "--all", "--verify", "--gpu", "--", sys.executable, "ov.py")
        reason = f"torch {torch.__version__} in the program has no CUDA; the command ended with exit status 1"
        assert (done.status, done.stdout) == (2, "")
        assert done.stderr == f"syncscan: nothing was traced: {reason}\n"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["false"], "no Python process was hooked; the command ended with exit status 1"),
        ([sys.executable, "-c", "import torch"], "the program put nothing on the simulated GPU"),
    ],
)
def test_a_command_that_uses_no_gpu_is_no_trial_of_fixes(syncscan, project, command, line):
    project({"ov.py": OVERLAPPING})
    done = syncscan("fix", "ov.py", "--all", "--verify", "--", *command)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == f"syncscan: nothing was traced: {line}\n"


def test_a_command_that_fails_without_fixes_is_said_to_fail(syncscan, project):
    folder = project({"ov.py": OVERLAPPING})
    command = [sys.executable, "-c", "import ov, sys; sys.exit(3)"]
    done = syncscan("fix", "ov.py", "--all", "--verify", "--", *command)
    assert "syncscan: the command fails without fixes; a fix is verified if" in done.stderr
    assert (done.status, "1 of 2 fixes verified" in done.stdout) == (0, True)
    assert (folder / "ov.py").read_text() != OVERLAPPING


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--verify"], "needs a command behind --"), (["--", "true"], "give --verify")],
)
def test_what_it_cannot_try_it_refuses(syncscan, project, arguments, message):
    project({"model.py": MODEL})
    run = syncscan("fix", *arguments)
    assert (run.status, message in run.stderr) == (2, True)
