"""Facts of variables at the end of calls, and of attributes that a class holds, or that nothing holds."""

from __future__ import annotations

VARIABLES = """\
import torch

class Base:
    rate = 0.5
    sizes = [1]

class Computing(Base):
    def __getattr__(self, name):
        return torch.rand(1)

class Model(torch.nn.Module):
    pass

def scale(x, x_is_new=False):
    factor = x * 2
    gone = x
    del gone
    if x_is_new:
        x = "new"
        raise ValueError(factor)
    for row in [1, 2.0]:
        last = row
    return factor

def ask(box):
    return box.rate, getattr(box, "rare", None), getattr(box, "sizes", None)

scale(torch.rand(1, device="cuda"))
try:
    scale(3, True)
except ValueError:
    pass
for box in (Base(), Computing(), Model()):
    try:
        ask(box)
    except AttributeError:
        pass
"""


def test_facts_say_what_variables_are_at_the_end_of_a_call(observe):
    words = observe(VARIABLES, "--simulate").words("program:scale")
    assert {name: words[name] for name in words if name.endswith(" bound")} == {
        "factor bound": {"gpu float": 1, "int": 1},  # of the call that raised too
        "x bound": {"gpu float": 1, "text": 1},
        "row bound": {"float": 1},
        "last bound": {"float": 1},
    }


def test_facts_say_what_the_class_of_an_object_holds_and_what_nothing_holds(observe):
    words = observe(VARIABLES, "--simulate").words("program:ask")
    assert words["box.rate"] == words["box.rate after"] == {"float": 2}
    assert words["box.rare"] == {"absent": 2}  # one class computes it
    assert words["box.sizes"] == {"absent": 1}  # a list of a class is nobody's data
