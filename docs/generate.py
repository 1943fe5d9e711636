"""Write ``docs/rules/``, one page a rule, ``docs/operations.md`` and the schema of the settings.

A test fails while one of them is stale.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

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


if __name__ == "__main__":
    main()
