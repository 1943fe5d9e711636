"""Questions to git about the files around a path. Nothing here fails where there is no git, or no repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from syncscan.errors import ConfigError

# A checked repository must run nothing: no hook that watches files, no diff driver of its own.
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=off", "--no-optional-locks")


def git(folder: Path, *arguments: str, stdin: bytes | None = None) -> bytes | None:
    """Return what git prints in a folder; None where git fails, or is not there."""
    done = _run(folder, *arguments, stdin=stdin)
    return done.stdout if done is not None and done.returncode == 0 else None


def _run(
    folder: Path, *arguments: str, stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes] | None:
    """Run git in a folder; None where git is not installed."""
    program = shutil.which("git")
    if program is None:
        return None
    environment = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(
        [program, *_QUIET, *arguments],
        cwd=folder,
        env=environment,
        input=stdin or b"",
        capture_output=True,
        check=False,
    )


def refuse_unreadable(top: Path) -> None:
    """Raise ConfigError with git's own message if git does not read a repository, such as the repository of another user."""
    done = _run(top, "rev-parse", "--is-inside-work-tree")
    if done is None:
        raise ConfigError("--since: there is no git here; install it, or leave --since out")
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines()]
        raise ConfigError(f"--since: git says: {' '.join(line for line in lines if line)}")


def repository(folder: Path) -> Path | None:
    """Return the top of the work tree around a folder; None where there is none. Asks no git: not every CI has one."""
    folder = folder.resolve()
    return next((top for top in (folder, *folder.parents) if (top / ".git").exists()), None)


def last_commit(file: Path) -> str:
    """Return the last commit that touched a file, or "HEAD"."""
    return (git(file.parent, "log", "-1", "--format=%H", "--", file.name) or b"").decode().strip() or "HEAD"


def renamed_since(folder: Path, revision: str) -> dict[Path, Path]:
    """Return the files of a repository that were renamed after a revision, in commits or since, by their old paths."""
    top = repository(folder)
    found = top and git(top, "diff", *_DIFF, "--diff-filter=R", revision)
    fields = [os.fsdecode(name) for name in (found or b"").split(b"\0")[:-1]]
    return {top / old: top / new for old, new in zip(fields[1::3], fields[2::3], strict=True)} if top else {}


_DIFF = ("--no-ext-diff", "--no-textconv", "--name-status", "-M", "-l0", "-z")


@dataclass(frozen=True, slots=True)
class Changed:
    """The files that differ from a revision: files of both sides with edits, and the others."""

    edited: frozenset[Path]
    others: frozenset[Path]  # created, deleted, turned into links, or not tracked by git


def changed_since(top: Path, revision: str) -> Changed:
    """Return the changes since a revision, in commits, staged or not."""
    fields = (git(top, "diff", *_DIFF, "--no-renames", revision) or b"").split(b"\0")[:-1]
    kinds = {top / os.fsdecode(name): kind for kind, name in zip(fields[::2], fields[1::2], strict=True)}
    added = git(top, "ls-files", "--others", "--exclude-standard", "-z") or b""
    edited = frozenset(path for path, kind in kinds.items() if kind == b"M")
    unknown = frozenset(top / os.fsdecode(name) for name in added.split(b"\0")[:-1])
    return Changed(edited, unknown | (kinds.keys() - edited))


def fork_point(top: Path, revision: str) -> str:
    """Return the last common commit of HEAD and a revision. ConfigError names the missing part.

    Before the first commit, HEAD is the empty tree.
    """
    refuse_unreadable(top)
    if git(top, "rev-parse", "--verify", "--quiet", "HEAD") is None and revision in {"HEAD", "@"}:
        return (git(top, "hash-object", "-t", "tree", "--stdin") or b"").decode().strip()
    known = git(top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    is_shallow = git(top, "rev-parse", "--is-shallow-repository") == b"true\n"
    if not known:
        branch = revision.rpartition("/")[2]
        hint = f"`git fetch --depth=1000 origin {branch}` gets it" if is_shallow else "`git fetch` may get it"
        raise ConfigError(f"--since: git knows no revision {revision!r} here; {hint}")
    found = git(top, "merge-base", "HEAD", known.decode().strip())
    if not found:
        how = "it is shallow: `git fetch --unshallow` gets the rest (in GitHub's checkout, fetch-depth: 0)"
        why = how if is_shallow else "they have no commit in common"
        raise ConfigError(f"--since: this clone does not say where HEAD and {revision!r} parted; {why}")
    return found.decode().strip()


def contents_at(top: Path, revision: str, is_asked: Callable[[str], bool]) -> dict[str, bytes]:
    """Return the files of a revision that ``is_asked`` chooses, by their paths from the top; ConfigError where git does not have them."""
    listed = git(top, "ls-tree", "-r", "-z", "--full-tree", revision) or b""
    blobs = {}
    for line in listed.split(b"\0")[:-1]:
        about, _, name = line.partition(b"\t")
        mode, kind, blob = about.split()
        if kind == b"blob" and mode != b"120000" and is_asked(path := os.fsdecode(name)):
            blobs[path] = blob
    data = git(top, "cat-file", "--batch", stdin=b"".join(blob + b"\n" for blob in blobs.values())) or b""
    contents, start = {}, 0
    for path in blobs:
        end = data.find(b"\n", start)
        head = data[start:end].split()
        if end < 0 or len(head) != 3:
            raise ConfigError(f"--since: git does not have {path} of {revision}; `git fetch` may get it")
        start = end + 1 + int(head[2]) + 1
        contents[path] = data[end + 1 : start - 1]
    return contents
