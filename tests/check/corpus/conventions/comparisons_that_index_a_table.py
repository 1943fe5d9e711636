"""Of pandas a comparison indexes a table as well, so that it shows no tensor."""

import pandas
import torch


def rows_of(table, limit):
    kept = table[table.age > limit]
    kept.item()  # silent
    return torch.zeros(len(kept)), pandas.concat([kept])
