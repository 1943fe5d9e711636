import torch
from store import Store


def step(store: Store):
    return store.total().item()  # expect: SYN101 (inferred)
    # because: total: `Store.total` returns the value
    # because: put: an assignment sets `self.rows`
    # because: passed: a call site passes `rows` to `Store.put`
    # because: made: `torch.zeros(4, device="cuda")` places the tensor on the GPU


def begin():
    store = Store()
    rows = torch.zeros(4, device="cuda")  # at: made
    store.put(rows)  # at: passed
    return store
