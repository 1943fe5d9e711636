"""What a compiler makes a kernel of never runs on the host: its conditions are branches of the GPU's."""

import cutlass.cute as cute
import numba.cuda
import torch
import triton
import triton.language as tl
from cutlass.cute import kernel


class Forward:
    @cute.jit
    def __call__(self, rows, limit):
        if limit > 3:  # silent
            self.run(rows, limit)

        def inner(bound):
            if bound > 2:  # silent
                return rows

        return inner(limit)

    @kernel
    def run(self, rows, limit):
        self.more(limit)
        for _ in range(limit):  # silent
            pass

    def more(self, limit):
        if limit > 3:  # silent
            pass


@triton.autotune(configs=[], key=["limit"])
@triton.jit(do_not_specialize=["limit"])
def scale(rows, limit):
    if limit > tl.program_id(0):  # silent
        tl.store(rows, limit)


@numba.cuda.jit
def fill(rows, limit):
    if limit > 3:  # silent
        rows[0] = limit


def host(rows, limit):
    if limit > 3:  # expect: SYN104
        return rows


def run():
    rows = torch.ones(8, device="cuda")
    limit = rows.max()
    Forward()(rows, limit)
    scale(rows, limit)
    fill(rows, limit)
    host(rows, limit)
