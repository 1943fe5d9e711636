"""What an engine knew, kept and taken up by another: it says what a new one says, and works out little for that."""

from __future__ import annotations

import ast
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from syncscan.check.cache import Store, key_of_state
from syncscan.check.engine import Engine
from syncscan.check.files import Source, read_source
from syncscan.check.persistence.state import SavedState, written
from syncscan.check.result import CheckResult
from syncscan.model import Conventions
from syncscan.system.memory import free_recent
from tests.check.changing import project, source

CORPUS = sorted((Path(__file__).parent / "corpus").rglob("*.py"))


def cold(sources: dict[str, Source], jobs: int = 1) -> tuple[CheckResult, bytes]:
    """What an engine says that knew nothing, and what it knows now."""
    engine = Engine(Conventions())
    result = engine.check([*sources.values()], None, lambda *_: None, jobs)
    state = engine.state()
    assert state is not None
    return result, state


def followed(state: bytes, sources: dict[str, Source]) -> tuple[CheckResult, list[str]]:
    """What an engine says that takes up a state, and the functions that it evaluated; all of them where it could not."""
    stages: list[str] = []
    engine = Engine(Conventions(), state=state)
    result = engine.check([*sources.values()], None, lambda stage, *_: stages.append(stage))
    return result, [stage for stage in stages if stage in {"infer", "assume"}]


def test_files_that_have_not_changed_are_not_parsed(monkeypatch) -> None:
    model = """
class Model:
    def generate(self, x):
        while True:
            self.step(x)

    def step(self, x):
        return x.cpu()
"""
    sources = project() | {"model": source("model", model)}
    _, state = cold(sources)
    before = sources["helpers"]
    sources["helpers"] = replace(before, text=before.text.replace("n + 1", "n + 2"))
    parsed: list[str] = []
    parse = ast.parse
    with monkeypatch.context() as patch:
        patch.setattr(ast, "parse", lambda text, *a, **how: parsed.append(text) or parse(text, *a, **how))
        followed(state, sources)
    assert {text for text in parsed if "def " in text} == {before.text, sources["helpers"].text}


def test_a_file_with_a_lambda_in_a_decorator_is_followed() -> None:
    text = "import torch\n\n@register(lambda t: t.cpu())\ndef use(n):\n    return n + 1\n\ndef other(t):\n    t.cuda().item()\n"
    sources = project() | {"wrapped": source("wrapped", text)}
    whole, state = cold(sources)
    sources["wrapped"] = source("wrapped", text.replace("n + 1", "n + 2"))
    result, evaluated = followed(state, sources)
    assert result == cold(sources)[0] == whole
    assert len(evaluated) < 4


@pytest.mark.long
def test_all_that_the_corpus_knows_of_survives() -> None:
    sources = {str(path): read_source(path, path.parent, {}) for path in CORPUS[::6]}
    sources = {
        name: replace(each, module=f"m{n}.{each.module}") for n, (name, each) in enumerate(sources.items())
    }
    expected, state = cold(sources)
    assert len(expected.findings) > 60
    result, evaluated = followed(state, sources)
    assert (result, evaluated) == (expected, [])
    for name in [*sources][::15]:
        edited = sources | {name: replace(sources[name], text="# a line more\n" + sources[name].text)}
        result, evaluated = followed(state, edited)
        assert result == cold(edited)[0]
        assert len(evaluated) < 20


def test_what_files_say_of_those_beside_them_is_kept() -> None:
    folder = Path(__file__).parent / "corpus" / "conventions" / "fields_that_are_kept"
    sources = {path.stem: read_source(path, folder.parent, {}) for path in folder.glob("*.py")}
    text = "from fields_that_are_kept.second import total\n\ndef use(a):\n    total(a, 1)\n"
    sources["caller"] = source("caller", text)
    _, state = cold(sources)
    sources["caller"] = source("caller", text.replace("total(a, 1)", "total(a, a)"))
    result, evaluated = followed(state, sources)
    expected, _ = cold(sources)
    assert result == expected
    assert sum(finding.path == sources["second"].shown for finding in result.findings) == 1
    assert 1 < len(evaluated) < 6


def test_what_is_kept_on_the_host_passes_to_a_file_that_imports_from_there_now() -> None:
    folder = Path(__file__).parent / "corpus" / "conventions" / "fields_that_are_kept"
    sources = {path.stem: read_source(path, folder.parent, {}) for path in folder.glob("*.py")}
    before, state = cold(sources)
    text = sources["apart"].text.replace("import torch\n", "import torch\nfrom .first import fields_of\n")
    sources["apart"] = replace(sources["apart"], text=text)
    result, _ = followed(state, sources)
    assert result == cold(sources)[0]
    assert len(result.findings) < len(before.findings)


def test_what_was_asked_of_names_is_asked_again_where_an_edit_mentions_them() -> None:
    path = Path(__file__).parent / "corpus" / "copies" / "drifting_mirror.py"
    sources = {"mirror": read_source(path, path.parent, {})}
    sources["other"] = source("other", "def refresh(states):\n    pass\n")
    before, state = cold(sources)
    sources["other"] = source("other", "def refresh(states):\n    states.computed_np[0] = 1\n")
    result, evaluated = followed(state, sources)
    assert result == cold(sources)[0]
    assert len(result.findings) < len(before.findings)
    assert 0 < len(evaluated) < 6


def test_what_else_makes_an_object_is_followed() -> None:
    text = """import torch
class Layer(torch.nn.Module):
    def __init__(self):
        self._make()
    def _make(self):
        self.w = torch.zeros(3)
    def read(self):
        return self.w.item()
with torch.device("cuda"):
    Layer()
"""
    sources = {"layer": source("layer", text)}
    before, state = cold(sources)
    sources["layer"] = source("layer", text.replace("self._make()", "pass"))
    result, evaluated = followed(state, sources)
    assert result == cold(sources)[0] != before
    assert len(evaluated) < 4


def test_what_was_put_into_other_modules_is_known_of_any_kind() -> None:
    made = """from functools import partial
import torch
class Base:
    def read(self, x):
        return x
def scaled(x, by, to="cpu"):
    return (x * by).to(to)
double = partial(scaled, by=2, to="cuda")
first = partial(scaled, torch.ones(3))
bound = Base().read
pair = (torch.ones(3, device="cuda"), "cuda:0", 4, None, torch.ones(2))
named = {"a": torch.ones(3, device="cuda"), 1: [torch.ones(3)]}
place = torch.device("cuda")
part = slice(torch.ones((), device="cuda"), None)
several = [torch.ones(3, device="cuda") for _ in range(4)]
"""
    use = """import torch
from made import bound, double, first, named, pair, part, place, several
def use(n):
    x = torch.ones(3)
    return [
        double(x).tolist(), first(2, "cuda").tolist(), bound(pair[0]).tolist(), pair[4].tolist(),
        torch.ones(2, device=pair[1]).tolist(), named["a"].tolist(), named[1][0].tolist(),
        torch.ones(2, device=place).tolist(), torch.ones(3, device="cuda")[part].sum(), several[n].tolist(),
    ]
"""
    sources = {"made": source("made", made), "use": source("use", "def use(n):\n    return n\n")}
    _, state = cold(sources)
    sources["use"] = source("use", use)
    result, evaluated = followed(state, sources)
    expected, _ = cold(sources)
    assert result == expected
    assert len(result.findings) == 9
    assert len(evaluated) < 10


def test_what_other_processes_found_is_kept_too(monkeypatch) -> None:
    monkeypatch.setattr("syncscan.check.matching._WORTH_SHARING", 1)
    sources = project()
    expected, _ = cold(sources)
    result, state = cold(sources, jobs=3)
    assert result == expected
    text = sources["base"].text.replace("self.host = None", "self.host = 1\n        # here")
    sources["base"] = replace(sources["base"], text=text)
    result, evaluated = followed(state, sources)
    assert result == cold(sources)[0]
    assert 0 < len(evaluated) < 5


@pytest.mark.parametrize(
    "damage",
    {
        "empty": lambda state: b"",
        "cut": lambda state: state[:-1000],
        "no head": lambda state: state.partition(b"\n")[2],
        "no data": lambda state: b"cos\nsystem\n(S'false'\ntR.",
        "turned": lambda state: state.partition(b"\n")[0] + b"\n" + state.partition(b"\n")[2][::-1],
        "of other files": lambda state: cold({f"{n}": source(f"m{n}", "") for n in range(65)})[1],
    }.values(),
)
def test_a_state_that_is_not_of_these_files_is_passed_over(damage) -> None:
    sources = project()
    expected, state = cold(sources)
    sources["helpers"] = replace(sources["helpers"], text=sources["helpers"].text + "\n# more\n")
    result, evaluated = followed(damage(state), sources)
    assert result == expected
    assert len(evaluated) > 15


@pytest.mark.long
def test_parts_that_something_else_wrote_are_passed_over() -> None:
    sources = project()
    _, state = cold(sources)
    then = sorted(sources.values(), key=lambda each: each.shown)
    parts = SavedState(state, then).parts
    text = sources["base"].text.replace("def longest(self)", "def longest(self, more=None)")
    sources["base"] = replace(sources["base"], text=text)
    expected, _ = cold(sources)
    assert 1 < len(followed(state, sources)[1]) < 6
    free_recent()  # what each engine below would walk again
    for name in parts:
        for other in ("", "null", "[]", "[[[[]]]]", parts[name].replace("[", "{"), f"{parts[name]}\n[]"):
            assert followed(written({**parts, name: other}.items(), then), sources)[0] == expected, (
                name,
                other,
            )


# As users see it


@pytest.fixture
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "kept"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, each in project().items():
        (tmp_path / f"{name}.py").write_text(each.text)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def command(*arguments: object) -> list[str]:
    given = ["check", *map(str, arguments), "--when", "all", "--output-format=json", "--jobs=1"]
    return [sys.executable, "-m", "syncscan", *given]


def checked(root: Path, *arguments: object, seed: int = 0, **environment: str) -> tuple[object, object]:
    """What a check finds, as a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), **environment}
    done = subprocess.run(command(*arguments), cwd=root, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    report = json.loads(done.stdout)
    assert report["findings"]
    return report["findings"], report["left_out"]


@pytest.fixture
def in_process(syncscan, root) -> Callable[..., tuple[object, object]]:
    """The same without the cost of a process."""

    def check(*arguments: object) -> tuple[object, object]:
        done = syncscan(*command(*arguments)[3:])
        assert (done.status, done.stderr) == (1, "")
        report = json.loads(done.stdout)
        return report["findings"], report["left_out"]

    return check


def edited(root: Path) -> None:
    """Another body of a function."""
    path = root / "base.py"
    path.write_text(
        path.read_text().replace("self.host = None", 'self.host = torch.ones(2, device="cuda").item()')
    )


def states(kept: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in kept.glob("*.state")}


def follows_another(entry: bytes) -> bool:
    """Return whether a state continues an earlier state: numbers of instructions that were solved again are unused."""
    _, _, state = entry.partition(b"\n")
    places = [each for each in json.loads(SavedState(state, ()).parts["places"]) if each is not None]
    return max(base + size for base, size in places) > sum(size for _, size in places)


def test_processes_of_other_hash_seeds_follow_one_another(root, kept) -> None:
    first = checked(root, ".", "--cache-dir", kept, seed=1)
    assert not any(map(follows_another, states(kept).values()))
    edited(root)
    for seed, target in [(2, "."), (3, "base.py")]:
        for result in kept.glob("*.result"):
            result.unlink()
        found = checked(root, target, "--cache-dir", kept, seed=seed)
        assert found == checked(root, target, "--no-cache", seed=seed)
        assert found != first
    assert all(map(follows_another, states(kept).values()))


def test_without_the_store_no_state_is_read_or_written(root, kept) -> None:
    checked(root, ".", "--no-cache", XDG_CACHE_HOME=str(kept), HOME=str(kept))
    assert not kept.exists()
    checked(root, ".", XDG_CACHE_HOME=str(kept), HOME=str(kept))
    (state,) = kept.rglob("*.state")
    before = state.stat()
    edited(root)
    checked(root, ".", "--no-cache", XDG_CACHE_HOME=str(kept), HOME=str(kept))
    assert state.stat() == before  # not even that it was read


def replace_in(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_definitions_and_files_that_are_new_or_gone_follow_from_the_state(in_process, root, kept) -> None:
    in_process(".", "--cache-dir", kept)
    replace_in(root / "helpers.py", "def plain(n)", "def plain(n, m=1)")
    assert in_process(".", "--cache-dir", kept) == in_process(".", "--no-cache")
    (root / "more.py").write_text(
        "import base\n\nclass More(base.Runner):\n    def step(self, batch):\n        return batch\n"
    )
    assert in_process(".", "--cache-dir", kept) == in_process(".", "--no-cache")
    (root / "derived.py").unlink()
    assert in_process(".", "--cache-dir", kept) == in_process(".", "--no-cache")
    assert len(states(kept)) == 3  # one for each set of files
    assert all(map(follows_another, states(kept).values()))


def test_a_change_that_is_not_followed_makes_another_state(in_process, root, kept) -> None:
    in_process(".", "--cache-dir", kept)
    before = states(kept)
    replace_in(root / "base.py", "class Runner:", "class Runner(object):")
    assert in_process(".", "--cache-dir", kept) == in_process(".", "--no-cache")
    after = states(kept)
    assert after.keys() == before.keys()
    assert after != before
    assert not any(map(follows_another, after.values()))


def test_clean_removes_states(syncscan, in_process, kept) -> None:
    in_process(".", "--cache-dir", kept)
    assert states(kept)
    assert syncscan("clean", "--cache-dir", kept).status == 0
    assert not kept.exists()


def test_a_state_that_is_damaged_on_the_disk_is_passed_over(in_process, root, kept) -> None:
    in_process(".", "--cache-dir", kept)
    (path,) = kept.glob("*.state")
    whole = path.read_bytes()
    edited(root)
    expected = in_process(".", "--no-cache")
    for damaged in (b"", whole[:-1], whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], b"[]"):
        for result in kept.glob("*.result"):
            result.unlink()
        path.write_bytes(damaged)
        assert in_process(".", "--cache-dir", kept) == expected
        assert path.read_bytes() not in {damaged, whole}  # it is another one now


def test_the_state_of_another_version_has_another_name(root, kept, monkeypatch) -> None:
    sources = [read_source(path, root, {}) for path in sorted(root.glob("*.py"))]
    name = key_of_state(sources, Conventions(), {})
    assert name == key_of_state([replace(each, text="") for each in sources], Conventions(), {})
    others = {
        key_of_state(sources[:-1], Conventions(), {}),
        key_of_state(sources, Conventions(gpu_names=()), {}),
        key_of_state(sources, Conventions(), {"torch.ops.m.f": {}}),
    }
    monkeypatch.setattr("syncscan.check.cache._program", lambda: b"another")
    assert len(others | {name, key_of_state(sources, Conventions(), {})}) == 5


def test_a_run_that_is_killed_as_it_writes_the_state_leaves_the_one_before(root, kept) -> None:
    checked(root, ".", "--cache-dir", kept)
    before = states(kept)
    replace_in(root / "base.py", "class Runner:", "class Runner(object):")  # which is not followed
    done = ended_as_it_writes_the_state(root, kept, signal.SIGKILL)
    assert done.returncode == -signal.SIGKILL
    assert states(kept) == before
    assert [*kept.glob("*.new")]
    expected = checked(root, ".", "--no-cache")
    assert json.loads(done.stdout)["findings"] == expected[0]  # the report was out before
    assert checked(root, ".", "--cache-dir", kept) == expected


def ended_as_it_writes_the_state(
    root: Path, kept: Path, by: signal.Signals
) -> subprocess.CompletedProcess[bytes]:
    program = (
        "import os, pathlib, signal, sys\n"
        "def ended(unfinished, target):\n"
        f"    if str(target).endswith('.state'): signal.raise_signal({by:d})  # now, in this thread\n"
        "    os.replace(unfinished, target)\n"
        "pathlib.Path.replace = ended\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for jobs in the background\n"
        "from syncscan.cli import main\n"
        "main()\n"
    )
    arguments = command(".", "--cache-dir", kept)[3:]
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=root, capture_output=True, check=False
    )


def test_control_c_as_the_state_is_written_loses_the_state_alone(root, kept) -> None:
    done = ended_as_it_writes_the_state(root, kept, signal.SIGINT)
    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(done.stdout)["findings"] == checked(root, ".", "--no-cache")[0]
    assert not states(kept)
    assert not [*kept.glob("*.new")]
    assert [*kept.glob("*.result")]


def test_a_reader_that_leaves_early_leaves_a_state(root, kept) -> None:
    def read_by_nobody(*arguments: object) -> tuple[int, bytes]:
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            command(".", *arguments), cwd=root, stdout=write, stderr=subprocess.PIPE, check=False
        )
        os.close(write)
        return done.returncode, done.stderr

    assert read_by_nobody("--cache-dir", kept) == read_by_nobody("--no-cache")
    assert len(states(kept)) == 1


def test_a_full_disk_changes_nothing(root, kept) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    expected = checked(root, ".", "--no-cache")
    done = subprocess.run(
        command(".", "--cache-dir", kept), cwd=root, capture_output=True, preexec_fn=full, check=False
    )
    assert (json.loads(done.stdout)["findings"], done.stderr) == (expected[0], b"")
    assert not states(kept)
    assert not [*kept.glob("*.new")]


def test_runs_at_the_same_time_follow_one_state(root, kept) -> None:
    checked(root, ".", "--cache-dir", kept)
    state = states(kept)
    edited(root)
    expected, _ = checked(root, ".", "--no-cache")
    runs = [
        subprocess.Popen(command(".", "--cache-dir", kept), cwd=root, stdout=subprocess.PIPE)
        for _ in range(10)
    ]
    assert [json.loads(each.communicate()[0])["findings"] for each in runs] == [expected] * 10
    assert states(kept).keys() == state.keys()
    assert all(map(follows_another, states(kept).values()))


def test_states_make_room_for_one_another(kept, monkeypatch) -> None:
    monkeypatch.setattr("syncscan.check.cache._MOST_BYTES", 2500)
    store = Store(kept)
    for number in range(4):
        store.write_state(f"{number}" * 64, "a" * 64, lambda: bytes(1000))
        store.finish()
        os.utime(kept / f"{str(number) * 64}.state", (number, number))
    assert [name[0] for name in sorted(states(kept))] == ["2", "3"]
    assert store.read_state("3" * 64, "b" * 64) == bytes(1000)
    assert store.read_state("0" * 64, "b" * 64) is None
