"""The line that is blamed where the standard library reads a value of the simulated GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.warm import Warm

pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent.parent


def environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def test_the_program_is_blamed_for_what_the_standard_library_reads(tmp_path: Path, warm: Warm) -> None:
    program = """\
import logging, random, threading
import torch

log = logging.getLogger(__name__)
logging.basicConfig(level="INFO")
loss = torch.ones((), device="cuda")
log.info("loss %.3f", loss)
random.randint(0, loss.long())
thread = threading.Thread(target=loss.item)
thread.start()
thread.join()
"""
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    options = ("--simulate", "-o", tmp_path / "out")
    done = warm.run("trace", *options, "--", sys.executable, "program.py", cwd=tmp_path, env=environment())
    assert done.returncode == 0, done.stderr
    sites = json.loads((tmp_path / "out" / "trace.json").read_text(encoding="utf-8"))["sites"]
    found = {(Path(site["path"]).name, site["expression"], site["code"]) for site in sites}
    assert found == {
        ("program.py", 'log.info("loss %.3f", loss)', "SYN107"),
        ("program.py", "random.randint(0, loss.long())", None),
        ("threading.py", "self._target(*self._args, **self._kwargs)", None),
    }


def test_pytest_blames_the_test_for_what_the_standard_library_reads(tmp_path: Path) -> None:
    test = """\
import threading, unittest
import pytest, torch


class Compares(unittest.TestCase):
    @pytest.mark.limit_syncs(0)
    def test_equal(self):
        one = torch.ones((), device="cuda")
        self.assertEqual(one, 1)
        thread = threading.Thread(target=one.item)
        thread.start()
        thread.join()
"""
    (tmp_path / "test_it.py").write_text(test, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "syncscan.pytest_plugin", "--syncscan=simulate"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=environment(), check=False, timeout=300
    )
    assert "the CPU was blocked 2 times, the limit is 0:" in done.stdout, done.stdout + done.stderr
    assert f"1 x {tmp_path / 'test_it.py'}:9 in Compares.test_equal " in done.stdout
    assert f"1 x {threading.__file__}:" in done.stdout
