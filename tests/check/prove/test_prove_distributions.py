"""Distributions check each of their arguments, and a tensor for any of them may be on the GPU."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

CALLS = (
    "Normal(0, x)",
    "Normal(loc=0.0, scale=x.exp())",
    "Uniform(0.0, x)",
    "Gamma(1.0, x)",
    "Beta(1.0, x)",
    "Categorical(logits=x)",
    "MultivariateNormal(torch.zeros(3), scale_tril=x)",
)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("annotation", [": torch.Tensor", ""])
def test_a_tensor_for_any_argument_is_named(call: str, annotation: str) -> None:
    program = f"def step(x{annotation}):\n    torch.distributions.{call}\n"
    assert {each.finding.line for each in proved(program).obstacles} >= {3}


def test_numbers_are_no_obstacle() -> None:
    assert not proved("def step(x: float) -> None:\n    torch.distributions.Normal(0, x)\n").obstacles
