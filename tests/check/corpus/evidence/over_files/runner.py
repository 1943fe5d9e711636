import torch
from store import Store


def step(store: Store):
    return store.total().item()  # expect: SYN101 (inferred)
    # because: total: returned by `Store.total`
    # because: put: `self.rows` is set
    # because: passed: `rows` of `Store.put` is passed here
    # because: made: `torch.zeros(4, device="cuda")` puts it there


def begin():
    store = Store()
    rows = torch.zeros(4, device="cuda")  # at: made
    store.put(rows)  # at: passed
    return store
