"""The keys of a dictionary keep their values through parameters, attributes, returns and what it is merged into."""

import torch


class Runner:
    def __init__(self, batch):
        self.batch = batch
        self.cache = {}

    def store(self):
        self.cache["gpu"] = torch.ones(1, device="cuda")
        self.cache["host"] = torch.ones(1)

    def read(self):
        self.batch["host"].tolist()  # silent
        self.batch["gpu"].tolist()  # expect: SYN102 (inferred)
        self.batch["missing"].tolist()  # silent
        self.cache["host"].tolist()  # silent
        return self.cache["gpu"].tolist()  # expect: SYN102 (inferred)


def passed(batch, key: str):
    batch["host"].tolist()  # silent
    batch["gpu"].tolist()  # expect: SYN102 (inferred)
    batch[key].tolist()  # expect: SYN102
    batch[0].tolist()  # silent
    merged = {**batch, "gpu": torch.ones(1)}
    merged["gpu"].tolist()  # silent
    batch.get("host").tolist()  # silent
    batch.get("gpu").tolist()  # expect: SYN102
    batch.update(other=torch.ones(1, device="cuda"), gpu=torch.ones(1))
    batch["other"].tolist()  # expect: SYN102
    batch["gpu"].tolist()  # silent
    return {name: value.cuda() for name, value in batch.items()}


def made(flag: bool):
    if flag:
        return {"gpu": torch.ones(1, device="cuda"), "host": torch.ones(1)}
    return {"host": torch.zeros(1), 0: torch.ones(1, device="cuda")}


def run(flag: bool, name: str):
    Runner(made(flag)).read()
    moved = passed({"gpu": torch.ones(1, device="cuda"), "host": torch.ones(1)}, name)
    moved["host"].tolist()  # expect: SYN102
    either = made(flag)
    either[0].tolist()  # expect: SYN102
    either["host"].tolist()  # silent
    either[name] = torch.ones(1, device="cuda")
    either["host"].tolist()  # expect: SYN102
    counted = dict(made(flag), n=3)
    counted["host"].tolist()  # silent
    counted["gpu"].tolist()  # expect: SYN102
    torch.ones(4, device="cuda")[: counted["n"]]  # silent
    counted.setdefault("host", torch.ones(1, device="cuda")).tolist()  # expect: SYN102


def many():
    long = {i: torch.ones(1) for i in range(99)}
    long["gpu"] = torch.ones(1, device="cuda")
    return long["gpu"].tolist()  # expect: SYN102
