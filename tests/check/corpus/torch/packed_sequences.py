"""A packed sequence keeps its order on the GPU, unless the caller has sorted the data, and padding copies the order to the host."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x: torch.Tensor, lens: list[int], enforce_sorted: bool):
        packed = pack_padded_sequence(x, lens, batch_first=True, enforce_sorted=False)  # expect: SYN302
        y, state = self.rnn(packed)
        z, n = pad_packed_sequence(y, batch_first=True)  # expect: SYN105
        z.tolist()  # expect: SYN102
        n.tolist()  # silent: the lengths are on the host
        state[0].tolist()  # expect: SYN102
        y.data.tolist()  # expect: SYN102
        ordered = pack_padded_sequence(x, lens, batch_first=True)
        y, state = self.rnn(ordered)
        z, n = pad_packed_sequence(y, batch_first=True)  # silent: nothing was sorted
        z.tolist()  # expect: SYN102
        y, state = self.rnn(x)
        y.tolist()  # expect: SYN102
        return z


def lists(rows: list[torch.Tensor]):
    pad_packed_sequence(pack_sequence(rows, enforce_sorted=False))  # expect: SYN105, SYN302
    pad_packed_sequence(pack_sequence(rows))  # silent
    pad_packed_sequence(pack_sequence([torch.ones(3), torch.ones(2)], enforce_sorted=False))  # silent


Encoder().cuda()(torch.zeros(2, 3, 4, device="cuda"), [3, 2], False)  # expect: SYN302
lists([torch.ones(3, device="cuda"), torch.ones(2, device="cuda")])
