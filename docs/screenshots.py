"""Take the pictures of the start page: the HTML report of the program that the page shows, in light and in dark.

Needs Chromium on the PATH. Look at the pictures before you commit them. Each picture stores the findings that it shows.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from tests.report.browser import Browser  # noqa: E402

_PROGRAM = re.compile(r'```python title="(\S+)"\n(.*?)```', re.DOTALL)
SCHEMES = ("light", "dark")
_KEY = b"Findings\0"


def main() -> None:
    """Check the program of the start page, and photograph its report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = check(folder)
        browser = Browser(folder / "profile")
        try:
            for scheme in SCHEMES:
                browser.open(folder / "report.html", dark=scheme == "dark", width=1300, height=620)
                browser.run("document.querySelector('tr.row').click()")
                picture = DOCS / f"report-{scheme}.png"
                browser.picture(picture)
                _store(picture, found)
        finally:
            browser.close()


def check(folder: Path) -> str:
    """Write the program of the start page and its HTML report into a folder, and return its findings."""
    program = _PROGRAM.search((DOCS / "index.md").read_text(encoding="utf-8"))
    assert program is not None
    (folder / program[1]).write_text(program[2], encoding="utf-8")
    options = ("--isolated", "--no-cache", "--quiet", "--output-format", "concise")
    command = [
        sys.executable,
        "-m",
        "syncscan",
        "check",
        *options,
        "--output-file",
        "html=report.html",
        program[1],
    ]
    done = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(DOCS.parent)}, check=False, capture_output=True, text=True
    )
    return done.stdout


def stored(picture: Path) -> str:
    """Return the findings that a picture shows: a test compares them, as CI has no Chromium to take a new picture."""
    before, _, after = picture.read_bytes().partition(b"tEXt" + _KEY)
    (length,) = struct.unpack(">I", before[-4:]) if after else (len(_KEY),)
    return after[: length - len(_KEY)].decode()


def _store(picture: Path, found: str) -> None:
    """Add findings to a PNG file, as a text chunk after the header."""
    data = picture.read_bytes()
    text = b"tEXt" + _KEY + found.encode()
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    header = 8 + 25  # the signature, and IHDR
    picture.write_bytes(data[:header] + chunk + data[header:])


if __name__ == "__main__":
    main()
