"""What a forward gets is a tensor of the GPU, for a reason that is said."""

import torch


class Head(torch.nn.Module):
    def forward(
        self,
        hidden: torch.Tensor,  # at: hidden
    ):
        return hidden.max().item()  # expect: SYN101 (inferred)
        # because: hidden: `hidden` is a tensor, and no code found places the tensor on the CPU
