"""What a set, a tuple, a dictionary or an optional holds keeps its reason through a call."""

import torch

made = torch.ones(1, device="cuda")  # at: made


def of_set(rows):
    for row in rows:
        row.tolist()  # expect: SYN102
        # because: set: `rows` of `of_set` is passed here
        # because: made: `torch.ones(1, device="cuda")` puts it there


def of_tuple(rows):
    return rows[1].tolist()  # expect: SYN102
    # because: tuple: `rows` of `of_tuple` is passed here
    # because: made: `torch.ones(1, device="cuda")` puts it there


def of_table(rows):
    return rows["a"].tolist()  # expect: SYN102
    # because: table: `rows` of `of_table` is passed here
    # because: made: `torch.ones(1, device="cuda")` puts it there


def of_optional(row):
    if row is not None:
        row.tolist()  # expect: SYN102
        # because: some: `row` of `of_optional` is passed here
        # because: made: `torch.ones(1, device="cuda")` puts it there


def nothing(rows):
    return rows


of_set({made})  # at: set
of_tuple((1, made))  # at: tuple
of_table({"a": made})  # at: table
of_optional(None)
of_optional(made)  # at: some
nothing([1, 2])
