"""What methods of lists, sets and dictionaries put into them, take out of them, and leave."""

import torch


def tables():
    d = {"a": torch.ones(2, device="cuda"), "h": torch.ones(2)}
    d.setdefault("a", torch.ones(2))
    d.setdefault("b")
    d.setdefault("c", torch.ones(2, device="cuda"))
    d.setdefault("h", 4)
    d["a"].tolist()  # expect: SYN102 (inferred)
    d["b"].tolist()  # silent
    d["c"].tolist()  # expect: SYN102 (proved)
    d["h"].tolist()  # silent
    d.update()
    d.pop("a").tolist()  # expect: SYN102 (inferred)
    d.get("c").tolist()  # expect: SYN102 (proved)
    d.get("n", torch.ones(2, device="cuda")).tolist()  # expect: SYN102 (proved)
    float(d.get("h", torch.ones(2, device="cuda")))  # silent
    e = {}
    e.update({"x": torch.ones(2, device="cuda")}, y=torch.ones(2))
    e["x"].tolist()  # expect: SYN102 (proved)
    e["y"].tolist()  # silent
    e.update(y=torch.ones(2, device="cuda"))
    e["y"].tolist()  # expect: SYN102 (proved)
    e.update(x=torch.ones(2))
    e["x"].tolist()  # silent


def lists(n):
    rows, more, others = [], [], []
    rows.insert(0, torch.ones(2, device="cuda"))
    rows[0].tolist()  # expect: SYN102 (proved)
    more.extend(rows)
    more[0].tolist()  # expect: SYN102 (proved)
    others.extend([torch.ones(2)])
    others[0].tolist()  # silent
    others.append(torch.ones(2, device="cuda"))
    others[n].tolist()  # expect: SYN102 (inferred)
    rows.sort()  # expect: SYN104
    rows.pop().tolist()  # expect: SYN102 (proved)
    held = set()
    held.add(torch.ones(2, device="cuda"))
    for t in held:
        t.tolist()  # expect: SYN102 (proved)
    empty = set()
    empty.update([torch.ones(2, device="cuda")])
    for t in empty:
        t.tolist()  # expect: SYN102 (proved)
    once = [torch.ones(2)]
    once.append()
    once.insert(0)
    once[0].tolist()  # silent
