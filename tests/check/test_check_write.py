"""``--fix`` on the disk: what is written keeps all that the file was, and what cannot be is left alone and named."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BEFORE = "x = 1  # syncscan: ignore[SYN101] gone\n"
AFTER = "x = 1\n"
REPLACE = "os.replace = pathlib.Path.replace"  # the one is not always looked up by the other
FIX = [sys.executable, "-m", "syncscan", "check", "--fix"]


def process(folder: Path, patch: str) -> subprocess.CompletedProcess[str]:
    """``syncscan check --fix`` with a function of the system replaced, for what happens at that moment."""
    script = f"import os, pathlib, sys\n{patch}\nsys.argv = ['syncscan', 'check', '--fix']\n"
    script += "from syncscan.cli import main\nmain()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


CHANGES = {
    "saved": "pathlib.Path('a.py').write_text('edited = 2\\n')",
    "saved-by-a-rename": "pathlib.Path('b').write_text('edited = 2\\n'); os.rename('b', 'a.py')",
    "removed": "pathlib.Path('a.py').unlink()",
    "made-a-symlink": "pathlib.Path('a.py').rename('b'); pathlib.Path('a.py').symlink_to('b')",
    "made-a-fifo": "pathlib.Path('a.py').unlink(); os.mkfifo('a.py')",
    "made-a-folder": "pathlib.Path('a.py').unlink(); os.mkdir('a.py')",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_changes_while_the_fix_is_written_is_left_alone(project, tmp_path_factory, change):
    """An editor saves while the new content reaches the disk."""
    root = project({"a.py": BEFORE})
    done = process(root, f"flush = os.fsync\ndef fsync(fd):\n    flush(fd)\n    {change}\nos.fsync = fsync")
    expected = tmp_path_factory.mktemp("expected")
    (expected / "a.py").write_text(BEFORE)
    subprocess.run(
        [sys.executable, "-c", f"import os, pathlib\n{change}"], cwd=expected, check=True, capture_output=True
    )
    assert names(root) == names(expected)
    assert [p.read_text() for p in root.iterdir() if p.is_file()] == [
        p.read_text() for p in expected.iterdir() if p.is_file()
    ]
    assert done.stderr == ("syncscan: a.py: not fixed: it changed while it was checked; run syncscan again\n")
    assert done.returncode == 2
    assert "finding fixed" not in done.stdout


def test_what_is_reported_is_what_is_on_the_disk(syncscan, project):
    """The finding of a file that could not be written stays in the report."""
    root = project({"a.py": BEFORE, "b.py": BEFORE})
    (root / "a.py").chmod(0o444)
    done = syncscan("check", "--fix")
    assert done.status == 2
    assert done.stdout.startswith("a.py:1:8: SYN001")
    summary = r"1 finding fixed, 1 finding left in 1 file; 2 files checked in .* s, 1 not fixed; can be fixed: 1 with"
    assert re.search(summary, done.stdout)
    assert ((root / "a.py").read_text(), (root / "b.py").read_text()) == (BEFORE, AFTER)


def test_a_full_disk(syncscan, small_disk):
    (small_disk / "a.py").write_text(BEFORE)
    with contextlib.suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
        while filler.write(b"x" * 512):
            pass
    done = syncscan("check", "--fix", small_disk)
    assert (small_disk / "a.py").read_text() == BEFORE
    assert done.stderr == "syncscan: disk/a.py: cannot be written: No space left on device\n"
    assert (done.status, "finding fixed" in done.stdout) == (2, False)
    assert names(small_disk) == ["a.py", "filler"]


def test_a_limit_on_the_size_of_files(project):
    root = project({"a.py": BEFORE + "y = 2\n" * 1000})
    before = (root / "a.py").read_text()
    limit = 4096
    done = process(root, f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))")
    assert (root / "a.py").read_text() == before
    assert done.stderr == "syncscan: a.py: cannot be written: File too large\n"
    assert (done.returncode, "finding fixed" in done.stdout) == (2, False)
    assert names(root) == ["a.py"]


@pytest.mark.parametrize("moment", ["os.fsync", "os.link", REPLACE], ids=["fsync", "link", "replace"])
def test_a_killed_process_leaves_the_file_whole_and_nothing_for_the_next_run(syncscan, project, moment):
    root = project({"a.py": BEFORE})
    killed = process(root, f"{moment} = lambda *_, **__: os.kill(os.getpid(), {int(signal.SIGKILL)})")
    assert killed.returncode == -signal.SIGKILL
    assert (root / "a.py").read_text() == BEFORE
    if moment != REPLACE:  # where a file may have no name, it has none until it takes the other's place
        assert names(root) == ["a.py"]
    assert syncscan("check", "--fix").status == 0
    assert (names(root), (root / "a.py").read_text()) == (["a.py"], AFTER)


def test_two_runs_at_once(project):
    """One writes the file just before the other does; what is there in the end is whole."""
    root = project({"a.py": BEFORE})
    wait = "import subprocess\nreplace = os.replace\ndef later(*names):\n"
    wait += "    if str(names[-1]).endswith('.py'):  # and no entry of the cache\n"
    wait += f"        subprocess.run({FIX!r}, check=True, stdout=subprocess.DEVNULL)\n    replace(*names)\n{REPLACE} = later"
    done = process(root, wait)
    assert (names(root), (root / "a.py").read_text()) == (["a.py"], AFTER)
    assert (done.stderr, done.returncode) == (
        "syncscan: a.py: cannot be written: No such file or directory\n",
        2,
    )


def test_where_no_file_can_be_without_a_name_it_is_written_all_the_same(project):
    root = project({"a.py": BEFORE})
    done = process(root, "del os.O_TMPFILE")
    assert (done.returncode, names(root), (root / "a.py").read_text()) == (0, ["a.py"], AFTER)


def test_an_interrupted_write_leaves_the_file_whole(project):
    root = project({"a.py": BEFORE})
    patch = "def interrupt(*_, **__):\n    raise KeyboardInterrupt\n" + REPLACE + " = interrupt"
    done = process(root, patch)
    assert (done.returncode, done.stderr) == (130, "syncscan: interrupted\n")
    assert (names(root), (root / "a.py").read_text()) == (["a.py"], BEFORE)


@pytest.fixture
def elsewhere(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("elsewhere") / "real.py"
    file.write_text(BEFORE)
    return file


@pytest.mark.parametrize("named", [[], ["a.py"]], ids=["found", "named"])
def test_nothing_is_written_through_a_symlink(syncscan, project, elsewhere, named):
    root = project({})
    (root / "a.py").symlink_to(elsewhere)
    done = syncscan("check", "--fix", *named)
    assert elsewhere.read_text() == BEFORE
    assert (root / "a.py").readlink() == elsewhere
    assert done.stderr == (
        f"syncscan: {elsewhere}: not fixed: only the symbolic link a.py leads to it; name the file itself\n"
    )
    assert done.status == 2


def test_a_file_that_is_named_itself_is_fixed_in_spite_of_a_symlink_to_it(syncscan, project, elsewhere):
    root = project({"b.py": BEFORE})
    (root / "a.py").symlink_to("b.py")
    (root / "c.py").symlink_to(elsewhere)
    done = syncscan("check", "--fix", ".", str(elsewhere))
    assert (done.status, done.stderr) == (0, "")
    assert ((root / "b.py").read_text(), elsewhere.read_text()) == (AFTER, AFTER)
    assert ((root / "a.py").is_symlink(), (root / "c.py").is_symlink()) == (True, True)


def test_a_folder_that_is_named_by_a_symlink_is_fixed(syncscan, project):
    root = project({"real/a.py": BEFORE})
    (root / "link").symlink_to("real")
    assert syncscan("check", "--fix", "link").status == 0
    assert (root / "real" / "a.py").read_text() == AFTER


def test_hard_links_stay(syncscan, project):
    root = project({"a.py": BEFORE})
    os.link(root / "a.py", root / "b.txt")
    done = syncscan("check", "--fix")
    assert done.stderr == ("syncscan: a.py: not fixed: it has 2 names (hard links), which a fix would part\n")
    assert ((root / "a.py").stat().st_nlink, (root / "b.txt").read_text()) == (2, BEFORE)
    assert done.status == 2


@pytest.mark.parametrize("mode", [0o444, 0o555], ids=oct)
def test_a_read_only_file_stays_as_it_is(syncscan, project, mode):
    root = project({"a.py": BEFORE})
    (root / "a.py").chmod(mode)
    done = syncscan("check", "--fix")
    assert done.stderr == "syncscan: a.py: not fixed: it is read-only\n"
    assert ((root / "a.py").read_text(), done.status) == (BEFORE, 2)
    assert (root / "a.py").stat().st_mode & 0o7777 == mode


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o751, 0o4755, 0o2664], ids=oct)
def test_the_mode_stays(syncscan, project, mode):
    root = project({"a.py": BEFORE})
    (root / "a.py").chmod(mode)
    assert syncscan("check", "--fix").status == 0
    assert (root / "a.py").stat().st_mode & 0o7777 == mode


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to give files away")


@as_root
def test_the_owner_and_the_group_stay(syncscan, project):
    root = project({"a.py": BEFORE})
    os.chown(root / "a.py", 1234, 4321)
    assert syncscan("check", "--fix").status == 0
    status = (root / "a.py").stat()
    assert (status.st_uid, status.st_gid, (root / "a.py").read_text()) == (1234, 4321, AFTER)


@as_root
def test_a_file_whose_owner_cannot_be_kept_is_left_alone(project):
    root = project({"a.py": BEFORE})
    os.chown(root / "a.py", 1234, 1234)
    patch = "chown = os.fchown\ndef without_rights(*who):\n    os.seteuid(65534)\n"
    patch += "    try:\n        chown(*who)\n    finally:\n        os.seteuid(0)\nos.fchown = without_rights"
    done = process(root, patch)
    assert done.stderr == (
        "syncscan: a.py: not fixed: its owner and attributes cannot be kept: Operation not permitted\n"
    )
    assert ((root / "a.py").read_text(), (root / "a.py").stat().st_uid) == (BEFORE, 1234)
    assert (done.returncode, names(root)) == (2, ["a.py"])


def test_a_folder_in_which_nothing_can_be_made(syncscan, small_disk):
    (small_disk / "a.py").write_text(BEFORE)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    done = syncscan("check", "--fix", small_disk)
    assert done.stderr == "syncscan: disk/a.py: cannot be written: Read-only file system\n"
    assert ((small_disk / "a.py").read_text(), done.status) == (BEFORE, 2)


# Version 2; owner rw, user 1234 rw, group r, mask rw, others nothing: as `setfacl -m u:1234:rw` makes it.
ACL = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, permissions, who)
    for tag, permissions, who in (
        (0x01, 6, 0xFFFFFFFF), (0x02, 6, 1234), (0x04, 4, 0xFFFFFFFF), (0x10, 6, 0xFFFFFFFF), (0x20, 0, 0xFFFFFFFF),
    )
)  # fmt: skip
ATTRIBUTES = {"user.note": b"keep me", "system.posix_acl_access": ACL}


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="needs extended attributes")
@pytest.mark.parametrize(("attribute", "value"), ATTRIBUTES.items(), ids=ATTRIBUTES)
def test_attributes_and_access_lists_stay(syncscan, project, attribute, value):
    root = project({"a.py": BEFORE})
    try:
        os.setxattr(root / "a.py", attribute, value)
    except OSError as error:
        pytest.skip(f"no {attribute} here: {error}")
    mode = (root / "a.py").stat().st_mode
    assert syncscan("check", "--fix").status == 0
    assert (os.getxattr(root / "a.py", attribute), (root / "a.py").read_text()) == (value, AFTER)
    assert (root / "a.py").stat().st_mode == mode


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="needs extended attributes")
def test_an_access_list_of_the_folder_is_not_given_to_the_file(syncscan, project):
    root = project({"a.py": BEFORE})
    (root / "a.py").chmod(0o640)
    try:
        os.setxattr(root, "system.posix_acl_default", ACL)
    except OSError as error:
        pytest.skip(f"no access lists here: {error}")
    assert syncscan("check", "--fix").status == 0
    assert (os.listxattr(root / "a.py"), (root / "a.py").stat().st_mode & 0o7777) == ([], 0o640)
