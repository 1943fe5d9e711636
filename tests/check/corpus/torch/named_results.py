"""What torch returns by name, and what `type` gives."""

import torch


def read(scores: torch.Tensor, dtype, pair: tuple[int, int]):
    torch.topk(scores, 3).values.tolist()  # expect: SYN102 (assumed)
    ordered = scores.sort(descending=True)
    ordered.indices.tolist()  # expect: SYN102 (assumed)
    scores.max(dim=0).values.tolist()  # expect: SYN102 (assumed)
    scores.max(dim=0).nothing.tolist()  # silent
    pair.values.tolist()  # silent
    scores[scores.type(torch.bool)]  # expect: SYN201 (inferred)
    scores[scores.type(torch.int32)]  # silent
    print(scores.type())  # silent: a text
    return scores.type(dtype).tolist()  # expect: SYN102 (assumed)
