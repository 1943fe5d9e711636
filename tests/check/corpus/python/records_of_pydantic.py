"""A class whose base is not in the project, and that has no `__init__`, is made of its fields."""

from typing import TypedDict

import torch
from pydantic import BaseModel


class Request(BaseModel):
    lens: torch.Tensor

    def read(self):
        return self.lens.tolist()  # expect: SYN102 (inferred)


class Inputs(TypedDict, total=False):
    lens: torch.Tensor


request = Request(lens=torch.ones(4, device="cuda"))
request.lens.tolist()  # expect: SYN102
inputs = Inputs(lens=torch.ones(4, device="cuda"))
inputs["lens"].tolist()  # expect: SYN102
