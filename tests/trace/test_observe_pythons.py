"""``syncscan facts record`` in the Pythons in which programs run: `sys.monitoring`, or a profiler before that."""

from __future__ import annotations

import sys

import pytest
from test_pythons import interpreter

LIFETIME = """\
import sys, weakref
import torch

class Thing:
    pass

def f(x):
    gone = weakref.ref(x)
    del x
    print(gone() is None, sys.getprofile())

def g(y):
    print(sorted(locals()), "y" in sys._getframe().f_locals)
    y += 1
    return y

f(Thing())
print(g(1))
"""


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_arguments_live_no_longer_than_without_it(observe, environment, version):
    variables = {name: environment[name] for name in ("PYTHONPATH", "FAKE_CUDA_LIBRARY", "LD_LIBRARY_PATH")}
    done = observe(LIFETIME, python=interpreter(version), **variables)
    assert (done.status, done.stdout) == (0, "True None\n['y'] True\n2\n"), done.stderr
    assert done.words("program:g") == {"y": {"int": 1}, "return": {"int": 1}}


VERSIONS = """\
import torch

class Runner:
    def __init__(self, state):
        self.state = state

    def step(self, x):
        def inner(y):
            return y, self.state
        return inner(x)

    def generate(self, x):
        yield x
        x = None
        yield x

    def fails(self, x):
        raise ValueError

def often(x):
    return x

def seldom(x):
    pass

runner = Runner(torch.zeros(1))
runner.step(3)
list(runner.generate(2.0))
try:
    runner.fails(1)
except ValueError:
    pass
for _ in range(5000):
    often(1)
often(None)
for _ in range(60):
    seldom(1)
seldom(None)  # something else begins
for _ in range(100):
    often(2.0)
"""


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.12", "3.13", "3.14"])
def test_every_python_sees_the_same(observe, environment, version):
    variables = {name: environment[name] for name in ("PYTHONPATH", "FAKE_CUDA_LIBRARY", "LD_LIBRARY_PATH")}
    done = observe(VERSIONS, python=interpreter(version), **variables)
    assert done.status == 0, done.stderr
    functions = done.functions
    generator = functions.pop("program:Runner.generate", None)
    bound = (
        {"inner bound": {"object builtins.function": 1}, " bound": {"none": 1}}
        if version not in {"3.9", "3.10"}
        else {}
    )
    assert {name: observed["words"] for name, observed in functions.items()} == {
        "program:Runner.__init__": {"state": {"gpu float": 1}, "return": {"none": 1}},
        "program:Runner.step": {"x": {"int": 1}, "return": {"tuple(int, gpu float)": 1}} | bound,
        "program:Runner.step.inner": {"y": {"int": 1}, "return": {"tuple(int, gpu float)": 1}},
        "program:Runner.fails": {"x": {"int": 1}},
        "program:seldom": {"x": {"int": 60, "none": 1}, "return": {"none": 61}},
        # no longer watched once its last calls said nothing new, until something is new elsewhere
        "program:often": {"x": {"int": 1001, "float": 100}, "return": {"int": 1001, "float": 100}},
    }
    if version not in {"3.9", "3.10"}:
        assert generator["words"] == {"x": {"float": 1}}


def test_a_profiler_of_the_program_is_left_alone(observe):
    source = "import sys\nsys.setprofile(lambda *a: None)\nmine = sys.getprofile()\nimport torch\nprint(sys.getprofile() is mine)\n"
    if sys.version_info >= (3, 12):
        pytest.skip("sys.monitoring has room for several")
    done = observe(source)
    assert done.stdout == "True\n"
    assert "observes nothing: a profiler of the program holds sys.setprofile" in done.stderr


QUIET = """\
import sys
import torch

def f(x):
    return x

f(1)
for _ in range(3_000_000):
    len("")
print(sys.getprofile())
f(2.0)
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="where sys.monitoring switches itself off")
def test_a_profiler_that_hears_nothing_new_goes(observe):
    done = observe(QUIET)
    assert done.stdout == "None\n"
    assert done.words("program:f")["x"] == {"int": 1}
