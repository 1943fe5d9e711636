"""Write what is generated in ``docs/``: the pages of the rules and operations, and the schema of the settings.

Puts the address of the repository (`syncscan.address`) wherever it is named. Tests fail while a page is stale.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from syncscan.address import REPOSITORY  # noqa: E402
from syncscan.measure.page import operations_page  # noqa: E402
from syncscan.ops import load_table  # noqa: E402
from syncscan.report.pages import pages  # noqa: E402
from syncscan.report.schema import settings_schema  # noqa: E402
from syncscan.rule import rule_book  # noqa: E402


def main() -> None:
    """Replace every page."""
    folder = DOCS / "rules"
    folder.mkdir(exist_ok=True)
    for stale in folder.glob("*.md"):
        stale.unlink()
    for name, text in pages(rule_book().values()).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    (DOCS / "operations.md").write_text(operations_page(load_table()), encoding="utf-8", newline="\n")
    schema = json.dumps(settings_schema(), indent=2) + "\n"
    (DOCS / "settings.schema.json").write_text(schema, encoding="utf-8", newline="\n")
    for path in with_addresses():
        text = path.read_text(encoding="utf-8")
        path.write_text(with_address(text), encoding="utf-8", newline="\n")


def with_addresses() -> list[Path]:
    """The files that name the repository."""
    top = DOCS.parent
    named = [top / "README.md", top / "pyproject.toml", *sorted(DOCS.rglob("*.md"))]
    return [path for path in named if path.exists()]


def with_address(text: str) -> str:
    """A text with the address of the repository wherever it names one."""
    text = re.sub(r"https://github\.com/[\w.-]+/syncscan\b", REPOSITORY, text)
    return re.sub(r"(?<=uses: )[\w.-]+/syncscan(?=@)", REPOSITORY.removeprefix("https://github.com/"), text)


if __name__ == "__main__":
    main()
