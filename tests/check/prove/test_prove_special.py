"""Special methods run where no call is written: of operators, of Python's functions, and of code that an object is given to."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import PRELUDE, assert_the_wait_decides, proved

HIDDEN = {
    "a class that json is given": """
    class E(json.JSONEncoder):
        def default(self, o):
            torch.cuda.synchronize()
    def step(x):
        return json.dumps(object, cls=E)
""",
    "a length that the class below assigns": """
    class A:
        def __len__(self):
            return 1
    class B(A):
        def slow(self):
            torch.cuda.synchronize()
            return 1
        __len__ = slow
    def step(b: A):
        return len(b)
""",
    "an iterator that the class assigns": """
    def slow(self):
        torch.cuda.synchronize()
        return iter(())
    class B:
        __iter__ = slow
    def step(b: B):
        for x in b:
            pass
""",
    "a truth that the class assigns": """
    class B:
        __bool__ = lambda self: wait() == 1
    def step(b: B):
        if b:
            return 1
""",
    "a comparison that a function makes": """
    def make(n):
        def eq(self, o):
            torch.cuda.synchronize()
            return True
        return eq
    class B:
        __eq__ = make('a')
    def step(b: B, c: B):
        return b == c
""",
    "a value that an enumeration lacks": """
    class E(enum.Enum):
        A = 1
        @classmethod
        def _missing_(cls, v):
            torch.cuda.synchronize()
            return cls.A
    def step():
        return E(3)
""",
    "a key that a dictionary lacks": """
    class D(dict):
        def __missing__(self, k):
            torch.cuda.synchronize()
            return 1
    def step(d: D):
        return d['a']
""",
    "an item that `UserDict` reads": """
    class D(collections.UserDict):
        def __getitem__(self, k):
            torch.cuda.synchronize()
            return 1
    def step(d: D):
        return d.get('a')
""",
    "the comparison of fields": """
    class K:
        def __eq__(self, o):
            torch.cuda.synchronize()
            return True
    @dataclass
    class B:
        k: K
    def step(b: B, c: B):
        return b == c
""",
    "the hash of fields": """
    class K:
        def __hash__(self):
            torch.cuda.synchronize()
            return 1
    @dataclass(frozen=True)
    class B:
        k: K
    def step(b: B):
        return {b}
""",
    "the order of fields": """
    class K:
        def __lt__(self, o):
            torch.cuda.synchronize()
            return True
    @dataclass(order=True)
    class B:
        k: K
    def step(b: B, c: B):
        return b < c
""",
    "what a subclass of tensors runs": """
    class T(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *a, **k):
            torch.cuda.synchronize()
    def step(x: torch.Tensor):
        return x + 1
""",
    "the key of a cache": """
    class K:
        def __hash__(self):
            torch.cuda.synchronize()
            return 1
    @functools.lru_cache
    def f(k):
        return 1
    def step(k: K):
        f(k)
""",
    "an order that one method gives": """
    @functools.total_ordering
    class K:
        def __eq__(self, o):
            return True
        def __lt__(self, o):
            torch.cuda.synchronize()
            return True
    def step(a: K, b: K):
        return a >= b
""",
    "an `isinstance` that the class answers": """
    import abc
    class A(abc.ABC):
        @classmethod
        def __subclasshook__(cls, c):
            torch.cuda.synchronize()
            return True
    def step(x):
        isinstance(x, A)
""",
    "what `print` writes to": """
    class F:
        def write(self, r):
            torch.cuda.synchronize()
    def step(f: F):
        print('x', file=f)
""",
    "a method of a module that another calls": """
    class M(torch.nn.Module):
        def train(self, mode=True):
            torch.cuda.synchronize()
    def step(m: M):
        m.eval()
""",
    "a method of a module inside": """
    class M(torch.nn.Module):
        def train(self, mode=True):
            torch.cuda.synchronize()
    class N(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.m = M()
    def step(n: N):
        n.eval()
""",
    "a method that `state_dict` calls": """
    class M(torch.nn.Module):
        def _save_to_state_dict(self, *a):
            torch.cuda.synchronize()
    def step(m: M):
        m.state_dict()
""",
    "a destructor": """
    class B:
        def __del__(self):
            torch.cuda.synchronize()
    def step():
        B()
""",
    "the fields that a constructor sets": """
    @dataclass
    class B:
        size: int = 0
        def __setattr__(self, name, value):
            if name == 'size':
                torch.cuda.synchronize()
    def step():
        B()
""",
    "a copy of a record": """
    @dataclass
    class B:
        size: int = 0
        def __post_init__(self):
            torch.cuda.synchronize()
    def step(b: B):
        import dataclasses
        dataclasses.replace(b, size=1)
""",
}
# The callee there is unknown, with a wait or without.
UNKNOWN = {
    "a copy of an unknown record": """
    @dataclass
    class B:
        x: int = 0
        def __post_init__(self):
            torch.cuda.synchronize()
    def step(b):
        return dataclasses.replace(b, x=1)
""",
    "a module by its name": """
    def step():
        sys.modules[__name__].wait()
""",
    "an attribute of a module by its name": """
    import os
    def step():
        getattr(sys.modules['__main__'], 'wait')()
""",
    "what a table has for a function": """
    REG = {'q': wait}
    def waits(f):
        return REG.get(f.__name__, f)
    @waits
    def q():
        return 1
    def step():
        q()
""",
    "what a decorator was given": """
    def use(o):
        def deco(f):
            return o
        return deco
    @use(wait)
    def q():
        return 1
    def step():
        q()
""",
    "values of a dictionary of protocols": """
    D: dict[str, type[Go]] = {'a': Waiting}
    def step():
        for f in D.values():
            f()
""",
    "a value of a dictionary of protocols": """
    D: dict[str, Job] = {'a': wait}
    def step():
        D['a']()
""",
    "a registered function": """
    REG: dict[str, Job] = {}
    def reg(f):
        REG[f.__name__] = f
        return f
    @reg
    def slow():
        torch.cuda.synchronize()
    def step():
        REG['slow']()
""",
    "one of registered functions": """
    REG: list[Job] = []
    def reg(f):
        REG.append(f)
        return f
    @reg
    def slow():
        torch.cuda.synchronize()
    def step():
        for f in REG:
            f()
""",
    "a registered class": """
    REG: dict[str, type[Go]] = {}
    def reg(f):
        REG[f.__name__] = f
        return f
    @reg
    class Slow:
        def __init__(self):
            torch.cuda.synchronize()
        def go(self):
            ...
    def step():
        REG['Slow']()
""",
    "items of a list of protocols": """
    class S:
        def go(self):
            torch.cuda.synchronize()
    def g() -> list[Go]:
        return [S()]
    def step():
        for s in g():
            s.go()
""",
}


@pytest.mark.parametrize("program", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_wait_behind_it_is_not_proved_and_the_same_without_the_wait_is(program: str) -> None:
    assert_the_wait_decides(PRELUDE + program)


# Special methods, each with code that runs it on the object ``own``; ``owns`` is a list of such objects.
RUNS = [
    ("__add__", "sum(owns, own)"),
    ("__radd__", "sum(owns)"),
    ("__gt__", "n = 1 < own"),
    ("__divmod__", "divmod(own, 2)"),
    ("__pow__", "pow(own, 2)"),
    ("__bytes__", "bytes(own)"),
    ("__complex__", "complex(own)"),
    ("__index__", "hex(own)"),
    ("__index__", "names[own]"),
    ("__index__", "names * own"),
    ("__index__", "torch.zeros(own)"),
    ("__dir__", "dir(own)"),
    ("__fspath__", "open(own)"),
    ("__float__", "math.sqrt(own)"),
    ("__ceil__", "math.ceil(own)"),
    ("__getstate__", "pickle.dumps(own)"),
    ("write", "print(n, file=own)"),
    ("__delattr__", "delattr(own, 'size')"),
    ("__delitem__", "del own[0]"),
    ("__index__", "del names[own]"),
    ("__hash__", "del places[own]"),
    ("__iter__", "names.extend(own)"),
    ("__iter__", "names += own"),
    ("__iter__", "names[:] = own"),
    ("__iter__", "dict(own)"),
    ("keys", "dict(own)"),
    ("keys", "dict(**own)"),
    ("keys", "{**own}"),
    ("keys", "known.update(own)"),
    ("__eq__", "{own} & {*owns}"),
    ("__hash__", "some | {*owns}"),
]
OF_ASYNC = [("__await__", "await own"), ("__anext__", "async for each in own: n = 1")]
PROGRAM = """
    import math, pickle
    class Own:
        def {method}(self, *args):
            torch.cuda.synchronize()
            return 1
    {kind} step(own: Own, owns: list[Own], some: set[Own], places: dict[Own, int], known: dict[str, int], names: list[str], n: int) -> None:
        {code}
"""


@pytest.mark.parametrize(("method", "code"), [*RUNS, *OF_ASYNC])
def test_a_special_method_that_waits_is_not_proved_and_another_is(method: str, code: str) -> None:
    program = PROGRAM.format(
        method=method, code=code, kind="async def" if (method, code) in OF_ASYNC else "def"
    )
    assert_the_wait_decides(program)


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("__enter__", "with own: pass"),
        ("__iter__", "for each in own: pass"),
        ("__eq__", "own == n"),
        ("__hash__", "{own}"),
        ("__str__", "str(own)"),
        ("__len__", "len(own)"),
        ("__len__", "len(anything)"),
        ("__getattr__", "own.size"),
        ("__setattr__", "own.size = 1"),
        ("__init__", "Own()"),
    ],
)
def test_the_decorator_of_a_special_method_runs(method: str, code: str) -> None:
    program = f"""
        def decorator(function):
            def wrapper(*args):
                torch.cuda.synchronize()
            return wrapper
        class Own:
            @decorator
            def {method}(self, *args):
                return 1
            def __exit__(self, *args): pass
        def step(own: Own, n: int, anything) -> None:
            {code}
    """
    assert_the_wait_decides(program)


@pytest.mark.parametrize("program", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_what_may_be_called_there_is_an_obstacle(program: str) -> None:
    assert not proved(PRELUDE + program).is_proved
