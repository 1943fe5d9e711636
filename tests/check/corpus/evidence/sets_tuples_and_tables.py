"""What a set, a tuple, a dictionary or an optional holds keeps its reason through a call."""

import torch

made = torch.ones(1, device="cuda")  # at: made


def of_set(rows):
    for row in rows:
        row.tolist()  # expect: SYN102
        # because: set: a call site passes `rows` to `of_set`
        # because: made: `torch.ones(1, device="cuda")` places the tensor on the GPU


def of_tuple(rows):
    return rows[1].tolist()  # expect: SYN102
    # because: tuple: a call site passes `rows` to `of_tuple`
    # because: made: `torch.ones(1, device="cuda")` places the tensor on the GPU


def of_table(rows):
    return rows["a"].tolist()  # expect: SYN102
    # because: table: a call site passes `rows` to `of_table`
    # because: made: `torch.ones(1, device="cuda")` places the tensor on the GPU


def of_optional(row):
    if row is not None:
        row.tolist()  # expect: SYN102
        # because: some: a call site passes `row` to `of_optional`
        # because: made: `torch.ones(1, device="cuda")` places the tensor on the GPU


def nothing(rows):
    return rows


of_set({made})  # at: set
of_tuple((1, made))  # at: tuple
of_table({"a": made})  # at: table
of_optional(None)
of_optional(made)  # at: some
nothing([1, 2])
