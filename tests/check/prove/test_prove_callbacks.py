"""Functions and classes as values: the proof follows them, and counts what code outside of the project may call."""

from __future__ import annotations

import pytest

from syncscan.check.prove.answer import Certificate, Group
from tests.check.prove.proving import proved

WAIT = """
    import functools, threading, types
    from collections.abc import Callable
    def wait() -> int:
        torch.cuda.synchronize()
        return 1
    class Waiting:
        def __init__(self) -> None:
            torch.cuda.synchronize()
"""
CALLED = {
    "a thread": """
    def step() -> None:
        threading.Thread(target=wait).start()
""",
    "a thread of the project": """
    class Worker(threading.Thread):
        pass
    def step() -> None:
        Worker(target=wait).start()
""",
    "the initialiser of a thread": """
    class Worker(threading.Thread):
        def __init__(self, job) -> None:
            super().__init__(target=job)
    def step() -> None:
        Worker(wait)
""",
    "a function of torch": """
    def step(x: torch.Tensor) -> None:
        torch.utils.checkpoint.checkpoint(wait, x)
""",
    "a list for a function of torch": """
    def step(x: torch.Tensor) -> None:
        torch.utils.checkpoint.checkpoint_sequential([wait], 1, x)
""",
    "a class for a function of Python": """
    def step(xs: list[int]) -> None:
        list(map(Waiting, xs))
""",
    "an iterator": """
    def step() -> None:
        for each in iter(wait, 0):
            pass
""",
    "a partial function": """
    def step() -> None:
        functools.partial(wait)()
""",
    "a parameter": """
    def run(job) -> None:
        job()
    def step() -> None:
        run(wait)
""",
    "a parameter that is a class": """
    def run(job) -> None:
        job()
    def step() -> None:
        run(Waiting)
""",
    "an annotated class": """
    def run(job: type[Waiting]) -> None:
        job()
    def step() -> None:
        run(Waiting)
""",
    "an attribute": """
    class Box:
        def __init__(self) -> None:
            self.job = wait
        def run(self) -> None:
            self.job()
    def step(box: Box) -> None:
        box.run()
""",
    "a result": """
    def chosen() -> Callable[[], int]:
        return wait
    def step() -> None:
        chosen()()
""",
    "a table": """
    JOBS = {"wait": wait}
    def step(name: str) -> None:
        JOBS[name]()
""",
    "a function of torch that the project replaces": """
    def step() -> None:
        torch.cuda.empty_cache = wait
""",
    "setattr on a module of torch": """
    def step() -> None:
        setattr(torch.cuda, "empty_cache", wait)
""",
    "the forward of a module": """
    class Net(torch.nn.Module):
        def forward(self) -> int:
            return 1
        def swap(self) -> None:
            self.forward = wait
    def step(net: Net) -> None:
        net.swap()
        net()
""",
    "what a decorator returns": """
    def waits(function):
        return wait
    @waits
    def quick() -> int:
        return 1
    def step() -> None:
        quick()
""",
    "what a decorator with arguments returns": """
    def waits(name: str):
        def decorator(function):
            def wrapper():
                return wait()
            return wrapper
        return decorator
    @waits("a")
    def quick() -> int:
        return 1
    def step() -> None:
        quick()
""",
    "a class that a decorator makes": """
    def waits(cls):
        class Slow(cls):
            def __init__(self) -> None:
                torch.cuda.synchronize()
        return Slow
    @waits
    class Quick:
        def __init__(self) -> None:
            self.size = 1
    def step() -> None:
        Quick()
""",
}


def obstacles(certificate: Certificate) -> list[tuple[Group, str]]:
    """Return the groups and the functions of the obstacles."""
    return [(each.group, each.finding.function) for each in certificate.obstacles]


@pytest.mark.parametrize("program", CALLED.values(), ids=CALLED.keys())
def test_no_receiver_of_a_function_that_waits_is_forgotten(program: str) -> None:
    assert not proved(WAIT + program).is_proved


PASSED = {
    "typing.cast": """
    from typing import cast
    def step(x: object) -> None:
        cast(Waiting, x)
""",
    "a test of the class": """
    def step(x: int) -> bool:
        return isinstance(x, Waiting)
""",
    "a table of classes": """
    SORTS = {"waiting": Waiting}
    def step(name: str) -> int:
        return len(SORTS)
""",
}


@pytest.mark.parametrize("program", PASSED.values(), ids=PASSED.keys())
def test_naming_a_class_makes_no_object(program: str) -> None:
    assert obstacles(proved(WAIT + program)) == []


def test_a_function_that_is_followed_counts_where_it_is_called() -> None:
    program = """
    class Layer:
        def __init__(self) -> None:
            self.run = self.on_host
        def on_host(self) -> int:
            return 1
        def on_gpu(self) -> None:
            torch.cuda.synchronize()
        def named(self) -> bool:
            return self.run == self.on_gpu
    def step(layer: Layer) -> int:
        return layer.run() if layer.named() else 2
    """
    assert obstacles(proved(program)) == []


SETTER = """
    class Config:
        def __setattr__(self, name: str, value: object) -> None:
            if name == "model" and value is not None:
                torch.cuda.synchronize()
            elif name in {"text", "audio"}:
                torch.cuda.synchronize()
            super().__setattr__(name, value)
"""


@pytest.mark.parametrize(
    ("statement", "is_proved"),
    [
        ("box.size = 3", True),
        ("setattr(box, 'size', 3)", True),
        ("box.model = 3", False),
        ("box.audio = 3", False),
        ("setattr(box, 'model', 3)", False),
        ("setattr(box, name, 3)", False),
        ("box.size, box.model = 3, 4", False),
    ],
)
@pytest.mark.parametrize("annotation", ["", ": Config"])
def test_setattr_runs_for_the_name_that_is_set(statement: str, is_proved: bool, annotation: str) -> None:
    program = f"{SETTER}\n    def step(box{annotation}, name: str) -> None:\n        {statement}\n"
    assert proved(program).is_proved is is_proved


def test_a_setter_that_sets_the_attribute_of_another_object_comes_to_an_end() -> None:
    program = """
        class Config:
            def __setattr__(self, name: str, value: object) -> None:
                if name == "other":
                    torch.cuda.synchronize()
                setattr(self.inner, name, value)
        def step(box, x: int) -> None:
            box.size = x
        def slow(box, x: int) -> None:
            box.other = x
    """
    assert not any(function == "Config.__setattr__" for _, function in obstacles(proved(program)))
    assert any(function == "Config.__setattr__" for _, function in obstacles(proved(program, entry="slow")))
