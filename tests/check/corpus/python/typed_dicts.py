"""A dictionary with constant keys has a place for each."""

from typing import TypedDict

import torch


class Inputs(TypedDict):
    ids: torch.Tensor
    names: list[str]


class Table(TypedDict):
    ids: torch.Tensor
    names: list[str]


def declared(table: Table, other: dict[str, Table]):
    table["names"].index("a").item()  # silent
    table.get("ids").tolist()  # expect: SYN102 (assumed)
    other["a"]["ids"].tolist()  # expect: SYN102 (assumed)
    key = "ids" if table else "names"
    table[key].tolist()  # silent
    return table["ids"].tolist()  # expect: SYN102 (assumed)


def build():
    inputs = {}
    inputs["ids"] = torch.ones(4, device="cuda")
    inputs["host"] = torch.ones(4)
    inputs["ids"].tolist()  # expect: SYN102
    inputs["host"].tolist()  # silent
    return inputs


def literal():
    inputs = {"ids": torch.ones(4, device="cuda"), "host": torch.ones(4)}
    inputs["ids"].tolist()  # expect: SYN102
    return inputs["host"].tolist()  # silent


def passed(inputs: Inputs):
    inputs["ids"].tolist()  # expect: SYN102
    return inputs["names"].index("a")  # silent


inputs = build()
inputs["ids"].tolist()  # expect: SYN102
inputs["host"].tolist()  # silent
passed({"ids": torch.ones(4, device="cuda"), "names": []})
