"""Only what a change brings, and shares of a check."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscan.check.discover import Project
from syncscan.check.files import Source
from syncscan.model import Failure
from syncscan.report.progress import ProgressBar
from tests.check.edits import commit_all, git

HEAD = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\n\n\n'
READ = "def report():\n    print(losses.sum().item())\n"
OTHER = "def show():\n    print(losses.max().tolist())\n"


def brought(syncscan, *arguments: str, since: str = "HEAD") -> list[tuple[str, int, str, str]]:
    done = syncscan("check", "--since", since, "--output-format", "json", *arguments)
    assert done.stderr == ""
    return [
        (f["path"], f["line"], f["code"], f.get("brought_by", ""))
        for f in json.loads(done.stdout)["findings"]
    ]


@pytest.fixture
def repository(project):
    root = project({
        "pkg/__init__.py": "",
        "pkg/a.py": HEAD + READ,
        "pkg/store.py": "import torch\n\n\ndef lengths():\n    return torch.zeros(8)\n",
        "pkg/use.py": "from pkg.store import lengths\n\n\ndef longest():\n    return lengths().max().item()\n",
    })  # fmt: skip
    commit_all(root)
    return root


def test_what_was_there_is_not_reported_and_what_is_new_is(syncscan, repository):
    (repository / "pkg/a.py").write_text(HEAD + OTHER + READ)
    assert brought(syncscan) == [("pkg/a.py", 7, "SYN102", "")]
    assert syncscan("check", "--since", "HEAD").status == 1
    commit_all(repository)
    assert brought(syncscan, since="HEAD~1") == [("pkg/a.py", 7, "SYN102", "")]
    done = syncscan("check", "--since", "HEAD")
    assert done.stderr == "syncscan: no Python file changed since HEAD\n"
    assert done.status == 0


def test_a_changed_file_that_makes_another_one_wait_is_named(syncscan, repository):
    store = repository / "pkg/store.py"
    store.write_text(store.read_text().replace("zeros(8)", 'zeros(8, device="cuda")'))
    assert brought(syncscan) == [("pkg/use.py", 5, "SYN101", "pkg/store.py")]
    assert "= introduced by the change of: pkg/store.py" in syncscan("check", "--since", "HEAD").stdout
    for name in ("github", "gitlab", "sarif"):
        assert (
            "introduced by the change of pkg/store.py"
            in syncscan("check", "--since", "HEAD", "--output-format", name).stdout
        )


def test_before_the_first_commit_everything_is_new(syncscan, project):
    root = project({"a.py": HEAD + READ})
    git(root, "init", "--quiet")
    assert brought(syncscan) == [("a.py", 7, "SYN101", "")]
    git(root, "add", "a.py")
    assert brought(syncscan) == [("a.py", 7, "SYN101", "")]
    done = syncscan("check", "--since", "main")
    assert (done.status, done.stderr.count("\n")) == (2, 1)


def test_what_git_says_is_shown_where_it_does_not_read_the_repository(syncscan, repository, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv(
        "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"
    )  # as in a container, where another user owns the files
    done = syncscan("check", "--since", "HEAD")
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(
        "syncscan: --since: git says: fatal: detected dubious ownership in repository"
    )
    assert "safe.directory" in done.stderr


def worked_out(syncscan, monkeypatch, *arguments: str) -> tuple[int, int]:
    """How many functions a run evaluates of the project as it was, and as it is."""
    stages: list[str] = []
    monkeypatch.setattr(ProgressBar, "__call__", lambda _, stage, *__: stages.append(stage))
    syncscan("check", "--since", "HEAD", *arguments)
    return stages.count("infer (before)"), stages.count("infer")


def test_what_is_kept_is_not_worked_out_again(syncscan, repository, monkeypatch, tmp_path):
    kept = f"--cache-dir={tmp_path / 'kept'}"
    store = repository / "pkg/store.py"
    store.write_text(store.read_text().replace("zeros(8)", 'zeros(8, device="cuda")'))
    before, now = worked_out(syncscan, monkeypatch, kept)
    assert 0 < now < before  # which follows from what was just worked out
    assert worked_out(syncscan, monkeypatch, kept) == (0, 0)
    store.write_text(store.read_text().replace("zeros(8", "ones(8"))
    assert worked_out(syncscan, monkeypatch, kept) == (0, 1)  # the first run of this test wrote a state


def test_without_a_store_the_second_side_follows_from_the_first(syncscan, repository, monkeypatch):
    store = repository / "pkg/store.py"
    store.write_text(store.read_text().replace("zeros(8)", 'zeros(8, device="cuda")'))
    before, now = worked_out(syncscan, monkeypatch, "--no-cache")
    assert 0 < now < before
    assert brought(syncscan, "--no-cache") == [("pkg/use.py", 5, "SYN101", "pkg/store.py")]


def test_staged_and_new_files_count(syncscan, repository):
    (repository / "pkg/b.py").write_text(HEAD + OTHER)
    assert brought(syncscan) == [("pkg/b.py", 7, "SYN102", "")]
    git(repository, "add", "pkg/b.py")
    assert brought(syncscan) == [("pkg/b.py", 7, "SYN102", "")]


def test_a_renamed_and_moved_file_brings_nothing(syncscan, repository):
    git(repository, "mv", "pkg/a.py", "pkg/c.py")
    (repository / "pkg/c.py").write_text("# a remark\n\n" + HEAD + READ)
    assert brought(syncscan) == []


def test_only_the_named_paths_are_reported(syncscan, repository):
    (repository / "pkg/a.py").write_text(HEAD + OTHER + READ)
    (repository / "pkg/b.py").write_text(HEAD + OTHER)
    assert brought(syncscan, "pkg/b.py") == [("pkg/b.py", 7, "SYN102", "")]


def test_what_was_ignored_before_is_new(syncscan, repository):
    (repository / ".gitignore").write_text("made.py\n")
    (repository / "pkg/made.py").write_text(HEAD + OTHER)
    git(repository, "add", "--force", "pkg/made.py")
    commit_all(repository)
    (repository / ".gitignore").write_text("")
    (repository / "pkg/use.py").write_text("")
    assert brought(syncscan) == [("pkg/made.py", 7, "SYN102", "pkg/use.py")]


def test_a_branch_is_compared_from_where_it_parted(syncscan, repository):
    git(repository, "branch", "base")
    (repository / "pkg/a.py").write_text(HEAD + OTHER + READ)
    commit_all(repository)
    git(repository, "checkout", "--quiet", "base")
    (repository / "pkg/a.py").write_text("")
    commit_all(repository)
    git(repository, "checkout", "--quiet", "-")
    assert brought(syncscan, since="base") == [("pkg/a.py", 7, "SYN102", "")]


def test_with_a_baseline_what_it_knows_is_left_out_too(syncscan, repository):
    (repository / "pkg/a.py").write_text(HEAD + OTHER + READ)
    syncscan("check", "--write-baseline", "base.json")
    (repository / "pkg/a.py").write_text(HEAD + OTHER + READ + "    losses.any().item()\n")
    assert brought(syncscan, "--baseline", "base.json") == [("pkg/a.py", 10, "SYN101", "")]


def test_settings_hold_for_both_sides(syncscan, repository):
    (repository / "pyproject.toml").write_text(
        '[tool.syncscan]\nper-file-ignores = { "pkg/a.py" = ["SYN"] }\n'
    )
    (repository / "pkg/a.py").write_text(HEAD + OTHER + READ)
    (repository / "pkg/b.py").write_text(HEAD + OTHER)
    assert brought(syncscan) == [("pkg/b.py", 7, "SYN102", "")]


def test_an_unknown_revision_gets_one_line(syncscan, repository):
    done = syncscan("check", "--since", "origin/nosuch")
    assert done.stderr == (
        "syncscan: --since: git knows no revision 'origin/nosuch' here; `git fetch` may get it\n"
    )
    assert done.status == 2


def test_a_shallow_clone_says_what_to_fetch(syncscan, repository, tmp_path):
    for number in range(3):
        (repository / "pkg/a.py").write_text(HEAD + f"N = {number}\n" + READ)
        commit_all(repository)
    (tmp_path / "clone").mkdir()
    url = f"file://{repository}"
    git(tmp_path / "clone", "init", "--quiet")
    git(tmp_path / "clone", "fetch", "--quiet", "--depth=1", url, "HEAD:refs/heads/here")
    git(tmp_path / "clone", "checkout", "--quiet", "here")
    first = subprocess.run(
        ["git", "rev-parse", "HEAD~2"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout.strip()
    done = syncscan("check", "clone", "--since", "origin/main")
    assert "`git fetch --depth=1000 origin main` gets it" in done.stderr
    git(tmp_path / "clone", "fetch", "--quiet", "--depth=1", url, f"{first}:refs/heads/old")
    done = syncscan("check", "clone", "--since", "old")
    assert "it is shallow: `git fetch --unshallow` gets the rest" in done.stderr
    assert (done.stderr.count("\n"), done.status) == (1, 2)
    git(tmp_path / "clone", "fetch", "--quiet", "--unshallow", url)
    assert syncscan("check", "clone", "--since", "old").status == 0


def test_without_git_there_is_one_line(syncscan, project, monkeypatch):
    project({"a.py": HEAD + READ})
    done = syncscan("check", "--since", "HEAD")
    assert "is in no git repository" in done.stderr
    assert done.status == 2


@pytest.mark.parametrize("other", ["--fix", "--diff", "--write-baseline=b.json"])
def test_since_writes_nothing(syncscan, repository, other):
    done = syncscan("check", "--since", "HEAD", other)
    assert "--since only reports what a change brings" in done.stderr
    assert done.status == 2


@pytest.mark.parametrize("value", ["0/4", "5/4", "1", "1/0", "a/b", "1/4/2"])
def test_a_bad_share_gets_one_line(syncscan, project, value):
    project({"a.py": ""})
    done = syncscan("check", "--shard", value)
    assert f"{value!r} is not I/N, such as 1/4" in done.stderr
    assert done.status == 2


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_all_shares_together_are_the_whole(syncscan, repository, count):
    (repository / "bad.py").write_text("def\n")
    (repository / "pkg/d.py").write_text(HEAD + OTHER + "from pkg.store import lengths\nlengths().item()\n")

    def told(*arguments: str) -> list[tuple]:
        data = json.loads(
            syncscan("check", "--output-format", "json", "--min-confidence", "assumed", *arguments).stdout
        )
        found = [(f["path"], f["line"], f["code"], f["hot"]) for f in data["findings"]]
        return [
            *found,
            *((f["path"], f["line"]) for f in data["files"]["failed"]),
            ("n", data["files"]["checked"]),
        ]

    shares = [told("--shard", f"{number}/{count}") for number in range(1, count + 1)]
    whole = told()
    assert sorted(item for share in shares for item in share[:-1]) == sorted(whole[:-1])
    assert sum(share[-1][1] for share in shares) == whole[-1][1]


PROJECTS = st.builds(
    lambda names, targets, failed: Project(
        tuple(Source(None, name, name, "") for name in sorted(names | targets)),
        frozenset(targets) or None,
        tuple(Failure(name, 0, "") for name in sorted(failed)),
    ),
    *[st.sets(st.text("abc/", min_size=1, max_size=4), max_size=8)] * 3,
)


@given(PROJECTS, st.integers(1, 9))
def test_shares_are_disjoint_and_complete(project, count):
    shares = [project.share(number, count) for number in range(1, count + 1)]
    whole = {s.shown for s in project.sources} if project.targets is None else project.targets
    parts = [share.targets for share in shares]
    assert frozenset().union(*parts) == whole
    assert sum(map(len, parts)) == len(whole)
    assert sorted(f.path for share in shares for f in share.failures) == [f.path for f in project.failures]
