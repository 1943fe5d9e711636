"""A field of a named tuple whose name the source does not say is none that is known; the others are."""

from collections import namedtuple

import torch

LAST = "last"
Named = namedtuple("Named", ["first", "second", LAST])
Numbered = namedtuple("Numbered", ["first", 2], rename=True)

named = Named(torch.ones(4), torch.ones(4, device="cuda"), torch.ones(4))
named.first.tolist()  # silent
named.second.tolist()  # expect: SYN102
numbered = Numbered(torch.ones(4, device="cuda"), torch.ones(4))
numbered.first.tolist()  # expect: SYN102
