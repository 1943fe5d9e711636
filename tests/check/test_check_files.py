"""What a user sees of files that are found, left out, or that cannot be read."""

from __future__ import annotations

import contextlib
import encodings.aliases
import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscan.check import files

BLOCKS = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\nprint(losses.sum().item())\n'


def paths(run) -> list[str]:
    """The files with a finding, by the report."""
    return [finding["path"] for finding in json.loads(run.stdout)["findings"]]


def checked(syncscan, *arguments) -> list[str]:
    return paths(syncscan("check", "--output-format", "json", *arguments))


def test_the_current_folder_is_the_default(syncscan, project):
    project({"a.py": BLOCKS, "pkg/b.py": BLOCKS, "notes.txt": BLOCKS})
    assert checked(syncscan) == ["a.py", "pkg/b.py"]


def test_a_named_file_needs_no_suffix(syncscan, project):
    project({"script": BLOCKS})
    assert checked(syncscan, "script") == ["script"]


def test_paths_outside_the_current_folder_are_absolute(syncscan, project, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "a.py"
    other.write_text(BLOCKS)
    assert checked(syncscan, other) == [str(other)]


def test_a_file_named_twice_is_reported_once(syncscan, project):
    project({"a.py": BLOCKS})
    assert checked(syncscan, "a.py", ".", "./a.py") == ["a.py"]


@pytest.mark.parametrize(
    "folder",
    [".hidden", "__pycache__", "node_modules"],
)
def test_folders_that_hold_no_source_of_the_project_are_passed_over(syncscan, project, folder):
    project({f"{folder}/a.py": BLOCKS, "b.py": BLOCKS})
    assert checked(syncscan) == ["b.py"]


def test_virtual_environments_are_passed_over(syncscan, project):
    project({"env/pyvenv.cfg": "", "env/lib/a.py": BLOCKS, "b.py": BLOCKS})
    assert checked(syncscan) == ["b.py"]


@pytest.mark.parametrize("built", ["lib", "lib.linux-x86_64-cpython-312"])
def test_what_setuptools_built_is_no_part_of_the_project(syncscan, project, built):
    project({f"build/{built}/pkg/a.py": BLOCKS, "pkg/a.py": BLOCKS, "pkg/__init__.py": ""})
    assert checked(syncscan) == ["pkg/a.py"]


@pytest.mark.parametrize("file", ["build/__init__.py", "build/b.py"])
def test_a_folder_named_build_with_files_of_its_own_is_checked(syncscan, project, file):
    project({"build/lib/a.py": BLOCKS, file: BLOCKS})
    assert checked(syncscan) == sorted(["build/lib/a.py", file])


def test_a_named_file_in_a_hidden_folder_is_checked(syncscan, project):
    project({".hidden/a.py": BLOCKS})
    assert checked(syncscan, ".hidden/a.py") == [".hidden/a.py"]


@pytest.mark.parametrize(
    ("ignores", "expected"),
    [
        ({".gitignore": "a.py\n"}, ["pkg/b.py", "pkg/c.py"]),
        ({".gitignore": "pkg/\n"}, ["a.py"]),
        ({".gitignore": "*.py\n!c.py\n"}, ["pkg/c.py"]),
        ({"pkg/.gitignore": "/b.py\n"}, ["a.py", "pkg/c.py"]),
        ({".gitignore": "*.py\n", "pkg/.gitignore": "!b.py\n"}, ["pkg/b.py"]),
        ({".gitignore": "# a comment\n\n/b.py\n"}, ["a.py", "pkg/b.py", "pkg/c.py"]),
        ({".gitignore": "!\n\\\n[z-a]\n[[:alpha:]]\na.py\n"}, ["pkg/b.py", "pkg/c.py"]),
    ],
    ids=["file", "folder", "negated", "nested", "nested-negation", "anchored", "bad-lines"],
)
def test_gitignore_is_respected(syncscan, project, ignores, expected):
    project({"a.py": BLOCKS, "pkg/b.py": BLOCKS, "pkg/c.py": BLOCKS, **ignores})
    assert checked(syncscan) == expected


def test_gitignore_of_the_repository_applies_below_it(syncscan, project):
    root = project({".gitignore": "pkg/b.py\n", "pkg/b.py": BLOCKS, "pkg/c.py": BLOCKS})
    subprocess.run(["git", "init", "-q", root], check=True)
    assert checked(syncscan, "pkg") == ["pkg/c.py"]


def test_what_is_named_is_checked_in_spite_of_gitignore(syncscan, project):
    project({".git/HEAD": "", ".gitignore": "out/\n", "out/a.py": BLOCKS})
    assert checked(syncscan, "out") == ["out/a.py"]
    assert checked(syncscan, "out/a.py") == ["out/a.py"]


def test_exclude_leaves_out_even_what_is_named(syncscan, project):
    project({"pyproject.toml": '[tool.syncscan]\nexclude = ["gen/", "old_*.py"]\n'})
    project({"gen/a.py": BLOCKS, "old_b.py": BLOCKS, "c.py": BLOCKS})
    assert checked(syncscan) == ["c.py"]
    report = json.loads(syncscan("check", "--output-format", "json", "old_b.py", "c.py").stdout)
    assert report["files"] == {"checked": 1, "skipped": 1, "failed": [], "newer": [], "unfixed": []}


def test_no_python_files_is_said(syncscan, project):
    project({"empty/notes.txt": ""})
    run = syncscan("check", "empty")
    assert (run.status, run.stderr) == (0, "syncscan: no Python files in empty\n")


BAD = {
    "syntax": (b"def f(:\n", "bad.py:1: "),
    "null-byte": (b"x = 1\ny = '\0'\n", "bad.py:2: holds a null byte"),
    "not-utf-8": (
        b"x = 1\ny = '\xff'\n",
        "bad.py:2: not utf-8: byte 0xff at offset 11; save it as UTF-8, or",
    ),
    "unknown-encoding": (b"# coding: klingon\n", "bad.py:1: unknown encoding: klingon; save it as UTF-8, or"),
    "codec-that-is-no-text": (b"# coding: hex\n", "bad.py:1: "),
    "declared-ascii": (b"# coding: ascii\nx = '\xe9'\n", "bad.py:2: not ascii: byte 0xe9"),
    "huge": (b"x = 1\n" * 900_000, "bad.py: 5.1 MiB is more than the 2 MiB that syncscan reads of one file"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_a_bad_file_is_one_line_and_the_rest_is_checked(syncscan, project, content, message):
    project({"bad.py": content, "good.py": BLOCKS})
    run = syncscan("check")
    assert run.status == 2
    assert run.stderr.startswith(f"syncscan: {message}")
    assert run.stderr.count("\n") == 1
    assert run.stdout.startswith("good.py:4:7: SYN101")
    assert checked(syncscan) == ["good.py"]


def test_failures_are_in_the_json_and_nowhere_else(syncscan, project):
    project({"bad.py": b"x = '\xff'\n"})
    run = syncscan("check", "--output-format", "json")
    (failure,) = json.loads(run.stdout)["files"]["failed"]
    assert (failure["path"], failure["line"], run.stderr) == ("bad.py", 1, "")


@pytest.mark.parametrize("name", ["gone.py", "gone/"])
def test_a_path_that_does_not_exist(syncscan, project, name):
    project({"a.py": BLOCKS})
    run = syncscan("check", name, "a.py")
    assert run.status == 2
    assert run.stderr == f"syncscan: {name.strip('/')}: cannot be read: No such file or directory\n"
    assert "a.py:4:7: SYN101" in run.stdout


def test_a_file_that_vanishes_between_listing_and_reading(syncscan, project, monkeypatch):
    project({"a.py": BLOCKS, "b.py": BLOCKS})
    read = files.read_bytes

    def vanish_then_read(path: Path) -> bytes:
        if path.name == "a.py":
            path.unlink()
        return read(path)

    monkeypatch.setattr(files, "read_bytes", vanish_then_read)
    run = syncscan("check")
    assert run.stderr == "syncscan: a.py: cannot be read: No such file or directory\n"
    assert run.status == 2


def test_symlinks_that_lead_nowhere_or_around(syncscan, project):
    root = project({"pkg/a.py": BLOCKS})
    (root / "pkg" / "around").symlink_to(root)
    (root / "pkg" / "gone.py").symlink_to("nothing.py")
    (root / "pkg" / "self.py").symlink_to("self.py")
    run = syncscan("check")
    assert run.status == 2
    assert run.stderr.splitlines() == [
        "syncscan: pkg/around: is a symlink to a folder around it; not followed",
        "syncscan: pkg/gone.py: is a symlink that leads nowhere: nothing.py",
        "syncscan: pkg/self.py: is a symlink that leads nowhere: self.py",
    ]
    assert checked(syncscan) == ["pkg/a.py"]


def test_a_file_and_a_symlink_to_it_are_one(syncscan, project):
    root = project({"b.py": BLOCKS})
    (root / "a.py").symlink_to("b.py")
    assert checked(syncscan) == ["b.py"]


def test_a_fifo_does_not_hang(syncscan, project):
    root = project({"a.py": BLOCKS})
    os.mkfifo(root / "pipe.py")
    run = syncscan("check")
    assert run.stderr == "syncscan: pipe.py: not a regular file; name a Python file or a folder\n"


def test_a_folder_that_may_not_be_read_is_named(syncscan, project):
    closed = project({"closed/a.py": BLOCKS, "b.py": BLOCKS}) / "closed"
    closed.chmod(0)
    is_open = os.access(closed, os.X_OK)
    run = syncscan("check", "closed")
    closed.chmod(0o700)
    if is_open:
        pytest.skip("root reads every folder")
    assert (run.status, run.stdout) == (2, "")
    assert "PATHS" in run.stderr
    assert ": the folder 'closed' may not be read; change its permissions, or leave it out" in run.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file(syncscan, project):
    root = project({"a.py": BLOCKS})
    (root / "a.py").chmod(0)
    assert syncscan("check").stderr == "syncscan: a.py: cannot be read: Permission denied\n"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that even root cannot read")
def test_a_file_that_gives_an_error_when_read(syncscan, project):
    root = project({"a.py": BLOCKS})
    (root / "b.py").symlink_to("/proc/self/mem")
    run = syncscan("check")
    assert "cannot be read: Input/output error" in run.stderr
    assert run.stdout.startswith("a.py:4:7")


ENCODED = {
    "latin-1": ("# coding: latin-1\n", "latin-1"),
    "utf-8-with-bom": ("", "utf-8-sig"),
    "declared-on-line-2": ("#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\n", "cp1252"),
}


@pytest.mark.parametrize(("head", "encoding"), ENCODED.values(), ids=ENCODED)
def test_declared_encodings_are_honoured(syncscan, project, head, encoding):
    source = f"{head}{BLOCKS.replace('losses', 'größe')}"
    project({"a.py": source.encode(encoding)})
    run = syncscan("check")
    assert "print(größe.sum().item())" in run.stdout
    assert f"a.py:{4 + head.count(chr(10))}:7: SYN101" in run.stdout


@settings(max_examples=200, deadline=None)
@given(
    cookie=st.sampled_from(["", "# coding: ", "\xef\xbb\xbf# coding: "]),
    encoding=st.sampled_from(sorted({*encodings.aliases.aliases.values(), "undefined", "idna", "nonsense"})),
    body=st.binary(max_size=40),
)
def test_any_bytes_are_text_or_one_error(cookie, encoding, body):
    data = f"{cookie}{encoding if cookie else ''}\n".encode("latin-1") + body
    with contextlib.suppress(files.SourceError):
        assert isinstance(files.decode(data)[0], str)


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["crlf", "cr"])
def test_line_ends_do_not_move_findings(syncscan, project, end):
    project({"a.py": BLOCKS.replace("\n", end)})
    assert syncscan("check").stdout.startswith("a.py:4:7: SYN101")


def test_a_file_name_that_is_not_utf_8(syncscan, project, tmp_path):
    name = os.fsdecode(b"b\xff.py")
    (tmp_path / name).write_text(BLOCKS)
    assert checked(syncscan) == ["b\\xff.py"]


def test_output_that_cannot_show_a_character(syncscan, project):
    project({"a.py": BLOCKS.replace("losses", "größe")})
    assert r"gr\xf6\xdfe.sum().item()" in syncscan("check", encoding="ascii").stdout


@pytest.mark.parametrize(
    ("path", "inits", "module"),
    [
        ("pkg/sub/a.py", ["pkg", "pkg/sub"], "pkg.sub.a"),
        ("pkg/sub/__init__.py", ["pkg", "pkg/sub"], "pkg.sub"),
        ("src/pkg/a.py", ["src/pkg"], "pkg.a"),
        ("python/deep/pkg/a.py", ["python/deep/pkg"], "pkg.a"),
        ("pkg/namespace/a.py", ["pkg"], "pkg.namespace.a"),
        ("pkg/one/two/sub/a.py", ["pkg", "pkg/one/two/sub"], "pkg.one.two.sub.a"),
        ("stray/src/one/pkg/a.py", ["stray", "stray/src/one/pkg"], "pkg.a"),
        ("pkg/not-a-name/two/sub/a.py", ["pkg", "pkg/not-a-name/two/sub"], "sub.a"),
        ("tools/a.py", [], "tools.a"),
        ("src/ns/a.py", [], "ns.a"),
        ("a.py", [], "a"),
    ],
)
def test_module_names(tmp_path, path, inits, module):
    for folder in inits:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
    assert files.module_name(tmp_path / path, tmp_path) == module
