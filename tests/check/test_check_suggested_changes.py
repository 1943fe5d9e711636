"""A suggestion is given only where the program does the same after the change."""

from __future__ import annotations

import json

import pytest

HEAD = """\
import torch

x = torch.zeros((8, 8), device="cuda")
mask = torch.zeros(8, dtype=torch.bool, device="cuda")
n = 4
"""


@pytest.fixture
def suggested(syncscan, project):
    """The suggestions and fixes for a few lines, one text a finding."""

    def check(lines: str) -> list[str]:
        project({"a.py": HEAD + lines})
        found = syncscan("check", "--isolated", "--output-format", "json", "--when", "all").stdout
        return [each["fix"]["description"] for each in json.loads(found)["findings"]]

    return check


@pytest.mark.parametrize(
    ("lines", "suggestion"),
    [
        ("if not mask.all():\n    x[~mask] = 1\n    x = torch.where(mask[:, None], x, 0)", "masked operations change nothing if `mask` has no false element"),
        ("if mask.sum() > 0:\n    x.masked_fill_(mask, 0)\n    x = x.masked_fill(mask, 1)", "change nothing if `mask` has no true element"),
        ("k = mask.sum().item()\nif k > 0:\n    x[:, mask] = 1", "change nothing if `mask` has no true element"),
        ("if mask.all():\n    mask = None", "decide on the GPU"),
        ("if mask.all():\n    x[mask] = 1", "decide on the GPU"),
        ("if not mask.any():\n    x[mask] = 1", "decide on the GPU"),
        ("if mask.sum() == 0:\n    x[mask] = 1", "decide on the GPU"),
        ("if mask.any():\n    del mask", "decide on the GPU"),
        ("if mask.any():\n    x = torch.where(mask, x, 0)", "decide on the GPU"),
        ("if mask.any():\n    x[~mask] = 1", "decide on the GPU"),
        ("if mask.any():\n    x = x.masked_fill(mask, 0) + 1", "decide on the GPU"),
        ("def refill():\n    return 1\nif mask.any():\n    x[mask] = refill()", "decide on the GPU"),
    ],
)  # fmt: skip
def test_a_guard_is_dropped_only_where_its_body_changes_nothing_without_it(suggested, lines, suggestion):
    (said,) = suggested(lines)
    assert suggestion in said


CLASS = """\
class A{bases}:
    def __init__(self):
        self.s = torch.linspace(0, 1, 8)
        self.parts = [torch.ones(3)]
    def f(self, i, y: torch.Tensor):
        return {line}
A().f(n, x)
"""


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("self.s.to(x.device)", "keep a copy on the GPU in an attribute of its own, made anew only where `self.s` changes: `self.s.to(x.device)`"),
        ("self.s.to(x.device, torch.float16)", "made anew only where `self.s` changes: `self.s.to(x.device)`"),
        ("self.s.to(x)", "made anew only where `self.s` changes: `self.s.to(x.device)`"),
        ("self.s.cuda()", "made anew only where `self.s` changes: `self.s.cuda()`"),
        ("self.s[i].to(x.device)", "made anew only where `self.s` changes: `self.s.to(x.device)`"),
        ("self.parts[i].to(x.device)", "where `self.parts` is filled, or keep the copy there: `self.parts[i] = self.parts[i].to(x.device)`"),
    ],
)  # fmt: skip
def test_no_buffer_is_suggested_outside_of_modules(suggested, line, suggestion):
    (said,) = suggested(CLASS.format(bases="", line=line))
    assert suggestion in said
    assert "buffer" not in said


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("self.s.to(x.device, torch.float16)", "or, above all if `self.s` is complex, keep the copy: `self.s = self.s.to(x.device)`"),
        ("self.s[i].to(x.device)", "register `self.s` as a buffer of the module, which `module.to(device)` moves once, and drop this copy"),
        ("self.parts[i].to(x.device, torch.float16)", "keep the copy there: `self.parts[i] = self.parts[i].to(x.device)`"),
    ],
)  # fmt: skip
def test_a_kept_copy_keeps_the_dtype_and_a_tensor_keeps_no_copy_of_an_element(suggested, line, suggestion):
    (said,) = suggested(CLASS.format(bases="(torch.nn.Module)", line=line))
    assert suggestion in said


@pytest.mark.parametrize(
    ("lines", "suggestion"),
    [
        ("def f(times):\n    for t in times:\n        y = torch.tensor([t] * n, device='cuda')\nf(n)", "if the elements are numbers of the host, copy from pinned memory"),
        ("def f(times):\n    for t in times:\n        y = torch.tensor([t]).to('cuda')\nf(n)", "if the elements are numbers of the host, copy from pinned memory"),
        ("def f(times):\n    rows = [t for t in times]\n    return torch.tensor(rows, device=x.device)\nf(n)", "if the elements are numbers of the host, copy from pinned memory"),
        ("for t in x[0]:\n    y = torch.tensor([t] * n, device='cuda')", "use `torch.stack`, which joins GPU scalars without a read"),
        ("y = torch.tensor([k for k in range(n) if k > 2], device='cuda')", "copy from pinned memory with `non_blocking=True`"),
    ],
)  # fmt: skip
def test_a_list_is_pinned_only_if_its_elements_are_numbers_of_the_host(suggested, lines, suggestion):
    (said,) = suggested(lines)
    assert said.startswith(suggestion)


def test_a_list_of_a_number_that_is_read_from_the_gpu_is_not_pinned(syncscan, project):
    project({"a.py": HEAD + "y = torch.tensor([x[0, 0].item(), 1], device='cuda')\n"})
    found = syncscan("check", "--isolated", "--output-format", "json", "--when", "all").stdout
    fixes = {each["code"]: each["fix"]["applicability"] for each in json.loads(found)["findings"]}
    assert fixes == {"SYN101": "none", "SYN301": "none"}


@pytest.mark.parametrize("size", ["2", "n", "len('ab')"])
@pytest.mark.parametrize("name", ["Tensor", "LongTensor", "FloatTensor"])
def test_the_size_of_a_tensor_is_no_number_to_fill_with(suggested, name, size):
    (said,) = suggested(f"y = torch.{name}({size}).to(x.device)")
    assert "full" not in said
    assert "fill_" not in said


@pytest.mark.parametrize(
    ("lines", "suggestion"),
    [
        ("begin = 0\nwhile begin < n:\n    x = x + 1\n    k = x.sum().item()\n    new = begin + min(1 + k, 4)\n    bar.update(new - begin)\n    begin = new", "keep the number on the GPU"),
        ("def f(bar, rows):\n    k = x.sum().item()\n    bar.update(k)\n    end = k + 1\n    return rows[end]\nf(n, 'ab')", "keep the number on the GPU"),
        ("def f(bar):\n    k = x.sum().item()\n    bar.update(k)\n    m = k + 1\n    end = m + 1\n    stop = end + 1\n    for j in range(stop):\n        print(j)\nf(n)", "keep the number on the GPU"),
        ("for j in range(n):\n    y = x * j\n    k = y.sum().item()\n    print(k)\n    d = k - 1\n    e = d * 2\n    if e > 3:\n        break", "keep the number on the GPU"),
        ("def f(bar):\n    k = x.sum().item()\n    bar.update(k)\nf(n)", "record `x.sum().detach()`"),
        ("for j in range(n):\n    y = x * j\n    k = y.sum().item()\n    d = k - 1\n    print(d)", "keep `y.sum().detach()`, and log all values"),
    ],
)  # fmt: skip
def test_a_number_that_decides_something_is_no_record(suggested, lines, suggestion):
    (said,) = suggested(lines)
    assert suggestion in said


@pytest.mark.parametrize(
    ("made", "fixed"),
    [
        ("torch.ones(n, n).tril()", "torch.ones(n, n, device=x.device).tril()"),
        ("torch.tril(torch.ones(n, n))", "torch.tril(torch.ones(n, n, device=x.device))"),
        ("torch.triu(torch.ones(n, n), diagonal=1).bool()", "torch.triu(torch.ones(n, n, device=x.device), diagonal=1).bool()"),
        ("(torch.triu(torch.ones(n, n)) == 1).transpose(0, 1)", "(torch.triu(torch.ones(n, n, device=x.device)) == 1).transpose(0, 1)"),
    ],
)  # fmt: skip
def test_a_mask_of_factories_alone_is_made_on_the_gpu(syncscan, project, made, fixed):
    root = project({"a.py": f"{HEAD}y = {made}.to(x.device)\n"})
    syncscan("check", "--isolated", "--fix", "--unsafe-fixes", "--when", "all")
    assert (root / "a.py").read_text() == f"{HEAD}y = {fixed}\n"


@pytest.mark.parametrize(
    ("lines", "suggestion"),
    [
        ("def f(rows, k):\n    return torch.ones(k, k).tril(k).cumsum(0).to(rows.device)\nf(x, n)", "create the tensor on the GPU: `torch.ones(k, k, device=rows.device).tril(k).cumsum(0)`"),
        ("def f(rows, k):\n    return torch.tril(torch.ones(k, k)).view(1, k, k).to(rows.device)\nf(x, n)", "create the tensor on the GPU: `torch.tril(torch.ones(k, k, device=rows.device)).view(1, k, k)`"),
        ("def f(rows, k):\n    causal = torch.tril(torch.ones(k, k))\n    return rows + causal.to(rows.device)\nf(x, n)", "create `causal` on the GPU, with `device=rows.device`, and drop this copy"),
    ],
)  # fmt: skip
def test_what_starts_with_a_factory_is_better_made_on_the_gpu(suggested, lines, suggestion):
    (said,) = suggested(lines)
    assert suggestion in said


@pytest.mark.parametrize(
    ("read", "is_known"),
    [
        ("print(k[j].item())", True),
        ("x[:k[j]]", True),
        ("torch.relu(x[j, :k[j]])", True),
        ("x[k[j]]", True),
        ("torch.zeros(k.max())", True),
        ("print(k.mul_(2), k[j].item())", False),
        ("torch.distributed.all_reduce(k); x[:k[j]]", False),
        ("x[: k[j], grow(k)]", False),
    ],
)
def test_numbers_that_the_host_has_are_read_from_the_host(suggested, read, is_known):
    head = "def f(p):\n    k = torch.tensor([len(a) for a in p], device='cuda')\n    for j in range(n):\n        "
    said = suggested(f"{head}{read}\nf(['a', 'bc'])\n")
    assert ("use `[len(a) for a in p]`: the host has the numbers" in " ".join(said)) is is_known
