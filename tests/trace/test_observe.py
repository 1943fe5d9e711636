"""``syncscan facts record``: facts of what ran, and nothing of the program is changed by it."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """\
import sys
import torch


class Sampler:
    def __init__(self, mask):
        self.mask = mask
        self.steps = 0

    def sample(self, logits, greedy=False, *rest, **more):
        '''Not part of its syntax.'''
        if greedy:
            return logits[self.mask]
        self.steps += 1 if "kept" in more else 2
        return logits, self.steps

    @property
    def chosen(self):
        return [self.mask, 1]


def either(x):
    return x


def fails(x):
    raise ValueError(x)


sampler = Sampler(torch.ones(3, dtype=torch.bool, device="cuda"))
for _ in range(2):
    sampler.sample(torch.rand(3, device="cuda"), True)
sampler.sample(torch.rand(3), False, torch.zeros(3).int(), scale=2.0, kept=torch.rand(3, device="cuda"))
sampler.chosen
for value in (torch.zeros(1, dtype=torch.uint8), torch.rand(1, device="cuda").double(), None, "text", object(), [1, 2.0],
              torch.empty(3, pin_memory=True), {"a": (torch.ones(1, device="cuda"), 3)}, torch.device("cuda"),
              torch.zeros(1).numpy()):
    either(value)
try:
    fails(3)
except ValueError:
    pass
sys.exit(3)
"""


@pytest.fixture
def observe_numbers(observe, environment):
    """Observes a program that makes no tensor, with a torch that is imported in no time."""
    return functools.partial(observe, **environment)


def test_facts_say_where_parameters_results_and_attributes_lived(observe):
    done = observe(PROGRAM, "--simulate")
    assert (done.status, done.stdout) == (3, "")
    assert done.stderr == "syncscan: facts.json has facts of 5 functions\n"
    assert done.functions["program:Sampler.sample"]["calls"] == 3
    assert done.words("program:Sampler.sample") == {
        "logits": {"gpu float": 2, "host float": 1},
        "greedy": {"bool": 3},
        "rest": {"tuple[]": 2, "tuple(host int)": 1},
        "more": {"dict[]": 2, "dict[float]": 1},  # of a key that the function does not name nothing is said
        "more[kept]": {"gpu float": 1, "absent": 2},
        "more{}": {"text": 3},
        "more after": {"dict[]": 2, "dict[float]": 1},
        "more after[kept]": {"gpu float": 1, "absent": 2},
        "more after{}": {"text": 3},
        "self.mask": {"gpu bool": 3},
        "self.steps": {"int": 3},
        "return": {"gpu float": 2, "tuple(host float, int)": 1},
    }
    assert done.words("program:Sampler.__init__") == {"mask": {"gpu bool": 1}, "return": {"none": 1}}
    assert done.words("program:Sampler.chosen") == {
        "self.mask": {"gpu bool": 1},
        "return": {"list[gpu bool | int]": 1},
    }
    assert done.words("program:fails") == {"x": {"int": 1}}
    assert done.words("program:either")["x"] == dict.fromkeys(
        (
            "host uint8", "gpu float", "none", "text", "object builtins.object", "list[float | int]", "pinned float",
            "dict[tuple(gpu float, int)]", "gpu device", "array float",
        ), 1,
    )  # fmt: skip


def test_two_runs_give_the_same_file(observe):
    first = observe(PROGRAM, "--simulate").file.read_bytes()
    assert observe(PROGRAM, "--simulate").file.read_bytes() == first


def test_no_value_and_no_text_of_the_program_is_kept(observe_numbers):
    secret = "def f(name, number):\n    return {name: number}\nimport torch\nf('hunter2', 271828)\nf({'pass word': 1}, [3.25])\n"
    text = observe_numbers(secret).file.read_text()
    assert "program:f" in text
    for value in ("hunter2", "271828", "pass word", "3.25"):
        assert value not in text


def test_a_function_that_changes_is_another_one_and_its_layout_is_not(observe_numbers):
    source = "import torch\ndef f(x):\n    return x + 1\nf(1)\n"
    hashes = [
        next(iter(json.loads(observe_numbers(text).file.read_text())["functions"]["program:f"]))
        for text in (
            source,
            source.replace("x + 1", "(x\n      + 1)  # one more"),
            source.replace("    return", "    '''Add.'''\n    return"),
            source.replace("x + 1", "x + 2"),
            source.replace("f(x)", "f(x, y=0)"),
        )
    ]
    assert hashes[0] == hashes[1] == hashes[2]
    assert len({hashes[0], hashes[3], hashes[4]}) == 3


def test_facts_are_appended_and_those_of_a_changed_function_go(observe_numbers):
    source = "import torch\ndef f(x):\n    return x\ndef g(x):\n    return x\n"
    observe_numbers(source + "f(1)\ng(1)\n")
    done = observe_numbers(source.replace("return x\ndef", "return [x]\ndef") + "f(1.0)\n", "--append")
    assert done.stderr == "syncscan: facts.json has facts of 1 function, 2 with those of before\n"
    assert done.words("program:f") == {"x": {"float": 1}, "return": {"list[float]": 1}}
    done = observe_numbers(source + "g(None)\n", "--append")
    assert done.words("program:g") == {"x": {"int": 1, "none": 1}, "return": {"int": 1, "none": 1}}
    assert "program:f" in done.functions


def test_a_merge_is_the_same_in_any_order(observe_numbers, run_syncscan, tmp_path):
    names = []
    for index, call in enumerate(("f(1)", "f(None)\ng(1.0)", "f(1)")):
        observe_numbers(
            f"import torch\ndef f(x):\n    return x\ndef g(x):\n    return x\n{call}\n"
        ).file.rename(tmp_path / f"{index}.json")
        names.append(f"{index}.json")
    texts = []
    for order in (names, names[::-1], [names[1], names[0], names[2]]):
        done = run_syncscan("facts", "merge", "-o", "all.json", *order)
        assert (done.returncode, done.stderr) == (0, "syncscan: all.json has facts of 2 functions\n")
        texts.append((tmp_path / "all.json").read_text())
    assert texts[0] == texts[1] == texts[2]
    assert json.loads(texts[0])["functions"]["program:f"].popitem()[1]["words"]["x"] == {"int": 2, "none": 1}


GOOD = '{"syncscan_facts": 1, "functions": {"m:f": {"0123456789abcdef": {"calls": 1, "words": {"x": {"gpu float": 1}}}}}}'
BAD_FILES = {
    "absent": (None, "bad.json: cannot be read: no such file or directory"),
    "cut-short": (GOOD[:-9], "bad.json: not JSON or cut short; make it again with `syncscan facts record`"),
    "foreign": ("{}", "bad.json: not a file of facts; `syncscan facts record -o FILE -- CMD` writes one"),
    "a-list": ("[1]", "bad.json: not a file of facts; `syncscan facts record -o FILE -- CMD` writes one"),
    "newer": (GOOD.replace("1", "2", 1), "bad.json: version 2 of facts; this syncscan reads 1"),
    "a-word": (
        GOOD.replace("gpu float", "gpu flo\\u001b[2Jat"),
        "bad.json: damaged: not a word for a place; make it again with `syncscan facts record`",
    ),
    "nested": (
        GOOD.replace("gpu float", "list[" * 5000),
        "bad.json: damaged: not a word for a place; make it again with `syncscan facts record`",
    ),
    "a-hash": (
        GOOD.replace("0123", "zzzz"),
        "bad.json: damaged: not the hash of a function; make it again with `syncscan facts record`",
    ),
    "a-count": (
        GOOD.replace('"calls": 1', '"calls": -1'),
        "bad.json: damaged: functions[0][0].calls: not a whole number from 0 on; make it again with `syncscan facts record`",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_of_no_facts_gets_one_line(run_syncscan, tmp_path, name):
    text, message = BAD_FILES[name]
    if text is not None:
        (tmp_path / "bad.json").write_text(text)
    done = run_syncscan("facts", "merge", "-o", "all.json", "bad.json")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"syncscan: {message}\n")
    assert not (tmp_path / "all.json").exists()


def test_the_damage_of_a_file_to_append_to_is_told_before_the_command_runs(run_syncscan, tmp_path):
    (tmp_path / "facts.json").write_text("{}")
    done = run_syncscan("facts", "record", "--append", "-o", "facts.json", "--", "touch", "ran")
    assert done.returncode == 2
    assert done.stderr.startswith("syncscan: facts.json: not a file of facts")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no command given; write `syncscan facts record -- pytest tests`"),
        (
            ("-o", "no/facts.json", "--", "true"),
            "no/facts.json: there is no such folder to write the facts to",
        ),
        (
            ("--package", "a/b", "--", "true"),
            "--package a/b: write the name of a package, such as torchvision",
        ),
    ],
)
def test_mistakes_get_one_line(run_syncscan, arguments, message):
    done = run_syncscan("facts", "record", *arguments)
    assert (done.returncode, done.stderr) == (2, f"syncscan: {message}\n")


def test_a_trace_records_the_same_facts_in_the_same_run(run_syncscan, program, observe, tmp_path):
    alone = observe(PROGRAM, "--simulate").file.read_bytes()
    traced = run_syncscan(
        "trace",
        "--simulate",
        "--facts",
        "out/facts.json",
        "-o",
        "out",
        "--",
        sys.executable,
        program(PROGRAM),
    )
    assert (traced.returncode, traced.stdout) == (3, "")
    assert traced.stderr.endswith("syncscan: out/facts.json has facts of 5 functions\n")
    assert (tmp_path / "out" / "facts.json").read_bytes() == alone
    (site,) = json.loads((tmp_path / "out" / "trace.json").read_text())["sites"]
    assert site["function"] == "Sampler.sample"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--facts", "no/facts.json"), "no/facts.json: there is no such folder to write the facts to"),
        (("--facts", "."), ".: is a folder; name a file to write the facts to"),
        (
            ("-o", "out", "--facts", "out/trace.json"),
            "--facts out/trace.json: is the trace itself; name another file",
        ),
        (
            ("--package", "torch"),
            "--package adds functions to the facts: name their file with --facts FACTS.json",
        ),
    ],
)
def test_a_trace_refuses_facts_that_nobody_would_get(run_syncscan, tmp_path, arguments, message):
    done = run_syncscan("trace", *arguments, "--", "touch", "ran")
    assert (done.returncode, done.stderr) == (2, f"syncscan: {message}\n")
    assert not (tmp_path / "ran").exists()


def test_a_broken_limit_counts_where_facts_cannot_be_written(run_syncscan, program, tmp_path):
    source = "import os, torch\n\ndef step(x):\n    return x.item()\n\nstep(torch.ones(1, device='cuda'))\nos.mkdir('facts.json')\n"
    limits = ("--step", "__main__:step", "--max-syncs-per-step", "0")
    done = run_syncscan(
        "trace", "--simulate", *limits, "--facts", "facts.json", "--", sys.executable, program(source)
    )
    assert done.returncode == 1
    assert "facts.json: is a directory" in done.stderr.lower()


def test_a_command_without_torch_says_so(run_syncscan):
    done = run_syncscan("facts", "record", "-o", "facts.json", "--", "true")
    assert (done.returncode, done.stderr) == (
        0,
        "syncscan: facts.json has facts of 0 functions: no process imported torch\n",
    )


def test_functions_of_packages_are_observed_where_they_are_named(observe, tmp_path):
    package = tmp_path / "lib" / "site-packages" / "library"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("def f(x):\n    return x\n")
    source = "import torch\nfrom library.part import f\nf(1)\n"
    path = os.pathsep.join([str(package.parent), str(ROOT)])
    done = observe(source, PYTHONPATH=path)
    assert done.functions == {}
    assert done.stderr.endswith("--package NAME adds those of a package\n")
    done = observe(source, "--package", "library", PYTHONPATH=path)
    assert list(done.functions) == ["library.part:f"]


PROCESSES = """\
import multiprocessing, os, threading
import torch

def f(x):
    return x

def in_child():
    f(torch.zeros(1, device="cuda"))

if __name__ == "__main__":
    f(1)
    threads = [threading.Thread(target=f, args=(2.0,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for method in ("fork", "spawn"):
        process = multiprocessing.get_context(method).Process(target=in_child)
        process.start()
        process.join()
    child = os.fork()
    if child == 0:
        f(True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_threads_and_processes_are_followed_and_each_call_counts_once(observe):
    done = observe(PROCESSES, "--simulate")
    assert done.status == 0, done.stderr
    assert done.words("program:f")["x"] == {"int": 1, "float": 3, "gpu float": 2, "bool": 1}
    assert done.functions["program:in_child"]["calls"] == 2


KILLED = """\
import os, signal, time
import torch

def f(x):
    return x

f(1)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_has_told_what_was_new(observe):
    done = observe(KILLED)
    assert done.status in {-9, 137}
    assert done.words("program:f")["x"] == {"int": 1}


SUBCLASS = """\
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        print("function", getattr(function, "__name__", function))
        return super().__torch_function__(function, types, args, kwargs or {})

class Functions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        print("mode", getattr(function, "__name__", function))
        return function(*args, **(kwargs or {}))

class Operations(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        print("dispatch", function)
        return function(*args, **(kwargs or {}))

class Proud(dict):
    def __iter__(self):
        print("iterated")
        return super().__iter__()
    def values(self):
        print("values")
        return super().values()

class Lazy:
    def __init__(self):
        self.held = 1
    def __getattribute__(self, name):
        print("asked for", name)
        return object.__getattribute__(self, name)
    @property
    def costly(self):
        print("costly")
    def method(self, flag):
        if flag:
            return self.costly
        return None

def f(x):
    return None

f(torch.zeros(1).as_subclass(Loud))
with Functions(), Operations():
    f(torch.nn.Parameter(torch.zeros(1)))
f(Proud(a=1))
Lazy().method(False)
f(torch.zeros(3, requires_grad=True))
"""


def test_nothing_of_the_program_runs_for_the_facts(observe, program, run_syncscan):
    alone = subprocess.run([sys.executable, program(SUBCLASS)], capture_output=True, text=True, check=True)
    done = observe(SUBCLASS)
    assert (done.status, done.stdout) == (0, alone.stdout), done.stderr
    assert "costly" not in done.stdout
    assert done.words("program:f")["x"] == {"host float": 3, "dict __main__.Proud[int]": 1}
    assert done.words("program:Lazy.method") == {"flag": {"bool": 1}, "return": {"none": 1}}


CHANGING = """
import torch
from collections import OrderedDict

class Layer:
    pass

class Loud(type):
    @property
    def __module__(cls):
        print("asked for the module")
        return "elsewhere"

class Odd(metaclass=Loud):
    pass

def fill(rows, table, given):
    given = [3]
    rows.append(torch.zeros(1))
    table["size"] = 1.5
    return {"size": 2, 3: 4}

def several(x):
    return tuple(range(5))

def wrapped():
    def inner(self):
        return self
    return inner

def resize(layer, other):
    layer.size = torch.zeros(1) if layer.size else 2
    other = layer
    return other.rows

layer = Layer()
layer.rows = [1]
fill(layer.rows, OrderedDict(), [1])
several([Layer(), Odd()])
several(list(range(100)) + [None])
several([[[1]]])
several([])
wrapped()(layer)
layer.size = 1
resize(layer, layer)
"""


def test_facts_say_what_a_call_leaves_in_a_container_and_of_which_class_objects_are(observe):
    done = observe(CHANGING)
    assert (done.status, done.stdout) == (0, "")
    fill = done.words("program:fill")
    assert fill["rows"] == {"list[int]": 1}
    assert fill["rows after"] == {"list[host float | int]": 1}
    assert fill["given"] == {"list[int]": 1}
    assert "given after" not in fill  # the function binds the name again
    assert (fill["table"], fill["table[size]"]) == ({"dict collections.OrderedDict[]": 1}, {"absent": 1})
    assert fill["table after[size]"] == {"float": 1}
    assert (fill["return[size]"], fill["return{}"]) == ({"int": 1}, {"object": 1})
    assert done.words("program:several") == {
        "x": dict.fromkeys(
            (
                "list[object __main__.Layer | object __main__.Odd]",
                "list[int | more]",
                "list[list[list[more]]]",
                "list[]",
            ),
            1,
        ),
        "x after": dict.fromkeys(
            (
                "list[object __main__.Layer | object __main__.Odd]",
                "list[int | more]",
                "list[list[list[more]]]",
                "list[]",
            ),
            1,
        ),
        "return": {"tuple(int, int, int, int, int)": 4},
    }
    inner = done.words("program:wrapped.inner")
    assert inner["return"] == {"object __main__.Layer": 1}
    assert inner.get("self") == (inner["return"] if sys.version_info >= (3, 11) else None)
    resize = done.words("program:resize")
    assert (resize["layer.size"], resize["layer.size after"]) == ({"int": 1}, {"host float": 1})
    assert (resize["layer.rows"], resize["layer.rows after"]) == (resize["return"], resize["return"])
    assert "other.size" in resize
    assert "other.size after" not in resize
