"""Files that others may have put there: read with a bound, and replaced whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(
    os, "O_BINARY", 0
)  # opening a fifo would block until a writer comes


def open_file(path: Path) -> BinaryIO:
    """Open a regular file to read; OSError for a fifo, a device and the like, which may have no end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(os.open(path, os.O_RDONLY | _AT_ONCE), "rb")


def read_file(path: Path, most: int) -> bytes:
    """Return the content of a regular file; OSError for any other, and for one that is larger than ``most`` bytes."""
    with open_file(path) as stream:
        if os.fstat(stream.fileno()).st_size <= most:
            data = stream.read(most + 1)
            if len(data) <= most:
                return data
    raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB", str(path))


def replace_file(path: Path, text: str) -> None:
    """Put a whole new file in the place of the old one; OSError, and the old one stays, if that fails.

    A device, a pipe and a link stay where they are, and receive the text: `/dev/null` must not become a file.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        with path.open("w", encoding="utf-8") as stream:
            stream.write(text)
        return
    unfinished = path.with_name(f"{path.name}.new")
    try:
        unfinished.unlink(missing_ok=True)
        with unfinished.open("x", encoding="utf-8") as stream:
            stream.write(text)
        unfinished.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from None
