"""Properties, descriptors and setters run where an attribute is read, set or deleted."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import PRELUDE, assert_the_wait_decides

HIDDEN = {
    "a deleter": """
    class P:
        @property
        def x(self):
            return 1
        @x.deleter
        def x(self):
            torch.cuda.synchronize()
    def step(p: P):
        del p.x
""",
    "an annotated descriptor": """
    class D:
        def __get__(self, o, c):
            torch.cuda.synchronize()
    class B:
        x: int = D()
    def step(b: B):
        return b.x
""",
    "a descriptor from a function": """
    class D:
        def __get__(self, o, c):
            torch.cuda.synchronize()
    def make():
        return D()
    class B:
        x = make()
    def step(b: B):
        return b.x
""",
    "a descriptor of the module": """
    class D:
        def __get__(self, o, c):
            torch.cuda.synchronize()
    DD = D()
    class B:
        x = DD
    def step(b: B):
        return b.x
""",
    "a descriptor of an unknown object": """
    class D:
        def __get__(self, o, c):
            torch.cuda.synchronize()
    class B:
        x = D()
    def step(b):
        return b.x
""",
    "a descriptor that is set on an unknown object": """
    class D:
        def __set__(self, o, v):
            torch.cuda.synchronize()
    class B:
        x = D()
    def step(b):
        b.x = 1
""",
    "a descriptor of a class above": """
    class D0:
        def __get__(self, o, c):
            torch.cuda.synchronize()
    class D(D0):
        pass
    class A:
        x = D()
    class B(A):
        pass
    def step(b: B):
        return b.x
""",
    "a cached property of a lambda": """
    class B:
        size = functools.cached_property(lambda self: torch.cuda.synchronize())
    def step():
        return B().size
""",
    "the setter of a sibling": """
    class Mix:
        def __setattr__(self, name, value):
            if name == 'size':
                torch.cuda.synchronize()
    class A:
        pass
    class D(A, Mix):
        pass
    def step(a: A):
        a.size = 3
""",
    "the property of a sibling": """
    class Mix:
        @property
        def size(self):
            return 1
        @size.setter
        def size(self, v):
            torch.cuda.synchronize()
    class A:
        pass
    class D(Mix, A):
        pass
    def step(a: A):
        a.size = 3
""",
    "an assigned setter": """
    def slow(self, n, v):
        torch.cuda.synchronize()
    class B:
        __setattr__ = slow
    def step(b: B):
        b.size = 1
""",
    "an assigned lambda as setter": """
    class B:
        __setattr__ = lambda self, n, v: torch.cuda.synchronize()
    def step(b: B):
        b.size = 1
""",
    "a setter that `property` is given": """
    class B:
        def _g(self):
            return 1
        def _s(self, v):
            torch.cuda.synchronize()
        size = property(_g, _s)
    def step(b: B):
        b.size = 3
""",
    "a descriptor that is set": """
    class Dsc:
        def __set__(self, o, v):
            torch.cuda.synchronize()
    class B:
        size = Dsc()
    def step(b: B):
        b.size = 3
""",
    "a descriptor that is read": """
    class Dsc:
        def __get__(self, o, c=None):
            torch.cuda.synchronize()
    class B:
        size = Dsc()
    def step(b: B):
        b.size
""",
    "a descriptor that `setattr` sets": """
    class Dsc:
        def __set__(self, o, v):
            torch.cuda.synchronize()
    class B:
        size = Dsc()
    def step(b: B):
        setattr(b, 'size', 3)
""",
    "a `__delattr__`": """
    class B:
        def __delattr__(self, n):
            torch.cuda.synchronize()
    def step(b: B):
        del b.size
""",
    "a property of a metaclass": """
    class M(type):
        @property
        def size(cls):
            torch.cuda.synchronize()
            return 1
    class B(metaclass=M):
        pass
    def step():
        return B.size
""",
    "a descriptor read from the class": """
    class D:
        def __get__(self, o, c):
            torch.cuda.synchronize()
    class B:
        x = D()
    def step():
        return B.x
""",
    "a setter that a decorator sets": """
    def deco(cls):
        def s(self, n, v):
            torch.cuda.synchronize()
        cls.__setattr__ = s
        return cls
    @deco
    class B:
        pass
    def step(b: B):
        b.x = 1
""",
    "a descriptor in the place of a method": """
    class D:
        def __get__(self, o, c):
            torch.cuda.synchronize()
    def deco(f):
        return D()
    class B:
        @deco
        def go(self):
            return 1
    def step(b: B):
        b.go
""",
    "a property that an object replaces": """
    class B:
        @property
        def size(self):
            return 1
    def slow(self):
        torch.cuda.synchronize()
        return 1
    class P:
        def __get__(self, o, c=None):
            torch.cuda.synchronize()
    def step():
        B.size = P()
        return B().size
""",
    "a setter that a decorator replaces": """
    def slow(self, n, v):
        torch.cuda.synchronize()
    def deco(f):
        return slow
    class B:
        @deco
        def __setattr__(self, name, value):
            pass
    def step(b: B):
        b.size = 1
""",
    "a setter that `object` runs": """
    class B:
        @property
        def size(self):
            return 1
        @size.setter
        def size(self, value):
            torch.cuda.synchronize()
    def step(b: B):
        object.__setattr__(b, 'size', 1)
""",
    "a property that `hasattr` reads": """
    class B:
        @property
        def size(self):
            torch.cuda.synchronize()
    def step(b: B):
        return hasattr(b, 'size')
""",
}


@pytest.mark.parametrize("program", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_wait_behind_it_is_not_proved_and_the_same_without_the_wait_is(program: str) -> None:
    assert_the_wait_decides(PRELUDE + program)
