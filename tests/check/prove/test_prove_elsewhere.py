"""Code that runs elsewhere than where it is written: patterns, stored generators, hooks, attributes of modules and classes."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import assert_the_wait_decides, proved, proved_files

PRELUDE = """
    import abc, collections, contextlib, typing
    from dataclasses import dataclass, field
    from typing import NamedTuple, Optional, Protocol
    def wait(*args) -> int:
        torch.cuda.synchronize()
        return 1
"""
HIDDEN = {
    "the bound of a slice": """
    class K:
        def __index__(self, *a):
            torch.cuda.synchronize()
            return 1
    def step(xs: list[int], k: K):
        return xs[k:]
""",
    "a number in a text": """
    class K:
        def __index__(self, *a):
            torch.cuda.synchronize()
            return 1
    def step(k: K):
        return '%d' % k
""",
    "the hash of a record": """
    class K:
        def __hash__(self):
            torch.cuda.synchronize()
            return 1
    @dataclass(frozen=True)
    class R:
        k: K
    def step(r: R):
        return hash(r)
""",
    "the keys of a new dictionary": """
    class K:
        def __hash__(self):
            torch.cuda.synchronize()
            return 1
    def step(a: list[K]):
        return dict.fromkeys(a)
""",
    "a mapping that may be None": """
    class K:
        def keys(self):
            torch.cuda.synchronize()
            return []
        def __getitem__(self, k):
            return 1
    def step(d: dict[str, int], k: K | None):
        d.update(k)
""",
    "an attribute that nothing sets": """
    class B:
        x: int
        def __getattr__(self, n):
            torch.cuda.synchronize()
            return 1
    def step(b: B):
        return b.x
""",
    "a method that `__getattribute__` gives": """
    class B:
        def go(self):
            return 1
        def __getattribute__(self, n):
            torch.cuda.synchronize()
            return object.__getattribute__(self, n)
    def step(b: B):
        return b.go()
""",
    "a deleter that `property` is given": """
    class B:
        def _d(self):
            torch.cuda.synchronize()
        x = property(None, None, _d)
    def step(b: B):
        del b.x
""",
    "the subscript of a class": """
    class M(type):
        def __getitem__(cls, n):
            torch.cuda.synchronize()
            return 1
    class B(metaclass=M):
        pass
    def step():
        return B['a']
""",
    "the text of a class": """
    class M(type):
        def __repr__(cls):
            torch.cuda.synchronize()
            return ''
    class B(metaclass=M):
        pass
    def step():
        return f'{B}'
""",
    "a property in a pattern": """
    class B:
        @property
        def x(self):
            torch.cuda.synchronize()
            return 'a'
    def step(b: B):
        match b:
            case B(x='a'):
                return 1
""",
    "a positional pattern": """
    class B:
        __match_args__ = ('x',)
        @property
        def x(self):
            torch.cuda.synchronize()
            return 1
    def step(b: B):
        match b:
            case B(y):
                return 1
""",
    "an attribute in a pattern": """
    class B:
        def __getattr__(self, n):
            torch.cuda.synchronize()
            return 1
    def step(b: B):
        match b:
            case B(x=y):
                return 1
""",
    "a pattern of a sequence": """
    class B(collections.abc.Sequence):
        def __len__(self):
            torch.cuda.synchronize()
            return 1
        def __getitem__(self, i):
            return 1
    def step(b: B):
        match b:
            case [x]:
                return 1
""",
    "a pattern of a mapping": """
    class B(collections.abc.Mapping):
        def __len__(self):
            return 1
        def __iter__(self):
            return iter(())
        def __getitem__(self, i):
            torch.cuda.synchronize()
            return 1
    def step(b: B):
        match b:
            case {'a': x}:
                return 1
""",
    "a text in a pattern": """
    class B:
        def __eq__(self, o):
            torch.cuda.synchronize()
            return True
    def step(b: B):
        match b:
            case 'a':
                return 1
""",
    "a layer of a class below": """
    class L(torch.nn.Linear):
        def forward(self, x):
            torch.cuda.synchronize()
            return x
    def step(m: torch.nn.Linear, x: torch.Tensor):
        return m(x)
""",
    "the hook of a layer": """
    def hook(*a):
        torch.cuda.synchronize()
    def setup(m: torch.nn.Linear):
        m.register_forward_hook(hook)
    def step(m: torch.nn.Linear, x: torch.Tensor):
        return m(x)
""",
    "a descriptor that a function sets": """
    class D:
        def __get__(self, o, t):
            torch.cuda.synchronize()
            return 1
    class B:
        pass
    def setup():
        B.x = D()
    def step(b: B):
        return b.x
""",
    "a method under a condition": """
    class B:
        if True:
            __len__ = wait
    def step(b: B):
        return len(b)
""",
    "one of several methods that are assigned": """
    class B:
        __len__, __iter__ = (wait, wait)
    def step(b: B):
        return len(b)
""",
    "an annotated property": """
    class B:
        x: int = property(wait)
    def step(b: B):
        return b.x
""",
    "the factory of an inherited field": """
    class K:
        def __init__(self):
            torch.cuda.synchronize()
    @dataclass
    class R0:
        k: K = field(default_factory=K)
    @dataclass
    class R(R0):
        z: int = 1
    def step():
        R()
""",
    "an assigned method of the class above": """
    class A:
        __len__ = wait
    class X(A):
        def __len__(self):
            return super().__len__()
    def step(x: X):
        return len(x)
""",
    "an assigned constructor of the class above": """
    class A:
        __init__ = wait
    class X(A):
        def __init__(self):
            super().__init__()
    def step():
        X()
""",
}
# The callee there is unknown, with a wait or without.
UNKNOWN = {
    "a stored generator": """
    class B:
        def __init__(self):
            self.g = self.gen()
        def gen(self):
            torch.cuda.synchronize()
            yield 1
    def step(b: B):
        for x in b.g:
            pass
""",
    "a generator of its own": """
    class B:
        def __init__(self):
            self.g = self.gen()
        def gen(self):
            while True:
                torch.cuda.synchronize()
                yield 1
    def step(b: B):
        return next(b.g)
""",
    "a generator expression of the module": """
    G = (wait() for _ in range(3))
    def step():
        return sum(G)
""",
    "a stored generator expression": """
    class B:
        def __init__(self):
            self.g = (wait() for _ in range(2))
    def step(b: B):
        return list(b.g)
""",
    "a `map` of the module": """
    G = map(wait, [1, 2])
    def step():
        return next(G)
""",
    "a stored context": """
    @contextlib.contextmanager
    def cm():
        torch.cuda.synchronize()
        yield
    class B:
        def __init__(self):
            self.c = cm()
    def step(b: B):
        with b.c:
            pass
""",
    "a context of the module": """
    @contextlib.contextmanager
    def cm():
        torch.cuda.synchronize()
        yield
    CM = cm()
    def step():
        with CM:
            pass
""",
    "a stored `reversed`": """
    class K:
        def __len__(self):
            return 1
        def __getitem__(self, i):
            torch.cuda.synchronize()
            return 1
    class B:
        def __init__(self):
            self.r = reversed(K())
    def step(b: B):
        return list(b.r)
""",
    "a function of torch in the place of a function": """
    def deco(f):
        return torch.cuda.synchronize
    @deco
    def f():
        return 1
    def step():
        f()
""",
    "an object of a protocol": """
    @typing.runtime_checkable
    class A(Protocol):
        def go(self):
            return 1
    def step(x):
        if isinstance(x, A):
            x.go()
""",
    "an object that a metaclass accepts": """
    class M(type):
        def __instancecheck__(cls, o):
            return True
    class A(metaclass=M):
        def go(self):
            return 1
    def step(x):
        if isinstance(x, A):
            x.go()
""",
    "a property that a function sets": """
    class B:
        pass
    def setup():
        B.x = property(wait)
    def step(b: B):
        return b.x
""",
}


@pytest.mark.parametrize("program", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_wait_behind_it_is_not_proved_and_the_same_without_the_wait_is(program: str) -> None:
    assert_the_wait_decides(PRELUDE + program)


@pytest.mark.parametrize("program", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_what_may_run_there_is_an_obstacle(program: str) -> None:
    assert not proved(PRELUDE + program).is_proved


def test_the_getattr_of_a_module_runs_for_what_the_module_only_declares() -> None:
    settings = """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            LEVEL: int = 0
        SIZE = 3
        def other():
            OTHER = 1
            return OTHER
        def __getattr__(name):
            torch.cuda.synchronize()
            return 1
    """
    for name, is_proved in [("LEVEL", False), ("OTHER", False), ("SIZE", True)]:
        program = f"""
            import settings
            def step() -> int:
                return settings.{name}
        """
        files = {"settings": settings, "program": program}
        assert proved_files(files, entry="program:step").is_proved is is_proved
