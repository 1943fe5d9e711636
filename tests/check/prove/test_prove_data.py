"""`x.data = y` transfers a tensor under all its names."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

OFFLOAD = """
class Offload:
    def __init__(self, w: torch.Tensor) -> None:
        self.w = torch.zeros(2)
        SET
    def use(self) -> float:
        return self.w.sum().item()
def step(offload: Offload) -> float:
    return offload.use()
"""
SETTING = ("self.w.data = VALUE", "setattr(self.w, 'data', VALUE)", "self.w.data, w = VALUE, w")


@pytest.mark.parametrize("setting", SETTING)
@pytest.mark.parametrize(("value", "is_proved"), [("w", False), ("torch.ones(2)", True)])
def test_an_attribute_is_where_the_data_of_its_tensor_is_set_to(
    setting: str, value: str, *, is_proved: bool
) -> None:
    assert proved(OFFLOAD.replace("SET", setting.replace("VALUE", value))).is_proved is is_proved


STEP = """
def step(x: torch.Tensor, y: torch.Tensor, on_gpu: bool) -> float:
    assert x.is_cpu
    z = x
    SET
    return z.item()
"""


@pytest.mark.parametrize(
    ("setting", "is_proved"),
    [
        ("x.data = y", False),
        ("setattr(x, 'data', y)", False),
        ("x.data = torch.ones(1, device='cuda')", False),
        ("x.data = torch.ones(1)", True),
        ("x.data += 1", True),
    ],
)
def test_a_tensor_whose_data_may_go_to_another_device_is_an_obstacle(
    setting: str, *, is_proved: bool
) -> None:
    assert proved(STEP.replace("SET", setting)).is_proved is is_proved


SCALE = """
class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(3))
    def forward(self, x: torch.Tensor, y: torch.Tensor, n: int, a: float) -> None:
        for p in self.parameters():
            SET
def step(net: Net, x: torch.Tensor, y: torch.Tensor) -> None:
    net(x, y, 3, 0.5)
"""


@pytest.mark.parametrize(
    ("setting", "stays"),
    [
        ("self.w.data = self.w.data.clamp(0, 1)", True),
        ("p.data = p.data * 0.9", True),
        ("p.data = -(1 - a) * p.data", True),
        ("p.data = p.data - a * p.grad.data.clamp(min=-a)", True),
        ("p.data -= 0.1 * p.grad", True),
        ("p.data = p.data * y", False),
        ("p.data = self.w.data * a", False),
        ("p.data = p.data.to(x)", False),
        ("p.data = p.data.cpu()", False),
        ("p.data = p.data.cuda() * 2", False),
        ("p.data = p.data.type_as(x)", False),
        ("p.data = p.data.new_zeros(3, device='cpu')", False),
        ("p.data, q = p.data * 2, y", False),
    ],
)
def test_data_that_a_tensor_computes_from_its_own_stays_on_its_device(setting: str, *, stays: bool) -> None:
    obstacles = proved(SCALE.replace("SET", setting)).obstacles
    assert any("under all its names" in each.finding.message for each in obstacles) is not stays


@pytest.mark.parametrize("value", ["n", "[1, 2]", "'text'", "None"])
def test_no_tensor_has_a_number_a_text_or_a_list_as_its_data(value: str) -> None:
    assert proved(f"def step(batch, n: int) -> None:\n    batch.data = {value}\n").is_proved


def test_the_data_of_an_object_of_the_project_is_no_tensor_s() -> None:
    program = """
        class Node:
            def __init__(self) -> None:
                self.data = 1
        def step(node: Node, y: torch.Tensor) -> None:
            node.data = y
    """
    assert proved(program).is_proved
