"""A function below ``torch.compile`` is followed, and the certificate lists the compilation."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

PROGRAM = """
    import functools
    def own(module, inputs):
        return module
    compiled = functools.partial(torch.compile, backend=own)
    @{decorator}
    def twice(x: torch.Tensor) -> torch.Tensor:
        {line}
        return x * 2
    def step(x: torch.Tensor) -> torch.Tensor:
        return twice(x)
"""
COMPILED = ["torch.compile", "torch.compile(fullgraph=True)", "torch.compile(backend='inductor')"]
OTHERS = [
    "torch.compile(backend=own)",
    "torch.compile(**vars())",
    "compiled",
    "functools.partial(torch.compile, own)",
]


@pytest.mark.parametrize("decorator", COMPILED)
def test_a_compiled_function_is_followed(decorator: str) -> None:
    certificate = proved(PROGRAM.format(decorator=decorator, line="pass"))
    assert certificate.is_proved
    assert (
        "`torch.compile` has compiled `twice` to code that blocks no more than the source"
        in certificate.assumptions
    )
    (obstacle,) = proved(PROGRAM.format(decorator=decorator, line="x.item()")).obstacles
    assert obstacle.finding.line == 9


@pytest.mark.parametrize("decorator", OTHERS)
def test_a_backend_of_the_project_may_do_anything(decorator: str) -> None:
    facts = {each.fact for each in proved(PROGRAM.format(decorator=decorator, line="pass")).obstacles}
    assert "take the decorator off, or declare the function under [tool.syncscan.operations]" in facts
