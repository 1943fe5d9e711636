"""Replaces a file by its fixed version without loss: a file that cannot be preserved whole stays unfixed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from syncscan.check.files import SourceError

CHANGED = "not fixed: it changed while it was checked; run syncscan again"

_SUFFIX = ".syncscan-fix"
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # no symlink, and no fifo that blocks
_BINARY = getattr(os, "O_BINARY", 0)
_OF_THE_CONTENT = {
    "security.ima",
    "security.evm",
}  # attributes that the system computes from what is in a file


def replace_content(path: Path, before: bytes, after: bytes) -> None:
    """Put ``after`` where ``before`` is in a file, in one step, and keep its owner, mode and attributes.

    SourceError, with the file as it was, where that cannot be done, or where something else is in the file
    by now. A process that is killed leaves the file whole; beside it, at most what `remove_leftover` removes.
    """
    name = _unfinished(path)
    try:
        remove_leftover(path)
        with _new_file(name) as new:
            new.write(after)
            new.flush()
            os.fsync(new.fileno())  # some file systems find out only here that the disk is full
            _take_over(path, before, new.fileno())
            if not os.fstat(new.fileno()).st_nlink:
                # Only with a folder to start from does link() follow a link in /proc.
                os.link(f"/proc/self/fd/{new.fileno()}", name, src_dir_fd=new.fileno())
        name.replace(path)
    except OSError as error:
        raise SourceError(f"cannot be written: {error.strerror or error}") from error
    finally:
        remove_leftover(path)


def remove_leftover(path: Path) -> None:
    """Remove the temporary file of a process that was killed during a write."""
    with contextlib.suppress(OSError):
        _unfinished(path).unlink()


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}{_SUFFIX}")


def _new_file(name: Path) -> BinaryIO:
    """Return a file without a name, which vanishes with a killed process, or else a file with the name."""
    if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").exists():
        with contextlib.suppress(OSError):  # not every file system has such files
            return os.fdopen(os.open(name.parent, os.O_TMPFILE | os.O_WRONLY, 0o600), "wb")
    return os.fdopen(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o600), "wb")


def _take_over(path: Path, before: bytes, new: int) -> None:
    """Copy everything but the content from the old file to a new one; SourceError where that fails."""
    with _opened(path) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or file.read() != before:
            raise SourceError(CHANGED)
        if not status.st_mode & 0o222 or not os.access(path, os.W_OK):
            raise SourceError("not fixed: it is read-only")
        if status.st_nlink > 1:
            raise SourceError(
                f"not fixed: it has {status.st_nlink} names (hard links), which a fix would part"
            )
        try:
            _copy_status(status, new)
            _copy_attributes(file.fileno(), new)
        except OSError as error:
            raise SourceError(
                f"not fixed: its owner and attributes cannot be kept: {error.strerror}"
            ) from error


def _opened(path: Path) -> BinaryIO:
    try:
        return os.fdopen(os.open(path, os.O_RDONLY | _BINARY | _AS_IT_IS), "rb")
    except OSError as error:
        if error.errno in {
            errno.ENOENT,
            errno.ELOOP,
            errno.EISDIR,
        }:  # removed, or replaced by another kind of file
            raise SourceError(CHANGED) from error
        raise


def _copy_status(status: os.stat_result, new: int) -> None:
    if not hasattr(os, "fchown"):
        return
    made = os.fstat(new)
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
        os.fchown(new, status.st_uid, status.st_gid)
    os.fchmod(new, stat.S_IMODE(status.st_mode))


def _copy_attributes(old: int, new: int) -> None:
    """Copy the extended attributes of a file, its access list among them, and remove all others."""
    wanted, made = _attributes(old), _attributes(new)
    for name in made.keys() - wanted.keys():
        os.removexattr(new, name)
    for name, value in wanted.items():
        if made.get(name) != value:
            os.setxattr(new, name, value)


def _attributes(file: int) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = set(os.listxattr(file)) - _OF_THE_CONTENT
        return {name: os.getxattr(file, name) for name in names}
    except OSError as error:
        if error.errno == errno.ENOTSUP:  # the file system has none
            return {}
        raise
