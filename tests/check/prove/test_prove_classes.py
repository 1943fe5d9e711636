"""Code that runs where a class is defined, decorated or called."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import PRELUDE, assert_the_wait_decides

HIDDEN = {
    "a subscript of a class": """
    class B:
        def __class_getitem__(cls, i):
            torch.cuda.synchronize()
            return cls
    def step():
        return B[1]
""",
    "the iteration over a class": """
    class M(type):
        def __iter__(cls):
            torch.cuda.synchronize()
            return iter(())
    class B(metaclass=M):
        pass
    def step():
        for x in B:
            pass
""",
    "an `isinstance` that a metaclass answers": """
    class M(type):
        def __instancecheck__(cls, o):
            torch.cuda.synchronize()
            return True
    class B(metaclass=M):
        pass
    def step(x):
        return isinstance(x, B)
""",
    "a context as decorator": """
    class Ctx(contextlib.ContextDecorator):
        def __enter__(self):
            torch.cuda.synchronize()
        def __exit__(self, *a):
            pass
    @Ctx()
    def f():
        return 1
    def step():
        f()
""",
    "an object in the place of a class": """
    def deco(cls):
        return Caller()
    @deco
    class B:
        pass
    def step():
        B()
""",
    "another class in the place of a class": """
    TABLE = {'B': Waiting}
    def deco(cls):
        return TABLE[cls.__name__]
    @deco
    class B:
        pass
    def step():
        B()
""",
    "an object in the place of a method": """
    class Caller2:
        def __get__(self, o, c):
            return self
        def __call__(self):
            torch.cuda.synchronize()
    def deco(f):
        return Caller2()
    class B:
        @deco
        def go(self):
            return 1
    def step(b: B):
        b.go()
""",
    "the decorator of a class": """
    def deco(cls):
        torch.cuda.synchronize()
        return cls
    def step():
        @deco
        class D:
            pass
""",
    "the call among bases": """
    def make():
        torch.cuda.synchronize()
        return object
    def step():
        class D(make()):
            pass
""",
    "the call among keywords of a class": """
    class B:
        def __init_subclass__(cls, n):
            pass
    def step():
        class D(B, n=wait()):
            pass
""",
    "the metaclass of a class": """
    class M(type):
        def __new__(m, *a):
            torch.cuda.synchronize()
            return super().__new__(m, *a)
    def step():
        class D(metaclass=M):
            pass
""",
    "the metaclass of a class above": """
    class M(type):
        def __init__(m, *a):
            torch.cuda.synchronize()
    class B(metaclass=M):
        pass
    def step():
        class D(B):
            pass
""",
    "a class that `type` makes": """
    class B:
        def __init_subclass__(cls):
            torch.cuda.synchronize()
    def step():
        type('D', (B,), {})
""",
    "an object in the place of a function": """
    class Caller:
        def __call__(self):
            torch.cuda.synchronize()
    def waits(f):
        return Caller()
    @waits
    def q():
        return 1
    def step():
        q()
""",
    "an object of the module in the place of a function": """
    class Caller:
        def __call__(self):
            torch.cuda.synchronize()
    CALLER = Caller()
    def waits(f):
        return CALLER
    @waits
    def q():
        return 1
    def step():
        q()
""",
    "a class above that is told of subclasses": """
    class B:
        def __init_subclass__(cls):
            torch.cuda.synchronize()
    def step():
        class D(B):
            pass
""",
    "a value that is told its name": """
    class N:
        def __set_name__(self, o, n):
            torch.cuda.synchronize()
    def step():
        class D:
            x = N()
""",
}


@pytest.mark.parametrize("program", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_wait_behind_it_is_not_proved_and_the_same_without_the_wait_is(program: str) -> None:
    assert_the_wait_decides(PRELUDE + program)
