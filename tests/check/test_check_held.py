"""Suggestions for data that the host has already: the program need neither read them back nor copy them in each call."""

from __future__ import annotations

import json

import pytest

HEAD = """\
import torch

x = torch.zeros((8, 8), device="cuda")
n = 4
"""


@pytest.mark.parametrize(
    ("lines", "suggestion"),
    [
        ("def f(p):\n    k = torch.tensor([len(a) for a in p], device='cuda')\n    return max(k), x * k\nf('ab')", "use `[len(a) for a in p]`: the host has the numbers from which the function creates `k`"),
        ("def f(p):\n    k = torch.tensor([len(a) for a in p], device='cuda')\n    k.mul_(x[0, 0])\n    return k.sum().item()\nf('ab')", "keep the number on the GPU"),
        ("def f(p):\n    k = torch.tensor([len(a) for a in p], device='cuda')\n    torch.distributed.all_reduce(k)\n    return k[0].item()\nf('ab')", "keep the number on the GPU"),
        ("def f(p):\n    k = torch.tensor([len(a) for a in p], device='cuda')\n    k[0] = x[0, 0]\n    return k[0].item()\nf('ab')", "keep the number on the GPU"),
        ("def f(p):\n    k = torch.tensor([len(a) for a in p], device='cuda')\n    k += x[0]\n    return k[0].item()\nf('ab')", "keep the number on the GPU"),
        ("def f(p):\n    k = torch.tensor([len(a) for a in p], device='cuda')\n    return (k[0] * x[0, 0]).item()\nf('ab')", "keep the number on the GPU"),
        ("def f(p):\n    k = torch.tensor(p, device='cuda')\n    if torch.isfinite(k):\n        print(f'{k}')\n    return k.item()\nf(n)", "use `p` itself, in place of a copy on the GPU"),
        ("def f(p):\n    k = torch.tensor(p, device='cuda')\n    print(k.item())\n    return x * k\nf([n])", "copy from pinned memory with"),
        ("def f(t):\n    assert (t[0] == 1).all()\n    return t.tolist()\nf(x)", "move `t.tolist()` above this check, and check the copy"),
        ("def f(t):\n    assert (t[0] == 1).all()\n    t = t * 2\n    return t.tolist()\nf(x)", "test on the GPU with `torch._assert_async(condition)`"),
        ("def f(t):\n    k = torch.where(t > 0)[0]\n    return [k[i].item() for i in range(3)]\nf(x)", "copy the mask once, with `.tolist()`, and find the indices on the host"),
        ("class A:\n    def __init__(self, a):\n        self.a = [a]\n    def f(self):\n        return torch.tensor(self.a, device='cuda')\nA(n).f()", "if `self.a` stays the same, create its tensor once"),
        ("kept = []\nfor k in range(n):\n    y = x * k\n    kept.append((k, y.sum().item()))", "keep the number on the GPU"),
        ("for k in range(n):\n    y = x * k\n    n += float(y.sum().item())", "add up on the GPU, `n += y.sum().detach()`, and read `n` once"),
    ],
)  # fmt: skip
def test_the_host_uses_the_data_that_it_has(syncscan, project, lines, suggestion):
    project({"a.py": HEAD + lines})
    found = json.loads(syncscan("check", "--isolated", "--output-format", "json", "--when", "all").stdout)
    said = [each["fix"]["description"] for each in found["findings"]]
    assert any(suggestion in each for each in said), said


@pytest.mark.parametrize(
    "lines",
    [
        "k = {upload}\n    p.append('c')\n    return k.sum().item()",
        "k = {upload}\n    p = p[1:]\n    return k.sum().item()",
        "k = {upload}\n    t = k\n    t.add_(x[0, 0])\n    return k.sum().item()",
        "k = {upload}\n    k[0].add_(x[0, 0])\n    return k.sum().item()",
        "k = {upload}\n    torch.distributed.all_reduce_coalesced([k])\n    return k.sum().item()",
        "k = {upload}; torch.distributed.all_reduce(k); return k.sum().item()",
        "k = x.sum(0)\n    if p:\n        k = {upload}\n    return k.sum().item()",
        "k = {upload}\n    for k in x:\n        print(k.max().item())",
        "k = {upload}\n    return k.topk(2).indices.max().item()",
        "k = torch.tensor([0.1, 0.2], device='cuda')\n    return k[0].item()",
        "k = torch.tensor([a.sum() for a in x], device='cuda')\n    return k[0].item()",
        "k = torch.tensor(p, device='cuda')\n    return k.cpu().mul_(2)",
        "assert (x[0] == 1).all()\n    x.mul_(2)\n    return x.tolist()",
        "i, j = torch.where(x > 0)\n    print(i[0].item())\n    return x[i, j]",
    ],
)
def test_nothing_is_said_of_what_may_have_changed(syncscan, project, lines):
    upload = "torch.tensor([len(a) for a in p], device='cuda')"
    project({"a.py": f"{HEAD}def f(p):\n    {lines.format(upload=upload)}\nf(['a', 'bc'])\n"})
    found = json.loads(syncscan("check", "--isolated", "--output-format", "json", "--when", "all").stdout)
    said = " ".join(each["fix"]["description"] for each in found["findings"])
    assert found["findings"]
    for each in ("has the numbers", "in place of a copy", "above this check", "reads them anyway"):
        assert each not in said
