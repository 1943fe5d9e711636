"""What git knows of the files around a path. Nothing here fails where there is no git, or no repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

# A repository that is checked must run nothing: no hook that watches files, no diff driver of its own.
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=off", "--no-optional-locks")


def git(folder: Path, *arguments: str) -> bytes | None:
    """What git prints in a folder; None where it fails, or is not there."""
    program = shutil.which("git")
    if program is None:
        return None
    environment = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(
        [program, *_QUIET, *arguments], cwd=folder, env=environment, capture_output=True, check=False
    )
    return done.stdout if done.returncode == 0 else None


def repository(folder: Path) -> Path | None:
    """The top of the work tree around a folder; None where there is none. Asks no git: not every CI has one."""
    folder = folder.resolve()
    return next((top for top in (folder, *folder.parents) if (top / ".git").exists()), None)


def renamed_since(file: Path) -> dict[Path, Path]:
    """The files that were renamed after ``file`` was last committed, in commits or since, by their old paths."""
    top = repository(file.parent)
    if top is None:
        return {}
    last = git(file.parent, "log", "-1", "--format=%H", "--", file.name) or b""
    found = git(
        top, "diff", "--no-ext-diff", "--no-textconv", "--name-status", "--diff-filter=R", "-M", "-l0", "-z",
        last.decode().strip() or "HEAD",
    )  # fmt: skip
    fields = [os.fsdecode(name) for name in (found or b"").split(b"\0")[:-1]]
    return {top / old: top / new for old, new in zip(fields[1::3], fields[2::3], strict=True)}
