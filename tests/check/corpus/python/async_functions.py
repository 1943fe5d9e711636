"""`await` gives what the coroutine returns."""

import torch


async def produce():
    return torch.ones(1, device="cuda")


async def stream(n: int):
    for _ in range(n):
        yield torch.ones(1, device="cuda")


class Pool:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc):
        return None

    async def lease(self):
        return torch.ones(1, device="cuda")


async def consume():
    t = await produce()
    t.item()  # expect: SYN101
    async for part in stream(2):
        part.item()  # expect: SYN101
    async with Pool() as pool:
        (await Pool().lease()).item()  # expect: SYN101
    return pool
