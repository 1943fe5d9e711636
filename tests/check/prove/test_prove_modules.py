"""Modules that are moved, and modules in containers."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

# A class whose methods give torch another module to return.
OVERRIDES = """
    class Waits(torch.nn.Module):
        def forward(self, x): return x.sum().item()
    class Odd(torch.nn.Module):
        def {method}: return Waits()
        def forward(self, x): return x
    class Engine:
        def __init__(self):
            self.odd = Odd().{call}
        def step(self, x): return self.odd(x)
    def step(engine: Engine, x: torch.Tensor):
        return engine.step(x)
"""
PROVED = {
    "a-module-that-is-moved": """
        class Block(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x + 1
        class Engine:
            def __init__(self, block: Block, device: torch.device) -> None:
                self.block = block.to(device).eval()
                self.other = Block().half().cuda().requires_grad_(False)
            def step(self, x: torch.Tensor) -> torch.Tensor:
                return self.other(self.block(x))
        def step(engine: Engine, x: torch.Tensor) -> torch.Tensor:
            return engine.step(x)
    """,
    "modules-in-containers-whose-class-is-asserted": """
        class Block(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x + 1
        class Model(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.blocks = torch.nn.ModuleList([Block(), Block()])
                self.named = torch.nn.ModuleDict({"a": Block()})
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                for number, block in enumerate(self.blocks):
                    assert isinstance(block, Block)
                    x = block(x) + number
                for name, block in self.named.items():
                    assert isinstance(block, Block)
                    x = block(x)
                return x
        def step(model: Model, x: torch.Tensor) -> torch.Tensor:
            return model(x)
    """,
}
HIDDEN = {
    "a-list-of-modules-that-blocks": """
        class Bad(torch.nn.ModuleList):
            def __iter__(self):
                torch.cuda.synchronize()
                return super().__iter__()
        def step(blocks: torch.nn.ModuleList) -> None:
            for block in blocks:
                pass
    """,
    "a-dictionary-of-modules-that-blocks": """
        class Bad(torch.nn.ModuleDict):
            def values(self):
                torch.cuda.synchronize()
                return []
        def step(blocks: torch.nn.ModuleDict) -> None:
            for block in blocks.values():
                pass
    """,
    "modules-from-a-generator-that-blocks": """
        def step(x) -> torch.nn.ModuleList:
            return torch.nn.ModuleList(x)
    """,
    "what-apply-returns": OVERRIDES.format(method="_apply(self, fn)", call="half()"),
    "what-train-returns": OVERRIDES.format(method="train(self, mode=True)", call="eval()"),
    "a-module-in-a-container": """
        class Waits(torch.nn.Module):
            def forward(self, x): return x.sum().item()
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = torch.nn.ModuleList([Waits()])
                self.all = torch.nn.Sequential(Waits())
            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x
        def step(model: Model, x: torch.Tensor):
            return model(x)
    """,
    "modules-that-a-container-runs": """
        class Waits(torch.nn.Module):
            def forward(self, x): return x.sum().item()
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.all = torch.nn.Sequential(Waits())
            def forward(self, x):
                return self.all(x)
        def step(model: Model, x: torch.Tensor):
            return model(x)
    """,
}


@pytest.mark.parametrize("program", PROVED.values(), ids=PROVED.keys())
def test_a_program_without_a_wait_is_proved(program: str) -> None:
    assert [each.finding.message for each in proved(program).obstacles] == []


@pytest.mark.parametrize("program", HIDDEN.values(), ids=HIDDEN.keys())
def test_no_program_with_a_wait_is_proved(program: str) -> None:
    assert not proved(program).is_proved


@pytest.mark.parametrize("code", ["Filter().to(x)(x)", "nn.Linear(3, 3).to(x)", "made.to(x)"])
def test_a_module_moves_to_the_place_of_a_tensor(code: str) -> None:
    program = f"""
        from torch import nn
        class Filter(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("taps", torch.ones(3))
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x * self.taps
        def step(x: torch.Tensor, made: Filter) -> object:
            return {code}
    """
    assert not proved(program).is_proved
    on_host = program.replace(
        "            return " + code, "            assert x.is_cpu\n            return " + code
    )
    assert proved(on_host).is_proved
