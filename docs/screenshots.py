"""Take the pictures of the start page: the HTML report of the program that the page shows, in light and in dark.

Needs Chromium on the PATH. Look at the pictures before you commit them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from tests.report.browser import Browser  # noqa: E402

_PROGRAM = re.compile(r'```python title="(\S+)"\n(.*?)```', re.DOTALL)


def main() -> None:
    """Check the program of the start page, and photograph its report."""
    program = _PROGRAM.search((DOCS / "index.md").read_text(encoding="utf-8"))
    assert program is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / program[1]).write_text(program[2], encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "syncscan",
            "check",
            "--quiet",
            "--output-file",
            "html=report.html",
            program[1],
        ]
        subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(DOCS.parent)}, check=False)
        browser = Browser(folder / "profile")
        try:
            for scheme in ("light", "dark"):
                browser.open(folder / "report.html", dark=scheme == "dark", width=1300, height=620)
                browser.run("document.querySelector('tr.row').click()")
                browser.picture(DOCS / f"report-{scheme}.png")
        finally:
            browser.close()


if __name__ == "__main__":
    main()
