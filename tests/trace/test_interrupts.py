"""A signal that comes while the CPU waits does to the program what it does alone."""

from __future__ import annotations

import subprocess
import sys

import pytest
from test_pythons import interpreter

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
USE = "import signal, sys, time\nimport torch\nt = torch.zeros(1)\n"
ALARMS = """\
class Alarm(Exception):
    pass
def ring(*_):
    raise Alarm("ringing")
signal.signal(signal.SIGALRM, ring)
"""


@pytest.fixture(params=PYTHONS)
def python(request) -> str:
    """Each Python that is here."""
    return sys.executable if request.param == "3.11" else interpreter(request.param)


def test_no_exception_of_a_signal_handler_is_lost(run_trace, program, python):
    script = program(
        USE
        + ALARMS
        + """
def read_until(deadline):  # in the loop itself Python 3.13 alone lets an exception past the handler now and then
    while time.monotonic() < deadline:
        t.item()
caught = 0
for _ in range(50):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        read_until(time.monotonic() + 5)
    except Alarm:
        caught += 1
print(caught)
"""
    )
    done = run_trace([python, script])
    assert (done.status, done.stdout, done.stderr.partition("syncscan: ")[0]) == (0, "50\n", "")
    assert done.trace["processes"][0]["notes"] == []


@pytest.mark.parametrize("handler", ["signal.default_int_handler", "ring"])
def test_an_interrupted_wait_gives_the_traceback_that_it_gives_alone(
    run_trace, program, environment, python, handler
):
    script = program(
        USE
        + ALARMS
        + f"""
signal.signal(signal.SIGALRM, {handler})
def serve():
    t.item()
for _ in range(100):
    serve()
torch._library.fake_signal_in_wait(signal.SIGALRM)
serve()
"""
    )
    command = [python, str(script)]
    alone = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    done = run_trace(command)
    status = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
    assert (done.status, done.stderr.partition("syncscan: ")[0]) == (status, alone.stderr)
    assert "t.item()" in alone.stderr
