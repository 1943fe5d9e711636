"""A wait is named whichever way the program comes to it: none of these programs is proved."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

# Each has `step`, from which a wait on the GPU is reached in a way that no parentheses show, or that a name hides.
HIDDEN = {
    "property": """
        class Box:
            def __init__(self, x: torch.Tensor) -> None:
                self.x = x
            @property
            def total(self) -> int:
                return self.x.sum().item()
        def step(box: Box) -> int:
            return box.total
    """,
    "property-of-anything": """
        class Box:
            @property
            def total(self) -> int:
                return torch.ones(1, device="cuda").item()
        def step(box) -> None:
            box.total
    """,
    "property-of-a-subclass": """
        class Box:
            @property
            def total(self) -> int:
                return 0
        class GpuBox(Box):
            @property
            def total(self) -> int:
                return torch.ones(1, device="cuda").item()
        def step(box: Box) -> int:
            return box.total
    """,
    "made-property": """
        class Box:
            def _total(self) -> int:
                return torch.ones(1, device="cuda").item()
            total = property(_total)
        def step(box: Box) -> int:
            return box.total
    """,
    "setter": """
        class Box:
            @property
            def size(self) -> int:
                return 0
            @size.setter
            def size(self, value: int) -> None:
                torch.ones(1, device="cuda").item()
        def step(box: Box) -> None:
            box.size = 3
    """,
    "bool": """
        class Box:
            def __bool__(self) -> bool:
                return torch.ones(1, device="cuda").item() > 0
        def step(box: Box) -> int:
            return 1 if box else 2
    """,
    "len": """
        class Box:
            def __len__(self) -> int:
                return torch.ones(1, device="cuda").item()
        def step(box: Box) -> int:
            return len(box)
    """,
    "iter": """
        class Box:
            def __iter__(self):
                yield torch.ones(1, device="cuda").item()
        def step(box: Box) -> None:
            for _ in box:
                pass
    """,
    "unpacking": """
        class Box:
            def __iter__(self):
                yield torch.ones(1, device="cuda").item()
        def step(box: Box) -> None:
            a, b = box
    """,
    "operator": """
        class Box:
            def __add__(self, other: int) -> int:
                return torch.ones(1, device="cuda").item()
        def step(box: Box) -> int:
            return box + 1
    """,
    "reflected-operator": """
        class Box:
            def __radd__(self, other: int) -> int:
                return torch.ones(1, device="cuda").item()
        def step(box: Box) -> int:
            return 1 + box
    """,
    "getitem": """
        class Box:
            def __getitem__(self, index: int) -> int:
                return torch.ones(1, device="cuda").item()
        def step(box: Box) -> int:
            return box[0]
    """,
    "contains": """
        class Box:
            def __contains__(self, item: int) -> bool:
                return torch.ones(1, device="cuda").item() > 0
        def step(box: Box) -> bool:
            return 3 in box
    """,
    "getattr": """
        class Box:
            def __getattr__(self, name: str) -> int:
                return torch.ones(1, device="cuda").item()
        def step(box: Box) -> int:
            return box.anything
    """,
    "with": """
        class Region:
            def __enter__(self) -> None:
                pass
            def __exit__(self, *args: object) -> None:
                torch.cuda.synchronize()
        def step() -> None:
            with Region():
                pass
    """,
    "contextmanager": """
        import contextlib
        @contextlib.contextmanager
        def region():
            yield
            torch.cuda.synchronize()
        def step() -> None:
            with region():
                pass
    """,
    "decorator": """
        def waits(f):
            def wrapper():
                torch.cuda.synchronize()
                return f()
            return wrapper
        @waits
        def inner() -> None:
            pass
        def step() -> None:
            inner()
    """,
    "callback": """
        def wait(x: int) -> int:
            torch.cuda.synchronize()
            return x
        def step(xs: list[int]) -> list[int]:
            return sorted(xs, key=wait)
    """,
    "callback-kept": """
        def wait() -> None:
            torch.cuda.synchronize()
        def step(queue: list[int]) -> None:
            queue.append(wait)
    """,
    "lambda": """
        def step(xs: list[int]) -> list[int]:
            return list(map(lambda x: torch.cuda.synchronize(), xs))
    """,
    "default": """
        def step() -> None:
            def inner(x: int = torch.ones(1, device="cuda").item()) -> int:
                return x
    """,
    "forward": """
        class Layer(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                torch.cuda.synchronize()
                return x
        def step(layer: Layer, x: torch.Tensor) -> torch.Tensor:
            return layer(x)
    """,
    "hook": """
        def hook(module: torch.nn.Module, args: object, output: object) -> None:
            torch.cuda.synchronize()
        class Layer(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.register_forward_hook(hook)
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x
        def step(layer: Layer, x: torch.Tensor) -> torch.Tensor:
            return layer(x)
    """,
    "super": """
        class Base:
            def run(self) -> None:
                torch.cuda.synchronize()
        class Below(Base):
            def run(self) -> None:
                super().run()
        def step(it: Below) -> None:
            it.run()
    """,
    "super-through-a-mixin": """
        class Base:
            def run(self) -> None:
                pass
        class Mixin(Base):
            def run(self) -> None:
                super().run()
        class Waiting(Base):
            def run(self) -> None:
                torch.cuda.synchronize()
        class Both(Mixin, Waiting):
            pass
        def step(it: Mixin) -> None:
            it.run()
    """,
    "diamond": """
        class Base:
            def run(self) -> None:
                pass
        class Left(Base):
            pass
        class Right(Base):
            def run(self) -> None:
                torch.cuda.synchronize()
        class Both(Left, Right):
            pass
        def step(it: Left) -> None:
            it.run()
    """,
    "method-of-a-mixin-below": """
        class Base:
            def run(self) -> None:
                pass
        class Mixin:
            def run(self) -> None:
                torch.cuda.synchronize()
        class Both(Mixin, Base):
            pass
        def step(it: Base) -> None:
            it.run()
    """,
    "override": """
        class Base:
            def run(self) -> None:
                pass
        class Below(Base):
            def run(self) -> None:
                torch.cuda.synchronize()
        def step(it: Base) -> None:
            it.run()
    """,
    "replaced-method": """
        class Runner:
            def run(self) -> None:
                pass
        def wait() -> None:
            torch.cuda.synchronize()
        def setup(runner: Runner) -> None:
            runner.run = wait
        def step(runner: Runner) -> None:
            runner.run()
    """,
    "generator": """
        def items():
            torch.cuda.synchronize()
            yield 1
        def step() -> None:
            for _ in items():
                pass
    """,
    "async": """
        async def inner() -> None:
            torch.cuda.synchronize()
        async def step() -> None:
            await inner()
    """,
    "constructor": """
        class Box:
            def __init__(self) -> None:
                torch.cuda.synchronize()
        def step() -> None:
            Box()
    """,
    "default-factory": """
        from dataclasses import dataclass, field
        def wait() -> int:
            torch.cuda.synchronize()
            return 0
        @dataclass
        class Box:
            x: int = field(default_factory=wait)
        def step() -> None:
            Box()
    """,
    "post-init": """
        from dataclasses import dataclass
        @dataclass
        class Box:
            x: torch.Tensor
            def __post_init__(self) -> None:
                self.x.item()
        def step(x: torch.Tensor) -> None:
            Box(x)
    """,
    "autograd-function": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
                torch.cuda.synchronize()
                return x
        def step(x: torch.Tensor) -> torch.Tensor:
            return Double.apply(x)
    """,
    "backward": """
        def step(x: torch.Tensor) -> None:
            x.sum().backward()
    """,
    "two-definitions": """
        if torch.cuda.is_available():
            def inner() -> None:
                torch.cuda.synchronize()
        else:
            def inner() -> None:
                pass
        def step() -> None:
            inner()
    """,
    "rebound-global": """
        def inner() -> None:
            pass
        def setup(f) -> None:
            global inner
            inner = f
        def step() -> None:
            inner()
    """,
    "stale-global": """
        flag = False
        def other(x: torch.Tensor) -> None:
            global flag
            flag = x
        def step(x: torch.Tensor) -> int:
            global flag
            flag = False
            other(x)
            return 1 if flag else 2
    """,
    "nonlocal": """
        def step(x: torch.Tensor) -> int:
            flag = 0
            def other() -> None:
                nonlocal flag
                flag = x
            other()
            return 1 if flag else 2
    """,
    "stale-attribute": """
        class Runner:
            def other(self, x: torch.Tensor) -> None:
                self.flag = x
            def run(self, x: torch.Tensor) -> int:
                self.flag = 0
                self.other(x)
                return 1 if self.flag else 2
        def step(runner: Runner, x: torch.Tensor) -> int:
            return runner.run(x)
    """,
    "list-that-others-fill": """
        def fill(xs, x: torch.Tensor) -> None:
            xs.append(x)
        def step(x: torch.Tensor) -> int:
            xs = [1]
            fill(xs, x)
            return int(xs[0])
    """,
    "list-under-two-names": """
        def step(x: torch.Tensor) -> int:
            xs = [1]
            ys = xs
            ys.append(x)
            return int(xs[0])
    """,
    "list-in-a-list": """
        def step(x: torch.Tensor) -> int:
            xs = [[1]]
            for y in xs:
                y.append(x)
            return int(xs[0][0])
    """,
    "loop": """
        def step(x: torch.Tensor, n: int) -> int:
            a = b = c = 0
            for _ in range(n):
                a, b, c = b, c, x
            return int(a)
    """,
    "handler": """
        def step(x: torch.Tensor) -> int:
            y = 0
            try:
                y = x
                y = 1
            except ValueError:
                return int(y)
            return y
    """,
    "text": """
        def step(x: torch.Tensor) -> str:
            return f"{x}"
    """,
    "text-of-a-record": """
        from dataclasses import dataclass
        @dataclass
        class Box:
            x: torch.Tensor
        def step(box: Box) -> str:
            return f"{box}"
    """,
    "text-of-a-dictionary": """
        def step(x: torch.Tensor) -> None:
            print({"x": x})
    """,
    "comparison-of-lists": """
        def step(x: torch.Tensor) -> bool:
            return [x] == [x]
    """,
    "dtype-changed-by-position": """
        def step(x: torch.Tensor) -> torch.Tensor:
            mask = (x > 0).float().to(torch.bool)
            return x[mask]
    """,
    "sparse": """
        def make(i: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return torch.sparse_coo_tensor(i, v)
        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y
    """,
    "contradicted-annotation": """
        def inner(n: int) -> int:
            return n if n else 0
        def step(x: torch.Tensor) -> int:
            return inner(torch.ones(1, device="cuda"))
    """,
    "doubted-annotation": """
        def step(n: int) -> int:
            return int(n)
    """,
    "name-of-python-bound-again": """
        import functools
        print = functools.partial(print, flush=True)
        def step(x: torch.Tensor) -> None:
            print(x)
    """,
    "unknown-callee": """
        def step(processors, name: str) -> None:
            processors[name]()
    """,
    "unknown-package": """
        import flash_attn
        def step() -> None:
            flash_attn.run()
    """,
    "eval": """
        def step(text: str) -> None:
            eval(text)
    """,
    "match": """
        def step(x: torch.Tensor) -> int:
            match x:
                case 3:
                    return 1
            return 2
    """,
    "walrus": """
        def step(x: torch.Tensor, n: int) -> int:
            y = 0
            if n and (y := x) is not None:
                return int(y)
            return 0
    """,
    "comprehension-condition": """
        def step(xs: list[torch.Tensor]) -> list[int]:
            return [1 for x in xs if x]
    """,
}


@pytest.mark.parametrize("program", HIDDEN.values(), ids=HIDDEN.keys())
def test_no_program_with_a_wait_is_proved(program: str) -> None:
    assert not proved(program).is_proved
