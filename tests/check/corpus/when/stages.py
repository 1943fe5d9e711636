"""A loop over the stages of an object calls each of them once, and repeats none; a loop over timesteps repeats its stages."""

import torch


class Block:
    pass


class Decode(Block):
    @torch.no_grad()
    def __call__(self, components, state):
        state.mean = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        return components, self.crop(state)

    def crop(self, state):
        state.box = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        return state


class Denoise(Block):
    @torch.no_grad()
    def __call__(self, components, state, i, t):
        state.mean = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        return components, state


class Sequential(Block):
    def __init__(self, sub_blocks: dict[str, Block]):
        self.sub_blocks = sub_blocks

    @torch.no_grad()
    def __call__(self, pipeline, state):
        state.start = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        for name, block in self.sub_blocks.items():
            pipeline, state = block(pipeline, state)
        return pipeline, state


class Filter:
    @torch.no_grad()
    def __call__(self, pipeline, state):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


class Layer(torch.nn.Module):
    @torch.no_grad()
    def __call__(self, x, state):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


class Layers(Layer):
    @torch.no_grad()
    def __call__(self, x, state):
        for layer in self.layers:
            x = layer(x, state)
        return x
