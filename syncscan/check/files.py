"""Source files: read and decoded as Python reads them, and named as Python imports them."""

from __future__ import annotations

import codecs
import functools
import io
import os
import stat
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from syncscan.check import notebook
from syncscan.check.notebook import NotebookCells
from syncscan.errors import SyncscanError

PYTHON = (".py", ".pyi", ".pyw")
_NOTEBOOK = "-notebook"  # ends the name of its module, which nothing can import

# The syntax tree of generated code takes some 150 times its size in memory.
MAX_BYTES = 2 * 1024 * 1024
_FOLDERS = 65536  # with cached names
_MOST_BETWEEN = 4  # namespace folders between two packages


@dataclass(frozen=True, slots=True)
class Source:
    r"""One file: its real path, as printed, as imported, and its text with ``\n`` line ends.

    ``link`` is the symbolic link, as printed, where nothing else leads to the file. The text of a notebook
    is the program of its cells, and ``cells`` has their places. ``broken`` has the lines that are no
    Python, with the reason. ``written`` is the program with the magics.
    """

    path: Path
    shown: str
    module: str
    text: str
    link: str = ""
    cells: NotebookCells = field(default_factory=NotebookCells)
    broken: tuple[tuple[int, str], ...] = ()
    written: str = ""


class SourceError(SyncscanError):
    """A file that cannot be read as Python source."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def is_named_in_full(module: str, path: Path, name: str) -> bool:
    """Return whether a longer name is that of a module, with the folders above it that have no ``__init__.py``."""
    place, file = f"/{name.replace('.', '/')}", path.resolve().as_posix()
    return name.endswith(f".{module}") and file.endswith((f"{place}.py", f"{place}/__init__.py"))


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular file of bearable size; SourceError says why there is none."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SourceError("not a regular file; name a Python file or a folder")
        if status.st_size > MAX_BYTES:
            raise SourceError(
                f"{status.st_size / 2**20:.1f} MiB is more than the {MAX_BYTES // 2**20} MiB that syncscan "
                "reads of one file; exclude it if it is generated"
            )
        return path.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}") from error


def check_kind(path: Path) -> None:
    """Raise SourceError if a named file is neither Python nor a notebook, by its suffix and its first line."""
    if path.suffix in {"", *PYTHON, notebook.SUFFIX} or not path.is_file():
        return
    with path.open("rb") as stream:
        first = stream.readline(200)
    if not (first.startswith(b"#!") and b"python" in first):
        raise SourceError("neither Python nor a notebook; name .py and .ipynb files, or folders")


def decode(data: bytes) -> tuple[str, str]:
    """Return the text of a source file, with its own line ends, and its encoding ("utf-8-sig" with a BOM)."""
    try:
        encoding = _encoding(data)
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(
            f"not {error.encoding}: byte 0x{data[error.start]:02x} at offset {error.start}; "
            "save it as UTF-8, or declare its encoding (PEP 263)",
            line,
        ) from error
    except (SyntaxError, LookupError, ValueError) as error:  # codecs that are not of text, or not of any
        raise SourceError(f"{error}; save it as UTF-8, or declare a known encoding (PEP 263)", 1) from error
    if "\0" in text:
        raise SourceError(
            "holds a null byte, so it is no Python source", text.count("\n", 0, text.index("\0")) + 1
        )
    return text, encoding


def _encoding(data: bytes) -> str:
    if b"coding" not in b"".join(data.split(b"\n", 2)[:2]) and not data.startswith(codecs.BOM_UTF8):
        return "utf-8"  # (to look for the reason takes as long as the rest of the reading)
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if "missing encoding declaration" in str(error):
            return "utf-8"  # a bad byte in the first two lines: decoding reports which
        raise


def normalise(text: str) -> str:
    r"""Return the same text with ``\n`` for every line end, as the parser counts lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_source(path: Path, root: Path, contents: Mapping[Path, bytes]) -> Source:
    """Read a file of the project at ``root``; ``contents`` holds what stands in for files on disk."""
    data = contents[path] if path in contents else read_bytes(path)
    name = module_name(path, root)
    if path.suffix != notebook.SUFFIX:
        return Source(path, shown(path), name, normalise(decode(data)[0]))
    found = notebook_of(data)
    return source_of(found, found.text, Source(path, shown(path), name, ""))


def notebook_of(data: bytes) -> notebook.Notebook:
    """Return the notebook in the content of a file; raise SourceError if the content is no notebook."""
    try:
        return notebook.read_notebook(data)
    except notebook.NotebookError as error:
        raise SourceError(str(error)) from error


def source_of(found: notebook.Notebook, text: str, source: Source) -> Source:
    """Return a source with the program of a notebook; ``text`` has its cells."""
    program, cells, broken = notebook.program(text, found.numbers)
    return replace(source, text=program, cells=cells, broken=tuple(broken), written=text)


def shown(path: Path) -> str:
    """Return a path as printed: below the current folder relative to it, with ``/``, and always printable."""
    here = Path.cwd()
    text = "." if path == here else f"{_before_names(path.parent, here)}{path.name}"
    return text if text.isascii() else os.fsencode(text).decode("utf-8", "backslashreplace")


@functools.lru_cache(maxsize=_FOLDERS)
def _before_names(folder: Path, here: Path) -> str:
    """Return the prefix of the printed names of a folder's files."""
    text = (folder.relative_to(here) if folder.is_relative_to(here) else folder).as_posix()
    return "" if text == "." else f"{text.rstrip('/')}/"


def module_name(path: Path, root: Path) -> str:
    """Return the dotted name under which a file is imported.

    The chain of folders with ``__init__.py`` decides; a folder without one inside a package counts as
    a namespace package. A file in no package is named after its folders below ``root``, without a
    leading ``src``.
    """
    parts = (*_folders_of(path.parent, root), path.stem)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts) + (_NOTEBOOK if path.suffix == notebook.SUFFIX else "")


@functools.lru_cache(maxsize=_FOLDERS)
def _folders_of(folder: Path, root: Path) -> tuple[str, ...]:
    """Return the folders that form the module names of a folder's files."""
    base = _package_base(folder, root)
    if base is None:
        base = root / "src" if folder.is_relative_to(root / "src") else root
    return folder.relative_to(base).parts if folder.is_relative_to(base) else ()


def _package_base(folder: Path, root: Path) -> Path | None:
    """Return the folder that holds the outermost package around ``folder``; None where there is no package."""
    while not is_package(folder):
        if folder == root or not folder.is_relative_to(root):
            return None
        folder = folder.parent
    return package_top(folder).parent


def package_top(folder: Path) -> Path:
    """Return the outermost package around a package, which may be itself; a few namespace folders may lie between."""
    top, between = folder, 0
    while folder != folder.parent and between <= _MOST_BETWEEN:
        folder = folder.parent
        if is_package(folder):
            top, between = folder, 0
        elif folder.name == "src" or not folder.name.isidentifier() or _is_project(folder):
            break  # no import names such a folder
        else:
            between += 1
    return top


@functools.cache
def _is_project(folder: Path) -> bool:
    """Return whether a folder holds a project, so that packages above have nothing to do with those inside."""
    return any((folder / name).exists() for name in (".git", "pyproject.toml", "setup.py"))


@functools.cache
def is_package(folder: Path) -> bool:
    """Return whether a folder is a regular package."""
    return (folder / "__init__.py").is_file()


def forget_packages() -> None:
    """Forget which folders are packages: in a process that stays, others may be by now."""
    is_package.cache_clear()
    _is_project.cache_clear()
    _folders_of.cache_clear()


_MEASURES_OR_SHOWS = frozenset({"bench", "benchmark", "benchmarks", "example", "examples"})
_OUTSIDE = _MEASURES_OR_SHOWS | {"demo", "demos", "test", "tests", "testing", "test_utils", "testing_utils"}


def is_outside(module: str) -> bool:
    """Return whether a module only uses the project, as tests, benchmarks, examples and notebooks do.

    They make tensors where it suits them, so what they pass says nothing about the project.
    """
    return is_test(module) or module.endswith(_NOTEBOOK)


def is_test(module: str) -> bool:
    """Return whether a module is a test, a benchmark or an example, by its name or a folder's."""
    *folders, file = module.removesuffix(_NOTEBOOK).split(".")
    return (
        file.startswith("test_")
        or file.endswith("_test")
        or file in {"conftest", "tests"}
        or not _MEASURES_OR_SHOWS.isdisjoint(file.split("_"))
        or not _OUTSIDE.isdisjoint(folders)
    )
