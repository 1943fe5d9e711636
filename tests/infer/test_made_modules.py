"""The layers of torch that have parameters, as torch itself makes them."""

from __future__ import annotations

import inspect

import pytest
import torch

from syncscan.check.infer.transfer.made_modules import WITH_PARAMETERS

_ARGUMENTS = {
    "AdaptiveLogSoftmaxWithLoss": (4, 8, [2]),
    "GRU": (4, 4),
    "LSTM": (4, 4),
    "RNN": (4, 4),
    "Unflatten": (0, (1, 4)),
}
# Around other layers, without parameters until a first call, for others to derive from, or with keywords that they need.
_LEFT_OUT = (
    "Lazy",
    "RNNBase",
    "RNNCellBase",
    "TransformerEncoder",
    "TransformerDecoder",
    "LinearCrossEntropyLoss",
    "Fractional",
)


def layers() -> list[str]:
    """The layers that torch offers."""
    classes = {name: found for name, found in vars(torch.nn).items() if inspect.isclass(found)}
    return [
        name
        for name, found in sorted(classes.items())
        if issubclass(found, torch.nn.Module) and (not name.startswith(_LEFT_OUT) or name.endswith("Layer"))
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", layers())
def test_the_layers_with_parameters_are_those_that_torch_makes_with_some(name: str) -> None:
    layer = getattr(torch.nn, name)
    required = [
        parameter
        for parameter in inspect.signature(layer).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    made = layer(*_ARGUMENTS.get(name, [4] * len(required)))
    assert (f"torch.nn.{name}" in WITH_PARAMETERS) == bool(made.state_dict())
