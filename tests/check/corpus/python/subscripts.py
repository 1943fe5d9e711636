"""Items of lists and tuples, by numbers, slices and negative numbers."""

import torch

gpu, host = torch.ones(4, device="cuda"), torch.ones(4)
pair = (gpu, host)
pair[0].tolist()  # expect: SYN102
pair[1].tolist()  # silent
pair[-1].tolist()  # silent
pair[-2].tolist()  # expect: SYN102
pair[5].tolist()  # expect: SYN102
pair[:1][0].tolist()  # expect: SYN102
rows = [gpu, host]
rows[1].tolist()  # silent
rows[1:][0].tolist()  # false: SYN102
text = "cuda"
text[0].upper()  # silent
torch.ones(4, device=text[:4])  # silent
nested = ((host, gpu), host)
nested[0][1].tolist()  # expect: SYN102
nested[0][0].tolist()  # silent
window = slice(0, 2)
gpu[window].tolist()  # expect: SYN102
gpu[slice(0, gpu.argmax())]  # expect: SYN106
gpu[:, None, ..., 0]  # silent
both = (gpu, host)[True]
both.tolist()  # silent
