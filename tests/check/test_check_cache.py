"""Results kept on disk: the same as those of a run without, whatever happened to them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from syncscan.check import cache as stores
from syncscan.check.cache import Store, key_of
from syncscan.check.engine import check_sources
from syncscan.check.files import read_source
from syncscan.check.result import CheckResult
from syncscan.model import Conventions, Failure
from tests.clones import copy_parts
from tests.compiled import IS_COMPILED

WAITS = 'import torch\nt = torch.zeros(3, device="cuda")\nt.item()\n'
CORPUS = sorted((Path(__file__).parent / "corpus").rglob("*.py"))


@pytest.fixture
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "kept"


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.result"))


def test_what_is_kept_is_what_was_found(kept: Path) -> None:
    sources = [read_source(path, path.parent, {}) for path in CORPUS[::8]]
    result = check_sources(sources, None, Conventions(), lambda *_: None)
    result.failed += [Failure("a.py", 3, "too new", partial=True, python="3.19")]
    assert len(result.findings) > 20
    Store(kept).write("0" * 64, result)
    assert Store(kept).read("0" * 64) == result
    assert Store(kept).read("1" * 64) is None


def test_a_second_run_takes_what_the_first_kept(syncscan, project, kept) -> None:
    root = project({"a.py": WAITS, "b.py": WAITS, "pyproject.toml": ""})
    first = syncscan("check", ".", "--cache-dir", kept, "--output-format", "json")
    (entry,) = entries(kept)
    result = Store(kept).read(entry.stem)
    assert result is not None
    result.findings[:] = [replace(finding, message="as kept") for finding in result.findings]
    Store(kept).write(entry.stem, result)
    for arguments, count in [((".",), 2), (("a.py",), 1)]:
        done = syncscan("check", *arguments, "--cache-dir", kept, "--output-format", "json")
        assert [f["message"] for f in json.loads(done.stdout)["findings"]] == ["as kept"] * count
    again = syncscan("check", ".", "--no-cache", "--output-format", "json")
    assert json.loads(again.stdout)["findings"] == json.loads(first.stdout)["findings"]
    (root / "a.py").write_text(WAITS + "t.tolist()\n")
    done = syncscan("check", ".", "--cache-dir", kept, "--output-format", "json")
    assert [f["code"] for f in json.loads(done.stdout)["findings"]] == ["SYN101", "SYN102", "SYN101"]
    assert len(entries(kept)) == 2


@pytest.mark.skipif(IS_COMPILED, reason="copies the source alone")
def test_an_installation_of_the_same_program_takes_what_another_kept(project, kept, tmp_path_factory) -> None:
    root = project({"a.py": WAITS})
    for place in ("first", "second"):
        installation = tmp_path_factory.mktemp(place)
        copy_parts(("syncscan", "rules"), installation, copy=shutil.copyfile)
        (installation / "rules").rename(installation / "syncscan/rules")
        assert checked_by(installation, root, kept) == 1
    with (installation / "syncscan/rules/item_read.py").open("a") as stream:
        stream.write("# another program\n")
    assert checked_by(installation, root, kept) == 2


def checked_by(installation: Path, root: Path, kept: Path) -> int:
    """Check with the syncscan of a folder, and say how many results are kept then."""
    command = [sys.executable, "-m", "syncscan", "check", "a.py", "--cache-dir", str(kept)]
    environment = {**os.environ, "PYTHONPATH": str(installation)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    return len(entries(kept))


@pytest.mark.parametrize("setting", ['hot = ["a:f"]', 'conventions = { gpu-names = ["x"] }'])
def test_a_changed_setting_has_results_of_its_own(syncscan, project, kept, setting) -> None:
    text = "def f(x): x.item()\n"
    project({"a.py": text, "pyproject.toml": "[tool.syncscan]\n"})
    assert syncscan("check", ".", "--cache-dir", kept).status == 0
    project({"pyproject.toml": f"[tool.syncscan]\n{setting}\n"})
    with_store = syncscan("check", ".", "--cache-dir", kept, "--min-confidence", "assumed")
    without = syncscan("check", ".", "--no-cache", "--min-confidence", "assumed")
    assert with_store.stdout.splitlines()[:-1] == without.stdout.splitlines()[:-1]
    assert len(entries(kept)) == 2


def damaged(entry: bytes) -> dict[str, bytes]:
    body = entry.partition(b"\n")[2]
    return {
        "empty": b"",
        "cut": entry[:-10],
        "a bit": entry[:80] + bytes([entry[80] ^ 1]) + entry[81:],
        "no digest": body,
        "pickle": b"cos\nsystem\n(S'false'\ntR.",
    }


@pytest.mark.parametrize("how", damaged(b"x" * 100))
def test_a_damaged_entry_is_passed_over_and_written_anew(syncscan, project, kept, how) -> None:
    project({"a.py": WAITS})
    first = syncscan("check", ".", "--cache-dir", kept)
    (entry,) = entries(kept)
    whole = entry.read_bytes()
    entry.write_bytes(damaged(whole)[how])
    second = syncscan("check", ".", "--cache-dir", kept)
    assert second.stdout.splitlines()[:-1] == first.stdout.splitlines()[:-1]
    assert (second.status, second.stderr) == (1, "")
    assert entry.read_bytes() == whole


FINDING = [["SYN101", "n", "a.py", "f", "e", "m"], [1, 1, 1, 2], 3, False, [], [], ["none", "", []]]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        [[], [[1]]],
        [[FINDING[:-1]], []],
        [[[*FINDING[:2], 9, *FINDING[3:]]], []],
        [[[["SYN101"], *FINDING[1:]]], []],
        [[[*FINDING[:6], ["magic", "", []]]], []],
        [[[*FINDING[:5], [["a.py", "1", "t"]], FINDING[6]]], []],
    ],
)
def test_what_something_else_wrote_is_passed_over(kept: Path, data: object) -> None:
    key = "0" * 64
    store = Store(kept)
    store.write(key, CheckResult())
    assert store.read(key) == CheckResult()
    body = json.dumps(data).encode()
    digest = hashlib.sha256(key.encode() + body).hexdigest().encode()
    (kept / f"{key}.result").write_bytes(digest + b"\n" + body)
    assert store.read(key) is None


def test_a_folder_that_cannot_be_written_changes_nothing(syncscan, project, kept) -> None:
    project({"a.py": WAITS})
    kept.write_text("a file")
    refused = syncscan("check", ".", "--cache-dir", kept)
    assert (refused.status, refused.stderr.count("\n")) == (2, 1)
    assert "is no folder" in refused.stderr
    below = syncscan("check", ".", "--cache-dir", kept / "below")
    assert (below.status, below.stderr) == (1, "")
    assert syncscan("check", ".", "--cache-dir", kept, "--no-cache").status == 2


def test_the_oldest_entries_make_room_and_so_does_what_was_never_finished(kept, monkeypatch) -> None:
    store = Store(kept)
    for number in range(4):
        store.write(f"{number}" * 64, CheckResult())
        os.utime(kept / f"{number}{str(number) * 63}.result", (number, number))
    left, young = kept / f"{'a' * 64}.abc.new", kept / f"{'b' * 64}.abc.new"
    for path in (left, young):
        path.write_text("half")
    os.utime(left, (5, 5))
    assert store.read("0" * 64) is not None  # and is the newest by that
    monkeypatch.setattr(stores, "_MOST_BYTES", 3 * (kept / f"{'0' * 64}.result").stat().st_size + 10)
    store.write("4" * 64, CheckResult())
    assert [entry.name[0] for entry in entries(kept)] == ["0", "3", "4"]
    assert (left.exists(), young.exists()) == (False, True)


def test_clean_removes_what_was_kept_and_nothing_else(syncscan, project, kept) -> None:
    project({"a.py": WAITS})
    syncscan("check", ".", "--cache-dir", kept)
    (kept / "notes.txt").write_text("mine")
    done = syncscan("clean", "--cache-dir", kept)
    assert (done.status, done.stdout.startswith("removed 0.0 MiB of results from ")) == (0, True)
    assert [path.name for path in kept.iterdir()] == ["notes.txt"]
    (kept / "notes.txt").unlink()
    assert syncscan("clean", "--cache-dir", kept).status == 0
    assert not kept.exists()
    done = syncscan("clean", "--cache-dir", kept)
    assert (done.status, done.stdout) == (0, f"nothing to remove in {kept}\n")


def test_runs_at_the_same_time_and_runs_that_are_killed_agree(project, kept) -> None:
    root = project({f"a{number}.py": WAITS for number in range(20)})
    command = [
        sys.executable,
        "-m",
        "syncscan",
        "check",
        ".",
        "--cache-dir",
        str(kept),
        "--output-format",
        "json",
    ]
    runs = [subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) for _ in range(5)]
    runs[0].kill()
    found = {json.dumps(json.loads(run.communicate()[0])["findings"]) for run in runs[1:]}
    runs[0].communicate()
    assert len(found) == 1
    (entry,) = entries(kept)
    assert Store(kept).read(entry.stem) is not None


def test_the_name_of_an_entry_says_all_that_the_result_rests_on(project) -> None:
    root = project({"a.py": WAITS, "b.py": ""})
    a, b = (read_source(root / name, root, {}) for name in ("a.py", "b.py"))
    conventions = Conventions()
    keys = {
        key_of(sources, given, hot, operations)
        for sources, given, hot, operations in [
            ([a, b], conventions, (), {}),
            ([a], conventions, (), {}),
            ([replace(a, module="c"), b], conventions, (), {}),
            ([replace(a, shown="c.py"), b], conventions, (), {}),
            ([replace(a, text="1\n"), b], conventions, (), {}),
            ([replace(a, path=root / "__init__.py"), b], conventions, (), {}),
            ([a, b], replace(conventions, host_names=()), (), {}),
            ([a, b], conventions, ("a:f",), {}),
            ([a, b], conventions, (), {"torch.ops.m.f": {}}),
        ]
    }
    assert len(keys) == 9
    assert key_of([b, a], conventions, (), {}) in keys  # whichever was named first
