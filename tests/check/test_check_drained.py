"""A synchronization right behind another one finds little to block for, and says so."""

from __future__ import annotations

import json

import pytest

HEAD = """\
import torch


def step(model, items, log, other):
    scores = torch.zeros(8, device="cuda")
    masks = scores > 0
"""
FUNCTIONS = """\
def launch(items):
    return items


def read(x):
    if x is None:
        return None
    x = x.cpu()
    return x.tolist()


def read_beside(x):
    return read(x)


def read_or_launch(x):
    if x.numel() > 2:
        return launch(x)
    return x.cpu()


def read_seldom(x, n):
    if n % 100:
        return None
    return x.cpu()


def queues(f):
    return lambda x: f(x).cuda() * 2


@queues
def read_decorated(x):
    return x.cpu()


async def read_later(x):
    return x.cpu()


def read_within(x, region):
    with region(x):
        return x.cpu()


def read_again(x):
    if x.any():
        return read_again(x)
    return x.cpu()
"""
# What stands between two synchronizations, and whether the second follows the first.
BETWEEN = {
    "nothing": ("", True),
    "a number": ("    n = len(items) + 2\n", True),
    "a counter": ("    n = 0\n    n += 1\n", True),
    "a log line": ("    log.append(n)\n    logger.info('%d', n)\n", True),
    "a printed number": ("    print(n, len(items))\n", True),
    "a record of the root logger": ("    import logging\n\n    logging.info('%d', n)\n", True),
    "a library of the host": ("    import cv2\n\n    part = cv2.resize(items, (3, 3))\n", True),
    "host data": ("    names = 'a b'.split()\n", True),
    "a branch that leaves": ("    if n > 2:\n        model(scores)\n        return n\n", True),
    "an operation on the GPU": ("    scores = scores * 2\n", False),
    "an operation in place": ("    scores += 1\n", False),
    "a store": ("    scores[2:] = 1\n", False),
    "a gather": ("    picked = scores[scores.argsort()]\n", False),
    "a view": ("    part = scores[2:]\n", True),
    "an operation without a result": ("    scores.sum().backward()\n", False),
    "the size of a tensor": ("    n = scores.size(0) + scores.numel()\n", True),
    "a copy that the host does not wait for": (
        "    ids = torch.ones(3).pin_memory().to('cuda', non_blocking=True)\n",
        True,
    ),
    "a call of unknown purpose": ("    model(items)\n", False),
    "a function of the file": ("    launch(items)\n", False),
    "a reshaped tensor": ("    scores = scores.reshape(2, 4).flatten()\n", True),
    "a function that ends with a synchronization": ("    scores = read(scores)\n", True),
    "one that calls such a function": ("    scores = read_beside(scores)\n", True),
    "one that returns early": ("    scores = read_seldom(scores, n)\n", False),
    "one that is decorated": ("    scores = read_decorated(scores)\n", False),
    "one that is a coroutine": ("    scores = read_later(scores)\n", False),
    "one in a context that launches": ("    scores = read_within(scores, other)\n", False),
    "one of this name elsewhere": (
        "    scores = other.read(scores)\n    read(scores)\n    other.read(scores)\n",
        False,
    ),
    "one that reads host data": ("    cpu = torch.zeros(3)\n    model(items)\n    read(cpu)\n", False),
    "a value that is perhaps read": (
        "    scores = scores * 2\n    n = scores.max().item() if items else 0\n",
        False,
    ),
    "a value that is read later": ("    scores = scores * 2\n    n = (x.item() for x in [scores])\n", False),
    "one with a branch that may launch": ("    scores = read_or_launch(scores)\n", False),
    "one that calls itself": ("    scores = read_again(scores)\n", False),
    "a loop that ends with a synchronization": (
        "    for item in items:\n        model(item)\n        scores.cpu()\n",
        True,
    ),
    "one that goes on before": (
        "    for item in items:\n        model(item)\n        if item:\n            continue\n        scores.cpu()\n",
        False,
    ),
    "one that a synchronization ends": (
        "    while True:\n        model(items)\n        if scores.any():\n            break\n",
        True,
    ),
    "one that tests the GPU": ("    while scores.any():\n        model(items)\n", True),
    "a synchronization where there is a GPU": (
        "    model(items)\n    if torch.cuda.is_available():\n        torch.cuda.synchronize()\n",
        True,
    ),
    "a method of an unknown object": ("    other.run()\n", False),
    "a branch that may launch": ("    if n > 2:\n        model(scores)\n", False),
    "a loop that may launch": ("    for item in items:\n        model(item)\n", False),
    "a body that may fail": (
        "    try:\n        n = 3\n    except ValueError:\n        model(scores)\n",
        False,
    ),
    "a point where others run": ("    yield n\n", False),
}


@pytest.mark.parametrize(("between", "follows"), BETWEEN.values(), ids=BETWEEN)
def test_work_between_two_synchronizations_keeps_them_apart(syncscan, project, between, follows):
    program = f"{HEAD}    n = scores.max().item()\n{between}    return masks.tolist()\n\n\n{FUNCTIONS}"
    project({"a.py": program})
    found = json.loads(syncscan("check", "--isolated", "--output-format", "json").stdout)["findings"]
    [first] = [each for each in found if each["line"] == 7]
    [last] = [each for each in found if each["code"] == "SYN102"]
    assert ("follows" in last) == follows
    assert "follows" not in first


def test_it_joins_the_entry_of_the_first(syncscan, project):
    program = f"{HEAD}    kept = scores.cpu()\n    chosen = scores[masks]\n    other(scores)\n    if scores.any():\n        return kept\n"
    project({"a.py": program})
    text = syncscan("check", "--isolated").stdout
    heads = [line.split()[:2] for line in text.splitlines() if line.startswith("a.py:")]
    assert heads == [["a.py:10:8:", "SYN104"]]
    assert "= little to block for at: 8:14 SYN201\n" in text
    assert "= the same cause at: 7:12 SYN105\n" in text


def test_the_first_leads_the_entry_although_copies_come_after_hidden_synchronizations(syncscan, project):
    project(
        {"a.py": f"{HEAD}    kept = scores.cpu()\n    return kept, torch.zeros(8, device='cuda')[masks]\n"}
    )
    text = syncscan("check", "--isolated").stdout
    heads = [line.split()[:2] for line in text.splitlines() if line.startswith("a.py:")]
    assert heads == [["a.py:7:12:", "SYN105"]]
    assert "= little to block for at: 8:18 SYN201\n" in text


def test_a_comment_leads_no_entry(syncscan, project):
    comment = "  # syncscan: ignore[SYN999] a count"
    project({"a.py": f"{HEAD}    kept = scores.sum().item(){comment}\n    return scores[masks]\n"})
    entries = syncscan("check", "--isolated").stdout.split("\n\n")
    assert [entry.split()[1] for entry in entries[:2]] == ["SYN101", "SYN001"]
    assert [line.strip() for line in entries[0].splitlines() if "little" in line] == [
        "= little to block for at: 8:12 SYN201"
    ]
    assert "little to block" not in entries[1]


def test_several_on_one_line_end_the_report(syncscan, project):
    project(
        {
            "a.py": f"{HEAD}    n = scores.max().item(); found = masks.tolist()\n    if scores.any(): return scores.cpu()\n"
        }
    )
    text = syncscan("check", "--isolated").stdout
    assert "\n4 findings in 1 file; " in text


def test_a_suppressed_first_leaves_the_second_with_a_remark(syncscan, project):
    program = f"{HEAD}    n = scores.max().item()  # syncscan: ignore[SYN101] the size of the batch\n    return n, masks.tolist()\n"
    project({"a.py": program})
    text = syncscan("check", "--isolated").stdout
    assert text.startswith("a.py:8:15: SYN102 ")
    assert "= little to block for: line 7 synchronizes right before\n" in text


def test_a_function_that_synchronizes_by_its_name_comes_before(syncscan, project):
    project({"a.py": f"{HEAD}    torch_sync()\n    return masks.tolist()\n"})
    text = syncscan("check", "--isolated").stdout
    assert "= little to block for: line 7 synchronizes right before\n" in text


def test_iterations_of_a_loop_do_not_follow_each_other(syncscan, project):
    loop = "    for item in items:\n        print(scores.max().item())\n"
    project({"a.py": f"{HEAD}{loop}    print(masks.tolist())\n"})
    found = json.loads(syncscan("check", "--isolated", "--output-format", "json").stdout)["findings"]
    assert {each["line"]: each.get("follows") for each in found} == {8: None, 9: None}


def test_a_callee_in_another_file_counts_whatever_files_are_checked(syncscan, project):
    program = f"{HEAD}    scores = read(scores)\n    return masks.tolist()\n"
    project({"pyproject.toml": "[tool.syncscan]\n"})  # the root of the project
    project({"a.py": f"from b import read\n{program}", "b.py": "def read(x):\n    return x.cpu()\n"})
    ask = ("check", "--output-format", "json", "--cache-dir", "kept")
    for paths in (["a.py"], ["."], ["a.py"]):
        found = json.loads(syncscan(*ask, *paths).stdout)["findings"]
        assert [each.get("follows") for each in found if each["path"] == "a.py"] == [8]
    project({"b.py": "def read(x):\n    return x.cpu().cuda() * 2\n"})
    found = json.loads(syncscan(*ask).stdout)["findings"]
    assert [each.get("follows") for each in found if each["path"] == "a.py"] == [None]


def test_the_line_before_moves_with_its_file(syncscan, project):
    program = f"{HEAD}    n = scores.max().item()\n    return n, masks.tolist()\n"
    project({"a.py": program})
    ask = ("check", "--isolated", "--output-format", "json", "--cache-dir", "kept")
    (_, first) = json.loads(syncscan(*ask).stdout)["findings"]
    project({"a.py": f"# a comment\n\n{program}"})
    (_, moved) = json.loads(syncscan(*ask).stdout)["findings"]
    assert (first["follows"], moved["follows"]) == (7, 9)
