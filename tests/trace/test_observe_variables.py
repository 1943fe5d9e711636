"""Facts of variables at the end of calls, and of attributes that a class holds, or that nothing holds."""

from __future__ import annotations

import functools

import pytest
from test_pythons import interpreter

NEW = ("3.12", "3.13", "3.14")  # with sys.monitoring


@pytest.fixture
def watch(observe, environment):
    """Observes a program in some Python, with a torch that is imported in no time."""
    return functools.partial(
        observe,
        **{name: environment[name] for name in ("PYTHONPATH", "FAKE_CUDA_LIBRARY", "LD_LIBRARY_PATH")},
    )


VARIABLES = """\
import torch

def scale(x, is_new=False):
    factor = x
    gone = x
    del gone
    if is_new:
        x = "new"
        raise ValueError(factor)
    for row in [1, 2.0]:
        last = row
    return factor

scale(torch.zeros(1))
scale(2)
try:
    scale(3, True)
except ValueError:
    pass
"""


@pytest.mark.parametrize("version", ["3.9", "3.11", *NEW])
def test_facts_say_what_variables_are_where_a_call_returns(watch, version):
    words = watch(VARIABLES, python=interpreter(version)).words("program:scale")
    bound = {
        "factor bound": {"gpu float": 1, "int": 1},
        "x bound": {"gpu float": 1, "int": 1},
        "row bound": {"float": 2},
        "last bound": {"float": 2},
        " bound": {"none": 2},
    }
    assert {name: words[name] for name in words if name.endswith(" bound")} == (
        bound if version in NEW else {}
    )


CLASSES = """\
import torch

class Base:
    rate = 0.5
    sizes = [1]

class Computing(Base):
    def __getattr__(self, name):
        return 1

class Lacking:
    __slots__ = ()

def ask(box):
    return getattr(box, "rate", None), getattr(box, "rare", None), getattr(box, "sizes", None)

for box in (Base(), Computing(), Lacking(), Base()):
    ask(box)
"""


def test_facts_say_what_the_class_of_an_object_holds_and_what_nothing_holds(watch):
    words = watch(CLASSES).words("program:ask")
    assert words["box.rate"] == words["box.rate after"] == {"float": 3}
    assert words["box.rare"] == {
        "absent": 2
    }  # of two objects nothing is sure: one computes it, one has no dictionary
    assert "box.sizes" not in words  # a list of a class is nobody's data


OWN_VARIABLES = """\
import torch

class Thing:
    pass

def keeps(x):
    y = 1
    return locals()

class Model:
    def __init__(self, rate, beta):
        args = locals()
        args.pop("self")
        self.args = args

kept = keeps(Thing())
print(sorted(kept), sorted(set(Model(1, Thing()).args) - {"args"}))
"""


@pytest.mark.parametrize("version", ["3.11", *NEW])
def test_the_variables_of_a_program_stay_its_own(watch, version):
    done = watch(OWN_VARIABLES, python=interpreter(version))
    assert (done.status, done.stdout) == (0, "['x', 'y'] ['beta', 'rate']\n"), done.stderr


LIFETIME = """\
import torch, traceback, weakref

class Thing:
    pass

def fails(thing):
    raise ValueError

thing = Thing()
gone = weakref.ref(thing)
try:
    fails(thing)
except ValueError as error:
    traceback.clear_frames(error.__traceback__)
    del thing
    print(gone() is None)
"""


@pytest.mark.parametrize("version", NEW)
def test_a_call_that_failed_keeps_nothing_alive(watch, version):
    done = watch(LIFETIME, python=interpreter(version))
    assert (done.status, done.stdout) == (0, "True\n"), done.stderr


HOSTILE = """\
import torch

class Loud(type):
    def __hash__(cls):
        print("hash")
        return 1

class Value(metaclass=Loud):
    @property
    def __class__(self):
        print("class")
        return dict

class Rows(dict):
    def __contains__(self, key):
        print("contains")
        return False

class Box:
    rare = Value()

def ask(box):
    return getattr(box, "rare", None), getattr(box, "other", None)

box = Box()
box._modules, box._buffers = Value(), Rows()
ask(box)
print("end")
"""


def test_no_code_of_a_program_runs_for_an_attribute(watch):
    alone = watch(HOSTILE.replace("ask(box)\nprint", "print"))
    assert watch(HOSTILE).stdout == alone.stdout
