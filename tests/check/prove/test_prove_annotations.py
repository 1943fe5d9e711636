"""Annotations as premises of a proof: literals, and names of types."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

PROMISED = {
    "literals-and-names-of-types": """
        from typing import Literal, Optional, Union
        Mode = Literal["sum", "mean"]
        Count = Union[int, None]
        class Own:
            def __eq__(self, other) -> bool:
                return torch.ones(1).item() == 1
        def step(x: torch.Tensor, mode: Mode, other: Optional[Literal[1, "a"]], n: Count, names: "list[Mode]") -> torch.Tensor:
            return x if mode == "sum" or other == 1 or n == 3 or names[0] == "mean" else x + 1
    """,
}
OPEN = {
    "name-of-an-iterable": """
        from typing import Iterable
        Counts = Iterable[int]
        class Lazy:
            def __iter__(self):
                torch.ones(1).item()
                yield 1
        def step(counts: Counts) -> int:
            for each in counts:
                pass
            return 1
    """,
    "literal-of-a-member": """
        from typing import Literal
        class Mode:
            def __eq__(self, other: object) -> bool:
                return bool(torch.ones(1, device="cuda"))
            A = 1
        def step(mode: Literal[Mode.A, "b"]) -> int:
            return 1 if mode == "b" else 2
    """,
    "variance-of-a-distribution": """
        from torch.distributions import Distribution
        def step(base: Distribution, scale: torch.Tensor) -> torch.Tensor:
            return base.variance * scale
    """,
    "method-of-a-module-of-torch": """
        def step(module: torch.nn.Module, device: torch.device) -> None:
            module.to(device)
    """,
    "method-of-a-type-variable": """
        import typing
        T = typing.TypeVar("T", bound=torch.nn.Module)
        def step(module: T, device: torch.device) -> T:
            return module.to(device)
    """,
}


@pytest.mark.parametrize("name", PROMISED)
def test_what_an_annotation_says_is_promised(name: str) -> None:
    assert proved(PROMISED[name]).is_proved


@pytest.mark.parametrize("name", OPEN)
def test_what_an_annotation_leaves_open_counts(name: str) -> None:
    assert not proved(OPEN[name]).is_proved


COPIED = """
class Settings:
    def __init__(self, **options) -> None:
        self.size = options["size"]
def step(settings: Settings, device: torch.device) -> torch.Tensor:
    return torch.tensor(settings.size, device=device)
"""


def test_what_is_assumed_to_be_plain_is_copied_to_the_gpu() -> None:
    found = proved(COPIED, "program:Settings.*.is_plain = True").obstacles
    assert [each.finding.line for each in found] == [7]


@pytest.mark.parametrize(("data", "is_proved"), [("[]", True), ("()", True), ("[1]", False), ("rows", False)])
def test_a_tensor_of_no_data_copies_nothing(data: str, *, is_proved: bool) -> None:
    program = f"def step(rows: list[int]) -> torch.Tensor:\n    return torch.tensor({data}, device='cuda')\n"
    assert proved(program).is_proved is is_proved


@pytest.mark.parametrize(("bound", "is_proved"), [("n", True), ("any", False)])
def test_a_slice_of_numbers_is_an_index_on_the_host(bound: str, *, is_proved: bool) -> None:
    program = f"def step(x: torch.Tensor, n: int, any) -> torch.Tensor:\n    return x[slice({bound}, None)]\n"
    assert proved(program).is_proved is is_proved
