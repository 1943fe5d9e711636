"""The chain ends at the call that names the device."""

import torch

lens = torch.ones(4, device="cuda")  # at: made
lens.tolist()  # expect: SYN102 (proved)
# because: made: `torch.ones(4, device="cuda")` places the tensor on the GPU
moved = torch.ones(4).cuda()  # expect: SYN302 # at: moved
moved.tolist()  # expect: SYN102 (proved)
# because: moved: `torch.ones(4).cuda()` is on the GPU
other = torch.ones(4).to("cuda")  # expect: SYN302 # at: to
other.tolist()  # expect: SYN102 (proved)
# because: to: `torch.ones(4).to("cuda")` places the tensor on the GPU
like = torch.ones_like(lens)
like.tolist()  # expect: SYN102 (proved)
# because: made: `torch.ones(4, device="cuda")` places the tensor on the GPU
