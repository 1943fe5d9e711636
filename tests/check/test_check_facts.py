"""``check --facts``: what ran places what nothing else places, and refutes what a run did not show."""

from __future__ import annotations

import ast
import json

import pytest

from syncscan.facts import syntax_of

STATE = """\
import torch


class State:
    def __init__(self, mask, table):
        self.mask = mask
        self.table = table

    def read(self):
        if self.mask.any():
            return self.table[0].item()
        return None


def late(x, flag=None):
    if flag:
        return x.tolist()
    return x


def read_late(x):
    return late(x).item()


def host(y):
    return y.tolist()


def caller():
    return host(torch.ones(3, device="cuda"))


def named(values_gpu, pair):
    return values_gpu.item(), int(pair[0]), int(pair[1])
"""


def facts(source: str, **functions: dict[str, dict[str, int]]) -> str:
    """A file of facts about functions of ``state.py``, by their names with ``__`` for the dot."""
    found = {}
    tree = ast.parse(source)
    nodes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for name, words in functions.items():
        qualname = name.replace("__", ".")
        node = nodes[qualname.rpartition(".")[2]]
        calls = max(sum(counts.values()) for counts in words.values())
        found[f"state:{qualname}"] = {syntax_of(node): {"calls": calls, "words": words}}
    return json.dumps({"syncscan_facts": 1, "functions": found})


@pytest.fixture
def check(syncscan, project):
    """Checks `STATE` with facts about it: the findings as (line, code, confidence, first evidence), and the report."""

    def run(
        *options: str, source: str = STATE, facts_of: str = STATE, **functions: dict[str, dict[str, int]]
    ):
        project({"state.py": source, "facts.json": facts(facts_of, **functions)})
        done = syncscan(
            "check", "state.py", "--facts", "facts.json", "--output-format", "json", "--when", "all", *options
        )
        assert done.stderr == ""
        report = json.loads(done.stdout)
        return {
            (f["line"], f["code"]): (f["confidence"], f["evidence"][0]["text"] if f["evidence"] else "")
            for f in report["findings"]
        }, report["facts"]

    return run


def test_without_facts_nothing_is_known(check):
    found, used = check()
    assert set(found) == {(26, "SYN102")}
    assert used == {"fitting": 0, "stale": 0, "refuted": []}


def test_a_parameter_that_was_seen_on_the_gpu_is_there(check):
    found, used = check(late={"x": {"gpu float": 340}, "flag": {"none": 338, "bool": 2}})
    assert found[17, "SYN102"] == ("observed", "`x` was seen on the GPU in 340 calls")
    assert used["fitting"] == 1
    found, _ = check(late={"x": {"gpu float": 3, "host float": 7}})
    assert found[17, "SYN102"] == ("observed", "`x` was seen on the GPU in 3 of 10 calls")


def test_what_was_seen_is_told_with_how_it_came_there(syncscan, project):
    project({"state.py": STATE, "facts.json": facts(STATE, host={"y": {"gpu float": 5}})})
    done = syncscan("check", "state.py", "--facts", "facts.json", "--output-format", "json", "--when", "all")
    (finding,) = json.loads(done.stdout)["findings"]
    first, *others = [step["text"] for step in finding["evidence"]]
    assert first == "`y` was seen on the GPU in 5 calls"
    assert others[-1] == '`torch.ones(3, device="cuda")` places the tensor on the GPU'


def test_what_was_seen_as_a_number_too_waits_where_it_was_on_the_gpu(check):
    found, _ = check(late={"x": {"gpu float": 3, "float": 4, "none": 1}})
    assert found[17, "SYN102"] == ("observed", "`x` was seen on the GPU in 3 of 8 calls")


def test_what_is_known_of_functions_is_kept(check):
    source = (
        STATE
        + "\n\ndef pick(how):\n    return how(1).item()\n\n\ndef on_gpu(n):\n    return torch.ones(n, device='cuda')\n"
    )
    source += "\n\ndef picks():\n    return pick(on_gpu)\n"
    found, _ = check(source=source, facts_of=source, pick={"how": {"object": 2}})
    assert (38, "SYN101") in found


def test_attributes_and_results_that_were_seen_are_there(check):
    found, _ = check(State__read={"self.mask": {"gpu bool": 2}, "self.table": {"list[gpu int]": 2}})
    assert found[10, "SYN104"] == ("observed", "`self.mask` was seen on the GPU in 2 calls")
    assert found[11, "SYN101"] == ("observed", "`self.table` was seen on the GPU in 2 calls")
    found, _ = check(late={"return": {"gpu float": 5}})
    confidence, why = found[22, "SYN101"]
    assert confidence in {"inferred", "observed"}
    assert why in {"`late` returns the value", "the result of `late` was seen on the GPU in 5 calls"}


HOST = {
    "y": {"host float": 4},
    "return": {"list[gpu float]": 4},
}  # on the host in calls in which all else was not


def test_what_was_seen_on_the_host_alone_is_refuted(check):
    found, used = check(host=HOST)
    assert found == {}
    assert [(f["line"], f["code"]) for f in used["refuted"]] == [(26, "SYN102")]
    found, used = check(host={"y": {"host float": 4, "gpu float": 1}})
    assert set(found) == {(26, "SYN102")}
    assert used["refuted"] == []


def test_calls_without_a_gpu_refute_nothing(check):
    found, used = check(host={"y": {"host float": 4}}, late={"x": {"gpu float": 1}})
    assert (26, "SYN102") in found
    assert used == {"fitting": 2, "stale": 0, "refuted": []}
    found, used = check(
        host={"y": {"host float": 4, "none": 1}, "return": {"list[gpu float]": 1, "list[]": 4}}
    )
    assert (26, "SYN102") in found  # it may have been on the host where nothing was on the GPU


def test_a_convention_is_refuted_and_a_tuple_is_known_item_by_item(check):
    found, used = check(
        "--min-confidence",
        "assumed",
        named={"values_gpu": {"float": 1}, "pair": {"tuple(gpu float, int)": 1}},
    )
    assert {place: value for place, value in found.items() if place[0] > 31} == {
        (34, "SYN103"): ("observed", "`pair` was seen on the GPU in 1 call"),
    }
    assert (34, "SYN101") in {(f["line"], f["code"]) for f in used["refuted"]}


ANNOTATED = """\
import torch


def pick(index: torch.Tensor, t: torch.Tensor):
    return torch.ones(4, device="cuda")[index]


def first(pair: tuple[torch.Tensor, int], named: dict[str, torch.Tensor]):
    for t in named.values():
        t.tolist()
    return pair[0].item()


class Table:
    def __init__(self, rows):
        self.rows = rows

    def read(self):
        return torch.ones(4, device="cuda")[self.rows]
"""


def test_what_annotations_leave_open_is_what_was_seen(check):
    def found(**functions):
        return check(source=ANNOTATED, facts_of=ANNOTATED, **functions)[0]

    assert found() == {}
    host = found(pick={"index": {"host int": 4}, "t": {"gpu float": 4}})
    assert set(host) == {(5, "SYN305")}
    assert found(pick={"index": {"gpu int": 4}, "t": {"gpu float": 4}}) == {}
    held = found(first={"pair": {"tuple(gpu float, int)": 3}, "named": {"dict[gpu float]": 3}})
    assert held == {
        (10, "SYN102"): ("observed", "`named` was seen on the GPU in 3 calls"),
        (11, "SYN101"): ("observed", "`pair` was seen on the GPU in 3 calls"),
    }
    rows = found(Table__read={"self.rows": {"host int": 4}, "return": {"gpu float": 4}})
    assert set(rows) == {(19, "SYN305")}
    assert found(first={"pair": {"tuple(host float, int)": 3}, "named": {"dict[host float]": 3}}) == {}


MIXED = """\
import torch


def forward(x, *more, **kwargs):
    if kwargs.get("debug", False):
        return x
    if more[0]:
        return x
    return kwargs["mask"].tolist()
"""


def test_a_container_of_numbers_and_tensors_does_not_say_which_item_is_one(check):
    def found(**words):
        words = {"x": {"gpu float": 4}, **{name: {word: 4} for name, word in words.items()}}
        return set(check(source=MIXED, facts_of=MIXED, forward=words)[0])

    assert found(kwargs="dict[gpu bool]", more="tuple[gpu bool]") == {
        (5, "SYN104"),
        (7, "SYN104"),
        (9, "SYN102"),
    }
    assert found(kwargs="dict[bool | gpu bool]", more="tuple[gpu bool | int | none]") == set()
    assert found(kwargs="dict[gpu bool | text]", more="tuple[gpu bool | list[int]]") == set()


def test_what_was_seen_to_be_an_object_leaves_open_what_it_is(check):
    found, used = check(host={"y": {"object": 4}})
    assert set(found) == {(26, "SYN102")}
    assert used["refuted"] == []


def test_what_was_always_left_out_is_not_refuted(check):
    found, used = check(host={"y": {"none": 4}})
    assert set(found) == {(26, "SYN102")}
    assert used["refuted"] == []


def test_facts_of_a_function_that_changed_are_not_used(check):
    seen = {"host": {"y": {"host float": 4}}, "late": {"x": {"gpu float": 340}}}
    changed = STATE.replace("return y.tolist()", "return y.tolist()[0]")
    found, used = check(source=changed, **seen)
    assert used == {"fitting": 1, "stale": 1, "refuted": []}
    assert set(found) == {(26, "SYN102"), (17, "SYN102"), (22, "SYN101")}
    moved = STATE.replace("def late", "# more\n\n\ndef late").replace("flag=None", "flag = None")
    found, used = check(source=moved, **seen)
    assert used["stale"] == 0
    assert (20, "SYN102") in found


def test_the_text_counts_and_shows_what_is_refuted(syncscan, project):
    project({"state.py": STATE, "facts.json": facts(STATE, host=HOST)})
    summary = syncscan("check", "state.py", "--facts", "facts.json").stdout.splitlines()[-1]
    assert summary.endswith("; facts of 1 function used, 1 finding refuted (--when all shows them)")
    shown = syncscan("check", "state.py", "--facts", "facts.json", "--when", "all").stdout.splitlines()
    assert shown[0].startswith("state.py:26:12: SYN102 refuted by runtime facts: `.tolist()` on the CUDA")
    assert shown[-1].endswith("; facts of 1 function used, 1 finding refuted")


def test_a_comment_about_what_facts_refute_is_not_unused(syncscan, project):
    source = STATE.replace("return y.tolist()", "return y.tolist()  # syncscan: ignore[SYN102] read once")
    project({"state.py": source, "facts.json": facts(STATE, host=HOST)})
    done = syncscan("check", "state.py", "--facts", "facts.json")
    assert (done.status, done.stdout.count("SYN")) == (0, 0)


def test_the_settings_name_files_of_facts_relative_to_themselves(syncscan, project):
    project(
        {
            "pyproject.toml": '[tool.syncscan]\nfacts = ["kept/facts.json"]\n',
            "kept/facts.json": facts(STATE, late={"x": {"gpu float": 340}}),
            "state.py": STATE,
        }
    )
    assert "`x` was seen on the GPU in 340 calls" in syncscan("check", "state.py").stdout
    assert 'facts = ["kept/facts.json"]' in syncscan("check", "--show-settings").stdout
    assert "340" not in syncscan("check", "state.py", "--isolated").stdout


def test_a_kept_result_is_that_of_the_same_facts(syncscan, project, tmp_path):
    project({"state.py": STATE, "facts.json": facts(STATE, late={"x": {"gpu float": 340}})})
    command = ("check", "state.py", "--cache-dir", "kept", "--facts", "facts.json")
    first, again = (syncscan(*command).stdout for _ in range(2))
    assert first.rpartition(" in ")[0] == again.rpartition(" in ")[0]
    assert first.rpartition("; ")[2] == again.rpartition("; ")[2]
    project({"facts.json": facts(STATE, late={"x": {"gpu float": 341}})})
    assert "in 341 calls" in syncscan(*command).stdout


def test_a_bad_file_gets_one_line(syncscan, project):
    project({"state.py": STATE, "facts.json": "[]"})
    done = syncscan("check", "state.py", "--facts", "facts.json")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == (
        "syncscan: facts.json: not a file of facts; `syncscan facts record -o FILE -- CMD` writes one\n"
    )


ON_GPU, ON_HOST = 'torch.ones(3, device="cuda")', "torch.ones(3)"
SEEN, PUT = "`x` was seen on the GPU in 4 calls", f"`{ON_GPU}` places the tensor on the GPU"
TAKEN = "import torch\n\n\ndef take(x, g):\n    return {}\n\n\ndef caller(c):\n    return take({}, c)\n"
ITEMS, FIRST, AS_DEVICE = "x[0].item(), x[1].item()", "x[0].item()", "torch.ones(4, device=x).item()"
GIVEN = "x.item() if x is not None else 1"


@pytest.mark.parametrize(
    ("reads", "given", "words", "found", "refuted"),
    [
        # item by item, where as many are known as were seen
        (ITEMS, f"({ON_GPU}, {ON_HOST})", "tuple(gpu float, host float)", {"x[0].item()": ["observed", SEEN, PUT]}, 0),
        (ITEMS, f"({ON_GPU}, {ON_HOST})", "tuple(host float, gpu float)", {"x[1].item()": ["observed", SEEN]}, 1),
        (ITEMS, f"({ON_GPU}, {ON_HOST})", "tuple(host float, host float)", {}, 1),
        (ITEMS, f"({ON_GPU}, {ON_GPU})", "tuple[host float]", {}, 2),
        (ITEMS, f"({ON_GPU}, 1)", "tuple(gpu float, int)", {"x[0].item()": ["observed", SEEN, PUT]}, 0),
        (
            ITEMS, f"({ON_GPU}, {ON_HOST})", "tuple[gpu float]",
            {"x[0].item()": ["observed", SEEN, PUT], "x[1].item()": ["observed", SEEN]}, 0,
        ),
        (
            ITEMS, f"({ON_GPU}, {ON_HOST})", "tuple(gpu float, gpu float, int)",
            {"x[0].item()": ["observed", SEEN], "x[1].item()": ["observed", SEEN]}, 0,
        ),
        # any item
        (FIRST, f"[{ON_GPU}]", "list[]", {"x[0].item()": ["inferred", PUT]}, 0),
        (FIRST, f"[{ON_GPU}]", "list[host float]", {}, 1),
        (FIRST, f"[{ON_GPU} for each in c]", "list[host float]", {}, 1),
        (FIRST, f"[{ON_GPU} for each in c]", "list[int | host float]", {"x[0].item()": ["inferred", PUT]}, 0),
        (FIRST, "c", "list[gpu float | none]", {"x[0].item()": ["observed", SEEN]}, 0),
        (FIRST, "c", "list[gpu float | host float]", {"x[0].item()": ["observed", SEEN]}, 0),
        ("[t.item() for t in x]", "c", "set[gpu float]", {"t.item()": ["observed", SEEN]}, 0),
        ("x['a'].item()", "c", "dict[gpu float]", {"x['a'].item()": ["observed", SEEN]}, 0),
        ("x['a'].item()", f"dict(a={ON_GPU})", "dict[host float]", {}, 1),
        ("x.item()", ON_GPU, "list[gpu float]", {}, 1),
        # devices
        (AS_DEVICE, "c", "gpu device", {AS_DEVICE: ["observed", f"`{AS_DEVICE[:-7]}` places the tensor on the GPU", SEEN]}, 0),
        (AS_DEVICE, "'cuda'", "host device", {}, 1),
        (AS_DEVICE, "'cuda'", "text", {AS_DEVICE: ["proved", f"`{AS_DEVICE[:-7]}` places the tensor on the GPU"]}, 0),
        # tensors, and what is none
        ("x.item()", ON_GPU, "gpu float", {"x.item()": ["observed", SEEN, PUT]}, 0),
        ("x.item()", ON_HOST, "gpu float", {"x.item()": ["observed", SEEN]}, 0),
        ("x.item()", f"{ON_HOST} if c else {ON_GPU}", "gpu float", {"x.item()": ["observed", SEEN]}, 0),
        ("x.item()", f"{ON_HOST} if c else {ON_GPU}", "host float", {}, 1),
        ("x.item()", ON_GPU, "elsewhere float", {}, 1),
        ("x.item()", ON_GPU, "text", {}, 1),
        ("x.item()", ON_GPU, "int", {}, 1),
        ("x.item()", ON_GPU, "object", {"x.item()": ["inferred", PUT]}, 0),
        (GIVEN, f"{ON_GPU} if c else None", "gpu float", {"x.item()": ["observed", SEEN, PUT]}, 0),
        (GIVEN, f"{ON_GPU} if c else None", "host float", {}, 1),
        # indices
        (f"{ON_GPU}[x]", "c", "host int", {f"{ON_GPU}[x]": ["observed", PUT]}, 0),
        (f"{ON_GPU}[x]", "c", "pinned int", {f"{ON_GPU}[x]": ["observed", PUT]}, 0),
        (f"{ON_GPU}[x]", "c", "gpu int", {}, 0),
        (f"{ON_GPU}[x]", "c", "host bool", {}, 0),
        (f"{ON_GPU}[x]", "c", "array int", {f"{ON_GPU}[x]": ["proved", PUT]}, 0),
    ],
)  # fmt: skip
def test_what_was_seen_decides_with_what_is_known(syncscan, project, reads, given, words, found, refuted):
    assert _found_in(syncscan, project, reads, given, {words: 4}) == (found, refuted)


def _found_in(syncscan, project, reads, given, counts):
    """What is found in `TAKEN`: how sure, and why, by the expression; and how much is refuted."""
    source = TAKEN.format(reads, given)
    words = {"x": counts, "g": {"gpu float": sum(counts.values())}}
    project({"state.py": source, "facts.json": facts(source, take=words)})
    report = json.loads(
        syncscan(
            "check", "state.py", "--facts", "facts.json", "--output-format", "json", "--when", "all"
        ).stdout
    )
    return {
        each["expression"]: [each["confidence"], *(step["text"] for step in each["evidence"])]
        for each in report["findings"]
    }, len(report["facts"]["refuted"])


@pytest.mark.parametrize(
    ("counts", "found", "refuted"),
    [
        ({"gpu float": 1, "host float": 3}, ["observed", SEEN.replace("4", "1 of 4")], 0),
        ({"host float": 3, "object": 1}, ["inferred", PUT], 0),
        ({"gpu float": 3, "object": 1}, ["inferred", SEEN.replace("4", "3 of 4")], 0),
        ({"gpu float": 3, "none": 1}, ["observed", SEEN.replace("4", "3 of 4"), PUT], 0),
        ({"gpu float": 3, "list[int]": 1}, ["observed", SEEN.replace("4", "3 of 4"), PUT], 0),
        ({"host float": 3, "none": 1}, None, 1),
        ({"gpu float": 1}, ["observed", SEEN.replace("4 calls", "1 call"), PUT], 0),
    ],
)  # fmt: skip
def test_what_was_seen_in_some_calls_is_one_of_several(syncscan, project, counts, found, refuted):
    expected = ({"x.item()": found} if found else {}, refuted)
    assert _found_in(syncscan, project, "x.item()", ON_GPU, counts) == expected


@pytest.mark.parametrize(("functions", "told"), [(3, 6), (4, 1)])
def test_a_long_way_to_what_was_seen_is_left_out(syncscan, project, functions, told):
    source = f"import torch\n\n\ndef last(x):\n    return x.item()\n\n\ndef make0():\n    return {ON_GPU}\n"
    for number in range(1, functions + 1):
        source += f"\n\ndef make{number}():\n    return make{number - 1}()\n"
    source += f"\n\ndef caller():\n    return last(make{functions}())\n"
    project({"state.py": source, "facts.json": facts(source, last={"x": {"gpu float": 4}})})
    report = json.loads(
        syncscan("check", "state.py", "--facts", "facts.json", "--output-format", "json").stdout
    )
    (evidence,) = [each["evidence"] for each in report["findings"] if each["expression"] == "x.item()"]
    assert evidence[0]["text"] == SEEN
    assert len(evidence) == told


RESULTS = f"""\
import torch


def passed(t: torch.Tensor, n):
    return t


def made(n):
    return {ON_GPU}


def counted(n):
    return 4


def read(t, n):
    return passed(t, n).item(), made(n).item(), counted(n).item()
"""


def test_a_result_that_was_seen_is_where_its_arguments_are_if_it_was_there_too(syncscan, project):
    def found(*places, **more):
        words = {"return": dict.fromkeys(places, 3), "n": {"gpu int": 3 * len(places)}}
        seen = dict.fromkeys(("passed", "made", "counted"), words) if places else {}
        project({"state.py": RESULTS, "facts.json": facts(RESULTS, **seen)})
        done = syncscan("check", "state.py", "--facts", "facts.json", "--output-format", "json")
        return {
            each["expression"].partition("(")[0]: each["evidence"][-1]["text"]
            for each in json.loads(done.stdout)["findings"]
        }

    assert found() == {"made": PUT}
    three = {name: f"the result of `{name}` was seen on the GPU in 3 calls" for name in ("passed", "counted")}
    several = {name: text.replace("3 calls", "3 of 6 calls") for name, text in three.items()}
    assert found("gpu float") == {"made": PUT, **three}
    assert found("gpu float", "host float") == {"made": PUT, **several}
    assert found("gpu float", "int") == {"made": PUT, **several}
    assert found("host float") == found("int") == found("text", "host float") == {}
    assert found("gpu float", "object") == {"made": PUT}


KEYED = """\
import torch


def forward(x, **kwargs):
    scale = kwargs["scale"]
    if scale > 2:
        return x
    if kwargs.get("mask") is not None:
        return kwargs["mask"].tolist()
    return kwargs["other"].tolist()


def called():
    return forward(1, scale=torch.ones(3, device="cuda"), other=torch.ones(3, device="cuda"))
"""


def test_a_dictionary_is_known_by_the_keys_that_the_function_names(check):
    def found(**kwargs):
        words = {"x": {"gpu float": 4}, "kwargs": {"dict[]": 4}}
        words |= {f"kwargs[{key}]": {word: 4} for key, word in kwargs.items()}
        lines, used = check(source=KEYED, facts_of=KEYED, forward=words)
        return set(lines), [finding["line"] for finding in used["refuted"]]

    assert found() == ({(6, "SYN104"), (10, "SYN102")}, [])
    assert found(scale="float", mask="gpu float") == ({(9, "SYN102"), (10, "SYN102")}, [6])
    assert found(scale="gpu float", other="host float") == ({(6, "SYN104")}, [10])


def test_the_host_in_calls_without_a_gpu_is_not_where_a_tensor_is_among_others(check):
    source = (
        STATE
        + "\n\ndef last(x, kept):\n    made = torch.full_like(kept, 0, device=kept.device)\n    made[x > 1] = x.sum()\n"
    )
    words = {"x": {"gpu float": 38, "host float": 2}, "kept": {"gpu float": 38, "host float": 2}}
    found, _ = check(source=source, facts_of=source, last=words)
    assert found[39, "SYN201"] == ("observed", "`x` was seen on the GPU in 38 of 40 calls")
